"""The factors among the columns of a file: those that are declared, and with ``auto`` the columns of text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pandas as pd

from stepsel.cli.names import column_names
from stepsel.columns import are_dates, are_numbers
from stepsel.reading import ReadingError, Table, drop_option, is_words, known_name, listed

AUTO = "auto"


@dataclass(frozen=True)
class Factors:
    """Which columns are factors.

    Attributes
    ----------
    declared : dict of str -> str or None
        The reference level of every declared column, None for the first.
    auto : bool
        Whether columns of text are factors besides.
    decided : list of str
        The columns that were taken as factors because they hold text.
    """

    declared: dict[str, str | None]
    auto: bool
    decided: list[str] = field(default_factory=list)

    def among(self, table: Table, names: Sequence[str]) -> dict[str, str | None]:
        """Return the factors among some columns, and note which were decided on."""
        found = {name: level for name, level in self.declared.items() if name in names}
        if self.auto:
            for name in names:
                if name not in found and _is_factor(table, name):
                    found[name] = None
                    self.decided.append(name)
        return found

    def note(self, frame: pd.DataFrame) -> list[str]:
        """Say which columns were decided on, and how many levels they have."""
        if not self.auto:
            return []
        words = [f"{name} ({frame[name].nunique()} levels)" for name in self.decided if name in frame]
        return [f"Text that was taken as factors (--categorical auto): {listed(words, 20) or 'no column'}."]


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
        There is no such column, or ``--reference`` is not of the form NAME=LEVEL.
    """
    columns = list(table.frame.columns)
    values = [value for value in asked.categorical if value.strip().lower() != AUTO or value in columns]
    declared: dict[str, str | None] = dict.fromkeys(column_names(values, columns, table.path))
    for value in getattr(asked, "reference", []):
        name, level = _reference(value, columns, table.path)
        declared[name] = level
    return Factors(declared, auto=len(values) < len(asked.categorical))


def _reference(value: str, columns: Sequence[str], path: str) -> tuple[str, str]:
    for at, sign in enumerate(value):
        if sign == "=" and value[:at].strip() in columns and value[at + 1 :].strip():
            return value[:at].strip(), value[at + 1 :].strip()
    name, equals, level = value.partition("=")
    if not equals or not name.strip() or not level.strip():
        raise ReadingError(f"--reference {value!r} is not of the form NAME=LEVEL.")
    return known_name(name.strip(), columns, path, "column"), level.strip()


def _is_factor(table: Table, name: str) -> bool:
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
            f"{table.path}: column {name!r} holds dates ({present[0]!r}): leave it out with {drop_option([name])}, or "
            f"declare it with --categorical {name!r} if they are levels."
        )
    return True


def levels(table: Table, names: Iterable[str]) -> dict[str, Any]:
    """Return factors as they are selected from: a blank is no level.

    Parameters
    ----------
    table : Table
    names : iterable of str
    """
    return {name: _levels(table.frame[name]) for name in names}


def _levels(column: pd.Series) -> pd.Series:
    if not is_words(column):
        return column
    text = column.astype(object)
    return text.mask(text.isna() | (text.astype(str).str.strip() == ""), None)
