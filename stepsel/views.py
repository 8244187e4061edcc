"""How a result is looked at: plots and reports. What draws and writes is imported when it is asked for."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepsel.plots import Display


class Views:
    """The plots and reports of a result."""

    def display(self, kind: str = "path", **options: Any) -> "Display":
        """Return a plot that is not yet drawn.

        Parameters
        ----------
        kind : {"path", "criteria", "coefficients", "candidates", "vif", "clusters"}
        **options
            ``step`` of "candidates".

        Returns
        -------
        Display
            An object of a class of :mod:`stepsel.display`.

        Raises
        ------
        ValueError
            If there is no such kind or step.
        """
        return self._kind(kind).of(self, **options)

    @staticmethod
    def _kind(kind: str) -> "type[Display]":
        from stepsel.plots import KINDS

        if kind not in KINDS:
            raise ValueError(f"kind is {kind!r}: choose one of {', '.join(map(repr, KINDS))}.")
        return KINDS[kind]

    def plot(self, kind: str = "path", *, ax: Any = None, **options: Any) -> "Display":
        """Draw the selection.

        Parameters
        ----------
        kind : {"path", "criteria", "coefficients", "candidates", "vif", "clusters"}
            The criterion step by step; several criteria along the steps; the coefficients along the steps; the moves
            that were weighed at one step; the inflation of the selected terms; how the candidates are correlated.
        ax : Axes, optional
            A new figure by default.
        **options
            ``step`` of "candidates"; ``standardized`` of "coefficients".

        Returns
        -------
        Display
            With ``ax_`` and ``figure_``.

        Raises
        ------
        ValueError
            If there is no such kind or step.
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> from stepsel import StepwiseSelector
        >>> X = np.random.default_rng(0).normal(size=(50, 3))
        >>> result = StepwiseSelector().fit(X, X[:, 0] + X[:, 1]**3).result_
        >>> result.plot("candidates", step=1).ax_.get_xlabel()
        'AIC after the move; the line: of no move'
        """
        return self._kind(kind).from_result(self, ax=ax, **options)

    def to_html(self, path: Any = None, *, stability: Any = None, title: str | None = None) -> str:
        """Write a report: one self-contained page.

        It holds what was asked, the data and the rows that were dropped, every step, plots, the final model, what was
        left out and why, collinearity, how far to trust the selection, the call that repeats it, and versions.

        Parameters
        ----------
        path : str or path, optional
            The file to write.
        stability : SelectionStability, optional
            What :func:`stepsel.inference.selection_stability` returned.
        title : str, optional

        Returns
        -------
        str
            The page.

        Raises
        ------
        ImportError
            If matplotlib or jinja2 is not installed.
        ValueError
            If ``stability`` is that of another selection.
        OSError
            If the file cannot be written.
        """
        from stepsel.report import written

        return written(self, "html", path, stability=stability, title=title)

    def to_markdown(self, path: Any = None, *, stability: Any = None, title: str | None = None) -> str:
        """Write the report of :meth:`to_html` as Markdown, the plots in it as PNG.

        Parameters
        ----------
        path : str or path, optional
            The file to write.
        stability : SelectionStability, optional
            What :func:`stepsel.inference.selection_stability` returned.
        title : str, optional

        Returns
        -------
        str
            The report.

        Raises
        ------
        ImportError
            If matplotlib or jinja2 is not installed.
        ValueError
            If ``stability`` is that of another selection.
        OSError
            If the file cannot be written.
        """
        from stepsel.report import written

        return written(self, "md", path, stability=stability, title=title)

    def to_latex(self, path: Any = None, *, stability: Any = None, title: str | None = None) -> str:
        """Write the report of :meth:`to_html` as a LaTeX document.

        Its plots are drawn by pgfplots. The distribution of coefficients over resamples, and plots of more than 45
        rows, have no such form and are left out.

        Parameters
        ----------
        path : str or path, optional
            The file to write.
        stability : SelectionStability, optional
            What :func:`stepsel.inference.selection_stability` returned.
        title : str, optional

        Returns
        -------
        str
            The report.

        Raises
        ------
        ImportError
            If matplotlib or jinja2 is not installed.
        ValueError
            If ``stability`` is that of another selection.
        OSError
            If the file cannot be written.
        """
        from stepsel.report import written

        return written(self, "tex", path, stability=stability, title=title)
