"""Seeded random selection problems: a design, a sparse signal, weights and settings, all decided by the seed.

Candidates are continuous and hence without ties, except where a twin or a sum is planted on purpose: then the
two candidates say the same and the input order decides.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

KINDS = ("ar", "equal", "near", "twin", "sum", "constant", "wide", "offset", "units", "small")
CRITERIA = ("aic", "aicc", "bic", "hqic", "adj_r2", "cp", "pvalue", "pvalue")
ALPHAS = ((0.05, 0.10), (0.15, 0.15), (0.25, 0.40), (0.01, 0.05))


@dataclass(frozen=True)
class Problem:
    kind: str
    X: pd.DataFrame
    y: pd.Series
    weights: np.ndarray | None
    parameters: dict = field(default_factory=dict)


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
