"""Why a candidate is not in the final model, in words."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from stepsel.plots.path import LARGER_IS_BETTER, NAMES

_CLOSED = {
    "aliased": "It repeats terms of the model exactly.",
    "constant": "It does not vary.",
    "saturated": "With it the model would have no residual degrees of freedom.",
    "hierarchy": "It may enter only after the terms that it contains.",
    "bounded": "A proven bound rules out that it improves the model most; it was not refitted.",
}


def left_out(result: Any) -> pd.DataFrame:
    """Return every candidate term that is not in the final model, with the last that was known of it, and why.

    Parameters
    ----------
    result : StepwiseResult

    Returns
    -------
    DataFrame
        ``term, df, statistic, p_value, criterion, step, reason``; the numbers are those of its last move.
    """
    selected, table = set(result.selected), result.candidates
    last = dict(zip(table["term"], table.to_dict("records"), strict=True))  # the last row of each term
    n_steps = int(table["step"].max()) if len(table) else 0
    rows = []
    for term in result.candidate_terms:
        if term in selected:
            continue
        known = last.get(term)
        row: dict[str, Any] = {"term": term, "df": np.nan, "statistic": np.nan, "p_value": np.nan, "criterion": np.nan}
        row |= {"step": np.nan, "reason": "It was not looked at."}
        if known is not None:
            row |= {name: known[name] for name in ("df", "statistic", "p_value", "criterion", "step")}
            row["reason"] = _reason(result, term, known, n_steps)
        rows.append(row)
    columns = ["term", "df", "statistic", "p_value", "criterion", "step", "reason"]
    return pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=object) for name in columns})


def _reason(result: Any, term: Hashable, known: dict[Hashable, Any], n_steps: int) -> str:
    status, step = known["status"], int(known["step"])
    if status == "chosen":
        return f"It was removed at step {step}: {_removed(result, known)}"
    if status in _CLOSED:
        return _CLOSED[status]
    why = _not_better(result, known)
    if step < n_steps:
        why = f"{why[:-1]} at step {step}, the last at which it was weighed."
    return why + (" It separates the response." if status == "separated" else "")


def _removed(result: Any, known: dict[Hashable, Any]) -> str:
    criterion = result.settings.criterion
    if known["df"] == 0:
        return "other terms had made it redundant."
    if criterion == "pvalue":
        p, level = known["p_value"], result.settings.alpha_remove
        return f"p = {p:.3g} is above {level:g}." if p > level else f"it was the least useful (p = {p:.3g})."
    gain = _gain(result, known)
    name = NAMES[criterion]
    if not gain > 0:
        return "there were more terms than max_terms allows, and it was the least useful."
    return f"without it {name} improves by {gain:.3g}."


def _not_better(result: Any, known: dict[Hashable, Any]) -> str:
    criterion = result.settings.criterion
    if criterion == "pvalue":
        p, level = known["p_value"], result.settings.alpha_enter
        if known["move"] == "remove":
            return f"As part of the model it had p = {p:.3g}."
        if p >= level:
            return f"p = {p:.3g} is not below {level:g}."
        return f"p = {p:.3g} is below {level:g}, but the search had ended: {_lower(result.stop_reason)}"
    gain, name = _gain(result, known), NAMES[criterion]
    if gain > 0:
        return f"It would improve {name} by {gain:.3g}, but the search had ended: {_lower(result.stop_reason)}"
    return f"It would make {name} worse by {-gain:.3g}."


def _gain(result: Any, known: dict[Hashable, Any]) -> float:
    """Return by how much the criterion improves with a move, from the model that it starts from."""
    before = result.trace["criterion"].iloc[int(known["step"]) - 1]
    change = float(known["criterion"] - before)
    return change if result.settings.criterion in LARGER_IS_BETTER else -change


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
