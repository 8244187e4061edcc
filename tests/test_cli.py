"""The command line: its numbers are R's (cases/f*/case.json), its failures one sentence with an exit code."""

import inspect
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from helpers import CASES, read_json
from numpy.testing import assert_allclose
from typer.testing import CliRunner

from stepsel import StepwiseSelector, __version__
from stepsel.cli.app import app
from stepsel.cli.jobs import run_select

READABLE = ["f01", "f02", "f04", "f05", "f07", "f08", "f12", "f13", "f14"]
FOLDERS = {folder.name[:3]: folder for folder in CASES.glob("f*")}
RENAMED = {"f13": {"noise": "age.2"}}  # the file calls two columns age; clean.csv calls the second noise


# Before click 8.2 the two streams were one unless this was said.
SEPARATE = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}


def run(*arguments):
    return CliRunner(**SEPARATE).invoke(app, list(map(str, arguments)))


def refusal(*arguments, code=2):
    """The one sentence on standard error."""
    outcome = run(*arguments)
    assert outcome.exit_code == code, outcome.output
    assert outcome.stdout == ""
    lines = outcome.stderr.split("\n")[:-1]
    lines = lines[1:] if lines[0] == "" else lines  # an empty line of older versions of click at an interruption
    assert len(lines) == 1, lines
    assert lines[0].endswith(".")
    return lines[0]


def selection(*arguments):
    outcome = run("select", *arguments, "--json")
    assert outcome.exit_code == 0, outcome.output
    return json.loads(outcome.stdout, parse_constant=pytest.fail)


def data(case):
    return FOLDERS[case] / "data.csv"


def target(case):
    return "Preis" if case == "f05" else "y"


# R's selections on the reported files -------------------------------------------------------------------------------


@pytest.mark.parametrize("case", READABLE)
@pytest.mark.parametrize("name", ["p_both", "aic_back"])
def test_selection_is_that_of_r(case, name):
    reference = read_json(FOLDERS[case] / "case.json")["values"]["R"][name]
    names = RENAMED.get(case, {})
    search = ["--direction", reference["params"]["direction"]]
    search += ["--criterion", {"p": "pvalue"}.get(reference["params"]["crit"], "aic")]
    found = selection(data(case), "-t", target(case), *search, "--missing", "drop", "--collinearity", "ignore")

    assert sorted(found["selected"]) == sorted(names.get(term, term) for term in reference["selected"])
    assert found["n_obs"] == reference["n"]
    estimates = {row["term"]: row for row in found["coefficients"]}
    for column, values in (
        ("estimate", reference["coef"]),
        ("std_error", reference["se"]),
        ("p_value", reference["p"]),
    ):
        for term, value in values.items():
            term = term.strip("`")
            assert_allclose(estimates[names.get(term, term)][column], value, rtol=1e-8)
    if name == "p_both":
        steps = [row for row in found["trace"] if row["action"] != "start"]
        assert [names.get(row["term"], row["term"]) for row in reference["trace"]] == [row["term"] for row in steps]
        assert_allclose([row["p_value"] for row in steps], [row["p"] for row in reference["trace"]], rtol=1e-8)


def test_remark_among_numbers_is_named_and_the_column_can_be_dropped():
    sentence = refusal("select", data("f10"), "--target", "y")
    assert "column 'area' is not numeric: line 9 holds 'about 90'" in sentence
    assert "--drop area" in sentence
    found = selection(data("f10"), "--target", "y", "--drop", "area,dist")
    assert set(found["selected"]) <= {"rooms", "age", "noise"}


def test_labels_are_no_target_for_least_squares():
    assert "target 'default' is not numeric: line 2 holds 'Yes'" in refusal("select", data("f16"), "-t", "default")


def test_missing_values_need_a_decision():
    sentence = refusal("select", data("f07"), "-t", "y")
    assert "8 of 60 rows have missing values (area 2, rooms 2, age 2, dist 1, noise 1)" in sentence
    assert "--missing drop" in sentence


# What is printed ----------------------------------------------------------------------------------------------------


def test_tables_for_people():
    outcome = run("select", data("f05"), "-t", "Preis", "--criterion", "pvalue")
    assert outcome.exit_code == 0
    for words in ("Steps", "Final model", "Collinearity", "Größe", "Entfernung_€", "(Intercept)", "56.3221"):
        assert words in outcome.stdout
    assert "Selected (3): Größe, Alter, Entfernung_€." in outcome.stdout
    assert outcome.stdout.rstrip().endswith(".")
    assert "note: The file is not UTF-8; encoding cp1252 was assumed" in outcome.stderr


def test_names_are_printed_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    long = "a name of more than a hundred characters " * 3
    names = ["x[bold]", "a:smile:b", "R&D, total ($)", "[/]", long.strip()]
    frame = pd.DataFrame(rng.normal(size=(40, 5)), columns=names).assign(y=lambda table: table.sum(axis=1))
    frame["y"] += rng.normal(size=40)
    frame.to_csv(tmp_path / "data.csv", index=False)
    outcome = run("select", tmp_path / "data.csv", "-t", "y", "--keep", "R&D, total ($)", "--keep", "[/],x[bold]")
    assert outcome.exit_code == 0
    for name in names:
        assert name in outcome.stdout
    assert "\x1b" not in outcome.stdout


@pytest.mark.parametrize(("search", "name"), [("pvalue", "p_both"), ("aic", "aic_both")])
def test_names_with_signs_of_formulas_and_other_scripts(search, name):
    folder = CASES / "h01_symbol_names"
    plain, names = (pd.read_csv(folder / file, nrows=0).columns for file in ("plain.csv", "data.csv"))
    outcome = run("select", folder / "data.csv", "-t", names[-1], "-c", search)
    assert outcome.exit_code == 0
    selected = read_json(folder / "case.json")["values"]["R"][name]["selected"]
    chosen = [label for term, label in zip(plain, names, strict=True) if term in selected]
    assert f"Selected ({len(chosen)}): {', '.join(chosen)}." in outcome.stdout


def test_nothing_selected(tmp_path):
    rng = np.random.default_rng(3)
    pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "y"]).to_csv(tmp_path / "d.csv", index=False)
    outcome = run("select", tmp_path / "d.csv", "-t", "y", "-c", "pvalue", "--alpha-enter", "1e-9")
    assert outcome.exit_code == 0
    assert "the model is the intercept only" in outcome.stdout
    found = selection(tmp_path / "d.csv", "-t", "y", "-c", "pvalue", "--alpha-enter", "1e-9")
    assert found["selected"] == []
    assert [row["term"] for row in found["coefficients"]] == ["(Intercept)"]


def test_json_is_strict_and_alone(tmp_path):
    a = np.arange(20.0)
    noise = np.random.default_rng(1).normal(size=20)
    pd.DataFrame({"a": a, "b": 2 * a, "c": noise, "y": a + noise**2}).to_csv(tmp_path / "d.csv", index=False)
    found = selection(tmp_path / "d.csv", "-t", "y", "--keep", "a", "-v")
    assert {"selected", "trace", "coefficients", "glance", "collinearity", "notes", "warnings"} <= set(found)
    assert found["n_dropped"] == 0
    assert found["stop_reason"].endswith(".")
    assert found["trace"][0]["action"] == "start"
    assert found["trace"][0]["p_value"] is None
    assert any("b" in sentence for sentence in found["warnings"])
    exact = run("vif", tmp_path / "d.csv", "-t", "y", "--json")
    assert {row["term"]: row["vif"] for row in json.loads(exact.stdout)["vif"]}["a"] == "Infinity"


def test_files_written(tmp_path):
    trace, candidates = tmp_path / "trace.csv", tmp_path / "candidates.csv"
    outcome = run("select", data("f01"), "-t", "y", "-c", "pvalue", "--trace", trace, "--candidates", candidates)
    assert outcome.exit_code == 0
    steps = read_json(FOLDERS["f01"] / "case.json")["values"]["R"]["p_both"]["trace"]
    written = pd.read_csv(trace)
    assert written["term"].tolist()[1:] == [step["term"] for step in steps]
    assert_allclose(written["p_value"][1:], [step["p"] for step in steps], rtol=1e-8)
    assert set(pd.read_csv(candidates)["term"]) == {"area", "rooms", "age", "dist", "noise"}


def test_places_that_cannot_be_written_are_told_before_the_work(tmp_path):
    assert "does not exist" in refusal("select", data("f01"), "-t", "y", "--trace", tmp_path / "no" / "t.csv")
    assert "is a folder" in refusal("select", data("f01"), "-t", "y", "--candidates", tmp_path)


def test_version():
    assert run("--version").stdout == f"stepsel {__version__}\n"


# Options ------------------------------------------------------------------------------------------------------------


def test_every_parameter_has_its_option_with_its_default(monkeypatch):
    seen = {}

    def stop(self, X, y, sample_weight=None):
        seen.update(self.get_params())
        raise ValueError("Stop.")

    monkeypatch.setattr(StepwiseSelector, "fit", stop)
    refusal("select", data("f01"), "-t", "y")
    defaults = {name: p.default for name, p in inspect.signature(StepwiseSelector).parameters.items()}
    assert seen | {"keep": ()} == defaults | {"keep": ()}
    assert list(seen["keep"]) == []
    options = (
        "--direction backward --criterion bic --family cox --alpha-enter 0.01 --alpha-remove 0.02 --test-enter f "
        "--test-remove wald --start area,age --keep dist --group g=rooms,noise --max-terms 3 --max-steps 9 "
        "--no-intercept --missing drop --refits leading --collinearity ignore --vif-threshold 5 --tolerance 1e-6 "
        "--weight-type analytic --event 1 --hierarchy none -vv"
    )
    refusal("select", data("f01"), "-t", "y", *options.split())
    untouched = {name for name, value in seen.items() if value == defaults[name]}
    assert untouched == {"categorical"}
    assert (seen["start"], seen["keep"]) == (["area", "age"], ["dist"])
    assert seen["groups"] == {"g": ["rooms", "noise"]}


def test_weights_are_no_candidate(tmp_path):
    clean = pd.read_csv(FOLDERS["f01"] / "clean.csv")
    twice = pd.concat([clean, clean.iloc[:10]])
    twice.to_csv(tmp_path / "twice.csv", index=False)
    clean.assign(w=[2] * 10 + [1] * 30).to_csv(tmp_path / "weighted.csv", index=False)
    repeated = selection(tmp_path / "twice.csv", "-t", "y")
    weighted = selection(tmp_path / "weighted.csv", "-t", "y", "--weights", "w")
    assert weighted["n_obs"] == 50
    assert weighted["selected"] == repeated["selected"]
    both = [[row["estimate"] for row in found["coefficients"]] for found in (weighted, repeated)]
    assert_allclose(*both, rtol=1e-9)


def test_groups_enter_as_one():
    found = selection(data("f01"), "-t", "y", "--group", "size=area", "--group", "size=rooms", "-c", "bic")
    assert "size" in [row["term"] for row in found["trace"]]


def test_reading_options(tmp_path):
    content = "größe;n;y\n1.234;1;5\n2.500;2;7\n3.750;4;6\nfehlt;5;9\n4.125;3;9\n"
    (tmp_path / "d.csv").write_bytes(b"Title\n" + content.encode("cp1252"))
    options = ["--skip-rows", 1, "--encoding", "cp1252", "--sep", ";", "--thousands", ".", "--decimal", ","]
    missing = ["--na", "fehlt", "--missing", "drop"]
    found = selection(tmp_path / "d.csv", "-t", "y", "--keep", "größe", *options, *missing)
    assert "größe" in found["selected"]
    assert found["n_obs"] == 4
    assert found["n_dropped"] == 1


def test_names_of_separators(tmp_path):
    (tmp_path / "d.csv").write_text("x\ty\n1\t2\n2\t3.5\n3\t3\n5\t8\n")
    assert selection(tmp_path / "d.csv", "-t", "y", "--sep", "tab")["n_obs"] == 4
    assert "single column" in refusal("select", tmp_path / "d.csv", "-t", "y", "--sep", ";")


def test_vif():
    reference = read_json(FOLDERS["f02"] / "case.json")["values"]["R"]["p_both"]["vif_full"]
    outcome = run("vif", data("f02"), "--target", "y", "--json")
    found = {row["term"]: row["vif"] for row in json.loads(outcome.stdout)["vif"]}
    assert found.keys() == reference.keys()
    assert_allclose([found[term] for term in reference], list(reference.values()), rtol=1e-8)
    outcome = run("vif", data("f07"), "-t", "y", "--missing", "drop", "--drop", "noise")
    assert outcome.exit_code == 0
    assert "noise" not in outcome.stdout
    assert "8 of 60 rows" not in outcome.stderr
    assert "7 of 60 rows" in outcome.stderr
    assert "--missing drop" in refusal("vif", data("f07"))


# Failures -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["select", "nowhere.csv", "-t", "y"], "nowhere.csv was not found."),
        (["select", data("f01")], "--target"),
        (["select", data("f01"), "-t", "Area2"], "its columns are area,"),
        (["select", data("f01"), "-t", "y", "--drop", "rums"], "Column 'rums' is not in"),
        (["select", data("f01"), "-t", "y", "--keep", "area,rums"], "Column 'rums' is not in"),
        (["select", data("f01"), "-t", "y", "--start", "rums"], "Column 'rums' is not in"),
        (["select", data("f01"), "-t", "y", "--drop", "y"], "'y' is used"),
        (["select", data("f01"), "-t", "y", "--group", "area,age"], "name=COLUMN"),
        (["select", data("f01"), "-t", "y", "--weights", "w"], "'w' is not in"),
        (["select", data("f01"), "-t", "y", "--drop", "area,rooms,age,dist,noise"], "no candidate columns"),
        (["select", data("f01"), "-t", "y", "--direction", "sideways"], "sideways"),
        (["select", data("f01"), "-t", "y", "--max-terms", "many"], "'--max-terms': "),
        (["select", data("f01"), "-t", "y", "--alpha-enter", "0.5", "-c", "pvalue"], "alpha_enter"),
        (["select", data("f01"), "-t", "y", "--family", "weibull"], "family"),
        (["select", data("f01"), "-t", "y", "--event", "1"], "event"),
        (["select", data("f01"), "-t", "y", "--nonsense"], "--nonsense"),
        (["choose", data("f01")], "choose"),
    ],
)
def test_bad_input_is_one_sentence(arguments, words):
    assert words in refusal(*arguments)


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (MemoryError(), 2, "memory"),
        (OSError(28, "No space left on device", "out.csv"), 2, "out.csv: No space left on device."),
        (ValueError("Two\nlines."), 2, "Two lines."),
        (ZeroDivisionError("oops"), 1, "ZeroDivisionError: oops"),
    ],
)
def test_no_failure_shows_a_traceback(monkeypatch, error, code, words):
    def fail(asked):
        raise error

    monkeypatch.setattr("stepsel.cli.jobs.run_select", fail)
    assert words in refusal("select", data("f01"), "-t", "y", code=code)
    assert run_select is not fail


def test_debugging_raises(monkeypatch):
    def fail(asked):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("stepsel.cli.jobs.run_select", fail)
    monkeypatch.setenv("STEPSEL_DEBUG", "1")
    assert isinstance(run("select", data("f01"), "-t", "y").exception, ZeroDivisionError)


# As a program -------------------------------------------------------------------------------------------------------

MAIN = "from stepsel.cli import main; main()"


def program(*arguments, code=MAIN, **environment):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        env=os.environ | environment,
        check=False,
    )


def test_a_program_in_a_pipe_keeps_names_in_any_locale():
    done = program("select", data("f05"), "-t", "Preis", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "Größe, Alter, Entfernung_€" in done.stdout.decode("utf-8")
    assert b"\x1b" not in done.stdout


def test_a_program_fails_with_code_and_sentence():
    done = program("select", data("f10"), "-t", "y")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().count("\n") == 1
    assert "line 9 holds 'about 90'" in done.stderr.decode()


def test_standard_input():
    with data("f01").open("rb") as stream:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, "select", "-", "-t", "y", "--json"],
            stdin=stream,
            capture_output=True,
            check=True,
        )
    assert json.loads(done.stdout)["n_obs"] == 40


def test_without_typer_the_extra_is_named():
    done = program(code="import sys; sys.modules['typer'] = None; " + MAIN)
    assert done.returncode == 2
    assert done.stderr.decode().strip().endswith('pip install "stepwise-selector[cli]"')


def test_the_library_does_not_load_the_command_line():
    loaded = "any(name in sys.modules for name in ('stepsel.cli', 'stepsel.reading', 'typer'))"
    done = program(code=f"import stepsel, sys; sys.exit({loaded})")
    assert done.returncode == 0
