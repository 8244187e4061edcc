"""Tables of a result: DataFrames that a notebook shows with sensible digits."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any
from weakref import ref

import numpy as np
import pandas as pd


def _significant(digits: int) -> Callable[[Any], str]:
    def formatted(value: Any) -> str:
        if pd.isna(value):
            return ""
        return f"{value:.0f}" if abs(value) < 1e15 and value == int(value) else f"{value:.{digits}g}"

    return formatted


def _fixed(digits: int) -> Callable[[Any], str]:
    def formatted(value: Any) -> str:
        if pd.isna(value):
            return ""
        return f"{value:.{digits}f}" if abs(value) < 1e9 or not np.isfinite(value) else f"{value:.10g}"

    return formatted


# A p-value keeps its order of magnitude, a criterion its decimals: by these, models are compared.
FORMATS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("p_value", "f_p_value", "lr_p_value", "p_naive", "p_selective"), _significant(3)),
    **dict.fromkeys(("criterion", "deviance", "log_likelihood", "aic", "bic"), _fixed(3)),
    **dict.fromkeys(("r2", "adj_r2", "auc", "concordance"), _fixed(4)),
    **dict.fromkeys(("inclusion_frequency", "share", "cumulative_share"), _fixed(4)),
    **dict.fromkeys(("statistic", "vif", "gvif", "weighted_vif", "max_vif", "condition_number"), _significant(4)),
    **dict.fromkeys(("tolerance", "std_error", "f_statistic", "lr_statistic"), _significant(4)),
    **dict.fromkeys(("estimate", "conf_low", "conf_high", "sigma", "dispersion", "alpha"), _significant(6)),
}


def formatters(table: pd.DataFrame) -> dict[Hashable, Callable[[Any], str]]:
    """Return how the columns of numbers of a table are written."""
    if not table.columns.is_unique:
        return {}
    numbers = [name for name in table.columns if pd.api.types.is_numeric_dtype(table[name])]
    return {name: FORMATS.get(str(name).split(" ")[0], _significant(5)) for name in numbers}


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table, which a notebook then shows with digits by the kind of its columns.

    It stays a plain DataFrame: this one object has a representation of its own, what is made of it has that of pandas.
    """
    object.__setattr__(table, "_repr_html_", partial(_html, ref(table)))
    return table


def _html(reference: "ref[pd.DataFrame]") -> str | None:
    table = reference()
    if table is None or not pd.get_option("display.notebook_repr_html"):
        return None
    plain = pd.DataFrame({at: _blank(table.iloc[:, at]) for at in range(table.shape[1])}, index=table.index)
    plain.columns = table.columns
    most, fewest = pd.get_option("display.max_rows"), pd.get_option("display.min_rows")
    long = most is not None and len(table) > most
    return plain.to_html(
        formatters=formatters(table),
        max_rows=fewest or most if long else None,
        max_cols=pd.get_option("display.max_columns"),
        show_dimensions=long,
        na_rep="",
        border=0,
        notebook=True,
    )


def _blank(column: pd.Series) -> pd.Series:
    """Return a column that shows nothing where there is nothing."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float) if pd.api.types.is_extension_array_dtype(column.dtype) else column
    return column.astype(object).where(column.notna(), "")
