"""A text file -> a frame of numbers and text, with the decimal mark settled for the file as a whole."""

import io
import re
from collections.abc import Collection
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.errors import EmptyDataError, ParserError

from stepsel.reading.errors import ReadingError, listed
from stepsel.reading.layout import Layout, check_widths, records
from stepsel.reading.numerals import MISSING_CODES, SPOKEN, Column, Style, read_column, styles

# From pandas 3.1 the default is exact and the option deprecated.
EXACT: dict[str, Any] = (
    {"float_precision": "round_trip"} if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1) else {}
)


class Numbers:
    """The columns of a frame read as numbers; ``unclear`` says why a column of numbers was left as text."""

    def __init__(self, decimal: str | None, thousands: str | None, na: Collection[str]) -> None:
        self.allowed = styles(decimal, thousands)
        self.na = frozenset(code.strip() for code in na)
        self.columns: dict[int, Column] = {}
        self.unclear: dict[int, str] = {}
        self.decimal = decimal

    def look(self, frame: pd.DataFrame) -> None:
        """Try every column of text in a frame."""
        codes = MISSING_CODES | self.na
        for position in positions(frame):
            if is_text(frame[position]):
                column = read_column(frame[position], self.allowed, codes)
                if column is not None:
                    self.columns[position] = column

    def evidence(self) -> set[str]:
        """Collect the decimal marks that some column proves."""
        marks = [column.decimals for column in self.columns.values()]
        return set().union(*(found for found in marks if len(found) == 1))

    def put(self, frame: pd.DataFrame, decimal: str | None) -> None:
        """Write the numbers into the frame; a column that could be read in two ways stays text."""
        self.decimal = decimal
        for position, column in list(self.columns.items()):
            if len(column.decimals) > 1 and decimal is None:
                self.unclear[position] = (
                    "can be read with a decimal comma or a decimal point; say which with --decimal"
                )
                del self.columns[position]
            else:
                frame[position] = column.values(decimal)

    def notes(self, names: list[str]) -> list[str]:
        """Say which marks were read, and in which columns."""
        found: dict[str, list[str]] = {}
        for position, column in self.columns.items():
            style = column.style(self.decimal)
            if style.decimal == "," and (column.readings[style] % 1 != 0).any():
                found.setdefault("Decimal commas were read as such in {}.", []).append(names[position])
            if style.thousands:
                mark = SPOKEN.get(style.thousands, style.thousands)
                found.setdefault(f"The thousands mark ({mark}) was left out in {{}}.", []).append(
                    names[position]
                )
            if column.sign == "%":
                found.setdefault("The percent sign was left out in {}: 12% is 12.", []).append(
                    names[position]
                )
            elif column.sign:
                key = f"The currency sign {column.sign} was left out in {{}}."
                found.setdefault(key, []).append(names[position])
        return [sentence.format(listed(columns)) for sentence, columns in found.items()]


def positions(frame: pd.DataFrame) -> list[int]:
    """List the labels of a frame whose columns are numbered."""
    return [int(label) for label in frame.columns]


def is_text(column: pd.Series) -> bool:
    """Whether a column holds text (of any kind), as opposed to numbers, truth values, dates or categories."""
    return column.dtype == object or isinstance(column.dtype, pd.StringDtype)


def read_delimited(
    text: str,
    path: Path | str,
    layout: Layout,
    decimal: str | None = None,
    thousands: str | None = None,
    na: Collection[str] = (),
) -> tuple[pd.DataFrame, Numbers]:
    """Read the table that a layout describes.

    Parameters
    ----------
    text : str
        The text of the file.
    path : str or Path
        Its name, for messages.
    layout : Layout
        Where the table begins and how it is separated.
    decimal, thousands : str or None
        The marks as declared; None to find them.
    na : collection of str
        Texts declared to stand for a missing value in every column.

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
    body = text[layout.start :].encode()
    parsed_with = decimal or _likely_decimal(layout)
    frame = without_blank_rows(_parse(body, text, path, layout, decimal=parsed_with), layout.notes)
    numbers = Numbers(decimal, thousands, na)
    numbers.look(frame)
    if decimal is None:
        decimal = _settle_decimal(frame, numbers, body, text, path, layout, parsed_with)
    numbers.put(frame, decimal)
    finish(frame, numbers, parsed_with)
    return frame, numbers


def _parse(body: bytes, text: str, path: Path | str, layout: Layout, **options: Any) -> pd.DataFrame:
    """Run the fast parser: blanks are missing, every other text stays as it is."""
    options = {"names": range(len(layout.header)), "decimal": "."} | options
    if any(len(fields) != len(layout.header) for fields in layout.sample):
        check_widths(text, path, layout)
    try:
        frame = pd.read_csv(
            io.BytesIO(body), sep=layout.sep, header=None, index_col=False, keep_default_na=False,
            na_values=[""], low_memory=False, skipinitialspace=True, encoding="utf-8", **EXACT, **options,
        )  # fmt: skip
    except EmptyDataError as error:
        raise ReadingError(f"{path} has a header and no data.") from error
    except (ParserError, ValueError) as error:
        check_widths(text, path, layout)
        raise ReadingError(f"{path} cannot be read as a table: {str(error).strip()}.") from error
    _refuse_short_lines(frame, body, text, path, layout)
    return frame


def without_blank_rows(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Leave out rows in which nothing is written; the index still counts the records of the file."""
    if not len(frame.columns) or not frame.iloc[:, -1].isna().any():
        return frame
    blank = frame.isna().all(axis=1)
    if not blank.any():
        return frame
    notes.append(f"{int(blank.sum())} empty row{'s' * (int(blank.sum()) > 1)} left out.")
    return frame[~blank]


def _refuse_short_lines(
    frame: pd.DataFrame, body: bytes, text: str, path: Path | str, layout: Layout
) -> None:
    """Find lines that the parser filled up: they can only hide where the last column is missing."""
    if len(frame.columns) < len(layout.header) or not frame.iloc[:, -1].isna().any():
        return
    simple = b'"' not in body and len(layout.sep) == 1
    if not simple or body.count(layout.sep.encode()) != len(frame) * (len(layout.header) - 1):
        check_widths(text, path, layout)


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
    body: bytes,
    text: str,
    path: Path | str,
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
        again = _parse(body, text, path, layout, usecols=doubtful, dtype=str).loc[frame.index]
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
    numbers = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    if not len(numbers) or numbers[0] < 1 or numbers[0] >= 1000:
        return False
    thousand = numbers * 1000
    return bool(((numbers >= 1) & (numbers < 1000) & (np.abs(thousand - np.round(thousand)) < 1e-6)).all())


def finish(frame: pd.DataFrame, numbers: Numbers, parsed_with: str = ".", blanks: bool = True) -> None:
    """Settle the columns that need no reading: declared codes, blanks in text, truth values with gaps.

    Parameters
    ----------
    frame : DataFrame
        Changed in place.
    numbers : Numbers
        The columns already read; those with missing values are added for the notes.
    parsed_with : str
        The decimal mark of the numbers that the parser read.
    blanks : bool
        Whether an empty cell of a text column is a blank text (in a file that has no other way to write it).
    """
    for position in positions(frame):
        if position in numbers.columns:
            continue
        column = frame[position]
        declared = _declared_missing(column, numbers.na)
        if declared:
            column = column.mask(column.isin(list(declared)))
        if is_text(column):
            frame[position], missing = _finish_text(column, blanks and "" not in numbers.na)
        else:
            frame[position], missing = column, {"": int(frame[position].isna().sum())}
        missing |= {code if isinstance(code, str) else f"{code:g}": count for code, count in declared.items()}
        decimal = parsed_with if pd.api.types.is_float_dtype(column) and not (column % 1 == 0).all() else "."
        if 0 < sum(missing.values()) < len(column) or decimal == ",":
            numbers.columns[position] = Column({Style(decimal): column.to_numpy()}, missing=missing)


def _declared_missing(column: pd.Series, na: Collection[str]) -> dict[object, int]:
    """Count the declared codes in a column: as text in text, as numbers in numbers."""
    codes: set[object] = set(na - {""}) if isinstance(na, frozenset) else set(na)
    if pd.api.types.is_bool_dtype(column) or not codes:
        return {}
    if pd.api.types.is_numeric_dtype(column):
        codes = {float(str(code)) for code in codes if looks_plain(str(code))}
    elif not is_text(column):
        return {}
    found = column[column.isin(list(codes))].value_counts()
    return {code: int(count) for code, count in found.items()}


def looks_plain(text: str) -> bool:
    """Whether a text is a number as programs write it."""
    return Style(".").pattern.fullmatch(text) is not None


def _finish_text(column: pd.Series, blanks: bool) -> tuple[pd.Series, dict[str, int]]:
    """Give text its blanks back; TRUE and FALSE with gaps, and nothing at all, become numbers."""
    present = column.dropna()
    blank = {"": len(column) - len(present)}
    if all(isinstance(cell, bool) for cell in present):  # also when nothing is present
        return column.map({True: 1.0, False: 0.0}).astype(float), blank
    if not blanks:
        return column, blank
    return column.fillna(""), {}


def line_of(text: str, layout: Layout, row: int) -> int:
    """Find the number of the line on which a data row begins."""
    found = islice(records(text, layout.sep, layout.start, layout.line), row, None)
    return next((record.line for record in found), layout.line + row)
