"""Terms: the column groups that enter and leave a model as a whole."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.intp]
RealMatrix = npt.NDArray[np.number]


@dataclass(frozen=True)
class Terms:
    """The candidate terms of a selection, in input order.

    Parameters
    ----------
    names : sequence of hashable
        The label of each term.
    index : int array of shape (n_columns,)
        The design columns of all terms, one term after the other.
    offset : int array of shape (n_terms + 1,)
        Term ``t`` owns ``index[offset[t]:offset[t + 1]]``.
    kept : bool array of shape (n_terms,)
        Terms that are in every model.
    """

    names: Sequence[Hashable]
    index: IntArray
    offset: IntArray
    kept: BoolArray

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> IntArray:
        """Number of columns of each term."""
        return np.diff(self.offset)

    def columns(self, term: int) -> IntArray:
        """Return the design columns of one term."""
        return self.index[self.offset[term] : self.offset[term + 1]]

    def columns_of(self, chosen: IntArray) -> IntArray:
        """Return the design columns of several terms, term by term."""
        parts = [self.columns(term) for term in chosen]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)

    def additions(self, active: BoolArray) -> IntArray:
        """Return the terms that may legally enter the model ``active``."""
        return np.flatnonzero(~active)

    def removals(self, active: BoolArray) -> IntArray:
        """Return the terms that may legally leave the model ``active``."""
        return np.flatnonzero(active & ~self.kept)

    def without_columns(self, unused: BoolArray) -> "Terms":
        """Return the same terms without the design columns flagged in ``unused``."""
        left = ~unused[self.index]
        owner = np.repeat(np.arange(len(self)), self.sizes)[left]
        offset = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(self)))])
        return Terms(self.names, self.index[left], offset, self.kept)
