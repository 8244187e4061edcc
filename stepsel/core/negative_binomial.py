"""Negative binomial regression (NB2) whose dispersion is estimated anew in every fit.

References
----------
Hilbe (2011), Negative Binomial Regression, 2nd ed., chapter 8. Venables and Ripley (2002), Modern Applied Statistics
with S, section 7.4 (alternating estimation of coefficients and dispersion, as R ``glm.nb``).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import special
from scipy.optimize import minimize_scalar

from stepsel.core.fits import FloatArray
from stepsel.core.likelihoods import DiagonalCurvature, Rows
from stepsel.core.newton import Optimum, inverse_information, maximise

# A dispersion below this is no different from Poisson to double precision.
_SMALLEST, _LARGEST = 1e-8, 1e6
_MOST_ROUNDS = 100


@dataclass(frozen=True)
class DispersedOptimum(Optimum):
    """An optimum with the dispersion that belongs to it."""

    alpha: float = 1.0


class NegativeBinomial(Rows):
    """Counts with variance ``mu + alpha mu^2`` and the log link; parameters as for Rows."""

    name = "negative_binomial"
    batched = False
    n_nuisance = 1

    def __init__(
        self, y: FloatArray, weights: FloatArray | None, offset: FloatArray | None, n_obs: float, alpha: float = 0.1
    ) -> None:
        super().__init__(y, weights, offset, n_obs)
        self._alpha = alpha

    def _at(self, alpha: float) -> "NegativeBinomial":
        return NegativeBinomial(self.y, self.weights, self.offset, self.n_obs, alpha)

    def first(self) -> float:
        return self._log_mean()

    def evaluate(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        eta, alpha = self._shifted(eta), self._alpha
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.exp(eta)
            inflated = 1 + alpha * mean
            # log1p keeps the digits of a dispersion near zero, where this is Poisson.
            rows = self.y * (eta - np.log1p(alpha * mean)) - np.log1p(alpha * mean) / alpha
            loglik = self._sum(rows) + self._constant()
            return np.where(np.isnan(loglik), -np.inf, loglik), self._weighted((self.y - mean) / inflated)

    def _constant(self) -> float:
        """Return the part of the log-likelihood that depends on the dispersion and the response only."""
        size = 1 / self._alpha
        rows = special.gammaln(self.y + size) - special.gammaln(size) + self.y * np.log(self._alpha)
        return float(self._sum(rows - special.gammaln(self.y + 1)))

    def curvature(self, eta: FloatArray) -> DiagonalCurvature:
        """Return the observed information, so that Newton converges quadratically."""
        mean = np.exp(self._shifted(eta))
        inflated = 1 + self._alpha * mean
        return DiagonalCurvature(self._weighted(mean * (1 + self._alpha * self.y) / inflated**2))

    def curvature_of(self, optimum: Optimum) -> DiagonalCurvature:
        """Return the expected information at the dispersion of the optimum, as score and Wald tests take it."""
        mean = np.exp(self._shifted(optimum.eta))
        return DiagonalCurvature(self._weighted(mean / (1 + optimum.alpha * mean)))  # type: ignore[attr-defined]

    def covariance(self, optimum: Optimum, Z: FloatArray) -> FloatArray:
        """Return the block of the coefficients of the inverse observed information, the dispersion estimated too."""
        alpha = optimum.alpha  # type: ignore[attr-defined]
        likelihood, k = self._at(alpha), len(Z)
        mean = np.exp(self._shifted(optimum.eta))
        joint = np.empty((k + 1, k + 1))
        joint[:k, :k] = likelihood.curvature(optimum.eta).gram(Z)
        joint[:k, k] = joint[k, :k] = Z @ self._weighted((self.y - mean) * mean / (1 + alpha * mean) ** 2)
        step = 1e-3 * alpha
        around = [float(self._at(at).evaluate(optimum.eta)[0]) for at in (alpha - step, alpha, alpha + step)]
        joint[k, k] = max(-(around[0] - 2 * around[1] + around[2]) / step**2, np.finfo(float).tiny)
        return inverse_information(joint)[:k, :k]

    def maximise(self, Z: FloatArray, beta: FloatArray) -> DispersedOptimum:
        """Alternate between coefficients and dispersion until the log-likelihood rests."""
        alpha, last = self._alpha, -np.inf
        if len(beta) and not beta[1:].any():
            beta = maximise(_poisson_like(self), Z, beta).beta
        for _ in range(_MOST_ROUNDS):
            optimum = maximise(self._at(alpha), Z, beta)
            beta = optimum.beta
            alpha = self._best_alpha(optimum.eta)
            loglik = float(self._at(alpha).evaluate(optimum.eta)[0])
            if loglik - last <= 1e-13 * max(abs(loglik), 1.0):
                break
            last = loglik
        likelihood = self._at(alpha)
        optimum = maximise(likelihood, Z, beta)
        information = DiagonalCurvature(likelihood.curvature_of(_with(optimum, alpha)).weights).gram(Z)
        return _with(replace(optimum, information=information), alpha)

    def _best_alpha(self, eta: FloatArray) -> float:
        def cost(log_alpha: float) -> float:
            return -float(self._at(float(np.exp(log_alpha))).evaluate(eta)[0])

        found = minimize_scalar(
            cost, bounds=(np.log(_SMALLEST), np.log(_LARGEST)), method="bounded", options={"xatol": 1e-10}
        )
        return float(np.exp(found.x))

    def finished(self, optimum: Optimum, n_params: int) -> tuple[float, float]:
        alpha = optimum.alpha  # type: ignore[attr-defined]
        mean = np.exp(self._shifted(optimum.eta))
        unit = special.xlogy(self.y, self.y / mean) - (self.y + 1 / alpha) * np.log(
            (1 + alpha * self.y) / (1 + alpha * mean)
        )
        return 2 * float(self._sum(unit)), optimum.loglik


def _with(optimum: Optimum, alpha: float) -> DispersedOptimum:
    fields = {name: getattr(optimum, name) for name in Optimum.__dataclass_fields__}
    return DispersedOptimum(**fields, alpha=alpha)


def _poisson_like(likelihood: NegativeBinomial) -> NegativeBinomial:
    """Return the likelihood at a dispersion so small that it is Poisson: a safe place to start from."""
    return likelihood._at(1e-6)
