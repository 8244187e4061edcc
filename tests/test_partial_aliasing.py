"""Terms of several columns that are partly or wholly aliased: their degrees of freedom are the rank they add."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from stepsel import StepwiseSelector


def rank_and_rss(X, y):
    A = np.column_stack([np.ones(len(y)), X])
    solution, _, rank, _ = np.linalg.lstsq(A, y, rcond=1e-10)
    return rank, float(((y - A @ solution) ** 2).sum())


def oracle(X, y, groups, inside, term, adding):
    """df, F and p of one move, by rank and residuals of two full fits."""
    there = [*inside, term] if adding else [t for t in inside if t != term]
    columns = {True: there, False: inside}
    larger, smaller = columns[adding], columns[not adding]
    rank, rss = rank_and_rss(X[[c for t in larger for c in groups[t]]], y)
    rank_small, rss_small = rank_and_rss(X[[c for t in smaller for c in groups[t]]], y)
    df = rank - rank_small
    if df == 0:
        return 0, np.nan, np.nan
    F = (rss_small - rss) / df / (rss / (len(y) - rank))
    return df, F, stats.f.sf(F, df, len(y) - rank)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
def test_degrees_of_freedom_are_ranks(seed, direction):
    rng = np.random.default_rng(seed)
    n = 40
    levels = rng.integers(0, 3, n)
    X = pd.DataFrame({f"level{k}": (levels == k).astype(float) for k in range(3)})  # all levels: rank 2 beside 1
    X["x"] = rng.standard_normal(n)
    X["z"] = rng.standard_normal(n)
    X["mix"] = X["x"] + X["z"]
    X["more"] = rng.standard_normal(n)
    groups = {"factor": ["level0", "level1", "level2"], "pair": ["mix", "more"], "x": ["x"], "z": ["z"]}
    y = X["level0"] + 0.5 * X["x"] + 0.4 * X["z"] + 0.7 * rng.standard_normal(n)
    selector = StepwiseSelector(
        direction=direction,
        criterion="pvalue",
        alpha_enter=0.2,
        alpha_remove=0.3,
        groups={name: columns for name, columns in groups.items() if len(columns) > 1},
        collinearity="ignore",
    ).fit(X, y)
    trace, table = selector.trace_, selector.candidates_
    inside = list(groups) if direction == "backward" else []
    for step, rows in table.groupby("step"):
        if step > 1:
            action, term = trace.loc[step - 1, ["action", "term"]]
            inside = [*inside, term] if action == "add" else [t for t in inside if t != term]
        for row in rows.itertuples():
            df, F, p = oracle(X, y, groups, inside, row.term, row.move == "add")
            assert row.df == df
            if df:
                assert row.statistic == pytest.approx(F, rel=1e-7, abs=1e-9)
                assert row.p_value == pytest.approx(p, rel=1e-6)
            elif row.move == "add":
                assert row.status == "aliased"
    rank, rss = rank_and_rss(X[[c for t in selector.result_.selected for c in groups[t]]], y)
    assert trace["n_params"].iloc[-1] == rank
    assert trace["deviance"].iloc[-1] == pytest.approx(rss, rel=1e-9)
    assert np.isnan(selector.coef_).sum() == len(selector.coef_) - (rank - 1)
    assert selector.result_.model.ssr == pytest.approx(rss, rel=1e-9)
    fitted = selector.result_.predict(X)
    assert ((y - fitted) ** 2).sum() == pytest.approx(rss, rel=1e-9)


def test_constant_column_without_intercept_is_a_term():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"one": np.ones(30), "x": rng.standard_normal(30), "zero": np.zeros(30)})
    y = 5 + rng.standard_normal(30)
    selector = StepwiseSelector(criterion="bic", fit_intercept=False, collinearity="ignore")
    with pytest.warns(UserWarning, match="zero"):
        selector.fit(X, y)
    assert selector.result_.selected == ["one"]
    assert selector.coef_[0] == pytest.approx(y.mean(), rel=1e-12)


def test_kept_constant_column_stays_out():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"one": np.ones(30), "x": rng.standard_normal(30)})
    y = X["x"] + rng.standard_normal(30)
    with pytest.warns(UserWarning, match="one"):
        selector = StepwiseSelector(criterion="bic", keep=["one"]).fit(X, y)
    assert selector.result_.selected == ["x"]
