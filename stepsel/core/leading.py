"""The best addition or removal with as few fits as proven bounds allow.

Only for likelihoods whose rows satisfy the condition of `stepsel.core.brackets` (logistic and Poisson regression under
the canonical link); the engine checks it. What a bound rules out is returned as NaN.
"""

from collections.abc import Callable

import numpy as np

from stepsel.core import brackets
from stepsel.core.chord import BLOCK, Here
from stepsel.core.fits import FloatArray
from stepsel.core.terms import IntArray

_MOST_STEPS = 10


def best_addition(
    here: Here, X: FloatArray, columns: IntArray, exact: Callable[[int, FloatArray | None], float]
) -> tuple[FloatArray, int]:
    """Find the column whose addition gains most.

    Parameters
    ----------
    here : Here
    X : float array of shape (n_rows, p)
    columns : int array of shape (m,)
    exact : callable
        From a position in ``columns``, and coefficients to start from, to the likelihood ratio by a fit of its own.

    Returns
    -------
    ratios : float array of shape (m,)
        Exact for the contenders that were fitted, NaN for those that the bounds rule out.
    best : int
    """
    loadings, left, gradient = here.score_pass(X, columns)
    score = gradient**2 / left
    leverage = _leverages(here)
    first = int(score.argmax())
    radius = np.sqrt(
        (leverage + _left_over(here, X, columns[[first]], loadings[:, [first]])[0] ** 2 / left[first]).max()
    )
    floor = float(brackets.lower(score[first : first + 1], np.array([radius]))[0])
    # A crude radius first: largest entries instead of the columns themselves.
    largest = here.largest[columns] + here.largest_of_model @ np.abs(loadings)
    crude = np.sqrt(leverage.max() + largest**2 / left)
    contenders = np.flatnonzero(brackets.upper(score, crude) >= floor)
    contenders = np.union1d(contenders, [first])
    ratios = np.full(len(columns), np.nan)
    for at, start in _narrowed(here, X, columns, loadings, left, gradient, leverage, contenders, floor):
        ratios[at] = exact(at, start)
    return ratios, int(np.nanargmax(ratios))


def _narrowed(
    here: Here,
    X: FloatArray,
    columns: IntArray,
    loadings: FloatArray,
    left: FloatArray,
    gradient: FloatArray,
    leverage: FloatArray,
    contenders: IntArray,
    floor: float,
) -> list[tuple[int, FloatArray]]:
    """Narrow the contenders by chord steps, each with a bracket of what is still to be gained.

    Returned are the positions of those that are left, with the coefficients that the steps have reached.
    """
    height = max(2, BLOCK // (2 * len(X)))
    best, kept = floor, list[tuple[int, FloatArray]]()
    for begin in range(0, len(contenders), height):
        at = contenders[begin : begin + height]
        left_over = _left_over(here, X, columns[at], loadings[:, at])
        radius = np.sqrt((leverage + left_over**2 / left[at, None]).max(axis=1))
        inside = brackets.upper(gradient[at] ** 2 / left[at], radius) >= best
        at, left_over, radius = at[inside], left_over[inside], radius[inside]
        at, reached, best = _race(here, at, left_over, left[at], gradient[at] / left[at], radius, best)
        # In terms of the columns themselves instead of what the model leaves of them.
        reached[:, :-1] += here.optimum.beta - reached[:, -1:] * loadings[:, at].T
        kept += zip(at.tolist(), reached, strict=True)
    # A later block may have raised the bar for an earlier one; the fits decide.
    return kept


def _race(
    here: Here,
    at: IntArray,
    left_over: FloatArray,
    left: FloatArray,
    first: FloatArray,
    radius: FloatArray,
    best: float,
) -> tuple[IntArray, FloatArray, float]:
    """Let contenders take chord steps together; drop each as soon as its upper bound is below the best lower bound."""
    base, Z = here.optimum, here.Z
    shift = first[:, None] * left_over
    reached = np.column_stack([np.zeros((len(at), len(Z))), first])
    aside: list[tuple[IntArray, FloatArray]] = []
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(_MOST_STEPS):
            if len(at) <= 1:
                break
            loglik, residual = here.likelihood.evaluate(base.eta + shift)
            lost = ~(np.isfinite(loglik) & np.isfinite(residual).all(axis=1))
            if lost.any():  # overshot: only a fit of its own can tell
                aside.append((at[lost], np.zeros((int(lost.sum()), len(Z) + 1))))
                at, left_over, left, radius = at[~lost], left_over[~lost], left[~lost], radius[~lost]
                reached = reached[~lost]
                shift, loglik, residual = shift[~lost], loglik[~lost], residual[~lost]
            gradient = residual @ Z.T
            on_model = gradient @ here.inverse
            own = np.einsum("ij,ij->i", left_over, residual) / left
            decrement = np.einsum("ij,ij->i", gradient, on_model) + own**2 * left
            # The information has changed by at most a factor exp(moved) since the model at hand.
            moved = np.maximum(shift.max(axis=1), -shift.min(axis=1))
            gained = 2 * (loglik - base.loglik)
            most = gained + brackets.upper(decrement * np.exp(moved), radius * np.exp(moved / 2))
            most = np.where(np.isnan(most), np.inf, most)
            best = max(best, float(gained[np.isfinite(gained)].max(initial=best)))
            # Rounding of the log-likelihood must not rule out a tie.
            inside = most >= best - 1e-9 * max(1.0, abs(best))
            settled = inside & (decrement < 1e-12)
            at, left_over, left, radius = at[inside], left_over[inside], left[inside], radius[inside]
            if settled.sum() == inside.sum():
                reached = reached[inside]
                break
            shift = shift[inside] + own[inside, None] * left_over + on_model[inside] @ Z
            reached = reached[inside] + np.column_stack([on_model, own])[inside]
    at, reached = (np.concatenate(parts) for parts in zip((at, reached), *aside, strict=True))
    return at, reached, best


def best_removal(
    here: Here, X: FloatArray, rows: IntArray, exact: Callable[[int, FloatArray | None], float]
) -> tuple[FloatArray, int]:
    """Find the row of the design whose removal costs least; parameters and result as for :func:`best_addition`."""
    radius = np.sqrt(_leverages(here).max())
    wald = here.optimum.beta[rows] ** 2 / here.inverse[rows, rows]
    least = brackets.removal_lower(wald, np.full(len(rows), radius))
    ratios, best = np.full(len(rows), np.nan), np.inf
    for at in np.argsort(least, kind="stable"):
        if least[at] > best + 1e-9 * max(1.0, best):
            break
        ratios[at] = exact(int(at), None)
        best = min(best, float(ratios[at]))
    return ratios, int(np.nanargmin(ratios))


def _leverages(here: Here) -> FloatArray:
    """Return the unweighted leverage of every row of the model."""
    factor = np.linalg.cholesky(here.inverse)
    leverage = np.empty(here.Z.shape[1])
    for begin in range(0, len(leverage), 8192):
        rows = slice(begin, begin + 8192)
        part = factor.T @ here.Z[:, rows]
        leverage[rows] = np.einsum("ij,ij->j", part, part)
    return leverage


def _left_over(here: Here, X: FloatArray, columns: IntArray, loadings: FloatArray) -> FloatArray:
    return X[:, columns].T - loadings.T @ here.Z
