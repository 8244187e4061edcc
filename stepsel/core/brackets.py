"""Proven brackets of a likelihood ratio, from quantities at the model at hand.

For logistic and Poisson regression under the canonical link the third derivative of the log-likelihood of a row, as a
function of its linear predictor, is nowhere larger than the second. Along the path from one model to another a linear
predictor moves by at most ``R`` times the length of the step in the metric of the information, where ``R^2`` is the
largest unweighted leverage ``x' H^-1 x`` of the larger model. Integrating the third-order bound twice gives the
brackets.

References
----------
Bach (2010), Self-concordant analysis for logistic regression, Electronic Journal of Statistics 4.
"""

import numpy as np

from stepsel.core.fits import FloatArray

# Below this u the closed forms cancel; their series, on the safe side, are exact to rounding there.
_SMALL = 1e-4


def upper(score: FloatArray, radius: FloatArray) -> FloatArray:
    """Return an upper bound of the likelihood ratio of an addition.

    Parameters
    ----------
    score : float array
        The score statistic of each candidate.
    radius : float array
        Square root of the largest unweighted leverage of the larger model.

    Returns
    -------
    float array
        ``2 / R^2 (u + (1 - u) log(1 - u))`` with ``u = R sqrt(score)``; inf where u is not below one.
    """
    u = radius * np.sqrt(score)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = 2 / radius**2 * (u + (1 - u) * np.log1p(-u))
    bound = np.where(u < _SMALL, score * (1 + u / 3 + u * u / 6 * 1.01), bound)
    return np.where(u < 1, bound, np.inf)


def lower(score: FloatArray, radius: FloatArray) -> FloatArray:
    """Return a lower bound of the likelihood ratio of an addition; parameters as for :func:`upper`."""
    u = radius * np.sqrt(score)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = 2 / radius**2 * ((1 + u) * np.log1p(u) - u)
    return np.where(u < _SMALL, score * (1 - u / 3), bound)


def removal_lower(wald: FloatArray, radius: FloatArray) -> FloatArray:
    """Return a lower bound of the likelihood ratio of a removal.

    Parameters
    ----------
    wald : float array
        The Wald statistic of each term of the model.
    radius : float array
        Square root of the largest unweighted leverage of the model.
    """
    u = radius * np.sqrt(wald)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = 2 / radius**2 * (np.expm1(-u) + u)
    return np.where(u < _SMALL, wald * (1 - u / 3), bound)
