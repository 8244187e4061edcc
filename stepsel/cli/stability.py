"""``stepsel stability`` and ``select --stability``: the whole selection on resampled rows."""

import sys
from types import SimpleNamespace
from typing import Any

from stepsel.cli import output
from stepsel.cli.remarks import progress
from stepsel.layouts import MODELS, STABILITY

_LISTED = 10


def resampled(result: Any, asked: SimpleNamespace, n_resamples: int) -> Any:
    """Run the selection on resamples.

    Parameters
    ----------
    result : StepwiseResult
    asked : SimpleNamespace
        The options of the command by name.
    n_resamples : int
    """
    from stepsel.inference import selection_stability

    with progress(f"Selecting on {n_resamples} resamples", asked.verbose):
        return selection_stability(
            result,
            n_resamples=n_resamples,
            method=str(getattr(asked, "method", "bootstrap")),
            fraction=getattr(asked, "fraction", 0.5),
            random_state=asked.seed,
            n_jobs=asked.jobs,
            verbose=asked.verbose,
        )


def show_stability(stability: Any) -> None:
    """Print how often terms and models were selected, and what that says.

    Parameters
    ----------
    stability : SelectionStability
    """
    console = output.standard_output()
    frame = stability.table.reset_index()
    console.print("Stability of the selection", output.table(frame, STABILITY), sep="\n")
    models = stability.models.head(_LISTED)
    models = models.assign(terms=[", ".join(map(str, terms)) or "(none)" for terms in models["terms"]])
    console.print("Most frequent models", output.table(models, MODELS), sep="\n")
    console.print(stability.verdict)
    sys.stdout.flush()


def content(stability: Any, asked: SimpleNamespace) -> dict[str, Any]:
    """Collect the tables for JSON.

    Parameters
    ----------
    stability : SelectionStability
    asked : SimpleNamespace
        The options of the command by name.
    """
    return {
        "n_resamples": stability.n_resamples,
        "n_failed": stability.n_failed,
        "method": stability.method,
        "seed": asked.seed,
        "table": stability.table.reset_index(),
        "models": stability.models,
        "pairs": stability.pairs,
    }
