"""Seeded random selection problems: a design, a sparse signal, weights and settings, all decided by the seed.

Candidates are continuous and hence without ties, except where a twin or a sum is planted on purpose: then the
two candidates say the same and the input order decides.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from helpers import survival

KINDS = ("ar", "equal", "near", "twin", "sum", "constant", "wide", "offset", "units", "small")
CRITERIA = ("aic", "aicc", "bic", "hqic", "adj_r2", "cp", "pvalue", "pvalue")
ALPHAS = ((0.05, 0.10), (0.15, 0.15), (0.25, 0.40), (0.01, 0.05))


@dataclass(frozen=True)
class Problem:
    kind: str
    X: pd.DataFrame
    y: pd.Series | np.ndarray
    weights: np.ndarray | None
    parameters: dict = field(default_factory=dict)
    offset: np.ndarray | None = None
    trials: np.ndarray | None = None


def correlated(rng, n, p, correlation):
    return rng.standard_normal((n, p)) @ np.linalg.cholesky(correlation).T


def autoregressive(p, rho):
    return rho ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))


def equicorrelated(p, rho):
    return np.full((p, p), rho) + (1 - rho) * np.eye(p)


def response(rng, A, noise=1.0):
    """A sparse signal whose coefficients have either sign and differ in size."""
    p = A.shape[1]
    beta = np.where(rng.random(p) < 0.45, rng.normal(0, 1, p), 0.0)
    return A @ beta + noise * rng.standard_normal(len(A))


def design(rng, kind):
    """The columns of one kind, and the response they carry."""
    p = int(rng.integers(3, 9))
    n = int(rng.integers(p + 8, 60))
    if kind == "wide":
        n = int(rng.integers(8, 15))
        p = n + int(rng.integers(1, 8))
    if kind == "small":
        p = int(rng.integers(2, 5))
        n = p + int(rng.integers(6, 9))
    if kind == "equal":
        A = correlated(rng, n, p, equicorrelated(p, rng.choice([0.5, 0.9, 0.99, 0.999])))
    else:
        A = correlated(rng, n, p, autoregressive(p, rng.uniform(0, 0.9)))
    y = response(rng, A)
    if kind == "near":  # one column is a mixture of the others but for a share 1e-4 ... 1e-9 of its variance
        mixture = A[:, 1:] @ rng.normal(0, 1, p - 1)
        share = 10.0 ** rng.uniform(-9, -4)
        A[:, 0] = mixture / mixture.std() + np.sqrt(share) * rng.standard_normal(n)
    if kind == "twin":
        A = np.insert(A, rng.integers(0, p + 1), A[:, rng.integers(0, p)], axis=1)
    if kind == "sum":
        A = np.insert(A, rng.integers(0, p + 1), A[:, 0] + A[:, 1], axis=1)
    if kind == "constant":
        A = np.insert(A, rng.integers(0, p + 1), rng.choice([0.0, 1.0, 5.5, 1e-300]), axis=1)
    if kind == "offset":
        A = A + np.where(rng.random(p) < 0.7, 1e6, 0)
        y = y + rng.choice([0.0, 1e6])
    if kind == "units":
        A = A * 10.0 ** rng.uniform(-12, 12, p)
        y = y * 10.0 ** rng.uniform(-12, 12)
    return A, y


def draw_weights(rng, n):
    if rng.random() < 0.5:
        return rng.choice([0, 1, 1, 2, 3], n).astype(float), "frequency"
    return np.where(rng.random(n) < 0.1, 0.0, rng.gamma(2.0, 1.0, n)), "analytic"


def settings(rng, kind, names, n):
    """Constructor parameters that are legal for the design."""
    alpha_enter, alpha_remove = ALPHAS[rng.integers(len(ALPHAS))]
    chosen = {
        "direction": "forward" if kind == "wide" else str(rng.choice(["forward", "backward", "both"])),
        "criterion": str(rng.choice(CRITERIA)),
        "alpha_enter": alpha_enter,
        "alpha_remove": alpha_remove,
    }
    if kind == "wide" and chosen["criterion"] == "cp":  # Cp needs the residual variance of the full model
        chosen["criterion"] = "aicc"
    terms = list(names)
    if kind in ("ar", "equal", "units") and len(names) >= 4 and rng.random() < 0.5:
        members = [str(name) for name in rng.choice(names, int(rng.integers(2, 4)), replace=False)]
        chosen["groups"] = {"group": members}
        terms = ["group", *(name for name in names if name not in members)]
    independent = kind not in ("twin", "sum", "constant")
    if independent and rng.random() < 0.3:
        chosen["keep"] = [str(name) for name in rng.choice(terms, 1)]
    if independent and kind != "wide" and rng.random() < 0.3:
        size = int(rng.integers(1, len(terms)))
        chosen["start"] = [str(name) for name in rng.choice(terms, size, replace=False)]
    elif chosen["direction"] == "both" and rng.random() < 0.4:
        chosen["start"] = "full"
    if kind not in ("constant", "offset") and rng.random() < 0.2:
        chosen["fit_intercept"] = False
    if chosen["direction"] != "forward" and rng.random() < 0.15:
        chosen["max_terms"] = int(rng.integers(1, len(terms)))
    if chosen["direction"] == "forward" and "start" not in chosen and rng.random() < 0.2:
        chosen["max_terms"] = int(rng.integers(1, len(terms)))
    return chosen


def problem(seed):
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    A, y = design(rng, kind)
    X = pd.DataFrame(A, columns=[f"v{i}" for i in range(A.shape[1])])
    parameters = settings(rng, kind, list(X.columns), len(X))
    weights = None
    if kind not in ("wide", "small", "constant") and rng.random() < 0.35:
        weights, parameters["weight_type"] = draw_weights(rng, len(X))
        if np.count_nonzero(weights) < X.shape[1] + 4:
            weights = np.maximum(weights, 1.0)
    return Problem(kind, X, pd.Series(y, name="y"), weights, parameters)


# Other families than the normal

FAMILY_KINDS = (
    "skewed",
    "binary",
    "strong",
    "offset",
    "frequency",
    "analytic",
    "groups",
    "twin",
    "correlated",
    "trials",
)
FAMILY_CRITERIA = ("aic", "aicc", "bic", "hqic", "pvalue", "pvalue", "sas", "sas")
SAS = {"criterion": "pvalue", "test_enter": "score", "test_remove": "wald"}


def skewed_columns(rng, A, kinds):
    """Columns of correlated normals bent into lognormal, binary, heavy-tailed and count-like ones, of variance one."""
    A = A.copy()
    for j in range(A.shape[1]):
        kind = rng.choice(kinds)
        if kind == "lognormal":
            A[:, j] = np.exp(rng.uniform(0.5, 1.5) * A[:, j])
        elif kind == "binary":
            A[:, j] = A[:, j] > rng.uniform(-1.2, 1.2)
        elif kind == "heavy":
            A[:, j] /= np.sqrt(rng.chisquare(2, len(A)) / 2)
        elif kind == "count":
            A[:, j] = np.floor(np.exp(0.8 * A[:, j]))
        if np.ptp(A[:, j]) == 0:
            A[0, j] += 1
    return A / A.std(axis=0)


def family_response(rng, family, eta, kind):
    """The response with this linear predictor, and the numbers of trials where it is a proportion."""
    n = len(eta)
    if kind == "strong":
        eta = eta * (4 if family in ("binomial", "cox") else 1.5)
    eta = np.clip(eta, -12, 12)
    if family == "binomial":
        probability = 1 / (1 + np.exp(-eta - rng.normal(0, 0.5)))
        if kind == "trials":
            trials = rng.integers(1, 9, n)
            return rng.binomial(trials, probability) / trials, trials
        y = (rng.random(n) < probability).astype(float)
        y[:2] = 0, 1
        return y, None
    if family == "cox":
        time, censored = rng.exponential(np.exp(-eta)), rng.exponential(2.0, n)
        event = time <= censored
        event[:3] = True
        time = np.minimum(time, censored)
        ties = kind in ("binary", "frequency", "groups", "strong")
        return survival(event, np.ceil(20 * np.minimum(time, 3)) if ties else time), None
    mean = np.exp(np.clip(0.6 * eta + rng.normal(0.3, 0.5), -5, 4))
    if family == "gamma":
        return rng.gamma(2.0, mean / 2.0) + 1e-3, None
    if family == "negative_binomial":
        mean = mean * rng.gamma(1.5, 1 / 1.5, n)
    y = rng.poisson(mean).astype(float)
    y[:2] = 0, 2
    return y, None


def family_problem(family, seed):
    """A small selection problem of another family."""
    rng = np.random.default_rng([seed, *family.encode()])
    kind = FAMILY_KINDS[seed % len(FAMILY_KINDS)]
    p, n = int(rng.integers(3, 7)), int(rng.integers(40, 80))
    A = correlated(rng, n, p, autoregressive(p, 0.97 if kind == "correlated" else rng.uniform(0, 0.8)))
    kinds = ["binary"] if kind == "binary" else ["normal", "lognormal", "binary", "heavy", "count"]
    A = skewed_columns(rng, A, kinds)
    eta = response(rng, A - A.mean(axis=0), noise=0.0)
    if kind == "twin":
        A = np.insert(A, rng.integers(0, p + 1), A[:, rng.integers(0, p)], axis=1)
    offset = rng.normal(0, 0.7, n) if kind == "offset" or rng.random() < 0.1 else None
    y, trials = family_response(rng, family, eta + (0 if offset is None else offset), kind)
    X = pd.DataFrame(A, columns=[f"v{i}" for i in range(A.shape[1])])
    parameters = family_settings(rng, kind, list(X.columns)) | {"family": family}
    if family == "cox":
        parameters.pop("fit_intercept", None)
        parameters["ties"] = str(rng.choice(["efron", "breslow"]))
    weights = None
    if kind == "frequency":
        weights = rng.choice([0, 1, 1, 2, 3], n).astype(float)
    elif kind == "analytic":
        weights = np.where(rng.random(n) < 0.1, 0.0, rng.gamma(4.0, 0.25, n))
    if weights is not None:
        weights[:3] = np.maximum(weights[:3], 1.0)
        parameters["weight_type"] = kind
    return Problem(kind, X, y, weights, parameters, offset, trials)


def family_settings(rng, kind, names):
    alpha_enter, alpha_remove = ALPHAS[rng.integers(len(ALPHAS))]
    criterion = str(rng.choice(FAMILY_CRITERIA))
    chosen = {
        "direction": str(rng.choice(["forward", "backward", "both"])),
        "alpha_enter": alpha_enter,
        "alpha_remove": alpha_remove,
        **(SAS if criterion == "sas" else {"criterion": criterion}),
    }
    if criterion == "sas" and rng.random() < 0.4:  # thresholds that only different tests may have
        chosen |= {"alpha_enter": 0.3, "alpha_remove": 0.15}
    terms = list(names)
    if kind == "groups":
        members = [str(name) for name in rng.choice(names, 2, replace=False)]
        chosen["groups"] = {"group": members}
        terms = ["group", *(name for name in names if name not in members)]
    if kind != "twin" and rng.random() < 0.25:
        chosen["keep"] = [str(name) for name in rng.choice(terms, 1)]
    if kind != "twin" and rng.random() < 0.2:
        chosen["start"] = [str(name) for name in rng.choice(terms, int(rng.integers(1, len(terms))), replace=False)]
    elif chosen["direction"] == "both" and rng.random() < 0.3:
        chosen["start"] = "full"
    if rng.random() < 0.1:
        chosen["fit_intercept"] = False
    if rng.random() < 0.1:
        chosen["max_terms"] = int(rng.integers(1, len(terms) + 1))
        chosen["max_terms"] = max(chosen["max_terms"], len(chosen.get("keep", [])), 1)
    return chosen
