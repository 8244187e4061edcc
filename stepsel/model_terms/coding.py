"""Terms of a formula -> the columns of a design, on the data of a selection and on new data."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepsel.coding import Block
from stepsel.columns import Column, stack
from stepsel.core.fits import FloatArray
from stepsel.core.terms import BoolArray, IntArray
from stepsel.model_terms.parsing import ParsedTerm
from stepsel.model_terms.variables import AnyVariable, Table
from stepsel.numeric import is_frame


@dataclass(frozen=True)
class TermCoding:
    """How one term is coded: its variables, and which of them by all levels instead of contrasts."""

    variables: tuple[str, ...]
    full: tuple[bool, ...]


@dataclass(frozen=True)
class FormulaCoding:
    """The coding of the terms of a formula.

    Attributes
    ----------
    variables : mapping of str -> variable
        By their text.
    terms : tuple of TermCoding
    labels : list
        The labels of the design columns.
    offset : int array of shape (n_terms + 1,)
        Term ``t`` has the design columns ``offset[t]:offset[t + 1]``.
    spare, crossed : bool arrays of shape (n_columns,)
        Columns that may repeat others by construction; columns of products.
    """

    variables: Mapping[str, AnyVariable]
    terms: tuple[TermCoding, ...]
    labels: Sequence[Hashable]
    offset: IntArray
    spare: BoolArray | None
    crossed: BoolArray | None

    @property
    def references(self) -> dict[Hashable, Any]:
        """The reference level of every factor that is a column."""
        factors = {text: getattr(variable, "factor", None) for text, variable in self.variables.items()}
        return {text: coding.levels[coding.reference] for text, coding in factors.items() if coding and coding.levels}

    def encode(self, X: Any, chosen: IntArray) -> FloatArray:
        """Return the design columns ``chosen`` of new data.

        Parameters
        ----------
        X : DataFrame
            With at least the columns that the chosen terms use.
        chosen : int array

        Raises
        ------
        ValueError
            If it is none, a column is missing, or a factor has a level that was not seen.
        """
        X = pd.DataFrame(X) if isinstance(X, Mapping) else X
        if not is_frame(X):
            raise ValueError(f"X is a {type(X).__name__}: give a DataFrame with the columns that the formula names.")
        table = Table(X, {})
        owner = np.searchsorted(self.offset, chosen, side="right") - 1
        result = np.empty((len(X), len(chosen)))
        known: dict[tuple[str, bool], Block] = {}
        for at in np.unique(owner).tolist():
            own = owner == at
            block = term_block(self.terms[at], self.variables, table, None, {}, known)
            result[:, own] = block.matrix[:, chosen[own] - self.offset[at]]
        return result


def coded_terms(
    terms: Sequence[ParsedTerm],
    variables: Mapping[str, AnyVariable],
    table: Table,
    columns: Mapping[str, Column],
    rows: BoolArray,
    *,
    intercept: bool,
    rule: str,
) -> tuple[npt.NDArray[np.number], FormulaCoding]:
    """Return the design of the terms of a formula on some rows, and how it was coded.

    A factor is coded by contrasts in a term if what remains of the term without it is in every model that holds the
    term: nothing, where there is an intercept; a term of the scope, where the hierarchy is strong. Else all its levels
    are coded. So a model spans what R and statsmodels span for the formula of its terms.

    Parameters
    ----------
    terms : sequence of ParsedTerm
    variables : mapping of str -> variable
        With their levels.
    table : Table
    columns : mapping of str -> column
        The variables as they were read, on all rows.
    rows : bool array of shape (n_rows,)
    intercept : bool
    rule : {"strong", "weak", "none"}
    """
    present = {term.degrees for term in terms} if rule == "strong" else set()
    codings, blocks = [], []
    known: dict[tuple[str, bool], Block] = {}
    for term in terms:
        names = tuple(variable.text for variable in term.variables)
        full = tuple(
            variables[name].categorical and not _is_given(term, at, present, intercept=intercept)
            for at, name in enumerate(names)
        )
        codings.append(TermCoding(names, full))
        blocks.append(term_block(codings[-1], variables, table, rows, columns, known))
    sizes = [len(block.labels) for block in blocks]
    spare = np.array([flag > 0 for block in blocks for flag in block.spare], dtype=bool)
    crossed = np.repeat([len(term.variables) > 1 for term in codings], sizes)
    parts = [block.matrix[:, at] for block in blocks for at in range(block.matrix.shape[1])]
    coding = FormulaCoding(
        variables=variables,
        terms=tuple(codings),
        labels=[label for block in blocks for label in block.labels],
        offset=np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
        spare=spare if spare.any() else None,
        crossed=crossed if crossed.any() else None,
    )
    return stack(parts, int(rows.sum())), coding


def _is_given(term: ParsedTerm, at: int, present: set[Any], *, intercept: bool) -> bool:
    """Whether a term without one of its variables is in every model that holds the term."""
    rest = ParsedTerm(term.variables[:at] + term.variables[at + 1 :])
    return rest.degrees in present if rest.variables else intercept


def term_block(
    term: TermCoding,
    variables: Mapping[str, AnyVariable],
    table: Table,
    rows: BoolArray | None,
    columns: Mapping[str, Column],
    known: dict[tuple[str, bool], Block],
) -> Block:
    """Return the columns of one term: the products of the columns of its variables, the first varying fastest."""
    result: Block | None = None
    for name, full in zip(term.variables, term.full, strict=True):
        if (name, full) not in known:
            known[name, full] = variables[name].block(table, rows, columns.get(name), full=full)
        block = known[name, full]
        result = block if result is None else _product(result, block)
    assert result is not None
    order = sorted(range(len(result.spare)), key=result.spare.__getitem__)
    if order == list(range(len(order))):
        return result
    return Block(result.matrix[:, order], [result.labels[at] for at in order], [result.spare[at] for at in order])


def _product(first: Block, second: Block) -> Block:
    pairs = [(one, other) for other in range(len(second.labels)) for one in range(len(first.labels))]
    matrix = np.empty((len(first.matrix), len(pairs)))
    for at, (one, other) in enumerate(pairs):
        np.multiply(first.matrix[:, one], second.matrix[:, other], out=matrix[:, at])
    return Block(
        matrix,
        [f"{first.labels[one]}:{second.labels[other]}" for one, other in pairs],
        [first.spare[one] + second.spare[other] for one, other in pairs],
    )
