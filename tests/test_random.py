"""Random problems against the oracle (naive.py), and properties that hold whatever the data are."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import Outcome, path_of, select
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from naive import naive_select
from problems import KINDS, autoregressive, correlated, problem, response

SEEDS = range(1000)
compared = {}  # seed -> the path that the selector and the oracle agree on


def close(found, expected, rtol, atol=0.0, what=""):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    np.testing.assert_allclose(found, expected, rtol, atol, err_msg=what)


def compare(seed):
    """The whole trace, every candidate at every step and the final coefficients equal the oracle's."""
    drawn = problem(seed)
    oracle = naive_select(drawn.X, drawn.y, weights=drawn.weights, **drawn.parameters)
    expected = Outcome.of_naive(oracle)
    selector = select(drawn.X, drawn.y, sample_weight=drawn.weights, **drawn.parameters)
    found = Outcome.of_selector(selector)
    # what is left of the digits: a column that keeps the share t of its variance loses a factor 1 / t
    worst = expected.candidates["tolerance"].min() if len(expected.candidates) else 1.0
    rtol = 1e-8 if worst > 1e-4 and drawn.kind != "offset" else 1e-6
    assert found.path == expected.path
    compare_trace(found.trace, expected.trace, rtol, drawn.parameters["criterion"])
    compare_candidates(found, expected, rtol, drawn.parameters)
    assert found.selected == expected.selected
    assert sorted(found.coefficients.index) == sorted(expected.coefficients.index)
    coefficients = found.coefficients.loc[expected.coefficients.index]
    unit = expected.coefficients["std_error"].to_numpy()
    close(coefficients["estimate"] / unit, expected.coefficients["estimate"] / unit, rtol, rtol, "estimate")
    close(coefficients["std_error"] / unit, np.ones(len(unit)), rtol, 0, "std_error")
    compare_collinearity(selector, oracle, drawn.parameters.get("groups", {}))
    compared[seed] = found.path


def compare_trace(found, expected, rtol, criterion):
    for column in ("log_likelihood", "aic", "bic", "r2", "adj_r2"):
        close(found[column], expected[column], rtol, rtol, column)
    close(found["deviance"], expected["deviance"], rtol, 0, "deviance")
    if criterion != "pvalue":
        close(found["criterion"], expected["criterion"], rtol, rtol, "criterion")
    assert list(found["n_params"]) == list(expected["n_params"])
    assert list(found["n_terms"]) == [len(terms) for terms in expected["terms"]]
    moves, known = found.iloc[1:], expected.iloc[1:]
    assert list(moves["df"]) == list(known["df"])
    close(moves["statistic"], known["statistic"], 10 * rtol, 1e-9, "statistic")
    close(moves["p_value"], known["p_value"], 100 * rtol, 0, "p_value")


def compare_collinearity(selector, oracle, groups):
    """VIF = 1 / tolerance; a group's generalised VIF is a determinant, not one column's tolerance."""
    table = selector.collinearity_.set_index("term")
    assert list(table.index) == oracle.selected
    single = [term for term in oracle.selected if term not in groups]
    tolerances = [oracle.tolerances[term] for term in single]
    close(table.loc[single, "tolerance"], tolerances, 1e-6, 1e-15, "tolerance of the selected")
    close(1 / table.loc[single, "vif"], tolerances, 1e-6, 1e-15, "VIF of the selected")


def compare_candidates(found, expected, rtol, parameters):
    rows = found.candidates
    if "max_terms" in parameters:  # once there is no room left, additions are shown but not legal
        full = found.trace["n_terms"].iloc[rows["step"] - 1].to_numpy() >= parameters["max_terms"]
        rows = rows[~(full & (rows["move"] == "add").to_numpy())]
    key = ["step", "move", "term"]
    if expected.candidates.empty:
        assert rows.empty
        return
    known = expected.candidates.set_index(key)
    rows = rows.set_index(key)
    assert sorted(rows.index) == sorted(known.index)
    rows = rows.loc[known.index]
    assert list(rows["df"]) == list(known["df"])
    close(rows["statistic"], known["statistic"], 10 * rtol, 1e-9, "statistic")
    close(rows["p_value"], known["p_value"], 100 * rtol, 0, "p_value")
    if parameters["criterion"] != "pvalue":
        close(rows["criterion"], known["criterion"], rtol, rtol, "criterion")
    single = (rows["df"] == 1).to_numpy()
    close(rows["tolerance"][single], known["tolerance"][single], 1e-6, 1e-15, "tolerance")


@pytest.mark.parametrize("seed", SEEDS)
def test_selector_equals_oracle(seed):
    compare(seed)


def test_at_least_300_problems_were_compared():
    """Counts what was compared (a partial run is made up for), and that it was worth comparing."""
    for seed in SEEDS:
        if seed not in compared:
            compare(seed)
    assert len(compared) >= 300
    assert {problem(seed).kind for seed in compared} == set(KINDS)
    actions = Counter(action for path in compared.values() for action, _ in path)
    assert actions["add"] > 300
    assert actions["remove"] > 300
    assert sum({"add", "remove"} <= {action for action, _ in path} for path in compared.values()) >= 5


# Properties

SETTINGS = st.fixed_dictionaries(
    {
        "direction": st.sampled_from(["forward", "backward", "both"]),
        "criterion": st.sampled_from(["aic", "aicc", "bic", "hqic", "adj_r2", "cp", "pvalue"]),
    }
)


@st.composite
def datasets(draw):
    """A regression with continuous, more or less correlated candidates: (rng, X, y)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p = draw(st.integers(2, 7))
    n = draw(st.integers(p + 7, 45))
    A = correlated(rng, n, p, autoregressive(p, draw(st.sampled_from([0.0, 0.5, 0.9, 0.99]))))
    return rng, pd.DataFrame(A, columns=[f"v{i}" for i in range(p)]), pd.Series(response(rng, A), name="y")


quick = hypothesis_settings(max_examples=60, deadline=None, derandomize=True)


def assert_same_steps(found, expected, rtol=1e-7):
    """Same path with the same tests and log-likelihood differences."""
    assert path_of(found) == path_of(expected)
    close(found.trace_["statistic"].iloc[1:], expected.trace_["statistic"].iloc[1:], rtol, 1e-9)
    close(found.trace_["p_value"].iloc[1:], expected.trace_["p_value"].iloc[1:], 100 * rtol)
    close(np.diff(found.trace_["log_likelihood"]), np.diff(expected.trace_["log_likelihood"]), rtol, 1e-9)


@quick
@given(datasets(), SETTINGS)
def test_column_order_does_not_matter(data, parameters):
    rng, X, y = data
    shuffled = X[list(rng.permutation(X.columns))]
    assert_same_steps(select(shuffled, y, **parameters), select(X, y, **parameters))


@quick
@given(datasets(), SETTINGS)
def test_row_order_and_index_do_not_matter(data, parameters):
    rng, X, y = data
    order = rng.permutation(len(X))
    assert_same_steps(select(X.iloc[order], y.iloc[order], **parameters), select(X, y, **parameters))
    relabelled = y.set_axis(y.index[::-1])  # rows pair by position, not by label
    assert_same_steps(select(X, relabelled, **parameters), select(X, y, **parameters), rtol=1e-12)


@quick
@given(datasets(), SETTINGS)
def test_units_and_offsets_do_not_matter(data, parameters):
    rng, X, y = data
    p = X.shape[1]
    scaled = X * (rng.choice([-1, 1], p) * 10.0 ** rng.uniform(-12, 12, p))
    expected = select(X, y, **parameters)
    assert_same_steps(select(scaled, -1e9 * y, **parameters), expected)
    # 2**20 is a clean offset: what is rounded off the columns is 1e-10 of their spread
    assert_same_steps(select(X + 2.0**20, y - 2.0**20, **parameters), expected, rtol=1e-5)


@quick
@given(datasets(), SETTINGS)
def test_frequency_weights_are_repeated_rows(data, parameters):
    rng, X, y = data
    weights = rng.integers(0, 4, len(X))
    weights[: X.shape[1] + 5] += 1
    repeated = np.repeat(np.arange(len(X)), weights)
    weighted = select(X, y, sample_weight=weights, weight_type="frequency", **parameters)
    plain = select(X.iloc[repeated], y.iloc[repeated], **parameters)
    assert_same_steps(weighted, plain)
    close(weighted.trace_["log_likelihood"], plain.trace_["log_likelihood"], 1e-9)
    assert weighted.result_.n_obs == weights.sum()
    tables = [selector.result_.tidy() for selector in (weighted, plain)]
    for column in ("estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"):
        close(tables[0][column], tables[1][column], 1e-6, 1e-10, column)


@quick
@given(datasets(), SETTINGS, st.sampled_from(["frequency", "analytic"]))
def test_rows_of_weight_zero_are_not_there(data, parameters, weight_type):
    rng, X, y = data
    weights = rng.choice([0.0, 1.0, 2.0, 5.0], len(X))
    weights[: X.shape[1] + 5] = 1.0
    there = weights > 0
    spoiled = X.where(pd.Series(there), 1e3)  # whatever those rows hold
    found = select(spoiled, y, sample_weight=weights, weight_type=weight_type, **parameters)
    kept = {"sample_weight": weights[there], "weight_type": weight_type}
    expected = select(X[there], y[there], **kept, **parameters)
    assert_same_steps(found, expected)
    assert found.result_.n_obs == expected.result_.n_obs


@quick
@given(datasets(), st.floats(1e-6, 1e6))
def test_scale_of_analytic_weights_does_not_matter(data, factor):
    rng, X, y = data
    weights = rng.gamma(2.0, 1.0, len(X))
    parameters = {"weight_type": "analytic", "criterion": "pvalue"}
    found = select(X, y, sample_weight=factor * weights, **parameters)
    assert_same_steps(found, select(X, y, sample_weight=weights, **parameters))


@quick
@given(datasets(), st.sampled_from(["aic", "bic", "adj_r2", "pvalue"]))
def test_forward_never_raises_the_residual_sum_of_squares(data, criterion):
    _, X, y = data
    selector = select(X, y, direction="forward", criterion=criterion, alpha_enter=0.5)
    trace = selector.trace_
    assert (np.diff(trace["deviance"]) < 0).all()
    assert set(trace["action"].iloc[1:]) <= {"add"}
    close(trace["deviance"].iloc[0], np.sum((y - y.mean()) ** 2), 1e-12)


@quick
@given(datasets(), SETTINGS)
def test_nothing_of_the_callers_is_changed(data, parameters):
    rng, X, y = data
    weights, keep = rng.gamma(2.0, 1.0, len(X)), [X.columns[0]]
    before = (X.copy(deep=True), y.copy(deep=True), weights.copy(), list(keep))
    selector = select(X, y, sample_weight=weights, weight_type="analytic", keep=keep, **parameters)
    selector.transform(X)
    selector.result_.tidy()
    pd.testing.assert_frame_equal(X, before[0])
    pd.testing.assert_series_equal(y, before[1])
    np.testing.assert_array_equal(weights, before[2])
    assert keep == before[3]
    assert selector.keep is keep


@quick
@given(datasets(), SETTINGS)
def test_arrays_pandas_and_polars_agree(data, parameters):
    _, X, y = data
    pandas = select(X, y, **parameters)
    polars = select(pl.from_pandas(X), pl.from_pandas(y), **parameters)
    array = select(X.to_numpy(), y.to_numpy(), **parameters)
    fortran = select(np.asfortranarray(X.to_numpy()), list(y), **parameters)
    assert_same_steps(polars, pandas, rtol=1e-12)
    assert_same_steps(fortran, array, rtol=1e-9)
    renamed = [(action, term.replace("v", "x")) for action, term in path_of(pandas)]
    assert path_of(array) == renamed
    assert list(array.get_support()) == list(pandas.get_support()) == list(polars.get_support())
    assert list(polars.get_feature_names_out()) == list(pandas.result_.selected)
