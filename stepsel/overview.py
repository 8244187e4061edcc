"""A selection in words and tables: what its summary shows."""

from typing import Any

import numpy as np
import pandas as pd

from stepsel.summary import Summary, named, shown

_FIGURES = ("log_likelihood", "aic", "bic", "sigma", "dispersion", "alpha", "auc", "concordance")


def overview(result: Any, *, explained: str, nothing: str) -> Summary:
    """Return the trace, the final model, its collinearity, and the facts that belong beside them.

    Parameters
    ----------
    result : StepwiseResult
    explained : str
        What the model explains.
    nothing : str
        What is selected where nothing is.
    """
    return Summary(_sections(result, explained), _facts(result, nothing))


def _sections(result: Any, explained: str) -> list[tuple[str, pd.DataFrame]]:
    columns = ["step", "action", "term", "df", "statistic", "p_value", "criterion", "n_params", "r2"]
    trace = result.trace
    if trace.attrs["criterion"] == "pvalue":
        columns.remove("criterion")  # it is the p-value
    sections = [(_heading(trace.attrs, explained), named(trace[columns].assign(df=trace["df"].astype(float))))]
    coefficients = result.tidy()
    if len(coefficients):
        honest = coefficients.rename(columns={"p_value": "p_value (not adjusted for selection)"})
        sections.append(("Final model", named(honest)))
    if result.selected:
        table = result.collinearity
        if (table["df"] == 1).all():
            table = table.drop(columns=["df", "gvif"])
        sections.append(("Collinearity", named(table)))
    return sections


def _heading(attrs: dict[Any, Any], explained: str) -> str:
    direction, criterion = attrs["direction"], attrs["criterion"]
    tests = [attrs["test_enter"]] * (direction != "backward") + [attrs["test_remove"]] * (direction != "forward")
    return (
        f"Stepwise selection of {explained}: {attrs['family']}, {direction}, {criterion}; test: "
        f"{' and '.join(dict.fromkeys(tests))}"
    )


def _facts(result: Any, nothing: str) -> str:
    chosen = ", ".join(shown(name) for name in result.selected) or nothing
    dropped = f" ({result.n_dropped} rows with missing values dropped)" if result.n_dropped else ""
    events = "" if result.n_events is None else f", {result.n_events:.12g} events"
    unit, count = rule_of_thumb(result)
    figures = result.glance().iloc[0]
    candidates, columns = int(figures["n_candidates"]), result.n_candidate_columns
    share = columns / count if count else np.inf
    coefficients = f" with {columns} coefficients" if columns != candidates else ""
    return (
        f"Selected: {chosen}.\n{result.stop_reason}\n"
        f"{result.n_obs:.12g} observations{dropped}{events}, {candidates} candidate terms{coefficients}: "
        f"{share:.2g} per {unit}{_largest_inflation(result.collinearity)}.\n"
        + ", ".join(f"{name} {figures[name]:.6g}" for name in _FIGURES if name in figures.index)
        + ".\nSelection makes p-values, intervals and R2 too optimistic: they do not know of the search.\n"
        "How far to trust it: stepsel.inference.selection_stability(result)"
    )


def rule_of_thumb(result: Any) -> tuple[str, float]:
    """Return what limits the number of candidates, and how many there are: events, or cases of the rarer class."""
    if result.n_events is None:
        return "observation", float(result.n_obs)
    others = result.n_obs - result.n_events if result.event is not None else np.inf
    return ("event", result.n_events) if result.n_events <= others else ("non-event", others)


def _largest_inflation(table: pd.DataFrame) -> str:
    if not len(table):
        return ""
    at = int(table["vif"].to_numpy().argmax())
    return f"; largest VIF {table['vif'].iloc[at]:.4g} ({shown(table['term'].iloc[at])})"
