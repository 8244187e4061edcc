"""Likelihoods: the log-likelihood of a response as a function of the linear predictor.

A likelihood knows its rows and nothing of the design. It answers for one linear predictor, or for many at once, one a
row; that is all that fits, score statistics and bounds are made of.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from scipy import special

from stepsel.core.discrimination import area_under_curve
from stepsel.core.fits import FloatArray
from stepsel.core.newton import Optimum, inverse_information, maximise

# Columns of a block of rows of linear predictors: small enough to stay in the second-level cache.
_BLOCK = 8192


class Curvature(Protocol):
    """The information of the linear predictor, as a quadratic form on columns of the design (stored as rows)."""

    def gram(self, Z: FloatArray) -> FloatArray:
        """Return ``Z' H Z``; Z has shape (k, n_rows)."""

    def cross(self, Z: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``Z' H X`` of shape (k, p) and the diagonal of ``X' H X``; X has shape (n_rows, p)."""

    def inner(self, A: FloatArray, B: FloatArray) -> FloatArray:
        """Return ``A' H B`` for A and B of shapes (k, n_rows) and (m, n_rows)."""


class Likelihood(Protocol):
    """A family with its response, offset and weights.

    Attributes
    ----------
    name : str
    n_obs : float
        What information criteria count.
    intercept : bool
        Whether the family has one at all.
    batched : bool
        Whether candidates can be fitted together.
    fixed_dispersion : bool
        Whether likelihood ratios are differences of log-likelihoods at one and the same dispersion (or maximised).
    n_nuisance : int
        Estimated parameters besides the coefficients.
    self_concordant : bool
        Whether the third derivative of the log-likelihood of a row, as a function of its linear predictor, is nowhere
        larger than the second: the condition of the bounds of `stepsel.core.brackets`.
    """

    name: str
    n_obs: float
    intercept: bool
    batched: bool
    fixed_dispersion: bool
    n_nuisance: int
    self_concordant: bool

    def evaluate(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log-likelihoods (up to a constant) and their derivatives by eta; eta has shape (..., n_rows)."""

    def curvature(self, eta: FloatArray) -> Curvature:
        """Return the information at one linear predictor."""

    def first(self) -> float:
        """Return the constant linear predictor to start the first fit from."""

    def dispersion(self, eta: FloatArray, n_params: int) -> float:
        """Return the estimated dispersion, 1 where the family has none."""

    def maximise(self, Z: FloatArray, beta: FloatArray) -> Optimum:
        """Return the optimum over the coefficients of ``Z`` (a column a row), started from ``beta``."""

    def curvature_of(self, optimum: Optimum) -> Curvature:
        """Return the information at an optimum, as score and Wald tests take it."""

    def covariance(self, optimum: Optimum, Z: FloatArray) -> FloatArray:
        """Return the estimated covariance of the coefficients, at dispersion one."""

    def finished(self, optimum: Optimum, n_params: int) -> tuple[float, float]:
        """Return deviance and full log-likelihood of a fitted model."""

    def discrimination(self, eta: FloatArray) -> dict[str, float]:
        """Return how well a linear predictor orders the responses, by the name of the measure."""


class DiagonalCurvature:
    """Rows contribute independently: a weight each.

    Parameters
    ----------
    weights : float array of shape (n_rows,)
    """

    def __init__(self, weights: FloatArray) -> None:
        self.weights = weights

    def gram(self, Z: FloatArray) -> FloatArray:
        if self.weights.min(initial=0.0) < 0:  # observed information may be
            return self.inner(Z, Z)
        total, root = np.zeros((len(Z), len(Z))), np.sqrt(self.weights)
        for rows in _blocks(Z.shape[1], max(_BLOCK * 8 // max(len(Z), 1), 256)):
            block = Z[:, rows] * root[rows]
            total += block @ block.T  # numpy sees the symmetry and halves the work
        return total

    def inner(self, A: FloatArray, B: FloatArray) -> FloatArray:
        total = np.zeros((len(A), len(B)))
        for rows in _blocks(A.shape[1]):
            total += (A[:, rows] * self.weights[rows]) @ B[:, rows].T
        return total

    def cross(self, Z: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        total, squares = np.zeros((len(Z), X.shape[1])), np.zeros(X.shape[1])
        for rows in _blocks(len(X), max(_BLOCK * 32 // max(X.shape[1], 1), 256)):
            block, weights = X[rows], self.weights[rows]
            total += (Z[:, rows] * weights) @ block
            squares += weights @ (block * block)
        return total, squares


def _blocks(n: int, size: int = _BLOCK) -> Iterator[slice]:
    return (slice(begin, min(begin + size, n)) for begin in range(0, n, size))


class Rows:
    """What the likelihoods of independent rows share: response, weights, offset.

    Parameters
    ----------
    y : float array of shape (n_rows,)
    weights : float array of shape (n_rows,), optional
        Multiply the contribution of each row.
    offset : float array of shape (n_rows,), optional
        Added to the linear predictor.
    n_obs : float
    """

    intercept = True
    batched = True
    fixed_dispersion = True
    n_nuisance = 0
    self_concordant = False

    def __init__(self, y: FloatArray, weights: FloatArray | None, offset: FloatArray | None, n_obs: float) -> None:
        self.y, self.weights, self.offset, self.n_obs = y, weights, offset, n_obs

    def _shifted(self, eta: FloatArray) -> FloatArray:
        return eta if self.offset is None else eta + self.offset

    def _weighted(self, values: FloatArray) -> FloatArray:
        return values if self.weights is None else values * self.weights

    def _sum(self, values: Any) -> Any:
        return values.sum(axis=-1) if self.weights is None else values @ self.weights

    def _log_mean(self) -> float:
        """Return the log of the mean response, per mean of what the offset multiplies it with."""
        mean = float(np.log(np.average(self.y, weights=self.weights)))
        if self.offset is None:
            return mean
        weights = np.ones(len(self.y)) if self.weights is None else self.weights
        return mean - float(special.logsumexp(self.offset, b=weights / weights.sum()))

    def dispersion(self, eta: FloatArray, n_params: int) -> float:
        return 1.0

    def curvature(self, eta: FloatArray) -> DiagonalCurvature:
        raise NotImplementedError

    def curvature_of(self, optimum: Optimum) -> DiagonalCurvature:
        return self.curvature(optimum.eta)

    def covariance(self, optimum: Optimum, Z: FloatArray) -> FloatArray:
        return inverse_information(optimum.information)

    def evaluate(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        raise NotImplementedError

    def discrimination(self, eta: FloatArray) -> dict[str, float]:
        return {}

    def first(self) -> float:
        raise NotImplementedError

    def maximise(self, Z: FloatArray, beta: FloatArray) -> Optimum:
        return maximise(self, Z, beta)


def entropy(y: FloatArray) -> FloatArray:
    """Return the log-likelihood of shares of events at themselves, a trial a row."""
    return np.asarray(special.xlogy(y, y) + special.xlogy(1 - y, 1 - y), dtype=float)


def log_choose(y: FloatArray, trials: FloatArray | None) -> float:
    """Return the sum of the logs of the binomial coefficients; 0 without trials."""
    if trials is None:
        return 0.0
    events = y * trials
    rows = special.gammaln(trials + 1) - special.gammaln(events + 1) - special.gammaln(trials - events + 1)
    return float(rows.sum())


class Binomial(Rows):
    """Logistic regression.

    Parameters
    ----------
    y : float array of shape (n_rows,)
        0 or 1, or shares of ``trials``.
    weights, offset, n_obs
        As for :class:`Rows`.
    trials : float array of shape (n_rows,), optional

    References
    ----------
    McCullagh and Nelder (1989), Generalized Linear Models, chapter 4.
    """

    name = "binomial"
    self_concordant = True

    def __init__(
        self,
        y: FloatArray,
        weights: FloatArray | None,
        offset: FloatArray | None,
        n_obs: float,
        trials: FloatArray | None = None,
    ) -> None:
        super().__init__(y, weights if trials is None else trials, offset, n_obs)
        self._saturated = float(self._sum(entropy(y)))
        self._constant = log_choose(y, trials)

    def discrimination(self, eta: FloatArray) -> dict[str, float]:
        return {"auc": area_under_curve(self.y, self._shifted(eta), self.weights)}

    def first(self) -> float:
        share = float(np.average(self.y, weights=self.weights))
        return float(np.log(share / (1 - share))) if self.offset is None else 0.0

    def evaluate(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        eta = self._shifted(eta)
        # 1 / (1 + exp(-|eta|)) cannot overflow; it gives the probability and log(1 + exp(eta)). In place: these passes
        # over many candidates are where the time goes.
        work = np.abs(eta)
        np.negative(work, out=work)
        np.exp(work, out=work)
        work += 1
        np.reciprocal(work, out=work)
        part = np.maximum(eta, 0)
        part -= np.log(work)
        loglik = eta @ self._weighted(self.y) - self._sum(part)
        work -= 0.5
        np.copysign(work, eta, out=work)
        np.subtract(self.y - 0.5, work, out=work)  # y less the probability, which is one half plus that
        return loglik, self._weighted(work)

    def curvature(self, eta: FloatArray) -> DiagonalCurvature:
        small = np.exp(-np.abs(self._shifted(eta)))
        return DiagonalCurvature(self._weighted(small / (1 + small) ** 2))

    def finished(self, optimum: Optimum, n_params: int) -> tuple[float, float]:
        return max(2 * (self._saturated - optimum.loglik), 0.0), optimum.loglik + self._constant


class Poisson(Rows):
    """Log-linear regression of counts."""

    name = "poisson"
    self_concordant = True

    def __init__(self, y: FloatArray, weights: FloatArray | None, offset: FloatArray | None, n_obs: float) -> None:
        super().__init__(y, weights, offset, n_obs)
        self._saturated = float(self._sum(special.xlogy(y, y) - y))
        self._constant = -float(self._sum(special.gammaln(y + 1)))

    def first(self) -> float:
        return self._log_mean()

    def evaluate(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        eta = self._shifted(eta)
        with np.errstate(over="ignore", invalid="ignore"):  # a step too long: the likelihood is -inf there
            mean = np.exp(eta)
            return self._sum(self.y * eta - mean), self._weighted(self.y - mean)

    def curvature(self, eta: FloatArray) -> DiagonalCurvature:
        return DiagonalCurvature(self._weighted(np.exp(self._shifted(eta))))

    def finished(self, optimum: Optimum, n_params: int) -> tuple[float, float]:
        return max(2 * (self._saturated - optimum.loglik), 0.0), optimum.loglik + self._constant
