"""Seeded random formulas with the data they are about: factors, codes, powers, products, gaps, empty cells.

Where the largest model separates a response there is no maximum to agree on, and where its rank is a matter of rounding
there are no degrees of freedom to agree on: such draws are drawn again.
"""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
from helpers import survival
from naive_formulas import Marginality, RankError, expanded, models_of, naive_stepwise, terms_of, words_of
from problems import ALPHAS

# What is on the right side, or in the upper scope.
KINDS = {
    "pairs": ["(a + b + x)**2", "(a + x + w)**2", "(s + b + x + w)**2", "a*b + a*x", "b*a + x*a + x*b"],
    "star": ["a*x + b", "x*s + a", "b*w + a", "a*b + x", "c*x + b"],
    "three": ["a*b*x", "s*b*x", "(c + b + s)**3", "(b + x + w)**3", "a*s*x - a:s:x + w", "x*w*b"],
    "code": ["C(k)*x + b", "(C(k) + s + x)**2", "C(k)*s + k:x + w", "C(k) + C(k):x + w", "C(k):b + x + k"],
    "poly": ["poly(x, 2)*b + w", "poly(x, 2) + a + w", "poly(x, 3)*s", "poly(w, 2):b + b + x", "c*poly(x, 2) + w"],
    "powers": [
        "x + I(x ** 2) + I(x ** 3) + a",
        "(x + b)**2 + I(x ** 2) + I(x ** 2):b",
        "x*w + I(x ** 2) + I(w ** 2)",
        "x + c + I(x ** 2):c + I(x ** 2)",
        "x:w + I(x ** 2):w + x + w + b",
    ],
    "expressions": ["np.log(z)*a + x", "np.log(z) + z + b", "(np.log(z) + s + w)**2", "np.exp(x) + np.log(z):b + b"],
    "minus": ["(a + b + x)**2 - a:b", "c*b*x - c:b:x", "a*x*s - a:x:s - a:s", "(x + w + b + s)**2 - x:w", "a*b - a"],
    "no_intercept": ["a*x + b - 1", "x*w + s - 1", "0 + a*b + x", "a + b + s - 1", "x + a:x + 0", "poly(x, 2) + b - 1"],
    "dot": [".", ".**2", ". - w", ". + b:x", ". + I(x ** 2)", ".*b"],
    "empty": ["a*e + x", "(a + e + b)**2", "a*e*s", "e*a + e*x", "a:e + x + b"],
    "crowded": ["a*e*s", "a*b*e", "a*c*b", "a*c*x", "(a + c + e)**2", "a*e*x"],  # more columns than rows
    "repeats": ["x + poly(x, 2) + b", "coarse + a + x", "a + coarse*b + x", "a/b + x", "b/x + s", "a*s + coarse*s + x"],
    "nested": ["coarse*x + a", "a + coarse + x + coarse:x + b", "b*coarse + a*b + x", "coarse*w + a*w"],
}  # fmt: skip
FAMILIES = ("gaussian", "gaussian", "gaussian", "binomial", "binomial", "poisson", "poisson", "cox")
CRITERIA = ("aic", "bic", "aicc", "hqic", "pvalue", "pvalue")
DATA = ("pandas", "pandas", "pandas", "polars", "dict")


@dataclass(frozen=True)
class FormulaProblem:
    kind: str
    formula: str
    scope: object
    frame: pd.DataFrame
    y: np.ndarray | None  # the response as the oracle takes it, where the columns of the frame are not
    parameters: dict = field(default_factory=dict)
    held: str = "pandas"

    @property
    def data(self):
        if self.held == "dict":
            return {name: self.frame[name] for name in self.frame}
        return pl.from_pandas(self.frame) if self.held == "polars" else self.frame


@cache
def formula_problem(seed):
    """A problem and what the oracle makes of it."""
    rng = np.random.default_rng([seed, 4])
    kind, family = list(KINDS)[seed % len(KINDS)], str(rng.choice(FAMILIES))
    if kind == "crowded" and family in ("binomial", "cox"):  # nearly always separated
        family = "poisson"
    while True:
        drawn = draw(rng, kind, family)
        try:
            oracle = solved(drawn)
        except RankError:
            continue
        largest = oracle.models.fit(oracle.models.terms)
        room = 2 if kind == "crowded" else oracle.models.n / 2
        if largest.df_resid >= room and not getattr(largest, "separated", False):
            return drawn, oracle


def solved(drawn):
    return naive_stepwise(drawn.formula, drawn.frame, drawn.y, scope=drawn.scope, **drawn.parameters)


def factor(rng, n, letter, levels):
    """Levels of unequal frequency, each at least four times."""
    codes = rng.choice(levels, n, p=rng.dirichlet(np.full(levels, 6.0)))
    codes[: 4 * levels] = np.arange(4 * levels) % levels
    return np.array([f"{letter}{at}" for at in range(levels)])[rng.permutation(codes)]


def as_category(rng, values):
    """The same levels in another order, now and then with one that does not occur."""
    levels = [str(level) for level in rng.permutation(np.unique(values))]
    if rng.random() < 0.3:
        levels.insert(int(rng.integers(len(levels) + 1)), "never")
    return pd.Categorical(values, categories=levels)


def columns(rng, n):
    a, e = factor(rng, n, "a", int(rng.integers(3, 6))), factor(rng, n, "e", 3)
    e[(a == "a0") & (e == "e1")] = "e0"  # a0 and e1 never occur together
    x = rng.normal(rng.choice([0.0, 2.0]), 1.0, n)
    b = rng.random(n) < rng.uniform(0.35, 0.65)
    return pd.DataFrame({
        "a": a if rng.random() < 0.5 else as_category(rng, a),
        "b": b if rng.random() < 0.7 else np.where(b, "yes", "no"),
        "c": as_category(rng, factor(rng, n, "c", 3)),
        "e": e,
        "k": np.array([1, 2, 5])[factor_codes(factor(rng, n, "", 3))],
        "s": factor(rng, n, "s", 2),
        "coarse": np.where(np.isin(a, ["a0", "a1"]), "low", "high"),
        "x": x,
        "w": 0.6 * (x - x.mean()) + rng.normal(0, 1, n),
        "z": rng.lognormal(0.2, 0.6, n),
    })  # fmt: skip


def factor_codes(values):
    return np.unique(values, return_inverse=True)[1]


def with_gaps(rng, frame, names):
    frame = frame.copy()
    for name in rng.choice(names, min(len(names), 2), replace=False):
        if frame[name].dtype in (bool, np.dtype("int64")):
            frame[name] = frame[name].astype(object if frame[name].dtype == bool else float)
        frame.loc[rng.choice(len(frame), int(rng.integers(1, 4)), replace=False), name] = None
    return frame


def signal(rng, frame, terms):
    """A linear predictor in which about half the terms have an effect."""
    models = models_of("gaussian", frame, np.zeros(len(frame)), terms, True)
    eta = np.zeros(len(frame))
    for term in terms:
        if rng.random() < 0.6:
            part = models.design([term])[:, 1:]
            eta += rng.uniform(0.2, 1.0) * part @ rng.normal(0, 1, part.shape[1]) / np.sqrt(part.shape[1])
    return eta


def response(rng, family, eta):
    """{column: values}, the left side, and the response as the oracle takes it if that is something else."""
    n, gentle = len(eta), np.clip(eta, -2, 2)
    if family == "gaussian":
        y = eta + rng.normal(0, 1, n) + rng.choice([0.0, 3.0])
        return ({"y": np.exp(y)}, "np.log(y)", None) if rng.random() < 0.15 else ({"y": y}, "y", None)
    if family == "poisson":
        return {"y": rng.poisson(np.exp(0.5 * gentle + 1.2))}, "y", None
    if family == "binomial":
        y = (rng.random(n) < 1 / (1 + np.exp(-gentle))).astype(float)
        if rng.random() < 0.3:
            return {"y": np.where(y == 1, "yes", "no")}, "y", y
        return {"y": y == 1 if rng.random() < 0.5 else y}, "y", y
    time, censored = rng.exponential(np.exp(-gentle)), rng.exponential(3.0, n)
    event, time = time <= censored, np.ceil(30 * np.minimum(time, censored))
    return {"time": time, "event": event}, "Surv(time, event)", survival(event, time)


def size(rng, kind, family):
    if kind == "crowded":
        return int(rng.integers(25, 40))
    return int(rng.integers(40, 120) if family == "gaussian" else rng.integers(120, 200))


def draw(rng, kind, family):
    right = str(rng.choice(KINDS[kind]))
    frame = columns(rng, size(rng, kind, family))
    if kind == "dot":
        frame = frame[[str(name) for name in rng.permutation(["b", "x", "w", *rng.choice(["a", "s", "c"], 1)])]]
    if kind == "no_intercept" and family == "cox":
        family = "binomial"
    plain = expanded(right, " + ".join(frame))
    terms, intercept = terms_of(plain)
    found, left, y = response(rng, family, signal(rng, frame, terms))
    gaps = rng.random() < 0.25
    if gaps:
        frame = with_gaps(rng, frame, [name for name in frame if name in words_of(" ".join(terms))])
    for name, values in found.items():
        frame.insert(int(rng.integers(frame.shape[1] + 1)), name, values)
    if gaps and family in ("gaussian", "poisson") and rng.random() < 0.3:
        frame["y"] = frame["y"].astype(float)
        frame.loc[3, "y"] = np.nan
    parameters = settings(rng, family) | ({"missing": "drop"} if gaps else {})
    formula, scope = scoped(rng, left, plain, terms, intercept, parameters)
    if scope is None:
        formula = f"{left} ~ {right}"
        if rng.random() < 0.1 and not {"start", "keep"} & set(parameters):
            parameters["max_terms"] = int(rng.integers(1, len(terms) + 1))
    return FormulaProblem(kind, formula, scope, frame, y, parameters, str(rng.choice(DATA)))


def settings(rng, family):
    alpha_enter, alpha_remove = ALPHAS[rng.integers(len(ALPHAS))]
    gaussian = ("adj_r2", "cp") if family == "gaussian" else ()
    return {
        "family": family,
        "direction": str(rng.choice(["forward", "backward", "both"])),
        "criterion": str(rng.choice([*CRITERIA, *gaussian])),
        "alpha_enter": alpha_enter,
        "alpha_remove": alpha_remove,
        "hierarchy": str(rng.choice(["strong"] * 5 + ["weak", "none"])),
    }


def scoped(rng, left, right, terms, intercept, parameters):
    """The formula and its scope, if it has one; `start` and `keep` go into the parameters."""
    inside = Marginality(terms, parameters["hierarchy"]).inside
    mains = [term for term in terms if not inside[term]]

    def some():
        """A model that respects the hierarchy."""
        chosen = [term for term in terms if rng.random() < 0.35]
        if parameters["hierarchy"] != "none":
            chosen = [term for term in terms if term in chosen or any(term in inside[u] for u in chosen)]
        return chosen

    def written(chosen):
        return " + ".join(["0"] * (not intercept) + chosen) or "1"

    how = rng.choice(["plain", "start", "keep", "upper", "both", "dot"], p=[0.35, 0.15, 0.1, 0.15, 0.15, 0.1])
    if how == "start":
        parameters["start"] = some() if rng.random() < 0.6 else str(rng.choice(["full", "empty"]))
    if how == "keep":
        parameters["keep"] = [str(rng.choice(mains))]
    if how == "upper":
        return f"{left} ~ {written(some())}", right
    if how == "both":
        kept, others = [str(rng.choice(mains))], some()
        first = [term for term in terms if term in kept or term in others]
        return f"{left} ~ {written(first)}", {"lower": f"~ {written(kept)}", "upper": f"~ {right}"}
    single = [term for term in mains if ":" not in term]
    if how == "dot" and intercept and len(single) > 1:
        return f"{left} ~ {' + '.join(single[:4])}", {"upper": "~ .**2"}
    return None, None
