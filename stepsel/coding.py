"""Coding: how input columns become the columns of a design, when a selection is made and for new data.

References
----------
Chambers and Hastie (1992), Statistical Models in S, section 2.4 (contrasts, or all levels, by what else is in a model).
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from stepsel.columns import Column, Factor, read_column, read_columns, stack
from stepsel.core.fits import FloatArray
from stepsel.core.terms import BoolArray, IntArray
from stepsel.naming import find, names_in
from stepsel.numeric import is_frame

_LISTED = 6
# More levels than this, and than half the rows, and a column names its rows instead of grouping them.
_FEW_LEVELS = 10


class Block(NamedTuple):
    """Columns that one variable, or a product of several, brings into a design.

    Attributes
    ----------
    matrix : array of shape (n_rows, n_columns)
    labels : list of length n_columns
    spare : list of int
        How many factors of each column are at their reference level: where the model holds what the term contains,
        such columns repeat others by construction. They come last.
    """

    matrix: npt.NDArray[np.number]
    labels: list[Hashable]
    spare: list[int]


@dataclass(frozen=True)
class FactorCoding:
    """The levels of a factor and the one that the others are compared with.

    Attributes
    ----------
    label : hashable
    levels : tuple
        Those that occur, in order.
    reference : int
        The place of the reference level.
    """

    label: Hashable
    levels: tuple[Any, ...]
    reference: int = 0

    @classmethod
    def of(cls, factor: Factor, label: Hashable, reference: Any = None) -> "FactorCoding":
        """Return the coding of the levels that occur in a factor.

        Raises
        ------
        ValueError
            If ``reference`` is given and is none of them, or there is nearly one level per row.
        """
        present = factor.codes[factor.codes >= 0]
        levels = tuple(factor.levels[code] for code in np.unique(present).tolist())
        refuse_identifiers(len(levels), len(present), label, f" ({_listed(levels)})")
        if reference is None:
            return cls(label, levels)
        places = [at for at, level in enumerate(levels) if level == reference]
        places = places or [at for at, level in enumerate(levels) if str(level) == str(reference)]
        if not places:
            raise ValueError(
                f"column {label!r} has no level {reference!r} to be the reference in the rows that are used: its "
                f"levels are {_listed(levels)}."
            )
        return cls(label, levels, places[0])

    def block(self, factor: Factor, *, full: bool) -> Block:
        """Code the rows of a factor.

        Parameters
        ----------
        factor : Factor
        full : bool
            Whether all levels get a column, the reference last; else all but the reference (treatment contrasts).

        Returns
        -------
        Block
            NaN in rows without a level.

        Raises
        ------
        ValueError
            If a level is none of the known ones.
        """
        others = [at for at in range(len(self.levels)) if at != self.reference]
        mark = "" if full else "T."
        order = [*others, self.reference] if full and self.levels else others
        codes = self._codes(factor)
        matrix = (codes[:, None] == np.array(order, dtype=np.intp)).astype(float)
        matrix[codes < 0] = np.nan
        labels: list[Hashable] = [f"{self.label}[{mark}{self.levels[at]}]" for at in order]
        return Block(matrix, labels, [int(at == self.reference) for at in order])

    def _codes(self, factor: Factor) -> IntArray:
        place = {level: at for at, level in enumerate(self.levels)}
        known = np.array([place.get(level, -2) for level in factor.levels] + [-1], dtype=np.intp)
        codes = known[factor.codes]
        if (codes == -2).any():
            row = int(np.argmax(codes == -2))
            raise ValueError(
                f"column {self.label!r} holds the level {factor.levels[factor.codes[row]]!r} at row {row} (rows count "
                f"from 0), which the selection did not see: its levels are {_listed(self.levels)}."
            )
        return codes


def refuse_identifiers(n_levels: int, n_rows: int, label: Hashable, examples: str = "") -> None:
    """Refuse a factor with nearly one level per row.

    Raises
    ------
    ValueError
        Naming it.
    """
    if n_levels > max(_FEW_LEVELS, n_rows / 2):
        raise ValueError(
            f"column {label!r} has {n_levels} levels in {n_rows} rows{examples}, as an identifier has: drop it, or "
            "group its levels."
        )


def _listed(levels: Sequence[Any]) -> str:
    return ", ".join(map(repr, levels[:_LISTED])) + (", ..." if len(levels) > _LISTED else "")


class Coding(Protocol):
    """How input becomes the columns of a design."""

    @property
    def labels(self) -> Sequence[Hashable]:
        """The labels of the design columns."""

    @property
    def spare(self) -> BoolArray | None:
        """Design columns that may repeat others by construction; None where there are none."""

    @property
    def crossed(self) -> BoolArray | None:
        """Design columns that are products of others; None where there are none."""

    @property
    def references(self) -> dict[Hashable, Any]:
        """The reference level of every factor."""

    def encode(self, X: Any, chosen: IntArray) -> FloatArray:
        """Return the design columns ``chosen`` of new data, shape (n_rows, n_chosen)."""


@dataclass(frozen=True)
class ColumnCoding:
    """The coding of a table: a column of numbers is itself, a factor its contrasts.

    Attributes
    ----------
    inputs : sequence
        The labels of the input columns.
    factors : dict of int -> FactorCoding
        By position of the input column.
    full : bool
        Whether factors are coded by all their levels, as without an intercept.
    """

    inputs: Sequence[Hashable]
    factors: Mapping[int, FactorCoding]
    full: bool = False

    @property
    def references(self) -> dict[Hashable, Any]:
        """The reference level of every factor."""
        return {factor.label: factor.levels[factor.reference] for factor in self.factors.values() if factor.levels}

    @property
    def owner(self) -> IntArray:
        """The input column of every design column."""
        sizes = np.ones(len(self.inputs), dtype=np.intp)
        for at, factor in self.factors.items():
            sizes[at] = len(factor.levels) - (not self.full) if factor.levels else 0
        return np.repeat(np.arange(len(sizes)), sizes)

    @property
    def labels(self) -> Sequence[Hashable]:
        """The labels of the design columns."""
        if not self.factors:
            return self.inputs
        return [label for at in range(len(self.inputs)) for label in self._block(at, None).labels]

    @property
    def spare(self) -> BoolArray | None:
        """Design columns of reference levels."""
        if not self.factors or not self.full:
            return None
        return np.array([flag for at in range(len(self.inputs)) for flag in self._block(at, None).spare], dtype=bool)

    @property
    def crossed(self) -> None:
        """No column of a table is a product of others, as far as is known."""
        return None

    def _block(self, at: int, column: Column | None) -> Block:
        if at not in self.factors:
            assert not isinstance(column, Factor)
            matrix = np.empty((0, 1)) if column is None else column[:, None]
            return Block(matrix, [self.inputs[at]], [0])
        if column is None:
            column = Factor(np.empty(0, dtype=np.intp), ())
        assert isinstance(column, Factor)
        return self.factors[at].block(column, full=self.full)

    def matrix(self, columns: Sequence[Column]) -> npt.NDArray[np.number]:
        """Return the design of columns that were read."""
        blocks = [self._block(at, column).matrix for at, column in enumerate(columns)]
        parts = [block[:, at] for block in blocks for at in range(block.shape[1])]
        return stack(parts, len(columns[0]))

    def encode(self, X: Any, chosen: IntArray) -> FloatArray:
        """Return the design columns ``chosen`` of new data.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            A DataFrame with at least the input columns of the chosen ones, or an array with all columns of the input.
        chosen : int array

        Raises
        ------
        ValueError
            If a column is missing, holds anything but what it held, or a factor has a level that was not seen.
        """
        owner = self.owner[chosen]
        places = np.unique(owner)
        if is_frame(X):
            names = [self.inputs[at] for at in places]
            absent = [name for name in names if name not in list(X.columns)]
            if absent:
                raise ValueError(f"X lacks the selected column {absent[0]!r}.")
            columns = [
                read_column(_column(X, self.inputs[at]), self.inputs[at], declared=at in self.factors) for at in places
            ]
            n_rows = len(X)
        else:
            X = np.asarray(X)
            if X.ndim != 2 or X.shape[1] != len(self.inputs):
                raise ValueError(f"X has shape {X.shape}: give all {len(self.inputs)} columns of the input.")
            declared = [at for at, place in enumerate(places) if place in self.factors]
            read, _ = read_columns(X[:, places], declared)
            columns = [read[:, at] for at in range(read.shape[1])] if isinstance(read, np.ndarray) else read
            n_rows = len(X)
        starts = np.searchsorted(self.owner, places)
        result = np.empty((n_rows, len(chosen)))
        for place, start, column in zip(places.tolist(), starts.tolist(), columns, strict=True):
            if place not in self.factors and isinstance(column, Factor):
                raise ValueError(f"column {self.inputs[place]!r} holds text, and held numbers when it was selected.")
            own = owner == place
            result[:, own] = self._block(place, column).matrix[:, chosen[own] - start]
        return result


def _column(X: Any, label: Hashable) -> Any:
    if hasattr(X, "get_column"):
        return X.get_column(label)
    return X.iloc[:, list(X.columns).index(label)]


def declared_factors(categorical: Any, labels: Sequence[Hashable], *, positions: bool) -> dict[int, Any]:
    """Return position -> reference level (None: the first) of the columns that are declared to be factors.

    Parameters
    ----------
    categorical : name, iterable of names, or mapping of name -> reference level; None
    labels : sequence
        The column labels.
    positions : bool
        Whether columns may also be given by position (input without labels).

    Raises
    ------
    ValueError
        If there is no such column.
    """
    if categorical is None:
        return {}
    place = {label: at for at, label in enumerate(labels)}
    if isinstance(categorical, Mapping):
        return {find(name, place, positions, "categorical"): level for name, level in categorical.items()}
    return dict.fromkeys(find(name, place, positions, "categorical") for name in names_in(categorical))


def complete_rows(columns: Iterable[Column]) -> BoolArray | None:
    """Return which rows have a value in every column; None where there is no column."""
    complete: BoolArray | None = None
    for column in columns:
        present = ~(column.missing if isinstance(column, Factor) else np.isnan(column))
        complete = present if complete is None else complete & present
    return complete


def rows_of(column: Column, chosen: BoolArray) -> Column:
    """Return some rows of a column."""
    return replace(column, codes=column.codes[chosen]) if isinstance(column, Factor) else column[chosen]
