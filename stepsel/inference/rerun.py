"""Run a selection again: on resampled, permuted or split rows, one after the other or on several cores."""

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from stepsel.core.fits import FloatArray
from stepsel.core.likelihood_engine import LikelihoodEngine
from stepsel.core.linear import LinearEngine
from stepsel.core.refit import least_squares
from stepsel.core.terms import IntArray
from stepsel.design import Design
from stepsel.inference.outcome import Outcome
from stepsel.result import StepwiseResult
from stepsel.selection import complete, search_again, select
from stepsel.selector import StepwiseSelector
from stepsel.task import Task
from stepsel.threads import one_blas_thread

# A job on another core is worth its way from this many runs on.
_CHUNK = 25
# What a chunk holds of every row stays below this many numbers.
_LARGEST = 2**24
# Rows that frequency weights may stand for: each copy is drawn by itself.
_MOST_COPIES = 10_000_000
_PROGRESS_EVERY = 5.0


def task_of(selector: Any, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Task:
    """Return what a selector, or the result of a selection, runs on, complete rows only.

    Parameters
    ----------
    selector : StepwiseSelector or StepwiseResult
        A selector need not be fitted, and stays as it is.
    X, y, sample_weight, offset
        As for :meth:`StepwiseSelector.fit`; None with a result, which knows its data.

    Raises
    ------
    ValueError
        If the data or the parameters cannot be honoured, or frequency weights are no whole numbers.
    """
    if isinstance(selector, StepwiseResult):
        if X is not None or y is not None:
            raise ValueError("X and y are given besides a result, which has its own data: leave them out.")
        if sample_weight is not None or offset is not None:
            raise ValueError("sample_weight or offset is given besides a result, which has its own: leave it out.")
        task = selector.task
    elif isinstance(selector, StepwiseSelector):
        if X is None:
            raise ValueError("X is missing: give the data that the selection is to be run on.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            task = complete(clone(selector)._task(X, y, sample_weight, offset)[0])
    else:
        raise ValueError(f"selector is {selector!r}: give a StepwiseSelector or the result of a selection.")
    return replace(task, design=_copied(task), settings=replace(task.settings, verbose=0))


def _copied(task: Task) -> Design:
    """Return the design with every row as often as its frequency weight says: copies are drawn one by one."""
    design = task.design
    if design.weights is None or task.settings.weight_type != "frequency":
        return design
    if (design.weights % 1 != 0).any():
        raise ValueError(
            "sample_weight holds fractions, which cannot be copies of a row to draw from: give whole numbers, or "
            'weight_type="analytic".'
        )
    if design.weights.sum() > _MOST_COPIES:
        raise ValueError(
            f"sample_weight stands for {design.weights.sum():.3g} rows, more than can be drawn one by one: give "
            f'weights that sum to {_MOST_COPIES:.0e} at most, or weight_type="analytic".'
        )
    return replace(design.rows(np.repeat(np.arange(len(design.y)), design.weights.astype(np.intp))), weights=None)


def selected(task: Task) -> StepwiseResult:
    """Return the result of a task, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return select(task)


def full_model(task: Task) -> StepwiseResult | None:
    """Return the model of all terms; None where there are too few rows for it."""
    settings = replace(task.settings, max_terms=None, max_steps=0)
    try:
        return selected(replace(task, settings=settings, start=np.ones(len(task.terms), dtype=bool)))
    except (ValueError, np.linalg.LinAlgError):
        return None


def run(task: Task) -> Outcome:
    """Run one selection of many.

    Raises
    ------
    ValueError, LinAlgError
        If it cannot be run.
    """
    engine, path = search_again(task)
    final = path.steps[-1]
    columns = engine.model_columns()
    params = estimates(engine, columns)
    separated = isinstance(engine, LikelihoodEngine) and engine.at_infinity
    return Outcome(final.active, columns, params, final.fit.log_likelihood, final.fit.deviance, separated)


def estimates(engine: LinearEngine | LikelihoodEngine, columns: IntArray) -> FloatArray:
    """Return the coefficients of the model that an engine stands at, the intercept first where there is one."""
    if isinstance(engine, LikelihoodEngine):
        return engine.coefficients().params
    data = engine.data
    if not data.wide:
        quick = _from_cross_products(engine, columns)
        if quick is not None:
            return quick
    return least_squares(data.X[:, columns], data.y, data.weights, intercept=data.intercept).params


def _from_cross_products(engine: LinearEngine, columns: IntArray) -> FloatArray | None:
    """Return the coefficients by the cross-products, where these hold enough digits."""
    stats, unit = engine.data.stats, engine.scale.unit[columns]
    try:
        factor = np.linalg.cholesky(engine.correlation[np.ix_(columns, columns)])
    except np.linalg.LinAlgError:
        return None
    if factor.diagonal().min(initial=1.0) < 1e-3:
        return None
    slopes = np.linalg.solve(factor.T, np.linalg.solve(factor, stats.cross[columns] * unit)) * unit
    if not engine.data.intercept:
        return slopes
    return np.concatenate([[stats.mean_y - stats.mean[columns] @ slopes], slopes])


def on_rows(task: Task, rows: IntArray) -> Task:
    """Return a task on some of its rows, each as often as it is listed."""
    design = task.design
    if task.settings.weight_type != "frequency" or design.trials is not None:
        return replace(task, design=design.rows(rows))
    counts = np.bincount(rows, minlength=len(design.y))
    used = np.flatnonzero(counts)
    part = design.rows(used)
    if len(used) < len(rows):
        times = counts[used].astype(float)
        part = replace(part, weights=times if part.weights is None else part.weights * times)
    return replace(task, design=part)


def spread(params: FloatArray, columns: IntArray, n_columns: int, *, intercept: bool) -> FloatArray:
    """Return coefficients of a model as coefficients of all columns: zero for those that are not in it."""
    result = np.zeros(n_columns + int(intercept))
    result[columns + int(intercept)] = params[int(intercept) :]
    if intercept:
        result[0] = params[0]
    return result


def has_intercept(task: Task) -> bool:
    """Whether the models of a task have an intercept among their coefficients."""
    return task.settings.fit_intercept and task.settings.family != "cox"


# Many runs ----------------------------------------------------------------------------------------------------------


def seeds(random_state: Any, n: int) -> list[np.random.SeedSequence]:
    """Return a seed for each of ``n`` runs, so that the runs are the same on any number of cores.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
    n : int
    """
    if isinstance(random_state, np.random.SeedSequence):
        same = np.random.SeedSequence(
            random_state.entropy, spawn_key=random_state.spawn_key, pool_size=random_state.pool_size
        )
        return same.spawn(n)  # of a copy: the caller's own is not used up
    if isinstance(random_state, np.random.Generator):
        entropy = int(random_state.integers(2**63))
    elif isinstance(random_state, Integral):
        entropy = int(random_state)
    else:
        from sklearn.utils import check_random_state

        entropy = int(check_random_state(random_state).randint(2**31))
    if entropy < 0:
        raise ValueError(f"random_state is {random_state}: give a number of at least 0.")
    return np.random.SeedSequence(entropy).spawn(n)


def many(
    job: Callable[[Task, Any], Any],
    task: Task,
    inputs: Sequence[Any],
    *,
    n_jobs: int | None,
    verbose: int = 0,
    what: str = "runs",
    together: Callable[[Task, Sequence[Any]], list[Any]] | None = None,
) -> list[Any]:
    """Return ``job(task, input)`` for every input, in order; None for those that could not be run.

    Parameters
    ----------
    job : callable
        A function of a module, so that it can be sent to other processes.
    task : Task
    inputs : sequence
    n_jobs : int, optional
        Processes, as joblib counts them.
    verbose : int
        Whether progress is told on standard error.
    what : str
        What the runs are, for messages.
    together : callable, optional
        Does many at once, and leaves None where ``job`` has to.

    Raises
    ------
    ValueError
        If none could be run, with the reason of the first.
    """
    from joblib import Parallel, delayed, effective_n_jobs

    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise ValueError(f"n_jobs is {n_jobs!r}: give a number of processes, or -1 for one a core.")
    if not task.settings.gaussian:  # the same path with fewer refits: bounds rule the others out
        task = replace(task, settings=replace(task.settings, candidates="leading"))
    # The size of a chunk must not depend on the number of cores: it decides the rounding of matrix products.
    widest = max(len(task.design.y), 4 * (task.design.X.shape[1] + 1) ** 2)
    size = min(max(_CHUNK, len(inputs) // 16), _CHUNK * 8, max(1, _LARGEST // widest))
    chunks = [inputs[at : at + size] for at in range(0, len(inputs), size)]
    cores = min(effective_n_jobs(n_jobs), len(chunks))
    parts: Iterator[list[Any]]
    if cores == 1:
        parts = (_some(job, task, chunk, together) for chunk in chunks)
    else:
        parts = Parallel(n_jobs=cores, return_as="generator")(
            delayed(_some)(job, task, chunk, together) for chunk in chunks
        )
    found: list[Any] = []
    told = began = time.monotonic()
    for part in parts:
        found += part
        now = time.monotonic()
        if verbose and now - told > _PROGRESS_EVERY:
            print(f"[stepsel] {len(found)} of {len(inputs)} {what}, {now - began:.0f} s", file=sys.stderr, flush=True)
            told = now
    failures = [item for item in found if isinstance(item, _Failure)]
    if len(failures) == len(found):
        raise ValueError(f"none of the {len(found)} {what} could be run: {failures[0].reason}")
    return [None if isinstance(item, _Failure) else item for item in found]


class _Failure(NamedTuple):
    reason: str


def _some(
    job: Callable[[Task, Any], Any],
    task: Task,
    inputs: Sequence[Any],
    together: Callable[[Task, Sequence[Any]], list[Any]] | None,
) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with one_blas_thread:  # the result must not depend on the number of threads either
            results = [None] * len(inputs) if together is None else together(task, inputs)
        for at, one in enumerate(inputs):
            if results[at] is None:
                try:
                    results[at] = job(task, one)
                except (ValueError, np.linalg.LinAlgError) as error:
                    results[at] = _Failure(str(error))
    return results


def whole_number(value: Any, name: str, least: int = 1) -> int:
    """Return a parameter that is a whole number.

    Raises
    ------
    ValueError
        If it is none, or too small.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is {value!r}: give a whole number of at least {least}.")
    return int(value)
