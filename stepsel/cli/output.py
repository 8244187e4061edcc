"""What a run says: tables for people, one JSON object for programs, notes on standard error."""

import json
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from stepsel.layouts import Layout, cell, layouts, vif_layout
from stepsel.reading import ReadingError

WIDE = 100_000
NOTE_ON_P_VALUES = "p-values and intervals are not adjusted for the selection."


def standard_output() -> Console:
    """Open standard output for people; into a file or a pipe nothing is coloured, folded or cut."""
    width = None if sys.stdout.isatty() else WIDE
    # Names are data: neither [brackets] nor :colons: in them are markup.
    return Console(file=sys.stdout, width=width, markup=False, emoji=False, highlight=False)


def show_notes(sentences: Iterable[str]) -> None:
    """Print notes on standard error, one a line.

    Parameters
    ----------
    sentences : iterable of str
        What to say.
    """
    for sentence in sentences:
        print(f"note: {' '.join(sentence.split())}", file=sys.stderr, flush=True)


def table(frame: pd.DataFrame, layout: Layout) -> Table:
    """Lay a frame out for the terminal.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    layout : dict
        Column of the frame to header and format; columns that hold nothing are left out.

    Returns
    -------
    rich.table.Table
        Ready to print.
    """
    result = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    cells = []
    for name, (header, spec) in layout.items():
        if name not in frame:
            continue
        texts = [cell(value, spec) for value in frame[name]]
        if any(texts):
            words = spec == "s"
            result.add_column(header, justify="left" if words else "right", overflow="fold", no_wrap=not words)
            cells.append(texts)
    for row in zip(*cells, strict=True):
        result.add_row(*row)
    return result


def _fitted(console: Console, frame: pd.DataFrame, layout: Layout) -> Table:
    """Leave out what is least needed rather than fold names, where the terminal is narrow."""
    unbounded = console.options.update(width=WIDE)
    for spare in ("n_params", "max_vif", "df"):
        result = table(frame, layout)
        if Measurement.get(console, unbounded, result).maximum <= console.width:
            return result
        layout = {name: how for name, how in layout.items() if name != spare}
    return table(frame, layout)


def show_result(result: Any, title: str, *, perfect: bool = False, vif_limit: float | None = None) -> None:
    """Print the trace, the final model, its collinearity and why the search ended.

    Parameters
    ----------
    result : StepwiseResult
        A finished selection.
    title : str
        The data and the search in one line.
    perfect : bool
        Whether the residuals are rounding noise, so that tests of coefficients mean nothing.
    vif_limit : float, optional
        Where no collinearity was told of, the factor up to which there is none.
    """
    console = standard_output()
    console.print(title, end="\n\n")
    steps, model = layouts(result.trace.attrs)
    console.print("Steps", _fitted(console, result.trace, steps), sep="\n")
    coefficients = result.tidy()
    tests = ["statistic", "p_value"]
    coefficients.loc[perfect | ~np.isfinite(coefficients["statistic"]), tests] = np.nan
    console.print("Final model", table(coefficients, model), sep="\n")
    if coefficients["p_value"].notna().any():
        console.print(NOTE_ON_P_VALUES, end="\n\n")
    collinearity = result.collinearity
    if len(collinearity):
        console.print("Collinearity", table(collinearity, vif_layout(collinearity)), sep="\n")
        largest = collinearity[[name for name in ("vif", "weighted_vif") if name in collinearity]].max().max()
        if vif_limit is not None and largest <= vif_limit:
            console.print(f"No collinearity to report (largest VIF {largest:.3g}).", end="\n\n")
    names = list(map(str, result.selected))
    if names:
        chosen = f"Selected ({len(names)}): {', '.join(names)}."
    else:
        chosen = f"Selected: none; the model is {'empty' if result.tidy().empty else 'the intercept only'}."
    console.print(chosen)
    console.print(str(result.stop_reason))
    sys.stdout.flush()


def show_vif(factors: pd.DataFrame, title: str) -> None:
    """Print variance inflation factors.

    Parameters
    ----------
    factors : DataFrame
        As ``stepsel.vif`` returns them.
    title : str
        The data in one line.
    """
    standard_output().print(title, table(factors, vif_layout(factors)), sep="\n")
    sys.stdout.flush()


def show_json(content: dict[str, Any]) -> None:
    """Print one strict JSON object: a missing number is null, an infinite one a string.

    Parameters
    ----------
    content : dict
        May hold frames and numpy values.
    """
    print(json.dumps(_plain(content), allow_nan=False, ensure_ascii=False, indent=2))


def _plain(value: Any) -> Any:
    if isinstance(value, pd.DataFrame):
        return [_plain(row) for row in value.to_dict(orient="records")]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    return value if isinstance(value, str | int | float | bool) else str(value)


def result_content(result: Any) -> dict[str, Any]:
    """Collect a finished selection for JSON.

    Parameters
    ----------
    result : StepwiseResult
        A finished selection.

    Returns
    -------
    dict
        Selected terms, tables, counts and the reason the search ended.
    """
    glance = result.glance().to_dict(orient="records")
    return {
        "selected": [str(term) for term in result.selected],
        "stop_reason": str(result.stop_reason),
        "note_on_p_values": NOTE_ON_P_VALUES,
        "n_obs": result.n_obs,
        "n_dropped": result.n_dropped,
        "criterion": result.trace.attrs.get("criterion"),
        "trace": result.trace,
        "coefficients": result.tidy(),
        "glance": glance[0] if glance else {},
        "collinearity": result.collinearity,
    }


def check_writable(*paths: Path | None) -> None:
    """Find out before a long run whether its tables can be written.

    Parameters
    ----------
    *paths : Path or None
        The files to write.

    Raises
    ------
    ReadingError
        A path is a folder, or its folder is missing.
    """
    for path in paths:
        if path is not None and path.is_dir():
            raise ReadingError(f"{path} is a folder; give the name of a file to write.")
        if path is not None and not path.absolute().parent.is_dir():
            raise ReadingError(f"The folder {path.absolute().parent} does not exist, so {path} cannot be written.")
