"""The coefficients of every model of the path."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from stepsel.core.fits import FloatArray
from stepsel.plots import canvas
from stepsel.plots.canvas import CYCLE, Display
from stepsel.plots.names import labels, text_style

_NAMED, _NAME_POINTS = 24, 12.5
_LEADER: dict[str, Any] = {"arrowstyle": "-", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 1, "relpos": (0, 0.5)}


class CoefficientProgressionDisplay(Display):
    """The coefficients as terms enter and leave, each as a line.

    A coefficient that changes much, or its sign, when another term enters shares its information with that term. Lines
    end in the name of their coefficient; those of terms that are not in the final model are grey.

    Parameters
    ----------
    coefficients : float array of shape (n_steps, n_coefficients)
        Of the model of every step, without the intercept; NaN (drawn as 0) where a coefficient is not in the model.
    names : sequence of length n_coefficients
    moves : sequence of str, of length n_steps
        What happened at each step, to label it.
    scale : float array of shape (n_coefficients,)
        What to multiply coefficients by to standardize them.
    unit : str
        What a standardized coefficient is, in words.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        After `plot`.

    References
    ----------
    SAS/STAT, PROC GLMSELECT, coefficient progression plot.

    Examples
    --------
    >>> from stepsel.display import CoefficientProgressionDisplay
    >>> display = CoefficientProgressionDisplay(
    ...     coefficients=[[float("nan")], [0.5]], names=["dose"], moves=["start", "+ dose"], scale=[2.0],
    ...     unit="per SD of x",
    ... )
    >>> display.plot().ax_.get_title(loc="left")
    'Coefficients along the path, standardized: per SD of x'
    """

    def __init__(
        self,
        *,
        coefficients: Sequence[Sequence[float]] | FloatArray,
        names: Sequence[Hashable],
        moves: Sequence[str],
        scale: Sequence[float] | FloatArray,
        unit: str,
    ) -> None:
        self.coefficients = np.asarray(coefficients, dtype=float).reshape(len(moves), len(names))
        self.names, self.moves = list(names), list(moves)
        self.scale, self.unit = np.asarray(scale, dtype=float), unit
        self.standardized = True

    @classmethod
    def of(cls, result: Any) -> Self:
        """Return the display of a result, not yet drawn."""
        table, trace = result.coefficient_progression, result.trace
        slopes = table.iloc[:, int(result.has_intercept) :]
        sign = {"add": "+ ", "remove": "− ", "start": ""}
        terms = labels(["start" if term is None else term for term in trace["term"]], 20)
        moves = [
            "start" if action == "start" else sign[action] + term
            for action, term in zip(trace["action"], terms, strict=True)
        ]
        scale, unit = result.standardizing()
        return cls(coefficients=slopes.to_numpy(), names=list(slopes.columns), moves=moves, scale=scale, unit=unit)

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None, standardized: bool = True) -> Self:
        """Draw the coefficients along the path of a `StepwiseResult`.

        Parameters
        ----------
        result : StepwiseResult
        ax : Axes, optional
        standardized : bool
            As in `plot`.
        """
        return cls.of(canvas.a_result(result)).plot(ax, standardized=standardized)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, standardized: bool = True) -> Self:
        """Draw the coefficients along the path of a fitted `StepwiseSelector`.

        Parameters
        ----------
        estimator : StepwiseSelector
        ax : Axes, optional
        standardized : bool
            As in `plot`.
        """
        return cls.from_result(canvas.result_of(estimator), ax=ax, standardized=standardized)

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        n_named = min(self._in_the_end().sum(), _NAMED)
        return canvas.WIDTH, max(3.6, 2.4 + _NAME_POINTS / 72 * float(n_named))

    def plot(self, ax: Any = None, *, standardized: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            A new figure by default.
        standardized : bool
            Whether coefficients are multiplied by the standard deviation of their column, and for least squares divided
            by that of the response, so that columns of different units can be compared.
        """
        self.standardized = standardized
        return super().plot(ax)

    def _in_the_end(self) -> np.ndarray:
        return np.isfinite(self.coefficients[-1])

    def _draw(self, ax: Any) -> None:
        lines = np.nan_to_num(self.coefficients) * (self.scale if self.standardized else 1.0)
        final, steps = self._in_the_end(), np.arange(len(lines))
        named = np.flatnonzero(final)
        room = min(_NAMED, max(int(72 * canvas.tall(ax) / _NAME_POINTS), 3))
        named = named[np.sort(np.argsort(-np.abs(lines[-1, named]), kind="stable")[:room])]
        others = np.setdiff1d(np.arange(len(self.names)), named)
        ax.axhline(0, color="#888888", linewidth=0.8)
        ax.plot(steps, lines[:, others], color="#C4C4C4", linewidth=0.8, zorder=1, rasterized=len(others) > 60)
        colours = [CYCLE[at % len(CYCLE)] for at in range(len(named))]
        styles = [("-", "--", ":", "-.")[at // len(CYCLE) % 4] for at in range(len(named))]
        for at, colour, style in zip(named.tolist(), colours, styles, strict=True):
            ax.plot(steps, lines[:, at], color=colour, linestyle=style, linewidth=1.5, zorder=2)
        self._name_lines(ax, lines[-1, named], named, colours)
        self._name_steps(ax)
        left = canvas.left_out(int(final.sum()) - len(named), "names of smaller coefficients")
        grey = "grey: not in the final model" if (~final).any() else ""
        note = "\n".join(filter(None, (grey, left)))
        title = "Coefficients along the path" + (f", standardized: {self.unit}" if self.standardized else "")
        canvas.finish(ax, title=title, x="" if len(steps) <= 40 else "step", note=note, grid="y")

    def _name_lines(self, ax: Any, ends: FloatArray, named: np.ndarray, colours: list[str]) -> None:
        """Write each name beside the end of its line, moved so that no two overlap."""
        if not len(named):
            if not len(self.names):
                canvas.nothing(ax, "no term entered")
            return
        low, high = ax.get_ylim()
        gap = (high - low) * _NAME_POINTS / (72 * canvas.tall(ax))
        places = canvas.spread_out(ends, gap, low, high)
        names = labels([self.names[at] for at in named], 26)
        last = len(self.moves) - 1
        for end, place, name, colour in zip(ends, places, names, colours, strict=True):
            ax.annotate(
                name,
                (last, end),
                xytext=(1.02, ax.transAxes.inverted().transform(ax.transData.transform((0, place)))[1]),
                textcoords="axes fraction",
                va="center",
                fontsize=7.5,
                annotation_clip=False,
                arrowprops=_LEADER | {"color": colour},
                **text_style([name]),
            )

    def _name_steps(self, ax: Any) -> None:
        steps = np.arange(len(self.moves))
        ax.set_xlim(-0.3, max(len(steps) - 1, 0.7))
        if len(steps) > 40:
            return
        widest = max(map(len, self.moves)) * len(steps) * 0.075  # inches, about
        turned = widest > canvas.width(ax)
        ax.set_xticks(steps, labels=self.moves, rotation=90 if turned else 0, **text_style(self.moves))
        ax.tick_params(axis="x", labelsize=float(np.clip(330 / len(steps), 6, 8.5)))
