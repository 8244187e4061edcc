"""Gamma regression."""

from dataclasses import replace

import numpy as np
from scipy import special

from stepsel.core.fits import FloatArray
from stepsel.core.likelihoods import DiagonalCurvature, Rows
from stepsel.core.newton import Optimum, maximise, polished


class Gamma(Rows):
    """Gamma regression with the log link; the dispersion is Pearson's estimate.

    References
    ----------
    McCullagh and Nelder (1989), Generalized Linear Models, chapter 8.
    """

    name = "gamma"
    batched = False
    fixed_dispersion = False

    def __init__(
        self,
        y: FloatArray,
        weights: FloatArray | None,
        offset: FloatArray | None,
        n_obs: float,
        *,
        frequency: bool,
    ) -> None:
        super().__init__(y, weights, offset, n_obs)
        self._frequency = frequency
        self._log_y = np.log(y)

    def first(self) -> float:
        return self._log_mean()

    def evaluate(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        eta = self._shifted(eta)
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = self.y * np.exp(-eta)
            loglik = -self._sum(ratio - 1 - self._log_y + eta)
        return np.where(np.isnan(loglik), -np.inf, loglik), self._weighted(ratio - 1)

    def curvature(self, eta: FloatArray) -> DiagonalCurvature:
        """Return the observed information, so that Newton converges quadratically."""
        return DiagonalCurvature(self._weighted(self.y * np.exp(-self._shifted(eta))))

    def curvature_of(self, optimum: Optimum) -> DiagonalCurvature:
        """Return the expected information, as score and Wald tests take it."""
        return DiagonalCurvature(self._weighted(np.ones(len(self.y))))

    def maximise(self, Z: FloatArray, beta: FloatArray) -> Optimum:
        # Pearson's dispersion is not stationary at the maximum: an error of the coefficients reaches the criterion.
        optimum = polished(self, Z, maximise(self, Z, beta))
        return replace(optimum, information=self.curvature_of(optimum).gram(Z))

    def dispersion(self, eta: FloatArray, n_params: int) -> float:
        ratio = self.y * np.exp(-self._shifted(eta))
        return float(self._sum((ratio - 1) ** 2)) / (self.n_obs - n_params)

    def finished(self, optimum: Optimum, n_params: int) -> tuple[float, float]:
        eta = optimum.eta
        ratio, scale = self.y * np.exp(-self._shifted(eta)), self.dispersion(eta, n_params)
        ones = np.ones(len(self.y))
        count, precision = (self.weights, ones) if self._frequency else (ones, self.weights)
        shape = (ones if precision is None else precision) / scale
        rows = shape * np.log(shape * ratio) - shape * ratio - special.gammaln(shape) - self._log_y
        return -2 * optimum.loglik, float(rows.sum() if count is None else rows @ count)
