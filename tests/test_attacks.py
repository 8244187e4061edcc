"""Faults that an attack on the package found, each as a test of its kind."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from threadpoolctl import threadpool_info

from stepsel import (
    DispersionWarning,
    EventCodingWarning,
    RowOrderWarning,
    SeparationWarning,
    StepwiseSelector,
    UnusedParameterWarning,
    WeightWarning,
    survival_response,
    vif,
)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    return pd.DataFrame(X, columns=list("abcde")), X[:, 0] * 2 + X[:, 2] + rng.standard_normal(60)


def quiet(**parameters):
    return StepwiseSelector(collinearity="ignore", **parameters)


@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize("tolerance", [0.02, 0.5])
def test_tolerance_of_the_user_is_honoured(direction, tolerance):
    rng = np.random.default_rng(1)
    a = rng.standard_normal(100)
    b = a + 0.1 * rng.standard_normal(100)
    y = a + 15 * (b - a) + rng.standard_normal(100)
    selector = quiet(direction=direction, tolerance=tolerance).fit(pd.DataFrame({"a": a, "b": b}), y)
    assert selector.support_.sum() == 1
    assert (selector.candidates_["status"] == "aliased").any()
    fit = sm.OLS(y, sm.add_constant(pd.DataFrame({"a": a, "b": b})[selector.get_feature_names_out()])).fit()
    assert selector.trace_["deviance"].iloc[-1] == pytest.approx(fit.ssr, rel=1e-9)


def test_tolerance_in_wide_data_makes_no_phantom_step():
    rng = np.random.default_rng(2)
    W = rng.standard_normal((30, 40))
    W[:, 1] = W[:, 0] + 0.1 * W[:, 1]
    y = W[:, 0] + 15 * (W[:, 1] - W[:, 0]) + 0.3 * rng.standard_normal(30)
    selector = quiet(direction="forward", criterion="bic", max_terms=4, tolerance=0.5).fit(W, y)
    assert (selector.trace_["n_params"].diff().iloc[1:] == 1).all()
    assert np.isfinite(selector.coef_).all()


@pytest.mark.parametrize("parameters", [{"start": "empty"}, {"start": []}, {"start": "empty", "criterion": "pvalue"}])
def test_backward_from_an_empty_start(table, parameters):
    assert not quiet(direction="backward", **parameters).fit(*table).support_.any()


@pytest.mark.parametrize("criterion", ["aic", "cp", "pvalue"])
@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.filterwarnings("ignore:constant")
def test_constant_candidates_only(table, criterion, direction):
    selector = quiet(direction=direction, criterion=criterion).fit(pd.DataFrame({"c": np.ones(60)}), table[1])
    assert not selector.support_.any()
    assert selector.intercept_ == pytest.approx(table[1].mean())


@pytest.mark.parametrize("shift", [0.0, 1e8, 1.7e9])
def test_frequency_model_of_a_column_with_a_large_offset(table, shift):
    X, y = table
    weights = np.random.default_rng(3).integers(1, 4, 60).astype(float)
    X = pd.DataFrame({"a": X["a"] + shift, "c": X["c"]})
    result = quiet(keep=["a", "c"]).fit(X, y, sample_weight=weights).result_
    rows = np.repeat(np.arange(60), weights.astype(int))
    reference = sm.OLS(y[rows], sm.add_constant((X - X.mean()).iloc[rows])).fit()
    np.testing.assert_allclose(result.model.params.iloc[1:], reference.params.iloc[1:], rtol=1e-6)
    np.testing.assert_allclose(result.model.bse.iloc[1:], reference.bse.iloc[1:], rtol=1e-6)
    assert result.model.llf == pytest.approx(reference.llf, rel=1e-6)


@pytest.mark.filterwarnings("ignore:perfect fit")
def test_model_of_a_perfect_fit_with_weights(table):
    X, y = table
    result = quiet().fit(X.assign(z=y), y, sample_weight=np.r_[np.ones(30), 2 * np.ones(30)]).result_
    assert result.model.params["z"] == pytest.approx(1.0)


@pytest.mark.parametrize("change", ["shuffle", "scale", "one value"])
@pytest.mark.parametrize("intercept", [True, False])
def test_data_changed_after_fit_are_noticed(table, change, intercept):
    X, y = table[0].to_numpy().copy(), table[1].copy()
    selector = quiet(fit_intercept=intercept, keep=["x0"]).fit(X, y)
    if change == "shuffle":
        np.random.default_rng(0).shuffle(X)
    elif change == "scale":
        X *= 2
    else:
        X[7, 0] += 1e-3
    with pytest.raises(RuntimeError, match="changed in place"):
        _ = selector.coef_


@pytest.mark.parametrize("as_series", [True, False])
def test_a_response_changed_after_fit_does_not_matter(table, as_series):
    X, y = table[0], pd.Series(table[1].copy()) if as_series else table[1].copy()
    selector, expected = quiet().fit(X, y), quiet().fit(X, y).coef_
    y[:] = 0
    np.testing.assert_array_equal(selector.coef_, expected)


def test_no_intercept_and_nothing_selected(table):
    result = quiet(fit_intercept=False, max_terms=0).fit(*table).result_
    assert result.model is None
    assert "intercept only" not in str(result.summary())
    assert result.tidy().empty


def test_concurrent_fits_leave_the_thread_limit_as_it_was(table):
    def limits():
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    before = limits()
    with ThreadPoolExecutor(4) as pool:
        supports = list(pool.map(lambda _: quiet().fit(*table).support_.tolist(), range(20)))
    assert limits() == before
    assert all(support == supports[0] for support in supports)


def test_positions_name_columns_only_without_groups(table):
    X, y = table[0].to_numpy(), table[1]
    with pytest.raises(ValueError, match="start: there is no column or group 2"):
        quiet(groups={"g": ["x1", "x2"]}, start=[2]).fit(X, y)
    with pytest.raises(ValueError, match="'x1' belongs to the group 'g'"):
        quiet(groups={"g": ["x1", "x2"]}, start=["x1"]).fit(X, y)
    with pytest.raises(ValueError, match="keep: 'x1' belongs to the group 'g'"):
        quiet(groups={"g": ["x1", "x2"]}, keep=["x1"]).fit(X, y)
    with pytest.raises(ValueError, match="no column or group True"):
        quiet(keep=[True, False, False, False, False]).fit(X, y)
    with pytest.raises(ValueError, match="is no name"):
        quiet(keep=[["x1"]]).fit(X, y)
    with pytest.raises(ValueError, match="listed twice"):
        quiet(groups={"g": ["x1", "x1"]}).fit(X, y)


@pytest.mark.parametrize(
    "weights", [["1"] * 60, pd.date_range("2020-01-01", periods=60), pd.Categorical([1, 2] * 30), [1 + 0j] * 60]
)
def test_weights_are_not_coerced(table, weights):
    with pytest.raises(ValueError, match="sample_weight"):
        quiet().fit(*table, sample_weight=weights)


def test_masked_values_are_missing(table):
    X, y = table
    masked = np.ma.array(y, mask=np.arange(60) == 3)
    masked.data[3] = 1e6
    with pytest.raises(ValueError, match="missing"):
        quiet().fit(X, masked)
    with pytest.raises(ValueError, match="missing"):
        quiet().fit(np.ma.array(X.to_numpy(), mask=np.eye(60, 5, dtype=bool)), y)


def test_rows_are_numbered_as_given_beside_zero_weights(table):
    X, y = table[0].copy(), table[1]
    X.loc[10, "b"] = np.nan
    weights = np.ones(60)
    weights[:5] = 0
    with pytest.raises(ValueError, match="at row 10"):
        quiet().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_out_of_range_units_get_one_sentence(table, factor):
    X, y = table
    with pytest.raises(ValueError, match="other units"):
        vif(X * factor)
    with pytest.raises(ValueError, match="other units"):
        quiet().fit(X * factor, y)
    with pytest.raises(ValueError, match="other units"):
        quiet().fit(X, y * factor)


def test_whole_numbers_beyond_double_precision(table):
    _, y = table
    near = np.arange(60) % 7 + 2**60
    with pytest.raises(ValueError, match="cannot tell apart"):
        quiet().fit(near[:, None], y)
    ticks = pd.date_range("2024-01-01", periods=60, freq="s").as_unit("ns").astype("int64").to_numpy()
    assert quiet().fit(ticks[:, None], np.arange(60.0) + 0.1 * y).support_.all()


def test_labels_that_cannot_name_a_column(table):
    X, y = table
    with pytest.raises(ValueError, match="'a' occurs more than once"):
        quiet().fit(X.set_axis(list("aacde"), axis=1), y)
    with pytest.raises(ValueError, match="label of column number 1"):
        quiet().fit(X.set_axis(["a", np.nan, "c", np.nan, "e"], axis=1), y)


def test_a_column_called_const_keeps_its_name(table):
    X, y = table
    model = quiet(keep=["const"]).fit(X.rename(columns={"a": "const"}), y).result_.model
    assert list(model.params.index)[:2] == ["(Intercept)", "const"]


def test_nearly_aliased_columns_have_the_same_tolerance_in_both_tables():
    rng = np.random.default_rng(5)
    a = rng.standard_normal(80)
    X = pd.DataFrame({"a": a, "b": a + 8e-8 * rng.standard_normal(80)})
    selector = quiet(keep=["a", "b"]).fit(X, a + rng.standard_normal(80))
    vif_of_b = selector.collinearity_.set_index("term").loc["b", "vif"]
    assert 1e13 < vif_of_b < 1e16


def test_max_terms_and_a_longer_start(table):
    with pytest.raises(ValueError, match="more than max_terms=1"):
        quiet(direction="forward", start=["a", "b", "c"], max_terms=1).fit(*table)


def test_other_tables_are_refused_by_name(table):
    arrow = pytest.importorskip("pyarrow").Table.from_pandas(table[0])
    with pytest.raises(ValueError, match="pyarrow table"):
        quiet().fit(arrow, table[1])
    with pytest.raises(ValueError, match="response 'y'"):
        quiet().fit(table[0], pl.Series("y", ["x"] * 60))


def test_warnings_about_the_call(table):
    X, y = table
    with pytest.warns(UnusedParameterWarning, match="alpha_enter"):
        quiet(alpha_enter=0.01).fit(X, y)
    with pytest.warns(WeightWarning, match="analytic"):
        quiet().fit(X, y, sample_weight=np.random.default_rng(0).random(60) + 0.5)
    with pytest.warns(RowOrderWarning):
        quiet().fit(X, pd.Series(y).sample(frac=1, random_state=0))


def test_no_runtime_warning_from_small_aicc_problems():
    rng = np.random.default_rng(6)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        for n in (4, 5, 6, 7):
            for p in (2, 3, 9):
                X = rng.standard_normal((n, p))
                quiet(direction="forward", criterion="aicc", groups={"g": ["x0", "x1"]}).fit(X, rng.standard_normal(n))


def test_aliased_names_its_true_partner(table):
    X, y = table
    with pytest.warns(UserWarning, match=r"a2 \(with a\)"):
        StepwiseSelector(start="full", criterion="bic").fit(
            X[["b", "a"]].assign(a2=2 * X["a"], c=X["c"]), X["c"] + 0.1 * y
        )


def test_pickle_of_every_family_round_trips():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((80, 3))
    for family, y in (("binomial", (X[:, 0] + rng.standard_normal(80) > 0)), ("poisson", rng.poisson(np.exp(X[:, 1])))):
        selector = quiet(family=family).fit(X, y)
        again = pickle.loads(pickle.dumps(selector))
        np.testing.assert_allclose(again.coef_, selector.coef_)
        np.testing.assert_allclose(again.result_.model.params, selector.result_.model.params)
        pd.testing.assert_frame_equal(again.trace_, selector.trace_)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("leak", [np.log, np.negative, np.reciprocal])
@pytest.mark.filterwarnings("ignore::stepsel.SeparationWarning")
def test_a_leaked_survival_time_ends_in_a_warning(ties, leak):
    rng = np.random.default_rng(8)
    X = pd.DataFrame(rng.standard_normal((80, 3)), columns=list("abc"))
    time = rng.exponential(np.exp(-X["a"]))
    X["leak"] = leak(time)
    with pytest.warns(SeparationWarning, match="leak"):
        selector = quiet(family="cox", ties=ties, criterion="bic").fit(X, survival_response(rng.random(80) < 0.8, time))
    assert "leak" in selector.result_.selected
    assert np.isfinite(selector.trace_[["log_likelihood", "bic"]].to_numpy()).all()
    assert np.isfinite(selector.coef_).all()


def test_gamma_has_one_likelihood_ratio():
    rng = np.random.default_rng(9)
    x = rng.standard_normal(80)
    result = quiet(family="gamma", keep=["x0"]).fit(x[:, None], rng.gamma(2.0, np.exp(0.3 * x))).result_
    forward = quiet(family="gamma", direction="forward").fit(x[:, None], rng.gamma(2.0, np.exp(0.5 * x))).result_
    assert forward.glance()["lr_statistic"][0] == pytest.approx(forward.trace["statistic"].iloc[1], rel=1e-9)
    assert result.glance()["lr_statistic"][0] > 0


def test_the_event_is_named_and_counted():
    rng = np.random.default_rng(10)
    X = rng.standard_normal((90, 2))
    y = np.where(X[:, 0] + rng.standard_normal(90) > 0, "case", "control")
    result = quiet(family="binomial").fit(X, y).result_
    assert result.event == "control"
    assert result.n_events == (y == "control").sum()
    assert "event 'control'" in str(result.summary())
    assert quiet(family="binomial", event="case").fit(X, y).result_.trace.attrs["event"] == "case"


def test_statuses_that_could_be_read_in_two_ways():
    with pytest.warns(EventCodingWarning):
        survival_response([1, 1, 1], [1.0, 2.0, 3.0])


def test_underdispersed_counts_are_told():
    rng = np.random.default_rng(11)
    with pytest.warns(DispersionWarning, match="poisson"):
        quiet(family="negative_binomial").fit(rng.standard_normal((80, 2)), rng.binomial(5, 0.6, 80))


def test_a_family_class_is_no_family():
    with pytest.raises(ValueError, match=r"Poisson\(\)"):
        quiet(family=sm.families.Poisson).fit(np.eye(4), [1, 2, 3, 4])


def test_two_labels_without_a_family_point_to_binomial():
    with pytest.raises(ValueError, match='family="binomial"'):
        quiet().fit(np.random.default_rng(0).standard_normal((20, 2)), ["yes", "no"] * 10)


def test_an_empty_cox_model_prints():
    rng = np.random.default_rng(12)
    y = survival_response(rng.random(50) < 0.7, rng.exponential(size=50))
    result = quiet(family="cox", criterion="pvalue", alpha_enter=1e-9).fit(rng.standard_normal((50, 2)), y).result_
    assert result.model is None
    assert "Empty" not in str(result.summary())


@pytest.mark.parametrize("shift", [1000.0, -1000.0])
@pytest.mark.parametrize("family", ["binomial", "poisson", "negative_binomial", "gamma"])
@pytest.mark.filterwarnings("ignore::stepsel.DispersionWarning")
def test_a_constant_offset_goes_into_the_intercept(family, shift):
    rng = np.random.default_rng(13)
    X = rng.standard_normal((150, 3))
    mean = np.exp(0.4 * X[:, 0])
    y = {"binomial": rng.random(150) < mean / 4, "gamma": rng.gamma(2, mean / 2)}.get(family, rng.poisson(mean))
    plain, moved = quiet(family=family).fit(X, y), quiet(family=family).fit(X, y, offset=np.full(150, shift))
    np.testing.assert_allclose(moved.trace_["log_likelihood"], plain.trace_["log_likelihood"], rtol=1e-10)
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-8)
    assert moved.intercept_ + shift == pytest.approx(plain.intercept_, abs=1e-8)
    assert moved.result_.model.llf == pytest.approx(plain.result_.model.llf, rel=1e-8)


@pytest.mark.filterwarnings("ignore::stepsel.DispersionWarning")
def test_model_of_underdispersed_and_of_huge_counts():
    rng = np.random.default_rng(14)
    X = rng.standard_normal((120, 2))
    for y in (rng.binomial(3, 0.5, 120), rng.negative_binomial(0.5, 1e-5, 120)):
        result = quiet(family="negative_binomial", keep=["x0"]).fit(X, y).result_
        assert result.model.llf == pytest.approx(result.final.log_likelihood, rel=1e-8)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", [(40, 30), (40, 100)])
@pytest.mark.filterwarnings("ignore::stepsel.StepselWarning")
def test_cox_with_nearly_as_many_columns_as_events_ends(shape, seed):
    rng = np.random.default_rng(seed)
    y = survival_response(rng.random(shape[0]) < 0.6, rng.exponential(size=shape[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        trace = quiet(family="cox").fit(rng.standard_normal(shape), y).trace_
    assert np.isfinite(trace["log_likelihood"]).all()
    assert (trace["aic"].diff().iloc[1:] < 0).all()


@pytest.mark.parametrize("family", [sm.families.Binomial(sm.families.links.Probit()), "binomial"])
@pytest.mark.filterwarnings("ignore::stepsel.MissingRowsWarning")
def test_a_class_lost_with_missing_rows_is_noticed(family):
    rng = np.random.default_rng(15)
    X, y = pd.DataFrame({"a": rng.standard_normal(40)}), np.arange(40) < 5
    X.loc[:4, "a"] = np.nan
    with pytest.raises(ValueError, match="one class only"):
        quiet(family=family, missing="drop").fit(X, y.astype(int))


def test_a_gamma_response_that_does_not_vary():
    with pytest.raises(ValueError, match="does not vary"):
        quiet(family="gamma").fit(np.random.default_rng(0).standard_normal((30, 2)), np.full(30, 2.5))


@pytest.mark.filterwarnings("ignore::stepsel.SeparationWarning")
def test_only_the_terms_that_separate_are_named():
    rng = np.random.default_rng(16)
    X = pd.DataFrame(rng.standard_normal((80, 3)), columns=list("abc"))
    y = (rng.random(80) < 0.5).astype(int)
    X["sep1"], X["sep2"] = y + 0.1 * rng.random(80), 3 * y + rng.random(80)
    with pytest.warns(SeparationWarning) as caught:
        quiet(family="binomial", direction="backward").fit(X, y)
    named = str(caught[0].message).split(";")[0]
    assert "sep1" in named
    assert "sep2" in named
    assert not any(f" {name}" in named.replace(",", " ").split("response:")[1].split() for name in "abc")
