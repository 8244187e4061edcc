"""What all plots share: axes, colours, rows with names. matplotlib is imported by the functions that draw."""

import textwrap
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from stepsel.core.fits import FloatArray
from stepsel.core.terms import IntArray
from stepsel.plots.names import LONGEST, labels, text_style

# Okabe and Ito (2008), Color universal design: told apart with every common kind of colour blindness.
BLUE, VERMILION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
PURPLE, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#222222", "#9A9A9A"
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)
PALE = "#D9D9D9"

WIDTH = 7.0  # inches
ROW = 0.21  # inches: the height of a row that has a name
MOST_ROWS = 120
_SMALLEST_ROW = 0.115  # inches: 6.5 points and a little air


class Display:
    """A plot: arrays, and how they are drawn.

    Attributes
    ----------
    ax_ : Axes
        After `plot`.
    figure_ : Figure
    """

    ax_: Any
    figure_: Any

    @classmethod
    def of(cls, result: Any) -> Self:
        """Return the display of a result, not yet drawn."""
        raise NotImplementedError

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> Self:
        """Draw what a result holds.

        Parameters
        ----------
        result : StepwiseResult
        ax : Axes, optional
            A new figure by default.
        """
        return cls.of(a_result(result)).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw what a fitted selector found.

        Parameters
        ----------
        estimator : StepwiseSelector, or a pipeline with one
        ax : Axes, optional
            A new figure by default.
        """
        return cls.from_result(result_of(estimator), ax=ax)

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height, in inches, of the figure that `plot` makes where it is given no axes."""
        raise NotImplementedError

    def plot(self, ax: Any = None) -> Self:
        """Draw, on ``ax`` or in a new figure."""
        self.ax_ = axes(self.figsize) if ax is None else rectangular(ax)
        self.figure_ = self.ax_.get_figure()
        self._draw(self.ax_)
        return self

    def draw_in(self, figure: Any, **options: Any) -> Self:
        """Draw in an empty figure of any backend; ``options`` are those of `plot`."""
        return self.plot(figure.add_subplot(), **options)

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


def require_matplotlib() -> None:
    """Refuse to draw without matplotlib.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        import matplotlib.axes  # noqa: F401
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib.") from None


def axes(figsize: tuple[float, float]) -> Any:
    """Return the axes of a new figure."""
    require_matplotlib()
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=figsize, layout="constrained")[1]


def rectangular(ax: Any) -> Any:
    """Return axes that can be drawn on.

    Raises
    ------
    ValueError
        If they are polar or three-dimensional, or no axes.
    """
    if getattr(ax, "name", None) != "rectilinear":
        raise ValueError(f"ax is {type(ax).__name__}: give rectangular Axes, as plt.subplots() makes them.")
    return ax


def height(n_rows: int) -> float:
    """Return the height, in inches, of a figure with so many named rows."""
    return 1.3 + ROW * min(max(n_rows, 3), MOST_ROWS)


def width(ax: Any) -> float:
    """Return the width of axes, in inches."""
    return float(ax.bbox.width / ax.figure.dpi)


def tall(ax: Any) -> float:
    """Return the height of axes, in inches."""
    return float(ax.bbox.height / ax.figure.dpi)


def rows_that_fit(ax: Any, n_rows: int) -> int:
    """Return how many of the rows can be told apart on these axes."""
    return min(n_rows, MOST_ROWS, max(int(tall(ax) / _SMALLEST_ROW), 3))


def font_size(ax: Any, n_rows: int) -> float:
    """Return the size, in points, of names that stand in so many rows."""
    return float(np.clip(0.72 * 72 * tall(ax) / max(n_rows, 1), 6.0, 9.0))


def name_rows(ax: Any, names: Sequence[Hashable], *, prefix: Sequence[str] = (), bold: Sequence[bool] = ()) -> None:
    """Label the rows of the y axis, the first on top."""
    texts = labels(names, int(np.clip(8 * width(ax), 12, LONGEST)))
    texts = [f"{before}{text}" for before, text in zip(prefix, texts, strict=True)] if prefix else texts
    ax.set_yticks(np.arange(len(texts)), labels=texts, fontsize=font_size(ax, len(texts)), **text_style(texts))
    for tick, strong in zip(ax.get_yticklabels(), bold, strict=False):
        tick.set_fontweight("bold" if strong else "normal")
    ax.set_ylim(len(texts) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)


def finish(ax: Any, *, title: str = "", x: str = "", note: str = "", grid: str = "x") -> None:
    """Set titles and a light frame; a note stands in small print below."""
    if title:
        room = 72 * 0.82 * width(ax)  # points: names beside the axes take some of their width later
        size = float(np.clip(room / (0.55 * len(title)), 7.5, 10.5))
        lines = textwrap.fill(title, max(int(room / (0.55 * size)), 16))
        ax.set_title(lines, loc="left", fontsize=size, **text_style([title]))
    if x or note:
        wide = max(int(72 * width(ax) / (0.5 * 9)), 24)
        below = [textwrap.fill(line, wide) for line in (x, *note.split("\n")) if line]
        ax.set_xlabel("\n".join(below), fontsize=9, **text_style([x, note]))
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(axis=grid, color="#E5E5E5", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=8.5, which="both") if grid == "y" else ax.tick_params(axis="x", labelsize=8.5)


def left_out(n_left: int, what: str) -> str:
    """Say how many rows there was no room for."""
    return f"not shown: {n_left} {what}" if n_left else ""


def level(ax: Any, value: float, name: str, style: str = "--") -> None:
    """Draw a vertical line, with its name along it."""
    ax.axvline(value, color=VERMILION, linestyle=style, linewidth=1, zorder=1)
    place = ax.transAxes.inverted().transform(ax.transData.transform((value, 0.0)))[0]
    left = style == "--" and place > 0.1  # else it would stand on the names
    ax.annotate(
        name,
        (value, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(-2 if left else 2, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="bottom",
        rotation=90,
        fontsize=7,
        color=VERMILION,
    )


def value_beside(ax: Any, row: int, text: str, size: float) -> None:
    """Write a number at the right edge of a row, where no line crosses it."""
    where = {"xycoords": ("axes fraction", "data"), "va": "center", "ha": "left", "annotation_clip": False}
    ax.annotate(text, (1.01, row), fontsize=size, alpha=0.75, **where)


def number(value: float, step: float) -> str:
    """Return a number with the digits that show a difference of ``step``."""
    if not np.isfinite(value):
        return ""
    digits = int(np.clip(2 - np.floor(np.log10(step)), 0, 6)) if step > 0 and np.isfinite(step) else 2
    return f"{value:,.{digits}f}" if abs(value) < 1e12 else f"{value:.6g}"


def spread_out(places: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Move places apart until they are ``gap`` from each other, as little as it takes, within ``low`` and ``high``.

    Parameters
    ----------
    places : float array
    gap, low, high : float

    Examples
    --------
    >>> spread_out(np.array([0.0, 0.1, 5.0]), 1.0, -2.0, 6.0).tolist()
    [-0.45, 0.55, 5.0]
    """
    order = np.argsort(places, kind="stable")
    blocks: list[list[float]] = []  # centre, members
    for place in np.clip(places[order], low, high):
        blocks.append([float(place), 1])
        while len(blocks) > 1 and _overlap(blocks[-2], blocks[-1], gap):
            (first, n_first), (second, n_second) = blocks[-2:]
            n = n_first + n_second
            blocks[-2:] = [[(first * n_first + second * n_second) / n, n]]
    moved = np.concatenate([_block(centre, int(n), gap, low, high) for centre, n in blocks] or [np.empty(0)])
    result = np.empty(len(places))
    result[order] = moved
    return result


def _overlap(first: list[float], second: list[float], gap: float) -> bool:
    return second[0] - first[0] < gap * (first[1] + second[1]) / 2


def _block(centre: float, n: int, gap: float, low: float, high: float) -> FloatArray:
    half = gap * (n - 1) / 2
    centre = max(min(centre, high - half), low + half)
    return np.linspace(centre - half, centre + half, n)


def most(values: FloatArray, n: int) -> IntArray:
    """Return the positions of the ``n`` largest values, in the order in which they stand."""
    order: IntArray = np.argsort(-values, kind="stable")[:n]
    return np.sort(order)


def a_result(result: Any) -> Any:
    """Return what is a result.

    Raises
    ------
    ValueError
        If it is an estimator.
    """
    if hasattr(result, "fit"):
        raise ValueError(f"result is a {type(result).__name__}: use from_estimator, or give its result_.")
    return result


def result_of(estimator: Any) -> Any:
    """Return the result of a fitted selector, also as the step of a pipeline.

    Raises
    ------
    NotFittedError
        If it is not fitted.
    ValueError
        If it is no selector.
    """
    from sklearn.utils.validation import check_is_fitted

    if hasattr(estimator, "estimator") and hasattr(estimator, "get_params"):
        check_is_fitted(estimator)  # a search
    for step in _within(estimator):
        if hasattr(type(step), "trace_"):
            check_is_fitted(step)
            return step.result_
    raise ValueError(f"estimator is a {type(estimator).__name__}: give a StepwiseSelector, or a pipeline with one.")


def _within(estimator: Any) -> list[Any]:
    """Return an estimator and the steps in it, also in those of a fitted search."""
    if hasattr(estimator, "best_estimator_"):
        return _within(estimator.best_estimator_)
    return [estimator, *(inner for _, step in getattr(estimator, "steps", []) for inner in _within(step))]


def nothing(ax: Any, text: str) -> None:
    """Say on empty axes why they are empty."""
    ax.set_yticks([])
    ax.annotate(text, (0.5, 0.5), xycoords="axes fraction", ha="center", va="center", color="#666666")
