"""The benchmark code on tiny data: the peers take the same path as the selector. No timing is asserted."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
pytest.importorskip("benchmarks", reason="the benchmarks are not part of the source distribution")

from benchmarks import accuracy, ours, peers, r_peers, report, resampling, run
from benchmarks.environment import machine, python, rscript
from benchmarks.statsmodels_loop import Loop
from benchmarks.workloads import RUNS, Workload, fits_of_loop, fits_to_size

pytestmark = pytest.mark.filterwarnings("ignore::stepsel.exceptions.StepselWarning")

TALL = Workload("tall", 120, 12, seed=1)
WIDE = Workload("wide", 60, 80, smallest_effect=1.0, noise=1.0, seed=2)
FAMILIES = {
    "gaussian": TALL,
    "binomial": Workload("binomial", 300, 12, seed=3, family="binomial"),
    "poisson": Workload("poisson", 150, 12, 0.05, seed=4, family="poisson", largest_effect=0.4),
    "cox": Workload("cox", 100, 8, seed=5, family="cox", n_effects=4),
}
TINY = {
    name: replace(each, workload=WIDE if name == "W3" else FAMILIES[each.family], max_terms=each.max_terms and 6)
    for name, each in RUNS.items()
}


@pytest.fixture(autouse=True)
def small(tmp_path, monkeypatch):
    """Few repetitions, and nothing left behind in the cache of the real workloads."""
    monkeypatch.setattr("benchmarks.workloads.DATA", tmp_path)
    monkeypatch.setattr(peers, "SIZES", 2)
    monkeypatch.setattr(peers, "REPEATS", 1)


def task_of(name):
    tiny = TINY[name]
    outcome = ours.measured(tiny, rounds=1)
    return peers.Task(tiny, outcome["path"], outcome["selected"], budget=0.1)


@pytest.fixture(params=sorted(TINY))
def task(request):
    return task_of(request.param)


def can(peer):
    return [name for name in sorted(TINY) if TINY[name].family in peers.FAMILIES.get(peer, TINY[name].family)]


def answers(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("method", ["qr", "pinv"])
def test_the_loop_takes_the_same_path_with_the_fits_that_are_counted(task, method):
    loop = Loop(*task.run.workload.load(), method, task.run.family, task.run.removes_by_refits)
    path = loop.run(task.run.direction, task.run.criterion, task.run.max_terms)
    assert path == task.path
    assert path
    assert loop.n_fits == sum(count for _, count in fits_of_loop(task.run, path))


def test_a_loop_by_p_values_that_removes_counts_its_fits():
    X, _ = TALL.make()
    y = X[:, 3] + X[:, 5] + 0.5 * np.random.default_rng(0).standard_normal(len(X))
    X[:, 0] = X[:, 3] + X[:, 5] + 0.7 * X[:, 0]
    loop = Loop(X, y)
    path = loop.run("both", "pvalue")
    assert "remove" in {action for action, _ in path}
    assert path == ours.path(ours.fit(TINY["W8"], X, y))
    assert loop.n_fits == sum(count for _, count in fits_of_loop(TINY["W8"], path))


@pytest.mark.parametrize("name", ["W6 LR", "W6 SAS"])
def test_a_logistic_loop_that_removes_counts_its_fits(name):
    random, tiny = np.random.default_rng(2), TINY[name]
    X = random.standard_normal((400, 12))
    y = (random.random(400) < 1 / (1 + np.exp(-1.5 * X[:, 3] - 1.5 * X[:, 5]))).astype(float)
    X[:, 0] = X[:, 3] + X[:, 5] + 0.5 * X[:, 0]
    loop = Loop(X, y, family="binomial", by_likelihood_ratio=tiny.removes_by_refits)
    path = loop.run("both", "pvalue")
    assert "remove" in {action for action, _ in path}
    assert path == ours.path(ours.fit(tiny, X, y))
    assert loop.n_fits == sum(count for _, count in fits_of_loop(tiny, path))


def test_exact_and_leading_are_the_same_selection():
    assert task_of("W5 exact").path == task_of("W5 leading").path


def test_a_censored_workload_has_the_events_that_it_should():
    _, y = replace(RUNS["Cox"].workload, n_rows=20_000).make()
    assert 1 - y["event"].mean() == pytest.approx(0.3, abs=0.015)


def test_the_floors_are_the_arithmetic_that_they_say(monkeypatch):
    monkeypatch.setattr("benchmarks.workloads.BLOCK", 70)
    X, _ = TINY["W5 leading"].workload.load()
    passes = replace(TINY["W5 leading"], passes=3).floor(X)()
    assert [products.shape for products, _ in passes] == [(2, 12), (3, 12), (4, 12)]
    np.testing.assert_allclose(passes[1][0], np.vstack([0.25 * np.ones(300), 0.25 * X[:, 0], X[:, 0]]) @ X)
    np.testing.assert_allclose(passes[1][1], 0.25 * (X**2).sum(axis=0))
    X, _ = TINY["W7"].workload.load()
    products = TINY["W7"].floor(X)()
    assert len(products) == 55
    np.testing.assert_allclose(products[0][1:, 1:], 0.25 * X.T @ X)
    assert TINY["Cox"].floor(X) is None


def test_fits_to_size():
    forward, backward = TINY["W1"], TINY["W4"]
    assert fits_to_size(forward, 2) == [(1, 12), (2, 11)]
    assert fits_to_size(backward, 10) == [(11, 12), (10, 11)]


@pytest.mark.parametrize(("peer", "name"), [(peer, name) for peer in ("statsmodels", "sklearn") for name in can(peer)])
def test_peers_that_fit_candidates_select_the_same(peer, name, capsys, monkeypatch):
    # However busy the machine is, the peer is tried: the estimate is none of this test's business.
    monkeypatch.setattr(peers, "extrapolated", lambda *_: 0.0)
    task = task_of(name)
    peers.PEERS[peer](*task.run.workload.load(), replace(task, budget=10))
    first, last = answers(capsys)
    assert (first["how"], last["how"], last["same"]) == ("extrapolated", "measured", True)


def test_extrapolation_counts_every_fit():
    sizes = []
    seconds = peers.extrapolated([(1, 100), (5, 50)], lambda columns: sizes.append(len(columns)), budget=0.0)
    assert set(sizes) == {1, 5}
    assert 0 <= seconds < 1


def test_a_peer_beyond_the_budget_is_extrapolated_only(task, capsys):
    peers.statsmodels(*task.run.workload.load(), replace(task, budget=0.0))
    assert [answer["how"] for answer in answers(capsys)] == ["extrapolated"]


@pytest.mark.parametrize("name", can("lars"))
def test_lars_answers(name, capsys):
    task = task_of(name)
    peers.lars(*task.run.workload.load(), task)
    assert [answer["how"] for answer in answers(capsys)] == ["measured"]


@pytest.mark.skipif(rscript() is None, reason="needs R")
@pytest.mark.parametrize("name", ["W1", "W4", "W5 exact", "W7", "Cox"])
def test_r_step_selects_the_same(name):
    tiny = TINY[name]
    outcome = ours.measured(tiny, rounds=1)
    first, last = r_peers.r_answers("step", tiny, outcome, 5, 60)
    assert (first["how"], last["how"], last["same"]) == ("extrapolated", "measured", True)


def test_the_workloads_are_those_that_were_announced():
    shapes = {run.workload.name: (run.workload.n_rows, run.workload.n_columns) for run in RUNS.values()}
    assert shapes == {
        "W1": (10_000, 100),
        "W2": (1_000_000, 50),
        "W3": (200, 5_000),
        "W4": (2_000, 500),
        "W5": (10_000, 50),
        "W6": (100_000, 100),
        "W7": (20_000, 40),
        "W8": (5_000, 200),
        "Cox": (5_000, 30),
    }


def test_a_peer_is_asked_only_for_what_it_can_do():
    options = run.parse([])
    assert "lars" in run.wanted_peers(RUNS["W1"], options)
    assert run.wanted_peers(RUNS["W7"], options) == ["statsmodels", "sklearn", "abess", "step"]
    assert run.wanted_peers(RUNS["Cox"], options) == ["statsmodels", "step"]
    assert run.wanted_peers(RUNS["W6 LR"], run.parse(["--quick"])) == ["abess"]


def test_the_process_of_a_benchmark_has_one_thread_and_no_unusual_settings(monkeypatch):
    from benchmarks.environment import environment

    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("OPENBLAS_L2_SIZE", "512")
    assert environment()["OPENBLAS_NUM_THREADS"] == environment()["OMP_NUM_THREADS"] == "1"
    assert not {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"} & set(environment())


def test_the_memory_of_a_fit_is_measured():
    found = ours.memory(TINY["W1"])
    assert found["data"] == pytest.approx(120 * 13 * 8 / 1e6)
    assert found["megabytes"] >= 0


def test_accuracy_grows_as_it_should():
    rows = accuracy.table(n_data_sets=1)["rows"]
    assert [row["switched"] for row in rows] == sorted(row["switched"] for row in rows)
    assert rows[0]["switched"] == 0
    assert rows[-1]["switched"] == 1
    assert rows[-1]["p_fast"] > 1e-8 > rows[-1]["p_reported"]


def test_the_extended_reference_agrees_with_statsmodels():
    X, y = accuracy.collinear_data(0.1, seed=0)
    coefficients, p_values = accuracy.reference(X, y)
    fit = Loop(X, y).fit(range(5))
    np.testing.assert_allclose(coefficients, fit.params[1:], rtol=1e-10)
    np.testing.assert_allclose(p_values, fit.pvalues[1:], rtol=1e-8)


def results(**answer):
    outcome = {"floor": 0.001, "ours": 0.0045, "quartiles": [4.4, 4.6], "rounds": 9, "path": [], "selected": []}
    memory = {"megabytes": 30.0, "data": 408.0, "how": "VmHWM"}
    every = {name: {"ours": outcome, "memory": None, "peers": {"statsmodels": answer}} for name in RUNS}
    every["W2 forward"]["memory"] = memory
    every["Cox"]["ours"] = outcome | {"floor": None, "quartiles": None}
    return {
        "date": "2026-01-01",
        "budget": 60.0,
        "quick": False,
        "machine": machine(),
        "versions": {"python": "3", "R": None},
        "accuracy": accuracy.table(n_data_sets=1),
        "resampling": [{"name": name, "ours": 0.5, "loop": 40.0, "same": True} for name in ("linear", "logistic")],
        "runs": every,
        "load": 1.0,
    }


def test_the_report_says_what_was_missed():
    text = report.report(results(seconds=3.0, how="measured", same=True, note="qr"))
    lines = text.splitlines()
    assert next(line for line in lines if line.startswith("| W1 | 10,000")).endswith("| <= 4 | **missed** |")
    assert next(line for line in lines if line.startswith("| W8 | 5,000")).endswith("| <= 6 | met |")
    assert next(line for line in lines if line.startswith("| W5 exact | log")).endswith("| <= 1.2 s | met |")
    assert "| linear 250 x 13 | 0.50 | 40 e | 80 | >= 100 | **missed** |" in lines
    assert "| logistic 1,000 x 15 | 0.50 | 40 e | 80 | >= 15 | met |" in lines
    assert "| Cox | Cox 5,000 x 30, forward, AIC, exact | 0 |  | 4.50 |  |  |  |" in lines
    assert "| W6 LR | logistic 100,000 x 100, both, p-value (LR), leading | 0 | 1.00" in text
    assert "both, p-value (score / Wald), leading" in text
    assert "| W1 | 3.0 (fit by qr) | 667 | >= 500 | met |" in lines
    assert "| W3 | 3.0 (fit by qr) | 667 | >= 1000 | **missed** |" in lines
    assert "| W2 forward | 408 | 30.0 | <= 25 | **missed** |" in lines
    assert "- Not installed: R" in lines


@pytest.mark.parametrize(
    ("answer", "cell"),
    [
        ({"how": "measured", "seconds": 0.5, "same": False}, "0.500\\* (50x)"),
        ({"how": "extrapolated", "seconds": 1234.0, "same": None}, "1,234 e (123,400x)"),
        ({"how": "stopped", "seconds": 120}, "> 120"),
        ({"how": "missing"}, "not installed"),
        ({"how": "failed"}, "failed"),
    ],
)
def test_a_cell_says_how_it_was_found(answer, cell):
    assert report.peer_cell(answer, ours=0.01) == cell


def test_a_peer_that_is_stopped_or_fails_is_said_to_be(monkeypatch):
    tiny, outcome = TINY["W1"], {"path": [], "selected": []}
    begun = [{"how": "extrapolated", "seconds": 1.0}]
    for said, budget, how in ((begun, 0.5, "extrapolated"), (begun, 60, "failed"), ([], 60, "failed")):
        monkeypatch.setattr(run, "python_answers", lambda *_, said=said: said)
        assert run.peer_answer("statsmodels", tiny, outcome, budget)["how"] == how
    monkeypatch.setattr(run, "GRACE", -60)
    assert run.peer_answer("statsmodels", tiny, outcome, 60)["how"] == "stopped"


def test_a_command_that_takes_too_long_is_stopped_and_what_it_said_is_kept():
    from benchmarks.environment import answers

    code = "import time; print('{\"a\": 1}', flush=True); time.sleep(60)"
    assert answers([sys.executable, "-c", code], seconds=2) == [{"a": 1}]
    assert python("benchmarks.environment", seconds=60)[0]["python"]


@pytest.mark.parametrize("family", ["gaussian", "binomial"])
def test_resampled_selections_are_those_of_the_loop(family):
    task = resampling.Task("tiny", family, 80, 5, 1)
    found = resampling.measure(task, n_resamples=4, rounds=1, looped=4)
    assert found["same"]
