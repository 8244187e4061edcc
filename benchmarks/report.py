"""The results of a benchmark run as a Markdown page."""

from benchmarks.resampling import TASKS
from benchmarks.workloads import BLOCK, GEMV_PASSES, RUNS

PEER_NAMES = {
    "sklearn": "scikit-learn SFS",
    "mlxtend": "mlxtend SFS",
    "step": "R `step`",
    "leaps": "R `leaps`",
    "abess": "abess",
    "lars": "LassoLarsIC",
}

INTRODUCTION = """# Benchmarks

Written by `make bench` (`python -m benchmarks.run`); do not edit. Ten true effects (Cox: five) among AR(0.5)
correlated columns, float64 arrays in C order. Times are CPU seconds with one BLAS thread. stepsel and its floor are
measured in turns in one process: medians of many rounds, in brackets the quartiles of the ratio. Every peer runs in a
process of its own, in the same session. stepsel is `StepwiseSelector(...).fit(X, y)` from the array to the fitted
object: input checks, search, collinearity warnings. Tables are built when they are asked for and are not in it.
"""

NOTES = f"""## How to read this

- **Floor**: one `X.T @ X`; for W3, which has fewer rows than columns, {GEMV_PASSES} passes `v @ X` (30 steps and 3).
  For W5 and W6 20 and 15 score passes: `[Z'W; r'] @ X` and `w @ (X * X)`, which give the score statistics of all
  candidates, at the model size of each step (Z has 1, 2, ... columns, the intercept among them), {BLOCK:,} rows at a
  time, so that no copy of X is made. For W7 55 Newton cross-products of the full model, `(Z * w) @ Z.T` with the 41
  columns of the model as rows of Z. For Cox none is defined.
- **exact** refits every candidate at every step; **leading** only those that a proven bound does not rule out. W6 is
  selected with the default tests, likelihood ratio for entry and removal, and with those of SAS, score and Wald.
- Peers: one run; where that takes less than a second, the median of five.
- **e** = extrapolated. Peers that fit candidates one by one: the time of one candidate fit at five model sizes along
  the path (the median of at least two), interpolated linearly, times the number of candidate fits of each size that
  the path needs. Where that is within the budget, the whole is run and its time is shown instead. For R `step` the
  candidate fit is `lm.fit`, `glm.fit` or `coxph` alone (a mean), so that its "e" is a lower bound. abess on W2 and W6
  and LassoLarsIC on W2: ten times the time of a tenth of the rows, where that is beyond the budget.
- **>** = stopped, not finished after this many seconds by the clock.
- **\\*** = selected other columns than stepsel.
- **statsmodels loop**: one `OLS(y, X).fit(method=...)` per candidate on arrays, by "qr" or "pinv", whichever is
  faster there; `GLM(y, X, family).fit()` on W5 to W7, `PHReg(..., ties="efron").fit()` on Cox. With p-values, one fit
  gives all removals by t or Wald's test; by likelihood ratio (W6 LR) each takes a fit. On W6 SAS the loop enters by
  Wald's test as well. It takes the same steps (`tests/test_benchmarks.py`).
- **scikit-learn SFS** and **mlxtend SFS** are given the number of terms that stepsel found: they have no stopping rule
  of this kind. scikit-learn's `cv` is one split with all rows on both sides, mlxtend's is 0, so that both need one
  fit per candidate. Estimators are `LinearRegression()`, `LogisticRegression(C=inf)` scored by log loss and
  `PoissonRegressor(alpha=0)` by deviance. On W6 and W8 scikit-learn goes forward only, mlxtend floats.
- **R `step`** is of `lm`, `glm` or `coxph`. It has no p-values: on W6 and W8 `k = qchisq(0.95, 1)`. R times are user +
  system seconds of `proc.time` around the call.
- **R `leaps`** is `regsubsets` with `nvmax` the number of terms that stepsel found, on W8 `method = "seqrep"`.
- **abess** (best subset by splicing) and **LassoLarsIC** (the lasso path) answer a different question: neither is
  stepwise. They choose by the run's criterion, on W6 and W8 by AIC; abess among at most as many terms as stepsel found.
"""


def report(results):
    """Return the page.

    Parameters
    ----------
    results : dict
        As collected by ``benchmarks.run``.

    Returns
    -------
    str
    """
    runs = {RUNS[name]: result for name, result in results["runs"].items()}
    parts = [INTRODUCTION, circumstances(results), floor_table(runs), loop_table(runs), peer_table(runs)]
    parts += [resampling_table(results["resampling"]), memory_table(runs), NOTES, accuracy_table(results["accuracy"])]
    return "\n".join(part for part in parts if part)


def circumstances(results):
    machine, versions = results["machine"], results["versions"]
    listed = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    absent = [name for name, version in versions.items() if not version]
    lines = [
        f"- Date: {results['date']}{' (a quick run: few rounds)' if results['quick'] else ''}",
        f"- Machine: {machine['cpu']}, {machine['cores']} cores; load average {machine['load']:.1f} before and "
        f"{results['load']:.1f} after",
        f"- Versions: {listed}",
        f"- Budget for one peer on one workload: {results['budget']:.0f} s",
    ]
    if absent:
        lines.append(f"- Not installed: {', '.join(absent)}")
    return "\n".join([*lines, ""])


def table(header, rows):
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *rows]) + "\n"


def verdict(met):
    return "met" if met else "**missed**"


def floor_table(runs):
    rows = []
    for run, result in runs.items():
        ours = result["ours"]
        cells = [run.name, run.what, str(len(ours["path"])), "", f"{ours['ours'] * 1e3:.2f}", "", "", ""]
        if ours["floor"]:
            ratio, (low, high) = ours["ours"] / ours["floor"], ours["quartiles"]
            cells[3], cells[5] = f"{ours['floor'] * 1e3:.2f}", f"{ratio:.2f} ({low:.2f}-{high:.2f})"
        if run.floor_target:
            cells[6:] = [f"<= {run.floor_target:g}", verdict(ratio <= run.floor_target)]
        elif run.seconds_target:
            cells[6:] = [f"<= {run.seconds_target:g} s", verdict(ours["ours"] <= run.seconds_target)]
        rows.append(cells)
    header = ["run", "selection", "steps", "floor, ms", "stepsel, ms", "ratio", "target", ""]
    return "## Against the arithmetic\n\n" + table(header, rows)


def loop_table(runs):
    rows = []
    for run, result in runs.items():
        answer = result["peers"].get("statsmodels")
        if answer is None:
            continue
        cells = [run.name, loop_seconds(answer), "", "", ""]
        if answer["how"] in ("measured", "extrapolated"):
            cells[2] = f"{answer['seconds'] / result['ours']['ours']:,.0f}"
            if run.loop_target:
                met = answer["seconds"] / result["ours"]["ours"] >= run.loop_target
                cells[3:] = [f">= {run.loop_target:g}", verdict(met)]
        rows.append(cells)
    header = ["run", "statsmodels loop, s", "ratio to stepsel", "target", ""]
    return "## Against a loop of statsmodels fits\n\n" + table(header, rows) if rows else ""


def loop_seconds(answer):
    how = f" (fit by {answer['note']})" if answer.get("note") else ""
    return seconds(answer) + how


def seconds(answer):
    if answer["how"] == "missing":
        return "not installed"
    if answer["how"] == "failed":
        return "failed"
    if answer["how"] == "stopped":
        return f"> {answer['seconds']:.0f}"
    value = answer["seconds"]
    text = f"{value:.3f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
    mark = " e" if answer["how"] == "extrapolated" else ""
    return text + mark + ("\\*" if answer.get("same") is False else "")


def peer_table(runs):
    peers = [peer for peer in PEER_NAMES if any(peer in result["peers"] for result in runs.values())]
    rows = []
    for run, result in runs.items():
        cells = [peer_cell(result["peers"].get(peer), result["ours"]["ours"]) for peer in peers]
        rows.append([run.name, *cells])
    header = ["run", *(PEER_NAMES[peer] for peer in peers)]
    title = "## Other packages: CPU seconds (and how many times stepsel's)\n\n"
    return title + table(header, rows) if peers else ""


def peer_cell(answer, ours):
    if answer is None:
        return ""
    ratio = answer.get("seconds", 0) / ours
    times = f" ({ratio:,.0f}x)" if ratio >= 10 else f" ({ratio:.1f}x)"
    return seconds(answer) + (times if answer["how"] in ("measured", "extrapolated") else "")


def resampling_table(found):
    rows = []
    for task, row in zip(TASKS, found, strict=True):
        ratio = row["loop"] / row["ours"]
        shape = f"{task.name} {task.n_rows:,} x {task.n_columns}"
        cells = [f"{row['ours']:.2f}", f"{row['loop']:,.0f} e", f"{ratio:,.0f}", f">= {task.target:g}"]
        rows.append([shape, *cells, verdict(ratio >= task.target and row["same"])])
    text = (
        "1,000 bootstrap samples, backward by AIC on each (`stepsel.inference.selection_stability`, one process), and "
        "the same selections by a loop of statsmodels fits (by pinv), measured on ten samples and scaled.\n\n"
    )
    header = ["data", "stepsel, s", "statsmodels loop, s", "ratio", "target", ""]
    return "## Resampling\n\n" + text + table(header, rows)


def memory_table(runs):
    rows = []
    for run, result in runs.items():
        if found := result["memory"]:
            met = found["megabytes"] <= run.memory_target
            target = f"<= {run.memory_target:g}"
            rows.append([run.name, f"{found['data']:.0f}", f"{found['megabytes']:.1f}", target, verdict(met)])
    if not rows:
        return ""
    how = next(result["memory"]["how"] for result in runs.values() if result["memory"])
    text = (
        "Peak of the resident memory during `fit` above what it was just before, in MB (10^6 bytes), in a fresh "
        f"process with the modules and the data loaded; by {how}.\n\n"
    )
    return "## Memory\n\n" + text + table(["run", "data, MB", "extra, MB", "target", ""], rows)


def accuracy_table(accuracy):
    rows = []
    for row in accuracy["rows"]:
        errors = [row[key] for key in ("coefficients_fast", "coefficients_reported", "p_fast", "p_reported")]
        switched = f"{row['switched']} of {accuracy['data_sets']}"
        rows.append([f"{row['wanted']:.0e}", *(f"{error:.0e}" for error in errors), switched])
    text = (
        "Cross-products lose digits as columns grow collinear. Here one of five columns keeps only a share (its "
        "tolerance, 1 - R2) of its variance beside the others. Errors are relative, the worst of "
        f"{accuracy['data_sets']} data sets, against a QR factorisation in extended precision. The engine leaves the "
        f"cross-products for explicit orthogonalisation where a tolerance is at most "
        f"{accuracy['smallest_tolerance']:g}; the coefficients that are reported come from QR in any case.\n\n"
    )
    header = ["tolerance", "coefficients, cross-products", "coefficients, reported"]
    header += ["p, cross-products", "p, reported", "switched"]
    return "## Where the engine leaves the cross-products\n\n" + text + table(header, rows)
