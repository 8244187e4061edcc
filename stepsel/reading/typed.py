"""Files that carry types of their own: Excel and OpenDocument sheets, Parquet, Feather, Stata."""

import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from stepsel.reading.columns import Numbers, finish, is_text, keep_zeros, positions, without_blank_rows
from stepsel.reading.errors import ReadingError, listed
from stepsel.reading.numerals import is_missing_code

PACKAGES = {"parquet": "pyarrow", "feather": "pyarrow", "excel": "openpyxl", "stata": "pandas"}


def read_typed(data: bytes, kind: str, path: Path | str) -> tuple[pd.DataFrame, list[str]]:
    """Read a Parquet, Feather or Stata file; types are left as they are.

    Parameters
    ----------
    data : bytes
        The content of the file.
    kind : str
        ``"parquet"``, ``"feather"`` or ``"stata"``.
    path : str or Path
        Its name, for messages.

    Returns
    -------
    frame : DataFrame
        Columns labelled 0, 1, ...; the index left out, decimals as floats.
    names : list of str
        The names of the columns.

    Raises
    ------
    ReadingError
        The file is damaged, or the package that reads it is not installed.
    """
    readers = {"parquet": pd.read_parquet, "feather": pd.read_feather, "stata": pd.read_stata}
    reader: Any = readers[kind]
    frame: pd.DataFrame = _run(reader, data, kind, path)
    frame = frame.reset_index(drop=True)
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        if column.dtype == object and column.map(lambda cell: isinstance(cell, Decimal) or cell is None).all():
            frame.isetitem(position, column.astype(float).to_numpy())
        elif column.dtype == object and column.map(_is_nested).any():
            frame.isetitem(position, column.map(str).to_list())  # no variable, but one that can be named
    names = [str(name) for name in frame.columns]
    frame.columns = pd.RangeIndex(len(names))
    return frame, names


def _is_nested(cell: object) -> bool:
    return isinstance(cell, list | tuple | dict | np.ndarray)


def _run(reader: Any, data: bytes, kind: str, path: Path | str, **options: Any) -> Any:
    try:
        return reader(io.BytesIO(data), **options)
    except ImportError as error:
        package = "xlrd" if "xlrd" in str(error) else "odfpy" if "odf" in str(error) else PACKAGES[kind]
        raise ReadingError(f"Reading {path} needs the package {package}: pip install {package}.") from error
    except ReadingError:
        raise
    except Exception as error:  # each reader has its own kinds of error for a damaged file
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ReadingError(f"{path} cannot be read as {kind.capitalize()}: {reason}.") from error


def read_sheet(
    data: bytes, path: Path | str, sheet: str | int | None, skip_rows: int, header: bool, numbers: Numbers
) -> tuple[pd.DataFrame, list[str], int, list[str]]:
    """Read one sheet of a workbook.

    Parameters
    ----------
    data : bytes
        The content of the file.
    path : str or Path
        Its name, for messages.
    sheet : str, int or None
        Name, or number from 1; None takes the first.
    skip_rows : int
        Rows to leave out at the top.
    header : bool
        Whether the first row holds the column names.
    numbers : Numbers
        Collects the columns of text that hold numbers.

    Returns
    -------
    frame : DataFrame
        One column for each field, labelled 0, 1, ...
    names : list of str
        The header.
    first : int
        Number of the first data row in the sheet.
    notes : list of str
        What was decided.

    Raises
    ------
    ReadingError
        There is no such sheet, or nothing in it.
    """
    book = _run(pd.ExcelFile, data, "excel", path)
    name = _sheet_name(book, sheet, path)
    notes = [f"Sheet {name!r} of {len(book.sheet_names)} was read."] if len(book.sheet_names) > 1 else []
    options: dict[str, Any] = {"dtype": object, "keep_default_na": False, "na_values": [""]}
    cells = pd.read_excel(book, sheet_name=name, header=None, skiprows=skip_rows, **options)
    filled = np.flatnonzero(cells.notna().any(axis=1))
    if not len(filled):
        raise ReadingError(f"{path}: sheet {name!r} is empty.")
    top = int(filled[0])
    names = [_name(cell) for cell in cells.iloc[top]]
    if header:
        top += 1
    else:
        names = [f"column_{number}" for number in range(1, cells.shape[1] + 1)]
    first = top
    frame = cells.iloc[top:].reset_index(drop=True)
    if not len(frame):  # a header alone
        raise ReadingError(f"{path}: sheet {name!r} has a header and no data.")
    units = header and _is_units_row(frame)
    if units:
        notes.append(f"Row {first + skip_rows + 1} holds units, not data, and was left out.")
        frame, first = frame.iloc[1:].reset_index(drop=True), first + 1
    frame = without_blank_rows(frame, notes)
    frame = pd.DataFrame({position: _plain(frame[position]) for position in frame.columns})
    written = {p: frame[p] for p in positions(frame) if names[p].strip() in numbers.codes and is_text(frame[p])}
    numbers.look(frame)
    numbers.put(frame, "." if len(numbers.evidence()) != 1 else numbers.evidence().pop())
    finish(frame, numbers)
    for position, text in written.items():
        keep_zeros(frame, position, text)
    return frame, names, first + skip_rows + 1, notes


def _sheet_name(book: pd.ExcelFile, sheet: str | int | None, path: Path | str) -> str:
    sheets = [str(name) for name in book.sheet_names]
    if sheet is None:
        return sheets[0]
    if str(sheet) in sheets:
        return str(sheet)
    if str(sheet).isdecimal() and 1 <= int(sheet) <= len(sheets):
        return sheets[int(sheet) - 1]
    raise ReadingError(f"{path} has no sheet {str(sheet)!r}: its sheets are {listed(sheets)}.")


def _name(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return "" if pd.isna(cell) else " ".join(str(cell).split("\n"))  # type: ignore[call-overload]


def _is_units_row(frame: pd.DataFrame) -> bool:
    first, rest = frame.iloc[0], frame.iloc[1:]
    words = [position for position, cell in enumerate(first) if isinstance(cell, str)]
    if not words or not len(rest) or any(isinstance(cell, int | float) and not pd.isna(cell) for cell in first):
        return False
    for position in words:
        cells = [cell for cell in rest.iloc[:, position].dropna() if not is_missing_code(str(cell))]
        if not cells or not all(isinstance(cell, int | float) for cell in cells):
            return False
    return True


def _plain(column: pd.Series) -> pd.Series:
    """Give a column of cells the type its cells share; a mixture becomes text."""
    present = column.dropna()
    kinds = set(present.map(type))
    if kinds == {bool}:
        return column.astype(bool) if len(present) == len(column) else column
    if kinds <= {int, float, np.int64, np.float64}:
        return pd.to_numeric(column)
    return column.map(lambda cell: cell if pd.isna(cell) else _cell_text(cell))


def _cell_text(cell: object) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
