"""The linear engine inside: the switch from cross-products to QR, its accuracy on both sides, and what it costs."""

import mpmath
import numpy as np
import pytest

from stepsel.core.linear import SMALLEST_TOLERANCE, LinearEngine
from stepsel.core.linear_data import LinearData
from stepsel.core.moments import accumulate
from stepsel.core.orthogonal import OrthogonalState
from stepsel.core.refit import least_squares
from stepsel.core.tails import f_tail, log_f_tail
from stepsel.core.terms import Terms


def single_terms(p):
    return Terms([f"v{j}" for j in range(p)], np.arange(p), np.arange(p + 1), np.zeros(p, dtype=bool))


def engine_on(X, y, *, adds=True, removes=True, intercept=True):
    data = LinearData(X, y, None, float(len(y)), intercept)
    return LinearEngine(data, single_terms(X.shape[1]), tolerance=1e-15, adds=adds, removes=removes)


def nearly_aliased(tolerance, seed=0, n=60):
    """Three columns, the third of which keeps the share ``tolerance`` of its variance beside the first two."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    X[:, 2] = X[:, 0] - X[:, 1] + np.sqrt(2 * tolerance) * X[:, 2]
    return X, X[:, 0] + 0.5 * X[:, 1] + rng.standard_normal(n)


def exact_rss(X, y):
    """Residual sum of squares with 60 digits."""
    with mpmath.workdps(60):
        A = mpmath.matrix(np.column_stack([np.ones(len(y)), X]).tolist())
        b = mpmath.matrix(y.tolist())
        solution = mpmath.lu_solve(A.T * A, A.T * b)
        r = b - A * solution
        return (r.T * r)[0]


@pytest.mark.parametrize("exponent", range(1, 12))
def test_statistics_are_exact_on_both_sides_of_the_switch(exponent):
    X, y = nearly_aliased(10.0**-exponent)
    engine = engine_on(X, y)
    engine.start(np.array([True, True, False]))
    moves = engine.neighbours(np.array([2]), np.array([0, 1]))
    switched = isinstance(engine._state, OrthogonalState)
    assert switched == (moves.tolerance.min() < SMALLEST_TOLERANCE)
    here, there = exact_rss(X[:, :2], y), exact_rss(X, y)
    assert moves.change[2] == pytest.approx(float(here - there), rel=1e-8)
    assert engine.fit().deviance == pytest.approx(float(here), rel=1e-12)


def test_without_the_switch_digits_are_lost():
    """The control of the test above: cross-products alone fail where the engine does not use them."""
    X, y = nearly_aliased(1e-11)
    engine = engine_on(X, y)
    engine.start(np.array([True, True, False]))
    assert not isinstance(engine._state, OrthogonalState)
    careless = engine._evaluate(np.array([2]), np.array([], dtype=np.intp))
    true = float(exact_rss(X[:, :2], y) - exact_rss(X, y))
    assert abs(careless.change[0] / true - 1) > 1e-8


@pytest.mark.parametrize("share", [1e-4, 1e-8, 1e-12])
def test_deviance_of_a_nearly_perfect_fit(share):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 3))
    y = X @ [1.0, 2.0, -1.0] + np.sqrt(share) * rng.standard_normal(50)
    engine = engine_on(X, y, adds=False)
    engine.start(np.ones(3, dtype=bool))
    assert engine.fit().deviance == pytest.approx(float(exact_rss(X, y)), rel=1e-8)
    assert not engine.perfect


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_cross_products_do_not_lose_digits_to_an_offset(offset):
    rng = np.random.default_rng(2)
    steps = rng.integers(0, 1000, size=(20_000, 2)).astype(float)  # exact with and without the offset
    y = rng.integers(0, 1000, size=20_000).astype(float)
    plain, moved = accumulate(steps, y), accumulate(steps + offset, y + offset)
    np.testing.assert_allclose(moved.gram, plain.gram, rtol=1e-12, atol=1e-12 * plain.gram.max())
    np.testing.assert_allclose(moved.cross, plain.cross, rtol=1e-10)
    np.testing.assert_allclose(moved.mean - offset, plain.mean, atol=1e-7)


def test_sorted_rows_do_not_spoil_the_shift():
    """The first block of rows is far from the mean of all."""
    x = np.arange(200_000.0)[:, None] + 1e7
    stats = accumulate(x, x[:, 0])
    n = len(x)
    assert stats.gram[0, 0] == pytest.approx(n * (n**2 - 1) / 12, rel=1e-12)


@pytest.mark.parametrize("direction", ["forward", "both"])
def test_wide_data_form_no_square_matrix(direction):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12, 40))
    engine = engine_on(X, X[:, 3] + rng.standard_normal(12), removes=direction == "both")
    engine.start(np.zeros(40, dtype=bool))
    engine.neighbours(np.arange(40), np.array([], dtype=np.intp))
    engine.apply(3, True)
    assert "correlation" not in engine.__dict__
    assert "stats" not in engine.data.__dict__


def test_many_sweeps_stay_exact():
    """Entering and leaving 400 times leaves the swept matrix as good as a fresh one."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((80, 12)) @ (np.eye(12) + 0.3)
    y = X[:, 0] + rng.standard_normal(80)
    engine = engine_on(X, y)
    active = engine.start(np.zeros(12, dtype=bool))
    for term in rng.integers(0, 12, size=400):
        engine.apply(int(term), not active[term])
        active[term] = not active[term]
    inside = np.flatnonzero(active)
    fresh = least_squares(X[:, inside], y, None, intercept=True)
    assert engine.fit().deviance == pytest.approx(fresh.rss, rel=1e-10)


def test_a_path_longer_than_one_block_of_pivots():
    """Backward over 150 columns folds the factor into the matrix several times."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 150))
    y = X[:, :3].sum(axis=1) + rng.standard_normal(400)
    engine = engine_on(X, y, adds=False)
    engine.start(np.ones(150, dtype=bool))
    for term in range(149, 9, -1):
        engine.apply(term, False)
    moves = engine.neighbours(np.array([], dtype=np.intp), np.arange(10))
    full = least_squares(X[:, :10], y, None, intercept=True)
    assert engine.fit().deviance == pytest.approx(full.rss, rel=1e-11)
    without = [least_squares(np.delete(X[:, :10], j, axis=1), y, None, intercept=True).rss for j in range(10)]
    np.testing.assert_allclose(moves.change, np.array(without) - full.rss, rtol=1e-9)


@pytest.mark.parametrize(("statistic", "df", "df_resid"), [(3.0, 1, 10), (50.0, 3, 200), (1e5, 1, 2000), (4e6, 4, 900)])
def test_log_tail_against_arbitrary_precision(statistic, df, df_resid):
    with mpmath.workdps(50):
        x = mpmath.mpf(df_resid) / (df_resid + df * mpmath.mpf(statistic))
        known = mpmath.log(mpmath.betainc(mpmath.mpf(df_resid) / 2, mpmath.mpf(df) / 2, 0, x, regularized=True))
    assert log_f_tail(statistic, df, df_resid) == pytest.approx(float(known), rel=1e-11)


def test_tails_at_the_ends():
    assert f_tail(0.0, 2, 10) == 1.0
    assert f_tail(np.inf, 2, 10) == 0.0
    assert log_f_tail(np.inf, 2, 10) == -np.inf
    far = log_f_tail(np.array([1e6, 1e7, 1e8]), 1, 5000)
    assert np.isfinite(far).all()
    assert (np.diff(far) < 0).all()


def test_weights_of_refit_equal_repeated_rows():
    rng = np.random.default_rng(6)
    X, y, w = rng.standard_normal((30, 2)) + 5, rng.standard_normal(30), rng.integers(1, 4, 30)
    weighted = least_squares(X, y, w.astype(float), intercept=True)
    repeated = least_squares(np.repeat(X, w, axis=0), np.repeat(y, w), None, intercept=True)
    np.testing.assert_allclose(weighted.params, repeated.params, rtol=1e-12)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-11)
    assert weighted.rss == pytest.approx(repeated.rss, rel=1e-12)
