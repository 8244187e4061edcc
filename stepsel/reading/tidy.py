"""Names and leftovers: padded, missing, duplicate headers; index and empty columns; missing values."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from stepsel.reading.columns import Numbers, is_text, positions
from stepsel.reading.errors import ReadingError, listed

UNNAMED = re.compile(r"(Unnamed: \d+(_level_\d+)?(\.\d+)?|\.\.\.1)?")


def trim_names(names: Iterable[str], notes: list[str]) -> list[str]:
    """Take the blanks off the headers, and say which had them."""
    given = list(names)
    trimmed = [name.strip() for name in given]
    padded = [new for old, new in zip(given, trimmed, strict=True) if old != new and new]
    if padded:
        notes.append(f"Blanks around the headers were left out: {listed(map(repr, padded))}.")
    return trimmed


def leftovers(frame: pd.DataFrame, names: Sequence[str], notes: list[str]) -> set[int]:
    """Find the columns that are no variables: a written-out index, columns without name and data.

    Parameters
    ----------
    frame : DataFrame
        With columns 0, 1, ...
    names : sequence of str
        The headers.
    notes : list of str
        Gets a sentence for each kind.

    Returns
    -------
    set of int
        The columns to leave out.
    """
    unnamed = [position for position in positions(frame) if UNNAMED.fullmatch(names[position])]
    empty = [position for position in unnamed if _is_empty(frame[position])]
    found = set(empty)
    if empty:
        notes.append(f"{len(empty)} empty column{'s' * (len(empty) > 1)} without a name left out.")
    if unnamed[:1] == [0] and found | {0} == set(unnamed):  # of several columns without names none is an index
        what = _index_kind(frame[0])
        if what:
            found.add(0)
            notes.append(f"The first column has no name and holds {what}: taken as an index and left out.")
    return found


def _is_empty(column: pd.Series) -> bool:
    return bool((column.isna() | (column == "")).all()) if is_text(column) else bool(column.isna().all())


def _index_kind(column: pd.Series) -> str | None:
    if is_text(column):
        return "row labels" if column.is_unique else None
    if not pd.api.types.is_integer_dtype(column) or not column.is_unique:
        return None
    low, high = int(column.min()), int(column.max())
    if low in (0, 1) and high - low + 1 == len(column):
        return f"the row numbers {low} to {high}"
    return "distinct whole numbers" if low >= 0 else None


def unique_names(
    names: Sequence[str], kept: Sequence[int], path: str | Path, target: str | None, notes: list[str]
) -> list[str]:
    """Name the kept columns: every name once, and none empty.

    Parameters
    ----------
    names : sequence of str
        All headers.
    kept : sequence of int
        The columns that stay.
    path : str or Path
        The file, for messages.
    target : str or None
        The target, which may not stand twice.
    notes : list of str
        Gets a sentence on every new name.

    Returns
    -------
    list of str
        One name for each kept column.

    Raises
    ------
    ReadingError
        The target's name stands more than once.
    """
    counts = Counter(names[position] for position in kept if names[position])
    if target is not None and counts[target] > 1:
        raise ReadingError(f"{path} has {counts[target]} columns called {target!r}: rename all but the target.")
    taken, result, renamed, seen = set(counts), [], [], Counter[str]()
    for position in kept:
        name = names[position]
        seen[name] += 1
        if not name or seen[name] > 1:
            stem, number = (name, seen[name]) if name else ("column", position + 1)
            joint = "." if name else "_"
            while f"{stem}{joint}{number}" in taken:
                number += 1
            new = f"{stem}{joint}{number}"
            renamed.append(f"column {position + 1} is now {new!r}")
            name = new
            taken.add(new)
        result.append(name)
    if renamed:
        twice = [name for name, count in counts.items() if count > 1]
        why = f"headers stand twice ({listed(map(repr, twice))})" if twice else "headers are missing"
        notes.append(f"Some {why}: {listed(renamed)}.")
    return result


def missing_note(numbers: Numbers, names: Sequence[str]) -> list[str]:
    """Say what was taken as missing, by column and count."""
    parts = []
    for position in sorted(numbers.columns):
        missing = {code: count for code, count in numbers.columns[position].missing.items() if count}
        if missing:
            detail = ", ".join(
                f"{code or 'blank'} {count}" if len(missing) > 1 else code or "blank" for code, count in missing.items()
            )
            parts.append(f"{names[position]} {sum(missing.values())} ({detail})")
    return [f"Missing values: {listed(parts, 20)}."] if parts else []


def leading_zeros(sample: Sequence[Sequence[str]], frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Say where 00123 became 123: it may be a code rather than a quantity."""
    found = [
        names[position]
        for position in positions(frame)
        if not is_text(frame[position])
        and any(len(fields) > position and re.fullmatch(r"0\d+", fields[position]) for fields in sample)
    ]
    if not found:
        return []
    advice = "declare them with --categorical, or leave them out with --drop"
    return [f"Leading zeros were left out in {listed(found)}: if these are codes, {advice}."]
