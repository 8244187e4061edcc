"""A process of its own with one BLAS thread, and what it runs on."""

import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# Settings that would make the linear algebra another one than users have.
UNUSUAL = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
PACKAGES = ("numpy", "scipy", "statsmodels", "scikit-learn", "mlxtend", "abess")


def environment():
    usual = {name: value for name, value in os.environ.items() if name not in UNUSUAL}
    return usual | ONE_THREAD | {"PYTHONPATH": str(ROOT)}


def answers(command, seconds, given=None):
    """The JSON lines that a command prints; those it had printed when its time was over."""
    with subprocess.Popen(
        list(map(str, command)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
        cwd=ROOT,
    ) as process:
        try:
            output, _ = process.communicate(given, timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def python(module, *arguments, seconds, given=None):
    return answers([sys.executable, "-m", module, *arguments], seconds, given)


def rscript():
    return shutil.which("Rscript")


def machine():
    return {"cpu": _cpu_model(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}


def versions():
    import scipy.linalg  # noqa: F401  (its BLAS is to be found as well)
    from threadpoolctl import threadpool_info

    found = {name: _version(name) for name in PACKAGES}
    blas = {
        f"{library['internal_api']} {library['version']}, kernel {library.get('architecture', '?')}"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return {"python": platform.python_version(), **found, "BLAS": " / ".join(sorted(blas))}


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cpu_model():
    try:
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found.group(1) if found else platform.processor() or platform.machine()


if __name__ == "__main__":
    print(json.dumps(versions()))
