"""The examples of README and of the pages run from top to bottom, and print what the pages say."""

import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]  # the source distribution has no docs
# An example, and what it prints.
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?(?!\w)")

with_docs = pytest.mark.skipif(len(PAGES) == 1, reason="the source distribution has no docs")


def blocks(page):
    """(line of the page, code, printed text or None) of every example."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        yield text[: found.start()].count("\n") + 2, found[1], found[2]


def outcomes(page):
    """(line of the page, expected, printed) of every example, warnings printed as they come."""
    names = {}
    with contextlib.chdir(ROOT), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, kind, *_: print(f"{kind.__name__}: {message}")
        for line, code, expected in blocks(page):
            example = compile("\n" * (line - 1) + code, str(page), "exec")
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(example, names)
            yield line, expected, printed.getvalue()


def words_and_numbers(text):
    """White space does not count, nor does the last digit of a decimal number."""
    return NUMBER.sub("#", text).split(), [float(number) for number in NUMBER.findall(text)]


def anchors(page):
    """What headings are called in links."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [page for page in PAGES if any(blocks(page))], ids=lambda page: page.name)
def test_the_page_shows_what_its_examples_print(page):
    for line, expected, printed in outcomes(page):
        if expected is None:
            continue
        words, numbers = words_and_numbers(expected)
        found, values = words_and_numbers(printed)
        assert found == words, f"{page.name}, line {line}, prints:\n{printed}"
        assert values == pytest.approx(numbers, rel=1e-3), f"{page.name}, line {line}, prints:\n{printed}"


@with_docs
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_the_page_links_to_is_there(page):
    for target in re.findall(r"\]\(([^):]+)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        other = page.parent / name if name else page
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), target


@with_docs
def test_examples_are_found():
    shown = {page.name: [text for _, _, text in blocks(page) if text] for page in PAGES}
    assert len(shown["README.md"]) >= 1
    assert len(shown["terms.md"]) >= 10
    assert len(shown["trust.md"]) >= 10
