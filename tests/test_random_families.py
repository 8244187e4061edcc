"""Random problems of the other families against the oracle (naive_families.py), and the likelihood-ratio brackets.

Every problem is selected twice, with `candidates="exact"` and with `"leading"`: both take the oracle's path.
"""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from helpers import Outcome, path_of, select
from naive import without
from naive_families import family_data, naive_family_select
from problems import FAMILY_KINDS, autoregressive, correlated, family_problem, family_response, response, skewed_columns

FAMILIES = ("binomial", "poisson", "gamma", "negative_binomial", "cox")
SEEDS = range(300)
LINKS = {
    "probit": ("binomial", lambda: sm.families.Binomial(sm.families.links.Probit())),
    "cloglog": ("binomial", lambda: sm.families.Binomial(sm.families.links.CLogLog())),
    "inverse_gaussian": ("gamma", lambda: sm.families.InverseGaussian(sm.families.links.Log())),
    "logit_object": ("binomial", sm.families.Binomial),
}
SEPARATED = 2e-8  # the supremum is reached to this
compared = {}  # (family, seed) -> the path that the oracle and both modes agree on


def close(found, expected, rtol, atol=0.0, what=""):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    np.testing.assert_allclose(found, expected, rtol, atol, err_msg=what)


def oracle_of(drawn):
    """The oracle's selection. Wald and score tests mean nothing in separated models: those problems go by ratio."""
    arguments = {"weights": drawn.weights, "offset": drawn.offset, "trials": drawn.trials}
    result, data = naive_family_select(drawn.X, drawn.y, **arguments, **drawn.parameters)
    if "test_enter" in drawn.parameters and any(fit.separated for fit in data.fits.values()):
        del drawn.parameters["test_enter"], drawn.parameters["test_remove"]
        drawn.parameters["alpha_enter"] = min(drawn.parameters["alpha_enter"], drawn.parameters["alpha_remove"])
        result, data = naive_family_select(drawn.X, drawn.y, **arguments, **drawn.parameters)
    return result, data


def compare(family, seed, make=None):
    drawn = family_problem(family, seed)
    if make is not None:
        drawn.parameters["family"] = make()
    if family == "gamma" and make is not None:  # amounts near 0 make the inverse Gaussian likelihood all but flat
        drawn = replace(drawn, y=drawn.y + drawn.y.mean())
    oracle, data = oracle_of(drawn)
    expected = Outcome.of_naive(oracle)
    weights = drawn.weights if drawn.trials is None else drawn.trials
    for mode in ("exact", "leading"):
        arguments = {"sample_weight": weights, "offset": drawn.offset, "candidates": mode}
        selector = select(drawn.X, drawn.y, **arguments, **drawn.parameters)
        found = Outcome.of_selector(selector)
        assert found.path == expected.path, mode
        assert found.selected == expected.selected
        separated = [data.fit(terms).separated for terms in expected.trace["terms"]]
        compare_trace(found.trace, expected.trace, np.array(separated), drawn.parameters)
        if mode == "exact":
            compare_candidates(selector.candidates_, expected, data, drawn.parameters)
        if not separated[-1]:
            # a negative binomial model without overdispersion is at the edge: no agreed standard error
            edge = family == "negative_binomial" and data.alpha[frozenset(expected.selected)] == 0
            compare_coefficients(found.coefficients, expected.coefficients, errors=not edge)
        if data.n_criterion == data.n:
            assert selector.result_.n_obs == data.n
    compared[family, seed] = found.path


def compare_trace(found, expected, separated, parameters):
    assert list(found["n_params"]) == list(expected["n_params"])
    assert list(found["n_terms"]) == [len(terms) for terms in expected["terms"]]
    atol = np.where(separated, SEPARATED, 1e-9)
    columns = ["log_likelihood", "aic", "bic"]
    columns += [] if parameters["criterion"] == "pvalue" else ["criterion"]
    for column in columns:
        found_, expected_ = (table[column].to_numpy(float) for table in (found, expected))
        assert (np.abs(found_ - expected_) <= 1e-9 * np.abs(expected_) + atol).all(), (column, found_ - expected_)
    if expected["deviance"].notna().all():
        close(found["deviance"], expected["deviance"], 1e-9, SEPARATED, "deviance")
    if parameters.get("fit_intercept", True):
        for column in ("r2", "adj_r2"):
            close(found[column], expected[column], 1e-8, 1e-8, column)
    moves, known = found.iloc[1:], expected.iloc[1:]
    assert list(moves["df"]) == list(known["df"])
    compare_tests(moves, known, separated[1:] | separated[:-1])


def compare_tests(found, expected, separated):
    """Statistics to 1e-6; p to 1e-6 of itself and of how much it changes with a statistic that is so well known."""
    for column in ("statistic", "p_value"):
        for mask, atol in ((~separated, 1e-8), (separated, 4 * SEPARATED)):
            close(found[column][mask], expected[column][mask], 1e-6, atol, column)


def compare_candidates(table, expected, data, parameters):
    """Every legal move at every step: degrees of freedom, statistic, p, criterion, and whether it separates."""
    rows = table[table["status"].isin(["chosen", "eligible", "separated"])]
    if "max_terms" in parameters:  # once there is no room left, additions are shown but not legal
        full = expected.trace["terms"].map(len).to_numpy()[rows["step"] - 1] >= parameters["max_terms"]
        rows = rows[~(full & (rows["move"] == "add").to_numpy())]
    key = ["step", "move", "term"]
    known = expected.candidates.set_index(key)
    rows = rows.set_index(key)
    if parameters["criterion"] == "pvalue":
        removing = {step for step, (action, _) in enumerate(expected.path, start=1) if action == "remove"}
        idle = removing - {step for step, move, _ in rows.index if move == "add"}
        known = known[[not (step in idle and move == "add") for step, move, _ in known.index]]
    assert sorted(rows.index) == sorted(known.index)
    if known.empty:
        return
    rows = rows.loc[known.index]
    assert list(rows["df"]) == list(known["df"])
    models = [list(terms) for terms in expected.trace["terms"]]
    separated = []
    for (step, move, term), status in zip(known.index, rows["status"], strict=True):
        here = data.fit(models[step - 1]).separated
        there = data.fit(without(models[step - 1], term) if move == "remove" else [*models[step - 1], term]).separated
        separated.append(here or there)
        if not here:
            assert (status == "separated") == (there and status != "chosen"), (step, move, term)
    separated = np.array(separated)
    compare_tests(rows, known, separated)
    if parameters["criterion"] != "pvalue":
        close(rows["criterion"], known["criterion"], 1e-9, 4 * SEPARATED, "criterion")


def compare_coefficients(found, expected, errors):
    assert set(expected.index) <= set(found.index)
    found = found.loc[expected.index]
    unit = expected["std_error"].to_numpy()
    close(found["estimate"] / unit, expected["estimate"] / unit, 1e-5, 1e-5, "estimate")
    if errors:
        close(found["std_error"] / unit, np.ones(len(unit)), 1e-5, 0, "std_error")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_selector_equals_oracle(family, seed):
    compare(family, seed)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("link", LINKS)
def test_family_objects_with_any_link(link, seed):
    family, make = LINKS[link]
    compare(family, seed, make)


@pytest.mark.parametrize("family", FAMILIES)
def test_at_least_200_problems_of_the_family_were_compared(family):
    """Counts what was compared (a partial run is made up for), and that it was worth comparing."""
    for seed in SEEDS:
        if (family, seed) not in compared:
            compare(family, seed)
    paths = [compared[family, seed] for seed in SEEDS]
    assert len(paths) >= 200
    assert {family_problem(family, seed).kind for seed in SEEDS} == set(FAMILY_KINDS)
    actions = Counter(action for path in paths for action, _ in path)
    assert actions["add"] > 150
    assert actions["remove"] > 150
    assert sum({"add", "remove"} <= {action for action, _ in path} for path in paths) >= 5


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_leading_leaves_candidates_unfitted(family):
    """Else the comparison of the two modes says nothing."""
    bounded = 0
    for seed in range(40):
        drawn = family_problem(family, seed)
        weights = drawn.weights if drawn.trials is None else drawn.trials
        arguments = {"sample_weight": weights, "offset": drawn.offset, "candidates": "leading"}
        table = select(drawn.X, drawn.y, **arguments, **drawn.parameters).candidates_
        bounded += (table["status"] == "bounded").sum()
    assert bounded > 50


@pytest.mark.parametrize("family", ["gamma", "negative_binomial", "cox", "probit"])
def test_leading_fits_every_candidate_where_no_bound_holds(family):
    for seed in range(10):
        name, make = LINKS.get(family, (family, lambda: family))
        drawn = family_problem(name, seed)
        weights = drawn.weights if drawn.trials is None else drawn.trials
        parameters = drawn.parameters | {"family": make(), "candidates": "leading"}
        table = select(drawn.X, drawn.y, sample_weight=weights, offset=drawn.offset, **parameters).candidates_
        assert not (table["status"] == "bounded").any()


# Brackets


@cache
def bracket_evaluations():
    """Likelihood ratio, score, Wald and the two leverages R of many candidates, by the oracle."""
    additions, removals = [], []
    for seed in range(1300):
        rng = np.random.default_rng([seed, 7])
        family = ("binomial", "poisson")[seed % 2]
        p, n = int(rng.integers(3, 7)), int(rng.integers(30, 120))
        A = skewed_columns(
            rng,
            correlated(rng, n, p, autoregressive(p, rng.uniform(0, 0.9))),
            ["normal", "lognormal", "binary", "heavy"],
        )
        y, _ = family_response(rng, family, rng.uniform(0.3, 2) * response(rng, A - A.mean(axis=0), noise=0.0), "plain")
        weights = rng.integers(1, 4, n) if seed % 5 == 0 else None
        X = pd.DataFrame(A, columns=[f"v{i}" for i in range(p)])
        data = family_data(X, y, family, weights=weights)
        terms = list(X.columns)
        inside = terms[: int(rng.integers(0, p - 1))]
        for term in terms[len(inside) :]:
            larger = [*inside, term]
            if data.tolerance(term, inside) > 1e-6 and not data.fit(larger).separated:
                _, information = data.score(larger, data.embedded(inside, larger), None)
                ratio = 2 * (data.fit(larger).llf - data.fit(inside).llf)
                additions.append(
                    (ratio, data.score_statistic(inside, larger), radius(data.design(larger), information))
                )
        for term in inside:
            smaller, fit = without(inside, term), data.fit(inside)
            if data.tolerance(term, smaller) > 1e-6 and not fit.separated:
                ratio = 2 * (fit.llf - data.fit(smaller).llf)
                wald = data.test("wald", smaller, inside)[1]
                removals.append((ratio, wald, radius(data.design(inside), fit.information)))
    return np.array(additions).T, np.array(removals).T


def radius(design, information):
    """The square root of the largest leverage x' H^-1 x of a row."""
    return np.sqrt(np.max(np.sum(design * np.linalg.solve(information, design.T).T, axis=1)))


def test_brackets_are_never_violated():
    from stepsel.core import brackets

    additions, removals = bracket_evaluations()
    assert additions.shape[1] + removals.shape[1] >= 5000
    slack = 1e-9
    ratio, score, largest = additions
    upper, lower = brackets.upper(score, largest), brackets.lower(score, largest)
    assert np.sum(ratio > upper * (1 + slack) + slack) == 0
    assert np.sum(ratio < lower * (1 - slack) - slack) == 0
    # brackets worth having: often finite, and now and then narrow
    assert np.mean(np.isfinite(upper)) > 0.3
    assert np.mean((upper - lower)[np.isfinite(upper)] < 0.5 * ratio[np.isfinite(upper)]) > 0.1
    ratio, wald, largest = removals
    lower = brackets.removal_lower(wald, largest)
    assert np.sum(ratio < lower * (1 - slack) - slack) == 0
    assert np.mean(lower > 0.5 * ratio) > 0.3


def test_brackets_close_on_the_statistic_where_the_leverage_vanishes():
    from stepsel.core import brackets

    score, none = np.array([1e-12, 0.5, 4.0, 30.0]), np.full(4, 1e-9)
    for bound in (brackets.upper, brackets.lower, brackets.removal_lower):
        close(bound(score, none), score, 1e-7)
    assert np.isinf(brackets.upper(np.array([4.0]), np.array([0.5]))).all()
    # no jump where the series takes over from the closed form
    u = np.geomspace(1e-6, 1e-2, 2001)
    for bound in (brackets.upper, brackets.lower, brackets.removal_lower):
        relative = bound(u**2, np.ones(len(u))) / u**2
        assert np.abs(np.diff(relative)).max() < 1e-4


def test_leading_and_exact_agree_on_every_step():
    """Larger problems than the oracle could judge: the two modes take one path with one log-likelihood."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        family = ("binomial", "poisson")[seed % 2]
        A = skewed_columns(rng, correlated(rng, 600, 20, autoregressive(20, 0.7)), ["normal", "lognormal", "heavy"])
        y, _ = family_response(rng, family, 0.6 * response(rng, A - A.mean(axis=0), noise=0.0), "plain")
        for parameters in ({"direction": "both"}, {"direction": "backward", "criterion": "bic"}):
            exact, leading = (
                select(A, y, family=family, candidates=mode, **parameters) for mode in ("exact", "leading")
            )
            assert path_of(exact) == path_of(leading)
            close(exact.trace_["log_likelihood"], leading.trace_["log_likelihood"], 1e-11)
            assert (leading.candidates_["status"] == "bounded").sum() > 20
