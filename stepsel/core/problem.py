"""A least-squares problem with the intercept projected out, and the QR that compresses one."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from stepsel.core.fits import FloatArray
from stepsel.core.terms import IntArray, RealMatrix


@dataclass(frozen=True)
class Problem:
    """A least-squares problem without intercept, the intercept having been projected out.

    Attributes
    ----------
    X : float array of shape (n_rows, n_columns)
    y : float array of shape (n_rows,)
        Centred where the model has an intercept.
    mean : float array of shape (n_columns,), optional
        Given when X itself is not centred: what to subtract from a column to centre it.
    squares : float array of shape (n_columns,)
        Sum of squares of each centred column.
    raw_squares : float array of shape (n_columns,)
        Sum of squares of each column before centring, in the same scale.
    raw_ssy : float
        Sum of squares of the response before centring.
    """

    X: RealMatrix
    y: FloatArray
    mean: FloatArray | None
    squares: FloatArray
    raw_squares: FloatArray
    raw_ssy: float

    def columns(self, chosen: IntArray) -> FloatArray:
        """Return centred columns, shape (n_rows, n_chosen)."""
        block = np.asarray(self.X[:, chosen], dtype=float)
        return block if self.mean is None else block - self.mean[chosen]


def centred_matrix(X: RealMatrix, mean: FloatArray, root_weights: FloatArray | None, scale: FloatArray) -> FloatArray:
    """Return ``sqrt(w) (X - mean) scale`` as a new float64 array."""
    Z = np.subtract(X, mean, dtype=float)
    Z *= scale
    if root_weights is not None:
        Z *= root_weights[:, None]
    return Z


def triangular_factor(blocks: Iterable[FloatArray]) -> FloatArray:
    """Return R of the QR factorisation of stacked row blocks, read one after the other.

    References
    ----------
    Demmel, Grigori, Hoemmen, Langou (2012), Communication-optimal parallel and sequential QR and LU
    factorizations, SIAM Journal on Scientific Computing 34.
    """
    factor: FloatArray | None = None
    for block in blocks:
        stacked = block if factor is None else np.vstack([factor, block])
        factor = np.asarray(np.linalg.qr(stacked, mode="r"))
    if factor is None:
        raise ValueError("no rows to factor")
    return factor
