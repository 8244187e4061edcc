"""Columns as people have them -> numbers and factors. The only module that looks into DataFrames."""

import re
import reprlib
from collections.abc import Container, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepsel.core.terms import BoolArray, IntArray
from stepsel.numeric import dates, first_present, holds_dates, is_frame, kind_of_dates, numbers_of, polars_numbers

# Text that is whole numbers counts as codes up to this number of levels.
_FEW_LEVELS = 10
_DATE = re.compile(r"\s*(\d{4}([-/.])\d{1,2}\2\d{1,2}([ T].*)?|\d{1,2}([-/.])\d{1,2}\4\d{2,4})\s*")
_NUMBER = re.compile(r"\s*[-+]?(\d+([.,]\d*)*|[.,]\d+)([eE][-+]?\d+)?\s*%?\s*")


@dataclass(frozen=True)
class Factor:
    """A categorical column.

    Attributes
    ----------
    codes : int array of shape (n_rows,)
        The number of the level in each row, -1 where it is missing.
    levels : tuple
        In order: categories as they are declared, text and numbers sorted, False before True.
    """

    codes: IntArray
    levels: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing(self) -> BoolArray:
        """Rows without a level."""
        return self.codes < 0


Column = npt.NDArray[np.number] | Factor


class PositionLabels(Sequence[Hashable]):
    """The labels ``x0``, ``x1``, ... of an array, made when asked for: there may be very many.

    Parameters
    ----------
    n : int
    """

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [f"x{i}" for i in range(self._n)[at]]
        return f"x{range(self._n)[at]}"


def check_labels(labels: list[Hashable]) -> None:
    """Refuse labels that cannot name a column.

    Raises
    ------
    ValueError
        If a label is missing or occurs more than once.
    """
    for at, label in enumerate(labels):
        if label is None or label != label:
            raise ValueError(f"the label of column number {at} is {label!r}: give every column a label.")
    if len(set(labels)) < len(labels):
        twice = next(label for at, label in enumerate(labels) if label in labels[:at])
        raise ValueError(f"column label {twice!r} occurs more than once: give every column a label of its own.")


def read_columns(
    X: Any, declared: Container[int] = ()
) -> tuple[npt.NDArray[np.number] | list[Column], Sequence[Hashable]]:
    """Return the columns of ``X``, as one real matrix without a copy where they are one already, and their labels.

    Parameters
    ----------
    X : pandas or polars DataFrame, or ndarray of shape (n_rows, n_columns)
        Text and categories are factors. Truth values are numbers, 0 and 1: the contrast of a factor of two levels.
    declared : container of int
        Positions of columns of any kind that are factors.

    Returns
    -------
    columns : ndarray of shape (n_rows, n_columns), or list of ndarray and Factor
        Missing numbers are NaN.
    labels : sequence
        The column labels; ``x0``, ``x1``, ... for an array.

    Raises
    ------
    ValueError
        If a column holds anything else, or text beside numbers, with the column, the row and the value; if two columns
        share a label.
    """
    if not is_frame(X):
        labels: Sequence[Hashable] = PositionLabels(X.shape[1])
        plain = X.dtype.kind in "biuf" and X.dtype.itemsize <= 8
        if plain and not declared:
            return X, labels
        return [
            _factor(pd.Series(X[:, at]), labels[at], declared=True)
            if at in declared
            else numbers_of(pd.Series(X[:, at]), labels[at])
            for at in range(X.shape[1])
        ], labels
    labels = list(X.columns)
    check_labels(list(labels))
    if isinstance(X, pd.DataFrame) and not declared:
        kinds = set(X.dtypes)
        if len(kinds) == 1 and isinstance(kind := kinds.pop(), np.dtype) and kind.kind in "biuf":
            return X.to_numpy(), labels
    return [
        read_column(column, label, declared=at in declared)
        for at, (label, column) in enumerate(zip(labels, _series_of(X), strict=True))
    ], labels


def _series_of(X: Any) -> Iterator[Any]:
    if isinstance(X, pd.DataFrame):
        return (X.iloc[:, at] for at in range(X.shape[1]))
    return (X.get_column(name) for name in X.columns)


def read_column(series: Any, label: Hashable, *, declared: bool = False) -> Column:
    """Return one pandas or polars column as numbers or as a factor.

    Parameters
    ----------
    series : Series
    label : hashable
        For messages.
    declared : bool
        Whether it is a factor whatever it holds.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if not isinstance(series, pd.Series):
        dtype = series.dtype
        if not declared and (dtype.is_numeric() or str(dtype) in ("Boolean", "Null")):
            return polars_numbers(series, label, "column")
        levels = list(dtype.categories) if type(dtype).__name__ == "Enum" else None
        values = series.to_list()
        series = pd.Series(values, dtype=object) if levels is None else pd.Series(pd.Categorical(values, levels))
    if declared or isinstance(series.dtype, pd.CategoricalDtype) or _is_text(series):
        return _factor(series, label, declared=declared)
    _refuse_text_with_more(series, label)
    return numbers_of(series, label)


def _refuse_text_with_more(series: pd.Series, label: Hashable) -> None:
    """Name the value that is no text where most are."""
    if series.dtype != object:
        return
    present = series.dropna()
    text = np.fromiter((isinstance(value, str) for value in present), dtype=bool, count=len(present))
    if 2 * text.sum() > len(text):
        place = int(np.argmin(text))
        row = int(np.flatnonzero(series.notna().to_numpy())[place])
        raise ValueError(
            f"column {label!r} holds {present.iloc[place]!r} at row {row} (rows count from 0) among text: turn all its "
            "values into text if they are categories, or drop it."
        )


def _is_text(series: pd.Series) -> bool:
    dtype = series.dtype
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype) or kind_of_dates(dtype):
        return False
    return pd.api.types.infer_dtype(series.astype(object), skipna=True) == "string"


def _factor(series: pd.Series, label: Hashable, *, declared: bool) -> Factor:
    dtype = series.dtype
    if holds_dates(series):
        raise dates(series, label, "column")
    if isinstance(dtype, pd.CategoricalDtype):
        codes, levels = series.cat.codes.to_numpy().astype(np.intp), list(dtype.categories)
        if kind_of_dates(dtype.categories.dtype):
            raise dates(series, label, "column")
    else:
        try:
            codes, found = pd.factorize(series)
            levels = sorted(_plain(level) for level in found)
        except TypeError:
            raise ValueError(
                f"column {label!r} holds values that have no common order ({_examples(series)}): turn them into text, "
                "or into a pandas categorical."
            ) from None
        place = {level: at for at, level in enumerate(levels)}
        order = np.array([place[_plain(level)] for level in found] + [-1], dtype=np.intp)
        codes = order[codes]
    if not declared and not isinstance(dtype, pd.CategoricalDtype):
        _refuse_dates_as_text(series, levels, label)
        _refuse_numbers_as_text(series, levels, label)
    if any(isinstance(level, float) and np.isinf(level) for level in levels):
        raise ValueError(f"column {label!r} holds infinite values, which are no level: replace or drop them.")
    return Factor(codes, tuple(map(_plain, levels)))


def _plain(level: Any) -> Any:
    """Return a level as a Python object, whole numbers as such: as text and in messages it is what was written."""
    if isinstance(level, np.generic) and not isinstance(level, np.datetime64):
        level = level.item()
    return int(level) if isinstance(level, float) and level.is_integer() else level


def _examples(series: pd.Series) -> str:
    found = series.dropna().astype(object).iloc[:2]
    return ", ".join(reprlib.repr(_plain(value)) for value in found) + ", ..."


def _refuse_dates_as_text(series: pd.Series, levels: Sequence[Any], label: Hashable) -> None:
    if are_dates(levels):
        raise ValueError(
            f"column {label!r} holds dates as text ({first_present(series)!r}): turn it into a number, such as days "
            f"since a fixed day, or give categorical=[{label!r}] if they are levels."
        )


def are_numbers(levels: Sequence[str]) -> bool:
    """Whether text is numbers, or numbers with remarks among them; a few whole numbers are codes."""
    written = [level for level in levels if _NUMBER.fullmatch(level)]
    codes = len(levels) <= _FEW_LEVELS and all(level.strip().isdecimal() for level in written)
    return 2 * len(written) > len(levels) and not codes


def are_dates(levels: Sequence[str]) -> bool:
    """Whether text is dates."""
    return len(levels) > 0 and all(_DATE.fullmatch(level) for level in levels)


def _refuse_numbers_as_text(series: pd.Series, levels: Sequence[Any], label: Hashable) -> None:
    if not are_numbers(levels):
        return
    odd = next((level for level in levels if not _NUMBER.fullmatch(level)), None)
    row = int((series.notna() if odd is None else series == odd).to_numpy(dtype=bool, na_value=False).argmax())
    what = "a number written as text" if odd is None else "among numbers written as text"
    raise ValueError(
        f"column {label!r} holds {series.iloc[row]!r} at row {row} (rows count from 0), {what}: convert it to numbers "
        f"(pandas.to_numeric), or give categorical=[{label!r}] if its values are codes."
    )


def stack(columns: Sequence[npt.NDArray[np.number]], n_rows: int) -> npt.NDArray[np.number]:
    """Return columns of numbers as one matrix, column by column in memory."""
    if not columns:
        return np.empty((n_rows, 0))
    matrix = np.empty((n_rows, len(columns)), dtype=np.result_type(*columns, np.float32), order="F")
    for at, column in enumerate(columns):
        matrix[:, at] = column
    return matrix
