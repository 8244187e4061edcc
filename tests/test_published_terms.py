"""Worked examples with factors, groups, interactions and powers, at their printed precision.

The constants between the definitions of AIC and BIC are those of test_published.py; besides:

* R `AIC` and `BIC` of `lm`, which olsrr prints, count sigma as a parameter: they are stepsel's + 2 and + ln n
* R `step` and `stepAIC` of `glm`: -2 logLik + k p for binary data, as stepsel
* MATLAB `step` of a linear model: as stepsel
"""

import numpy as np
import pandas as pd
import pytest
from faces import by_formula
from helpers import PUBLISHED, path_of, select
from numpy.testing import assert_allclose
from published import (
    ACTIONS,
    LOG_2PI,
    assert_candidates_of_r,
    assert_steps_of_r,
    changes,
    data,
    estimates,
    printed,
    printed_coefficients,
    printed_table,
    reference,
)

FACES = ["selector", "formula"]


def table(name):
    return pd.read_csv(PUBLISHED / "data" / f"{name}.csv")


# SENIC hospitals, SAS PROC REG with GROUPNAMES=

WRITTEN = {"S1": "I(School - 1)", "Nratio": "I(Nurses / Census)", "Region": "C(Region)"}


def senic(face="selector", groups=None, **parameters):
    """The candidates of the group run, or those named; Region is four codes."""
    names = groups or reference("senic_sas_reg_group_stepwise")["settings"]["group_stepwise"]["groups"]
    hospitals = table("senic")
    if face == "formula":
        return by_formula("Risk ~ " + " + ".join(WRITTEN.get(name, name) for name in names), hospitals, **parameters)
    hospitals = hospitals.assign(Nratio=hospitals["Nurses"] / hospitals["Census"], S1=hospitals["School"] - 1)
    if "Region" in names:
        parameters["categorical"] = ["Region"]
    return select(hospitals[names], hospitals["Risk"], **parameters)


BY_P = {"criterion": "pvalue", "alpha_enter": 0.15, "alpha_remove": 0.15}


@pytest.mark.parametrize("face", FACES)
def test_senic_sas_group_stepwise(face):
    """Region enters with its three degrees of freedom; Nratio, entered before it, leaves after S1."""
    # by formula the terms are called as they are written
    named = WRITTEN if face == "formula" else {}
    verified = reference("senic_sas_reg_group_stepwise")["r_verified"]["group_stepwise"]
    selector = senic(face, **BY_P)
    steps = [(ACTIONS[step["action"]], named.get(step["group"], step["group"])) for step in verified["steps"]]
    assert path_of(selector) == steps
    cp = senic(face, start="full", criterion="cp")
    scale = cp.trace_["deviance"].iloc[0] / (113 - cp.trace_["n_params"].iloc[0])
    for number, step in enumerate(verified["steps"], start=1):
        row = selector.trace_.iloc[number]
        assert row["df"] == step["df"]
        assert_allclose([row["statistic"], row["p_value"]], [step["F"], step["p"]], rtol=1e-6)
        assert_allclose(row["r2"], step["R2"], rtol=1e-9)
        assert_allclose(row["deviance"] / scale - 113 + 2 * row["n_params"], step["Cp"], rtol=1e-8)
        if "candidates" in step:
            expected = {named.get(term, term): values for term, values in step["candidates"].items()}
            assert_candidates_of_r(selector, number, "add", expected)
    assert set(selector.result_.selected) == {named.get(term, term) for term in verified["final"]}
    labels = "C(Region)[T.{}]" if face == "formula" else "Region[T.{}]"
    assert {labels.format(level) for level in (2, 3, 4)} < set(estimates(selector).index)


@pytest.mark.parametrize("face", FACES)
def test_senic_sas_group_stepwise_as_printed(face):
    """The first two steps; SAS's C(p) of them is the criterion "cp" among the same candidates."""
    published = reference("senic_sas_reg_group_stepwise")["published"]["group"]
    for step in published:
        selector = senic(face, max_steps=step["step"], **BY_P)
        row, size = selector.trace_.iloc[-1], step["step"]
        assert (row["action"], row["term"]) == ("add", step["group"])
        printed(row["r2"], step["R2"])
        printed(row["statistic"], step["F" if size == 1 else "F_Stay"])
        printed_coefficients(selector, {term: [value] for term, value in step["coef"].items()})
        partial = dict(estimates(selector)["statistic"] ** 2)
        for term in ("Culture", "Stay")[:size]:
            printed(partial[term], step.get(f"F_{term}", step.get("F")))
        start = senic(face, criterion="cp", start=selector.result_.selected, max_steps=0)
        printed(start.trace_["criterion"].iloc[0], step["Cp"])


def test_senic_sas_forward():
    example = reference("senic_sas_reg_group_stepwise")
    candidates = example["settings"]["forward"]["candidates"]
    selector = senic(groups=candidates, direction="forward", criterion="pvalue", alpha_enter=0.5)
    cp = senic(groups=candidates, direction="forward", criterion="cp").trace_
    for step in example["published"]["forward"]:
        row = selector.trace_.iloc[step["step"]]
        assert (row["action"], row["term"]) == ("add", step["variable"])
        assert cp["term"].iloc[step["step"]] == step["variable"]
        printed(row["r2"], step["R2"])
        printed(row["deviance"], step["SSE"])
        printed(cp["criterion"].iloc[step["step"]], step["Cp"])
        if "F" in step:
            printed(row["statistic"], step["F"])
        if "F_model" in step:
            model = senic(groups=candidates, max_steps=step["step"], **BY_P).result_.model
            printed(model.fvalue, step["F_model"])


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("forward_50", {"direction": "forward", "alpha_enter": 0.5}),
        ("backward_10", {"direction": "backward", "alpha_remove": 0.1}),
        ("stepwise_15_15", BY_P),
    ],
)
def test_senic_single_columns_in_r(name, parameters):
    example = reference("senic_sas_reg_group_stepwise")
    selector = senic(groups=example["settings"]["forward"]["candidates"], **{"criterion": "pvalue", **parameters})
    assert_steps_of_r(selector, example["r_verified"][name])


# MASS, birthwt with recoded factors


def births(face="selector", **parameters):
    """`low` on the eight candidates; race against white."""
    births = table("birthwt_recoded")
    if face == "formula":
        return by_formula("low ~ .", births, family="binomial", categorical={"race": "white"}, **parameters)
    X = births.drop(columns="low")
    return select(X, births["low"], family="binomial", categorical={"race": "white"}, **parameters)


def as_r_names(selector):
    """{R's name: estimate} of the final model."""
    found = dict(estimates(selector)["estimate"])
    return {
        term.replace("[T.True]", "TRUE").replace("[T.", "").replace("]", "")
        + "TRUE" * (term in ("smoke", "ptd", "ht", "ui")): value
        for term, value in found.items()
    }


def assert_anova_of_r(selector, anova, criterion):
    """The `anova` component of `stepAIC`: steps, their degrees of freedom, deviances and criteria."""
    signs = {"+": "add", "-": "remove"}
    assert path_of(selector) == [(signs[row["Step"][0]], row["Step"][2:]) for row in anova[1:]]
    trace = selector.trace_
    assert list(trace["df"].iloc[1:]) == [row["Df"] for row in anova[1:]]
    assert_allclose(trace["statistic"].iloc[1:], [row["Deviance"] for row in anova[1:]], rtol=1e-7)
    assert_allclose(trace["deviance"], [row["Resid. Dev"] for row in anova], rtol=1e-10)
    assert_allclose(trace[criterion], [row["AIC"] for row in anova], rtol=1e-10)
    assert_allclose(trace["criterion"], trace[criterion], rtol=1e-12)
    assert list(189 - trace["n_params"]) == [row["Resid. Df"] for row in anova]


@pytest.mark.parametrize("mode", ["exact", "leading"])
@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_birthwt_mass_backward(criterion, face, mode):
    """MASS `stepAIC`: race and ftv leave whole, with two degrees of freedom."""
    verified = reference("birthwt_mass_stepaic")["r_verified"]
    selector = births(face, direction="backward", criterion=criterion, candidates=mode)
    assert_anova_of_r(selector, verified[f"{criterion}_backward"], criterion)
    found, expected = as_r_names(selector), verified[f"{criterion}_final"]
    assert set(found) == set(expected)
    assert_allclose([found[term] for term in expected], list(expected.values()), rtol=1e-7)


@pytest.mark.parametrize("face", FACES)
def test_birthwt_rcmdr_as_printed(face):
    """RcmdrMisc prints the final model of backward/forward by BIC (`k = log(189)`), with AIC."""
    published = reference("birthwt_mass_stepaic")["published"]["bic_final"]
    selector = births(face, direction="both", start="full", criterion="bic")
    last, null = selector.trace_.iloc[-1], births(face, direction="forward", criterion="bic").trace_.iloc[0]
    printed(last["deviance"], published.pop("resid_deviance"))
    printed(null["deviance"], published.pop("null_deviance"))
    printed(last["aic"], published.pop("AIC"))
    assert 189 - last["n_params"] == published.pop("df_resid")
    found = as_r_names(selector)
    printed_table({term.replace("(Intercept)", "intercept"): value for term, value in found.items()}, published)


def test_birthwt_factors_leave_on_the_joint_test():
    """StepReg 1.5.5 removed ftv on the Wald p of one of its columns, .694883; `car::Anova` gives the joint test.

    Its numbers are those of R's `glm` where that stops by default; iterated to the end it has a chi-square of
    1.317133 and the p-values 0.517593 and 0.694891, as stepsel.
    """
    wald = {"direction": "backward", "criterion": "pvalue", "alpha_remove": 0.15, "test_remove": "wald"}
    selector = births(**wald)
    assert path_of(selector)[0] == ("remove", "ftv")
    row = selector.trace_.iloc[1]
    assert row["df"] == 2
    assert_allclose([row["statistic"], row["p_value"]], [1.3172, 0.517566], rtol=1e-4)
    assert_allclose([row["statistic"], row["p_value"]], [1.317133388, 0.517592672], rtol=1e-8)
    full = births(direction="backward", criterion="pvalue", alpha_remove=1.0)
    assert_allclose(estimates(full).loc["ftv[T.2+]", "p_value"], 0.694883, rtol=2e-5)
    assert_allclose(estimates(full).loc["ftv[T.2+]", "p_value"], 0.694890512, rtol=1e-8)


@pytest.mark.parametrize("mode", ["exact", "leading"])
def test_birthwt_mass_interactions(mode):
    """`stepAIC(glm, ~ .^2 + I(scale(age)^2) + I(scale(lwt)^2))`, from all main effects.

    race leaves after age:ftv and smoke:ui have come in, and the main effects of these stay. No woman has both ht and
    ui, so that ht:ui has no column that is not constant.
    """
    search = reference("birthwt_mass_stepaic")["r_verified"]["interaction_search_hierarchical"]
    upper = "~ .^2 + I(scale(age)**2) + I(scale(lwt)**2)"
    selector = births("formula", scope=upper, candidates=mode)
    assert_anova_of_r(selector, search["path"], "aic")
    final = search["final"].removeprefix("low ~ ").split(" + ")
    assert selector.result_.selected == final
    last = selector.candidates_.query("step == 4").set_index("term")
    barred = {"age", "smoke", "ui", "ftv"} | {f"{name}:race" for name in ("age", "lwt")}
    barred |= {f"race:{name}" for name in ("smoke", "ptd", "ht", "ui", "ftv")}
    assert set(last.index[last["status"] == "hierarchy"]) == barred
    assert last.loc["ht:ui", "status"] == "constant"
    by_list = births("formula", scope={"lower": "~ 1", "upper": upper}, candidates=mode)
    pd.testing.assert_frame_equal(by_list.trace_, selector.trace_)


# MATLAB, air quality


def air(upper, **parameters):
    """MATLAB's `step` from the three main effects."""
    formula = "ozone ~ solar + wind + temp"
    return by_formula(formula, table("airquality_si"), scope={"lower": "~ 1", "upper": upper}, **parameters)


UPPER = {
    "interactions": "~ (solar + wind + temp)**2",
    "quadratic": "~ (solar + wind + temp)**2 + I(solar**2) + I(wind**2) + I(temp**2)",
}
NSTEPS = {"interactions": 3, "quadratic": 2}  # of the quadratic run two steps are printed


@pytest.mark.parametrize("upper", UPPER)
def test_airquality_matlab_step(upper):
    """`step(mlin, 'Criterion', 'AIC', 'NSteps', 3, 'Upper', ...)`: AIC, and its change with every term on offer."""
    published = reference("airquality_matlab_step_interactions")["published"][upper]
    selector = air(UPPER[upper], criterion="aic", max_steps=NSTEPS[upper])
    squares = {f"{name}^2": f"I({name} ** 2)" for name in ("solar", "wind", "temp")}
    steps = published["steps"]
    assert path_of(selector) == [("add", squares.get(step["variable"], step["variable"])) for step in steps]
    for step in steps:
        printed(selector.trace_["criterion"].iloc[step["step"]], step["AIC"])
        offered = {squares.get(term, term): value for term, value in step["delta"].items()}
        printed_table(changes(selector, step["step"], "add"), offered)
        assert_barred_while_contained(selector, step["step"])
    if upper == "interactions":
        found = changes(selector, 3, "add")
        printed(found["solar:wind"], published["stop"]["add solar:wind"])
        printed(changes(selector, 3, "remove")["wind:temp"], published["stop"]["remove wind:temp"])


def assert_barred_while_contained(selector, step):
    """Main effects are offered for removal only while nothing in the model contains them."""
    before = [term for _, term in path_of(selector)[: step - 1]]
    rows = selector.candidates_.query(f"step == {step} and move == 'remove'").set_index("term")["status"]
    for term in ("solar", "wind", "temp"):
        assert (rows[term] == "hierarchy") == any(term in other for other in before)


def test_airquality_matlab_final_model():
    example = reference("airquality_matlab_step_interactions")
    published = example["published"]["interactions"]
    selector = air(UPPER["interactions"], criterion="aic", max_steps=3)
    printed_coefficients(selector, {term: [value] for term, value in published["final"].items()})
    row = selector.trace_.iloc[-1]
    printed(row["r2"], published["R2"])
    printed(row["adj_r2"], published["adjR2"])
    printed(np.sqrt(selector.result_.model.scale), published["RMSE"])
    verified = example["r_verified"]["final_interactions"]
    found = estimates(selector)["estimate"]
    assert set(found.index) == set(verified)
    assert_allclose(found[list(verified)], list(verified.values()), rtol=1e-9)
    star = by_formula("ozone ~ solar * temp + wind * temp", table("airquality_si"), start="full", max_steps=0)
    assert_allclose(star.trace_["criterion"], row["aic"], rtol=1e-12)


# Stata, auto

REMOVED = {"(displacement gear_ratio)": "engine"}


@pytest.mark.parametrize("foreign", ["number", "text"])
def test_auto_stata_backward_with_a_group(foreign):
    """`stepwise, pr(.2): regress mpg weight weight2 (displ gear) turn headroom foreign price`."""
    example = reference("auto_stata_backward_groups")
    verified = example["r_verified"]
    cars = table("auto_stata").assign(weight2=lambda car: car["weight"] ** 2)
    if foreign == "text":
        cars["foreign"] = cars["foreign"].map({0: "Domestic", 1: "Foreign"})
    columns = ["weight", "weight2", "displacement", "gear_ratio", "turn", "headroom", "foreign", "price"]
    selector = select(
        cars[columns],
        cars["mpg"],
        groups={"engine": ["displacement", "gear_ratio"]},
        direction="backward",
        criterion="pvalue",
        alpha_remove=0.2,
    )
    removed = [REMOVED.get(term, term) for term in example["published"]["removed"]]
    assert path_of(selector) == [("remove", term) for term in removed]
    assert selector.result_.selected == example["published"]["final"]
    for row, step in zip(selector.trace_.iloc[1:].itertuples(), verified["steps"], strict=True):
        assert row.df == step["df"]
        assert_allclose([row.statistic, row.p_value], [step["F"], step["p"]], rtol=1e-6)
    label = {"foreign": "foreign[T.Foreign]"} if foreign == "text" else {}
    found = estimates(selector)
    assert set(found.index) == {label.get(term, term) for term in verified["coef"]}
    for term, row in verified["coef"].items():
        numbers = found.loc[label.get(term, term), ["estimate", "std_error", "statistic", "p_value"]]
        assert_allclose(list(numbers), list(row.values()), rtol=1e-6)


def test_auto_stata_square_as_a_power():
    """weight2 written as I(weight**2) bars the removal of weight, which Stata does not know of; the path is the same.

    A formula has no terms of several columns but factors and bases, so the removal of the group is not written here.
    """
    verified = reference("auto_stata_backward_groups")["r_verified"]
    formula = "mpg ~ weight + I(weight**2) + turn + headroom + foreign + price"
    selector = by_formula(formula, table("auto_stata"), direction="backward", criterion="pvalue", alpha_remove=0.2)
    assert selector.result_.selected == ["weight", "I(weight ** 2)", "turn", "foreign"]
    found = estimates(selector).rename(index={"I(weight ** 2)": "weight2"})
    for term, row in verified["coef"].items():
        assert_allclose(found.loc[term, "estimate"], row["Estimate"], rtol=1e-7)
        assert_allclose(found.loc[term, "std_error"], row["Std. Error"], rtol=1e-7)
    first = selector.candidates_.query("step == 1").set_index("term")["status"]
    assert first["weight"] == "hierarchy"


# Hitters, log salary


def test_hitters_glmselect_by_significance():
    """GLMSELECT's first example, `selection=stepwise(select=SL)`: League and Division are text."""
    verified = reference("hitters_glmselect_settings_r")["r_verified"]["SL_15_15"]
    coefficients = verified["final_coefficients"]
    coefficients["Division[T.W]"] = coefficients.pop("DivisionW")
    players = table("hitters")
    X = players[reference("hitters_glmselect_settings_r")["dataset"]["candidates"]]
    assert_steps_of_r(select(X, np.log(players["Salary"]), **BY_P), verified)
    assert_steps_of_r(by_formula("np.log(Salary) ~ . - NewLeague", players, **BY_P), verified)


def test_hitters_glmselect_by_sbc():
    verified = reference("hitters_glmselect_settings_r")["r_verified"]["SBC_both"]
    selector = by_formula("np.log(Salary) ~ . - NewLeague", table("hitters"), criterion="bic")
    path = verified["path"]
    assert path_of(selector) == [("add", row["Step"].removeprefix("+ ")) for row in path[1:]]
    assert_allclose(selector.trace_["deviance"], [row["Resid. Dev"] for row in path], rtol=1e-9)
    assert_allclose(selector.trace_["bic"] - 263 * (1 + LOG_2PI), [row["AIC"] for row in path], rtol=1e-9)
    assert set(estimates(selector).index) == set(verified["final"])


# olsrr, surgical units


def surgical(**parameters):
    return select(*data("surgical", "y", reference("surgical_olsrr")["dataset"]["candidates"]), **parameters)


def assert_rows_of_olsrr(rows, trace):
    """AIC and SBC with sigma counted; Sawa's BIC (the column SBIC) is none of stepsel's criteria."""
    assert len(rows) == len(trace)
    for row, found in zip(rows, trace.itertuples(), strict=True):
        printed(found.aic + 2, row["AIC"])
        printed(found.bic + np.log(54), row["SBC"])
        printed(found.r2, row["R2"])
        printed(found.adj_r2, row["adjR2"])


@pytest.mark.parametrize(
    ("name", "title", "parameters"),
    [
        ("forward_p", "ols_step_forward_p", {"direction": "forward", "criterion": "pvalue", "alpha_enter": 0.3}),
        ("backward_p", "ols_step_backward_p", {"direction": "backward", "criterion": "pvalue", "alpha_remove": 0.3}),
        ("both_p", "ols_step_both_p", {"criterion": "pvalue", "alpha_enter": 0.1, "alpha_remove": 0.3}),
        ("forward_ic", "ols_step_forward_aic", {"direction": "forward", "criterion": "aic"}),
        ("forward_ic", "ols_step_forward_sbc", {"direction": "forward", "criterion": "bic"}),
        ("backward_ic", "ols_step_backward_aic", {"direction": "backward", "criterion": "aic"}),
        ("backward_ic", "ols_step_backward_sbc", {"direction": "backward", "criterion": "bic"}),
    ],
)
def test_surgical_olsrr(name, title, parameters):
    """olsrr's own expected output, of its p-value, AIC and SBC selections.

    The runs by Sawa's BIC take the steps of those by SBC.
    """
    published = reference("surgical_olsrr")["published"][name]
    rows = published[f"{title}(model)"]
    selector = surgical(**parameters)
    move = "remove" if name.startswith("backward") else "add"
    assert path_of(selector) == [(move, row["variable"].removesuffix(" (+)")) for row in rows[1:]]
    assert_rows_of_olsrr(rows, selector.trace_)
    if title.endswith("_sbc"):
        sawa = published[f"{title.removesuffix('_sbc')}_sbic(model)"]
        assert [row["variable"] for row in sawa] == [row["variable"] for row in rows]


def test_surgical_olsrr_final_model():
    published = reference("surgical_olsrr")["published"]["forward_p_final"]
    selector = surgical(direction="forward", criterion="pvalue", alpha_enter=0.3)
    found = estimates(selector).rename(index={"(Intercept)": "intercept"})
    X, y = data("surgical", "y")
    for term in ("intercept", *selector.result_.selected):
        values = published[term]
        row = found.loc[term]
        printed(row["estimate"], values[0])
        printed(row["std_error"], values[1])
        if len(values) > 2:
            printed(row["estimate"] * X[term].std() / y.std(), values[2])
            printed(row["statistic"], values[3])
        if len(values) > 4:
            printed(row["p_value"], values[4])
    model, last = selector.result_.model, selector.trace_.iloc[-1]
    for value, name in ((model.ess, "SSR"), (model.ssr, "SSE"), (model.fvalue, "F")):
        printed(value, published[name])
    printed(last["r2"], published["R2"])
    printed(last["adj_r2"], published["adjR2"])


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("both_p", {"alpha_enter": 0.1, "alpha_remove": 0.3}),
        ("backward_p", {"direction": "backward", "alpha_remove": 0.3}),
        ("both_p_10_15_removes_liver_test", {"alpha_enter": 0.1, "alpha_remove": 0.15}),
    ],
)
def test_surgical_in_r(name, parameters):
    selector = surgical(criterion="pvalue", **parameters)
    assert_steps_of_r(selector, reference("surgical_olsrr")["r_verified"][name])


def test_surgical_olsrr_removal_of_an_earlier_term():
    """A run of olsrr at 0.10 and 0.15, whose sixth step takes out liver_test, the first that entered."""
    run = reference("surgical_olsrr")["independent_run"]
    selector = surgical(criterion="pvalue", alpha_enter=0.1, alpha_remove=0.15)
    signs = {"+": "add", "-": "remove"}
    assert path_of(selector) == [(signs[step[0]], step[1:]) for step in run["steps"]]
    for value, number in zip(selector.trace_["aic"].iloc[1:] + 2, run["AIC"], strict=True):
        printed(value, number)


def test_surgical_olsrr_hierarchical():
    """olsrr's `hierarchical = TRUE` is no search: terms enter in the order of the formula until one is not significant.

    So every model is the one before it and the next term, and stepsel has the numbers and the decision when that is
    the only candidate; hierarchy in stepsel is about interactions.
    """
    published = reference("surgical_olsrr")["published"]["forward_p_hierarchical_0.1"]
    (rows,) = published.values()
    entered = [row["variable"] for row in rows[1:]]
    given = [*entered, "liver_test"]  # the model is y ~ bcs + alc_heavy + pindex + enzyme_test + liver_test + ...
    X, y = data("surgical", "y")
    parameters = {"direction": "forward", "criterion": "pvalue", "alpha_enter": 0.1}
    trace = [select(X, y, max_steps=0, **parameters).trace_.iloc[0]]
    for size, term in enumerate(given, start=1):
        selector = select(X[given[:size]], y, keep=given[: size - 1], **parameters)
        assert path_of(selector) == ([("add", term)] if term in entered else [])
        if term in entered:
            trace.append(selector.trace_.iloc[1])
    assert_rows_of_olsrr(rows, pd.DataFrame(trace))
