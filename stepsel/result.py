"""StepwiseResult: the trace, the candidates and the final model of one selection."""

from collections.abc import Hashable
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from stepsel import trace
from stepsel.core.fits import Fit, FloatArray
from stepsel.core.likelihood_engine import LikelihoodEngine
from stepsel.core.linear import LinearEngine
from stepsel.core.refit import Coefficients, LeastSquares, least_squares
from stepsel.core.search import Path
from stepsel.design import Design
from stepsel.families import family_label, mean_response, plain_data, residual_observations
from stepsel.final import check_unchanged, family_results, linear_results, predicting
from stepsel.overview import overview
from stepsel.responses import offset_vector
from stepsel.summary import Summary, shown
from stepsel.task import Task


class StepwiseResult:
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

    # Tables -----------------------------------------------------------------------------------------------------

    @cached_property
    def trace(self) -> pd.DataFrame:  # noqa: D102 (documented as attributes of the class)
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

    def _step_collinearity(self, at: int) -> tuple[float, float]:
        return self._engine_or_fail().geometry.collinearity_summary(np.flatnonzero(self._path.steps[at].active))

    def _engine_or_fail(self) -> LinearEngine | LikelihoodEngine:
        if self._engine is None:
            raise RuntimeError("this table was not built before the result was pickled.")
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

    def tidy(self, conf_level: float = 0.95) -> pd.DataFrame:
        """Return one row a coefficient.

        Parameters
        ----------
        conf_level : float
            Of the confidence limits.

        Returns
        -------
        DataFrame
            ``term, estimate, std_error, statistic, p_value, conf_low, conf_high``. The p-values and limits are
            those of the final model as if it had been chosen beforehand: they are not adjusted for the selection.

        Raises
        ------
        ValueError
            If ``conf_level`` is not between 0 and 1.
        """
        if not isinstance(conf_level, Real) or not 0 < conf_level < 1:
            raise ValueError(f"conf_level is {conf_level!r}: give a number between 0 and 1.")
        fit = self._coefficients
        params, error = fit.params, np.sqrt(fit.covariance.diagonal())
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = params / error
        margin = stats.t.ppf((1 + conf_level) / 2, fit.df_resid) * error
        names: list[Hashable] = ["(Intercept)"] * int(self._measures.intercept)
        names += [self._labels[at] for at in self._chosen]
        return pd.DataFrame(
            {
                "term": pd.Series(names, dtype=object),
                "estimate": params,
                "std_error": error,
                "statistic": statistic,
                "p_value": 2 * stats.t.sf(np.abs(statistic), fit.df_resid),
                "conf_low": params - margin,
                "conf_high": params + margin,
            }
        )

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
        fit, measures = self.final, self._measures
        r2, adj_r2 = trace.r_squared(fit, measures)
        row: dict[str, Any] = {
            "n_obs": self.n_obs,
            "n_dropped": self.n_dropped,
            **({} if self.n_events is None else {"n_events": self.n_events}),
            "n_candidates": len(self._terms),
            "n_terms": len(self.selected),
            "n_params": fit.n_params,
            "df_resid": fit.df_resid,
            "r2": r2,
            "adj_r2": adj_r2,
            **(self._gaussian_facts() if measures.null is None else self._family_facts(measures.null)),
            "log_likelihood": fit.log_likelihood,
            "aic": -2 * fit.log_likelihood + 2 * fit.n_params,
            "bic": -2 * fit.log_likelihood + np.log(measures.n_obs) * fit.n_params,
            "deviance": fit.deviance,
        }
        vif, indices = self.collinearity["vif"], self.collinearity.attrs["condition_indices"]
        row["max_vif"] = vif.max() if len(vif) else np.nan
        row["condition_number"] = indices[-1] if indices else np.nan
        row["stop_reason"] = self.stop_reason
        return pd.DataFrame([row])

    def _gaussian_facts(self) -> dict[str, float]:
        fit, measures = self.final, self._measures
        df_model = fit.n_params - int(measures.intercept)
        f_statistic = f_p_value = np.nan
        if df_model and fit.deviance > 0:
            f_statistic = (measures.null_deviance - fit.deviance) / df_model / (fit.deviance / fit.df_resid)
            f_p_value = float(stats.f.sf(f_statistic, df_model, fit.df_resid))
        sigma = float(np.sqrt(fit.deviance / fit.df_resid))
        return {"sigma": sigma, "f_statistic": f_statistic, "f_p_value": f_p_value}

    def _family_facts(self, null: Fit) -> dict[str, float]:
        df_model = self.final.n_params - null.n_params
        ratio = 2 * (self.final.log_likelihood - null.log_likelihood)
        if "dispersion" in self._extra:
            ratio = (null.deviance - self.final.deviance) / self._extra["dispersion"]
        p_value = float(stats.chi2.sf(ratio, df_model)) if df_model else np.nan
        return {"lr_statistic": ratio, "lr_p_value": p_value, **self._extra}

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
        return {**self.__dict__, "_engine": None, "_design": None}
