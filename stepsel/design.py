"""Input as people have it -> design matrix and labels. The only module that looks into DataFrames."""

import numbers
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepsel.core.fits import FloatArray
from stepsel.core.linear_data import LinearData


@dataclass(frozen=True)
class Design:
    """Rows, columns and terms of a selection.

    Attributes
    ----------
    X : array of shape (n_rows, n_columns), any real dtype
    y : float array of shape (n_rows,)
    weights : float array of shape (n_rows,), optional
    labels : list
        The column labels.
    y_name : hashable
    n_dropped : int
        Rows that were dropped because of missing values.
    """

    X: npt.NDArray[np.number]
    y: FloatArray
    weights: FloatArray | None
    labels: list[Hashable]
    y_name: Hashable
    n_dropped: int = 0

    def rows(self, chosen: npt.NDArray[np.bool_]) -> "Design":
        """Return the design on some of its rows."""
        weights = None if self.weights is None else self.weights[chosen]
        return replace(self, X=self.X[chosen], y=self.y[chosen], weights=weights)


def is_frame(X: Any) -> bool:
    """Whether ``X`` is a pandas or polars DataFrame."""
    return isinstance(X, pd.DataFrame) or _is_polars(X)


def _is_polars(X: Any) -> bool:
    return type(X).__module__.split(".")[0] == "polars" and hasattr(X, "get_column")


def numeric_matrix(X: Any) -> tuple[npt.NDArray[np.number], list[Hashable]]:
    """Return the columns of ``X`` as one real matrix, without a copy where there is one already, and their labels.

    Parameters
    ----------
    X : pandas or polars DataFrame, or ndarray of shape (n_rows, n_columns)

    Returns
    -------
    matrix : ndarray of shape (n_rows, n_columns)
        Missing values are NaN.
    labels : list
        The column labels; ``x0``, ``x1``, ... for an array.

    Raises
    ------
    ValueError
        If a column holds anything but numbers, with the column, the row and the value; if two columns share a label.
    """
    if not is_frame(X):
        labels: list[Hashable] = [f"x{i}" for i in range(X.shape[1])]
        if X.dtype.kind in "biuf" and X.dtype.itemsize <= 8:
            return X, labels
        return _stack([_numbers(pd.Series(X[:, j]), labels[j]) for j in range(X.shape[1])], len(X)), labels
    labels = list(X.columns)
    if len(set(labels)) < len(labels):
        twice = next(label for at, label in enumerate(labels) if label in labels[:at])
        raise ValueError(f"column label {twice!r} occurs more than once: give every column a label of its own.")
    if isinstance(X, pd.DataFrame):
        kinds = set(X.dtypes)
        if len(kinds) == 1 and isinstance(kind := kinds.pop(), np.dtype) and kind.kind in "biuf":
            return X.to_numpy(), labels
        return _stack([_numbers(X.iloc[:, j], label) for j, label in enumerate(labels)], len(X)), labels
    return _stack([_polars_numbers(X.get_column(str(label)), label) for label in labels], X.height), labels


def _stack(columns: list[npt.NDArray[np.number]], n_rows: int) -> npt.NDArray[np.number]:
    if not columns:
        return np.empty((n_rows, 0))
    matrix = np.empty((n_rows, len(columns)), dtype=np.result_type(*columns, np.float32), order="F")
    for at, column in enumerate(columns):
        matrix[:, at] = column
    return matrix


def _polars_numbers(series: Any, label: Hashable) -> npt.NDArray[np.number]:
    dtype = series.dtype
    if dtype.is_numeric() and not series.null_count():
        return series.to_numpy() if not dtype.is_decimal() else series.cast(float).to_numpy()
    if dtype.is_numeric() or str(dtype) in ("Boolean", "Null"):
        return series.cast(float).to_numpy()
    return _numbers(pd.Series(series.to_list(), dtype=object), label)


def _numbers(series: pd.Series, label: Hashable, what: str = "column") -> npt.NDArray[np.number]:
    """Return the values of one column, or raise naming the first that is no number."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.itemsize <= 8:
        return series.to_numpy()
    if pd.api.types.is_bool_dtype(dtype) or (pd.api.types.is_numeric_dtype(dtype) and dtype.kind != "c"):
        return series.to_numpy(dtype=float, na_value=np.nan)
    if dtype.kind in "mM" or isinstance(dtype, pd.DatetimeTZDtype | pd.PeriodDtype):
        raise ValueError(
            f"{what} {label!r} holds dates ({_first_present(series)}): turn it into a number, such as days since a "
            "fixed day, or drop it."
        )
    if isinstance(dtype, pd.CategoricalDtype):
        raise ValueError(
            f"{what} {label!r} is categorical ({list(dtype.categories)[:3]}...): encode it as 0/1 columns, listed "
            "together in groups, or drop it."
        )
    values = series.to_numpy(dtype=object)
    numeric = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if value is None or value is pd.NA or value is pd.NaT:
            continue
        if isinstance(value, numbers.Real) or type(value).__name__ == "Decimal":
            numeric[row] = float(value)
            continue
        if not isinstance(value, str | bytes | numbers.Complex | np.datetime64) and not hasattr(value, "year"):
            raise TypeError(
                f"{what} {label!r} holds {value!r} at row {row}: argument must be a string or a real number."
            )
        if isinstance(value, numbers.Complex):
            raise ValueError(f"Complex data not supported: {what} {label!r} holds {value!r} at row {row}.")
        raise ValueError(
            f"{what} {label!r} holds {value!r} at row {row} (rows count from 0), which is not a number: "
            "convert the column to numbers (pandas.to_numeric), encode its categories as 0/1 columns, or drop it."
        )
    return numeric


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
        values = _polars_numbers(y, name)
    else:
        if isinstance(y, pd.Series) and y.name is not None:
            name = y.name
        series = y if isinstance(y, pd.Series) else pd.Series(_vector(y))
        values = _numbers(series, name, "response")
    if len(values) != n_rows:
        raise ValueError(f"y has {len(values)} rows and X has {n_rows}: give one response value per row.")
    return np.asarray(values, dtype=float), name


def _vector(y: Any) -> npt.NDArray[Any]:
    from sklearn.utils.validation import column_or_1d

    values = np.asarray(y)
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
    try:
        values = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("sample_weight holds values that are not numbers: give one weight per row.") from None
    if values.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {values.shape}, not ({n_rows},): give one weight per row.")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"sample_weight is {values[row]} at row {row}: weights are finite and not negative.")
    if not values.any():
        raise ValueError("sample_weight is zero in every row: no observation is left.")
    return values


def linear_data(design: Design, *, intercept: bool, weight_type: str) -> LinearData:
    """Return the rows of a design as the linear engine takes them.

    Parameters
    ----------
    design : Design
        Without rows of weight zero.
    intercept : bool
    weight_type : {"frequency", "analytic"}
        Whether the observations are the weights or the rows.
    """
    weights, n_rows = design.weights, float(len(design.y))
    if weights is None:
        return LinearData(design.X, design.y, None, n_rows, intercept)
    if weight_type == "frequency":
        return LinearData(design.X, design.y, weights, float(weights.sum()), intercept)
    return LinearData(design.X, design.y, weights, n_rows, intercept, float(np.log(weights).sum()) / 2)


def check_finite(design: Design, *, missing: str) -> Design:
    """Return the complete rows of a design that is known to hold values that are not finite.

    Raises
    ------
    ValueError
        If a value is infinite, or missing while ``missing="raise"``, naming the column and the first row.
    """
    columns: list[tuple[Hashable, str, npt.NDArray[np.number]]] = [(design.y_name, "response", design.y)]
    columns += [(label, "column", design.X[:, at]) for at, label in enumerate(design.labels)]
    gaps = np.zeros(len(design.y), dtype=bool)
    for label, what, values in columns:
        if np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise ValueError(f"{what} {label!r} holds {values[row]} (inf) at row {row}: replace or drop it.")
        absent = np.isnan(values)
        if absent.any() and missing == "raise":
            row, count = int(np.argmax(absent)), int(absent.sum())
            raise ValueError(
                f"{what} {label!r} has {count} missing {'value' if count == 1 else 'values'} (NaN), the first at row "
                f'{row}: fill them in, or set missing="drop" to use complete rows only.'
            )
        gaps |= absent
    if gaps.all():
        raise ValueError("every row has a missing value: no complete row is left.")
    return replace(design.rows(~gaps), n_dropped=int(gaps.sum())) if gaps.any() else design
