"""The Cox partial likelihood, as a function of the linear predictor.

References
----------
Cox (1972), Regression models and life-tables, JRSS B 34. Efron (1977), The efficiency of Cox's likelihood function for
censored data, JASA 72. Breslow (1974), Covariance analysis of censored survival data, Biometrics 30.
"""

import numpy as np

from stepsel.core.discrimination import concordance
from stepsel.core.fits import FloatArray
from stepsel.core.newton import Optimum, inverse_information, maximise
from stepsel.core.terms import IntArray


class Cox:
    """Partial likelihood of right-censored times; rows are sorted by falling time.

    Parameters
    ----------
    time : float array of shape (n_rows,)
    event : bool array of shape (n_rows,)
    weights : float array of shape (n_rows,), optional
        Case weights.
    offset : float array of shape (n_rows,), optional
    ties : {"efron", "breslow"}
    frequency : bool
        Whether a weight counts as that many events.

    Attributes
    ----------
    order : int array of shape (n_rows,)
        The rows of the input by falling time: what the design must be sorted by.
    n_obs : float
        The number of events.
    """

    name = "cox"
    intercept = False
    batched = True
    fixed_dispersion = True
    n_nuisance = 0
    self_concordant = False

    def __init__(
        self,
        time: FloatArray,
        event: FloatArray,
        weights: FloatArray | None,
        offset: FloatArray | None,
        *,
        ties: str,
        frequency: bool = True,
    ) -> None:
        order = np.lexsort((~event.astype(bool), -time))
        self.order: IntArray = order
        self._event = event[order].astype(float)
        self._weights = None if weights is None else weights[order]
        self._offset = None if offset is None else offset[order]
        counted = self._event if self._weights is None else self._event * self._weights
        self._counted = counted
        self.n_obs = float(counted.sum() if frequency else self._event.sum())
        self._time = time[order]
        whole = frequency and self._weights is not None and not (self._weights % 1).any()
        self._set_events(self._time, ties, whole=whole)

    def _set_events(self, time: FloatArray, ties: str, *, whole: bool) -> None:
        """Lay out the denominators: one per event (Efron) or per tied set counted by its weight (Breslow).

        Denominator d is the risk set ``R_d`` less the share ``f_d`` of the tied events of its time; it counts
        ``c_d`` times. Whole frequency weights are tied events of their own; other weights are averaged over the events
        of a time, as R does.
        """
        rows = np.flatnonzero(self._event)
        times = time[rows]
        starts = np.flatnonzero(np.r_[True, times[1:] != times[:-1]])
        sizes = np.diff(np.r_[starts, len(rows)])
        # The risk set of a time ends with the last row of that time.
        self._risk_end = np.searchsorted(-time, -times[starts], side="right")
        self._tied_start = rows[starts]
        self._tied_end = self._tied_start + sizes  # events come first within their time
        weight = np.add.reduceat(self._counted[rows], starts) if len(rows) else np.empty(0)
        if ties == "breslow":
            self._share, self._count = np.zeros(len(starts)), weight
            self._owner = np.arange(len(starts))
        else:
            repeats = weight.astype(np.intp) if whole else sizes
            self._owner = np.repeat(np.arange(len(starts)), repeats)
            first = np.cumsum(repeats) - repeats
            within = np.arange(len(self._owner)) - np.repeat(first, repeats)
            self._share = within / np.repeat(repeats, repeats)
            self._count = np.repeat(weight / repeats, repeats)

    def first(self) -> float:
        return 0.0

    def dispersion(self, eta: FloatArray, n_params: int) -> float:
        return 1.0

    def _risks(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return shifted eta, its maximum, the weighted relative risks and the denominators."""
        eta = eta if self._offset is None else eta + self._offset
        peak = eta.max(axis=-1, keepdims=True)
        risk = np.exp(eta - peak)
        if self._weights is not None:
            risk = risk * self._weights
        return eta, peak, risk, self._denominators(risk)

    def _totals(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sums over risk sets and over tied events, one a distinct event time; last axis is rows."""
        running = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1)
        tied = running[..., self._tied_end] - running[..., self._tied_start]
        return running[..., self._risk_end], tied

    def _denominators(self, risk: FloatArray) -> FloatArray:
        at_risk, tied = self._totals(risk)
        return at_risk[..., self._owner] - self._share * tied[..., self._owner]

    def _spread(self, per_denominator: FloatArray) -> FloatArray:
        """Return, for every row, the sum over the denominators that it is part of, weighted by its share of each."""
        shape = per_denominator.shape[:-1]
        n_times = len(self._risk_end)
        whole, tied = np.zeros((*shape, n_times)), np.zeros((*shape, n_times))
        starts = np.searchsorted(self._owner, np.arange(n_times))
        whole[...] = np.add.reduceat(per_denominator, starts, axis=-1)
        tied[...] = np.add.reduceat(per_denominator * self._share, starts, axis=-1)
        n_rows = len(self._event)
        # A row is in the risk set of every event time at or before its own: a running sum from the last row up.
        marks = np.zeros((*shape, n_rows + 1))
        marks[..., self._risk_end - 1] = whole
        total = np.cumsum(marks[..., n_rows - 1 :: -1], axis=-1)[..., ::-1]
        for_ties = np.zeros((*shape, n_rows))
        lengths = self._tied_end - self._tied_start
        for_ties[..., self._event > 0] = np.repeat(tied, lengths, axis=-1)
        return total - for_ties

    def evaluate(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            shifted, peak, risk, denominators = self._risks(eta)
            # Risks that underflow beside the largest leave empty risk sets: too far out to tell anything.
            lost = ~(denominators > 0).all(axis=-1)
            loglik = (shifted - peak) @ self._counted - np.log(denominators) @ self._count
            residual = self._counted - risk * self._spread(self._count / denominators)
        return np.where(np.isnan(loglik) | lost, -np.inf, loglik), residual

    def curvature(self, eta: FloatArray) -> "CoxCurvature":
        _, _, risk, denominators = self._risks(eta)
        return CoxCurvature(self, risk, denominators)

    def discrimination(self, eta: FloatArray) -> dict[str, float]:
        shifted = eta if self._offset is None else eta + self._offset
        return {"concordance": concordance(self._time, self._event, shifted)}

    def curvature_of(self, optimum: Optimum) -> "CoxCurvature":
        return self.curvature(optimum.eta)

    def covariance(self, optimum: Optimum, Z: FloatArray) -> FloatArray:
        return inverse_information(optimum.information)

    def maximise(self, Z: FloatArray, beta: FloatArray) -> Optimum:
        return maximise(self, Z, beta)

    def finished(self, optimum: Optimum, n_params: int) -> tuple[float, float]:
        return -2 * optimum.loglik, optimum.loglik


class CoxCurvature:
    """Information of the partial likelihood: the weighted second moments less those of the risk-set means.

    Parameters
    ----------
    likelihood : Cox
    risk : float array of shape (n_rows,)
    denominators : float array
    """

    def __init__(self, likelihood: Cox, risk: FloatArray, denominators: FloatArray) -> None:
        self._likelihood, self._risk, self._denominators = likelihood, risk, denominators
        self.weights = risk * likelihood._spread(likelihood._count / denominators)

    def _means(self, Z: FloatArray) -> FloatArray:
        """Return the risk-set means of columns, times the root of the count of each denominator."""
        sums = self._likelihood._denominators(Z * self._risk)
        return sums / self._denominators * np.sqrt(self._likelihood._count)

    def gram(self, Z: FloatArray) -> FloatArray:
        return self.inner(Z, Z)

    def inner(self, A: FloatArray, B: FloatArray) -> FloatArray:
        left = self._means(A)
        right = left if B is A else self._means(B)
        return (A * self.weights) @ B.T - left @ right.T

    def cross(self, Z: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        left = self._means(Z)
        total, squares = (Z * self.weights) @ X, np.empty(X.shape[1])
        for begin in range(0, X.shape[1], 64):
            columns = slice(begin, begin + 64)
            block = np.ascontiguousarray(X[:, columns].T)
            means = self._means(block)
            total[:, columns] -= left @ means.T
            squares[columns] = (block * block) @ self.weights - np.einsum("ij,ij->i", means, means)
        return total, squares
