"""Criteria: by how much a move improves on the model at hand.

A criterion sees fits and moves, never the model behind them. Its value is what the trace shows; its gain is
computed from the likelihood ratio of the move itself, so that nothing is lost in a difference of two large numbers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import mul
from typing import Protocol

import numpy as np

from stepsel.core.fits import Fit, FloatArray, Move, Moves
from stepsel.core.tails import chi2_tail, f_tail, log_chi2_tail, log_f_tail
from stepsel.core.terms import IntArray


class Criterion(Protocol):
    """An information criterion or a comparable measure of fit."""

    @property
    def name(self) -> str:
        """As users write it."""

    def value(self, fit: Fit) -> float:
        """Return the criterion of one model, as the trace shows it."""

    def values(self, here: Fit, moves: Moves) -> FloatArray:
        """Return the criterion of every model one move away."""

    def gain(self, here: Fit, move: Move) -> float:
        """Return by how much a move improves the criterion; negative where it makes it worse."""

    def gains(self, here: Fit, moves: Moves) -> FloatArray:
        """Return the same for every move; only their order counts."""


@dataclass(frozen=True)
class Penalized:
    """``-2 log L + penalty(n_params)``: AIC, AICc, BIC and HQIC.

    Parameters
    ----------
    name : str
    penalty : callable
        From the number of coefficients (array) to the penalty (array).
    """

    name: str
    penalty: Callable[[FloatArray], FloatArray]

    def value(self, fit: Fit) -> float:
        return -2 * fit.log_likelihood + self._penalty(fit.n_params)

    def _penalty(self, n_params: float) -> float:
        return float(self.penalty(n_params))  # type: ignore[arg-type]

    def gain(self, here: Fit, move: Move) -> float:
        sign = 1 if move.adding else -1
        there = self._penalty(here.n_params + sign * move.df)
        return sign * move.likelihood_ratio + self._penalty(here.n_params) - there

    def values(self, here: Fit, moves: Moves) -> FloatArray:
        there = here.n_params + moves.direction * moves.df
        return -2 * here.log_likelihood - moves.direction * moves.likelihood_ratio + self.penalty(there)

    def gains(self, here: Fit, moves: Moves) -> FloatArray:
        direction = moves.direction
        there = self.penalty(here.n_params + direction * moves.df)
        with np.errstate(invalid="ignore"):  # AICc is infinite where parameters leave no observations
            return direction * moves.likelihood_ratio + self._penalty(here.n_params) - there


@dataclass(frozen=True)
class AdjustedR2:
    """Adjusted R2: larger is better; its improvements are those of the residual mean square.

    Parameters
    ----------
    null_mean_square : float
        Total sum of squares divided by its degrees of freedom.
    n_obs : float
    """

    null_mean_square: float
    n_obs: float
    name: str = "adj_r2"

    def value(self, fit: Fit) -> float:
        return 1 - fit.deviance / fit.df_resid / self.null_mean_square

    def values(self, here: Fit, moves: Moves) -> FloatArray:
        direction = moves.direction
        df_resid = here.df_resid - direction * moves.df
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 - (here.deviance - direction * moves.change) / df_resid / self.null_mean_square

    def gain(self, here: Fit, move: Move) -> float:
        sign = 1 if move.adding else -1
        df_resid = here.df_resid - sign * move.df
        return sign * move.likelihood_ratio + self.n_obs * math.log(df_resid / here.df_resid)

    def gains(self, here: Fit, moves: Moves) -> FloatArray:
        direction = moves.direction
        df_resid = here.df_resid - direction * moves.df
        with np.errstate(divide="ignore", invalid="ignore"):
            return direction * moves.likelihood_ratio + self.n_obs * np.log(df_resid / here.df_resid)


@dataclass(frozen=True)
class MallowsCp:
    """Mallows' Cp: ``RSS / s2 - n + 2 n_params`` with ``s2`` the residual mean square of the full model.

    Parameters
    ----------
    full_mean_square : float
    n_obs : float

    References
    ----------
    Mallows (1973), Some comments on Cp, Technometrics 15.
    """

    full_mean_square: float
    n_obs: float
    name: str = "cp"

    def value(self, fit: Fit) -> float:
        return fit.deviance / self.full_mean_square - self.n_obs + 2 * fit.n_params

    def values(self, here: Fit, moves: Moves) -> FloatArray:
        return self.value(here) - self.gains(here, moves)

    def gain(self, here: Fit, move: Move) -> float:
        return (1 if move.adding else -1) * (move.change / self.full_mean_square - 2 * move.df)

    def gains(self, here: Fit, moves: Moves) -> FloatArray:
        return moves.direction * (moves.change / self.full_mean_square - 2 * moves.df)


def information_criterion(name: str, n_obs: float, *, free_dispersion: bool = True) -> Penalized:
    """Return AIC, AICc, BIC or HQIC for ``n_obs`` observations.

    Parameters
    ----------
    name : {"aic", "aicc", "bic", "hqic"}
    n_obs : float
    free_dispersion : bool
        Whether a dispersion (the error variance) is estimated besides the counted parameters; AICc counts it.

    References
    ----------
    Akaike (1974); Hurvich and Tsai (1989), which counts the error variance as a parameter; Schwarz (1978);
    Hannan and Quinn (1979).

    Examples
    --------
    >>> information_criterion("bic", 100).value(Fit(1.0, -50.0, 3, 97.0)).__round__(3)
    113.816
    """
    if name == "aicc":
        return Penalized(name, partial(_aicc_penalty, n_obs, int(free_dispersion)))
    per_parameter = {"aic": 2.0, "bic": math.log(n_obs), "hqic": 2 * math.log(math.log(n_obs))}
    return Penalized(name, partial(mul, per_parameter[name]))


def _aicc_penalty(n_obs: float, n_dispersion: int, n_coefficients: FloatArray) -> FloatArray:
    n_params = n_coefficients + n_dispersion
    left = n_obs - n_params - 1
    with np.errstate(divide="ignore"):
        return np.where(left > 0, 2 * n_params * n_obs / np.where(left > 0, left, 1.0), np.inf)


class Test(Protocol):
    """A test of the terms that two models differ by."""

    @property
    def name(self) -> str:
        """As users write it."""

    def statistic(self, here: Fit, moves: Moves) -> tuple[FloatArray, FloatArray]:
        """Return the statistics and their denominator degrees of freedom (inf where there are none)."""

    def log_p_of(self, here: Fit, move: Move) -> float:
        """Return the logarithm of the p-value of one move."""

    def p_value(self, statistic: FloatArray, df: IntArray, df_resid: FloatArray) -> FloatArray:
        """Return p-values."""

    def log_p(self, statistic: FloatArray, df: IntArray, df_resid: FloatArray) -> FloatArray:
        """Return their logarithms, finite where the tail underflows."""


@dataclass(frozen=True)
class ChiSquare:
    """A test whose statistic the engine computes: likelihood ratio, score or Wald.

    Parameters
    ----------
    name : {"lr", "score", "wald"}
    """

    name: str

    def statistic(self, here: Fit, moves: Moves) -> tuple[FloatArray, FloatArray]:
        statistic = np.full(len(moves), np.nan) if moves.statistic is None else moves.statistic
        redundant = (moves.df == 0) & ~moves.adding
        return np.where(redundant, 0.0, statistic), np.full(len(moves), np.inf)

    def log_p_of(self, here: Fit, move: Move) -> float:
        if move.df == 0 or move.statistic is None:
            return 0.0
        return float(log_chi2_tail(move.statistic, move.df))

    def p_value(self, statistic: FloatArray, df: IntArray, df_resid: FloatArray) -> FloatArray:
        return np.where(df > 0, chi2_tail(statistic, np.maximum(df, 1)), 1.0)

    def log_p(self, statistic: FloatArray, df: IntArray, df_resid: FloatArray) -> FloatArray:
        return np.where(df > 0, log_chi2_tail(statistic, np.maximum(df, 1)), 0.0)


class PartialF:
    """Partial F test of the terms that two models differ by."""

    name = "f"

    def statistic(self, here: Fit, moves: Moves) -> tuple[FloatArray, FloatArray]:
        """Return the F statistics and their denominator degrees of freedom."""
        df_resid = here.df_resid - np.where(moves.adding, moves.df, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = (moves.change / moves.df) / (moves.larger_deviance / df_resid)
        # A term of the model that has become redundant: nothing changes when it leaves.
        return np.where((moves.df == 0) & ~moves.adding, 0.0, statistic), df_resid

    def log_p_of(self, here: Fit, move: Move) -> float:
        """Return the logarithm of the p-value of one move."""
        if move.df == 0:
            return 0.0
        df_resid = here.df_resid - (move.df if move.adding else 0)
        statistic = move.change / move.df / (move.larger_deviance / df_resid) if move.larger_deviance > 0 else math.inf
        return float(log_f_tail(statistic, move.df, df_resid))

    def p_value(self, statistic: FloatArray, df: IntArray, df_resid: FloatArray) -> FloatArray:
        """Return the upper tail of the F distribution."""
        return np.where(df > 0, f_tail(statistic, np.maximum(df, 1), df_resid), 1.0)

    def log_p(self, statistic: FloatArray, df: IntArray, df_resid: FloatArray) -> FloatArray:
        """Return its logarithm, finite where the tail underflows."""
        return np.where(df > 0, log_f_tail(statistic, np.maximum(df, 1), df_resid), 0.0)
