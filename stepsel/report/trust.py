"""How far a selection can be trusted, with numbers."""

from typing import Any

import numpy as np
import pandas as pd

from stepsel.core.fits import FloatArray
from stepsel.overview import rule_of_thumb
from stepsel.plots.path import NAMES
from stepsel.summary import shown

# Harrell (2015), section 4.4: at least 10 to 20 observations (or events) for a candidate coefficient.
_LEAST, _MOST = 10, 20
_STRONG = 0.7
STATEMENT = (
    "Stepwise selection is biased, the more so when candidates are many or strongly correlated: p-values, intervals "
    "and R² of the final model are computed as if it had been chosen beforehand, and are too optimistic."
)


def trust(result: Any) -> list[str]:
    """Return sentences: what limits the trust in a selection, with its numbers.

    Parameters
    ----------
    result : StepwiseResult
    """
    return [_candidates(result), *_by_chance(result), *_correlations(result), *_inflation(result)]


def _candidates(result: Any) -> str:
    unit, count = rule_of_thumb(result)
    columns = result.n_candidate_columns
    each = count / columns if columns else np.inf
    judged = "more than" if each > _MOST else "about what" if each >= _LEAST else "fewer than"
    coefficients = f"{columns:,} candidate coefficient{'s' * (columns != 1)}"
    return (
        f"{count:,.12g} {unit}s for {coefficients}, {each:.3g} for each: {judged} the usual rule asks for, which is 10 "
        "to 20 (Harrell 2015)."
    )


def _by_chance(result: Any) -> list[str]:
    """Say how often at least one of as many independent terms of noise would pass the first test."""
    settings, n, adding = result.settings, len(result.first_weighed), result.weighs_additions
    if not n:
        return []
    rule = f"a better {NAMES[settings.criterion]}"
    if settings.criterion == "pvalue":
        rule = f"p < {settings.alpha_enter:g}" if adding else f"p ≤ {settings.alpha_remove:g}"
    chance = 100 * result.chance_of_noise
    percent = "less than 1 %" if chance < 1 else f"about {chance:.0f} %"
    what = "pass the first step" if adding else "be kept"
    more = "" if adding else ", and in more where observations are few"
    if n == 1:
        return [f"Were the one term that is weighed noise, it would {what} in {percent} of data sets ({rule}){more}."]
    return [
        f"Were all {n} terms that the first step weighs noise, and independent of each other, at least one would "
        f"{what} in {percent} of data sets ({rule}){more}."
    ]


def _correlations(result: Any) -> list[str]:
    try:
        table: pd.DataFrame = result.correlations
    except (RuntimeError, ValueError) as error:  # pickled, or too many for a square table
        return [f"How the candidates are correlated is not said here: {error}"]
    apart = [term not in set(result.composed) for term in table.columns]  # others are correlated by construction
    table = table.loc[apart, apart]
    if len(table) < 2:
        return []
    values: FloatArray = np.triu(table.to_numpy(dtype=float), 1)
    first, second = divmod(int(values.argmax()), len(values))
    names = [shown(table.columns[at]) for at in (first, second)]
    n_strong = int((values >= _STRONG).sum())
    more = f"; {n_strong} pairs at {_STRONG:g} or more" if n_strong > 1 else ""
    meant = ". Which of such terms is selected, if any, is partly chance" if values.max() >= _STRONG else ""
    return [f"The strongest correlation between candidates is {values.max():.2f} ({' and '.join(names)}){more}{meant}."]


def _inflation(result: Any) -> list[str]:
    table = result.collinearity
    if not len(table):
        return []
    at, limit = int(table["vif"].to_numpy().argmax()), result.settings.vif_threshold
    largest, term = table["vif"].iloc[at], shown(table["term"].iloc[at])
    judged = "above" if largest > limit else "not above"
    return [
        f"The largest variance inflation factor of the selected terms is {largest:.3g} ({term}), {judged} {limit:g}."
    ]
