"""What was asked: the question and the data that a result is the answer to."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from stepsel.chance import chance_of_noise
from stepsel.coding import Coding
from stepsel.core.search import Path
from stepsel.core.terms import BoolArray, IntArray, Terms
from stepsel.families import ratio_name
from stepsel.settings import Settings
from stepsel.trace import Measures


class Asked:
    """The question that a result answers."""

    _settings: Settings
    _terms: Terms
    _path: Path
    _measures: Measures
    _coding: Coding
    _constant: BoolArray
    _y_name: Hashable
    selected: list[Hashable]

    @property
    def settings(self) -> Settings:
        """The parameters of the selection."""
        return self._settings

    @property
    def candidate_terms(self) -> list[Hashable]:
        """The candidate terms, in input order."""
        return list(self._terms.names)

    @property
    def kept(self) -> list[Hashable]:
        """The terms that are in every model."""
        return [self._terms.names[at] for at in np.flatnonzero(self._terms.kept).tolist()]

    @property
    def is_full(self) -> bool:
        """Whether ``max_terms`` terms are in the model."""
        most = self._settings.max_terms
        return most is not None and len(self.selected) >= most

    @property
    def start_terms(self) -> list[Hashable]:
        """The terms of the start model."""
        return [self._terms.names[at] for at in np.flatnonzero(self._path.steps[0].active).tolist()]

    @property
    def references(self) -> dict[Hashable, Any]:
        """The reference level of every factor."""
        return self._coding.references

    @property
    def first_weighed(self) -> list[Hashable]:
        """The terms that the first step may add; where it may add none, those it may remove."""
        return [self._terms.names[at] for at in self._first()[0].tolist()]

    def _first(self) -> tuple[IntArray, bool]:
        """Return the terms that the first step weighs, and whether to add them."""
        terms, settings, start = self._terms, self._settings, self._path.steps[0].active
        full = settings.max_terms is not None and start.sum() >= settings.max_terms
        if settings.max_steps == 0:
            return np.empty(0, dtype=np.intp), True
        if settings.adds and not full:
            additions = terms.additions(start, self._constant | self._path.left_out)
            if len(additions):
                return additions, True
        return (terms.removals(start), False) if settings.removes else (np.empty(0, dtype=np.intp), True)

    @property
    def weighs_additions(self) -> bool:
        """Whether `first_weighed` are terms to be added."""
        return self._first()[1]

    @property
    def chance_of_noise(self) -> float:
        """The probability that at least one of `first_weighed` passes its first test, if all were independent noise.

        Of terms to be removed the probability that at least one is kept, from a model that holds no other.
        """
        settings, intercept, sizes = self._settings, int(self._measures.intercept), self._terms.sizes
        first, adding = self._first()
        base = self._path.steps[0].active if adding else self._terms.kept
        return chance_of_noise(
            sizes[first],
            criterion=self._measures.criterion,
            alpha=settings.alpha_enter if adding else settings.alpha_remove,
            n_obs=self._measures.n_obs,
            n_params=intercept + int(sizes[base].sum()),
            n_full=intercept + int(sizes[~self._constant].sum()),
            gaussian=settings.gaussian,
        )

    @property
    def ratio_name(self) -> str | None:
        """What the exponential of a coefficient is: an odds, rate or hazard ratio, a ratio of means; None otherwise."""
        return ratio_name(self._settings.family)

    @property
    def composed(self) -> list[Hashable]:
        """The candidate terms that contain others, such as interactions; correlated with these by construction."""
        hierarchy = self._terms.hierarchy
        return [] if hierarchy is None else [self._terms.names[at] for at in np.unique(hierarchy.child).tolist()]

    @property
    def has_intercept(self) -> bool:
        """Whether every model has an intercept."""
        return self._measures.intercept

    @property
    def y_name(self) -> Hashable:
        """The name of the response."""
        return self._y_name

    @property
    def levels(self) -> dict[str, float]:
        """The levels of entry and removal that the direction uses, by name."""
        settings = self._settings
        found = {"alpha_enter": settings.alpha_enter} if settings.adds else {}
        return found | ({"alpha_remove": settings.alpha_remove} if settings.removes else {})
