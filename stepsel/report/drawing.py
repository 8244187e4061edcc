"""Plots as pictures in memory."""

import base64
import io
import warnings
from threading import Lock
from typing import Any

from stepsel.report.blocks import Figure

# Text stays text, so that the reader's fonts set it; names do not depend on the time or on chance.
# The style and the filters are those of the whole process.
_ONE_AT_A_TIME = Lock()
_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "stepsel"}


def picture(figure: Figure, kind: str) -> bytes:
    """Return a plot as the bytes of an SVG or PNG file.

    Parameters
    ----------
    figure : Figure
    kind : {"svg", "png"}
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    display, stream = figure.display, io.BytesIO()
    if "kind" in figure.options:
        display.kind = figure.options["kind"]
    # In its own style, whatever that of the session is.
    with _ONE_AT_A_TIME, mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the reader's fonts may have it
        canvas = Canvas(figsize=display.figsize, layout="constrained")
        display.draw_in(canvas, **figure.options)
        metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
        canvas.savefig(stream, format=kind, dpi=120, metadata=metadata, bbox_inches="tight")
    return stream.getvalue()


def data_uri(figure: Figure, kind: str) -> str:
    """Return a plot as an address that holds it."""
    mime = {"svg": "image/svg+xml", "png": "image/png"}[kind]
    return f"data:{mime};base64,{base64.b64encode(picture(figure, kind)).decode()}"
