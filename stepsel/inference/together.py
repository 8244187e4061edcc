"""Gaussian selections of single columns, many at a time: from resampled or permuted rows to their outcomes."""

from typing import NamedTuple

import numpy as np

from stepsel.core.batch import Batch, BatchCriterion, BatchPValue, Rule, search_together
from stepsel.core.criteria import information_criterion
from stepsel.core.fits import FloatArray
from stepsel.core.linear import SMALLEST_TOLERANCE
from stepsel.inference.outcome import Outcome
from stepsel.task import Task

# Products of all pairs of columns are held at once up to this many numbers.
_LARGEST = 2**22
# With more columns a step's arithmetic outweighs its overhead: the engine is faster.
_WIDEST = 100
# A sum of squares that centring leaves less of than this has lost its digits.
_LOST = 1e-6
# Else rows are read in blocks of this many.
_BLOCK = 2**14
_CRITERIA = ("aic", "aicc", "bic", "hqic", "pvalue")


class _Moments(NamedTuple):
    """Cross-products at unit length of many problems, and what leads back to the units of the data.

    Attributes
    ----------
    products : float array of shape (n_problems, n_columns + 1, n_columns + 1)
    size : float array of shape (n_problems, n_columns + 1)
        Root of the sums of squares.
    mean : float array of shape (n_problems, n_columns + 1)
    """

    products: FloatArray
    size: FloatArray
    mean: FloatArray


def fits_together(task: Task, n_drawn: int | None = None) -> bool:
    """Whether a task is of the kind that is run together here, on ``n_drawn`` rows (by default all)."""
    n_rows = len(task.design.y) if n_drawn is None else n_drawn
    spare = 2 * (task.settings.criterion == "aicc")
    settings, design, terms = task.settings, task.design, task.terms
    return (
        settings.gaussian
        and settings.criterion in _CRITERIA
        and settings.max_terms is None
        and settings.max_steps is None
        and design.weights is None
        and terms.hierarchy is None
        and len(terms) > 0
        and bool((terms.sizes == 1).all())
        and design.X.shape[1] <= _WIDEST
        and design.X.shape[1] + 2 + int(settings.fit_intercept) + spare < n_rows
        and settings.tolerance < SMALLEST_TOLERANCE
    )


def resampled_together(task: Task, counts: FloatArray) -> list[Outcome | None]:
    """Run a task on rows that each occur a number of times.

    Parameters
    ----------
    task : Task
    counts : float array of shape (n_problems, n_rows)
        With equal sums.

    Returns
    -------
    list of Outcome
        None for problems whose cross-products do not hold enough digits.
    """
    Z, shift, scale = _scaled(task)
    n_obs = float(counts[0].sum())
    gram = _grams(Z, counts)
    raw = np.einsum("bii->bi", gram).copy()
    mean = counts @ Z / n_obs if task.settings.fit_intercept else np.zeros((len(counts), Z.shape[1]))
    gram -= n_obs * mean[:, :, None] * mean[:, None, :]
    held = (np.einsum("bii->bi", gram) > _LOST * raw).all(axis=1)
    found = _outcomes(task, _at_unit_length(gram, mean, shift, scale), n_obs)
    return [outcome if fine else None for outcome, fine in zip(found, held, strict=True)]


def permuted_together(task: Task, responses: FloatArray) -> list[Outcome | None]:
    """Run a task on other responses.

    Parameters
    ----------
    task : Task
    responses : float array of shape (n_problems, n_rows)

    Returns
    -------
    list of Outcome
        None for problems whose cross-products do not hold enough digits.
    """
    Z, shift, scale = _scaled(task)
    X = Z[:, :-1]
    others = responses - responses.mean(axis=1, keepdims=True) if task.settings.fit_intercept else responses
    others = others / scale[-1]
    gram = np.empty((len(responses), Z.shape[1], Z.shape[1]))
    gram[:, :-1, :-1] = X.T @ X
    gram[:, :-1, -1] = gram[:, -1, :-1] = others @ X
    gram[:, -1, -1] = (others**2).sum(axis=1)
    mean = np.zeros((len(responses), Z.shape[1]))
    if task.settings.fit_intercept:
        mean[:, -1] = (responses.mean(axis=1) - shift[-1]) / scale[-1]
    return _outcomes(task, _at_unit_length(gram, mean, shift, scale), float(Z.shape[0]))


def _scaled(task: Task) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return columns and response, centred where there is an intercept and scaled, in the order of the terms."""
    Z = np.column_stack([np.asarray(task.design.X[:, task.terms.index], dtype=float), task.design.y])
    shift = Z.mean(axis=0) if task.settings.fit_intercept else np.zeros(Z.shape[1])
    Z -= shift
    scale = np.sqrt((Z**2).mean(axis=0))
    scale[scale == 0] = 1.0
    Z /= scale
    return Z, shift, scale


def _grams(Z: FloatArray, counts: FloatArray) -> FloatArray:
    """Return ``Z' diag(count) Z`` of every row of counts."""
    n, k = Z.shape
    first, second = np.triu_indices(k)
    gram = np.empty((len(counts), k, k))
    if n * len(first) <= _LARGEST:
        pairs = counts @ (Z[:, first] * Z[:, second])
        gram[:, first, second] = gram[:, second, first] = pairs
        return gram
    gram[:] = 0.0
    for begin in range(0, n, _BLOCK):
        block = Z[begin : begin + _BLOCK]
        for at, times in enumerate(counts[:, begin : begin + _BLOCK]):
            gram[at] += block.T @ (block * times[:, None])
    return gram


def _at_unit_length(gram: FloatArray, mean: FloatArray, shift: FloatArray, scale: FloatArray) -> _Moments:
    size = np.sqrt(np.maximum(np.einsum("bii->bi", gram), 0.0))
    unit = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    products = gram * unit[:, :, None] * unit[:, None, :]
    return _Moments(products, size * scale, mean * scale + shift)


def _outcomes(task: Task, moments: _Moments, n_obs: float) -> list[Outcome | None]:
    settings, terms = task.settings, task.terms
    rule: Rule
    if settings.criterion == "pvalue":
        rule = BatchPValue(settings.alpha_enter, settings.alpha_remove, n_obs)
    else:
        rule = BatchCriterion(information_criterion(settings.criterion, n_obs), n_obs)
    batch = search_together(
        moments.products,
        rule,
        task.start,
        terms.kept,
        n_obs=n_obs,
        intercept=settings.fit_intercept,
        adds=settings.adds,
        removes=settings.removes,
        smallest_tolerance=SMALLEST_TOLERANCE,
    )
    return [_outcome(task, moments, batch, at, n_obs) if batch.trusted[at] else None for at in range(len(batch.rss))]


def _outcome(task: Task, moments: _Moments, batch: Batch, at: int, n_obs: float) -> Outcome:
    size, mean, active = moments.size[at], moments.mean[at], batch.active[at]
    chosen = np.flatnonzero(active)
    columns = task.terms.index[chosen]
    slopes = batch.slopes[at, chosen] * size[-1] / size[chosen]
    order = np.argsort(columns)
    params = slopes[order]
    if task.settings.fit_intercept:
        params = np.concatenate([[mean[-1] - mean[chosen] @ slopes], params])
    deviance = float(batch.rss[at] * size[-1] ** 2)
    log_likelihood = -n_obs / 2 * (np.log(2 * np.pi * deviance / n_obs) + 1)
    return Outcome(active, columns[order], params, float(log_likelihood), deviance)
