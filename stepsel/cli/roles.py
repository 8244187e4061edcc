"""What the columns of a file are: response, weights, offset, and the candidates that are left."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from stepsel.cli.events import events_of
from stepsel.cli.factors import Factors, asked_factors
from stepsel.cli.names import column_names
from stepsel.reading import BY_OPTIONS, ReadingError, Table, WayOut, holds_nothing, known_name, numeric_frame

COUNTS = ("poisson", "negative_binomial")
EMPTY = "is empty and was left out"


@dataclass(frozen=True)
class Data:
    """What is handed to the selector.

    Attributes
    ----------
    frame : DataFrame
        The candidates.
    y : Series or DataFrame
        The target; for Cox regression a frame of time and event.
    weights, offset : Series, optional
    roles : dict
        Option to column name, for what was asked for.
    event : str, optional
        The label of the event, where the selector has to find it.
    taken : dict
        Column that is no candidate -> why.
    notes : list of str
    categorical : dict
        Column that is a factor -> its reference level, None for the first.
    """

    frame: pd.DataFrame
    y: pd.Series | pd.DataFrame
    weights: pd.Series | None
    offset: pd.Series | None
    roles: dict[str, str]
    event: str | None
    taken: dict[str, str]
    notes: list[str]
    categorical: dict[str, Any]

    @property
    def explained(self) -> str:
        """What is explained, for a title."""
        if "target" in self.roles:
            return self.roles["target"]
        return f"{self.roles['time']} (event: {self.roles['status']})"


def split(table: Table, asked: SimpleNamespace) -> Data:
    """Split a table into response, weights, offset and candidates.

    Parameters
    ----------
    table : Table
        A file that was read.
    asked : SimpleNamespace
        The options of the command by name.

    Returns
    -------
    Data

    Raises
    ------
    ReadingError
        An option is missing or does not fit the family, a column is not there or not numeric, or values are missing.
    """
    roles = _roles(table, asked)
    used = {role: used_column(table, role, name, asked.family) for role, name in roles.items()}
    factors = asked_factors(asked, table)
    frame, taken, categorical = candidates(table, asked.drop, roles, factors)
    if asked.missing == "raise":
        refuse_missing(table, pd.concat([frame, *used.values()], axis=1))
    offset = used_offset(table, used, asked)
    y, notes = _cox(used, asked) if asked.family == "cox" else (used["target"], [])
    notes = empty_note(taken) + factors.notes + notes
    weights = used.get("weights")
    rows = pd.Series(True, index=frame.index)
    for column in (weights, offset):
        rows &= True if column is None else column.notna()
    if not rows.all():  # the library drops rows of X and y; there, weights and offsets have no gaps
        notes.append(f"{int((~rows).sum())} of {len(rows)} rows without weight or offset were left out.")
        frame, y = frame[rows], y[rows]
        weights, offset = (None if column is None else column[rows] for column in (weights, offset))
    event = None if asked.family == "cox" else asked.event
    return Data(frame, y, weights, offset, roles, event, taken, notes, categorical)


def _roles(table: Table, asked: SimpleNamespace) -> dict[str, str]:
    """Return option -> column for all columns that are no candidates, checked."""
    wanted = ["time", "status"] if asked.family == "cox" else ["target"]
    for role in wanted:
        if getattr(asked, role) is None:
            what = "the columns of times and of events" if asked.family == "cox" else "the column to explain"
            raise ReadingError(f"--{role} is missing: give {what} ({' and '.join(f'--{name}' for name in wanted)}).")
    if asked.family == "cox" and asked.target is not None:
        raise ReadingError("--target does not go with --family cox, which explains --time and --status.")
    if asked.family != "cox" and (asked.time is not None or asked.status is not None):
        raise ReadingError(f"--time and --status belong to --family cox, not to {asked.family}, which has --target.")
    if asked.exposure is not None and asked.family not in COUNTS:
        raise ReadingError(f"--exposure belongs to counts (--family {' or '.join(COUNTS)}), not to {asked.family}.")
    roles: dict[str, str] = {}
    for role in (*wanted, "weights", "offset", "exposure"):
        given = getattr(asked, role)
        if given is None:
            continue
        what = role if role == "target" else f"{role} column"
        name = known_name(given.strip(), table.frame.columns, table.path, what)
        if name in roles.values():
            other = next(other for other, taken in roles.items() if taken == name)
            raise ReadingError(f"Column {name!r} is used as --{other} and cannot be --{role} as well.")
        roles[role] = name
    return roles


def used_column(table: Table, role: str, name: str, family: str) -> pd.Series:
    """Take one column; only a response may hold labels.

    Parameters
    ----------
    table : Table
    role : {"target", "time", "status", "weights", "offset", "exposure"}
    name, family : str

    Raises
    ------
    ReadingError
        It is not numeric.
    """
    if role == "status" or (role == "target" and family == "binomial"):
        column = table.frame[name]
        if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
            return column
        return column.mask(column.astype(str).str.strip() == "")  # a blank is no class
    return numeric_frame(table, [name], role if role == "target" else f"{role} column")[name]


def taken_columns(table: Table, asked: SimpleNamespace, wanted: Iterable[str]) -> dict[str, pd.Series]:
    """Return option -> column for some of the options that name one of numbers."""
    found: dict[str, pd.Series] = {}
    for role in wanted:
        given = getattr(asked, role)
        if given is not None:
            name = known_name(given.strip(), table.frame.columns, table.path, f"{role} column")
            other = next((other for other, column in found.items() if column.name == name), None)
            if other is not None:
                raise ReadingError(f"Column {name!r} is used as --{other} and cannot be --{role} as well.")
            found[role] = used_column(table, role, name, asked.family)
    if "exposure" in found and asked.family not in COUNTS:
        raise ReadingError(f"--exposure belongs to counts (--family {' or '.join(COUNTS)}), not to {asked.family}.")
    return found


def used_offset(table: Table, used: Mapping[str, pd.Series], asked: SimpleNamespace) -> pd.Series | None:
    """Return the offset, the logarithm of the exposure included; ``used`` holds both columns by option."""
    offset = used.get("offset")
    if asked.exposure is None:
        return offset
    exposure = used["exposure"].astype(float)
    bad = (exposure <= 0).to_numpy()
    if bad.any():
        row = int(np.argmax(bad))
        raise ReadingError(
            f"{table.path}: exposure column {exposure.name!r} is not above 0: {table.place(row)} holds "
            f"{exposure.iloc[row]:g}; correct it, or choose another exposure column."
        )
    logarithm = pd.Series(np.log(exposure.to_numpy()), index=exposure.index)
    return logarithm if offset is None else offset + logarithm


def _cox(used: Mapping[str, pd.Series], asked: SimpleNamespace) -> tuple[pd.DataFrame, list[str]]:
    """Return time and event as two columns, in which gaps can be told from values."""
    time, status = used["time"], used["status"]
    event, notes = events_of(status, asked.event)
    return pd.DataFrame({time.name: time, status.name: event}), notes


def candidates(
    table: Table, drop: list[str], roles: Mapping[str, str], factors: Factors
) -> tuple[pd.DataFrame, dict[str, str], dict[str, Any]]:
    """Take the columns that may enter: numbers and factors; those without any value are left out.

    Parameters
    ----------
    table : Table
        A file that was read.
    drop : list of str
        The values of ``--drop``.
    roles : mapping
        Option to column, for columns with another use.
    factors : Factors

    Returns
    -------
    frame : DataFrame
    taken : dict
        Every other column -> why it is no candidate.
    categorical : dict
        Column that is a factor -> its reference level, None for the first.

    Raises
    ------
    ReadingError
        No column is left, one is neither numeric nor a factor, or what is declared a factor is no candidate.
    """
    columns = list(table.frame.columns)
    dropped = column_names(drop, columns, table.path)
    for role, name in roles.items():
        if name in dropped:
            raise ReadingError(f"Column {name!r} is used as --{role} and cannot be dropped as well.")
    taken = dict.fromkeys(dropped, "is left out with --drop")
    taken |= {name: "is the target" if role == "target" else f"is used as --{role}" for role, name in roles.items()}
    taken |= {name: EMPTY for name in columns if name not in taken and holds_nothing(table.frame[name])}
    names = [name for name in columns if name not in taken]
    if not names:
        raise ReadingError(f"{table.path} has no candidate columns left.")
    for name in factors.declared:
        if name in taken:
            raise ReadingError(f"--categorical: {name!r} {taken[name]}.")
    levels, categorical = factors.take(table, names)
    numeric_frame(table, [name for name in names if name not in levels])
    return pd.DataFrame({name: levels.get(name, table.frame[name]) for name in names}), taken, categorical


def empty_note(taken: Mapping[str, str]) -> list[str]:
    """Say which columns were left out because they hold nothing."""
    empty = [name for name, why in taken.items() if why == EMPTY]
    return [f"Empty column{'s' * (len(empty) > 1)} left out: {', '.join(empty)}."] if empty else []


def refuse_missing(table: Table, frame: pd.DataFrame, way_out: WayOut = BY_OPTIONS) -> None:
    """Say where values are missing, and the way out in the words of the command line.

    Parameters
    ----------
    table : Table
        A file that was read.
    frame : DataFrame
        The columns in use.
    way_out : WayOut

    Raises
    ------
    ReadingError
        A value is missing.
    """
    counts = frame.isna().sum()
    rows = int(frame.isna().any(axis=1).sum())
    if rows:
        where = ", ".join(f"{name} {count}" for name, count in counts[counts > 0].items())
        raise ReadingError(
            f"{table.path}: {rows} of {len(frame)} rows have missing values ({where}); "
            f"--missing drop uses the complete rows only, {way_out.leave_out(['NAME'])} leaves a column out."
        )
