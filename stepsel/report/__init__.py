"""A selection as a report: one self-contained HTML page, Markdown file or LaTeX document."""

from pathlib import Path
from typing import Any

from stepsel.report.content import sections, title_of

FORMATS = ("html", "md", "tex")


def require() -> None:
    """Refuse to write a report without what it takes.

    Raises
    ------
    ImportError
        If matplotlib or jinja2 is not installed.
    """
    try:
        import jinja2
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("a report needs matplotlib and jinja2: pip install matplotlib jinja2.") from None
    del jinja2


def written(
    result: Any,
    kind: str,
    path: Any = None,
    *,
    stability: Any = None,
    title: str | None = None,
    command: str | None = None,
    notes: list[str] | None = None,
) -> str:
    """Write a report, and return it.

    Parameters
    ----------
    result : StepwiseResult
    kind : {"html", "md", "tex"}
    path : str or path, optional
        The file to write.
    stability : SelectionStability, optional
    title : str, optional
    command : str, optional
        The command line that asked for it.
    notes : list of str, optional
        What was said of the file that the data came from.

    Raises
    ------
    ImportError
        If matplotlib or jinja2 is not installed.
    ValueError
        If ``stability`` is none, or that of another selection.
    OSError
        If the file cannot be written.
    """
    require()
    if stability is not None:
        _check(stability, result)
    from stepsel.report.render import rendered

    text = rendered(kind, str(title or title_of(result)), sections(result, stability, command, notes))
    if path is not None:
        # A label may hold half of a surrogate pair, which no encoding has.
        Path(path).expanduser().write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    return text


def _check(stability: Any, result: Any) -> None:
    if not hasattr(stability, "inclusion"):
        raise ValueError(f"stability is {stability!r}: give what selection_stability(result) returns.")
    if stability.terms != result.candidate_terms or stability.chosen.selected != result.selected:
        raise ValueError("stability is that of another selection: give what selection_stability(result) returns.")
