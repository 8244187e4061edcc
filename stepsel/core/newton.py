"""One maximum-likelihood fit: damped Newton, safe where Newton overshoots and where the maximum lies at infinity."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from stepsel.core.fits import FloatArray

# Newton's decrement (twice the distance to the maximum) before a step that is the last; with a kept information matrix
# about _FAST of it is left after that step, else its square. Towards infinity it falls by a factor of e a step.
_DONE = 1e-8
_DONE_AT_INFINITY = 1e-10
# Below _NEAR the information is kept for the next step as long as each step shrinks the decrement by _FAST or more.
_NEAR, _FAST = 1e-3, 1e-2
_MOST_STEPS = 200
# At a finite maximum the last step moves no linear predictor; when the maximum lies at infinity, each step moves some
# by about one under the logit link (less under others) while the likelihood hardly changes any more.
_STILL_MOVING = 0.05
_OUT_OF_REACH = 50.0


class Curved(Protocol):
    """Information of the linear predictor."""

    def gram(self, Z: FloatArray) -> FloatArray:
        """Return the information of the columns of a design, stored as rows."""


class Concave(Protocol):
    """What a fit needs of a likelihood; `stepsel.core.likelihoods.Likelihood` documents it."""

    intercept: bool

    def evaluate(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log-likelihood and its derivative."""

    def curvature(self, eta: FloatArray) -> Curved:
        """Return the information."""

    def first(self) -> float:
        """Return a constant linear predictor to start from."""


@dataclass(frozen=True)
class Optimum:
    """A fitted model.

    Attributes
    ----------
    beta : float array of shape (k,)
    eta : float array of shape (n_rows,)
    loglik : float
        Up to the constant of the likelihood.
    information : float array of shape (k, k), optional
        None until it is asked for: only few of the fitted models are ever stood at.
    residual : float array of shape (n_rows,)
        Derivative of the log-likelihood by eta.
    converged : bool
    separated : bool
        Whether the maximum lies at infinity.
    """

    beta: FloatArray
    eta: FloatArray
    loglik: float
    information: FloatArray | None
    residual: FloatArray
    converged: bool
    separated: bool


def maximise(
    likelihood: Concave, Z: FloatArray, beta: FloatArray, *, done: float = _DONE, moving: float = _STILL_MOVING
) -> Optimum:
    """Maximise the likelihood over the coefficients of the columns of ``Z``.

    Parameters
    ----------
    likelihood : Concave
    Z : float array of shape (k, n_rows)
        The design, a column a row.
    beta : float array of shape (k,)
        Where to start.
    done : float
        Newton decrement before the last step.
    moving : float
        A last step that moves a linear predictor by more than this tells that the maximum lies at infinity.

    Returns
    -------
    Optimum

    References
    ----------
    Nocedal and Wright (2006), Numerical Optimization, chapter 3 (backtracking). Albert and Anderson (1984), On the
    existence of maximum likelihood estimates in logistic regression models, Biometrika 71 (separation).
    """
    eta = beta @ Z
    loglik, residual = _evaluated(likelihood, eta)
    if not np.isfinite(loglik):
        beta = np.zeros(len(beta))
        if likelihood.intercept and len(beta):
            beta[0] = likelihood.first()
        eta = beta @ Z
        loglik, residual = _evaluated(likelihood, eta)
    converged = separated = False
    information = np.empty((0, 0))
    fresh, decrement = True, np.inf
    for _ in range(_MOST_STEPS if len(beta) else 0):
        if fresh:
            information = likelihood.curvature(eta).gram(Z)
        before = decrement
        step, decrement = _newton_step(information, Z @ residual)
        # Near the maximum the information hardly changes: it is kept as long as it takes the decrement down fast.
        fresh = decrement > _NEAR or decrement > _FAST * before
        shift = step @ Z
        size, trial, improved = 1.0, loglik, False
        for _ in range(40):
            trial, trial_residual = _evaluated(likelihood, eta + size * shift)
            if trial >= loglik - 1e-12 * max(abs(loglik), 1.0) and np.isfinite(trial_residual).all():
                improved = True
                break
            size /= 2
        if not improved:
            break
        beta, eta, residual = beta + size * step, eta + size * shift, trial_residual
        loglik = trial
        still = size < 1.0 or bool(np.abs(shift).max(initial=0.0) > moving)
        if size == 1.0 and decrement < (min(done, _DONE_AT_INFINITY) if still else done):
            converged, separated = True, still
            break
    if not converged and len(beta):
        # Stopped at the end of the range of numbers: only a maximum at infinity lies out there.
        separated = bool(np.ptp(eta) > _OUT_OF_REACH)
    return Optimum(beta, eta, loglik, None, residual, converged or not len(beta), separated)


def polished(likelihood: Concave, Z: FloatArray, optimum: Optimum) -> Optimum:
    """Return an optimum after one more Newton step, with an information matrix of its own: it squares the error."""
    if optimum.separated or not optimum.converged or not len(optimum.beta):
        return optimum
    step, _ = _newton_step(likelihood.curvature(optimum.eta).gram(Z), Z @ optimum.residual)
    eta = optimum.eta + step @ Z
    loglik, residual = _evaluated(likelihood, eta)
    if not loglik >= optimum.loglik - 1e-9 * max(abs(optimum.loglik), 1.0):
        return optimum
    return replace(optimum, beta=optimum.beta + step, eta=eta, loglik=loglik, residual=residual)


def _evaluated(likelihood: Concave, eta: FloatArray) -> tuple[float, FloatArray]:
    loglik, residual = likelihood.evaluate(eta)
    return float(loglik), residual


def _newton_step(information: FloatArray, gradient: FloatArray) -> tuple[FloatArray, float]:
    """Return the Newton step and its decrement; directions without information are left alone."""
    size = np.sqrt(np.maximum(information.diagonal(), 1e-300))
    scaled = information / np.multiply.outer(size, size)
    try:
        step = cho_solve(cho_factor(scaled, lower=True, check_finite=False), gradient / size) / size
    except LinAlgError:
        values, vectors = np.linalg.eigh(scaled)
        kept = values > 1e-13 * values[-1]
        inverse = vectors[:, kept] / values[kept]
        step = inverse @ (vectors[:, kept].T @ (gradient / size)) / size
    return step, float(gradient @ step)


def inverse_information(information: FloatArray | None) -> FloatArray:
    """Return the inverse of an information matrix; directions without information get none."""
    assert information is not None
    if not len(information):
        return information
    size = np.sqrt(np.maximum(information.diagonal(), 1e-300))
    scaled = information / np.multiply.outer(size, size)
    try:
        inverse = cho_solve(cho_factor(scaled, lower=True, check_finite=False), np.eye(len(scaled)))
    except LinAlgError:
        values, vectors = np.linalg.eigh(scaled)
        kept = values > 1e-13 * values[-1]
        inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return inverse / np.multiply.outer(size, size)
