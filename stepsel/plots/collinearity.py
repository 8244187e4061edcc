"""Collinearity: the inflation of the selected terms, and which candidates belong together."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from scipy.cluster.hierarchy import dendrogram, fcluster, linkage
from scipy.spatial.distance import squareform

from stepsel.core.fits import FloatArray
from stepsel.core.terms import IntArray
from stepsel.plots import canvas
from stepsel.plots.canvas import BLUE, CYCLE, GREY, VERMILION, Display


class InflationDisplay(Display):
    """The variance inflation factor of every selected term, with the threshold of the warning.

    Parameters
    ----------
    terms : sequence of length n_terms
    vif : float array of shape (n_terms,)
        In one dimension; may be infinite.
    threshold : float

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        After `plot`.

    References
    ----------
    Fox and Monette (1992), Generalized collinearity diagnostics, JASA 87.

    Examples
    --------
    >>> from stepsel.display import InflationDisplay
    >>> display = InflationDisplay(terms=["age", "dose"], vif=[1.2, 14.0], threshold=10.0).plot()
    >>> display.ax_.get_xlabel()
    'variance inflation factor'
    """

    def __init__(self, *, terms: Sequence[Hashable], vif: Sequence[float] | FloatArray, threshold: float) -> None:
        self.terms, self.vif, self.threshold = list(terms), np.asarray(vif, dtype=float), threshold

    @classmethod
    def of(cls, result: Any) -> Self:
        """Return the display of a result, not yet drawn."""
        table = result.collinearity
        return cls(terms=list(table["term"]), vif=table["vif"].to_numpy(), threshold=result.settings.vif_threshold)

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return canvas.WIDTH, canvas.height(len(self.terms))

    def _draw(self, ax: Any) -> None:
        shown = canvas.most(self.vif, canvas.rows_that_fit(ax, len(self.terms)))
        shown = shown[np.argsort(-self.vif[shown], kind="stable")]
        values = self.vif[shown]
        finite = values[np.isfinite(values)]
        largest = max(finite.max(initial=1.0), self.threshold if (values > self.threshold / 2).any() else 2.0)
        logarithmic = largest > 100
        end = largest * (4 if logarithmic else 1.15)
        above = values > self.threshold
        drawn = np.where(np.isfinite(values), values, end)
        rows = np.arange(len(shown))
        colours = np.where(above, VERMILION, BLUE)
        bars = ax.barh(rows, drawn - 1, left=1, color=colours, height=0.62)
        for bar, value in zip(bars, values, strict=True):
            bar.set_hatch("//" if np.isinf(value) else None)
            bar.set_edgecolor("white")
        if logarithmic:
            ax.set_xscale("log")
        ax.set_xlim(1 if logarithmic else 0.98, end)
        if self.threshold <= end:
            canvas.level(ax, self.threshold, f"threshold {self.threshold:g}")
        size = canvas.font_size(ax, len(shown))
        for row, value in enumerate(values):
            text = "∞" if np.isinf(value) else f"{value:,.2f}" if value < 1000 else f"{value:,.4g}"
            canvas.value_beside(ax, row, text, size)
        if len(shown):
            canvas.name_rows(ax, [self.terms[at] for at in shown])
        else:
            canvas.nothing(ax, "no term is selected")
        note = canvas.left_out(len(self.terms) - len(shown), "terms, less inflated")
        canvas.finish(ax, title="Collinearity of the selected terms", x="variance inflation factor", note=note)


class CorrelationClustersDisplay(Display):
    """The candidates as a tree: those joined far to the left are strongly correlated.

    Clusters are joined by complete linkage, so that every two terms of a cluster are correlated by at least the value
    at which it was joined. Branches at or above ``threshold`` are coloured: which of the terms that they join is
    selected is partly chance. Selected terms are bold.

    Parameters
    ----------
    correlations : float array of shape (n_terms, n_terms)
        Without sign; between terms of several columns the largest canonical correlation.
    terms : sequence of length n_terms
    selected : bool array of shape (n_terms,)
    threshold : float

    Attributes
    ----------
    clusters : int array of shape (n_terms,)
        The cluster of every term, at ``threshold``.
    ax_, figure_ : Axes, Figure
        After `plot`.

    References
    ----------
    Harrell (2015), Regression Modeling Strategies, section 4.7 (variable clustering).

    Examples
    --------
    >>> from stepsel.display import CorrelationClustersDisplay
    >>> display = CorrelationClustersDisplay(
    ...     correlations=[[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]], terms=["a", "b", "c"],
    ...     selected=[True, False, False], threshold=0.7,
    ... )
    >>> display.clusters.tolist()
    [1, 1, 2]
    """

    def __init__(
        self,
        *,
        correlations: Sequence[Sequence[float]] | FloatArray,
        terms: Sequence[Hashable],
        selected: Sequence[bool] | np.ndarray,
        threshold: float = 0.7,
    ) -> None:
        self.correlations = np.asarray(correlations, dtype=float).reshape(len(terms), len(terms))
        self.terms, self.selected, self.threshold = list(terms), np.asarray(selected, dtype=bool), threshold
        self._tree = _joined(self.correlations)
        self.clusters = np.ones(len(terms), dtype=int)
        if len(self._tree):
            self.clusters = fcluster(self._tree, 1 - threshold + 1e-12, criterion="distance")

    @classmethod
    def of(cls, result: Any) -> Self:
        """Return the display of a result, not yet drawn."""
        table, selected = result.correlations, set(result.selected)
        chosen = [term in selected for term in table.columns]
        return cls(correlations=table.to_numpy(), terms=list(table.columns), selected=chosen)

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return canvas.WIDTH, canvas.height(len(self.terms))

    def tree(self, shown: IntArray) -> tuple[IntArray, list[tuple[FloatArray, FloatArray, int]]]:
        """Return the terms in the order of the tree, and its branches.

        Parameters
        ----------
        shown : int array
            The terms to join.

        Returns
        -------
        order : int array
        branches : list of (correlations, rows, cluster)
            The corners of every join; cluster 0 where it joins different clusters.
        """
        joined = _joined(self.correlations[np.ix_(shown, shown)])
        if not len(joined):
            return shown, []
        drawn = dendrogram(joined, no_plot=True, color_threshold=0)
        leaves, branches = np.asarray(drawn["leaves"], dtype=np.intp), []
        for corners, heights in zip(drawn["icoord"], drawn["dcoord"], strict=True):
            cluster = 0
            if 1 - max(heights) >= self.threshold - 1e-12:  # every leaf below is then of one cluster
                cluster = int(self.clusters[shown[leaves[int(corners[0] // 10)]]])
            branches.append((1 - np.array(heights), (np.array(corners) - 5) / 10, cluster))
        return shown[leaves], branches

    def _draw(self, ax: Any) -> None:
        shown = self._shown(canvas.rows_that_fit(ax, len(self.terms)))
        order, branches = self.tree(shown)
        colours = self._colours()
        for correlations, rows, cluster in branches:
            ax.plot(correlations, rows, color=colours.get(cluster, "#B0B0B0"), linewidth=1.5)
        canvas.name_rows(ax, [self.terms[at] for at in order], bold=self.selected[order].tolist())
        ax.axvline(self.threshold, color=GREY, linestyle="--", linewidth=1)
        ax.set_xlim(1.01, -0.01)
        left = canvas.left_out(len(self.terms) - len(shown), "terms, less correlated")
        note = "\n".join(["bold: selected", left] if left else ["bold: selected"])
        n = len(colours)
        title = f"Correlation of the candidates: {n} cluster{'s' * (n != 1)} at {self.threshold:g} or more"
        canvas.finish(ax, title=title, x="correlation at which terms are joined, without sign", note=note)

    def _shown(self, n: int) -> np.ndarray:
        """Return the terms with the strongest correlations, as many as there is room for."""
        strongest = (self.correlations - np.eye(len(self.terms)) * 2).max(axis=1, initial=-1.0)
        return canvas.most(strongest, n)

    def _colours(self) -> dict[int, str]:
        """Return a colour for every cluster of more than one term, the larger ones first."""
        counts = np.bincount(self.clusters)
        large = [int(at) for at in np.argsort(-counts, kind="stable") if counts[at] > 1]
        return {cluster: CYCLE[at % len(CYCLE)] for at, cluster in enumerate(large)}


def _joined(correlations: FloatArray) -> FloatArray:
    """Return the complete-linkage tree of correlations."""
    if len(correlations) < 2:
        return np.empty((0, 4))
    distance = np.clip(1 - (correlations + correlations.T) / 2, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    tree: FloatArray = linkage(squareform(distance, checks=False), method="complete")
    return tree
