"""Situations from public bug reports, a small reproduction each (cases/<id>/case.json: what is right)."""

import pickle
import re
import time
import tracemalloc
import warnings

import mpmath
import numpy as np
import pandas as pd
import pytest
from faces import by_formula
from helpers import CASES, eligible, path_of, read_json, select
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import stepsel
from stepsel.exceptions import (
    CollinearityError,
    CollinearityWarning,
    ConstantColumnWarning,
    MissingRowsWarning,
    PerfectFitWarning,
    SeparationWarning,
    StepselWarning,
)

DIRECTIONS = ["forward", "backward", "both"]


def load(case, file="data.csv", target="y", drop=()):
    table = pd.read_csv(CASES / case / file)
    return table.drop(columns=[target, *drop]), table[target]


def values(case):
    return read_json(CASES / case / "case.json")["values"]


def r_run(case, name):
    return values(case)["R"][name]


def parameters_of(run):
    """The selector's parameters for one of R's runs; "full" fits all columns."""
    given = run["params"]
    if given["crit"] == "full":
        family = {"family": given["family"]} if "family" in given else {}
        return {"direction": "backward", "criterion": "pvalue", "alpha_remove": 1.0, **family}
    criterion = {"p": "pvalue"}.get(given["crit"], given["crit"])
    chosen = {"alpha_enter": given["pin"], "alpha_remove": given["pout"]}
    if "family" in given:
        chosen["family"] = given["family"]
    if "test" in given:
        chosen |= {"test_enter": given["test"], "test_remove": given["test"]}
    return {"direction": given["direction"], "criterion": criterion, **chosen}


def r_path(run):
    """[(action, term)] of R's steps, and the rows they stand in."""
    if run["params"]["crit"] == "p":
        rows = run["trace"]
        return [(row["action"], row["term"]) for row in rows], rows
    signs = {"+": "add", "-": "remove"}
    rows = [row for row in run["trace"] if row["step"]]
    return [(signs[row["step"][0]], row["step"][2:]) for row in rows], rows


def assert_run(selector, run):
    """Path, tests, criterion differences and final model as R's."""
    if run["params"]["crit"] != "full":
        path, rows = r_path(run)
        assert path_of(selector) == path
        if run["params"]["crit"] == "p":
            moves = selector.trace_.iloc[1:]
            power, rtol = (2, 2e-5) if run["params"].get("test") == "wald" else (1, 1e-6)  # R prints z
            assert_allclose(moves["p_value"], [row["p"] for row in rows], rtol=rtol)
            assert_allclose(moves["statistic"], [row["stat"] ** power for row in rows], rtol=rtol)
        else:
            known = np.diff([row["crit"] for row in run["trace"]])
            assert_allclose(np.diff(selector.trace_["criterion"]), known, rtol=1e-6)
    assert_final_model(selector, run)


def assert_final_model(selector, run):
    last, tidy = selector.trace_.iloc[-1], selector.result_.tidy().set_index("term")
    assert set(tidy.index) == set(run["coef"])
    # R's glm stops when the deviance has settled: the standard errors are those of the iteration before
    rtol = 2e-5 if "family" in run["params"] else 1e-6
    for column, name in (("estimate", "coef"), ("std_error", "se"), ("p_value", "p")):
        for term, value in run[name].items():
            assert_allclose(tidy.loc[term, column], value, rtol=rtol, err_msg=f"{column} {term}")
    n = run["n"]
    assert selector.result_.n_obs == n
    if "family" in run["params"]:
        found = [last["log_likelihood"], last["deviance"], last["aic"], last["bic"]]
        return assert_allclose(found, [run["logLik"], run["deviance"], run["AIC"], run["BIC"]], rtol=1e-9)
    found = [last["log_likelihood"], last["deviance"], last["r2"]]
    assert_allclose(found, [run["logLik"], run["deviance"], run["r2"]], rtol=1e-9, atol=1e-12)
    # R counts sigma as a parameter
    assert_allclose([last["aic"] + 2, last["bic"] + np.log(n)], [run["AIC"], run["BIC"]], rtol=1e-9)


def fit_and_listen(X, y, sample_weight=None, **parameters):
    """The fitted selector and {warning class: all its messages in one text}."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector = stepsel.StepwiseSelector(**parameters).fit(X, y, sample_weight=sample_weight)
    messages = {}
    for warning in caught:
        messages[warning.category] = messages.get(warning.category, "") + f"{warning.message}\n"
    return selector, messages


def names_in(message, names):
    """Which of the names stand in the message as whole words."""
    return {name for name in names if re.search(rf"(?<!\w){re.escape(str(name))}(?!\w)", message)}


def statuses(selector, term):
    rows = selector.candidates_
    return list(rows.loc[rows["term"] == term, "status"])


def exact_partial_f(X, y, terms, without):
    """F and p of one column among others, with 60 digits."""
    with mpmath.workdps(60):
        A = mpmath.matrix([[1, *row] for row in X[terms].to_numpy().tolist()])
        b = mpmath.matrix(y.tolist())
        rss = [exact_rss(A, b), exact_rss(drop_column(A, 1 + terms.index(without)), b)]
        df = len(y) - A.cols
        f = (rss[1] - rss[0]) * df / rss[0]
        half = mpmath.mpf(1) / 2
        p = mpmath.betainc(mpmath.mpf(df) / 2, half, 0, df / (df + f), regularized=True)
        return float(f), float(p)


def exact_rss(A, b):
    x = mpmath.lu_solve(A.T * A, A.T * b)
    return mpmath.norm(b - A * x) ** 2


def drop_column(A, column):
    kept = [j for j in range(A.cols) if j != column]
    return mpmath.matrix([[A[i, j] for j in kept] for i in range(A.rows)])


# Numerics


def test_n01_longley():
    X, y = load("n01_longley")
    certified = values("n01_longley")
    run = r_run("n01_longley", "p_backward")
    full, messages = fit_and_listen(X, y, direction="backward", criterion="pvalue", alpha_remove=1.0)
    assert_allclose(full.result_.model.params, list(certified["certified_coef"].values()), rtol=1e-9)
    assert_allclose(full.result_.tidy()["estimate"], full.result_.model.params, rtol=1e-9)
    assert_allclose(np.sqrt(full.result_.model.scale), certified["certified_resid_sd"], rtol=1e-9)
    assert_allclose(full.trace_["r2"].iloc[-1], certified["certified_r2"], rtol=1e-9)
    vif = full.collinearity_.set_index("term")["vif"]
    assert_allclose(vif[list(run["vif_full"])], list(run["vif_full"].values()), rtol=1e-8)
    assert names_in(messages[CollinearityWarning], X.columns) == set(X.columns) - {"ARMED"}


@pytest.mark.parametrize("name", sorted(values("n01_longley")["R"]))
def test_n01_longley_as_r(name):
    run = r_run("n01_longley", name)
    X, y = load("n01_longley")
    selector, messages = fit_and_listen(X, y, **parameters_of(run))
    assert_run(selector, run)
    assert names_in(messages[CollinearityWarning], X.columns) == set(X.columns) - {"ARMED"}


def models_of(selector, everything):
    """The terms of the model in each trace row: the candidates of step k look out from row k - 1."""
    size = selector.trace_["n_terms"].iloc[0]
    removed_later = [term for action, term in path_of(selector) if action == "remove"]
    current = set(selector.result_.selected) | set(removed_later) if size else set()
    assert len(current) == size
    models = [current]
    for action, term in path_of(selector):
        current = current | {term} if action == "add" else current - {term}
        models.append(current)
    return [[term for term in everything if term in model] for model in models]


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_n02_filip(direction):
    """Raw powers up to 10: loud, and every p-value that is shown agrees with 60-digit arithmetic."""
    X, y = load("n02_filip")
    known = values("n02_filip")
    alphas = {"alpha_enter": 0.05, "alpha_remove": 0.10}
    selector, messages = fit_and_listen(X, y, direction=direction, criterion="pvalue", **alphas)
    assert CollinearityWarning in messages
    if direction == "forward":
        assert path_of(selector) == [("add", term) for term in known["mp_forward"]]
        p = float(known["mp_forward_trace"][0][2])
        assert_allclose(selector.trace_["p_value"].iloc[1], p, rtol=1e-7)
    else:
        left_out = set(X.columns) - set(selector.result_.selected) - {term for _, term in path_of(selector)}
        assert left_out <= names_in(messages[CollinearityWarning], X.columns)
        if not left_out:
            assert_allclose(selector.result_.tidy()["estimate"], known["mp_coef_full"], rtol=1e-7)
    models = models_of(selector, list(X.columns))
    shown = eligible(selector.candidates_)
    assert len(shown) > 0
    for row in shown.itertuples():
        here = models[row.step - 1]
        terms = here if row.move == "remove" else [*here, row.term]
        f, p = exact_partial_f(X, y, terms, row.term)
        assert_allclose([row.statistic, row.p_value], [f, p], rtol=1e-3, err_msg=row.term)


@pytest.mark.parametrize("criterion", ["pvalue", "aic"])
def test_n03_wampler1_backward(criterion):
    """A polynomial without error: nothing is removed on rounding noise."""
    X, y = load("n03_wampler1")
    selector, messages = fit_and_listen(X, y, direction="backward", criterion=criterion)
    assert PerfectFitWarning in messages
    assert selector.result_.selected == list(X.columns)
    assert path_of(selector) == []
    assert_allclose(selector.result_.tidy()["estimate"], np.ones(6), rtol=1e-7)
    assert_allclose(selector.trace_["r2"], 1.0, rtol=1e-12)
    assert np.isfinite(selector.trace_[["aic", "bic", "log_likelihood"]]).all(axis=None)


@pytest.mark.parametrize("criterion", ["pvalue", "aic"])
def test_n03_wampler1_forward(criterion):
    """Each polynomial term on the way explains something real; the fifth makes the fit perfect."""
    X, y = load("n03_wampler1")
    selector, messages = fit_and_listen(X, y, direction="forward", criterion=criterion)
    assert PerfectFitWarning in messages
    assert set(selector.result_.selected) == set(X.columns)
    assert path_of(selector)[0] == ("add", "x5")
    assert np.isfinite(selector.trace_[["aic", "bic", "log_likelihood", "deviance"]]).all(axis=None)
    assert not selector.trace_[["statistic", "p_value"]].iloc[1:].isna().any(axis=None)
    assert_allclose(selector.result_.tidy()["estimate"], np.ones(6), rtol=1e-7)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_n05_pontius(direction):
    X, y = load("n05_pontius")
    known = values("n05_pontius")
    selector = select(X, y, direction=direction, criterion="pvalue")
    if direction != "backward":
        assert path_of(selector) == [("add", "x"), ("add", "x_sq")]
        for row, (_, _, p, t) in zip(selector.trace_.iloc[1:].itertuples(), known["mp_forward_trace"], strict=True):
            assert_allclose([row.p_value, row.statistic], [float(p), float(t) ** 2], rtol=1e-6)
    assert selector.result_.selected == ["x", "x_sq"]
    tidy = selector.result_.tidy()
    assert_allclose(tidy["estimate"], known["certified_coef"], rtol=1e-8)
    assert_allclose(tidy["std_error"], known["certified_se"], rtol=1e-8)
    assert_allclose(tidy["statistic"], known["mp_t_full"], rtol=1e-7)
    assert_allclose(tidy["p_value"], [float(p) for p in known["mp_p_full"]], rtol=1e-5)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_n06_norris(direction):
    X, y = load("n06_norris")
    known = values("n06_norris")
    selector = select(X, y, direction=direction, criterion="pvalue")
    assert_final_model(selector, known["R"]["p_forward"])
    tidy = selector.result_.tidy()
    assert_allclose(tidy["estimate"], known["certified_coef"], rtol=1e-9)
    assert_allclose(tidy["std_error"], known["certified_se"], rtol=1e-9)
    assert_allclose(selector.trace_["r2"].iloc[-1], known["certified_r2"], rtol=1e-12)
    p = selector.candidates_["p_value"].iloc[0]
    assert_allclose(p, known["R"]["p_forward"]["p"]["x"], rtol=1e-6)


FACTORS = [
    {"a": 1e-8},
    {"a": 1e12},
    {"b": 1e-12, "c": 1e12},
    {"y": 1e-12},
    {"y": 1e12, "a": 1e-9},
]


@pytest.mark.parametrize("name", ["p_forward", "aic_both", "full"])
def test_n07_as_r(name):
    run = r_run("n07_scale_invariance", name)
    assert_run(select(*load("n07_scale_invariance"), **parameters_of(run)), run)


@pytest.mark.parametrize("factors", FACTORS, ids=str)
@pytest.mark.parametrize("name", ["p_forward", "aic_both", "full"])
def test_n07_scale_invariance(factors, name):
    assert_scale_invariance(factors, parameters_of(r_run("n07_scale_invariance", name)))


@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_n07_extreme_scale(factor):
    """Squares beyond the range of double precision: a refusal that names the column, or the same answer."""
    X, y = load("n07_scale_invariance")
    parameters = parameters_of(r_run("n07_scale_invariance", "p_forward"))
    refusal = refusal_of(X * [factor, 1.0, 1.0], y, **parameters)
    if refusal is None:
        assert_scale_invariance({"a": factor}, parameters)
    else:
        assert re.search("column 'a' .*range", refusal)


def refusal_of(X, y, **parameters):
    """What a ValueError says, or None where the selection ran."""
    try:
        select(X, y, **parameters)
    except ValueError as error:
        return str(error)
    return None


def assert_scale_invariance(factors, parameters):
    X, y = load("n07_scale_invariance")
    expected = select(X, y, **parameters)
    scaled = X * [factors.get(column, 1.0) for column in X.columns]
    selector = select(scaled, y * factors.get("y", 1.0), **parameters)
    assert path_of(selector) == path_of(expected)
    for column in ("statistic", "p_value"):
        found, known = selector.candidates_[column], expected.candidates_[column]
        assert_allclose(found, known, rtol=1e-8, err_msg=column)
    for column in ("aic", "bic"):
        assert_allclose(np.diff(selector.trace_[column]), np.diff(expected.trace_[column]), rtol=1e-8)
    slopes = selector.result_.tidy().set_index("term")["estimate"].drop("(Intercept)")
    known = expected.result_.tidy().set_index("term")["estimate"].drop("(Intercept)")
    factor = np.array([factors.get("y", 1.0) / factors.get(term, 1.0) for term in known.index])
    assert_allclose(slopes, known * factor, rtol=1e-8)


def test_n10_float32():
    r = np.random.default_rng(31)
    n = 4000
    a, b, c = (r.integers(1000, 10000, n) for _ in range(3))
    y = 3.0 * a + b - 5.0 * c + 20_000_000 + r.normal(0, 9000, n)
    X = pd.DataFrame({"a": a, "b": b, "c": c, "d": r.normal(size=n)}).astype("float32")
    y = pd.Series(y.astype("float32"), name="y")
    before = X.copy(deep=True)
    parameters = {"direction": "forward", "criterion": "pvalue"}
    single, double = select(X, y, **parameters), select(X.astype(float), y.astype(float), **parameters)
    known = values("n10_float32")["refpy_forward"]["()"]
    assert path_of(single) == path_of(double) == [("add", row["name"]) for row in known]
    assert_allclose(single.trace_["p_value"].iloc[3], known[2]["p"], rtol=1e-6)
    for column in ("p_value", "statistic", "deviance"):
        assert_allclose(single.trace_[column], double.trace_[column], rtol=1e-8)
    tables = [selector.result_.tidy()["estimate"] for selector in (single, double)]
    assert_allclose(*tables, rtol=1e-8)
    pd.testing.assert_frame_equal(X, before)


@pytest.mark.parametrize("direction", ["forward", "both"])
def test_n11_order_when_p_underflows(direction):
    X, y = load("n11_p_underflow_order")
    selector = select(X, y, direction=direction, criterion="pvalue")
    assert_run(selector, r_run("n11_p_underflow_order", "p_forward"))
    assert path_of(selector) == [("add", "b"), ("add", "a"), ("add", "c")]
    assert (selector.trace_["p_value"].iloc[1:] < 1e-300).all()
    assert not eligible(selector.candidates_)["p_value"].isna().any()


def test_n12_vif_of_a_sum():
    X, _ = load("n12_vif_perfect")
    table = stepsel.vif(X).set_index("term")["vif"]
    assert list(table.index) == list(X.columns)
    assert (table[["area", "age", "total"]] > 1e10).all()
    assert np.isfinite(table[["rooms", "dist"]]).all()
    known = r_run("n12_vif_perfect", "without_total")["vif_full"]
    assert_allclose(table[["rooms", "dist"]], [known["rooms"], known["dist"]], rtol=1e-9)
    reduced = stepsel.vif(X.drop(columns="total")).set_index("term")
    assert_allclose(reduced.loc[list(known), "vif"], list(known.values()), rtol=1e-9)
    assert_allclose(reduced["tolerance"], 1 / reduced["vif"], rtol=1e-12)


def test_n12_selection_beside_a_sum():
    """Of columns that say the same the first ones stay: `total`, the last, is the aliased one."""
    X, y = load("n12_vif_perfect")
    for name in ("p_forward", "aic_backward"):
        run = r_run("n12_vif_perfect", name)
        selector, messages = fit_and_listen(X, y, **parameters_of(run))
        assert_final_model(selector, run)
        assert "total" in names_in(messages[CollinearityWarning], X.columns)
        assert {"area", "age"} <= names_in(messages[CollinearityWarning], X.columns)
    assert_run(select(X, y, direction="forward", criterion="pvalue"), r_run("n12_vif_perfect", "p_forward"))
    with pytest.raises(CollinearityError, match="total"):
        stepsel.StepwiseSelector(collinearity="raise").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollinearityWarning)
        stepsel.StepwiseSelector(collinearity="ignore").fit(X, y)
    full = r_run("n12_vif_perfect", "without_total")
    assert_run(select(X.drop(columns="total"), y, **parameters_of(full)), full)


# Columns


@pytest.mark.parametrize("criterion", ["pvalue", "aic"])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_c01_redundant_units(direction, criterion):
    X, y = load("c01_redundant_units")
    selector, messages = fit_and_listen(X, y, direction=direction, criterion=criterion)
    twins = {"temp_c", "temp_f"}
    assert len(twins & set(selector.result_.selected)) == 1
    assert twins <= names_in(messages[CollinearityWarning], X.columns)
    run = r_run("c01_redundant_units", "p_forward" if criterion == "pvalue" else "aic_both")
    last = selector.trace_.iloc[-1]
    assert_allclose([last["log_likelihood"], last["r2"]], [run["logLik"], run["r2"]], rtol=1e-9)
    assert not eligible(selector.candidates_)[["statistic", "p_value"]].isna().any(axis=None)
    if direction != "backward":
        entered, other = path_of(selector)[0][1], (twins - set(selector.result_.selected)).pop()
        assert entered in twins
        assert set(statuses(selector, other)[1:]) == {"aliased"}


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("criterion", ["pvalue", "aic"])
def test_c03_constant_columns(direction, criterion):
    X, y = load("c03_constant_columns")
    selector, messages = fit_and_listen(X, y, direction=direction, criterion=criterion)
    constant = ["zero", "five", "ones", "tiny"]
    assert names_in(messages[ConstantColumnWarning], X.columns) == set(constant)
    assert not set(constant) & {term for _, term in path_of(selector)}
    expected = select(X.drop(columns=constant), y, direction=direction, criterion=criterion)
    pd.testing.assert_frame_equal(selector.result_.tidy(), expected.result_.tidy(), rtol=1e-10)
    assert_final_model(selector, r_run("c03_constant_columns", "p_forward"))
    assert set(selector.candidates_["status"][selector.candidates_["term"].isin(constant)]) <= {"constant"}
    if direction != "backward":
        assert_run(selector, r_run("c03_constant_columns", "p_forward" if criterion == "pvalue" else "aic_both"))


@pytest.mark.parametrize("order", [["a", "b", "b_copy"], ["b_copy", "b", "a"], ["b_copy", "a", "b"]], ids=str)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_c04_of_twins_the_first_in_column_order_is_taken(direction, order):
    X, y = load("c04_duplicate_twin")
    run = r_run("c04_duplicate_twin", "p_forward")
    first = next(name for name in order if name.startswith("b"))
    for _ in range(2):
        selector, messages = fit_and_listen(X[order], y, direction=direction, criterion="pvalue")
        assert {"b", "b_copy"} & set(selector.result_.selected) == {first}
        assert {"b", "b_copy"} <= names_in(messages[CollinearityWarning], X.columns)
        assert_allclose(selector.trace_["deviance"].iloc[-1], run["deviance"], rtol=1e-9)


def test_c05_forward_with_more_columns_than_rows():
    X, y = load("c05_p_gt_n_forward")
    known = values("c05_p_gt_n_forward")
    with pytest.warns(StepselWarning):
        selector = stepsel.StepwiseSelector(
            direction="forward", criterion="pvalue", alpha_enter=0.10, alpha_remove=0.10
        ).fit(X, y)
    assert path_of(selector) == [("add", term) for term in known["mp_forward"]]
    moves = selector.trace_.iloc[1:]
    assert_allclose(moves["p_value"], [float(p) for _, _, p, _ in known["mp_forward_trace"]], rtol=1e-6)
    t = np.array([float(t) for _, _, _, t in known["mp_forward_trace"]])
    assert_allclose(moves["statistic"], t**2, rtol=1e-6)
    assert selector.result_.model.df_resid == 1
    last = selector.candidates_[selector.candidates_["step"] == len(moves) + 1]
    assert len(last) == 20
    assert set(last["status"]) == {"saturated"}


@pytest.mark.parametrize("criterion", ["pvalue", "aic", "bic"])
@pytest.mark.parametrize("parameters", [{"direction": "backward"}, {"direction": "both", "start": "full"}])
def test_c06_full_start_with_more_columns_than_rows(parameters, criterion):
    r = np.random.default_rng(51)
    X = pd.DataFrame(r.normal(size=(20, 35)), columns=[f"attr_{i}" for i in range(35)])
    y = pd.Series(2 * X.attr_3 - X.attr_7 + r.normal(size=20))
    with pytest.raises(ValueError, match="forward") as refusal:
        stepsel.StepwiseSelector(criterion=criterion, **parameters).fit(X, y)
    assert names_in(str(refusal.value), ["20", "35"]) == {"20", "35"}


@pytest.mark.parametrize("criterion", ["pvalue", "aic", "bic"])
@pytest.mark.parametrize("direction", ["forward", "both"])
def test_c08_target_leak(direction, criterion):
    X, y = load("c08_target_leak")
    selector, messages = fit_and_listen(X, y, direction=direction, criterion=criterion)
    assert path_of(selector) == [("add", "leak")]
    assert PerfectFitWarning in messages
    assert_allclose(selector.result_.tidy()["estimate"], [-1.5, 0.5], rtol=1e-9)


@pytest.mark.parametrize("direction", ["forward", "both"])
def test_c10_three_rows(direction):
    X, y = load("c10_tiny_n")
    parameters = {"direction": direction, "criterion": "pvalue", "alpha_enter": 0.10, "alpha_remove": 0.10}
    selector = select(X, y, **parameters)
    assert_run(selector, r_run("c10_tiny_n", "p_forward"))
    assert statuses(selector, "z")[-1] == "saturated"
    for n in (1, 2):
        with pytest.raises(ValueError, match=rf"\b{n}\b"):
            select(X.iloc[:n], y.iloc[:n], **parameters)


# Settings


@pytest.mark.parametrize("name", sorted(values("s01_hald")["R"]))
def test_s01_hald(name):
    run = r_run("s01_hald", name)
    assert_run(select(*load("s01_hald"), **parameters_of(run)), run)


def test_s02_enter_above_remove():
    X, y = load("s02_enter_gt_remove_loop")
    with pytest.raises(ValueError, match="alpha_enter") as refusal:
        stepsel.StepwiseSelector(criterion="pvalue", alpha_enter=0.15, alpha_remove=0.05).fit(X, y)
    assert "alpha_remove" in str(refusal.value)
    run = r_run("s02_enter_gt_remove_loop", "both_05_10")
    selector = select(X, y, **parameters_of(run))
    assert_run(selector, run)
    assert selector.result_.selected == []
    loop = r_run("s02_enter_gt_remove_loop", "both_15_05")["trace"]
    p = selector.candidates_.set_index("term").loc["a", "p_value"]
    assert_allclose(p, loop[0]["p"], rtol=1e-6)
    # one-way directions use one of the two thresholds only
    forward = select(X, y, direction="forward", criterion="pvalue", alpha_enter=0.15, alpha_remove=0.05)
    assert path_of(forward)[0] == ("add", "a")


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_s04_nothing_significant(direction):
    X, y = load("s04_nothing_significant")
    selector = select(X, y, direction=direction, criterion="pvalue")
    if direction == "backward":
        assert_run(selector, r_run("s04_nothing_significant", "p_backward"))
    assert path_of(selector) == ([("remove", "dose"), ("remove", "age")] if direction == "backward" else [])
    assert_final_model(selector, r_run("s04_nothing_significant", "p_forward"))
    assert not selector.get_support().any()
    assert list(selector.get_feature_names_out()) == []
    assert selector.transform(X).shape == (len(X), 0)
    assert_allclose(selector.result_.predict(X), np.full(len(X), y.mean()), rtol=1e-12)
    assert_allclose(selector.intercept_, y.mean(), rtol=1e-12)
    assert len(selector.coef_) == 0
    full = r_run("s04_nothing_significant", "full")
    assert_run(select(X, y, **parameters_of(full)), full)


@pytest.mark.parametrize("name", ["aic_forward", "bic_backward"])
def test_s07_negative_criterion(name):
    run = r_run("s07_negative_aic", name)
    X, y = load("s07_negative_aic")
    selector = select(X, y, **parameters_of(run))
    assert (selector.trace_["criterion"] < 0).all()
    assert_run(selector, run)
    assert path_of(select(X, y * 1e6, **parameters_of(run))) == path_of(selector)


def test_s09_aic_definition():
    """AIC and BIC as statsmodels defines them: R's less the term for sigma; all differences are the same."""
    X, y = load("s09_aic_definition")
    full = r_run("s09_aic_definition", "full")
    for criterion, penalty, name in (("aic", 2, "AIC"), ("bic", np.log(50), "BIC")):
        selector = select(X, y, direction="backward", criterion=criterion)
        start, last = selector.trace_.iloc[0], selector.trace_.iloc[-1]
        assert_allclose(start["criterion"] + penalty, full[name], rtol=1e-10)
        assert_allclose(last["criterion"], last[criterion], rtol=1e-12)
        assert_allclose(getattr(selector.result_.model, criterion), last[criterion], rtol=1e-10)
    run = r_run("s09_aic_definition", "aic_back")
    assert_run(select(X, y, **parameters_of(run)), run)


# Missing values


def test_m01_missing_rows_are_dropped_once_over_all_candidates():
    X, y = load("m01_rows_change")
    known = values("m01_rows_change")
    missing = X.isna().sum()
    with pytest.raises(ValueError, match="missing") as refusal:
        stepsel.StepwiseSelector().fit(X, y)
    first = X.columns[missing > 0][0]
    assert names_in(str(refusal.value), [first, missing[first]]) == {first, missing[first]}
    for name, run in known["R"].items():
        selector, messages = fit_and_listen(X, y, missing="drop", **parameters_of(run))
        assert_run(selector, run)
        assert path_of(selector)[0][1] != known["per_candidate_first_pick"], name
        assert selector.result_.n_obs == known["n_complete"]
        assert selector.result_.n_dropped == len(X) - known["n_complete"]
        assert names_in(messages[MissingRowsWarning], ["22"]) == {"22"}


SPOILED = {
    "y_nan": ("y", np.nan),
    "y_inf": ("y", np.inf),
    "x_inf": ("b", np.inf),
    "x_minus_inf": ("c", -np.inf),
    "x_nan": ("b", np.nan),
    "y_object_none": ("y", None),
    "x_pd_NA": ("b", pd.NA),
}


@pytest.mark.parametrize("variant", SPOILED)
def test_m02_one_bad_cell(variant):
    column, bad = SPOILED[variant]
    r = np.random.default_rng(80)
    X = pd.DataFrame(r.normal(size=(25, 3)), columns=["a", "b", "c"])
    y = pd.Series(X.a + r.normal(size=25), name="y")
    expected = select(X.drop(index=3), y.drop(index=3))
    if variant == "y_object_none":
        y = y.astype(object)
    if variant == "x_pd_NA":
        X["b"] = X["b"].astype("Float64")
    if column == "y":
        y[3] = bad
    else:
        X.loc[3, column] = bad
    with pytest.raises(ValueError, match=rf"(?<!\w){column}(?!\w)") as refusal:
        stepsel.StepwiseSelector().fit(X, y)
    if variant.endswith("inf"):  # infinite is wrong, not missing
        assert "inf" in str(refusal.value)
        with pytest.raises(ValueError, match=rf"(?<!\w){column}(?!\w)"):
            stepsel.StepwiseSelector(missing="drop").fit(X, y)
        return
    assert names_in(str(refusal.value), ["1"]) == {"1"}
    selector, messages = fit_and_listen(X, y, missing="drop")
    assert path_of(selector) == path_of(expected)
    assert_allclose(selector.result_.tidy()["estimate"], expected.result_.tidy()["estimate"], rtol=1e-9)
    assert (selector.result_.n_obs, selector.result_.n_dropped) == (24, 1)
    assert MissingRowsWarning in messages


# Names


@pytest.mark.parametrize("name", ["p_both", "aic_both"])
def test_h01_symbols_in_names(name):
    run = r_run("h01_symbol_names", name)
    X, y = load("h01_symbol_names", "plain.csv")
    plain = select(X, y, **parameters_of(run))
    assert_run(plain, run)
    named, target = load("h01_symbol_names", target="Net Income (%)")
    selector = select(named, target, **parameters_of(run))
    label = dict(zip(X.columns, named.columns, strict=True))
    assert path_of(selector) == [(action, label[term]) for action, term in path_of(plain)]
    assert list(selector.get_feature_names_out()) == [label[term] for term in plain.result_.selected]
    assert_allclose(selector.trace_["p_value"], plain.trace_["p_value"], rtol=1e-12)
    assert list(selector.result_.tidy()["term"]) == ["(Intercept)", *selector.result_.selected]
    for term in selector.result_.selected:
        assert str(term) in str(selector.result_.summary())


LABELS = {
    "range": [0, 1, 2, 3],
    "gaps": [7, 0, 2, 1],
    "tuple": [("u", 1), ("u", 2), ("v", 1), ("v", 2)],
    "numpy": ["x0", "x1", "x2", "x3"],
}


def integer_names():
    r = np.random.default_rng(112)
    A = r.normal(size=(60, 4))
    return A, 2 * A[:, 3] - A[:, 1] + r.normal(size=60)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("variant", LABELS)
def test_h03_integer_names(variant, direction):
    A, y = integer_names()
    labels = LABELS[variant]
    X = A if variant == "numpy" else pd.DataFrame(A, columns=pd.Index(labels, tupleize_cols=False))
    selector = select(X, y, direction=direction, criterion="pvalue")
    assert list(selector.get_support(indices=True)) == [1, 3]
    assert selector.result_.selected == [labels[1], labels[3]]
    np.testing.assert_array_equal(np.asarray(selector.transform(X)), A[:, [1, 3]])
    if direction != "backward":
        known = values("h03_int_names")["refpy_forward"]["('numpy',)"]
        assert path_of(selector) == [("add", labels[row["pos"]]) for row in known]
        assert_allclose(selector.trace_["p_value"].iloc[1:], [row["p"] for row in known], rtol=1e-6)


def test_h03_mixed_names():
    """scikit-learn refuses labels that mix strings and integers."""
    A, y = integer_names()
    with pytest.raises(TypeError, match="str"):
        stepsel.StepwiseSelector().fit(pd.DataFrame(A, columns=["a", 1, "c", 3]), y)


# Types


def flags():
    r = np.random.default_rng(120)
    n = 60
    flag = r.integers(0, 2, n)
    X = pd.DataFrame({"a": r.normal(size=n), "flag": flag, "c": r.normal(size=n)})
    return X, pd.Series(X.a + 1.2 * flag + r.normal(size=n))


@pytest.mark.parametrize("dtype", [bool, "boolean", "Int64", "Float64", object, "int8", "uint8"])
def test_d01_numbers_of_any_type(dtype):
    X, y = flags()
    parameters = {"direction": "forward", "criterion": "pvalue"}
    expected = select(X.astype(float), y, **parameters)
    known = values("d01_bool_nullable")["refpy_forward"]["('bool',)"]
    assert path_of(expected) == [("add", row["name"]) for row in known]
    assert_allclose(expected.trace_["p_value"].iloc[1:], [row["p"] for row in known], rtol=1e-6)
    selector = select(X.assign(flag=X["flag"].astype(dtype)), y, **parameters)
    assert path_of(selector) == path_of(expected)
    pd.testing.assert_frame_equal(selector.result_.tidy(), expected.result_.tidy(), rtol=1e-12)


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_d01_whole_numbers_as_strings_are_codes(dtype):
    """Text "0" and "1" is a factor of two levels, with the fit of the numbers 0 and 1."""
    X, y = flags()
    parameters = {"direction": "forward", "criterion": "pvalue"}
    expected = select(X, y, **parameters)
    selector = select(X.assign(flag=X["flag"].astype(str).astype(dtype)), y, **parameters)
    assert path_of(selector) == path_of(expected)
    table = expected.result_.tidy().replace({"term": {"flag": "flag[T.1]"}})
    pd.testing.assert_frame_equal(selector.result_.tidy(), table, rtol=1e-12)


@pytest.mark.parametrize("dtype", [object, "string"])
def test_d01_measurements_as_strings_are_named(dtype):
    X, y = flags()
    X["a"] = X["a"].astype(str).astype(dtype)
    with pytest.raises(ValueError, match=r"'a' holds '-?\d\.\d+' at row 0 .* number written as text"):
        stepsel.StepwiseSelector().fit(X, y)


TARGETS = {
    "dataframe": lambda y: y.to_frame(),
    "column_vector": lambda y: y.to_numpy()[:, None],
    "list": list,
    "series_reversed_index": lambda y: y.set_axis(np.arange(len(y))[::-1]),
    "object_float": lambda y: y.astype(object),
    "int": lambda y: y.astype(int),
}


def target_shape_data():
    r = np.random.default_rng(122)
    X = pd.DataFrame(r.normal(size=(50, 3)), columns=["a", "b", "c"])
    return X, pd.Series((10 * X.a + 4 * r.normal(size=50)).round(), name="target")


@pytest.mark.parametrize("shape", TARGETS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_d03_target_shapes(shape):
    X, y = target_shape_data()
    parameters = {"direction": "forward", "criterion": "pvalue"}
    expected = select(X, y, **parameters)
    known = values("d03_target_shapes")["refpy_forward"]["('series',)"]
    assert path_of(expected) == [("add", row["name"]) for row in known]
    assert_allclose(expected.trace_["p_value"].iloc[1], known[0]["p"], rtol=1e-6)
    selector = select(X, TARGETS[shape](y), **parameters)
    assert path_of(selector) == path_of(expected)
    pd.testing.assert_frame_equal(selector.result_.tidy(), expected.result_.tidy(), rtol=1e-12)


def test_d03_two_targets():
    X, y = target_shape_data()
    with pytest.raises(ValueError, match="2"):
        stepsel.StepwiseSelector().fit(X, pd.concat([y, y], axis=1))


# scikit-learn


def test_p01_grid_search():
    r = np.random.default_rng(130)
    X = pd.DataFrame(r.normal(size=(120, 8)), columns=[f"f{i}" for i in range(8)])
    y = pd.Series(X.f0 + 0.6 * X.f1 + 0.25 * X.f2 + r.normal(size=120))
    forward = stepsel.StepwiseSelector(direction="forward", criterion="pvalue")
    before = forward.get_params()
    grid = {"stepwiseselector__alpha_enter": [1e-8, 0.05, 0.5]}
    search = GridSearchCV(make_pipeline(forward, LinearRegression()), grid, cv=5, error_score="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # folds in which nothing reaches 1e-8
        search.fit(X, y)
    best = search.best_estimator_.named_steps["stepwiseselector"]
    alpha = search.best_params_["stepwiseselector__alpha_enter"]
    assert best.alpha_enter == alpha
    direct = select(X, y, direction="forward", criterion="pvalue", alpha_enter=alpha)
    assert path_of(best) == path_of(direct)
    known = values("p01_gridsearch")["refpy_forward"]["()"]
    by_default = select(X, y, direction="forward", criterion="pvalue")
    assert path_of(by_default) == [("add", row["name"]) for row in known]
    assert_allclose(by_default.trace_["p_value"].iloc[1:], [row["p"] for row in known], rtol=1e-6)
    assert forward.get_params() == before
    assert clone(best).get_params() == best.get_params()
    assert not hasattr(clone(best), "support_")
    again = pickle.loads(pickle.dumps(best))
    np.testing.assert_array_equal(again.transform(X), best.transform(X))
    pd.testing.assert_frame_equal(again.trace_, best.trace_)
    as_pandas = clone(best).set_output(transform="pandas").fit(X, y).transform(X)
    pd.testing.assert_frame_equal(as_pandas, X[list(best.get_feature_names_out())])


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.filterwarnings("ignore:X has feature names, but StepwiseSelector was fitted without")
def test_p03_transform_contract(direction):
    r = np.random.default_rng(132)
    X = pd.DataFrame(r.normal(size=(50, 4)), columns=["a", "b", "c", "d"])
    y = pd.Series(2 * X.d + X.b + r.normal(size=50))
    before = (X.copy(deep=True), y.copy(deep=True))
    selector = stepsel.StepwiseSelector(direction=direction, criterion="pvalue")
    with pytest.raises(NotFittedError):
        selector.transform(X)
    selector.fit(X, y)
    if direction != "backward":
        known = values("p03_transform_contract")["refpy_forward"]["()"]
        assert path_of(selector) == [("add", row["name"]) for row in known]
    assert list(selector.get_feature_names_out()) == ["a", "b", "d"]  # input order, not order of entry
    np.testing.assert_array_equal(np.asarray(selector.transform(X)), X[["a", "b", "d"]].to_numpy())
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(X[["d", "c", "b", "a"]])
    with pytest.raises(ValueError, match=r"(?<!\w)c(?!\w)"):
        selector.transform(X[["a", "b", "d"]])
    pd.testing.assert_frame_equal(X, before[0])
    pd.testing.assert_series_equal(y, before[1])
    other = X.rename(columns=dict(zip("abcd", "wxyz", strict=True))).iloc[:, :3]
    selector.fit(other, X["b"] + y / 10)
    fresh = clone(selector).fit(other, X["b"] + y / 10)
    pd.testing.assert_frame_equal(selector.trace_, fresh.trace_)
    assert list(selector.get_feature_names_out()) == list(fresh.get_feature_names_out())
    assert selector.n_features_in_ == 3


# Weights and size


@pytest.mark.parametrize("name", ["p_forward", "bic_back", "full"])
def test_w01_zero_weights(name):
    run = r_run("w01_weights_zero", name)
    table = pd.read_csv(CASES / "w01_weights_zero" / "data.csv")
    X, y, w = table[["a", "b", "c"]], table["y"], table["w"]
    parameters = {**parameters_of(run), "weight_type": "analytic"}
    selector = select(X, y, sample_weight=w, **parameters)
    if name == "bic_back":
        # R's `extractAIC` counts the rows of weight zero in n log(RSS / n), its BIC() does not
        assert path_of(selector) == [("remove", "c")]
        assert_final_model(selector, run)
        change = run["BIC"] - r_run("w01_weights_zero", "full")["BIC"]
        assert_allclose(np.diff(selector.trace_["criterion"]), [change], rtol=1e-9)
    else:
        assert_run(selector, run)
    tenfold = select(X, y, sample_weight=10 * w, **parameters)
    assert path_of(tenfold) == path_of(selector)
    assert_allclose(tenfold.candidates_["p_value"], selector.candidates_["p_value"], rtol=1e-9)


def test_w02_many_rows():
    r = np.random.default_rng(141)
    A = r.normal(size=(300_000, 25))
    beta = np.zeros(25)
    beta[:8] = np.linspace(0.5, 0.005, 8)
    X = pd.DataFrame(A, columns=[f"v{i}" for i in range(25)])
    y = pd.Series(A @ beta + r.normal(size=len(A)))
    tracemalloc.start()
    began = time.perf_counter()
    selector, messages = fit_and_listen(X, y, direction="forward", criterion="pvalue", alpha_enter=0.001)
    seconds, peak = time.perf_counter() - began, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path_of(selector) == [("add", f"v{i}") for i in range(7)]
    assert not messages
    assert seconds < 20
    assert peak < 3 * A.nbytes


# Other families than the normal


@pytest.mark.parametrize("criterion", ["pvalue", "aic", "bic"])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_g01_perfect_separation(direction, criterion):
    """The deviance with `sep` is 0, so its likelihood ratio is the whole null deviance: it is chosen, and named."""
    X, y = load("g01_perfect_separation")
    selector, messages = fit_and_listen(X, y, family="binomial", direction=direction, criterion=criterion)
    assert selector.result_.selected == ["sep"]
    assert names_in(messages[SeparationWarning], X.columns) == {"sep"}
    assert_allclose(selector.trace_[["deviance", "log_likelihood"]].iloc[-1], [0, 0], atol=2e-8)
    tidy = selector.result_.tidy()
    assert np.isfinite(tidy[["estimate", "std_error"]]).all(axis=None)
    probability = selector.result_.model.predict()
    assert_allclose(probability, y, atol=1e-6)
    if direction != "backward":
        null = r_run("g01_perfect_separation", "full_without_sep")
        assert_allclose(selector.trace_["log_likelihood"].iloc[0], null["logLik"], rtol=1e-9)
        assert_allclose(selector.trace_["statistic"].iloc[1], null["deviance"], rtol=1e-8)
        assert path_of(selector)[0] == ("add", "sep")


def test_g01_wald_p_is_not_taken_silently():
    """By Wald the separating column has p near 1: whatever happens to it, a warning names it."""
    X, y = load("g01_perfect_separation")
    wald = {"criterion": "pvalue", "test_enter": "wald", "test_remove": "wald"}
    for direction in DIRECTIONS:
        _, messages = fit_and_listen(X, y, family="binomial", direction=direction, **wald)
        assert "sep" in names_in(messages[SeparationWarning], X.columns)


@pytest.mark.parametrize("mode", ["exact", "leading"])
@pytest.mark.parametrize("name", ["aic_forward", "p_forward_lrt", "p_forward_wald"])
def test_g03_scan_with_bad_columns(name, mode):
    run = r_run("g03_scan_with_bad_column", name)
    X, y = load("g03_scan_with_bad_column")
    without = [column for column in run["params"]["drop"] if column != "mono"]
    selector, messages = fit_and_listen(X.drop(columns=without), y, candidates=mode, **parameters_of(run))
    assert names_in(messages[ConstantColumnWarning], X.columns) == {"mono"}
    path, _ = r_path(run)
    assert path_of(selector) == path
    last = selector.trace_.iloc[-1]
    found = [last["log_likelihood"], last["deviance"], last["aic"], last["bic"]]
    assert_allclose(found, [run["logLik"], run["deviance"], run["AIC"], run["BIC"]], rtol=1e-9)
    if name == "aic_forward":
        assert_run(selector, run)
        assert SeparationWarning not in messages
        return
    assert "rare_variant" in names_in(messages[SeparationWarning], X.columns)
    if name == "p_forward_wald":
        assert_run(selector, run)
    else:
        assert_allclose(selector.trace_["p_value"].iloc[1:], [row["p"] for row in run["trace"]], rtol=1e-6)
        tidy = selector.result_.tidy().set_index("term")
        for term in ("(Intercept)", "snp0", "snp1"):
            assert_allclose(tidy.loc[term, "estimate"], run["coef"][term], rtol=1e-6)
        assert np.isfinite(tidy.loc["rare_variant", "estimate"])


def test_g03_separated_candidates_have_that_status():
    X, y = load("g03_scan_with_bad_column")
    selector, messages = fit_and_listen(X, y, family="binomial", direction="forward", criterion="bic")
    assert set(statuses(selector, "rare_variant")) == {"separated"}
    assert set(statuses(selector, "mono")) <= {"constant"}
    assert names_in(messages[SeparationWarning], X.columns) == {"rare_variant"}


CODINGS = {
    "12": (1, 2),
    "pm1": (-1, 1),
    "bool": (False, True),
    "yesno": ("no", "yes"),
    "float": (0.0, 1.0),
    "category": ("no", "yes"),
}


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("name", ["aic_both", "p_lrt", "p_wald", "bic_both"])
def test_g04_label_codings(coding, name):
    run = r_run("g04_label_codings", name)
    X, y = load("g04_label_codings")
    labels = y.map(dict(enumerate(CODINGS[coding])))
    labels = labels.astype("category") if coding == "category" else labels
    selector = select(X, labels, **parameters_of(run))
    assert_run(selector, run)
    plain = select(X, y, **parameters_of(run))
    pd.testing.assert_frame_equal(selector.trace_, plain.trace_)
    other = select(X, labels, event=CODINGS[coding][0], **parameters_of(run))
    assert path_of(other) == path_of(selector)
    assert_allclose(other.coef_, -selector.coef_, rtol=1e-7)


def test_g04_one_and_three_classes():
    X, y = load("g04_label_codings")
    three = y.copy()
    three.iloc[:10] = 2
    for labels, named in ((three, ["0", "1", "2"]), (three.map({0: "a", 1: "b", 2: "c"}), ["a", "b", "c"])):
        with pytest.raises(ValueError, match=r"\b3\b.*classes|classes.*\b3\b") as refusal:
            select(X, labels, family="binomial")
        assert names_in(str(refusal.value), named) == set(named)
    with pytest.raises(ValueError, match=r"one class.*0"):
        select(X, y * 0, family="binomial")


@pytest.mark.parametrize("mode", ["exact", "leading"])
@pytest.mark.parametrize("name", ["aic", "bic", "full"])
def test_g06_poisson_bic(name, mode):
    """BIC is -2 log-likelihood + k log n: not the one from the deviance, and without a scale parameter."""
    run = r_run("g06_poisson_bic", name)
    assert_run(select(*load("g06_poisson_bic"), candidates=mode, **parameters_of(run)), run)


@pytest.mark.parametrize("family", ["poisson", "negative_binomial"])
def test_g07_counts_that_are_none(family):
    r = np.random.default_rng(106)
    X = pd.DataFrame(r.normal(size=(40, 2)), columns=["a", "b"])
    y = pd.Series(r.poisson(2, 40).astype(float), name="visits")
    bad = {"-1": y.mask(y.index == 7, -1.0), "2.5": y.mask(y.index == 7, 2.5)}
    for value, counts in bad.items():
        with pytest.raises(ValueError, match="visits") as refusal:
            select(X, counts, family=family)
        assert names_in(str(refusal.value), ["7", value]) == {"7", value}
    with pytest.raises(ValueError, match="visits"):
        select(X, y * 0, family=family)


@pytest.mark.parametrize("name", ["aic_both", "p_lrt", "p_wald"])
def test_f16_yes_no_target(name):
    run = r_run("f16_yes_no_target", name)
    X, y = load("f16_yes_no_target", target="default")
    assert set(y) == {"Yes", "No"}
    assert_run(select(X, y, **parameters_of(run)), run)
    with pytest.raises((ValueError, TypeError), match="default"):
        select(X, y)


# Factors

FACES = ["selector", "formula"]


def dot(X, y, **parameters):
    """The selection that `select` makes, by a formula."""
    return by_formula("y ~ .", X.assign(y=y), **parameters)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", ["p_backward", "p_forward", "aic_both", "full"])
def test_k01_factor_is_one_term(name, face):
    run = r_run("k01_factor_group", name)
    for part in ("coef", "se", "p"):
        run[part] = {term.replace("region", "region[T.") + "]" * (term[:6] == "region"): value
                     for term, value in run[part].items()}  # fmt: skip
    X, y = load("k01_factor_group")
    chosen = (select if face == "selector" else dot)(X, y, **parameters_of(run))
    assert_run(chosen, run)
    assert chosen.result_.selected == ["x", "region"]
    collinearity = chosen.result_.collinearity.set_index("term")
    assert_allclose(collinearity["gvif"][list(run["vif_full"])], list(run["vif_full"].values()), rtol=1e-9)
    assert list(collinearity["df"]) == [1, 3]


def test_k01_a_factor_whose_columns_are_not_significant_one_by_one_stays():
    X, y = load("k01_factor_group")
    parameters = {"direction": "backward", "criterion": "pvalue", "alpha_remove": 0.05}
    selector = select(X, y, **parameters)
    joint = selector.candidates_.set_index("term").loc["region"]
    assert (joint["df"], round(joint["p_value"], 4)) == (3, 0.0149)
    single = selector.result_.tidy().set_index("term")["p_value"].drop(["(Intercept)", "x"])
    assert round(single.min(), 3) == 0.108
    indicators = pd.get_dummies(X, columns=["region"], prefix="", prefix_sep="", dtype=float)
    groups = {"region": ["A", "B", "C", "D"]}
    grouped = select(indicators, y, groups=groups, collinearity="ignore", **parameters)
    assert_allclose(grouped.candidates_["p_value"], selector.candidates_["p_value"], rtol=1e-9)
    out = selector.transform(X)
    pd.testing.assert_frame_equal(out, X[["x", "region"]])


def customers():
    r = np.random.default_rng(91)
    n = 200
    X = pd.DataFrame({"customer": [f"C-{i:05d}" for i in range(n)], "a": r.normal(size=n), "b": r.normal(size=n)})
    return X, pd.Series(X.a + r.normal(size=n))


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_k03_identifiers_are_no_factor(dtype, face):
    X, y = customers()
    fit = select if face == "selector" else dot
    with pytest.raises(ValueError, match=r"'customer' has 200 levels in 200 rows.*identifier") as refusal:
        fit(X.astype({"customer": dtype}), y)
    assert "\n" not in str(refusal.value)
    assert fit(X.drop(columns="customer"), y, criterion="bic").result_.selected == ["a"]


@pytest.mark.parametrize("face", FACES)
def test_k03_identifiers_are_no_factor_by_declaration_or_as_digits(face):
    X, y = customers()
    fit = select if face == "selector" else dot
    for column in (X["customer"].str[2:], np.arange(200)):
        with pytest.raises(ValueError, match="'customer' has 200 levels"):
            fit(X.assign(customer=column), y, categorical=["customer"])
    with pytest.raises(ValueError, match=r"'customer' holds '00000' at row 0 .* number written as text"):
        fit(X.assign(customer=X["customer"].str[2:]), y)


TEXT = {
    "f02_semicolon_comma": ({"sep": ";"}, r"'area' holds '135,29' at row 0 "),
    "f04_thousands_us": ({}, r"'area' holds '5,675' at row 0 "),
    "f07_missing_codes": ({}, r"'rooms' holds '\?' at row \d+ "),
    "f10_mixed_note": ({}, r"'area' holds 'about 90' at row 7 "),
    "f14_units_row": ({"skiprows": 1}, r"'area' holds 'm2' at row 0 "),
}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("case", TEXT)
def test_numbers_in_text_are_no_levels(case, face):
    """What a plain `read_csv` makes of these files is never a factor with a level per number: it is refused by name."""
    options, message = TEXT[case]
    table = pd.read_csv(CASES / case / "data.csv", **options)
    X, y = table.drop(columns="y"), pd.Series(np.arange(len(table)) % 7.0)
    with pytest.raises(ValueError, match=message):
        (select if face == "selector" else dot)(X, y)


@pytest.mark.parametrize("mode", ["exact", "leading"])
def test_k02_dummy_trap(mode):
    """All five dummies and an intercept: the last one is aliased and named, the rest goes as in R without it."""
    X, y = load("k02_dummy_trap_logit")
    for name in ("aic_forward", "p_forward_lrt"):
        run = r_run("k02_dummy_trap_logit", name)
        assert_run(select(X, y, candidates=mode, **parameters_of(run)), run)
    run = r_run("k02_dummy_trap_logit", "aic_backward")
    selector, messages = fit_and_listen(X, y, candidates=mode, **parameters_of(run))
    path, _ = r_path(run)
    assert path[0] == ("remove", "g_E")
    assert path_of(selector) == path[1:]
    assert_final_model(selector, run)
    assert "g_E" in names_in(messages[CollinearityWarning], X.columns)


def test_k02_one_factor_instead_of_all_its_dummies_is_no_trap():
    X, y = load("k02_dummy_trap_logit")
    dummies = [name for name in X if name.startswith("g_")]
    factor = X.drop(columns=dummies).assign(g=X[dummies].idxmax(axis=1).str[2:])
    selector, messages = fit_and_listen(factor, y, family="binomial", direction="backward")
    assert CollinearityWarning not in messages
    start = r_run("k02_dummy_trap_logit", "aic_backward")["trace"][0]["crit"]
    assert_allclose(selector.trace_["criterion"].iloc[0], start, rtol=1e-9)
    assert selector.trace_["n_params"].iloc[0] == 7
    assert set(selector.candidates_.query("term == 'g'")["df"]) == {4}


# Formulas


@pytest.mark.parametrize("name", ["p_both", "aic_both"])
def test_h01_symbols_in_a_formula(name):
    """`.` stands for columns of any name, and backquotes hold one: no name is read as an expression."""
    run = r_run("h01_symbol_names", name)
    X, _ = load("h01_symbol_names", "plain.csv")
    table = pd.read_csv(CASES / "h01_symbol_names" / "data.csv")
    label = dict(zip(X.columns, table.columns.drop("Net Income (%)"), strict=True))
    path, _ = r_path(run)
    for right in (".", " + ".join(f"`{name}`" for name in label.values())):
        result = by_formula(f"`Net Income (%)` ~ {right}", table, **parameters_of(run)).result_
        assert list(result.trace["term"].iloc[1:]) == [label[term] for _, term in path]
        expected = {label.get(term, term): value for term, value in run["coef"].items()}
        tidy = result.tidy().set_index("term")["estimate"]
        assert_allclose(tidy[list(expected)], list(expected.values()), rtol=1e-8)
        assert_allclose(result.predict(table), result.model.predict(), rtol=1e-9)


def test_h03_a_formula_cannot_name_integers():
    A, y = integer_names()
    with pytest.raises(ValueError, match="column label 0 is no text"):
        stepsel.stepwise("y ~ .", pd.DataFrame(A).assign(y=y))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_n05_pontius_by_powers(direction):
    X, y = load("n05_pontius")
    known = values("n05_pontius")
    result = stepsel.stepwise("y ~ x + I(x**2)", X[["x"]].assign(y=y), direction=direction, criterion="pvalue")
    assert result.selected == ["x", "I(x ** 2)"]
    tidy = result.tidy()
    assert_allclose(tidy["estimate"], known["certified_coef"], rtol=1e-8)
    assert_allclose(tidy["std_error"], known["certified_se"], rtol=1e-8)


@pytest.mark.parametrize("name", ["aic_both", "p_lrt", "p_wald"])
def test_f16_yes_no_target_by_formula(name):
    run = r_run("f16_yes_no_target", name)
    X, y = load("f16_yes_no_target", target="default")
    assert_run(dot(X, y, **parameters_of(run)), run)
    with pytest.raises(ValueError, match=r"'y' holds '(Yes|No)'"):
        dot(X, y)


@pytest.mark.parametrize("coding", CODINGS)
def test_g04_label_codings_by_formula(coding):
    run = r_run("g04_label_codings", "aic_both")
    X, y = load("g04_label_codings")
    labels = y.map(dict(enumerate(CODINGS[coding])))
    labels = labels.astype("category") if coding == "category" else labels
    assert_run(dot(X, labels, **parameters_of(run)), run)


def test_m01_missing_rows_by_formula():
    X, y = load("m01_rows_change")
    for run in values("m01_rows_change")["R"].values():
        assert_run(dot(X, y, missing="drop", **parameters_of(run)), run)
    with pytest.raises(ValueError, match="missing"):
        dot(X, y)


@pytest.mark.parametrize("name", ["p_forward", "full"])
def test_w01_zero_weights_by_formula(name):
    run = r_run("w01_weights_zero", name)
    table = pd.read_csv(CASES / "w01_weights_zero" / "data.csv")
    X, y = table.drop(columns="y"), table["y"]
    parameters = {**parameters_of(run), "weight_type": "analytic"}
    assert_run(dot(X, y, sample_weight="w", **parameters), run)
