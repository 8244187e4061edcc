"""The oracle for other likelihoods, judged by R and by statsmodels: it must stand before it judges anything."""

import warnings

import numpy as np
import pandas as pd
import pytest
import r_cases
import statsmodels.api as sm
from helpers import PUBLISHED, Outcome, read_json, survival
from naive_families import family_data, naive_family_select
from numpy.testing import assert_allclose
from scipy import stats


@pytest.mark.parametrize("path", r_cases.FAMILY_CASES, ids=r_cases.FAMILY_NAMES)
def test_oracle_takes_the_steps_of_r(path):
    case, X, y, weights, parameters = r_cases.load(path)
    result, _ = naive_family_select(X, y, weights=weights, **parameters)
    r_cases.assert_outcome(case, weights, Outcome.of_naive(result))


def example(seed, n=60):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, 3))
    return rng, A, pd.DataFrame(A, columns=["a", "b", "c"])


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("seed", range(5))
def test_partial_likelihood_is_that_of_phreg(seed, ties):
    rng, A, X = example(seed)
    time = np.ceil(rng.exponential(np.exp(-A[:, 0])) * 5)
    event, offset = rng.random(60) < 0.7, rng.normal(0, 0.3, 60)
    data = family_data(X, survival(event, time), "cox", ties=ties, offset=offset)
    fit = data.fit(["a", "b", "c"])
    phreg = sm.PHReg(time, data.covariates(["a", "b", "c"]), status=event, ties=ties, offset=offset)
    result = phreg.fit()
    assert_allclose(fit.llf, phreg.loglike(fit.params), rtol=1e-12)
    assert_allclose(fit.llf, result.llf, rtol=1e-10)
    assert_allclose(fit.params, result.params, rtol=1e-5)
    assert_allclose(-fit.information, phreg.hessian(fit.params), rtol=1e-9, atol=1e-9)
    assert_allclose(np.zeros(3), phreg.score(fit.params), atol=1e-5)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_frequency_weights_of_deaths_are_ties(ties):
    rng, A, X = example(11, n=20)
    y = survival(rng.random(20) < 0.8, np.ceil(rng.exponential(np.exp(-A[:, 1])) * 6))
    weights = rng.integers(1, 4, 20)
    repeated = np.repeat(np.arange(20), weights)
    weighted = family_data(X, y, "cox", ties=ties, weights=weights).fit(["a", "b"])
    plain = family_data(X.iloc[repeated], y[repeated], "cox", ties=ties).fit(["a", "b"])
    assert_allclose(weighted.llf, plain.llf, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_negative_binomial_is_that_of_statsmodels(seed):
    rng, A, X = example(seed, n=120)
    offset = rng.normal(0, 0.3, 120)
    y = rng.poisson(np.exp(0.7 + 0.5 * A[:, 0] + offset) * rng.gamma(1.5, 1 / 1.5, 120))
    data = family_data(X, y, "negative_binomial", offset=offset)
    fit = data.fit(["a", "b"])
    model = sm.NegativeBinomial(y, data.design(["a", "b"]), offset=offset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = model.fit(disp=0, maxiter=500, method="bfgs")
        result = model.fit(disp=0, maxiter=500, start_params=result.params, method="newton")
    assert fit.n_params == 4
    assert_allclose(fit.llf, result.llf, rtol=1e-10)
    assert_allclose(fit.params, result.params[:-1], rtol=1e-5)
    # R's glm.nb and the expected information
    glm = sm.GLM(y, model.exog, sm.families.NegativeBinomial(alpha=result.params[-1]), offset=offset).fit(tol=1e-14)
    assert_allclose(np.sqrt(np.diag(fit.covariance())), glm.bse, rtol=1e-5)


def test_negative_binomial_of_counts_without_overdispersion_is_poisson():
    rng, A, X = example(3, n=100)
    y = rng.binomial(5, 1 / (1 + np.exp(-A[:, 0])))
    fit = family_data(X, y, "negative_binomial").fit(["a"])
    poisson = family_data(X, y, "poisson").fit(["a"])
    assert fit.llf == poisson.llf
    assert fit.n_params == poisson.n_params + 1


@pytest.mark.parametrize("family", ["binomial", "poisson", "gamma"])
def test_generalized_linear_models_are_those_of_statsmodels(family):
    rng, A, X = example(5)
    mean = np.exp(0.5 * A[:, 0] + 0.3)
    y = {"binomial": mean > rng.exponential(1, 60), "poisson": rng.poisson(mean), "gamma": rng.gamma(2, mean / 2)}
    weights, offset = rng.gamma(2, 0.5, 60), rng.normal(0, 0.2, 60)
    parameters = {"offset": offset, "weights": weights, "weight_type": "analytic"}
    data = family_data(X, y[family], family, **parameters)
    fit = data.fit(["a", "c"])
    small = data.fit(["a"])
    design = sm.add_constant(X[["a", "c"]])
    result = sm.GLM(data.y, design, data.family(), offset=offset, var_weights=weights).fit(tol=1e-14)
    assert_allclose(fit.llf, result.llf, rtol=1e-11)
    assert_allclose(data.coefficients(["a", "c"])["estimate"], result.params, rtol=1e-7)
    assert_allclose(data.coefficients(["a", "c"])["std_error"], result.bse, rtol=1e-7)
    df, statistic, p, _ = data.test("wald", ["a"], ["a", "c"])
    assert df == 1
    assert_allclose([statistic, p], [result.tvalues["c"] ** 2, result.pvalues["c"]], rtol=1e-6)
    reduced = sm.GLM(data.y, design[["const", "a"]], data.family(), offset=offset, var_weights=weights).fit(tol=1e-14)
    # as anova.glm(test = "Rao") in R: what the working residuals give to a weighted regression on the larger design
    working = sm.WLS(reduced.resid_working, design, weights=reduced.model.weights).fit()
    score = np.sum(reduced.model.weights * working.fittedvalues**2) / reduced.scale
    df, statistic, p, _ = data.test("score", ["a"], ["a", "c"])
    assert_allclose([statistic, p], [score, stats.chi2.sf(score, 1)], rtol=1e-6)
    df, statistic, _, _ = data.test("lr", ["a"], ["a", "c"])
    assert_allclose(statistic, (small.deviance - fit.deviance) / result.scale, rtol=1e-6)


def test_binomial_coefficients_of_proportions():
    """R: sum(dbinom(c(1, 3, 4), c(4, 5, 4), 8 / 13, log = TRUE)) = -4.149, from the binomial formula."""
    y, trials = np.array([1 / 4, 3 / 5, 1.0]), np.array([4, 5, 4])
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0]})
    fit = family_data(X, y, "binomial", trials=trials).fit([])
    p = 8 / 13
    by_hand = np.log(4 * p * (1 - p) ** 3) + np.log(10 * p**3 * (1 - p) ** 2) + np.log(p**4)
    assert_allclose(fit.llf, by_hand, rtol=1e-12)


def test_supremum_under_separation():
    """Complete separation: the log-likelihood tends to 0; quasi-complete: to that of the rows left undecided."""
    x = np.r_[np.arange(10.0), 20 + np.arange(10.0)]
    y = (x > 15).astype(float)
    data = family_data(pd.DataFrame({"x": x}), y, "binomial")
    assert -1e-10 < data.fit(["x"]).llf <= 0
    assert data.fit(["x"]).separated
    flag = np.r_[np.zeros(15), np.ones(5)]
    data = family_data(pd.DataFrame({"flag": flag}), y, "binomial")
    assert_allclose(data.fit(["flag"]).llf, 10 * np.log(10 / 15) + 5 * np.log(5 / 15), atol=1e-10)
    assert data.fit(["flag"]).separated
    assert not data.fit([]).separated


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_oracle_stops_as_sas_does(ties):
    """PHREG's myeloma example: SCalc enters by its score and is the next to leave, by Wald."""
    verified = read_json(PUBLISHED / "myeloma_sas_phreg.json")["r_verified"][ties]
    table = pd.read_csv(PUBLISHED / "data" / "myeloma.csv")
    y = survival(table.pop("VStatus") == 1, table.pop("Time"))
    sas = {"criterion": "pvalue", "test_enter": "score", "test_remove": "wald"}
    parameters = {"family": "cox", "ties": ties, "alpha_enter": 0.25, "alpha_remove": 0.15, **sas}
    result, _ = naive_family_select(table, y, **parameters)
    actions = {"enter": "add", "remove": "remove"}
    assert result.path[1:] == [(actions[step["action"]], step["variable"]) for step in verified["steps"][1:]]
    for found, step in zip(result.steps, verified["steps"], strict=True):
        assert_allclose([-2 * found.log_likelihood, found.bic], [step["minus2LL"], step["SBC_nevent"]], rtol=1e-9)
        if step["step"]:
            statistic = step["score_chisq" if step["action"] == "enter" else "wald_chisq"]
            assert_allclose([found.statistic, found.p_value], [statistic, step["p"]], rtol=1e-6)
