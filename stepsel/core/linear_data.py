"""The rows of a linear selection, measured once: means, sizes, cross-products, and their careful form."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from stepsel.core.fits import FloatArray
from stepsel.core.moments import SufficientStats, accumulate, constant_columns, row_blocks
from stepsel.core.problem import Problem, centred_matrix, triangular_factor
from stepsel.core.terms import BoolArray

# A column whose mean is more standard deviations than this from zero is centred in a copy before it is used.
_LARGEST_OFFSET = 100.0


@dataclass(frozen=True)
class LinearData:
    """The rows that a linear selection is made on.

    Attributes
    ----------
    X : array of shape (n_rows, n_columns), any real dtype
    y : float array of shape (n_rows,)
    weights : float array of shape (n_rows,), optional
        Positive.
    n_obs : float
        Observations that the likelihood and the degrees of freedom count.
    intercept : bool
    log_weights : float
        Constant of the log-likelihood: half the sum of the log weights for analytic weights, else 0.
    """

    X: npt.NDArray[np.number]
    y: FloatArray
    weights: FloatArray | None
    n_obs: float
    intercept: bool
    log_weights: float = 0.0

    @cached_property
    def stats(self) -> SufficientStats:
        """Centred cross-products of the data; only asked for where rows outnumber columns."""
        return accumulate(self.X, self.y, self.weights, centred=self.intercept)

    @cached_property
    def root_weights(self) -> FloatArray | None:
        """Square roots of the weights."""
        return None if self.weights is None else np.sqrt(self.weights)

    @property
    def wide(self) -> bool:
        """Whether columns outnumber rows, so that no cross-product matrix is formed."""
        return self.X.shape[1] >= self.X.shape[0]


@dataclass(frozen=True)
class ColumnScale:
    """Location and size of every column and of the response."""

    mean: FloatArray
    mean_y: float
    squares: FloatArray
    ssy: float
    raw_squares: FloatArray
    raw_ssy: float
    constant: BoolArray

    @property
    def finite(self) -> bool:
        """Whether every value was finite and no square overflowed."""
        return bool(np.isfinite(self.squares).all() and np.isfinite(self.raw_ssy) and np.isfinite(self.ssy))

    @property
    def out_of_range(self) -> BoolArray:
        """Columns whose squares overflow, or underflow so that digits are lost."""
        return ~np.isfinite(self.squares) | (~self.constant & (self.squares < 1e-290))

    @property
    def unit(self) -> FloatArray:
        """What to multiply a column by to give it unit length."""
        return 1 / np.sqrt(np.where(self.constant, 1.0, self.squares))


def column_scale(data: LinearData) -> ColumnScale:
    """Measure the columns of ``data``, from the cross-products or, when wide, in two passes without them."""
    with np.errstate(all="ignore"):  # what is not finite, or leaves the range, shows in the result
        return _measured(data)


def _measured(data: LinearData) -> ColumnScale:
    if not data.wide:
        s = data.stats
        constant = constant_columns(data.X, s.gram.diagonal(), s.raw_squares, centred=s.centred)
        return ColumnScale(s.mean, s.mean_y, s.gram.diagonal(), s.ssy, s.raw_squares, s.raw_ssy, constant)
    return _wide_scale(data)


def _wide_scale(data: LinearData) -> ColumnScale:
    """Measure the columns in two passes, without cross-products and without a centred copy."""
    X, y = data.X, data.y
    weights = np.ones(len(y)) if data.weights is None else data.weights
    total = float(weights.sum())
    mean, mean_y = np.zeros(X.shape[1]), 0.0
    if data.intercept:
        mean, mean_y = np.asarray(weights @ X, dtype=float) / total, float(weights @ y) / total
    raw = np.zeros(len(mean))
    for rows in row_blocks(*X.shape):
        block = np.asarray(X[rows], dtype=float)
        if data.root_weights is not None:
            block = block * data.root_weights[rows, None]
        raw += np.einsum("ij,ij->j", block, block)
    squares = raw - total * mean**2
    # Where the mean takes most of the raw sum of squares away, digits go with it: those columns are centred first.
    offset = np.flatnonzero(~(squares > 0.1 * raw)) if data.intercept else np.empty(0, dtype=np.intp)
    for begin in range(0, len(offset), 64):
        columns = offset[begin : begin + 64]
        centred = X[:, columns] - mean[columns]
        squares[columns] = weights @ centred**2
    centred_y = y - mean_y
    ssy, raw_ssy = float(weights @ centred_y**2), float(weights @ y**2)
    constant = constant_columns(X, squares, raw, centred=data.intercept)
    return ColumnScale(mean, mean_y, squares, ssy, raw, raw_ssy, constant)


def orthogonal_problem(data: LinearData, scale: ColumnScale) -> Problem:
    """Return the problem that the careful state works on: the data themselves when wide, else their R factor."""
    unit = scale.unit
    unit_raw = scale.raw_squares * unit**2
    squares = scale.squares * unit**2
    if data.wide:
        mean, y = scale.mean, data.y - scale.mean_y
        with np.errstate(divide="ignore", invalid="ignore"):
            offset = np.abs(mean) * np.sqrt(len(y)) * unit
        plain = data.weights is None and data.X.dtype == float and offset.max(initial=0.0) < _LARGEST_OFFSET
        if plain and np.isfinite(scale.squares).all():
            return Problem(data.X, y, mean if data.intercept else None, scale.squares, scale.raw_squares, scale.raw_ssy)
        if data.root_weights is not None:
            y = y * data.root_weights
        X = centred_matrix(data.X, mean, data.root_weights, unit)
        return Problem(X, y, None, squares, unit_raw, scale.raw_ssy)

    def blocks() -> Iterator[FloatArray]:
        height = max(4 * data.X.shape[1], 4096)
        for begin in range(0, len(data.y), height):
            rows = slice(begin, begin + height)
            root = None if data.root_weights is None else data.root_weights[rows]
            X = centred_matrix(data.X[rows], scale.mean, root, unit)
            y = data.y[rows] - scale.mean_y
            yield np.column_stack([X, y if root is None else y * root])

    factor = triangular_factor(blocks())
    return Problem(factor[:, :-1], factor[:, -1], None, squares, unit_raw, scale.raw_ssy)
