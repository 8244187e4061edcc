"""What happens beside a run: warnings as sentences, progress on a terminal."""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Remarks:
    """What was warned of: the sentences, each once, and the kinds of warnings."""

    sentences: list[str] = field(default_factory=list)
    kinds: set[type[Warning]] = field(default_factory=set)


@contextlib.contextmanager
def caught() -> Iterator[Remarks]:
    """Collect warnings; what code prints goes to standard error."""
    remarks = Remarks()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(sys.stderr):
        warnings.simplefilter("always")
        yield remarks
    silent = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
    told = [item for item in caught if not issubclass(item.category, silent)]
    remarks.sentences += dict.fromkeys(str(item.message) for item in told)
    remarks.kinds |= {item.category for item in told}


@contextlib.contextmanager
def progress(what: str, verbose: int) -> Iterator[None]:
    """Show that a run is going on: on a terminal, and unless the steps themselves are printed."""
    if verbose or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} ..."):
        yield
