"""Tables as text and as HTML."""

import html
from collections.abc import Hashable

import pandas as pd

from stepsel.tables import formatters

# Colours are those of the notebook, whether light or dark; what marks the note goes with both.
_STYLE = (
    ".stepsel{max-width:100%}.stepsel h4{margin:.8em 0 .3em}.stepsel .scroll{overflow-x:auto;max-width:100%}"
    ".stepsel table{border-collapse:collapse}.stepsel th,.stepsel td{text-align:right;padding:.2em .7em .2em 0}"
    ".stepsel td{unicode-bidi:isolate}.stepsel .words{text-align:left}.stepsel p{margin:.3em 0;overflow-wrap:anywhere}"
    ".stepsel .note{border-left:4px solid #d55e00;padding-left:.7em}"
)


def shown(name: Hashable) -> str:
    """Return a label as text; nothing for the start row."""
    return "" if name is None else str(name) or "(no name)"


def named(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its terms as text."""
    return table.assign(term=pd.Series([shown(term) for term in table["term"]], index=table.index, dtype=object))


class Summary:
    """A printable summary."""

    def __init__(self, sections: list[tuple[str, pd.DataFrame]], facts: str) -> None:
        self._sections, self._facts = sections, facts

    def __str__(self) -> str:
        parts = [f"{title}\n{_text(table)}" for title, table in self._sections]
        return "\n\n".join([*parts, self._facts])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [f"<h4>{html.escape(title)}</h4>{_html(table)}" for title, table in self._sections]
        facts = [
            f"<p{_NOTE if line.startswith(CAUTION) else ''}>{html.escape(line)}</p>" for line in self._facts.split("\n")
        ]
        # What looks like mathematics in a name is none.
        start = f'<div class="stepsel tex2jax_ignore mathjax_ignore"><style>{_STYLE}</style>'
        return "\n".join([start, *parts, *facts, "</div>"])


CAUTION = "Selection makes"
_NOTE = ' class="note"'


def _text(table: pd.DataFrame) -> str:
    with pd.option_context("display.width", 200, "display.max_columns", None, "display.max_rows", None):
        return table.to_string(index=False, float_format=_number, na_rep="")


def _html(table: pd.DataFrame) -> str:
    formats = formatters(table)
    heads = "".join(f'<th{_words(name in formats)} scope="col">{html.escape(str(name))}</th>' for name in table.columns)
    columns = [
        [formats[name](value) if name in formats else shown(value) for value in table[name]] for name in table.columns
    ]
    rows = [
        "<tr>"
        + "".join(
            f"<td{_words(name in formats)}>{html.escape(text)}</td>"
            for name, text in zip(table.columns, row, strict=True)
        )
        + "</tr>"
        for row in zip(*columns, strict=True)
    ]
    body = "".join(rows)
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'


def _words(numeric: bool) -> str:
    return "" if numeric else ' class="words"'


def _number(value: float) -> str:
    return f"{value:.5g}"
