"""From the options of the command line to a finished selection."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pandas as pd

from stepsel.cli.events import classes_of
from stepsel.cli.factors import declared_words
from stepsel.cli.formula import Asked, formula_terms
from stepsel.cli.names import groups, separator, term_names
from stepsel.cli.remarks import Remarks, caught, progress
from stepsel.cli.roles import Data, split
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
    classes, trials = classes_of(data.y, data.weights, asked)
    parameters |= {name: parameters[name] or {} for name in ("groups", "categorical")}
    title = (
        f"{table.path}: {data.explained} explained by {data.frame.shape[1]} candidate columns, "
        f"{_counted(_complete(data), data.weights, asked, trials)}{_events(result)} "
        f"({asked.family}, {asked.direction}, {asked.criterion})"
    )
    head = {"file": table.path, **data.roles, "parameters": parameters}
    return Made(result, remarks, table.notes + data.notes + classes, title, head)


def _by_formula(asked: SimpleNamespace, table: Table) -> Made:
    wanted = Asked(table, asked)
    parameters = _parameters(asked, table, {})
    with progress(f"Selecting, {len(wanted.frame)} rows", asked.verbose), caught() as remarks:
        result = wanted.select(parameters)
        _ = result.trace, result.collinearity, result.tidy()  # built on demand, and may warn
    classes, trials = classes_of(wanted.y, wanted.weights, asked)
    if wanted.y is None and result.event is not None:
        classes = [f"The event is {result.event!r}."]
    parameters |= {"categorical": wanted.categorical, "groups": {}, "fit_intercept": wanted.intercept}
    complete = pd.Series(wanted.frame.index.isin(result.design.index), wanted.frame.index)
    if wanted.weights is not None:
        complete |= wanted.weights == 0
    title = (
        f"{table.path}: {asked.formula}, {wanted.n_terms} candidate term{'s' * (wanted.n_terms != 1)}, "
        f"{_counted(complete, wanted.weights, asked, trials)}{_events(result)} "
        f"({asked.family}, {asked.direction}, {asked.criterion})"
    )
    head = {"file": table.path, "formula": asked.formula, **wanted.roles, "parameters": parameters}
    return Made(result, remarks, table.notes + wanted.notes + classes, title, head)


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
        codes=declared_words(asked),
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
            return formula_terms(values, columns)
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


def _complete(data: Data) -> pd.Series:
    y = data.y.notna() if isinstance(data.y, pd.Series) else data.y.notna().all(axis=1)
    return data.frame.notna().all(axis=1) & y


def _events(result: Any) -> str:
    return "" if result.n_events is None else f", {result.n_events:.12g} events"


def _counted(complete: pd.Series, weights: pd.Series | None, asked: SimpleNamespace, trials: bool) -> str:
    """Say how many rows were used, and what their weights are."""
    rows = int(complete.sum())
    if weights is None:
        return f"{rows} observations"
    weights = weights[complete].astype(float)
    zero = int((weights == 0).sum())
    what = "trials" if trials else "weights"
    kind = "analytic weights" if asked.weight_type == "analytic" and not trials else f"{what} sum to {weights.sum():g}"
    return f"{rows} rows{f' ({zero} of them with weight 0)' if zero else ''}, {kind}"
