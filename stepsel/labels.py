"""Columns of labels: their codes, their order, and which of them is meant."""

import numbers
from collections.abc import Hashable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepsel.core.fits import FloatArray
from stepsel.numeric import is_frame


def as_column(y: Any, name: Hashable, n_rows: int | None) -> tuple[pd.Series, Hashable]:
    """Return one column as a Series in which missing values are still missing, and its name."""
    if is_frame(y):
        if len(y.columns) != 1:
            raise ValueError(f"{name} has {len(y.columns)} columns ({list(y.columns)[:5]}): give one.")
        y = y.iloc[:, 0] if isinstance(y, pd.DataFrame) else y.get_column(y.columns[0])
    if isinstance(y, pd.Series):
        series, name = y, name if y.name is None else y.name
    elif isinstance(y, pd.Index | pd.api.extensions.ExtensionArray):
        series = pd.Series(y)
    elif type(y).__module__.split(".")[0] == "polars":
        series, name = pd.Series(y.to_list(), dtype=object).infer_objects(), y.name or name
    else:
        series = _series(y, name)
    if n_rows is not None and len(series) != n_rows:
        raise ValueError(f"{name} has {len(series)} rows and X has {n_rows}: give one response value per row.")
    series = series.reset_index(drop=True)
    series.name = name
    return series, name


def _series(y: Any, name: Hashable) -> pd.Series:
    from sklearn.utils.validation import column_or_1d

    # As objects, or a list of "yes" and NaN would become one of "yes" and "nan".
    values = np.asarray(y) if hasattr(y, "__array__") else np.array(y, dtype=object)
    if values.dtype.names is not None or values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] != 1):
        raise ValueError(f"{name} has shape {values.shape}: give one column.")
    if values.dtype.kind == "f":
        values = values.astype(float)
    return pd.Series(column_or_1d(values, warn=True)).infer_objects()


def coded(series: pd.Series, what: str) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """Return the label number of every row, -1 where it is missing, and the labels in order of appearance."""
    try:
        codes, labels = pd.factorize(series)
    except TypeError:
        raise ValueError(f"{what} holds values that are neither numbers nor labels.") from None
    return codes, [label.item() if isinstance(label, np.generic) else label for label in labels]


def numeric_labels(labels: list[Any], codes: npt.NDArray[np.intp]) -> FloatArray | None:
    """Return the values of the rows as numbers if all labels are numbers."""
    if not all(isinstance(label, numbers.Real | Decimal) for label in labels):
        return None
    return np.array([*map(float, labels), np.nan])[codes]


def in_order(labels: list[Any], series: pd.Series, what: str) -> list[Any]:
    """Return labels sorted, ordered categories in their own order.

    Raises
    ------
    ValueError
        If they have no order.
    """
    if isinstance(series.dtype, pd.CategoricalDtype) and series.dtype.ordered:
        return sorted(labels, key=list(series.dtype.categories).index)
    try:
        return sorted(labels)
    except TypeError:
        raise ValueError(f"{what} holds {listed(labels)}, which have no order: name the event.") from None


def find_label(labels: list[Any], event: Any, what: str) -> int:
    """Return the position of the label that is the event."""
    for alike in (_same, _same_text):
        found = [at for at, label in enumerate(labels) if alike(label, event)]
        if len(found) == 1:
            return found[0]
    raise ValueError(f"event {event!r} is none of the labels of {what}: choose one of {listed(labels)}.")


def _same(label: Any, event: Any) -> bool:
    same = label == event
    return isinstance(same, bool | np.bool_) and bool(same)


def _same_text(label: Any, event: Any) -> bool:
    """Whether a label and the event are the same number or word once written, as on a command line."""
    if str(label) == str(event):
        return True
    try:
        return float(label) == float(event)
    except (TypeError, ValueError):
        return str(label).casefold() == str(event).casefold() and isinstance(label, bool | np.bool_)


def listed(labels: Sequence[Any]) -> str:
    """Name the first five labels, in order where they have one."""
    try:
        labels = sorted(labels)
    except TypeError:
        labels = list(labels)
    return ", ".join(map(repr, labels[:5])) + (", ..." if len(labels) > 5 else "")


def refuse(bad: npt.NDArray[np.bool_], values: FloatArray, what: str, wanted: str) -> None:
    """Raise for the first bad row, if there is one."""
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{what} holds {values[row]:g} at row {row} (rows count from 0): {wanted}.")
