"""Any family and link that come as an object."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from stepsel.core.discrimination import area_under_curve
from stepsel.core.fits import FloatArray
from stepsel.core.likelihoods import DiagonalCurvature, Rows, entropy, log_choose
from stepsel.core.newton import Optimum, maximise

# Of general families: the decrement at which scoring hands over to Newton, the one at which Newton stops, the movement
# of the linear predictor that tells of a maximum at infinity, and the step of numerical second derivatives.
_ROUGH, _FINE, _STILL_MOVING, _DIFFERENCE = 1e-3, 1e-12, 1e-3, 1e-5


class General(Rows):
    """Any family and link, given as an object with the interface of statsmodels' families.

    Parameters
    ----------
    family : object
        With ``link`` (callable, ``inverse``, ``deriv``), ``variance``, ``resid_dev`` and ``loglike``.
    y, weights, offset, n_obs
        As for :class:`Rows`.
    frequency : bool
        Whether weights are counts (``freq_weights``) rather than precisions (``var_weights``).
    trials : float array of shape (n_rows,), optional
        Numbers of trials of which y are shares; they take the place of weights.
    """

    batched = False

    def __init__(
        self,
        family: Any,
        y: FloatArray,
        weights: FloatArray | None,
        offset: FloatArray | None,
        n_obs: float,
        *,
        frequency: bool,
        trials: FloatArray | None = None,
    ) -> None:
        super().__init__(y, weights if trials is None else trials, offset, n_obs)
        self.family = copy.deepcopy(family)  # fitting writes into family objects
        if hasattr(self.family, "n"):
            self.family.n = 1
        self._constant = log_choose(y, trials)
        self.name = type(family).__name__.lower()
        self._frequency, self._observed = frequency, False
        self._free = self.name not in ("binomial", "poisson", "negativebinomial")
        self.fixed_dispersion = not self._free
        self._positive = self.name in ("poisson", "gamma", "inversegaussian", "negativebinomial", "tweedie")

    def discrimination(self, eta: FloatArray) -> dict[str, float]:
        if self.name != "binomial":
            return {}
        return {"auc": area_under_curve(self.y, self._mean(eta), self.weights)}

    def _mean(self, eta: FloatArray) -> FloatArray:
        return self.family.link.inverse(self._shifted(eta))

    def first(self) -> float:
        mean = float(np.average(self.y, weights=self.weights))
        shift = 0.0 if self.offset is None else float(np.average(self.offset, weights=self.weights))
        return float(self.family.link(mean)) - shift

    def evaluate(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(all="ignore"):  # outside the range of the link the likelihood is -inf
            mean = self._mean(eta)
            slope = 1 / self.family.link.deriv(mean)
            residual = self._weighted((self.y - mean) * slope / self.family.variance(mean))
            # Minus half the deviance: the log-likelihood at dispersion one, up to a constant, for every family.
            loglik = -0.5 * self._sum(self.family.resid_dev(np.broadcast_to(self.y, mean.shape), mean) ** 2)
            if self._positive:  # a deviance may exist where the family does not
                loglik = np.where((mean > 0).all(axis=-1), loglik, -np.inf)
        return np.where(np.isnan(loglik), -np.inf, loglik), residual

    def curvature(self, eta: FloatArray) -> DiagonalCurvature:
        """Return the observed information on the way to a maximum, the expected one otherwise."""
        if self._observed:
            step = _DIFFERENCE * np.maximum(np.abs(eta), 1.0)
            return DiagonalCurvature((self.evaluate(eta - step)[1] - self.evaluate(eta + step)[1]) / (2 * step))
        mean = self._mean(eta)
        slope = 1 / self.family.link.deriv(mean)
        return DiagonalCurvature(self._weighted(slope * slope / self.family.variance(mean)))

    def maximise(self, Z: FloatArray, beta: FloatArray) -> Optimum:
        """Score first (Fisher), then take Newton steps with the observed information: scoring alone may circle."""
        rough = maximise(self, Z, beta, done=_ROUGH)
        exact = copy.copy(self)
        exact._observed = True
        fine = maximise(exact, Z, rough.beta, done=_FINE, moving=_STILL_MOVING)
        if not fine.converged or fine.loglik < rough.loglik - 1e-9 * max(abs(rough.loglik), 1.0):
            fine = maximise(self, Z, rough.beta, done=_FINE**2, moving=_STILL_MOVING)
        return replace(fine, information=self.curvature(fine.eta).gram(Z))

    def dispersion(self, eta: FloatArray, n_params: int) -> float:
        if not self._free:
            return 1.0
        mean = self._mean(eta)
        return float(self._sum((self.y - mean) ** 2 / self.family.variance(mean))) / (self.n_obs - n_params)

    def finished(self, optimum: Optimum, n_params: int) -> tuple[float, float]:
        if self.name == "binomial":
            return -2 * optimum.loglik, optimum.loglik + float(self._sum(entropy(self.y))) + self._constant
        mean = self._mean(optimum.eta)
        scale = self.dispersion(optimum.eta, n_params)
        if self.name == "gaussian" and getattr(self.family.link, "power", None) == 1:
            scale = scale * (self.n_obs - n_params) / self.n_obs
        weights = np.ones(len(self.y)) if self.weights is None else self.weights
        kind = "freq_weights" if self._frequency else "var_weights"
        return -2 * optimum.loglik, float(self.family.loglike(self.y, mean, scale=scale, **{kind: weights}))
