"""Steps -> DataFrames."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from stepsel.core.criteria import Criterion, Test
from stepsel.core.fits import Fit, FloatArray, Moves, Status
from stepsel.core.search import Path, Step
from stepsel.core.terms import BoolArray, Terms
from stepsel.tables import readable

TRACE_COLUMNS = [
    "step",
    "action",
    "term",
    "df",
    "statistic",
    "p_value",
    "criterion",
    "n_terms",
    "n_params",
    "deviance",
    "log_likelihood",
    "aic",
    "bic",
    "r2",
    "adj_r2",
    "condition_number",
    "max_vif",
]
CANDIDATE_COLUMNS = ["step", "move", "term", "df", "statistic", "p_value", "criterion", "tolerance", "status"]
COLLINEARITY_COLUMNS = ["term", "df", "gvif", "vif", "tolerance"]


@dataclass(frozen=True)
class Measures:
    """What the tables need to know of the criterion, the tests and the data.

    Attributes
    ----------
    criterion : Criterion, optional
        None where p-values decide.
    test_enter, test_remove : Test
    n_obs : float
    null_deviance : float
        Of the intercept alone; about zero where there is none.
    intercept : bool
    null : Fit, optional
        The intercept alone where R2 is McFadden's.
    """

    criterion: Criterion | None
    test_enter: Test
    test_remove: Test
    n_obs: float
    null_deviance: float
    intercept: bool
    null: Fit | None = None


def trace_table(
    path: Path,
    terms: Terms,
    measures: Measures,
    collinearity: list[tuple[float, float]],
    attrs: Mapping[str, Any],
) -> pd.DataFrame:
    """Return one row a step.

    Parameters
    ----------
    path : Path
    terms : Terms
    measures : Measures
    collinearity : list of (condition number, largest VIF), one a step
    attrs : mapping
        Goes into ``DataFrame.attrs``.
    """
    rows = []
    for number, (step, (condition, max_vif)) in enumerate(zip(path.steps, collinearity, strict=True)):
        action, term, df, statistic, p_value = "start", None, np.nan, np.nan, np.nan
        if step.moves is not None and step.chosen is not None:
            adding = step.chosen >= step.moves.n_removals
            action = "add" if adding else "remove"
            term = terms.names[int(step.moves.term[step.chosen])]
            df = float(step.moves.df[step.chosen])
            before = path.steps[number - 1].fit
            values, p_values, _ = tested(before, step.moves, measures)
            statistic, p_value = float(values[step.chosen]), float(p_values[step.chosen])
        value = p_value if measures.criterion is None else measures.criterion.value(step.fit)
        r2, adj_r2 = r_squared(step.fit, measures)
        fit = step.fit
        aic = -2 * fit.log_likelihood + 2 * fit.n_params
        bic = -2 * fit.log_likelihood + np.log(measures.n_obs) * fit.n_params
        rows.append(
            [
                number,
                action,
                term,
                df,
                statistic,
                p_value,
                value,
                int(step.active.sum()),
                fit.n_params,
                fit.deviance,
                fit.log_likelihood,
                aic,
                bic,
                r2,
                adj_r2,
                condition,
                max_vif,
            ]
        )
    columns: dict[str, Any] = dict(zip(TRACE_COLUMNS, zip(*rows, strict=True), strict=True))
    columns |= {"term": pd.Series(columns["term"], dtype=object), "df": pd.Series(columns["df"], dtype="Int64")}
    table = pd.DataFrame(columns)
    table.attrs.update(attrs)
    return readable(table)


def r_squared(fit: Fit, measures: Measures) -> tuple[float, float]:
    """Return R2 and adjusted R2; about zero instead of the mean where the model has no intercept.

    Outside the Gaussian family McFadden's: one minus the ratio of log-likelihoods, adjusted by one per slope.

    References
    ----------
    McFadden (1974), Conditional logit analysis of qualitative choice behavior, in Frontiers in Econometrics.
    """
    if measures.null is not None:
        null = measures.null
        if not null.log_likelihood:
            return np.nan, np.nan
        slopes = fit.n_params - null.n_params
        return 1 - fit.log_likelihood / null.log_likelihood, 1 - (fit.log_likelihood - slopes) / null.log_likelihood
    if measures.null_deviance <= 0:
        return np.nan, np.nan
    unexplained = fit.deviance / measures.null_deviance
    df_null = measures.n_obs - int(measures.intercept)
    return 1 - unexplained, 1 - unexplained * df_null / fit.df_resid


def tested(here: Fit, moves: Moves, measures: Measures) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return statistic, p-value and criterion of every move from ``here``."""
    adding = moves.adding
    statistic, df_resid = measures.test_enter.statistic(here, moves)
    p_value = np.where(
        adding,
        measures.test_enter.p_value(statistic, moves.df, df_resid),
        measures.test_remove.p_value(statistic, moves.df, df_resid),
    )
    criterion = p_value if measures.criterion is None else measures.criterion.values(here, moves)
    return statistic, p_value, criterion


def candidates_table(
    path: Path, terms: Terms, measures: Measures, constant: BoolArray, *, adds: bool, removes: bool
) -> pd.DataFrame:
    """Return every move that was looked at, at every step, with the terms that were closed and why."""
    blocks = []
    for number, (model, moves, chosen) in enumerate(_looked_at(path), start=1):
        closed = {"constant": constant & ~model.active}
        barred = terms.barred(model.active) & ~constant & (adds & ~model.active | removes & model.active & ~terms.kept)
        if barred.any():
            closed["hierarchy"] = barred
        closed["aliased"] = path.left_out & ~model.active
        if removes:
            closed["kept"] = model.active & terms.kept
        blocks.append(_block(number, model, moves, chosen, measures, closed))
    if not blocks:
        return pd.DataFrame(columns=CANDIDATE_COLUMNS)
    table = pd.concat(blocks, ignore_index=True)
    table["term"] = pd.Series([terms.names[at] for at in table["term"]], dtype=object)
    return readable(table)


def _looked_at(path: Path) -> list[tuple[Step, Moves, int | None]]:
    """Return (model, moves from it, the one chosen) in the order of the search."""
    seen = [
        (before, after.moves, after.chosen)
        for before, after in zip(path.steps, path.steps[1:], strict=False)
        if after.moves is not None
    ]
    if path.last is not None:
        seen.append((path.steps[-1], path.last, None))
    return seen


def _block(
    number: int,
    model: Step,
    moves: Moves,
    chosen: int | None,
    measures: Measures,
    closed: Mapping[str, BoolArray],
) -> pd.DataFrame:
    """Return the rows of one step: the moves, then the terms that no move was computed for."""
    here, active = model.fit, model.active
    statistic, p_value, criterion = tested(here, moves, measures)
    status = moves.status.copy()
    if chosen is not None:
        status[chosen] = Status.chosen
    meaningless = np.isin(status, (Status.aliased, Status.saturated, Status.bounded))
    for values in (statistic, p_value, criterion):
        values[meaningless] = np.nan
    block = pd.DataFrame(
        {
            "step": number,
            "move": np.where(moves.adding, "add", "remove"),
            "term": moves.term,
            "df": moves.df,
            "statistic": statistic,
            "p_value": p_value,
            "criterion": criterion,
            "tolerance": moves.tolerance,
            "status": np.array([code.name for code in Status], dtype=object)[status],
        }
    )
    listed = set(moves.term.tolist())
    rest: list[tuple[int, str]] = []
    for name, mask in closed.items():
        rest += [(term, name) for term in np.flatnonzero(mask).tolist() if term not in listed]
        listed.update(np.flatnonzero(mask).tolist())
    if not rest:
        return block
    added = pd.DataFrame(
        {
            "step": number,
            "move": ["remove" if active[term] else "add" for term, _ in rest],
            "term": [term for term, _ in rest],
            "df": 0,
            **dict.fromkeys(("statistic", "p_value", "criterion", "tolerance"), np.nan),
            "status": pd.Series([name for _, name in rest], dtype=object),
        }
    )
    return added if block.empty else pd.concat([block, added], ignore_index=True)


def collinearity_table(
    terms: Terms, active: BoolArray, gvif: FloatArray, df: FloatArray, indices: FloatArray
) -> pd.DataFrame:
    """Return the collinearity of every selected term.

    ``vif`` is ``gvif ** (1 / df)``: the inflation of the variance in one dimension, comparable between terms of
    different size, and the ordinary variance inflation factor for a term of one column. ``tolerance`` is its
    reciprocal.
    """
    vif = gvif ** (1 / np.maximum(df, 1))
    table = pd.DataFrame(
        {
            "term": pd.Series([terms.names[at] for at in np.flatnonzero(active).tolist()], dtype=object),
            "df": df.astype(int),
            "gvif": gvif,
            "vif": vif,
            "tolerance": 1 / vif,
        },
        columns=COLLINEARITY_COLUMNS,
    )
    table.attrs["condition_indices"] = [float(value) for value in indices]
    return readable(table)
