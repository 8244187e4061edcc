"""How far a selection can be trusted, with numbers."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from stepsel.core.fits import FloatArray
from stepsel.overview import rule_of_thumb
from stepsel.plots.path import NAMES
from stepsel.summary import shown

# Harrell (2015), section 4.4: at least 10 to 20 observations (or events) for a candidate coefficient.
_ENOUGH, _SCARCE = 1 / 20, 1 / 10
_STRONG = 0.7
STATEMENT = (
    "Stepwise selection is biased when candidates are many or strongly correlated: p-values, intervals and R² of the "
    "final model are computed as if it had been chosen beforehand, and are too optimistic."
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
    share = columns / count if count else np.inf
    judged = (
        "as few as the usual rule asks for"
        if share <= _ENOUGH
        else "at the limit of the usual rule"
        if share <= _SCARCE
        else "more than the usual rule allows"
    )
    return (
        f"{columns} candidate coefficient{'s' * (columns != 1)} for {count:g} {unit}s, {share:.2g} each: {judged} (one "
        "for 10 to 20; Harrell 2015)."
    )


def _by_chance(result: Any) -> list[str]:
    """Say how often at least one of as many independent terms of noise would pass the first test."""
    passing = chance_of_noise(result)
    if passing is None:
        return []
    settings, n = result.settings, len(result.free_sizes)
    rule = (
        f"p < {settings.alpha_enter:g}" if settings.criterion == "pvalue" else f"a better {NAMES[settings.criterion]}"
    )
    if settings.criterion == "pvalue" and not settings.adds:
        rule = f"p ≤ {settings.alpha_remove:g}"
    return [
        f"If none of the {n} candidates had an effect and they were independent, at least one would still pass "
        f"({rule}) with probability {passing:.2f}."
    ]


def chance_of_noise(result: Any) -> float | None:
    """Return the probability that at least one of the candidates passes the test of its first step, were all noise.

    By the chi-squared distribution of the likelihood ratio, for independent candidates; None where nothing is free.
    """
    settings = result.settings
    df = np.array([size for size in result.free_sizes if size], dtype=float)
    if not len(df):
        return None
    per_parameter = {
        "aic": 2.0,
        "aicc": 2.0,
        "cp": 2.0,
        "adj_r2": 1.0,
        "bic": np.log(result.n_likelihood),
        "hqic": 2 * np.log(np.log(max(result.n_likelihood, 3))),
    }
    if settings.criterion == "pvalue":
        alone: FloatArray = np.full(len(df), settings.alpha_enter if settings.adds else settings.alpha_remove)
    else:
        alone = np.asarray(stats.chi2.sf(per_parameter[settings.criterion] * df, df))
    return float(-np.expm1(np.log1p(-np.minimum(alone, 1 - 1e-15)).sum()))


def _correlations(result: Any) -> list[str]:
    try:
        table: pd.DataFrame = result.correlations
    except (RuntimeError, ValueError):  # pickled, or too many for a square table
        return []
    if len(table) < 2:
        return []
    values: FloatArray = np.triu(table.to_numpy(dtype=float), 1)
    first, second = divmod(int(values.argmax()), len(values))
    names = [shown(table.columns[at]) for at in (first, second)]
    n_strong = int((values >= _STRONG).sum())
    more = f"; {n_strong} pairs at {_STRONG:g} or more" if n_strong > 1 else ""
    meant = ": which of them is chosen is partly chance" if values.max() >= _STRONG else ""
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
