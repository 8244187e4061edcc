"""Stepwise selection as it is pasted from forums: one statsmodels fit per candidate."""

import numpy as np
from statsmodels.api import OLS


class Loop:
    """A plain loop; ``n_fits`` counts its fits, ``path`` holds its steps.

    Parameters
    ----------
    X, y : ndarray
    method : {"qr", "pinv"}
        What statsmodels solves by.
    alpha_enter, alpha_remove : float
        The levels of criterion "pvalue".
    """

    def __init__(self, X, y, method="qr", alpha_enter=0.05, alpha_remove=0.10):
        self.design = np.column_stack([np.ones(len(y)), X])
        self.y, self.method, self.n_columns = y, method, X.shape[1]
        self.alpha_enter, self.alpha_remove = alpha_enter, alpha_remove
        self.n_fits, self.path, self.model = 0, [], []

    def fit(self, columns):
        self.n_fits += 1
        design = self.design[:, [0, *(column + 1 for column in columns)]]
        return OLS(self.y, design).fit(method=self.method)

    def run(self, direction, criterion, max_terms=None):
        """Return [(action, column number)] of the steps, from the empty or the full model."""
        self.path, self.model = [], []
        if criterion == "pvalue":
            self._by_p_value()
        elif direction == "forward":
            self._forward(criterion, max_terms)
        else:
            self._backward(criterion)
        return self.path

    def _forward(self, criterion, max_terms):
        here = getattr(self.fit([]), criterion)
        while max_terms is None or len(self.model) < max_terms:
            outside = self._outside()
            values = [getattr(self.fit([*self.model, column]), criterion) for column in outside]
            if not values or min(values) >= here:
                return
            here = min(values)
            self._add(outside[int(np.argmin(values))])

    def _backward(self, criterion):
        self.model = list(range(self.n_columns))
        here = getattr(self.fit(self.model), criterion)
        while self.model:
            values = [getattr(self.fit(self._without(column)), criterion) for column in self.model]
            if min(values) >= here:
                return
            here = min(values)
            self._remove(self.model[int(np.argmin(values))])

    def _by_p_value(self):
        while True:
            p_values = self.fit(self.model).pvalues[1:]
            if len(p_values) and p_values.max() > self.alpha_remove:
                self._remove(self.model[int(np.argmax(p_values))])
                continue
            outside = self._outside()
            fits = [self.fit([*self.model, column]) for column in outside]
            if not fits:
                return
            best = int(np.argmax([abs(fit.tvalues[-1]) for fit in fits]))  # the smallest p, even where it is 0
            if fits[best].pvalues[-1] >= self.alpha_enter:
                return
            self._add(outside[best])

    def _outside(self):
        return [column for column in range(self.n_columns) if column not in self.model]

    def _without(self, column):
        return [other for other in self.model if other != column]

    def _add(self, column):
        self.model.append(column)
        self.path.append(("add", column))

    def _remove(self, column):
        self.model.remove(column)
        self.path.append(("remove", column))
