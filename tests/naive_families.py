"""The slow oracle for likelihoods other than the normal: one statsmodels model per candidate, fitted to 1e-12.

The search is that of naive.py. Log-likelihoods, scores and Hessians are statsmodels' (`GLM`, `NegativeBinomial`); a
damped Newton, here, finds the optimum where statsmodels' own steps overshoot. The Cox partial likelihood is written
out below, as `PHReg` has no weights; test_naive_families.py holds it against `PHReg` and R.

* Log-likelihood: of the gamma family at each model's own Pearson dispersion; of the negative binomial with the
  dispersion re-estimated in every model, which counts as a parameter.
* Tests: likelihood ratio (free dispersion: deviance difference over the Pearson dispersion of the larger model);
  Rao's score with the expected information at the smaller model; Wald with that at the larger model.
* n: rows, each as often as its frequency weight says; for Cox the number of events.
"""

import contextlib
import warnings
from dataclasses import dataclass

import numpy as np
import statsmodels.api as sm
from naive import Columns, penalised, search
from scipy import special, stats

FIXED_DISPERSION = (sm.families.Binomial, sm.families.Poisson)
FAMILIES = {
    "binomial": sm.families.Binomial,
    "poisson": sm.families.Poisson,
    "gamma": lambda: sm.families.Gamma(sm.families.links.Log()),
}
CONVERGED = 1e-12  # of the log-likelihood that one more Newton step would gain
FLAT = 1e-7  # an information (of scaled columns) below this: the likelihood rises for ever that way


@dataclass(frozen=True)
class LikelihoodFit:
    params: np.ndarray  # of the design's columns, without a dispersion
    llf: float
    df_resid: float
    n_params: int
    deviance: float
    dispersion: float
    information: np.ndarray  # expected, at dispersion 1
    separated: bool

    def covariance(self):
        return self.dispersion * np.linalg.inv(self.information)


class GeneralizedLinear(Columns):
    """Binomial, Poisson, gamma, or any statsmodels family object."""

    def __init__(self, X, y, family, *, offset=None, trials=None, **parameters):
        super().__init__(X, **parameters)
        self.family = FAMILIES.get(family, lambda: family)
        self.y = np.asarray(y, float)[self.rows]
        self.trials = None if trials is None else np.asarray(trials, float)[self.rows]
        self.offset = np.zeros(self.n) if offset is None else np.asarray(offset, float)[self.rows]
        self.free_dispersion = not isinstance(self.family(), FIXED_DISPERSION)
        self.n_criterion = self.n
        self.fits = {}

    def fit(self, terms):
        key = frozenset(terms)
        if key not in self.fits:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                self.fits[key] = self.fitted(terms)
        return self.fits[key]

    def model(self, design):
        # a column of zeros stands for none, which statsmodels does not take
        design = design if design.shape[1] else np.zeros((self.n, 1))
        y, weights = self.y, self.weights
        if self.trials is not None:
            y = np.column_stack([self.y * self.trials, (1 - self.y) * self.trials])
        return sm.GLM(y, design, self.family(), offset=self.offset, var_weights=weights)

    def fitted(self, terms):
        design = self.design(terms)
        model, k = self.model(design), design.shape[1]
        params = np.zeros(max(k, 1))
        if k:
            with contextlib.suppress(ValueError, np.linalg.LinAlgError):
                params = model.fit(maxiter=25).params
            params = params if np.isfinite(model.loglike(params, scale=1.0)) else np.zeros(k)
            params = maximise(
                lambda b: model.loglike(b, scale=1.0),
                lambda b: model.score(b, scale=1.0),
                lambda b: observed_hessian(model, b),
                params,
            )
        mean = model.predict(params)
        dispersion = model.estimate_scale(mean)
        deviance = model.family.deviance(model.endog, mean, model.var_weights, model.freq_weights, 1.0)
        information = -model.hessian(params, scale=1.0, observed=False)[:k, :k]
        return LikelihoodFit(
            params[:k], model.loglike(params, scale=dispersion), self.n - k, k, deviance, dispersion, information,
            flat(information),
        )  # fmt: skip

    def score(self, terms, params, _):
        """Score and expected information of a model at given coefficients."""
        model = self.model(self.design(terms))
        return model.score(params, scale=1.0), -model.hessian(params, scale=1.0, observed=False)

    def positions(self, terms, some):
        """Where the columns of some terms stand among the coefficients of the model."""
        first = self.design([]).shape[1]
        columns = self.columns(terms)
        return np.array([first + columns.index(column) for column in self.columns(some)], dtype=int)

    def measures(self, fit):
        null = self.fit([]).llf
        slopes = len(fit.params) - len(self.fit([]).params)
        return {
            "n_params": fit.n_params, "rss": fit.deviance, "log_likelihood": fit.llf,
            "aic": -2 * fit.llf + 2 * fit.n_params, "bic": penalised("bic", fit.llf, fit.n_params, self.n_criterion, 0),
            "r2": 1 - fit.llf / null, "adj_r2": 1 - (fit.llf - slopes) / null,
        }  # fmt: skip

    def criterion(self, name, fit):
        k_aicc = fit.n_params + self.free_dispersion
        return penalised(name, fit.llf, fit.n_params, self.n_criterion, k_aicc)

    def test(self, kind, smaller, larger):
        """Degrees of freedom, statistic, p and log p of what the larger model adds."""
        small, large = self.fit(smaller), self.fit(larger)
        added = self.positions(larger, [term for term in larger if term not in smaller])
        if kind == "score":
            statistic = self.score_statistic(smaller, larger)
        elif kind == "wald":
            block = np.linalg.inv(large.information)[np.ix_(added, added)]
            beta = large.params[added]
            statistic = beta @ np.linalg.solve(block, beta) / large.dispersion
        elif self.free_dispersion:
            statistic = (small.deviance - large.deviance) / large.dispersion
        else:
            statistic = 2 * (large.llf - small.llf)
        statistic, df = max(float(statistic), 0.0), len(added)
        return df, statistic, stats.chi2.sf(statistic, df), stats.chi2.logsf(statistic, df)

    def embedded(self, smaller, larger):
        """The smaller model's coefficients among those of the larger model."""
        small = self.fit(smaller).params
        first = self.design([]).shape[1]
        params = np.zeros(first + len(self.columns(larger)))
        params[:first] = small[:first]
        params[self.positions(larger, smaller)] = small[first:]
        return params

    def score_statistic(self, smaller, larger):
        small = self.fit(smaller)
        gradient, information = self.score(larger, self.embedded(smaller, larger), small)
        return gradient @ np.linalg.solve(information, gradient) / small.dispersion

    def coefficients(self, terms):
        fit = self.fit(terms)
        return self.in_units_of_the_data(terms, fit.params, fit.covariance())


class NegativeBinomial(GeneralizedLinear):
    """Variance mean + alpha mean^2, alpha re-estimated with every model, by Newton on (beta, log alpha)."""

    def __init__(self, X, y, **parameters):
        super().__init__(X, y, "poisson", **parameters)
        self.alpha = {}

    def fitted(self, terms):
        """The best of Poisson (alpha = 0) and of what Newton finds from several alphas."""
        poisson, design = super().fitted(terms), self.design(terms)
        mean, w = np.exp(design @ poisson.params + self.offset), self.weights
        model = sm.NegativeBinomial(self.y, design if design.shape[1] else np.zeros((self.n, 1)), offset=self.offset)
        model._transparams = False  # the last parameter is alpha, not its logarithm
        padding = np.zeros(0 if design.shape[1] else 1)

        def loglike(b):
            return w @ model.loglikeobs(np.r_[padding, b[:-1], np.exp(b[-1])])

        params, alpha, llf = poisson.params, 0.0, poisson.llf
        by_moments = np.sum(w * ((self.y - mean) ** 2 - self.y)) / np.sum(w * mean**2)
        for start in {min(max(by_moments, 0.05), 5.0), 0.5}:
            best = maximise(
                loglike, lambda b: self.derivatives(b, design)[0], lambda b: self.derivatives(b, design)[1],
                np.r_[poisson.params, np.log(start)],
            )  # fmt: skip
            # towards alpha = 0 the terms of the log-likelihood cancel: there it is Poisson's
            if np.exp(best[-1]) > 1e-4 and loglike(best) > llf:
                params, alpha, llf = best[:-1], np.exp(best[-1]), loglike(best)
        mean = np.exp(design @ params + self.offset)
        self.alpha[frozenset(terms)] = alpha
        information = design.T @ (design * (w * mean / (1 + alpha * mean))[:, None])
        k = len(params) + 1
        return LikelihoodFit(params, llf, self.n - k, k, np.nan, 1.0, information, flat(information))

    def coefficients(self, terms):
        """Standard errors from the observed information of (beta, log alpha), as statsmodels has them."""
        fit, alpha = self.fit(terms), self.alpha[frozenset(terms)]
        covariance = fit.covariance()
        if alpha > 0:
            hessian = self.derivatives(np.r_[fit.params, np.log(alpha)], self.design(terms))[1]
            covariance = np.linalg.inv(-hessian)[:-1, :-1]
        return self.in_units_of_the_data(terms, fit.params, covariance)

    def derivatives(self, b, design):
        """Score and observed Hessian by (beta, log alpha); the last row of the latter by central differences."""
        h = 1e-5
        above, below = (self.gradient(np.r_[b[:-1], b[-1] + side], design) for side in (h, -h))
        alpha, mean = np.exp(b[-1]), np.exp(design @ b[:-1] + self.offset)
        curvature = self.weights * mean * (1 + alpha * self.y) / (1 + alpha * mean) ** 2
        last = (above - below) / (2 * h)
        hessian = np.zeros((len(b), len(b)))
        hessian[:-1, :-1] = -design.T @ (design * curvature[:, None])
        hessian[-1], hessian[:, -1] = last, last
        return self.gradient(b, design), hessian

    def gradient(self, b, design):
        alpha, mean, y = np.exp(b[-1]), np.exp(design @ b[:-1] + self.offset), self.y
        size = 1 / alpha
        by_eta = (y - mean) / (1 + alpha * mean)
        by_alpha = size**2 * (special.digamma(size) - special.digamma(y + size) + np.log1p(alpha * mean))
        by_alpha += by_eta / alpha
        return np.r_[design.T @ (self.weights * by_eta), alpha * (self.weights @ by_alpha)]

    def score(self, terms, params, small):
        alpha = next(self.alpha[key] for key, fit in self.fits.items() if fit is small)
        design = self.design(terms)
        mean = np.exp(design @ params + self.offset)
        gradient = design.T @ (self.weights * (self.y - mean) / (1 + alpha * mean))
        return gradient, design.T @ (design * (self.weights * mean / (1 + alpha * mean))[:, None])


class Cox(GeneralizedLinear):
    """The partial likelihood, ties by Efron or Breslow, weighted as in R's survival (ties share their mean weight).

    Every death is one term w_i eta_i - v log(sum_j a_j exp(eta_j)): a_j is the weight of row j if it is at risk, less,
    with Efron, the share of the tied deaths that went before.
    """

    def __init__(self, X, y, *, ties="efron", fit_intercept=True, **parameters):
        time = y["time"].astype(float)
        super().__init__(X, time, "poisson", **parameters)
        event = y["event"][self.rows]
        self.event = self.weights * event
        at_risk, share = [], []
        for moment in np.unique(self.y[event]):
            dead = event & (self.y == moment)
            for before in range(dead.sum()):
                gone = before / dead.sum() if ties == "efron" else 0.0
                at_risk.append(self.weights * ((self.y >= moment) - gone * dead))
                share.append(self.weights[dead].mean())
        self.at_risk, self.share = np.array(at_risk), np.array(share)
        self.n_criterion = len(share)

    def covariates(self, terms):
        return self.design(terms)[:, 1:]

    def positions(self, terms, some):
        return super().positions(terms, some) - 1

    def embedded(self, smaller, larger):
        params = np.zeros(len(self.columns(larger)))
        params[self.positions(larger, smaller)] = self.fit(smaller).params
        return params

    def loglike(self, b, Z):
        eta = Z @ b + self.offset
        return self.event @ eta - self.share @ np.log(self.at_risk @ np.exp(eta))

    def derivatives(self, b, Z):
        risk = self.at_risk * np.exp(Z @ b + self.offset)
        risk /= risk.sum(axis=1, keepdims=True)
        means = risk @ Z
        hessian = (means * self.share[:, None]).T @ means - Z.T @ (Z * (self.share @ risk)[:, None])
        return self.event @ Z - self.share @ means, hessian

    def fitted(self, terms):
        Z = self.covariates(terms)
        k, params = Z.shape[1], np.zeros(Z.shape[1])
        if k:
            params = maximise(
                lambda b: self.loglike(b, Z), lambda b: self.derivatives(b, Z)[0], lambda b: self.derivatives(b, Z)[1],
                params,
            )  # fmt: skip
        information = -self.derivatives(params, Z)[1]
        llf = self.loglike(params, Z)
        return LikelihoodFit(params, llf, self.n - k, k, np.nan, 1.0, information, flat(information))

    def score(self, terms, params, _):
        gradient, hessian = self.derivatives(params, self.covariates(terms))
        return gradient, -hessian

    def coefficients(self, terms):
        fit = self.fit(terms)
        k = len(fit.params)
        covariance = np.zeros((k + 1, k + 1))
        covariance[1:, 1:] = fit.covariance()
        return self.in_units_of_the_data(terms, np.r_[0.0, fit.params], covariance).iloc[1:]


def observed_hessian(model, params):
    """The expected one where a probability rounds to one, for which statsmodels' observed one is not finite."""
    hessian = model.hessian(params, scale=1.0, observed=True)
    return hessian if np.isfinite(hessian).all() else model.hessian(params, scale=1.0, observed=False)


def flat(information):
    return len(information) > 0 and bool(np.linalg.eigvalsh(information)[0] < FLAT)


def maximise(function, gradient, hessian, params):
    """Newton with the curvature made positive and the step halved until the function rises."""
    value, resting = function(params), 0
    for _ in range(500):
        slope = gradient(params)
        curvature, axes = np.linalg.eigh(-hessian(params))
        curvature = np.maximum(np.abs(curvature), 1e-15 * np.abs(curvature).max())
        along = axes.T @ slope
        step = axes @ (along / curvature)
        gain = along @ (along / curvature)
        for _ in range(60):
            there = function(params + step)
            if there >= value - 1e-14 * abs(value):
                break
            step = step / 2
        else:
            return params
        resting = resting + 1 if there <= value + 1e-14 * abs(value) else 0
        params, value = params + step, there
        if gain < CONVERGED or resting == 5:
            return params
    raise AssertionError("the oracle did not converge")


def family_data(X, y, family, **parameters):
    kinds = {"negative_binomial": NegativeBinomial, "cox": Cox}
    if isinstance(family, str) and family in kinds:
        return kinds[family](X, y, **parameters)
    return GeneralizedLinear(X, y, family, **parameters)


DATA = ("groups", "fit_intercept", "weights", "weight_type", "offset", "trials", "ties")


def naive_family_select(X, y, *, family, **parameters):
    """The selection, and the data with every fit it made."""
    data = family_data(X, y, family, **{name: parameters.pop(name) for name in DATA if name in parameters})
    return search(data, **parameters), data
