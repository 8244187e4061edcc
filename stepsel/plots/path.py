"""The path of a selection: its criterion step by step, and other criteria along the same steps."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from stepsel.core.fits import FloatArray
from stepsel.plots import canvas
from stepsel.plots.canvas import BLUE, GREY, VERMILION, Display

# A p-value below this is drawn at it.
SMALLEST_P = 1e-16
NAMES = {
    "aic": "AIC",
    "aicc": "AICc",
    "bic": "BIC",
    "hqic": "HQIC",
    "adj_r2": "adjusted R²",
    "cp": "Cp",
    "pvalue": "p-value",
    "mcfadden": "adjusted McFadden R²",
    "max_vif": "largest VIF",
}
LARGER_IS_BETTER = ("adj_r2", "mcfadden")
_SIGNS = {"start": "", "add": "+ ", "remove": "− "}
_COLOURS = {"start": GREY, "add": BLUE, "remove": VERMILION}
_MARKERS = {"start": "o", "add": "o", "remove": "s"}


class SelectionPathDisplay(Display):
    """The criterion at every step, with the term that entered or left.

    Steps run from top to bottom, so that any number of them, with names of any length, can be read. Where p-values
    decide, the p-value of every move is drawn on a logarithmic scale (those below 1e-16 at 1e-16), with the levels of
    entry and removal.

    Parameters
    ----------
    criterion : str
    values : float array of shape (n_steps,)
        The criterion of each model of the path, the start model first; or the p-value of each move.
    actions : sequence of str, of length n_steps
        "start", "add" or "remove".
    terms : sequence of length n_steps
        What entered or left.
    levels : mapping of str to float
        Named levels to draw, of p-values.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        After `plot`.

    See Also
    --------
    CriteriaDisplay : Several criteria along the same steps.

    Examples
    --------
    >>> from stepsel.display import SelectionPathDisplay
    >>> display = SelectionPathDisplay(
    ...     criterion="aic", values=[30.2, 21.7], actions=["start", "add"], terms=[None, "dose"], levels={}
    ... )
    >>> display.plot().ax_.get_xlabel()
    'AIC'
    """

    def __init__(
        self,
        *,
        criterion: str,
        values: Sequence[float] | FloatArray,
        actions: Sequence[str],
        terms: Sequence[Hashable],
        levels: Mapping[str, float],
    ) -> None:
        self.criterion, self.values = criterion, np.asarray(values, dtype=float)
        self.actions, self.terms, self.levels = list(actions), list(terms), dict(levels)

    @classmethod
    def of(cls, result: Any) -> Self:
        """Return the display of a result, not yet drawn."""
        trace = result.trace
        criterion = trace.attrs["criterion"]
        levels = result.levels if criterion == "pvalue" else {}
        values = trace["criterion"].to_numpy()
        return cls(criterion=criterion, values=values, actions=trace["action"], terms=trace["term"], levels=levels)

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return canvas.WIDTH, canvas.height(len(self.values))

    def _draw(self, ax: Any) -> None:
        shown, n = self._shown(ax), len(self.values)
        values, actions = self.values[shown], [self.actions[at] for at in shown]
        by_p = self.criterion == "pvalue"
        places = np.maximum(values, SMALLEST_P) if by_p else values
        rows = np.arange(len(shown))
        ax.plot(places, rows, color="#B5B5B5", linewidth=1.2, zorder=2)
        for action in dict.fromkeys(actions):
            of_it = np.array([other == action for other in actions])
            style = {"color": _COLOURS[action], "marker": _MARKERS[action]}
            ax.scatter(places[of_it], rows[of_it], s=30, zorder=3, linewidth=0, **style)
        moves = zip(shown.tolist(), actions, strict=True)
        names = ["start" if action == "start" else self.terms[at] for at, action in moves]
        canvas.name_rows(ax, names, prefix=[_SIGNS[action] for action in actions])
        self._numbers(ax, places, values, by_p=by_p)
        if by_p:
            self._levels(ax)
        note = canvas.left_out(n - len(shown), "steps in between")
        canvas.finish(ax, x=NAMES.get(self.criterion, self.criterion), note=note, title=self._title())

    def _shown(self, ax: Any) -> np.ndarray:
        """Return the steps there is room for: the first and the last ones."""
        n, fit = len(self.values), canvas.rows_that_fit(ax, len(self.values))
        first = fit if fit == n else fit // 2
        return np.concatenate([np.arange(first), np.arange(n - (fit - first), n)]).astype(np.intp)

    def _title(self) -> str:
        added, removed = self.actions.count("add"), self.actions.count("remove")
        counts = [f"{added} added"] * bool(added) + [f"{removed} removed"] * bool(removed)
        return f"{NAMES.get(self.criterion, self.criterion)} step by step: {', '.join(counts) or 'no step'}"

    def _numbers(self, ax: Any, places: FloatArray, values: FloatArray, *, by_p: bool) -> None:
        """Write the value of each step at the right edge, where no line can cross it."""
        known = values[np.isfinite(values)]
        steps = np.abs(np.diff(known))
        step = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
        size = canvas.font_size(ax, len(values))
        for row, value in enumerate(values):
            text = f"{value:.2g}" if by_p and np.isfinite(value) else canvas.number(value, step)
            canvas.value_beside(ax, row, text, size)
        if by_p:
            ax.set_xscale("log")
        span = np.ptp(places[np.isfinite(places)]) if np.isfinite(places).any() else 0.0
        if not by_p and not span and np.isfinite(places[0]):
            ax.set_xlim(places[0] - 1, places[0] + 1)
        ax.xaxis.set_major_locator(_few_ticks(by_p=by_p, n=int(np.clip(1.2 * canvas.width(ax), 2, 5))))

    def _levels(self, ax: Any) -> None:
        for (name, level), style in zip(self.levels.items(), ("--", ":"), strict=False):
            canvas.level(ax, max(level, SMALLEST_P), f"{name} {level:g}", style)


def _few_ticks(*, by_p: bool, n: int) -> Any:
    from matplotlib.ticker import LogLocator, MaxNLocator

    return LogLocator(numticks=n + 1) if by_p else MaxNLocator(n)


class CriteriaDisplay(Display):
    """Several criteria along the steps, the best step of each marked.

    Where the marks stand far apart the number of terms depends on the criterion more than on the data.

    Parameters
    ----------
    values : mapping of str to float array of shape (n_steps,)
        The criteria: "aic", "bic", "adj_r2" and so on, and "max_vif".
    chosen_by : str
        The criterion of the selection.

    Attributes
    ----------
    axes_ : array of Axes
        After `plot`.
    figure_ : Figure

    References
    ----------
    SAS/STAT, PROC GLMSELECT, criterion panel.

    Examples
    --------
    >>> from stepsel.display import CriteriaDisplay
    >>> display = CriteriaDisplay(values={"aic": [30.2, 21.7], "bic": [31.0, 23.9]}, chosen_by="aic")
    >>> len(display.plot().axes_)
    2
    """

    axes_: Any

    def __init__(self, *, values: Mapping[str, Sequence[float] | FloatArray], chosen_by: str) -> None:
        self.values = {name: np.asarray(each, dtype=float) for name, each in values.items()}
        self.chosen_by = chosen_by

    @classmethod
    def of(cls, result: Any) -> Self:
        """Return the display of a result, not yet drawn."""
        trace = result.trace
        by = trace.attrs["criterion"]
        values = {"aic": trace["aic"], "bic": trace["bic"]}
        if by not in ("aic", "bic", "adj_r2", "pvalue"):
            values = {by: trace["criterion"], **values}
        values["mcfadden" if trace.attrs["r2"] == "McFadden" else "adj_r2"] = trace["adj_r2"]
        if trace["max_vif"].notna().any():
            values["max_vif"] = trace["max_vif"]
        return cls(values={name: each.to_numpy() for name, each in values.items()}, chosen_by=by)

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return canvas.WIDTH, 2.1 * ((len(self.values) + 1) // 2) + 0.3

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            Axes to divide into panels, or one for each panel; a new figure by default.

        Raises
        ------
        ValueError
            If there are fewer axes than criteria, or they are not rectangular.
        """
        if ax is not None and not np.ndim(ax):
            canvas.rectangular(ax)
        self.axes_ = panels(ax, len(self.values), self.figsize)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].get_figure()
        for panel, (name, values) in zip(self.axes_, self.values.items(), strict=False):
            self._panel(panel, name, values)
        return self

    def draw_in(self, figure: Any, **options: Any) -> Self:
        """Draw in an empty figure of any backend."""
        grid = figure.subplots((len(self.values) + 1) // 2, min(2, len(self.values)), squeeze=False).ravel()
        for spare in grid[len(self.values) :]:
            spare.remove()
        return self.plot(grid, **options)

    def _panel(self, ax: Any, name: str, values: FloatArray) -> None:
        steps = np.arange(len(values))
        ax.plot(steps, values, color=BLUE, linewidth=1.3, marker="o" if len(steps) <= 30 else None, markersize=3.5)
        known = np.isfinite(values)
        title = NAMES.get(name, name)
        if known.any() and name != "max_vif":
            best = int(np.nanargmax(values) if name in LARGER_IS_BETTER else np.nanargmin(values))
            ax.plot(best, values[best], marker="*", color=VERMILION, markersize=11, linestyle="none", zorder=4)
            title += f", which chose: best at {best}" if name == self.chosen_by else f": best at {best}"
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(4))
        if abs(np.nanmax(np.abs(values[known]), initial=0.0)) < 1e7:
            ax.ticklabel_format(axis="y", useOffset=False)
        ax.set_xlim(-0.5, max(len(steps) - 0.5, 0.5))
        if name == "max_vif":
            ax.set_ylim(bottom=1.0 - 0.03 * (max(ax.get_ylim()[1], 1.1) - 1.0), top=max(ax.get_ylim()[1], 1.1))
        canvas.finish(ax, title=title, x="step", grid="y")


def panels(ax: Any, n_panels: int, figsize: tuple[float, float]) -> np.ndarray:
    """Return an axes for each panel: in a new figure, in place of ``ax``, or those of ``ax``."""
    if ax is not None and np.ndim(ax):
        flat = np.ravel(np.asarray(ax, dtype=object))
        if len(flat) < n_panels:
            raise ValueError(f"ax holds {len(flat)} axes: give at least {n_panels}, one for each criterion.")
        return flat[:n_panels]
    n_columns = min(2, n_panels)
    n_rows = -(-n_panels // n_columns)
    if ax is None:
        canvas.require_matplotlib()
        import matplotlib.pyplot as plt

        made = plt.subplots(n_rows, n_columns, figsize=figsize, layout="constrained", squeeze=False)[1].ravel()
    else:
        ax.set_axis_off()
        wide, tall = 1 / n_columns, 1 / n_rows
        boxes = [
            [wide * (column + 0.16), 1 - tall * (row + 0.78), wide * 0.8, tall * 0.62]
            for row in range(n_rows)
            for column in range(n_columns)
        ]
        made = np.array([ax.inset_axes(box) for box in boxes], dtype=object)
    for spare in made[n_panels:]:
        spare.remove()
    return np.asarray(made[:n_panels])
