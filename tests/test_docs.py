"""README runs from top to bottom and prints what it says; links lead somewhere; the pages are left to their build.

The pages under docs/ are executed by ``make docs``, which shows what their examples print.
"""

import contextlib
import html
import io
import re
import runpy
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))  # the source distribution has none
PAGES = [README, *DOCS]
# An example of README, and what it prints.
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
FENCED = re.compile(r"^(```+|:::+).*?^\1$", re.DOTALL | re.MULTILINE)
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?(?!\w)")

with_docs = pytest.mark.skipif(not DOCS, reason="the source distribution has no docs")


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


def prose(page):
    """A page without its fenced blocks."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def anchors(page):
    """What headings are called in links, on GitHub and in the built pages (three levels: `myst_heading_anchors`)."""
    headings = re.findall(r"^#{1,3} (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_readme_shows_what_its_examples_print():
    for line, expected, printed in outcomes(README):
        if expected is None:
            continue
        words, numbers = words_and_numbers(expected)
        found, values = words_and_numbers(printed)
        assert found == words, f"README.md, line {line}, prints:\n{printed}"
        assert values == pytest.approx(numbers, rel=1e-3), f"README.md, line {line}, prints:\n{printed}"


@with_docs
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_the_page_links_to_is_there(page):
    for target in re.findall(r"\]\(([^):]+)\)", prose(page)):
        name, _, anchor = target.partition("#")
        if name.startswith("auto_gallery/"):  # written by the build, which checks the link
            continue
        other = page.parent / name if name else page
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), target


@with_docs
def test_examples_are_found():
    assert sum(text is not None for _, _, text in blocks(README)) >= 1
    cells = {page.name: len(CELL.findall(page.read_text(encoding="utf-8"))) for page in DOCS}
    assert cells["terms.md"] >= 15
    assert cells["trust.md"] >= 20
    assert cells["command_line.md"] >= 5


@with_docs
@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_pages_hold_examples_that_the_build_runs(page):
    """No output is pasted: what an example prints comes from its cell."""
    text = page.read_text(encoding="utf-8")
    assert not any(printed for _, _, printed in blocks(page))
    if CELL.search(text):
        assert text.startswith("---\nfile_format: mystnb\n")
        assert "\n_setup.page()\n" in CELL.findall(text)[0]


@with_docs
def test_the_page_on_architecture_names_every_layer():
    """The drawing takes the layers from pyproject.toml and their groups from the table of the page."""
    command = [sys.executable, "-c", "import _layers; print(_layers.drawing())"]
    done = subprocess.run(command, cwd=ROOT / "docs", capture_output=True, text=True, encoding="utf-8")
    assert done.stdout.startswith("<svg "), done.stderr


# The check of the built pages ----------------------------------------------------------------------------------------


def checked(folder, **pages):
    """What the link check says of these pages."""
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    command = [sys.executable, str(ROOT / "docs" / "check_links.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    return done.returncode, done.stdout


@with_docs
def test_links_that_lead_somewhere(tmp_path):
    code, said = checked(
        tmp_path,
        one='<h1 id="top">1</h1><a href="two.html#b">2</a> <a href="#top">1</a> <a href="https://example.org/">elsewhere</a>',
        two='<p id="b"><img src="data:image/png;base64,AA"> <a href="./one.html?q=1">1</a></p>',
    )
    assert (code, said) == (0, "3 links inside 2 pages were checked: 0 broken.\n")


@with_docs
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('<a href="three.html">3</a>', "three.html is not there"),
        ('<a href="#nowhere">?</a>', "#nowhere has no such anchor"),
        ('<a href="../outside.html">?</a>', "../outside.html is not there"),
        ('<script src="https://cdn.example.org/x.js"></script>', "loads https://cdn.example.org/x.js from elsewhere"),
        ('<link rel="stylesheet" href="//cdn.example.org/x.css">', "loads //cdn.example.org/x.css from elsewhere"),
        ('<img src="missing.png">', "missing.png is not there"),
        (f"<pre>{ROOT}/stepsel/result.py</pre>", "names the folder"),
    ],
)
def test_links_that_lead_nowhere(tmp_path, body, words):
    code, said = checked(tmp_path, one=body)
    assert code == 1
    assert words in said


@with_docs
def test_no_pages_are_no_success(tmp_path):
    assert checked(tmp_path)[0] == 1


@with_docs
def test_the_citation_is_of_this_version():
    import stepsel

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == project["version"] == stepsel.__version__


@with_docs
def test_the_pictures_of_the_readme_show_what_is_drawn_now():
    pictures = runpy.run_path(str(ROOT / "docs" / "pictures.py"))["pictures"]

    def texts(svg):
        return [html.unescape(text).split() for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]

    for name, svg in pictures().items():
        stored = (ROOT / "docs" / "_static" / name).read_text(encoding="utf-8")
        assert len(texts(stored)) > 10
        assert texts(stored) == texts(svg), f"{name}: run python docs/pictures.py"
