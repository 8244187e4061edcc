"""Sections as HTML, Markdown or LaTeX, by the templates beside this module."""

import base64
import hashlib
import html
import re
from importlib.resources import files
from typing import Any

from stepsel.plots.names import visible
from stepsel.report.blocks import Section
from stepsel.report.drawing import data_uri
from stepsel.report.pgf import pictured

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
    "|": r"\textbar{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "−": r"\ensuremath{-}",
    "…": r"\ldots{}",
    "∞": r"\ensuremath{\infty}",
    "²": r"\textsuperscript{2}",
    "≤": r"\ensuremath{\le}",
    "\N{REPLACEMENT CHARACTER}": "?",  # LuaTeX takes it for a broken file
}
_LONG_WORD, _LONG_CELL = 16, 26
_LAST_LATIN = 0x24F
_MARKDOWN = re.compile(r"[\\`*_{}\[\]|~$<>&]|^[#+-](?=[ #]|$)|(?<=^\d)[.)](?= |$)")


def rendered(kind: str, title: str, sections: list[Section]) -> str:
    """Return a report as text.

    Parameters
    ----------
    kind : {"html", "md", "tex"}
    title : str
    sections : list of Section
    """
    # Braces mean something in LaTeX: its template marks its own places otherwise.
    marks: dict[str, Any] = {}
    if kind == "tex":
        marks = {"block_start_string": "((*", "block_end_string": "*))", "variable_start_string": "((("}
        marks |= {"variable_end_string": ")))", "comment_start_string": "((#", "comment_end_string": "#))"}
    environment = _environment(kind, marks)
    script, style = (_file(name) for name in ("report.js", "report.css"))
    policy = "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    given = {"title": title, "sections": sections, "script": script, "style": style, "script_hash": policy}
    template = environment.from_string(_file(f"report.{kind}.j2"))
    text: str = template.render(given, wide=False)
    wide = kind == "tex" and any(ord(character) > _LAST_LATIN for character in text)
    return template.render(given, wide=True) if wide else text


def _environment(kind: str, marks: dict[str, Any]) -> Any:
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=kind == "html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **marks,
    )
    environment.filters["text"] = plain
    environment.filters["md"] = markdown
    environment.filters["tex"] = latex
    environment.filters["cell"] = latex_cell
    environment.tests["long_text"] = is_long
    environment.filters["listing"] = listing
    environment.filters["lines"] = plain_lines
    environment.filters["fence"] = fence
    environment.filters["pgf"] = lambda figure: pictured(figure, latex)
    environment.globals["svg"] = lambda figure: data_uri(figure, "svg")
    environment.globals["png"] = lambda figure: data_uri(figure, "png")
    environment.filters["safe_code"] = Markup  # the script and style of this package
    return environment


def _file(name: str) -> str:
    return (files("stepsel.report") / "templates" / name).read_text(encoding="utf-8")


def plain(text: str) -> str:
    """Return text without characters that turn or hide other text."""
    return "".join(map(visible, text))


def markdown(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return _MARKDOWN.sub(lambda found: html.escape(found[0]) if found[0] in "<>&" else "\\" + found[0], plain(text))


def latex(text: str) -> str:
    """Return text that LaTeX shows as it is."""
    shown = "".join(_LATEX.get(character, character) for character in plain(text))
    shown = shown.replace("--", "-{}-").replace("--", "-{}-").replace(",,", ",{},")  # no ligatures
    # After a line of a table these would be its options.
    return "{}" + shown if shown.startswith(("[", "*")) else shown


def latex_cell(text: str) -> str:
    """Return text for a table: long words may be broken."""
    words = [_broken(word) if len(word) > _LONG_WORD else latex(word) for word in plain(text).split(" ")]
    shown = " ".join(words)
    return "{}" + shown if shown.startswith(("[", "*")) else shown


def _broken(word: str) -> str:
    pieces = re.findall(r"[^_./:-]{1,12}[_./:-]*|[_./:-]+", word)
    return r"\allowbreak{}".join(map(latex, pieces))


def is_long(column: list[str]) -> bool:
    """Whether a column of text needs lines to be broken."""
    return max(map(len, column), default=0) > _LONG_CELL


def listing(code: str) -> str:
    """Return code that cannot end the LaTeX listing that it stands in."""
    return plain_lines(code).replace(r"\end{verbatim}", r"\end {verbatim}")


def fence(code: str) -> str:
    """Return a fence that is longer than any in the code."""
    return "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))


def plain_lines(code: str) -> str:
    """Return code without characters that turn or hide text; its lines stay."""
    return "\n".join(plain(line) for line in code.split("\n"))
