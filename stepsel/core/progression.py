"""What a path looked like on the way: the coefficients of each of its models, and how its candidates are related."""

from copy import copy

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf

from stepsel.core.fits import FloatArray
from stepsel.core.likelihood_engine import LikelihoodEngine
from stepsel.core.linear import LinearEngine
from stepsel.core.moments import accumulate
from stepsel.core.refit import least_squares
from stepsel.core.terms import BoolArray, IntArray

# A tolerance below this asks for QR on the data, as in the engine.
_SMALLEST_PIVOT = np.sqrt(1e-5)


def coefficients_at(engine: LinearEngine | LikelihoodEngine, active: BoolArray) -> tuple[IntArray, FloatArray]:
    """Return the independent columns of a model, in input order, and its coefficients, the intercept first.

    Parameters
    ----------
    engine : LinearEngine or LikelihoodEngine
        Stays where it is.
    active : bool array of shape (n_terms,)
    """
    twin = copy(engine)
    if isinstance(twin, LikelihoodEngine):
        twin.geometry, twin.separated = copy(twin.geometry), set()
        twin.start(active)
        return twin.model_columns(), twin.coefficients().params
    twin.start(active)
    columns = twin.model_columns()
    params = _from_moments(twin, columns)
    if params is None:
        data = twin.data
        params = least_squares(data.X[:, columns], data.y, data.weights, intercept=data.intercept).params
    return columns, params


def _from_moments(engine: LinearEngine, columns: IntArray) -> FloatArray | None:
    """Solve for the coefficients from cross-products; None where these have lost digits."""
    if engine.data.wide:
        return None
    factor, info = dpotrf(engine.correlation[np.ix_(columns, columns)], lower=True, clean=True)
    if info > 0 or factor.diagonal().min(initial=1.0) < _SMALLEST_PIVOT:
        return None
    stats, unit = engine.data.stats, engine.scale.unit[columns]
    slopes = cho_solve((factor, True), stats.cross[columns] * unit) * unit if len(columns) else np.empty(0)
    if not engine.data.intercept:
        return slopes
    return np.concatenate([[stats.mean_y - stats.mean[columns] @ slopes], slopes])


def spreads(engine: LinearEngine) -> tuple[FloatArray, float]:
    """Return the standard deviation of every column (0 of a constant one) and of the response, about the mean.

    About zero without an intercept; weights counted.
    """
    total = engine.data.n_obs if engine.data.weights is None else float(engine.data.weights.sum())
    scale = engine.scale
    with np.errstate(divide="ignore"):
        norms = np.where(scale.constant, 0.0, 1 / scale.unit)
    return norms / np.sqrt(total), float(np.sqrt(max(scale.ssy, 0.0) / total))


def moments_about_the_mean(engine: LinearEngine) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation (divisor n - 1) of every column, weights counted."""
    data = engine.data
    total = float(len(data.y)) if data.weights is None else float(data.weights.sum())
    if data.intercept:
        return engine.scale.mean, np.sqrt(np.maximum(engine.scale.squares, 0.0) / max(total - 1, 1.0))
    stats = accumulate(data.X, data.y, data.weights, centred=True)
    return stats.mean, np.sqrt(np.maximum(stats.gram.diagonal(), 0.0) / max(total - 1, 1.0))


def term_correlations(engine: LinearEngine, members: IntArray) -> FloatArray:
    """Return the correlation of every two terms, without sign.

    For terms of several columns the largest canonical correlation, which does not depend on how they are coded.

    Parameters
    ----------
    engine : LinearEngine
    members : int array of shape (n_members,)
        Terms that are not constant.

    Returns
    -------
    float array of shape (n_members, n_members)

    References
    ----------
    Hotelling (1936), Relations between two sets of variates, Biometrika 28.
    """
    columns, data = engine.terms.columns_of(members), engine.data
    if not data.intercept:  # the engine's own are about zero
        gram = accumulate(data.X[:, columns], data.y, data.weights, centred=True).gram
        unit = 1 / np.sqrt(np.where(gram.diagonal() > 0, gram.diagonal(), 1.0))
        correlation = gram * np.multiply.outer(unit, unit)
    elif data.wide:
        columns_of_unit_length = engine.unit_columns(columns)
        correlation = columns_of_unit_length.T @ columns_of_unit_length
    else:
        correlation = engine.correlation[np.ix_(columns, columns)]
    sizes = engine.terms.sizes[members]
    if (sizes > 1).any():
        correlation = _canonical(correlation, np.split(np.arange(len(columns)), np.cumsum(sizes)[:-1]))
    found: FloatArray = np.minimum(np.abs(correlation), 1.0)
    np.fill_diagonal(found, 1.0)
    return found


def _canonical(correlation: FloatArray, groups: list[IntArray]) -> FloatArray:
    """Return the largest canonical correlation of every two groups of columns."""
    whitening = []
    for group in groups:
        values, vectors = np.linalg.eigh(correlation[np.ix_(group, group)])
        kept = values > 1e-10 * values[-1]
        whitening.append(vectors[:, kept] / np.sqrt(values[kept]))
    found = np.eye(len(groups))
    for first, rows in enumerate(groups):
        half = whitening[first].T @ correlation[rows]
        for second in range(first + 1, len(groups)):
            block = half[:, groups[second]] @ whitening[second]
            largest = abs(block[0, 0]) if block.size == 1 else np.linalg.norm(block, 2)
            found[first, second] = found[second, first] = largest
    return found
