"""The Python peers, each in a process of its own and within a time budget."""

import argparse
import json
import sys
import warnings
from dataclasses import dataclass
from operator import attrgetter
from statistics import median
from time import process_time

import numpy as np

from benchmarks.workloads import RUNS, fits_of_loop, fits_to_size

SIZES = 5  # model sizes at which one candidate fit is timed
PROBE_SHARE = 10  # part of the rows on which peers without candidate fits are tried first
MANY_ROWS = 100_000
QUICK, REPEATS = 1.0, 5  # a selection that takes less than so many seconds is run so many times


@dataclass(frozen=True)
class Task:
    """What a peer is to do: a selection whose outcome is known."""

    run: object
    path: list
    selected: list
    budget: float

    @property
    def n_selected(self):
        return len(self.selected)

    @property
    def information_criterion(self):
        return "aic" if self.run.criterion == "pvalue" else self.run.criterion


def timed(function):
    begin = process_time()
    value = function()
    return process_time() - begin, value


def measured(function):
    """Seconds and value; what is quick is repeated, for the median."""
    seconds, value = timed(function)
    if seconds >= QUICK:
        return seconds, value
    return median([seconds] + [timed(function)[0] for _ in range(REPEATS - 1)]), value


def typical_seconds(function, spend):
    """The median of as many calls as fit into some seconds, at least two."""
    times = [timed(function)[0]]
    while len(times) < 2 or sum(times) < spend:
        times.append(timed(function)[0])
    return median(times)


def extrapolated(fits, fit, budget):
    """Time of one fit at several model sizes, interpolated, times the number of fits of each size."""
    largest, smallest = max(size for size, _ in fits), max(1, min(size for size, _ in fits))
    sizes = np.unique(np.linspace(smallest, largest, SIZES).astype(int))
    times = [typical_seconds(lambda size=size: fit(list(range(size))), budget / 60) for size in sizes]
    return float(sum(count * np.interp(size, sizes, times) for size, count in fits))


def say(seconds, how, selected=None, task=None, note=""):
    """Print an answer at once: it holds even if the next one never comes."""
    same = None if selected is None else sorted(map(int, selected)) == task.selected
    print(json.dumps({"seconds": seconds, "how": how, "same": same, "note": note}), flush=True)


def estimate_then_run(fits, fit, whole, task, note=""):
    """Say what the whole would take by the rule, and run it if that is within the budget."""
    estimate = extrapolated(fits, fit, task.budget)
    say(estimate, "extrapolated", note=note)
    if estimate <= task.budget:
        seconds, selected = measured(whole)
        say(seconds, "measured", selected, task, note)


def statsmodels(X, y, task):
    from benchmarks.statsmodels_loop import Loop

    run, fits = task.run, fits_of_loop(task.run, task.path)
    loop = Loop(X, y, family=run.family, by_likelihood_ratio=run.removes_by_refits)
    p_value = "llf" if loop.by_likelihood_ratio else "tvalues"
    read = attrgetter(p_value if run.criterion == "pvalue" else run.criterion)
    note = ""
    if run.family == "gaussian":
        middle = list(range(int(np.median([size for size, _ in fits]))))
        speed = {}
        for loop.method in ("qr", "pinv"):
            speed[loop.method] = typical_seconds(lambda: read(loop.fit(middle)), task.budget / 120)
        note = loop.method = min(speed, key=speed.get)

    def whole():
        loop.run(run.direction, run.criterion, run.max_terms)
        return loop.model

    estimate_then_run(fits, lambda columns: read(loop.fit(columns)), whole, task, note)


def likelihood_estimator(family):
    """The scikit-learn estimator without a penalty, and the score that ranks models like the likelihood."""
    from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor

    return {
        "gaussian": (LinearRegression(), "r2"),
        "binomial": (LogisticRegression(C=np.inf), "neg_log_loss"),
        "poisson": (PoissonRegressor(alpha=0), "neg_mean_poisson_deviance"),
    }[family]


def sklearn(X, y, task):
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.model_selection import cross_val_score

    estimator, scoring = likelihood_estimator(task.run.family)

    rows = np.arange(len(y))
    cv = [(rows, rows)]  # one fit per candidate, scored on its own rows: the cheapest there is
    direction = "backward" if task.run.direction == "backward" else "forward"

    def whole():
        selector = SequentialFeatureSelector(
            estimator, n_features_to_select=task.n_selected, direction=direction, scoring=scoring, cv=cv
        )
        return np.flatnonzero(selector.fit(X, y).get_support())

    def one(columns):
        return cross_val_score(estimator, X[:, columns], y, scoring=scoring, cv=cv)

    estimate_then_run(fits_to_size(task.run, task.n_selected), one, whole, task)


def mlxtend(X, y, task):
    from mlxtend.feature_selection import SequentialFeatureSelector
    from sklearn.metrics import get_scorer

    estimator, scoring = likelihood_estimator(task.run.family)
    score = get_scorer(scoring)

    def whole():
        selector = SequentialFeatureSelector(
            estimator,
            k_features=task.n_selected,
            forward=task.run.direction != "backward",
            floating=task.run.direction == "both",
            scoring=scoring,
            cv=0,
        )
        return selector.fit(X, y).k_feature_idx_

    def one(columns):
        return score(estimator.fit(X[:, columns], y), X[:, columns], y)

    estimate_then_run(fits_to_size(task.run, task.n_selected), one, whole, task)


def part_then_run(X, y, select, task):
    """Where there are many rows, try a part first; the time is linear in the rows."""
    if len(y) >= MANY_ROWS:
        rows = len(y) // PROBE_SHARE
        estimate = timed(lambda: select(X[:rows], y[:rows]))[0] * PROBE_SHARE
        say(estimate, "extrapolated", note="rows")
        if estimate > task.budget:
            return
    seconds, selected = measured(lambda: select(X, y))
    say(seconds, "measured", selected, task)


def abess(X, y, task):
    import abess as package

    names = {"gaussian": "LinearRegression", "binomial": "LogisticRegression", "poisson": "PoissonRegression"}
    regression = getattr(package, names[task.run.family])

    def select(X, y):
        sizes = range(task.n_selected + 1)
        model = regression(support_size=sizes, ic_type=task.information_criterion, thread=1)
        return np.flatnonzero(model.fit(X, y).coef_)

    part_then_run(X, y, select, task)


def lars(X, y, task):
    from sklearn.linear_model import LassoLarsIC

    noise = task.run.workload.noise**2 if task.run.workload.n_rows <= task.run.workload.n_columns else None

    def select(X, y):
        model = LassoLarsIC(criterion=task.information_criterion, noise_variance=noise)
        return np.flatnonzero(model.fit(X, y).coef_)

    part_then_run(X, y, select, task)


PEERS = {"statsmodels": statsmodels, "sklearn": sklearn, "mlxtend": mlxtend, "abess": abess, "lars": lars}
FAMILIES = {
    "sklearn": ("gaussian", "binomial", "poisson"),
    "mlxtend": ("gaussian", "binomial"),
    "abess": ("gaussian", "binomial", "poisson"),
    "lars": ("gaussian",),
    "leaps": ("gaussian",),
}  # of the peers that cannot do all


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("run", choices=RUNS)
    parser.add_argument("--budget", type=float, default=60.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    run, outcome = RUNS[options.run], json.load(sys.stdin)
    task = Task(run, outcome["path"], outcome["selected"], options.budget)
    PEERS[options.peer](*run.workload.load(), task)


if __name__ == "__main__":
    main()
