"""Draw the pictures of the README: ``python docs/pictures.py`` (``make pictures``)."""

import io
import re
import sys
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

from stepsel import StepwiseSelector
from stepsel.cli import output
from stepsel.inference import selection_stability
from stepsel.layouts import layouts

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "_static"
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "stepsel", "font.sans-serif": ["DejaVu Sans"]}


def trace(result):
    """Return the trace as the command line prints it, as SVG without fonts from elsewhere."""
    console = Console(record=True, width=84, file=io.StringIO(), markup=False, emoji=False, highlight=False)
    steps, _ = layouts(result.trace.attrs)
    console.print("$ stepsel select data/prostate.csv --target lpsa --criterion bic\n")
    console.print(
        output.table(result.trace, steps), f"Selected: {', '.join(result.selected)}.", result.stop_reason, sep="\n"
    )
    svg = console.export_svg(title="stepsel", theme=DEFAULT_TERMINAL_THEME, unique_id="trace")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    return svg.replace("font-family: Fira Code", "font-family: Fira Code, DejaVu Sans Mono, Menlo, Consolas")


def inclusion(result):
    """Return how often every term is selected, as SVG."""
    stability = selection_stability(result, random_state=0)
    stream = io.StringIO()
    with mpl.rc_context(SETTINGS):
        stability.plot().figure_.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


def pictures():
    """Return the pictures by name."""
    prostate = pd.read_csv(ROOT / "data" / "prostate.csv")
    X, y = prostate.drop(columns="lpsa"), prostate["lpsa"]
    result = StepwiseSelector(criterion="bic").fit(X, y).result_
    return {"trace.svg": trace(result), "inclusion.svg": inclusion(result)}


if __name__ == "__main__":
    mpl.use("Agg")
    for name, svg in pictures().items():
        text = "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"{FOLDER.relative_to(ROOT) / name}: {len(text):,} bytes", file=sys.stderr)
