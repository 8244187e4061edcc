"""Columns that have to be numbers: those that are not are named, with the way out."""

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from stepsel.reading.columns import is_text
from stepsel.reading.errors import ReadingError
from stepsel.reading.numerals import MISSING_CODES, mostly_numeric, obstacle, odd_one
from stepsel.reading.table import Table

_EXAMPLES = 5


def drop_option(names: Iterable[str]) -> str:
    """Write the option that leaves columns out, to be copied."""
    return option_of("drop", names)


def option_of(option: str, names: Iterable[str]) -> str:
    """Write an option that lists columns; a name with a comma needs one of its own."""
    plain: list[str] = []
    own: list[str] = []
    for name in names:
        (own if "," in name else plain).append(name)
    return " ".join(f"--{option} {_quoted(value)}" for value in [",".join(plain), *own] if value)


def categorical_option(names: Iterable[str]) -> str:
    """Write the option that makes columns factors, to be copied."""
    return option_of("categorical", names)


@dataclass(frozen=True)
class WayOut:
    """What can be done about columns that are not numbers, in the words of the user's options.

    Attributes
    ----------
    leave_out, declare : callable
        Names of columns -> what leaves them out, or makes them factors.
    """

    leave_out: Callable[[Iterable[str]], str] = drop_option
    declare: Callable[[Iterable[str]], str] = categorical_option


BY_OPTIONS = WayOut()


def holds_nothing(column: pd.Series) -> bool:
    """Whether a column has no value: it is empty, or holds one and the same code for missing values throughout."""
    if not is_text(column):
        return bool(column.isna().all())
    present = set(column.dropna().astype(str).str.strip()) - {""}
    return len(present) <= 1 and present <= MISSING_CODES


def numeric_frame(
    table: Table, columns: Iterable[str], role: str = "column", way_out: WayOut = BY_OPTIONS
) -> pd.DataFrame:
    """Take columns that have to be numbers.

    Parameters
    ----------
    table : Table
        A file that was read.
    columns : iterable of str
        The columns to take.
    role : str
        What they are, for the message: ``"column"``, ``"target"`` or ``"weights"``.
    way_out : WayOut

    Returns
    -------
    DataFrame
        The columns, all of them numbers or truth values.

    Raises
    ------
    ReadingError
        Columns hold something else: the sentence names them all, line and value of the first, and the way out.
    """
    frame = table.frame[list(columns)]
    text = [name for name in frame.columns if not _is_numeric(frame[name])]
    if len(text) > 1:
        raise ReadingError(_why_not_all_numeric(table, text, role, way_out))
    for name in frame.columns:
        column = frame[name]
        if name in text:
            raise ReadingError(_why_not_numeric(table, name, role, way_out))
        infinite = np.isinf(column.to_numpy(float, na_value=np.nan))
        if infinite.any():
            place = table.place(int(infinite.argmax()))
            raise ReadingError(f"{table.path}: {role} {name!r} is infinite: {place}; {_drop(name, role, way_out)}.")
        if len(column) and column.isna().all():
            raise ReadingError(f"{table.path}: {role} {name!r} is empty; {_drop(name, role, way_out)}.")
    return frame


def _is_numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)


def _why_not_all_numeric(table: Table, names: list[str], role: str, way_out: WayOut) -> str:
    """Name several columns that are not numbers, with what leaves all of them out."""
    found = [name if at >= _EXAMPLES else f"{name} ({_example(table, name)})" for at, name in enumerate(names)]
    sentence = f"{table.path}: {len(names)} {role}s are not numeric: {', '.join(found)}; "
    drop = [name for name in names if name not in table.unclear]
    if drop:
        levels = [name for name in drop if role == "column" and not nearly_numeric(table.frame[name])]
        correct = "correct them, or " if any(nearly_numeric(table.frame[name]) for name in drop) else ""
        factors = f", or declare factors with {way_out.declare(levels)}" if levels else ""
        if factors and way_out is BY_OPTIONS and len(levels) < len(drop):
            factors += " (--categorical auto takes every column of text)"
        sentence += f"{correct}leave them out with {way_out.leave_out(drop)}{factors}; "
    for reason in dict.fromkeys(table.unclear[name] for name in names if name in table.unclear):
        unclear = [name for name in names if table.unclear.get(name) == reason]
        sentence += f"{', '.join(unclear)} {reason}; "
    return f"{sentence.removesuffix('; ')}."


def nearly_numeric(column: pd.Series) -> bool:
    """Whether a column of text holds numbers for the most part."""
    return is_text(column) and mostly_numeric(column)


def _example(table: Table, name: str) -> str:
    """Show the first value of a column that keeps it from being numeric."""
    column = table.frame[name]
    if not is_text(column):
        return f"{column.dtype} values"
    found = None if name in table.unclear else obstacle(column)
    if found is None:
        row = next(row for row, cell in enumerate(column) if pd.notna(cell) and str(cell).strip())
        found = row, str(column.iloc[row])
    return f"{table.place(found[0])} holds {_shortened(found[1])!r}"


def _shortened(value: str) -> str:
    return value if len(value) <= 40 else value[:37] + "..."


def _why_not_numeric(table: Table, name: str, role: str, way_out: WayOut) -> str:
    column = table.frame[name]
    drop = _drop(name, role, way_out)
    if name in table.unclear:
        row = next(row for row, cell in enumerate(column) if pd.notna(cell) and str(cell).strip())
        where = f"{table.place(row)} holds {str(column.iloc[row])!r}"
        return f"{table.path}: {role} {name!r} {table.unclear[name]} ({where})."
    if not is_text(column):
        levels = isinstance(column.dtype, pd.CategoricalDtype) and role == "column"
        factor = f", or declare it a factor with {way_out.declare([name])}" if levels else ""
        return f"{table.path}: {role} {name!r} holds {column.dtype} values, not numbers; {drop}{factor}."
    found = obstacle(column)
    if found is None:
        odd = odd_one(column)
        where = f" ({table.place(odd[0])} holds {odd[1]!r} after {odd[2]!r})" if odd else ""
        return f"{table.path}: {role} {name!r} mixes ways to write numbers{where}; correct it, or {drop}."
    row, value = found
    numbers = mostly_numeric(column)
    ways = ["correct it", drop] if numbers else [drop]
    if role == "column" and not numbers:
        ways.append(f"declare it a factor with {way_out.declare([name])}")
    if value in MISSING_CODES or (numbers and not any(sign.isdigit() for sign in value)):
        ways.insert(-1, f"declare it missing with --na {_quoted(value)}")
    advice = ", ".join(ways[:-1]) + (", or " if ways[1:] else "") + ways[-1]
    return f"{table.path}: {role} {name!r} is not numeric: {table.place(row)} holds {_shortened(value)!r}; {advice}."


def _drop(name: str, role: str, way_out: WayOut) -> str:
    return f"leave the column out with {way_out.leave_out([name])}" if role == "column" else f"choose another {role}"


def _quoted(name: str) -> str:
    """Write a name as it has to stand on the command line."""
    return shlex.quote(name)
