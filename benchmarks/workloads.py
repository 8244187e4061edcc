"""The data and the selections that are measured, and what is promised for them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stepsel import survival_response

DATA = Path(__file__).parent / "_data"
N_EFFECTS = 10
GEMV_PASSES = 33  # the floor of W3: 30 steps and the three passes that any method needs before and after
BLOCK = 1_000  # rows that the score passes take at a time, so that the squares of X stay in the cache
CENSORED = 0.3
FAMILY_NAMES = {"binomial": "logistic", "poisson": "Poisson", "cox": "Cox"}
TEST_NAMES = {"lr": "LR", "score": "score", "wald": "Wald"}


@dataclass(frozen=True)
class Workload:
    """Data with AR(0.5) correlated columns, some of which have an effect on a response of some family.

    For a Cox model y has the fields event and time: exponential times with exponential censoring.
    """

    name: str
    n_rows: int
    n_columns: int
    smallest_effect: float = 0.2
    noise: float = 2.0
    seed: int = 0
    family: str = "gaussian"
    largest_effect: float = 1.0
    intercept: float = 1.0
    n_effects: int = N_EFFECTS

    def make(self):
        random = np.random.default_rng(self.seed)
        X = random.standard_normal((self.n_rows, self.n_columns))
        for j in range(1, self.n_columns):
            X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
        effects = np.linspace(self.smallest_effect, self.largest_effect, self.n_effects)
        effects[1::2] *= -1
        where = np.linspace(1, self.n_columns - 2, self.n_effects).astype(int)
        return X, self._response(self.intercept + X[:, where] @ effects, random)

    def _response(self, predictor, random):
        if self.family == "gaussian":
            return predictor + self.noise * random.standard_normal(self.n_rows)
        if self.family == "binomial":
            return (random.random(self.n_rows) < 1 / (1 + np.exp(-predictor))).astype(float)
        if self.family == "poisson":
            return random.poisson(np.exp(predictor)).astype(float)
        hazard = np.exp(predictor)
        time = random.exponential(1 / hazard)
        censoring = random.exponential((1 - CENSORED) / CENSORED / hazard)
        return survival_response(time <= censoring, np.minimum(time, censoring))

    def load(self, rows=None):
        """The data as float64 in C order, from the cache."""
        self.cache()
        X, y = (np.load(self._file(part, "npy")) for part in ("X", "y"))
        return X[:rows], y[:rows]

    def cache(self):
        if not self._file("y", "npy").exists():
            DATA.mkdir(exist_ok=True)
            for part, values in zip(("X", "y"), self.make(), strict=True):
                np.save(self._file(part, "npy"), values)

    def binary_files(self):
        """The data as R reads them: doubles, column by column; for a Cox model the times, then the events."""
        X, y = self.load()
        files = self._file("X", "bin"), self._file("y", "bin")
        if not files[1].exists():
            np.ascontiguousarray(X.T).tofile(files[0])
            (np.concatenate([y["time"], y["event"]]) if self.family == "cox" else y).tofile(files[1])
        return files

    def _file(self, part, suffix):
        return DATA / f"{self.name}_{part}.{suffix}"


@dataclass(frozen=True)
class Run:
    """One selection on one workload, with its targets."""

    name: str
    workload: Workload
    direction: str
    criterion: str
    rounds: int
    floor_target: float | None = None
    loop_target: float | None = None
    memory_target: float | None = None
    max_terms: int | None = None
    candidates: str = "exact"
    test_enter: str = "auto"
    test_remove: str = "auto"
    passes: int = 0  # score passes or Newton cross-products in the floor
    seconds_target: float | None = None

    @property
    def family(self):
        return self.workload.family

    @property
    def removes_by_refits(self):
        """Whether a p-value of removal takes a fit of its own: likelihood ratio, not Wald."""
        return self.criterion == "pvalue" and self.family != "gaussian" and self.test_remove in ("auto", "lr")

    @property
    def selector_parameters(self):
        names = ("family", "direction", "criterion", "max_terms", "candidates", "test_enter", "test_remove")
        return {name: getattr(self, name) for name in names}

    @property
    def what(self):
        rule = "p-value" if self.criterion == "pvalue" else self.criterion.upper()
        shape = f"{self.workload.n_rows:,} x {self.workload.n_columns:,}"
        parts = [shape, self.direction, rule]
        if self.max_terms:
            parts.append(f"{self.max_terms} terms")
        if self.family != "gaussian":
            parts[0] = f"{FAMILY_NAMES[self.family]} {shape}"
            parts.append(self.candidates)
            if self.criterion == "pvalue":
                tests = [self.test_enter, self.test_remove]
                names = [TEST_NAMES["lr" if test == "auto" else test] for test in tests]
                parts[2] += f" ({' / '.join(dict.fromkeys(names))})"
        return ", ".join(parts)

    def floor(self, X):
        """The arithmetic that no exact method can avoid, as a function to be timed; None where none is defined."""
        if self.family == "cox":
            return None
        if self.family != "gaussian":
            return (newton_products if self.direction == "backward" else score_passes)(X, self.passes)
        if self.workload.n_rows > self.workload.n_columns:
            return lambda: X.T @ X
        vector = X[:, 0].copy()
        return lambda: [vector @ X for _ in range(GEMV_PASSES)]


def score_passes(X, n_passes):
    """[Z'W; r'] X and w'(X * X), with Z of 1, 2, ... columns: the score statistics of all candidates, step by step."""
    Z = np.vstack([np.ones(len(X)), X[:, : n_passes - 1].T])
    w, r = np.full(len(X), 0.25), X[:, 0].copy()
    return lambda: [score_pass(Z[:k], w, r, X) for k in range(1, n_passes + 1)]


def score_pass(Z, w, r, X):
    products, squares = 0, 0
    for begin in range(0, len(X), BLOCK):
        rows = slice(begin, begin + BLOCK)
        products += np.vstack([Z[:, rows] * w[rows], r[rows]]) @ X[rows]
        squares += w[rows] @ (X[rows] * X[rows])
    return products, squares


def newton_products(X, n_products):
    """Z'WZ with the intercept and all columns in Z: what a Newton step of the full model needs."""
    Z, w = np.vstack([np.ones(len(X)), X.T]), np.full(len(X), 0.25)
    return lambda: [(Z * w) @ Z.T for _ in range(n_products)]


W1 = Workload("W1", 10_000, 100, seed=2027)
W2 = Workload("W2", 1_000_000, 50, seed=2028)
W3 = Workload("W3", 200, 5_000, smallest_effect=1.0, noise=1.0, seed=2029)
W4 = Workload("W4", 2_000, 500, seed=2030)
W5 = Workload("W5", 10_000, 50, 0.15, seed=2031, family="binomial", largest_effect=0.6, intercept=0.3)
W6 = Workload("W6", 100_000, 100, 0.15, seed=2032, family="binomial", largest_effect=0.6, intercept=0.3)
W7 = Workload("W7", 20_000, 40, 0.04, seed=2033, family="poisson", largest_effect=0.2, intercept=0.7)
W8 = Workload("W8", 5_000, 200, seed=2034)
COX = Workload("Cox", 5_000, 30, 0.1, seed=2035, family="cox", largest_effect=0.5, intercept=0.0, n_effects=5)
LEADING = {"candidates": "leading"}
SAS_TESTS = {"test_enter": "score", "test_remove": "wald"}

RUNS = {
    run.name: run
    for run in (
        Run("W1", W1, "forward", "aic", 101, floor_target=4, loop_target=500),
        Run("W2 forward", W2, "forward", "bic", 21, floor_target=1.5, loop_target=300, memory_target=25),
        Run("W2 backward", W2, "backward", "bic", 21, floor_target=1.5, loop_target=300, memory_target=25),
        Run("W3", W3, "forward", "aic", 101, floor_target=3, loop_target=1000, max_terms=30),
        Run("W4", W4, "backward", "aic", 51, floor_target=4),
        Run("W5 exact", W5, "forward", "aic", 11, loop_target=8, passes=20, seconds_target=1.2),
        Run("W5 leading", W5, "forward", "aic", 31, floor_target=8, loop_target=40, passes=20, **LEADING),
        Run("W6 LR", W6, "both", "pvalue", 11, floor_target=5, memory_target=150, passes=15, **LEADING),
        Run("W6 SAS", W6, "both", "pvalue", 11, floor_target=5, memory_target=150, passes=15, **LEADING, **SAS_TESTS),
        Run("W7", W7, "backward", "aic", 31, floor_target=2, loop_target=150, memory_target=50, passes=55, **LEADING),
        Run("W8", W8, "both", "pvalue", 101, floor_target=6, loop_target=150),
        Run("Cox", COX, "forward", "aic", 11, loop_target=20),
    )
}


def fits_of_loop(run, path):
    """[(columns of the model, how many such fits)] that a plain loop needs for a path.

    Forward and backward fit every model one term away, from every model of the path. With p-values, one fit of the
    model itself gives every removal by t or Wald's test; by likelihood ratio each takes a fit.
    """
    p = run.workload.n_columns
    size = p if run.direction == "backward" else 0
    fits = [(size, 1)] if run.criterion != "pvalue" else []
    for action in [*(action for action, _ in path), None]:
        if run.criterion == "pvalue":
            fits.append((size, 1))
            if run.removes_by_refits and size:
                fits.append((size - 1, size))
            if action != "remove":
                fits.append((size + 1, p - size))
        elif run.direction == "backward":
            fits.append((size - 1, size))
        elif run.max_terms is None or size < run.max_terms:
            fits.append((size + 1, p - size))
        size += {"add": 1, "remove": -1, None: 0}[action]
    return fits


def fits_to_size(run, n_selected):
    """[(columns of the model, how many such fits)] that stopping at a given number of terms needs."""
    p = run.workload.n_columns
    if run.direction == "backward":
        return [(size - 1, size) for size in range(p, n_selected, -1)]
    return [(size + 1, p - size) for size in range(n_selected)]
