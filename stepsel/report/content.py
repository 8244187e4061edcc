"""What a report says: its sections, from a result."""

import datetime
import importlib.metadata
import platform
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from stepsel.call import imports
from stepsel.layouts import CANDIDATES, MODELS, STABILITY, Layout, layouts, vif_layout
from stepsel.plots.path import NAMES
from stepsel.report.blocks import Block, Code, Facts, Figure, Grid, Items, Section, Text, grid
from stepsel.report.reasons import left_out
from stepsel.report.trust import STATEMENT, trust
from stepsel.report.wording import FIGURES, meanings, what_was_done
from stepsel.summary import named, shown

_PACKAGES = ("stepwise-selector", "numpy", "scipy", "pandas", "scikit-learn", "statsmodels", "matplotlib")

_TESTS = {"f": "partial F", "lr": "likelihood ratio", "score": "score", "wald": "Wald"}
_MOST_ROWS = 400
NOT_ADJUSTED = "p-values and intervals are those of a model chosen beforehand: they are not adjusted for the selection."


def title_of(result: Any) -> str:
    """Return the title of a report that is given none."""
    return f"Stepwise selection of {shown(result.y_name)}"


def sections(
    result: Any, stability: Any = None, command: str | None = None, notes: list[str] | None = None
) -> list[Section]:
    """Return the sections of a report.

    Parameters
    ----------
    result : StepwiseResult
    stability : SelectionStability, optional
    command : str, optional
        The command line that made the report.
    notes : list of str, optional
        What was said of the file that the data came from.
    """
    return [
        Section("In short", "short", _short(result, stability)),
        Section("What was asked", "asked", _asked(result)),
        Section("Data", "data", _data(result, notes or [])),
        Section("Steps", "steps", _steps(result)),
        Section("Final model", "model", _model(result)),
        Section("Left out, and why", "left-out", _left_out(result)),
        Section("Collinearity", "collinearity", _collinearity(result)),
        Section("How far to trust it", "trust", _trust(result, stability)),
        Section("What the terms mean", "meaning", [Items(meanings(result))]),
        Section("Run it again", "again", _again(result, stability, command)),
    ]


def _short(result: Any, stability: Any) -> list[Block]:
    names = ", ".join(map(shown, result.selected))
    chosen = f"Selected {len(result.selected)} of {len(result.candidate_terms)} candidate terms: {names}."
    if not names:
        model = "the intercept only" if result.has_intercept else "empty"
        chosen = f"None of the {len(result.candidate_terms)} candidate terms was selected; the model is {model}."
    done = Text(what_was_done(result))
    blocks: list[Block] = [done, Text(chosen), Text(result.stop_reason), Text(STATEMENT, strong=True)]
    if stability is not None:
        blocks.append(Text(" ".join(stability.verdict.splitlines()[:2])))
    if result.warnings:
        blocks += [Text("What was warned of:"), Items([_sentence(text) for text in result.warnings])]
    return blocks


def _asked(result: Any) -> list[Block]:
    settings, attrs = result.settings, result.trace.attrs
    moves = ["enter"] * settings.adds + ["remove"] * settings.removes
    rows = [
        ("response", shown(result.y_name)),
        ("family", str(attrs["family"])),
        ("direction", settings.direction),
        ("criterion", NAMES[settings.criterion]),
        ("tests", " and ".join(dict.fromkeys(_TESTS[attrs[f"test_{move}"]] for move in moves))),
    ]
    if settings.criterion == "pvalue":
        rows += [(name, f"{level:g}") for name, level in result.levels.items()]
    if result.event is not None:
        rows.append(("event", str(result.event)))
    inside, absent = set(result.selected), "left out: it repeats others, or does not vary"
    kept = [shown(term) if term in inside else f"{shown(term)} ({absent})" for term in result.kept]
    rows += [("to be in every model", ", ".join(kept))] if kept else []
    for name in ("max_terms", "max_steps"):
        if getattr(settings, name) is not None:
            rows.append((name, f"{getattr(settings, name)}"))
    if not result.has_intercept and attrs["family"] != "cox":
        rows.append(("intercept", "none"))
    if result.weighted:
        rows.append(("weights", settings.weight_type))
    factors = [f"{shown(name)} (reference {level})" for name, level in result.references.items()]
    rows += [("factors", "; ".join(factors))] if factors else []
    rows += [("start", start)] if (start := _start(result)) else []
    return [Facts(rows)]


def _start(result: Any) -> str:
    terms = result.start_terms
    if not terms:
        return "the empty model"
    return "all candidates" if len(terms) == len(result.candidate_terms) else ", ".join(map(shown, terms))


def _data(result: Any, notes: list[str]) -> list[Block]:
    total = f"{result.n_obs:,.12g}"
    rows = [("observations", total), ("rows dropped, incomplete", f"{result.n_dropped:,}")]
    if result.n_events is not None:
        rows.append(("events", f"{result.n_events:,.12g}"))
    rows += [
        ("candidate terms", f"{len(result.candidate_terms)}"),
        ("candidate coefficients", f"{result.n_candidate_columns}"),
    ]
    blocks: list[Block] = [Facts(rows)]
    if result.n_dropped:
        blocks.append(
            Text(
                "Rows with a gap in the response or in any candidate were left out of every model, so that all models "
                "are fitted to the same rows."
            )
        )
    if result.gaps:
        names = pd.Series([shown(name) for name in result.gaps], dtype=object)
        gaps = pd.DataFrame({"column": names, "gaps": list(result.gaps.values())})
        blocks.append(grid(gaps, {"column": ("column", "s"), "gaps": ("missing values", "d")}))
    notes = [note for note in notes if not (result.gaps and note.startswith("Missing values:"))]
    return [*blocks, *([Items(notes)] if notes else []), *_columns(result)]


def _columns(result: Any) -> list[Block]:
    """Describe the candidate columns, where they are at hand."""
    try:
        table = result.describe()
    except RuntimeError as error:
        return [Text(f"The candidates are not described here: {error}")]
    table["column"] = pd.Series([shown(name) for name in table["column"]], dtype=object)
    text = "Candidates on these rows" + ("; of a level of a factor the mean is its share" if result.references else "")
    layout = {"column": ("column", "s"), "mean": ("mean", ".5g"), "std": ("standard deviation", ".5g")}
    return [_shortened(replace(grid(table, layout), caption=text), "columns")]


def _steps(result: Any) -> list[Block]:
    layout, _ = layouts(result.trace.attrs)
    trace = named(result.trace)
    blocks: list[Block] = [
        Text("p and its statistic are those of the move; the other columns describe the model after it."),
        _shortened(grid(trace, layout), "steps"),
        *_figure("path", result, "The criterion at every step, with the term that entered or left."),
    ]
    if len(trace) > 1:
        blocks += _figure("criteria", result, "Several criteria along the steps, the best step of each marked.")
        blocks += _figure("coefficients", result, "The standardized coefficients of the model of every step.")
    return blocks


def _model(result: Any) -> list[Block]:
    _, layout = layouts(result.trace.attrs)
    table = result.tidy()
    if result.ratio_name is not None:
        ratios = result.tidy(exponentiate=True)
        slopes = ratios["term"] != "(Intercept)"
        for name, column in (("ratio", "estimate"), ("ratio_low", "conf_low"), ("ratio_high", "conf_high")):
            table[name] = ratios[column].where(slopes)
        low, high = ("95 % low", ".4g"), ("95 % high", ".4g")
        layout = {name: how for name, how in layout.items() if name not in ("conf_low", "conf_high")}
        layout |= {"ratio": (result.ratio_name, ".4g"), "ratio_low": low, "ratio_high": high}
    figures = result.glance().iloc[0].drop(["stop_reason"])
    facts = [(FIGURES.get(name, name), _fact(value)) for name, value in figures.items() if not _is_missing(value)]
    if table.empty:
        return [Text("The model is empty."), Facts(facts)]
    return [grid(named(table), layout), Text(NOT_ADJUSTED), Facts(facts)]


def _left_out(result: Any) -> list[Block]:
    table = left_out(result).sort_values("p_value", kind="stable", na_position="last", key=pd.to_numeric)
    if table.empty:
        return [Text("Every candidate is in the model.")]
    by_p = result.settings.criterion == "pvalue"
    layout: Layout = {name: how for name, how in CANDIDATES.items() if name in ("term", "df", "statistic", "p_value")}
    layout["statistic"] = layouts(result.trace.attrs)[0]["statistic"]
    layout |= {} if by_p else {"criterion": (f"{NAMES[result.settings.criterion]} with it", ".4f")}
    layout |= {"step": ("weighed at step", "d"), "reason": ("reason", "s")}
    if not by_p:  # the criterion of a removal is that of the model without it
        removed = table["reason"].str.startswith("It was removed")
        table.loc[removed, "criterion"] = np.nan
    text = (
        "Those with the smallest p first. The numbers are those of the last step at which the term was weighed: of "
        "adding it, or of its removal."
    )
    figure = _figure("candidates", result, "The moves that were weighed at the last step.")
    return [Text(text), _shortened(grid(named(table), layout), "terms"), *figure]


def _collinearity(result: Any) -> list[Block]:
    blocks: list[Block] = []
    table = result.collinearity
    if len(table):
        blocks.append(_shortened(grid(named(table), vif_layout(table)), "terms"))
        indices = table.attrs["condition_indices"]
        if indices:
            blocks.append(Text(f"Condition number of the selected model: {indices[-1]:.4g}."))
        blocks += _figure("vif", result, "The variance inflation factor of every selected term.")
    else:
        blocks.append(Text("No term is selected, so that there is no inflation to report."))
    text = "The candidates as a tree of their correlations: terms that coloured branches join stand in for one another."
    return [*blocks, *_figure("clusters", result, text)]


def _trust(result: Any, stability: Any) -> list[Block]:
    blocks: list[Block] = [Items(trust(result))]
    if stability is None:
        text = "How the selection varies with the data was not examined here: "
        return [*blocks, Text(text + "stepsel.inference.selection_stability(result) runs it again on resampled rows.")]
    models = stability.models.head(10)
    models = models.assign(terms=[", ".join(map(shown, terms)) or "(none)" for terms in models["terms"]])
    display = stability.display()
    return [
        *blocks,
        *(Text(line) for line in stability.verdict.splitlines()),
        Figure("inclusion", display, "How often each term was selected on resampled rows.", {"kind": "inclusion"}),
        _shortened(grid(named(stability.table.reset_index()), STABILITY), "coefficients"),
        Figure("stability", display, "The coefficients in the resamples that selected them.", {"kind": "coefficients"}),
        grid(models, MODELS, "Most frequent models"),
    ]


def _again(result: Any, stability: Any, command: str | None) -> list[Block]:
    blocks: list[Block] = [Code(command, "sh")] if command else []
    if result.call:
        blocks.append(Code(_code(result.call, stability), "python"))
    rows = [
        ("written", datetime.datetime.now(tz=datetime.UTC).date().isoformat()),
        ("Python", platform.python_version()),
    ]
    return [*blocks, Facts(rows + [(name, version) for name in _PACKAGES if (version := _version(name))])]


def _code(call: str, stability: Any) -> str:
    """Return lines of Python that repeat the selection, and its stability."""
    formula = call.startswith("stepwise(")
    lines = [imports(call), "", f"result = {call}{'' if formula else '.result_'}"]
    lines.insert(1, "\n# data: a DataFrame" if formula else "\n# X: a DataFrame of the candidates; y: the response")
    if stability is not None:
        options = f"n_resamples={stability.n_resamples + stability.n_failed}, method={stability.method!r}"
        options += "" if stability.fraction is None else f", fraction={stability.fraction}"
        lines.insert(1, "from stepsel.inference import selection_stability")
        lines.append(f"stability = selection_stability(result, {options})  # random_state: as it was")
    return "\n".join(line for line in lines if line)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _figure(kind: str, result: Any, alt: str) -> list[Block]:
    """Return a plot, or the sentence that says why there is none."""
    try:
        return [Figure(kind, result.display(kind), alt)]
    except (RuntimeError, ValueError) as error:
        return [Text(f"No plot ({kind}): {error}")]


def _shortened(table: Grid, what: str) -> Grid:
    """Return a table without its middle, where it is very long."""
    n = len(table.rows)
    if n <= _MOST_ROWS:
        return table
    half = _MOST_ROWS // 2
    caption = f"The first and the last {half} of {n} {what}."
    return replace(
        table,
        rows=table.rows[:half] + table.rows[-half:],
        keys=table.keys[:half] + table.keys[-half:],
        caption=caption,
    )


def _sentence(warning: str) -> str:
    """Return a warning without the class that it is filtered by."""
    text = warning.partition(": ")[2]
    return text[:1].upper() + text[1:]


def _fact(value: Any) -> str:
    if isinstance(value, float | np.floating) and not float(value).is_integer():
        return f"{value:,.6g}"
    return f"{value:,.15g}" if isinstance(value, int | float | np.number) else str(value)


def _is_missing(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
