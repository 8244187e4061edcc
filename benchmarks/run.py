"""Measure stepsel beside its floor and its peers, and write docs/benchmarks.md: ``python -m benchmarks.run``."""

import argparse
import datetime
import json
import sys
from importlib.util import find_spec
from time import monotonic

from benchmarks.environment import ROOT, machine, python, rscript
from benchmarks.peers import FAMILIES
from benchmarks.r_peers import R_PEERS, r_answers, r_versions
from benchmarks.report import report
from benchmarks.workloads import DATA, RUNS

PAGE = ROOT / "docs" / "benchmarks.md"
PYTHON_PEERS = {
    "statsmodels": "statsmodels",
    "sklearn": "sklearn",
    "mlxtend": "mlxtend",
    "abess": "abess",
    "lars": "sklearn",
}
SLOW_PEERS = ("statsmodels", "sklearn", "mlxtend", "step", "leaps")
GRACE = 60  # seconds beyond the budget for loading the data and trying out


def python_answers(peer, run, outcome, budget, seconds):
    """What one Python peer says; it reads the path on its standard input."""
    return python("benchmarks.peers", peer, run.name, "--budget", budget, seconds=seconds, given=json.dumps(outcome))


def peer_answer(peer, run, outcome, budget):
    """The last word of one peer: measured, extrapolated, stopped, missing or failed."""
    is_r = peer in R_PEERS
    if (rscript() is None) if is_r else (find_spec(PYTHON_PEERS[peer]) is None):
        return {"how": "missing"}
    begin, seconds = monotonic(), budget + GRACE
    said = (r_answers if is_r else python_answers)(peer, run, outcome, budget, seconds)
    if said and (said[-1]["how"] == "measured" or said[-1]["seconds"] > budget):
        return said[-1]
    return {"how": "stopped", "seconds": seconds} if monotonic() - begin >= seconds else {"how": "failed"}


def measure(run, options):
    """Everything about one run."""
    say(f"{run.name}: {run.what}")
    run.workload.cache()
    rounds = max(3, run.rounds // 10) if options.quick else run.rounds
    outcome = python("benchmarks.ours", run.name, "--rounds", rounds, seconds=600)[0]
    floor = f"floor {outcome['floor'] * 1e3:.2f} ms, " if outcome["floor"] else ""
    say(f"  {floor}stepsel {outcome['ours'] * 1e3:.2f} ms")
    memory = None
    if run.memory_target is not None:
        memory = python("benchmarks.ours", run.name, "--memory", seconds=600)[0]
        say(f"  memory {memory['megabytes']:.1f} MB")
    peers = {}
    for peer in wanted_peers(run, options):
        peers[peer] = peer_answer(peer, run, outcome, options.budget)
        say(f"  {peer}: {peers[peer]['how']} {peers[peer].get('seconds', '')}")
    return {"ours": outcome, "memory": memory, "peers": peers}


def wanted_peers(run, options):
    peers = [*PYTHON_PEERS, *([] if options.no_r else R_PEERS)]
    peers = [peer for peer in peers if run.family in FAMILIES.get(peer, [run.family])]
    return [peer for peer in peers if not (options.quick and peer in SLOW_PEERS)]


def say(text):
    print(text, file=sys.stderr, flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, no slow peers")
    parser.add_argument("--only", help="workloads, such as W1,W2")
    parser.add_argument("--no-r", action="store_true", help="leave R out")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for one peer on one workload")
    parser.add_argument(
        "--output", help=f"file to write; by default {PAGE.relative_to(ROOT)}, or the screen with --quick or --only"
    )
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments)
    names = set(options.only.split(",")) if options.only else {run.workload.name for run in RUNS.values()}
    runs = [run for run in RUNS.values() if run.workload.name in names]
    if unknown := names - {run.workload.name for run in runs}:
        raise SystemExit(f"there is no workload {sorted(unknown)[0]}")
    results = {
        "date": datetime.date.today().isoformat(),
        "budget": options.budget,
        "quick": options.quick,
        "machine": machine(),
        "versions": python("benchmarks.environment", seconds=120)[0] | r_versions(),
        "accuracy": python("benchmarks.accuracy", seconds=300)[0],
        "resampling": python("benchmarks.resampling", seconds=600),
        "runs": {run.name: measure(run, options) for run in runs},
        "load": machine()["load"],
    }
    DATA.mkdir(exist_ok=True)
    (DATA / "results.json").write_text(json.dumps(results))
    text = report(results)
    partial = options.quick or options.only
    if options.output or not partial:
        path = options.output or PAGE
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        say(f"wrote {path}")
    else:
        print(text)


if __name__ == "__main__":
    main()
