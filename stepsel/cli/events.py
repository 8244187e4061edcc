"""Which value of a response is the event."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from stepsel.reading import ReadingError


def classes_of(y: Any, weights: pd.Series | None, asked: SimpleNamespace) -> tuple[list[str], bool]:
    """Say which class was taken as the event, and whether there are proportions instead of classes.

    Parameters
    ----------
    y : Series, or anything else where there are no classes
    weights : Series, optional
    asked : SimpleNamespace
        The options of the command by name.
    """
    if asked.family != "binomial" or not isinstance(y, pd.Series):
        return [], False
    from stepsel.responses import binomial_response

    found = binomial_response(y, len(y), event=asked.event, sample_weight=weights)
    return ([], True) if found.classes is None else (event_notes(y, found.y), False)


def events_of(status: pd.Series, value: str | None) -> tuple[pd.Series, list[str]]:
    """Tell events from censored times.

    Parameters
    ----------
    status : Series
        As it was read.
    value : str, optional
        The value of ``--event``.

    Returns
    -------
    events : Series of booleans
        With gaps where the status is missing.
    notes : list of str
        Which value is the event, where that is no matter of course.

    Raises
    ------
    ReadingError
        It cannot be told.
    """
    from stepsel.survival import status_events

    try:
        events = status_events(status, name=status.name, event=value)
    except ValueError as error:
        hint = "" if value else "; on the command line, --event VALUE names it"
        raise ReadingError(f"{str(error).rstrip('.')}{hint}.") from None
    event = pd.Series(events == 1, index=status.index, dtype="boolean").mask(np.isnan(events))
    return event, event_notes(status, events)


def event_notes(column: pd.Series, events: np.ndarray) -> list[str]:
    """Say which value is the event, unless it is the 1 of 0 and 1.

    Parameters
    ----------
    column : Series
        As it was read.
    events : array
        1 where the event is.

    Returns
    -------
    list of str
        One sentence, or none.
    """
    present = set(column.dropna())
    if present <= {0, 1} or not (events == 1).any():
        return []
    label = column[events == 1].iloc[0]
    value = repr(label) if isinstance(label, str) else f"{label:g}" if isinstance(label, int | float) else str(label)
    return [f"The event is {column.name} = {value}: {int((events == 1).sum())} of {len(column)} rows."]
