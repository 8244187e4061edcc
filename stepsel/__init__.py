"""Stepwise regression feature selection with exact refits, a full trace and plain warnings."""

from stepsel.exceptions import (
    CollinearityError,
    CollinearityWarning,
    ConstantColumnWarning,
    DispersionWarning,
    EmptyCellWarning,
    EventCodingWarning,
    IncompleteSearchWarning,
    MissingRowsWarning,
    PerfectFitWarning,
    RowOrderWarning,
    SaturationWarning,
    SeparationWarning,
    StepselWarning,
    UnusedParameterWarning,
    WeightWarning,
)
from stepsel.formula import stepwise
from stepsel.inflation import vif
from stepsel.result import StepwiseResult
from stepsel.selector import StepwiseSelector
from stepsel.survival import survival_response

__version__ = "0.1.0"

__all__ = [
    "CollinearityError",
    "CollinearityWarning",
    "ConstantColumnWarning",
    "DispersionWarning",
    "EmptyCellWarning",
    "EventCodingWarning",
    "IncompleteSearchWarning",
    "MissingRowsWarning",
    "PerfectFitWarning",
    "RowOrderWarning",
    "SaturationWarning",
    "SeparationWarning",
    "StepselWarning",
    "StepwiseResult",
    "StepwiseSelector",
    "UnusedParameterWarning",
    "WeightWarning",
    "stepwise",
    "survival_response",
    "vif",
]
