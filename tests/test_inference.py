"""stepsel.inference: known answers of R, slow loops that do the same, and what it refuses."""

import contextlib
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
from naive_inference import (
    STATSMODELS,
    aggregated_by_definition,
    concordance,
    design,
    log_likelihood,
    partial_log_likelihood,
    term_p_value,
    truncated_path,
)
from numpy.testing import assert_allclose
from scipy.special import xlogy
from scipy.stats import binom, norm
from sklearn.metrics import roc_auc_score

from stepsel import StepwiseSelector, stepwise
from stepsel.exceptions import SeparationWarning
from stepsel.inference import null_test, optimism, selection_stability, selective_inference, split_p_values
from stepsel.inference.rerun import task_of
from stepsel.inference.splits import aggregated
from stepsel.inference.together import fits_together, permuted_together, resampled_together

STABILITY, INFERENCE = TESTS / "reference" / "stability", TESTS / "reference" / "inference"
NAMES = {"relative_conditional_bias": "relative_conditional_bias_percent"}


@pytest.fixture
def data():
    r = np.random.default_rng(5)
    X = pd.DataFrame(r.normal(size=(80, 6)), columns=list("abcdef"))
    X["b"] = X["a"] * 0.9 + 0.4 * X["b"]
    y = pd.Series(X["a"] + 0.5 * X["c"] + r.normal(size=80), name="y")
    return X, y


FEW = {
    selection_stability: {"n_resamples": 30},
    null_test: {"n_permutations": 30},
    split_p_values: {"n_splits": 12},
    optimism: {"n_resamples": 15},
}


def resamples(n_rows, n=12, seed=0):
    return np.random.default_rng(seed).integers(0, n_rows, (n, n_rows))


# Stability ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", ["swiss", "birthwt_numeric"])
def test_stability_with_the_rows_of_r(name, n_jobs):
    """reference/stability (make.R): 200 bootstrap samples. In one of birthwt's `ht` separates: see the next test."""
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
    assert sum(counts.values()) == len(rows)
    assert found.chosen.selected == known["selected"]


def test_the_two_resamples_of_birthwt_that_separate():
    """`ht` is 1 in rows with `low` only: no finite estimate. R stopped at 28.46 and 28.38, and only that is different.

    R's mean square and mean of the 200 coefficients of `ht`, less those of the other 198 resamples, give these two.
    """
    known = read_json(STABILITY / "birthwt_numeric.json")
    frame = pd.read_csv(STABILITY / known["data"])
    rows = pd.read_csv(STABILITY / known["resamples"], header=None).to_numpy()
    X, y = frame[known["terms"]], frame[known["target"]]
    told = {}
    for at, chosen in enumerate(rows):
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always", SeparationWarning)
            StepwiseSelector(family="binomial", direction="backward").fit(X.iloc[chosen], y.iloc[chosen])
        told.update((at, str(one.message)) for one in issued if one.category is SeparationWarning)
    separate = [at for at, chosen in enumerate(rows) if y.iloc[chosen][X["ht"].iloc[chosen] == 1].nunique() == 1]
    assert list(told) == separate == [63, 124]
    assert all("ht" in message for message in told.values())
    found = selection_stability(StepwiseSelector(family="binomial", direction="backward"), X, y, resamples=rows)
    at = list(found.labels).index("ht")
    others = np.delete(found.coefficients[:, at], separate)
    assert (found.coefficients[separate, at] > 10).all()
    assert np.abs(others).max() < 10
    full, error = known["coef_full"]["ht"], known["se_full"]["ht"]
    mean = (known["relative_conditional_bias_percent"]["ht"] / 100 + 1) * full * known["inclusion_frequency"]["ht"]
    two = 200 * mean - others.sum() - 2 * full
    squares = 200 * (known["rmsd_ratio"]["ht"] * error) ** 2 - np.sum((others - full) ** 2)
    apart = np.sqrt(2 * squares - two**2)
    assert_allclose(full + np.array([two + apart, two - apart]) / 2, [28.46056872, 28.38391584], rtol=1e-4)


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


def repeated(weights, X, y):
    """Every row as often as its frequency weight says."""
    rows = np.repeat(np.arange(len(weights)), weights)
    return X.iloc[rows], y[rows]


KINDS = {
    "gaussian": ["frequency", "analytic", "keep", "groups", "missing", "polars", "formula"],
    "binomial": ["frequency", "analytic", "offset", "trials", "keep", "groups", "missing", "polars", "formula"],
    "poisson": ["frequency", "analytic", "offset", "keep", "missing", "formula"],
    "gamma": ["frequency", "analytic", "offset", "groups", "polars", "formula"],
    "negative_binomial": ["frequency", "offset", "formula"],
    "cox": ["frequency", "analytic", "offset", "keep", "groups", "missing", "formula"],
}


@pytest.mark.parametrize(("family", "kind"), [(family, kind) for family, kinds in KINDS.items() for kind in kinds])
def test_stability_of_all_kinds_of_input(family, kind):
    """Four resamples beside four fits on the rows repeated, coefficients to 1e-6."""
    r = np.random.default_rng(9)
    n = 110
    X = pd.DataFrame(r.normal(size=(n, 3)), columns=list("abc")).assign(g=r.choice(list("uvw"), n))
    y = FAMILIES[family](X["a"] * 0.9 + 0.5 * X["b"] + (X["g"] == "v"), r)
    y = y if family == "cox" else np.asarray(y, dtype=float)
    parameters, extra, rows = {"family": family}, {}, resamples(n, 4)
    if kind in ("frequency", "analytic"):
        parameters["weight_type"] = kind
        extra["sample_weight"] = r.integers(1, 4, n) if kind == "frequency" else r.gamma(2.0, 1.0, n) + 0.1
    elif kind == "trials":
        extra["sample_weight"] = r.integers(1, 9, n)
        y = r.binomial(extra["sample_weight"], 1 / (1 + np.exp(-X["a"]))) / extra["sample_weight"]
    elif kind == "offset":
        extra["offset"] = r.normal(size=n) / 3
    elif kind == "keep":
        parameters["keep"] = ["c"]
    elif kind == "groups":
        parameters["groups"] = {"bc": ["b", "c"]}
    if kind == "formula":
        status = {"event": y["event"], "time": y["time"]} if family == "cox" else {"y": y}
        frame, formula = X.assign(**status), f"{'Surv(time, event)' if family == 'cox' else 'y'} ~ a * g + b + c"
        found = selection_stability(stepwise(formula, frame, collinearity="ignore", **parameters), resamples=rows)
    elif kind == "missing":
        holes = X.copy()
        holes.loc[[2, 5], "c"] = np.nan
        rows = resamples(n - 2, 4)
        found = selection_stability(StepwiseSelector(missing="drop", **parameters), holes, y, resamples=rows)
        X, y = X.drop(index=[2, 5]), np.delete(y, [2, 5])
    else:
        frame = pl.from_pandas(X) if kind == "polars" else X
        if kind == "frequency":
            rows = resamples(extra["sample_weight"].sum(), 4)
        found = selection_stability(StepwiseSelector(**parameters), frame, y, resamples=rows, **extra)
    if kind == "frequency":  # the copies of a row are drawn one by one
        X, y = repeated(extra.pop("sample_weight"), X, y)
    assert found.n_failed == 0
    slopes = [at for at, label in enumerate(found.labels) if label != "(Intercept)"]
    for at, chosen in enumerate(rows):
        if kind == "formula":
            alone = stepwise(formula, frame.iloc[chosen], collinearity="ignore", **parameters)
        else:
            part = {name: values[chosen] for name, values in extra.items()}
            alone = select(X.iloc[chosen], y[chosen], **part, **parameters).result_
        assert [term for term, inside in zip(found.terms, found.included[at], strict=True) if inside] == alone.selected
        expected = alone.coefficients.reindex([found.labels[place] for place in slopes]).fillna(0.0)
        assert_allclose(found.coefficients[at][slopes], expected, rtol=1e-6)
        if len(slopes) < len(found.labels):
            assert_allclose(found.coefficients[at][0], alone.intercept, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("tool", [selection_stability, null_test, split_p_values, optimism])
@pytest.mark.parametrize("family", ["gaussian", "binomial"])
def test_frequency_weights_are_repeated_rows(data, tool, family):
    """A row of weight 3 is three observations, drawn, permuted and split one by one; one of weight 0 is not there."""
    X, y = data
    y = y.to_numpy() if family == "gaussian" else (y > 0).to_numpy(dtype=float)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = tool(StepwiseSelector(family=family), X, y, sample_weight=weights, random_state=3, **FEW[tool])
    plain = tool(StepwiseSelector(family=family), *repeated(weights, X, y), random_state=3, **FEW[tool])
    assert str(weighted.summary()) == str(plain.summary())
    with pytest.raises(ValueError, match=r"fractions, which cannot be copies of a row.*analytic"):
        tool(StepwiseSelector(family=family), X, y, sample_weight=weights + 0.25)


def test_table_by_its_definitions(data):
    """Heinze, Wallisch, Dunkler (2018), from the coefficients of each resample; the full model by statsmodels."""
    X, y = data
    rows = resamples(len(y), 25)
    found = selection_stability(StepwiseSelector(criterion="bic"), X, y, resamples=rows)
    b = np.zeros((25, 7))
    for at, chosen in enumerate(rows):
        alone = select(X.iloc[chosen], y.iloc[chosen], criterion="bic").result_
        fit = sm.OLS(y.iloc[chosen], sm.add_constant(X.iloc[chosen][alone.selected])).fit()
        b[at, [0, *(1 + X.columns.get_loc(name) for name in alone.selected)]] = fit.params
    full, table = sm.OLS(y, sm.add_constant(X)).fit(), found.table
    whole = select(X, y, criterion="bic").result_
    chosen = sm.OLS(y, sm.add_constant(X[whole.selected])).fit()
    frequency = (b != 0).mean(axis=0)
    assert table["inclusion_frequency"].tolist() == frequency.tolist()
    assert_allclose(table["coef_full"], full.params, rtol=1e-8)
    assert_allclose(table["se_full"], full.bse, rtol=1e-8)
    inside = ["(Intercept)", *whole.selected]
    assert_allclose(table.loc[inside, "coef_selected"], chosen.params, rtol=1e-8)
    assert_allclose(table.loc[inside, "se_selected"], chosen.bse, rtol=1e-8)
    outside = [name for name in X.columns if name not in inside]
    assert (table.loc[outside, "coef_selected"] == 0).all()
    assert table.loc[outside, "se_selected"].isna().all()
    rmsd = np.sqrt(((b - full.params.to_numpy()) ** 2).mean(axis=0)) / full.bse
    assert_allclose(table["rmsd_ratio"], rmsd, rtol=1e-8)
    conditional = [b[b[:, at] != 0, at].mean() for at in range(7)]
    assert_allclose(table["relative_conditional_bias"], (conditional / full.params - 1) * 100, rtol=1e-7)
    for column, q in (("q025", 0.025), ("bootstrap_median", 0.5), ("q975", 0.975)):
        assert_allclose(table[column], [np.quantile(b[:, at], q) for at in range(7)], rtol=1e-8, atol=1e-12)


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
    parameters = dict.fromkeys(FEW[tool], 60)

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


@pytest.mark.parametrize("tool", [selection_stability, null_test, split_p_values, optimism])
def test_seed_sequences(data, tool):
    """The children of one sequence are independent: that is what they are for. None is used up."""
    first, second = np.random.SeedSequence(5).spawn(2)
    texts = [str(tool(StepwiseSelector(), *data, random_state=one, **FEW[tool]).summary()) for one in (first, second)]
    assert texts[0] != texts[1]
    assert str(tool(StepwiseSelector(), *data, random_state=first, **FEW[tool]).summary()) == texts[0]


def test_more_copies_than_memory_holds(data):
    with pytest.raises(ValueError, match="sample_weight") as error:
        null_test(StepwiseSelector(), *data, sample_weight=np.full(80, 1e12))
    assert "\n" not in str(error.value)


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


TOGETHER = range(120)


def together_problem(seed):
    """A least-squares selection of single columns with any criterion, direction, start and kept terms."""
    r = np.random.default_rng(seed)
    n, p = int(r.integers(25, 110)), int(r.integers(1, 9))
    kind = ("plain", "mixed", "near", "indicators", "units", "twin")[seed % 6]
    X = r.normal(size=(n, p))
    if kind == "mixed":
        X = X @ (np.eye(p) + 0.4 * r.normal(size=(p, p))) + r.normal(size=p) * 100
    elif kind == "near":
        X[:, 0] = X[:, -1] + 10 ** -r.uniform(0, 4) * r.normal(size=n)
    elif kind == "indicators":  # rare ones: some are constant in some resamples
        X = (r.uniform(0.0, 1.9, size=p) < X).astype(float)
        X[0], X[1] = 1.0, 0.0
    elif kind == "units":
        X = X * 10 ** r.uniform(-6, 6, p)
    elif kind == "twin":
        X = np.column_stack([X, X[:, 0]])
    p = X.shape[1]
    y = X[:, : p // 2 + 1] @ (r.normal(size=p // 2 + 1) / X[:, : p // 2 + 1].std(axis=0)) + r.normal(size=n) + 50
    parameters = {
        "direction": str(r.choice(["forward", "backward", "both"])),
        "criterion": ("aic", "aicc", "bic", "hqic", "pvalue")[seed % 5],
        "fit_intercept": bool(r.random() < 0.8),
        "alpha_enter": 0.15,
        "alpha_remove": 0.25,
    }
    if r.random() < 0.3:
        parameters["keep"] = [int(at) for at in r.choice(p, int(r.integers(1, p + 1)), replace=False)]
    if r.random() < 0.3:
        parameters["start"] = [int(at) for at in r.choice(p, int(r.integers(1, p + 1)), replace=False)]
    elif parameters["direction"] == "both" and r.random() < 0.5:
        parameters["start"] = "full"
    rows = [r.integers(0, n, n) if r.random() < 0.7 else r.choice(n, n, replace=False) for _ in range(5)]
    return kind, X, y, parameters, rows, [y[r.permutation(n)] for _ in range(2)]


def alone_of(X, y, parameters):
    """The ordinary search: what it selects, the coefficients of all columns, deviance and log-likelihood."""
    result = select(X, y, **parameters).result_
    params = np.zeros(X.shape[1])
    params[result.selected_indices] = np.nan_to_num(result.coefficients)
    return result.active.tolist(), params, result.intercept, result.final.deviance, result.final.log_likelihood


@pytest.mark.parametrize("seed", TOGETHER)
def test_together_is_one_by_one(seed):
    kind, X, y, parameters, rows, permuted = together_problem(seed)
    task = task_of(StepwiseSelector(**parameters), X, y)
    assert fits_together(task)
    counts = np.array([np.bincount(chosen, minlength=len(y)) for chosen in rows], dtype=float)
    with np.errstate(all="ignore"):  # columns that start out aliased are swept in all the same
        together = resampled_together(task, counts) + permuted_together(task, np.array(permuted))
    data = [(X[chosen], y[chosen]) for chosen in rows] + [(X, response) for response in permuted]
    # 1e-8, less what a column that keeps the share t of its variance loses: a factor 1 / t
    rtol = 1e-8 if kind in ("plain", "units") else 1e-6
    for outcome, (columns, response) in zip(together, data, strict=True):
        if outcome is None:
            continue
        active, params, intercept, deviance, log_likelihood = alone_of(columns, response, parameters)
        assert outcome.active.tolist() == active
        found = np.zeros(X.shape[1])
        found[outcome.columns] = outcome.params[int(parameters["fit_intercept"]) :]
        assert_allclose(found, params, rtol=rtol, atol=1e-300)
        if parameters["fit_intercept"]:
            assert_allclose(outcome.params[0], intercept, rtol=rtol, atol=1e-8 * np.abs(response).max())
        assert_allclose(outcome.deviance, deviance, rtol=1e-8)
        assert_allclose(outcome.log_likelihood, log_likelihood, rtol=1e-8, atol=1e-8)


def test_most_problems_are_run_together():
    """Else the test above compares nothing, and nothing is faster. What is aliased is left to the search."""
    done, all_ = {}, {}
    for seed in TOGETHER:
        kind, X, y, parameters, rows, _ = together_problem(seed)
        counts = np.array([np.bincount(chosen, minlength=len(y)) for chosen in rows], dtype=float)
        with np.errstate(all="ignore"):
            outcomes = resampled_together(task_of(StepwiseSelector(**parameters), X, y), counts)
        done[kind] = done.get(kind, 0) + sum(outcome is not None for outcome in outcomes)
        all_[kind] = all_.get(kind, 0) + len(outcomes)
        starts = parameters.get("start", "full" if parameters["direction"] == "backward" else "empty")
        if kind == "twin" and starts == "full":
            assert outcomes == [None] * len(rows)
    assert sum(done.values()) > 300
    assert done["plain"] == all_["plain"]
    assert done["mixed"] > 0.9 * all_["mixed"]
    assert done["units"] > 0.7 * all_["units"]


@pytest.mark.parametrize("seed", range(6))
def test_a_column_that_a_resample_makes_constant(seed):
    """It cannot be in the model of that resample: an indicator of one row, in the resamples without that row."""
    r = np.random.default_rng(seed)
    n = 14
    X = pd.DataFrame({"x": r.normal(size=n), "rare": (np.arange(n) == 3) * 1.0, "often": np.arange(n) % 2 * 1.0})
    y = X["x"] + r.normal(size=n)
    without = np.setdiff1d(np.arange(n), 3)
    rows = r.choice(without, (40, n))
    for parameters in ({"direction": "backward"}, {"direction": "both", "criterion": "hqic", "keep": ["rare"]}):
        found = selection_stability(StepwiseSelector(**parameters), X, y, resamples=rows)
        assert found.inclusion["rare"] == 0
        assert (found.table.loc["rare", ["bootstrap_median", "q025", "q975"]] == 0).all()
        for at, chosen in enumerate(rows):
            alone = select(X.iloc[chosen], y.iloc[chosen], **parameters).result_
            slopes = pd.Series(found.coefficients[at], index=found.labels).drop("(Intercept)")
            assert_allclose(slopes, alone.coefficients.reindex(slopes.index).fillna(0.0), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("criterion", ["aic", "aicc", "bic"])
@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
def test_resamples_of_few_rows_fail_as_fits_do(direction, criterion):
    r = np.random.default_rng(4)
    X = r.normal(size=(60, 8))
    y = X[:, 0] + r.normal(size=60)
    parameters = {"direction": direction, "criterion": criterion}
    for n_drawn in (2, 3, 4, 9, 10, 11, 12, 20):
        rows = np.array([r.choice(60, n_drawn, replace=False) for _ in range(4)])
        expected = []
        for chosen in rows:
            with contextlib.suppress(ValueError):
                expected.append(select(X[chosen], y[chosen], **parameters).result_.active.tolist())
        if expected:
            found = selection_stability(StepwiseSelector(**parameters), X, y, resamples=rows)
            assert found.included.tolist() == expected
            assert found.n_failed == len(rows) - len(expected)
        else:
            with pytest.raises(ValueError, match="none of the 4 resamples could be run: "):
                selection_stability(StepwiseSelector(**parameters), X, y, resamples=rows)


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


def statistics_of(X, y, family, offset=None, keep=()):
    """What null_test calls r2, deviance and n_selected: beyond the kept terms, likelihoods by statsmodels."""
    chosen = select(X, y, offset=offset, family=family, keep=list(keep)).result_.selected
    full, null = (log_likelihood(family, y, design(X, names, family != "cox"), offset) for names in (chosen, keep))
    if family == "gaussian":
        total = np.sum((y - y.mean()) ** 2)
        rss = sm.OLS(y, design(X, chosen)).fit().ssr
        return {"r2": 1 - rss / total, "deviance": total - rss, "n_selected": len(chosen)}
    return {"r2": 1 - full / null, "deviance": 2 * (full - null), "n_selected": len(chosen) - len(keep)}


@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson", "gamma", "cox"])
def test_null_test_permutes_the_response(data, family):
    """The response, and its offset with it, against the candidates; gamma is not compared by its likelihood."""
    X, _ = data
    r = np.random.default_rng(1)
    y = FAMILIES[family](0.7 * X["a"], r)
    y = y if family == "cox" else np.asarray(y, dtype=float)
    offset = r.normal(size=len(y)) / 3 if family in ("binomial", "poisson") else None
    orders = [np.arange(len(y)), *permutations(4, len(y), 8)]
    expected = []
    for order in orders:
        moved = None if offset is None else offset[order]
        if family == "gamma":
            result = select(X, y[order], family=family).result_
            Z = sm.add_constant(X[result.selected])
            mean = sm.GLM(y[order], Z, family=STATSMODELS["gamma"]()).fit(tol=1e-13).fittedvalues
            deviance = STATSMODELS["gamma"]().deviance
            null = deviance(y, np.full(len(y), y.mean()))
            expected.append({"deviance": null - deviance(y[order], mean), "n_selected": len(result.selected)})
        else:
            expected.append(statistics_of(X, y[order], family, moved))
    for statistic in expected[0]:
        found = null_test(
            StepwiseSelector(family=family),
            *(X, y),
            n_permutations=8,
            statistic=statistic,
            random_state=4,
            offset=offset,
        )
        values = np.array([one[statistic] for one in expected])
        assert_allclose(found.observed, values[0], rtol=1e-7)
        assert_allclose(found.null, values[1:], rtol=1e-6, atol=1e-8)
        assert found.p_value == (1 + (values[1:] >= values[0] - 1e-9).sum()) / 9
        assert found.n_selected_null.tolist() == [one["n_selected"] for one in expected[1:]]
        for level in (0.5, 0.9, 0.95, 0.99):
            assert_allclose(found.quantiles[level], np.quantile(values[1:], level), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", ["analytic", "trials"])
def test_null_test_permutes_weights_with_the_response(data, kind):
    """A row of the response keeps its weight, or its number of trials: then McFadden's R2 of the trials one by one."""
    X, _ = data
    r = np.random.default_rng(2)
    n = len(X)
    weights = r.gamma(2.0, 1.0, n) if kind == "analytic" else r.integers(1, 6, n).astype(float)
    chance = 1 / (1 + np.exp(-X["a"].to_numpy()))
    y = r.binomial(weights.astype(int), chance) / weights if kind == "trials" else (r.random(n) < chance) * 1.0
    parameters = {} if kind == "trials" else {"weight_type": kind}
    found = null_test(
        StepwiseSelector(family="binomial", **parameters), X, y, n_permutations=6, random_state=1, sample_weight=weights
    )
    for order, value in zip([np.arange(n), *permutations(1, n, 6)], [found.observed, *found.null], strict=True):
        part = {"sample_weight": weights[order], "family": "binomial", **parameters}
        chosen = select(X, y[order], **part).result_.selected
        shares = np.r_[y[order], 1 - y[order]] * np.tile(weights[order], 2)
        outcomes = np.repeat([1.0, 0.0], n)
        full, null = (
            log_likelihood("binomial", outcomes, np.tile(design(X, names), (2, 1)), weights=shares)
            for names in (chosen, [])
        )
        expected = 1 - full / null
        if kind == "trials":  # of the numbers of events, not of their order
            same = binom.logpmf(np.round(y * weights), weights, y).sum() - xlogy(y, y) @ weights
            same -= xlogy(1 - y, 1 - y) @ weights
            expected = 1 - (full + same) / (null + same)
        assert_allclose(value, expected, rtol=1e-6, atol=1e-12)


def test_null_test_of_weighted_least_squares(data):
    X, y = data
    weights = np.random.default_rng(2).gamma(2.0, 1.0, len(y))
    selector = StepwiseSelector(weight_type="analytic")
    found = null_test(selector, X, y, n_permutations=6, random_state=1, sample_weight=weights)
    y = y.to_numpy()
    for order, value in zip(
        [np.arange(len(y)), *permutations(1, len(y), 6)], [found.observed, *found.null], strict=True
    ):
        chosen = select(X, y[order], sample_weight=weights[order], weight_type="analytic").result_.selected
        fit = sm.WLS(y[order], design(X, chosen), weights=weights[order]).fit()
        assert_allclose(value, 1 - fit.ssr / fit.centered_tss if chosen else 0.0, rtol=1e-8, atol=1e-12)


def ranks_at_least(values):
    """How many of the values are at least as large as each."""
    values = np.asarray(values)
    return [(values >= value - 1e-9 * max(1.0, abs(value))).sum() for value in values]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_kept", [1, 2, 8])
@pytest.mark.parametrize("statistic", ["r2", "deviance", "n_selected"])
def test_null_test_with_kept_terms_is_freedman_lane(n_kept, statistic, weighted):
    """The response is what the kept terms fit plus their permuted residuals (of the whitened rows).

    Each data set is judged beside its own fit of the kept terms: permuted residuals are not orthogonal to these, so
    that this fit is better than the observed one, by the share n_kept / n on average, whatever the candidates are.
    """
    r = np.random.default_rng(n_kept)
    n, n_open = 40, 5
    X = pd.DataFrame(r.normal(size=(n, n_kept + n_open)), columns=[f"v{at}" for at in range(n_kept + n_open)])
    y = (X.iloc[:, :n_kept].sum(axis=1) + 0.4 * X.iloc[:, -1] + r.normal(size=n)).to_numpy()
    weights = r.gamma(2.0, 1.0, n) if weighted else np.ones(n)
    kept = list(X.columns[:n_kept])
    parameters = {"keep": kept, "weight_type": "analytic"}
    with_weights = {"sample_weight": weights} if weighted else {}
    found = null_test(
        StepwiseSelector(**parameters), X, y, n_permutations=19, statistic=statistic, random_state=2, **with_weights
    )
    reduced = sm.WLS(y, design(X, kept), weights=weights).fit()
    values = []
    for order in [np.arange(n), *permutations(2, n, 19)]:
        residual = reduced.resid * np.sqrt(weights)
        response = reduced.fittedvalues + residual[order] / np.sqrt(weights)
        chosen = select(X, response, **with_weights, **parameters).result_.selected
        if statistic == "n_selected":
            values.append(len(chosen) - n_kept)
        else:
            small, large = (sm.WLS(response, design(X, names), weights=weights).fit().ssr for names in (kept, chosen))
            values.append(1 - large / small)
    assert ranks_at_least([found.observed, *found.null]) == ranks_at_least(values)
    assert found.p_value == ranks_at_least(values)[0] / 20


@pytest.mark.parametrize("statistic", ["r2", "deviance", "n_selected"])
@pytest.mark.parametrize("keep", [[], ["b"]])
def test_units_of_the_response_do_not_matter_to_the_null_test(data, statistic, keep):
    X, y = data
    parameters = {"statistic": statistic, "n_permutations": 19, "random_state": 0}
    p = [null_test(StepwiseSelector(keep=keep), X, y * unit, **parameters).p_value for unit in (1.0, 1e7, 1e-7)]
    assert p == [p[0]] * 3
    assert p[0] <= 0.1


@pytest.mark.parametrize("statistic", ["r2", "deviance", "n_selected"])
@pytest.mark.parametrize("family", ["binomial", "poisson", "cox"])
def test_null_test_with_kept_terms_is_potter_elsewhere(data, family, statistic):
    """Candidates are what the kept terms fit of them plus permuted residuals, a permutation for all of them."""
    X, _ = data
    y = FAMILIES[family](0.7 * X["a"], np.random.default_rng(1))
    y = y if family == "cox" else np.asarray(y, dtype=float)
    kept, others = ["a", "c"], list("bdef")
    selector = StepwiseSelector(family=family, keep=kept)
    found = null_test(selector, X, y, n_permutations=5, random_state=2, statistic=statistic)
    fits = {name: sm.OLS(X[name], sm.add_constant(X[kept])).fit() for name in others}
    for order, null in zip(permutations(2, len(y), 5), found.null, strict=True):
        moved = X.copy()
        for name, fit in fits.items():
            moved[name] = fit.fittedvalues.to_numpy() + fit.resid.to_numpy()[order]
        assert_allclose(null, statistics_of(moved, y, family, keep=kept)[statistic], rtol=1e-6, atol=1e-9)


def test_null_test_of_too_few_rows():
    r = np.random.default_rng(0)
    X, y = r.normal(size=(4, 3)), r.normal(size=4)
    with pytest.raises(ValueError, match="too few"):
        null_test(StepwiseSelector(keep=[0, 1]), X, y, n_permutations=9)


# Splits ---------------------------------------------------------------------------------------------------------------


def halves(random_state, n, count):
    for seed in np.random.SeedSequence(random_state).spawn(count):
        order = np.random.default_rng(seed).permutation(n)
        yield np.sort(order[: n // 2]), np.sort(order[n // 2 :])


SPLITS = [
    ("gaussian", {}),
    ("gaussian", {"keep": ["b"]}),
    ("gaussian", {"direction": "both", "criterion": "bic"}),
    ("binomial", {}),
    ("binomial", {"direction": "forward"}),
    ("binomial", {"test_enter": "wald", "test_remove": "wald"}),
    ("binomial", {"keep": ["b"]}),
    ("poisson", {"criterion": "pvalue", "alpha_enter": 0.3, "alpha_remove": 0.4, "direction": "forward"}),
    ("poisson", {"offset": True}),
    ("poisson", {"direction": "forward"}),
    ("cox", {}),
    ("cox", {"keep": ["b"], "direction": "forward"}),
]


@pytest.mark.parametrize(("family", "parameters"), SPLITS)
def test_split_p_values_by_a_slow_loop(family, parameters):
    """Selected on one half; on the other p by statsmodels, times the number of terms; then their aggregate."""
    r = np.random.default_rng(12)
    n, n_splits, parameters = 161, 10 if family == "cox" else 20, dict(parameters)
    X = pd.DataFrame(r.normal(size=(n, 4)), columns=list("abcd")).assign(g=r.choice(list("uvw"), n))
    y = FAMILIES[family](0.8 * X["a"] + 0.4 * X["b"] + 0.7 * (X["g"] == "v"), r)
    y = y if family == "cox" else np.asarray(y, dtype=float)
    offset = r.normal(size=n) / 3 if parameters.pop("offset", False) else None
    found = split_p_values(
        StepwiseSelector(family=family, **parameters),
        *(X, y),
        n_splits=n_splits,
        random_state=6,
        offset=offset,
        gamma_min=0.1,
    )
    kept = parameters.get("keep", [])
    p, times = pd.DataFrame(1.0, range(n_splits), X.columns), pd.Series(0, X.columns)
    for at, (first, second) in enumerate(halves(6, n, n_splits)):
        one, other = (None if offset is None else offset[half] for half in (first, second))
        chosen = select(X.iloc[first], y[first], offset=one, family=family, **parameters).result_.selected
        tested = [term for term in chosen if term not in kept]
        test = parameters.get("test_remove", "lr")
        for term in tested:
            value = term_p_value(family, X.iloc[second], y[second], chosen, term, test, other)
            p.loc[at, term] = min(1.0, value * len(tested))
        times[tested] += 1
    assert found.table.index.tolist() == [term for term in X.columns if term not in kept]
    assert found.table["times_selected"].tolist() == times[found.table.index].tolist()
    assert (found.table["n_splits"] == n_splits).all()
    expected = [aggregated_by_definition(p[term], 0.1) for term in found.table.index]
    assert_allclose(found.table["p_value"], expected, rtol=1e-5)
    assert min(expected) < 0.05


def test_split_p_values_with_weights(data):
    X, y = data
    weights = np.random.default_rng(3).gamma(2.0, 1.0, len(y))
    selector = StepwiseSelector(weight_type="analytic", criterion="bic")
    found = split_p_values(selector, X, y, n_splits=6, random_state=6, sample_weight=weights)
    p = np.ones((6, 6))
    for at, (first, second) in enumerate(halves(6, len(y), 6)):
        part = {"sample_weight": weights[first], "weight_type": "analytic", "criterion": "bic"}
        chosen = select(X.iloc[first], y.iloc[first], **part).result_.selected
        fit = sm.WLS(y.iloc[second], sm.add_constant(X.iloc[second][chosen]), weights=weights[second]).fit()
        for name in chosen:
            p[at, X.columns.get_loc(name)] = min(1.0, fit.pvalues[name] * len(chosen))
    expected = [aggregated_by_definition(p[:, at], 0.05) for at in range(6)]
    assert_allclose(found.table["p_value"], expected, rtol=1e-7)


def test_splits_that_fail_count_as_ones():
    """Few events: halves without any. What cannot be tested is no evidence."""
    r = np.random.default_rng(1)
    X, y = pd.DataFrame(r.normal(size=(40, 2)), columns=["a", "b"]), np.zeros(40)
    y[:3] = 1
    found = split_p_values(StepwiseSelector(family="binomial", direction="forward"), X, y, n_splits=12, random_state=0)
    one_class = sum(
        y[first].sum() in (0, 3) for first, _ in halves(0, 40, 12)
    )  # of the first half nothing is selected, or of the second nothing can be fitted
    assert 0 < found.n_failed <= one_class
    assert (found.table["p_value"] <= 1).all()
    assert (found.table["n_splits"] == 12).all()


def test_intervals_of_one_split_by_statsmodels():
    """Kept terms and factors too, in families whose intervals are Wald's."""
    r = np.random.default_rng(4)
    n = 200
    X = pd.DataFrame(r.normal(size=(n, 3)), columns=list("abc")).assign(g=r.choice(list("uvw"), n))
    chance = 1 / (1 + np.exp(-X["a"] - (X["g"] == "v")))
    y = (r.random(n) < chance).to_numpy(dtype=float)
    found = split_p_values(StepwiseSelector(family="binomial", keep=["c"]), X, y, n_splits=1, random_state=3)
    first, second = next(halves(3, n, 1))
    chosen = select(X.iloc[first], y[first], family="binomial", keep=["c"]).result_.selected
    assert "c" in chosen
    fit = sm.GLM(y[second], design(X.iloc[second], chosen), family=sm.families.Binomial()).fit(tol=1e-13)
    table = found.confidence_intervals
    labels = ["(Intercept)", *(f"{name}" for name in chosen if name != "g"), *(["g[T.v]", "g[T.w]"] * ("g" in chosen))]
    assert list(table["term"]) == labels
    assert_allclose(table["estimate"], fit.params, rtol=1e-7)
    assert_allclose(table["std_error"], fit.bse, rtol=1e-6)
    assert_allclose(table[["conf_low", "conf_high"]], fit.conf_int(), rtol=1e-5, atol=1e-8)
    p = found.table["p_value"]
    expected = {
        term: min(1.0, (len(chosen) - 1) * term_p_value("binomial", X.iloc[second], y[second], chosen, term))
        for term in chosen
        if term != "c"
    }
    assert_allclose(p, [expected.get(term, 1.0) for term in p.index], rtol=1e-6)
    assert "c" not in p.index


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
    known, frame, result = prostate
    found = selective_inference(result)
    assert found.table["term"].tolist() == known["order"]
    assert_allclose(found.table["p_selective"], known["p_selective_one_sided"], atol=1e-9)
    assert_allclose(found.sigma, known["sigma"], atol=1e-11)
    assert found.forward_stop(0.1) == known["forward_stop_alpha_0.1"]
    chosen = sm.add_constant(frame[known["order"]])
    for at, (naive, printed) in enumerate(zip(found.table["p_naive"], known["p_naive_t"], strict=True)):
        assert_allclose(naive, printed, rtol=10.0 ** -(significant(printed) - 1))  # as printed
        assert_allclose(naive, sm.OLS(frame["lpsa"], chosen.iloc[:, : at + 2]).fit().pvalues.iloc[-1], rtol=1e-8)


def significant(printed):
    return len(str(printed).split("e")[0].replace(".", "").lstrip("0"))


def test_selective_inference_of_uscrime():
    """fs() and fsInf() again: 15 steps, five of them with an interval that does not end."""
    known = read_json(INFERENCE / "uscrime_forward_stepwise.json")
    frame = pd.read_csv(INFERENCE / known["data"])
    X, y = frame.drop(columns=known["target"]), frame[known["target"]]
    found = selective_inference(
        select(X, y, direction="forward", criterion="pvalue", alpha_enter=1.0).result_, alpha=0.1
    )
    assert_allclose(found.sigma, known["sigma"], rtol=1e-11)
    assert found.forward_stop(0.1) == known["forward_stop_alpha_0.1"]
    table = found.table
    infinite = ~np.isfinite(table[["ci_low", "ci_high"]]).all(axis=1)
    assert table["step"][infinite].tolist() == known["steps_with_an_infinite_end"]
    compare_with_many_digits(found, X.to_numpy(), y, 0.1)


def compare_with_many_digits(found, X, y, alpha, tolerance=0.0, rtol=1e-8):
    """Coefficients, p and the duality of the intervals; the path, its bounds and the tails are mpmath's own.

    A limit is the mean for which the observed estimate is the alpha / 2 or 1 - alpha / 2 quantile; an infinite one
    says that there is none within 100 standard deviations.
    """
    steps = truncated_path(X, y, found.sigma, len(found.table), tolerance=tolerance)
    with mpmath.workdps(60):
        for row, step in zip(found.table.itertuples(), steps, strict=True):
            sign = 1 if step.coef > 0 else -1
            assert_allclose(row.coef, float(step.coef), rtol=rtol)
            assert_allclose(row.z, float(step.coef / step.sd), rtol=rtol)
            assert_allclose(row.p_selective, float(step.tail(0)), rtol=rtol, atol=1e-300)
            ends = sorted(sign * end for end in (row.ci_low, row.ci_high))
            for end, level, way in zip(ends, (alpha / 2, 1 - alpha / 2), (-1, 1), strict=True):
                if np.isfinite(end):
                    assert_allclose(float(step.tail(mpmath.mpf(end))), level, rtol=rtol)
                else:
                    assert end == way * np.inf
                    furthest = float(step.tail(abs(step.coef) + way * 99.9 * step.sd))
                    assert (furthest > level) if way < 0 else (furthest < level)
    return steps


def test_selective_tails_and_limits_in_many_digits(prostate):
    """The first p, which R prints as 0, too."""
    known, frame, result = prostate
    X = frame[sorted(known["order"])].to_numpy()
    found = selective_inference(result, alpha=0.2)
    steps = compare_with_many_digits(found, X, frame["lpsa"], 0.2)
    assert [sorted(known["order"])[step.column] for step in steps] == known["order"]
    with mpmath.workdps(60):
        p = [float(step.tail(0)) for step in steps]
    assert_allclose(p[1:], known["p_selective_one_sided"][1:], atol=1e-9)
    assert 0 < p[0] < 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_selective_inference_in_many_digits(seed):
    """Strong signals (p down to the smallest numbers there are), near twins, odd units, with and without sigma."""
    r = np.random.default_rng(seed)
    n, p = int(r.integers(12, 26)), int(r.integers(2, 6))
    X = r.normal(size=(n, p))
    if seed % 4 == 1:
        X[:, 0] = X[:, -1] + 10 ** -r.uniform(1, 4) * X[:, 0]
    elif seed % 4 == 2:
        X = X * 10 ** r.uniform(-6, 6, p) + r.normal(size=p) * 100
    beta = np.where(r.random(p) < 0.5, r.normal(size=p) * 10 ** r.uniform(-1, 1.5), 0.0)
    y = X @ (beta / X.std(axis=0)) + r.normal(size=n)
    result = select(X, y, direction="forward", criterion="pvalue", alpha_enter=1.0).result_
    found = selective_inference(result, sigma=0.3 if seed % 3 == 0 else None, alpha=0.2)
    assert len(found.table) == p
    compare_with_many_digits(found, X, y, 0.2)


def test_forward_stop_by_its_definition(prostate):
    """G'Sell et al. (2016): the last k with a mean of -log(1 - p) over the first k of at most alpha."""
    found = selective_inference(prostate[2])
    p = found.table["p_selective"]
    for alpha in (0.001, 0.1, 0.25, 0.5, 0.9):
        below = [k for k in range(1, 9) if -np.log(1 - p[:k]).sum() / k <= alpha]
        assert found.forward_stop(alpha) == max(below, default=0)


@pytest.mark.parametrize(("apart", "tolerance"), [(0.2, 0.3), (1e-9, 1e-15)])
def test_candidates_that_were_no_candidates_set_no_bounds(apart, tolerance):
    """Twins of what is in, nearer than the tolerance, were compared at the first step but not at the later ones."""
    r = np.random.default_rng(0)
    X = pd.DataFrame(r.normal(size=(60, 4)), columns=list("abcd"))
    X["e"], X["f"] = X["a"] + apart * r.normal(size=60), X["a"] + apart * r.normal(size=60)
    y = X["e"] + X["a"] - 0.8 * X["f"] + 0.3 * X["b"] + 0.2 * r.normal(size=60)
    result = select(X, y, direction="forward", criterion="pvalue", alpha_enter=1.0, tolerance=tolerance).result_
    found = selective_inference(result, sigma=1.0)
    assert len(set(found.table["term"]) & {"a", "e", "f"}) == 1
    # of the difference of two columns 1e-9 apart seven digits are left
    steps = compare_with_many_digits(found, X.to_numpy(), y, 0.1, tolerance, rtol=1e-8 if apart > 0.01 else 1e-5)
    assert [X.columns[step.column] for step in steps] == found.table["term"].tolist()


def test_selective_inference_of_the_first_step_by_definition():
    """One step among orthonormal columns: the largest |x'y| beside the second largest, a truncated normal."""
    r = np.random.default_rng(0)
    X = r.normal(size=(40, 6))
    X = np.linalg.qr(X - X.mean(axis=0))[0]
    y = r.normal(size=40)
    result = select(X, y, direction="forward", criterion="pvalue", alpha_enter=1.0, max_terms=1).result_
    found = selective_inference(result, sigma=1.0)
    scores = np.sort(np.abs(X.T @ (y - y.mean())))[::-1]
    assert_allclose(found.table["p_selective"][0], norm.sf(scores[0]) / norm.sf(scores[1]), rtol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "weights", "reason"),
    [
        ({"direction": "backward"}, None, "direction='backward'"),
        ({"direction": "both"}, None, "direction='both'"),
        ({"direction": "forward", "keep": ["a"]}, None, "a start model or kept terms"),
        ({"direction": "forward", "start": ["a"]}, None, "a start model or kept terms"),
        ({"direction": "forward", "groups": {"g": ["a", "b"]}}, None, "terms of several columns"),
        ({"direction": "forward", "weight_type": "analytic"}, 2.0, "weights"),
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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0}, "alpha is 0: give"),
        ({"alpha": 1.0}, "alpha is 1.0: give"),
        ({"alpha": "small"}, "alpha is 'small': give"),
        ({"alpha": float("nan")}, "alpha is nan: give"),
        ({"sigma": 0}, "sigma is 0: give"),
        ({"sigma": -1.0}, "sigma is -1.0: give"),
        ({"sigma": float("nan")}, "sigma is nan: give"),
        ({"sigma": float("inf")}, "sigma is inf: give"),
        ({"sigma": "one"}, "sigma is 'one': give"),
    ],
)
def test_selective_inference_of_bad_parameters(data, parameters, message):
    result = select(*data, direction="forward").result_
    with pytest.raises(ValueError, match=message) as error:
        selective_inference(result, **parameters)
    assert "\n" not in str(error.value)


def test_selective_inference_of_what_is_no_result(data):
    selector = select(*data, direction="forward")
    for thing in (selector, None, "forward", selector.result_.tidy()):
        with pytest.raises(ValueError, match="give the result of a selection"):
            selective_inference(thing)
    with pytest.raises(RuntimeError, match="was pickled"):
        selective_inference(pickle.loads(pickle.dumps(selector.result_)))
    frame = data[0].assign(y=data[1], g=np.resize(list("uvw"), 80))
    with pytest.raises(ValueError, match=r"not for terms of several columns: selection_stability\(\) and split_p_val"):
        selective_inference(stepwise("y ~ a + g", frame, direction="forward"))
    with pytest.raises(ValueError, match=r"not for terms with a hierarchy: selection_stability\(\)"):
        selective_inference(stepwise("y ~ a * b", frame, direction="forward"))
    nothing = select(*data, direction="forward", criterion="pvalue", alpha_enter=1e-300).result_
    found = selective_inference(nothing)
    assert len(found.table) == found.forward_stop() == 0
    assert "0 of 0 steps" in str(found.summary())


def test_sigma_has_to_be_estimable(data):
    r = np.random.default_rng(0)
    X = r.normal(size=(20, 30))
    result = select(X, X[:, 0] + r.normal(size=20), direction="forward", criterion="bic", max_terms=2).result_
    with pytest.raises(ValueError, match="sigma cannot be estimated: 20 rows"):
        selective_inference(result)
    assert len(selective_inference(result, sigma=1.0).table) == len(result.selected)


# Optimism -------------------------------------------------------------------------------------------------------------


OPTIMISM = [
    ("gaussian", "plain"),
    ("gaussian", "analytic"),
    ("gaussian", "frequency"),
    ("gaussian", "without intercept"),
    ("gaussian", "keep"),
    ("binomial", "plain"),
    ("binomial", "frequency"),
    ("binomial", "analytic"),
    ("binomial", "trials"),
    ("binomial", "offset"),
    ("binomial", "without intercept"),
    ("poisson", "plain"),
    ("poisson", "offset"),
    ("poisson", "offset without intercept"),
    ("gamma", "plain"),
    ("gamma", "offset"),
    ("cox", "plain"),
    ("cox", "keep"),
]


def measures_of(family, y, eta, weights, offset, intercept):
    """R2 and deviance by statsmodels, discrimination by scikit-learn or pair by pair."""
    if family == "cox":
        here, null = partial_log_likelihood(eta, y), partial_log_likelihood(np.zeros(len(y)), y)
        deviance = -2 * here / y["event"].sum()
        return {"r2": 1 - here / null, "deviance": deviance, "concordance": concordance(eta, y)}
    kind = STATSMODELS[family]()
    mean = kind.link.inverse(eta)
    if not intercept:
        null_mean = kind.link.inverse(np.zeros(len(y)) if offset is None else offset)
    else:
        with warnings.catch_warnings():  # not the canonical link of gamma; weights of proportions
            warnings.simplefilter("ignore")
            ones = np.ones((len(y), 1))
            keywords = {"offset": offset, "family": kind, "freq_weights": weights}
            null_mean = sm.GLM(y, ones, **keywords).fit(tol=1e-14, maxiter=100).fittedvalues
    deviance, null = (kind.deviance(y, fitted, freq_weights=weights) for fitted in (mean, null_mean))
    found = {"r2": 1 - deviance / null, "deviance": deviance / weights.sum()}
    if family == "binomial":
        both = np.r_[y * weights, (1 - y) * weights]
        found["auc"] = roc_auc_score(np.repeat([1, 0], len(y)), np.tile(eta, 2), sample_weight=both)
    return found


@pytest.mark.parametrize(("family", "kind"), OPTIMISM)
def test_optimism_by_a_slow_loop(data, family, kind):
    X, _ = data
    r = np.random.default_rng(0)
    n = len(X)
    y = FAMILIES[family](X["a"] + 0.5 * X["c"], r)
    y = y if family == "cox" else np.asarray(y, dtype=float)
    parameters, weights, offset = {"family": family}, None, None
    if "intercept" in kind:
        parameters["fit_intercept"] = False
    if "offset" in kind:
        offset = r.normal(size=n) / 2 + 0.3
    if kind == "keep":
        parameters["keep"] = ["f"]
    if kind in ("analytic", "frequency"):
        parameters["weight_type"] = kind
        weights = r.integers(1, 4, n) if kind == "frequency" else r.gamma(2.0, 1.0, n) + 0.1
    given = X, y
    if kind == "trials":
        weights = r.integers(1, 9, n)
        given = X, r.binomial(weights, 1 / (1 + np.exp(-X["a"]))) / weights
    found = optimism(
        StepwiseSelector(**parameters), *given, n_resamples=6, random_state=3, sample_weight=weights, offset=offset
    ).table
    X, y = given
    if kind == "frequency":
        (X, y), weights, n = repeated(weights, X, y), None, weights.sum()

    def fitted(rows):
        part = {} if weights is None else {"sample_weight": weights[rows]}
        moved = None if offset is None else offset[rows]
        result = select(X.iloc[rows], y[rows], offset=moved, **part, **parameters).result_
        eta = X[result.selected].to_numpy() @ result.coefficients.to_numpy() + result.intercept
        return eta if offset is None else eta + offset

    def measured(eta, rows):
        w = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)[rows]
        moved = None if offset is None else offset[rows]
        return pd.Series(measures_of(family, y[rows], eta[rows], w, moved, parameters.get("fit_intercept", True)))

    everyone, differences = np.arange(n), []
    apparent = measured(fitted(everyone), everyone)
    for seed in np.random.SeedSequence(3).spawn(6):
        rows = np.random.default_rng(seed).integers(0, n, n)
        eta = fitted(rows)
        differences.append(measured(eta, rows) - measured(eta, everyone))
    expected = pd.DataFrame(differences).mean()
    assert set(found.index) == set(apparent.index)
    for name in apparent.index:
        assert_allclose(found.loc[name, "apparent"], apparent[name], rtol=1e-6, err_msg=name)
        assert_allclose(found.loc[name, "optimism"], expected[name], rtol=1e-5, atol=1e-8, err_msg=name)
        assert_allclose(found.loc[name, "corrected"], apparent[name] - expected[name], rtol=1e-5, err_msg=name)


def test_optimism_of_survival_and_counts(data):
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
        (selection_stability, {"resamples": [["a"]]}, "resamples has shape"),
        (selection_stability, {"resamples": np.empty((0, 80), dtype=int)}, "resamples has shape"),
        (selection_stability, {"n_resamples": True}, "n_resamples is True"),
        (selection_stability, {"random_state": -1}, "random_state is -1"),
        (selection_stability, {"random_state": "now"}, "'now' cannot be used to seed"),
        (selection_stability, {"fraction": float("nan")}, "fraction is nan"),
        (null_test, {"n_permutations": "many"}, "n_permutations is 'many'"),
        (null_test, {"statistic": "f"}, "statistic is 'f'"),
        (split_p_values, {"n_splits": 0}, "n_splits is 0"),
        (split_p_values, {"gamma_min": 0}, "gamma_min is 0"),
        (split_p_values, {"conf_level": 95}, "conf_level is 95"),
        (split_p_values, {"gamma_min": "small"}, "gamma_min is 'small'"),
        (optimism, {"n_resamples": None}, "n_resamples is None"),
        (optimism, {"n_resamples": -5}, "n_resamples is -5"),
        (optimism, {"offset": np.zeros(80)}, "offset is not for the Gaussian family"),
        (null_test, {"sample_weight": -np.ones(80)}, "sample_weight"),
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
    tool(result, **FEW[tool])
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


@pytest.mark.parametrize("n_splits", [1, 5])
@pytest.mark.parametrize("formula", [False, True])
def test_summaries_are_safe_and_say_what_they_are(data, n_splits, formula):
    X, y = data
    hostile = "<script>alert(1)</script>"
    X = X.rename(columns={"a": hostile, "b": "größe [m]", "c": "two\nlines", "d": "a very long name" * 8})
    if formula:
        levels = np.array(["<img src=x onerror=y>", "&amp;", "'\""])
        frame = pd.DataFrame({"x": X[hostile], "g": levels[np.arange(80) % 3], "y": y + np.arange(80) % 3})
        selector, data = stepwise("y ~ x + g", frame, direction="forward"), ()
    else:
        selector, data = StepwiseSelector(direction="forward"), (X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # hundreds of selections, and not one warning
        found = [
            selection_stability(selector, *data, n_resamples=20, random_state=0),
            null_test(selector, *data, n_permutations=19, random_state=0),
            split_p_values(selector, *data, n_splits=n_splits, random_state=0),
            optimism(selector, *data, n_resamples=5, random_state=0),
        ]
    if not formula:
        found.append(selective_inference(select(X, y, direction="forward").result_))
    for item in found:
        for text in (item._repr_html_(), item.summary()._repr_html_()):
            assert "<script" not in text
            assert "<img" not in text
        assert len(str(item.summary())) > 50
        assert repr(item).startswith("<")
        restored = pickle.loads(pickle.dumps(copy.copy(item)))
        assert str(restored.summary()) == str(item.summary())
        assert restored._repr_html_() == item._repr_html_()
        assert repr(restored) == repr(item)
    assert "&lt;" in found[0]._repr_html_()
    assert json.dumps(found[0].inclusion.to_dict())


def test_what_the_summaries_say(data):
    X, y = data
    stability = selection_stability(StepwiseSelector(criterion="bic"), X, y, n_resamples=40, random_state=0)
    text = str(stability.summary())
    assert "40 bootstrap samples of the rows; the whole selection was run on each." in text
    same = (stability.included == stability.chosen.active).all(axis=1).mean()
    assert f"found again in {100 * same:.1f} % of them, among {len(stability.models)} different models" in text
    null = null_test(StepwiseSelector(criterion="bic"), X, y, n_permutations=19, random_state=0)
    text = str(null.summary())
    assert f"it selects {null.n_selected_null.mean():.2f} terms on average" in text
    assert "says nothing of single terms" in text
    assert "0.05" in text
    assert "conservative: weak effects are often missed" in str(
        split_p_values(StepwiseSelector(), X, y, n_splits=3).summary()
    )
    result = select(X, y, direction="forward").result_
    assert "holds for a step fixed beforehand" in str(selective_inference(result).summary())
    assert "15.8 %" in selective_inference.__doc__


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_are_not_issued_in_the_hundreds(n_jobs):
    """Separation, aliasing, constant columns and perfect fits in resamples: nothing of that is news."""
    r = np.random.default_rng(0)
    X = pd.DataFrame({"x": r.normal(size=40), "rare": np.arange(40) == 3, "z": r.normal(size=40)})
    X["twin"], X["constant"] = X["x"], 1.0
    y = (X["x"] + 0.5 * r.normal(size=40) > 0.4).to_numpy(dtype=float)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        for family, response in (("binomial", y), ("gaussian", X["z"] * 2)):
            selector = StepwiseSelector(family=family, direction="both")
            selection_stability(selector, X, response, n_resamples=30, random_state=0, n_jobs=n_jobs)
            null_test(selector, X, response, n_permutations=30, random_state=0, n_jobs=n_jobs)
            split_p_values(selector, X, response, n_splits=30, random_state=0, n_jobs=n_jobs)
            optimism(selector, X, response, n_resamples=30, random_state=0, n_jobs=n_jobs)
    issued = [str(one.message) for one in issued if one.category is not ResourceWarning]
    assert len(issued) <= 2, issued


def test_progress_is_told_when_asked_for(data, monkeypatch, capsys):
    monkeypatch.setattr("stepsel.inference.rerun._PROGRESS_EVERY", 0.0)
    selection_stability(StepwiseSelector(verbose=2), *data, n_resamples=60, random_state=0)
    told = capsys.readouterr()
    assert told.out == told.err == ""
    selection_stability(StepwiseSelector(), *data, n_resamples=60, random_state=0, verbose=1)
    null_test(StepwiseSelector(), *data, n_permutations=60, random_state=0, verbose=1)
    told = capsys.readouterr()
    assert told.out == ""
    assert "[stepsel] 60 of 60 resamples" in told.err
    assert "[stepsel] 60 of 60 permutations" in told.err


@pytest.mark.parametrize("tool", [selection_stability, null_test, split_p_values, optimism])
def test_a_selector_and_its_result_are_the_same(data, tool):
    """Fitted or not, a selector stays as it is, and the result of its fit gives the same tables."""
    X, y = data
    selector = StepwiseSelector(criterion="bic", keep=["b"])
    before = copy.deepcopy(vars(selector))
    found = [tool(selector, X, y, random_state=5, **FEW[tool])]
    assert vars(selector) == before
    assert not hasattr(selector, "result_")
    selector.fit(X, y)
    result = selector.result_
    found.append(tool(selector, X, y, random_state=5, **FEW[tool]))
    found.append(tool(result, random_state=np.int64(5), **FEW[tool]))
    assert selector.result_ is result
    assert len({str(one.summary()) for one in found}) == 1


@pytest.mark.parametrize("tool", [selection_stability, null_test, split_p_values, optimism])
@pytest.mark.parametrize("extra", [{"sample_weight": np.ones(80)}, {"offset": np.zeros(80)}])
def test_weights_and_offsets_besides_a_result(data, tool, extra):
    """A result has its own; those given are not ignored in silence."""
    with pytest.raises(ValueError, match="besides a result"):
        tool(select(*data).result_, **extra)


@pytest.mark.parametrize("tool", [selection_stability, null_test, split_p_values, optimism])
@pytest.mark.parametrize("labels", ["tuples", "intercept", "numbers"])
def test_odd_labels(data, tool, labels):
    X, y = data
    odd = {
        "tuples": pd.MultiIndex.from_product([["u", "v"], [1, 2, 3]]),
        "intercept": ["(Intercept)", *"bcdef"],
        "numbers": range(6),
    }[labels]
    found = tool(StepwiseSelector(), X.set_axis(odd, axis=1), y, random_state=0, **FEW[tool])
    plain = tool(StepwiseSelector(), X, y, random_state=0, **FEW[tool])
    assert len(str(found.summary())) > 50
    if tool is null_test:
        assert_allclose(found.null, plain.null)
    else:
        assert_allclose(found.table.to_numpy(dtype=float), plain.table.to_numpy(dtype=float))
    if tool is split_p_values:
        assert list(found.table.index) == list(odd)


def test_the_summary_of_a_selection_says_how_to_check_it(data):
    text = str(select(*data).result_.summary())
    assert "p_value (not adjusted for selection)" in text
    assert "candidate terms: 0.075 per observation; largest VIF" in text
    assert "selection_stability(result)" in text


def test_candidates_are_counted_by_coefficients_and_the_rarer_class():
    r = np.random.default_rng(0)
    X = pd.DataFrame({"x": r.normal(size=100), "g": r.choice(list("abcd"), 100)})
    y = np.where(r.random(100) < 0.3, "yes", "no")
    rarer = min((y == "yes").sum(), (y == "no").sum())
    for event, unit in (("yes", "event"), ("no", "non-event")):
        text = str(select(X, y, family="binomial", event=event).result_.summary())
        assert f"2 candidate terms with 4 coefficients: {4 / rarer:.2g} per {unit}" in text
