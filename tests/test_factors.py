"""Categorical columns in StepwiseSelector: coded once, tested jointly, whole in and out."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import statsmodels.formula.api as smf
from helpers import select
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from stepsel import (
    CollinearityWarning,
    ConstantColumnWarning,
    MissingRowsWarning,
    StepwiseSelector,
    UnusedParameterWarning,
    vif,
)

ARROW_TEXT = pd.ArrowDtype(pa.string())
ARROW_CODES = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
REGIONS = ["north", "east", "south", "west"]


@pytest.fixture
def mixed():
    """Columns of every kind, and a response that depends on some of them."""
    r = np.random.default_rng(41)
    n = 150
    X = pd.DataFrame(
        {
            "age": r.normal(50, 10, n),
            "region": r.choice(REGIONS, n),
            "size": pd.Categorical(r.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True),
            "smoker": r.random(n) > 0.6,
            "code": r.choice([3, 1, 7], n),
            "noise": r.normal(size=n),
        }
    )
    y = 0.05 * X["age"] + 1.2 * (X["region"] == "south") - (X["size"] == "l") + 0.8 * X["smoker"] + r.normal(size=n)
    return X, pd.Series(y, name="y")


def drop_tests(X, y, names, family=None):
    """F (or likelihood-ratio) test of every term of a model, by two statsmodels fits each."""
    data = X.assign(y=np.asarray(y, float))

    def fit(terms):
        formula = "y ~ " + (" + ".join(terms) or "1")
        return smf.ols(formula, data).fit() if family is None else smf.glm(formula, data, family=family).fit(tol=1e-12)

    full, table = fit(names), {}
    for name in names:
        smaller = fit([other for other in names if other != name])
        if family is None:
            _, p, df = full.compare_f_test(smaller)
        else:
            from scipy import stats

            df = full.df_model - smaller.df_model
            p = stats.chi2.sf(2 * (full.llf - smaller.llf), df)
        table[name] = (df, p)
    return table


@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson"])
@pytest.mark.parametrize("direction", ["backward", "both"])
def test_joint_tests_are_those_of_statsmodels(mixed, family, direction):
    import statsmodels.api as sm

    X, y = mixed
    y = {"gaussian": y, "binomial": y > y.median(), "poisson": np.exp(y / 3).round()}[family]
    oracle = {"binomial": sm.families.Binomial(), "poisson": sm.families.Poisson()}.get(family)
    selector = select(X, y, family=family, start="full", direction=direction)
    first = selector.candidates_[selector.candidates_["step"] == 1].set_index("term")
    for name, (df, p) in drop_tests(X, y, list(X.columns), oracle).items():
        assert first.loc[name, "df"] == df
        assert_allclose(first.loc[name, "p_value"], p, rtol=1e-6)


def test_labels_reference_and_coefficients(mixed):
    X, y = mixed
    selector = select(X, y, categorical={"code": 7, "region": "west"}, keep=list(X.columns), direction="backward")
    labels = ["age", "region[T.east]", "region[T.north]", "region[T.south]", "size[T.m]", "size[T.l]", "smoker"]
    labels += ["code[T.1]", "code[T.3]", "noise"]
    assert list(selector.result_.coefficients.index) == labels
    assert list(selector.design_.columns) == labels
    formula = "y ~ age + C(region, Treatment('west')) + C(size) + smoker + C(code, Treatment(7)) + noise"
    fit = smf.ols(formula, X.assign(y=y)).fit()
    assert_allclose(selector.result_.model.llf, fit.llf, rtol=1e-12)
    assert_allclose(selector.coef_[0], fit.params["age"], rtol=1e-9)
    by_label = selector.result_.coefficients
    assert_allclose(by_label["region[T.south]"], fit.params["C(region, Treatment('west'))[T.south]"], rtol=1e-9)
    assert_allclose(by_label["code[T.3]"], fit.params["C(code, Treatment(7))[T.3]"], rtol=1e-9)


def test_the_face_speaks_of_input_columns(mixed):
    X, y = mixed
    selector = select(X, y, criterion="bic")
    assert selector.support_.tolist() == [True, True, True, True, False, False]
    assert selector.get_feature_names_out().tolist() == ["age", "region", "size", "smoker"]
    assert selector.get_support(indices=True).tolist() == [0, 1, 2, 3]
    out = selector.transform(X)
    pd.testing.assert_frame_equal(out, X[["age", "region", "size", "smoker"]])
    assert selector.design_.shape == (150, 7)
    pd.testing.assert_index_equal(selector.design_.index, X.index)
    assert selector.trace_["df"].dropna().tolist() == [
        {"region": 3, "size": 2}.get(term, 1) for term in selector.trace_["term"].dropna()
    ]


@pytest.mark.parametrize("dtype", [object, "str", "string", "category", "string[pyarrow]", ARROW_TEXT, ARROW_CODES])
def test_dtypes_of_text_agree(mixed, dtype):
    X, y = mixed
    expected = select(X, y).result_.tidy()
    found = select(X.assign(region=X["region"].astype(dtype)), y).result_.tidy()
    pd.testing.assert_frame_equal(found, expected)


def test_polars_and_pandas_agree(mixed):
    X, y = mixed
    X = X.assign(size=X["size"].astype(str))
    expected = select(X, y)
    frame = pl.from_pandas(X)
    for column in (
        pl.col("region"),
        pl.col("region").cast(pl.Categorical),
        pl.col("region").cast(pl.Enum(sorted(REGIONS))),
    ):
        selector = select(frame.with_columns(column), y)
        pd.testing.assert_frame_equal(selector.result_.tidy(), expected.result_.tidy())
        out = selector.transform(frame)
        assert isinstance(out, pl.DataFrame)
        assert out.columns == list(selector.get_feature_names_out())
    assert_allclose(selector.result_.predict(frame), expected.result_.predict(X))


def test_category_order_and_unused_categories(mixed):
    X, y = mixed
    X = X.assign(region=pd.Categorical(X["region"], ["nowhere", "west", "south", "north", "east"]))
    names = list(select(X, y, keep=["region"]).result_.coefficients.filter(like="region").index)
    assert names == ["region[T.south]", "region[T.north]", "region[T.east]"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_levels_of_dropped_rows_do_not_count(mixed, frame):
    X, y = mixed
    X = X.assign(region=X["region"].where(X.index > 2, "atlantis"), size=X["size"].astype(str))
    X.loc[:2, "noise"] = np.nan
    X.loc[5, "region"] = None
    data = X if frame is pd.DataFrame else pl.from_pandas(X)
    with pytest.warns(MissingRowsWarning, match="4 of 150 rows"):
        selector = StepwiseSelector(missing="drop", keep=["region"]).fit(data, y)
    assert len(selector.result_.coefficients.filter(like="region")) == 3
    rows = X.notna().all(axis=1)
    expected = select(X[rows], y[rows], keep=["region"])
    pd.testing.assert_frame_equal(selector.result_.tidy(), expected.result_.tidy())
    assert (selector.result_.n_obs, selector.result_.n_dropped) == (146, 4)
    if frame is pd.DataFrame:
        pd.testing.assert_index_equal(selector.design_.index, X.index[rows])


def test_levels_of_weightless_rows_do_not_count(mixed):
    X, y = mixed
    X = X.assign(region=X["region"].where(X.index > 2, "atlantis"))
    weights = np.r_[np.zeros(3), np.ones(147)]
    selector = select(X, y, sample_weight=weights, keep=["region"])
    expected = select(X[3:], y[3:], keep=["region"])
    pd.testing.assert_frame_equal(selector.result_.tidy(), expected.result_.tidy())


def test_missing_levels_are_named(mixed):
    X, y = mixed
    X.loc[[4, 9], "region"] = None
    with pytest.raises(
        ValueError, match=r"column 'region' has 2 missing values .NaN., the first at row 4: .*missing=\"drop\""
    ):
        StepwiseSelector().fit(X, y)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([f"C-{i:05d}" for i in range(150)], "column 'c' has 150 levels in 150 rows .*identifier"),
        ([f"C-{i // 2 * (i > 60) + i:05d}" for i in range(150)], "identifier"),
        ([f"{i / 7:.2f}" for i in range(150)], "number written as text.*to_numeric.*categorical"),
        (["about 90"] + [f"{i % 40}" for i in range(149)], "'about 90' at row 0 .* among numbers written as text"),
        (["low"] * 75 + [1.5] * 75, "column 'c' holds 'low' at row 0"),
        (["low"] * 149 + [1.5], "column 'c' holds 1.5 at row 149 .* among text"),
        (pd.date_range("2020-01-01", periods=150), "column 'c' holds dates"),
        ([f"2020-01-{i % 28 + 1:02d}" for i in range(150)], "column 'c' holds dates as text"),
        ([pd.Timestamp("2020-01-01")] * 150, "column 'c' holds dates"),
    ],
)
def test_columns_that_are_no_factors_are_named(mixed, column, message):
    X, y = mixed
    column = pd.Series(column, dtype=object) if isinstance(column, list) else column
    with pytest.raises(ValueError, match=message) as error:
        StepwiseSelector().fit(X.assign(c=column), y)
    assert "\n" not in str(error.value)


def test_declared_columns_that_cannot_be_factors(mixed):
    X, y = mixed
    with pytest.raises(ValueError, match="holds infinite values"):
        StepwiseSelector(categorical=["code"]).fit(X.assign(code=X["code"].where(X["code"] < 7, np.inf)), y)
    with pytest.raises(ValueError, match=r"label 'region.T.west.' occurs more than once"):
        StepwiseSelector().fit(X.assign(**{"region[T.west]": 1.0}), y)
    with pytest.raises(ValueError, match="column 'age' has 150 levels"):
        StepwiseSelector(categorical=["age"]).fit(X, y)
    with pytest.raises(ValueError, match=r"did you mean one of \['region'"):
        StepwiseSelector(categorical=["regoin"]).fit(X, y)
    with pytest.raises(ValueError, match=r"column 'region' has no level 'wst' .* 'east', 'north', 'south', 'west'"):
        StepwiseSelector(categorical={"region": "wst"}).fit(X, y)


def test_arrays_declare_by_position(mixed):
    X, y = mixed
    numbers = X[["age", "code", "noise"]]
    expected = select(numbers, y, categorical=["code"], keep=["code"]).result_.tidy()
    found = select(numbers.to_numpy(), y, categorical=[1], keep=[1]).result_.tidy()
    pd.testing.assert_frame_equal(found.drop(columns="term"), expected.drop(columns="term"))
    assert {"x1[T.3]", "x1[T.7]"} < set(found["term"])


def test_one_level_is_constant(mixed):
    X, y = mixed
    with pytest.warns(ConstantColumnWarning, match="never entered: country"):
        selector = StepwiseSelector(direction="backward").fit(X.assign(country="X"), y)
    assert "country" not in selector.result_.selected
    row = selector.candidates_.query("term == 'country'").iloc[0]
    assert row["status"] == "constant"


def test_without_an_intercept_a_factor_has_all_its_levels(mixed):
    X, y = mixed
    selector = select(X, y, fit_intercept=False, start="full", direction="backward", criterion="bic")
    selected = [name if name != "smoker" else "smoker.astype(int)" for name in selector.result_.selected]
    data = X.assign(y=y)
    fit = smf.ols("y ~ 0 + " + " + ".join(selected), data).fit()
    assert_allclose(selector.result_.model.llf, fit.llf, rtol=1e-11)
    assert selector.result_.model.df_model == len(fit.params)


def test_groups_hold_factors(mixed):
    X, y = mixed
    selector = select(X, y, groups={"place": ["region", "noise"]}, keep=["place"], direction="forward")
    assert selector.support_[[1, 5]].all()
    first = selector.candidates_.query("step == 1")
    assert "region" not in first["term"].tolist()
    assert_allclose(selector.trace_["n_params"].iloc[0], 5)


def test_new_data_and_unseen_levels(mixed):
    X, y = mixed
    result = select(X, y, criterion="bic").result_
    fit = smf.ols("y ~ age + C(region) + C(size) + smoker", X.assign(y=y)).fit()
    new = X.iloc[[7, 3, 11]].reset_index(drop=True)
    new = new[new.columns[::-1]]
    assert_allclose(result.predict(new), fit.predict(new), rtol=1e-10)
    assert_allclose(result.model.predict(new), fit.predict(new), rtol=1e-10)
    expected = fit.get_prediction(new).summary_frame()
    assert_allclose(result.model.get_prediction(new).summary_frame()["mean_se"], expected["mean_se"], rtol=1e-9)
    assert_allclose(result.model.predict(), fit.predict(), rtol=1e-10)
    one = new.head(1)  # a single row holds one level of each factor
    assert_allclose(result.predict(one), fit.predict(one), rtol=1e-10)
    for predict in (result.predict, result.model.predict):
        with pytest.raises(ValueError, match=r"column 'region' holds the level 'mars' at row 1 .* did not see"):
            predict(new.assign(region=["east", "mars", "west"]))
    assert np.isnan(result.predict(new.assign(region=["east", None, "west"]))).tolist() == [False, True, False]
    restored = pickle.loads(pickle.dumps(result))
    assert_allclose(restored.predict(new), fit.predict(new), rtol=1e-10)
    assert_allclose(restored.model.predict(new), fit.predict(new), rtol=1e-10)


@pytest.mark.parametrize("next_step", ["encoder", "columns"])
def test_in_a_pipeline_an_encoder_can_follow(mixed, next_step):
    X, y = mixed
    label = np.where(y > y.median(), "high", "low")
    encoder = OneHotEncoder(handle_unknown="ignore")
    if next_step == "columns":
        text = make_column_selector(dtype_exclude=["number", "bool"])
        encoder = ColumnTransformer([("levels", encoder, text)], remainder=StandardScaler())
    pipeline = make_pipeline(StepwiseSelector(family="binomial"), encoder, LogisticRegression())
    pipeline = pickle.loads(pickle.dumps(clone(pipeline).fit(X, label)))
    assert set(pipeline.predict(X.head(9))) <= {"high", "low"}
    assert pipeline.score(X, label) > 0.7
    search = GridSearchCV(pipeline, {"stepwiseselector__criterion": ["aic", "bic"]}, cv=3).fit(X, label)
    assert search.best_score_ > 0.6


def test_gvif_is_that_of_fox_and_monette(mixed):
    """det(R11) det(R22) / det(R), from the correlations of the coded columns."""
    X, y = mixed
    table = select(X, y, keep=list(X.columns), direction="forward").collinearity_.set_index("term")
    coded = pd.get_dummies(X, columns=["region", "size"], drop_first=True).astype(float)
    R = np.corrcoef(coded.to_numpy().T)
    for term in X.columns:
        own = np.array([name == term or name.startswith(f"{term}_") for name in coded.columns])
        det = np.linalg.det
        gvif = det(R[np.ix_(own, own)]) * det(R[np.ix_(~own, ~own)]) / det(R)
        assert_allclose(table.loc[term, "gvif"], gvif, rtol=1e-9)
        assert_allclose(table.loc[term, "vif"], gvif ** (1 / own.sum()), rtol=1e-9)
    whole = vif(X).set_index("term")
    assert_allclose(whole["gvif"], table.loc[whole.index, "gvif"], rtol=1e-9)


def test_correlated_factors_are_warned_of_by_the_generalised_factor(mixed):
    X, y = mixed
    r = np.random.default_rng(3)
    twin = X["region"].where(r.random(150) > 0.03, "north")
    with pytest.warns(CollinearityWarning, match=r"GVIF\^\(1/df\) of several columns.* above 10: (region|twin) \("):
        StepwiseSelector().fit(X.assign(twin=twin), y)


def test_a_level_that_repeats_another_term_is_named(mixed):
    X, y = mixed
    with pytest.warns(CollinearityWarning, match=r"left out: southern \(with region\[T.south\]\)"):
        StepwiseSelector(keep=["region"]).fit(X.assign(southern=(X["region"] == "south") * 2.0), y)
    other = X["region"].where(X["region"] == "south", X["size"].astype(str))
    with pytest.warns(CollinearityWarning, match=r"have no coefficient: other\[T.south\] \(with region\[T.south\]\)"):
        selector = StepwiseSelector(keep=["region", "other"]).fit(X.assign(other=other), y)
    assert np.isnan(selector.result_.coefficients["other[T.south]"])
    assert selector.collinearity_.set_index("term").loc["other", "df"] == 2


def test_hierarchy_says_when_it_has_no_effect(mixed):
    X, y = mixed
    with pytest.warns(UnusedParameterWarning, match="hierarchy='weak' has no effect"):
        StepwiseSelector(hierarchy="weak").fit(X, y)


def test_nothing_is_mutated(mixed):
    X, y = mixed
    before = X.copy(deep=True)
    select(X, y, categorical={"code": 7})
    pd.testing.assert_frame_equal(X, before)


def test_row_order_and_index_do_not_matter(mixed):
    X, y = mixed
    order = np.random.default_rng(1).permutation(150)
    shuffled = X.iloc[order].set_axis(range(1000, 1150))
    found = select(shuffled, y.iloc[order].to_numpy())
    pd.testing.assert_frame_equal(found.result_.tidy(), select(X, y).result_.tidy(), rtol=1e-9)


def test_vif_of_a_factor_that_repeats_another_is_infinite():
    table = vif(pd.DataFrame({"c": list("abcd") * 10, "k": list("pqrr") * 10, "x": np.arange(40.0) % 7}))
    assert np.isinf(table["gvif"]).tolist() == [True, True, False]


def test_no_alarm_where_levels_stand_for_the_intercept(mixed, recwarn):
    X, y = mixed
    select(X[["age", "region"]], y, fit_intercept=False, start="full")
    StepwiseSelector(fit_intercept=False, start="full").fit(X[["age", "region"]], y)
    assert not [item for item in recwarn if issubclass(item.category, CollinearityWarning)]
