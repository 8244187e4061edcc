"""Columns as people have them -> numbers and factors. The only module that looks into DataFrames."""

import numbers
import re
import reprlib
from collections.abc import Container, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepsel.core.fits import FloatArray
from stepsel.core.terms import BoolArray, IntArray

# Text that is whole numbers counts as codes up to this number of levels.
_FEW_LEVELS = 10
_DATES = ("datetime64", "datetime", "date", "timedelta64", "timedelta", "period")
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


def is_frame(X: Any) -> bool:
    """Whether ``X`` is a pandas or polars DataFrame.

    Raises
    ------
    ValueError
        If it is a table of another kind, whose labels would be lost.
    """
    if hasattr(X, "__dataframe__") and not isinstance(X, pd.DataFrame) and not _is_polars(X):
        raise ValueError(f"X is a {type(X).__module__.split('.')[0]} table: turn it into a pandas DataFrame first.")
    return isinstance(X, pd.DataFrame) or _is_polars(X)


def unmasked(values: Any) -> Any:
    """Return array_like input as an array, masked values as NaN."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(values.astype(float), np.nan)
    return np.asarray(values)


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


def _is_polars(X: Any) -> bool:
    return type(X).__module__.split(".")[0] == "polars" and hasattr(X, "get_column")


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
            else _numbers(pd.Series(X[:, at]), labels[at])
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
            return _polars_numbers(series, label, "column")
        levels = list(dtype.categories) if type(dtype).__name__ == "Enum" else None
        values = series.to_list()
        series = pd.Series(values, dtype=object) if levels is None else pd.Series(pd.Categorical(values, levels))
    if declared or isinstance(series.dtype, pd.CategoricalDtype) or _is_text(series):
        return _factor(series, label, declared=declared)
    _refuse_text_with_more(series, label)
    return _numbers(series, label)


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
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype) or _kind_of_dates(dtype):
        return False
    return pd.api.types.infer_dtype(series.astype(object), skipna=True) == "string"


def _factor(series: pd.Series, label: Hashable, *, declared: bool) -> Factor:
    dtype = series.dtype
    if _holds_dates(series):
        raise _dates(series, label, "column")
    if isinstance(dtype, pd.CategoricalDtype):
        codes, levels = series.cat.codes.to_numpy().astype(np.intp), list(dtype.categories)
        if _kind_of_dates(dtype.categories.dtype):
            raise _dates(series, label, "column")
    else:
        try:
            codes, found = pd.factorize(series)
            levels = sorted(_plain(level) for level in found)
        except TypeError:
            raise ValueError(
                f"column {label!r} mixes values that have no common order ({_examples(series)}): turn them into text, "
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
    found = pd.unique(series.dropna().astype(object))[:2]
    return ", ".join(reprlib.repr(_plain(value)) for value in found) + ", ..."


def _refuse_dates_as_text(series: pd.Series, levels: Sequence[Any], label: Hashable) -> None:
    if levels and all(_DATE.fullmatch(level) for level in levels):
        raise ValueError(
            f"column {label!r} holds dates as text ({_first_present(series)!r}): turn it into a number, such as days "
            f"since a fixed day, or give categorical=[{label!r}] if they are levels."
        )


def _refuse_numbers_as_text(series: pd.Series, levels: Sequence[Any], label: Hashable) -> None:
    """Refuse text that is numbers, or numbers with remarks among them; a few whole numbers are codes."""
    written = [level for level in levels if _NUMBER.fullmatch(level)]
    if 2 * len(written) <= len(levels):
        return
    if len(levels) <= _FEW_LEVELS and all(level.strip().isdecimal() for level in written):
        return
    odd = next((level for level in levels if level not in written), None)
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


def _polars_numbers(series: Any, label: Hashable, what: str) -> npt.NDArray[np.number]:
    dtype = series.dtype
    if dtype.is_numeric() and not series.null_count():
        return series.to_numpy() if not dtype.is_decimal() else series.cast(float).to_numpy()
    if dtype.is_numeric() or str(dtype) in ("Boolean", "Null"):
        return series.cast(float).to_numpy()
    return _numbers(pd.Series(series.to_list(), dtype=object), label, what)


def _numbers(series: pd.Series, label: Hashable, what: str = "column") -> npt.NDArray[np.number]:
    """Return the values of one column, or raise naming the first that is no number."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.itemsize <= 8:
        return series.to_numpy()
    if pd.api.types.is_bool_dtype(dtype) or (pd.api.types.is_numeric_dtype(dtype) and dtype.kind != "c"):
        return series.to_numpy(dtype=float, na_value=np.nan)
    if _holds_dates(series):
        raise _dates(series, label, what)
    if isinstance(dtype, pd.CategoricalDtype):
        raise ValueError(f"{what} {label!r} is categorical ({list(dtype.categories)[:3]}...): give numbers.")
    values = series.to_numpy(dtype=object)
    numeric = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if value is None or value is pd.NA or value is pd.NaT:
            continue
        if not (isinstance(value, numbers.Real | np.bool_) or type(value).__name__ == "Decimal"):
            raise _no_number(value, row, label, what)
        try:
            numeric[row] = float(value)
        except (OverflowError, ValueError):
            raise _no_number(value, row, label, what) from None
    return numeric


def _kind_of_dates(dtype: Any) -> bool:
    return getattr(dtype, "kind", "") in "mM" or isinstance(dtype, pd.DatetimeTZDtype | pd.PeriodDtype)


def _holds_dates(series: pd.Series) -> bool:
    if series.dtype == object:
        return pd.api.types.infer_dtype(series, skipna=True) in _DATES
    return _kind_of_dates(series.dtype)


def _dates(series: pd.Series, label: Hashable, what: str) -> Exception:
    """Return the error for a column of dates."""
    return ValueError(
        f"{what} {label!r} holds dates ({_first_present(series)}): turn it into a number, such as days since a "
        "fixed day, or drop it."
    )


def _no_number(value: Any, row: int, label: Hashable, what: str) -> Exception:
    """Return the error for a value that is no real number."""
    where = f"{what} {label!r} holds {reprlib.repr(value)} at row {row} (rows count from 0)"
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        return ValueError(f"Complex data not supported: {where}.")
    if isinstance(value, dict | list | set | tuple):
        return TypeError(f"{where}: argument must be a string or a real number, and strings are refused.")
    way_out = 'for two classes give family="binomial"'
    if what == "column":
        way_out = "turn all its values into text if they are categories, or drop it"
    return ValueError(
        f"{where}, which is not a number in the range of double precision: convert it to numbers (pandas.to_numeric), "
        f"{way_out}."
    )


def _first_present(series: pd.Series) -> Any:
    present = series.dropna()
    return present.iloc[0] if len(present) else "all missing"


def response(y: Any, n_rows: int) -> tuple[FloatArray, Hashable]:
    """Return the response as a float vector, and its name.

    Parameters
    ----------
    y : Series, one-column DataFrame, or array_like of shape (n_rows,) or (n_rows, 1)
    n_rows : int

    Raises
    ------
    ValueError
        If y has more than one column, the wrong length, or holds anything but numbers.
    """
    name: Hashable = "y"
    if is_frame(y):
        if len(y.columns) != 1:
            raise ValueError(f"y has {len(y.columns)} columns ({list(y.columns)[:5]}): give the one response column.")
        y = y.iloc[:, 0] if isinstance(y, pd.DataFrame) else y.get_column(y.columns[0])
    if type(y).__module__.split(".")[0] == "polars":
        name = y.name or "y"
        values = _polars_numbers(y, name, "response")
    else:
        if isinstance(y, pd.Series) and y.name is not None:
            name = y.name
        series = y if isinstance(y, pd.Series) else pd.Series(_vector(y))
        values = _numbers(series, name, "response")
    if len(values) != n_rows:
        raise ValueError(f"y has {len(values)} rows and X has {n_rows}: give one response value per row.")
    # A copy: the final model is built from it when it is first asked for.
    return np.array(values, dtype=float), name


def _vector(y: Any) -> npt.NDArray[Any]:
    from sklearn.utils.validation import column_or_1d

    values = unmasked(y)
    if values.dtype.names is not None:
        raise ValueError(f"y has the fields {values.dtype.names}: give one response column.")
    if values.ndim == 2 and values.shape[1] != 1:
        raise ValueError(f"y has shape {values.shape}: give one response column.")
    if values.dtype.kind in "US":
        values = values.astype(object)
    return column_or_1d(values, warn=True)


def sample_weights(weights: Any, n_rows: int) -> FloatArray | None:
    """Return the sample weights as a float vector, None where none are given.

    Raises
    ------
    ValueError
        If there are not as many as rows, or one is missing, infinite or negative, or all are zero.
    """
    if weights is None:
        return None
    if isinstance(weights, numbers.Real):
        weights = np.full(n_rows, float(weights))
    if isinstance(weights, pd.api.extensions.ExtensionArray | pd.Index):
        weights = pd.Series(weights)
    if not isinstance(weights, pd.Series) and np.ndim(unmasked(weights)) == 1:
        weights = pd.Series(unmasked(weights))
    if isinstance(weights, pd.Series):
        values = np.asarray(_numbers(weights, "sample_weight", "argument"), dtype=float)
    else:
        values = unmasked(weights)
    if values.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {values.shape}, not ({n_rows},): give one weight per row.")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"sample_weight is {values[row]} at row {row}: weights are finite and not negative.")
    if not values.any():
        raise ValueError("sample_weight is zero in every row: no observation is left.")
    return values
