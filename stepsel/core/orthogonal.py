"""The careful state of the linear engine: an orthonormal basis of the model, explicit residuals.

Used where cross-products would lose digits: nearly aliased columns, residuals that are tiny beside the response,
and more columns than rows, where it needs no p x p matrix. Every quantity that cancellation would spoil is formed
from vectors that were orthogonalised explicitly, twice.

References
----------
Bjorck (1996), Numerical Methods for Least Squares Problems, chapter 2 (reorthogonalisation).
Chen, Billings, Luo (1989), Orthogonal least squares methods, International Journal of Control 50.
"""

import numpy as np
from scipy.linalg import solve_triangular

from stepsel.core.cross_products import BlockChange
from stepsel.core.fits import FloatArray
from stepsel.core.problem import Problem
from stepsel.core.terms import IntArray

_EPS = float(np.finfo(float).eps)
# A tolerance or a share of the deviance below this is formed anew from explicit residuals: the updated value has
# lost three of its sixteen digits.
_RECOMPUTE = 1e-3
# A column (or a response) that a model leaves with less than this share of its own size is rounding noise.
_NOISE = 100 * _EPS


class OrthogonalState:
    """Orthonormal basis of the active columns, by columns that enter one after the other.

    Parameters
    ----------
    problem : Problem
    tolerance : float
        A column whose ``1 - R2`` on the model is at most this is aliased with it.
    columns : int array
        The columns of the model to start at.
    """

    def __init__(self, problem: Problem, tolerance: float, columns: IntArray) -> None:
        self._problem = problem
        self._alias_limit = np.maximum(tolerance, noise_share(problem))
        # What is nearly aliased, or may be, is measured before it is judged.
        self._doubtful = max(_RECOMPUTE, 2 * tolerance)
        self.perfect = False
        self._basis, self._factor = np.empty((0, len(problem.y))), np.zeros((0, 0))
        self._rebuild(columns)

    # The model ------------------------------------------------------------------------------------------------

    def _rebuild(self, columns: IntArray) -> None:
        """Factor the model of ``columns`` from scratch; those that are aliased are left out of the basis."""
        problem = self._problem
        self._members = list(columns)
        basis, factor, inside = _independent(problem, columns, self._alias_limit)
        self._columns = list(inside)
        self._capacity_for(len(inside) + 8)
        k = len(inside)
        self._basis[:k] = basis.T
        self._factor[:k, :k] = factor
        self._components = list(basis.T @ problem.y)
        residual = problem.y - basis @ np.asarray(self._components)
        self._residual = residual - basis @ (basis.T @ residual)
        projected = self._basis[:k] @ problem.X
        self._cross = self._residual @ problem.X
        self._squares = np.maximum(problem.squares - np.einsum("ij,ij->j", projected, projected), 0.0)
        self._aliased = np.zeros(len(problem.squares), dtype=bool)
        self._measure()

    def _capacity_for(self, rank: int) -> None:
        basis, factor = np.empty((rank, len(self._problem.y))), np.zeros((rank, rank))
        k = min(rank, len(self._basis))
        basis[:k], factor[:k, :k] = self._basis[:k], self._factor[:k, :k]
        self._basis, self._factor = basis, factor

    @property
    def rank(self) -> int:
        """Number of independent columns in the model."""
        return len(self._columns)

    @property
    def deficient(self) -> bool:
        """Whether some columns of the model are aliased with others of it."""
        return len(self._columns) < len(self._members)

    @property
    def basis_columns(self) -> IntArray:
        """The independent columns of the model."""
        return np.asarray(self._columns, dtype=np.intp)

    def coefficients(self) -> FloatArray:
        """Return the coefficients of `basis_columns`."""
        k = self.rank
        return solve_triangular(self._factor[:k, :k], np.asarray(self._components)) if k else np.empty(0)

    def _measure(self) -> None:
        """Set the deviance, never below what rounding of the data alone would leave."""
        rss, floor = float(self._residual @ self._residual), 0.0
        if rss <= 1e-12 * self._problem.raw_ssy:
            fitted = float(self.coefficients() ** 2 @ self._problem.raw_squares[self.basis_columns])
            floor = rounding_floor(self._problem.raw_ssy + fitted)
        self.floor = floor
        self.perfect = rss <= floor
        self.rss = max(rss, floor)

    def enter(self, columns: IntArray) -> None:
        """Put the columns of one term into the model; columns that are aliased stay out of the basis."""
        for column in columns:
            self._members.append(column)
            self._enter(int(column))
        self._measure()

    def _enter(self, column: int) -> None:
        problem, k = self._problem, self.rank
        basis = self._basis[:k]
        vector = problem.columns(np.array([column]))[:, 0]
        loadings = np.zeros(k)
        for _ in range(2):
            shares = basis @ vector
            vector = vector - shares @ basis
            loadings += shares
        left = float(vector @ vector)
        if left <= self._alias_limit[column] * problem.squares[column]:
            return
        if problem.mean is not None:
            vector -= vector.mean()
        norm = np.sqrt(vector @ vector)
        vector /= norm
        if k == len(self._basis):
            self._capacity_for(2 * k + 8)
        self._basis[k] = vector
        self._factor[:k, k], self._factor[k, k] = loadings, norm
        component = float(vector @ self._residual)
        self._columns.append(column)
        self._components.append(component)
        self._residual = self._residual - component * vector
        correlations = vector @ problem.X
        self._squares -= correlations * correlations
        correlations *= component
        self._cross -= correlations
        if self._residual @ self._residual < _RECOMPUTE * (problem.y @ problem.y):
            basis = self._basis[: k + 1]
            self._residual -= (basis @ self._residual) @ basis
            self._cross = self._residual @ problem.X

    def leave(self, columns: IntArray) -> None:
        """Take the columns of one term out of the model."""
        gone = set(columns.tolist())
        self._rebuild(np.array([c for c in self._members if c not in gone], dtype=np.intp))

    # Its neighbours -------------------------------------------------------------------------------------------

    def addition(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return what each of ``columns`` alone would gain, and its tolerance (0 where it is aliased)."""
        squares, left = self._problem.squares[columns], self._squares[columns]
        tolerance = left / squares
        low = tolerance < self._doubtful
        gains = self._cross[columns]
        gains *= gains
        if low.any():
            self._remeasure(columns[low])
            left, aliased = self._squares[columns], self._aliased[columns]
            gains = np.where(aliased, 0.0, self._cross[columns] ** 2 / np.where(aliased, 1.0, left))
            tolerance = np.where(aliased, 0.0, left / squares)
        else:
            gains /= left
        if self.rss - gains.max(initial=0.0) < _RECOMPUTE**2 * self.rss:
            self._sharpen(columns, gains)
            gains = np.minimum(gains, max(self.rss - self.floor, 0.0))
        return gains, tolerance

    def _remeasure(self, columns: IntArray) -> None:
        """Form anew, from explicit residuals, what the model leaves of columns that it nearly spans."""
        columns = columns[~self._aliased[columns]]
        if not len(columns):
            return
        left = self._project_out(columns)
        self._squares[columns] = np.einsum("ij,ij->j", left, left)
        self._cross[columns] = self._residual @ left
        limit = self._alias_limit[columns] * self._problem.squares[columns]
        self._aliased[columns] = self._squares[columns] <= limit

    def _sharpen(self, columns: IntArray, gains: FloatArray) -> None:
        """Form the deviance that is left explicitly where a column explains nearly all of it."""
        for at in np.flatnonzero(self.rss - gains < _RECOMPUTE**2 * self.rss):
            vector = self._project_out(columns[at : at + 1])[:, 0]
            residual = self._residual - (vector @ self._residual) / (vector @ vector) * vector
            gains[at] = self.rss - residual @ residual

    def _project_out(self, columns: IntArray) -> FloatArray:
        """Return what the model leaves of ``columns``, shape (n_rows, n_columns)."""
        left = self._problem.columns(columns)
        basis = self._basis[: self.rank]
        for _ in range(2):
            left = left - basis.T @ (basis @ left)
        return left

    def block_addition(self, columns: IntArray) -> BlockChange:
        """Return what the columns of one term gain together; its rank is what it adds to the model."""
        left = self._project_out(columns)
        scale = np.sqrt(self._problem.squares[columns])
        inside: list[FloatArray] = []
        tolerances = []
        for at, column in enumerate(columns):
            vector = left[:, at]
            for _ in range(2):
                for unit in inside:
                    vector = vector - (unit @ vector) * unit
            share = float(vector @ vector) / scale[at] ** 2
            if share > self._alias_limit[column]:
                tolerances.append(share)
                inside.append(vector / np.linalg.norm(vector))
        if not inside:
            return BlockChange(0.0, 0, 0.0)
        components = np.array([unit @ self._residual for unit in inside])
        gain = min(float(components @ components), max(self.rss - self.floor, 0.0))
        return BlockChange(gain, len(inside), min(tolerances))

    def _inverse_rows(self) -> FloatArray:
        k = self.rank
        return solve_triangular(self._factor[:k, :k], np.eye(k))

    def removal(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return what each of ``columns`` alone would lose, and its tolerance."""
        position = {column: at for at, column in enumerate(self._columns)}
        rows = self._inverse_rows()[[position[column] for column in columns]]
        squares = np.einsum("ij,ij->i", rows, rows)
        losses = (rows @ np.asarray(self._components)) ** 2 / squares
        return losses, 1 / (squares * self._problem.squares[columns])

    def block_removal(self, columns: IntArray) -> BlockChange:
        """Return what the columns of one term lose together; its rank is what the model loses."""
        if self.deficient:
            return self._refitted_removal(columns)
        position = {column: at for at, column in enumerate(self._columns)}
        rows = self._inverse_rows()[[position[column] for column in columns]]
        # Minimum-norm reading: the loss is the squared length of the response's component in the row space.
        basis = np.linalg.qr(rows.T)[0]
        components = basis.T @ np.asarray(self._components)
        squares = np.einsum("ij,ij->i", rows, rows) * self._problem.squares[columns]
        return BlockChange(float(components @ components), len(columns), float(1 / squares.max()))

    def _refitted_removal(self, columns: IntArray) -> BlockChange:
        """Refit without a term: columns that its presence made redundant come back into the basis."""
        gone = set(columns.tolist())
        rest = np.array([c for c in self._members if c not in gone], dtype=np.intp)
        basis, _, inside = _independent(self._problem, rest, self._alias_limit)
        residual = self._problem.y - basis @ (basis.T @ self._problem.y)
        residual = residual - basis @ (basis.T @ residual)
        change = max(float(residual @ residual) - self.rss, 0.0)
        own = [at for at, column in enumerate(self._columns) if column in gone]
        squares = np.einsum("ij,ij->i", self._inverse_rows(), self._inverse_rows())
        inflation = squares * self._problem.squares[self._columns]
        tolerance = float(1 / inflation[own].max()) if own else 0.0
        return BlockChange(change, self.rank - len(inside), tolerance)


def rounding_floor(raw_squares: float) -> float:
    """Return the residual sum of squares that rounding alone may leave of numbers with this sum of squares."""
    return max(_NOISE**2 * raw_squares, float(np.finfo(float).tiny))


def noise_share(problem: Problem) -> FloatArray:
    """Return the share of each column's sum of squares that rounding of its values alone may leave."""
    return _NOISE**2 * problem.raw_squares / np.where(problem.squares > 0, problem.squares, np.inf)


def _independent(
    problem: Problem, columns: IntArray, alias_limit: FloatArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return an orthonormal basis of ``columns``, its triangular factor, and the columns that span it.

    A column that is aliased with those before it is left out.
    """
    inside = np.asarray(columns, dtype=np.intp)
    while True:
        head = inside[: len(problem.y)]  # no more can be independent; those behind come up when one is taken out
        basis, factor = np.linalg.qr(problem.columns(head))
        shares = factor.diagonal() ** 2 / problem.squares[head]
        aliased = np.flatnonzero(shares <= alias_limit[head])
        if not len(aliased):
            return basis, factor, head
        # Behind the first aliased column the factorisation speaks of a basis with a noise direction in it: take
        # that column out and look again.
        inside = np.delete(inside, aliased[0])
