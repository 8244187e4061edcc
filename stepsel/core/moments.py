"""One pass over the data: means and centred cross-products."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dsyrk

from stepsel.core.fits import FloatArray
from stepsel.core.terms import BoolArray

# A block of rows of about this many numbers stays in the second-level cache while it is used.
_BLOCK_SIZE = 2**19


@dataclass(frozen=True)
class SufficientStats:
    """What least squares needs of the data.

    The cross-products are about the (weighted) means when ``centred``, about zero otherwise. They are accumulated
    about the mean of the first block of rows, never about zero: that shift lies within a bounded number of
    standard deviations of the mean, so no digits are lost to a large offset.

    Attributes
    ----------
    n_rows : int
    total_weight : float
    mean : float array of shape (n_columns,)
        What the cross-products are about: zero when not ``centred``.
    mean_y : float
    gram : float array of shape (n_columns, n_columns)
        ``sum w (x - mean)(x - mean)'``
    cross : float array of shape (n_columns,)
        ``sum w (x - mean)(y - mean_y)``
    ssy : float
        ``sum w (y - mean_y)^2``
    centred : bool
    """

    n_rows: int
    total_weight: float
    mean: FloatArray
    mean_y: float
    gram: FloatArray
    cross: FloatArray
    ssy: float
    centred: bool

    @property
    def finite(self) -> bool:
        """Whether every number that went in was finite (and no square overflowed)."""
        return bool(np.isfinite(self.gram.diagonal()).all() and np.isfinite(self.ssy))

    @property
    def raw_squares(self) -> FloatArray:
        """``sum w x^2`` of each column, about zero."""
        squares = self.gram.diagonal()
        with np.errstate(over="ignore", invalid="ignore"):
            return squares + self.total_weight * self.mean**2 if self.centred else squares

    @property
    def raw_ssy(self) -> float:
        """``sum w y^2``, about zero."""
        mean = np.float64(self.mean_y)
        with np.errstate(over="ignore", invalid="ignore"):
            return float(self.ssy + self.total_weight * mean * mean) if self.centred else self.ssy


def row_blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Return the row slices by which a matrix is read so that a block stays in cache."""
    size = int(np.clip(_BLOCK_SIZE // max(n_columns, 1), 64, 4096))
    return [slice(begin, min(begin + size, n_rows)) for begin in range(0, n_rows, size)]


def accumulate(
    X: npt.NDArray[np.number], y: FloatArray, weights: FloatArray | None = None, *, centred: bool = True
) -> SufficientStats:
    """Accumulate the cross-products of ``X`` and ``y`` in one pass, block by block.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns), any real dtype
        Read block by block and converted there, so that no float64 copy of it is made.
    y : float array of shape (n_rows,)
    weights : float array of shape (n_rows,), optional
        Positive weights.
    centred : bool
        Whether the model has an intercept.

    Returns
    -------
    SufficientStats
        With ``finite`` False where X or y hold NaN or infinity.

    References
    ----------
    Chan, Golub, LeVeque (1983), Algorithms for computing the sample variance, The American Statistician 37.
    """
    n_rows, n_columns = X.shape
    blocks = row_blocks(n_rows, n_columns)
    shift, shift_y = np.zeros(n_columns), 0.0
    # Overflow and NaN are looked for once, in the result: `SufficientStats.finite`.
    with np.errstate(over="ignore", invalid="ignore"):
        if centred:
            shift, shift_y = X[blocks[0]].mean(axis=0, dtype=float), float(y[blocks[0]].mean())
        buffer = np.empty((blocks[0].stop, n_columns))
        left = np.empty((2, blocks[0].stop))
        gram = np.zeros((n_columns, n_columns), order="F")
        sums = np.zeros((2, n_columns))
        ssy, sum_y, total = 0.0, 0.0, 0.0
        for rows in blocks:
            block, pair = buffer[: rows.stop - rows.start], left[:, : rows.stop - rows.start]
            np.subtract(X[rows], shift, out=block)
            np.subtract(y[rows], shift_y, out=pair[0])
            pair[1] = 1.0
            if weights is not None:
                root = np.sqrt(weights[rows])
                block *= root[:, None]
                pair *= root
            # dsyrk adds into the upper triangle in place: half the arithmetic and no temporary.
            if n_columns:
                gram = dsyrk(1.0, block.T, beta=1.0, c=gram, overwrite_c=True)
            sums += pair @ block
            ssy += pair[0] @ pair[0]
            sum_y += pair[1] @ pair[0]
            total += pair[1] @ pair[1]
        gram = _mirrored(gram)
        cross, column_sums = sums
        if centred:
            gram -= np.multiply.outer(column_sums, column_sums / total)
            cross = cross - column_sums * (sum_y / total)
            ssy -= sum_y**2 / total
    return SufficientStats(
        n_rows=n_rows,
        total_weight=float(total),
        mean=shift + column_sums / total if centred else shift,
        mean_y=float(shift_y + sum_y / total) if centred else 0.0,
        gram=gram,
        cross=cross,
        ssy=float(max(ssy, 0.0)),
        centred=centred,
    )


def _mirrored(upper: FloatArray) -> FloatArray:
    """Return the full symmetric matrix of an upper triangle."""
    full = upper + upper.T
    np.fill_diagonal(full, upper.diagonal())
    return full


def constant_columns(
    X: npt.NDArray[np.number], squares: FloatArray, raw_squares: FloatArray, *, centred: bool
) -> BoolArray:
    """Return which columns hold no information: one single value, or zeros only when not centred.

    Only columns whose spread is within rounding of zero are looked at again, value by value.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
    squares : float array of shape (n_columns,)
        Sums of squares about the mean when ``centred``, else about zero.
    raw_squares : float array of shape (n_columns,)
        Sums of squares about zero.
    centred : bool
    """
    constant = np.zeros(len(squares), dtype=bool)
    for column in np.flatnonzero(~(squares > 1e-24 * raw_squares)):
        low, high = X[:, column].min(), X[:, column].max()
        constant[column] = low == high if centred else low == high == 0
    return constant
