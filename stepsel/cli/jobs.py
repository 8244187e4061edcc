"""What the commands do: read the file, call the library, hand the result to ``output``."""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pandas as pd

from stepsel.cli import output
from stepsel.cli.names import column_names, groups, separator
from stepsel.cli.roles import Data, candidates, event_notes, refuse_missing, split
from stepsel.reading import Table, read_table


def run_select(asked: SimpleNamespace) -> None:
    """Run ``stepsel select``.

    Parameters
    ----------
    asked : SimpleNamespace
        The options of the command by name.
    """
    output.check_writable(asked.trace, asked.candidates)
    with _progress("Reading", asked.verbose):
        table = _table(asked)
    parameters = _parameters(asked, table)
    data = split(table, asked)
    parameters["event"] = data.event
    with _progress(f"Selecting among {data.frame.shape[1]} columns, {len(data.frame)} rows", asked.verbose):
        result, remarks = _select(parameters, data)
    notes = table.notes + data.notes + _class_notes(data, asked.family)
    if asked.trace is not None:
        result.trace.to_csv(asked.trace, index=False)
    if asked.candidates is not None:
        result.candidates.to_csv(asked.candidates, index=False)
    if asked.as_json:
        head = {"file": table.path, **data.roles, "parameters": parameters}
        tail = {"notes": notes, "warnings": remarks}
        output.show_json(head | output.result_content(result) | tail)
        return
    output.show_result(
        result,
        f"{table.path}: {data.explained} explained by {data.frame.shape[1]} candidate columns, "
        f"{result.n_obs:g} observations ({asked.family}, {asked.direction}, {asked.criterion})",
    )
    output.show_notes(notes + remarks)


def run_vif(asked: SimpleNamespace) -> None:
    """Run ``stepsel vif``.

    Parameters
    ----------
    asked : SimpleNamespace
        The options of the command by name.
    """
    table = _table(asked)
    frame = candidates(table, asked.drop, [] if asked.target is None else [asked.target.strip()])
    if asked.missing == "raise":
        refuse_missing(table, frame)
    complete = frame.dropna()
    notes = list(table.notes)
    if len(complete) < len(frame):
        notes.append(f"{len(frame) - len(complete)} of {len(frame)} rows with missing values were dropped.")
    from stepsel import vif

    with _caught() as remarks:
        factors = vif(complete)
    if asked.as_json:
        output.show_json({"file": table.path, "vif": factors, "notes": notes, "warnings": remarks})
        return
    output.show_vif(factors, f"{table.path}: variance inflation factors, {len(complete)} rows")
    output.show_notes(notes + remarks)


def _table(asked: SimpleNamespace) -> Table:
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


def _parameters(asked: SimpleNamespace, table: Table) -> dict[str, Any]:
    """Translate the options into the parameters of the selector."""
    columns = list(table.frame.columns)
    parameters: dict[str, Any] = {
        "direction": str(asked.direction),
        "criterion": str(asked.criterion),
        "family": asked.family,
        "alpha_enter": asked.alpha_enter,
        "alpha_remove": asked.alpha_remove,
        "test_enter": str(asked.test_enter),
        "test_remove": str(asked.test_remove),
        "start": _start(asked.start, columns, table.path),
        "keep": column_names(asked.keep, columns, table.path),
        "groups": groups(asked.group, columns, table.path),
        "max_terms": asked.max_terms,
        "max_steps": asked.max_steps,
        "fit_intercept": not asked.no_intercept,
        "missing": str(asked.missing),
        "candidates": str(asked.refits),
        "collinearity": str(asked.collinearity),
        "vif_threshold": asked.vif_threshold,
        "weight_type": str(asked.weight_type),
        "hierarchy": asked.hierarchy,
        "verbose": asked.verbose,
    }
    if asked.tolerance is not None:
        parameters["tolerance"] = asked.tolerance
    if asked.ties is not None:
        parameters["ties"] = str(asked.ties)
    return parameters


def _start(values: list[str], columns: list[str], path: str) -> str | list[str]:
    if len(values) == 1 and values[0] in ("auto", "empty", "full"):
        return values[0]
    return column_names(values, columns, path)


def _select(parameters: dict[str, Any], data: Data) -> tuple[Any, list[str]]:
    """Fit the selector; what it warns of comes back as sentences."""
    from stepsel import StepwiseSelector

    with _caught() as remarks:
        selector = StepwiseSelector(**parameters)
        result = selector.fit(data.frame, data.y, sample_weight=data.weights, offset=data.offset).result_
        _ = result.trace, result.collinearity, result.tidy()  # built on demand, and may warn
    return result, remarks


def _class_notes(data: Data, family: str) -> list[str]:
    """Say which class was taken as the event."""
    if family != "binomial" or not isinstance(data.y, pd.Series):
        return []
    from stepsel.responses import binomial_response

    found = binomial_response(data.y, len(data.y), event=data.event, sample_weight=data.weights)
    return [] if found.classes is None else event_notes(data.y, found.y)


@contextlib.contextmanager
def _caught() -> Iterator[list[str]]:
    """Collect warnings as sentences, each once; what code prints goes to standard error."""
    remarks: list[str] = []
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(sys.stderr):
        warnings.simplefilter("always")
        yield remarks
    silent = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
    told = [str(item.message) for item in caught if not issubclass(item.category, silent)]
    remarks += dict.fromkeys(told)


@contextlib.contextmanager
def _progress(what: str, verbose: int) -> Iterator[None]:
    """Show that a run is going on: on a terminal, and unless the steps themselves are printed."""
    if verbose or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} ..."):
        yield
