"""Fits: what an engine says of one model, and of all the models one move away."""

import math
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stepsel.core.terms import BoolArray, IntArray

FloatArray = npt.NDArray[np.float64]


class Status(IntEnum):
    """Why a candidate move is open or closed; the names are those of the candidates table."""

    eligible = 0
    chosen = 1
    aliased = 2
    constant = 3
    saturated = 4
    kept = 5
    separated = 6
    bounded = 7


class Fit(NamedTuple):
    """One fitted model.

    Attributes
    ----------
    deviance : float
        For the Gaussian family the residual sum of squares.
    log_likelihood : float
        At the maximum-likelihood estimates, all constants included.
    n_params : int
        Estimated coefficients, the intercept included, the scale not.
    df_resid : float
        ``n_obs - n_params``.
    """

    deviance: float
    log_likelihood: float
    n_params: int
    df_resid: float


class Move(NamedTuple):
    """One of the :class:`Moves`, with the meaning that its fields have there."""

    adding: bool
    df: int
    change: float
    larger_deviance: float
    likelihood_ratio: float
    statistic: float | None


@dataclass(slots=True, eq=False)  # not frozen: a frozen one takes three times as long to make, at every step
class Moves:
    """The neighbours of one model, one entry a move, removals first.

    Attributes
    ----------
    term : int array of shape (n_moves,)
    n_removals : int
        The first ``n_removals`` moves take their term out, the others put it in.
    df : int array
        Parameters by which the two models differ.
    uniform : bool
        Whether every ``df`` is 1 and every move eligible.
    change : float array
        Deviance of the smaller model minus deviance of the larger one, never negative.
    tolerance : float array
        ``1 - R2`` of the term on the other columns of the larger model; for a term with several columns the
        smallest over its columns.
    status : int array of :class:`Status`
    deviance : float
        Of the model at hand.
    profiled_n : float, optional
        The number of observations where the likelihood has the scale profiled out (Gaussian), so that the
        likelihood ratio is ``n log(deviance ratio)``; None elsewhere.
    ratio : float array, optional
        Twice the difference of the log-likelihoods, larger model minus smaller, where it is not the profiled one.
    statistic : float array, optional
        The test statistic of each move, where it is not the partial F that follows from the deviances.
    """

    term: IntArray
    n_removals: int
    df: IntArray
    uniform: bool
    change: FloatArray
    tolerance: FloatArray
    status: npt.NDArray[np.int8]
    deviance: float
    profiled_n: float | None
    ratio: FloatArray | None = None
    statistic: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.term)

    @property
    def adding(self) -> BoolArray:
        """True where the term enters, False where it leaves."""
        return np.arange(len(self.term)) >= self.n_removals

    @property
    def open(self) -> npt.NDArray[np.bool_]:
        """Which moves may be taken: a term that separates the response may, as its likelihood ratio stands."""
        return (self.status == Status.eligible) | (self.status == Status.separated)

    @property
    def direction(self) -> FloatArray:
        """+1 where the term enters, -1 where it leaves."""
        return np.where(self.adding, 1.0, -1.0)

    @property
    def larger_deviance(self) -> FloatArray:
        """Deviance of the larger of the two models of each move."""
        return self.deviance - np.where(self.adding, self.change, 0.0)

    @property
    def likelihood_ratio(self) -> FloatArray:
        """Twice the difference of the log-likelihoods, larger model minus smaller."""
        if self.profiled_n is None:
            return self.change if self.ratio is None else self.ratio
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.profiled_n * np.log1p(self.change / self.larger_deviance)

    def part(self, adding: bool) -> "Moves | None":
        """Return the additions or the removals only, None where there are none."""
        n_removals = self.n_removals
        n_part = len(self.term) - n_removals if adding else n_removals
        if n_part == len(self.term):
            return self if n_part else None
        if n_part == 0:
            return None
        return self._rows(slice(n_removals, None), 0) if adding else self._rows(slice(0, n_removals), n_removals)

    def one(self, at: int) -> "Move":
        """Return a single move."""
        adding, change = at >= self.n_removals, float(self.change[at])
        larger = self.deviance - change if adding else self.deviance
        if self.profiled_n is None:
            likelihood_ratio = change if self.ratio is None else float(self.ratio[at])
        else:
            likelihood_ratio = self.profiled_n * math.log1p(change / larger) if larger > 0 else math.inf
        statistic = None if self.statistic is None else float(self.statistic[at])
        return Move(adding, int(self.df[at]), change, larger, likelihood_ratio, statistic)

    def _rows(self, rows: slice, n_removals: int) -> "Moves":
        return replace(
            self,
            term=self.term[rows],
            n_removals=n_removals,
            df=self.df[rows],
            change=self.change[rows],
            tolerance=self.tolerance[rows],
            status=self.status[rows],
            ratio=None if self.ratio is None else self.ratio[rows],
            statistic=None if self.statistic is None else self.statistic[rows],
        )
