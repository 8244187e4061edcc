"""Why a candidate is not in the final model, in words."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from stepsel.plots.path import LARGER_IS_BETTER, NAMES

_CLOSED = {
    "aliased": "It repeats terms of the model exactly.",
    "constant": "It does not vary on the rows that are used.",
    "saturated": "With it the model would have no residual degrees of freedom.",
    "hierarchy": "It may enter only after the terms that it contains.",
    "bounded": "A proven bound rules out that it improves the model most; it was not refitted.",
}

_FULL = " The model holds as many terms as max_terms allows."


def left_out(result: Any) -> pd.DataFrame:
    """Return every candidate term that is not in the final model, with the last that was known of it, and why.

    Parameters
    ----------
    result : StepwiseResult

    Returns
    -------
    DataFrame
        ``term, df, statistic, p_value, criterion, step, reason``; the numbers are those of its last move, from the
        model before ``step``.
    """
    selected, table = set(result.selected), result.candidates
    last = dict(zip(table["term"], table.to_dict("records"), strict=True))  # the last row of each term
    columns = ["term", "df", "statistic", "p_value", "criterion", "step", "reason"]
    rows = []
    for term in result.candidate_terms:
        if term in selected:
            continue
        known = last.get(term)
        row: dict[str, Any] = dict.fromkeys(columns, np.nan) | {"term": term}
        row["reason"] = f"It was not weighed. {result.stop_reason}"
        if known is not None:
            row |= {name: known[name] for name in columns[:-1]} | {"reason": _reason(result, known)}
            row["df"] = known["df"] if known["status"] in ("chosen", "eligible", "separated") else np.nan
        rows.append(row)
    return pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=object) for name in columns})


def _reason(result: Any, known: dict[Hashable, Any]) -> str:
    status, step = known["status"], int(known["step"])
    if status == "chosen":
        return f"It was removed at step {step}: {_removed(result, known)}"
    # Step k weighs the moves from the model of row k - 1 of the trace: from the final one only the last step does.
    final = step == len(result.trace)
    if status == "constant":
        return _CLOSED[status]
    if status == "aliased" and np.isnan(known["tolerance"]):  # it was left out of the start model
        rest = "." if result.settings.adds else ", and a backward selection adds none."
        return f"It repeats terms of the start model exactly{rest}{_FULL if result.is_full else ''}".strip()
    if status in _CLOSED and not final and result.is_full:
        return _FULL.strip()
    if status in _CLOSED:
        return _CLOSED[status]
    why = _not_better(result, known) if final else f"At step {step}, the last that weighed it, {_was(result, known)}"
    if not final and result.is_full:
        why = f"{_FULL.strip()} {why}"
    return why + (" It separates the response." if status == "separated" else "")


def _removed(result: Any, known: dict[Hashable, Any]) -> str:
    criterion, p = result.settings.criterion, known["p_value"]
    if known["df"] == 0:
        return "other terms had made it redundant."
    crowded = "there were more terms than max_terms allows, and it was the least useful"
    if criterion == "pvalue":
        level = result.settings.alpha_remove
        return f"p = {p:.3g} is above {level:g}." if p > level else f"{crowded} (p = {p:.3g})."
    gain = _gain(result, known)
    return f"without it {NAMES[criterion]} improves by {gain:.3g}." if gain > 0 else f"{crowded}."


def _not_better(result: Any, known: dict[Hashable, Any]) -> str:
    """Say why a move from the final model was not taken."""
    criterion, ended = result.settings.criterion, f"but the search had ended: {_lower(result.stop_reason)}"
    if criterion == "pvalue":
        p, level = known["p_value"], result.settings.alpha_enter
        return f"p = {p:.3g} is not below {level:g}." if p >= level else f"p = {p:.3g} is below {level:g}, {ended}"
    gain, name = _gain(result, known), NAMES[criterion]
    return (
        f"It would improve {name} by {gain:.3g}, {ended}" if gain > 0 else f"It would make {name} worse by {-gain:.3g}."
    )


def _was(result: Any, known: dict[Hashable, Any]) -> str:
    """Say what was known of a move from an earlier model."""
    criterion = result.settings.criterion
    if known["move"] == "remove":
        return f"it was in the model, with p = {known['p_value']:.3g}."
    if criterion == "pvalue":
        p, level = known["p_value"], result.settings.alpha_enter
        return f"p = {p:.3g} was not below {level:g}." if p >= level else f"p was {p:.3g}; another move was taken."
    gain, name = _gain(result, known), NAMES[criterion]
    return (
        f"it would have improved {name} by {gain:.3g}; another move was taken."
        if gain > 0
        else f"it would have made {name} worse by {-gain:.3g}."
    )


def _gain(result: Any, known: dict[Hashable, Any]) -> float:
    """Return by how much the criterion improves with a move, from the model that it starts from."""
    before = result.trace["criterion"].iloc[int(known["step"]) - 1]
    change = float(known["criterion"] - before)
    return change if result.settings.criterion in LARGER_IS_BETTER else -change


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
