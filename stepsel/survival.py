"""Survival times: responses of a Cox regression."""

import warnings
from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepsel.core.fits import FloatArray
from stepsel.exceptions import EventCodingWarning
from stepsel.labels import as_column, coded, find_label, in_order, listed, refuse
from stepsel.numeric import is_frame, response
from stepsel.responses import Response

_BUILD = "build y with stepsel.survival_response(event, time)"


def survival_response(event: Any, time: Any) -> npt.NDArray[np.void]:
    """Return the response of a Cox regression: survival times, and whether they ended with the event.

    Parameters
    ----------
    event : Series or array_like of shape (n_rows,)
        Booleans; 0 (censored) and 1; 1 (censored) and 2, as in R; or two labels, of which the second in order is the
        event. For anything else compare first: ``status == "dead"``.
    time : Series or array_like of shape (n_rows,)
        Time to the event or to the end of observation; finite and not negative.

    Returns
    -------
    structured array of shape (n_rows,)
        With the fields ``event`` (bool) and ``time`` (float), as ``sksurv.util.Surv.from_arrays`` makes it.

    Raises
    ------
    ValueError
        If the lengths differ, a value is missing or a time negative, or the event cannot be told.

    Notes
    -----
    To have rows with missing values dropped by the selection (``missing="drop"``), pass a DataFrame of the two columns,
    events as booleans or 0/1, instead.

    Examples
    --------
    >>> from stepsel import survival_response
    >>> y = survival_response(event=["dead", "alive", "dead"], time=[5, 8, 12.5])
    >>> y["event"].tolist(), y["time"].tolist()
    ([True, False, True], [5.0, 8.0, 12.5])
    """
    times, time_name = as_column(time, "time", None)
    status, status_name = as_column(event, "event", None)
    if len(times) != len(status):
        raise ValueError(f"event has {len(status)} rows and time has {len(times)}: give one of each per row.")
    values = response(times, len(times))[0]
    _check_times(values, f"time {time_name!r}")
    events = status_events(status, name=status_name)
    for what, column in ((f"time {time_name!r}", values), (f"event {status_name!r}", events)):
        if np.isnan(column).any():
            row = int(np.argmax(np.isnan(column)))
            raise ValueError(f"{what} is missing at row {row} (rows count from 0): leave such rows out.")
    y = np.empty(len(values), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = events == 1, values
    return y


def status_events(status: Any, *, name: Hashable = "event", event: Any = None) -> FloatArray:
    """Return 1 for an event, 0 for a censored time, NaN for a missing status.

    Parameters
    ----------
    status : Series or array_like of shape (n_rows,)
        As `survival_response` takes it.
    name : hashable
        For messages.
    event : scalar, optional
        The value that is the event; all others are censored.

    Raises
    ------
    ValueError
        If the event cannot be told.
    """
    series, name = as_column(status, name, None)
    what = f"event {name!r}"
    codes, labels = coded(series, what)
    if event is not None:
        at = find_label(labels, event, what)
    elif set(labels) <= {0, 1}:
        at = labels.index(1) if 1 in labels else len(labels)
        if labels == [1] and not isinstance(labels[0], bool | np.bool_):
            warnings.warn(
                f"{what} is 1 in every row, read as an event everywhere (0/1 coding); in 1/2 coding all are censored.",
                EventCodingWarning,
                stacklevel=3,
            )
    elif set(labels) <= {1, 2}:
        at = labels.index(2)
    elif len(labels) == 2:
        at = labels.index(in_order(labels, series, what)[1])
    else:
        raise ValueError(
            f"{what} holds {listed(labels)}: give booleans, 0/1, 1/2 or two labels, or compare with the value that "
            "is the event (status == value)."
        )
    return np.where(codes < 0, np.nan, codes == at)


def cox_response(y: Any, n_rows: int) -> Response:
    """Return survival times and events.

    Parameters
    ----------
    y : structured array or DataFrame with two columns
        One holds the events, as booleans or 0/1, the other the times; names and order are free.
    n_rows : int

    Returns
    -------
    Response
        ``y`` is the time, missing where time or event is.

    Raises
    ------
    ValueError
        If the columns cannot be told apart, a time is negative or infinite, or there is no event.
    """
    columns = _two_columns(y)
    names = [name for name, _, _ in columns]
    values = []
    for name, column, _ in columns:
        if len(column) != n_rows:
            raise ValueError(f"y has {len(column)} rows and X has {n_rows}: give one time and event per row.")
        try:
            values.append(response(column, n_rows)[0])
        except (TypeError, ValueError):
            raise ValueError(f"column {name!r} of y holds values that are not numbers: {_BUILD}.") from None
    flags = [at for at, (_, _, boolean) in enumerate(columns) if boolean]
    flags = flags or [at for at, column in enumerate(values) if np.isin(column[~np.isnan(column)], (0, 1)).all()]
    if len(flags) != 1:
        raise ValueError(
            f"y has the columns {names[0]!r} and {names[1]!r}, and which is the event is not clear: {_BUILD}."
        )
    status, time, name = values[flags[0]], values[1 - flags[0]], names[1 - flags[0]]
    _check_times(time, f"time {name!r}")
    if not (status == 1).any():
        raise ValueError(f"y holds no event ({names[flags[0]]!r} is 0 in every row): Cox regression needs some.")
    return Response(np.where(np.isnan(status), np.nan, time), name, time=time, status=status)


def _two_columns(y: Any) -> list[tuple[Hashable, Any, bool]]:
    """Return name, values and whether the values are booleans, of both columns."""
    if isinstance(y, np.ndarray) and y.dtype.names is not None and len(y.dtype.names) == 2 and y.ndim == 1:
        fields = [(name, np.ascontiguousarray(y[name])) for name in y.dtype.names]
        return [(name, pd.Series(values, name=name), values.dtype.kind == "b") for name, values in fields]
    if isinstance(y, pd.DataFrame) and y.shape[1] == 2:
        series = [y.iloc[:, at] for at in (0, 1)]
        return [(column.name, column, pd.api.types.is_bool_dtype(column.dtype)) for column in series]
    if is_frame(y) and y.shape[1] == 2:
        return [(name, y.get_column(name), str(y.get_column(name).dtype) == "Boolean") for name in y.columns]
    raise ValueError(f"Cox regression needs times and events: {_BUILD}.")


def _check_times(values: FloatArray, what: str) -> None:
    refuse((values < 0) | np.isinf(values), values, what, "survival times are finite and not negative")
