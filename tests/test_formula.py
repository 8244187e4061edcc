"""stepwise(): what a formula may say, scope, hierarchy, prediction, and its errors."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose

from stepsel import EmptyCellWarning, MissingRowsWarning, StepwiseSelector, stepwise
from stepsel.core.terms import Hierarchy, Terms
from stepsel.model_terms.parsing import hierarchy_of, parse

pytestmark = pytest.mark.filterwarnings("ignore::stepsel.CollinearityWarning")


@pytest.fixture
def data():
    r = np.random.default_rng(7)
    n = 120
    frame = pd.DataFrame(
        {
            "x": r.normal(2, 1, n),
            "z": r.gamma(2.0, 2.0, n),
            "g": r.choice(["u", "v", "w"], n),
            "h": r.random(n) > 0.5,
            "k": r.choice([4, 6, 8], n),
            "a b": r.normal(size=n),
        }
    )
    frame["y"] = (
        10 + frame["x"] + np.log(frame["z"]) + (frame["g"] == "v") * frame["x"] + frame["h"] + r.normal(size=n) / 2
    )
    return frame


def double(values):
    return 2 * values


def same_fit(result, fit):
    """The final model is the one that statsmodels fits to a formula."""
    assert_allclose(result.model.llf, fit.llf, rtol=1e-11)
    assert_allclose(result.model.df_resid, fit.df_resid)
    assert_allclose(np.asarray(result.model.predict()), np.asarray(fit.predict()), rtol=1e-8, atol=1e-9)


def full(formula, data, **parameters):
    """All terms of a formula in the model."""
    return stepwise(formula, data, direction="backward", criterion="pvalue", alpha_remove=1.0, **parameters)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("y ~ x + g", None),
        ("y ~ x * g", None),
        ("y ~ (x + g + h)**2", None),
        ("y ~ (x + g + h)^2", "y ~ (x + g + h)**2"),
        ("y ~ x + g + h + k + z + `a b`", "y ~ x + g + h + k + z + Q('a b')"),
        ("y ~ .", "y ~ x + z + g + h + k + Q('a b')"),
        ("y ~ . - k - `a b`", "y ~ x + z + g + h"),
        ("np.log(y) ~ x + np.log(z)", None),
        ("np.sqrt(z) ~ . - k", "np.sqrt(z) ~ x + g + h + Q('a b') + y"),
        ("y ~ C(k)*x", None),
        ("y ~ C(k, Treatment(6)) + x", None),
        ("y ~ C(k, Treatment(reference=8)) + x", None),
        ("y ~ C(g, contr.treatment('w')) + x", "y ~ C(g, Treatment('w')) + x"),
        ("y ~ C(g, contr.sum)*x", "y ~ C(g, Sum)*x"),
        ("y ~ poly(x, 2) + g", "y ~ x + I(x**2) + g"),
        ("y ~ x + I(x**2) + I(x**3)", None),
        ("y ~ scale(x) + center(z)", "y ~ x + z"),
        ("y ~ I(x * z) + double(x)", None),
        ("y ~ g - 1", None),
        ("y ~ 0 + g + h + x:g", None),
        ("y ~ x:g", None),
        ("y ~ g + g:x", None),
        ("y ~ g:h", None),
        ("y ~ g/x", None),
        ("y ~ g*h*x - g:h:x", None),
        ("y ~ {x / z} + x", "y ~ I(x / z) + x"),
    ],
)
def test_a_formula_spans_what_statsmodels_spans(data, ours, theirs):
    same_fit(full(ours, data), smf.ols(theirs or ours, data).fit())


def test_names_of_terms_and_columns(data):
    result = full("y ~ C(k) + g:x + x + g + np.log(z) + poly(x, 2) + h", data)
    assert result.selected == ["C(k)", "x", "g", "np.log(z)", "poly(x, 2)", "h", "g:x"]
    labels = list(result.coefficients.index)
    for label in ("C(k)[T.6]", "g[T.v]", "h[T.True]", "g[T.v]:x", "np.log(z)", "poly(x, 2)[2]"):
        assert label in labels
    assert list(result.design.columns) == [label for label in labels if not np.isnan(result.coefficients[label])]


@pytest.mark.parametrize("kind", ["pandas", "polars", "dict"])
def test_kinds_of_data(data, kind):
    given = {"pandas": data, "polars": pl.from_pandas(data), "dict": {name: data[name].to_numpy() for name in data}}
    result = stepwise("y ~ x*g + np.log(z) + h + C(k)", given[kind], criterion="bic")
    expected = stepwise("y ~ x*g + np.log(z) + h + C(k)", data, criterion="bic")
    assert result.selected == expected.selected == ["x", "g", "np.log(z)", "h", "x:g"]
    assert_allclose(result.coefficients, expected.coefficients)
    new = pl.from_pandas(data.head(4)) if kind == "polars" else data.head(4)
    assert_allclose(result.predict(new), expected.predict(data.head(4)))


def test_labels_with_dots_as_r_has_them(data):
    data = data.rename(columns={"x": "x.1", "k": "k.code", "z": "z.x"})
    result = full("y ~ C(k.code)*x.1 + np.log(z.x)", data)
    same_fit(result, smf.ols("y ~ C(Q('k.code'))*Q('x.1') + np.log(Q('z.x'))", data).fit())
    kept = stepwise("y ~ C(k.code) + x.1", data, keep=["C(k.code)"], criterion="bic")
    assert "C(`k.code`)" in kept.selected
    assert_allclose(kept.predict(data.head(3)), kept.model.predict()[:3])


def test_families_and_responses(data):
    label = np.where(data["y"] > data["y"].median(), "high", "low")
    result = stepwise("label ~ x + g + h", data.assign(label=label), family="binomial", event="high", start="full")
    fit = smf.glm("event ~ " + " + ".join(result.selected), data.assign(event=(label == "high") * 1.0),
                  family=sm.families.Binomial()).fit(tol=1e-12)  # fmt: skip
    assert_allclose(result.model.llf, fit.llf, rtol=1e-10)
    flags = stepwise("I(y > 13) ~ x + g + h", data, family="binomial", start="full")
    assert flags.event in (True, 1.0)
    counts = stepwise("np.round(y) ~ x", data, family="poisson", offset="z", direction="backward")
    oracle = smf.glm("np.round(y) ~ x", data, family=sm.families.Poisson(), offset=data["z"]).fit(tol=1e-12)
    assert_allclose(counts.model.llf, oracle.llf, rtol=1e-10)


def test_survival(data):
    data = data.assign(time=np.exp(-data["x"] / 2) + 0.1, status=np.where(data["h"], "dead", "alive"))
    result = stepwise("Surv(time, status) ~ x + g + x:g", data, family="cox", criterion="bic")
    frame = pd.DataFrame({"time": data["time"], "event": data["status"] == "dead"})
    selector = StepwiseSelector(family="cox", criterion="bic").fit(data[["x", "g"]], frame)
    assert result.selected == selector.result_.selected
    assert_allclose(result.trace["log_likelihood"], selector.trace_["log_likelihood"], rtol=1e-12)
    dot = stepwise("Surv(time, status == 'dead') ~ .", data, family="cox")
    assert not {"time", "status"} & set(dot.candidates["term"])
    swapped = stepwise("Surv(event=status, time=time) ~ x", data, family="cox")
    assert_allclose(swapped.trace["log_likelihood"].iloc[0], result.trace["log_likelihood"].iloc[0])


def test_the_callers_names_are_found(data):
    shift = 3.0  # noqa: F841 (the formula finds it)
    outside = np.arange(len(data)) % 5.0
    result = stepwise("y ~ double(x) + I(z + shift) + outside", data, start="full", direction="forward")
    fit = smf.ols("y ~ x + z + outside", data.assign(outside=outside)).fit()
    assert_allclose(result.model.llf, fit.llf, rtol=1e-11)
    new = data.head(3).assign(outside=outside[:3])
    assert_allclose(result.predict(new), fit.predict(new), rtol=1e-9)
    restored = pickle.loads(pickle.dumps(result))
    assert_allclose(restored.predict(new), fit.predict(new), rtol=1e-9)
    with pytest.raises(ValueError, match="no column 'outside'"):
        result.predict(data.head(3))


def test_a_context_takes_the_place_of_the_callers_names(data):
    shift = 3.0  # noqa: F841 (the formula must not find it)
    with pytest.raises(ValueError, match="'shift' is not defined"):
        stepwise("y ~ I(x + shift)", data, context={})
    assert stepwise("y ~ I(x + shift)", data, context={"shift": 1.0}).selected == ["I(x + shift)"]


def test_prediction_uses_the_encoding_of_the_fit(data):
    result = full("y ~ poly(x, 2) + scale(z) + C(k) + g*h + C(g, contr.sum):z", data)
    fit = smf.ols("y ~ x + I(x**2) + z + C(k) + g*h + C(g, Sum):z", data).fit()
    new = data.iloc[[5, 1, 8]]
    for predict in (result.predict, result.model.predict, pickle.loads(pickle.dumps(result)).predict):
        assert_allclose(predict(new), fit.predict(new), rtol=1e-8)
        assert_allclose(predict(new.head(1)), fit.predict(new.head(1)), rtol=1e-8)
    for changed, message in (
        ({"k": [4, 5, 6]}, "'C\\(k\\)' holds the level 5 at row 1"),
        ({"g": ["u", "q", "v"]}, "did not see"),
        ({"x": ["1", "2", "x"]}, "x"),
    ):
        with pytest.raises(ValueError, match=message) as error:
            result.predict(new.assign(**changed))
        assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="there is no column 'z'"):
        result.predict(new.drop(columns="z"))
    with pytest.raises(ValueError, match="give a DataFrame"):
        result.predict(np.ones((3, 6)))
    gap = new.assign(g=["u", None, "v"], x=[np.nan, 1.0, 2.0])
    assert np.isnan(result.predict(gap)).tolist() == [True, True, False]


# Scope ----------------------------------------------------------------------------------------------------------------


def test_scope_as_in_r(data):
    result = stepwise("y ~ x + g", data, scope={"lower": "~ x", "upper": "~ (x + g + h)**2"}, criterion="bic")
    first = result.candidates.query("step == 1")
    assert result.trace["n_terms"].iloc[0] == 2
    assert first.query("move == 'remove' and status == 'kept'")["term"].tolist() == ["x"]
    # g keeps both interactions with it out of reach until h is in; x:g may enter at once
    assert first.query("status == 'hierarchy'")["term"].tolist() == ["x:h", "g:h"]
    dotted = stepwise("y ~ x + g", data, scope=". ~ .^2 + h", criterion="bic")
    assert set(dotted.candidates["term"]) == {"x", "g", "h", "x:g"}
    assert stepwise("y ~ 1", data, scope="~ x + h").selected == ["x", "h"]
    full_scope = stepwise("y ~ h + x", data, scope="~ .^2", keep=["h", "x", "h:x"])
    assert full_scope.selected == ["h", "x", "h:x"]
    start = stepwise("y ~ x + g", data, scope="~ . + h", start="empty", direction="forward")
    assert start.trace["n_terms"].iloc[0] == 0


def test_keep_and_start_name_terms_in_any_order(data):
    result = stepwise("y ~ x*g*h", data, keep=["x", "g", "g:x"], start=["h"])
    assert result.trace["n_terms"].iloc[0] == 4
    assert {"x", "g", "x:g"} <= set(result.selected)


# Hierarchy ------------------------------------------------------------------------------------------------------------


def legal(formula, rule, active):
    """The terms that may enter and leave a model, by name."""
    terms = parse(formula, "").terms
    names = [term.name for term in terms]
    hierarchy = hierarchy_of(terms, rule)
    n = len(names)
    whole = Terms(names, np.arange(n), np.arange(n + 1), np.zeros(n, dtype=bool), hierarchy)
    flags = np.isin(names, active)
    return {names[at] for at in whole.additions(flags, np.zeros(n, dtype=bool))}, {
        names[at] for at in whole.removals(flags)
    }


@pytest.mark.parametrize(
    ("formula", "rule", "active", "enter", "leave"),
    [
        ("y ~ a*b", "strong", [], {"a", "b"}, set()),
        ("y ~ a*b", "strong", ["a"], {"b"}, {"a"}),
        ("y ~ a*b", "strong", ["a", "b"], {"a:b"}, {"a", "b"}),
        ("y ~ a*b", "strong", ["a", "b", "a:b"], set(), {"a:b"}),
        ("y ~ a*b", "weak", ["a"], {"b", "a:b"}, {"a"}),
        ("y ~ a*b", "weak", ["a", "a:b"], {"b"}, {"a:b"}),
        ("y ~ a*b", "weak", ["a", "b", "a:b"], set(), {"a", "b", "a:b"}),
        ("y ~ a*b", "none", [], {"a", "b", "a:b"}, set()),
        ("y ~ a*b", "none", ["a", "a:b"], {"b"}, {"a", "a:b"}),
        ("y ~ a*b*c", "strong", ["a", "b", "c", "a:b"], {"a:c", "b:c"}, {"c", "a:b"}),
        ("y ~ a*b*c", "strong", ["a", "b", "c", "a:b", "a:c", "b:c"], {"a:b:c"}, {"a:b", "a:c", "b:c"}),
        ("y ~ a*b*c", "weak", ["a", "a:b"], {"b", "c", "a:c", "a:b:c"}, {"a:b"}),
        ("y ~ a + b + c + a:b:c", "strong", ["a", "b"], {"c"}, {"a", "b"}),
        ("y ~ a + b + c + a:b:c", "weak", ["a"], {"b", "c", "a:b:c"}, {"a"}),
        ("y ~ a:b", "strong", [], {"a:b"}, set()),  # no term of the scope is contained in it
        ("y ~ a + a:b", "strong", ["a", "a:b"], set(), {"a:b"}),
        ("y ~ x + I(x**2) + I(x**3)", "strong", ["x"], {"I(x ** 2)"}, {"x"}),
        ("y ~ x + I(x**2) + I(x**3)", "strong", ["x", "I(x ** 2)", "I(x ** 3)"], set(), {"I(x ** 3)"}),
        ("y ~ x + I(x**3)", "strong", [], {"x"}, set()),
        ("y ~ x + z + I(x**2) + I(x**2):z", "strong", ["x", "z"], {"I(x ** 2)"}, {"x", "z"}),
        ("y ~ np.log(x) + x + I(np.log(x)**2)", "strong", ["x"], {"np.log(x)"}, {"x"}),
        ("y ~ `a b` + I(`a b`**2)", "strong", [], {"a b"}, set()),
        ("y ~ x + C(x)", "strong", [], {"x", "C(x)"}, set()),
    ],
)
def test_legal_moves(formula, rule, active, enter, leave):
    assert legal(formula, rule, active) == (enter, leave)


def test_rules_without_edges():
    hierarchy = Hierarchy(np.array([2, 2]), np.array([0, 1]), "none")
    assert not hierarchy.orphans(np.array([False, False, True])).any()


def test_a_selection_does_not_depend_on_the_origin_of_a_unit(data):
    """Powers and products are moved by an offset, so that strong hierarchy is what makes the path the same."""
    moved = data.assign(x=data["x"] * 1.8 + 32, z=data["z"] - 273.15)
    for formula in ("y ~ x*z + I(x**2)", "y ~ x*g + x*z"):
        for direction in ("forward", "backward", "both"):
            paths = [stepwise(formula, frame, direction=direction).trace[["action", "term"]] for frame in (data, moved)]
            pd.testing.assert_frame_equal(*paths)


def test_weak_and_none_code_interactions_by_all_levels(data):
    """Without x in the model x:g has a slope for every level, so that no level is special."""
    for rule, keep in (("weak", ["g"]), ("none", [])):
        result = stepwise("y ~ x*g", data, hierarchy=rule, start=[*keep, "x:g"], direction="forward", max_steps=0)
        formula = "y ~ g + x:g" if keep else "y ~ x:g"
        same_fit(result, smf.ols(formula, data).fit())


def test_a_term_that_has_become_redundant_leaves_at_no_cost(data):
    result = stepwise("y ~ x*g", data, hierarchy="none", start=["x", "x:g"], criterion="bic")
    assert result.trace[["action", "term", "df"]].iloc[1].tolist() == ["remove", "x", 0]


def test_empty_cells_take_degrees_of_freedom(data):
    data = data[~((data["g"] == "w") & data["h"])]
    with pytest.warns(EmptyCellWarning, match=r"empty cells.*g\[T.w\]:h\[T.True\]"):
        result = full("y ~ g*h", data)
    assert result.candidates.query("term == 'g:h'")["df"].tolist() == [1]
    assert np.isnan(result.coefficients["g[T.w]:h[T.True]"])
    same_fit(result, smf.ols("y ~ g*h", data).fit())
    empty = data[(data["g"] == "u") | ~data["h"]]
    with pytest.warns(UserWarning, match="constant columns are never entered: g:h"):
        stepwise("y ~ g*h", empty)


# Rows -----------------------------------------------------------------------------------------------------------------


def test_missing_rows_are_dropped_once(data):
    data = data.astype({"k": float})
    data.loc[3, "x"], data.loc[5, "g"], data.loc[7, "k"], data.loc[9, "y"] = np.nan, None, np.nan, np.nan
    data.loc[11, "g"], data.loc[11, "z"] = "rare", np.nan
    with pytest.warns(MissingRowsWarning, match="5 of 120 rows"):
        result = stepwise("y ~ poly(x, 2)*g + np.log(z) + C(k)", data, missing="drop", direction="backward")
    complete = data.dropna(subset=["x", "g", "k", "y", "z"])
    expected = stepwise("y ~ poly(x, 2)*g + np.log(z) + C(k)", complete, direction="backward")
    pd.testing.assert_frame_equal(result.trace, expected.trace, check_exact=False, rtol=1e-9)
    pd.testing.assert_index_equal(result.design.index, complete.index)
    present = data.drop(index=[9, 11])
    for formula, name in (
        ("y ~ x", "x"),
        ("y ~ poly(x, 2)", "poly"),
        ("y ~ g", "g"),
        ("y ~ C(k)", r"C\(k\)"),
        ("x ~ z", "x"),
    ):
        with pytest.raises(ValueError, match=rf"'{name}.* missing .*first at row"):
            stepwise(formula, present)


def test_weights(data):
    counts = pd.Series(np.arange(len(data)) % 3, name="w")
    repeated = data.loc[np.repeat(data.index, counts)].reset_index(drop=True)
    expected = stepwise("y ~ x*g + h", repeated)
    for weights in (counts, "w"):
        result = stepwise("y ~ x*g + h", data.assign(w=counts), sample_weight=weights)
        assert_allclose(result.trace["log_likelihood"], expected.trace["log_likelihood"], rtol=1e-10)
    assert "w" not in set(stepwise("y ~ .", data.assign(w=counts), sample_weight="w").candidates["term"])


def test_nothing_is_mutated(data):
    before = data.copy(deep=True)
    stepwise("y ~ poly(x, 2)*g + h", data)
    pd.testing.assert_frame_equal(data, before)


# Expressions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "float32"])
@pytest.mark.parametrize("formula", ["y ~ a*b", "y ~ a + b + I(a**2) + I(a*b)"])
def test_narrow_numbers_do_not_overflow(dtype, formula):
    r = np.random.default_rng(0)
    frame = pd.DataFrame(r.integers(0, 100, (60, 2)), columns=["a", "b"])
    frame["y"] = frame["a"] * frame["b"] / 100 + r.normal(size=60)
    expected, narrow = full(formula, frame), frame.astype({"a": dtype, "b": dtype})
    for data in (narrow, pl.from_pandas(narrow)):
        result = full(formula, data)
        assert_allclose(result.coefficients, expected.coefficients, rtol=1e-6)
        assert_allclose(result.predict(data.head(3)), expected.predict(frame.head(3)), rtol=1e-6)


def test_values_of_the_caller_pair_by_row_label(data):
    data = data.sample(frac=1, random_state=0)
    frame = data.assign(yw=data["y"] + data["x"] * data["z"])
    expected = full("yw ~ I(x * z)", frame)
    outside, reordered = data["z"], data["z"].sort_index()
    for formula in ("yw ~ I(x * data.z)", "yw ~ I(x * outside)", "yw ~ I(x * reordered)", "I(x * data['z']) ~ x"):
        result = stepwise(formula, frame, start="full", max_steps=0)
        if formula.startswith("yw"):
            assert_allclose(result.model.llf, expected.model.llf, rtol=1e-12)
        else:
            assert_allclose(result.model.model.endog, data["x"] * data["z"])
    assert len(outside) == len(reordered)
    elsewhere = data["z"].set_axis(range(1000, 1120))
    with pytest.raises(ValueError, match=r"row labels that are not those of the data|not one value"):
        stepwise("y ~ I(x * elsewhere)", frame)
    assert len(elsewhere) == 120


@pytest.mark.parametrize(
    "formula",
    ["y ~ I(x > 2) + z", "y ~ C(x > 2) + z", "y ~ np.where(x > 2, 1, 0) + z", "y ~ scale(x) + z", "y ~ center(x)*z"],
)
def test_rows_with_gaps_in_an_expression_are_incomplete(data, formula):
    data.loc[[3, 8, 9], "x"] = np.nan
    with pytest.raises(ValueError, match="missing"):
        stepwise(formula, data)
    with pytest.warns(MissingRowsWarning, match="3 of 120 rows"):
        result = stepwise(formula, data, missing="drop", start="full", max_steps=0)
    expected = stepwise(formula, data.dropna(), start="full", max_steps=0)
    assert_allclose(result.model.llf, expected.model.llf, rtol=1e-11)
    assert np.isnan(result.predict(data.iloc[[2, 3]])).tolist() == [False, True]


def test_expressions_may_deal_with_gaps_themselves(data):
    data.loc[[3, 8, 9], "x"] = np.nan
    result = stepwise("y ~ x.fillna(2.0) + x.isna()", data, start="full", max_steps=0)
    assert result.n_obs == 120


def test_gaps_in_the_response_and_in_survival(data):
    data = data.assign(status=np.where(data.index % 3 > 0, 2.0, 1.0), time=np.exp(data["x"]))
    data.loc[[4, 5], "status"] = np.nan
    with pytest.warns(MissingRowsWarning, match="2 of 120"):
        result = stepwise("Surv(time, status == 2) ~ z", data, family="cox", missing="drop")
    expected = stepwise("Surv(time, status == 2) ~ z", data.dropna(), family="cox")
    assert_allclose(result.trace["log_likelihood"], expected.trace["log_likelihood"], rtol=1e-12)
    data.loc[[7], "y"] = np.nan
    with pytest.raises(ValueError, match="missing"):
        stepwise("I(y > 13) ~ z", data, family="binomial")


def test_what_stands_in_quotes_is_no_column(data):
    data = data.assign(g=data["g"].replace("v", "u.v"), **{"u.v": 1.0 * np.arange(120)})
    result = stepwise("y ~ I(g == 'u.v') + x", data, start="full", max_steps=0)
    expected = stepwise("y ~ I(g == 'u.v') + x", data.drop(columns="u.v"), start="full", max_steps=0)
    assert_allclose(result.model.llf, expected.model.llf)
    assert "C(g, Treatment('u.v'))[T.u]" in full("y ~ C(g, Treatment('u.v'))", data).coefficients.index


def test_the_levels_of_a_polars_enum_keep_their_order(data):
    levels = ["w", "u", "v"]
    frame = pl.from_pandas(data).with_columns(pl.col("g").cast(pl.Enum(levels)))
    expected = full("y ~ C(g, contr.poly)", data.assign(g=pd.Categorical(data["g"], levels)))
    assert_allclose(full("y ~ C(g, contr.poly)", frame).coefficients, expected.coefficients, rtol=1e-9)


def test_survival_of_columns_with_other_names(data):
    data = data.assign(**{"time to": np.exp(data["x"]), "s.t": data["h"]})
    result = stepwise("Surv(`time to`, s.t) ~ z + g", data, family="cox")
    plain = data.rename(columns={"time to": "time", "s.t": "status"})
    expected = stepwise("Surv(time, status) ~ z + g", plain, family="cox")
    assert_allclose(result.trace["log_likelihood"], expected.trace["log_likelihood"])


def test_labels_that_python_normalises(data):
    data = data.rename(columns={"z": "µg"})  # the micro sign of keyboards, which Python reads as the Greek letter
    same_fit(
        full("y ~ np.log(µg) + x:µg + µg", data),
        smf.ols("y ~ np.log(z) + x:z + z", data.rename(columns={"µg": "z"})).fit(),
    )


def test_arrays_that_are_no_columns(data):
    knots = np.array([1.5, 2.5])
    table = pd.Series({"u": 1.0, "v": 2.0, "w": 5.0})
    result = stepwise("y ~ bs(x, knots=knots) + g.map(table)", data, start="full", direction="forward")
    assert "g.map(table)" in result.selected
    assert np.isfinite(result.predict(data.head(2))).all()
    assert len(knots) + len(table) == 5


@pytest.mark.parametrize("term", ["I(x - x.mean())", "I(x > np.median(x))", "pd.qcut(x, 3, labels=False)", "lag(x)"])
def test_expressions_of_all_rows_do_not_predict(data, term):
    result = stepwise(f"y ~ {term} + z", data, start="full", direction="forward", missing="drop")
    assert np.isfinite(np.asarray(result.model.predict())).all()
    with pytest.raises(ValueError, match="depends on all rows"):
        result.predict(data.head(3))
    fine = stepwise("y ~ center(x) + I(x > 2) + np.log(z)", data, start="full", direction="forward")
    assert_allclose(fine.predict(data.head(3)), fine.predict(data)[:3])


def test_functions_that_a_pickle_cannot_carry(data):
    def local(values):
        return values**2

    result = stepwise("y ~ local(x)", data, start="full", direction="forward")
    assert np.isfinite(result.predict(data.head(2))).all()
    with pytest.raises(ValueError, match="local could not be pickled"):
        pickle.loads(pickle.dumps(result)).predict(data.head(2))


# Errors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "parameters", "message"),
    [
        ("y ~ q", {}, "there is no column 'q'"),
        ("y ~ xx", {}, "no column 'xx'; near it are 'x'"),
        ("q ~ x", {}, "there is no column 'q'"),
        ("~ x", {}, "has no response"),
        ("y", {}, "has no response"),
        ("y ~", {}, "nothing on its right side"),
        ("y ~ x +", {}, "cannot be read"),
        ("y ~ (x", {}, "cannot be read"),
        ("y ~ x ~ z", {}, "2 signs '~'"),
        ("y ~ x | z", {}, "several parts"),
        ("y + x ~ z", {}, "give one column or expression on the left"),
        ("y ~ I(x^2)", {}, r"write I\(x \*\* 2\)"),
        ("y ~ 2:x", {}, "multiplies by 2"),
        ("y ~ 2*x", {}, "cannot be read"),
        ("y ~ (x + z)**100", {}, "asks for the power 100"),
        ("y ~ offset(z)", {}, "an offset is given as offset="),
        ("y ~ C(z, contr.sum)", {}, r"'C\(z, contr.sum\)' has 120 levels"),
        ("y ~ np.where(x > 2, 'p', 'n')", {}, r"cannot be evaluated.*C\(...\)"),
        ("y ~ x", {"keep": "."}, "keep: '.' names no term"),
        ("y ~ x", {"keep": "- x"}, "keep: '- x' names no term"),
        ("y ~ x", {"start": "1"}, "start: '1' names no term"),
        ("y ~ x + z", {"scope": "~ x"}, r"scope\['upper'\] lacks z"),
        ("y ~ x", {"scope": {"lower": "~ z", "upper": "~ x + z"}}, r"scope\['lower'\] has z"),
        ("y ~ np.logg(x)", {}, r"np.logg\(x\) cannot be evaluated"),
        ("y ~ nothing(x)", {}, r"nothing\(x\) cannot be evaluated"),
        ("y ~ np.log(g)", {}, r"np.log\(g\) cannot be evaluated"),
        ("np.mean(y) ~ x", {}, "not one value for every row"),
        ("y ~ x", {"groups": {"g": ["x"]}}, "groups is given"),
        ("y ~ x", {"categorical": ["k"]}, "'k' is no variable of the formula"),
        ("y ~ x", {"categorical": ["q"]}, "categorical: there is no column"),
        ("y ~ x*z", {"keep": ["x:z"]}, "keep: 'x:z' needs x, z in the model"),
        ("y ~ x*z", {"start": ["x:z"]}, "start: 'x:z' needs x, z in the model"),
        ("y ~ x*z", {"start": ["x:z"], "hierarchy": "weak"}, "start: 'x:z' needs x or z in the model"),
        ("y ~ x*z", {"keep": ["q"]}, "keep: there is no column or group 'q'"),
        ("y ~ x*z", {"keep": ["x:g"]}, "keep: there is no column or group 'x:g'"),
        ("y ~ x", {"scope": ["~ x"]}, "scope is"),
        ("y ~ x", {"scope": {"top": "~ x"}}, "scope is"),
        ("y ~ x", {"scope": "~ x - 1"}, "give it an intercept if the formula has one"),
        ("y ~ x", {"scope": 3}, "scope is 3"),
        (3, {}, "formula is 3"),
        ("Surv(x, h) ~ z", {}, 'Surv\\(\\) is for family="cox"'),
        ("y ~ z", {"family": "cox"}, "write the response as Surv"),
        ("Surv(x) ~ z", {"family": "cox"}, "write Surv\\(time, event\\)"),
        ("y ~ x", {"offset": "z"}, "offset is not for the Gaussian family"),
        ("y ~ x", {"sample_weight": "q"}, "there is no column or group 'q'"),
        ("y ~ x + y:g", {}, "has the response among its terms"),
        ("y ~ C(x)", {}, r"'C\(x\)' has 120 levels"),
    ],
)
def test_errors_are_one_sentence(data, formula, parameters, message):
    with pytest.raises(ValueError, match=message) as error:
        stepwise(formula, data, **parameters)
    assert "\n" not in str(error.value)
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize(
    ("label", "formula", "message"),
    [
        ("1", "y ~ .", "label '1' cannot be written"),
        ("1", "y ~ x + `1`", "label '1' cannot be written"),
        ("", "y ~ .", "label '' cannot be written"),
        (".", "y ~ .", "label '.' cannot be written"),
        ("a`b", "y ~ .", "label 'a`b' cannot be written"),
        ("np.log(z)", "y ~ . + np.log(z)", "an expression and the label of a column"),
        ("I(x**2)", "y ~ I(x ** 2) + `I(x**2)`", "an expression and the label of a column"),
        ("np", "y ~ np.log(z)", "a column 'np', which hides the function"),
        ("class", "y ~ I(`class`**2)", "'class' is a word of Python"),
    ],
)
def test_labels_that_a_formula_would_misread(data, label, formula, message):
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        stepwise(formula, data.assign(**{label: data["z"]}))
    assert "\n" not in str(error.value)


def test_an_intercept_taken_out_in_front(data):
    same_fit(full("y ~ -1 + x", data), smf.ols("y ~ 0 + x", data).fit())


@pytest.mark.parametrize("frame", [np.ones((3, 2)), [1, 2], pd.DataFrame(), pd.DataFrame({1: [1.0], "y": [2.0]})])
def test_data_that_is_none(frame):
    with pytest.raises(ValueError, match=r"data|label"):
        stepwise("y ~ x", frame)


def test_unknown_parameters_are_refused(data):
    with pytest.raises(TypeError, match="criterium"):
        stepwise("y ~ x", data, criterium="aic")
