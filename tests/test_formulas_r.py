"""Selections with interactions that R's step() made (reference/formulas, by formulas.R with R 4.2.2).

The oracle (naive_formulas.py) stands before it judges anything; then the package takes the same steps.
"""

import re
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from helpers import TESTS, read_json, survival
from naive_formulas import naive_stepwise, same_terms, terms_of
from numpy.testing import assert_allclose

from stepsel import stepwise
from stepsel.exceptions import StepselWarning

FOLDER = TESTS / "reference" / "formulas"
ALL = {path.stem: read_json(path) for path in sorted((FOLDER / "expected").glob("*.json"))}
CASES = [name for name, case in ALL.items() if "path" in case]
SPACES = [name for name, case in ALL.items() if "spaces" in case]


def in_python(text):
    """R's formula as Python writes it."""
    text = re.sub(r"\bfactor\(", "C(", text.replace("^", " ** "))
    return re.sub(r"\blog\(", "np.log(", text)


@cache
def data_of(name):
    levels_of = dict(next(case for case in ALL.values() if case["data"] == name)["levels"])  # R writes none as a list
    data = pd.read_csv(FOLDER / "data" / f"{name}.csv", dtype=dict.fromkeys(levels_of, str))
    for column, levels in levels_of.items():
        data[column] = pd.Categorical(data[column], categories=levels)
    return data


class Expected:
    """What R did, without the removals of terms that repeat others in the start model: they are left out."""

    def __init__(self, case):
        ranks = [step["rank"] for step in case["path"]]
        first = next((at - 1 for at in range(1, len(ranks)) if ranks[at] != ranks[at - 1]), len(ranks) - 1)
        if any(step["action"] == "add" for step in case["path"][: first + 1]):
            first = 0
        self.path = case["path"][first:]
        self.steps = [(step["action"], *same_terms([in_python(step["term"])])) for step in self.path[1:]]
        candidates = pd.DataFrame(case["candidates"])
        candidates["step"] -= first
        candidates["term"] = same_terms(map(in_python, candidates["term"]))
        self.listed = set(zip(candidates["step"], candidates["term"], strict=True))
        candidates = candidates[(candidates["step"] > 0) & ((candidates["df"] > 0) | (candidates["move"] == "remove"))]
        self.candidates = candidates.set_index(["step", "move", "term"])
        upper, lower = (terms_of(in_python(case["scope"][side]).strip("~"))[0] for side in ("upper", "lower"))
        self.free = set(same_terms(upper)) - set(same_terms(lower))
        self.models = [set(same_terms(terms_of(in_python(step["model"].split("~")[1]))[0])) for step in self.path]
        self.direction = case["direction"]
        self.selected = set(same_terms(map(in_python, case["selected"])))

    def barred(self):
        """What neither drop1() nor add1() was asked for: the rest of the scope."""
        for step, model in enumerate(self.models, start=1):
            for term in self.free:
                move = "remove" if term in model else "add"
                wanted = {"backward": "remove", "forward": "add"}.get(self.direction, move)
                if move == wanted and (step, term) not in self.listed:
                    yield step, move, term


def arguments_of(case):
    """What the oracle and the package both take, and the data."""
    data = data_of(case["data"])
    arguments = {name: case[name] for name in ("family", "direction", "criterion", "alpha_enter", "alpha_remove")}
    arguments["scope"] = {side: in_python(text) for side, text in case["scope"].items()}
    return in_python(case["formula"]), data, arguments | {"missing": "drop"}


def assert_as_r(case, path, trace, candidates, selected):
    expected = Expected(case)
    assert [(action, *same_terms([term])) for action, term in path] == expected.steps
    assert_allclose(trace["log_likelihood"], [step["loglik"] for step in expected.path], rtol=1e-9)
    assert list(trace["n_params"]) == [step["rank"] for step in expected.path]
    assert set(same_terms(selected)) == expected.selected
    if candidates is None:
        return
    found = candidates.assign(term=same_terms(candidates["term"])).set_index(["step", "move", "term"])
    known = expected.candidates
    if case["criterion"] == "pvalue":  # a step that removes need not look at additions
        removing = {step for step, row in enumerate(expected.steps, start=1) if row[0] == "remove"}
        idle = removing - {step for step, move, _ in found.index if move == "add"}
        known = known.drop([row for row in known.index if row[0] in idle and row[1] == "add"])
    assert set(found.index) == set(known.index)
    assert len(found) == len(known)
    found = found.loc[known.index]
    assert list(found["df"]) == list(known["df"])
    tested = (known["df"] > 0).to_numpy()
    assert_allclose(found["p_value"][tested], known["p_value"][tested], rtol=1e-6)
    if case["criterion"] != "pvalue":
        constant = case["n"] * (1 + np.log(2 * np.pi)) if case["family"] == "gaussian" else 0.0
        assert_allclose(found["criterion"][tested], known["AIC"][tested] + constant, rtol=1e-9)


def test_no_case_is_missing():
    assert (len(CASES), len(SPACES)) == (82, 2)


@pytest.mark.parametrize("name", CASES)
def test_oracle_takes_the_steps_of_r(name):
    case = ALL[name]
    formula, data, arguments = arguments_of(case)
    y = survival(data["status"] == 1, data["time"]) if case["family"] == "cox" else None
    trials = data[case["weights"]] if case["weights"] else None
    result = naive_stepwise(formula, data, y, trials=trials, **arguments)
    trace = pd.DataFrame([vars(step) for step in result.steps])
    assert_as_r(case, result.path, trace, result.candidates, result.selected)
    barred = [(step, move, *same_terms([term])) for step, move, term in result.barred]
    assert set(barred) == set(Expected(case).barred())


@pytest.mark.parametrize("name", SPACES)
def test_oracle_spans_what_r_spans(name):
    case = ALL[name]
    for space in case["spaces"]:
        result = naive_stepwise(
            in_python(space["formula"]), data_of(case["data"]), family=case["family"], hierarchy="none",
            direction="backward",
        )  # fmt: skip
        assert result.steps[0].n_params == space["rank"], space
        assert_allclose(result.steps[0].log_likelihood, space["loglik"], rtol=1e-9, err_msg=space["formula"])


def run(formula, data, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepselWarning)
        return stepwise(formula, data, **parameters)


def n_coefficients(result):
    """Those that are estimated: of the columns that repeat others there is none."""
    return int(result.tidy()["estimate"].notna().sum())


RUNS = [(name, "exact") for name in CASES] + [(name, "leading") for name in CASES if ALL[name]["family"] != "gaussian"]


@pytest.mark.parametrize(("name", "mode"), RUNS)
def test_package_takes_the_steps_of_r(name, mode):
    case = ALL[name]
    formula, data, arguments = arguments_of(case)
    data = data.assign(status=data["status"] == 1) if case["family"] == "cox" else data
    result = run(formula, data, sample_weight=case["weights"], candidates=mode, **arguments)
    path = [(row.action, row.term) for row in result.trace.iloc[1:].itertuples()]
    table = result.candidates
    table = table[table["status"].isin(["chosen", "eligible", "separated"])]
    assert_as_r(case, path, result.trace, table if mode == "exact" else None, result.selected)
    barred, empty = (
        set(zip(rows["step"], rows["move"], same_terms(rows["term"]), strict=True))
        for rows in (result.candidates[result.candidates["status"] == status] for status in ("hierarchy", "constant"))
    )
    assert barred == set(Expected(case).barred()) - empty  # what never occurs together can never enter
    assert n_coefficients(result) == case["n_coefficients"]
    if case["family"] != "cox":
        assert_allclose(result.predict(data.dropna().head(10)), case["fitted"], rtol=1e-7)


@pytest.mark.parametrize("name", SPACES)
def test_package_spans_what_r_spans(name):
    case = ALL[name]
    for space in case["spaces"]:
        result = run(
            in_python(space["formula"]), data_of(case["data"]), family=case["family"], hierarchy="none", start="full",
            max_steps=0,
        )  # fmt: skip
        assert result.trace["n_params"][0] == space["rank"], space
        assert_allclose(result.trace["log_likelihood"][0], space["loglik"], rtol=1e-9, err_msg=space["formula"])
        assert n_coefficients(result) == space["rank"], space
