"""Stepwise regression feature selection with exact refits, a full trace and plain warnings."""

__version__ = "0.1.0"
