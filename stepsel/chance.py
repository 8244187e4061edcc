"""What chance alone would do: how often noise passes the first test of a selection."""

import numpy as np
from scipy import stats

from stepsel.core.criteria import AdjustedR2, Criterion, MallowsCp, Penalized
from stepsel.core.fits import FloatArray
from stepsel.core.terms import IntArray


def chance_of_noise(
    sizes: IntArray,
    *,
    criterion: Criterion | None,
    alpha: float,
    n_obs: float,
    n_params: int,
    n_full: int,
    gaussian: bool,
) -> float:
    """Return the probability that at least one of several terms passes its first test, if all were independent noise.

    Parameters
    ----------
    sizes : int array of shape (n_terms,)
        Their numbers of coefficients.
    criterion : Criterion or None
        None where p-values decide.
    alpha : float
        The level that a p-value has to pass.
    n_obs : float
    n_params, n_full : int
        Parameters of the model that the terms would be added to, and of the model of all.
    gaussian : bool
        Whether the partial F test is exact; else the likelihood ratio has its chi-squared distribution.
    """
    df = sizes.astype(float)
    if criterion is None:
        alone = np.full(len(df), alpha)
    elif gaussian:
        alone = _by_f(df, criterion, n_obs, n_params, n_full)
    else:
        assert isinstance(criterion, Penalized)
        alone = np.asarray(stats.chi2.sf(_price(criterion, n_params, df), df))
    return float(-np.expm1(np.log1p(-np.clip(alone, 0.0, 1 - 1e-15)).sum()))


def _by_f(df: FloatArray, criterion: Criterion, n_obs: float, n_params: int, n_full: int) -> FloatArray:
    df_resid = np.maximum(n_obs - n_params - df, 1.0)
    if isinstance(criterion, MallowsCp):
        return np.asarray(stats.f.sf(2.0, df, max(n_obs - n_full, 1.0)))
    if isinstance(criterion, AdjustedR2):
        return np.asarray(stats.f.sf(1.0, df, df_resid))
    assert isinstance(criterion, Penalized)
    smallest = np.expm1(_price(criterion, n_params, df) / n_obs) * df_resid / df
    return np.asarray(stats.f.sf(smallest, df, df_resid))


def _price(criterion: Penalized, n_params: int, df: FloatArray) -> FloatArray:
    """Return what the likelihood ratio of a term has to exceed."""
    here = criterion.penalty(np.array([float(n_params)]))
    return criterion.penalty(n_params + df) - here
