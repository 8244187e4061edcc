"""A text file -> a frame of numbers and text, with the decimal mark settled for the file as a whole."""

import io
import re
import warnings
from collections.abc import Collection
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from pandas.errors import DtypeWarning, EmptyDataError, ParserError

from stepsel.reading.columns import Numbers, finish, is_text, keep_zeros, positions, without_blank_rows
from stepsel.reading.errors import ReadingError
from stepsel.reading.layout import Layout, check_widths, records
from stepsel.reading.source import TextFile

# From pandas 3.1 the default is exact and the option deprecated.
EXACT: dict[str, Any] = (
    {"float_precision": "round_trip"} if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1) else {}
)


def read_delimited(
    file: TextFile,
    layout: Layout,
    decimal: str | None = None,
    thousands: str | None = None,
    na: Collection[str] = (),
    codes: Collection[str] = (),
) -> tuple[pd.DataFrame, Numbers]:
    """Read the table that a layout describes.

    Parameters
    ----------
    file : TextFile
        The file.
    layout : Layout
        Where the table begins and how it is separated.
    decimal, thousands : str or None
        The marks as declared; None to find them.
    na : collection of str
        Texts declared to stand for a missing value in every column.
    codes : collection of str
        Names of columns that stay text where numbers in them begin with zeros.

    Returns
    -------
    frame : DataFrame
        One column for each field, labelled 0, 1, ...; numbers where every value is one.
    numbers : Numbers
        What was read from columns that the parser took for text.

    Raises
    ------
    ReadingError
        When lines differ in their number of fields.
    """
    if decimal is None and thousands in (",", "."):
        decimal = {",": ".", ".": ","}[thousands]
    parsed_with = decimal or _likely_decimal(layout)
    frame = without_blank_rows(_parse(file, layout, decimal=parsed_with), layout.notes)
    numbers = Numbers(decimal, thousands, na, codes)
    numbers.look(frame)
    if decimal is None:
        decimal = _settle_decimal(frame, numbers, file, layout, parsed_with)
    numbers.put(frame, decimal)
    finish(frame, numbers, parsed_with)
    for position in positions(frame):
        if layout.header[position].strip() in numbers.codes and not is_text(frame[position]):
            written = _read_csv(file, layout, usecols=[position], dtype=str).loc[frame.index]
            keep_zeros(frame, position, written[position])
    return frame, numbers


def _parse(file: TextFile, layout: Layout, decimal: str) -> pd.DataFrame:
    """Run the fast parser: blanks are missing, every other text stays as it is."""
    if any(len(fields) != len(layout.header) for fields in layout.sample):
        check_widths(file, layout)
    frame = _read_csv(file, layout, decimal=decimal)
    # The parser works in pieces, the fastest way; where a column is numbers in one and text in another it is
    # read again, since text made from numbers would not be what was written.
    mixed = [position for position in positions(frame) if _is_mixed(frame[position])]
    if mixed:
        frame[mixed] = _read_csv(file, layout, usecols=mixed, dtype=str)
    _refuse_short_lines(frame, file, layout)
    return frame


def _read_csv(file: TextFile, layout: Layout, **options: Any) -> pd.DataFrame:
    body = io.BytesIO(file.utf8)
    body.seek(len(file.text[: layout.start].encode()))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DtypeWarning)  # seen to by the caller
            return pd.read_csv(
                body, sep=layout.sep, header=None, names=range(len(layout.header)), index_col=False,
                keep_default_na=False, na_values=[""], skipinitialspace=True, encoding="utf-8",
                **EXACT, **options,
            )  # fmt: skip
    except EmptyDataError as error:
        raise ReadingError(f"{file.path} has a header and no data.") from error
    except (ParserError, ValueError) as error:
        check_widths(file, layout)
        reason = f"cannot be read as a table: {str(error).strip()}"
        if "EOF inside string" in reason:
            *_, last = records(file.text, layout.sep, layout.start, layout.line)
            reason = f"line {last.line}, has a quote that opens and does not close"
        raise ReadingError(f"{file.path}, {reason}.") from error


def _is_mixed(column: pd.Series) -> bool:
    kinds = ("string", "boolean", "empty")
    return column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) not in kinds


def _refuse_short_lines(frame: pd.DataFrame, file: TextFile, layout: Layout) -> None:
    """Find lines that the parser filled up: they can only hide where the last column is missing."""
    if len(frame.columns) < len(layout.header) or not frame.iloc[:, -1].isna().any():
        return
    simple = '"' not in file.text and len(layout.sep) == 1
    if not simple or file.text.count(layout.sep, layout.start) != len(frame) * (len(layout.header) - 1):
        check_widths(file, layout)


def _likely_decimal(layout: Layout) -> str:
    """Guess from the sample, for speed only: the mark is settled on the evidence of all rows."""
    if layout.sep == ",":
        return "."
    cells = [cell for fields in layout.sample for cell in fields]
    commas = sum(re.fullmatch(r"[+-]?\d+,\d+", cell) is not None for cell in cells)
    points = sum(re.fullmatch(r"[+-]?\d+\.\d+", cell) is not None for cell in cells)
    return "," if commas > points else "."


def _settle_decimal(
    frame: pd.DataFrame,
    numbers: Numbers,
    file: TextFile,
    layout: Layout,
    parsed_with: str,
) -> str | None:
    """Find the decimal mark that the columns prove; None when they prove none or both.

    A column like 1.234, 12.500 proves nothing: it may be thousands. Where the rest of the file does not speak
    for the mark the parser used, such columns are read again as text and judged with the others.
    """
    fractions = [position for position in positions(frame) if pd.api.types.is_float_dtype(frame[position])]
    doubtful = [position for position in fractions if _could_be_thousands(frame[position])]
    evidence = numbers.evidence() | ({parsed_with} if len(doubtful) < len(fractions) else set())
    other = {".": ",", ",": "."}[parsed_with]
    trusted = parsed_with == "." and layout.sep != ";"
    if doubtful and (other in evidence or (not evidence and not trusted)):
        again = _read_csv(file, layout, usecols=doubtful, dtype=str).loc[frame.index]
        numbers.look(again)
        evidence |= numbers.evidence()
        for position in doubtful:
            if position not in numbers.columns:
                continue
            if len(numbers.columns[position].decimals) > 1:
                frame[position] = again[position].astype(object)  # stays text should the mark stay open
            else:
                del numbers.columns[position]
    if len(evidence) == 1:
        return evidence.pop()
    return "." if not evidence and layout.sep == "," else None


def _could_be_thousands(column: pd.Series) -> bool:
    """Whether every number could be a whole number of three to six digits with a mark: 1.234, 12.500, 0."""
    numbers = column.to_numpy()
    for part in (numbers[:1000], numbers):  # the beginning shows it for nearly every column
        present = np.abs(part[np.isfinite(part) & (part != 0)])
        if ((present < 1) | (present >= 1000)).any():
            return False
        if (np.abs(present * 1000 - np.round(present * 1000)) >= 1e-6).any():
            return False
    return len(present) > 0


def line_of(file: TextFile, layout: Layout, row: int) -> int:
    """Find the number of the line on which a data row begins."""
    found = islice(records(file.text, layout.sep, layout.start, layout.line), row, None)
    return next((record.line for record in found), layout.line + row)
