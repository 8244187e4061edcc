"""The candidates that were weighed at one step."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from stepsel.core.fits import FloatArray
from stepsel.plots import canvas
from stepsel.plots.canvas import BLUE, GREEN, GREY, VERMILION, Display
from stepsel.plots.names import label
from stepsel.plots.path import LARGER_IS_BETTER, NAMES, SMALLEST_P

_WORDS = {
    "aliased": "repeats terms of the model",
    "constant": "does not vary",
    "saturated": "would leave no residual degrees of freedom",
    "separated": "separates the response",
    "kept": "to be in every model",
    "hierarchy": "bound to terms that it contains, or that contain it",
    "bounded": "ruled out by a bound",
}


class CandidatesDisplay(Display):
    """What each move at one step would have given, the best first.

    Additions are circles, removals squares; the move that was taken is filled. Terms that could not be moved are listed
    with the reason.

    Parameters
    ----------
    step : int
    terms : sequence of length n_moves
    moves : sequence of str, of length n_moves
        "add" or "remove".
    status : sequence of str, of length n_moves
        As in the table of candidates.
    values : float array of shape (n_moves,)
        The criterion after each move, or the p-value of it.
    criterion : str
    here : float
        The criterion of the model that the moves start from; NaN where p-values decide.
    levels : dict of str to float
        Levels to draw, of p-values.
    ended : str
        Why the search ended, where no move was taken.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        After `plot`.

    Examples
    --------
    >>> from stepsel.display import CandidatesDisplay
    >>> display = CandidatesDisplay(
    ...     step=1, terms=["age", "dose"], moves=["add", "add"], status=["eligible", "chosen"],
    ...     values=[31.9, 21.7], criterion="aic", here=30.2, levels={},
    ... )
    >>> [text.get_text() for text in display.plot().ax_.get_yticklabels()]
    ['+ dose', '+ age']
    """

    def __init__(
        self,
        *,
        step: int,
        terms: Sequence[Hashable],
        moves: Sequence[str],
        status: Sequence[str],
        values: Sequence[float] | FloatArray,
        criterion: str,
        here: float,
        levels: dict[str, float],
        ended: str = "",
    ) -> None:
        self.step, self.terms, self.moves, self.status = step, list(terms), list(moves), list(status)
        self.values, self.criterion, self.here, self.levels = np.asarray(values, float), criterion, here, levels
        self.ended = ended

    @classmethod
    def of(cls, result: Any, *, step: int | None = None) -> Self:
        """Return the display of a step, the last by default, not yet drawn."""
        table, trace = result.candidates, result.trace
        steps = sorted(set(table["step"].tolist()))
        if step is None:
            step = steps[-1] if steps else 0
        if isinstance(step, bool) or step not in steps:
            listed = f"steps are 1 to {steps[-1]}" if steps else "no moves were weighed"
            raise ValueError(f"step is {step!r}: {listed}.")
        step = int(step)
        rows = table[table["step"] == step]
        criterion = trace.attrs["criterion"]
        by_p = criterion == "pvalue"
        return cls(
            step=step,
            terms=list(rows["term"]),
            moves=list(rows["move"]),
            status=list(rows["status"]),
            values=rows["p_value" if by_p else "criterion"].to_numpy(dtype=float),
            criterion=criterion,
            here=np.nan if by_p else float(trace["criterion"].iloc[step - 1]),
            levels=result.levels if by_p else {},
            ended=result.stop_reason,
        )

    @classmethod
    def from_result(cls, result: Any, *, step: int | None = None, ax: Any = None) -> Self:
        """Draw the candidates of one step of a `StepwiseResult`.

        Parameters
        ----------
        result : StepwiseResult
        step : int, optional
            As in the table of candidates; the last by default, where no move was worth taking.
        ax : Axes, optional

        Raises
        ------
        ValueError
            If there is no such step.
        """
        return cls.of(canvas.a_result(result), step=step).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, step: int | None = None, ax: Any = None) -> Self:
        """Draw the candidates of one step of a fitted `StepwiseSelector`.

        Parameters
        ----------
        estimator : StepwiseSelector
        step : int, optional
            As in the table of candidates; the last by default, where no move was worth taking.
        ax : Axes, optional

        Raises
        ------
        ValueError
            If there is no such step.
        """
        return cls.from_result(canvas.result_of(estimator), step=step, ax=ax)

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return canvas.WIDTH, canvas.height(len(self.terms))

    def order(self) -> np.ndarray:
        """Return the moves, the best first: by p-value removals, which come first, with the largest p on top."""
        by_p = self.criterion == "pvalue"
        score = np.where(np.isnan(self.values), np.inf, self.values)
        if self.criterion in LARGER_IS_BETTER:
            score = np.where(np.isnan(self.values), np.inf, -self.values)
        removing = np.array([move == "remove" for move in self.moves], dtype=bool)
        if by_p:
            score = np.where(removing & np.isfinite(score), -score, score)
            return np.lexsort((score, ~removing, np.isnan(self.values)))
        return np.lexsort((score,))

    def _draw(self, ax: Any) -> None:
        order = self.order()
        shown = order[: canvas.rows_that_fit(ax, len(order))]
        by_p = self.criterion == "pvalue"
        values = np.maximum(self.values, SMALLEST_P) if by_p else self.values
        if not by_p and np.isfinite(self.here):
            ax.axvline(self.here, color=GREY, linewidth=1.2, zorder=1)
        for row, at in enumerate(shown.tolist()):
            self._mark(ax, row, at, values)
        prefix = ["+ " if self.moves[at] == "add" else "− " for at in shown]
        chosen = [self.status[at] == "chosen" for at in shown]
        canvas.name_rows(ax, [self.terms[at] for at in shown], prefix=prefix, bold=chosen)
        if by_p:
            ax.set_xscale("log")
            for (name, level), style in zip(self.levels.items(), ("--", ":"), strict=False):
                canvas.level(ax, max(level, SMALLEST_P), f"{name} {level:g}", style)
        x = NAMES.get(self.criterion, self.criterion) + ("" if by_p else " after the move; the line: of no move")
        note = canvas.left_out(len(order) - len(shown), "moves, less promising")
        taken = [label(self.terms[at]) for at in order if self.status[at] == "chosen"]
        title = f"Step {self.step}: " + (
            f"{taken[0]} was taken" if taken else f"no move was taken. {self.ended}".strip()
        )
        canvas.finish(ax, title=title, x=x, note=note)

    def _mark(self, ax: Any, row: int, at: int, values: FloatArray) -> None:
        adding, status = self.moves[at] == "add", self.status[at]
        if np.isfinite(values[at]):
            colour = GREEN if status == "chosen" else BLUE if adding else VERMILION
            face = colour if status == "chosen" else "white"
            ax.plot(values[at], row, marker="o" if adding else "s", color=colour, markerfacecolor=face, markersize=5.5)
        if status not in ("chosen", "eligible"):
            where: dict[str, Any] = {"xy": (0.01, row), "xycoords": ("axes fraction", "data")}
            if np.isfinite(values[at]):
                where = {"xy": (values[at], row), "xytext": (6, 0), "textcoords": "offset points"}
            box = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1}
            ax.annotate(_WORDS.get(status, status), **where, va="center", fontsize=7.5, alpha=0.8, bbox=box)
