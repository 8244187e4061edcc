"""The response as people have it -> arrays: classes, proportions, counts, survival times, and offsets."""

import numbers
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepsel.core.fits import FloatArray
from stepsel.design import is_frame, response, sample_weights

_BUILD = "build y with stepsel.survival_response(event, time)"


@dataclass(frozen=True)
class Response:
    """A checked response.

    Attributes
    ----------
    y : float array of shape (n_rows,)
        0 and 1 for classes, shares for proportions, counts, amounts, or survival times. NaN where it is missing.
    name : hashable
    trials : float array of shape (n_rows,), optional
        Numbers of trials of proportions: the sample weights, which are no weights then.
    time, status : float arrays of shape (n_rows,), optional
        Survival times, and 1 for an event, 0 for a censored time; NaN where missing.
    classes : tuple, optional
        The labels of non-event and event.
    """

    y: FloatArray
    name: Hashable
    trials: FloatArray | None = None
    time: FloatArray | None = None
    status: FloatArray | None = None
    classes: tuple[Any, Any] | None = None


# Two classes, or proportions ----------------------------------------------------------------------------------------


def binomial_response(y: Any, n_rows: int, *, event: Any = None, sample_weight: Any = None) -> Response:
    """Return two classes as 0 and 1, or proportions with their numbers of trials.

    Parameters
    ----------
    y : Series, one-column DataFrame, or array_like of shape (n_rows,)
        Two labels of any kind, or proportions of ``sample_weight`` trials: numbers in [0, 1], some of them fractional.
        Of two labels the second in order is the event (1 of 0/1, 2 of 1/2, True, "yes"); ordered categories keep
        their order.
    n_rows : int
    event : scalar, optional
        The label of the event. Text on numeric labels, and the reverse, is matched where one label fits.
    sample_weight : array_like of shape (n_rows,), optional
        Numbers of trials if y holds proportions. Rows of weight zero do not count as a class.

    Returns
    -------
    Response

    Raises
    ------
    ValueError
        If there are not two classes, ``event`` is none of them, or proportions have no whole numbers of events.
    """
    series, name = _column(y, "y", n_rows)
    weights = sample_weights(sample_weight, n_rows)
    counted = np.ones(n_rows, dtype=bool) if weights is None else weights > 0
    what = f"response {name!r}"
    codes, labels = _labels(series, what)
    present = [labels[code] for code in np.unique(codes[counted & (codes >= 0)])]
    values = _numeric(labels, codes)
    if values is not None:
        _refuse(np.isinf(values), values, what, "classes and proportions are finite")
        if event is None and _are_proportions(values[counted]):
            return _proportions(values, weights, name)
    pair = _two_classes(present, series, what, event)
    return Response(_indicator(codes, labels, pair), name, classes=pair)


def _two_classes(present: list[Any], series: pd.Series, what: str, event: Any) -> tuple[Any, Any]:
    """Return the labels of non-event and event."""
    if not present:
        raise ValueError(f"{what} has no values: every one is missing.")
    if len(present) == 1:
        raise ValueError(
            f"{what} has one class only ({present[0]!r}): the binomial family needs rows with and without the event."
        )
    if len(present) > 2:
        raise ValueError(
            f"{what} has {len(present)} classes ({_listed(present)}): the binomial family takes two; keep the rows of "
            "two of them, or compare with the one to model (y == label)."
        )
    if event is None:
        first, second = _in_order(present, series, what)
        return first, second
    at = _find(present, event, what)
    return present[1 - at], present[at]


def _indicator(codes: npt.NDArray[np.intp], labels: list[Any], pair: tuple[Any, Any]) -> FloatArray:
    """Return 0 and 1 for the two labels; other rows are missing, or of weight zero."""
    by_code = np.full(len(labels) + 1, np.nan)  # code -1, a missing value, takes the last
    by_code[labels.index(pair[0])], by_code[labels.index(pair[1])] = 0.0, 1.0
    return by_code[codes]


def _are_proportions(values: FloatArray) -> bool:
    values = values[~np.isnan(values)]
    return bool(((values >= 0) & (values <= 1)).all() and ((values > 0) & (values < 1)).any())


def _proportions(values: FloatArray, trials: FloatArray | None, name: Hashable) -> Response:
    if trials is None:
        row = int(np.argmax((values > 0) & (values < 1)))
        raise ValueError(
            f"response {name!r} holds the proportion {values[row]:g} at row {row} (rows count from 0): give the "
            "numbers of trials as sample_weight, or two classes."
        )
    events = trials * values
    broken = np.abs(trials - np.round(trials)) > 1e-6
    _refuse(broken, trials, "sample_weight", f"the numbers of trials of the proportions {name!r} are whole numbers")
    broken = np.abs(events - np.round(events)) > 1e-6
    if broken.any():
        row = int(np.argmax(broken))
        raise ValueError(
            f"response {name!r} holds the proportion {values[row]:g} at row {row} (rows count from 0), which of "
            f"{trials[row]:g} trials (sample_weight) is {events[row]:g} events: give proportions of whole numbers of "
            "events, or two classes."
        )
    trials = np.round(trials)
    shares = np.divide(np.round(events), trials, out=values.copy(), where=trials > 0)
    return Response(shares, name, trials=trials)


# Counts and amounts -------------------------------------------------------------------------------------------------


def count_response(y: Any, n_rows: int) -> Response:
    """Return counts: whole numbers of at least 0, not all of them 0.

    Parameters
    ----------
    y : Series, one-column DataFrame, or array_like of shape (n_rows,)
    n_rows : int

    Returns
    -------
    Response

    Raises
    ------
    ValueError
        Naming the row and the value.
    """
    values, name = response(y, n_rows)
    bad = (values < 0) | np.isinf(values) | (values != np.floor(values)) & ~np.isnan(values)
    wanted = 'counts are whole numbers of at least 0; correct it, or use family="gamma" or "gaussian" for amounts'
    _refuse(bad, values, f"response {name!r}", wanted)
    present = values[~np.isnan(values)]
    if len(present) and not present.any():
        raise ValueError(f"response {name!r} is 0 in every row: there is nothing to explain; check the column.")
    return Response(values, name)


def positive_response(y: Any, n_rows: int) -> Response:
    """Return amounts: numbers above 0, as the gamma family takes them.

    Parameters
    ----------
    y : Series, one-column DataFrame, or array_like of shape (n_rows,)
    n_rows : int

    Returns
    -------
    Response

    Raises
    ------
    ValueError
        Naming the row and the value.
    """
    values, name = response(y, n_rows)
    wanted = 'the gamma family takes finite numbers above 0; leave the row out, or use family="gaussian"'
    _refuse((values <= 0) | np.isinf(values), values, f"response {name!r}", wanted)
    return Response(values, name)


# Survival -----------------------------------------------------------------------------------------------------------


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
    times, time_name = _column(time, "time", None)
    status, status_name = _column(event, "event", None)
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
    series, name = _column(status, name, None)
    what = f"event {name!r}"
    codes, labels = _labels(series, what)
    if event is not None:
        at = _find(labels, event, what)
    elif set(labels) <= {0, 1}:
        at = labels.index(1) if 1 in labels else len(labels)
    elif set(labels) <= {1, 2}:
        at = labels.index(2)
    elif len(labels) == 2:
        at = labels.index(_in_order(labels, series, what)[1])
    else:
        raise ValueError(
            f"{what} holds {_listed(labels)}: give booleans, 0/1, 1/2 or two labels, or compare with the value that "
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
    _refuse((values < 0) | np.isinf(values), values, what, "survival times are finite and not negative")


# Offset -------------------------------------------------------------------------------------------------------------


def offset_vector(offset: Any, n_rows: int) -> FloatArray:
    """Return the offset, a part of the linear predictor with coefficient one.

    Parameters
    ----------
    offset : Series, one-column DataFrame, or array_like of shape (n_rows,)
        Finite numbers; for an exposure its logarithm, ``np.log(exposure)``.
    n_rows : int

    Raises
    ------
    ValueError
        If there are not as many as rows, or one is not a finite number.
    """
    series, _ = _column(offset, "offset", None)
    if len(series) != n_rows:
        raise ValueError(f"offset has {len(series)} values and X has {n_rows} rows: give one per row.")
    try:
        values = response(series, n_rows)[0]
    except (TypeError, ValueError):
        raise ValueError("offset holds values that are not numbers: give one number per row.") from None
    advice = "an offset is finite; for an exposure give its logarithm, of exposures above 0"
    _refuse(~np.isfinite(values), values, "offset", advice)
    return values


# Columns and labels -------------------------------------------------------------------------------------------------


def _column(y: Any, name: Hashable, n_rows: int | None) -> tuple[pd.Series, Hashable]:
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


def _labels(series: pd.Series, what: str) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """Return the label number of every row, -1 where it is missing, and the labels in order of appearance."""
    try:
        codes, labels = pd.factorize(series)
    except TypeError:
        raise ValueError(f"{what} holds values that are neither numbers nor labels.") from None
    return codes, [label.item() if isinstance(label, np.generic) else label for label in labels]


def _numeric(labels: list[Any], codes: npt.NDArray[np.intp]) -> FloatArray | None:
    """Return the values of the rows as numbers if all labels are numbers."""
    if not all(isinstance(label, numbers.Real | Decimal) for label in labels):
        return None
    return np.array([*map(float, labels), np.nan])[codes]


def _in_order(labels: list[Any], series: pd.Series, what: str) -> list[Any]:
    if isinstance(series.dtype, pd.CategoricalDtype) and series.dtype.ordered:
        return sorted(labels, key=list(series.dtype.categories).index)
    try:
        return sorted(labels)
    except TypeError:
        raise ValueError(f"{what} holds {_listed(labels)}, which have no order: name the event.") from None


def _find(labels: list[Any], event: Any, what: str) -> int:
    """Return the position of the label that is the event."""
    for alike in (_same, _same_text):
        found = [at for at, label in enumerate(labels) if alike(label, event)]
        if len(found) == 1:
            return found[0]
    raise ValueError(f"event {event!r} is none of the labels of {what}: choose one of {_listed(labels)}.")


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


def _listed(labels: Sequence[Any]) -> str:
    """Name the first five labels, in order where they have one."""
    try:
        labels = sorted(labels)
    except TypeError:
        labels = list(labels)
    return ", ".join(map(repr, labels[:5])) + (", ..." if len(labels) > 5 else "")


def _refuse(bad: npt.NDArray[np.bool_], values: FloatArray, what: str, wanted: str) -> None:
    """Raise for the first bad row, if there is one."""
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{what} holds {values[row]:g} at row {row} (rows count from 0): {wanted}.")
