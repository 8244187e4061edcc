"""Formulas as text -> response, terms, and which term contains which.

References
----------
Wilkinson and Rogers (1973), Symbolic description of factorial models for analysis of variance, Applied Statistics 22.
Nelder (1977), A reformulation of linear models, JRSS A 140 (marginality, of powers as of products).
"""

import ast
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from formulaic import Formula
from formulaic.errors import FormulaicError
from formulaic.parser.algos.tokenize import tokenize
from formulaic.parser.types import Factor as FormulaFactor
from formulaic.parser.types import Term as FormulaTerm

from stepsel.core.terms import Hierarchy

_QUOTED = re.compile(r"(`[^`]*`|'[^']*'|\"[^\"]*\")")
_LARGEST_POWER = 10
_COLOURS = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]\[?[0-9;]*m?")


class Variable(NamedTuple):
    """A factor of a term, in the sense of formulas: a column, or an expression of columns.

    Attributes
    ----------
    text : str
        The label of the column, or the expression as it is printed.
    lookup : bool
        Whether it is the name of a column.
    """

    text: str
    lookup: bool


@dataclass(frozen=True)
class ParsedTerm:
    """A term of a formula: the product of its variables."""

    variables: tuple[Variable, ...]

    @property
    def name(self) -> str:
        """The term as it is printed."""
        return ":".join(variable.text for variable in self.variables)

    @cached_property
    def degrees(self) -> frozenset[tuple[str, int]]:
        """How often each variable is a factor of the term: ``I(x ** 2)`` is x twice."""
        counts: Counter[str] = Counter()
        for variable in self.variables:
            base, power = (quoted(variable.text), 1) if variable.lookup else power_of(variable.text)
            counts[base] += power
        return frozenset(counts.items())


@dataclass(frozen=True)
class Parsed:
    """One side of a formula, or both.

    Attributes
    ----------
    response : Variable, optional
    terms : tuple of ParsedTerm
        Without the intercept.
    intercept : bool
    right : str
        The right side as text, the dot written out.
    """

    response: Variable | None
    terms: tuple[ParsedTerm, ...]
    intercept: bool
    right: str


def parse(formula: Any, dot: str, what: str = "formula") -> Parsed:
    """Read a formula.

    Parameters
    ----------
    formula : str
        ``response ~ terms`` or ``~ terms``.
    dot : str
        What ``.`` stands for, as text.
    what : str
        For messages.

    Raises
    ------
    ValueError
        If it cannot be read, in one sentence.
    """
    if not isinstance(formula, str):
        raise ValueError(f"{what} is {formula!r}: give text, such as 'y ~ a + b'.")
    left, right = _sides(formula, what)
    right = _dotless(right, dot)
    response = None
    if left.strip():
        found = _terms_of(left, formula, what, "0 + ")
        if len(found) != 1 or len(found[0].variables) != 1:
            raise ValueError(
                f"{what} {formula!r} has the response {left.strip()!r}: give one column or expression on the left side."
            )
        response = found[0].variables[0]
        _check_powers(response, what)
    # A sign in front is about the intercept that is there by itself.
    terms = _terms_of(f"1 {right}" if right.strip().startswith("-") else right, formula, what)
    intercept = any(not term.variables for term in terms)
    terms = [term for term in terms if term.variables]
    for term in terms:
        for variable in term.variables:
            _check_powers(variable, what)
    return Parsed(response, tuple(terms), intercept, right.strip())


def variables_of(text: str) -> set[str]:
    """Return the names that an expression uses: those in backticks, and those that Python would look up."""
    marked = re.findall(r"`([^`]+)`", text)
    tree = _expression(re.sub(r"`[^`]+`", "_", text))
    plain = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} if tree is not None else set()
    return plain | set(marked)


def with_quotes(text: Any, labels: Iterable[str]) -> Any:
    """Return a formula in which labels with dots, as R has them, stand in backticks: Python would read attributes."""
    if not isinstance(text, str):
        return text
    parts = _QUOTED.split(text)  # what stands in quotes or backticks comes second, fourth, ...
    for label in labels:
        if re.fullmatch(r"[A-Za-z_]\w*(\.\w+)+", label):
            pattern = rf"(?<![\w.]){re.escape(label)}(?![\w.(])"
            parts[::2] = [re.sub(pattern, f"`{label}`", part) for part in parts[::2]]
    return "".join(parts)


def without_quotes(text: str) -> str:
    """Return a formula without what stands in quotes or backticks."""
    return "".join(_QUOTED.split(text)[::2])


def quoted(label: str) -> str:
    """Return the label of a column as it is written in a formula."""
    return label if re.fullmatch(r"[A-Za-z_]\w*", label) else f"`{label}`"


def _sides(formula: str, what: str) -> tuple[str, str]:
    tokens = _tokens(formula, what)
    places = [token.source_start for token in tokens if str(token)[0] == "~" and token.kind.name == "OPERATOR"]
    for before, after in pairwise(tokens):
        if str(before) in ("**", "^") and str(after).isdecimal() and int(str(after)) > _LARGEST_POWER:
            raise ValueError(
                f"{what} {formula!r} asks for the power {after}: {_LARGEST_POWER} is the largest there is."
            )
    if len(places) > 1:
        raise ValueError(f"{what} {formula!r} has {len(places)} signs '~': one separates the response from the terms.")
    if not places:
        return "", formula
    return formula[: places[0]], formula[places[0] + 1 :]


def _dotless(right: str, dot: str) -> str:
    for token in reversed(list(_tokens(right, "formula"))):
        if str(token) == "." and token.kind.name in ("VALUE", "NAME", "OPERATOR"):
            right = f"{right[: token.source_start]}({dot or '0'}){right[token.source_end + 1 :]}"
    return right


def _tokens(text: str, what: str) -> list[Any]:
    try:
        return list(tokenize(text))
    except FormulaicError as error:
        raise _unreadable(text, what, error) from None


def _formula(text: str, whole: str, what: str) -> Any:
    try:
        return Formula(text)
    except (FormulaicError, SyntaxError) as error:
        raise _unreadable(whole, what, error) from None


def _unreadable(formula: str, what: str, error: Exception) -> ValueError:
    reason = _COLOURS.sub("", str(error)).strip().split("\n")[0].rstrip(".")
    words = [name for name in re.findall(r"`(\w+)`", formula) if keyword.iskeyword(name)]
    if words:
        return ValueError(f"{what} {formula!r} cannot be read: {words[0]!r} is a word of Python; rename the column.")
    return ValueError(f"{what} {formula!r} cannot be read ({reason}): write it as 'y ~ a + b + a:b'.")


def _terms_of(text: str, formula: str, what: str, prefix: str = "") -> list[ParsedTerm]:
    if not text.strip():
        raise ValueError(f"{what} {formula!r} has nothing on its right side: write '~ 1' for the intercept alone.")
    found = _formula(prefix + text, formula, what)
    if not hasattr(found, "__iter__") or any(not isinstance(term, FormulaTerm) for term in found):
        raise ValueError(f"{what} {formula!r} has several parts ('|'): write one response and one right side.")
    return [_term(term, formula, what) for term in found]


def _term(term: Any, formula: str, what: str) -> ParsedTerm:
    variables = []
    for factor in term.factors:
        if factor.eval_method is FormulaFactor.EvalMethod.LITERAL:
            if str(factor) != "1":
                raise ValueError(f"{what} {formula!r} multiplies by {factor}: write I({factor} * x), or leave it out.")
            continue
        variables.append(Variable(factor.expr, factor.eval_method is FormulaFactor.EvalMethod.LOOKUP))
    return ParsedTerm(tuple(variables))


def _check_powers(variable: Variable, what: str) -> None:
    """Refuse ``x ^ 2`` in an expression, which is a power in R and something else in Python."""
    if variable.lookup or "^" not in variable.text:
        return
    tree = _expression(variable.text)
    if tree is not None and any(isinstance(node, ast.BitXor) for node in ast.walk(tree)):
        right = variable.text.replace("^", "**")
        raise ValueError(f"{what}: {variable.text} uses ^, which is no power in Python: write {right}.")


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:  # names in backticks
        return None


def power_of(text: str) -> tuple[str, int]:
    """Return base and exponent of an expression such as ``I(x ** 2)``; exponent 1 for any other."""
    inner = re.fullmatch(r"I\((.*)\)", text)
    found = re.fullmatch(r"(`[^`]+`|\w+) \*\* (\d+)", inner[1] if inner else text)
    if found is None:
        tree = _expression(inner[1] if inner else text)
        if (
            isinstance(tree, ast.BinOp)
            and isinstance(tree.op, ast.Pow)
            and isinstance(tree.right, ast.Constant)
            and isinstance(tree.right.value, int)
            and tree.right.value > 0
        ):
            return ast.unparse(tree.left), tree.right.value
        return text, 1
    return quoted(found[1].strip("`")), int(found[2])


def hierarchy_of(terms: Sequence[ParsedTerm], rule: str) -> Hierarchy | None:
    """Return which terms contain which others; None where none does.

    Parameters
    ----------
    terms : sequence of ParsedTerm
    rule : {"strong", "weak", "none"}
    """
    place = {term.degrees: at for at, term in enumerate(terms)}
    child, parent = [], []
    for at, term in enumerate(terms):
        inside = [place[part] for part in _contained(term.degrees) if part in place]
        largest = sorted(part for part in inside if not any(_contains(terms[to], terms[part]) for to in inside))
        child += [at] * len(largest)
        parent += largest
    if not child:
        return None
    return Hierarchy(np.array(child, dtype=np.intp), np.array(parent, dtype=np.intp), rule)


def _contained(degrees: frozenset[tuple[str, int]]) -> list[frozenset[tuple[str, int]]]:
    """Return what a term contains, itself and nothing left out."""
    names = [name for name, _ in degrees]
    if sum(power for _, power in degrees) == 1:
        return []
    choices = product(*(range(power + 1) for _, power in degrees))
    parts = [frozenset((name, power) for name, power in zip(names, choice, strict=True) if power) for choice in choices]
    return [part for part in parts if part and part != degrees]


def _contains(term: ParsedTerm, other: ParsedTerm) -> bool:
    degrees = dict(term.degrees)
    return term.degrees != other.degrees and all(degrees.get(name, 0) >= power for name, power in other.degrees)
