"""Input as people have it -> design matrix and labels. The only module that looks into DataFrames."""

import numbers
import reprlib
from collections.abc import Hashable, Sequence
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
    labels : sequence
        The column labels.
    y_name : hashable
    n_dropped : int
        Rows that were dropped because of missing values.
    row_numbers : int array of shape (n_rows,), optional
        The rows of the input that these are, when they are not all.
    classes : tuple, optional
        The labels of non-event and event.
    trials, status, offset : float arrays of shape (n_rows,), optional
        Numbers of trials of proportions; 1 for an event, 0 for a censored time; what the linear predictor starts from.
    """

    X: npt.NDArray[np.number]
    y: FloatArray
    weights: FloatArray | None
    labels: Sequence[Hashable]
    y_name: Hashable
    n_dropped: int = 0
    row_numbers: npt.NDArray[np.intp] | None = None
    trials: FloatArray | None = None
    status: FloatArray | None = None
    offset: FloatArray | None = None
    classes: tuple[Any, Any] | None = None

    @property
    def events(self) -> FloatArray | None:
        """The number of events in every row, weights counted; None where there are none to count."""
        happened = self.y if self.classes is not None or self.trials is not None else self.status
        if happened is None:
            return None
        times = self.trials if self.trials is not None else self.weights
        return happened if times is None else happened * times

    def row_number(self, at: int) -> int:
        """Return the number that a row has in the input."""
        return at if self.row_numbers is None else int(self.row_numbers[at])

    def rows(self, chosen: npt.NDArray[Any]) -> "Design":
        """Return the design on some of its rows, given as flags or as numbers."""
        numbers = np.arange(len(self.y)) if self.row_numbers is None else self.row_numbers
        optional = {name: getattr(self, name) for name in ("weights", "trials", "status", "offset")}
        parts: dict[str, Any] = {name: None if values is None else values[chosen] for name, values in optional.items()}
        return replace(self, X=self.X[chosen], y=self.y[chosen], row_numbers=numbers[chosen], **parts)


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


def numeric_matrix(X: Any) -> tuple[npt.NDArray[np.number], Sequence[Hashable]]:
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
        labels: Sequence[Hashable] = PositionLabels(X.shape[1])
        if X.dtype.kind in "biuf" and X.dtype.itemsize <= 8:
            return X, labels
        return _stack([_numbers(pd.Series(X[:, j]), labels[j]) for j in range(X.shape[1])], len(X)), labels
    labels = list(X.columns)
    check_labels(list(labels))
    if isinstance(X, pd.DataFrame):
        kinds = set(X.dtypes)
        if len(kinds) == 1 and isinstance(kind := kinds.pop(), np.dtype) and kind.kind in "biuf":
            return X.to_numpy(), labels
        return _stack([_numbers(X.iloc[:, j], label) for j, label in enumerate(labels)], len(X)), labels
    return _stack([_polars_numbers(X.get_column(str(label)), label, "column") for label in labels], X.height), labels


def _stack(columns: list[npt.NDArray[np.number]], n_rows: int) -> npt.NDArray[np.number]:
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
        if not (isinstance(value, numbers.Real | np.bool_) or type(value).__name__ == "Decimal"):
            raise _no_number(value, row, label, what)
        try:
            numeric[row] = float(value)
        except (OverflowError, ValueError):
            raise _no_number(value, row, label, what) from None
    return numeric


def _no_number(value: Any, row: int, label: Hashable, what: str) -> Exception:
    """Return the error for a value that is no real number."""
    where = f"{what} {label!r} holds {reprlib.repr(value)} at row {row} (rows count from 0)"
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        return ValueError(f"Complex data not supported: {where}.")
    if isinstance(value, dict | list | set | tuple):
        return TypeError(f"{where}: argument must be a string or a real number, and strings are refused.")
    way_out = 'for two classes give family="binomial"'
    if what != "response":
        way_out = "encode its categories as 0/1 columns, or drop it"
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
