"""The variables of formulas on data: columns, categorical columns, and expressions that formulaic evaluates."""

import ast
import difflib
import keyword
import re
import types
import unicodedata
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from formulaic import Formula
from formulaic.errors import DataMismatchWarning, FormulaicError
from formulaic.transforms import TRANSFORMS
from formulaic.utils.stateful_transforms import stateful_eval

from stepsel.coding import Block, FactorCoding, refuse_identifiers, rows_of
from stepsel.columns import Column, Factor, read_column
from stepsel.core.fits import FloatArray
from stepsel.core.terms import BoolArray
from stepsel.model_terms.parsing import Variable, variables_of

# Functions that are about missing values: what uses them is evaluated where there are some.
_DEALS_WITH_GAPS = re.compile(r"\b(fillna|isna|isnull|notna|notnull|isnan|nan_to_num|coalesce)\b")
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
        if isinstance(value, pd.Series) and len(value) == self.n_rows:
            return self._paired(name, value)
        if isinstance(value, np.ndarray | list | tuple) and len(value) == self.n_rows:
            return pd.Series(value)
        close = difflib.get_close_matches(name, map(str, self.labels), n=3, cutoff=0.4) or map(str, self.labels[:5])
        raise ValueError(f"formula: there is no column {name!r}; near it are {', '.join(map(repr, close))}.")

    def _paired(self, name: str, value: pd.Series) -> pd.Series:
        """Return a variable of the caller's in the order of the rows: by label, or by position where it has none."""
        if value.index.equals(self.index):
            return value
        same = value.index.is_unique and self.index.is_unique and not len(self.index.difference(value.index))
        if not same and value.index.equals(pd.RangeIndex(self.n_rows)):
            return value
        return _reordered(name, value, self.index)

    def frame(self, names: Iterable[str], rows: BoolArray | None = None) -> pd.DataFrame:
        """Return some columns as a pandas DataFrame, with the row labels of the data: expressions may align to them.

        Numbers of few bytes are widened, so that arithmetic does not overflow; a label that Python would read as
        another (it normalises identifiers) is there under both.
        """
        columns = {}
        for name in sorted(names):
            columns[name] = columns[_as_python_reads(name)] = self._wide(name)
        frame = pd.DataFrame(columns, index=self.index)
        return frame if rows is None else frame[rows]

    @cached_property
    def index(self) -> pd.Index:
        """The row labels of the data."""
        return self.data.index if isinstance(self.data, pd.DataFrame) else pd.RangeIndex(self.n_rows)

    def _wide(self, name: str) -> pd.Series:
        if name not in self._pandas:
            column = self.series(name)
            if not isinstance(column, pd.Series):
                enum = type(column.dtype).__name__ == "Enum"
                values = pd.Categorical(column.to_list(), list(column.dtype.categories)) if enum else column.to_list()
                column = pd.Series(values)
            dtype = column.dtype
            if isinstance(dtype, np.dtype) and dtype.kind in "iuf" and dtype.itemsize < 8:
                column = column.astype(float if dtype.kind == "f" else np.int64)
            self._pandas[name] = column.set_axis(self.index)
        return self._pandas[name]


def _as_python_reads(name: str) -> str:
    return unicodedata.normalize("NFKC", name) if name.isidentifier() else name


def evaluated(text: str, table: Table) -> pd.Series:
    """Return the value of an expression on the rows of a table, missing where a column that it uses is.

    Raises
    ------
    ValueError
        If it cannot be evaluated, or has not one value for every row, in one sentence.
    """
    names = columns_in(text, table.labels)
    frame = table.frame(names)
    complete = _complete(text, frame)
    part = frame[complete]
    scope = {**TRANSFORMS, "np": np, **table.names, **{name: part[name] for name in part}}
    try:
        with np.errstate(all="ignore"):
            values = stateful_eval(text, scope, None, None, None)
    except Exception as error:  # whatever the caller's own code raises
        raise _failed(text, error, part) from None
    if np.ndim(values) != 1 or len(values) != len(part):
        raise ValueError(f"formula: {text} has not one value for every row.")
    if isinstance(values, pd.Series) and not values.index.equals(part.index):
        values = _reordered(text, values, part.index)
    if complete.all():
        return pd.Series(np.asarray(values))
    result = pd.Series([None] * table.n_rows, dtype=object)
    result[complete] = np.asarray(values)
    return result.infer_objects()


def _reordered(text: str, values: Any, index: pd.Index) -> Any:
    """Bring a value that pandas aligned to other row labels into the order of the rows."""
    if not index.is_unique or not values.index.is_unique or len(index.difference(values.index)):
        raise _misplaced(text)
    return values.reindex(index)


def _misplaced(text: str) -> ValueError:
    return ValueError(
        f"formula: {text} uses values with row labels that are not those of the data: make them a column of the data."
    )


def _complete(text: str, frame: pd.DataFrame) -> BoolArray:
    """Return the rows in which no column that an expression uses is missing, unless it deals with that itself."""
    if _DEALS_WITH_GAPS.search(text):
        return np.ones(len(frame), dtype=bool)
    return frame.notna().all(axis=1).to_numpy(dtype=bool)


def columns_in(text: str, labels: Sequence[Hashable]) -> set[str]:
    """Return the columns that an expression uses."""
    read = {_as_python_reads(str(label)): str(label) for label in labels}
    return {read[name] for name in map(_as_python_reads, variables_of(text)) if name in read}


def _failed(text: str, error: BaseException, frame: pd.DataFrame) -> ValueError:
    reason = re.sub(r"\s+", " ", str(error)).strip().rstrip(".") or type(error).__name__
    hidden = [name for name in re.findall(r"(\w+)\s*[.(]", text) if name in frame]
    words = [name for name in map(str, frame) if keyword.iskeyword(name)]
    hint = ""
    if hidden:
        hint = f"; the data have a column {hidden[0]!r}, which hides the function: rename it"
    elif words:
        hint = f"; {words[0]!r} is a word of Python: rename the column"
    elif "isnan" in reason or "find_nulls" in reason:
        hint = "; values that are no numbers are written C(...)"
    elif "'offset'" in reason:
        hint = "; an offset is given as offset="
    return ValueError(f"formula: {text} cannot be evaluated ({reason}){hint}.")


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
            return Block(np.asarray(column, dtype=float)[:, None], [self.text], [0])
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
    whole : bool
        Whether its value in a row depends on other rows, so that there is none for new data.
    """

    text: str
    columns: frozenset[str]
    names: "Names"
    contrasts: Any = None
    levels: Any = None
    whole: bool = False

    @property
    def categorical(self) -> bool:
        """Whether it is a factor."""
        return self.contrasts is not self.levels

    def read(self, table: Table) -> Column:
        """Return which of its values are missing: as a column of numbers, or of one level."""
        found = self._matrix(self._formula("0"), table, None)
        if found.spec.factor_contrasts:
            return Factor(np.where(found.present, 0, -1), ("",))
        return np.where(found.present, 0.0, np.nan)

    def fitted(self, table: Table, column: Column, rows: BoolArray) -> "ExpressionVariable":
        """Return the variable with the state of its transforms on the rows that are used."""
        found = self._matrix(self._formula("0"), table, rows)
        levels = contrasts = found.spec
        if levels.factor_contrasts:
            refuse_identifiers(len(found.labels), int(found.present.sum()), self.text)
            contrasts = self._matrix(self._formula("1"), table, rows).spec
        fitted = replace(self, contrasts=contrasts, levels=levels)
        return replace(fitted, whole=fitted._depends_on_other_rows(table, rows, found.values))

    def _depends_on_other_rows(self, table: Table, rows: BoolArray, values: FloatArray) -> bool:
        """Whether a row's values change when other rows are taken away, as those of ``x - x.mean()`` do."""
        half = rows.copy()
        half[np.flatnonzero(rows)[1::2]] = False
        try:
            part = self._matrix(self.levels, table, half).values
        except ValueError:
            return True
        return not np.allclose(part, values[::2], rtol=1e-9, atol=1e-12, equal_nan=True)

    def block(self, table: Table, rows: BoolArray | None, column: Column | None = None, *, full: bool) -> Block:
        """Return its columns on some rows of a table: NaN where it is missing."""
        if rows is None and self.whole:
            raise ValueError(
                f"formula: {self.text} depends on all rows of the data, and has other values in new data: write what "
                "it takes from them as a number, or use center(), scale(), poly(), bs()."
            )
        found = self._matrix(self.levels if full else self.contrasts, table, rows)
        start = int(self.categorical and not full)  # the intercept
        return Block(found.values[:, start:], list(found.labels[start:]), [0] * (len(found.labels) - start))

    def _formula(self, intercept: str) -> Any:
        return Formula(f"{intercept} + {{{self.text}}}")  # braces: not to be read as formula operators

    def _matrix(self, spec: Any, table: Table, rows: BoolArray | None) -> "_Matrix":
        """Return formulaic's columns on some rows, NaN where they are missing."""
        frame = table.frame(self.columns, rows)
        present = _complete(self.text, frame)
        if not present.any() and hasattr(spec, "column_names"):  # no row to predict
            labels = list(spec.column_names)
            return _Matrix(np.full((len(frame), len(labels)), np.nan), labels, present, spec)
        part = frame[present]
        found = self._materialized(spec, part)
        if not found.index.equals(part.index) and not part.index.is_unique:
            part = part.reset_index(drop=True)
            found = self._materialized(spec, part)
        places = np.arange(len(part)) if found.index.equals(part.index) else part.index.get_indexer(found.index)
        if (places < 0).any() or len(places) > len(part):
            raise _misplaced(self.text)
        rows_of_part = np.flatnonzero(present)[places]
        values = np.full((len(frame), found.shape[1]), np.nan)
        values[rows_of_part] = np.asarray(found, dtype=float)
        present = np.zeros(len(frame), dtype=bool)
        present[rows_of_part] = True
        return _Matrix(values, list(found.columns), present, found.model_spec)

    def _materialized(self, spec: Any, frame: pd.DataFrame) -> Any:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error", DataMismatchWarning)
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            try:
                return spec.get_model_matrix(frame, context=self.names.values, na_action="drop", output="pandas")
            except DataMismatchWarning as error:
                raise ValueError(f"{self.text} holds {_unseen(str(error))}, which the selection did not see.") from None
            except Exception as error:  # formulaic's own, or whatever the caller's code raises
                cause = error.__cause__ if isinstance(error, FormulaicError) and error.__cause__ else error
                raise self.names.lost_in(self.text) or _failed(self.text, cause, frame) from None


class _Matrix(NamedTuple):
    values: FloatArray
    labels: list[str]
    present: BoolArray
    spec: Any


def _unseen(message: str) -> str:
    found = re.search(r"\{(.*)\}", message)
    plain = re.sub(r"np\.\w+\((.*?)\)", r"\1", found[1]) if found else ""
    return f"the level {plain}" if plain else "a level"


@dataclass
class Names:
    """What an expression uses besides columns; a pickle carries modules by name, and what can be pickled."""

    values: dict[str, Any] = field(default_factory=dict)
    lost: tuple[str, ...] = ()

    def lost_in(self, text: str) -> ValueError | None:
        """Return the error for an expression whose functions a pickle could not carry; None if it carried all."""
        if not self.lost:
            return None
        return ValueError(
            f"formula: {text} cannot be evaluated: {', '.join(self.lost)} could not be pickled with the result; define "
            "it in a module, not inside a function."
        )

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
        return {"values": kept, "lost": tuple(name for name in self.values if name not in kept)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        values, self.lost = state["values"], state["lost"]
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
    others = {name: table.names.get(name) for name in variables_of(variable.text) if name not in columns}
    vectors = {
        name
        for name, value in others.items()
        if isinstance(value, pd.Series | np.ndarray) and np.ndim(value) == 1 and len(value) == table.n_rows
    }
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
