"""Stepwise selection as it is pasted from forums: one statsmodels fit per candidate."""

from types import SimpleNamespace

import numpy as np
from scipy.stats import chi2
from statsmodels.api import GLM, OLS, PHReg, families

FAMILIES = {"binomial": families.Binomial, "poisson": families.Poisson}


class Loop:
    """A plain loop; ``n_fits`` counts its fits, ``path`` holds its steps.

    Parameters
    ----------
    X, y : ndarray
    method : {"qr", "pinv"}
        What statsmodels solves least squares by; other families are fitted as they are by default.
    family : {"gaussian", "binomial", "poisson", "cox"}
    by_likelihood_ratio : bool
        Whether p-values are those of the likelihood ratio, a fit for each, and not of t or Wald's test.
    alpha_enter, alpha_remove : float
        The levels of criterion "pvalue".
    """

    def __init__(
        self, X, y, method="qr", family="gaussian", by_likelihood_ratio=False, alpha_enter=0.05, alpha_remove=0.10
    ):
        self.design = np.column_stack([np.ones(len(y)), X])
        self.y, self.method, self.n_columns = y, method, X.shape[1]
        self.family, self.by_likelihood_ratio = family, by_likelihood_ratio
        self.alpha_enter, self.alpha_remove = alpha_enter, alpha_remove
        self.n_fits, self.path, self.model = 0, [], []

    def fit(self, columns):
        self.n_fits += 1
        design = self.design[:, [0, *(column + 1 for column in columns)]]
        if self.family == "gaussian":
            return OLS(self.y, design).fit(method=self.method)
        if self.family == "cox":
            return self._cox(design[:, 1:])
        return GLM(self.y, design, family=FAMILIES[self.family]()).fit()

    def _cox(self, design):
        """A fit by Efron's method; PHReg has no model without covariates and no AIC."""
        n_columns = design.shape[1]
        if not n_columns:
            llf = PHReg(self.y["time"], self.design[:, 1:2], self.y["event"], ties="efron").loglike(np.zeros(1))
        else:
            llf = PHReg(self.y["time"], design, self.y["event"], ties="efron").fit().llf
        return SimpleNamespace(llf=llf, aic=2 * (n_columns - llf))

    def run(self, direction, criterion, max_terms=None):
        """Return [(action, column number)] of the steps, from the empty or the full model."""
        self.path, self.model = [], []
        if criterion == "pvalue" and self.by_likelihood_ratio:
            self._by_likelihood_ratio()
        elif criterion == "pvalue":
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

    def _by_likelihood_ratio(self):
        while True:
            here = self.fit(self.model).llf
            without = [self.fit(self._without(column)).llf for column in self.model]
            if without and chi2.sf(2 * (here - max(without)), 1) > self.alpha_remove:
                self._remove(self.model[int(np.argmax(without))])
                continue
            outside = self._outside()
            with_it = [self.fit([*self.model, column]).llf for column in outside]
            if not with_it or chi2.sf(2 * (max(with_it) - here), 1) >= self.alpha_enter:
                return
            self._add(outside[int(np.argmax(with_it))])

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
