"""Every failure as one sentence on standard error, with an exit code; never a traceback."""

import difflib
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

EXPECTED = (ValueError, TypeError, OSError, MemoryError)
MEANT = {  # what other programs call it
    "sbc": "bic",
    "sic": "bic",
    "schwarz": "bic",
    "p": "pvalue",
    "p-value": "pvalue",
    "sl": "pvalue",
    "adjrsq": "adj_r2",
    "stepwise": "both",
    "bidirectional": "both",
    "logistic": "binomial",
    "logit": "binomial",
    "normal": "gaussian",
    "linear": "gaussian",
    "negbin": "negative_binomial",
    "coxph": "cox",
    "phreg": "cox",
}
# Parameters as the library's sentences write them, which are options here.
PARAMETER = re.compile(
    r"\b(family|criterion|direction|missing|weight_type|collinearity|hierarchy|ties|candidates)=(['\"])(\w+)\2"
)


class Command(TyperCommand):
    """A command whose --help is shown as a flag."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option; flags take no value, so none is shown."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.metavar = ""
        return option


class Sentences(TyperGroup):
    """The group of commands, ending in a sentence and an exit code where something fails.

    Exit codes: 0 done, 1 a fault of stepsel itself, 2 bad input, 130 interrupted.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; everything that can go wrong ends here."""
        _write_utf8()
        try:
            code = super().main(args, prog_name or "stepsel", complete_var, False, windows_expand_args, **extra)
            sys.stdout.flush()
            if code == 130:  # typer's own answer to an interruption
                fail("Interrupted.", code)
        except BrokenPipeError:  # the reader of the output has gone, as in "| head"
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115
            code = 0
        except KeyboardInterrupt:
            code = fail("Interrupted.", 130)
        except Exception as error:
            if os.environ.get("STEPSEL_DEBUG") == "1":
                raise
            code = explain(error)
        if standalone_mode:
            sys.exit(code if isinstance(code, int) else 0)
        return code


def explain(error: Exception) -> int:
    """Print the sentence for an error.

    Parameters
    ----------
    error : Exception
        What went wrong.

    Returns
    -------
    int
        The exit code.
    """
    name = type(error).__name__
    if name == "Abort":
        return fail("Interrupted.", 130)
    if hasattr(error, "format_message"):  # wrong use of an option: the class differs between versions of typer
        message = one_line(error.format_message()).rstrip(".")
        command = getattr(getattr(error, "ctx", None), "command_path", "stepsel")
        message = message.replace("Value error, ", "")
        # Without a message it is the help itself that was shown.
        return fail(f"{message}; {_meant(message)}{command} --help lists the options.", 2) if message else 0
    if isinstance(error, MemoryError):
        return fail("The data do not fit into memory; leave columns out with --drop.", 2)
    if isinstance(error, OSError) and error.filename is not None:
        return fail(f"{error.filename}: {error.strerror or error}.", 2)
    if isinstance(error, EXPECTED):
        return fail(PARAMETER.sub(_as_option, one_line(str(error))) or name, 2)
    return fail(
        f"stepsel failed unexpectedly ({name}: {one_line(str(error))}); please report it with the command "
        "(STEPSEL_DEBUG=1 shows where).",
        1,
    )


def _as_option(found: re.Match[str]) -> str:
    option = {"candidates": "refits"}.get(found[1], found[1].replace("_", "-"))
    return f"--{option} {found[3]}"


def _meant(message: str) -> str:
    """Return a question that names the choice closest to one that there is not."""
    found = re.search(r"'([^']*)' is not one of (.*)", message)
    if found is None:
        return ""
    given, choices = found[1].lower(), re.findall(r"'([^']*)'", found[2])
    near = [name for name in [MEANT.get(given)] if name in choices] or difflib.get_close_matches(given, choices, 1)
    return f"did you mean {near[0]}? " if near else ""


def fail(sentence: str, code: int) -> int:
    """Print a sentence on standard error and pass the exit code on."""
    print(sentence, file=sys.stderr, flush=True)
    return code


def one_line(text: str) -> str:
    """Join the lines of a message."""
    return " ".join(text.split())


def _write_utf8() -> None:
    """Keep names intact whatever the locale: UTF-8 into files and pipes, substitutes on a narrow terminal."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue
        if stream.isatty():
            reconfigure(errors="replace")
        else:
            reconfigure(encoding="utf-8")
