"""The scikit-learn face: contract, pipelines, inputs and outputs, parameters, messages."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
import statsmodels.api as sm
from scipy import stats
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from stepsel import (
    CollinearityError,
    CollinearityWarning,
    ConstantColumnWarning,
    MissingRowsWarning,
    PerfectFitWarning,
    SaturationWarning,
    StepwiseSelector,
    survival_response,
    vif,
)


@pytest.fixture
def frame():
    rng = np.random.default_rng(11)
    X = pd.DataFrame(rng.standard_normal((80, 5)), columns=list("abcde"))
    return X, pd.Series(X["d"] * 2 - X["b"] + rng.standard_normal(80), name="target")


@pytest.mark.parametrize(
    "parameters", [{}, {"criterion": "pvalue"}, {"missing": "drop"}, {"direction": "forward", "criterion": "bic"}]
)
def test_check_estimator_has_no_failures(parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(StepwiseSelector(**parameters), on_fail=None, on_skip=None)
    failed = [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")]
    assert not failed
    assert sum(r["status"] == "passed" for r in results) >= 40


def test_pipeline_grid_search_and_column_transformer(frame):
    X, y = frame
    pipeline = make_pipeline(StandardScaler(), StepwiseSelector(criterion="pvalue"), LinearRegression())
    search = GridSearchCV(pipeline, {"stepwiseselector__alpha_enter": [0.01, 0.05]}, cv=3).fit(X, y)
    support = search.best_estimator_["stepwiseselector"].get_support()
    assert support[1]
    assert support[3]
    columns = ColumnTransformer([("chosen", StepwiseSelector(criterion="bic"), list("abd"))], remainder="drop")
    assert columns.fit(X, y).get_feature_names_out().tolist() == ["chosen__b", "chosen__d"]


def test_clone_and_pickle(frame):
    X, y = frame
    selector = StepwiseSelector(criterion="bic", keep=["a"], groups={"pair": ["b", "c"]})
    assert clone(selector).get_params() == selector.get_params()
    fitted = selector.fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    pd.testing.assert_frame_equal(again.trace_, fitted.trace_)
    pd.testing.assert_frame_equal(again.candidates_, fitted.candidates_)
    pd.testing.assert_frame_equal(again.collinearity_, fitted.collinearity_)
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    np.testing.assert_allclose(again.result_.model.params, fitted.result_.model.params)
    np.testing.assert_allclose(again.result_.predict(X), fitted.result_.predict(X))


def test_a_pickle_does_not_carry_the_whole_input():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 60))
    fitted = StepwiseSelector(criterion="bic", direction="forward").fit(X, X[:, 0] + 0.1 * rng.standard_normal(3000))
    assert len(pickle.dumps(fitted)) < X.nbytes / 4


def test_set_output(frame):
    X, y = frame
    selector = StepwiseSelector(criterion="bic").fit(X, y)
    assert list(selector.set_output(transform="pandas").transform(X)) == ["b", "d"]
    as_polars = selector.set_output(transform="polars").transform(X)
    assert isinstance(as_polars, pl.DataFrame)
    assert as_polars.columns == ["b", "d"]
    from_polars = StepwiseSelector(criterion="bic").fit(pl.from_pandas(X), pl.Series("target", y.to_numpy()))
    assert from_polars.get_feature_names_out().tolist() == ["b", "d"]
    assert from_polars.transform(pl.from_pandas(X)).shape == (80, 2)


def test_metadata_routing_of_sample_weight(frame):
    X, y = frame
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StepwiseSelector(criterion="pvalue").set_fit_request(sample_weight=True),
            LinearRegression().set_fit_request(sample_weight=True),
        ).fit(X, y, sample_weight=weights)
    direct = StepwiseSelector(criterion="pvalue").fit(X, y, sample_weight=weights)
    routed = pipeline["stepwiseselector"]
    assert routed.result_.n_obs == weights.sum()
    pd.testing.assert_frame_equal(routed.trace_, direct.trace_)


def test_sparse_input_is_refused_in_one_sentence(frame):
    X, y = frame
    with pytest.raises(TypeError, match="parse"):
        StepwiseSelector().fit(sp.csr_matrix(X.to_numpy()), y)


def test_before_fit(frame):
    selector = StepwiseSelector()
    for attribute in ("trace_", "candidates_", "collinearity_", "coef_", "intercept_"):
        assert not hasattr(selector, attribute)
    with pytest.raises(NotFittedError):
        selector.transform(frame[0])


def test_coefficients_equal_linear_regression(frame):
    X, y = frame
    selector = StepwiseSelector(criterion="bic").fit(X, y)
    reference = LinearRegression().fit(X[["b", "d"]], y)
    np.testing.assert_allclose(selector.coef_, reference.coef_, rtol=1e-10)
    assert selector.intercept_ == pytest.approx(reference.intercept_, rel=1e-9)
    np.testing.assert_allclose(selector.result_.predict(X), reference.predict(X[["b", "d"]]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(selector.result_.predict(X.to_numpy()), selector.result_.predict(X))
    np.testing.assert_allclose(selector.result_.predict(X[["d", "b"]]), selector.result_.predict(X))


def test_changing_the_data_afterwards_is_noticed(frame):
    X, y = frame
    array = X.to_numpy().copy()
    selector = StepwiseSelector(criterion="bic").fit(array, y)
    array += 10
    with pytest.raises(RuntimeError, match="changed"):
        _ = selector.coef_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"direction": "sideways"}, "direction is 'sideways'"),
        ({"criterion": "p"}, "criterion is 'p'"),
        ({"family": object()}, "family is <object"),
        ({"family": "normal"}, "family is 'normal'"),
        ({"alpha_enter": 1.5}, "alpha_enter is 1.5"),
        ({"alpha_remove": "0.1"}, "alpha_remove is '0.1'"),
        ({"criterion": "pvalue", "alpha_enter": 0.2, "alpha_remove": 0.1}, "alpha_enter=0.2 is larger"),
        ({"test_enter": "wald"}, "test_enter is 'wald'"),
        ({"test_remove": "lr"}, "test_remove is 'lr'"),
        ({"start": "middle"}, "start: there is no column or group 'middle'"),
        ({"start": ["z"]}, "start: there is no column or group 'z'"),
        ({"keep": ["aa"]}, "keep: there is no column or group 'aa'"),
        ({"groups": {"g": ["a", "zz"]}}, "groups: there is no column or group 'zz'"),
        ({"groups": {"g": ["a"], "h": ["a", "b"]}}, "column 'a' is in both"),
        ({"groups": {"c": ["a", "b"]}}, "'c' is also a column"),
        ({"groups": {"g": []}}, "has no columns"),
        ({"groups": [["a", "b"]]}, "groups is"),
        ({"max_terms": -1}, "max_terms is -1"),
        ({"max_terms": 1, "keep": ["a", "b"]}, "keep lists 2 terms"),
        ({"max_steps": 2.5}, "max_steps is 2.5"),
        ({"fit_intercept": "yes"}, "fit_intercept is 'yes'"),
        ({"missing": "ignore"}, "missing is 'ignore'"),
        ({"candidates": "leading"}, "candidates is 'leading'"),
        ({"collinearity": "no"}, "collinearity is 'no'"),
        ({"vif_threshold": 0.5}, "vif_threshold is 0.5"),
        ({"tolerance": -1}, "tolerance is -1"),
        ({"weight_type": "probability"}, "weight_type is 'probability'"),
        ({"categorical": ["region"]}, "categorical: there is no column or group 'region'"),
        ({"categorical": {"a": 17}}, "column 'a' has .* levels"),
        ({"hierarchy": "wek"}, "hierarchy is 'wek'"),
        ({"event": "yes"}, "event is 'yes'"),
        ({"verbose": -1}, "verbose is -1"),
    ],
)
def test_bad_parameters_get_one_sentence(frame, parameters, message):
    with pytest.raises(ValueError, match=message) as error:
        StepwiseSelector(**parameters).fit(*frame)
    assert "\n" not in str(error.value)


def test_offset_is_refused(frame):
    with pytest.raises(ValueError, match="offset"):
        StepwiseSelector().fit(*frame, offset=np.zeros(80))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["1.5"] * 80, "column 'a' holds '1.5' at row 0"),
        (pd.date_range("2020-01-01", periods=80), "column 'a' holds dates"),
        (pd.Categorical(pd.date_range("2020-01-01", periods=80)), "column 'a' holds dates"),
        ([f"customer {i}" for i in range(80)], "column 'a' has 80 levels in 80 rows .*identifier"),
        ([1.0] * 40 + ["about 90"] + [2.0] * 39, "column 'a' holds 'about 90' at row 40"),
        ([1 + 2j] * 80, "Complex data not supported"),
    ],
)
def test_a_column_that_is_no_number_is_named(frame, column, message):
    X, y = frame
    with pytest.raises(ValueError, match=message):
        StepwiseSelector().fit(X.assign(a=column), y)


def test_duplicate_labels_are_refused(frame):
    X, y = frame
    with pytest.raises(ValueError, match="'a'"):
        StepwiseSelector().fit(X.set_axis(list("aacde"), axis=1), y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(79), "shape \\(79,\\)"),
        (np.r_[-1.0, np.ones(79)], "-1.0 at row 0"),
        (np.r_[np.nan, np.ones(79)], "nan at row 0"),
        (np.zeros(80), "zero in every row"),
        (np.full(80, 1 / 80), 'weight_type="analytic"'),
        (["heavy"] * 80, "'heavy' at row 0"),
    ],
)
def test_bad_weights(frame, weights, message):
    with pytest.raises(ValueError, match=message):
        StepwiseSelector().fit(*frame, sample_weight=weights)


def test_missing_rows_are_dropped_once_and_counted(frame):
    X, y = frame
    X, y = X.copy(), y.copy()
    X.loc[3, "e"], X.loc[7, "a"], y[9] = np.nan, np.nan, np.nan
    with pytest.warns(MissingRowsWarning, match="3 of 80 rows"):
        selector = StepwiseSelector(criterion="bic", missing="drop").fit(X, y)
    complete = X.notna().all(axis=1) & y.notna()
    reference = StepwiseSelector(criterion="bic").fit(X[complete], y[complete])
    assert selector.result_.n_obs == 77
    assert selector.result_.n_dropped == 3
    np.testing.assert_allclose(selector.trace_["aic"], reference.trace_["aic"], rtol=1e-12)


def test_warnings_are_classes(frame):
    X, y = frame
    with pytest.warns(ConstantColumnWarning, match="one"):
        StepwiseSelector().fit(X.assign(one=1.0), y)
    with pytest.warns(CollinearityWarning, match=r"repeat.*twin \(with d\)"):
        StepwiseSelector().fit(X.assign(twin=X["d"] * 3 + 1), y)
    with pytest.warns(PerfectFitWarning):
        StepwiseSelector().fit(X, X["a"] * 2 + 1)
    with pytest.warns(PerfectFitWarning, match="does not vary"):
        assert not StepwiseSelector().fit(X, np.full(80, 7.0)).support_.any()
    with pytest.warns(SaturationWarning, match="residual degrees"):
        StepwiseSelector(criterion="pvalue", alpha_enter=1.0, alpha_remove=1.0).fit(X[:4], y[:4])


def test_collinearity_raise_and_ignore(frame):
    X, y = frame
    twin = X.assign(twin=X["d"] + 1)
    with pytest.raises(CollinearityError, match="twin"):
        StepwiseSelector(collinearity="raise").fit(twin, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        StepwiseSelector(collinearity="ignore").fit(twin, y)
        StepwiseSelector(collinearity="raise").fit(X, y)


def test_vif_equals_regression_on_the_others(frame):
    X, _ = frame
    X = X.assign(f=X["a"] + 0.1 * X["b"] + 0.2 * X["c"])
    table = vif(X.drop(columns="c")).set_index("term")
    for name in table.index:
        others = X.drop(columns=["c", name])
        r2 = LinearRegression().fit(others, X[name]).score(others, X[name])
        assert table.loc[name, "vif"] == pytest.approx(1 / (1 - r2), rel=1e-8)
    exact = vif(X.assign(one=1.0)).set_index("term")["vif"]
    assert np.isinf(exact[["a", "b", "c", "f"]]).all()
    assert np.isfinite(exact[["d", "e"]]).all()
    assert np.isnan(exact["one"])


def test_candidates_list_closed_terms_with_their_reason(frame):
    X, y = frame
    X = X.assign(one=1.0, twin=X["d"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = StepwiseSelector(criterion="bic", keep=["a"]).fit(X, y).candidates_
        backward = StepwiseSelector(direction="backward", criterion="bic").fit(X, y).candidates_
    for step, rows in table.groupby("step"):
        status = rows.set_index("term")["status"]
        assert set(status.index) == set(X)
        assert status["a"] == "kept"
        assert status["one"] == "constant"
        assert (status["twin"] == "aliased") == (step > 1)
    for _, rows in backward.groupby("step"):
        assert rows.set_index("term").loc["twin", "status"] == "aliased"


def test_summary_html_and_repr(frame):
    X, y = frame
    X = X.rename(columns={"d": "<script>alert(1)</script>"})
    result = StepwiseSelector(criterion="bic").fit(X, y).result_
    text = str(result.summary())
    assert "not adjusted for selection" in text
    assert "<script>" not in result._repr_html_()
    assert "&lt;script&gt;" in result._repr_html_()
    assert "StepwiseResult" in repr(result)
    assert "intercept only" in str(StepwiseSelector(criterion="pvalue", alpha_enter=1e-300).fit(X, y).result_.summary())


def test_verbose_prints_each_step(frame, capsys):
    StepwiseSelector(criterion="bic", verbose=1).fit(*frame)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "add d" in lines[1]


def test_nothing_is_mutated_and_positions_pair_rows(frame):
    X, y = frame
    before = X.copy(), y.copy()
    plain = StepwiseSelector(criterion="bic").fit(X, y)
    shuffled = StepwiseSelector(criterion="bic").fit(X, y.set_axis(range(80)[::-1]))
    pd.testing.assert_frame_equal(plain.trace_, shuffled.trace_)
    pd.testing.assert_frame_equal(X, before[0])
    pd.testing.assert_series_equal(y, before[1])


def test_import_loads_no_heavy_packages():
    code = (
        "import sys, stepsel; print([m for m in ('statsmodels', 'matplotlib', 'typer', 'polars') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


@pytest.mark.parametrize("family", ["binomial", sm.families.Binomial()], ids=["name", "object"])
def test_pipeline_and_grid_search_with_string_labels(family):
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.standard_normal((160, 6)), columns=list("abcdef"))
    y = pd.Series(np.where(X["b"] - 1.5 * X["e"] + rng.logistic(size=160) > 0, "yes", "no"), name="bought")
    selector = StepwiseSelector(family=family, criterion="pvalue")
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), selector, LogisticRegression())
    grid = {
        "stepwiseselector__alpha_enter": [0.001, 0.05],
        "stepwiseselector__test_enter": ["lr", "score"],
        "stepwiseselector__candidates": ["exact", "leading"],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise", scoring="roc_auc").fit(X, y)
    best = search.best_estimator_["stepwiseselector"]
    assert {"b", "e"} <= set(best.get_feature_names_out())
    assert list(best.get_feature_names_out()) == best.result_.selected
    assert set(search.predict(X)) <= {"yes", "no"}
    np.testing.assert_array_equal(best.get_support(), clone(best).fit(X, y == "yes").get_support())
    assert clone(best).get_params()["candidates"] == best.candidates


@pytest.mark.parametrize("family", ["binomial", "poisson", "gamma", "negative_binomial", "cox"])
def test_final_model_is_that_of_statsmodels(family):
    """`result_.model` is statsmodels' result for the selected columns; AIC, BIC and coefficients are its own."""
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.standard_normal((150, 4)), columns=list("abcd"))
    mean = np.exp(0.4 + 0.5 * X["a"] - 0.6 * X["c"]).to_numpy()
    time = rng.exponential(1 / mean)
    y = {
        "binomial": (rng.exponential(1, 150) < mean).astype(int),
        "poisson": rng.poisson(mean),
        "gamma": rng.gamma(2, mean / 2),
        "negative_binomial": rng.poisson(mean * rng.gamma(1.0, 1.0, 150)),
        "cox": survival_response(time < 2, np.minimum(time, 2)),
    }[family]
    selector = StepwiseSelector(family=family, criterion="bic").fit(X, y)
    assert {"a", "c"} <= set(selector.result_.selected)
    model, last = selector.result_.model, selector.trace_.iloc[-1]
    results = {"negative_binomial": sm.NegativeBinomial, "cox": sm.PHReg}.get(family, sm.GLM)
    assert isinstance(getattr(model, "_results", model).model, results)
    np.testing.assert_allclose(last["log_likelihood"], model.llf, rtol=1e-9)
    estimates = selector.result_.tidy().set_index("term").loc[selector.result_.selected]
    np.testing.assert_allclose(estimates["estimate"], selector.coef_, rtol=1e-12)
    start = 0 if family == "cox" else 1
    k = len(selector.coef_)
    np.testing.assert_allclose(selector.coef_, np.asarray(model.params)[start : start + k], rtol=1e-8)
    np.testing.assert_allclose(estimates["std_error"], np.asarray(model.bse)[start : start + k], rtol=1e-3)
    if family != "cox":
        np.testing.assert_allclose(last["aic"], model.aic, rtol=1e-9)
    else:
        np.testing.assert_allclose(last["bic"], -2 * model.llf + np.log(np.sum(time < 2)) * k, rtol=1e-9)
        assert selector.intercept_ == 0
    selector.result_.summary()


def test_proportions_with_numbers_of_trials():
    """As R: glm(cbind(events, trials - events) ~ ...), whose log-likelihood has the binomial coefficients."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame(rng.standard_normal((40, 3)), columns=list("abc"))
    trials = rng.integers(2, 20, 40)
    events = rng.binomial(trials, 1 / (1 + np.exp(-X["a"])))
    selector = StepwiseSelector(family="binomial").fit(X, events / trials, sample_weight=trials)
    fit = sm.GLM(
        np.column_stack([events, trials - events]),
        sm.add_constant(X[selector.result_.selected]),
        sm.families.Binomial(),
    ).fit(tol=1e-14)
    last = selector.trace_.iloc[-1]
    np.testing.assert_allclose(last["log_likelihood"], fit.llf, rtol=1e-10)
    probability = fit.predict()
    np.testing.assert_allclose(fit.llf, stats.binom.logpmf(events, trials, probability).sum(), rtol=1e-10)
    np.testing.assert_allclose(last["bic"], -2 * fit.llf + np.log(40) * len(fit.params), rtol=1e-10)
    assert selector.result_.n_obs == 40


def test_offset_is_a_term_with_coefficient_one():
    """Counts by exposure: an offset log(t) makes the rate the same as that of a model with log(t) fixed at 1."""
    rng = np.random.default_rng(8)
    X = pd.DataFrame(rng.standard_normal((100, 3)), columns=list("abc"))
    exposure = rng.uniform(0.2, 9, 100)
    y = rng.poisson(exposure * np.exp(0.3 + 0.6 * X["b"]))
    selector = StepwiseSelector(family="poisson").fit(X, y, offset=np.log(exposure))
    design = sm.add_constant(X[selector.result_.selected])
    fit = sm.GLM(y, design, sm.families.Poisson(), exposure=exposure).fit(tol=1e-14)
    np.testing.assert_allclose(selector.trace_["log_likelihood"].iloc[-1], fit.llf, rtol=1e-10)
    np.testing.assert_allclose([selector.intercept_, *selector.coef_], fit.params, rtol=1e-7)


def test_thresholds_may_cross_only_where_the_tests_differ():
    rng = np.random.default_rng(9)
    X = pd.DataFrame(rng.standard_normal((60, 3)), columns=list("abc"))
    y = rng.integers(0, 2, 60)
    crossed = {"family": "binomial", "criterion": "pvalue", "alpha_enter": 0.3, "alpha_remove": 0.1}
    StepwiseSelector(**crossed, test_enter="score", test_remove="wald").fit(X, y)
    for tests in ({}, {"test_enter": "lr"}, {"test_enter": "score", "test_remove": "score"}):
        with pytest.raises(ValueError, match="alpha_enter"):
            StepwiseSelector(**crossed, **tests).fit(X, y)


def test_damped_newton_stands_where_phreg_overshoots():
    """A skewed covariate on which statsmodels' undamped Newton ends in NaN; the final model starts at our optimum."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"dose": np.exp(2.5 * rng.standard_normal(80)), "age": rng.standard_normal(80)})
    time = rng.exponential(np.exp(-0.3 * np.log(X["dose"])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        undamped = sm.PHReg(time, X, status=np.ones(80)).fit()
        selector = StepwiseSelector(family="cox", direction="backward", criterion="pvalue", alpha_remove=1.0)
        selector.fit(X, survival_response(np.ones(80, bool), time))
    assert selector.result_.selected == ["dose", "age"]
    assert np.isfinite(selector.coef_).all()
    assert np.isfinite(selector.result_.model.llf)
    np.testing.assert_allclose(selector.result_.model.llf, selector.trace_["log_likelihood"].iloc[-1], rtol=1e-9)
    assert np.isnan(undamped.llf)
