"""What the commands do: read the file, call the library, hand the result to ``output``."""

import contextlib
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from stepsel.cli import output
from stepsel.cli.factors import asked_factors
from stepsel.cli.names import groups, separator, term_names
from stepsel.cli.roles import Data, candidates, empty_note, event_notes, refuse_missing, split
from stepsel.exceptions import CollinearityWarning, PerfectFitWarning
from stepsel.reading import Table, listed, read_table


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
    if asked.formula is not None:
        _run_formula(asked, table)
        return
    data = split(table, asked)
    parameters = _parameters(asked, table, data.taken) | {"event": data.event, "categorical": data.categorical or None}
    with _progress(f"Selecting among {data.frame.shape[1]} columns, {len(data.frame)} rows", asked.verbose):
        result, remarks = _select(parameters, data)
    classes, trials = _classes(data, asked.family)
    notes = table.notes + data.notes + classes
    if asked.trace is not None:
        result.trace.to_csv(asked.trace, index=False)
    if asked.candidates is not None:
        result.candidates.to_csv(asked.candidates, index=False)
    if asked.as_json:
        parameters |= {name: parameters[name] or {} for name in ("groups", "categorical")}
        head = {"file": table.path, **data.roles, "parameters": parameters}
        tail = {"notes": notes, "warnings": remarks.sentences}
        output.show_json(head | output.result_content(result) | tail)
        return
    output.show_result(
        result,
        f"{table.path}: {data.explained} explained by {data.frame.shape[1]} candidate columns, "
        f"{_counted(data, asked, trials)} ({asked.family}, {asked.direction}, {asked.criterion})",
        perfect=PerfectFitWarning in remarks.kinds,
        vif_limit=asked.vif_threshold if _is_watched(asked, remarks) else None,
    )
    output.show_notes(notes + remarks.sentences)


def _run_formula(asked: SimpleNamespace, table: Table) -> None:
    """Run ``stepsel select --formula``."""
    from stepsel.cli.formula import Asked

    wanted = Asked(table, asked)
    parameters = _parameters(asked, table, {})
    with _progress(f"Selecting, {len(wanted.frame)} rows", asked.verbose), _caught() as remarks:
        result = wanted.select(parameters)
        _ = result.trace, result.collinearity, result.tidy()  # built on demand, and may warn
    if asked.trace is not None:
        result.trace.to_csv(asked.trace, index=False)
    if asked.candidates is not None:
        result.candidates.to_csv(asked.candidates, index=False)
    notes = table.notes + wanted.notes + ([] if result.event is None else [f"The event is {result.event!r}."])
    if asked.as_json:
        parameters |= {"categorical": wanted.categorical, "groups": {}}
        head = {"file": table.path, "formula": asked.formula, "parameters": parameters}
        tail = {"notes": notes, "warnings": remarks.sentences}
        output.show_json(head | output.result_content(result) | tail)
        return
    output.show_result(
        result,
        f"{table.path}: {asked.formula}, {result.n_obs:g} observations ({asked.family}, {asked.direction}, "
        f"{asked.criterion})",
        perfect=PerfectFitWarning in remarks.kinds,
        vif_limit=asked.vif_threshold if _is_watched(asked, remarks) else None,
    )
    output.show_notes(notes + remarks.sentences)


def _is_watched(asked: SimpleNamespace, remarks: "Remarks") -> bool:
    """Whether collinearity was looked for, and none was found."""
    return asked.collinearity != "ignore" and CollinearityWarning not in remarks.kinds


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


def run_vif(asked: SimpleNamespace) -> None:
    """Run ``stepsel vif``.

    Parameters
    ----------
    asked : SimpleNamespace
        The options of the command by name.
    """
    table = _table(asked)
    factors = asked_factors(asked, table)
    roles = {} if asked.target is None else {"target": asked.target.strip()}
    frame, taken, categorical = candidates(table, asked.drop, roles, factors)
    if asked.missing == "raise":
        refuse_missing(table, frame)
    complete = frame.dropna()
    notes = table.notes + empty_note(taken) + factors.note(frame)
    if asked.target is None:
        taken_all = listed(frame.columns, 20)
        notes.append(f"Every column was taken: {taken_all}; if one of them is the response, --target leaves it out.")
    if len(complete) < len(frame):
        notes.append(f"{len(frame) - len(complete)} of {len(frame)} rows with missing values were dropped.")
    from stepsel import vif

    with _caught() as remarks:
        inflation = vif(complete, categorical=categorical or None)
    constant = inflation["term"][inflation["vif"].isna()]
    if len(constant):
        notes.append(f"Constant, without a variance inflation factor: {listed(constant, 20)}.")
    exact = inflation["term"][np.isinf(inflation["vif"])]
    if len(exact):
        notes.append(f"Repeated exactly by other columns, so that the factor is infinite: {listed(exact, 20)}.")
    if asked.as_json:
        output.show_json({"file": table.path, "vif": inflation, "notes": notes, "warnings": remarks.sentences})
        return
    output.show_vif(inflation, f"{table.path}: variance inflation factors, {len(complete)} rows")
    output.show_notes(notes + remarks.sentences)


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


def _select(parameters: dict[str, Any], data: Data) -> tuple[Any, "Remarks"]:
    """Fit the selector; what it warns of comes back as sentences."""
    from stepsel import StepwiseSelector

    with _caught() as remarks:
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


@dataclass
class Remarks:
    """What was warned of: the sentences, each once, and the kinds of warnings."""

    sentences: list[str] = field(default_factory=list)
    kinds: set[type[Warning]] = field(default_factory=set)


@contextlib.contextmanager
def _caught() -> Iterator[Remarks]:
    """Collect warnings; what code prints goes to standard error."""
    remarks = Remarks()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(sys.stderr):
        warnings.simplefilter("always")
        yield remarks
    silent = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
    told = [item for item in caught if not issubclass(item.category, silent)]
    remarks.sentences += dict.fromkeys(str(item.message) for item in told)
    remarks.kinds |= {item.category for item in told}


@contextlib.contextmanager
def _progress(what: str, verbose: int) -> Iterator[None]:
    """Show that a run is going on: on a terminal, and unless the steps themselves are printed."""
    if verbose or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} ..."):
        yield
