"""Checks of the values of a design: finite, complete, within the range of double precision."""

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from stepsel.core.linear_data import ColumnScale
from stepsel.design import Design

_LISTED = 8
FILL_IN = 'fill them in, or set missing="drop" to use complete rows only'


def check_range(design: Design, scale: ColumnScale) -> None:
    """Refuse values whose squares leave the range of double precision, or that it cannot tell apart.

    Raises
    ------
    ValueError
        Naming the first such column, or the response.
    """
    unusable = scale.out_of_range
    if unusable.any():
        raise ValueError(
            f"column {design.labels[int(np.argmax(unusable))]!r} holds values whose squares leave the range of double "
            "precision: express it in other units."
        )
    overflow = not (np.isfinite(scale.raw_ssy) and np.isfinite(scale.ssy))
    if overflow or (scale.raw_ssy < 1e-290 and design.y.any()):
        raise ValueError(
            f"response {design.y_name!r} holds values whose squares leave the range of double precision: express it in "
            "other units."
        )


def check_whole_numbers(matrix: npt.NDArray[np.number], labels: Sequence[Hashable]) -> None:
    """Refuse whole numbers so large that double precision cannot tell neighbours apart, where that matters.

    Raises
    ------
    ValueError
        If a column spans too few of the numbers that are exact at its size.
    """
    if matrix.dtype not in (np.int64, np.uint64):
        return
    for at, label in enumerate(labels):
        low, high = int(matrix[:, at].min()), int(matrix[:, at].max())
        largest = max(abs(low), abs(high))
        if largest > 2**53 and high > low and high - low < 2**20 * float(np.spacing(float(largest))):
            raise ValueError(
                f"column {label!r} holds whole numbers near {largest:.3g} that double precision cannot tell apart: "
                "subtract a constant from it first."
            )


def check_finite(design: Design, *, missing: str, hint: str = FILL_IN) -> Design:
    """Return the complete rows of a design that is known to hold values that are not finite.

    Raises
    ------
    ValueError
        If a value is infinite, or missing while ``missing="raise"``, naming the column and the first row.
    """
    columns: list[tuple[Hashable, str, npt.NDArray[np.number]]] = [(design.y_name, "response", design.y)]
    columns += [(label, "column", design.X[:, at]) for at, label in enumerate(design.labels)]
    gaps, counts = np.zeros(len(design.y), dtype=bool), dict(design.gaps)
    for label, what, values in columns:
        if np.isinf(values).any():
            at = int(np.argmax(np.isinf(values)))
            row = design.row_number(at)
            raise ValueError(f"{what} {label!r} holds {values[at]} (inf) at row {row}: replace or drop it.")
        absent = np.isnan(values)
        if absent.any() and missing == "raise":
            row, count = design.row_number(int(np.argmax(absent))), int(absent.sum())
            raise missing_values(f"{what} {label!r}", count, row, hint + _other_gaps(columns, label))
        if absent.any():
            gaps |= absent
            counts[label if what == "column" else response_label(label, design.labels)] = int(absent.sum())
    if gaps.all():
        raise ValueError("every row has a missing value: no complete row is left.")
    if not gaps.any():
        return design
    return replace(design.rows(~gaps), n_dropped=design.n_dropped + int(gaps.sum()), gaps=counts)


def response_label(name: Hashable, labels: Sequence[Hashable]) -> Hashable:
    """Return the name of the response, told apart from a column of the same name."""
    return f"{name} (response)" if name in labels else name


def _other_gaps(columns: list[tuple[Hashable, str, npt.NDArray[np.number]]], named: Hashable) -> str:
    """Name the other columns with missing values, and how many they have."""
    counts = [(label, int(np.isnan(values).sum())) for label, _, values in columns if label != named]
    others = [f"{label} ({count})" for label, count in counts if count]
    more = f" and {len(others) - _LISTED} more" if len(others) > _LISTED else ""
    return f"; missing values are also in {', '.join(others[:_LISTED])}{more}" if others else ""


def missing_values(what: str, count: int, row: int, hint: str) -> ValueError:
    """Return the error for values that are missing: how many, where the first is, and what to do."""
    values = "value" if count == 1 else "values"
    return ValueError(f"{what} has {count} missing {values} (NaN), the first at row {row}: {hint}.")
