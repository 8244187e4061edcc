"""Tables of a result: DataFrames that a notebook shows with sensible digits."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd


def _significant(digits: int) -> Callable[[Any], str]:
    def formatted(value: Any) -> str:
        return "" if pd.isna(value) else f"{value:.{digits}g}"

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
    **dict.fromkeys(
        ("r2", "adj_r2", "auc", "concordance", "inclusion_frequency", "share", "cumulative_share"), _fixed(4)
    ),
    **dict.fromkeys(("statistic", "vif", "gvif", "weighted_vif", "max_vif", "condition_number"), _significant(4)),
    **dict.fromkeys(("tolerance", "std_error", "f_statistic", "lr_statistic"), _significant(4)),
    **dict.fromkeys(("estimate", "conf_low", "conf_high", "sigma", "dispersion", "alpha"), _significant(6)),
}


def formatters(table: pd.DataFrame) -> dict[Hashable, Callable[[Any], str]]:
    """Return how the columns of numbers of a table are written."""
    if not table.columns.is_unique:
        return {}
    numbers = table.select_dtypes("number").columns
    return {name: FORMATS.get(str(name).split(" ")[0], _significant(5)) for name in numbers}


def _blank(column: pd.Series) -> pd.Series:
    """Return a column that shows nothing where there is nothing."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float) if pd.api.types.is_extension_array_dtype(column.dtype) else column
    return column.astype(object).where(column.notna(), "")


class Table(pd.DataFrame):
    """A DataFrame that is shown in a notebook with digits by the kind of its columns; all else is as in pandas."""

    @property
    def _constructor(self) -> Callable[..., "Table"]:
        return Table

    def _repr_html_(self) -> str | None:
        if not pd.get_option("display.notebook_repr_html"):
            return None
        plain = pd.DataFrame({at: _blank(self.iloc[:, at]) for at in range(self.shape[1])}, index=self.index)
        plain.columns = self.columns
        return plain.to_html(
            formatters=formatters(self),
            max_rows=pd.get_option("display.max_rows"),
            max_cols=pd.get_option("display.max_columns"),
            show_dimensions=len(self) > (pd.get_option("display.max_rows") or len(self)),
            na_rep="",
            border=0,
            notebook=True,
        )
