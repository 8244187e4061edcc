"""Do the tools of stepsel.inference keep their levels? On noise, where the naive p-value does not.

Theory and the figures of other simulations: Freedman (1983) and research notes quoted in each test. Limits are those of
the tests' own error: 2,000 samples at 5 % have a standard error of .005.
"""

import numpy as np
import pytest
from helpers import select
from numpy.testing import assert_allclose
from scipy import stats

from stepsel import StepwiseSelector
from stepsel.inference import null_test, optimism, selective_inference, split_p_values

N = 2000


def noise(seed, n=50, p=10):
    r = np.random.default_rng(seed)
    return r.normal(size=(n, p)), r.normal(size=n)


@pytest.fixture(scope="module")
def paths():
    """The forward path of p-values on 2,000 samples of pure noise, with naive and selective p of its steps."""
    found = []
    for seed in range(N):
        X, y = noise(seed)
        result = select(X, y, direction="forward", criterion="pvalue", alpha_enter=1.0, max_terms=3).result_
        found.append(selective_inference(result, alpha=0.5).table[["p_naive", "p_selective"]].to_numpy())
    return np.array(found)


def test_the_naive_p_value_does_not_keep_its_level(paths):
    """A control that has to fail: 1 - .95^10 = .401 of the first terms have p < .05 by chance."""
    share = (paths[:, 0, 0] < 0.05).mean()
    assert share >= 0.35
    assert_allclose(share, 1 - 0.95**10, atol=0.04)


@pytest.mark.parametrize("step", [0, 1, 2])
def test_selective_p_values_keep_their_level_at_a_fixed_step(paths, step):
    assert 0.035 <= (paths[:, step, 1] < 0.05).mean() <= 0.065
    assert stats.kstest(paths[:, step, 1], "uniform").pvalue > 1e-4


def test_a_step_chosen_by_its_p_value_is_not_fixed(paths):
    """Stop at the first naive p above .05, read the last selective p: .158 in the notes, three times the level."""
    last = (paths[:, :, 0] < 0.05).cumprod(axis=1).sum(axis=1)
    chosen = paths[last > 0, last[last > 0] - 1, 1]
    assert len(chosen) > 700
    assert 0.11 <= (chosen < 0.05).mean() <= 0.20


def test_null_test_keeps_its_level():
    selector = StepwiseSelector(direction="forward", criterion="bic")
    p = [null_test(selector, *noise(seed), n_permutations=99, random_state=seed).p_value for seed in range(N)]
    assert 0.035 <= (np.array(p) <= 0.05).mean() <= 0.065


@pytest.mark.parametrize("statistic", ["r2", "deviance"])
def test_null_test_keeps_its_level_beside_kept_terms(statistic):
    """Ten kept terms that matter, ten candidates that do not, on 50 rows: permuted residuals that the kept terms
    explain in part are no evidence for candidates, nor against them."""
    p = []
    for seed in range(600):
        r = np.random.default_rng(seed)
        X = r.normal(size=(50, 20))
        y = X[:, :10].sum(axis=1) / 2 + r.normal(size=50)
        selector = StepwiseSelector(direction="forward", criterion="bic", keep=range(10))
        p.append(null_test(selector, X, y, n_permutations=39, statistic=statistic, random_state=seed).p_value)
    assert 0.02 <= (np.array(p) <= 0.05).mean() <= 0.08
    assert 0.16 <= (np.array(p) <= 0.2).mean() <= 0.25


def test_null_test_sees_a_signal():
    X, y = noise(0)
    assert null_test(StepwiseSelector(), X, y + X[:, 0], n_permutations=99, random_state=0).p_value == 0.01


def test_forward_stop_takes_no_step_in_most_samples():
    """Where all is noise, the false discovery rate is the share of samples with any step: .104 in the notes."""
    taken = []
    for seed in range(1000):
        result = select(*noise(seed), direction="forward", criterion="pvalue", alpha_enter=1.0).result_
        taken.append(selective_inference(result).forward_stop(0.1) > 0)
    assert np.mean(taken) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 1000)


def test_split_p_values_control_the_family_wise_error():
    errors = [
        (split_p_values(StepwiseSelector(), *noise(seed), n_splits=10, random_state=seed).table["p_value"] < 0.05).any()
        for seed in range(N)
    ]
    assert np.mean(errors) <= 0.05


def test_intervals_from_the_second_half_cover():
    """All coefficients are zero, and the columns independent: so are the coefficients of every submodel."""
    covered = []
    for seed in range(N):
        found = split_p_values(StepwiseSelector(), *noise(seed, n=60, p=6), n_splits=1, random_state=seed)
        table = found.confidence_intervals
        slopes = table[table["term"] != "(Intercept)"]
        covered += ((slopes["conf_low"] < 0) & (slopes["conf_high"] > 0)).tolist()
    assert len(covered) > 1000
    assert 0.93 <= np.mean(covered) <= 0.97


def test_intervals_of_the_same_rows_do_not_cover():
    """The control: intervals of the model that the same rows selected."""
    covered = []
    for seed in range(400):
        table = select(*noise(seed, n=60, p=6)).result_.tidy()
        slopes = table[table["term"] != "(Intercept)"]
        covered += ((slopes["conf_low"] < 0) & (slopes["conf_high"] > 0)).tolist()
    assert np.mean(covered) < 0.85


def freedman(alpha, again):
    """Share of variance and of columns kept, for n rows, n / 2 orthonormal noise columns, n large.

    Freedman (1983): the t statistics are standard normal, those beyond the quantile stay, once. A stepwise selection
    estimates the error variance again at every step, from what it has left out: ``again`` to the fixed point.
    """
    z, s2 = stats.norm.isf(alpha / 2), 1.0
    for _ in range(200 if again else 1):
        c = z * np.sqrt(s2)
        inside = 1 - 2 * stats.norm.sf(c)
        square = inside - 2 * c * stats.norm.pdf(c)  # E(z^2; |z| < c)
        r2, kept = (1 - square) / 2, (1 - inside) / 2
        s2 = (1 - r2) / (1 - kept)
    return r2, kept, (r2 / kept) / ((1 - r2) / (1 - kept))


def orthonormal_noise(seed):
    r = np.random.default_rng(seed)
    X = np.linalg.qr(np.column_stack([np.ones(100), r.normal(size=(100, 50))]))[0][:, 1:]
    return X, r.normal(size=100)


def assert_paradox(rows, expected):
    """R2, share kept, and F of these two means, within four standard errors (that of F: from halves of the samples)."""
    rows = np.array(rows)
    error = rows.std(axis=0) / np.sqrt(len(rows))
    assert_allclose(rows.mean(axis=0), expected[:2], atol=4 * error.max() + 0.005)
    r2, kept = rows.mean(axis=0)
    assert_allclose((r2 / kept) / ((1 - r2) / (1 - kept)), expected[2], rtol=0.05)


def test_freedmans_paradox():
    """Freedman (1983): keep p < .25 of 50 noise columns on 100 rows, refit; R2 goes to .3618, F to 3.968."""
    expected = freedman(0.25, again=False)
    assert_allclose(expected, [0.3618, 0.125, 3.968], atol=1e-3)
    rows, f = [], []
    for seed in range(400):
        X, y = orthonormal_noise(seed)
        full = select(X, y, start="full", direction="forward").result_.tidy()
        places = np.flatnonzero(full["p_value"][1:] < 0.25)
        row = select(X[:, places], y, start="full", direction="forward").result_.glance().iloc[0]
        rows.append((row["r2"], len(places) / 99))
        f.append(row["f_statistic"])
    assert_paradox(rows, expected)
    assert_allclose(np.mean(f), 4.107, atol=4 * np.std(f) / np.sqrt(400))  # of the notes, at n = 100


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_freedmans_paradox_step_by_step(direction):
    """Worse: what is left out is the smaller part of the noise, so that the error variance is underestimated."""
    expected = freedman(0.25, again=True)
    assert_allclose(expected, [0.4079, 0.1662, 3.457], atol=1e-3)
    rows = []
    for seed in range(400):
        X, y = orthonormal_noise(seed)
        parameters = {"criterion": "pvalue", "alpha_enter": 0.25, "alpha_remove": 0.25}
        result = select(X, y, direction=direction, **parameters).result_
        rows.append((result.glance()["r2"][0], len(result.selected) / 99))
    assert_paradox(rows, expected)


def test_optimism_is_what_new_data_show():
    """Forward AIC, two weak terms among 12 candidates on 60 rows: R2 apparent, corrected, and on 4,000 new rows."""
    rows = []
    for seed in range(80):
        r = np.random.default_rng(seed)
        beta = np.r_[0.35, 0.35, np.zeros(10)]
        X, new = r.normal(size=(60, 12)), r.normal(size=(4000, 12))
        y, there = X @ beta + r.normal(size=60), new @ beta + r.normal(size=4000)
        found = optimism(StepwiseSelector(direction="forward"), X, y, n_resamples=50, random_state=seed).table.loc["r2"]
        mean = select(X, y, direction="forward").result_.predict(new)
        rows.append((found["apparent"], found["corrected"], 1 - np.sum((there - mean) ** 2) / np.sum(there**2)))
    rows = np.array(rows)
    apparent, corrected, true = rows.mean(axis=0)
    assert apparent > true + 0.2
    assert_allclose(corrected, true, atol=4 * (rows[:, 1] - rows[:, 2]).std() / np.sqrt(80))
