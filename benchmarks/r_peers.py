"""R's step and leaps::regsubsets, where Rscript is installed."""

import subprocess
import tempfile
from pathlib import Path

from benchmarks.environment import answers, environment, rscript
from benchmarks.workloads import fits_of_loop

SCRIPT = Path(__file__).parent / "peers.R"
R_PEERS = ("step", "leaps")


def r_answers(peer, run, outcome, budget, seconds):
    """What peers.R says of one run."""
    with tempfile.TemporaryDirectory() as folder:
        fits, selected = Path(folder, "fits.csv"), Path(folder, "selected.csv")
        rows = [f"{size},{count}" for size, count in fits_of_loop(run, outcome["path"])]
        fits.write_text("\n".join(["size,count", *rows]) + "\n")
        selected.write_text("\n".join(map(str, outcome["selected"])) + "\n")
        shape = run.workload.n_rows, run.workload.n_columns
        task = (run.direction, run.criterion, len(outcome["selected"]), run.max_terms or 0, budget)
        command = [rscript(), SCRIPT, peer, *run.workload.binary_files(), *shape, *task, fits, selected, run.family]
        return answers(command, seconds)


def r_versions():
    code = 'cat(sprintf("%s\\n%s\\n", getRversion(), if (requireNamespace("leaps")) packageVersion("leaps") else ""))'
    if rscript() is None:
        return {"R": None, "leaps": None}
    done = subprocess.run([rscript(), "-e", code], capture_output=True, text=True, env=environment(), check=False)
    found = [*done.stdout.splitlines(), "", ""]
    return {"R": found[0] or None, "leaps": found[1] or None}
