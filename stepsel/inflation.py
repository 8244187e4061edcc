"""vif: the collinearity of the columns of a table, without a selection."""

from typing import Any

import numpy as np
import pandas as pd

from stepsel.assembly import plain_design
from stepsel.checks import check_finite, check_range
from stepsel.coding import declared_factors
from stepsel.columns import PositionLabels, read_columns
from stepsel.core.linear import LinearEngine
from stepsel.design import linear_data
from stepsel.naming import build_terms, of_design
from stepsel.numeric import is_frame, unmasked
from stepsel.trace import collinearity_table


def vif(X: Any, *, categorical: Any = None) -> pd.DataFrame:
    """Return the variance inflation factor of every column, the intercept swept out.

    Parameters
    ----------
    X : pandas or polars DataFrame, or array_like of shape (n_rows, n_columns)
        Numbers and factors without gaps; text, categories and declared columns are factors.
    categorical : name, sequence of names or mapping, optional
        Columns of numbers that are factors, as for :class:`StepwiseSelector`.

    Returns
    -------
    DataFrame
        ``term, df, gvif, vif, tolerance``, one row a column: ``inf`` for columns of an exact linear dependence, NaN
        for constant ones. Of a factor ``gvif`` is the generalised factor of Fox and Monette (1992), and ``vif`` is
        ``gvif ** (1 / df)``. ``attrs["condition_indices"]`` holds the condition indices of the other columns.

    Raises
    ------
    ValueError
        If a column holds anything but finite numbers or levels, naming column, row and value; if there are not more
        rows than columns.

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
    labelled, n_rows = is_frame(X), len(X)
    names = list(X.columns) if labelled else PositionLabels(X.shape[1])
    declared = declared_factors(categorical, names, positions=not labelled)
    columns, labels = read_columns(X, declared)
    design, owner = plain_design(columns, labels, declared)
    if n_rows <= design.X.shape[1]:
        raise ValueError(
            f"X has {n_rows} rows and {design.X.shape[1]} columns: variance inflation needs more rows than columns."
        )
    terms = of_design(build_terms(labels, None, (), positions=False), owner)
    data = linear_data(design, intercept=True, weight_type="frequency")
    engine = LinearEngine(data, terms, tolerance=0.0, adds=False, removes=True)
    if not engine.scale.finite:
        check_finite(design, missing="raise", hint="fill them in first")
    check_range(design, engine.scale)
    members = np.flatnonzero(~engine.constant)
    gvif, sizes = np.full(len(terms), np.nan), np.zeros(len(terms))
    gvif[members], sizes[members], indices = engine.collinearity(members, independent=False)
    return collinearity_table(terms, np.ones(len(terms), dtype=bool), gvif, sizes, indices)
