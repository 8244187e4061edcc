"""The formula face of a selection, to be read as a fitted selector is."""

import warnings
from types import SimpleNamespace

from stepsel import stepwise
from stepsel.exceptions import StepselWarning


def as_selector(result, direction="both"):
    return SimpleNamespace(
        result_=result,
        trace_=result.trace,
        candidates_=result.candidates,
        collinearity_=result.collinearity,
        direction=direction,
    )


def by_formula(formula, data, **parameters):
    """What `stepwise` selects; the package's own warnings are not what these tests are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepselWarning)
        result = stepwise(formula, data, **parameters)
        return as_selector(result, parameters.get("direction", "both"))
