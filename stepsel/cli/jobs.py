"""What the commands do: call the library on what was read, hand the result to ``output``."""

from types import SimpleNamespace

import numpy as np

from stepsel.cli import output
from stepsel.cli.factors import asked_factors
from stepsel.cli.remarks import caught
from stepsel.cli.report import report_kind, write_report
from stepsel.cli.roles import candidates, empty_note, refuse_missing
from stepsel.cli.selecting import Made, made, read
from stepsel.cli.stability import content, resampled, show_stability
from stepsel.exceptions import CollinearityWarning, PerfectFitWarning
from stepsel.reading import listed


def run_select(asked: SimpleNamespace) -> None:
    """Run ``stepsel select``.

    Parameters
    ----------
    asked : SimpleNamespace
        The options of the command by name.
    """
    output.check_writable(asked.trace, asked.candidates, asked.report)
    kind = None if asked.report is None else report_kind(asked.report)
    found = made(asked)
    stability = resampled(found.result, asked, asked.stability) if asked.stability else None
    if asked.trace is not None:
        found.result.trace.to_csv(asked.trace, index=False)
    if asked.candidates is not None:
        found.result.candidates.to_csv(asked.candidates, index=False)
    if kind is not None:
        write_report(found, kind, asked.report, stability)
    if asked.as_json:
        tail = {"notes": found.notes, "warnings": found.remarks.sentences}
        more = {} if stability is None else {"stability": content(stability, asked)}
        output.show_json(found.head | output.result_content(found.result) | more | tail)
        return
    output.show_result(
        found.result,
        found.title,
        perfect=PerfectFitWarning in found.remarks.kinds,
        vif_limit=asked.vif_threshold if _is_watched(asked, found) else None,
    )
    if stability is not None:
        show_stability(stability)
    output.show_notes(found.notes + found.remarks.sentences)


def run_stability(asked: SimpleNamespace) -> None:
    """Run ``stepsel stability``.

    Parameters
    ----------
    asked : SimpleNamespace
        The options of the command by name.
    """
    output.check_writable(asked.table)
    found = made(asked)
    stability = resampled(found.result, asked, asked.resamples)
    if asked.table is not None:
        stability.table.to_csv(asked.table)
    if asked.as_json:
        tail = {"notes": found.notes, "warnings": found.remarks.sentences}
        output.show_json(found.head | {"selected": found.result.selected} | content(stability, asked) | tail)
        return
    output.standard_output().print(found.title, end="\n\n")
    show_stability(stability)
    output.show_notes(found.notes + found.remarks.sentences)


def _is_watched(asked: SimpleNamespace, found: Made) -> bool:
    """Whether collinearity was looked for, and none was found."""
    return asked.collinearity != "ignore" and CollinearityWarning not in found.remarks.kinds


def run_vif(asked: SimpleNamespace) -> None:
    """Run ``stepsel vif``.

    Parameters
    ----------
    asked : SimpleNamespace
        The options of the command by name.
    """
    table = read(asked)
    factors = asked_factors(asked, table)
    roles = {} if asked.target is None else {"target": asked.target.strip()}
    frame, taken, categorical = candidates(table, asked.drop, roles, factors)
    if asked.missing == "raise":
        refuse_missing(table, frame)
    complete = frame.dropna()
    notes = table.notes + empty_note(taken) + factors.notes
    if asked.target is None:
        taken_all = listed(frame.columns, 20)
        notes.append(f"Every column was taken: {taken_all}; if one of them is the response, --target leaves it out.")
    if len(complete) < len(frame):
        notes.append(f"{len(frame) - len(complete)} of {len(frame)} rows with missing values were dropped.")
    from stepsel import vif

    with caught() as remarks:
        inflation = vif(complete, categorical=categorical or None)
    constant = inflation["term"][inflation["vif"].isna()]
    if len(constant):
        notes.append(f"Constant, without a variance inflation factor: {listed(constant, 20)}.")
    exact = inflation["term"][np.isinf(inflation["vif"])]
    if len(exact):
        notes.append(f"Repeated exactly by other columns, so that the factor is infinite: {listed(exact, 20)}.")
    if asked.as_json:
        output.show_json({"file": table.path, "vif": inflation, "notes": notes, "warnings": remarks.sentences})
        return
    output.show_vif(inflation, f"{table.path}: variance inflation factors, {len(complete)} rows")
    output.show_notes(notes + remarks.sentences)
