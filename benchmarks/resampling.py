"""Bootstrap selections beside a loop of statsmodels fits that does the same: ``python -m benchmarks.resampling``."""

import json
from dataclasses import dataclass
from statistics import median
from time import process_time

import numpy as np

from benchmarks.statsmodels_loop import Loop

LOOPED = 10  # selections that the loop is timed on


@dataclass(frozen=True)
class Task:
    """Backward AIC on bootstrap samples."""

    name: str
    family: str
    n_rows: int
    n_columns: int
    target: float

    def data(self):
        r = np.random.default_rng(0)
        X = r.normal(size=(self.n_rows, self.n_columns))
        eta = X[:, :4] @ [1.0, 0.5, 0.3, 0.2]
        if self.family == "gaussian":
            return X, eta + 2 * r.normal(size=self.n_rows)
        return X, (r.random(self.n_rows) < 1 / (1 + np.exp(-eta))).astype(float)


TASKS = [Task("linear", "gaussian", 250, 13, 100), Task("logistic", "binomial", 1000, 15, 15)]


def measure(task, n_resamples=1000, rounds=3, looped=LOOPED):
    """CPU seconds of all resamples, ours and (scaled) the loop's, and whether both select the same."""
    from stepsel import StepwiseSelector
    from stepsel.inference import selection_stability

    X, y = task.data()
    rows = np.random.default_rng(1).integers(0, task.n_rows, (n_resamples, task.n_rows))
    selector = StepwiseSelector(direction="backward", family=task.family)
    times = []
    for _ in range(rounds):
        begin = process_time()
        found = selection_stability(selector, X, y, resamples=rows)
        times.append(process_time() - begin)
    begin, same = process_time(), True
    for at in range(looped):
        loop = Loop(X[rows[at]], y[rows[at]], method="pinv", family=task.family)
        loop.run("backward", "aic")
        same &= sorted(loop.model) == np.flatnonzero(found.included[at]).tolist()
    scaled = (process_time() - begin) / looped * n_resamples
    return {"name": task.name, "ours": median(times), "loop": scaled, "same": same, "n_resamples": n_resamples}


def main():
    for task in TASKS:
        print(json.dumps(measure(task, rounds=3 if task.family == "gaussian" else 1)), flush=True)


if __name__ == "__main__":
    main()
