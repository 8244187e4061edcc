"""Draw the pictures of the README: ``python docs/pictures.py`` (``make pictures``)."""

import io
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

from stepsel import StepwiseSelector
from stepsel.inference import selection_stability

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "_static"
WIDTH = 98
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "stepsel", "font.sans-serif": ["DejaVu Sans"]}


def trace():
    """Return what the command line prints, as SVG without fonts from elsewhere."""
    command = ["stepsel", "select", "data/prostate.csv", "--target", "lpsa", "--criterion", "bic"]
    code = "from stepsel.cli import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", code, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=True
    )
    console = Console(record=True, width=WIDTH, file=io.StringIO(), markup=False, emoji=False, highlight=False)
    lines = [line.rstrip() for line in run.stdout.splitlines()]
    console.print("$ " + " ".join(command), *lines, sep="\n")
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
    return {"trace.svg": trace(), "inclusion.svg": inclusion(result)}


if __name__ == "__main__":
    mpl.use("Agg")
    for name, svg in pictures().items():
        text = "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"{FOLDER.relative_to(ROOT) / name}: {len(text):,} bytes", file=sys.stderr)
