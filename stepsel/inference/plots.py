"""Stability of a selection as a plot."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from stepsel.core.fits import FloatArray
from stepsel.core.terms import BoolArray
from stepsel.plots import canvas
from stepsel.plots.canvas import BLUE, PALE, SKY, VERMILION, Display

KINDS = ("inclusion", "coefficients")
_QUANTILES = (0.025, 0.25, 0.5, 0.75, 0.975)
_FARTHEST = 15.0
# Selected between these shares of the time, chance decides.
UNSURE = (0.3, 0.7)


def _unit(stability: Any, slopes: BoolArray) -> dict[str, Any]:
    """Return what coefficients are measured in: their standard errors in the full model, where there is one."""
    coefficients = stability.coefficients[:, slopes]
    if stability.full is not None:
        error = stability.full["std_error"].to_numpy(dtype=float)[slopes]
        spread = np.array([np.std(column[column != 0]) if (column != 0).any() else 0.0 for column in coefficients.T])
        # A standard error far beyond what resampling shows is that of a separated model.
        known = np.isfinite(error) & (error > 0) & ((spread == 0) | (error < 100 * spread))
        if known.all():
            return {"unit": error, "unit_name": "standard errors of the full model"}
    spread = np.array([np.std(column[column != 0]) if (column != 0).sum() > 1 else 1.0 for column in coefficients.T])
    return {"unit": np.where(spread > 0, spread, 1.0), "unit_name": "standard deviations where selected"}


class StabilityDisplay(Display):
    """How often every term was selected on resampled rows, and how its coefficients were distributed.

    Parameters
    ----------
    terms : sequence of length n_terms
    inclusion : float array of shape (n_terms,)
        Shares of the resamples.
    selected : bool array of shape (n_terms,)
        The terms that were selected on all rows.
    names : sequence of length n_coefficients
    coefficients : float array of shape (n_resamples, n_coefficients)
        Zero where a term was not selected; without the intercept.
    estimates : float array of shape (n_coefficients,)
        Of the model that was selected on all rows; NaN elsewhere.
    owner : int array of shape (n_coefficients,)
        The term of each coefficient.
    unit : float array of shape (n_coefficients,)
        What coefficients are drawn in.
    unit_name : str
        What that is, in words.
    n_resamples : int

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        After `plot`.

    References
    ----------
    Heinze, Wallisch, Dunkler (2018), Variable selection, Biometrical Journal 60.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsel import StepwiseSelector
    >>> from stepsel.display import StabilityDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 4))
    >>> selector = StepwiseSelector().fit(X, X[:, 0] + rng.normal(size=60))
    >>> display = StabilityDisplay.from_estimator(selector, n_resamples=50, random_state=1)
    >>> display.ax_.get_title(loc="left")
    'How often each term is selected'
    """

    def __init__(
        self,
        *,
        terms: Sequence[Hashable],
        inclusion: Sequence[float] | FloatArray,
        selected: Sequence[bool] | BoolArray,
        names: Sequence[Hashable],
        coefficients: FloatArray,
        estimates: Sequence[float] | FloatArray,
        owner: Sequence[int] | np.ndarray,
        unit: Sequence[float] | FloatArray,
        unit_name: str,
        n_resamples: int,
    ) -> None:
        self.terms, self.inclusion = list(terms), np.asarray(inclusion, dtype=float)
        self.selected, self.n_resamples = np.asarray(selected, dtype=bool), n_resamples
        self.names, self.coefficients = list(names), np.asarray(coefficients, dtype=float)
        self.estimates, self.owner = np.asarray(estimates, dtype=float), np.asarray(owner, dtype=np.intp)
        self.unit, self.unit_name = np.asarray(unit, dtype=float), unit_name
        self.kind = "inclusion"

    @classmethod
    def of(cls, result: Any) -> Self:
        """Return the display of a `SelectionStability`, not yet drawn."""
        slopes = result.owner >= 0
        estimates = result.table["coef_selected"].to_numpy()
        absent = result.table["se_selected"].isna().to_numpy()
        return cls(
            terms=result.terms,
            inclusion=result.inclusion.to_numpy(),
            selected=result.chosen.active,
            names=[name for name, slope in zip(result.labels, slopes, strict=True) if slope],
            coefficients=result.coefficients[:, slopes],
            estimates=np.where(absent, np.nan, estimates)[slopes],
            owner=result.owner[slopes],
            **_unit(result, slopes),
            n_resamples=result.n_resamples,
        )

    @classmethod
    def from_result(cls, result: Any, *, kind: str = "inclusion", ax: Any = None) -> Self:
        """Draw a `SelectionStability`.

        Parameters
        ----------
        result : SelectionStability
        kind : {"inclusion", "coefficients"}
        ax : Axes, optional
        """
        return cls.of(canvas.a_result(result)).plot(ax, kind=kind)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, kind: str = "inclusion", ax: Any = None, **options: Any
    ) -> Self:
        """Run a selection on resampled rows, and draw how stable it is.

        Parameters
        ----------
        estimator : StepwiseSelector
            Fitted, or with ``X`` and ``y``.
        X, y
            As for ``fit``.
        kind : {"inclusion", "coefficients"}
        ax : Axes, optional
        **options
            Those of :func:`stepsel.inference.selection_stability`.
        """
        from stepsel.inference.stability import selection_stability  # which draws by this module

        given = (canvas.result_of(estimator),) if X is None else (estimator, X, y)
        return cls.from_result(selection_stability(*given, **options), kind=kind, ax=ax)

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        rows = len(self.terms) if self.kind == "inclusion" else len(self._drawn_coefficients())
        return canvas.WIDTH, canvas.height(rows)

    def plot(self, ax: Any = None, *, kind: str = "inclusion") -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            A new figure by default.
        kind : {"inclusion", "coefficients"}
            How often every term was selected; or, of the resamples that selected it, the quantiles of each coefficient,
            in standard errors of the model of all terms (where it cannot be fitted, in standard deviations over these
            resamples).

        Raises
        ------
        ValueError
            If there is no such kind.
        """
        if kind not in KINDS:
            raise ValueError(f"kind is {kind!r}: choose one of {', '.join(map(repr, KINDS))}.")
        self.kind = kind
        return super().plot(ax)

    def _draw(self, ax: Any) -> None:
        (self._draw_inclusion if self.kind == "inclusion" else self._draw_coefficients)(ax)

    def _draw_inclusion(self, ax: Any) -> None:
        order = np.argsort(-self.inclusion, kind="stable")
        shown = order[: canvas.rows_that_fit(ax, len(order))]
        share = 100 * self.inclusion[shown]
        ax.axvspan(100 * UNSURE[0], 100 * UNSURE[1], color="#F3EBDD", zorder=0)
        ax.barh(np.arange(len(shown)), share, color=np.where(self.selected[shown], BLUE, PALE), height=0.62, zorder=2)
        size = canvas.font_size(ax, len(shown))
        for row, value in enumerate(share):
            canvas.value_beside(ax, row, f"{value:.3g} %", size)
        canvas.name_rows(ax, [self.terms[at] for at in shown], bold=self.selected[shown].tolist())
        ax.set_xlim(0, 100)
        note = "bold, dark: selected on all rows; shaded: chance decides"
        left = canvas.left_out(len(order) - len(shown), "terms, less often selected")
        title = "How often each term is selected"
        canvas.finish(
            ax,
            title=title,
            x=f"selected in % of {self.n_resamples} resamples",
            note="\n".join(filter(None, (note, left))),
        )

    def _drawn_coefficients(self) -> np.ndarray:
        """Return the coefficients that at least two resamples selected, the more often selected ones first."""
        counts = (self.coefficients != 0).sum(axis=0)
        drawn = np.flatnonzero(counts >= 2)
        return drawn[np.argsort(-self.inclusion[self.owner[drawn]], kind="stable")]

    def _farthest(self, shown: np.ndarray) -> float:
        """Return where the axis ends: beyond the middle half of every row."""
        largest = 0.0
        for at in shown.tolist():
            values = self.coefficients[:, at]
            largest = max(largest, float(np.abs(np.quantile(values[values != 0], [0.25, 0.75])).max()) / self.unit[at])
        return max(_FARTHEST, 1.15 * largest)

    def _draw_coefficients(self, ax: Any) -> None:
        drawn = self._drawn_coefficients()
        shown = drawn[: canvas.rows_that_fit(ax, len(drawn))]
        size, cut = canvas.font_size(ax, len(shown)), False
        if not len(shown):
            canvas.nothing(ax, "no coefficient was selected twice")
        farthest = self._farthest(shown)
        for row, at in enumerate(shown.tolist()):
            values = self.coefficients[:, at]
            low, first, median, third, high = np.quantile(values[values != 0], _QUANTILES) / self.unit[at]
            ends = np.clip([low, high], -farthest, farthest)
            ax.plot(ends, [row, row], color=SKY, linewidth=1.6, solid_capstyle="butt")
            middle = np.clip([first, third], -farthest, farthest)
            ax.plot(middle, [row, row], color=BLUE, linewidth=5, solid_capstyle="butt")
            ax.plot(
                np.clip(median, -farthest, farthest),
                row,
                marker="|",
                color="white",
                markersize=8,
                markeredgewidth=1.6,
            )
            for end, sign, marker in ((low, -1, "<"), (high, 1, ">")):
                if sign * end > farthest:
                    cut = True
                    ax.plot(sign * farthest, row, marker=marker, color=SKY, markersize=5, clip_on=False)
            estimate = self.estimates[at] / self.unit[at]
            if np.isfinite(estimate) and abs(estimate) <= farthest:
                ax.plot(estimate, row, marker="D", color=VERMILION, markersize=4, linestyle="none")
            canvas.value_beside(ax, row, f"{100 * self.inclusion[self.owner[at]]:.3g} %", size)
        ax.axvline(0, color="#888888", linewidth=0.9)
        canvas.name_rows(ax, [self.names[at] for at in shown])
        notes = ["50 and 95 % of the resamples that selected it; diamond: on all rows; right: how often selected"]
        notes += [f"arrows: beyond {farthest:g}"] * cut
        notes += (
            [left] if (left := canvas.left_out(len(drawn) - len(shown), "coefficients, less often selected")) else []
        )
        canvas.finish(
            ax,
            title="Coefficients where selected, which is where they look strong",
            x=f"coefficient, in {self.unit_name}",
            note="\n".join(notes),
        )
