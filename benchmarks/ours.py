"""stepsel and its arithmetic floor, interleaved in one process; and its memory."""

import argparse
import json
import resource
import warnings
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from time import process_time

import numpy as np

from benchmarks.workloads import RUNS
from stepsel import StepwiseSelector


def fit(run, X, y):
    """What is measured: the fit alone, no table asked for."""
    return StepwiseSelector(**run.selector_parameters).fit(X, y)


def seconds(function):
    begin = process_time()
    function()
    return process_time() - begin


def interleaved(run, X, y, rounds):
    """CPU seconds of floor, where there is one, and fit, one after the other, round by round."""
    floor = run.floor(X)
    for _ in range(2):
        if floor:
            floor()
        fit(run, X, y)
    times = [(seconds(floor) if floor else None, seconds(lambda: fit(run, X, y))) for _ in range(rounds)]
    floors, fits = zip(*times, strict=True)
    found = {"floor": None, "ours": median(fits), "quartiles": None, "rounds": rounds}
    if floor:
        ratios = [b / a for a, b in times]
        found["floor"] = median(floors)
        found["quartiles"] = [quantiles(ratios)[0], quantiles(ratios)[2]] if rounds > 1 else ratios * 2
    return found


def path(selector):
    """[(action, column number)] of the steps."""
    names = {f"x{at}": at for at in range(selector.n_features_in_)}
    return [(row.action, names[row.term]) for row in selector.trace_.iloc[1:].itertuples()]


def measured(run, rounds):
    X, y = run.workload.load()
    times = interleaved(run, X, y, rounds)
    selector = fit(run, X, y)
    return times | {"path": path(selector), "selected": np.flatnonzero(selector.support_).tolist()}


def memory(run):
    """Peak of the resident memory during the fit above what it was just before, in MB (10^6 bytes)."""
    X, y = run.workload.load()
    tiny = replace(run.workload, n_rows=100, n_columns=12).make()
    fit(run, *tiny)  # loads the modules
    try:
        Path("/proc/self/clear_refs").write_text("5")
        before, peak, how = _status("VmRSS"), lambda: _status("VmHWM"), "VmHWM after /proc/self/clear_refs"
    except OSError:
        before, peak, how = _max_rss(), _max_rss, "ru_maxrss, which cannot fall"
    fit(run, X, y)
    return {"megabytes": (peak() - before) / 1e6, "data": (X.nbytes + y.nbytes) / 1e6, "how": how}


def _status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def _max_rss():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run", choices=RUNS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    run = RUNS[options.run]
    print(json.dumps(memory(run) if options.memory else measured(run, options.rounds)))


if __name__ == "__main__":
    main()
