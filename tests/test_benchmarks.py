"""The benchmark code on tiny data: the peers take the same path as the selector. No timing is asserted."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
pytest.importorskip("benchmarks.run", reason="benchmarks are not part of the source distribution")

from benchmarks import accuracy, ours, peers, r_peers, report, run
from benchmarks.environment import rscript
from benchmarks.statsmodels_loop import Loop
from benchmarks.workloads import RUNS, Workload, fits_of_loop, fits_to_size

TALL = Workload("tiny-tall", 120, 12, seed=1)
WIDE = Workload("tiny-wide", 30, 40, smallest_effect=1.0, noise=1.0, seed=2)
TINY = {
    name: replace(each, workload=WIDE if name == "W3" else TALL, max_terms=each.max_terms and 6)
    for name, each in RUNS.items()
}


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.workloads.DATA", tmp_path)


@pytest.fixture(params=sorted(TINY))
def task(request):
    tiny = TINY[request.param]
    with pytest.warns() if False else np.errstate():
        outcome = ours.measured(tiny, rounds=1)
    return peers.Task(tiny, outcome["path"], outcome["selected"], budget=0.5)
