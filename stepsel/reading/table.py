"""The reader itself: a file -> a Table with a frame, and notes on everything that was decided."""

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from stepsel.reading.columns import Numbers, finish, positions
from stepsel.reading.delimited import line_of, read_delimited
from stepsel.reading.errors import ReadingError, listed
from stepsel.reading.layout import find_layout
from stepsel.reading.source import decode, load
from stepsel.reading.tidy import leading_zeros, leftovers, missing_note, trim_names, unique_names
from stepsel.reading.typed import read_sheet, read_typed


@dataclass(frozen=True)
class Table:
    """A file that was read.

    Attributes
    ----------
    frame : DataFrame
        Numbers where every value of a column is one; other columns stay text as it was written.
    notes : list of str
        One plain sentence for everything that was decided, left out or assumed.
    path : str
        The file.
    unclear : dict
        Columns of numbers that stayed text because they can be read in two ways, with the reason.
    place : callable
        Number of a row -> where it stands in the file, in words.
    """

    frame: pd.DataFrame
    notes: list[str]
    path: str
    unclear: Mapping[str, str] = field(default_factory=dict)
    place: Callable[[int], str] = field(default=lambda row: f"row {row + 1}", repr=False)


def read_table(
    path: str | Path,
    *,
    target: str | None = None,
    encoding: str | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    na: Collection[str] = (),
    codes: Collection[str] = (),
    sheet: str | int | None = None,
    skip_rows: int = 0,
    header: bool = True,
) -> Table:
    r"""Read a file as people have them.

    Delimited text in any common encoding, separator and way to write numbers, also compressed; Excel and
    OpenDocument sheets, Parquet, Feather and Stata where their readers are installed. Text is never turned
    into numbers unless every value of the column is a number or a code for a missing value.

    Parameters
    ----------
    path : str or Path
        The file; ``"-"`` is standard input.
    target : str, optional
        A column that has to be there, once.
    encoding : str, optional
        Encoding of a text file, found when not given.
    sep : str, optional
        Separator of the fields: one character, or ``"\\s+"`` for white space; found when not given.
    decimal, thousands : str, optional
        Decimal mark and thousands mark, found when not given.
    na : collection of str
        Texts that mean "missing" in every column. Without them ``NA``, ``?``, ``.``, ``-``, ``n/a``,
        ``#N/A``, ``NULL``, ``NaN``, ``None`` and blanks are missing in columns that otherwise hold numbers,
        and nowhere else.
    codes : collection of str
        Names of columns that hold codes, not quantities: where they begin with zeros, they are kept as they
        are written, as text.
    sheet : str or int, optional
        Sheet of a workbook, by name or by number from 1; the first when not given.
    skip_rows : int, default 0
        Lines to leave out at the beginning.
    header : bool, default True
        Whether the first line holds the column names; if not, they are called column_1, column_2, ...

    Returns
    -------
    Table
        The frame, and notes on everything that was decided.

    Raises
    ------
    ReadingError
        One sentence with the file, the place, the value and what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "houses.csv"
    >>> _ = file.write_text("area;price\n71,5;1.200,50\nNA;980,00\n", encoding="utf-8")
    >>> table = read_table(file)
    >>> table.frame
       area   price
    0  71.5  1200.5
    1   NaN   980.0
    >>> for note in table.notes:
    ...     print(note)
    Fields are separated by ';'.
    Decimal commas were read as such in area, price.
    The thousands mark (point) was left out in price.
    Missing values: area 1 (NA).
    """
    _check_options(sep, decimal, thousands)
    data, kind = load(path)
    if kind == "text":
        source, note = decode(data, path, encoding)
        del data
        layout = find_layout(source, sep, skip_rows, header)
        layout.notes[:0] = [note] if note else []
        frame, numbers = read_delimited(source, layout, decimal, thousands, na, codes)
        layout.notes += leading_zeros(layout.sample, frame, layout.header)
        raw = Raw(frame, layout.header, layout.notes, lambda row: f"line {line_of(source, layout, row)}")
    elif kind == "excel":
        numbers = Numbers(decimal, thousands, na, codes)
        frame, names, first, notes = read_sheet(data, path, sheet, skip_rows, header, numbers)
        raw = Raw(frame, names, notes, lambda row: f"row {first + row}")
    else:
        numbers = Numbers(decimal, thousands, na)
        frame, names = read_typed(data, kind, path)
        finish(frame, numbers, blanks=False)
        raw = Raw(frame, names, [], lambda row: f"row {row + 1}")
    return _finished(raw, numbers, str(path), target.strip() if target is not None else None)


def _check_options(sep: str | None, decimal: str | None, thousands: str | None) -> None:
    if sep is not None and len(sep) != 1 and sep != r"\s+":
        raise ReadingError(f"The separator {sep!r} is not one character (nor '\\s+' for white space).")
    if decimal is not None and decimal not in (".", ","):
        raise ReadingError(f"The decimal mark {decimal!r} is neither '.' nor ','.")
    if thousands is not None and (len(thousands) != 1 or thousands.isalnum()):
        raise ReadingError(f"The thousands mark {thousands!r} is not one sign such as ',', '.', ' ' or an apostrophe.")
    if decimal is not None and decimal == thousands:
        raise ReadingError(f"The decimal mark and the thousands mark are both {decimal!r}.")


@dataclass
class Raw:
    """What a reader returns: columns 0, 1, ...; an index that counts the records; where a record stands."""

    frame: pd.DataFrame
    names: list[str]
    notes: list[str]
    place: Callable[[int], str]


def _finished(raw: Raw, numbers: Numbers, path: str, target: str | None) -> Table:
    """Name the columns, leave out what is no variable, and say so."""
    notes, order = raw.notes, raw.frame.index.to_numpy()
    names = trim_names(raw.names, notes)
    frame = raw.frame.reset_index(drop=True)
    out = leftovers(frame, names, notes)
    kept = [position for position in positions(frame) if position not in out]
    if not kept:
        raise ReadingError(f"{path} holds no column with data.")
    new = dict(zip(kept, unique_names(names, kept, path, target, notes), strict=True))
    labels = [new.get(position, "") for position in positions(frame)]
    numbers.columns = {position: column for position, column in numbers.columns.items() if position in new}
    notes += numbers.notes(labels) + missing_note(numbers, labels)
    frame = frame[kept]
    frame.columns = pd.Index(list(new.values()))
    if target is not None:
        known_name(target, list(new.values()), path, "target")
    unclear = {new[position]: reason for position, reason in numbers.unclear.items() if position in new}
    return Table(frame, notes, path, unclear, lambda row: raw.place(int(order[row])))


def known_name(name: str, names: Iterable[str], path: str, role: str = "column") -> str:
    """Check that a column exists.

    Parameters
    ----------
    name : str
        The name asked for.
    names : iterable of str
        The names there are.
    path : str
        The file, for the message.
    role : str
        What the column was to be.

    Returns
    -------
    str
        The name.

    Raises
    ------
    ReadingError
        There is none: the sentence names the closest, and lists the others after it.
    """
    known = list(names)
    if name in known:
        return name
    close = difflib.get_close_matches(name.casefold(), [other.casefold() for other in known], 3, 0.5)
    known.sort(key=lambda other: close.index(other.casefold()) if other.casefold() in close else len(close))
    what = f"The {role} {name!r}" if role != "column" else f"Column {name!r}"
    near = [other for other in known if other.casefold() in close[:1]]
    hint = f"did you mean {near[0]!r}? Its" if near else "its"
    those = "columns and groups" if "group" in role else "columns"
    raise ReadingError(f"{what} is not in {path}: {hint} {those} are {listed(known, 20)}.")
