"""What stepsel.inference does, written again from the definitions: slowly, and without its code.

Truncated normal distributions along a forward path in many digits, the aggregation of split p-values, likelihoods and
measures by statsmodels or by loops over pairs.
"""

from itertools import product
from typing import NamedTuple

import mpmath
import numpy as np
import statsmodels.api as sm
from scipy import stats
from statsmodels.duration.hazard_regression import PHReg

# Selective inference ------------------------------------------------------------------------------------------------


class Truncated(NamedTuple):
    """One step of a forward path: an estimate in the units of its column, and where the search holds it."""

    column: int
    coef: mpmath.mpf
    sd: mpmath.mpf
    low: mpmath.mpf
    high: mpmath.mpf

    def tail(self, mean):
        """P(estimate beyond the observed one, away from zero) if the coefficient were ``mean`` (signed as observed)."""
        low, here, high = ((bound - mean) / self.sd for bound in (self.low, abs(self.coef), self.high))
        return _between(here, high) / _between(low, high)


def truncated_path(X, y, sigma, n_steps, tolerance=0.0, digits=60):
    """Tibshirani, Taylor, Lockhart, Tibshirani (2016), section 3: forward selection and its polyhedron, in mpmath.

    Columns are centred. At every step the chosen residual column r (unit length, signed) fulfils (r -+ r_j)'y >= 0 for
    the residual column r_j of each open candidate; all those rows of all steps so far bound the estimate. A column of
    which the model leaves no more than the share ``tolerance`` of its square is no candidate.
    """
    with mpmath.workdps(digits):
        dot = mpmath.fdot
        columns = [_centred([mpmath.mpf(float(value)) for value in column]) for column in np.asarray(X).T]
        y = _centred([mpmath.mpf(float(value)) for value in np.asarray(y)])
        sigma = mpmath.mpf(float(sigma))
        whole = [dot(column, column) for column in columns]
        left, open_, rows, steps = list(columns), set(range(len(columns))), [], []
        for _ in range(n_steps):
            open_ = {j for j in open_ if dot(left[j], left[j]) > tolerance * whole[j]}
            size = {j: mpmath.sqrt(dot(left[j], left[j])) for j in open_}
            unit = {j: [value / size[j] for value in left[j]] for j in open_}
            score = {j: dot(unit[j], y) for j in open_}
            best = max(open_, key=lambda j: abs(score[j]))
            sign = mpmath.sign(score[best])
            r = [sign * value for value in unit[best]]
            rows.append(r)
            for j, way in product(open_ - {best}, (1, -1)):
                rows.append([a + way * b for a, b in zip(r, unit[j], strict=True)])
            here, low, high = dot(r, y), mpmath.mpf("-inf"), mpmath.mpf("inf")
            for row in rows:  # row'(y + t r) >= 0
                slope, level = dot(row, r), dot(row, y)
                if abs(slope) > mpmath.mpf(10) ** (-digits // 2):
                    bound = here - level / slope
                    low, high = (max(low, bound), high) if slope > 0 else (low, min(high, bound))
            s = size[best]
            steps.append(Truncated(best, sign * here / s, sigma / s, low / s, high / s))
            open_.remove(best)
            for j in open_:
                part = dot(unit[best], left[j])
                left[j] = [a - part * b for a, b in zip(left[j], unit[best], strict=True)]
        return steps


def _between(low, high):
    """P(low < Z < high): in the tail that is not near one."""
    if low + high > 0:
        return mpmath.ncdf(-low) - mpmath.ncdf(-high)
    return mpmath.ncdf(high) - mpmath.ncdf(low)


def _centred(values):
    mean = mpmath.fsum(values) / len(values)
    return [value - mean for value in values]


# Splits -------------------------------------------------------------------------------------------------------------


def aggregated_by_definition(p, gamma_min):
    """Meinshausen, Meier, Buehlmann (2009), (2.2) and (2.3), for the p-values of one term over the splits.

    The empirical quantile changes at the multiples of 1 / B only, so that the infimum is attained at one of them.
    """
    p, found = sorted(p), []
    for k in range(1, len(p) + 1):
        gamma = k / len(p)
        if gamma >= gamma_min - 1e-12:
            found.append(min(1.0, p[k - 1] / gamma))
    return min(1.0, (1 - np.log(gamma_min)) * min(found))


# Models -------------------------------------------------------------------------------------------------------------

STATSMODELS = {
    "gaussian": sm.families.Gaussian,
    "binomial": sm.families.Binomial,
    "poisson": sm.families.Poisson,
    "gamma": lambda: sm.families.Gamma(sm.families.links.Log()),
}


def dummies(X):
    """{term: its columns}, factors by treatment contrasts."""
    found = {}
    for name in X.columns:
        column = X[name]
        if column.dtype.kind in "fiub":
            found[name] = np.asarray(column, dtype=float)[:, None]
        else:
            levels = sorted(set(column))
            found[name] = np.column_stack([(column == level).to_numpy(dtype=float) for level in levels[1:]])
    return found


def design(X, terms, intercept=True):
    columns = dummies(X)
    n = len(X)
    return np.column_stack([np.ones((n, int(intercept))), *(columns[term] for term in terms)])


def log_likelihood(family, y, Z, offset=None, weights=None):
    """The maximum of the log-likelihood of a model by statsmodels; of the partial likelihood for Cox."""
    if family == "cox":
        if not Z.shape[1]:
            return partial_log_likelihood(np.zeros(len(y)), y)
        return PHReg(y["time"], Z, status=y["event"].astype(int), ties="efron").fit(disp=0).llf
    if family == "gaussian":
        return sm.OLS(y, Z).fit().llf if Z.shape[1] else stats.norm.logpdf(y, scale=np.sqrt(np.mean(y**2))).sum()
    keywords = {"offset": offset, "freq_weights": weights}
    return sm.GLM(y, Z, family=STATSMODELS[family](), **keywords).fit(tol=1e-13, maxiter=200).llf


def term_p_value(family, X, y, chosen, term, test="lr", offset=None):
    """p of one term of a model, given the others: partial F, likelihood ratio or Wald."""
    intercept = family != "cox"
    whole, without = design(X, chosen, intercept), design(X, [name for name in chosen if name != term], intercept)
    df = whole.shape[1] - without.shape[1]
    if family == "gaussian":
        return sm.OLS(y, whole).fit().compare_f_test(sm.OLS(y, without).fit())[1]
    if test == "lr":
        gain = 2 * (log_likelihood(family, y, whole, offset) - log_likelihood(family, y, without, offset))
        return stats.chi2.sf(gain, df)
    fit = sm.GLM(y, whole, family=STATSMODELS[family](), offset=offset).fit(tol=1e-13, maxiter=200)
    start = int(intercept) + sum(dummies(X)[name].shape[1] for name in chosen[: list(chosen).index(term)])
    at = np.arange(start, start + df)
    return stats.chi2.sf(fit.params[at] @ np.linalg.solve(fit.cov_params()[np.ix_(at, at)], fit.params[at]), df)


# Survival -----------------------------------------------------------------------------------------------------------


def partial_log_likelihood(eta, y):
    """Efron's partial log-likelihood, time by time."""
    event, time, total = y["event"], y["time"], 0.0
    for moment in np.unique(time[event]):
        died, at_risk = event & (time == moment), time >= moment
        risk, tied = np.exp(eta[at_risk]).sum(), np.exp(eta[died]).sum()
        total += eta[died].sum()
        total -= sum(np.log(risk - share / died.sum() * tied) for share in range(died.sum()))
    return total


def concordance(eta, y):
    """Harrell's C, pair by pair: of those whose order is known, the share where the higher risk died first."""
    event, time, right, pairs = y["event"], y["time"], 0.0, 0
    for i, j in product(range(len(time)), repeat=2):
        if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j])):
            pairs += 1
            right += 1.0 if eta[i] > eta[j] else 0.5 if eta[i] == eta[j] else 0.0
    return right / pairs
