"""Every selection of reference/r (made by oracle.R with R 4.2.2): step for step as R."""

from collections import Counter

import pandas as pd
import pytest
import r_cases
from helpers import Outcome, R, select
from numpy.testing import assert_allclose


def test_no_case_is_missing():
    assert len(r_cases.CASES) == 43
    assert Counter(case["family"] for case in r_cases.ALL.values()) == {
        "gaussian": 43, "binomial": 18, "poisson": 9, "cox": 9
    }  # fmt: skip


@pytest.mark.parametrize("path", r_cases.CASES, ids=r_cases.NAMES)
def test_same_steps_as_r(path):
    case, X, y, weights, parameters = r_cases.load(path)
    selector = select(X, y, sample_weight=weights, **parameters)
    r_cases.assert_outcome(case, weights, Outcome.of_selector(selector))
    assert selector.result_.n_obs == case["n"]


@pytest.mark.parametrize("mode", ["exact", "leading"])
@pytest.mark.parametrize("path", r_cases.FAMILY_CASES, ids=r_cases.FAMILY_NAMES)
def test_same_steps_as_r_in_other_families(path, mode):
    """Logistic, Poisson and Cox regression; factors as groups of indicators."""
    case, X, y, weights, parameters = r_cases.load(path)
    selector = select(X, y, sample_weight=weights, candidates=mode, **parameters)
    outcome = Outcome.of_selector(selector)
    if mode == "exact":
        r_cases.assert_outcome(case, weights, outcome)
    else:
        assert outcome.path == [(step["action"], step["term"]) for step in case["path"][1:]]
        assert_allclose(outcome.trace["log_likelihood"], [step["loglik"] for step in case["path"]], rtol=1e-9)
    if case["family"] != "cox":
        assert selector.result_.n_obs == case["n"]


def test_rows_with_missing_values_are_dropped_once():
    """R's `na.omit` over the response and all candidates: 111 of the 153 airquality days."""
    path = R / "expected" / "airquality-backward-aic-missing.json"
    case, _, _, _, parameters = r_cases.load(path)
    data = pd.read_csv(R / "data" / "airquality.csv")
    selector = select(data[case["terms"]], data[case["target"]], missing="drop", **parameters)
    r_cases.assert_outcome(case, None, Outcome.of_selector(selector))
    assert (selector.result_.n_obs, selector.result_.n_dropped) == (111, 42)
