"""Tables as text and as HTML."""

import html
from collections.abc import Hashable

import pandas as pd


def shown(name: Hashable) -> str:
    """Return a label as text; nothing for the start row."""
    return "" if name is None else str(name)


class Summary:
    """A printable summary."""

    def __init__(self, sections: list[tuple[str, pd.DataFrame]], facts: str) -> None:
        self._sections, self._facts = sections, facts

    def __str__(self) -> str:
        parts = [f"{title}\n{_text(table)}" for title, table in self._sections]
        return "\n\n".join([*parts, self._facts])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [
            f"<h4>{html.escape(title)}</h4>"
            + table.to_html(index=False, float_format=_number, na_rep="", border=0, escape=True)
            for title, table in self._sections
        ]
        return "\n".join([*parts, f"<p>{html.escape(self._facts)}</p>"])


def _text(table: pd.DataFrame) -> str:
    with pd.option_context("display.width", 200, "display.max_columns", None, "display.max_rows", None):
        return table.to_string(index=False, float_format=_number, na_rep="")


def _number(value: float) -> str:
    return f"{value:.5g}"
