"""The design of a selection: coded columns, response and weights, row by row."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from stepsel.coding import Coding
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
    coding : Coding
        How the input became the columns.
    y_name : hashable
    n_dropped : int
        Rows that were dropped because of missing values.
    row_numbers : int array of shape (n_rows,), optional
        The rows of the input that these are, when they are not all.
    classes : tuple, optional
        The labels of non-event and event.
    index : Index, optional
        The row labels of the input, of all its rows.
    gaps : mapping of label -> int
        How many values of a column, or of the response, were missing, where rows were dropped.
    trials, status, offset : float arrays of shape (n_rows,), optional
        Numbers of trials of proportions; 1 for an event, 0 for a censored time; what the linear predictor starts from.
    """

    X: npt.NDArray[np.number]
    y: FloatArray
    weights: FloatArray | None
    coding: Coding
    y_name: Hashable
    n_dropped: int = 0
    row_numbers: npt.NDArray[np.intp] | None = None
    trials: FloatArray | None = None
    status: FloatArray | None = None
    offset: FloatArray | None = None
    classes: tuple[Any, Any] | None = None
    index: Any = None
    gaps: Mapping[Hashable, int] = field(default_factory=dict)

    @cached_property
    def labels(self) -> Sequence[Hashable]:
        """The labels of the columns."""
        return self.coding.labels

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
