"""Optimism: how much better a selected model looks on its own data than on new data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from stepsel.core.cox import Cox
from stepsel.core.fits import FloatArray
from stepsel.core.terms import IntArray
from stepsel.families import family_name, likelihood_of, mean_response
from stepsel.inference.outcome import Outcome
from stepsel.inference.rerun import has_intercept, many, on_rows, run, seeds, task_of, whole_number
from stepsel.inference.together import fits_together, resampled_together
from stepsel.summary import Summary
from stepsel.task import Task


@dataclass(frozen=True)
class Optimism:
    """Apparent and corrected performance of the whole procedure.

    Attributes
    ----------
    table : DataFrame
        Index ``measure``; ``apparent`` (of the selected model on its own data), ``optimism`` (mean over bootstrap
        samples of performance there minus performance on all rows), ``corrected`` (their difference).
    n_resamples, n_failed : int
        Bootstrap samples that count, and those that could not be run or separate the response.
    """

    table: pd.DataFrame
    n_resamples: int
    n_failed: int

    def summary(self) -> Summary:
        """Return the table as text (and as HTML in a notebook)."""
        failed = f" ({self.n_failed} more could not be run or separate the response)" if self.n_failed else ""
        text = (
            f"{self.n_resamples} bootstrap samples{failed}; the whole selection was run on each. What is corrected "
            "estimates the performance on new data of the same kind."
        )
        return Summary([("Optimism of the selection", self.table.reset_index())], text)

    def __repr__(self) -> str:
        return f"<Optimism: {self.n_resamples} bootstrap samples>\n{self.table}"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def optimism(
    selector: Any,
    X: Any = None,
    y: Any = None,
    *,
    n_resamples: int = 200,
    random_state: Any = None,
    n_jobs: int | None = None,
    sample_weight: Any = None,
    offset: Any = None,
    verbose: int = 0,
) -> Optimism:
    """Estimate by the bootstrap how optimistic R2, deviance and discrimination of the selected model are.

    Parameters
    ----------
    selector : StepwiseSelector or StepwiseResult
        A selector, fitted or not, with ``X`` and ``y``; or a result, such as `stepwise` returns.
    X, y, sample_weight, offset
        As for :meth:`StepwiseSelector.fit`.
    n_resamples : int
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Processes, as joblib counts them; the result is the same on any number.
    verbose : int
        Whether progress is told on standard error.

    Returns
    -------
    Optimism
        ``.table`` with the measures "r2" (share of the deviance that is explained; of the log partial likelihood for
        Cox) and "deviance" (per observation; the mean squared error in the Gaussian family, Poisson's for all counts),
        and "auc" or "concordance" where they apply.

    Raises
    ------
    ValueError
        If a parameter has no such value, or no resample could be run.

    References
    ----------
    Efron (1983), Estimating the error rate of a prediction rule, JASA 78. Harrell, Lee, Mark (1996), Multivariable
    prognostic models, Statistics in Medicine 15.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsel import StepwiseSelector
    >>> from stepsel.inference import optimism
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(50, 10)), rng.normal(size=50)
    >>> table = optimism(StepwiseSelector(), X, y, random_state=0).table
    >>> bool(table.loc["r2", "corrected"] < table.loc["r2", "apparent"])
    True
    """
    count = whole_number(n_resamples, "n_resamples")
    task = task_of(selector, X, y, sample_weight, offset)
    apparent = _performance(task, run(task))
    together = _together if fits_together(task) else None
    inputs = seeds(random_state, count)
    found = many(_difference, task, inputs, n_jobs=n_jobs, verbose=verbose, what="resamples", together=together)
    differences = [item for item in found if item]
    if not differences:
        raise ValueError("every resample separates the response: there is no optimism to estimate.")
    mean = {name: float(np.mean([difference[name] for difference in differences])) for name in apparent}
    table = pd.DataFrame({"apparent": pd.Series(apparent), "optimism": pd.Series(mean)})
    table["corrected"] = table["apparent"] - table["optimism"]
    table.index.name = "measure"
    return Optimism(table, len(differences), len(found) - len(differences))


def _resample(task: Task, seed: np.random.SeedSequence) -> IntArray:
    n = len(task.design.y)
    return np.random.default_rng(seed).integers(0, n, n)


def _difference(task: Task, seed: np.random.SeedSequence) -> dict[str, float]:
    rows = _resample(task, seed)
    outcome = run(on_rows(task, rows))
    return {} if outcome.separated else _between(task, rows, outcome)  # its deviance on other rows is infinite


def _between(task: Task, rows: IntArray, outcome: Outcome) -> dict[str, float]:
    part = replace(task, design=task.design.rows(rows))
    there, here = _performance(part, outcome), _performance(task, outcome)
    return {name: there[name] - here[name] for name in here}


def _together(task: Task, inputs: Sequence[np.random.SeedSequence]) -> list[Any]:
    rows = [_resample(task, seed) for seed in inputs]
    counts = np.array([np.bincount(one, minlength=len(task.design.y)) for one in rows], dtype=float)
    outcomes = zip(rows, resampled_together(task, counts), strict=True)
    return [None if outcome is None else _between(task, one, outcome) for one, outcome in outcomes]


def _performance(task: Task, outcome: Outcome) -> dict[str, float]:
    """Return the measures of a fitted model on the rows of a task."""
    design, settings = task.design, task.settings
    X = np.asarray(design.X[:, outcome.columns], dtype=float)
    start = int(has_intercept(task))
    eta = X @ outcome.params[start:] + (outcome.params[0] if start else 0.0)
    if design.offset is not None:
        eta = eta + design.offset
    if family_name(settings.family) == "cox":
        return _cox_performance(task, eta)
    mu = mean_response(settings.family, eta)
    weights = design.trials if design.trials is not None else design.weights
    weights = np.ones(len(eta)) if weights is None else weights
    level = np.full(len(eta), np.average(design.y, weights=weights) if settings.fit_intercept else _no_model(task))
    if design.offset is not None:
        level = _null_mean(task) if settings.fit_intercept else mean_response(settings.family, design.offset)
    here, null = (weights @ _unit_deviance(task, mean) for mean in (mu, level))
    measures = {"r2": float(1 - here / null), "deviance": float(here / weights.sum())}
    if family_name(settings.family) == "binomial":
        plain = replace(design, offset=None)
        measures |= likelihood_of(settings, plain).discrimination(eta)
    return measures


def _cox_performance(task: Task, eta: FloatArray) -> dict[str, float]:
    likelihood = likelihood_of(task.settings, replace(task.design, offset=None))
    assert isinstance(likelihood, Cox)
    eta = eta[likelihood.order]
    offset = np.zeros(len(eta)) if task.design.offset is None else task.design.offset[likelihood.order]
    here, null = likelihood.evaluate(eta)[0], likelihood.evaluate(offset)[0]
    measures = {"r2": float(1 - here / null), "deviance": float(-2 * here / likelihood.n_obs)}
    return measures | likelihood.discrimination(eta)


def _no_model(task: Task) -> float:
    """Return the mean response of a linear predictor of zero."""
    return float(mean_response(task.settings.family, np.zeros(1))[0])


def _null_mean(task: Task) -> FloatArray:
    """Return the mean response of the intercept alone beside an offset."""
    nothing = np.zeros(len(task.terms), dtype=bool)
    terms = replace(task.terms, kept=nothing)
    settings = replace(task.settings, max_steps=0, direction="forward", start="empty")
    outcome = run(replace(task, terms=terms, start=nothing, settings=settings))
    assert task.design.offset is not None
    return mean_response(task.settings.family, outcome.params[0] + task.design.offset)


def _unit_deviance(task: Task, mean: FloatArray) -> FloatArray:
    """Return the deviance of every observation: of a count or share from its mean."""
    from scipy.special import xlog1py, xlogy

    y, name = task.design.y, family_name(task.settings.family)
    unit: Any
    if name == "gaussian":
        unit = (y - mean) ** 2
    elif name == "binomial":
        unit = 2 * (xlogy(y, y) - xlogy(y, mean) + xlog1py(1 - y, -y) - xlog1py(1 - y, -mean))
    elif name in ("poisson", "negative_binomial"):
        unit = 2 * (xlogy(y, y) - xlogy(y, mean) - (y - mean))
    elif name == "gamma":
        unit = 2 * ((y - mean) / mean - np.log(y / mean))
    else:
        unit = task.settings.family._resid_dev(y, mean)
    return np.asarray(unit, dtype=np.float64)
