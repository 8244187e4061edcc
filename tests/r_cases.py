"""The selections that R made (reference/r): parameters for a selection, assertions on its outcome."""

import re

import numpy as np
import pandas as pd
from faces import as_selector
from helpers import Outcome, R, read_json, survival

ALL = {path.stem: read_json(path) for path in sorted((R / "expected").glob("*.json"))}
CASES = [R / "expected" / f"{name}.json" for name, case in ALL.items() if case["family"] == "gaussian"]
NAMES = [path.stem for path in CASES]
FAMILY_CASES = [R / "expected" / f"{name}.json" for name, case in ALL.items() if case["family"] != "gaussian"]
FAMILY_NAMES = [path.stem for path in FAMILY_CASES]
FACTOR_CASES = [R / "expected" / f"{name}.json" for name, case in ALL.items() if case["factors"]]
FACTOR_NAMES = [path.stem for path in FACTOR_CASES]
REFERENCE_LEVEL = {"race": "white"}  # else the first in order


def load(path):
    """The case, its predictors, response and weights (complete rows), and the parameters of the selection.

    A factor is a group of indicators with R's names: the factor's name followed by the level.
    """
    case, X, y, weights, parameters = load_raw(path)
    parameters.pop("categorical", None)
    X, groups = indicators(X, as_list(case["factors"]))
    if groups:
        parameters["groups"] = groups
    return case, X, y, weights, parameters


def load_raw(path):
    """As `load`, with the factors as they are in the file: text and truth values."""
    case = read_json(path)
    data = pd.read_csv(R / "data" / f"{case['data']}.csv")
    cox = case["family"] == "cox"
    response = ["time", "status"] if cox else [case["target"]]
    data = data[[*response, *case["terms"], *([case["weights"]] if case["weights"] else [])]].dropna()
    shared = ("direction", "criterion", "alpha_enter", "alpha_remove", "start")
    parameters = {name: case[name] for name in shared}
    if case["family"] != "gaussian":
        parameters["family"] = case["family"]
    parameters |= {"keep": as_list(case["forced"]), "weight_type": "analytic"}
    references = {name: level for name, level in REFERENCE_LEVEL.items() if name in case["factors"]}
    if references:
        parameters["categorical"] = references
    y = survival(data["status"] == 1, data["time"]) if cox else data[case["target"]]
    weights = data[case["weights"]] if case["weights"] else None
    return case, data[case["terms"]], y, weights, parameters


def load_formula(path, *, dot):
    """The case, a formula, its data (all rows), and the parameters of `stepwise`.

    With `dot` the right side is `.` and the reference levels are a parameter, else the terms are written out.
    """
    case, X, _, _, parameters = load_raw(path)
    data = pd.read_csv(R / "data" / f"{case['data']}.csv")
    cox = case["family"] == "cox"
    response = ["time", "status"] if cox else [case["target"]]
    left = "Surv(time, status)" if cox else case["target"]
    if case["weights"]:
        parameters["sample_weight"] = case["weights"]
    data = data[[*response, *X.columns, *([case["weights"]] if case["weights"] else [])]]
    parameters["missing"] = "drop"
    if dot:
        return case, f"{left} ~ .", data, parameters
    parameters.pop("categorical", None)
    return case, f"{left} ~ " + " + ".join(written(term) for term in X.columns), data, parameters


def written(term):
    """A term as an R user writes it in a formula."""
    if term in REFERENCE_LEVEL:
        return f"C({term}, contr.treatment({REFERENCE_LEVEL[term]!r}))"
    return term if term.isidentifier() else f"`{term}`"


def indicators(X, factors):
    """The columns with every factor replaced by indicators of all levels but the reference, and the groups."""
    columns, groups = {}, {}
    for term in X.columns:
        if term not in factors:
            columns[term] = X[term]
            continue
        levels = sorted(X[term].unique())
        levels.remove(REFERENCE_LEVEL.get(term, levels[0]))
        for level in levels:
            name = f"{term}{str(level).upper() if X[term].dtype == bool else level}"
            columns[name] = (X[term] == level).astype(float)
            groups.setdefault(term, []).append(name)
    return pd.DataFrame(columns), groups


def in_r(label, truth_values):
    """R's name of a term or coefficient: `race[T.black]` and `C(race, ...)[T.black]` are `raceblack`."""
    variable, level = re.fullmatch(r"(.*?)(?:\[T\.(.*)\])?", label).groups()
    variable = re.sub(r"C\((\w+), .*\)", r"\1", variable)
    if variable in truth_values and level is None:  # one column 0 and 1 under the name of its own
        level = "True"
    return variable if level is None else variable + (level.upper() if variable in truth_values else level)


def outcome_in_r(result, X):
    """The outcome of a selection among the factors of X with R's names of terms and coefficients."""
    truth_values = [name for name in X if X[name].dtype == bool]
    outcome = Outcome.of_selector(as_selector(result))
    coefficients = outcome.coefficients.rename(index=lambda label: in_r(label, truth_values))
    candidates = outcome.candidates.assign(term=[in_r(term, ()) for term in outcome.candidates["term"]])
    path = [(action, in_r(term, ())) for action, term in outcome.path]
    selected = [in_r(term, ()) for term in outcome.selected]
    return Outcome(path, outcome.trace, candidates, selected, coefficients)


def as_list(value):
    """R's JSON writes a vector of one element as the bare element."""
    return [value] if isinstance(value, str) else list(value)


def assert_outcome(case, weights, outcome, *, every_candidate=True):
    """Same path, log-likelihoods, candidates and final coefficients as R.

    Without `every_candidate` only those candidates are looked at that the selection has fitted.
    """
    path, cox = case["path"], case["family"] == "cox"
    assert outcome.path == [(step["action"], step["term"]) for step in path[1:]]
    np.testing.assert_allclose(outcome.trace["log_likelihood"], [s["loglik"] for s in path], rtol=1e-9)
    if not cox:
        np.testing.assert_allclose(outcome.trace["deviance"], [s["deviance"] for s in path], rtol=1e-9)
    if case["family"] != "gaussian":
        np.testing.assert_allclose(outcome.trace["aic"], [s["aic_loglik"] for s in path], rtol=1e-9)
        np.testing.assert_allclose(outcome.trace["bic"], [s["bic_loglik"] for s in path], rtol=1e-9)
    assert_candidates(case, weights, outcome, every_candidate)
    assert outcome.selected == [term for term in case["terms"] if term in as_list(case["selected"])]
    assert set(outcome.coefficients.index) == set(case["coefficients"])
    names = ("coef", "se(coef)") if cox else ("Estimate", "Std. Error")
    for term, printed in case["coefficients"].items():
        found = outcome.coefficients.loc[term]
        np.testing.assert_allclose(found["estimate"], printed[names[0]], rtol=1e-8)
        np.testing.assert_allclose(found["std_error"], printed[names[1]], rtol=1e-8)


def assert_candidates(case, weights, outcome, every=True):
    key = ["step", "move", "term"]
    expected = pd.DataFrame(case["candidates"]).rename(columns={"action": "move"}).set_index(key)
    found = outcome.candidates.set_index(key)
    if not every:
        moves = [(number, step["action"], step["term"]) for number, step in enumerate(case["path"])]
        assert set(moves[1:]) <= set(found.index)
        expected = expected[expected.index.isin(found.index)]
    elif case["family"] != "gaussian" and case["criterion"] == "pvalue":
        expected = without_idle_additions(expected, found.index, case["path"])
    assert sorted(found.index) == sorted(expected.index)
    found = found.loc[expected.index]
    np.testing.assert_array_equal(found["df"], expected["df"])
    np.testing.assert_allclose(found["p_value"], expected["p_value"], rtol=1e-6)
    if case["criterion"] != "pvalue":
        # extractAIC of lm = n log(RSS/n) + k p, without the constants of the normal log-likelihood
        log_weights = 0.0 if weights is None else np.sum(np.log(weights))
        constant = case["n"] * (1 + np.log(2 * np.pi)) - log_weights if case["family"] == "gaussian" else 0.0
        np.testing.assert_allclose(found["criterion"], expected["extractAIC"] + constant, rtol=1e-9)


def without_idle_additions(expected, found, path):
    """By p-value, a step that removes need not look at additions; if it looks, then at all of them."""
    removing = {step["step"] for step in path if step["action"] == "remove"}
    idle = removing - {step for step, move, _ in found if move == "add"}
    return expected[[not (step in idle and move == "add") for step, move, _ in expected.index]]
