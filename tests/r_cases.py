"""The selections that R made (reference/r): parameters for a selection, assertions on its outcome."""

import numpy as np
import pandas as pd
from helpers import R, read_json

CASES = sorted((R / "expected").glob("*.json"))
NAMES = [path.stem for path in CASES]


def load(path):
    """The case, its predictors, response and weights (complete rows), and the parameters of the selection."""
    case = read_json(path)
    data = pd.read_csv(R / "data" / f"{case['data']}.csv")
    columns = [case["target"], *case["terms"], *([case["weights"]] if case["weights"] else [])]
    data = data[columns].dropna()
    shared = ("direction", "criterion", "alpha_enter", "alpha_remove", "start")
    parameters = {name: case[name] for name in shared}
    parameters |= {"keep": as_list(case["forced"]), "weight_type": "analytic"}
    weights = data[case["weights"]] if case["weights"] else None
    return case, data[case["terms"]], data[case["target"]], weights, parameters


def as_list(value):
    """R's JSON writes a vector of one element as the bare element."""
    return [value] if isinstance(value, str) else list(value)


def assert_outcome(case, weights, outcome):
    """Same path, log-likelihoods, candidates and final coefficients as R."""
    path = case["path"]
    assert outcome.path == [(step["action"], step["term"]) for step in path[1:]]
    np.testing.assert_allclose(outcome.trace["log_likelihood"], [s["loglik"] for s in path], rtol=1e-9)
    np.testing.assert_allclose(outcome.trace["deviance"], [s["deviance"] for s in path], rtol=1e-9)
    assert_candidates(case, weights, outcome)
    assert outcome.selected == [term for term in case["terms"] if term in as_list(case["selected"])]
    assert set(outcome.coefficients.index) == set(case["coefficients"])
    for term, printed in case["coefficients"].items():
        found = outcome.coefficients.loc[term]
        np.testing.assert_allclose(found["estimate"], printed["Estimate"], rtol=1e-8)
        np.testing.assert_allclose(found["std_error"], printed["Std. Error"], rtol=1e-8)


def assert_candidates(case, weights, outcome):
    key = ["step", "move", "term"]
    expected = pd.DataFrame(case["candidates"]).rename(columns={"action": "move"}).set_index(key)
    found = outcome.candidates.set_index(key)
    assert sorted(found.index) == sorted(expected.index)
    found = found.loc[expected.index]
    np.testing.assert_array_equal(found["df"], expected["df"])
    np.testing.assert_allclose(found["p_value"], expected["p_value"], rtol=1e-6)
    if case["criterion"] != "pvalue":
        # extractAIC = n log(RSS/n) + k p, without the constants of the normal log-likelihood
        log_weights = 0.0 if weights is None else np.sum(np.log(weights))
        constant = case["n"] * (1 + np.log(2 * np.pi)) - log_weights
        np.testing.assert_allclose(found["criterion"], expected["extractAIC"] + constant, rtol=1e-9)
