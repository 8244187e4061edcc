"""Numbers as people have them: columns, responses and weights as arrays of double precision."""

import numbers
import reprlib
from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepsel.core.fits import FloatArray

_DATES = ("datetime64", "datetime", "date", "timedelta64", "timedelta", "period")


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


def _is_polars(X: Any) -> bool:
    return type(X).__module__.split(".")[0] == "polars" and hasattr(X, "get_column")


def polars_numbers(series: Any, label: Hashable, what: str) -> npt.NDArray[np.number]:
    """Return the values of one polars column, or raise naming the first that is no number."""
    dtype = series.dtype
    if dtype.is_numeric() and not series.null_count():
        return series.to_numpy() if not dtype.is_decimal() else series.cast(float).to_numpy()
    if dtype.is_numeric() or str(dtype) in ("Boolean", "Null"):
        return series.cast(float).to_numpy()
    return numbers_of(pd.Series(series.to_list(), dtype=object), label, what)


def numbers_of(series: pd.Series, label: Hashable, what: str = "column") -> npt.NDArray[np.number]:
    """Return the values of one column, or raise naming the first that is no number."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.itemsize <= 8:
        return series.to_numpy()
    if pd.api.types.is_bool_dtype(dtype) or (pd.api.types.is_numeric_dtype(dtype) and dtype.kind != "c"):
        return series.to_numpy(dtype=float, na_value=np.nan)
    if holds_dates(series):
        raise dates(series, label, what)
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


def kind_of_dates(dtype: Any) -> bool:
    """Whether values of a type are dates, times or durations."""
    return getattr(dtype, "kind", "") in "mM" or isinstance(dtype, pd.DatetimeTZDtype | pd.PeriodDtype)


def holds_dates(series: pd.Series) -> bool:
    """Whether a column holds dates, times or durations."""
    if series.dtype == object:
        return pd.api.types.infer_dtype(series, skipna=True) in _DATES
    return kind_of_dates(series.dtype)


def dates(series: pd.Series, label: Hashable, what: str) -> Exception:
    """Return the error for a column of dates."""
    return ValueError(
        f"{what} {label!r} holds dates ({first_present(series)}): turn it into a number, such as days since a "
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
        way_out = "name it in categorical if its values are categories, or drop it"
    return ValueError(
        f"{where}, which is not a number in the range of double precision: convert it to numbers (pandas.to_numeric), "
        f"{way_out}."
    )


def first_present(series: pd.Series) -> Any:
    """Return the first value that is not missing, for messages."""
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
        values = polars_numbers(y, name, "response")
    else:
        if isinstance(y, pd.Series) and y.name is not None:
            name = y.name
        series = y if isinstance(y, pd.Series) else pd.Series(_vector(y))
        values = numbers_of(series, name, "response")
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
        values = np.asarray(numbers_of(weights, "sample_weight", "argument"), dtype=float)
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
