"""The final model in numbers: its coefficients, a row each, and the whole of it in one row."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from stepsel.core.fits import Fit
from stepsel.core.refit import Coefficients
from stepsel.trace import Measures, r_squared


def coefficient_table(fit: Coefficients, names: Sequence[Hashable], conf_level: float) -> pd.DataFrame:
    """Return ``term, estimate, std_error, statistic, p_value, conf_low, conf_high`` of every coefficient.

    Parameters
    ----------
    fit : Coefficients
    names : sequence of length n_params
    conf_level : float
    """
    params, error = fit.params, np.sqrt(fit.covariance.diagonal())
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = params / error
    margin = stats.t.ppf((1 + conf_level) / 2, fit.df_resid) * error
    return pd.DataFrame(
        {
            "term": pd.Series(list(names), dtype=object),
            "estimate": params,
            "std_error": error,
            "statistic": statistic,
            "p_value": 2 * stats.t.sf(np.abs(statistic), fit.df_resid),
            "conf_low": params - margin,
            "conf_high": params + margin,
        }
    )


def model_facts(fit: Fit, measures: Measures, extra: dict[str, float]) -> dict[str, Any]:
    """Return what describes a model: R2, what its family adds, likelihood and criteria.

    Parameters
    ----------
    fit : Fit
    measures : Measures
    extra : dict
        Dispersion and discrimination, where the family has them.
    """
    r2, adj_r2 = r_squared(fit, measures)
    return {
        "n_params": fit.n_params,
        "df_resid": fit.df_resid,
        "r2": r2,
        "adj_r2": adj_r2,
        **(_least_squares_facts(fit, measures) if measures.null is None else _family_facts(fit, measures.null, extra)),
        "log_likelihood": fit.log_likelihood,
        "aic": -2 * fit.log_likelihood + 2 * fit.n_params,
        "bic": -2 * fit.log_likelihood + np.log(measures.n_obs) * fit.n_params,
        "deviance": fit.deviance,
    }


def _least_squares_facts(fit: Fit, measures: Measures) -> dict[str, float]:
    df_model = fit.n_params - int(measures.intercept)
    f_statistic = f_p_value = np.nan
    if df_model and fit.deviance > 0:
        f_statistic = (measures.null_deviance - fit.deviance) / df_model / (fit.deviance / fit.df_resid)
        f_p_value = float(stats.f.sf(f_statistic, df_model, fit.df_resid))
    sigma = float(np.sqrt(fit.deviance / fit.df_resid))
    return {"sigma": sigma, "f_statistic": f_statistic, "f_p_value": f_p_value}


def _family_facts(fit: Fit, null: Fit, extra: dict[str, float]) -> dict[str, float]:
    df_model = fit.n_params - null.n_params
    ratio = 2 * (fit.log_likelihood - null.log_likelihood)
    if "dispersion" in extra:
        ratio = (null.deviance - fit.deviance) / extra["dispersion"]
    p_value = float(stats.chi2.sf(ratio, df_model)) if df_model else np.nan
    return {"lr_statistic": ratio, "lr_p_value": p_value, **extra}
