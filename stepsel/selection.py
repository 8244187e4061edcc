"""One selection: design and settings -> engine, search -> result. Every public face ends here."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stepsel import notices
from stepsel.checks import check_finite, check_range
from stepsel.core.cox import Cox
from stepsel.core.criteria import AdjustedR2, ChiSquare, Criterion, MallowsCp, PartialF, information_criterion
from stepsel.core.fits import Fit
from stepsel.core.likelihood_engine import LikelihoodEngine
from stepsel.core.linear import LinearEngine
from stepsel.core.linear_data import LinearData
from stepsel.core.orthogonal import rounding_floor
from stepsel.core.policies import InformationPolicy, Policy, PValuePolicy
from stepsel.core.search import Path, Step, search
from stepsel.core.terms import BoolArray, Terms
from stepsel.design import Design
from stepsel.families import (
    geometry_data,
    likelihood_of,
    offset_shift,
    plain_data,
    recheck,
    residual_observations,
)
from stepsel.result import StepwiseResult
from stepsel.settings import Settings
from stepsel.task import Task
from stepsel.threads import one_blas_thread
from stepsel.trace import Measures


def select(task: Task, told: Sequence[notices.Notice] = ()) -> StepwiseResult:
    """Run one selection, and say what there is to say of it.

    Parameters
    ----------
    task : Task
    told : sequence of Notice
        What was said of the call already.

    Returns
    -------
    StepwiseResult

    Raises
    ------
    ValueError
        If the data or the settings cannot be honoured, in one sentence.
    CollinearityError
        If ``settings.collinearity`` is "raise" and terms are aliased or strongly correlated.
    """
    n_rows, settings, terms = len(task.design.y) + task.design.n_dropped, task.settings, task.terms
    with one_blas_thread:
        task, engine = _opened(task)
        told = [*told, *notices.tell(notices.of_data(task.design, n_rows, terms, engine.geometry.scale.constant), 4)]
        told += notices.tell(notices.of_weights(task.design.weights, settings.weight_type), 4)
        measures, path = _walked(task, engine)
        result = StepwiseResult(task=task, engine=engine, path=path, measures=measures)
        told += notices.tell(notices.of_fit(engine, path, terms, task.design.y_name), 4)
        if settings.collinearity != "ignore":
            geometry = engine.geometry
            gvif, df, indices = geometry.collinearity(np.flatnonzero(path.steps[-1].active))
            vif = gvif ** (1 / np.maximum(df, 1))
            found = notices.of_collinearity(
                geometry, path, terms, task.design, settings.vif_threshold, settings.collinearity, vif, indices
            )
            told += notices.tell(found, 4)
    result.warnings = [f"{notice.kind.__name__}: {notice.text}" for notice in told]
    return result


def complete(task: Task) -> Task:
    """Return a task on the rows without missing values.

    Raises
    ------
    ValueError
        If values are missing and are not to be dropped, or the data cannot be used.
    """
    return _opened(task)[0]


def search_again(task: Task) -> tuple[LinearEngine | LikelihoodEngine, Path]:
    """Run one selection of many: no warnings, no tables.

    Parameters
    ----------
    task : Task
        Of complete rows.

    Returns
    -------
    engine : LinearEngine or LikelihoodEngine
        At the selected model.
    path : Path

    Raises
    ------
    ValueError
        As `select`.
    """
    with one_blas_thread:
        task, engine = _opened(task)
        return engine, _walked(task, engine)[1]


def _opened(task: Task) -> tuple[Task, LinearEngine | LikelihoodEngine]:
    """Return the task on its complete rows, and the engine on them."""
    design, engine = _engine(task.design, task.terms, task.settings)
    return replace(task, design=design), engine


def _walked(task: Task, engine: LinearEngine | LikelihoodEngine) -> tuple[Measures, Path]:
    settings, terms = task.settings, task.terms
    _check_size(engine.geometry, task.start, settings)
    measures = _measures(engine, settings)
    path = search(
        engine,
        terms,
        _policy(measures, settings),
        task.start,
        adds=settings.adds,
        removes=settings.removes,
        max_terms=settings.max_terms,
        max_steps=settings.max_steps,
        on_step=_reporter(terms, measures, settings) if settings.verbose else None,
    )
    return measures, path


def _engine(design: Design, terms: Terms, settings: Settings) -> tuple[Design, LinearEngine | LikelihoodEngine]:
    """Return the engine on the complete rows. Whether there are gaps shows in its cross-products."""

    def linear(data: LinearData) -> LinearEngine:
        return LinearEngine(data, terms, tolerance=settings.tolerance, adds=settings.adds, removes=settings.removes)

    engine = linear(plain_data(settings, design))
    if not engine.scale.finite:
        design = check_finite(design, missing=settings.missing)
        engine = linear(plain_data(settings, design))
    check_range(design, engine.scale)
    if settings.gaussian:
        return design, engine
    recheck(settings, design)
    likelihood = likelihood_of(settings, design)
    return design, LikelihoodEngine(
        likelihood,
        engine
        if likelihood.name != "cox" and design.trials is None
        else linear(geometry_data(settings, design, likelihood)),
        order=likelihood.order if isinstance(likelihood, Cox) else None,
        intercept=settings.fit_intercept and likelihood.intercept,
        n_resid=residual_observations(settings, design),
        tests=settings.tests,
        by_p_value=settings.criterion == "pvalue",
        bounded=settings.candidates == "leading",
        offset_shift=offset_shift(settings, design),
    )


def _check_size(engine: LinearEngine, wanted: BoolArray, settings: Settings) -> None:
    """Refuse what no model could be fitted to."""
    terms, intercept = engine.terms, int(settings.fit_intercept and engine.data.intercept)
    n = engine.n_obs
    kept = engine.rank(np.flatnonzero(terms.kept), enough=n - intercept - 2)
    if settings.max_terms is not None and terms.kept.sum() > settings.max_terms:
        raise ValueError(f"keep lists {terms.kept.sum()} terms, more than max_terms={settings.max_terms}.")
    if settings.max_terms is not None and not settings.removes and wanted.sum() > settings.max_terms:
        raise ValueError(
            f"start lists {wanted.sum()} terms with the kept ones, more than max_terms={settings.max_terms}, and "
            'direction="forward" cannot remove any.'
        )
    spare = 2 * (settings.criterion == "aicc")
    n_start = engine.rank(np.flatnonzero(wanted), enough=n - intercept - 1 - spare)
    if settings.family == "cox" and n - intercept - max(kept, n_start) < 1:
        raise ValueError(
            f"{n - intercept:g} events are too few for a start model with {n_start} columns: use "
            'direction="forward", or direction="both", which starts empty.'
        )
    if n - intercept - kept < 2:
        hint = ""
        if settings.weight_type == "frequency" and engine.data.weights is not None:
            hint = ' (the sum of sample_weight; weights that are no counts are weight_type="analytic")'
        raise ValueError(
            f"n_samples={n:g}{hint} is too few: with {intercept + kept} parameters always in the model, at least "
            f"{intercept + kept + 2} observations are needed to test a candidate."
        )
    if n - intercept - n_start < 1:
        raise ValueError(
            f"the start model has {n_start} columns{' and an intercept' if intercept else ''} but there are only "
            f'{n:g} observations: use direction="forward", or direction="both", which starts empty.'
        )
    if settings.criterion == "aicc" and n - intercept - n_start - 2 <= 0:
        raise ValueError(
            f"AICc is not defined for a start model with {n_start} columns on {n:g} observations: use "
            'direction="forward", direction="both", which starts empty, or another criterion.'
        )


def _measures(engine: LinearEngine | LikelihoodEngine, settings: Settings) -> Measures:
    if isinstance(engine, LikelihoodEngine):
        enter, remove = (ChiSquare(name) for name in engine.tests)
        criterion = None
        if settings.criterion != "pvalue":
            free = not engine.likelihood.fixed_dispersion
            criterion = information_criterion(settings.criterion, engine.n_obs, free_dispersion=free)
        null = engine.null_fit()
        return Measures(criterion, enter, remove, engine.n_obs, null.deviance, engine.has_intercept, null)
    test = PartialF()
    return Measures(
        criterion=_criterion(engine, settings),
        test_enter=test,
        test_remove=test,
        n_obs=engine.n_obs,
        null_deviance=_null_deviance(engine),
        intercept=settings.fit_intercept,
    )


def _null_deviance(engine: LinearEngine) -> float:
    """Return the total sum of squares, not below the floor that the engine holds residuals at."""
    return max(engine.scale.ssy, rounding_floor(engine.scale.raw_ssy))


def _criterion(engine: LinearEngine, settings: Settings) -> Criterion | None:
    n, intercept = engine.n_obs, int(settings.fit_intercept)
    if settings.criterion == "pvalue":
        return None
    if settings.criterion == "adj_r2":
        return AdjustedR2(_null_deviance(engine) / (n - intercept), n)
    if settings.criterion == "cp":
        return MallowsCp(_full_mean_square(engine, settings), n)
    return information_criterion(settings.criterion, n)


def _full_mean_square(engine: LinearEngine, settings: Settings) -> float:
    n, enough = engine.n_obs, engine.n_obs - int(settings.fit_intercept) - 1
    p = engine.rank(np.arange(len(engine.terms)), enough=enough)
    if p > enough:
        raise ValueError(
            f"Cp needs the full model, which {n:g} observations cannot fit with {p} columns: use another criterion."
        )
    full: Fit = engine.full_fit()
    return full.deviance / full.df_resid


def _policy(measures: Measures, settings: Settings) -> Policy:
    if measures.criterion is not None:
        return InformationPolicy(measures.criterion)
    return PValuePolicy(
        float(settings.alpha_enter), float(settings.alpha_remove), measures.test_enter, measures.test_remove
    )


def _reporter(terms: Terms, measures: Measures, settings: Settings) -> Any:
    """Return a callback that prints every step."""
    numbers = iter(range(10**9))

    def report(step: Step) -> None:
        what = "start"
        if step.moves is not None and step.chosen is not None:
            adding = step.chosen >= step.moves.n_removals
            what = f"{'add' if adding else 'remove'} {terms.names[int(step.moves.term[step.chosen])]}"
        value = "" if measures.criterion is None else f" {settings.criterion} {measures.criterion.value(step.fit):.6g}"
        print(f"[stepsel] step {next(numbers)}: {what} ({int(step.active.sum())} terms){value}", flush=True)

    return report
