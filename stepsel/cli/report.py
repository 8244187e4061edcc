"""``select --report``: the selection as a file to send."""

import shlex
import sys
from pathlib import Path
from typing import Any

from stepsel.cli.remarks import caught
from stepsel.cli.selecting import Made
from stepsel.reading import ReadingError

_KINDS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".tex": "tex"}


def report_kind(path: Path) -> str:
    """Return the format of a report by the name of its file, before a long run.

    Parameters
    ----------
    path : Path

    Raises
    ------
    ReadingError
        If the name has none of the known endings, or what a report takes is not installed.
    """
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise ReadingError(f"--report {path}: the name has to end in .html, .md or .tex.")
    from stepsel.report import require

    try:
        require()
    except ImportError as error:
        raise ReadingError(f"--report: {error}") from None
    return kind


def write_report(found: Made, kind: str, path: Path, stability: Any) -> None:
    """Write the report of a finished selection, with the command that made it.

    Parameters
    ----------
    found : Made
    kind : {"html", "md", "tex"}
    path : Path
    stability : SelectionStability or None
    """
    from stepsel.report import written

    command = shlex.join(["stepsel", *sys.argv[1:]])
    with caught():  # fonts that lack a character say so, once a plot
        written(found.result, kind, path, stability=stability, command=command, notes=[found.title, *found.notes])
