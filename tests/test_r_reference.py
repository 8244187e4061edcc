"""Every Gaussian selection of reference/r (made by oracle.R with R 4.2.2): step for step as R."""

import pandas as pd
import pytest
import r_cases
from helpers import Outcome, R, select


def test_no_case_is_missing():
    assert len(r_cases.CASES) == 43
    assert all(r_cases.load(path)[0]["family"] == "gaussian" for path in r_cases.CASES)


@pytest.mark.parametrize("path", r_cases.CASES, ids=r_cases.NAMES)
def test_same_steps_as_r(path):
    case, X, y, weights, parameters = r_cases.load(path)
    selector = select(X, y, sample_weight=weights, **parameters)
    r_cases.assert_outcome(case, weights, Outcome.of_selector(selector))
    assert selector.result_.n_obs == case["n"]


def test_rows_with_missing_values_are_dropped_once():
    """R's `na.omit` over the response and all candidates: 111 of the 153 airquality days."""
    path = R / "expected" / "airquality-backward-aic-missing.json"
    case, _, _, _, parameters = r_cases.load(path)
    data = pd.read_csv(R / "data" / "airquality.csv")
    selector = select(data[case["terms"]], data[case["target"]], missing="drop", **parameters)
    r_cases.assert_outcome(case, None, Outcome.of_selector(selector))
    assert (selector.result_.n_obs, selector.result_.n_dropped) == (111, 42)
