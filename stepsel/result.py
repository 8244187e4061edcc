"""StepwiseResult: the trace, the candidates and the final model of one selection."""

from collections.abc import Hashable
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from stepsel import trace
from stepsel.asked import Asked
from stepsel.core.fits import Fit, FloatArray
from stepsel.core.likelihood_engine import LikelihoodEngine
from stepsel.core.linear import LinearEngine
from stepsel.core.progression import coefficients_at, moments_about_the_mean, spreads, term_correlations
from stepsel.core.refit import Coefficients, LeastSquares, least_squares
from stepsel.core.search import Path
from stepsel.design import Design
from stepsel.estimates import coefficient_table, model_facts
from stepsel.families import family_label, mean_response, plain_data, residual_observations
from stepsel.final import check_unchanged, family_results, linear_results, predicting
from stepsel.overview import overview
from stepsel.responses import offset_vector
from stepsel.summary import Summary, shown
from stepsel.tables import readable
from stepsel.task import Task
from stepsel.threads import one_blas_thread
from stepsel.views import Views

# The square table of more would not be read, and takes memory.
MOST_CORRELATIONS, MOST_PICKLED = 1000, 200


class StepwiseResult(Asked, Views):
    """What a stepwise selection found, and how it got there.

    Made by :class:`stepsel.StepwiseSelector`. Tables and the final model are built when they are first asked for,
    from the data that were passed to ``fit``, which are held by reference until then.

    Attributes
    ----------
    selected : list
        The selected terms, in input order.
    stop_reason : str
        Why the search ended, in one sentence.
    n_obs : float
        Observations: rows, or the sum of frequency weights.
    n_dropped : int
        Rows that were dropped because of missing values.
    n_candidate_columns : int
        Coefficients of all candidate terms.
    event : label or None
        The class of a binomial response that is modelled.
    n_events : float or None
        Events of a binomial or survival response, weights counted.
    warnings : list of str
        What was warned of, each with the class of the warning.
    call : str
        The line of Python that runs the selection.
    trace : DataFrame
        One row a step: ``step, action, term, df, statistic, p_value, criterion, n_terms, n_params, deviance,
        log_likelihood, aic, bic, r2, adj_r2, condition_number, max_vif``; row 0 is the start model. ``attrs`` holds
        the criterion's name, the tests, n_obs, n_dropped and the stop reason.
    candidates : DataFrame
        Every move that was looked at: ``step, move, term, df, statistic, p_value, criterion, tolerance, status``.
    collinearity : DataFrame
        ``term, df, gvif, vif, tolerance`` of every selected term; ``attrs["condition_indices"]``.
    model : statsmodels results
        The final model: OLS, WLS with analytic weights, Gaussian GLM with frequency weights. Its ``predict`` and
        ``get_prediction`` take new data as they went into the selection. None for a model without any parameter, which
        statsmodels does not know.
    design : DataFrame
        The coded columns of the selected terms.
    coefficient_progression : DataFrame
        The coefficients of the model of every step, a row each; NaN of those that are not in it.
    correlations : DataFrame
        Of the candidate terms, without sign; between terms of several columns the largest canonical correlation.
        Columns that do not vary are left out.
    """

    def __init__(
        self,
        *,
        task: Task,
        engine: LinearEngine | LikelihoodEngine,
        path: Path,
        measures: trace.Measures,
    ) -> None:
        design, settings, terms = task.design, task.settings, task.terms
        final = path.steps[-1]
        self._settings, self._terms, self._path, self._measures = settings, terms, path, measures
        self._engine: LinearEngine | LikelihoodEngine | None = engine
        self._labels, self._coding, self._y_name = design.labels, design.coding, design.y_name
        self._constant = engine.constant
        self._chosen = engine.model_columns()
        self._design: Design | None = design
        self._start = task.start
        self._plain = replace(engine.geometry.data, X=np.empty((0, 0)), y=np.empty(0))
        self._moments = engine.geometry.moments(self._chosen)
        self._estimated, self._extra = None, {}
        if isinstance(engine, LikelihoodEngine):
            self._estimated, self._extra = engine.coefficients(), engine.final()
        self.active = final.active
        self.n_candidate_columns = int(terms.sizes.sum())
        self.selected: list[Hashable] = [terms.names[at] for at in np.flatnonzero(final.active).tolist()]
        self.selected_indices = np.sort(terms.columns_of(np.flatnonzero(final.active)))
        self.stop_reason = path.stop_reason
        n_obs = residual_observations(settings, design)
        self.n_obs = n_obs if n_obs % 1 else int(n_obs)
        self.n_dropped = design.n_dropped
        self.event = None if design.classes is None else design.classes[1]
        events = design.events
        self.n_events = None if events is None else float(events.sum())
        self.warnings: list[str] = []
        self.call, self.gaps, self.weighted = task.call, dict(design.gaps), design.weights is not None

    # Tables -----------------------------------------------------------------------------------------------------

    @cached_property
    def trace(self) -> pd.DataFrame:  # noqa: D102 (documented as attributes of the class)
        with one_blas_thread:
            conditions = [self._step_collinearity(at) for at in range(len(self._path.steps))]
        return trace.trace_table(self._path, self._terms, self._measures, conditions, self._attrs())

    @cached_property
    def candidates(self) -> pd.DataFrame:  # noqa: D102
        table = trace.candidates_table(
            self._path,
            self._terms,
            self._measures,
            self._constant,
            adds=self._settings.adds,
            removes=self._settings.removes,
        )
        table.attrs.update(self._attrs())
        return table

    @cached_property
    def collinearity(self) -> pd.DataFrame:  # noqa: D102
        active, engine = self._path.steps[-1].active, self._engine_or_fail()
        terms = np.flatnonzero(active)
        gvif, df, indices = engine.geometry.collinearity(terms)
        table = trace.collinearity_table(self._terms, active, gvif, df, indices)
        if isinstance(engine, LikelihoodEngine):
            gvif, indices = engine.weighted_collinearity(terms)
            table["weighted_vif"] = gvif ** (1 / np.maximum(df, 1))
            table.attrs["weighted_condition_indices"] = indices.tolist()
        return table

    @cached_property
    def coefficient_progression(self) -> pd.DataFrame:  # noqa: D102
        engine, shift = self._engine_or_fail(), int(self._measures.intercept)
        table = np.full((len(self._path.steps), shift + len(self._labels)), np.nan)
        with one_blas_thread:
            for row, step in zip(table, self._path.steps, strict=True):
                columns, params = coefficients_at(engine, step.active)
                row[shift + columns] = params[shift:]
                row[:shift] = params[:shift]
        ever = np.flatnonzero(np.isfinite(table).any(axis=0))
        names = [self._labels[at - shift] if at >= shift else "(Intercept)" for at in ever.tolist()]
        self._progressing = ever[shift:] - shift
        index = pd.RangeIndex(len(table), name="step")
        labels = pd.Index(names, dtype=object, tupleize_cols=False)
        return readable(pd.DataFrame(table[:, ever], index=index, columns=labels))

    @cached_property
    def _standard_deviations(self) -> tuple[FloatArray, float]:
        deviations, of_response = spreads(self._engine_or_fail().geometry)
        return deviations[self._progressing], of_response

    @cached_property
    def correlations(self) -> pd.DataFrame:  # noqa: D102
        engine = self._engine_or_fail().geometry
        members = np.flatnonzero(~engine.constant)
        if len(members) > MOST_CORRELATIONS:
            raise ValueError(f"correlations of {len(members)} terms are not tabulated, of {MOST_CORRELATIONS} at most.")
        names = pd.Index([self._terms.names[at] for at in members.tolist()], dtype=object, tupleize_cols=False)
        return pd.DataFrame(term_correlations(engine, members), index=names, columns=names)

    def _step_collinearity(self, at: int) -> tuple[float, float]:
        return self._engine_or_fail().geometry.collinearity_summary(np.flatnonzero(self._path.steps[at].active))

    def _engine_or_fail(self) -> LinearEngine | LikelihoodEngine:
        if self._engine is None:
            raise RuntimeError("the result was pickled without the data that this takes: fit again.")
        return self._engine

    def _attrs(self) -> dict[str, Any]:
        names = {"test_enter": self._measures.test_enter.name, "test_remove": self._measures.test_remove.name}
        return {
            "criterion": self._settings.criterion,
            "direction": self._settings.direction,
            "family": family_label(self._settings.family),
            **names,
            "r2": "McFadden" if self._measures.null is not None else "R2",
            "n_obs": self.n_obs,
            "n_dropped": self.n_dropped,
            **({} if self.event is None else {"event": self.event}),
            **({} if self.n_events is None else {"n_events": self.n_events}),
            "stop_reason": self.stop_reason,
        }

    # The final model --------------------------------------------------------------------------------------------

    @cached_property
    def _selected_design(self) -> Design:
        """The data of the selected columns, checked to be those that the selection saw."""
        design = self._design
        if design is None:
            raise RuntimeError("the data are gone.")
        part = replace(design, X=design.X[:, self._chosen])
        check_unchanged(replace(self._plain, X=part.X, y=part.y), self._moments)
        return part

    @property
    def model_columns(self) -> Any:
        """The design columns of the final model, aliased ones left out, in input order."""
        return self._chosen

    @property
    def entered(self) -> list[int]:
        """The positions of the terms that entered, in the order in which they did."""
        steps = self._path.steps
        entered = [after.active & ~before.active for before, after in pairwise(steps)]
        return [int(np.flatnonzero(flags)[0]) for flags in entered if flags.any()]

    @property
    def null_deviance(self) -> float:
        """The deviance of the intercept alone."""
        return self._measures.null_deviance

    @property
    def null_loglik(self) -> float:
        """The log-likelihood of the intercept alone; NaN for the Gaussian family."""
        return np.nan if self._measures.null is None else self._measures.null.log_likelihood

    @property
    def task(self) -> Task:
        """What the selection was run on, to run it again.

        Raises
        ------
        RuntimeError
            If the result was pickled: it then holds the selected columns only.
        """
        if self._design is None:
            raise RuntimeError("the result was pickled, and holds the selected columns only: fit again.")
        return Task(self._design, self._terms, self._start, self._settings)

    @cached_property
    def _least_squares(self) -> LeastSquares:
        part, intercept = self._selected_design, self._measures.intercept
        return least_squares(part.X, part.y, part.weights, intercept=intercept)

    @cached_property
    def _coefficients(self) -> Coefficients:
        if self._estimated is not None:
            return self._estimated
        fit, df_resid = self._least_squares, self.final.df_resid
        return Coefficients(fit.params, fit.rss / df_resid * fit.covariance, df_resid)

    @cached_property
    def model(self) -> Any:  # noqa: D102
        names = [self._labels[at] for at in self._chosen]
        if not len(self._coefficients.params):
            return None
        if self._estimated is None:
            frequency = self._settings.weight_type == "frequency"
            data = plain_data(self._settings, self._selected_design)
            results = linear_results(data, self._least_squares, names, self._y_name, frequency=frequency)
        else:
            results = family_results(
                self._selected_design,
                self._estimated,
                names,
                self._settings,
                intercept=self._measures.intercept,
                df_resid=self.final.df_resid,
                nuisance=self._extra,
            )
        return predicting(results, self._coding, self._chosen)

    @property
    def design(self) -> pd.DataFrame:
        """The coded columns of the selected terms, without the intercept and without aliased columns.

        One row per row that was used, with the row labels of the input.
        """
        part = self._selected_design
        columns = pd.Index([self._labels[at] for at in self._chosen], dtype=object, tupleize_cols=False)
        index = part.index
        if index is not None and part.row_numbers is not None:
            index = index[part.row_numbers]
        return pd.DataFrame(np.asarray(part.X, dtype=float), columns=columns, index=index)

    @property
    def final(self) -> Fit:
        """The final model as the engine fitted it."""
        return self._path.steps[-1].fit

    @property
    def intercept(self) -> float:
        """The intercept; 0 without one."""
        return float(self._coefficients.params[0]) if self._measures.intercept else 0.0

    @property
    def coefficients(self) -> pd.Series:
        """Coefficient of every selected column, in input order; NaN for a column aliased within its term."""
        slopes = self._coefficients.params[int(self._measures.intercept) :]
        found = dict(zip(self._chosen.tolist(), slopes, strict=True))
        values = [found.get(at, np.nan) for at in self.selected_indices.tolist()]
        index = pd.Index([self._labels[at] for at in self.selected_indices], dtype=object, tupleize_cols=False)
        return pd.Series(values, index=index, dtype=float)

    def predict(self, X: Any, offset: Any = None) -> FloatArray:
        """Predict the mean response from new data: a probability for classes; the log hazard ratio of a Cox model.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            A DataFrame with at least the selected columns, factors as they were; or an array with all columns of the
            input.
        offset : array_like of shape (n_rows,), optional
            Added to the linear predictor.

        Returns
        -------
        ndarray of shape (n_rows,)

        Raises
        ------
        ValueError
            If a selected column is missing, holds anything but what it held, or a level that the selection did not see.
        """
        matrix = self._coding.encode(X, self._chosen)
        slopes = self._coefficients.params[int(self._measures.intercept) :]
        eta = matrix @ slopes + self.intercept
        if offset is not None:
            eta = eta + offset_vector(offset, len(eta))
        return mean_response(self._settings.family, eta)

    def tidy(self, conf_level: float = 0.95, *, exponentiate: bool = False) -> pd.DataFrame:
        """Return one row a coefficient.

        Parameters
        ----------
        conf_level : float
            Of the confidence limits.
        exponentiate : bool
            Whether estimates and limits are odds ratios (binomial), rate ratios (counts), ratios of means (gamma) or
            hazard ratios (Cox); the standard errors stay those of the coefficients.

        Returns
        -------
        DataFrame
            ``term, estimate, std_error, statistic, p_value, conf_low, conf_high``. The p-values and limits are
            those of the final model as if it had been chosen beforehand: they are not adjusted for the selection.

        Raises
        ------
        ValueError
            If ``conf_level`` is not between 0 and 1, or coefficients are no logarithms of ratios.
        """
        if exponentiate and self.ratio_name is None:
            label = family_label(self._settings.family)
            raise ValueError(
                f"exponentiate is True, but the coefficients of family {label!r} are no logarithms of ratios."
            )
        if not isinstance(conf_level, Real) or not 0 < conf_level < 1:
            raise ValueError(f"conf_level is {conf_level!r}: give a number between 0 and 1.")
        names: list[Hashable] = ["(Intercept)"] * int(self._measures.intercept)
        names += [self._labels[at] for at in self._chosen]
        table = coefficient_table(self._coefficients, names, conf_level)
        if exponentiate:
            ratios = ["estimate", "conf_low", "conf_high"]
            with np.errstate(over="ignore"):
                table[ratios] = np.exp(table[ratios])
        return readable(table)

    def glance(self) -> pd.DataFrame:
        """Return one row that describes the final model.

        Returns
        -------
        DataFrame
            ``n_obs, n_dropped, n_candidates, n_terms, n_params, df_resid, r2, adj_r2, log_likelihood, aic, bic,
            deviance, max_vif, condition_number, stop_reason``; for the Gaussian family ``sigma, f_statistic,
            f_p_value``; for the others ``lr_statistic, lr_p_value`` against the intercept alone, and ``auc``,
            ``concordance``, ``dispersion`` or ``alpha`` where they apply.
        """
        vif, indices = self.collinearity["vif"], self.collinearity.attrs["condition_indices"]
        row = {
            "n_obs": self.n_obs,
            "n_dropped": self.n_dropped,
            **({} if self.n_events is None else {"n_events": self.n_events}),
            "n_candidates": len(self._terms),
            "n_terms": len(self.selected),
            **model_facts(self.final, self._measures, self._extra),
            "max_vif": vif.max() if len(vif) else np.nan,
            "condition_number": indices[-1] if indices else np.nan,
            "stop_reason": self.stop_reason,
        }
        return readable(pd.DataFrame([row]))

    # Seen -------------------------------------------------------------------------------------------------------

    def describe(self) -> pd.DataFrame:
        """Return mean and standard deviation (divisor n - 1) of every candidate column on the rows that were used.

        Returns
        -------
        DataFrame
            ``column, mean, std``, weights counted; of a level of a factor the mean is its share.

        Raises
        ------
        RuntimeError
            If the result was pickled.
        """
        geometry = self._engine_or_fail().geometry
        names = pd.Series([self._labels[at] for at in range(len(geometry.scale.constant))], dtype=object)
        means, deviations = moments_about_the_mean(geometry)
        return readable(pd.DataFrame({"column": names, "mean": means, "std": deviations}))

    def standardizing(self) -> tuple[FloatArray, str]:
        """Return what standardizes each coefficient of `coefficient_progression`, and what it is measured in.

        Returns
        -------
        scale : float array of shape (n_coefficients,)
            Without the intercept.
        unit : str
        """
        self.coefficient_progression  # noqa: B018 (says which columns)
        deviations, of_response = self._standard_deviations
        if self._settings.gaussian and of_response > 0:
            return deviations / of_response, "SD of y per SD of x"
        return deviations, "per SD of x"

    # Text -------------------------------------------------------------------------------------------------------

    def summary(self) -> Summary:
        """Return the trace, the final model and its collinearity as text (and as HTML in a notebook)."""
        event = "" if self.event is None else f" (event {self.event!r})"
        nothing = "none (intercept only)" if self._measures.intercept else "none (the model is empty)"
        return overview(self, explained=f"{self._y_name}{event}", nothing=nothing)

    def __repr__(self) -> str:
        chosen = ", ".join(shown(name) for name in self.selected[:10]) or "no term"
        more = f" and {len(self.selected) - 10} more" if len(self.selected) > 10 else ""
        return f"<StepwiseResult: {chosen}{more} of {len(self._terms)} candidates>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def __getstate__(self) -> dict[str, Any]:
        """Build the tables and keep the selected columns only: a pickle does not carry the whole input."""
        self.trace, self.candidates, self.collinearity, self._selected_design  # noqa: B018 (build them)
        self.coefficient_progression, self._standard_deviations  # noqa: B018
        if len(self._terms) <= MOST_PICKLED:
            self.correlations  # noqa: B018
        return {**self.__dict__, "_engine": None, "_design": None}
