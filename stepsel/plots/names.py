"""Names as labels: one line, told apart, and never anything but text."""

import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any

LONGEST = 30

# Fonts with scripts that matplotlib's own font lacks, as systems call them.
_WIDE_FONTS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "PingFang SC", "Hiragino Sans", "Microsoft YaHei", "Yu Gothic"),
    *("Malgun Gothic", "Apple SD Gothic Neo", "WenQuanYi Zen Hei", "Noto Sans", "Noto Sans Arabic", "Noto Sans Hebrew"),
    *("Noto Sans Devanagari", "Noto Sans Thai", "Segoe UI", "Segoe UI Emoji", "Arial Unicode MS", "Nirmala UI"),
)


def label(name: Hashable, longest: int = LONGEST) -> str:
    r"""Return a name as a label: one line, without control characters, its middle left out where it is long.

    Examples
    --------
    >>> label("a\nb"), label("x" * 40, longest=9)
    ('a b', 'xxxx…xxxx')
    """
    text = " ".join("".join(map(visible, str(name))).split()) or "(no name)"
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[: longest - 1 - half]}…{text[len(text) - half :]}"


def labels(names: Sequence[Hashable], longest: int = LONGEST) -> list[str]:
    """Return names as labels that differ where the names do.

    Examples
    --------
    >>> labels(["income_in_2011_of_all", "income_in_2012_of_all", "age"], longest=12)
    ['…_2011_of_a…', '…_2012_of_a…', 'age']
    """
    texts = [label(name, longest) for name in names]
    whole = [label(name, 10**9) for name in names]
    for text, count in Counter(texts).items():
        if count > 1:
            at = [place for place, other in enumerate(texts) if other == text]
            for place, told in zip(at, _told_apart([whole[place] for place in at], longest), strict=True):
                texts[place] = told
    return texts


def _told_apart(names: list[str], longest: int) -> list[str]:
    """Return the part of names in which they differ; a number where that does not help."""
    first, last = min(names), max(names)  # what these share at their start, all do
    same = next((at for at, pair in enumerate(zip(first, last, strict=False)) if len(set(pair)) > 1), len(first))
    start = max(min(same - longest // 3, min(map(len, names)) - longest + 2), 0)
    parts = [f"…{name[start : start + longest - 2]}…" for name in names]
    if len(set(parts)) == len(parts):
        return parts
    return [f"{part[: longest - 1 - len(str(at))]} {at}" for at, part in enumerate(parts, start=1)]


def visible(character: str) -> str:
    """Return a character that can be drawn: joiners of scripts stay, what turns or hides text does not."""
    if character in "\u200c\u200d" or not unicodedata.category(character).startswith(("C", "Z")):
        return character
    return " " if unicodedata.category(character) in ("Cc", "Zs", "Zl", "Zp") else "\N{REPLACEMENT CHARACTER}"


def text_style(names: Sequence[str]) -> dict[str, Any]:
    """Return how names are set: never as mathematics, in a font that has their characters where there is one."""
    style: dict[str, Any] = {"parse_math": False}
    if all(name.isascii() for name in names):
        return style
    import matplotlib as mpl

    return style | {"fontfamily": [*mpl.rcParams["font.family"], *_installed()]}


@cache
def _installed() -> tuple[str, ...]:
    """Return those of the fonts that this system has."""
    from matplotlib import font_manager

    found = {font.name for font in font_manager.fontManager.ttflist}
    return tuple(font for font in _WIDE_FONTS if font in found)
