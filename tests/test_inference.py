"""stepsel.inference: known answers of R, slow loops that do the same, and what it refuses."""

import copy
import json
import pickle
import warnings

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from helpers import TESTS, read_json, select, survival
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from stepsel import StepwiseSelector, stepwise
from stepsel.inference import null_test, optimism, selection_stability, selective_inference, split_p_values
from stepsel.inference.rerun import on_rows, run, task_of
from stepsel.inference.selective import _order, _path, _sigma, _standard
from stepsel.inference.splits import aggregated
from stepsel.inference.together import fits_together, resampled_together

STABILITY, INFERENCE = TESTS / "reference" / "stability", TESTS / "reference" / "inference"
NAMES = {"relative_conditional_bias": "relative_conditional_bias_percent"}


@pytest.fixture
def data():
    r = np.random.default_rng(5)
    X = pd.DataFrame(r.normal(size=(80, 6)), columns=list("abcdef"))
    X["b"] = X["a"] * 0.9 + 0.4 * X["b"]
    y = pd.Series(X["a"] + 0.5 * X["c"] + r.normal(size=80), name="y")
    return X, y


def resamples(n_rows, n=12, seed=0):
    return np.random.default_rng(seed).integers(0, n_rows, (n, n_rows))


# Stability ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", ["swiss", "birthwt_numeric"])
def test_stability_with_the_rows_of_r(name, n_jobs):
    """reference/stability (make.R): 200 bootstrap samples. In one of birthwt's `ht` separates: R stops on the way."""
    known = read_json(STABILITY / f"{name}.json")
    frame = pd.read_csv(STABILITY / known["data"])
    rows = pd.read_csv(STABILITY / known["resamples"], header=None).to_numpy()
    selector = StepwiseSelector(**{key: known[key] for key in ("family", "direction", "criterion")})
    found = selection_stability(selector, frame[known["terms"]], frame[known["target"]], resamples=rows, n_jobs=n_jobs)
    assert found.n_resamples == len(rows)
    for column in found.table.columns.drop("se_selected"):  # make.R did not keep it
        expected = pd.Series(known[NAMES.get(column, column)], dtype=float)
        if column == "inclusion_frequency":
            assert found.table[column].to_dict() == expected.to_dict()
            continue
        if name != "swiss" and column.startswith(("rmsd", "relative")):
            expected = expected.drop(index="ht")
        assert_allclose(found.table.loc[expected.index, column], expected, rtol=1e-6, atol=1e-9)
    models = zip(found.models["terms"], found.models["count"], strict=True)
    counts = {tuple(sorted(terms)): count for terms, count in models}
    assert len(counts) == known["n_models"]
    for model in known["models"]:
        assert counts[tuple(model["terms"].split(" + "))] == model["count"]
    assert found.chosen.selected == known["selected"]


FAMILIES = {
    "gaussian": lambda eta, r: eta + r.normal(size=len(eta)),
    "binomial": lambda eta, r: r.random(len(eta)) < 1 / (1 + np.exp(-eta)),
    "poisson": lambda eta, r: r.poisson(np.exp(eta / 2)),
    "gamma": lambda eta, r: r.gamma(2.0, np.exp(eta / 2)),
    "negative_binomial": lambda eta, r: r.poisson(np.exp(eta / 2 + 1) * r.gamma(1.0, 1.0, len(eta))),
    "cox": lambda eta, r: survival(r.random(len(eta)) < 0.8, r.exponential(np.exp(-eta))),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_stability_is_a_loop_over_fits(family):
    """With factors, in every family: each resample as a selection of its own, on the rows repeated."""
    r = np.random.default_rng(8)
    n = 120
    X = pd.DataFrame(
        {"x": r.normal(size=n), "g": r.choice(list("uvw"), n), "z": r.normal(size=n), "w": r.normal(size=n)}
    )
    y = FAMILIES[family](X["x"] * 0.8 + (X["g"] == "v") * 0.7, r)
    selector = StepwiseSelector(family=family, direction="backward")
    rows = resamples(n, 6)
    found = selection_stability(selector, X, y, resamples=rows)
    assert not hasattr(selector, "result_")
    labels = [label for label in found.labels if label != "(Intercept)"]
    for at, chosen in enumerate(rows):
        alone = select(X.iloc[chosen], y[chosen] if family == "cox" else np.asarray(y)[chosen], family=family,
                       direction="backward").result_  # fmt: skip
        assert found.included[at].tolist() == [term in alone.selected for term in found.terms]
        expected = alone.coefficients.reindex(labels).fillna(0.0)
        slopes = found.coefficients[at][int(family != "cox") :]
        assert_allclose(slopes, expected, rtol=1e-5, atol=1e-7)
    joint = found.table.loc[["g[T.v]", "g[T.w]"], "inclusion_frequency"]
    assert (joint == found.inclusion["g"]).all()


@pytest.mark.parametrize("kind", ["frequency", "analytic", "offset", "groups", "missing", "polars", "formula"])
def test_stability_of_all_kinds_of_input(kind):
    r = np.random.default_rng(9)
    n = 90
    X = pd.DataFrame(r.normal(size=(n, 4)), columns=list("abcd"))
    eta = X["a"] + 0.5 * X["b"]
    y = pd.Series(eta + r.normal(size=n), name="y")
    parameters, extra, rows = {}, {}, resamples(n, 5)
    if kind in ("frequency", "analytic"):
        parameters["weight_type"], extra["sample_weight"] = kind, r.integers(1, 4, n).astype(float)
    elif kind == "offset":
        y, parameters["family"] = pd.Series(r.poisson(np.exp(eta / 2))), "poisson"
        extra["offset"] = r.normal(size=n) / 5
    elif kind == "groups":
        parameters["groups"] = {"g": ["c", "d"]}
    if kind == "missing":
        X.loc[[2, 5], "c"] = np.nan
        found = selection_stability(StepwiseSelector(missing="drop"), X, y, resamples=resamples(n - 2, 5))
        X, y, rows = X.dropna(), y.drop(index=[2, 5]), resamples(n - 2, 5)
    elif kind == "polars":
        found = selection_stability(StepwiseSelector(), pl.from_pandas(X), y, resamples=rows)
    elif kind == "formula":
        found = selection_stability(stepwise("y ~ a*b + c", X.assign(y=y)), resamples=rows)
    else:
        found = selection_stability(StepwiseSelector(**parameters), X, y, resamples=rows, **extra)
    for at, chosen in enumerate(rows):
        if kind == "formula":
            alone = stepwise("y ~ a*b + c", X.assign(y=y).iloc[chosen], collinearity="ignore")
        else:
            part = {name: values[chosen] for name, values in extra.items()}
            alone = select(X.iloc[chosen], y.iloc[chosen], **part, **parameters).result_
        assert [term for term, inside in zip(found.terms, found.included[at], strict=True) if inside] == alone.selected
        slopes = pd.Series(found.coefficients[at], index=found.labels).drop("(Intercept)")
        assert_allclose(slopes[slopes != 0], alone.coefficients, rtol=1e-6)


def test_models_and_pairs(data):
    found = selection_stability(StepwiseSelector(criterion="bic"), *data, n_resamples=60, random_state=1)
    assert found.models["count"].sum() == 60
    assert_allclose(found.models["cumulative_share"].iloc[-1], 1.0)
    assert found.models["count"].is_monotonic_decreasing
    pair = found.pairs.set_index(["term_1", "term_2"]).loc[("a", "b")]
    together = found.included[:, 0] & found.included[:, 1]
    assert_allclose(pair["observed"], together.mean())
    assert_allclose(pair["expected"], found.included[:, 0].mean() * found.included[:, 1].mean())
    assert pair["observed"] < pair["expected"]  # they stand in for each other


def test_subsamples(data):
    found = selection_stability(StepwiseSelector(), *data, n_resamples=20, method="subsample", random_state=3)
    assert found.n_resamples == 20
    assert "subsamples" in repr(found)


@pytest.mark.parametrize("tool", [selection_stability, null_test, split_p_values, optimism])
def test_the_same_on_any_number_of_cores(data, tool):
    X, y = data
    before = X.copy(deep=True), y.copy(deep=True)
    count = {selection_stability: "n_resamples", null_test: "n_permutations", split_p_values: "n_splits"}
    parameters = {count.get(tool, "n_resamples"): 60}

    def values(random_state, n_jobs=1, family="gaussian"):
        response = y if family == "gaussian" else (y > 0).to_numpy()
        found = tool(
            StepwiseSelector(family=family), X, response, random_state=random_state, n_jobs=n_jobs, **parameters
        )
        return found.null if tool is null_test else found.table.to_numpy(dtype=float)

    assert_allclose(values(7), values(7, n_jobs=2), rtol=0)
    assert_allclose(values(7, family="binomial"), values(7, n_jobs=2, family="binomial"), rtol=0)
    assert_allclose(values(np.random.RandomState(3)), values(np.random.RandomState(3)), rtol=0)
    assert_allclose(values(np.random.default_rng(3)), values(np.random.default_rng(3)), rtol=0)
    assert not np.array_equal(values(7), values(8))
    pd.testing.assert_frame_equal(X, before[0])
    pd.testing.assert_series_equal(y, before[1])


def test_resamples_that_cannot_be_run_are_counted():
    r = np.random.default_rng(0)
    X, y = r.normal(size=(30, 2)), np.r_[np.ones(2), np.zeros(28)]
    rows = np.vstack([np.arange(30), np.arange(2, 30).repeat(2)[:30], np.arange(30)])
    found = selection_stability(StepwiseSelector(family="binomial"), X, y, resamples=rows)
    assert (found.n_resamples, found.n_failed) == (2, 1)
    with pytest.raises(ValueError, match=r"none of the 1 resamples could be run: .*one class only"):
        selection_stability(StepwiseSelector(family="binomial"), X, y, resamples=rows[1:2])


def test_more_columns_than_rows():
    r = np.random.default_rng(0)
    X = r.normal(size=(30, 60))
    found = selection_stability(
        StepwiseSelector(direction="forward", criterion="bic", max_terms=3),
        X,
        X[:, 0] + r.normal(size=30),
        n_resamples=8,
    )
    assert found.full is None
    assert found.table["coef_full"].isna().all()
    assert found.included.sum(axis=1).max() <= 3


# Many at once ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_together_is_one_by_one(seed):
    r = np.random.default_rng(seed)
    n, p = int(r.integers(30, 120)), int(r.integers(2, 9))
    X = r.normal(size=(n, p)) @ (np.eye(p) + 0.4 * r.normal(size=(p, p))) + r.normal(size=p) * 100
    y = X[:, : max(1, p // 2)].sum(axis=1) + r.normal(size=n) * 3 + 1000
    criterion = str(r.choice(["aic", "aicc", "bic", "hqic", "pvalue"]))
    selector = StepwiseSelector(
        direction=str(r.choice(["forward", "backward", "both"])),
        criterion=criterion,
        fit_intercept=bool(r.random() < 0.8),
        keep=[0] if r.random() < 0.3 else (),
        start=str(r.choice(["auto", "full", "empty"])),
        alpha_enter=0.15,
        alpha_remove=0.25,
    ) if criterion == "pvalue" else StepwiseSelector(
        direction=str(r.choice(["forward", "backward", "both"])),
        criterion=criterion,
        fit_intercept=bool(r.random() < 0.8),
        keep=[0] if r.random() < 0.3 else (),
    )  # fmt: skip
    task = task_of(selector, X, y)
    assert fits_together(task)
    rows = resamples(n, 10, seed)
    counts = np.array([np.bincount(chosen, minlength=n) for chosen in rows], dtype=float)
    together = resampled_together(task, counts)
    tolerance = 1 / np.diag(np.linalg.inv(np.corrcoef(X.T) if p > 1 else np.eye(1)))
    if selector.fit_intercept and tolerance.min() > 1e-3:  # what is nearly aliased is left to the search
        assert sum(outcome is not None for outcome in together) >= 9
    for outcome, chosen in zip(together, rows, strict=True):
        if outcome is None:
            continue
        alone = run(on_rows(task, chosen))
        assert outcome.active.tolist() == alone.active.tolist()
        assert_allclose(outcome.params, alone.params, rtol=1e-7, atol=1e-7 * np.abs(alone.params).max(initial=0.0))
        assert_allclose([outcome.deviance, outcome.log_likelihood], [alone.deviance, alone.log_likelihood], rtol=1e-8)


def test_blocks_of_rows_are_put_together(monkeypatch):
    from stepsel.inference import together as module

    r = np.random.default_rng(0)
    X, y = r.normal(size=(70, 4)), r.normal(size=70)
    task = task_of(StepwiseSelector(), X, y)
    counts = np.array([np.bincount(chosen, minlength=70) for chosen in resamples(70, 3)], dtype=float)
    whole = resampled_together(task, counts)
    monkeypatch.setattr(module, "_LARGEST", 0)
    monkeypatch.setattr(module, "_BLOCK", 16)
    for one, other in zip(whole, resampled_together(task, counts), strict=True):
        assert_allclose(one.params, other.params, rtol=1e-9)


def test_what_cross_products_cannot_hold_is_left_to_the_search():
    r = np.random.default_rng(1)
    X = r.normal(size=(60, 3))
    X[:, 2] = X[:, 0] + 1e-5 * X[:, 2]  # a tolerance of 1e-10
    y = X[:, 1] + r.normal(size=60)
    task = task_of(StepwiseSelector(direction="backward"), X, y)
    counts = np.array([np.bincount(chosen, minlength=60) for chosen in resamples(60, 4)], dtype=float)
    assert resampled_together(task, counts) == [None] * 4
    found = selection_stability(StepwiseSelector(direction="backward"), X, y, resamples=resamples(60, 4))
    for at, chosen in enumerate(resamples(60, 4)):
        alone = select(X[chosen], y[chosen], direction="backward").result_
        assert [f"x{column}" for column in np.flatnonzero(found.included[at])] == alone.selected


# Null test ------------------------------------------------------------------------------------------------------------


def permutations(random_state, n, count):
    """The permutations that null_test draws: one seed a permutation."""
    seeds = np.random.SeedSequence(random_state).spawn(count)
    return [np.random.default_rng(seed).permutation(n) for seed in seeds]


@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson"])
@pytest.mark.parametrize("statistic", ["r2", "deviance", "n_selected"])
def test_null_test_permutes_the_response(data, family, statistic):
    X, y = data
    y = {"gaussian": y, "binomial": (y > 0.3).astype(int), "poisson": np.exp(y / 2).round()}[family].to_numpy()
    found = null_test(StepwiseSelector(family=family), X, y, n_permutations=8, statistic=statistic, random_state=4)

    def value(response):
        result = select(X, response, family=family).result_
        deviance = result.null_deviance - result.final.deviance
        return {"r2": result.glance()["r2"][0], "deviance": deviance, "n_selected": len(result.selected)}[statistic]

    assert_allclose(found.observed, value(y), rtol=1e-9)
    expected = [value(y[order]) for order in permutations(4, len(y), 8)]
    assert_allclose(found.null, expected, rtol=1e-8, atol=1e-9)
    assert found.p_value == (1 + (np.array(expected) >= value(y) - 1e-9).sum()) / 9


def test_null_test_with_kept_terms_is_freedman_lane(data):
    X, y = data
    found = null_test(StepwiseSelector(keep=["a", "c"]), X, y, n_permutations=6, random_state=2)
    reduced = sm.OLS(y, sm.add_constant(X[["a", "c"]])).fit()
    for order, null in zip(permutations(2, len(y), 6), found.null, strict=True):
        response = reduced.fittedvalues.to_numpy() + reduced.resid.to_numpy()[order]
        result = select(X, response, keep=["a", "c"]).result_
        # R2 about the spread of the observed response, which the permuted one does not keep exactly
        assert_allclose(null, 1 - result.final.deviance / np.sum((y - y.mean()) ** 2), rtol=1e-9)


def test_null_test_with_kept_terms_is_potter_elsewhere(data):
    X, y = data
    event = (y > 0).to_numpy()
    found = null_test(StepwiseSelector(family="binomial", keep=["a"]), X, event, n_permutations=4, random_state=2)
    others = list("bcdef")
    fits = {name: sm.OLS(X[name], sm.add_constant(X[["a"]])).fit() for name in others}
    for order, null in zip(permutations(2, len(y), 4), found.null, strict=True):
        moved = X.copy()
        for name, fit in fits.items():
            moved[name] = fit.fittedvalues.to_numpy() + fit.resid.to_numpy()[order]
        result = select(moved, event, family="binomial", keep=["a"]).result_
        assert_allclose(null, result.glance()["r2"][0], rtol=1e-7)


# Splits ---------------------------------------------------------------------------------------------------------------


def halves(random_state, n, count):
    for seed in np.random.SeedSequence(random_state).spawn(count):
        order = np.random.default_rng(seed).permutation(n)
        yield np.sort(order[: n // 2]), np.sort(order[n // 2 :])


def test_split_p_values_by_a_slow_loop(data):
    X, y = data
    found = split_p_values(StepwiseSelector(), X, y, n_splits=20, random_state=6)
    p, times = np.ones((20, 6)), np.zeros(6)
    for at, (first, second) in enumerate(halves(6, len(y), 20)):
        chosen = select(X.iloc[first], y.iloc[first]).result_.selected
        fit = sm.OLS(y.iloc[second], sm.add_constant(X.iloc[second][chosen])).fit()
        for name in chosen:
            p[at, list(X.columns).index(name)] = min(1.0, fit.pvalues[name] * len(chosen))
            times[list(X.columns).index(name)] += 1
    assert found.table["times_selected"].tolist() == times.tolist()
    gammas = np.linspace(0.05, 1, 2000)  # the infimum over a fine grid of gamma, from the definition
    for at, name in enumerate(X.columns):
        quantiles = [min(1.0, np.quantile(p[:, at], gamma, method="inverted_cdf") / gamma) for gamma in gammas]
        assert_allclose(found.table.loc[name, "p_value"], min(1.0, (1 - np.log(0.05)) * min(quantiles)), rtol=2e-3)


def test_one_split_has_intervals(data):
    X, y = data
    found = split_p_values(StepwiseSelector(criterion="bic"), X, y, n_splits=1, random_state=0, conf_level=0.9)
    first, second = next(halves(0, len(y), 1))
    chosen = select(X.iloc[first], y.iloc[first], criterion="bic").result_.selected
    fit = sm.OLS(y.iloc[second], sm.add_constant(X.iloc[second][chosen])).fit()
    table = found.confidence_intervals.set_index("term")
    assert list(table.index) == ["(Intercept)", *chosen]
    assert_allclose(table[["conf_low", "conf_high"]], fit.conf_int(0.1), rtol=1e-8)
    assert split_p_values(StepwiseSelector(), X, y, n_splits=2, random_state=0).confidence_intervals is None


def test_aggregation_of_splits():
    """Meinshausen, Meier, Buehlmann (2009), (2.3): one small p among fifty is not enough."""
    p = np.ones((50, 2))
    p[0, 0], p[:, 1] = 1e-6, 1e-4
    assert_allclose(aggregated(p, 0.05), [1.0, (1 - np.log(0.05)) * 1e-4])
    assert_allclose(aggregated(p[:1], 0.05), [1e-6, 1e-4])


def test_splits_of_factors_and_interactions():
    r = np.random.default_rng(2)
    n = 160
    frame = pd.DataFrame({"x": r.normal(size=n), "g": r.choice(list("uvw"), n), "z": r.normal(size=n)})
    frame["y"] = frame["x"] + 1.5 * (frame["g"] == "v") + r.normal(size=n)
    found = split_p_values(stepwise("y ~ x*g + z", frame), n_splits=15, random_state=0)
    assert found.table.index.tolist() == ["x", "g", "z", "x:g"]
    assert (found.table.loc[["x", "g"], "p_value"] < 0.05).all()
    assert (found.table.loc[["z", "x:g"], "p_value"] > 0.2).all()


# Selective inference --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def prostate():
    known = read_json(INFERENCE / "prostate_train_forward_stepwise.json")
    frame = pd.read_csv(INFERENCE / "prostate_train.csv")
    result = select(
        frame[sorted(known["order"])], frame["lpsa"], direction="forward", criterion="pvalue", alpha_enter=1.0
    )
    return known, frame, result.result_


def test_selective_p_values_of_r(prostate):
    """fs() and fsInf() of the R package selectiveInference."""
    known, _, result = prostate
    found = selective_inference(result)
    assert found.table["term"].tolist() == known["order"]
    assert_allclose(found.table["p_selective"], known["p_selective_one_sided"], atol=1e-9)
    assert_allclose(found.sigma, known["sigma"], atol=1e-11)
    assert found.forward_stop(0.1) == known["forward_stop_alpha_0.1"]
    naive = found.table["p_naive"].to_numpy()
    assert_allclose(naive[2:], known["p_naive_t"][2:], atol=1e-3)
    assert_allclose(naive[:2], known["p_naive_t"][:2], rtol=0.03)


def test_selective_tails_and_limits_in_many_digits(prostate):
    """p and interval limits recomputed with mpmath from the bounds of the path."""
    _, _, result = prostate
    found = selective_inference(result, alpha=0.2)
    X, y = _standard(result.task)
    order = _order(result)
    mpmath.mp.dps = 60

    def tail(step, mean):
        low, here, high = ((mpmath.mpf(bound) - mpmath.mpf(mean)) / mpmath.mpf(step.sd)
                           for bound in (step.low, step.value, step.high))  # fmt: skip
        return (mpmath.ncdf(-here) - mpmath.ncdf(-high)) / (mpmath.ncdf(-low) - mpmath.ncdf(-high))

    unit = 1 / np.sqrt(((result.task.design.X - result.task.design.X.mean(axis=0)) ** 2).sum(axis=0))
    for row, at, step in zip(found.table.itertuples(), order, _path(X, y, order, found.sigma), strict=True):
        assert_allclose(row.p_selective, float(tail(step, 0)), rtol=1e-8)
        ends = sorted(end / unit[at] * step.sign for end in (row.ci_low, row.ci_high))
        for end, level in zip(ends, (0.1, 0.9), strict=True):
            if np.isfinite(end):
                assert_allclose(float(tail(step, end)), level, rtol=1e-6)


def test_selective_inference_of_the_first_step_by_definition():
    """One step among orthonormal columns: the largest |x'y| beside the second largest, a truncated normal."""
    r = np.random.default_rng(0)
    X = np.linalg.qr(r.normal(size=(40, 6)) - 0)[0]
    X = np.linalg.qr(X - X.mean(axis=0))[0]
    y = r.normal(size=40)
    result = select(X, y, direction="forward", criterion="pvalue", alpha_enter=1.0, max_terms=1).result_
    found = selective_inference(result, sigma=1.0)
    scores = np.sort(np.abs(X.T @ (y - y.mean())))[::-1]
    from scipy.stats import norm

    assert_allclose(found.table["p_selective"][0], norm.sf(scores[0]) / norm.sf(scores[1]), rtol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "weights", "reason"),
    [
        ({"direction": "backward"}, None, "direction='backward'"),
        ({"direction": "both"}, None, "direction='both'"),
        ({"direction": "forward", "keep": ["a"]}, None, "a start model or kept terms"),
        ({"direction": "forward", "start": ["a"]}, None, "a start model or kept terms"),
        ({"direction": "forward", "groups": {"g": ["a", "b"]}}, None, "terms of several columns"),
        ({"direction": "forward"}, 2.0, "weights"),
        ({"direction": "forward", "family": "poisson"}, None, "family='poisson'"),
    ],
)
def test_selective_inference_refuses_the_rest(data, parameters, weights, reason):
    X, y = data
    y = np.exp(y).round() if parameters.get("family") else y
    result = select(X, y, sample_weight=None if weights is None else np.full(80, weights), **parameters).result_
    with pytest.raises(ValueError, match=r"not for .*selection_stability") as error:
        selective_inference(result)
    assert reason in str(error.value)


def test_sigma_has_to_be_estimable(data):
    r = np.random.default_rng(0)
    X = r.normal(size=(20, 30))
    result = select(X, X[:, 0] + r.normal(size=20), direction="forward", criterion="bic", max_terms=2).result_
    with pytest.raises(ValueError, match="sigma cannot be estimated: 20 rows"):
        selective_inference(result)
    assert len(selective_inference(result, sigma=1.0).table) == len(result.selected)
    assert _sigma(np.eye(4)[:, :1] - 0.25, np.arange(4.0) - 1.5, None, intercept=True) > 0


# Optimism -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson", "gamma"])
def test_optimism_by_a_slow_loop(data, family):
    X, y = data
    r = np.random.default_rng(0)
    y = {"gaussian": y, "binomial": (y > 0.2).astype(float), "poisson": np.exp(y / 2).round(),
         "gamma": np.exp(y / 3) + r.random(80) / 10}[family].to_numpy()  # fmt: skip
    found = optimism(StepwiseSelector(family=family), X, y, n_resamples=8, random_state=3).table

    def measures(result, X, y):
        mean = result.predict(X)
        if family == "gaussian":
            return {
                "r2": 1 - np.sum((y - mean) ** 2) / np.sum((y - y.mean()) ** 2),
                "deviance": np.mean((y - mean) ** 2),
            }
        kind = {"binomial": sm.families.Binomial, "poisson": sm.families.Poisson, "gamma": sm.families.Gamma}[family]()
        deviance, null = kind.deviance(y, mean), kind.deviance(y, np.full(len(y), y.mean()))
        found = {"r2": 1 - deviance / null, "deviance": deviance / len(y)}
        return found | ({"auc": roc_auc_score(y, mean)} if family == "binomial" else {})

    whole = select(X, y, family=family).result_
    apparent, differences = measures(whole, X, y), []
    for seed in np.random.SeedSequence(3).spawn(8):
        rows = np.random.default_rng(seed).integers(0, 80, 80)
        result = select(X.iloc[rows], y[rows], family=family).result_
        there, here = measures(result, X.iloc[rows], y[rows]), measures(result, X, y)
        differences.append({name: there[name] - here[name] for name in here})
    expected = pd.DataFrame(differences).mean()
    for name in expected.index:
        assert_allclose(found.loc[name, "apparent"], apparent[name], rtol=1e-7)
        assert_allclose(found.loc[name, "optimism"], expected[name], rtol=1e-5, atol=1e-8)
        assert_allclose(found.loc[name, "corrected"], apparent[name] - expected[name], rtol=1e-5)


def test_optimism_of_survival_and_offsets(data):
    X, y = data
    r = np.random.default_rng(0)
    times = survival(r.random(80) < 0.8, r.exponential(np.exp(-y)))
    cox = optimism(StepwiseSelector(family="cox"), X, times, n_resamples=10, random_state=0).table
    assert set(cox.index) == {"r2", "deviance", "concordance"}
    assert cox.loc["concordance", "corrected"] < cox.loc["concordance", "apparent"]
    counts = r.poisson(np.exp(y / 3 + 1))
    plain = optimism(StepwiseSelector(family="poisson"), X, counts, n_resamples=5, random_state=0).table
    moved = optimism(
        StepwiseSelector(family="poisson"), X, counts, n_resamples=5, random_state=0, offset=np.full(80, 2.0)
    )
    assert_allclose(moved.table, plain, rtol=1e-6)


# What is refused, and what is shown -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "parameters", "message"),
    [
        (selection_stability, {"n_resamples": 0}, "n_resamples is 0"),
        (selection_stability, {"n_resamples": 2.5}, "n_resamples is 2.5"),
        (selection_stability, {"method": "jackknife"}, "method is 'jackknife'"),
        (selection_stability, {"method": "subsample", "fraction": 1.5}, "fraction is 1.5"),
        (selection_stability, {"resamples": [[0, 80]]}, "resamples holds row 80: rows are 0 to 79"),
        (selection_stability, {"resamples": [[0, -1]]}, "resamples holds row -1"),
        (selection_stability, {"resamples": [0, 1]}, "resamples has shape"),
        (selection_stability, {"resamples": [[0.5, 1.0]]}, "resamples has shape"),
        (selection_stability, {"random_state": -1}, "random_state is -1"),
        (null_test, {"n_permutations": "many"}, "n_permutations is 'many'"),
        (null_test, {"statistic": "f"}, "statistic is 'f'"),
        (split_p_values, {"n_splits": 0}, "n_splits is 0"),
        (split_p_values, {"gamma_min": 0}, "gamma_min is 0"),
        (split_p_values, {"conf_level": 95}, "conf_level is 95"),
        (optimism, {"n_resamples": None}, "n_resamples is None"),
    ],
)
def test_bad_parameters(data, tool, parameters, message):
    with pytest.raises(ValueError, match=message) as error:
        tool(StepwiseSelector(), *data, **parameters)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("tool", [selection_stability, null_test, split_p_values, optimism])
def test_selectors_results_and_neither(data, tool):
    X, y = data
    result = select(X, y).result_
    tool(result)
    with pytest.raises(ValueError, match="besides a result"):
        tool(result, X, y)
    with pytest.raises(ValueError, match="X is missing"):
        tool(StepwiseSelector())
    with pytest.raises(ValueError, match="give a StepwiseSelector or the result"):
        tool("aic", X, y)
    with pytest.raises(RuntimeError, match="was pickled"):
        tool(pickle.loads(pickle.dumps(result)))
    with pytest.raises(ValueError, match="column 'a' has 1 missing value"):
        tool(StepwiseSelector(), X.assign(a=X["a"].where(X.index > 0)), y)


def test_summaries_are_safe_and_say_what_they_are(data):
    X, y = data
    X = X.rename(columns={"a": "<script>alert(1)</script>", "b": "größe [m]"})
    selector = StepwiseSelector(direction="forward")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # hundreds of selections, and not one warning
        found = [
            selection_stability(selector, X, y, n_resamples=20, random_state=0),
            null_test(selector, X, y, n_permutations=19, random_state=0),
            split_p_values(selector, X, y, n_splits=5, random_state=0),
            optimism(selector, X, y, n_resamples=5, random_state=0),
        ]
    found.append(selective_inference(select(X, y, direction="forward").result_))
    for item in found:
        assert "<script>" not in item._repr_html_()
        assert len(str(item.summary())) > 50
        assert repr(item).startswith("<")
        restored = pickle.loads(pickle.dumps(copy.copy(item)))
        assert str(restored.summary()) == str(item.summary())
    assert json.dumps(found[0].inclusion.to_dict())


def test_the_summary_of_a_selection_says_how_to_check_it(data):
    text = str(select(*data).result_.summary())
    assert "p_value (not adjusted for selection)" in text
    assert "candidate terms: 0.075 per observation; largest VIF" in text
    assert "selection_stability(result)" in text
