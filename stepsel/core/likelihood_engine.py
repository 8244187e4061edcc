"""The engine of every family with a likelihood: all candidates of a step are refitted together.

At the model at hand one pass over the data gives the score statistic of every candidate and a first step towards its
optimum. Candidates of one column go on together by chord steps, which share the information of the current model; those
that do not settle, and terms of several columns, are finished by damped Newton, one by one. With ``leading``, proven
brackets (`stepsel.core.brackets`) rule candidates out before they are refitted; the best is found all the same.

References
----------
McCullagh and Nelder (1989), Generalized Linear Models. Rao (1973), Linear Statistical Inference, section 6e (score
test). Ortega and Rheinboldt (1970), Iterative Solution of Nonlinear Equations, section 7.1 (chord method).
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stepsel.core import collinearity, leading
from stepsel.core.chord import Here, added_together, removed_together
from stepsel.core.fits import Fit, FloatArray, Moves, Status
from stepsel.core.likelihoods import Likelihood
from stepsel.core.linear import LinearEngine
from stepsel.core.moments import row_blocks
from stepsel.core.newton import Optimum, polished
from stepsel.core.refit import Coefficients
from stepsel.core.terms import BoolArray, IntArray

# Columns whose mean is less standard deviations than this from zero, and whose size is within this factor of one,
# are as good for Newton steps as centred and scaled ones.
_NEAR_MEAN, _NEAR_UNIT = 2.0, 10.0
NOWHERE = Optimum(np.empty(0), np.empty(0), -np.inf, None, np.empty(0), False, False)


class Model(NamedTuple):
    """A fitted model: its design columns, the design itself (a column a row, the intercept first), and its optimum."""

    columns: IntArray
    Z: FloatArray
    optimum: Optimum


class Fitted(NamedTuple):
    """A fitted neighbour: its design columns and its optimum. Its design is put together when it is moved to."""

    columns: IntArray
    optimum: Optimum


class Answers(NamedTuple):
    """What is filled in for every move."""

    change: FloatArray
    ratio: FloatArray
    statistic: FloatArray
    status: npt.NDArray[np.int8]

    @classmethod
    def empty(cls, status: npt.NDArray[np.int8]) -> "Answers":
        """Return answers that are all missing."""
        n = len(status)
        return cls(np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan), status.copy())


class LikelihoodEngine:
    """Maximum-likelihood fits of one model and of all its neighbours.

    Parameters
    ----------
    likelihood : Likelihood
    geometry : LinearEngine
        On the same rows and terms: what is aliased, tolerances, collinearity.
    order : int array of shape (n_rows,), optional
        The order of rows that the likelihood asks for.
    intercept : bool
    n_resid : float
        The observations that residual degrees of freedom are counted from.
    tests : (str, str)
        The tests of entry and removal: "lr", "score" or "wald".
    by_p_value : bool
        Whether p-values alone decide, so that a score or Wald test needs no likelihood ratio.
    bounded : bool
        Whether candidates that a bound rules out are left unfitted.
    offset_shift : float
        What was taken from the offset of every row; the intercept of the fits has it.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        geometry: LinearEngine,
        *,
        order: IntArray | None,
        intercept: bool,
        n_resid: float,
        tests: tuple[str, str],
        by_p_value: bool,
        bounded: bool,
        offset_shift: float = 0.0,
    ) -> None:
        self.likelihood, self.geometry = likelihood, geometry
        self.n_obs = likelihood.n_obs
        self.terms, self.constant = geometry.terms, geometry.constant
        self._n_resid, self._offset_shift = n_resid, offset_shift
        self.perfect = False
        self.separated: set[int] = set()
        self.tests, self.has_intercept = tests, intercept
        self._test = dict(zip((True, False), tests, strict=True))
        self._by_p_value = by_p_value
        self._bounded = bounded and likelihood.self_concordant
        self._X, self._mean, self._unit = _standardised(geometry, order)
        self._largest = _largest(self._X)
        self._fixed = np.ones((int(intercept), len(self._X)))
        self._fitted: dict[tuple[int, bool], Fitted] = {}
        self._model = Model(np.empty(0, dtype=np.intp), np.empty((0, 0)), NOWHERE)

    # The contract with the search -------------------------------------------------------------------------------------

    def start(self, active: BoolArray) -> BoolArray:
        """Go to the model ``active``; return it without the terms that are aliased with earlier ones."""
        started = self.geometry.start(active)
        columns = self.geometry.model_columns()
        self._model = self._informed(*self._fit_columns(columns, self._first(len(columns))))
        if self._model.optimum.separated:
            self.separated.update(self._separating(np.flatnonzero(started).tolist()))
        return started

    def fit(self) -> Fit:
        """Return the fit of the current model."""
        return self._finished(self._model)

    def neighbours(self, additions: IntArray, removals: IntArray) -> Moves:
        """Return every model one move away: ``removals`` first, then ``additions``."""
        plain = self.geometry.neighbours(additions, removals)
        answers = Answers.empty(plain.status)
        here = self._here(self._model)
        self._fitted = {}
        removing = np.arange(plain.n_removals)
        adding = np.arange(plain.n_removals, len(plain))
        adding = adding[plain.status[adding] == Status.eligible]
        if len(removing):
            self._answer(here, plain, removing, answers, adding=False)
        if len(adding):
            self._answer(here, plain, adding, answers, adding=True)
        single = not answers.status.any() and plain.uniform and set(self._test.values()) == {"lr"}
        return Moves(
            plain.term,
            plain.n_removals,
            plain.df,
            single and self.likelihood.fixed_dispersion,
            answers.change,
            plain.tolerance,
            answers.status,
            self.fit().deviance,
            profiled_n=None,
            ratio=answers.ratio,
            statistic=answers.statistic,
        )

    def apply(self, term: int, adding: bool) -> None:
        """Move to the model with ``term`` added or removed."""
        known = self._fitted.get((term, adding))
        if known is None:
            known = self._candidate(term, adding)
        self.geometry.apply(term, adding)
        if adding and known.optimum.separated and (not self._model.optimum.separated or self._separates_alone(term)):
            self.separated.add(term)
        self._model = self._informed(known.columns, known.optimum)

    def _here(self, model: Model) -> Here:
        of_model = np.concatenate([np.ones(len(self._fixed)), self._largest[model.columns]])
        return Here(self.likelihood, model.Z, model.optimum, self._largest, of_model)

    # One candidate ----------------------------------------------------------------------------------------------------

    def _informed(self, columns: IntArray, optimum: Optimum) -> Model:
        """Return a model with its design and its information matrix."""
        Z = self._design(columns)
        if optimum.information is None:
            optimum = polished(self.likelihood, Z, optimum)
            optimum = replace(optimum, information=self.likelihood.curvature_of(optimum).gram(Z))
        return Model(columns, Z, optimum)

    def _design(self, columns: IntArray) -> FloatArray:
        """Return the rows of a design; those of the current model are copied from there, which is faster."""
        n_fixed = len(self._fixed)
        Z = np.empty((n_fixed + len(columns), len(self._X)))
        Z[:n_fixed] = self._fixed
        known = {column: at for at, column in enumerate(self._model.columns.tolist())}
        for at, column in enumerate(columns.tolist(), start=n_fixed):
            Z[at] = self._model.Z[n_fixed + known[column]] if column in known else self._X[:, column]
        return Z

    def _conditional(self, rows: IntArray) -> FloatArray:
        """Return the coefficients ``rows`` at the optimum, to second order, with the others at zero."""
        optimum, information = self._model.optimum, self._model.optimum.information
        if len(rows) == len(optimum.beta) or information is None:
            return optimum.beta[rows]
        gone = np.setdiff1d(np.arange(len(optimum.beta)), rows)
        part = information[np.ix_(rows, rows)]
        try:
            return optimum.beta[rows] + np.linalg.solve(part, information[np.ix_(rows, gone)] @ optimum.beta[gone])
        except np.linalg.LinAlgError:
            return optimum.beta[rows]

    def _first(self, n_columns: int) -> FloatArray:
        """Return coefficients to start a fit from that knows nothing."""
        return np.concatenate([np.full(len(self._fixed), self.likelihood.first()), np.zeros(n_columns)])

    def _fit_columns(self, columns: IntArray, beta: FloatArray) -> Fitted:
        return Fitted(columns, self.likelihood.maximise(self._design(columns), beta))

    def _candidate(self, term: int, adding: bool, start: FloatArray | None = None) -> Fitted:
        """Fit one neighbour by damped Newton, from the coefficients of the current model where they are finite."""
        columns = self.geometry.columns_after(term, adding)
        n_fixed = len(self._fixed)
        if self._model.optimum.separated:
            # Its coefficients are on the way to infinity, where a likelihood is flat: no place to start from.
            self._fitted[term, adding] = self._fit_columns(columns, self._first(len(columns)))
            return self._fitted[term, adding]
        # What stays keeps its order; new columns come last.
        stay = np.flatnonzero(np.isin(self._model.columns, columns))
        new = columns[~np.isin(columns, self._model.columns)]
        columns = np.concatenate([self._model.columns[stay], new])
        Z = self._design(columns)
        if start is None or not self.likelihood.evaluate(start @ Z)[0] > self._model.optimum.loglik:
            # None was given, or it overshot.
            rows = np.concatenate([np.arange(n_fixed), n_fixed + stay])
            start = np.concatenate([self._conditional(rows), np.zeros(len(new))])
        self._fitted[term, adding] = Fitted(columns, self.likelihood.maximise(Z, start))
        return self._fitted[term, adding]

    def _finished(self, model: Fitted | Model) -> Fit:
        n_params = len(model.optimum.beta) + self.likelihood.n_nuisance
        deviance, loglik = self.likelihood.finished(model.optimum, n_params)
        return Fit(deviance, loglik, n_params, self._n_resid - n_params)

    def _separating(self, terms: list[int]) -> list[int]:
        """Return the terms that separate: without which the model does not, or alone; else all of them."""
        needed = [term for term in terms if not self._candidate(term, adding=False).optimum.separated]
        return needed or [term for term in terms if self._separates_alone(term)] or terms

    def _separates_alone(self, term: int) -> bool:
        columns = self.terms.columns(term)
        return self._fit_columns(columns, self._first(len(columns))).optimum.separated

    # All candidates ---------------------------------------------------------------------------------------------------

    def _answer(self, here: Here, plain: Moves, rows: IntArray, answers: Answers, *, adding: bool) -> None:
        """Fill in the moves ``rows`` of one kind."""
        test = self._test[adding]
        cheap = test == ("score" if adding else "wald")
        if cheap:
            statistic = self._cheap_statistics(here, plain.term[rows], adding=adding)
            answers.statistic[rows] = statistic / self._dispersion(self._model)
            if self._by_p_value:
                return
        self._likelihoods(here, plain, rows, answers, adding=adding)
        if test == "lr":
            answers.statistic[rows] = self._likelihood_ratio_statistics(plain, rows, answers, adding=adding)
        elif not cheap:
            for row in rows:
                answers.statistic[row] = self._dear_statistic(int(plain.term[row]), adding)

    def _likelihoods(self, here: Here, plain: Moves, rows: IntArray, answers: Answers, *, adding: bool) -> None:
        """Fill in the deviance and likelihood ratio of every move."""
        terms = plain.term[rows]
        together = self.likelihood.batched & self.geometry.single[terms] & (plain.df[rows] == 1)
        if self._model.optimum.separated or not here.regular or (not adding and self.geometry.redundant):
            together[:] = False  # the information of the model says nothing of its neighbours
        ratios = np.full(len(rows), np.nan)
        places = self._places(terms[together], adding=adding)
        if self._bounded and together.all() and here.regular and not self._model.optimum.separated:
            search = leading.best_addition if adding else leading.best_removal
            ratios, _ = search(here, self._X, places, lambda at, start: self._exact(int(terms[at]), adding, start))
            answers.status[rows[np.isnan(ratios)]] = Status.bounded
        else:
            if together.any():
                batch = added_together if adding else removed_together
                ratios[together] = batch(here, self._X, places)
            for at in np.flatnonzero(np.isnan(ratios)):
                ratios[at] = self._exact(int(terms[at]), adding)
        if adding and not self._model.optimum.separated:
            self._flag_separation(terms, rows, answers)
        answers.change[rows] = answers.ratio[rows] = np.maximum(ratios, 0.0)
        if not self.likelihood.fixed_dispersion:
            self._dispersed(plain, rows, answers, adding=adding)

    def _flag_separation(self, terms: IntArray, rows: IntArray, answers: Answers) -> None:
        for row, term in zip(rows, terms.tolist(), strict=True):
            model = self._fitted.get((term, True))
            if model is not None and model.optimum.separated:
                answers.status[row] = Status.separated
                self.separated.add(term)

    def _places(self, terms: IntArray, *, adding: bool) -> IntArray:
        """Return the design columns of single terms to add, or their rows in the design of the model to remove."""
        columns = self.geometry.first_columns[terms]
        if adding:
            return columns
        place = {column: at for at, column in enumerate(self._model.columns.tolist(), start=len(self._fixed))}
        return np.array([place[column] for column in columns.tolist()], dtype=np.intp)

    def _exact(self, term: int, adding: bool, start: FloatArray | None = None) -> float:
        """Return the likelihood ratio of one move by a fit of its own."""
        optimum = self._candidate(term, adding, start).optimum
        gain = 2 * (optimum.loglik - self._model.optimum.loglik)
        return gain if adding else -gain

    def _dispersed(self, plain: Moves, rows: IntArray, answers: Answers, *, adding: bool) -> None:
        """Take the full log-likelihoods where each model has a dispersion of its own."""
        here, sign = self.fit(), 1 if adding else -1
        for row, term in zip(rows, plain.term[rows].tolist(), strict=True):
            there = self._finished(self._fitted[term, adding])
            answers.change[row] = sign * (here.deviance - there.deviance)
            answers.ratio[row] = sign * 2 * (there.log_likelihood - here.log_likelihood)

    def _likelihood_ratio_statistics(
        self, plain: Moves, rows: IntArray, answers: Answers, *, adding: bool
    ) -> FloatArray:
        """Return likelihood-ratio statistics: deviance over the dispersion of the larger model."""
        if self.likelihood.fixed_dispersion:
            return answers.ratio[rows]
        if not adding:
            return answers.change[rows] / self._dispersion(self._model)
        larger = [self._fitted[term, True] for term in plain.term[rows].tolist()]
        return answers.change[rows] / np.array([self._dispersion(model) for model in larger])

    def _dispersion(self, model: Fitted | Model) -> float:
        return self.likelihood.dispersion(model.optimum.eta, len(model.optimum.beta))

    def _cheap_statistics(self, here: Here, terms: IntArray, *, adding: bool) -> FloatArray:
        """Return score statistics of additions or Wald statistics of removals: no fit is needed."""
        result = np.empty(len(terms))
        single = self.geometry.single[terms]
        if adding:
            if single.any():
                result[single] = here.scores(self._X, self.geometry.first_columns[terms[single]])
            for at in np.flatnonzero(~single):
                after = self.geometry.columns_after(int(terms[at]), adding=True)
                new = after[~np.isin(after, self._model.columns)]
                result[at] = here.joint_score(self._X[:, new].T)
            return result
        for place, term in enumerate(terms.tolist()):
            own = np.flatnonzero(np.isin(self._model.columns, self.terms.columns(term)))
            result[place] = here.joint_wald(own + len(self._fixed))
        return result

    def _dear_statistic(self, term: int, adding: bool) -> float:
        """Return the Wald statistic of an addition or the score statistic of a removal: at the model moved to."""
        model = self._informed(*(self._fitted.get((term, adding)) or self._candidate(term, adding)))
        there = self._here(model)
        if adding:
            own = np.flatnonzero(~np.isin(model.columns, self._model.columns))
            return there.joint_wald(own + len(self._fixed)) / self._dispersion(model)
        gone = self._model.columns[~np.isin(self._model.columns, model.columns)]
        return there.joint_score(self._X[:, gone].T) / self._dispersion(model)

    # Further questions ------------------------------------------------------------------------------------------------

    def model_columns(self) -> IntArray:
        """Return the independent columns of the current model, in input order."""
        return self.geometry.model_columns()

    def weighted_collinearity(self, active: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return generalised variance inflation of each term, and condition indices, in the weighted design.

        References
        ----------
        Lesaffre and Marx (1993), Collinearity in generalized linear regression, Communications in Statistics 22.
        """
        information, n_fixed = self._model.optimum.information, len(self._fixed)
        assert information is not None
        part = information[n_fixed:, n_fixed:]
        if not len(part):
            return np.ones(len(active)), np.empty(0)
        if n_fixed:  # sweep the intercept out
            part = part - np.outer(information[0, n_fixed:], information[0, n_fixed:]) / information[0, 0]
        size = np.sqrt(np.maximum(part.diagonal(), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(part / np.multiply.outer(size, size))
        factor = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        groups = [np.flatnonzero(np.isin(self._model.columns, self.terms.columns(term))) for term in active.tolist()]
        return collinearity.diagnose(factor, groups)

    def coefficients(self) -> Coefficients:
        """Return the coefficients of the current model on the columns as they came, in input order."""
        model, n_fixed = self._model, len(self._fixed)
        inverse = self.likelihood.covariance(model.optimum, model.Z) * self._dispersion(model)
        order = np.argsort(model.columns)
        columns, places = model.columns[order], np.concatenate([np.arange(n_fixed), n_fixed + order])
        unit = self._unit[columns]
        back = np.diag(np.concatenate([np.ones(n_fixed), unit]))
        if n_fixed:
            back[0, 1:] = -unit * self._mean[columns]
        params = back @ model.optimum.beta[places]
        if n_fixed:
            params[0] -= self._offset_shift
        covariance = back @ inverse[np.ix_(places, places)] @ back.T
        return Coefficients(params, covariance, np.inf)

    @property
    def at_infinity(self) -> bool:
        """Whether the current model separates the response, so that coefficients have no finite estimate."""
        return self._model.optimum.separated

    def final(self) -> dict[str, float]:
        """Return dispersion and discrimination of the current model, by name, where the family has them."""
        optimum, likelihood = self._model.optimum, self.likelihood
        found: dict[str, float] = {}
        if not likelihood.fixed_dispersion:
            found["dispersion"] = self._dispersion(self._model)
        if hasattr(optimum, "alpha"):
            found["alpha"] = optimum.alpha
        found.update(likelihood.discrimination(optimum.eta))
        return found

    def null_fit(self) -> Fit:
        """Return the fit of the intercept alone."""
        return self._finished(self._fit_columns(np.empty(0, dtype=np.intp), self._first(0)))


def _standardised(geometry: LinearEngine, order: IntArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the columns, centred where there is an intercept, at a mean square of one, rows in the given order.

    And what was taken from each column, and what it was multiplied by. Columns that are near enough to that as they are
    stay as they are: no copy of the data is made then.
    """
    scale, n_rows = geometry.scale, len(geometry.data.y)
    mean, unit = scale.mean, np.where(scale.constant, 0.0, scale.unit * np.sqrt(n_rows))
    X = geometry.data.X
    if order is None and X.dtype == float and X.flags.c_contiguous and not scale.constant.any():
        near = (np.abs(mean) * unit < _NEAR_MEAN) & (unit < _NEAR_UNIT) & (unit > 1 / _NEAR_UNIT)
        if near.all():
            return np.asarray(X, dtype=float), np.zeros(len(mean)), np.ones(len(mean))
    X = X if order is None else X[order]
    result = np.empty(X.shape)
    for rows in row_blocks(*X.shape):
        np.subtract(X[rows], mean, out=result[rows])
        result[rows] *= unit
    return result, mean, unit


def _largest(X: FloatArray) -> FloatArray:
    """Return the largest absolute entry of every column."""
    result = np.zeros(X.shape[1])
    for rows in row_blocks(*X.shape):
        np.maximum(result, np.abs(X[rows]).max(axis=0), out=result)
    return result
