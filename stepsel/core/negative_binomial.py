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
_SMALLEST, _LARGEST = 1e-14, 1e6
BOUNDARY = 1e-12
_MOST_ROUNDS = 100
# Counts up to this are looked up in a table.
_LARGEST_TABLE = 10_000


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
        return float(self._sum(self._rising() - special.gammaln(self.y + 1)))

    def _rising(self) -> FloatArray:
        """Return ``log Gamma(y + 1/alpha) - log Gamma(1/alpha) + y log alpha`` of each row.

        For whole y that is a sum of ``log(1 + alpha j)`` over j < y: it keeps its digits as alpha goes to zero.
        """
        top = int(self.y.max(initial=0.0))
        if top <= _LARGEST_TABLE and not (self.y % 1).any():
            table = np.concatenate([[0.0], np.cumsum(np.log1p(self._alpha * np.arange(top)))])
            return table[self.y.astype(np.intp)]
        at = np.maximum(self.y, 1.0)
        rising = special.gammaln(at) - special.betaln(at, 1 / self._alpha) + at * np.log(self._alpha)
        return np.where(self.y > 0, rising, 0.0)

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
        if alpha < BOUNDARY:  # Poisson: there is no dispersion to be uncertain about
            return inverse_information(self._at(alpha).curvature(optimum.eta).gram(Z))
        likelihood, k = self._at(alpha), len(Z)
        mean = np.exp(self._shifted(optimum.eta))
        joint = np.empty((k + 1, k + 1))
        joint[:k, :k] = likelihood.curvature(optimum.eta).gram(Z)
        joint[:k, k] = joint[k, :k] = Z @ self._weighted((self.y - mean) * mean / (1 + alpha * mean) ** 2)
        joint[k, k] = self._alpha_information(mean, alpha)
        return inverse_information(joint if joint[k, k] > 0 else joint[:k, :k])[:k, :k]

    def _alpha_information(self, mean: FloatArray, alpha: float) -> float:
        """Return minus the second derivative of the log-likelihood by the dispersion."""
        top, t = int(self.y.max(initial=0.0)), alpha * mean
        if top <= _LARGEST_TABLE:
            below = np.arange(top)
            rising = np.concatenate([[0.0], np.cumsum((below / (1 + alpha * below)) ** 2)])[self.y.astype(np.intp)]
        else:
            size = 1 / alpha
            first = special.digamma(self.y + size) - special.digamma(size)
            second = special.polygamma(1, self.y + size) - special.polygamma(1, size)
            rising = -(size**4 * second + 2 * size**3 * first - self.y * size**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            bent = 2 * np.log1p(t) / t**3 - 2 / (t**2 * (1 + t)) - 1 / (t * (1 + t) ** 2)
        bent = np.where(t < 1e-2, 2 / 3 - t * (3 / 2 - t * (12 / 5 - t * (10 / 3 - t * 30 / 7))), bent)
        rows = rising - self.y * (mean / (1 + t)) ** 2 + mean**3 * bent
        return float(self._sum(rows))

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

        # The likelihood is flat where alpha is next to nothing: a coarse look first keeps the search out of there.
        grid = np.log(np.geomspace(_SMALLEST, _LARGEST, 41))
        at = int(np.argmin([cost(log_alpha) for log_alpha in grid]))
        bounds = (grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)])
        found = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 1e-10})
        return float(np.exp(found.x if found.fun <= cost(grid[at]) else grid[at]))

    def finished(self, optimum: Optimum, n_params: int) -> tuple[float, float]:
        alpha = optimum.alpha  # type: ignore[attr-defined]
        eta = self._shifted(optimum.eta)
        mean = np.exp(eta)
        unit = (
            special.xlogy(self.y, self.y)
            - self.y * eta
            - (self.y + 1 / alpha) * np.log((1 + alpha * self.y) / (1 + alpha * mean))
        )
        return 2 * float(self._sum(unit)), optimum.loglik


def _with(optimum: Optimum, alpha: float) -> DispersedOptimum:
    fields = {name: getattr(optimum, name) for name in Optimum.__dataclass_fields__}
    return DispersedOptimum(**fields, alpha=alpha)


def _poisson_like(likelihood: NegativeBinomial) -> NegativeBinomial:
    """Return the likelihood at a dispersion so small that it is Poisson: a safe place to start from."""
    return likelihood._at(1e-6)
