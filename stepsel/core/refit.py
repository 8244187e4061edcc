"""The reported fit: QR of the selected columns, refined on the data."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from stepsel.core.fits import FloatArray
from stepsel.core.moments import row_blocks
from stepsel.core.problem import centred_matrix, triangular_factor


@dataclass(frozen=True)
class Coefficients:
    """Estimated coefficients.

    Attributes
    ----------
    params : float array of shape (n_params,)
        The intercept first where there is one, then the columns in input order.
    covariance : float array of shape (n_params, n_params)
        Their estimated covariance.
    df_resid : float
        Degrees of freedom of their t distribution; inf for the normal.
    """

    params: FloatArray
    covariance: FloatArray
    df_resid: float


@dataclass(frozen=True)
class LeastSquares:
    """A least-squares fit.

    Attributes
    ----------
    params : float array of shape (n_params,)
        The intercept first where there is one.
    covariance : float array of shape (n_params, n_params)
        Inverse of the cross-products; times the residual mean square it is the covariance of ``params``.
    rss : float
        (Weighted) residual sum of squares, summed over explicit residuals.
    """

    params: FloatArray
    covariance: FloatArray
    rss: float


def least_squares(
    X: npt.NDArray[np.number], y: FloatArray, weights: FloatArray | None, *, intercept: bool
) -> LeastSquares:
    """Fit by QR on centred and scaled columns, with two steps of iterative refinement.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Columns that are not aliased.
    y : float array of shape (n_rows,)
    weights : float array of shape (n_rows,), optional
    intercept : bool

    Returns
    -------
    LeastSquares

    References
    ----------
    Bjorck (1987), Stability analysis of the method of seminormal equations, Linear Algebra and its Applications 88.

    Examples
    --------
    >>> fit = least_squares(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]), None, intercept=True)
    >>> fit.params.round(12).tolist()
    [1.0, 2.0]
    """
    n_columns = X.shape[1]
    total = float(len(y)) if weights is None else float(weights.sum())
    mean, mean_y = _means(X, y, weights, total) if intercept else (np.zeros(n_columns), 0.0)
    root = None if weights is None else np.sqrt(weights)
    blocks = row_blocks(len(y), n_columns)

    def block(rows: slice, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
        roots = None if root is None else root[rows]
        target = y[rows] - mean_y
        return centred_matrix(X[rows], mean, roots, scale), target if roots is None else target * roots

    largest = np.zeros(n_columns)
    for rows in blocks:
        largest = np.maximum(largest, np.abs(X[rows] - mean).max(axis=0, initial=0.0))
    scale = 1 / np.where(largest > 0, largest, 1.0)
    factor = triangular_factor(block(rows, scale)[0] for rows in blocks)
    factor = factor[:n_columns]
    slopes, rss = np.zeros(n_columns), 0.0
    for refinement in range(4):  # solve, refine twice, and a last pass for the residuals
        gradient, rss = np.zeros(n_columns), 0.0
        for rows in blocks:
            Z, target = block(rows, scale)
            residual = target - Z @ slopes
            gradient += residual @ Z
            rss += float(residual @ residual)
        if n_columns and refinement < 3:
            slopes = slopes + solve_triangular(factor, solve_triangular(factor, gradient, trans="T"))
    inverse = solve_triangular(factor, np.eye(n_columns)) * scale[:, None] if n_columns else np.empty((0, 0))
    covariance, params = inverse @ inverse.T, slopes * scale
    if intercept:
        shared = covariance @ mean
        corner = np.array([[1 / total + mean @ shared]])
        covariance = np.block([[corner, -shared[None, :]], [-shared[:, None], covariance]])
        params = np.concatenate([[mean_y - mean @ params], params])
    return LeastSquares(params, covariance, rss)


def _means(
    X: npt.NDArray[np.number], y: FloatArray, weights: FloatArray | None, total: float
) -> tuple[FloatArray, float]:
    """Return the means in two passes: the second takes away what rounding left of the first."""
    w = np.ones(len(y)) if weights is None else weights
    mean, mean_y = np.zeros(X.shape[1]), 0.0
    for _ in range(2):
        rest = np.zeros(len(mean))
        for rows in row_blocks(*X.shape):
            rest += w[rows] @ np.subtract(X[rows], mean, dtype=float)
        mean = mean + rest / total
        mean_y += float(w @ (y - mean_y)) / total
    return mean, mean_y
