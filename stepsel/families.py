"""Families by name or as objects: which response they take, and their likelihood."""

from typing import Any

import numpy as np
from scipy import special

from stepsel.core.cox import Cox
from stepsel.core.fits import FloatArray
from stepsel.core.gamma import Gamma
from stepsel.core.general import General
from stepsel.core.likelihoods import Binomial, Likelihood, Poisson
from stepsel.core.linear_data import LinearData
from stepsel.core.negative_binomial import NegativeBinomial
from stepsel.design import Design, linear_data
from stepsel.numeric import response as plain_response
from stepsel.responses import Response, binomial_response, count_response, positive_response
from stepsel.settings import Settings
from stepsel.survival import cox_response

# Frequency-weighted events that are laid out one by one.
_MOST_TIED = 200_000
# Families given as objects that are ours under another name: with these links the faster likelihoods apply.
_OURS = {("Binomial", "Logit"): "binomial", ("Poisson", "Log"): "poisson", ("Gamma", "Log"): "gamma"}


def family_name(family: Any) -> str:
    """Return the name of a family: ours, or "object" for a statsmodels family with a link that we do not have."""
    if isinstance(family, str):
        return family
    return _OURS.get((type(family).__name__, type(family.link).__name__), "object")


def read_response(settings: Settings, y: Any, n_rows: int, sample_weight: Any) -> Response:
    """Return the response as the family takes it.

    Raises
    ------
    ValueError
        If it is none, in one sentence.
    """
    name = settings.family if isinstance(settings.family, str) else type(settings.family).__name__.lower()
    if name == "binomial":
        return binomial_response(y, n_rows, event=settings.event, sample_weight=sample_weight)
    if name in ("poisson", "negative_binomial", "negativebinomial"):
        return count_response(y, n_rows)
    if name in ("gamma", "inversegaussian"):
        return positive_response(y, n_rows)
    if name == "cox":
        return cox_response(y, n_rows)
    return Response(*plain_response(y, n_rows))


def recheck(settings: Settings, design: Design) -> None:
    """Refuse a response that the rows dropped for missing candidates have left empty.

    Raises
    ------
    ValueError
        If one class, no count above zero, or no event is left.
    """
    name = settings.family if isinstance(settings.family, str) else type(settings.family).__name__.lower()
    left = f"response {design.y_name!r}"
    if name == "binomial" and (not design.y.any() or (design.y == 1).all()):
        raise ValueError(f"{left} has one class only in the rows that are left: the binomial family needs two.")
    if name in ("gamma", "inversegaussian") and (design.y == design.y[0]).all():
        raise ValueError(f"{left} does not vary: there is nothing to explain.")
    if name in ("poisson", "negative_binomial", "negativebinomial") and not design.y.any():
        raise ValueError(f"{left} is zero in every row that is left: there is nothing to explain.")
    if name == "cox" and design.status is not None and not design.status.any():
        raise ValueError(f"{left} has no event in the rows that are left: there is nothing to explain.")


def offset_shift(settings: Settings, design: Design) -> float:
    """Return what the intercept takes over from the offset: its mean, so that no exponential overflows."""
    if design.offset is None or not settings.fit_intercept:
        return 0.0
    return float(np.average(design.offset, weights=design.weights))


def likelihood_of(settings: Settings, design: Design) -> Likelihood:
    """Return the likelihood of a family on the rows of a design."""
    frequency = settings.weight_type == "frequency"
    weights, offset = design.weights, design.offset
    if offset is not None:
        offset = offset - offset_shift(settings, design)
    n_obs = float(weights.sum()) if frequency and weights is not None else float(len(design.y))
    name = family_name(settings.family)
    if name == "cox":
        assert design.status is not None
        if settings.ties == "efron" and frequency and weights is not None and weights @ design.status > _MOST_TIED:
            raise ValueError(
                f"sample_weight stands for {weights @ design.status:.3g} events, more than Efron's treatment of ties "
                'can hold: give ties="breslow", or weight_type="analytic".'
            )
        return Cox(design.y, design.status, weights, offset, ties=settings.ties, frequency=frequency)
    if name == "binomial":
        return Binomial(design.y, weights, offset, n_obs, trials=design.trials)
    if name == "poisson":
        return Poisson(design.y, weights, offset, n_obs)
    if name == "negative_binomial":
        return NegativeBinomial(design.y, weights, offset, n_obs)
    if name == "gamma":
        return Gamma(design.y, weights, offset, n_obs, frequency=frequency)
    return General(settings.family, design.y, weights, offset, n_obs, frequency=frequency, trials=design.trials)


def geometry_data(settings: Settings, design: Design, likelihood: Likelihood) -> LinearData:
    """Return the plain design of a family: what aliasing and collinearity are about."""
    weights = design.weights if design.trials is None else design.trials
    # A Cox model has no intercept but its partial likelihood sweeps one out, and its events are what parameters use up.
    if likelihood.name == "cox":
        return LinearData(design.X, design.y, weights, likelihood.n_obs + 1, intercept=True)
    return LinearData(design.X, design.y, weights, likelihood.n_obs, settings.fit_intercept)


def plain_data(settings: Settings, design: Design) -> LinearData:
    """Return the rows of a Gaussian selection."""
    return linear_data(design, intercept=settings.fit_intercept, weight_type=settings.weight_type)


def residual_observations(settings: Settings, design: Design) -> float:
    """Return the observations that residual degrees of freedom are counted from."""
    if design.weights is not None and settings.weight_type == "frequency":
        return float(np.sum(design.weights))
    return float(len(design.y))


def family_label(family: Any) -> str:
    """Return the name of a family for tables."""
    if isinstance(family, str):
        return family
    return f"{type(family).__name__}({type(family.link).__name__})"


def ratio_name(family: Any) -> str | None:
    """Return what the exponential of a coefficient is; None where it is nothing that has a name."""
    if isinstance(family, str):
        rates = dict.fromkeys(("poisson", "negative_binomial"), "rate ratio")
        return ({"binomial": "odds ratio", "cox": "hazard ratio", "gamma": "ratio of means"} | rates).get(family)
    link, name = type(family.link).__name__, type(family).__name__
    of_log = {"Poisson": "rate ratio", "NegativeBinomial": "rate ratio", "Binomial": "risk ratio"}
    return {"Logit": "odds ratio", "Log": of_log.get(name, "ratio of means")}.get(link)


def mean_response(family: Any, eta: FloatArray) -> FloatArray:
    """Return the mean response of a linear predictor; of a Cox model the predictor itself, the log hazard ratio."""
    name = family_name(family)
    if name == "object":
        return np.asarray(family.link.inverse(eta))
    if name == "binomial":
        return special.expit(eta)
    return eta if name in ("gaussian", "cox") else np.exp(eta)
