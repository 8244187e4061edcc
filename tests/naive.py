"""The slow, obvious oracle: one statsmodels least-squares fit per candidate, nothing shared between fits.

It follows the written rules of stepwise selection, not the package (naive_families.py brings other likelihoods
to the same search):

* Information criteria: all legal removals and additions compete in one table, the best strict improvement is
  taken (R `step`). `adj_r2` is maximised, every other criterion minimised.
* p-values: remove while any removable p > alpha_remove, largest p first; else enter the smallest
  p < alpha_enter (Efroymson; SAS, SPSS).
* Ties go to removals before additions, then to the input order.
* A model that was visited before is never entered again: the search ends. The one exception: where terms enter and
  leave by different tests, a removal that leads back is the last step (SAS PHREG).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import stats

STRICT = 1e-9  # a gain smaller than this is no improvement; scores closer than this are a tie
COLUMNS = ["step", "move", "term", "df", "statistic", "p_value", "log_p", "criterion", "tolerance"]
ALIASED = 1e-11  # share of a column's variation that must be left once the model's columns are swept out


@dataclass(frozen=True)
class Step:
    """One row of the trace: how the model was reached and what its fit says."""

    action: str
    term: object
    df: int
    statistic: float
    p_value: float
    criterion: float
    terms: tuple
    n_params: int
    rss: float
    log_likelihood: float
    aic: float
    bic: float
    r2: float
    adj_r2: float


@dataclass(frozen=True)
class NaiveResult:
    steps: list
    candidates: pd.DataFrame
    selected: list
    coefficients: pd.DataFrame
    tolerances: dict  # of each selected term: what the other selected terms leave of it

    @property
    def path(self):
        return [(step.action, step.term) for step in self.steps]


class Columns:
    """The candidate columns with the weights of their rows.

    Frequency weights repeat rows; analytic weights stay, on the rows where they are positive. Columns are
    centred and scaled before a fit when there is an intercept (scaled only when there is none): that changes
    the units and the intercept, neither the fitted values nor any test, and keeps the digits of columns such
    as 1e6 + noise.
    """

    def __init__(self, X, *, groups=None, fit_intercept=True, weights=None, weight_type="frequency"):
        weights = np.ones(len(X)) if weights is None else np.asarray(weights, float)
        repeats = weights.astype(int) if weight_type == "frequency" else weights > 0
        self.rows = np.repeat(np.arange(len(X)), repeats)
        self.weights = np.ones(len(self.rows)) if weight_type == "frequency" else weights[self.rows]
        values = X.to_numpy(float)[self.rows].astype(np.longdouble)
        self.n, self.fit_intercept = len(self.rows), fit_intercept
        self.centre = values.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
        constant = (np.ptp(values, axis=0) == 0) & fit_intercept
        centred = np.where(constant, 0, values - self.centre)
        self.scale = np.where(constant, 1, np.sqrt(np.mean(centred**2, axis=0)))
        self.Z = (centred / self.scale).astype(float)
        self.names = list(X.columns)
        self.terms = term_columns(self.names, groups or {})

    def columns(self, terms):
        return [column for term in self.terms if term in terms for column in self.terms[term]]

    def design(self, terms):
        blocks = [np.ones((self.n, 1))] if self.fit_intercept else []
        return np.column_stack([*blocks, self.Z[:, self.columns(terms)]])

    def tolerance(self, term, others):
        """What the other terms leave of the term: 1 - R2 of its column on theirs (of a group: the least)."""
        root = np.sqrt(self.weights)[:, None]
        column = self.design([term]) * root
        if self.fit_intercept:
            column = leftover(column[:, :1], column[:, 1:])
        norms = np.linalg.norm(column, axis=0)
        if np.any(norms == 0):
            return 0.0
        left = leftover(self.design(others) * root, column / norms)
        return float(np.linalg.svd(left, compute_uv=False)[-1] ** 2)

    def full(self, keep=()):
        """Every term that is not aliased with the ones before it, the kept ones first."""
        terms = []
        for term in [*keep, *(t for t in self.terms if t not in keep)]:
            if self.tolerance(term, terms) > ALIASED:
                terms.append(term)
        return terms

    def in_units_of_the_data(self, terms, params, covariance):
        """Estimates and standard errors, the intercept first."""
        columns = self.columns(terms)
        back = np.diag(1 / self.scale[columns])
        if self.fit_intercept:
            intercept = np.r_[1, -self.centre[columns] / self.scale[columns]]
            back = np.vstack([intercept, np.column_stack([np.zeros(len(columns)), back])])
        error = np.sqrt(np.diag(back @ covariance @ back.T))
        names = ["(Intercept)"] * self.fit_intercept + [self.names[column] for column in columns]
        estimate = (back @ params).astype(float)
        return pd.DataFrame({"term": names, "estimate": estimate, "std_error": error.astype(float)})


class Regression(Columns):
    """Least squares, and the partial F test whatever test is asked for."""

    def __init__(self, X, y, **parameters):
        super().__init__(X, **parameters)
        response = np.asarray(y, float)[self.rows].astype(np.longdouble)
        self.centre_y = response.mean() if self.fit_intercept else 0.0
        self.y = (response - self.centre_y).astype(float)
        self.s2_full = None

    def fit(self, terms):
        """The statsmodels fit; by QR, as the default pseudo-inverse loses digits on collinear columns."""
        design = self.design(terms)
        if design.shape[1] == 0:
            return EmptyFit(self.y, self.weights)
        return sm.WLS(self.y, design, weights=self.weights, hasconst=self.fit_intercept).fit(method="qr")

    def measures(self, fit):
        k = len(fit.params)
        return {
            "n_params": k, "rss": fit.ssr, "log_likelihood": fit.llf, "aic": -2 * fit.llf + 2 * k,
            "bic": -2 * fit.llf + np.log(self.n) * k, "r2": fit.rsquared, "adj_r2": fit.rsquared_adj,
        }  # fmt: skip

    def criterion(self, name, fit):
        n, k = fit.nobs, len(fit.params)
        if name == "adj_r2":
            return fit.rsquared_adj
        if name == "cp":
            return fit.ssr / self.s2_full - n + 2 * k
        return penalised(name, fit.llf, k, n, k + 1)  # Hurvich and Tsai count sigma

    def test(self, _, smaller, larger):
        return partial_f(self.fit(smaller), self.fit(larger))

    def coefficients(self, terms):
        fit = self.fit(terms)
        table = self.in_units_of_the_data(terms, fit.params, fit.cov_params())
        if self.fit_intercept:
            table.loc[0, "estimate"] += float(self.centre_y)
        return table


class EmptyFit:
    """The model without any column (no intercept, no term), which statsmodels does not fit."""

    def __init__(self, y, weights):
        n = self.nobs = self.df_resid = len(y)
        self.rsquared = self.rsquared_adj = 0.0
        self.ssr = np.sum(weights * y**2)
        self.llf = -n / 2 * (np.log(2 * np.pi * self.ssr / n) + 1) + np.sum(np.log(weights)) / 2
        self.params = np.zeros(0)

    def cov_params(self):
        return np.zeros((0, 0))


def leftover(design, columns):
    """The residual of the columns once the design is swept out."""
    if design.shape[1] == 0:
        return columns
    return columns - design @ np.linalg.lstsq(design, columns, rcond=None)[0]


def term_columns(names, groups):
    """{term: column positions} in the order of each term's first column."""
    terms = {}
    for position, name in enumerate(names):
        term = next((group for group, members in groups.items() if name in members), name)
        terms.setdefault(term, []).append(position)
    return terms


def penalised(name, llf, k, n, k_aicc):
    if name == "aicc":
        return -2 * llf + (2 * k_aicc * n / (n - k_aicc - 1) if n > k_aicc + 1 else np.inf)
    penalty = {"aic": 2, "bic": np.log(n), "hqic": 2 * np.log(np.log(n)), "pvalue": np.nan}[name]
    return -2 * llf + penalty * k


def partial_f(small, big):
    """Degrees of freedom, F, p and log p of what the larger model adds."""
    df = len(big.params) - len(small.params)
    f = max(small.ssr - big.ssr, 0.0) / df / (big.ssr / big.df_resid)
    p = stats.f.sf(f, df, big.df_resid)
    with np.errstate(divide="ignore"):
        return df, f, p, np.log(p)


def first_best(moves, score):
    """The move with the lowest score; of those that tie, the first (removals stand before additions)."""
    best = min(score(move) for move in moves)
    return next(move for move in moves if score(move) == best or score(move) <= best + STRICT)


def smallest_p(moves):
    """By log p, then (an underflowed p is 0 for several) by the statistic, then in input order."""
    lowest = min(move["log_p"] for move in moves)
    near = [move for move in moves if move["log_p"] == lowest or move["log_p"] <= lowest + STRICT]
    largest = max(move["statistic"] for move in near)
    return next(move for move in near if move["statistic"] >= largest * (1 - STRICT))


def choose(moves, here, criterion, alpha_enter, alpha_remove, forced):
    """The move that the rules take from this table, or None."""
    removals = [move for move in moves if move["move"] == "remove"]
    additions = [move for move in moves if move["move"] == "add"]
    if criterion == "pvalue":
        leaving = [move for move in removals if forced or move["p_value"] > alpha_remove]
        entering = [move for move in additions if move["p_value"] < alpha_enter]
        if leaving:
            return first_best(leaving, lambda move: -move["log_p"])
        return smallest_p(entering) if entering else None
    sign = -1 if criterion == "adj_r2" else 1
    if not moves:
        return None
    best = first_best(moves, lambda move: sign * move["criterion"])
    return best if forced or sign * best["criterion"] < sign * here - STRICT else None


def starting_terms(data, start, direction, keep):
    if start == "auto":
        start = "full" if direction == "backward" else "empty"
    if start == "full":
        return data.full(keep)
    return [*keep, *([] if start == "empty" else (term for term in start if term not in keep))]


def naive_select(
    X, y, *, groups=None, fit_intercept=True, weights=None, weight_type="frequency", keep=(), criterion="aic", **rules
):
    data = Regression(X, y, groups=groups, fit_intercept=fit_intercept, weights=weights, weight_type=weight_type)
    if criterion == "cp":
        full = data.fit(data.full(keep))
        data.s2_full = full.ssr / full.df_resid
    return search(data, keep=keep, criterion=criterion, **rules)


def search(
    data,
    *,
    direction="both",
    criterion="aic",
    alpha_enter=0.05,
    alpha_remove=0.10,
    test_enter="auto",
    test_remove="auto",
    keep=(),
    start="auto",
    max_terms=None,
    max_steps=None,
):
    """The rules, whatever the likelihood: `data` fits, measures and tests (see `Regression`)."""
    tests = {"add": test_enter, "remove": test_remove}
    current = starting_terms(data, start, direction, keep)

    def step(action, term, df, statistic, p_value, terms):
        fit = data.fit(terms)
        value = data.criterion(criterion, fit)
        inside = tuple(t for t in data.terms if t in terms)
        return Step(action, term, df, statistic, p_value, value, inside, **data.measures(fit))

    def evaluate(move, term):
        """One row of the candidates table, or None when the move is not legal."""
        after = without(current, term) if move == "remove" else [*current, term]
        tolerance = data.tolerance(term, without(current, term))
        if tolerance <= ALIASED or data.fit(after).df_resid < 1:
            return None
        df, statistic, p, log_p = data.test(tests[move], *sorted((current, after), key=len))
        value = data.criterion(criterion, data.fit(after))
        row = (len(steps), move, term, df, statistic, p, log_p, value, tolerance)
        return dict(zip(COLUMNS, row, strict=True))

    steps = [step("start", None, 0, np.nan, np.nan, current)]
    visited, candidates = {frozenset(current)}, []
    back = False
    while not back:
        forced = max_terms is not None and len(current) > max_terms
        room = max_terms is None or len(current) < max_terms
        removable = [t for t in data.terms if t in current and t not in keep and direction != "forward"]
        addable = [t for t in data.terms if t not in current and direction != "backward" and room]
        moves = [evaluate("remove", term) for term in removable] + [evaluate("add", term) for term in addable]
        moves = [move for move in moves if move is not None]
        candidates += moves
        chosen = choose(moves, steps[-1].criterion, criterion, alpha_enter, alpha_remove, forced)
        if chosen is None or (max_steps is not None and len(steps) > max_steps):
            break
        term = chosen["term"]
        after = without(current, term) if chosen["move"] == "remove" else [*current, term]
        back = frozenset(after) in visited
        if back and not (chosen["move"] == "remove" and criterion == "pvalue" and test_enter != test_remove):
            break
        current = after
        visited.add(frozenset(current))
        test = (chosen["df"], chosen["statistic"], chosen["p_value"])
        steps.append(step(chosen["move"], term, *test, current))
    selected = [term for term in data.terms if term in current]
    tolerances = {term: data.tolerance(term, without(selected, term)) for term in selected}
    table = pd.DataFrame(candidates, columns=COLUMNS)
    return NaiveResult(steps, table, selected, data.coefficients(current), tolerances)


def without(terms, term):
    return [t for t in terms if t != term]
