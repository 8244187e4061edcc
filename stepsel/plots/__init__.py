"""Plots of a selection; users find them in ``stepsel.display``."""

from stepsel.plots.candidates import CandidatesDisplay
from stepsel.plots.canvas import Display
from stepsel.plots.coefficients import CoefficientProgressionDisplay
from stepsel.plots.collinearity import CorrelationClustersDisplay, InflationDisplay
from stepsel.plots.path import CriteriaDisplay, SelectionPathDisplay

# What ``result.display`` and ``result.plot`` call them.
KINDS: dict[str, type[Display]] = {
    "path": SelectionPathDisplay,
    "criteria": CriteriaDisplay,
    "coefficients": CoefficientProgressionDisplay,
    "candidates": CandidatesDisplay,
    "vif": InflationDisplay,
    "clusters": CorrelationClustersDisplay,
}

__all__ = [
    "KINDS",
    "CandidatesDisplay",
    "CoefficientProgressionDisplay",
    "CorrelationClustersDisplay",
    "CriteriaDisplay",
    "Display",
    "InflationDisplay",
    "SelectionPathDisplay",
]
