"""What a report is made of, before it is written as HTML, Markdown or LaTeX."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from stepsel.layouts import Layout, cell


@dataclass(frozen=True)
class Text:
    """A paragraph; ``strong`` where a reader should not miss it."""

    text: str
    strong: bool = False
    kind: str = "text"


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    items: list[str]
    kind: str = "items"


@dataclass(frozen=True)
class Facts:
    """Names and values."""

    rows: list[tuple[str, str]]
    kind: str = "facts"


@dataclass(frozen=True)
class Grid:
    """A table of text.

    Attributes
    ----------
    headers : list of str
    numeric : list of bool
        Which columns hold numbers.
    rows : list of list of str
    keys : list of list of str
        What rows are sorted by: numbers in full, text as it is.
    caption : str
    """

    headers: list[str]
    numeric: list[bool]
    rows: list[list[str]]
    keys: list[list[str]]
    caption: str = ""
    kind: str = "grid"

    def column(self, at: int) -> list[str]:
        """Return one column."""
        return [row[at] for row in self.rows]


@dataclass(frozen=True)
class Figure:
    """A plot: what draws it, and what it shows in words."""

    name: str
    display: Any
    alt: str
    options: dict[str, Any] = field(default_factory=dict)
    kind: str = "figure"


@dataclass(frozen=True)
class Code:
    """Lines of code."""

    code: str
    language: str
    kind: str = "code"


Block = Text | Items | Facts | Grid | Figure | Code


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    anchor: str
    blocks: Sequence[Block]


def grid(frame: pd.DataFrame, layout: Layout, caption: str = "") -> Grid:
    """Lay a frame out as a table of text; columns that hold nothing are left out."""
    headers, numeric, columns, keys = [], [], [], []
    for name, (header, spec) in layout.items():
        if name not in frame:
            continue
        texts = [cell(value, spec) for value in frame[name]]
        if not any(texts):
            continue
        headers.append(header)
        numeric.append(spec != "s")
        columns.append(texts)
        keys.append([_key(value, spec) for value in frame[name]])
    return Grid(headers, numeric, _rows(columns), _rows(keys), caption)


def _rows(columns: list[list[str]]) -> list[list[str]]:
    return [list(row) for row in zip(*columns, strict=True)]


def _key(value: Any, spec: str) -> str:
    if spec == "s":
        return str(value)
    number = np.nan if value is None or pd.isna(value) else float(value)
    return "" if np.isnan(number) else repr(number).replace("inf", "Infinity")
