"""The data and the selections that are measured, and what is promised for them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "_data"
N_EFFECTS = 10
GEMV_PASSES = 33  # the floor of W3: 30 steps and the three passes that any method needs before and after


@dataclass(frozen=True)
class Workload:
    """Gaussian data with AR(0.5) correlated columns, ten of which have an effect."""

    name: str
    n_rows: int
    n_columns: int
    smallest_effect: float = 0.2
    noise: float = 2.0
    seed: int = 0

    def make(self):
        random = np.random.default_rng(self.seed)
        X = random.standard_normal((self.n_rows, self.n_columns))
        for j in range(1, self.n_columns):
            X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
        effects = np.linspace(self.smallest_effect, 1, N_EFFECTS) * np.where(np.arange(N_EFFECTS) % 2, -1, 1)
        where = np.linspace(1, self.n_columns - 2, N_EFFECTS).astype(int)
        y = 1 + X[:, where] @ effects + self.noise * random.standard_normal(self.n_rows)
        return X, y

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
        """The data as R reads them: doubles, column by column."""
        X, y = self.load()
        files = self._file("X", "bin"), self._file("y", "bin")
        if not files[1].exists():
            np.ascontiguousarray(X.T).tofile(files[0])
            y.tofile(files[1])
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
    floor_target: float
    loop_target: float | None = None
    memory_target: float | None = None
    max_terms: int | None = None

    @property
    def selector_parameters(self):
        return {"direction": self.direction, "criterion": self.criterion, "max_terms": self.max_terms}

    @property
    def what(self):
        rule = "p-value" if self.criterion == "pvalue" else self.criterion.upper()
        limit = f", {self.max_terms} terms" if self.max_terms else ""
        return f"{self.workload.n_rows:,} x {self.workload.n_columns:,}, {self.direction}, {rule}{limit}"

    def floor(self, X):
        """The arithmetic that no exact method can avoid, as a function to be timed."""
        if self.workload.n_rows > self.workload.n_columns:
            return lambda: X.T @ X
        vector = X[:, 0].copy()
        return lambda: [vector @ X for _ in range(GEMV_PASSES)]


W1 = Workload("W1", 10_000, 100, seed=2027)
W2 = Workload("W2", 1_000_000, 50, seed=2028)
W3 = Workload("W3", 200, 5_000, smallest_effect=1.0, noise=1.0, seed=2029)
W4 = Workload("W4", 2_000, 500, seed=2030)
W8 = Workload("W8", 5_000, 200, seed=2034)

RUNS = {
    run.name: run
    for run in (
        Run("W1", W1, "forward", "aic", 101, floor_target=4, loop_target=500),
        Run("W2 forward", W2, "forward", "bic", 21, floor_target=1.5, loop_target=300, memory_target=25),
        Run("W2 backward", W2, "backward", "bic", 21, floor_target=1.5, loop_target=300, memory_target=25),
        Run("W3", W3, "forward", "aic", 101, floor_target=3, loop_target=1000, max_terms=30),
        Run("W4", W4, "backward", "aic", 51, floor_target=4),
        Run("W8", W8, "both", "pvalue", 101, floor_target=6, loop_target=150),
    )
}


def fits_of_loop(run, path):
    """[(columns of the model, how many such fits)] that a plain loop needs for a path.

    Forward and backward fit every model one term away, from every model of the path. With p-values, one fit of the
    model itself gives every removal.
    """
    p = run.workload.n_columns
    size = p if run.direction == "backward" else 0
    fits = [(size, 1)] if run.criterion != "pvalue" else []
    for action in [*(action for action, _ in path), None]:
        if run.criterion == "pvalue":
            fits.append((size, 1))
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
