"""vif: the collinearity of the columns of a table, without a selection."""

from typing import Any

import numpy as np
import pandas as pd

from stepsel.checks import check_finite, check_range
from stepsel.core.linear import LinearEngine
from stepsel.design import (
    Design,
    is_frame,
    linear_data,
    numeric_matrix,
    unmasked,
)
from stepsel.naming import build_terms
from stepsel.trace import collinearity_table


def vif(X: Any) -> pd.DataFrame:
    """Return the variance inflation factor of every column, the intercept swept out.

    Parameters
    ----------
    X : pandas or polars DataFrame, or array_like of shape (n_rows, n_columns)
        Numbers without gaps.

    Returns
    -------
    DataFrame
        ``term, df, gvif, vif, tolerance``, one row a column: ``inf`` for columns of an exact linear dependence, NaN
        for constant ones. ``attrs["condition_indices"]`` holds the condition indices of the other columns.

    Raises
    ------
    ValueError
        If a column holds anything but finite numbers, naming column, row and value; if there are not more rows than
        columns.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [1, 2, 3, 4, 5], "b": [1, 2, 3, 4, 6], "c": [2, 1, 2, 1, 2]})
    >>> vif(table).round(2)[["term", "vif"]].to_dict("list")
    {'term': ['a', 'b', 'c'], 'vif': [55.0, 55.5, 1.5]}
    """
    if not is_frame(X):
        X = unmasked(X)
    if len(X.shape) != 2 or 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}: give rows and columns.")
    matrix, labels = numeric_matrix(X)
    n_rows, n_columns = matrix.shape
    if n_rows <= n_columns:
        raise ValueError(
            f"X has {n_rows} rows and {n_columns} columns: variance inflation needs more rows than columns."
        )
    terms = build_terms(labels, None, (), positions=False)
    design = Design(matrix, np.arange(n_rows, dtype=float), None, labels, "y")
    data = linear_data(design, intercept=True, weight_type="frequency")
    engine = LinearEngine(data, terms, tolerance=0.0, adds=False, removes=True)
    if not engine.scale.finite:
        check_finite(design, missing="raise", hint="fill them in first")
    check_range(design, engine.scale)
    constant = engine.constant
    gvif = np.full(n_columns, np.nan)
    gvif[~constant], _, indices = engine.collinearity(np.flatnonzero(~constant))
    sizes = np.where(constant, 0.0, 1.0)
    return collinearity_table(terms, np.ones(n_columns, dtype=bool), gvif, sizes, indices)
