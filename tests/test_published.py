"""Worked examples printed by SAS, MATLAB, NAG, JMP, StepReg and textbooks, at their printed precision.

Constants between the definitions (n rows, p coefficients with the intercept, SSE residual sum of squares);
stepsel: -2 logLik = n ln(SSE/n) + n (1 + ln 2 pi), AIC = -2 logLik + 2 p, BIC = -2 logLik + p ln n:

* R `extractAIC` and `step`: n ln(SSE/n) + 2 p, which is AIC - n (1 + ln 2 pi)
* SAS GLMSELECT AIC: n ln(SSE/n) + 2 p + n + 2, which is AIC - n ln 2 pi + 2
* SAS GLMSELECT AICC: n ln(SSE/n) + n (n + p) / (n - p - 2), which is AICc - n ln 2 pi
* SAS SBC: n ln(SSE/n) + p ln n, which is BIC - n (1 + ln 2 pi)
* `leaps` BIC: n ln(SSE/SSE0) + p ln n, which is BIC - BIC0 + ln n (0: the intercept-only model)
* MATLAB `stepwiselm` AIC and BIC: as stepsel
* SAS LOGISTIC and PHREG AIC and SC, R AIC and BIC of `glm` and `coxph`: as stepsel (Cox: ln of the number of events)
"""

import mtcars_stepreg
import numpy as np
import pandas as pd
import pytest
from faces import by_formula
from helpers import PUBLISHED, by_term, path_of, select, survival
from published import (
    ACTIONS,
    LOG_2PI,
    assert_steps_of_r,
    changes,
    data,
    estimates,
    extract_aic,
    printed,
    printed_coefficients,
    printed_table,
    reference,
)

HALD = ["x1", "x2", "x3", "x4"]


def hald(**parameters):
    return select(*data("hald", "y", HALD), **parameters)


# Hald's cement data


def test_hald_matlab_add_add_add_remove():
    """MathWorks' `stepwiselm` example: x4, x1, x2 enter, x4 leaves again (PEnter 0.06, PRemove 0.10)."""
    example = reference("hald_matlab_stepwiselm_penter06")
    published = example["published"]
    selector = hald(criterion="pvalue", alpha_enter=0.06, alpha_remove=0.10)
    assert path_of(selector) == [("add", "x4"), ("add", "x1"), ("add", "x2"), ("remove", "x4")]
    for found, step in zip(selector.trace_.iloc[1:].itertuples(), published["steps"], strict=True):
        assert (found.action, found.term) == (ACTIONS[step["action"]], step["variable"])
        printed(found.statistic, step["F"])
        printed(found.p_value, step["p"])
    printed_coefficients(selector, published["final"])
    model, last = selector.result_.model, selector.trace_.iloc[-1]
    assert (model.nobs, model.df_resid) == (published["n"], published["df_resid"])
    printed(np.sqrt(model.scale), published["RMSE"])
    printed(last["r2"], published["R2"])
    printed(last["adj_r2"], published["adjR2"])
    printed(model.fvalue, published["F_model"])
    printed(model.f_pvalue, published["p_model"])
    assert_steps_of_r(selector, example["r_verified"])


def test_hald_matlab_p_forward():
    example = reference("hald_matlab_step_variants")
    published = example["published"]["sse_forward_default"]
    selector = hald(direction="forward", criterion="pvalue", alpha_enter=0.05)
    steps = published["steps"]
    assert path_of(selector) == [("add", step["variable"]) for step in steps]
    for found, step in zip(selector.trace_.iloc[1:].itertuples(), steps, strict=True):
        printed(found.statistic, step["F"])
        printed(found.p_value, step["p"])
    for step, name in enumerate(["candidates_step1", "candidates_step2", "candidates_stop"], start=1):
        printed_table(by_term(selector.candidates_, step, "p_value", "add"), published[name])
    printed_coefficients(selector, published["final"])
    assert_steps_of_r(selector, example["r_verified"]["forward_p05"])


def test_hald_matlab_p_backward():
    example = reference("hald_matlab_step_variants")
    published = example["published"]["sse_backward"]
    selector = hald(direction="backward", criterion="pvalue", alpha_remove=0.10)
    steps = published["steps"]
    assert path_of(selector) == [("remove", step["variable"]) for step in steps]
    for found, step in zip(selector.trace_.iloc[1:].itertuples(), steps, strict=True):
        printed(found.statistic, step["F"])
        printed(found.p_value, step["p"])
    for step in (1, 2):
        name = f"candidates_step{step}"
        printed_table(by_term(selector.candidates_, step, "p_value", "remove"), published[name])
    assert selector.result_.selected == published["final_vars"].split()
    assert_steps_of_r(selector, example["r_verified"]["backward_p10"])


@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_hald_matlab_information_criterion_forward(criterion):
    published = reference("hald_matlab_step_variants")["published"][f"{criterion}_forward"]
    selector = hald(direction="forward", criterion=criterion)
    assert path_of(selector) == [("add", step["variable"]) for step in published["steps"]]
    for step in published["steps"]:
        printed(selector.trace_["criterion"].iloc[step["step"]], step[criterion.upper()])
        printed_table(changes(selector, step["step"], "add"), step["delta"])
    if "final" in published:
        printed_coefficients(selector, published["final"])
    assert selector.result_.selected == published["final_vars"].split()


def test_hald_matlab_aic_backward():
    published = reference("hald_matlab_step_variants")["published"]["aic_backward"]
    selector = hald(direction="backward", criterion="aic")
    assert path_of(selector) == [("remove", "x3")]
    printed(selector.trace_["criterion"].iloc[1], published["steps"][0]["AIC"])
    printed_table(changes(selector, 1, "remove"), published["steps"][0]["delta"])
    printed_table(changes(selector, 2, "remove"), published["stop_delta"])


def test_hald_matlab_bic_both_from_the_full_model():
    published = reference("hald_matlab_step_variants")["published"]["bic_backward_bidir"]
    selector = hald(direction="both", criterion="bic", start="full")
    assert path_of(selector) == [("remove", "x3"), ("remove", "x4")]
    for step in published["steps"]:
        printed(selector.trace_["criterion"].iloc[step["step"]], step["BIC"])
        printed_table(changes(selector, step["step"], "remove"), step["delta"])
    stop = changes(selector, 3, "add") | {f"remove_{t}": d for t, d in changes(selector, 3, "remove").items()}
    for name, number in published["stop"].items():
        printed(stop[name.removeprefix("add_")], number)


def test_hald_montgomery():
    """Minitab's forward selection prints |t|; with one degree of freedom t squared is the partial F."""
    example = reference("hald_montgomery_forward_alpha25")
    published = example["published"]
    selector = hald(direction="forward", criterion="pvalue", alpha_enter=0.25)
    assert path_of(selector) == [("add", "x4"), ("add", "x1"), ("add", "x2")]
    for found, step in zip(selector.trace_.iloc[1:].itertuples(), published["steps"][:3], strict=True):
        printed(np.sqrt(found.statistic), step["abs_t"])
    left_out = by_term(selector.candidates_, 4, "statistic", "add")
    assert list(left_out) == ["x3"]
    assert np.sqrt(left_out["x3"]) < published["steps"][3]["t_crit"]
    printed_coefficients(selector, {name: [value] for name, value in published["final"].items()})
    assert_steps_of_r(selector, example["r_verified"])


def test_hald_nag():
    """NAG's g02ef prints the variance ratios of every forward and backward stage.

    NAG compares F with the constant 4, stepsel compares p: the thresholds 0.06 and 0.10 lead over the same
    path. The printed standard error of the intercept (2.294) is not R's, MATLAB's or the closed form's 2.2862
    and is left out; everything else that NAG prints holds.
    """
    example = reference("hald_nag_g02ef")
    published = example["published"]
    selector = hald(criterion="pvalue", alpha_enter=0.06, alpha_remove=0.10)
    # a backward stage follows each entry: it is the removals of the next step's table
    stages = [(1, "add"), (2, "remove"), (2, "add"), (3, "remove"), (3, "add"), (4, "remove"), (5, "add")]
    for (step, move), stage in zip(stages, published["trace"], strict=True):
        printed_table(by_term(selector.candidates_, step, "statistic", move), stage["F"])
    taken = [("add", s["enter"]) for s in published["trace"] if s.get("enter")]
    taken += [("remove", s["remove"]) for s in published["trace"] if s.get("remove")]
    assert sorted(path_of(selector)) == sorted(taken)
    final = published["final"]
    final["intercept"] = final["intercept"][:1]
    printed(selector.result_.model.scale, final.pop("RMS"))
    printed_coefficients(selector, final)
    assert_steps_of_r(selector, example["r_verified"])


def test_hald_sas_reg_forward():
    """PROC REG SELECTION=FORWARD. Its "bounds on condition number" start with the largest VIF."""
    example = reference("hald_sas_reg_forward")
    published = example["published"]
    parameters = {"direction": "forward", "criterion": "pvalue", "alpha_enter": 0.50}
    selector = hald(**parameters)
    cp = hald(direction="forward", criterion="cp").trace_
    sst = selector.trace_["deviance"].iloc[0]
    for step in published["steps"]:
        row, model = selector.trace_.iloc[step["step"]], hald(max_terms=step["step"], **parameters)
        assert (row["action"], row["term"]) == ("add", step["variable"])
        assert cp["term"].iloc[step["step"]] == step["variable"]
        printed(cp["criterion"].iloc[step["step"]], step["Cp"])
        found = {"R2": row["r2"], "F": row["statistic"], "p": row["p_value"], "SSE": row["deviance"]}
        found |= {"SSR": sst - row["deviance"], "model_F": model.result_.model.fvalue}
        table = estimates(model)
        found |= {"intercept": table["estimate"].iloc[0], "intercept_se": table["std_error"].iloc[0]}
        for name in found.keys() & step.keys():
            printed(found[name], step[name])
        for name, column in (("coef", "estimate"), ("se", "std_error")):
            printed_table(dict(table[column].iloc[1:]), step.get(name, {}))
        if "typeII_F" in step:
            printed_table(dict(table["statistic"].iloc[1:] ** 2), step["typeII_F"])
            printed(row["max_vif"], step["bounds_condition_number"][0])
    for subset in published["rsquare_selection"]:
        start = hald(criterion="cp", start=subset["vars"].split()).trace_.iloc[0]
        printed(start["r2"], subset["R2"])
        printed(start["criterion"], subset["Cp"])
    assert_steps_of_r(selector, example["r_verified"])


# SAS fitness data


def fitness(**parameters):
    candidates = reference("fitness_sas_reg")["dataset"]["candidates"]
    return select(*data("fitness", "Oxygen", candidates), **parameters)


def test_fitness_full_model():
    published = reference("fitness_sas_reg")["published"]["full_model"]
    selector = fitness(direction="backward", criterion="pvalue", alpha_remove=1.0)
    row, model = selector.trace_.iloc[0], selector.result_.model
    assert len(selector.result_.selected) == 6
    printed(row["deviance"], published["SSE"])
    printed(model.ess, published["SSM"])
    printed(model.fvalue, published["F"])
    printed(row["r2"], published["R2"])
    printed(row["adj_r2"], published["adjR2"])
    printed(np.sqrt(model.scale), published["RootMSE"])
    printed(data("fitness", "Oxygen")[1].mean(), published["dep_mean"])


@pytest.mark.parametrize(
    ("name", "direction", "alpha_enter", "alpha_remove"),
    [
        ("forward_50", "forward", 0.50, 0.10),
        ("backward_10", "backward", 0.05, 0.10),
        ("stepwise_15_15", "both", 0.15, 0.15),
        ("spss_05_10", "both", 0.05, 0.10),
    ],
)
def test_fitness_sas_and_spss_thresholds(name, direction, alpha_enter, alpha_remove):
    alphas = {"alpha_enter": alpha_enter, "alpha_remove": alpha_remove}
    selector = fitness(direction=direction, criterion="pvalue", **alphas)
    assert_steps_of_r(selector, reference("fitness_sas_reg")["r_verified"][name])


def test_fitness_jmp():
    """JMP's stop is not its choice: it walks the whole p-value path, then takes the model of least BIC on it.

    stepsel's `criterion="bic"` stops as soon as no step lowers BIC, which is at RunTime alone; JMP's model is
    the least BIC along the whole forward path.
    """
    example = reference("fitness_sas_reg")
    published, verified = example["published"]["jmp"], example["r_verified"]
    whole = fitness(direction="forward", criterion="pvalue", alpha_enter=1.0).trace_
    assert whole["term"].iloc[1] == published["forward_first"]
    assert list(whole["term"].iloc[1:]) == verified["path_minBIC"]["order"]
    # R's BIC counts sigma
    np.testing.assert_allclose(whole["bic"] + np.log(31), verified["path_minBIC"]["BIC_path"], rtol=1e-9)
    least = int(np.argmin(whole["bic"]))
    assert list(whole["term"].iloc[1 : least + 1]) == published["forward_final"]
    assert fitness(direction="forward", criterion="bic").result_.selected == ["RunTime"]
    backward = fitness(direction="backward", criterion="pvalue", alpha_remove=0.0)
    assert [term for _, term in path_of(backward)[:2]] == published["backward_2steps_removed"]


def test_fitness_aicc():
    verified = reference("fitness_sas_reg")["r_verified"]
    order = verified["path_minBIC"]["order"]
    for size, name in ((4, "AICC_4var"), (5, "AICC_5var")):
        start = fitness(criterion="aicc", start=order[:size]).trace_.iloc[0]
        np.testing.assert_allclose(start["criterion"] - 31 * LOG_2PI, verified[name], rtol=1e-9)


# R's swiss example


def test_swiss_drop1_and_step():
    example = reference("swiss_r_step")
    X, y = data("swiss", "Fertility", example["dataset"]["candidates"])
    selector = select(X, y, direction="backward", criterion="aic")
    drop1 = example["published"]["drop1"]
    none = drop1.pop("none")
    start = selector.trace_.iloc[0]
    constant = 47 * (1 + LOG_2PI)
    printed(start["deviance"], none["RSS"])
    printed(start["criterion"] - constant, none["AIC"])
    residual_variance = start["deviance"] / (47 - start["n_params"])
    f = by_term(selector.candidates_, 1, "statistic", "remove")
    p = by_term(selector.candidates_, 1, "p_value", "remove")
    aic = extract_aic(selector, by_term(selector.candidates_, 1, "criterion", "remove"))
    assert set(f) == set(drop1)
    for term, row in drop1.items():
        printed(f[term], row["F"])
        printed(p[term], row["p"])
        printed(f[term] * residual_variance, row["SS"])
        printed(start["deviance"] + f[term] * residual_variance, row["RSS"])
        printed(aic[term], row["AIC"])
    anova = example["r_verified"]["step_anova"]
    assert path_of(selector) == [("remove", row["Step"].removeprefix("- ")) for row in anova[1:]]
    found = selector.trace_["criterion"] - constant
    np.testing.assert_allclose(found, [row["AIC"] for row in anova], rtol=1e-9)
    for term, value in example["r_verified"]["final"].items():
        np.testing.assert_allclose(estimates(selector).loc[term, "estimate"], value, rtol=1e-9)
    by_p = select(X, y, direction="backward", criterion="pvalue", alpha_remove=0.05)
    assert_steps_of_r(by_p, example["r_verified"]["p_backward_05"])


# Prostate cancer data


def prostate(version, **parameters):
    return select(*data(f"prostate_{version}", "lpsa"), **parameters)


@pytest.mark.parametrize(("version", "name"), [("faraway", "old_data_aic"), ("corrected", "corrected_aic")])
def test_prostate_backward_aic(version, name):
    """`step()` on both circulating versions of the data; the old one is a copy rounded to 4 digits.

    That rounding moves the last printed digit by up to one unit (of the final intercept by 2.3 units).
    """
    example = reference("prostate_esl_step")
    selector = prostate(version, direction="backward", criterion="aic")
    units = 1.0 if version == "faraway" else 0.5
    tables = example["published"][name]
    assert path_of(selector) == [("remove", table["removed"]) for table in tables[1:]]
    for step, table in enumerate(tables, start=1):
        printed(selector.trace_["criterion"].iloc[step - 1] - 97 * (1 + LOG_2PI), table["AIC"], units)
        candidates = by_term(selector.candidates_, step, "criterion", "remove")
        printed_table(extract_aic(selector, candidates), table["drop"], units)
    key = "old_aic" if version == "faraway" else "corrected_aic"
    final = example["r_verified"][key]["final"]
    assert list(estimates(selector).index) == list(final)
    np.testing.assert_allclose(estimates(selector)["estimate"], list(final.values()), rtol=1e-8)
    if version == "faraway":
        for found, number in zip(
            estimates(selector)["estimate"], example["published"]["old_data_aic_final"], strict=True
        ):
            printed(found, number, units=2.5)


def test_prostate_backward_with_the_penalty_log_67():
    """The course script penalises by log(67), the size of the training part, on all 97 rows.

    `criterion="bic"` penalises by log(97); the path is the same, and the printed values follow from the
    residual sums of squares of its models.
    """
    example = reference("prostate_esl_step")
    published = example["published"]["old_data_bic_k_log67"]
    selector = prostate("faraway", direction="backward", criterion="bic")
    trace = selector.trace_
    assert [term for _, term in path_of(selector)] == [step["remove"] for step in published[:-1]]
    values = 97 * np.log(trace["deviance"] / 97) + np.log(67) * trace["n_params"]
    for value, step in zip(values, published, strict=True):
        printed(value, step["AIC"], units=1.0)
    final = example["published"]["old_data_bic_final"]
    printed_coefficients(selector, {name: [value] for name, value in final.items()})


def test_prostate_backward_p_values():
    example = reference("prostate_esl_step")
    selector = prostate("faraway", direction="backward", criterion="pvalue", alpha_remove=0.05)
    published = example["published"]["p_backward_faraway"]
    assert [term for _, term in path_of(selector)] == [step["remove"] for step in published]
    for found, step in zip(selector.trace_.iloc[1:].itertuples(), published, strict=True):
        if "p" in step:
            printed(found.p_value, step["p"])
    assert_steps_of_r(selector, example["r_verified"]["p_backward_05_old"])
    corrected = prostate("corrected", direction="backward", criterion="pvalue", alpha_remove=0.05)
    assert_steps_of_r(corrected, example["r_verified"]["p_backward_05_corrected"])


def test_prostate_full_model():
    published = reference("prostate_esl_step")["published"]["corrected_full"]
    selector = prostate("corrected", direction="backward", criterion="pvalue", alpha_remove=1.0)
    model, row = selector.result_.model, selector.trace_.iloc[0]
    printed(np.sqrt(model.scale), published.pop("sigma"))
    printed(row["r2"], published.pop("R2"))
    printed(row["adj_r2"], published.pop("adjR2"))
    printed(model.fvalue, published.pop("F"))
    printed_coefficients(selector, {name: [value] for name, value in published.items()})


# StepReg's and SAS GLMSELECT's mtcars runs


@pytest.mark.parametrize("criterion", mtcars_stepreg.OFFERED)
@pytest.mark.parametrize("direction", mtcars_stepreg.DIRECTIONS)
def test_mtcars_stepreg(direction, criterion):
    run = mtcars_stepreg.run(direction, criterion)
    selector = select(run.X, run.y, **run.parameters)
    run.assert_outcome(path_of(selector), selector.trace_)
    assert list(selector.trace_["n_params"]) == [step["n_params"] for step in run.steps]
    assert list(selector.trace_["n_terms"]) == [step["n_effects"] for step in run.steps]
    assert set(selector.result_.selected) == set(run.final)


@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
def test_mtcars_significance_levels_in_r(direction):
    X, y = mtcars_stepreg.data()
    selector = select(X, y, direction=direction, criterion="pvalue", alpha_enter=0.15, alpha_remove=0.15)
    verified = reference("mtcars_stepreg_sas_all_criteria")["r_verified"]
    assert_steps_of_r(selector, verified["SL"][direction])


# Hitters, from An Introduction to Statistical Learning


def hitters(face="text", **parameters):
    """League, Division and NewLeague as text, or as the dummy columns of the book."""
    X, y = data("hitters", "Salary")
    parameters["criterion"] = "pvalue"
    if face == "formula":
        return by_formula("Salary ~ .", X.assign(Salary=y), **parameters)
    if face == "dummies":
        for name, level in DUMMIES.items():
            X = X.assign(**{f"{name}{level}": (X[name] == level).astype(float)}).drop(columns=name)
    return select(X, y, **parameters)


DUMMIES = {"League": "N", "Division": "W", "NewLeague": "N"}
HITTERS = ["text", "formula", "dummies"]


def of_dummies(terms, face):
    """The book names dummy columns; the selection among factors names these."""
    factors = {} if face == "dummies" else {f"{name}{level}": name for name, level in DUMMIES.items()}
    return [factors.get(term, term) for term in terms]


def models(selector):
    """The set of terms after every step."""
    current, sets = set(), []
    if selector.direction == "backward":
        current = {term for _, term in path_of(selector)} | set(selector.result_.selected)
    for action, term in path_of(selector):
        if action == "remove":
            sets.append(set(current))
        current = current | {term} if action == "add" else current - {term}
        if action == "add":
            sets.append(set(current))
    return sets


def as_sets(published, face):
    return [set(of_dummies([terms] if isinstance(terms, str) else terms, face)) for terms in published]


@pytest.mark.parametrize("face", HITTERS)
@pytest.mark.parametrize(
    ("direction", "name", "alphas"),
    [("forward", "fwd7", {"alpha_enter": 1.0}), ("backward", "bwd7", {"alpha_remove": 1.0})],
)
def test_hitters_seven_terms(direction, name, alphas, face):
    """`coef(regfit, 7)`: seven terms by `max_terms`, whatever their p-values.

    `full7` is the exhaustive search, which is no stepwise selection.
    """
    published = reference("hitters_isl_regsubsets")["published"][name]
    selector = hitters(face, direction=direction, max_terms=7, **alphas)
    published["intercept"] = published.pop("(Intercept)")
    if face != "dummies":
        published["Division[T.W]"] = published.pop("DivisionW")
    printed_coefficients(selector, {term: [value] for term, value in published.items()})


@pytest.mark.parametrize("face", HITTERS)
def test_hitters_every_size(face):
    """`regsubsets` at every size, by the residual sum of squares: the whole p-value path."""
    verified = reference("hitters_isl_regsubsets")["r_verified"]
    forward = hitters(face, direction="forward", alpha_enter=1.0)
    assert models(forward) == as_sets(verified["forward_sets"], face)
    trace, n = forward.trace_, 263
    leaps_bic = trace["bic"] - trace["bic"].iloc[0] + np.log(n)
    np.testing.assert_allclose(leaps_bic.iloc[1:], verified["forward_bic"], rtol=1e-9)
    np.testing.assert_allclose(trace["adj_r2"].iloc[1:], verified["forward_adjr2"], rtol=1e-9)
    full_variance = trace["deviance"].iloc[-1] / (n - 20)
    cp = trace["deviance"] / full_variance - n + 2 * trace["n_params"]
    np.testing.assert_allclose(cp.iloc[1:], verified["forward_cp"], rtol=1e-8)
    backward = hitters(face, direction="backward", alpha_remove=0.0)
    assert models(backward)[::-1] == as_sets(verified["backward_sets"], face)
    trace = backward.trace_
    leaps_bic = trace["bic"] - trace["bic"].iloc[-1] + np.log(n)
    np.testing.assert_allclose(leaps_bic.iloc[:-1][::-1], verified["backward_bic"], rtol=1e-9)


# SAS PROC LOGISTIC's remission data, PROC PHREG's myeloma data, StepReg's lung data

SAS = {"criterion": "pvalue", "test_enter": "score", "test_remove": "wald"}


def assert_score_and_wald_steps(selector, verified):
    """A selection by score entry and Wald removal that R computed; its iterations leave 1e-6 in the statistics."""
    steps = verified["steps"]
    assert path_of(selector) == [(ACTIONS[step["action"]], step["variable"]) for step in steps[1:]]
    assert set(selector.result_.selected) == set(as_list(verified["final_variables"]))
    for found, step in zip(selector.trace_.itertuples(), steps, strict=True):
        expected = [-step["minus2LL"] / 2, step["AIC"], step["SC"] if "SC" in step else step["SBC_nevent"]]
        np.testing.assert_allclose([found.log_likelihood, found.aic, found.bic], expected, rtol=1e-9)
        if step["step"] == 0:
            continue
        statistic = step["score_chisq" if step["action"] == "enter" else "wald_chisq"]
        np.testing.assert_allclose([found.statistic, found.p_value], [statistic, step["p"]], rtol=3e-6)
        if "candidates" in step:
            assert_tests_of_r(selector, step["step"], found.action, step["candidates"])
    table = estimates(selector)
    assert set(table.index) == set(verified["final_coefficients"])
    for term, row in verified["final_coefficients"].items():
        np.testing.assert_allclose(
            list(table.loc[term, ["estimate", "std_error", "p_value"]]),
            [row["estimate"], row["se"], row["p"]],
            rtol=1e-6,
        )
    if "excluded_candidates" in verified and selector.direction != "backward":
        assert_tests_of_r(selector, len(steps), "add", verified["excluded_candidates"])


def assert_tests_of_r(selector, step, move, expected):
    name = "score_chisq" if move == "add" else "wald_chisq"
    for column, key in (("statistic", name), ("p_value", "p")):
        found = by_term(selector.candidates_, step, column, move)
        assert set(found) == set(expected)
        for term, row in expected.items():
            np.testing.assert_allclose(found[term], row[key], rtol=3e-6, err_msg=f"{column} of {term}")


def as_list(value):
    return [value] if isinstance(value, str) else list(value)


def remission(**parameters):
    columns = reference("remission_sas_logistic")["dataset"]["candidates"]
    return select(*data("remission", "remiss", columns), family="binomial", **{**SAS, **parameters})


@pytest.mark.parametrize("mode", ["exact", "leading"])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("stepwise_sle30_sls35", {"alpha_enter": 0.30, "alpha_remove": 0.35}),
        ("stepwise_05_05", {"alpha_enter": 0.05, "alpha_remove": 0.05}),
        ("forward_sle05", {"direction": "forward", "alpha_enter": 0.05}),
        ("backward_sls05", {"direction": "backward", "alpha_remove": 0.05}),
        ("backward_sls20", {"direction": "backward", "alpha_remove": 0.20}),
    ],
)
def test_remission_sas_logistic(name, parameters, mode):
    """PROC LOGISTIC's worked example: li, temp and cell enter and stay at 0.30 and 0.35."""
    verified = reference("remission_sas_logistic")["r_verified"][name]
    assert_score_and_wald_steps(remission(candidates=mode, **parameters), verified)


def test_remission_likelihood_ratios():
    """The likelihood ratios that R printed beside the score statistics, along the same path."""
    verified = reference("remission_sas_logistic")["r_verified"]["stepwise_sle30_sls35"]
    parameters = {"direction": "forward", "test_enter": "lr", "test_remove": "lr"}
    for step in verified["steps"][1:]:
        before = [earlier["variable"] for earlier in verified["steps"][1 : step["step"]]]
        selector = remission(start=before, max_steps=1, alpha_enter=0.99, **parameters)
        for column, key in (("statistic", "LR_chisq"), ("p_value", "LR_p")):
            found = by_term(selector.candidates_, 1, column, "add")
            for term, row in step["candidates"].items():
                np.testing.assert_allclose(found[term], row[key], rtol=1e-6)


def cox(name, time, event, **parameters):
    table = pd.read_csv(PUBLISHED / "data" / f"{name}.csv")
    y = survival(table.pop(event) == reference_event(event), table.pop(time))
    return select(table, y, family="cox", **parameters)


def reference_event(column):
    return 2 if column == "status" else 1


@pytest.mark.parametrize("mode", ["exact", "leading"])
@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_myeloma_sas_phreg(ties, mode):
    """SCalc enters (score p .177 < .25) and is the next to leave (Wald p .178 > .15): SAS stops there."""
    verified = reference("myeloma_sas_phreg")["r_verified"][ties]
    alphas = {"alpha_enter": 0.25, "alpha_remove": 0.15}
    selector = cox("myeloma", "Time", "VStatus", ties=ties, candidates=mode, **alphas, **SAS)
    assert path_of(selector)[-2:] == [("add", "SCalc"), ("remove", "SCalc")]
    assert_score_and_wald_steps(selector, verified)
    assert selector.result_.selected == ["LogBUN", "HGB"]
    assert "visited" in selector.result_.stop_reason
    with pytest.raises(ValueError, match="alpha_enter"):
        cox("myeloma", "Time", "VStatus", criterion="pvalue", **alphas)


def lung(**parameters):
    return cox("lung_complete", "time", "status", **parameters)


@pytest.mark.parametrize("mode", ["exact", "leading"])
@pytest.mark.parametrize(
    ("direction", "name", "parameters"),
    [
        ("forward", "SL", {"criterion": "pvalue", "alpha_enter": 0.15}),
        ("backward", "SL", {"criterion": "pvalue", "alpha_remove": 0.15}),
        ("forward", "AIC", {"criterion": "aic"}),
        ("backward", "AIC", {"criterion": "aic"}),
        ("forward", "SBC", {"criterion": "bic"}),
        ("backward", "SBC", {"criterion": "bic"}),
    ],
)
def test_lung_stepreg(direction, name, parameters, mode):
    """StepReg's Cox selections, whose AIC and SBC are those of SAS; its p-values are of likelihood ratios."""
    published = reference("lung_stepreg_cox")["published"][direction][name]
    selector = lung(direction=direction, candidates=mode, **parameters)
    steps = [step for step in published if step["step"] > 0]
    key = "entered" if direction == "forward" else "removed"
    assert path_of(selector) == [("add" if direction == "forward" else "remove", step[key]) for step in steps]
    column = "p_value" if name == "SL" else "criterion"
    found = selector.trace_.iloc[1:]
    np.testing.assert_allclose(found[column], [step["value"] for step in steps], rtol=1e-7)
    if direction == "backward" and name != "SL":
        np.testing.assert_allclose(selector.trace_["criterion"].iloc[0], published[0]["value"], rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("score_forward_15", {"direction": "forward", "alpha_enter": 0.15}),
        ("wald_backward_15", {"direction": "backward", "alpha_remove": 0.15}),
    ],
)
def test_lung_score_and_wald(name, parameters):
    assert_score_and_wald_steps(lung(**SAS, **parameters), reference("lung_stepreg_cox")["r_verified"][name])
