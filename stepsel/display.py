"""Displays: what a selection looks like.

Every display holds the arrays that it draws, and draws them with ``plot(ax=None)``; matplotlib is imported only then.
``from_result`` takes a :class:`stepsel.StepwiseResult` (:class:`StabilityDisplay` what
`stepsel.inference.selection_stability` returns), ``from_estimator`` a fitted :class:`stepsel.StepwiseSelector` or
a pipeline with one. ``result.plot()`` draws the path; ``result.plot("coefficients")`` and so on the others.
"""

from stepsel.inference.plots import StabilityDisplay
from stepsel.plots import (
    CandidatesDisplay,
    CoefficientProgressionDisplay,
    CorrelationClustersDisplay,
    CriteriaDisplay,
    InflationDisplay,
    SelectionPathDisplay,
)

__all__ = [
    "CandidatesDisplay",
    "CoefficientProgressionDisplay",
    "CorrelationClustersDisplay",
    "CriteriaDisplay",
    "InflationDisplay",
    "SelectionPathDisplay",
    "StabilityDisplay",
]
