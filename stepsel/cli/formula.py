"""``stepsel select --formula``: the terms of a formula instead of the columns of the file."""

import re
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import pandas as pd

from stepsel.cli.events import events_of
from stepsel.cli.factors import Factors, asked_factors, levels
from stepsel.cli.roles import EMPTY, empty_note, refuse_missing, taken_columns, used_column, used_offset
from stepsel.reading import BY_OPTIONS, ReadingError, Table, WayOut, holds_nothing, is_words, numeric_frame

_INSTEAD = {
    "target": "write the target on the left of ~",
    "time": "write Surv(time, status) on the left of ~",
    "status": "write Surv(time, status) on the left of ~",
    "group": "write the terms as they are to enter",
    "drop": "write '- NAME' in the formula",
    "no_intercept": "write '- 1' in the formula",
}


class Asked:
    """A selection by formula: what it explains, with which data.

    Parameters
    ----------
    table : Table
        A file that was read.
    asked : SimpleNamespace
        The options of the command by name.

    Raises
    ------
    ReadingError
        An option does not go with a formula, a column is not there, text is not declared, or values are missing.
    """

    def __init__(self, table: Table, asked: SimpleNamespace) -> None:
        from stepsel.model_terms.parsing import with_quotes

        for option, instead in _INSTEAD.items():
            if getattr(asked, option):
                name = option.replace("_", "-")
                raise ReadingError(f"--{name} does not go with --formula: {instead}.")
        self.formula = with_quotes(asked.formula, table.frame.columns)
        vectors = taken_columns(table, asked, ("weights", "offset", "exposure"))
        self.roles = {role: str(column.name) for role, column in vectors.items()}
        names = _Names(self.formula, table, self.roles)
        self.n_terms, self.intercept = names.n_terms, names.intercept
        factors = asked_factors(asked, table)
        _check_declared(factors, names)
        columns, self.categorical = factors.take(table, names.plain, WORDS)
        rest = [name for name in names.plain if name not in columns]
        numbers = numeric_frame(table, rest, way_out=WORDS)
        inside = {name: levels(table.frame[name]) for name in names.inside if is_words(table.frame[name])}
        response, said = _response(names, table, asked)
        known = {**inside, **columns, **numbers, **response}
        self.frame = pd.DataFrame({name: known.get(name, table.frame[name]) for name in names.data})
        self.event = None if asked.family == "cox" else asked.event
        self.notes = empty_note(names.empty) + factors.notes + said
        used = [name for name in names.data if name in {*names.plain, *names.inside, *names.left}]
        if asked.missing == "raise":
            refuse_missing(table, pd.concat([self.frame[used], *vectors.values()], axis=1), WORDS)
        self.weights, self.offset = vectors.get("weights"), used_offset(table, vectors, asked)
        self._leave_out()
        self.y = self.frame.get(names.response.text) if names.response is not None and names.response.lookup else None

    def _leave_out(self) -> None:
        """Leave out rows without weight or offset: the library drops rows for their columns only."""
        gaps = pd.Series(False, index=self.frame.index)
        for column in (self.weights, self.offset):
            gaps |= False if column is None else column.isna()
        if gaps.any():
            self.notes.append(f"{int(gaps.sum())} of {len(gaps)} rows without weight or offset were left out.")
            self.frame = self.frame[~gaps]
            self.weights = None if self.weights is None else self.weights[~gaps]
            self.offset = None if self.offset is None else self.offset[~gaps]

    def select(self, parameters: dict[str, Any]) -> Any:
        """Run the selection."""
        from stepsel import stepwise

        parameters = parameters | {"categorical": self.categorical or None, "event": self.event}
        for name in ("groups", "fit_intercept"):  # a formula says these itself
            parameters.pop(name)
        return stepwise(
            self.formula, self.frame, sample_weight=self.weights, offset=self.offset, context={}, **parameters
        )


class _Names:
    """The columns that a formula names, and those that its ``.`` stands for."""

    def __init__(self, formula: str, table: Table, roles: dict[str, str]) -> None:
        from stepsel.model_terms.parsing import parse, quoted, variables_of

        columns = list(table.frame.columns)
        head = parse(formula, "0")

        def used_by(variable: Any) -> set[str]:
            return {variable.text} if variable.lookup else variables_of(variable.text)

        self.response = head.response
        self.left = set() if head.response is None else used_by(head.response)
        written = self.left.union(*map(used_by, _variables(head)))
        for role, name in roles.items():
            if name in written:
                raise ReadingError(f"Column {name!r} is used as --{role} and cannot stand in the formula as well.")
        spare = [name for name in columns if name not in written and name not in roles.values()]
        empty = [name for name in spare if holds_nothing(table.frame[name])]
        self.data = [name for name in columns if name in written or (name in spare and name not in empty)]
        parsed = parse(formula, " + ".join(quoted(name) for name in self.data if name not in self.left))
        variables = _variables(parsed)
        plain = {variable.text for variable in variables if variable.lookup}
        inside = set().union(*(used_by(variable) for variable in variables if not variable.lookup))
        self.plain = [name for name in self.data if name in plain]
        self.inside = [name for name in self.data if name in inside]
        self.empty = dict.fromkeys(empty if plain > {v.text for v in _variables(head) if v.lookup} else [], EMPTY)
        self.n_terms, self.intercept = len({term.degrees for term in parsed.terms}), parsed.intercept


def _variables(parsed: Any) -> set[Any]:
    return {variable for term in parsed.terms for variable in term.variables}


def _check_declared(factors: Factors, names: _Names) -> None:
    """Refuse factors of which the formula would know nothing."""
    for name, level in factors.declared.items():
        if name in names.plain or (name in names.inside and level is None):
            continue
        option = "categorical" if level is None else "reference"
        if name in names.inside:
            raise ReadingError(
                f"--{option}: {name!r} stands in the formula only inside an expression such as C({_ticked(name)}): "
                f"write {_ticked(name)} there."
            )
        raise ReadingError(f"--{option}: {name!r} is not on the right side of the formula.")


def _response(names: _Names, table: Table, asked: SimpleNamespace) -> tuple[dict[str, Any], list[str]]:
    """Return the columns of the response as they are explained, and what was decided about them."""
    if names.response is None:  # which the library says
        return {}, []
    text = names.response.text
    if names.response.lookup and asked.family != "cox":
        return ({text: used_column(table, "target", text, asked.family)} if text in names.data else {}), []
    found = re.fullmatch(r"Surv\(.+,\s*(?:event\s*=\s*)?(`[^`]+`|[^\W\d]\w*)\s*\)", text)
    status = found[1].strip("`") if found and asked.family == "cox" else ""
    if status in names.data:
        times = numeric_frame(table, [name for name in names.data if name in names.left - {status}], "time column")
        events, notes = events_of(used_column(table, "status", status, "cox"), asked.event)
        return {**dict(times), status: events}, notes
    if asked.event is not None:
        raise ReadingError(f"--event {asked.event}: the response {text} is an expression: say in it what the event is.")
    return {name: levels(table.frame[name]) for name in names.data if name in names.left}, []


def _left_out(columns: Iterable[str]) -> str:
    return f"'{' '.join(f'- {_ticked(name)}' for name in columns)}' in the formula"


def _declared(columns: Iterable[str]) -> str:
    names = list(columns)
    return f"{BY_OPTIONS.declare(names)} (or {', '.join(f'C({_ticked(name)})' for name in names)} in the formula)"


WORDS = WayOut(_left_out, _declared)


def _ticked(name: str) -> str:
    from stepsel.model_terms.parsing import quoted

    return quoted(name)


def formula_terms(values: Iterable[str], columns: Sequence[str]) -> list[str]:
    """Read names of terms: a value is cut at the commas that stand outside brackets, quotes and backticks.

    Parameters
    ----------
    values : iterable of str
        As given on the command line.
    columns : sequence of str
        The columns there are, of which one may have a comma in its name.
    """
    names: list[str] = []
    for value in values:
        if value.strip() in columns:
            names.append(value.strip())
            continue
        depth, quote, parts = 0, "", [""]
        for sign in value:
            if quote or sign in "`'\"":
                quote = "" if sign == quote else quote or sign
            else:
                depth += (sign in "([{") - (sign in ")]}")
            if sign == "," and not depth and not quote:
                parts.append("")
            else:
                parts[-1] += sign
        names += [part.strip() for part in parts if part.strip()]
    return names
