"""The slow oracle for formulas: every model is a formula that statsmodels (patsy) turns into a model matrix.

A model is what R, patsy and formulaic span for the formula of its terms, margins left out or not. Its parameters are
counted by the rank of that matrix, and it is fitted on an orthonormal basis of its columns, by the fits of naive.py
(least squares) and naive_families.py (Newton to 1e-12).

The rules of the search are those of naive.py, and:

* Term u contains term t if every variable of t is in u at least as often; `I(x ** 2)` holds x twice.
* hierarchy "strong": a term enters only when all terms of the scope that it contains are in; it stays while a term
  that contains it is in (R `step`). "weak": one of the largest terms of the scope that it contains has to be in, and
  the last of them stays. "none": no rule. Terms with a rule against their move are barred.
* A candidate that adds no rank cannot enter. A term of the model that adds none to the others has become redundant:
  if it may leave it goes first, at no cost (R `step`: a removal with 0 degrees of freedom). Terms of the start that
  repeat those before them (the kept ones stand first) are left out without a step if they may leave, the last first.
"""

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd
import patsy
import statsmodels.formula.api as smf
from naive import Columns, Regression, Step, choose, without
from naive_families import Cox, GeneralizedLinear
from scipy import linalg, stats

COLUMNS = ["step", "move", "term", "df", "statistic", "p_value", "log_p", "criterion"]
RANK = 1e-7  # a column (of unit length) of which the columns before it leave less is their linear combination
DOT = r"(?<![\w.)])\.(?![\w.(])"


class RankError(Exception):
    """The rank of a model is a matter of rounding."""


def poly(x, degree):
    """R's orthogonal polynomials, up to signs: for formulas."""
    x = np.asarray(x, float)
    return np.linalg.qr(np.vander(x - x.mean(), degree + 1, increasing=True))[0][:, 1:]


# Formulas


def expanded(formula, dot):
    """The formula with what `.` stands for."""
    return re.sub(DOT, f"({dot})", formula)


def words_of(text):
    return set(re.findall(r"[^\W\d]\w*", text))


def terms_of(right):
    """The terms by name, mains first, and whether there is an intercept."""
    found = patsy.ModelDesc.from_formula(f"~ {right}").rhs_termlist
    terms = [term for term in found if term.factors]
    return [term.name() for term in sorted(terms, key=lambda term: len(term.factors))], len(found) > len(terms)


def variables_of(term):
    """How often each variable is a factor of the term."""
    counts = Counter()
    for factor in patsy.ModelDesc.from_formula(f"~ {term}").rhs_termlist[-1].factors:
        power = re.fullmatch(r"I\((\w+) \*\* (\d+)\)", factor.name())
        counts[power[1] if power else factor.name()] += int(power[2]) if power else 1
    return counts


def same_terms(names):
    """The terms as what they hold, for comparisons: `b:a` is `a:b`."""
    return [frozenset(variables_of(name).items()) for name in names]


class Marginality:
    """Which terms of a scope contain which, and the moves that a rule bars."""

    def __init__(self, terms, rule):
        variables = {term: variables_of(term) for term in terms}
        self.rule = rule
        self.inside = {
            u: [t for t in terms if variables[t] != variables[u] and variables[t] <= variables[u]] for u in terms
        }
        self.largest = {u: [t for t in inner if not any(t in self.inside[v] for v in inner)]
                        for u, inner in self.inside.items()}  # fmt: skip

    def may_enter(self, term, model):
        if self.rule == "strong":
            return all(t in model for t in self.inside[term])
        if self.rule == "weak" and self.largest[term]:
            return any(t in model for t in self.largest[term])
        return True

    def may_leave(self, term, model):
        if self.rule == "strong":
            return not any(term in self.inside[u] for u in model)
        if self.rule == "weak":
            return not any(term in self.largest[u] and not self.supported(u, without(model, term)) for u in model)
        return True

    def supported(self, term, model):
        return any(t in model for t in self.largest[term])


# Models


class FormulaColumns(Columns):
    """The terms of a scope on rows without gaps, and the columns of every model."""

    def __init__(self, data, *, terms, fit_intercept=True):
        self.data, self.terms, self.fit_intercept = data.assign(row=0.0), terms, fit_intercept
        self.n, self.rows, self.weights = len(data), np.arange(len(data)), np.ones(len(data))
        self.bases = {}

    def matrix(self, terms):
        """The model matrix of the formula."""
        right = " + ".join([str(int(self.fit_intercept)), *(term for term in self.terms if term in terms)])
        return np.asarray(smf.ols(f"row ~ {right}", self.data).exog, float)

    def design(self, terms):
        """An orthonormal basis, times sqrt(n), of what the formula spans; the intercept first if there is one."""
        key = frozenset(terms)
        if key not in self.bases:
            self.bases[key] = self.basis(self.matrix(terms) if terms else np.zeros((self.n, 0)))
        return self.bases[key]

    def basis(self, X):
        ones = np.ones((self.n, int(self.fit_intercept)))
        X = of_unit_length(X, 0.0)
        if self.fit_intercept:
            X = of_unit_length(X - X.mean(axis=0), RANK)
        if X.shape[1] == 0:
            return ones
        Q, R, _ = linalg.qr(X, mode="economic", pivoting=True)
        left = np.abs(np.diag(R))
        if ((left > 1e-12) & (left < 1e-4)).any():
            raise RankError
        return np.column_stack([ones, Q[:, left > RANK] * np.sqrt(self.n)])

    def rank(self, terms):
        return self.design(terms).shape[1]


def of_unit_length(X, least):
    """The columns divided by their length, without those that have none."""
    sizes = np.linalg.norm(X, axis=0)
    return X[:, sizes > least] / sizes[sizes > least]


class FormulaRegression(Regression, FormulaColumns):
    def mean(self, terms):
        return float(self.centre_y) + self.design(terms) @ self.fit(terms).params


class LikelihoodRatio:
    def test(self, _, smaller, larger):
        statistic = max(2 * (self.fit(larger).llf - self.fit(smaller).llf), 0.0)
        df = self.rank(larger) - self.rank(smaller)
        return df, statistic, stats.chi2.sf(statistic, df), stats.chi2.logsf(statistic, df)


class FormulaGeneralizedLinear(LikelihoodRatio, GeneralizedLinear, FormulaColumns):
    def mean(self, terms):
        return self.family().link.inverse(self.design(terms) @ self.fit(terms).params)


class FormulaCox(LikelihoodRatio, Cox, FormulaColumns):
    pass


# The search


@dataclass(frozen=True)
class FormulaResult:
    steps: list
    candidates: pd.DataFrame  # what could be chosen
    barred: list  # (step, move, term) of what the hierarchy forbids
    selected: list
    models: FormulaColumns

    @property
    def path(self):
        return [(step.action, step.term) for step in self.steps[1:]]


def naive_stepwise(formula, data, y=None, *, scope=None, family="gaussian", hierarchy="strong", trials=None,
                   ties="efron", missing="raise", **rules):  # fmt: skip
    """Select among the terms of a formula.

    `y` is the response as numbers (for "cox" as a survival array) where the formula does not give it. Rows with gaps in
    the response or in columns that the terms use are left out.
    """
    left, right = (side.strip() for side in formula.split("~"))
    right = expanded(right, " + ".join(name for name in data if name not in words_of(left)))
    first, intercept = terms_of(right)
    sides = {side: terms_of(expanded(text.strip("~ "), right))[0] for side, text in scopes(scope).items()}
    terms = list(dict.fromkeys([*sides.get("upper", []), *first, *sides.get("lower", [])]))
    words = words_of(" ".join([*terms, left]))
    rows = data[[name for name in data if name in words]].notna().all(axis=1).to_numpy()
    assert missing == "drop" or rows.all()
    data, used = data[rows].reset_index(drop=True), np.flatnonzero(rows)
    y = response_of(left, data) if y is None else y[rows]
    trials = None if trials is None else np.asarray(trials)[rows]
    keep = [*rules.pop("keep", ()), *sides.get("lower", [])]
    start = rules.pop("start", "auto")
    if start == "auto":
        start = first if scope else "full" if rules.get("direction") == "backward" else "empty"
    models = models_of(family, data, y, terms, intercept, trials, ties)
    models.used = used
    return search(models, Marginality(terms, hierarchy), keep, start, **rules)


def scopes(scope):
    return {"upper": scope} if isinstance(scope, str) else scope or {}


def response_of(left, data):
    return data[left].to_numpy(float) if left in data else np.asarray(patsy.dmatrix(f"0 + {left}", data))[:, 0]


def models_of(family, data, y, terms, intercept, trials=None, ties="efron"):
    parameters = {"terms": terms, "fit_intercept": intercept}
    if family == "gaussian":
        return FormulaRegression(data, y, **parameters)
    if family == "cox":
        return FormulaCox(data, y, ties=ties, **parameters)
    return FormulaGeneralizedLinear(data, y, family, trials=trials, **parameters)


def search(
    models,
    marginality,
    keep,
    start,
    *,
    direction="both",
    criterion="aic",
    alpha_enter=0.05,
    alpha_remove=0.10,
    max_terms=None,
):
    terms = models.terms
    named = {"full": terms, "empty": []}.get(start, start) if isinstance(start, str) else start
    current = [term for term in terms if term in named or term in keep]
    if criterion == "cp":
        full = models.fit(terms)
        models.s2_full = full.ssr / full.df_resid

    def redundant(term, model):
        return models.rank(without(model, term)) == models.rank(model)

    def removable(model):
        return [t for t in terms if t in model and t not in keep]

    ordered = [*(t for t in current if t in keep), *removable(current)]
    repeats = [t for at, t in enumerate(ordered) if redundant(t, ordered[: at + 1])]
    for term in reversed([t for t in repeats if t not in keep]):
        if marginality.may_leave(term, current):
            current = without(current, term)

    def step(action, term, df, statistic, p_value, model):
        fit = models.fit(model)
        value = models.criterion(criterion, fit)
        inside = tuple(t for t in terms if t in model)
        return Step(action, term, df, statistic, p_value, value, inside, **models.measures(fit))

    def evaluate(move, term):
        """One row of the candidates table, or None when the move is not legal."""
        after = without(current, term) if move == "remove" else [*current, term]
        if redundant(term, [*current, term] if move == "add" else current):
            # at no cost: below every criterion, above every p
            return (len(steps), move, term, 0, 0.0, np.inf, np.inf, best) if move == "remove" else None
        if models.fit(after).df_resid < 1:
            return None
        df, statistic, p, log_p = models.test("auto", *sorted((current, after), key=len))
        return len(steps), move, term, df, statistic, p, log_p, models.criterion(criterion, models.fit(after))

    best = np.inf if criterion == "adj_r2" else -np.inf
    steps = [step("start", None, 0, np.nan, np.nan, current)]
    visited, candidates, barred = {frozenset(current)}, [], []
    while True:
        room = max_terms is None or len(current) < max_terms
        leaving = removable(current) if direction != "forward" else []
        entering = [t for t in terms if t not in current] if direction != "backward" else []
        closed = [("remove", t) for t in leaving if not marginality.may_leave(t, current)]
        closed += [("add", t) for t in entering if not marginality.may_enter(t, current)]
        barred += [(len(steps), *move) for move in closed]
        open_ = [("remove", t) for t in leaving] + [("add", t) for t in entering if room]
        rows = [evaluate(*move) for move in open_ if move not in closed]
        moves = [dict(zip(COLUMNS, row, strict=True)) for row in rows if row is not None]
        candidates += moves
        forced = max_terms is not None and len(current) > max_terms
        chosen = choose(moves, steps[-1].criterion, criterion, alpha_enter, alpha_remove, forced)
        if chosen is None:
            break
        term = chosen["term"]
        after = without(current, term) if chosen["move"] == "remove" else [*current, term]
        if frozenset(after) in visited:
            break
        current = after
        visited.add(frozenset(current))
        steps.append(step(chosen["move"], term, chosen["df"], chosen["statistic"], chosen["p_value"], current))
    selected = [term for term in terms if term in current]
    return FormulaResult(steps, pd.DataFrame(candidates, columns=COLUMNS), barred, selected, models)
