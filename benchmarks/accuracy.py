"""How many digits cross-products keep as columns grow collinear, and where the engine leaves them."""

import json
import warnings
from unittest import mock

import numpy as np
from scipy import stats

from benchmarks.workloads import Workload
from stepsel import StepwiseSelector
from stepsel.core import linear

TOLERANCES = tuple(10.0**-k for k in range(1, 10))
N_ROWS, N_DATA_SETS = 1000, 20


def collinear_data(tolerance, seed):
    """Five columns, the last of which keeps this share of its variance beside the others; its t is about 2.5."""
    random = np.random.default_rng(seed)
    X, _ = Workload("", N_ROWS, 12, seed=seed).make()
    X = X[:, :5]
    own = random.standard_normal(N_ROWS)
    shared = X[:, :4].sum(axis=1)
    X[:, 4] = np.sqrt(1 - tolerance) * shared / shared.std() + np.sqrt(tolerance) * own
    y = X[:, :4] @ [1.0, -1.0, 0.5, -0.5] + 2.5 / np.sqrt(N_ROWS) * own + random.standard_normal(N_ROWS)
    return X, y


def reference(X, y):
    """Coefficients and p-values by QR (Gram-Schmidt, twice) in the longest floating type there is."""
    X, y = X.astype(np.longdouble), y.astype(np.longdouble)
    X, y = X - X.mean(axis=0), y - y.mean()
    n, p = X.shape
    Q, R = np.zeros((n, p), X.dtype), np.zeros((p, p), X.dtype)
    for j in range(p):
        vector = X[:, j]
        for _ in range(2):
            loadings = vector @ Q[:, :j]
            vector = vector - Q[:, :j] @ loadings
            R[:j, j] += loadings
        R[j, j] = np.sqrt(vector @ vector)
        Q[:, j] = vector / R[j, j]
    inverse = _upper_inverse(R)
    coefficients = inverse @ (y @ Q)
    residual = y - X @ coefficients
    df = n - p - 1
    variance = (residual @ residual) / df * (inverse**2).sum(axis=1)
    return coefficients.astype(float), stats.f.sf((coefficients**2 / variance).astype(float), 1, df)


def _upper_inverse(R):
    inverse = np.zeros_like(R)
    for j in range(len(R)):
        unit = np.zeros(len(R), R.dtype)
        unit[j] = 1
        for i in range(j, -1, -1):
            inverse[i, j] = (unit[i] - R[i, i + 1 :] @ inverse[i + 1 :, j]) / R[i, i]
    return inverse


def removal_p_values(X, y):
    """The p-value of every column, and the smallest tolerance, from the first step of a backward search."""
    selector = StepwiseSelector(
        direction="backward", criterion="pvalue", alpha_remove=1 - 1e-9, max_steps=1, collinearity="ignore"
    ).fit(X, y)
    table = selector.candidates_.query("step == 1")
    return table["p_value"].to_numpy(), float(table["tolerance"].min())


def by_cross_products_only():
    """A context in which the engine never leaves the cross-products."""
    return mock.patch.multiple(linear, SMALLEST_TOLERANCE=0.0, SMALLEST_RESIDUAL_SHARE=0.0)


def cross_product_coefficients(X, y):
    X, y = X - X.mean(axis=0), y - y.mean()
    unit = 1 / np.sqrt((X**2).sum(axis=0))
    gram = X.T @ X * np.multiply.outer(unit, unit)
    lower = np.linalg.cholesky(gram)
    return unit * np.linalg.solve(lower.T, np.linalg.solve(lower, unit * (y @ X)))


def reported_coefficients(X, y):
    return StepwiseSelector(start="full", direction="backward", max_steps=0, collinearity="ignore").fit(X, y).coef_


def _relative(values, truth):
    return float(np.max(np.abs(values - truth)) / np.max(np.abs(truth)))


def _relative_each(values, truth):
    return float(np.max(np.abs(values - truth) / truth))


def errors(wanted, seed):
    """The errors on one data set."""
    X, y = collinear_data(wanted, seed)
    coefficients, p_values = reference(X, y)
    with by_cross_products_only():
        fast, _ = removal_p_values(X, y)
    shipped, tolerance = removal_p_values(X, y)
    return {
        "coefficients_fast": _relative(cross_product_coefficients(X, y), coefficients),
        "coefficients_reported": _relative(reported_coefficients(X, y), coefficients),
        "p_fast": _relative_each(fast, p_values),
        "p_reported": _relative_each(shipped, p_values),
        "tolerance": tolerance,
    }


def table(n_data_sets=N_DATA_SETS):
    """The worst error of several data sets for every tolerance."""
    rows = []
    for wanted in TOLERANCES:
        found = [errors(wanted, seed) for seed in range(n_data_sets)]
        row = {name: max(one[name] for one in found) for name in found[0]}
        switched = sum(one["tolerance"] <= linear.SMALLEST_TOLERANCE for one in found)
        rows.append(row | {"wanted": wanted, "switched": switched})
    return {"rows": rows, "smallest_tolerance": linear.SMALLEST_TOLERANCE, "data_sets": n_data_sets}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(table()))
