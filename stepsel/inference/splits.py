"""p-values that selection does not bias: select on one half of the rows, test on the other."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from stepsel.core.criteria import ChiSquare, PartialF
from stepsel.core.fits import FloatArray
from stepsel.core.likelihood_engine import LikelihoodEngine
from stepsel.core.linear import LinearEngine
from stepsel.core.terms import BoolArray
from stepsel.inference.rerun import full_model, many, run, seeds, task_of, whole_number
from stepsel.selection import search_again
from stepsel.summary import Summary, shown
from stepsel.task import Task


@dataclass(frozen=True)
class SplitPValues:
    """p-values from halves of the rows that did not select the terms they test.

    Attributes
    ----------
    table : DataFrame
        Index ``term``: ``p_value`` (adjusted: the family-wise error over all candidates is controlled),
        ``times_selected``, ``n_splits``. Kept terms are not candidates.
    confidence_intervals : DataFrame or None
        With one split only: ``term, estimate, std_error, conf_low, conf_high`` of the selected model, estimated on the
        half that did not select it.
    n_failed : int
        Splits without a result; they count as p-values of one.
    """

    table: pd.DataFrame
    confidence_intervals: pd.DataFrame | None
    n_failed: int

    def summary(self) -> Summary:
        """Return the tables as text (and as HTML in a notebook)."""
        table = self.table.reset_index()
        table["term"] = [shown(term) for term in table["term"]]
        sections = [("p-values of split samples", table.sort_values("p_value", kind="stable"))]
        if self.confidence_intervals is not None:
            sections.append(("Intervals from the second half", self.confidence_intervals))
        text = (
            "Selected on one half of the rows, tested on the other; the family-wise error is controlled as far as the "
            "selections find the true effects (not what stands in for them). The test is "
            "conservative: weak effects are often missed."
        )
        return Summary(sections, text)

    def __repr__(self) -> str:
        return f"<SplitPValues: {int((self.table['p_value'] < 0.05).sum())} of {len(self.table)} terms with p < 0.05>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def split_p_values(
    selector: Any,
    X: Any = None,
    y: Any = None,
    *,
    n_splits: int = 50,
    gamma_min: float = 0.05,
    conf_level: float = 0.95,
    random_state: Any = None,
    n_jobs: int | None = None,
    sample_weight: Any = None,
    offset: Any = None,
    verbose: int = 0,
) -> SplitPValues:
    """Test the selected terms on rows that did not select them.

    Parameters
    ----------
    selector : StepwiseSelector or StepwiseResult
        A selector, fitted or not, with ``X`` and ``y``; or a result, such as `stepwise` returns.
    X, y, sample_weight, offset
        As for :meth:`StepwiseSelector.fit`.
    n_splits : int
        Random splits into halves. With one there are confidence intervals too.
    gamma_min : float
        Smallest quantile of the p-values of the splits that is looked at.
    conf_level : float
        Of the confidence limits.
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Processes, as joblib counts them; the result is the same on any number.
    verbose : int
        Whether progress is told on standard error.

    Returns
    -------
    SplitPValues
        ``.table, .confidence_intervals, .summary()``.

    Raises
    ------
    ValueError
        If a parameter has no such value, there are fewer than four rows, or no split could be run.

    Notes
    -----
    The family-wise error is controlled if the first halves find the true effects (screening): a candidate that stands
    in for a correlated one that the first half left out can be significant. A term that others repeat exactly in the
    second half has p = 1. Conservative: in simulations with n = 100 and 20 candidates a coefficient of 0.3 residual
    standard deviations was found in about 7 % of the samples.

    References
    ----------
    Meinshausen, Meier, Buehlmann (2009), p-values for high-dimensional regression, JASA 104. Cox (1975), A note on
    data-splitting for the evaluation of significance levels, Biometrika 62.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsel import StepwiseSelector
    >>> from stepsel.inference import split_p_values
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = 2 * X[:, 0] + rng.normal(size=100)
    >>> table = split_p_values(StepwiseSelector(), X, y, random_state=0).table
    >>> table.index[table["p_value"] < 0.05].tolist()
    ['x0']
    """
    count = whole_number(n_splits, "n_splits")
    for name, value in (("gamma_min", gamma_min), ("conf_level", conf_level)):
        if not isinstance(value, float | int) or not 0 < value < 1:
            raise ValueError(f"{name} is {value!r}: give a number between 0 and 1.")
    task = task_of(selector, X, y, sample_weight, offset)
    inputs = seeds(random_state, count)
    found = many(_split, task, inputs, n_jobs=n_jobs, verbose=verbose, what="splits")
    halves = [item for item in found if item is not None]
    p = np.array([half[1] for half in halves] + [np.ones(len(task.terms))] * (count - len(halves)))
    candidates = np.flatnonzero(~task.terms.kept)
    table = pd.DataFrame(
        {
            "p_value": aggregated(p, gamma_min)[candidates],
            "times_selected": np.sum([half[0] for half in halves], axis=0)[candidates],
            "n_splits": count,
        },
        index=pd.Index(
            [task.terms.names[at] for at in candidates.tolist()], dtype=object, tupleize_cols=False, name="term"
        ),
    )
    intervals = _intervals(task, inputs[0], conf_level) if count == 1 else None
    return SplitPValues(table, intervals, count - len(halves))


def aggregated(p: FloatArray, gamma_min: float) -> FloatArray:
    """Return the p-values of many splits as one of each term.

    Parameters
    ----------
    p : float array of shape (n_splits, n_terms)
        Adjusted within each split; 1 where a term was not selected.
    gamma_min : float

    Returns
    -------
    float array of shape (n_terms,)
        ``(1 - log(gamma_min))`` times the infimum over gamma of the gamma-quantile of ``p / gamma``, at most 1; ``p``
        itself for one split.
    """
    n_splits = len(p)
    if n_splits == 1:
        return np.minimum(p[0], 1.0)
    ranks = np.arange(1, n_splits + 1)
    looked_at = ranks >= gamma_min * n_splits
    smallest = (np.sort(p, axis=0) * (n_splits / ranks)[:, None])[looked_at].min(axis=0)
    return np.minimum((1 - np.log(gamma_min)) * smallest, 1.0)


def _halves(task: Task, seed: np.random.SeedSequence) -> tuple[Task, Task]:
    n = len(task.design.y)
    order = np.random.default_rng(seed).permutation(n)
    first, second = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
    return tuple(replace(task, design=task.design.rows(rows)) for rows in (first, second))  # type: ignore[return-value]


def _second(task: Task, active: BoolArray) -> Task:
    """Return the task of fitting one model: nothing is selected."""
    settings = replace(task.settings, direction="backward", candidates="exact", max_steps=0, max_terms=None)
    return replace(task, start=active | task.terms.kept, settings=settings)


def _split(task: Task, seed: np.random.SeedSequence) -> tuple[BoolArray, FloatArray]:
    """Return what one half selects, and the p-values of the other, adjusted for their number."""
    first, second = _halves(task, seed)
    active = run(first).active
    chosen = active & ~task.terms.kept
    p = np.ones(len(task.terms))
    if chosen.any():
        engine, path = search_again(_second(second, active))
        if isinstance(engine, LikelihoodEngine) and engine.at_infinity and engine.tests[1] != "lr":
            return active, p  # separated: score and Wald tests mean nothing, the likelihood ratio stands
        here, there = path.steps[0].fit, np.flatnonzero(path.steps[0].active & chosen)
        moves = engine.neighbours(np.empty(0, dtype=np.intp), there)
        test = PartialF() if task.settings.gaussian else ChiSquare(task.settings.tests[1])
        statistic, df_resid = test.statistic(here, moves)
        p[there] = np.minimum(test.p_value(statistic, moves.df, df_resid) * chosen.sum(), 1.0)
        p[_entangled(engine.geometry, path.steps[0].active, active, second)] = 1.0
    return active, np.where(np.isnan(p), 1.0, p)


def _entangled(engine: LinearEngine, active: BoolArray, chosen: BoolArray, task: Task) -> BoolArray:
    """Return the terms that others repeat exactly in these rows: their effects cannot be told apart."""
    result = chosen & ~active & ~engine.constant
    wanted = engine.terms.columns_of(np.flatnonzero(chosen & ~engine.constant))
    model = engine.model_columns()
    lost = np.setdiff1d(wanted, model)
    if task.design.coding.spare is not None:
        lost = lost[~task.design.coding.spare[lost]]
    for column in lost.tolist():
        repeated = engine.aliasing(np.array([column]), model)
        for term in np.flatnonzero(chosen).tolist():
            result[term] |= bool(np.isin(engine.terms.columns(term), [*repeated.tolist(), column]).any())
    return result


def _intervals(task: Task, seed: np.random.SeedSequence, conf_level: float) -> pd.DataFrame:
    first, second = _halves(task, seed)
    active = run(first).active | task.terms.kept
    columns = np.flatnonzero(active)
    terms = replace(
        task.terms,
        names=[task.terms.names[at] for at in columns.tolist()],
        index=task.terms.columns_of(columns),
        offset=np.concatenate([[0], np.cumsum(task.terms.sizes[columns])]).astype(np.intp),
        kept=np.zeros(len(columns), dtype=bool),
        hierarchy=None,
    )
    fitted = full_model(replace(second, terms=terms))
    if fitted is None:
        return pd.DataFrame(columns=["term", "estimate", "std_error", "conf_low", "conf_high"])
    return fitted.tidy(conf_level)[["term", "estimate", "std_error", "conf_low", "conf_high"]]
