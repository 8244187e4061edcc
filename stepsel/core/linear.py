"""The linear engine: least squares for one model and for all its neighbours at once."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigvalsh

from stepsel.core import collinearity
from stepsel.core.cross_products import BackwardState, BlockChange, ForwardState, State, SweepState
from stepsel.core.fits import Fit, FloatArray, Moves, Status
from stepsel.core.linear_data import LinearData, column_scale, orthogonal_problem
from stepsel.core.moments import SufficientStats, accumulate
from stepsel.core.orthogonal import OrthogonalState, noise_share
from stepsel.core.problem import Problem
from stepsel.core.terms import BoolArray, IntArray, Terms

# Where the cross-products stop being exact enough. With a tolerance above 1e-5 the statistics agree with QR to
# about 1e-10 relative (eps / tolerance), below it they lose a digit per decade; with a residual share above 1e-6
# the same holds for the residual sum of squares. `tests/test_linear.py` measures both.
SMALLEST_TOLERANCE = 1e-5
SMALLEST_RESIDUAL_SHARE = 1e-6


class LinearEngine:
    """Ordinary (weighted) least squares with all moves of a step evaluated together.

    It stands at one model, says what every move from there would give, and moves. Behind it is one of the
    eliminations of `stepsel.core.cross_products` while they are exact, and from the first doubtful step on the
    orthonormal basis of `stepsel.core.orthogonal`.

    Parameters
    ----------
    data : LinearData
    terms : Terms
    tolerance : float
        A column whose ``1 - R2`` on the model is at most this is aliased with it.
    adds, removes : bool
        Which kinds of moves will be asked for; decides the form of the elimination.
    """

    def __init__(self, data: LinearData, terms: Terms, *, tolerance: float, adds: bool, removes: bool) -> None:
        self.data = data
        self.n_obs = data.n_obs
        self.tolerance = tolerance
        self._adds, self._removes = adds, removes
        self.scale = column_scale(data)
        self.terms = terms.without_columns(self.scale.constant) if self.scale.constant.any() else terms
        sizes = self.terms.sizes
        self.constant = sizes == 0
        self.single = sizes == 1
        self._all_single = bool((sizes <= 1).all())
        self.first_columns = np.append(self.terms.index, -1)[self.terms.offset[:-1]]
        self._ones = np.ones(len(terms), dtype=np.intp)
        self._eligible = np.zeros(len(terms), dtype=np.int8)
        self._state: State
        self._active: dict[int, None] = {}  # the terms of the model in the order in which they entered
        self._full_inflation: FloatArray | None = None
        self.perfect = False

    @cached_property
    def correlation(self) -> FloatArray:
        """Cross-products of the columns scaled to unit length (a correlation matrix when centred)."""
        unit = self.scale.unit
        return self.data.stats.gram * np.multiply.outer(unit, unit)

    @cached_property
    def problem(self) -> Problem:
        """The problem in the form that the careful state needs."""
        return orthogonal_problem(self.data, self.scale)

    # The contract with the search: start, fit, neighbours, apply ------------------------------------------------

    def start(self, active: BoolArray) -> BoolArray:
        """Go to the model ``active``; return it without the terms that are aliased with earlier ones.

        Parents of other terms stay. Terms that are kept come first, then input order decides.
        """
        order = np.flatnonzero(active & ~self.constant)
        order = order[np.argsort(~self.terms.kept[order], kind="stable")]
        state = None if self.data.wide else self._fast_state(self.terms.columns_of(order))
        if state is None:
            order = self._independent(order)
            state = OrthogonalState(self.problem, self.tolerance, self.terms.columns_of(order))
        self._state, self._active = state, dict.fromkeys(order.tolist())
        self._note_perfect()
        started = np.zeros(len(active), dtype=bool)
        started[order] = True
        return started

    def fit(self) -> Fit:
        """Return the fit of the current model."""
        n, rss = self.n_obs, self._state.rss
        n_params = self._state.rank + int(self.data.intercept)
        log_likelihood = -n / 2 * (math.log(2 * math.pi * rss / n) + 1) + self.data.log_weights
        return Fit(rss, log_likelihood, n_params, n - n_params)

    def neighbours(self, additions: IntArray, removals: IntArray) -> Moves:
        """Return every model one move away: ``removals`` first, then ``additions``."""
        if not isinstance(self._state, OrthogonalState):
            moves = self._evaluate(additions, removals)
            if self._trusted(moves):
                return moves
            self._state = OrthogonalState(
                self.problem, self.tolerance, self.terms.columns_of(np.array(list(self._active), dtype=np.intp))
            )
            self._note_perfect()
        return self._evaluate(additions, removals)

    def apply(self, term: int, adding: bool) -> None:
        """Move to the model with ``term`` added or removed."""
        if adding:
            self._state.enter(self.terms.columns(term))
            self._active[term] = None
        else:
            self._state.leave(self.terms.columns(term))
            del self._active[term]
        self._note_perfect()

    @property
    def geometry(self) -> "LinearEngine":
        """Itself: what engines of other families keep beside them."""
        return self

    # Further questions ------------------------------------------------------------------------------------------

    def full_fit(self) -> Fit:
        """Return the fit of the model with every candidate that is not aliased; rows must outnumber columns."""
        every = LinearEngine(self.data, self.terms, tolerance=self.tolerance, adds=False, removes=True)
        every.start(np.ones(len(self.terms), dtype=bool))
        return every.fit()

    def rank(self, terms: IntArray, *, enough: float) -> int:
        """Return how many independent columns terms have.

        Their number is taken for it where it is at most ``enough``, or every term has one column.
        """
        columns = self.terms.columns_of(terms)
        if len(columns) <= enough or self._all_single:
            return len(columns)
        return OrthogonalState(self.problem, self.tolerance, columns).rank

    def aliasing(self, own: IntArray, columns: IntArray) -> IntArray:
        """Return those of ``columns`` that take part in the linear combination that the columns ``own`` repeat.

        None where they repeat no combination of them.
        """
        scaled = self.unit_columns(np.concatenate([columns, own]))
        solution = np.linalg.lstsq(scaled[:, : len(columns)], scaled[:, len(columns) :], rcond=None)[0]
        left = scaled[:, len(columns) :] - scaled[:, : len(columns)] @ solution
        if not solution.size or (left**2).sum() > max(1e-6, 10 * self.tolerance):
            return np.empty(0, dtype=np.intp)
        weight = np.abs(solution).max(axis=1)
        return columns[weight > 1e-6 * weight.max(initial=0.0)]

    def model_columns(self) -> IntArray:
        """Return the independent columns of the current model, in input order."""
        if isinstance(self._state, OrthogonalState):
            return np.sort(self._state.basis_columns)
        return np.sort(self.terms.columns_of(np.array(list(self._active), dtype=np.intp)))

    def columns_after(self, term: int, adding: bool) -> IntArray:
        """Return the independent columns of the model after a move, in input order."""
        terms = [*self._active, term] if adding else [other for other in self._active if other != term]
        columns = self.terms.columns_of(np.array(terms, dtype=np.intp))
        if isinstance(self._state, OrthogonalState) and not (self._all_single and not self.redundant):
            columns = OrthogonalState(self.problem, self.tolerance, columns).basis_columns
        return np.sort(columns)

    def moments(self, columns: IntArray) -> SufficientStats:
        """Return the moments of some columns and the response, as the selection saw them."""
        if self.data.wide:
            data = self.data
            return accumulate(data.X[:, columns], data.y, data.weights, centred=data.intercept)
        stats = self.data.stats
        gram = stats.gram[np.ix_(columns, columns)]
        return replace(stats, mean=stats.mean[columns], gram=gram, cross=stats.cross[columns])

    def unit_columns(self, columns: IntArray) -> FloatArray:
        """Return columns, the intercept swept out, scaled to unit length; or their R factor."""
        return self.problem.columns(columns) / np.sqrt(self.problem.squares[columns])

    def collinearity(self, active: IntArray, *, independent: bool = True) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return generalised variance inflation and columns of each term, and the condition indices of the model.

        With ``independent``, columns that repeat those before them are left out, as a model does; without, they and
        what they repeat have infinite inflation.
        """
        part = self._correlation_of(active)
        if part is not None:
            vif = collinearity.inflation_of_correlation(part)
            if vif is not None:
                values = eigvalsh(part, check_finite=False)[::-1]
                return vif, np.ones(len(active)), np.sqrt(values[0] / values)
        factor, groups = self._factor(active, independent=independent)
        gvif, indices = collinearity.diagnose(factor, groups, self._null_space)
        return gvif, np.array([len(group) for group in groups], dtype=float), indices

    def collinearity_summary(self, active: IntArray) -> tuple[float, float]:
        """Return condition number and largest variance inflation factor (in one dimension) of a model."""
        if not len(active):
            return math.nan, math.nan
        gvif, df, indices = self.collinearity(active)
        return float(indices[-1]), float((gvif ** (1 / np.maximum(df, 1))).max())

    @property
    def _null_space(self) -> float:
        """Squared singular value below which rounding of the columns themselves hides what is left."""
        return collinearity.NULL_SPACE + float(noise_share(self.problem).max(initial=0.0))

    def _correlation_of(self, active: IntArray) -> FloatArray | None:
        """Return the correlations of a model of single columns, None where they are not at hand."""
        if self.data.wide or not len(active) or not self._all_single:
            return None
        columns = self.first_columns[active]
        return self.correlation[np.ix_(columns, columns)]

    def candidate_inflation(self, among: BoolArray) -> FloatArray | None:
        """Return the variance inflation of every term of ``among``, in one dimension: 1 for other terms.

        None where columns outnumber rows.
        """
        members = np.flatnonzero(among & ~self.constant)
        columns = self.first_columns[members] if self._all_single else self.terms.columns_of(members)
        if self.data.wide or len(columns) >= self.n_obs - 1 or len(members) < 2:
            return None
        result = np.ones(len(self.terms))
        if len(columns) == len(members):
            result[members] = self._single_inflation(columns)
        else:
            result[members] = self._term_inflation(members, columns)
        return result

    def _term_inflation(self, members: IntArray, columns: IntArray) -> FloatArray:
        ends = np.cumsum(self.terms.sizes[members])
        groups = np.split(np.arange(len(columns)), ends[:-1])
        gvif = collinearity.inflation_of_correlation(self.correlation[np.ix_(columns, columns)], groups)
        if gvif is not None:
            return gvif ** (1 / self.terms.sizes[members])
        gvif, df, _ = self.collinearity(members)
        return gvif ** (1 / np.maximum(df, 1))

    def _single_inflation(self, columns: IntArray) -> FloatArray:
        if self._full_inflation is not None and len(columns) == len(self._full_inflation):
            return self._full_inflation  # of every column that is not constant
        whole = len(columns) == len(self.scale.constant)
        part = self.correlation if whole else self.correlation[np.ix_(columns, columns)]
        inflation = collinearity.inflation_of_correlation(part)
        if inflation is None:
            inflation, _ = collinearity.inflation(self.unit_columns(columns), self._null_space)
        return inflation

    def _factor(self, active: IntArray, *, independent: bool) -> tuple[FloatArray, list[IntArray]]:
        """Return the unit columns of a model and the place of each term's columns among them.

        A column of a larger term that is aliased within the model has no coefficient, and no inflation.
        """
        columns = self.terms.columns_of(active)
        if not len(columns):
            return np.empty((0, 0)), []
        owner = np.repeat(np.arange(len(active)), self.terms.sizes[active])
        if independent and not self._all_single:
            inside = np.isin(columns, OrthogonalState(self.problem, self.tolerance, columns).basis_columns)
            columns, owner = columns[inside], owner[inside]
        return self.unit_columns(columns), [np.flatnonzero(owner == at) for at in range(len(active))]

    # Inside -----------------------------------------------------------------------------------------------------

    def _note_perfect(self) -> None:
        if isinstance(self._state, OrthogonalState):
            self.perfect = self.perfect or self._state.perfect

    def _fast_state(self, columns: IntArray) -> State | None:
        """Return the elimination at the model of ``columns``, or None where it would not be exact enough."""
        cross, ssy = self.data.stats.cross * self.scale.unit, self.scale.ssy
        state: State
        if self._removes and not self._adds:
            state = BackwardState(self.correlation, cross, ssy, columns)
            tolerance = state.removal(columns)[1]
            trusted = bool(tolerance.min(initial=1.0) > self._smallest_tolerance)
            if trusted and len(columns) == self.terms.offset[-1]:
                self._full_inflation = 1 / tolerance[np.argsort(columns)]
        else:
            if self._removes:
                state = SweepState(self.correlation, cross, ssy)
            else:
                state = ForwardState(self.correlation, cross, ssy)
            trusted = self._entered(state, columns)
        return state if trusted and self._exact(state.rss) else None

    def _entered(self, state: State, columns: IntArray) -> bool:
        for at in range(len(columns)):
            one = columns[at : at + 1]
            if not state.addition(one)[1][0] > self._smallest_tolerance:
                return False
            state.enter(one)
        return True

    @property
    def _smallest_tolerance(self) -> float:
        """Below it the careful state decides: for want of digits, or because the column may count as aliased."""
        return max(SMALLEST_TOLERANCE, self.tolerance)

    def _exact(self, rss: float) -> bool:
        return rss > SMALLEST_RESIDUAL_SHARE * self.scale.ssy

    def _trusted(self, moves: Moves) -> bool:
        """Whether the cross-products hold enough digits for every move that they were asked for."""
        rss = self._state.rss
        if isinstance(self._state, BackwardState):
            return True  # what was exact at the start only gets more so: deviance and tolerances rise
        if moves.n_removals < len(moves):
            rss -= float(moves.change[moves.n_removals :].max())
        return self._exact(rss) and (not len(moves) or bool(moves.tolerance.min() > self._smallest_tolerance))

    def _independent(self, order: IntArray) -> IntArray:
        """Return the terms that are not wholly aliased with those before them in ``order``, or that others need.

        A parent without a column of its own stays, so that it comes to life when what it repeats leaves (R does so).
        """
        if not len(order):
            return order
        inside = set(OrthogonalState(self.problem, self.tolerance, self.terms.columns_of(order)).basis_columns.tolist())
        offered, found = np.zeros((2, len(self.terms)), dtype=bool)
        offered[order] = True
        found[[term for term in order if not inside.isdisjoint(self.terms.columns(term))]] = True
        return order[self.terms.with_parents(found, offered)[order]]

    def _evaluate(self, additions: IntArray, removals: IntArray) -> Moves:
        state = self._state
        parts = []
        if len(removals):
            parts.append(self._answers(removals, state.removal, state.block_removal))
        if len(additions):
            parts.append(self._answers(additions, state.addition, state.block_addition))
        terms = np.concatenate([removals, additions]) if len(parts) == 2 else (removals if len(removals) else additions)
        if not parts:
            parts.append((np.empty(0), self._ones[:0], np.empty(0)))
        change, df, tolerance = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        uniform, status = self._all_single, self._eligible[: len(terms)]
        closed = self._closed(len(removals), df, tolerance)
        if closed is not None:
            status, uniform = closed, False
            df = np.where(status == Status.aliased, 0, df)
        return Moves(terms, len(removals), df, uniform, change, tolerance, status, state.rss, profiled_n=self.n_obs)

    def _closed(self, n_removals: int, df: IntArray, tolerance: FloatArray) -> npt.NDArray[np.int8] | None:
        """Return the status of every move where some are closed: aliased with the model, or saturating it."""
        left = self.n_obs - self._state.rank - int(self.data.intercept)
        careful = isinstance(self._state, OrthogonalState)
        if not careful and left - (1 if self._all_single else df[n_removals:].max(initial=0)) >= 1:
            return None
        if careful and left - 1 >= 1 and self._all_single and tolerance[n_removals:].min(initial=1.0) > 0:
            return None if not self.redundant else np.zeros(len(df), dtype=np.int8)
        status = np.zeros(len(df), dtype=np.int8)
        status[n_removals:][left - df[n_removals:] < 1] = Status.saturated
        status[n_removals:][~(tolerance[n_removals:] > 0)] = Status.aliased
        return status

    def _answers(
        self,
        group: IntArray,
        one: Callable[[IntArray], tuple[FloatArray, FloatArray]],
        block: Callable[[IntArray], BlockChange],
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Return change, df and tolerance for terms of one and of several columns."""
        if self._all_single and not self.redundant:
            change, tolerance = one(self.first_columns[group])
            return change, self._ones[: len(group)], tolerance
        change, tolerance = np.empty(len(group)), np.empty(len(group))
        df = np.ones(len(group), dtype=np.intp)
        single = self.single[group] & (not self.redundant)
        if single.any():
            change[single], tolerance[single] = one(self.first_columns[group[single]])
        for at in np.flatnonzero(~single):
            change[at], df[at], tolerance[at] = block(self.terms.columns(group[at]))
        return change, df, tolerance

    @property
    def redundant(self) -> bool:
        """Whether columns of the model are aliased with each other, so that a term may have lost its df."""
        return isinstance(self._state, OrthogonalState) and self._state.deficient
