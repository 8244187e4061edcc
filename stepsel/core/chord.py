"""All neighbours of one model at once: chord steps that share its information matrix."""

import numpy as np
import numpy.typing as npt

from stepsel.core.fits import FloatArray
from stepsel.core.likelihoods import Likelihood
from stepsel.core.newton import Optimum, inverse_information
from stepsel.core.terms import IntArray

# Linear predictors of candidates are held in blocks of about this many numbers: a megabyte, which stays in cache.
BLOCK = 2**17
# A candidate is settled when the decrement of its chord step is below this: half of it is added to its log-likelihood,
# and what is left of the error is of higher order.
_SETTLED = 1e-9
_MOST_STEPS = 12
# Below this share of its size, what the model leaves of a candidate is formed anew from explicit residuals.
_RECOMPUTE = 1e-4


class Here:
    """The model at hand: inverse information, and what it says of candidates.

    Parameters
    ----------
    likelihood : Likelihood
    Z : float array of shape (k, n_rows)
    optimum : Optimum
    largest, largest_of_model : float arrays of shape (p,) and (k,)
        Largest absolute entry of every column of the data, and of every row of ``Z``.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        Z: FloatArray,
        optimum: Optimum,
        largest: FloatArray,
        largest_of_model: FloatArray,
    ) -> None:
        self.likelihood, self.Z, self.optimum = likelihood, Z, optimum
        self.largest, self.largest_of_model = largest, largest_of_model
        self.curvature = likelihood.curvature_of(optimum)
        self.inverse = inverse_information(optimum.information)
        # Where directions without information were left out, nothing is bounded.
        self.regular = _is_regular(self.inverse)

    def score_pass(self, X: FloatArray, columns: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return, for some columns, their loadings on the model (k, m), the information they add, and their gradients.

        The pass over the data takes all columns along: that is faster than to gather some.
        """
        cross, squares = self.curvature.cross(self.Z, X)
        cross, squares = cross[:, columns], squares[columns]
        loadings = self.inverse @ cross
        left = squares - np.einsum("ij,ij->j", cross, loadings)
        gradient = (self.optimum.residual @ X)[columns]
        doubtful = np.flatnonzero(~(left > _RECOMPUTE * squares))
        for begin in range(0, len(doubtful), 64):
            at = doubtful[begin : begin + 64]
            left[at], gradient[at], loadings[:, at] = self._careful(X, columns[at], loadings[:, at])
        return loadings, left, gradient

    def _careful(
        self, X: FloatArray, columns: IntArray, loadings: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Project twice, and measure what is left of the columns themselves."""
        left = X[:, columns].T - loadings.T @ self.Z
        again = self.inverse @ self.curvature.inner(self.Z, left)
        left -= again.T @ self.Z
        sizes = np.array([float(self.curvature.inner(row[None], row[None])[0, 0]) for row in left])
        return np.maximum(sizes, np.finfo(float).tiny), left @ self.optimum.residual, loadings + again

    def scores(self, X: FloatArray, columns: IntArray) -> FloatArray:
        """Return the score statistics of single columns."""
        _, left, gradient = self.score_pass(X, columns)
        return gradient**2 / left

    def joint_score(self, block: FloatArray) -> float:
        """Return the score statistic of several columns (stored as rows) together."""
        left = block
        for _ in range(2):
            left = left - (self.inverse @ self.curvature.inner(self.Z, left)).T @ self.Z
        gradient = left @ self.optimum.residual
        return float(gradient @ np.linalg.solve(self.curvature.gram(left), gradient))

    def joint_wald(self, rows: IntArray) -> float:
        """Return the Wald statistic of several rows of ``Z`` together."""
        beta = self.optimum.beta[rows]
        return float(beta @ np.linalg.solve(self.inverse[np.ix_(rows, rows)], beta))


def _is_regular(inverse: FloatArray) -> bool:
    size = np.sqrt(inverse.diagonal())
    if not (np.isfinite(size) & (size > 0)).all():
        return False
    try:
        pivots = np.linalg.cholesky(inverse / np.multiply.outer(size, size)).diagonal()
    except np.linalg.LinAlgError:
        return False
    return bool(pivots.min(initial=1.0) > 1e-5)


def added_together(here: Here, X: FloatArray, columns: IntArray) -> FloatArray:
    """Return the likelihood ratio of each column added alone; NaN where the chord steps did not settle.

    Parameters
    ----------
    here : Here
    X : float array of shape (n_rows, p)
    columns : int array of shape (m,)

    Returns
    -------
    float array of shape (m,)
    """
    loadings, left, gradient = here.score_pass(X, columns)
    result = np.empty(len(columns))
    height = max(1, BLOCK // len(X))
    for begin in range(0, len(columns), height):
        at = slice(begin, begin + height)
        left_over = X[:, columns[at]].T - loadings[:, at].T @ here.Z
        result[at] = _chord(here, left_over, left[at], (gradient[at] / left[at])[:, None] * left_over)
    return result


def _chord(here: Here, left_over: FloatArray, left: FloatArray, shift: FloatArray) -> FloatArray:
    """Take chord steps for candidates whose columns, orthogonal to the model, are ``left_over``."""
    base, Z = here.optimum, here.Z
    result = np.full(len(left), np.nan)
    at, last = np.arange(len(left)), np.full(len(left), -np.inf)
    eta = base.eta + shift
    with np.errstate(over="ignore", invalid="ignore"):  # what overshoots is left to a fit of its own
        for _ in range(_MOST_STEPS):
            loglik, residual = here.likelihood.evaluate(eta)
            gradient = residual @ Z.T
            on_model = gradient @ here.inverse
            on_own = np.einsum("ij,ij->i", left_over, residual) / left
            decrement = np.einsum("ij,ij->i", gradient, on_model) + on_own**2 * left
            settled = _settled(eta, base.eta, decrement)
            result[at[settled]] = 2 * (loglik - base.loglik)[settled] + decrement[settled]
            going = ~settled & np.isfinite(decrement) & (loglik >= last)
            if not going.any():
                break
            if not going.all():
                at, left_over, left, eta = at[going], left_over[going], left[going], eta[going]
                on_model, on_own, loglik = on_model[going], on_own[going], loglik[going]
            eta += on_own[:, None] * left_over
            eta += on_model @ Z
            last = loglik
    return result


def _settled(eta: FloatArray, base: FloatArray, decrement: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether what is left to gain is below rounding.

    The decrement is measured in the information of the model at hand. Where a candidate has moved by d since, its own
    information may be smaller by a factor of exp(d), and what is left to gain larger.
    """
    small = np.flatnonzero(np.abs(decrement) < _SETTLED)
    result = np.zeros(len(decrement), dtype=bool)
    moved = np.abs(eta[small] - base).max(axis=1, initial=0.0)
    result[small] = np.abs(decrement[small]) * np.exp(moved) < _SETTLED
    return result


def removed_together(here: Here, X: FloatArray, rows: IntArray) -> FloatArray:
    """Return the likelihood ratio of each row of the design removed alone; NaN where the steps did not settle.

    Parameters
    ----------
    here : Here
    X : float array
        Not used: a removal needs the design of the model only.
    rows : int array of shape (m,)
        Rows of ``here.Z``.
    """
    base, Z, inverse = here.optimum, here.Z, here.inverse
    result = np.full(len(rows), np.nan)
    height = max(1, BLOCK // Z.shape[1])
    for begin in range(0, len(rows), height):
        at = np.arange(begin, min(begin + height, len(rows)))
        last = np.full(len(at), -np.inf)
        eta = constrained(here, rows[at]) @ Z
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(_MOST_STEPS):
                loglik, residual = here.likelihood.evaluate(eta)
                gradient = residual @ Z.T
                step = _within(gradient @ inverse, inverse, rows[at])
                decrement = np.einsum("ij,ij->i", gradient, step)
                settled = _settled(eta, base.eta, decrement)
                result[at[settled]] = (2 * (base.loglik - loglik) - decrement)[settled]
                going = ~settled & np.isfinite(decrement) & (loglik >= last)
                if not going.any():
                    break
                at, eta, last = at[going], eta[going] + step[going] @ Z, loglik[going]
    return result


def constrained(here: Here, rows: IntArray) -> FloatArray:
    """Return the coefficients of the model moved, within the quadratic approximation, to a zero in each of ``rows``."""
    beta = np.broadcast_to(here.optimum.beta, (len(rows), len(here.optimum.beta)))
    return _within(beta, here.inverse, rows)


def _within(steps: FloatArray, inverse: FloatArray, rows: IntArray) -> FloatArray:
    """Project steps, one a row of the result, onto those that leave coefficient ``rows`` at zero."""
    own = steps[np.arange(len(rows)), rows] / inverse[rows, rows]
    result = steps - own[:, None] * inverse[rows]
    result[np.arange(len(rows)), rows] = 0.0
    return result
