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
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
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
        ({"family": "binomial"}, "family='binomial' is not available"),
        ({"family": object()}, "family="),
        ({"family": "normal"}, "family is 'normal'"),
        ({"alpha_enter": 1.5}, "alpha_enter is 1.5"),
        ({"alpha_remove": "0.1"}, "alpha_remove is '0.1'"),
        ({"criterion": "pvalue", "alpha_enter": 0.2, "alpha_remove": 0.1}, "alpha_enter=0.2 is larger"),
        ({"test_enter": "wald"}, "test_enter is 'wald'"),
        ({"test_remove": "lr"}, "test_remove is 'lr'"),
        ({"start": "middle"}, "start is 'middle'"),
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
        ({"categorical": ["a"]}, "categorical=\\['a'\\] is not available"),
        ({"hierarchy": "weak"}, "hierarchy='weak' is not available"),
        ({"event": "yes"}, "event='yes' is not available"),
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
        (pd.Categorical([1, 2] * 40), "column 'a' is categorical"),
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
        (["heavy"] * 80, "not numbers"),
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
