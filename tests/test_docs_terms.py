"""The examples of docs/terms.md, run from top to bottom, print what the page says."""

import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "terms.md"
# An example, and what it prints.
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?(?!\w)")

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the source distribution has no pages")


def blocks():
    """(line of the page, code, printed text) of every example."""
    text = PAGE.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        yield text[: found.start()].count("\n") + 2, found[1], found[2] or ""


def outcomes():
    """(line of the page, expected, printed) of every example, warnings printed as they come."""
    names = {}
    with contextlib.chdir(ROOT), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, kind, *_: print(f"{kind.__name__}: {message}")
        for line, code, expected in blocks():
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), names)
            yield line, expected, printed.getvalue()


def words_and_numbers(text):
    """White space does not count, nor does the last digit of a decimal number."""
    return NUMBER.sub("#", text).split(), [float(number) for number in NUMBER.findall(text)]


def test_the_page_shows_what_its_examples_print():
    compared = 0
    for line, expected, printed in outcomes():
        words, numbers = words_and_numbers(expected)
        found, values = words_and_numbers(printed)
        assert found == words, f"docs/terms.md, line {line}, prints:\n{printed}"
        assert values == pytest.approx(numbers, rel=1e-3), f"docs/terms.md, line {line}, prints:\n{printed}"
        compared += len(words)
    assert compared > 100


def test_the_pages_it_links_to_are_there():
    targets = re.findall(r"\]\(([^)#:]+)[)#]", PAGE.read_text(encoding="utf-8"))
    assert targets
    assert [target for target in targets if not (PAGE.parent / target).exists()] == []
