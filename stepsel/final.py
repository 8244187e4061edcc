"""The selected model as a statsmodels results object. The only module that imports statsmodels."""

import copy
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from stepsel.coding import Coding
from stepsel.core.fits import FloatArray
from stepsel.core.linear_data import LinearData
from stepsel.core.moments import SufficientStats, accumulate
from stepsel.core.refit import Coefficients, LeastSquares
from stepsel.core.terms import IntArray
from stepsel.design import Design
from stepsel.families import family_name
from stepsel.numeric import is_frame
from stepsel.settings import Settings

# A negative binomial dispersion below this is Poisson.
_POISSON_BELOW = 1e-8


def check_unchanged(data: LinearData, then: SufficientStats) -> None:
    """Refuse data that were changed in place since the selection.

    Parameters
    ----------
    data : LinearData
        The selected columns as they are now.
    then : SufficientStats
        Their moments as the selection saw them. Least squares depends on these and on nothing else.

    Raises
    ------
    RuntimeError
        If the moments differ by more than rounding.
    """
    now = accumulate(data.X, data.y, data.weights, centred=data.intercept)
    size = np.sqrt(np.append(then.raw_squares, then.raw_ssy))
    for new, old, scale in (
        (np.append(now.mean, now.mean_y), np.append(then.mean, then.mean_y), size / np.sqrt(then.total_weight)),
        (np.append(now.gram.diagonal(), now.ssy), np.append(then.gram.diagonal(), then.ssy), size**2),
        (now.cross, then.cross, size[:-1] * size[-1]),
    ):
        if not (np.abs(new - old) <= 1e-9 * scale).all():
            raise RuntimeError("the data were changed in place since the selection: fit again.")


def linear_results(
    data: LinearData, fit: LeastSquares, names: Sequence[Hashable], y_name: Hashable, *, frequency: bool
) -> Any:
    """Return a least-squares fit of the selected columns as statsmodels results.

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

    exog = _exog(data.X, names, intercept=data.intercept)
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


def family_results(
    design: Design,
    fit: Coefficients,
    names: Sequence[Hashable],
    settings: Settings,
    *,
    intercept: bool,
    df_resid: float,
    nuisance: dict[str, float],
) -> Any:
    """Return a maximum-likelihood fit of the selected columns as statsmodels results.

    Parameters
    ----------
    design : Design
        With the selected columns only.
    fit : Coefficients
        Our optimum. A GLM carries these numbers; NegativeBinomial and PHReg start from them.
    names : sequence of length n_columns
    settings : Settings
    intercept : bool
    df_resid : float
    nuisance : dict
        Dispersion parameters by name.

    Returns
    -------
    statsmodels results
        GLM, NegativeBinomial (a Poisson GLM where the dispersion is zero) or PHReg; None for a Cox model
        without terms, which statsmodels cannot hold.

    Raises
    ------
    ValueError
        If weights are given that statsmodels' model cannot take.
    """
    name = family_name(settings.family)
    if name in ("cox", "negative_binomial"):
        design = _rows_repeated(design, settings)
        exog = _exog(design.X, names, intercept=intercept)
        return (_cox if name == "cox" else _negative_binomial)(design, exog, fit, settings, nuisance)
    import statsmodels.api as sm

    families = {
        "binomial": sm.families.Binomial,
        "poisson": sm.families.Poisson,
        "gamma": lambda: sm.families.Gamma(sm.families.links.Log()),
    }
    # A copy: statsmodels writes into family objects.
    family = families[name]() if isinstance(settings.family, str) else copy.deepcopy(settings.family)
    exog = _exog(design.X, names, intercept=intercept)
    endog: Any = pd.Series(design.y, name=str(design.y_name))
    keywords: dict[str, Any] = {"offset": design.offset}
    if design.trials is not None:
        events = design.y * design.trials
        endog = pd.DataFrame({str(design.y_name): events, "others": design.trials - events})
    elif design.weights is not None:
        kind = "freq_weights" if settings.weight_type == "frequency" else "var_weights"
        keywords[kind] = design.weights
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of links that leave the family's range: our optimum does not
        model = sm.GLM(endog, exog, family=family, **keywords)
        covariance = fit.covariance / nuisance.get("dispersion", 1.0)
        return _glm_results(model, fit.params, covariance, df_resid=df_resid, use_t=False)


def predicting(results: Any, coding: Coding, chosen: IntArray) -> Any:
    """Let the prediction methods of statsmodels results take new data as they went into the selection.

    Parameters
    ----------
    results : statsmodels results
        Changed in place.
    coding : Coding
        How input becomes design columns.
    chosen : int array
        The design columns of the model.
    """
    if results is not None:
        inner = getattr(results, "_results", results)
        for name in ("predict", "get_prediction"):
            if hasattr(inner, name):
                setattr(inner, name, _Coded(getattr(inner, name), coding, chosen, results.model.exog_names))
    return results


class _Coded:
    """A prediction method of statsmodels results that codes a DataFrame of raw columns first."""

    def __init__(self, method: Any, coding: Coding, chosen: IntArray, names: Sequence[str]) -> None:
        self._method, self._coding, self._chosen, self._names = method, coding, chosen, list(names)

    def __call__(self, exog: Any = None, *args: Any, **keywords: Any) -> Any:
        exog = pd.DataFrame(exog) if isinstance(exog, Mapping) else exog
        if exog is not None and is_frame(exog):
            columns = list(exog.columns)
            if not set(self._names) <= set(columns):  # else it is coded already
                matrix = self._coding.encode(exog, self._chosen)
                names = [name for name in self._names if name != "alpha"]  # of a negative binomial model
                if len(names) > matrix.shape[1]:
                    matrix = np.hstack([np.ones((len(matrix), 1)), matrix])
                index = exog.index if isinstance(exog, pd.DataFrame) else None
                exog = pd.DataFrame(matrix, columns=names, index=index)
        return self._method(exog, *args, **keywords)


def _cox(design: Design, exog: pd.DataFrame, fit: Coefficients, settings: Settings, _: dict[str, float]) -> Any:
    from statsmodels.duration.hazard_regression import PHReg

    if not exog.shape[1]:
        return None
    time = pd.Series(design.y, name=str(design.y_name))
    model = PHReg(time, exog, status=design.status, ties=settings.ties, offset=design.offset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: it starts at the optimum
        return model.fit(start_params=fit.params, disp=False)


def _negative_binomial(
    design: Design, exog: pd.DataFrame, fit: Coefficients, settings: Settings, nuisance: dict[str, float]
) -> Any:
    import statsmodels.api as sm

    endog = pd.Series(design.y, name=str(design.y_name))
    if nuisance["alpha"] < _POISSON_BELOW:
        # statsmodels' gamma functions lose all digits there, and its Newton steps do not come back.
        model = sm.GLM(endog, exog, family=sm.families.Poisson(), offset=design.offset)
        return _glm_results(model, fit.params, fit.covariance, df_resid=len(endog) - exog.shape[1], use_t=False)
    model = sm.NegativeBinomial(endog, exog, offset=design.offset, check_rank=False)
    start = np.append(fit.params, nuisance["alpha"])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of no iterations: it is at the optimum
        results = model.fit(start_params=start, method="newton", disp=False, maxiter=0, warn_convergence=False)
        _ = results.bse  # computed here, where its warnings are
    results.mle_retvals["converged"] = True
    return results


def _rows_repeated(design: Design, settings: Settings) -> Design:
    """Return the rows as often as their weights say: these models of statsmodels take no weights."""
    if design.weights is None:
        return design
    if settings.weight_type != "frequency" or (design.weights % 1 != 0).any():
        raise ValueError(
            f"statsmodels fits family={settings.family!r} with whole frequency weights only: use tidy(), glance() and "
            "predict() instead of model."
        )
    rows = np.repeat(np.arange(len(design.y)), design.weights.astype(int))
    return design.rows(rows)


def _results_class(name: str) -> Any:
    from statsmodels.regression import linear_model

    return getattr(linear_model, name)


def _exog(X: Any, names: Sequence[Hashable], *, intercept: bool) -> pd.DataFrame:
    columns = [np.ones((len(X), 1))] if intercept else []
    matrix = np.hstack([*columns, np.asarray(X, dtype=float)])
    labels = [str(name) for name in names]
    constant = "const" if "const" not in labels else "(Intercept)"
    return pd.DataFrame(matrix, columns=[constant] * int(intercept) + labels)


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
