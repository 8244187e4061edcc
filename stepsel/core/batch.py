"""Many least-squares selections at once: the same search on a stack of cross-product matrices.

Resampling asks for thousands of small selections, in each of which the overhead of a step is larger than its
arithmetic. Here every step is made in all of them together, by the symmetric sweep. It takes the moves that `search`
takes; problems in which cross-products would not hold enough digits are left to it.

References
----------
Goodnight (1979), A tutorial on the SWEEP operator, The American Statistician 33.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from stepsel.core.criteria import PartialF, Penalized
from stepsel.core.fits import FloatArray
from stepsel.core.linear import SMALLEST_RESIDUAL_SHARE
from stepsel.core.policies import STRICT, TIE
from stepsel.core.terms import BoolArray, IntArray


class Rule(Protocol):
    """Which of the best removal and the best addition each problem takes."""

    def takes(self, here: "Here") -> tuple[BoolArray, BoolArray]:
        """Return which problems remove, and which of the others add."""


class Here(NamedTuple):
    """Where every problem stands.

    Attributes
    ----------
    rss : float array of shape (n_problems,)
    n_params : int array of shape (n_problems,)
    cost, gain : float arrays of shape (n_problems,)
        What the best removal adds to the residual sum of squares, and what the best addition takes off; inf and -inf
        where there is none.
    """

    rss: FloatArray
    n_params: IntArray
    cost: FloatArray
    gain: FloatArray


@dataclass(frozen=True)
class BatchCriterion:
    """The best strict improvement of an information criterion, as `InformationPolicy` has it."""

    criterion: Penalized
    n_obs: float

    def takes(self, here: Here) -> tuple[BoolArray, BoolArray]:
        """Return which problems remove, and which of the others add."""
        k, penalty = here.n_params.astype(np.float64), self.criterion.penalty
        there = np.asarray(penalty(k), dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = self.n_obs * np.log1p(here.cost / here.rss)
            removal = there - penalty(np.maximum(k - 1.0, 0.0)) - loss
            improvement = self.n_obs * np.log1p(here.gain / (here.rss - here.gain))
            addition = improvement + there - penalty(k + 1.0)
        removal = np.where(np.isfinite(here.cost), removal, -np.inf)
        addition = np.where(here.gain >= 0, addition, -np.inf)
        removes = removal > STRICT
        best = np.where(removes, removal, 0.0)
        least = np.where(removes, best + TIE * np.maximum(1.0, best), STRICT)
        adds = addition > least
        return removes & ~adds, adds


@dataclass(frozen=True)
class BatchPValue:
    """Removal while the largest p is above one level, else addition below another, as `PValuePolicy` has it."""

    alpha_enter: float
    alpha_remove: float
    n_obs: float

    def takes(self, here: Here) -> tuple[BoolArray, BoolArray]:
        """Return which problems remove, and which of the others add."""
        test, one, log = PartialF(), np.ones(len(here.rss), dtype=np.intp), np.log
        df: FloatArray = np.asarray(self.n_obs - here.n_params, dtype=np.float64)
        less: FloatArray = df - 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            leave = test.log_p(np.where(np.isfinite(here.cost), here.cost, 0.0) / (here.rss / df), one, df)
            gain = np.maximum(here.gain, 0.0)
            enter = test.log_p(gain / ((here.rss - gain) / less), one, less)
            levels = log(self.alpha_enter), log(self.alpha_remove)
        removes = np.isfinite(here.cost) & (leave > levels[1])
        return removes, ~removes & (here.gain >= 0) & (enter < levels[0])


class Batch(NamedTuple):
    """What every problem selected.

    Attributes
    ----------
    active : bool array of shape (n_problems, n_columns)
    slopes : float array of shape (n_problems, n_columns)
        In the units of the cross-products; zero where a column was not selected.
    rss : float array of shape (n_problems,)
    trusted : bool array of shape (n_problems,)
        Where False, the other fields mean nothing.
    """

    active: BoolArray
    slopes: FloatArray
    rss: FloatArray
    trusted: BoolArray


def search_together(
    products: FloatArray,
    rule: Rule,
    start: BoolArray,
    kept: BoolArray,
    *,
    n_obs: float,
    intercept: bool,
    adds: bool,
    removes: bool,
    smallest_tolerance: float,
) -> Batch:
    """Run the search in many least-squares problems together.

    Parameters
    ----------
    products : float array of shape (n_problems, n_columns + 1, n_columns + 1)
        Cross-products of columns at unit length, the intercept swept out, and of the response, which is last.
        Overwritten.
    rule : Rule
    start, kept : bool arrays of shape (n_columns,)
    n_obs : float
        Of every problem.
    intercept, adds, removes : bool
    smallest_tolerance : float
        Problems in which a column has a smaller one are not trusted.

    Returns
    -------
    Batch
    """
    n_problems, p = len(products), products.shape[1] - 1
    active = np.zeros((n_problems, p), dtype=bool)
    total = products[:, p, p].copy()
    trusted = total > 0
    everyone = np.arange(n_problems)
    for column in np.flatnonzero(start):
        trusted &= ~(products[:, column, column] <= smallest_tolerance)
        _sweep(products, everyone, np.full(n_problems, column), entering=np.ones(n_problems, dtype=bool))
        active[:, column] = True
    running = np.flatnonzero(trusted)
    for _ in range(4 * p + 20):
        if not len(running):
            break
        held, now = products[running], active[running]
        diagonal = np.einsum("bii->bi", held)[:, :p]
        squares = held[:, :p, p] ** 2
        rss = held[:, p, p]
        with np.errstate(divide="ignore", invalid="ignore"):
            tolerance = np.where(now, -1 / diagonal, diagonal)
            change = np.where(now, squares / -diagonal, squares / diagonal)
        n_params = now.sum(axis=1) + int(intercept)
        may_add = ~now & (adds & (n_obs - n_params - 1 >= 1))[:, None]
        may_remove = now & ~kept & removes
        best_add, gain = _first_best(np.where(may_add, change, -np.inf))
        best_remove, cost = _first_best(np.where(may_remove, -change, -np.inf))
        looked_at = may_add | now
        fine = ~((tolerance <= smallest_tolerance) & looked_at).any(axis=1)
        fine &= rss - np.maximum(gain, 0.0) > SMALLEST_RESIDUAL_SHARE * total[running]
        fine &= np.isfinite(rss)
        trusted[running[~fine]] = False
        take_out, put_in = rule.takes(Here(rss, n_params, -cost, gain))
        moving = fine & (take_out | put_in)
        column = np.where(take_out, best_remove, best_add)[moving]
        running = running[moving]
        _sweep(products, running, column, entering=put_in[moving])
        active[running, column] = put_in[moving]
    trusted[running] = False  # still moving: a cycle, which `search` knows how to end
    slopes = np.where(active, products[:, :p, p], 0.0)
    return Batch(active, slopes, products[:, p, p].copy(), trusted)


def _sweep(products: FloatArray, problems: IntArray, columns: IntArray, *, entering: BoolArray) -> None:
    """Sweep one column of each problem into its model, or out of it.

    The swept block is minus the inverse, so that both ways are the same but for the signs of row and column.
    """
    held = products[problems]
    each = np.arange(len(problems))
    row = held[each, columns].copy()
    pivot = row[each, columns].copy()
    scaled = row / pivot[:, None]
    held -= row[:, :, None] * scaled[:, None, :]
    side = np.where(entering, 1.0, -1.0)[:, None] * scaled
    held[each, columns] = side
    held[each, :, columns] = side
    held[each, columns, columns] = -1 / pivot
    products[problems] = held


def _first_best(score: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the first column whose score ties with the largest of its row, and its score."""
    best = score.max(axis=1, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        near = score >= (best - TIE * np.abs(best))[:, None]
    near |= score == best[:, None]
    at = near.argmax(axis=1)
    return at, np.where(np.isfinite(best), score[np.arange(len(score)), at], -np.inf)
