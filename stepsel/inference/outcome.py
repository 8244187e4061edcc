"""What one run of many selected."""

from typing import NamedTuple

from stepsel.core.fits import FloatArray
from stepsel.core.terms import BoolArray, IntArray


class Outcome(NamedTuple):
    """What one run of many selected.

    Attributes
    ----------
    active : bool array of shape (n_terms,)
    columns : int array
        The independent design columns of the selected model, in input order.
    params : float array
        Its coefficients, the intercept first where there is one.
    log_likelihood, deviance : float
    separated : bool
        Whether the response is separated, so that coefficients are on their way to infinity.
    """

    active: BoolArray
    columns: IntArray
    params: FloatArray
    log_likelihood: float
    deviance: float
    separated: bool = False
