"""Tail probabilities on the log scale, exact past the point where the probability itself underflows."""

import numpy as np
import numpy.typing as npt
from scipy import special

FloatArray = npt.NDArray[np.float64]

# Below this the plain probability has lost digits to gradual underflow.
_SMALLEST_SAFE = 1e-290


def f_tail(statistic: npt.ArrayLike, df: npt.ArrayLike, df_resid: npt.ArrayLike) -> FloatArray:
    """Return P(F > statistic) for an F distribution with ``df`` and ``df_resid`` degrees of freedom.

    Parameters
    ----------
    statistic, df, df_resid : array_like
        Broadcast against each other.

    Returns
    -------
    ndarray
        The upper tail; 0 where it underflows.

    Examples
    --------
    >>> float(f_tail(4.0, 1, 20).round(4))
    0.0593
    """
    statistic, df, df_resid = np.broadcast_arrays(
        np.asarray(statistic, float), np.asarray(df, float), np.asarray(df_resid, float)
    )
    with np.errstate(invalid="ignore", over="ignore"):
        share = df_resid / (df_resid + df * statistic)
    return np.asarray(special.betainc(df_resid / 2, df / 2, np.where(np.isinf(statistic), 0.0, share)), dtype=float)


def log_f_tail(statistic: npt.ArrayLike, df: npt.ArrayLike, df_resid: npt.ArrayLike) -> FloatArray:
    """Return log P(F > statistic), finite where the probability underflows to zero.

    Past the underflow the regularised incomplete beta function is evaluated as its prefactor on the log scale
    times its continued fraction.

    Parameters
    ----------
    statistic, df, df_resid : array_like
        Broadcast against each other.

    Returns
    -------
    ndarray
        Natural logarithm of the upper tail, ``-inf`` only for an infinite statistic.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 8.17.22 (continued fraction of the incomplete beta function).

    Examples
    --------
    >>> float(log_f_tail(1e5, 1, 2000).round(2))
    -3935.84
    """
    p = f_tail(statistic, df, df_resid)
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    small = p < _SMALLEST_SAFE
    if small.any():
        statistic, df, df_resid = (
            np.broadcast_to(np.asarray(a, float), p.shape)[small] for a in (statistic, df, df_resid)
        )
        log_p = np.array(log_p)
        log_p[small] = _log_beta_tail(df_resid / 2, df / 2, df * statistic / df_resid)
    return log_p


def _log_beta_tail(a: FloatArray, b: FloatArray, odds: FloatArray) -> FloatArray:
    """Return log I_x(a, b) at ``x = 1 / (1 + odds)``, for x below the mean of the beta distribution."""
    log_x = -np.log1p(odds)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_1_x = np.where(np.isinf(odds), 0.0, np.log(odds) - np.log1p(odds))
    front = a * log_x + b * log_1_x - np.log(a) - special.betaln(a, b)
    return front + np.log(_beta_fraction(a, b, np.exp(log_x)))


def _beta_fraction(a: FloatArray, b: FloatArray, x: FloatArray) -> FloatArray:
    """Evaluate the continued fraction of the incomplete beta function (modified Lentz)."""
    tiny = 1e-300
    c = np.ones_like(x)
    d = 1 / _away_from_zero(1 - (a + b) * x / (a + 1), tiny)
    value = d.copy()
    for m in range(1, 2000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + numerator * d, tiny)
            c = _away_from_zero(1 + numerator / c, tiny)
            factor = c * d
            value = value * factor
        if np.all(np.abs(factor - 1) < 1e-15):
            break
    return value


def _away_from_zero(value: FloatArray, tiny: float) -> FloatArray:
    return np.where(np.abs(value) < tiny, tiny, value)


def chi2_tail(statistic: npt.ArrayLike, df: npt.ArrayLike) -> FloatArray:
    """Return P(chi-square > statistic); 0 where it underflows.

    Examples
    --------
    >>> float(chi2_tail(3.841459, 1).round(4))
    0.05
    """
    return np.asarray(special.chdtrc(np.asarray(df, float), np.maximum(np.asarray(statistic, float), 0.0)), dtype=float)


def log_chi2_tail(statistic: npt.ArrayLike, df: npt.ArrayLike) -> FloatArray:
    """Return log P(chi-square > statistic), finite where the probability underflows to zero.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 8.9.2 (continued fraction of the incomplete gamma function).

    Examples
    --------
    >>> float(log_chi2_tail(2000.0, 1).round(2))
    -1004.03
    """
    statistic, df = np.broadcast_arrays(np.asarray(statistic, float), np.asarray(df, float))
    p = chi2_tail(statistic, df)
    with np.errstate(divide="ignore"):
        log_p = np.asarray(np.log(p))
    small = (p < _SMALLEST_SAFE) & np.isfinite(statistic)
    if small.any():
        a, x = df[small] / 2, statistic[small] / 2
        log_p = np.array(log_p)
        log_p[small] = a * np.log(x) - x - special.gammaln(a) + np.log(_gamma_fraction(a, x))
    return log_p


def _gamma_fraction(a: FloatArray, x: FloatArray) -> FloatArray:
    """Evaluate the continued fraction of the upper incomplete gamma function (modified Lentz)."""
    b = x + 1 - a
    c, d = np.full_like(x, 1e300), 1 / b
    value = d.copy()
    for m in range(1, 2000):
        numerator = -m * (m - a)
        b = b + 2
        d = 1 / _away_from_zero(numerator * d + b, 1e-300)
        c = _away_from_zero(b + numerator / c, 1e-300)
        value = value * c * d
        if np.all(np.abs(c * d - 1) < 1e-15):
            break
    return value
