"""A permutation test of the whole selection: how good the best model would look on noise."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from stepsel.core.fits import FloatArray
from stepsel.core.refit import least_squares
from stepsel.core.terms import IntArray
from stepsel.inference.outcome import Outcome
from stepsel.inference.rerun import many, run, seeds, task_of, whole_number
from stepsel.inference.together import fits_together, permuted_together
from stepsel.summary import Summary
from stepsel.task import Task

STATISTICS = ("r2", "deviance", "n_selected")
_QUANTILES = (0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class NullTest:
    """How a selection does on noise.

    Attributes
    ----------
    statistic : str
    observed : float
        On the data.
    null : float array of shape (n_permutations,)
        On permuted data.
    n_selected_null : int array of shape (n_permutations,)
        Terms selected besides the kept ones, on permuted data.
    n_failed : int
        Permutations without a result.
    """

    statistic: str
    observed: float
    null: FloatArray
    n_selected_null: IntArray
    n_failed: int

    @property
    def p_value(self) -> float:
        """``(1 + b) / (1 + n)``, with ``b`` of ``n`` permutations at least as large as what was observed."""
        least = self.observed - 1e-9 * max(abs(self.observed), float(np.abs(self.null).max(initial=0.0)))
        return float((1 + (self.null >= least).sum()) / (1 + len(self.null)))

    @property
    def quantiles(self) -> pd.Series:
        """The 50, 90, 95 and 99 % quantiles of the statistic on permuted data."""
        return pd.Series(np.quantile(self.null, _QUANTILES), index=list(_QUANTILES), name=self.statistic)

    def summary(self) -> Summary:
        """Return the test and what it says as text (and as HTML in a notebook)."""
        table = pd.DataFrame({"observed": [self.observed], "p_value": [self.p_value]})
        for level, value in self.quantiles.items():
            table[f"null {level:.0%}"] = value
        failed = f" ({self.n_failed} more could not be run)" if self.n_failed else ""
        text = (
            f"{len(self.null)} permutations{failed}; the whole selection was run on each. On noise it selects "
            f"{self.n_selected_null.mean():.2f} terms on average, and at least one in "
            f"{100 * (self.n_selected_null > 0).mean():.0f} % of the permutations.\nThe test is of the hypothesis that "
            "no candidate has an effect; it says nothing of single terms."
        )
        return Summary([(f"Null test of the selection ({self.statistic})", table)], text)

    def __repr__(self) -> str:
        return f"<NullTest: {self.statistic} {self.observed:.4g}, p = {self.p_value:.4g}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def null_test(
    selector: Any,
    X: Any = None,
    y: Any = None,
    *,
    n_permutations: int = 999,
    statistic: str = "r2",
    random_state: Any = None,
    n_jobs: int | None = None,
    sample_weight: Any = None,
    offset: Any = None,
    verbose: int = 0,
) -> NullTest:
    """Test whether the selected model is better than what the same selection finds on noise.

    Parameters
    ----------
    selector : StepwiseSelector or StepwiseResult
        A selector, fitted or not, with ``X`` and ``y``; or a result, such as `stepwise` returns.
    X, y, sample_weight, offset
        As for :meth:`StepwiseSelector.fit`.
    n_permutations : int
    statistic : {"r2", "deviance", "n_selected"}
        R2 (McFadden's outside the Gaussian family; beyond the kept terms, if there are some), the deviance that is
        explained beyond them, or the number of selected terms besides the kept ones, of the selected model.
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Processes, as joblib counts them; the result is the same on any number.
    verbose : int
        Whether progress is told on standard error.

    Returns
    -------
    NullTest
        ``.observed, .p_value, .quantiles, .n_selected_null, .summary()``.

    Raises
    ------
    ValueError
        If a parameter has no such value, or no permutation could be run.

    Notes
    -----
    Without kept terms the response, with its weights and offset, is permuted against the candidates. With kept terms
    residuals are permuted: of the response on the kept terms in the Gaussian family (Freedman and Lane), of the
    candidates on the kept terms elsewhere (Potter).

    References
    ----------
    Freedman and Lane (1983), A nonstochastic interpretation of reported significance levels, Journal of Business and
    Economic Statistics 1. Potter (2005), A permutation test for inference in logistic regression, Statistics in
    Medicine 24. Phipson and Smyth (2010), Permutation p-values should never be zero, SAGMB 9.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsel import StepwiseSelector
    >>> from stepsel.inference import null_test
    >>> rng = np.random.default_rng(3)
    >>> X, y = rng.normal(size=(80, 6)), rng.normal(size=80)
    >>> test = null_test(StepwiseSelector(), X, y + X[:, 0], n_permutations=99, random_state=0)
    >>> test.p_value
    0.01
    """
    if statistic not in STATISTICS:
        raise ValueError(f"statistic is {statistic!r}: choose one of {', '.join(map(repr, STATISTICS))}.")
    count = whole_number(n_permutations, "n_permutations")
    task = task_of(selector, X, y, sample_weight, offset)
    if task.terms.kept.all():
        raise ValueError("every term is kept: there is no selection to test.")
    inputs = seeds(random_state, count)
    kept = _on_kept(task)
    jobs = [(seed, kept) for seed in inputs]
    together = _together if fits_together(task) else None
    found = many(_permuted, task, jobs, n_jobs=n_jobs, verbose=verbose, what="permutations", together=together)
    figures = [_figures(task, run(task), kept, None)] + [item for item in found if item is not None]
    deviance, loglik, size, reference = (np.array(values, dtype=float) for values in zip(*figures, strict=True))
    n_selected = (size - int(task.terms.kept.sum())).astype(np.intp)
    if statistic == "n_selected":
        values = n_selected.astype(float)
    elif task.settings.gaussian:
        values = 1 - deviance / reference
        if statistic == "deviance":
            # In the units of the data; permuted residuals leave other amounts to explain beyond the kept terms.
            values = values * reference[0]
    else:
        base = _kept_alone(task)
        values = 1 - loglik / base.log_likelihood if statistic == "r2" else base.deviance - deviance
        if statistic == "deviance" and task.settings.family == "negative_binomial":
            values = 2 * (loglik - base.log_likelihood)  # deviances at other dispersions do not compare
    return NullTest(statistic, float(values[0]), values[1:], n_selected[1:], len(found) - len(figures) + 1)


def _kept_alone(task: Task) -> Outcome:
    """Return the model of the kept terms alone."""
    settings = replace(task.settings, max_steps=0, max_terms=None)
    return run(replace(task, start=task.terms.kept.copy(), settings=settings))


def _on_kept(task: Task) -> Any:
    """Return what is needed to permute a task: fitted values and residuals on the kept terms; None without any."""
    kept = task.terms.columns_of(np.flatnonzero(task.terms.kept))
    if not len(kept):
        return None
    design, intercept = task.design, task.settings.fit_intercept
    columns = _independent(design.X[:, kept], intercept=intercept)
    Z = np.asarray(design.X[:, kept[columns]], dtype=float)
    if task.settings.gaussian:
        fit = least_squares(Z, design.y, design.weights, intercept=intercept)
        fitted = Z @ fit.params[int(intercept) :] + (fit.params[0] if intercept else 0.0)
        root = np.ones(len(design.y)) if design.weights is None else np.sqrt(design.weights)
        basis = np.column_stack([np.ones((len(Z), int(intercept))), Z]) * root[:, None]
        return (
            "response",
            fitted,
            (design.y - fitted) * root,
            root,
            np.linalg.qr(basis / np.linalg.norm(basis, axis=0))[0],
        )
    others = np.setdiff1d(np.arange(design.X.shape[1]), kept)
    basis = np.column_stack([np.ones(len(Z)), Z])
    X = np.asarray(design.X[:, others], dtype=float)
    fitted = basis @ np.linalg.lstsq(basis, X, rcond=None)[0]
    return ("candidates", fitted, X - fitted, others)


def _independent(X: Any, *, intercept: bool) -> IntArray:
    """Return columns that span what all do."""
    from scipy.linalg import qr

    whole = np.linalg.norm(np.asarray(X, dtype=float), axis=0)
    centred = np.asarray(X, dtype=float) - (np.mean(X, axis=0) if intercept else 0.0)
    size = np.linalg.norm(centred, axis=0)
    centred[:, size <= 1e-10 * whole] = 0.0
    _, R, order = qr(centred / np.where(size > 0, size, 1.0), mode="economic", pivoting=True)
    return np.sort(order[np.flatnonzero(np.abs(R.diagonal()) > 1e-10)])


def _permuted(task: Task, how: tuple[np.random.SeedSequence, Any]) -> tuple[float, float, int, float]:
    seed, kept = how
    design, order = task.design, np.random.default_rng(seed).permutation(len(task.design.y))
    if kept is None:
        vectors = {name: getattr(design, name) for name in ("y", "weights", "trials", "status", "offset")}
        moved = {name: values[order] for name, values in vectors.items() if values is not None}
        changed = replace(design, **moved)
    elif kept[0] == "response":
        changed = replace(design, y=kept[1] + kept[2][order] / kept[3])
    else:
        _, fitted, residual, others = kept
        X = np.array(design.X, dtype=float)
        X[:, others] = fitted + residual[order]
        changed = replace(design, X=X)
    return _figures(task, run(replace(task, design=changed)), kept, order)


def _figures(task: Task, outcome: Outcome, kept: Any, order: Any) -> tuple[float, float, int, float]:
    """Return deviance, log-likelihood and size of a selected model, and in the Gaussian family what is to be explained.

    That is the residual sum of squares of the kept terms alone, on the same response.
    """
    reference = np.nan
    if task.settings.gaussian and kept is None:
        y = task.design.y
        weights = np.ones(len(y)) if task.design.weights is None else task.design.weights
        mean = np.average(y, weights=weights) if task.settings.fit_intercept else 0.0
        reference = float(weights @ (y - mean) ** 2)
    elif task.settings.gaussian:
        residual = kept[2] if order is None else kept[2][order]
        reference = float(np.sum((residual - kept[4] @ (kept[4].T @ residual)) ** 2))
    return outcome.deviance, outcome.log_likelihood, int(outcome.active.sum()), reference


def _together(task: Task, inputs: Sequence[tuple[np.random.SeedSequence, Any]]) -> list[Any]:
    n, y = len(task.design.y), task.design.y
    orders = [np.random.default_rng(seed).permutation(n) for seed, _ in inputs]
    kept = inputs[0][1]
    responses = np.array([y[order] if kept is None else kept[1] + kept[2][order] / kept[3] for order in orders])
    outcomes = zip(permuted_together(task, responses), orders, strict=True)
    return [None if outcome is None else _figures(task, outcome, kept, order) for outcome, order in outcomes]
