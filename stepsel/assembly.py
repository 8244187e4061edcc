"""Columns, response, weights and offset -> the design of a selection, on the rows that it uses."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stepsel.checks import FILL_IN, missing_values, response_label
from stepsel.coding import Coding, ColumnCoding, FactorCoding, complete_rows, rows_of
from stepsel.columns import Column, Factor, check_labels, stack
from stepsel.core.fits import FloatArray
from stepsel.core.terms import BoolArray, IntArray
from stepsel.design import Design
from stepsel.responses import Response
from stepsel.settings import Settings


@dataclass(frozen=True)
class Gaps:
    """Rows that missing values take out, and how many values are missing where."""

    n_dropped: int = 0
    counts: dict[Hashable, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Observations:
    """What a selection has of every row besides its columns.

    Attributes
    ----------
    target : Response
    weights, offset : float arrays of shape (n_rows,), optional
    index : Index, optional
        The row labels of the input.
    """

    target: Response
    weights: FloatArray | None
    offset: FloatArray | None
    index: Any

    def design(
        self, X: npt.NDArray[np.number], coding: Coding, rows: BoolArray | None = None, gaps: Gaps | None = None
    ) -> Design:
        """Return the design with columns ``X``, which are those of ``rows`` only where these are given."""
        target = self.target
        vectors: dict[str, FloatArray | None] = {
            "y": target.y,
            "weights": self.weights if target.trials is None else None,
            "trials": target.trials,
            "status": target.status,
            "offset": self.offset,
        }
        row_numbers = None
        if rows is not None and not rows.all():
            row_numbers = np.flatnonzero(rows)
            vectors = {name: None if values is None else values[rows] for name, values in vectors.items()}
        y = vectors.pop("y")
        assert y is not None
        design = Design(
            X=X,
            y=y,
            coding=coding,
            y_name=target.name,
            n_dropped=0 if gaps is None else gaps.n_dropped,
            gaps={} if gaps is None else gaps.counts | self._gaps_of_response(coding.labels),
            row_numbers=row_numbers,
            classes=target.classes,
            index=self.index,
            **vectors,
        )
        if rows is None and self.weights is not None and not self.weights.all():
            design = design.rows(self.weights > 0)
        return design

    def _gaps_of_response(self, labels: Sequence[Hashable]) -> dict[Hashable, int]:
        absent = int(np.isnan(self.target.y).sum())
        return {response_label(self.target.name, labels): absent} if absent else {}


def column_design(
    columns: npt.NDArray[np.number] | Sequence[Column],
    labels: Sequence[Hashable],
    declared: Mapping[int, Any],
    observations: Observations,
    settings: Settings,
) -> Design:
    """Return the design of a table: columns of numbers as they are, factors coded on the rows that are used.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns), or sequence of columns
        As `stepsel.columns.read_columns` returns them.
    labels : sequence
    declared : mapping of int -> reference level or None
        The columns that were declared to be factors.
    observations : Observations
    settings : Settings

    Raises
    ------
    ValueError
        If a level is missing and rows are not to be dropped, no row is complete, a factor has nearly a level per row,
        or its reference level does not occur.
    """
    matrix = _plain(columns, len(observations.target.y))
    if matrix is not None:
        return observations.design(matrix, ColumnCoding(labels, {}))
    assert not isinstance(columns, np.ndarray)
    weights, y = observations.weights, observations.target.y
    rows, gaps = rows_with_levels(columns, labels, y, weights, missing=settings.missing)
    matrix, coding = _coded(columns, labels, declared, rows, full=not settings.fit_intercept)
    return observations.design(matrix, coding, rows, gaps)


def plain_design(
    columns: npt.NDArray[np.number] | Sequence[Column], labels: Sequence[Hashable], declared: Mapping[int, Any]
) -> tuple[Design, IntArray]:
    """Return the design of a table without a response, on all its rows, and the input column of each of its columns.

    Parameters
    ----------
    columns, labels, declared
        As for `column_design`.

    Raises
    ------
    ValueError
        As `column_design`.
    """
    n_rows = columns.shape[0] if isinstance(columns, np.ndarray) else len(columns[0])
    coding = ColumnCoding(labels, {})
    matrix = _plain(columns, n_rows)
    y = np.arange(n_rows, dtype=float)
    if matrix is None:
        assert not isinstance(columns, np.ndarray)
        rows, _ = rows_with_levels(columns, labels, y, None, missing="raise", hint="fill them in first")
        matrix, coding = _coded(columns, labels, declared, rows, full=False)
    return Design(matrix, y, None, coding, "y"), coding.owner


def _plain(columns: npt.NDArray[np.number] | Sequence[Column], n_rows: int) -> npt.NDArray[np.number] | None:
    """Return columns of numbers as a matrix; None where one is a factor."""
    if isinstance(columns, np.ndarray):
        return columns
    numeric = [column for column in columns if not isinstance(column, Factor)]
    return stack(numeric, n_rows) if len(numeric) == len(columns) else None


def _coded(
    columns: Sequence[Column], labels: Sequence[Hashable], declared: Mapping[int, Any], rows: BoolArray, *, full: bool
) -> tuple[npt.NDArray[np.number], ColumnCoding]:
    used = [rows_of(column, rows) for column in columns]
    factors = {
        at: FactorCoding.of(column, labels[at], declared.get(at))
        for at, column in enumerate(used)
        if isinstance(column, Factor)
    }
    coding = ColumnCoding(labels, factors, full)
    check_labels(list(coding.labels))
    return coding.matrix(used), coding


def rows_with_levels(
    columns: Sequence[Column],
    labels: Sequence[Hashable],
    y: FloatArray,
    weights: FloatArray | None,
    *,
    missing: str,
    hint: str = FILL_IN,
) -> tuple[BoolArray, Gaps]:
    """Return the rows that are used, where factors make that known before the levels are: only theirs count.

    Parameters
    ----------
    columns : sequence of columns
    labels : sequence
        Their labels, for messages.
    y : float array of shape (n_rows,)
        NaN where the response is missing.
    weights : float array of shape (n_rows,), optional
        Rows of weight zero are not used.
    missing : {"raise", "drop"}
        Numbers that are missing are not refused here.
    hint : str
        What to do about missing levels, for the message.

    Returns
    -------
    rows : bool array of shape (n_rows,)
    gaps : Gaps
        What is missing in the rows of positive weight.

    Raises
    ------
    ValueError
        If a level is missing and ``missing`` is "raise", or no row is complete.
    """
    counted = np.ones(len(y), dtype=bool) if weights is None else weights > 0
    if missing == "raise":
        for column, label in zip(columns, labels, strict=True):
            absent = column.missing & counted if isinstance(column, Factor) else np.zeros(0, dtype=bool)
            if absent.any():
                count, row = int(absent.sum()), int(np.argmax(absent))
                raise missing_values(f"column {label!r}", count, row, hint)
        return counted, Gaps()
    complete = counted & ~np.isnan(y)
    present = complete_rows(columns)
    complete = complete if present is None else complete & present
    if not complete.any():
        raise ValueError("every row has a missing value: no complete row is left.")
    missing_in = [column.missing if isinstance(column, Factor) else np.isnan(column) for column in columns]
    counts = {label: int(gaps[counted].sum()) for label, gaps in zip(labels, missing_in, strict=True)}
    return complete, Gaps(int(counted.sum() - complete.sum()), {label: n for label, n in counts.items() if n})
