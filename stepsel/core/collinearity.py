"""Collinearity: variance inflation, generalised for terms of several columns, and condition indices.

References
----------
Belsley, Kuh, Welsch (1980), Regression Diagnostics, chapter 3 (condition indices).
Fox and Monette (1992), Generalized collinearity diagnostics, JASA 87 (GVIF).
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from stepsel.core.fits import FloatArray
from stepsel.core.terms import IntArray

# Squared singular values of unit columns below this belong to an exact linear dependence.
NULL_SPACE = 1e-24


def inflation(factor: FloatArray, null_space: float = NULL_SPACE) -> tuple[FloatArray, FloatArray]:
    """Return variance inflation factors and condition indices.

    Parameters
    ----------
    factor : float array of shape (n_rows, n_columns)
        The columns, or the R factor of them, with the intercept swept out and scaled to unit length.
    null_space : float
        Squared singular values at most this count as zero.

    Returns
    -------
    inflation : float array of shape (n_columns,)
        ``1 / (1 - R2)`` of each column on the others; ``inf`` for columns of an exact linear dependence.
    indices : float array of shape (n_columns,)
        Largest singular value over each singular value, ascending; ``inf`` for an exact dependence. The last is the
        condition number.

    Examples
    --------
    >>> vif, indices = inflation(np.array([[1.0, 0.6], [0.0, 0.8]]))
    >>> vif.round(4).tolist(), indices.round(4).tolist()
    ([1.5625, 1.5625], [1.0, 2.0])
    """
    result, indices, _ = _decomposed(factor, null_space)
    return result, indices


def _decomposed(factor: FloatArray, null_space: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what `inflation` does, and a root of the inverse of the correlations, a column each."""
    n_columns = factor.shape[1]
    if n_columns == 0:
        return np.empty(0), np.empty(0), np.empty((0, 0))
    # The right singular vectors of missing rows span the null space; a tall factor has none of those.
    _, values, right = np.linalg.svd(factor, full_matrices=factor.shape[0] < n_columns)
    singular = np.zeros(n_columns)
    singular[: len(values)] = values
    null = singular**2 <= null_space
    root = right[~null] / singular[~null, None]
    result = (root**2).sum(axis=0)
    result[(right[null] ** 2).sum(axis=0) > 1e-8] = np.inf
    with np.errstate(divide="ignore"):
        return result, np.where(null, np.inf, singular[0] / singular), root


def inflation_of_correlation(correlation: FloatArray, groups: Sequence[IntArray] | None = None) -> FloatArray | None:
    """Return the (generalised) variance inflation factors of a correlation matrix; None where it is near singular.

    Parameters
    ----------
    correlation : float array of shape (n_columns, n_columns)
    groups : sequence of int arrays, optional
        The columns of each term; every column by default.
    """
    factor, info = dpotrf(correlation, lower=True, clean=True)
    if info > 0 or factor.diagonal().min(initial=1.0) < 1e-4:
        return None
    inverse, _ = dpotri(factor, lower=True)
    if groups is None:
        return inverse.diagonal().copy()
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    parts = [np.ix_(columns, columns) for columns in groups]
    return np.array([np.linalg.det(correlation[part]) * np.linalg.det(inverse[part]) for part in parts])


def diagnose(
    factor: FloatArray, groups: Sequence[IntArray], null_space: float = NULL_SPACE
) -> tuple[FloatArray, FloatArray]:
    """Return the generalised variance inflation factor of every term, and the condition indices of its columns.

    Parameters
    ----------
    factor, null_space
        As for :func:`inflation`.
    groups : sequence of int arrays
        The columns of each term.

    Returns
    -------
    gvif : float array of shape (n_terms,)
        ``det(R11) det(R22) / det(R)``; the variance inflation factor where a term has one column.
    indices : float array of shape (n_columns,)
        As for :func:`inflation`.
    """
    single, indices, root = _decomposed(factor, null_space)
    result = np.empty(len(groups))
    for at, columns in enumerate(groups):
        if len(columns) == 1:
            result[at] = single[columns[0]]
        elif np.isinf(single[columns]).any():
            result[at] = np.inf
        else:
            # det(R22) / det(R) is the determinant of the block of the inverse.
            result[at] = np.exp(_log_det(factor[:, columns]) + _log_det(root[:, columns]))
    return result, indices


def _log_det(columns: FloatArray) -> float:
    """Return the log determinant of the cross-products of ``columns``."""
    if columns.shape[1] == 0:
        return 0.0
    return 2 * float(np.log(np.linalg.svd(columns, compute_uv=False)).sum())
