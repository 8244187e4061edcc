"""Numbers as people write them: decimal commas, thousands marks, currency signs, missing codes."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pandas as pd

MISSING_WORDS = {
    "NA",
    "na",
    "N/A",
    "n/a",
    "N.A.",
    "n.a.",
    "#N/A",
    "NULL",
    "null",
    "Null",
    "NaN",
    "nan",
    "None",
}
MISSING_CODES = frozenset(MISSING_WORDS | {".", "-", "--", "\u2013", "\u2014", "?"})
SPACES = "\u00a0\u2007\u2009\u202f"
ALIKE = str.maketrans({"\u2212": "-", "\uff0d": "-", "\u2019": "'"} | dict.fromkeys(SPACES, " "))
SIGNED = re.compile(r"([+-]?)(\D?) ?([+-]?)([0-9.,].*?) ?(\D?)")
SPOKEN = {",": "comma", ".": "point", " ": "space", "'": "apostrophe"}


@dataclass(frozen=True)
class Style:
    """A way to write numbers: its decimal mark and its thousands mark (empty when there is none)."""

    decimal: str
    thousands: str = ""

    @property
    def pattern(self) -> re.Pattern[str]:
        """The numbers that this style can have written."""
        return _pattern(self.decimal, self.thousands)

    def value(self, token: str) -> float:
        """Read a number that matches the pattern."""
        return float((token.replace(self.thousands, "") if self.thousands else token).replace(self.decimal, "."))


@lru_cache
def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    point, mark = re.escape(decimal), re.escape(thousands)
    plain = rf"[+-]?(?:[0-9]+(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    if not thousands:
        return re.compile(plain)
    grouped = rf"[+-]?[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+(?:{point}[0-9]*)?"
    lakhs = rf"[+-]?[1-9][0-9]?(?:,[0-9]{{2}})+,[0-9]{{3}}(?:{point}[0-9]*)?" if thousands == "," else grouped
    return re.compile(rf"{plain}|{grouped}|{lakhs}")


def styles(decimal: str | None = None, thousands: str | None = None) -> list[Style]:
    """List the styles that the declared marks allow, the plainest first.

    Parameters
    ----------
    decimal, thousands : str or None
        The marks as declared; None leaves them open.

    Returns
    -------
    list of Style
        At most eight.
    """
    decimals = [decimal] if decimal else [".", ","]
    marks = ["", thousands] if thousands else ["", ",", ".", " ", "'"]
    return [Style(point, mark) for mark in marks for point in decimals if mark != point]


@dataclass
class Column:
    """What a column of text says: a number for each distinct text, once for each style that fits it."""

    readings: dict[Style, np.ndarray] = field(default_factory=dict)
    codes: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))
    missing: dict[str, int] = field(default_factory=dict)  # code -> how often
    sign: str = ""

    @property
    def decimals(self) -> set[str]:
        """The decimal marks it can have been written with; empty where the mark makes no difference."""
        marks = {style.decimal for style in self.readings}
        first, *others = self.readings.values()
        agree = all(np.array_equal(first, other, equal_nan=True) for other in others)
        return set() if len(marks) > 1 and agree else marks

    def values(self, decimal: str | None) -> np.ndarray:
        """Give the number of every row, read with that decimal mark where the marks disagree."""
        numbers = self.readings[self.style(decimal)]
        return np.append(numbers, np.nan)[self.codes]

    def style(self, decimal: str | None) -> Style:
        """Give the plainest style that fits, with that decimal mark where there is a choice."""
        return next((style for style in self.readings if style.decimal == decimal), next(iter(self.readings)))


def is_missing_code(text: str) -> bool:
    """Whether a text stands for a missing value among numbers."""
    return text.strip() in MISSING_CODES


def looks_numeric(text: str) -> bool:
    """Whether a text is a number in any style."""
    body, _ = split_sign(text.translate(ALIKE).strip())
    return any(style.pattern.fullmatch(body) for style in styles())


def split_sign(text: str) -> tuple[str, str]:
    """Split a number into itself and its currency or percent sign: ``"-$5"`` -> ``("-5", "$")``."""
    if text[-1:].isdigit() and text[:1].isdigit():  # nearly always
        return text, ""
    match = SIGNED.fullmatch(text)
    if not match:
        return text, ""
    minus, before, inner, body, after = match.groups()
    sign = (before + after).strip()
    if (minus and inner) or len(sign) > 1 or not (after == "%" or unicodedata.category(sign or "a") == "Sc"):
        return text, ""
    return minus + inner + body, sign


def read_column(text: pd.Series, allowed: Iterable[Style], codes: Collection[str] = MISSING_CODES) -> Column | None:
    """Read a column of text as numbers, if every value is one.

    Parameters
    ----------
    text : Series of str
        The column; missing where nothing was written.
    allowed : iterable of Style
        The styles to try.
    codes : collection of str
        Texts that stand for a missing value here.

    Returns
    -------
    Column or None
        None when a value is neither a number nor a missing code, when no number is left, or when only some of
        the values carry a currency or percent sign.
    """
    rows, distinct = pd.factorize(text)
    tokens = [str(value).translate(ALIKE).strip() for value in distinct]
    bodies: list[str] = []
    sign: str | None = None
    for token in tokens:
        if not token or token in codes:
            continue
        body, its_sign = split_sign(token)
        if sign is not None and its_sign != sign:
            return None
        sign = its_sign
        if not bodies and not any(style.pattern.fullmatch(body) for style in styles()):
            return None
        bodies.append(body)
    fitting = [style for style in allowed if bodies and all(map(style.pattern.fullmatch, bodies))]
    if not fitting:
        return None
    column = Column(codes=rows, sign=sign or "")
    absent = np.array([not token or token in codes for token in tokens])
    for style in fitting:
        numbers = np.full(len(tokens), np.nan)
        numbers[~absent] = [style.value(body) for body in bodies]
        column.readings[style] = numbers
    counts = np.bincount(rows[rows >= 0], minlength=len(tokens))
    column.missing = {tokens[spot]: int(counts[spot]) for spot in np.flatnonzero(absent)}
    column.missing[""] = column.missing.get("", 0) + int((rows < 0).sum())
    return column


def mostly_numeric(text: pd.Series) -> bool:
    """Whether more than half of what a column of text holds are numbers."""
    present = text.dropna()
    return len(present) > 0 and sum(looks_numeric(str(value)) for value in present) > len(present) / 2


def obstacle(text: pd.Series) -> tuple[int, str] | None:
    """Find the first value that keeps a column from being numbers.

    Parameters
    ----------
    text : Series
        A column that was not read as numbers.

    Returns
    -------
    tuple of int and str, or None
        Its row position and the value; a missing code counts only when there is nothing else to name.
    """
    code = None
    for position, value in enumerate(text):
        token = str(value).strip()
        if pd.isna(value) or not token:
            continue
        if not looks_numeric(token):
            if token not in MISSING_CODES:
                return position, token
            code = code or (position, token)
    return code


def odd_one(text: pd.Series) -> tuple[int, str, str] | None:
    """Find the first number of a column that is written unlike the first.

    Parameters
    ----------
    text : Series
        A column of numbers that no single style fits.

    Returns
    -------
    tuple of int, str and str, or None
        Its row position, the value, and the first number of the column.
    """
    first, fitting, sign = "", styles(), ""
    for position, value in enumerate(text):
        token = str(value).translate(ALIKE).strip()
        if pd.isna(value) or not token or token in MISSING_CODES:
            continue
        body, its_sign = split_sign(token)
        if not first:
            first, sign = token, its_sign
        fitting = [style for style in fitting if style.pattern.fullmatch(body)]
        if not fitting or its_sign != sign:
            return position, token, first
    return None
