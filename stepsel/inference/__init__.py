"""How far a selection can be trusted: the whole selection is run again, never the chosen model alone."""

from stepsel.inference.null import NullTest, null_test
from stepsel.inference.optimism import Optimism, optimism
from stepsel.inference.selective import SelectiveInference, selective_inference
from stepsel.inference.splits import SplitPValues, split_p_values
from stepsel.inference.stability import SelectionStability, selection_stability

__all__ = [
    "NullTest",
    "Optimism",
    "SelectionStability",
    "SelectiveInference",
    "SplitPValues",
    "null_test",
    "optimism",
    "selection_stability",
    "selective_inference",
    "split_p_values",
]
