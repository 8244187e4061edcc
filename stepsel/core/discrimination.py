"""How well a linear predictor orders the responses.

References
----------
Hanley and McNeil (1982), The meaning and use of the area under a ROC curve, Radiology 143. Harrell, Lee, Mark (1996),
Multivariable prognostic models, Statistics in Medicine 15 (concordance of censored times).
"""

import numpy as np
from scipy.stats import rankdata

from stepsel.core.fits import FloatArray


def area_under_curve(y: FloatArray, eta: FloatArray, weights: FloatArray | None) -> float:
    """Return the probability that an event has the larger linear predictor; ties count half.

    Parameters
    ----------
    y : float array of shape (n_rows,)
        0, 1, or a share of events.
    eta : float array of shape (n_rows,)
    weights : float array of shape (n_rows,), optional

    Examples
    --------
    >>> area_under_curve(np.array([0.0, 0.0, 1.0, 1.0]), np.array([1.0, 2.0, 2.0, 3.0]), None)
    0.875
    """
    w = np.ones(len(y)) if weights is None else weights
    ranks = rankdata(eta, method="dense") - 1
    events = np.bincount(ranks.astype(int), weights=w * y)
    others = np.bincount(ranks.astype(int), weights=w * (1 - y))
    below = np.cumsum(others) - others
    total = events.sum() * others.sum()
    return float(events @ (below + others / 2) / total) if total > 0 else np.nan


def concordance(time: FloatArray, event: FloatArray, eta: FloatArray) -> float:
    """Return Harrell's C: the share of comparable pairs in which the larger risk fails first; ties of eta count half.

    Parameters
    ----------
    time, event, eta : float arrays of shape (n_rows,)
        A pair is comparable when the shorter time is an event.

    Examples
    --------
    >>> concordance(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 0.0]), np.array([2.0, 1.0, 1.0]))
    0.8333333333333334
    """
    order = np.argsort(time, kind="stable")
    time, failed, eta = time[order], event[order] > 0, eta[order]
    right = ties = pairs = 0.0
    rows = np.flatnonzero(failed)
    after = np.searchsorted(time, time[rows], side="right")
    for row, first in zip(rows, after, strict=True):
        # Censored at the same time counts as later.
        same = np.arange(np.searchsorted(time, time[row]), first)
        later = np.concatenate([eta[first:], eta[same[~failed[same]]]])
        right += np.count_nonzero(later < eta[row])
        ties += np.count_nonzero(later == eta[row])
        pairs += len(later)
    return float((right + ties / 2) / pairs) if pairs else np.nan
