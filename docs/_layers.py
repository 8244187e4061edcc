"""The drawing of the layers: the contract in pyproject.toml, the names of the groups from the table of the page."""

import re
import tomllib
from html import escape

from _setup import ROOT

WIDTH, LABEL, BOX, STEP, GAP = 520, 138, 28, 36, 6


def contract():
    """The layers from the top down, each the names of its modules."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(found["layers"] for found in settings["contracts"] if found["type"] == "layers")
    return [[name.strip().removeprefix("stepsel.") for name in layer.split("|")] for layer in layers]


def groups():
    """{module: the name of its group}, from the first table of architecture.md."""
    found, group = {}, ""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("| layer | modules | what |")[2].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        name, modules, *_ = (cell.strip() for cell in row.strip()[1:-1].split("|"))
        group = name or group
        found |= dict.fromkeys((module.rstrip("/*") for module in re.findall(r"`([^`]+)`", modules)), group)
    return found


def drawing():
    """Boxes from the top down, as SVG in the colours of the page."""
    layers, group_of = contract(), groups()
    missing = [name for layer in layers for name in layer if name not in group_of]
    if missing:
        raise ValueError(f"the table in docs/architecture.md does not name {', '.join(missing)}")
    parts, last = [], None
    for at, layer in enumerate(layers):
        y = 10 + at * STEP
        label = ", ".join(dict.fromkeys(group_of[name] for name in layer))
        if label != last:
            parts.append(f'<text class="group" x="{LABEL - 10}" y="{y + 19}" text-anchor="end">{escape(label)}</text>')
        last = label
        width = (WIDTH - LABEL - 30 - GAP * (len(layer) - 1)) / len(layer)
        for place, name in enumerate(layer):
            x = LABEL + place * (width + GAP)
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BOX}" rx="4"/>')
            size = min(15, (width - 4) / len(name) / 0.61)  # a letter is 0.6 of its height wide
            at_middle = f'x="{x + width / 2:.1f}" y="{y + 19}" text-anchor="middle"'
            parts.append(f'<text {at_middle} font-size="{size:.1f}">{escape(name)}</text>')
    height = 10 + len(layers) * STEP
    right = WIDTH - 12
    parts.append(f'<path d="M {right} 12 V {height - 14} m -5 -8 l 5 8 l 5 -8"/>')
    title = (
        "The layers of stepsel from the command line down to the core: a module imports only from layers below its own"
    )
    return (
        f'<svg class="layers" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">'
        f"<title>{title}</title>{''.join(parts)}</svg>"
    )
