"""Columns of a frame that was read: which are numbers, what is missing in them, what is said about it."""

from collections.abc import Collection

import numpy as np
import pandas as pd

from stepsel.reading.errors import listed
from stepsel.reading.numerals import MISSING_CODES, SPOKEN, Column, Style, read_column, styles


class Numbers:
    """The columns of a frame read as numbers; ``unclear`` says why a column of numbers was left as text."""

    def __init__(
        self, decimal: str | None, thousands: str | None, na: Collection[str], codes: Collection[str] = ()
    ) -> None:
        self.allowed = styles(decimal, thousands)
        self.na = frozenset(code.strip() for code in na)
        self.codes = frozenset(codes)  # names of columns that keep leading zeros
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
                self.unclear[position] = "can be read with a decimal comma or a decimal point; say which with --decimal"
                del self.columns[position]
            else:
                frame[position] = column.values(decimal)

    def notes(self, names: list[str]) -> list[str]:
        """Say which marks were read, and in which columns."""
        found: dict[str, list[str]] = {}
        for position, column in self.columns.items():
            style = column.style(self.decimal)
            numbers = column.readings[style]
            if style.decimal == "," and (np.trunc(numbers) != numbers)[~np.isnan(numbers)].any():
                found.setdefault("Decimal commas were read as such in {}.", []).append(names[position])
            if style.thousands:
                mark = SPOKEN.get(style.thousands, style.thousands)
                found.setdefault(f"The thousands mark ({mark}) was left out in {{}}.", []).append(names[position])
            if column.sign == "%":
                found.setdefault("The percent sign was left out in {}: 12% is 12.", []).append(names[position])
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


def without_blank_rows(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Leave out rows in which nothing is written; the index still counts the records of the file."""
    if not len(frame.columns) or not frame.iloc[:, -1].isna().any():
        return frame
    blank = frame.isna().all(axis=1)
    if not blank.any():
        return frame
    notes.append(f"{int(blank.sum())} empty row{'s' * (int(blank.sum()) > 1)} left out.")
    return frame[~blank]


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
        missing = {"": int(column.isna().sum())}
        if is_text(column):
            column, missing = _finish_text(column, blanks and "" not in numbers.na)
        declared = _declared_missing(column, numbers.na)
        if declared:
            column = column.mask(column.isin(list(declared)))
        frame[position] = column
        missing |= {f"{code:g}" if isinstance(code, float) else str(code): n for code, n in declared.items()}
        commas = parsed_with == "," and pd.api.types.is_float_dtype(column)
        if 0 < sum(missing.values()) < len(column) or commas:
            numbers.columns[position] = Column({Style("," if commas else "."): column.to_numpy()}, missing=missing)


def keep_zeros(frame: pd.DataFrame, position: int, written: pd.Series) -> None:
    """Give a column of codes back what was written, where codes begin with zeros: 007 is not 7."""
    if written.dropna().astype(str).str.fullmatch(r"\s*0\d+\s*").any():
        frame[position] = written.astype(object).where(frame[position].notna(), None)


def _declared_missing(column: pd.Series, na: Collection[str]) -> dict[object, int]:
    """Count the declared codes in a column: as text in text, as numbers in numbers."""
    codes: set[object] = {code for code in na if code}
    if pd.api.types.is_bool_dtype(column) or not codes:
        return {}
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = {level for level in column.cat.categories if str(level) in codes}
    elif pd.api.types.is_numeric_dtype(column):
        codes = {float(str(code)) for code in codes if looks_plain(str(code))}
    elif not is_text(column):
        return {}
    found = column[column.isin(list(codes))].value_counts()
    return {code: int(count) for code, count in found.items() if count}


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
