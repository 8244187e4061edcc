"""The selected model as a statsmodels results object. The only module that imports statsmodels."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from stepsel.core.fits import FloatArray
from stepsel.core.linear_data import LinearData
from stepsel.core.refit import LeastSquares


def statsmodels_results(
    data: LinearData, fit: LeastSquares, names: Sequence[Hashable], y_name: Hashable, *, frequency: bool
) -> Any:
    """Return the fit of the selected columns as the matching statsmodels results.

    Parameters
    ----------
    data : LinearData
        Of the selected columns only.
    fit : LeastSquares
        Their fit; the results carry these numbers, which come from a QR of centred and scaled columns.
    names : sequence of length n_columns
    y_name : hashable
    frequency : bool
        Whether weights are counts.

    Returns
    -------
    statsmodels results
        OLS without weights, WLS with analytic weights, GLM (Gaussian, ``freq_weights``, t tests) with frequency
        weights.
    """
    import statsmodels.api as sm

    exog = _exog(data, names)
    endog = pd.Series(data.y, name=str(y_name))
    if data.weights is not None and frequency:
        model = sm.GLM(endog, exog, family=sm.families.Gaussian(), freq_weights=data.weights)
        return _glm_results(model, fit.params, fit.covariance, df_resid=data.n_obs - exog.shape[1], use_t=True)
    if data.weights is None:
        model, results_class = sm.OLS(endog, exog, hasconst=data.intercept), _results_class("OLSResults")
    else:
        model = sm.WLS(endog, exog, weights=data.weights, hasconst=data.intercept)
        results_class = _results_class("RegressionResults")
    # What model.fit() would set, from our own factorisation: its pseudo-inverse would cut small directions off.
    model.rank = exog.shape[1]
    model.df_model = float(exog.shape[1] - int(data.intercept))
    model.df_resid = data.n_obs - exog.shape[1]
    model.normalized_cov_params = fit.covariance
    model.pinv_wexog = fit.covariance @ model.wexog.T
    results = results_class(model, fit.params, normalized_cov_params=fit.covariance)
    return _results_class("RegressionResultsWrapper")(results)


def _results_class(name: str) -> Any:
    from statsmodels.regression import linear_model

    return getattr(linear_model, name)


def _exog(data: LinearData, names: Sequence[Hashable]) -> pd.DataFrame:
    columns = [np.ones((len(data.y), 1))] if data.intercept else []
    matrix = np.hstack([*columns, np.asarray(data.X, dtype=float)])
    labels = [str(name) for name in names]
    constant = "const" if "const" not in labels else "(Intercept)"
    return pd.DataFrame(matrix, columns=[constant] * int(data.intercept) + labels)


def _glm_results(model: Any, params: FloatArray, covariance: FloatArray, *, df_resid: float, use_t: bool) -> Any:
    """Return GLM results at given coefficients.

    This sets what ``GLM.fit`` would at convergence. Its own iterations solve by a pseudo-inverse of the raw design,
    which drops directions that a large offset of a column makes small.
    """
    from statsmodels.genmod.generalized_linear_model import GLMResults, GLMResultsWrapper

    model.df_resid, model.df_model = df_resid, float(len(params) - 1)
    model.scaletype = None
    model.mu = model.family.fitted(model.exog @ params + model._offset_exposure)
    model.scale = model.estimate_scale(model.mu)
    model.weights = model.iweights * model.n_trials * model.family.weights(model.mu)
    results = GLMResults(model, params, covariance, model.scale, cov_type="nonrobust", use_t=use_t)
    results.method, results.converged = "IRLS", True
    results.mle_settings = {"wls_method": "QR", "optimizer": "IRLS"}
    results.fit_history = {"iteration": 1, "params": [params], "deviance": [results.deviance]}
    return GLMResultsWrapper(results)
