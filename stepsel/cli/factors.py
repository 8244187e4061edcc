"""The factors among the columns of a file: those that are declared, and with ``auto`` the columns of text."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pandas as pd

from stepsel.cli.names import column_names
from stepsel.columns import are_dates, are_numbers
from stepsel.reading import (
    BY_OPTIONS,
    ReadingError,
    Table,
    WayOut,
    is_missing_code,
    is_words,
    known_name,
    listed,
    looks_plain,
)

AUTO = "auto"


@dataclass(frozen=True)
class Factors:
    """Which columns are factors.

    Attributes
    ----------
    declared : dict of str -> str or None
        The reference level of every declared column as it was written, None for the first.
    auto : bool
        Whether columns of text are factors besides.
    notes : list of str
        What was decided when they were taken.
    """

    declared: dict[str, str | None]
    auto: bool
    notes: list[str] = field(default_factory=list)

    def take(
        self, table: Table, names: Sequence[str], way_out: WayOut = BY_OPTIONS
    ) -> tuple[dict[str, pd.Series], dict[str, Any]]:
        """Take the factors among some columns.

        Parameters
        ----------
        table : Table
        names : sequence of str
        way_out : WayOut

        Returns
        -------
        columns : dict of str -> Series
            As they are selected from: without blanks around levels, and with blanks as missing levels.
        references : dict of str -> level or None
            The reference levels; None for the first.

        Raises
        ------
        ReadingError
            With ``auto``, a column holds dates; or there is no such reference level.
        """
        decided = [
            name for name in names if self.auto and name not in self.declared and _is_factor(table, name, way_out)
        ]
        columns = {name: levels(table.frame[name]) for name in names if name in self.declared or name in decided}
        references = {name: _level(table, name, self.declared.get(name), column) for name, column in columns.items()}
        if self.auto:
            counts = {name: columns[name].nunique() for name in decided}
            words = [f"{name} ({count} level{'s' * (count != 1)})" for name, count in counts.items()]
            self.notes.append(
                f"Text that was taken as factors (--categorical auto): {listed(words, 20) or 'no column'}."
            )
        self.notes.extend(_oddities(table, columns))
        return columns, references


def asked_factors(asked: SimpleNamespace, table: Table) -> Factors:
    """Read ``--categorical`` and ``--reference``.

    Parameters
    ----------
    asked : SimpleNamespace
        The options of the command by name.
    table : Table

    Raises
    ------
    ReadingError
        There is no such column, or ``--reference`` is not of the form NAME=LEVEL, or names two levels of a column.
    """
    columns = list(table.frame.columns)
    values = [part for value in asked.categorical for part in ([value] if value in columns else value.split(","))]
    named = [value for value in values if value.strip().lower() != AUTO or value in columns]
    declared: dict[str, str | None] = dict.fromkeys(column_names(named, columns, table.path))
    for value in getattr(asked, "reference", []):
        name, level = _reference(value, columns, table.path)
        if declared.get(name) not in (None, level):
            raise ReadingError(f"--reference names two levels of {name!r}, {declared[name]!r} and {level!r}: give one.")
        declared[name] = level
    return Factors(declared, auto=len(named) < len(values))


def declared_words(asked: SimpleNamespace) -> list[str]:
    """Return what may be names of declared factors, before it is known which columns there are.

    Parameters
    ----------
    asked : SimpleNamespace
        The options of the command by name.
    """
    values = list(asked.categorical)
    words = [*values, *(part.strip() for value in values for part in value.split(","))]
    for value in getattr(asked, "reference", []):
        words += [value[:at].strip() for at, sign in enumerate(value) if sign == "="]
    return [word for word in words if word]


def _reference(value: str, columns: Sequence[str], path: str) -> tuple[str, str]:
    for at, sign in enumerate(value):
        if sign == "=" and value[:at].strip() in columns and value[at + 1 :].strip():
            return value[:at].strip(), value[at + 1 :].strip()
    name, equals, level = value.partition("=")
    if not equals or not name.strip() or not level.strip():
        raise ReadingError(f"--reference {value!r} is not of the form NAME=LEVEL.")
    return known_name(name.strip(), columns, path, "column"), level.strip()


def _level(table: Table, name: str, written: str | None, column: pd.Series) -> Any:
    """Return the level that was written, as text or else by its value: 1, 01 and 1.0 are the same number."""
    if written is None:
        return None
    found = column.dropna().unique().tolist()
    same = [level for level in found if str(level) == written]
    if not same and (value := _value(written)) is not None:
        same = [level for level in found if _value(level) == value]
    if len(same) == 1:
        return int(same[0]) if isinstance(same[0], float) and same[0].is_integer() else same[0]
    what = "has no such level" if not same else f"has {len(same)} levels of this value"
    known = listed((repr(_plainest(level)) for level in sorted(found, key=_order)), 20)
    raise ReadingError(f"{table.path}: --reference {name}={written}: {name!r} {what}; its levels are {known}.")


def _value(level: Any) -> float | None:
    """Return the number that a level is, with a decimal comma or point; truth values are 1 and 0."""
    if not isinstance(level, str):
        return float(level) if isinstance(level, int | float) else None
    text = {"true": "1", "false": "0"}.get(level.lower(), level.replace(",", "."))
    return float(text) if looks_plain(text) else None


def _plainest(level: Any) -> Any:
    return int(level) if isinstance(level, float) and level.is_integer() else level


def _order(level: Any) -> tuple[bool, float, str]:
    value = None if isinstance(level, str) else _value(level)
    return value is None, value or 0.0, str(level)


def _is_factor(table: Table, name: str, way_out: WayOut) -> bool:
    """Whether a column holds levels: text or categories, and neither numbers with remarks nor dates."""
    column = table.frame[name]
    if isinstance(column.dtype, pd.CategoricalDtype):
        return True
    if not is_words(column) or name in table.unclear:
        return False
    present = sorted({str(cell) for cell in column.dropna() if str(cell).strip()})
    if are_numbers(present):
        return False
    if are_dates(present):
        raise ReadingError(
            f"{table.path}: column {name!r} holds dates ({present[0]!r}): leave it out with "
            f"{way_out.leave_out([name])}, or declare it with {way_out.declare([name])} if they are levels."
        )
    return True


def levels(column: pd.Series) -> pd.Series:
    """Return a factor as it is selected from: blanks around a level do not count, and a blank is no level.

    Parameters
    ----------
    column : Series
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        known = [level for level in column.cat.categories if not isinstance(level, str) or level.strip()]
        # remove_categories() would sort them
        return column if len(known) == len(column.cat.categories) else column.cat.set_categories(known)
    if not is_words(column):
        return column
    text = column.astype(object).map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
    return text.mask(text.isna() | (text == ""), None)


def _oddities(table: Table, columns: dict[str, pd.Series]) -> list[str]:
    """Say which levels are written in two ways, and which may be missing values."""
    notes = []
    text = {name: column for name, column in columns.items() if is_words(column)}
    padded = [name for name, column in text.items() if column.nunique() < _without_blanks(table.frame[name]).nunique()]
    if padded:
        notes.append(f"Blanks around levels were left out in {listed(padded)}.")
    for name, column in text.items():
        codes = sorted(level for level in column.dropna().unique() if isinstance(level, str) and is_missing_code(level))
        if codes:
            notes.append(
                f"{name} has the level {codes[0]!r}; if that is a missing value, say --na {shlex.quote(codes[0])}."
            )
    return notes


def _without_blanks(column: pd.Series) -> pd.Series:
    return column[column.astype(str).str.strip() != ""]
