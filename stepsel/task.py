"""What one selection is run on."""

from dataclasses import dataclass

from stepsel.core.terms import BoolArray, Terms
from stepsel.design import Design
from stepsel.settings import Settings


@dataclass(frozen=True)
class Task:
    """A selection that is yet to be made, or to be made again.

    Attributes
    ----------
    design : Design
    terms : Terms
        Of the columns of the design.
    start : bool array of shape (n_terms,)
        The terms to start from, the kept ones included.
    settings : Settings
    call : str
        The line of Python that runs it.
    """

    design: Design
    terms: Terms
    start: BoolArray
    settings: Settings
    call: str = ""
