"""Terms: the column groups that enter and leave a model as a whole."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.intp]
RealMatrix = npt.NDArray[np.number]


@dataclass(frozen=True)
class Hierarchy:
    """Which terms contain which: an edge from every term to the largest terms of the scope that are contained in it.

    Parameters
    ----------
    child, parent : int arrays of shape (n_edges,)
        ``parent[e]`` is contained in ``child[e]``.
    rule : {"strong", "weak", "none"}
        Whether a term needs all its parents (marginality), one of them (weak heredity), or none.

    References
    ----------
    Nelder (1977), A reformulation of linear models, JRSS A 140 (marginality). Chipman (1996), Bayesian variable
    selection with related predictors, Canadian Journal of Statistics 24 (strong and weak heredity).
    """

    child: IntArray
    parent: IntArray
    rule: str

    def orphans(self, active: BoolArray) -> BoolArray:
        """Return the terms that have too few parents in the model ``active``."""
        n = len(active)
        missing = np.bincount(self.child[~active[self.parent]], minlength=n)
        if self.rule == "strong":
            return missing > 0
        return (missing > 0) & (missing == np.bincount(self.child, minlength=n)) & (self.rule == "weak")

    def needed(self, active: BoolArray) -> BoolArray:
        """Return the terms without which a term of the model ``active`` would be an orphan."""
        n = len(active)
        holds = active[self.child] & active[self.parent] & (self.rule != "none")
        if self.rule == "weak":  # only a single parent is needed
            holds &= np.bincount(self.child[active[self.parent]], minlength=n)[self.child] == 1
        result = np.zeros(n, dtype=bool)
        result[self.parent[holds]] = True
        return result


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
    hierarchy : Hierarchy, optional
        Which terms have parents, and what follows from that.
    """

    names: Sequence[Hashable]
    index: IntArray
    offset: IntArray
    kept: BoolArray
    hierarchy: Hierarchy | None = None

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

    def additions(self, active: BoolArray, closed: BoolArray) -> IntArray:
        """Return the terms that may legally enter the model ``active``; those in ``closed`` never may."""
        shut = active | closed
        return np.flatnonzero(~shut if self.hierarchy is None else ~shut & ~self.barred(active))

    def removals(self, active: BoolArray) -> IntArray:
        """Return the terms that may legally leave the model ``active``."""
        free = active & ~self.kept
        return np.flatnonzero(free if self.hierarchy is None else free & ~self.barred(active))

    def barred(self, active: BoolArray) -> BoolArray:
        """Return the terms that the hierarchy keeps out of the model ``active``, and those that it keeps in."""
        if self.hierarchy is None:
            return np.zeros(len(self), dtype=bool)
        return np.where(active, self.hierarchy.needed(active), self.hierarchy.orphans(active))

    def with_parents(self, active: BoolArray, offered: BoolArray) -> BoolArray:
        """Return the model ``active`` with those terms of ``offered`` that terms of it need."""
        active = active.copy()
        while self.hierarchy is not None:
            child, parent = self.hierarchy.child, self.hierarchy.parent
            wanted = (active & self.hierarchy.orphans(active))[child] & (offered & ~active)[parent]
            if not wanted.any():
                break
            active[parent[wanted]] = True
        return active

    def related_in(self, active: BoolArray) -> BoolArray:
        """Return the terms of a model that contain others of it, or are contained: correlated by construction."""
        result = np.zeros(len(self), dtype=bool)
        if self.hierarchy is not None:
            child, parent = self.hierarchy.child, self.hierarchy.parent
            both = active[child] & active[parent]
            result[child[both]] = result[parent[both]] = True
        return result

    def without_columns(self, unused: BoolArray) -> "Terms":
        """Return the same terms without the design columns flagged in ``unused``."""
        left = ~unused[self.index]
        owner = np.repeat(np.arange(len(self)), self.sizes)[left]
        offset = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(self)))])
        return replace(self, index=self.index[left], offset=offset)
