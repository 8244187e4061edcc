"""The response as people have it -> arrays: classes, proportions, counts, survival times, and offsets."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepsel.core.fits import FloatArray
from stepsel.labels import as_column, coded, find_label, in_order, listed, numeric_labels, refuse
from stepsel.numeric import response, sample_weights


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
    series, name = as_column(y, "y", n_rows)
    weights = sample_weights(sample_weight, n_rows)
    counted = np.ones(n_rows, dtype=bool) if weights is None else weights > 0
    what = f"response {name!r}"
    codes, labels = coded(series, what)
    present = [labels[code] for code in np.unique(codes[counted & (codes >= 0)])]
    values = numeric_labels(labels, codes)
    if values is not None:
        refuse(np.isinf(values), values, what, "classes and proportions are finite")
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
            f"{what} has {len(present)} classes ({listed(present)}): the binomial family takes two; keep the rows of "
            "two of them, or compare with the one to model (y == label)."
        )
    if event is None:
        first, second = in_order(present, series, what)
        return first, second
    at = find_label(present, event, what)
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
    refuse(broken, trials, "sample_weight", f"the numbers of trials of the proportions {name!r} are whole numbers")
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
    wanted = (
        'counts are whole numbers of at least 0; correct it, or use family="gaussian" ("gamma" for amounts above 0)'
    )
    refuse(bad, values, f"response {name!r}", wanted)
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
    refuse((values <= 0) | np.isinf(values), values, f"response {name!r}", wanted)
    return Response(values, name)


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
    series, _ = as_column(offset, "offset", None)
    if len(series) != n_rows:
        raise ValueError(f"offset has {len(series)} values and X has {n_rows} rows: give one per row.")
    try:
        values = response(series, n_rows)[0]
    except (TypeError, ValueError):
        raise ValueError("offset holds values that are not numbers: give one number per row.") from None
    advice = "an offset is finite; for an exposure give its logarithm, of exposures above 0"
    refuse(~np.isfinite(values), values, "offset", advice)
    return values
