"""Random formulas against the oracle (naive_formulas.py): every step, every candidate, every barred term."""

import warnings
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from formula_problems import FAMILIES, KINDS, formula_problem
from helpers import eligible
from naive_formulas import naive_stepwise

from stepsel import stepwise
from stepsel.exceptions import StepselWarning

SEEDS = range(420)
compared = {}  # seed -> the problem and the path that the package and the oracle agree on


def close(found, expected, rtol, atol=0.0, what=""):
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol, atol, err_msg=what)


def run(drawn, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepselWarning)
        return stepwise(drawn.formula, drawn.data, scope=drawn.scope, **drawn.parameters, **parameters)


def compare(seed):
    drawn, oracle = formula_problem(seed)
    modes = ["exact"] if drawn.parameters["family"] == "gaussian" else ["exact", "leading"]
    for mode in modes:
        result = run(drawn, candidates=mode)
        path = [(row.action, row.term) for row in result.trace.iloc[1:].itertuples()]
        assert path == oracle.path, mode
        assert list(result.selected) == oracle.selected
        compare_trace(result.trace, oracle.steps)
        compare_barred(result.candidates, oracle.barred)
        if mode == "exact":
            compare_candidates(eligible(result.candidates), oracle, drawn.parameters["criterion"])
    if drawn.parameters["family"] != "cox":
        rows = drawn.frame.iloc[oracle.models.used].drop(columns="y")
        close(result.predict(rows), oracle.models.mean(oracle.selected), 1e-6, 1e-7, "predictions")
    compared[seed] = drawn, path


def compare_trace(trace, steps):
    assert list(trace["n_params"]) == [step.n_params for step in steps]
    assert list(trace["n_terms"]) == [len(step.terms) for step in steps]
    close(trace["log_likelihood"], [step.log_likelihood for step in steps], 1e-8, 0, "log-likelihood")
    assert list(trace["df"][1:]) == [step.df for step in steps[1:]]
    tested = [step for step in steps[1:] if step.df]
    close(trace["p_value"][1:][(trace["df"][1:] > 0).to_numpy(bool)], [s.p_value for s in tested], 1e-6, 0, "p_value")


def compare_barred(candidates, barred):
    """A term whose columns never vary is listed as constant, whatever the hierarchy says of it."""
    rows = candidates[candidates["status"] == "hierarchy"]
    constant = set(candidates["term"][candidates["status"] == "constant"])
    barred = [row for row in barred if row[2] not in constant]
    assert sorted(zip(rows["step"], rows["move"], rows["term"], strict=True)) == sorted(barred)
    assert (rows["df"] == 0).all()
    assert rows[["statistic", "p_value", "criterion"]].isna().all(axis=None)


def compare_candidates(rows, oracle, criterion):
    key = ["step", "move", "term"]
    rows, known = rows.set_index(key), oracle.candidates.set_index(key)
    if criterion == "pvalue":  # a step that removes need not look at additions
        removing = {step for step, (action, _) in enumerate(oracle.path, start=1) if action == "remove"}
        idle = removing - {step for step, move, _ in rows.index if move == "add"}
        known = known.drop([row for row in known.index if row[0] in idle and row[1] == "add"])
    assert sorted(rows.index) == sorted(known.index)
    rows = rows.loc[known.index]
    assert list(rows["df"]) == list(known["df"])
    tested = (known["df"] > 0).to_numpy(bool)
    rows, known = rows[tested], known[tested]
    close(rows["statistic"], known["statistic"], 1e-6, 1e-8, "statistic")
    close(rows["p_value"], known["p_value"], 1e-6, 0, "p_value")
    if criterion != "pvalue":
        close(rows["criterion"], known["criterion"], 1e-8, 1e-8, "criterion")


@pytest.mark.parametrize("seed", SEEDS)
def test_stepwise_equals_oracle(seed):
    compare(seed)


def test_at_least_220_problems_were_compared():
    """Counts what was compared (a partial run is made up for), and that it was worth comparing."""
    for seed in SEEDS:
        if seed not in compared:
            compare(seed)
    assert len(compared) >= 220
    problems = [drawn for drawn, _ in compared.values()]
    assert {drawn.kind for drawn in problems} == set(KINDS)
    assert {drawn.parameters["family"] for drawn in problems} == set(FAMILIES)
    assert Counter(drawn.parameters["hierarchy"] for drawn in problems)["strong"] > len(problems) / 2
    actions = Counter((action, ":" in term) for _, path in compared.values() for action, term in path)
    assert min(actions.values()) > 60, actions
    assert sum({"add", "remove"} <= {action for action, _ in path} for _, path in compared.values()) >= 10


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_a_term_that_brings_the_columns_to_more_than_the_rows(family):
    """27 columns for the 12 cells that occur, in 16 rows: the last of them count as much as the first."""
    cells = [(a, b, "kl"[(i + j) % 2]) for i, a in enumerate("uvw") for j, b in enumerate("pqr")]
    cells += [("w", "r", "m"), ("w", "q", "m"), ("w", "p", "m")]
    data = pd.DataFrame(cells + cells[-4:], columns=list("abc"))
    data["y"] = [3.0, 1, 4, 1, 5, 9, 2, 6, 5, 30, 25, 1, 4, 33, 21, 2]
    formula, rules = "y ~ a + b + a:b + a:b:c", {"hierarchy": "none", "start": ["a", "b", "a:b"], "keep": ["a", "b"]}
    oracle = naive_stepwise(formula, data, family=family, **rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepselWarning)
        result = stepwise(formula, data, family=family, **rules)
    assert [(row.action, row.term) for row in result.trace.iloc[1:].itertuples()] == oracle.path
    compare_trace(result.trace, oracle.steps)
    compare_candidates(eligible(result.candidates), oracle, "aic")


# Properties


def steps_of(result):
    trace = result.trace.iloc[1:]
    return list(zip(trace["action"], trace["term"], trace["df"], strict=True))


def assert_same(found, expected, rtol=1e-8):
    assert steps_of(found) == steps_of(expected)
    close(found.trace["log_likelihood"], expected.trace["log_likelihood"], rtol)
    close(found.trace["p_value"].iloc[1:], expected.trace["p_value"].iloc[1:], 1e4 * rtol)


def problems_of(kinds, seeds, wanted=lambda drawn: True):
    for seed in seeds:
        if list(KINDS)[seed % len(KINDS)] in kinds:
            drawn, _ = formula_problem(seed)
            if wanted(drawn):
                yield drawn


def test_order_of_levels_does_not_matter():
    """Another reference level is another parametrisation of the same models."""
    seen = 0
    for drawn in problems_of(("pairs", "three", "empty", "nested", "no_intercept"), range(1000, 1120)):
        frame = drawn.frame.copy()
        for name in ("a", "c", "e", "s"):
            levels = sorted(frame[name].dropna().unique(), reverse=True)
            frame[name] = pd.Categorical(frame[name].astype(object), categories=levels[1:] + levels[:1])
        assert_same(run(replace(drawn, frame=frame, held="pandas")), run(drawn))
        seen += 1
    assert seen >= 40


def test_origin_of_numbers_does_not_matter_where_margins_are_respected():
    """The reason for the strong hierarchy: temperatures in kelvin or Celsius lead to the same selection."""
    seen = 0
    for drawn in problems_of(
        ("pairs", "star", "poly"), range(1200, 1380), lambda drawn: drawn.parameters["hierarchy"] == "strong"
    ):
        if "poly(w, 2):b" in drawn.formula or "a:x" in drawn.formula:
            continue
        moved = drawn.frame.assign(x=3.0 * drawn.frame["x"] + 20.0, w=drawn.frame["w"] - 8.0)
        assert_same(run(replace(drawn, frame=moved)), run(drawn), rtol=1e-7)
        seen += 1
    assert seen >= 25


def test_frequency_weights_are_repeated_rows():
    rng, seen = np.random.default_rng(5), 0
    for drawn in problems_of(KINDS, range(1400, 1460), lambda drawn: "poly" not in drawn.formula + str(drawn.scope)):
        weights = rng.integers(1, 4, len(drawn.frame))
        repeated = drawn.frame.loc[np.repeat(drawn.frame.index, weights)].reset_index(drop=True)
        found = run(drawn, sample_weight=weights)
        assert_same(found, run(replace(drawn, frame=repeated)), rtol=1e-7)
        seen += 1
    assert seen >= 30


def test_candidates_that_lead_need_fewer_fits():
    """Else the comparison of the two modes says nothing."""
    bounded = 0
    for drawn in problems_of(KINDS, range(80), lambda drawn: drawn.parameters["family"] in ("binomial", "poisson")):
        bounded += (run(drawn, candidates="leading").candidates["status"] == "bounded").sum()
    assert bounded > 5
