"""The selected model as a statsmodels results object. The only module that imports statsmodels."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

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
        return model.fit(start_params=fit.params, use_t=True)
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
    return pd.DataFrame(matrix, columns=["const"] * int(data.intercept) + [str(name) for name in names])
