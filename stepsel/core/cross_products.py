"""The fast states of the linear engine: everything a step needs, read off swept cross-products.

Three forms of the same elimination. Forward selection is a Cholesky factorisation of the cross-products whose
pivots are the terms that enter; backward elimination is that same factorisation of their inverse; a search that
goes both ways sweeps the full matrix. All work on columns scaled to unit length, where the diagonal of what is
left is the tolerance (``1 - R2``) of a column that is out and the negative variance inflation factor of one that
is in. They are used while that diagonal stays well away from zero; `stepsel.core.linear` watches it.

References
----------
Goodnight (1979), A tutorial on the SWEEP operator, The American Statistician 33.
Miller (2002), Subset Selection in Regression, 2nd ed., chapters 2 and 3.
"""

import math
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from stepsel.core.fits import FloatArray
from stepsel.core.terms import IntArray


class BlockChange(NamedTuple):
    """What one term of several columns does to the deviance."""

    change: float
    df: int
    tolerance: float


class State(Protocol):
    """The model that a linear engine stands at."""

    @property
    def rss(self) -> float:
        """Residual sum of squares."""

    @property
    def rank(self) -> int:
        """Number of independent columns in the model."""

    def enter(self, columns: IntArray) -> None:
        """Put the columns of one term into the model."""

    def leave(self, columns: IntArray) -> None:
        """Take the columns of one term out of the model."""

    def addition(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return, for columns that are out, by how much each alone lowers the deviance, and its tolerance."""

    def removal(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return, for columns that are in, by how much each alone raises the deviance, and its tolerance."""

    def block_addition(self, columns: IntArray) -> BlockChange:
        """Return the same for the columns of one term together."""

    def block_removal(self, columns: IntArray) -> BlockChange:
        """Return the same for the columns of one term together."""


class Elimination:
    """Pivoted Cholesky of a symmetric matrix with a right-hand side, one pivot a call, O(k p) each.

    Parameters
    ----------
    matrix : float array of shape (p, p)
        Symmetric, positive definite.
    rhs : float array of shape (p,)
    position : int array of shape (n_columns,), optional
        The row of each column in ``matrix``, when it holds only some.
    """

    def __init__(self, matrix: FloatArray, rhs: FloatArray, position: IntArray | None = None) -> None:
        self._position = np.arange(len(rhs)) if position is None else position
        self._load(matrix, rhs.copy())

    def _load(self, matrix: FloatArray, rhs: FloatArray) -> None:
        self._matrix, self._rhs = matrix, rhs
        self._diagonal = matrix.diagonal().copy()
        self._left = np.ones(len(rhs), dtype=bool)
        self._factor = np.empty((min(max(len(rhs) // 4, 32), 256, len(rhs)), len(rhs)))
        self._rank = 0

    def pivot(self, column: int) -> float:
        """Eliminate ``column``; return the squared size of its component of the right-hand side."""
        at = self._position[column]
        if self._rank == len(self._factor):
            self._make_room()
            at = self._position[column]
        rows = self._factor[: self._rank]
        root = math.sqrt(self._diagonal[at])
        row = self._factor[self._rank]
        np.subtract(self._matrix[at], rows[:, at] @ rows, out=row)
        row /= root
        self._rank += 1
        component = float(self._rhs[at]) / root
        self._rhs -= component * row
        self._diagonal -= row * row
        self._left[at] = False
        return component * component

    def _make_room(self) -> None:
        """Fold the rows into the matrix once that is cheaper than carrying them, else allocate more rows."""
        rows = self._factor[: self._rank]
        if 4 * self._rank < len(self._rhs):
            self._factor = np.vstack([rows, np.empty_like(rows)])
            return
        left = np.flatnonzero(self._left)
        position = np.full(len(self._rhs), -1)
        position[left] = np.arange(len(left))
        self._position = np.where(self._position >= 0, position[self._position], -1)
        rows = rows[:, left]
        self._load(self._matrix[np.ix_(left, left)] - rows.T @ rows, self._rhs[left])

    def changes(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return what a pivot on each of ``columns`` would give, and their diagonal."""
        at = self._position[columns]
        rhs, diagonal = self._rhs[at], self._diagonal[at]
        rhs *= rhs
        rhs /= diagonal
        return rhs, diagonal

    def block(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return right-hand side and matrix of what is left, restricted to ``columns``."""
        at = self._position[columns]
        rows = self._factor[: self._rank, at]
        return self._rhs[at], self._matrix[np.ix_(at, at)] - rows.T @ rows


class ForwardState:
    """Terms only enter: pivoted Cholesky of the cross-products."""

    def __init__(self, gram: FloatArray, cross: FloatArray, ssy: float) -> None:
        self._elimination = Elimination(gram, cross)
        self.rss = ssy
        self.rank = 0

    def enter(self, columns: IntArray) -> None:
        for column in columns:
            self.rss -= self._elimination.pivot(int(column))
            self.rank += 1

    def leave(self, columns: IntArray) -> None:
        raise NotImplementedError("a forward factorisation cannot take a column out")

    def addition(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 for a column in the span of the model
            return self._elimination.changes(columns)

    def removal(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        raise NotImplementedError("a forward factorisation cannot take a column out")

    def block_addition(self, columns: IntArray) -> BlockChange:
        return _block_change(*self._elimination.block(columns))

    def block_removal(self, columns: IntArray) -> BlockChange:
        raise NotImplementedError("a forward factorisation cannot take a column out")


class BackwardState:
    """Terms only leave: the same pivoted Cholesky, of the inverse of the cross-products.

    The diagonal of what is left of the inverse is the variance inflation factor of each column in the model.
    """

    def __init__(self, gram: FloatArray, cross: FloatArray, ssy: float, columns: IntArray) -> None:
        n_columns = len(cross)
        if len(columns) < n_columns or not np.array_equal(columns, np.arange(n_columns)):
            gram, cross = gram[np.ix_(columns, columns)], cross[columns]
        inverse, coefficients = _inverse(gram, cross)
        position = np.full(n_columns, -1)
        position[columns] = np.arange(len(columns))
        self._elimination = Elimination(inverse, coefficients, position)
        self.rss = ssy - float(coefficients @ cross)
        self.rank = len(columns)

    def enter(self, columns: IntArray) -> None:
        raise NotImplementedError("a backward factorisation cannot put a column in")

    def leave(self, columns: IntArray) -> None:
        for column in columns:
            self.rss += self._elimination.pivot(int(column))
            self.rank -= 1

    def addition(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        raise NotImplementedError("a backward factorisation cannot put a column in")

    def removal(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        losses, inflation = self._elimination.changes(columns)
        return losses, 1 / inflation

    def block_addition(self, columns: IntArray) -> BlockChange:
        raise NotImplementedError("a backward factorisation cannot put a column in")

    def block_removal(self, columns: IntArray) -> BlockChange:
        rhs, block = self._elimination.block(columns)
        return _block_change(rhs, block)._replace(tolerance=float(1 / block.diagonal().max()))


class SweepState:
    """Terms enter and leave: the symmetric sweep of cross-products and response, O(p^2) a move."""

    def __init__(self, gram: FloatArray, cross: FloatArray, ssy: float) -> None:
        p = len(cross)
        self._swept = np.empty((p + 1, p + 1), order="F")
        self._swept[:p, :p] = gram
        self._swept[:p, p] = self._swept[p, :p] = cross
        self._swept[p, p] = ssy
        self.rank = 0

    @property
    def rss(self) -> float:
        return float(self._swept[-1, -1])

    def _sweep(self, column: int, sign: float) -> None:
        pivot = float(self._swept[column, column])
        line = self._swept[:, column].copy()
        self._swept = dger(-1.0 / pivot, line, line, a=self._swept, overwrite_a=True)
        line *= sign / pivot
        self._swept[:, column] = line
        self._swept[column, :] = line
        self._swept[column, column] = -1.0 / pivot

    def enter(self, columns: IntArray) -> None:
        for column in columns:
            self._sweep(int(column), 1.0)
            self.rank += 1

    def leave(self, columns: IntArray) -> None:
        for column in columns:
            self._sweep(int(column), -1.0)
            self.rank -= 1

    def _changes(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        diagonal = np.abs(self._swept.diagonal()[columns])
        with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 for a column in the span of the model
            return self._swept[columns, -1] ** 2 / diagonal, diagonal

    def addition(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        return self._changes(columns)

    def removal(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        losses, inflation = self._changes(columns)
        return losses, 1 / inflation

    def block_addition(self, columns: IntArray) -> BlockChange:
        return _block_change(self._swept[columns, -1], self._swept[np.ix_(columns, columns)])

    def block_removal(self, columns: IntArray) -> BlockChange:
        block = -self._swept[np.ix_(columns, columns)]
        change = _block_change(self._swept[columns, -1], block)
        return change._replace(tolerance=float(1 / block.diagonal().max()))


def _block_change(rhs: FloatArray, block: FloatArray) -> BlockChange:
    """Solve a small positive definite system: ``rhs' block^-1 rhs``, with the smallest pivot as tolerance."""
    factor, info = dpotrf(block, lower=True)
    if info > 0:
        return BlockChange(math.nan, len(rhs), 0.0)
    solution, _ = dpotrs(factor, rhs, lower=True)
    return BlockChange(float(rhs @ solution), len(rhs), float(factor.diagonal().min() ** 2))


def _inverse(gram: FloatArray, cross: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return inverse and solution of the normal equations; an infinite diagonal where they are singular."""
    if not len(cross):
        return gram, cross
    factor, info = dpotrf(gram, lower=True, clean=True)
    if info > 0:
        return np.full_like(gram, np.inf), np.zeros_like(cross)
    solution, _ = dpotrs(factor, cross, lower=True)
    lower, _ = dpotri(factor, lower=True, overwrite_c=True)
    inverse = lower + lower.T
    np.fill_diagonal(inverse, lower.diagonal())
    return inverse, solution
