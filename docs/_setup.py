"""What every page of the documentation needs before its first example; not part of the package."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import mkdtemp

ROOT = Path(__file__).resolve().parent.parent


def written(message, kind, *_, **__):
    """A warning without the file and the line that it came from."""
    return f"{kind.__name__}: {message}\n"


def show(message, kind, *_, **__):
    """Print a warning among the results."""
    print(written(message, kind), end="")


def prepare(folder=ROOT):
    """Work in a folder; show every warning of stepsel; find the `stepsel` of this interpreter."""
    from stepsel import StepselWarning

    os.chdir(folder)
    own = str(Path(sys.executable).parent)
    if own not in os.environ["PATH"].split(os.pathsep)[:1]:
        os.environ["PATH"] = own + os.pathsep + os.environ["PATH"]
    warnings.simplefilter("always", StepselWarning)
    warnings.showwarning, warnings.formatwarning = show, written


def page():
    """Begin a page: its examples run in the root of the repository, `!command` prints what the command prints."""
    prepare()
    sys.path.insert(0, str(ROOT / "docs"))
    get_ipython().system = shell  # noqa: F821 (given by IPython)


def shell(command, *, code=0):
    """Run a command and print what it prints, notes and errors first. A command that fails ends the build."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, encoding="utf-8")
    print(done.stderr + done.stdout, end="")
    if done.returncode != code:
        raise RuntimeError(f"{command} ended with exit code {done.returncode}")


def scratch():
    """Go to a new folder with nothing but a link to the data, for examples that write files."""
    folder = Path(mkdtemp())
    (folder / "data").symlink_to(ROOT / "data", target_is_directory=True)
    os.chdir(folder)


def says(path, *words):
    """Make sure that a file of the repository still says what the page says of it."""
    text = (ROOT / path).read_text(encoding="utf-8")
    for word in words:
        assert word in text, f"{path} does not say {word!r}"


def number(path, before):
    """The whole number that follows these words in a file of the repository."""
    found = re.search(re.escape(before) + r"(\d+)", (ROOT / path).read_text(encoding="utf-8"))
    assert found, f"{path} does not say {before!r}"
    return int(found[1])
