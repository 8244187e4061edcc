"""Reading the worked examples of reference/published, and comparing at their printed precision."""

from decimal import Decimal

import numpy as np
import pandas as pd
from helpers import PUBLISHED, by_term, path_of, read_json

LOG_2PI = np.log(2 * np.pi)
ACTIONS = {"enter": "add", "remove": "remove"}


def reference(name):
    return read_json(PUBLISHED / f"{name}.json")


def data(name, response, candidates=None):
    table = pd.read_csv(PUBLISHED / "data" / f"{name}.csv")
    return table[candidates or [c for c in table.columns if c != response]], table[response]


def printed(found, number, units=0.5):
    """Equal at the precision of the printed number: half a unit of its last digit."""
    if number == "<.0001":
        assert found < 1e-4
        return
    unit = 10.0 ** Decimal(str(number)).as_tuple().exponent
    assert abs(found - number) <= (units + 1e-6) * unit, (found, number)


def printed_table(found, numbers, units=0.5):
    assert set(found) == set(numbers)
    for term, number in numbers.items():
        printed(found[term], number, units)


def estimates(selector):
    return selector.result_.tidy().set_index("term")


def printed_coefficients(selector, numbers):
    """{name: [estimate, standard error, ...]}, the intercept under the name "intercept"."""
    table = estimates(selector).rename(index={"(Intercept)": "intercept"})
    assert set(table.index) == set(numbers)
    for term, values in numbers.items():
        for value, column in zip(values, ["estimate", "std_error", "statistic", "p_value"], strict=False):
            printed(table.loc[term, column], value)


def changes(selector, step, move):
    """{term: criterion after the move minus criterion before it}."""
    before = selector.trace_["criterion"].iloc[step - 1]
    values = by_term(selector.candidates_, step, "criterion", move)
    return {term: value - before for term, value in values.items()}


def extract_aic(selector, values):
    """R's `extractAIC` scale."""
    return {term: value - selector.result_.n_obs * (1 + LOG_2PI) for term, value in values.items()}


def assert_steps_of_r(selector, verified):
    """A p-value selection that R computed to full precision: steps, candidates, final model, VIFs."""
    steps = verified["steps"]
    assert path_of(selector) == [(ACTIONS[step["action"]], step["variable"]) for step in steps[1:]]
    columns = {"deviance": "RSS", "r2": "R2", "adj_r2": "adjR2"}
    columns |= {"aic": "AIC_logLik_nosigma", "bic": "BIC_logLik_nosigma"}
    for found, step in zip(selector.trace_.itertuples(), steps, strict=True):
        for column, name in columns.items():
            np.testing.assert_allclose(getattr(found, column), step[name], rtol=1e-9, atol=1e-12)
        if step["step"] > 0:
            np.testing.assert_allclose([found.statistic, found.p_value], [step["F"], step["p"]], rtol=1e-6)
            assert found.df == step["df"]
            assert_candidates_of_r(selector, step["step"], found.action, step["candidates"])
    for term, row in verified["final_coefficients"].items():
        found = estimates(selector).loc[term, ["estimate", "std_error", "statistic", "p_value"]]
        np.testing.assert_allclose(
            list(found), [row["estimate"], row["se"], row["t"], row["p"]], rtol=1e-7, err_msg=term
        )
    if selector.direction != "backward":
        assert_candidates_of_r(selector, len(steps), "add", verified["excluded_candidates"])
    vif = selector.collinearity_.set_index("term")["vif"]
    for term, value in dict(verified["vif"] or {}).items():
        np.testing.assert_allclose(vif[term], value, rtol=1e-9)


def assert_candidates_of_r(selector, step, move, expected):
    for column, name in (("statistic", "F"), ("p_value", "p"), ("df", "df")):
        found = by_term(selector.candidates_, step, column, move)
        assert set(found) == set(expected)
        for term, row in expected.items():
            np.testing.assert_allclose(found[term], row[name], rtol=1e-6, err_msg=f"{column} of {term}")
