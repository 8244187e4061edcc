"""The variables of formulas on data: columns, categorical columns, and expressions that formulaic evaluates."""

import ast
import difflib
import re
import types
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from formulaic import Formula
from formulaic.errors import DataMismatchWarning, FormulaicError
from formulaic.transforms import TRANSFORMS
from formulaic.utils.stateful_transforms import stateful_eval

from stepsel.coding import Block, FactorCoding, rows_of
from stepsel.columns import Column, Factor, read_column
from stepsel.core.terms import BoolArray
from stepsel.model_terms.parsing import Variable, variables_of

_CONTRASTS = ("Treatment", "treatment", "contr.treatment", "contr_treatment")


class Table:
    """The data of a formula, and the names that it may use besides.

    Parameters
    ----------
    data : pandas or polars DataFrame
    names : mapping
        The caller's variables and functions.
    """

    def __init__(self, data: Any, names: Mapping[str, Any]) -> None:
        self.data, self.names = data, names
        self.labels = list(data.columns)
        self.n_rows = len(data)
        self._pandas: dict[str, pd.Series] = {}

    def series(self, name: str) -> Any:
        """Return a column, pandas or polars, or a variable of the caller's with a value for every row.

        Raises
        ------
        ValueError
            If there is none, naming the closest labels.
        """
        if name in self.labels:
            if isinstance(self.data, pd.DataFrame):
                return self.data.iloc[:, self.labels.index(name)]
            return self.data.get_column(name)
        value = self.names.get(name)
        if isinstance(value, pd.Series | np.ndarray | list | tuple) and len(value) == self.n_rows:
            return value if isinstance(value, pd.Series) else pd.Series(value)
        close = difflib.get_close_matches(name, map(str, self.labels), n=3, cutoff=0.4) or map(str, self.labels[:5])
        raise ValueError(f"formula: there is no column {name!r}; near it are {', '.join(map(repr, close))}.")

    def frame(self, names: set[str], rows: BoolArray | None = None) -> pd.DataFrame:
        """Return some columns as a pandas DataFrame with rows 0, 1, ..."""
        for name in names - set(self._pandas):
            column = self.series(name)
            if not isinstance(column, pd.Series):
                column = pd.Series(column.to_list())
            self._pandas[name] = column.reset_index(drop=True)
        frame = pd.DataFrame({name: self._pandas[name] for name in sorted(names)}, index=pd.RangeIndex(self.n_rows))
        return frame if rows is None else frame[rows].reset_index(drop=True)


def evaluated(text: str, table: Table) -> Any:
    """Return the value of an expression on the rows of a table.

    Raises
    ------
    ValueError
        If it cannot be evaluated, in one sentence.
    """
    names = columns_in(text, table.labels)
    scope = {**TRANSFORMS, "np": np, **table.names, **{name: table.frame(names)[name] for name in names}}
    try:
        return stateful_eval(text, scope, None, None, None)
    except Exception as error:  # whatever the caller's own code raises
        raise _failed(text, error) from None


def columns_in(text: str, labels: Sequence[Hashable]) -> set[str]:
    """Return the columns that an expression uses."""
    return {name for name in variables_of(text) if name in labels}


def _failed(text: str, error: Exception) -> ValueError:
    reason = re.sub(r"\s+", " ", str(error)).strip().rstrip(".") or type(error).__name__
    return ValueError(f"formula: {text} cannot be evaluated ({reason}).")


@dataclass(frozen=True)
class ColumnVariable:
    """A column of numbers, or of levels.

    Attributes
    ----------
    text : str
        As it is printed.
    column : str
        The label of the column.
    declared : bool
        Whether it is a factor whatever it holds.
    factor : FactorCoding, optional
        The levels, if it is one.
    """

    text: str
    column: str
    declared: bool
    reference: Any = None
    factor: FactorCoding | None = None

    @property
    def categorical(self) -> bool:
        """Whether it is a factor."""
        return self.factor is not None

    def read(self, table: Table) -> Column:
        """Return its values on every row; truth values are levels."""
        series = table.series(self.column)
        return read_column(series, self.column, declared=self.declared or _is_boolean(series))

    def fitted(self, table: Table, column: Column, rows: BoolArray) -> "ColumnVariable":
        """Return the variable with the levels that occur in the rows that are used."""
        if not isinstance(column, Factor):
            return self
        used = replace(column, codes=column.codes[rows])
        factor = FactorCoding.of(used, self.text, self.reference)
        return ColumnVariable(self.text, self.column, True, self.reference, factor)

    def block(self, table: Table, rows: BoolArray | None, column: Column | None = None, *, full: bool) -> Block:
        """Return its columns on some rows of a table."""
        column = self.read(table) if column is None else column
        if rows is not None:
            column = rows_of(column, rows)
        if self.factor is None:
            if isinstance(column, Factor):
                raise ValueError(f"column {self.column!r} holds text, and held numbers when it was selected.")
            return Block(np.asarray(column)[:, None], [self.text], [0])
        assert isinstance(column, Factor)
        return self.factor.block(column, full=full)


def _is_boolean(series: Any) -> bool:
    if not isinstance(series, pd.Series):
        return str(series.dtype) == "Boolean"
    if series.dtype == object:
        return pd.api.types.infer_dtype(series, skipna=True) == "boolean"
    return pd.api.types.is_bool_dtype(series.dtype) and not isinstance(series.dtype, pd.CategoricalDtype)


@dataclass(frozen=True)
class ExpressionVariable:
    """An expression of columns, evaluated by formulaic, which remembers the state of transforms.

    Attributes
    ----------
    text : str
    columns : frozenset of str
        The columns that it uses.
    names : Names
        What else it uses.
    contrasts, levels : ModelSpec, optional
        How formulaic codes it: by contrasts and by all levels, if it is categorical; else both are the same.
    """

    text: str
    columns: frozenset[str]
    names: "Names"
    contrasts: Any = None
    levels: Any = None

    @property
    def categorical(self) -> bool:
        """Whether it is a factor."""
        return self.contrasts is not self.levels

    def read(self, table: Table) -> Column:
        """Return which of its values are missing: as a column of numbers, or of one level."""
        matrix = self._matrix(self._formula("0"), table, None)
        present = np.zeros(table.n_rows, dtype=bool)
        present[np.asarray(matrix.index, dtype=np.intp)] = True
        if matrix.model_spec.factor_contrasts:
            return Factor(np.where(present, 0, -1), ("",))
        return np.where(present, 0.0, np.nan)

    def fitted(self, table: Table, column: Column, rows: BoolArray) -> "ExpressionVariable":
        """Return the variable with the state of its transforms on the rows that are used."""
        levels = self._matrix(self._formula("0"), table, rows).model_spec
        contrasts = levels
        if levels.factor_contrasts:
            contrasts = self._matrix(self._formula("1"), table, rows).model_spec
        return ExpressionVariable(self.text, self.columns, self.names, contrasts, levels)

    def block(self, table: Table, rows: BoolArray | None, column: Column | None = None, *, full: bool) -> Block:
        """Return its columns on some rows of a table: NaN where it is missing."""
        spec = self.levels if full else self.contrasts
        found = self._matrix(spec, table, rows)
        labels = list(found.columns)
        values = np.full((table.n_rows if rows is None else int(rows.sum()), len(labels)), np.nan)
        values[np.asarray(found.index, dtype=np.intp)] = np.asarray(found, dtype=float)
        start = int(self.categorical and not full)  # the intercept
        return Block(values[:, start:], list(labels[start:]), [0] * (len(labels) - start))

    def _formula(self, intercept: str) -> Any:
        return Formula(f"{intercept} + {{{self.text}}}")  # braces: not to be read as formula operators

    def _matrix(self, spec: Any, table: Table, rows: BoolArray | None) -> Any:
        """Return formulaic's columns, of the rows without missing values."""
        frame = table.frame(set(self.columns), rows)
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataMismatchWarning)
            try:
                return spec.get_model_matrix(frame, context=self.names.values, na_action="drop", output="pandas")
            except DataMismatchWarning as error:
                found = re.search(r"\{(.*)\}", str(error))
                unseen = found[1] if found else "a level"
                raise ValueError(f"{self.text} holds {unseen}, which the selection did not see.") from None
            except FormulaicError as error:
                raise _failed(self.text, error.__cause__ or error) from None
            except Exception as error:  # whatever the caller's own code raises
                raise _failed(self.text, error) from None


@dataclass
class Names:
    """What an expression uses besides columns; a pickle carries modules by name, and what can be pickled."""

    values: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def used_in(cls, text: str, table: Table) -> "Names":
        """Return those of the caller's names that an expression uses."""
        words = set(re.findall(r"[^\W\d]\w*", text)) - set(table.labels)
        return cls({word: table.names[word] for word in words if word in table.names} | {"np": np})

    def __getstate__(self) -> dict[str, Any]:
        kept = {}
        for name, value in self.values.items():
            if isinstance(value, types.ModuleType):
                kept[name] = _Module(value.__name__)
            elif _can_be_pickled(value):
                kept[name] = value
        return {"values": kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        values = state["values"]
        self.values = {
            name: import_module(value.name) if isinstance(value, _Module) else value for name, value in values.items()
        }


@dataclass(frozen=True)
class _Module:
    name: str


def _can_be_pickled(value: Any) -> bool:
    import pickle

    try:
        pickle.dumps(value)
    except Exception:
        return False
    return True


AnyVariable = ColumnVariable | ExpressionVariable


def variable_of(variable: Variable, table: Table, declared: Mapping[str, Any]) -> AnyVariable:
    """Return what a variable of a formula is on a table.

    Parameters
    ----------
    variable : Variable
    table : Table
    declared : mapping of str -> reference level or None
        Columns that are factors whatever they hold.
    """
    if variable.lookup:
        name = variable.text
        return ColumnVariable(name, name, name in declared, declared.get(name))
    coded = _categorical(variable.text, table)
    if coded is not None:
        return ColumnVariable(variable.text, coded[0], True, coded[1])
    columns = frozenset(columns_in(variable.text, table.labels))
    others = {name for name in variables_of(variable.text) if name not in columns}
    vectors = {name for name in others if isinstance(table.names.get(name), pd.Series | np.ndarray)}
    return ExpressionVariable(variable.text, columns | vectors, Names.used_in(variable.text, table))


def _categorical(text: str, table: Table) -> tuple[str, Any] | None:
    """Return column and reference level of ``C(column)`` or ``C(column, Treatment(level))``; None for all else."""
    quoted = re.fullmatch(r"C\(`([^`]+)`\)", text)
    if quoted is not None:
        return quoted[1], None
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "C" and call.args):
        return None
    column, *rest = call.args
    if not isinstance(column, ast.Name) or column.id not in table.labels or "C" in table.names:
        return None
    rest += [keyword.value for keyword in call.keywords if keyword.arg == "contrasts"]
    if len(rest) != len(call.args) - 1 + len(call.keywords) or len(rest) > 1:
        return None
    if not rest or (not isinstance(rest[0], ast.Call) and ast.unparse(rest[0]) in _CONTRASTS):
        return column.id, None
    contrast = rest[0]
    if not (isinstance(contrast, ast.Call) and ast.unparse(contrast.func) in _CONTRASTS):
        return None
    values = [*contrast.args, *(keyword.value for keyword in contrast.keywords)]
    if len(values) > 1 or any(keyword.arg not in ("base", "reference") for keyword in contrast.keywords):
        return None
    try:
        return column.id, ast.literal_eval(values[0]) if values else None
    except ValueError:
        return None
