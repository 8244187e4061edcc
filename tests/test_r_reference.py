"""Every selection of reference/r (made by oracle.R with R 4.2.2): step for step as R."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
import r_cases
from faces import by_formula
from helpers import Outcome, R, select
from numpy.testing import assert_allclose

# The Gaussian family has one mode only.
RUNS = [(path, "exact") for path in r_cases.CASES + r_cases.FAMILY_CASES]
RUNS += [(path, "leading") for path in r_cases.FAMILY_CASES]
RUN_NAMES = [f"{path.stem}-{mode}" for path, mode in RUNS]


def test_no_case_is_missing():
    assert len(r_cases.CASES) == 43
    assert Counter(case["family"] for case in r_cases.ALL.values()) == {
        "gaussian": 43, "binomial": 18, "poisson": 9, "cox": 9
    }  # fmt: skip
    assert len(r_cases.FACTOR_CASES) == 18


@pytest.mark.parametrize(("path", "mode"), RUNS, ids=RUN_NAMES)
def test_same_steps_as_r(path, mode):
    """Linear, logistic, Poisson and Cox regression; factors as text and truth values."""
    case, X, y, weights, parameters = r_cases.load_raw(path)
    selector = select(X, y, sample_weight=weights, candidates=mode, **parameters)
    outcome = r_cases.outcome_in_r(selector.result_, X)
    r_cases.assert_outcome(case, weights, outcome, every_candidate=mode == "exact")
    if case["family"] != "cox":
        assert selector.result_.n_obs == case["n"]


@pytest.mark.parametrize("path", r_cases.FACTOR_CASES, ids=r_cases.FACTOR_NAMES)
def test_factors_as_groups_of_indicators(path):
    case, X, y, weights, parameters = r_cases.load(path)
    selector = select(X, y, sample_weight=weights, **parameters)
    r_cases.assert_outcome(case, weights, Outcome.of_selector(selector))
    case, X, y, weights, parameters = r_cases.load_raw(path)
    whole = select(X, y, sample_weight=weights, **parameters)
    pd.testing.assert_frame_equal(whole.trace_, selector.trace_, rtol=1e-9)


def as_categories(X, factors):
    """Every factor as a category whose first level is the reference."""
    found = {}
    for name in factors:
        levels = sorted(X[name].unique(), key=lambda level: (level != r_cases.REFERENCE_LEVEL.get(name), level))
        found[name] = pd.Categorical(X[name], categories=levels)
    return X.assign(**found)


def as_strings(X, factors):
    return X.astype({name: "boolean" if X[name].dtype == bool else "string" for name in factors})


FORMS = {"category": as_categories, "string": as_strings, "polars": lambda X, factors: pl.from_pandas(X)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["birthwt-backward-aic", "birthwt-both-pvalue", "quine-forward-bic"])
def test_factors_of_other_types(name, form):
    case, X, y, weights, parameters = r_cases.load_raw(R / "expected" / f"{name}.json")
    if form == "category":
        parameters.pop("categorical", None)
    selector = select(FORMS[form](X, case["factors"]), y, **parameters)
    r_cases.assert_outcome(case, weights, r_cases.outcome_in_r(selector.result_, X))


@pytest.mark.parametrize("criterion", ["aic", "bic", "pvalue"])
def test_declared_truth_values_are_coded_as_text_is(criterion):
    """By itself `smoke` is one column of that name; declared, its levels are named, and any may be the reference."""
    case, X, y, _, parameters = r_cases.load_raw(R / "expected" / f"birthwt-backward-{criterion}.json")
    parameters["categorical"] = parameters["categorical"] | {"smoke": False, "ptd": None, "ht": True}
    selector = select(X, y, **parameters)
    labels = {"smoke[T.True]", "ptd[T.True]", "ht[T.False]"}
    declared = {name for name in selector.result_.selected if name in ("smoke", "ptd", "ht")}
    found = selector.result_.tidy().set_index("term")["estimate"]
    assert {label for label in labels if label.split("[")[0] in declared} <= set(found.index)
    assert_allclose(found["ht[T.False]"], -case["coefficients"]["htTRUE"]["Estimate"], rtol=1e-8)
    assert_allclose(selector.trace_["log_likelihood"], [step["loglik"] for step in case["path"]], rtol=1e-9)


@pytest.mark.parametrize("dot", [True, False], ids=["dot", "terms"])
@pytest.mark.parametrize(("path", "mode"), RUNS, ids=RUN_NAMES)
def test_same_steps_as_r_by_formula(path, dot, mode):
    case, formula, data, parameters = r_cases.load_formula(path, dot=dot)
    result = by_formula(formula, data, candidates=mode, **parameters).result_
    weights = data[case["weights"]] if case["weights"] else None
    outcome = r_cases.outcome_in_r(result, data)
    r_cases.assert_outcome(case, weights, outcome, every_candidate=mode == "exact")


@pytest.mark.parametrize("path", r_cases.FACTOR_CASES, ids=r_cases.FACTOR_NAMES)
def test_both_faces_predict_alike(path):
    _, X, y, weights, parameters = r_cases.load_raw(path)
    selector = select(X, y, sample_weight=weights, **parameters)
    _, formula, data, parameters = r_cases.load_formula(path, dot=False)
    result = by_formula(formula, data, **parameters).result_
    fitted = np.asarray(selector.result_.model.predict())
    assert_allclose(selector.result_.predict(X), fitted, rtol=1e-9)
    assert_allclose(result.predict(data), fitted, rtol=1e-9)
    assert_allclose(result.predict(data.iloc[::-7]), fitted[::-7], rtol=1e-9)


def test_rows_with_missing_values_are_dropped_once():
    """R's `na.omit` over the response and all candidates: 111 of the 153 airquality days."""
    path = R / "expected" / "airquality-backward-aic-missing.json"
    case, _, _, _, parameters = r_cases.load_raw(path)
    data = pd.read_csv(R / "data" / "airquality.csv")
    selector = select(data[case["terms"]], data[case["target"]], missing="drop", **parameters)
    r_cases.assert_outcome(case, None, Outcome.of_selector(selector))
    assert (selector.result_.n_obs, selector.result_.n_dropped) == (111, 42)
    result = by_formula("Ozone ~ .", data, missing="drop", **parameters).result_
    assert (result.n_obs, result.n_dropped) == (111, 42)
