"""From the options of the command line to a finished selection."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pandas as pd

from stepsel.cli.formula import Asked
from stepsel.cli.names import groups, separator, term_names
from stepsel.cli.remarks import Remarks, caught, progress
from stepsel.cli.roles import Data, event_notes, split
from stepsel.reading import Table, read_table


@dataclass(frozen=True)
class Made:
    """A finished selection, and what is said of it.

    Attributes
    ----------
    result : StepwiseResult
    remarks : Remarks
        What was warned of.
    notes : list of str
        What was decided about the file and the response.
    title : str
        The data and the search in one line.
    head : dict
        What a program is told of the question.
    """

    result: Any
    remarks: Remarks
    notes: list[str]
    title: str
    head: dict[str, Any]


def made(asked: SimpleNamespace) -> Made:
    """Read the file and run the selection.

    Parameters
    ----------
    asked : SimpleNamespace
        The options of the command by name.
    """
    with progress("Reading", asked.verbose):
        table = read(asked)
    return _by_columns(asked, table) if asked.formula is None else _by_formula(asked, table)


def _by_columns(asked: SimpleNamespace, table: Table) -> Made:
    data = split(table, asked)
    parameters = _parameters(asked, table, data.taken) | {"event": data.event, "categorical": data.categorical or None}
    with progress(f"Selecting among {data.frame.shape[1]} columns, {len(data.frame)} rows", asked.verbose):
        result, remarks = _select(parameters, data)
    classes, trials = _classes(data, asked.family)
    parameters |= {name: parameters[name] or {} for name in ("groups", "categorical")}
    title = (
        f"{table.path}: {data.explained} explained by {data.frame.shape[1]} candidate columns, "
        f"{_counted(data, asked, trials)} ({asked.family}, {asked.direction}, {asked.criterion})"
    )
    head = {"file": table.path, **data.roles, "parameters": parameters}
    return Made(result, remarks, table.notes + data.notes + classes, title, head)


def _by_formula(asked: SimpleNamespace, table: Table) -> Made:
    wanted = Asked(table, asked)
    parameters = _parameters(asked, table, {})
    with progress(f"Selecting, {len(wanted.frame)} rows", asked.verbose), caught() as remarks:
        result = wanted.select(parameters)
        _ = result.trace, result.collinearity, result.tidy()  # built on demand, and may warn
    notes = table.notes + wanted.notes + ([] if result.event is None else [f"The event is {result.event!r}."])
    parameters |= {"categorical": wanted.categorical, "groups": {}}
    title = (
        f"{table.path}: {asked.formula}, {result.n_obs:g} observations ({asked.family}, {asked.direction}, "
        f"{asked.criterion})"
    )
    return Made(result, remarks, notes, title, {"file": table.path, "formula": asked.formula, "parameters": parameters})


def read(asked: SimpleNamespace) -> Table:
    """Read the file as the options say."""
    return read_table(
        asked.file,
        target=asked.target,
        encoding=asked.encoding,
        sep=separator(asked.sep),
        decimal=asked.decimal,
        thousands=asked.thousands,
        na=asked.na,
        sheet=asked.sheet,
        skip_rows=asked.skip_rows,
        header=not asked.no_header,
    )


def _parameters(asked: SimpleNamespace, table: Table, taken: Mapping[str, str]) -> dict[str, Any]:
    """Translate the options into the parameters of the selector."""
    columns = list(table.frame.columns)
    grouped = groups(asked.group, columns, taken, table.path)

    def terms(option: str, values: list[str]) -> list[str]:
        if asked.formula is not None:
            return [part.strip() for value in values for part in re.split(r",(?![^(]*\))", value) if part.strip()]
        return term_names(option, values, columns, grouped, taken, table.path)

    return {
        "direction": str(asked.direction),
        "criterion": str(asked.criterion),
        "family": str(asked.family),
        "alpha_enter": asked.alpha_enter,
        "alpha_remove": asked.alpha_remove,
        "test_enter": str(asked.test_enter),
        "test_remove": str(asked.test_remove),
        "start": _start_word(asked.start) or terms("--start", asked.start),
        "keep": terms("--keep", asked.keep),
        "groups": grouped,
        "max_terms": asked.max_terms,
        "max_steps": asked.max_steps,
        "fit_intercept": not asked.no_intercept,
        "missing": str(asked.missing),
        "candidates": str(asked.refits),
        "collinearity": str(asked.collinearity),
        "vif_threshold": asked.vif_threshold,
        "tolerance": asked.tolerance,
        "weight_type": str(asked.weight_type),
        "hierarchy": str(asked.hierarchy),
        "event": asked.event,
        "ties": str(asked.ties),
        "verbose": asked.verbose,
    }


def _start_word(values: list[str]) -> str | None:
    word = values[0].lower() if len(values) == 1 else None
    return word if word in ("auto", "empty", "full") else None


def _select(parameters: dict[str, Any], data: Data) -> tuple[Any, Remarks]:
    """Fit the selector; what it warns of comes back as sentences."""
    from stepsel import StepwiseSelector

    with caught() as remarks:
        selector = StepwiseSelector(**parameters)
        result = selector.fit(data.frame, data.y, sample_weight=data.weights, offset=data.offset).result_
        _ = result.trace, result.collinearity, result.tidy()  # built on demand, and may warn
    return result, remarks


def _classes(data: Data, family: str) -> tuple[list[str], bool]:
    """Say which class was taken as the event, and whether there are proportions instead of classes."""
    if family != "binomial" or not isinstance(data.y, pd.Series):
        return [], False
    from stepsel.responses import binomial_response

    found = binomial_response(data.y, len(data.y), event=data.event, sample_weight=data.weights)
    return ([], True) if found.classes is None else (event_notes(data.y, found.y), False)


def _counted(data: Data, asked: SimpleNamespace, trials: bool) -> str:
    """Say how many rows were used, and what their weights are."""
    y = data.y.notna() if isinstance(data.y, pd.Series) else data.y.notna().all(axis=1)
    complete = data.frame.notna().all(axis=1) & y
    rows = int(complete.sum())
    if data.weights is None:
        return f"{rows} observations"
    weights = data.weights[complete].astype(float)
    zero = int((weights == 0).sum())
    what = "trials" if trials else "weights"
    kind = "analytic weights" if asked.weight_type == "analytic" and not trials else f"{what} sum to {weights.sum():g}"
    return f"{rows} rows{f' ({zero} of them with weight 0)' if zero else ''}, {kind}"
