"""Plots that LaTeX draws itself, by pgfplots: rows of names, and lines along the steps.

Other displays have no such form, nor have those with more rows than a page holds; the tables say what they would show.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from stepsel.plots import (
    CandidatesDisplay,
    CoefficientProgressionDisplay,
    CorrelationClustersDisplay,
    CriteriaDisplay,
    InflationDisplay,
    SelectionPathDisplay,
)
from stepsel.plots.names import labels
from stepsel.plots.path import LARGER_IS_BETTER, NAMES, SMALLEST_P
from stepsel.report.blocks import Figure

_MOST_ROWS = 45
_MOST_LINES = 12
_COLOURS = ("stepblue", "stepred", "stepgreen", "steporange", "steppurple", "stepsky")
_SIGNS = {"start": "", "add": "+ ", "remove": "− "}


def pictured(figure: Figure, escape: Any) -> str:
    """Return a plot as a ``tikzpicture``; nothing where there is no such form of it.

    Parameters
    ----------
    figure : Figure
    escape : callable
        Makes text safe for LaTeX.
    """
    display = figure.display
    if isinstance(display, SelectionPathDisplay):
        return _path(display, escape)
    if isinstance(display, CriteriaDisplay):
        return "\n".join(_criterion(name, values) for name, values in display.values.items())
    if isinstance(display, CoefficientProgressionDisplay):
        return _progression(display, escape)
    if isinstance(display, CandidatesDisplay):
        return _candidates(display, escape)
    if isinstance(display, InflationDisplay):
        order = np.argsort(-display.vif, kind="stable")
        values = np.where(np.isfinite(display.vif), display.vif, 10 * max(display.threshold, 10))
        names = [display.terms[at] for at in order]
        return _rows(names, escape, _bars(values[order]), "variance inflation factor", more="xmin=1")
    if isinstance(display, CorrelationClustersDisplay):
        return _tree(display, escape)
    if figure.name == "inclusion":
        order = np.argsort(-display.inclusion, kind="stable")
        names = [display.terms[at] for at in order]
        drawn = _bars(100 * display.inclusion[order])
        return _rows(names, escape, drawn, r"selected in \% of the resamples", more="xmin=0, xmax=100")
    return ""


def _rows(names: Sequence[Hashable], escape: Any, drawn: str, x: str, *, prefix: Any = None, more: str = "") -> str:
    """Return an axis with a named row for each name, the first on top."""
    n = len(names)
    if not 0 < n <= _MOST_ROWS:
        return ""
    signs = prefix or [""] * n
    texts = ", ".join("{" + escape(sign + name) + "}" for sign, name in zip(signs, labels(names), strict=True))
    ticks = ",".join(map(str, range(n)))
    digits = "x tick label style={/pgf/number format/.cd, fixed, precision=4, 1000 sep={}, /tikz/.cd}"
    options = (
        f"width=0.62\\linewidth, height={1.6 + 0.42 * n:.2f}cm, scale only axis=true, y dir=reverse, "
        f"ymin=-0.7, ymax={n - 0.3:.1f}, ytick={{{ticks}}}, yticklabels={{{texts}}}, xlabel={{{x}}}, xmajorgrids, "
        f"tick label style={{font=\\small}}, axis lines*=left, {digits}, max space between ticks=80"
        f"{', ' if more else ''}{more}"
    )
    return f"\\begin{{tikzpicture}}\\begin{{axis}}[{options}]\n{drawn}\n\\end{{axis}}\\end{{tikzpicture}}"


def _points(xs: Sequence[float] | np.ndarray, ys: Sequence[float] | np.ndarray) -> str:
    known = [(x, y) for x, y in zip(xs, ys, strict=True) if np.isfinite(x) and np.isfinite(y)]
    return "coordinates {" + " ".join(f"({x:.8g},{y:.8g})" for x, y in known) + "};"


def _bars(values: np.ndarray) -> str:
    return f"\\addplot[xbar, bar width=5pt, fill=stepblue, draw=none] {_points(values, np.arange(len(values)))}"


def _path(display: SelectionPathDisplay, escape: Any) -> str:
    by_p = display.criterion == "pvalue"
    values = np.maximum(display.values, SMALLEST_P) if by_p else display.values
    names = [
        "start" if action == "start" else term for action, term in zip(display.actions, display.terms, strict=True)
    ]
    drawn = f"\\addplot[mark=*, color=stepblue] {_points(values, np.arange(len(values)))}"
    x, more = escape(NAMES.get(display.criterion, display.criterion)), "xmode=log" if by_p else "scaled x ticks=false"
    return _rows(names, escape, drawn, x, prefix=[_SIGNS[action] for action in display.actions], more=more)


def _criterion(name: str, values: np.ndarray) -> str:
    title = NAMES.get(name, name).replace("²", r"\textsuperscript{2}")
    options = (
        f"width=0.46\\linewidth, height=4.2cm, title={{{title}}}, xlabel=step, ymajorgrids, "
        "tick label style={font=\\small}, scaled y ticks=false, axis lines*=left"
    )
    steps = np.arange(len(values))
    drawn = f"\\addplot[mark=*, mark size=1pt, color=stepblue] {_points(steps, values)}"
    if name != "max_vif" and np.isfinite(values).any():
        best = int(np.nanargmax(values) if name in LARGER_IS_BETTER else np.nanargmin(values))
        drawn += f"\n\\addplot[only marks, mark=star, mark size=4pt, color=stepred] {_points([best], [values[best]])}"
    return f"\\begin{{tikzpicture}}\\begin{{axis}}[{options}]\n{drawn}\n\\end{{axis}}\\end{{tikzpicture}}"


def _progression(display: CoefficientProgressionDisplay, escape: Any) -> str:
    lines = np.nan_to_num(display.coefficients) * display.scale
    final = np.flatnonzero(np.isfinite(display.coefficients[-1]))
    shown = final[np.argsort(-np.abs(lines[-1, final]), kind="stable")[:_MOST_LINES]]
    if not len(shown):
        return ""
    steps, drawn = np.arange(len(lines)), []
    names = labels([display.names[column] for column in shown])
    for at, column in enumerate(shown.tolist()):
        style = ("solid", "dashed")[at // len(_COLOURS)]
        points = _points(steps, lines[:, column])
        drawn.append(f"\\addplot[thick, {style}, color={_COLOURS[at % len(_COLOURS)]}] {points}")
        drawn.append(f"\\addlegendentry{{{escape(names[at])}}}")
    options = (
        f"width=0.7\\linewidth, height=7cm, xlabel=step, {_whole(len(lines))}, ylabel={{{escape(display.unit)}}}, "
        "ymajorgrids, axis lines*=left, legend style={at={(1.02,1)}, anchor=north west, font=\\small, draw=none}, "
        "legend cell align=left"
    )
    return f"\\begin{{tikzpicture}}\\begin{{axis}}[{options}]\n" + "\n".join(drawn) + "\n\\end{axis}\\end{tikzpicture}"


def _whole(n_steps: int) -> str:
    """Ask for ticks at whole steps."""
    return f"xtick distance={max(1, n_steps // 8)}"


def _candidates(display: CandidatesDisplay, escape: Any) -> str:
    order = display.order()
    by_p = display.criterion == "pvalue"
    values = (np.maximum(display.values, SMALLEST_P) if by_p else display.values)[order]
    names, signs = [display.terms[at] for at in order], [_SIGNS[display.moves[at]] for at in order]
    rows, adding = np.arange(len(values)), np.array([display.moves[at] == "add" for at in order], dtype=bool)
    drawn = "\n".join(
        f"\\addplot[only marks, mark={mark}, color={colour}] {_points(values[which], rows[which])}"
        for which, mark, colour in ((adding, "o", "stepblue"), (~adding, "square", "stepred"))
        if which.any()
    )
    if np.isfinite(display.here):
        drawn += f"\n\\draw[gray] ({{axis cs:{display.here:.8g},0}}|-{{rel axis cs:0,0}}) -- "
        drawn += f"({{axis cs:{display.here:.8g},0}}|-{{rel axis cs:0,1}});"
    x = escape(NAMES.get(display.criterion, display.criterion)) + ("" if by_p else " after the move")
    return _rows(names, escape, drawn, x, prefix=signs, more="xmode=log" if by_p else "scaled x ticks=false")


def _tree(display: CorrelationClustersDisplay, escape: Any) -> str:
    order, branches = display.tree(np.arange(len(display.terms)))
    if not branches:
        return ""
    drawn = "\n".join(f"\\addplot[thick, color=stepblue] {_points(xs, ys)}" for xs, ys, _ in branches)
    names = [display.terms[at] for at in order]
    return _rows(names, escape, drawn, "correlation at which terms are joined", more="x dir=reverse, xmin=0, xmax=1")
