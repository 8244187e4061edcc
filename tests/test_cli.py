"""The command line: its numbers are R's (cases/f*/case.json), its failures one sentence with an exit code."""

import inspect
import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from helpers import CASES, PUBLISHED, TESTS, R, read_json
from numpy.testing import assert_allclose
from typer.testing import CliRunner

from stepsel import MissingRowsWarning, StepwiseSelector, __version__, stepwise, vif
from stepsel.cli.app import app
from stepsel.cli.jobs import run_select
from stepsel.inference import selection_stability

SIZE = ["--group", "size=area,rooms"]
READABLE = ["f01", "f02", "f04", "f05", "f07", "f08", "f12", "f13", "f14"]
FOLDERS = {folder.name[:3]: folder for folder in CASES.glob("f*")}
PIMA, QUINE, LUNG = (TESTS.parent / "data" / name for name in ("pima.csv", "quine.csv", "lung.csv"))
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
    assert "2 columns are not numeric: area (line 9 holds 'about 90'), dist (line 22 holds '<0.5')" in sentence
    assert sentence.endswith("; correct them, or leave them out with --drop area,dist.")
    sentence = refusal("select", data("f10"), "--target", "y", "--drop", "dist")
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


# Other families: R's selections on the files of data/ ---------------------------------------------------------------

COX = [LUNG, "--family", "cox", "--time", "time", "--status", "status", "--drop", "inst,meal.cal", "--missing", "drop"]
FAMILIES = {
    "pima": [PIMA, "-t", "type", "--family", "binomial"],
    "quine": [QUINE, "-t", "days", "--family", "poisson", "--group", "Age=form1,form2,form3"],
    "lung": COX,
}
ESTIMATE = ("Estimate", "Std. Error")
AS_IN_R = {"aboriginal": ("Eth", -1), "male": ("Sex", 1), "slow_learner": ("Lrn", 1)}  # R's contrast is N against A
LEVELS = {"aboriginal": "EthN", "male": "SexM", "slow_learner": "LrnSL"} | {f"form{i}": f"AgeF{i}" for i in (1, 2, 3)}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("search", ["both-aic", "forward-bic", "backward-pvalue"])
def test_family_is_selected_as_in_r(name, search):
    reference = read_json(R / "expected" / f"{name}-{search}.json")
    direction, criterion = search.split("-")
    found = selection(*FAMILIES[name], "-d", direction, "-c", criterion)
    path = [(row["action"], AS_IN_R.get(row["term"], (row["term"], 1))[0]) for row in found["trace"][1:]]
    assert path == [(row["action"], row["term"]) for row in reference["path"][1:]]
    likelihoods = [row["loglik"] for row in reference["path"]]
    assert_allclose([row["log_likelihood"] for row in found["trace"]], likelihoods, rtol=1e-9)
    for row in found["coefficients"]:
        expected = reference["coefficients"].get(LEVELS.get(row["term"], row["term"]))
        if name == "quine" and row["term"] == "(Intercept)":
            continue  # of another reference level
        sign = AS_IN_R.get(row["term"], ("", 1))[1]
        estimate, error = (expected.get(key) for key in (("coef", "se(coef)") if name == "lung" else ESTIMATE))
        assert_allclose([row["estimate"], row["std_error"]], [sign * estimate, error], rtol=1e-6)


@pytest.mark.parametrize(
    ("criterion", "path", "log_likelihood", "aic"),
    [
        ("aic", ["aboriginal", "age", "slow_learner"], -546.700366406, 1107.40073281),
        ("bic", ["aboriginal"], -553.31690268, 1112.63380536),
    ],
)
def test_negative_binomial_as_step_aic_of_glm_nb(criterion, path, log_likelihood, aic):
    """R 4.2.2: MASS::stepAIC(glm.nb(days ~ 1), direction = "both"), logLik and AIC, which count theta."""
    group = ["--group", "age=form1,form2,form3"]
    found = selection(QUINE, "-t", "days", "--family", "negative_binomial", "-c", criterion, *group)
    assert [row["term"] for row in found["trace"][1:]] == path
    assert_allclose(found["trace"][-1]["log_likelihood"], log_likelihood, rtol=1e-9)
    assert_allclose(found["trace"][-1]["aic"], aic, rtol=1e-9)


def test_labels_are_the_target_of_a_logistic_selection():
    reference = read_json(FOLDERS["f16"] / "case.json")["values"]["R"]["aic_both"]
    found = selection(data("f16"), "-t", "default", "--family", "binomial")
    estimates = {row["term"]: row["estimate"] for row in found["coefficients"]}
    assert_allclose([estimates[term] for term in reference["coef"]], list(reference["coef"].values()), rtol=1e-8)
    assert any("The event is default = 'Yes'" in note for note in found["notes"])


def test_the_other_event_turns_the_signs():
    yes, no = (selection(*FAMILIES["pima"], "--event", event) for event in ("Yes", "No"))
    assert yes["selected"] == no["selected"]
    assert_allclose(
        [row["estimate"] for row in yes["coefficients"]], [-row["estimate"] for row in no["coefficients"]], rtol=1e-8
    )
    assert any("The event is type = 'No': 132 of 200 rows." in note for note in no["notes"])
    assert "choose one of 'No', 'Yes'" in refusal("select", *FAMILIES["pima"], "--event", "yes")


def test_status_takes_any_coding(tmp_path):
    reference = selection(*COX)
    assert reference["n_obs"] == 210
    assert reference["n_dropped"] == 18
    assert any("The event is status = 2: 165 of 228 rows." in note for note in reference["notes"])
    lung = pd.read_csv(LUNG)
    for name, codes in (("text", ["alive", "dead"]), ("zero", [0, 1]), ("truth", [False, True])):
        lung.assign(status=lung["status"].map(dict(zip((1, 2), codes, strict=True)))).to_csv(
            tmp_path / name, index=False
        )
        assert selection(tmp_path / name, *COX[1:])["coefficients"] == reference["coefficients"]


@pytest.mark.parametrize(
    ("name", "key", "alpha", "options"),
    [
        ("remission_sas_logistic", "stepwise_sle30_sls35", 0.3, "-t remiss --family binomial --alpha-remove 0.35"),
        ("myeloma_sas_phreg", "breslow", 0.05, "--time Time --status VStatus --family cox --ties breslow"),
    ],
)
def test_score_entry_and_wald_removal_as_in_sas(name, key, alpha, options):
    steps = read_json(PUBLISHED / f"{name}.json")["r_verified"][key]["steps"]
    file = PUBLISHED / "data" / f"{name.split('_')[0]}.csv"
    tests = ["-c", "pvalue", "--alpha-enter", alpha, "--test-enter", "score", "--test-remove", "wald"]
    found = [row for row in selection(file, *options.split(), *tests)["trace"] if row["action"] == "add"]
    expected = [step for step in steps if step["action"] == "enter" and step["p"] < alpha]
    assert [row["term"] for row in found] == [step["variable"] for step in expected]
    assert_allclose([row["p_value"] for row in found], [step["p"] for step in expected], rtol=2e-6)  # R's stop at 1e-8


def test_exposure_is_an_offset_of_logarithms(tmp_path):
    quine = pd.read_csv(QUINE)
    exposure = np.random.default_rng(4).uniform(0.5, 2, len(quine)).round(3)
    quine.assign(e=exposure, o=np.log(exposure), zero=0.0, two=2.0).to_csv(tmp_path / "d.csv", index=False)
    options = ["-t", "days", "--family", "poisson", "-c", "bic"]

    def coefficients(*roles):
        spare = ",".join(name for name in ("e", "o", "zero", "two") if name not in roles)
        found = selection(tmp_path / "d.csv", *options, *roles, "--drop", spare)
        return {row["term"]: row["estimate"] for row in found["coefficients"]}

    exposed = coefficients("--exposure", "e")
    for same in (coefficients("--offset", "o"), coefficients("--exposure", "e", "--offset", "zero")):
        assert same.keys() == exposed.keys()
        assert_allclose(list(same.values()), list(exposed.values()), rtol=1e-7)
    plain, constant = coefficients(), coefficients("--exposure", "two")
    assert_allclose(constant.pop("(Intercept)"), plain.pop("(Intercept)") - np.log(2), rtol=1e-8)
    assert_allclose(list(constant.values()), list(plain.values()), rtol=1e-7)


def test_weights_are_the_trials_of_proportions(tmp_path):
    pima = pd.read_csv(PIMA)[["glu", "age", "type"]].assign(
        glu=lambda d: d["glu"].round(-1), age=lambda d: d["age"] // 10
    )
    pima["y"] = (pima.pop("type") == "Yes").astype(int)
    pima.to_csv(tmp_path / "rows.csv", index=False)
    grouped = pima.groupby(["glu", "age"], as_index=False)["y"].agg(y="mean", n="size")
    grouped.to_csv(tmp_path / "grouped.csv", index=False)
    rows = selection(tmp_path / "rows.csv", "-t", "y", "--family", "binomial")
    shares = selection(tmp_path / "grouped.csv", "-t", "y", "--family", "binomial", "--weights", "n")
    assert rows["selected"] == shares["selected"]
    for column in ("estimate", "std_error"):
        values = [[row[column] for row in found["coefficients"]] for found in (rows, shares)]
        assert_allclose(*values, rtol=1e-6)


def test_headings_say_what_the_numbers_are():
    gaussian = run("select", data("f01"), "-t", "y").stdout
    assert {"F", "t", "R2"} <= set(gaussian.split())
    logistic = run("select", *FAMILIES["pima"]).stdout
    assert "LR chi2" in logistic
    assert {"z", "pseudo-R2"} <= set(logistic.split())
    assert "t" not in logistic.split()
    assert "time (event: status) explained by 6 candidate columns, 210 observations" in run("select", *COX).stdout


def test_gaps_in_other_columns(tmp_path):
    """Gaps are counted before the run; rows without offset are left out and told of."""
    quine = pd.read_csv(QUINE).assign(o=0.5)
    quine.loc[:2, "o"] = np.nan
    quine.to_csv(tmp_path / "d.csv", index=False)
    options = [tmp_path / "d.csv", "-t", "days", "--family", "poisson", "--offset", "o"]
    assert "3 of 146 rows have missing values (o 3)" in refusal("select", *options)
    found = selection(*options, "--missing", "drop")
    assert found["n_obs"] == 143
    assert "3 of 146 rows without weight or offset were left out." in found["notes"]
    pima = pd.read_csv(PIMA)
    pima.loc[:1, "type"] = ""
    pima.to_csv(tmp_path / "p.csv", index=False)
    assert "(type 2)" in refusal("select", tmp_path / "p.csv", "-t", "type", "--family", "binomial")
    assert selection(tmp_path / "p.csv", "-t", "type", "--family", "binomial", "--missing", "drop")["n_obs"] == 198


def test_data_files_are_those_of_r():
    pima = pd.read_csv(PIMA).replace({"type": {"No": 0, "Yes": 1}}).infer_objects()
    pd.testing.assert_frame_equal(pima.astype(float), pd.read_csv(R / "data" / "pima.csv").astype(float))
    lung = pd.read_csv(R / "data" / "lung2.csv").astype(float)
    complete = pd.read_csv(LUNG)[list(lung.columns)].dropna().reset_index(drop=True)
    pd.testing.assert_frame_equal(complete.assign(status=complete["status"] - 1).astype(float), lung)
    quine, ours = pd.read_csv(R / "data" / "quine.csv"), pd.read_csv(QUINE)
    assert ours["days"].tolist() == quine["Days"].tolist()
    coded = {"aboriginal": ("Eth", "A"), "male": ("Sex", "M"), "slow_learner": ("Lrn", "SL")}
    coded |= {f"form{i}": ("Age", f"F{i}") for i in (1, 2, 3)}
    for name, (column, level) in coded.items():
        assert (ours[name] == (quine[column] == level)).all()


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


def test_p_values_are_said_to_be_unadjusted():
    sentence = "p-values and intervals are not adjusted for the selection."
    lines = run("select", data("f01"), "-t", "y").stdout.splitlines()
    assert lines.index(sentence) > lines.index("Final model")
    found = selection(data("f01"), "-t", "y")
    assert found["note_on_p_values"] == sentence
    assert found["parameters"]["tolerance"] == 1e-15
    assert found["parameters"]["groups"] == {}


def test_no_collinearity_is_said_where_it_was_looked_for(tmp_path):
    assert "No collinearity to report (largest VIF 1." in run("select", *FAMILIES["pima"]).stdout
    x = np.random.default_rng(2).normal(size=(60, 3))
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 0] + x[:, 1] / 50, "c": x[:, 2]})
    frame.assign(y=frame.sum(axis=1) + x[:, 1]).to_csv(tmp_path / "d.csv", index=False)
    for more in ([], ["--collinearity", "ignore"]):
        outcome = run("select", tmp_path / "d.csv", "-t", "y", "--start", "full", "-d", "backward", *more)
        assert "No collinearity" not in outcome.stdout
        assert ("strongly correlated" in outcome.stderr) == (not more)


def test_weighted_inflation_of_families():
    assert "weighted VIF" in run("select", *FAMILIES["pima"]).stdout
    assert "weighted VIF" not in run("select", data("f01"), "-t", "y").stdout


def test_constant_target_has_no_tests(tmp_path):
    frame = pd.read_csv(FOLDERS["f01"] / "clean.csv").assign(y=5.3)
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert "the response does not vary" in run("select", tmp_path / "d.csv", "-t", "y").stderr
    for more in ([], ["--keep", "area"]):
        outcome = run("select", tmp_path / "d.csv", "-t", "y", *more)
        assert outcome.exit_code == 0
        assert not {"inf", "t", "p"} & set(outcome.stdout.split("Final model")[1].split())
        assert "not adjusted" not in outcome.stdout


def test_weights_are_counted(tmp_path):
    clean = pd.read_csv(FOLDERS["f01"] / "clean.csv")
    clean.assign(w=[0] * 3 + [2] * 10 + [1] * 27).to_csv(tmp_path / "d.csv", index=False)
    weighted = ["select", tmp_path / "d.csv", "-t", "y", "--weights", "w"]
    assert "columns, 40 rows (3 of them with weight 0), weights sum to 47 (" in run(*weighted).stdout
    assert "weight 0), analytic weights (" in run(*weighted, "--weight-type", "Analytic").stdout
    assert "columns, 40 observations (" in run("select", data("f01"), "-t", "y").stdout
    clean.assign(y=[0.5, 0.0] * 20, w=4).to_csv(tmp_path / "d.csv", index=False)
    assert "40 rows, trials sum to 160, 40 events (" in run(*weighted, "--family", "binomial").stdout


def test_warnings_of_the_library_are_notes(tmp_path):
    unused = run("select", data("f01"), "-t", "y", "--alpha-enter", 0.2).stderr
    assert "note: alpha_enter=0.2 has no effect with criterion='aic'" in unused
    assert "note: 8 of 60 rows have missing values" in run("select", data("f07"), "-t", "y", "--missing", "drop").stderr
    clean = pd.read_csv(FOLDERS["f01"] / "clean.csv")
    clean.assign(w=0.5, y=clean["area"] > clean["area"].median()).to_csv(tmp_path / "d.csv", index=False)
    halves = run("select", tmp_path / "d.csv", "-t", "y", "--weights", "w")
    assert "note: sample_weight holds fractions" in halves.stderr
    separated = run("select", tmp_path / "d.csv", "-t", "y", "--family", "binomial", "--drop", "w")
    assert separated.exit_code == 0
    assert "note: terms separate the response: area" in separated.stderr


def test_empty_columns_are_left_out(tmp_path):
    clean = pd.read_csv(FOLDERS["f01"] / "clean.csv").assign(e=None, f="NA")
    clean.to_csv(tmp_path / "d.csv", index=False)
    found = selection(tmp_path / "d.csv", "-t", "y")
    assert "Empty columns left out: e, f." in found["notes"]
    assert found["selected"] == selection(data("f01"), "-t", "y")["selected"]
    assert "Empty columns left out: e, f." in run("vif", tmp_path / "d.csv", "-t", "y").stderr
    assert "--keep: 'e' is empty and was left out." in refusal("select", tmp_path / "d.csv", "-t", "y", "--keep", "e")
    assert "target 'e' is empty" in refusal("select", tmp_path / "d.csv", "-t", "e")


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

    def stop(self, X, y, sample_weight=None, offset=None):
        seen.update(self.get_params())
        raise ValueError("Stop.")

    monkeypatch.setattr(StepwiseSelector, "fit", stop)
    refusal("select", data("f01"), "-t", "y")
    defaults = {name: p.default for name, p in inspect.signature(StepwiseSelector).parameters.items()}
    assert seen | {"keep": ()} == defaults | {"keep": ()}
    assert list(seen["keep"]) == []
    options = (
        "--direction backward --criterion bic --family binomial --alpha-enter 0.01 --alpha-remove 0.02 --test-enter f "
        "--test-remove wald --start area,age --keep dist --group g=rooms,noise --max-terms 3 --max-steps 9 "
        "--no-intercept --missing drop --refits leading --collinearity ignore --vif-threshold 5 --tolerance 1e-6 "
        "--weight-type analytic --event 1 --hierarchy none --ties breslow --categorical noise -vv"
    )
    first = float(pd.read_csv(FOLDERS["f01"] / "clean.csv")["dist"][0])
    options += f" --reference dist={first}"
    refusal("select", data("f01"), "-t", "y", *options.split())
    untouched = {name for name, value in seen.items() if value == defaults[name]}
    assert untouched == set()
    assert seen["categorical"] == {"noise": None, "dist": first}
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


def test_groups_are_kept_and_started_from_by_name():
    for option in ("--keep", "--start"):
        found = selection(data("f01"), "-t", "y", *SIZE, option, "size,age")
        assert found["parameters"][option[2:]] == ["size", "age"]
        assert found["trace"][0]["n_terms"] == 2
    assert found["parameters"]["groups"] == {"size": ["area", "rooms"]}


def test_choices_in_any_case():
    found = selection(data("f01"), "-t", "y", "-c", "BIC", "-d", "Both", "--family", "Gaussian", "--start", "FULL")
    chosen = {name: found["parameters"][name] for name in ("criterion", "direction", "family", "start")}
    assert chosen == {"criterion": "bic", "direction": "both", "family": "gaussian", "start": "full"}


@pytest.mark.parametrize("command", ["select", "vif"])
def test_help_shows_flags_as_flags(command):
    text = run(command, "--help").stdout
    for flag in ("--help", "--json", "--no-header", *(["--verbose", "--no-intercept"] if command == "select" else [])):
        line = next(line for line in text.splitlines() if f" {flag} " in line)
        assert not any(sign in line for sign in ("<", "BOOL", "INTEGER")), line


def test_help_tells_refits_and_candidates_apart():
    text = " ".join(run("select", "--help").stdout.replace("│", " ").split())
    assert "It writes no file: that is --candidates." in text
    assert "how they are computed is --refits." in text


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


def test_vif_says_what_was_taken(tmp_path):
    frame = pd.read_csv(FOLDERS["f01"] / "clean.csv").assign(one=1, twice=lambda table: 2 * table["area"])
    frame.to_csv(tmp_path / "d.csv", index=False)
    outcome = run("vif", tmp_path / "d.csv")
    assert "Every column was taken: area," in outcome.stderr
    assert "--target leaves it out" in outcome.stderr
    assert "Constant, without a variance inflation factor: one." in outcome.stderr
    assert "so that the factor is infinite: area, twice." in outcome.stderr
    assert "GVIF" not in outcome.stdout
    assert "Every column" not in run("vif", tmp_path / "d.csv", "-t", "y").stderr
    assert "GVIF" in run("select", data("f01"), "-t", "y", *SIZE, "--keep", "size").stdout


# Failures -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["select", "nowhere.csv", "-t", "y"], "nowhere.csv was not found."),
        (["select", data("f01")], "--target is missing: give the column to explain"),
        (["select", data("f01"), "--family", "cox", "--time", "y"], "--status is missing"),
        (["select", data("f01"), "--family", "cox", "--status", "y"], "(--time and --status)"),
        (
            ["select", data("f01"), "-t", "y", "--family", "cox", "--time", "age", "--status", "y"],
            "--target does not go",
        ),
        (["select", data("f01"), "-t", "y", "--time", "age"], "--time and --status belong to --family cox"),
        (["select", data("f01"), "-t", "y", "--exposure", "age"], "--exposure belongs to counts"),
        (["select", data("f01"), "-t", "y", "--offset", "y"], "'y' is used as --target and cannot be --offset"),
        (["select", data("f01"), "-t", "y", "--offset", "ages"], "The offset column 'ages' is not in"),
        (["select", data("f01"), "-t", "y", "--ties", "exact"], "'--ties'"),
        (["select", *COX[:-5], "age", *COX[-4:]], "--event VALUE names it"),
        (["select", *COX, "--event", "3"], "one of 1, 2"),
        (["select", LUNG, "-t", "status", "--family", "binomial", "--drop", "status"], "cannot be dropped as well"),
        (["select", QUINE, "-t", "days", "--family", "poisson", "--exposure", "male"], "line 33 holds 0"),
        (["select", data("f01"), "-t", "Area2"], "did you mean 'area'? Its columns are area,"),
        (["select", data("f01"), "-t", "Y"], "did you mean 'y'?"),
        (["select", data("f01"), "-t", "y", "--keep", "y"], "--keep: 'y' is the target."),
        (["select", data("f01"), "-t", "y", "--drop", "age", "--start", "age"], "'age' is left out with --drop"),
        (["select", data("f01"), "-t", "y", "--group", "g=age,y"], "--group: 'y' is the target."),
        (["select", data("f01"), "-t", "y", "--weights", "age", "--keep", "age"], "'age' is used as --weights"),
        (
            ["select", data("f01"), "-t", "y", *SIZE, "--keep", "area"],
            "'area' belongs to the group 'size': name 'size'",
        ),
        (["select", data("f01"), "-t", "y", *SIZE, "--start", "area"], "start from 'size'."),
        (["select", data("f01"), "-t", "y", *SIZE, "--keep", "siz"], "column or group 'siz' is not in"),
        (["select", data("f01"), "-t", "y", "-c", "sbc"], "/ '-c': 'sbc' is not one of 'aic', 'aicc'"),
        (["select", data("f01"), "-t", "y", "-c", "sbc"], "'pvalue'; did you mean bic? stepsel select --help"),
        (["select", data("f01"), "-t", "y", "-d", "Stepwise"], "did you mean both?"),
        (["select", data("f01"), "-t", "y", "--family", "logistic"], "did you mean binomial?"),
        (["select", data("f01"), "-t", "y", "--family", "gausian"], "did you mean gaussian?"),
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
    assert done.stderr.decode().strip().endswith("pip install typer rich.")


def test_the_library_does_not_load_the_command_line():
    loaded = "any(name in sys.modules for name in ('stepsel.cli', 'stepsel.reading', 'typer'))"
    done = program(code=f"import stepsel, sys; sys.exit({loaded})")
    assert done.returncode == 0


# Factors and formulas -------------------------------------------------------------------------------------------------


@pytest.fixture
def mixed(tmp_path):
    """A file with text, codes, an identifier, dates and remarks among numbers."""
    r = np.random.default_rng(1)
    n = 80
    frame = pd.DataFrame(
        {
            "y": 0.0,
            "x": r.normal(size=n).round(3),
            "region": r.choice(["nord", "süd", "東"], n),
            "code": r.choice([1, 2, 3], n),
            "day": pd.date_range("2020-01-01", periods=n).astype(str),
            "id": [f"C{i}" for i in range(n)],
            "remark": r.choice(["1.5", "2", "about 3"], n),
        }
    )
    frame["y"] = (frame["x"] + 2 * (frame["region"] == "süd") + r.normal(size=n)).round(3)
    path = tmp_path / "mixed.csv"
    frame.to_csv(path, index=False)
    return frame, path


def test_text_is_refused_with_both_ways_out(mixed):
    sentence = refusal("select", mixed[1], "-t", "y")
    assert "4 columns are not numeric" in sentence
    assert "--drop region,day,id,remark" in sentence
    assert "--categorical region,day,id" in sentence


REST = ["--drop", "id,day,remark"]


@pytest.mark.parametrize("form", ["csv", "semicolon", "xlsx", "parquet", "dta"])
def test_declared_factors_in_every_kind_of_file(mixed, tmp_path, form):
    frame, path = mixed
    if form == "semicolon":
        path = tmp_path / "mixed_semicolon.csv"
        frame.to_csv(path, index=False, sep=";", decimal=",")
    elif form == "xlsx":
        path = tmp_path / "mixed.xlsx"
        frame.to_excel(path, index=False)
    elif form == "parquet":
        path = tmp_path / "mixed.parquet"
        frame.astype({"region": "category"}).to_parquet(path)
    elif form == "dta":
        path = tmp_path / "mixed.dta"
        frame.astype({"region": "category"}).to_stata(path, write_index=False, version=118)
    found = selection(path, "-t", "y", *REST, "--categorical", "region,code", "--reference", "region=süd")
    expected = StepwiseSelector(categorical={"region": "süd", "code": None}).fit(
        frame[["x", "region", "code"]], frame["y"]
    )
    assert found["selected"] == expected.result_.selected == ["x", "region"]
    assert found["parameters"]["categorical"] == {"region": "süd", "code": None}
    tidy = expected.result_.tidy()
    assert [row["term"] for row in found["coefficients"]] == tidy["term"].tolist()
    assert_allclose([row["estimate"] for row in found["coefficients"]], tidy["estimate"], rtol=1e-9)


def test_auto_says_what_it_decided(mixed):
    path = mixed[1]
    outcome = run("select", path, "-t", "y", *REST, "--categorical", "auto")
    assert outcome.exit_code == 0
    assert "note: Text that was taken as factors (--categorical auto): region (3 levels)." in outcome.stderr
    assert "region[T.süd]" in outcome.stdout
    assert "region[T.東]" in outcome.stdout
    none = run("select", path, "-t", "y", "--drop", "region,id,day,remark", "--categorical", "auto")
    assert "(--categorical auto): no column." in none.stderr
    assert "2 columns are not numeric" not in refusal(
        "select", path, "-t", "y", "--categorical", "auto", "--drop", "id,day"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--categorical", "auto", "--drop", "id,day"], "'remark' is not numeric: .* 'about 3'; correct it"),
        (["--categorical", "auto", "--drop", "id,remark"], "'day' holds dates .*--drop day"),
        (["--categorical", "auto", "--drop", "day,remark"], "'id' has 80 levels in 80 rows .*identifier"),
        (["--categorical", "regoin", *REST], "Column 'regoin' is not in .*did you mean 'region'"),
        (["--categorical", "y", *REST], "--categorical: 'y' is the target"),
        (["--categorical", "day", *REST], "--categorical: 'day' is left out with --drop"),
        (["--reference", "region", *REST], "--reference 'region' is not of the form NAME=LEVEL"),
        (
            ["--reference", "region=west", *REST],
            "region=west: 'region' has no such level; its levels are 'nord', 'süd'",
        ),
        (["--reference", "code=4", *REST], "'code' has no such level; its levels are 1, 2, 3."),
        (["--reference", "region=süd", "--reference", "region=nord", *REST], "two levels of 'region'"),
        (["--reference", "regon=süd", *REST], "did you mean 'region'"),
    ],
)
def test_factors_that_are_none(mixed, options, message):
    sentence = refusal("select", mixed[1], "-t", "y", *options)
    assert re.search(message, sentence), sentence


def test_blank_levels_are_missing(mixed, tmp_path):
    frame, _ = mixed
    frame.loc[[3, 9], "region"] = None
    frame.loc[5, "region"] = "unknown"
    path = tmp_path / "gaps.csv"
    frame.to_csv(path, index=False)
    options = ("-t", "y", *REST, "--categorical", "region", "--na", "unknown")
    assert "3 of 80 rows have missing values (region 3)" in refusal("select", path, *options)
    found = selection(path, *options, "--missing", "drop")
    assert (found["n_obs"], found["n_dropped"]) == (77, 3)
    assert {row["term"] for row in found["coefficients"]} >= {"region[T.süd]", "region[T.東]"}
    assert not [row for row in found["coefficients"] if "unknown" in row["term"]]


def test_vif_of_factors(mixed):
    frame, path = mixed
    outcome = run("vif", path, "-t", "y", *REST, "--categorical", "region,code", "--json")
    table = pd.DataFrame(json.loads(outcome.stdout)["vif"]).set_index("term")
    expected = vif(frame[["x", "region", "code"]], categorical="code").set_index("term")
    assert table["df"].tolist() == [1, 2, 2]
    assert_allclose(table["gvif"], expected["gvif"], rtol=1e-9)
    assert "--categorical region" in refusal("vif", path, "-t", "y", "--drop", "id,day,remark")


@pytest.mark.parametrize(
    "formula",
    ["y ~ x*C(region) + I(x**2)", "np.exp(y) ~ . - day - id - remark", "y ~ poly(x, 2) + C(code)", "y ~ x*region - 1"],
)
def test_formulas(mixed, formula):
    frame, path = mixed
    options = ["--categorical", "region"] if "C(region)" not in formula and "poly" not in formula else []
    found = selection(path, "--formula", formula, *options, "--criterion", "bic")
    expected = stepwise(formula, frame, criterion="bic", collinearity="ignore")
    assert found["formula"] == formula
    assert found["selected"] == expected.selected
    assert_allclose([row["estimate"] for row in found["coefficients"]], expected.tidy()["estimate"], rtol=1e-9)


def test_a_formula_with_roles_keep_and_survival(tmp_path):
    lung = pd.read_csv(LUNG)
    found = selection(LUNG, "--formula", "Surv(time, status) ~ age*sex + C(ph.ecog)", "--family", "cox",
                      "--missing", "drop", "--keep", "age,sex,age:sex")  # fmt: skip
    with pytest.warns(MissingRowsWarning):
        expected = stepwise("Surv(time, status) ~ age*sex + C(ph.ecog)", lung, family="cox", missing="drop",
                            keep=["age", "sex", "age:sex"], collinearity="ignore")  # fmt: skip
    assert found["selected"] == expected.selected
    quine = pd.read_csv(QUINE).assign(risk=2.0, w=1)
    quine.to_csv(tmp_path / "quine.csv", index=False)
    options = ("--family", "poisson", "--exposure", "risk", "--weights", "w", "--keep", "poly(form1, 1)")
    counts = selection(tmp_path / "quine.csv", "--formula", "days ~ . - form1 + poly(form1, 1)", *options)
    assert not {"risk", "w"} & {row["term"] for row in counts["trace"]}
    assert counts["trace"][0]["n_terms"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-t", "y"], "--target does not go with --formula: write the target on the left"),
        (["--drop", "x"], "--drop does not go with --formula: write '- NAME'"),
        (["--group", "g=x,code"], "--group does not go with --formula"),
        (["--no-intercept"], "--no-intercept does not go with --formula: write '- 1'"),
        (["--time", "x"], r"--time does not go with --formula: write Surv"),
        (["--status", "x"], r"--status does not go with --formula: write Surv"),
        (["--weights", "x"], "'x' is used as --weights and cannot stand in the formula as well"),
        (["--weights", "code", "--offset", "code"], "'code' is used as --weights and cannot be --offset"),
        (["--weights", "region"], "weights column 'region' is not numeric"),
        (["--categorical", "code"], "--categorical: 'code' is not on the right side of the formula"),
        (["--reference", "y=0"], "--reference: 'y' is not on the right side"),
        (["--event", "1"], "event is '1'"),
    ],
)
def test_options_that_do_not_go_with_a_formula(mixed, options, message):
    assert re.search(message, refusal("select", mixed[1], "--formula", "y ~ x", *options))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ x*region", r"'region' is not numeric: line 2 .*--categorical region \(or C\(region\) in the formula"),
        ("y ~ x + remark", "'remark' is not numeric: line .* 'about 3'; correct it, or .*'- remark' in the formula."),
        ("y ~ .", "4 columns are not numeric: .*'- region - day - id - remark' in the formula.*region,day,id"),
        ("region ~ x", "target 'region' is not numeric"),
        ("y ~ asked + table + np", "there is no column 'asked'"),
        ("y ~ x + pd.isna(x)", "name 'pd' is not defined"),
        ("y ~ x + np.log(x)", r"'np.log\(x\)' has .* missing values .* set --missing drop"),
        ("y ~ x +", "cannot be read"),
        ("~ x", "no response"),
        ("y ~ q", "there is no column 'q'"),
    ],
)
def test_formulas_that_are_none(mixed, formula, message):
    sentence = refusal("select", mixed[1], "--formula", formula)
    assert re.search(message, sentence), sentence


# Stability ------------------------------------------------------------------------------------------------------------

PROSTATE = TESTS.parent / "data" / "prostate.csv"


def test_stability_is_that_of_the_library(tmp_path):
    arguments = ("stability", PROSTATE, "-t", "lpsa", "-c", "bic", "-n", "60", "--seed", "3")
    outcome = run(*arguments, "--json", "--table", tmp_path / "table.csv")
    found = json.loads(outcome.stdout, parse_constant=pytest.fail)
    frame = pd.read_csv(PROSTATE)
    selector = StepwiseSelector(criterion="bic")
    expected = selection_stability(selector, frame.drop(columns="lpsa"), frame["lpsa"], n_resamples=60, random_state=3)
    table = expected.table.reset_index()
    assert [row["term"] for row in found["table"]] == table["term"].tolist()
    for column in ("inclusion_frequency", "rmsd_ratio", "q975"):
        assert_allclose([row[column] for row in found["table"]], table[column], rtol=1e-12)
    assert found["models"][0]["terms"] == list(expected.models["terms"][0])
    assert (found["n_resamples"], found["method"], found["seed"]) == (60, "bootstrap", 3)
    assert_allclose(pd.read_csv(tmp_path / "table.csv")["q975"], table["q975"])
    two = json.loads(run(*arguments, "--json", "--jobs", "2").stdout)
    assert two["table"] == found["table"]
    text = run(*arguments)
    assert text.exit_code == 0
    assert "60 bootstrap samples of the rows" in text.stdout
    assert re.search(r"lcavol +\S+%", text.stdout)


def test_stability_beside_a_selection():
    arguments = ("select", PROSTATE, "-t", "lpsa", "--stability", "20")
    text = run(*arguments)
    assert "Final model" in text.stdout
    assert "Stability of the selection" in text.stdout
    content = json.loads(run(*arguments, "--json").stdout)
    assert content["stability"]["n_resamples"] == 20
    assert "stability" not in selection(PROSTATE, "-t", "lpsa")


def test_stability_of_a_formula_and_subsamples(mixed):
    options = ("--formula", "y ~ x*C(region)", "--method", "subsample", "--fraction", "0.6", "-n", "20", "--json")
    found = json.loads(run("stability", mixed[1], *options).stdout)
    assert found["method"] == "subsample"
    assert "C(region)[T.süd]" in [row["term"] for row in found["table"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-n", "0"], "Invalid value for '--resamples'"),
        (["--fraction", "2", "--method", "subsample"], "fraction is 2.0"),
        (["--method", "jackknife"], "'jackknife' is not one of"),
        (["--seed", "-1"], "Invalid value for '--seed'"),
        (["--trace", "x.csv"], "No such option: --trace"),
    ],
)
def test_stability_refuses(options, message):
    assert message in refusal("stability", PROSTATE, "-t", "lpsa", *options)


def test_a_formula_knows_the_reasons_of_columns(mixed):
    path = mixed[1]
    sentence = refusal("select", path, "--formula", "y ~ x + C(code)", "--reference", "code=2")
    assert "'code' stands in the formula only inside an expression such as C(code): write code there." in sentence
    assert "'- day' in the formula" in refusal("select", path, "--formula", "y ~ day", "--categorical", "auto")
    assert "80 levels in 80 rows" in refusal("select", path, "--formula", "y ~ id", "--categorical", "auto")
    outcome = run("select", path, "--formula", "y ~ x + region + code", "--categorical", "auto,code")
    assert "y ~ x + region + code, 3 candidate terms, 80 observations (gaussian, both, aic)" in outcome.stdout
    assert "(--categorical auto): region (3 levels)." in outcome.stderr


def test_keep_and_start_name_terms_with_commas(mixed):
    path = mixed[1]
    term = "C(region, Treatment('süd'))"
    formula = ["--formula", f"y ~ x + {term} + poly(x, 2)"]
    found = selection(path, *formula, "--keep", f"{term},poly(x, 2)", "--max-terms", 3)
    assert found["parameters"]["keep"] == [term, "poly(x, 2)"]
    assert found["trace"][0]["n_terms"] == 2
    assert f"{term}[T.nord]" in [row["term"] for row in found["coefficients"]]
    assert selection(path, *formula, "--start", "x", "--start", term)["trace"][0]["n_terms"] == 2


@pytest.mark.parametrize("rule", ["strong", "weak", "none"])
def test_hierarchy_is_that_of_the_library(mixed, rule):
    frame, path = mixed
    found = selection(
        path, "--formula", "y ~ x*region", "--categorical", "region", "-d", "forward", "--hierarchy", rule
    )
    expected = stepwise("y ~ x*region", frame, direction="forward", hierarchy=rule)
    assert [row["term"] for row in found["trace"][1:]] == expected.trace["term"].tolist()[1:]


def test_a_formula_without_intercept_and_with_weights(mixed, tmp_path):
    frame, _ = mixed
    frame = frame.assign(w=[1.0, 2.0] * 40, empty=None)
    frame.loc[4, "w"] = np.nan
    frame.loc[7, "region"] = " "
    frame.to_csv(tmp_path / "w.csv", index=False)
    formula = ["--formula", "y ~ . - day - id - remark - 1"]
    arguments = [tmp_path / "w.csv", *formula, "--categorical", "region", "--weights", "w"]
    assert "2 of 80 rows have missing values (region 1, w 1); --missing drop" in refusal("select", *arguments)
    found = selection(*arguments, "--missing", "drop")
    assert found["weights"] == "w"
    assert found["parameters"]["fit_intercept"] is False
    assert (found["n_obs"], found["n_dropped"]) == (39 + 2 * 39, 1)
    assert "Empty column left out: empty." in found["notes"]
    assert "1 of 80 rows without weight or offset were left out." in found["notes"]
    assert {row["term"] for row in found["coefficients"]} >= {"region[nord]", "region[süd]", "region[東]"}
    title = run("select", *arguments, "--missing", "drop").stdout.splitlines()[0]
    assert "3 candidate terms, 78 rows, weights sum to 117 (" in title
    assert "'empty' is empty" in refusal("select", tmp_path / "w.csv", "--formula", "y ~ x + empty")


def test_the_event_of_a_formula():
    found = selection(PIMA, "--formula", "type ~ glu + bmi", "--family", "binomial", "--event", "No")
    assert "The event is type = 'No': 132 of 200 rows." in found["notes"]
    lung = [LUNG, "--formula", "Surv(time, status) ~ age + sex", "--family", "cox"]
    one, two = selection(*lung, "--event", 1), selection(*lung)
    assert "The event is status = 1: 63 of 228 rows." in one["notes"]
    assert "The event is status = 2: 165 of 228 rows." in two["notes"]
    by_hand = selection(LUNG, "--formula", "Surv(time, status == 1) ~ age + sex", "--family", "cox")
    assert by_hand["coefficients"] == one["coefficients"]
    sentence = refusal("select", LUNG, "--formula", "Surv(time, status == 1) ~ age", "--family", "cox", "--event", "1")
    assert "say in it what the event is" in sentence


@pytest.fixture
def codes():
    """Codes with zeros in front, numbers and truth values that are to be factors."""
    r = np.random.default_rng(7)
    frame = pd.DataFrame({"zip": r.choice(["007", "010", "0123"], 60), "size": r.choice([0.5, 1.5, 2], 60)})
    frame["smoke"] = r.choice([True, False], 60)
    frame["x"] = r.normal(size=60).round(3)
    frame["y"] = (frame["x"] + (frame["zip"] == "010") + r.normal(size=60)).round(3)
    return frame


@pytest.mark.parametrize("form", ["csv", "xlsx", "parquet", "dta"])
@pytest.mark.parametrize("question", [["-t", "y"], ["--formula", "y ~ ."]], ids=["columns", "formula"])
def test_codes_keep_their_zeros(codes, tmp_path, form, question):
    path = tmp_path / f"codes.{form}"
    if form == "dta":
        codes.astype({"smoke": float}).to_stata(path, write_index=False)
    else:
        getattr(codes, {"xlsx": "to_excel"}.get(form, f"to_{form}"))(path, index=False)
    for reference in ("010", "10"):
        found = selection(path, *question, "--reference", f"zip={reference}", "--keep", "zip")
        assert {"zip[T.007]", "zip[T.0123]"} <= {row["term"] for row in found["coefficients"]}
        assert found["parameters"]["categorical"] == {"zip": "010"}
        assert not any("zeros" in note for note in found["notes"])
    if form == "csv":
        assert any("zeros" in note and "--categorical" in note for note in selection(path, *question)["notes"])


@pytest.mark.parametrize(
    ("reference", "level", "term"),
    [
        ("size=1,5", 1.5, "size[T.0.5]"),
        ("size=1.50", 1.5, "size[T.2]"),
        ("size=2,0", 2, "size[T.1.5]"),
        ("smoke=TRUE", True, "smoke[T.False]"),
        ("smoke=1", True, "smoke[T.False]"),
    ],
)
def test_reference_levels_match_by_value(codes, tmp_path, reference, level, term):
    codes.to_csv(tmp_path / "codes.csv", index=False, sep=";", decimal=",")
    found = selection(tmp_path / "codes.csv", "-t", "y", "--reference", reference, "--keep", reference.split("=")[0])
    assert list(found["parameters"]["categorical"].values()) == [level]
    assert term in [row["term"] for row in found["coefficients"]]


@pytest.mark.parametrize("form", ["category", "dictionary", "labels"])
def test_categories_with_gaps(mixed, tmp_path, form):
    """Blank categories and declared codes are missing levels; the order of categories stays."""
    frame, _ = mixed
    region = frame["region"].mask(frame.index == 3, " ").mask(frame.index.isin([5, 6]), "unknown")
    frame = frame[["y", "x"]].assign(region=pd.Categorical(region, ["東", "süd", "nord", "unknown", " ", "nowhere"]))
    path = tmp_path / ("d.dta" if form == "labels" else "d.parquet")
    if form == "category":
        frame.to_parquet(path)
    elif form == "labels":
        frame.to_stata(path, write_index=False, version=118)
    else:
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        text = arrow.array(frame["region"].astype(object)).dictionary_encode()
        parquet.write_table(arrow.table({"y": frame["y"], "x": frame["x"], "region": text}), path)
    assert "--categorical region" in refusal("select", path, "-t", "y")
    arguments = [path, "-t", "y", "--categorical", "auto", "--na", "unknown"]
    assert "3 of 80 rows have missing values (region 3)" in refusal("select", *arguments)
    found = selection(*arguments, "--missing", "drop")
    names = [row["term"] for row in found["coefficients"] if "region" in row["term"]]
    assert len(names) == 2
    if form != "dictionary":  # where the order is that of the rows
        assert names == ["region[T.süd]", "region[T.nord]"]


def test_odd_levels_are_told(tmp_path):
    rows = ["a;1;5,5", "a ;2;3", "NA;3;1", "b;2,5;4", "b;5;5", "a;1;4", "a;7;2", "NA;3;3"]
    (tmp_path / "d.csv").write_text("g;y;self\n" + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    found = selection(tmp_path / "d.csv", "-t", "y", "--categorical", "g", "--keep", "g")
    assert {row["term"] for row in found["coefficients"]} >= {"g[T.a]", "g[T.b]"}
    assert "Blanks around levels were left out in g." in found["notes"]
    assert "g has the level 'NA'; if that is a missing value, say --na NA." in found["notes"]
    assert selection(tmp_path / "d.csv", "--formula", "y ~ .", "--categorical", "g")["n_obs"] == 8


def test_levels_are_printed_as_they_are(tmp_path):
    r = np.random.default_rng(2)
    levels = ["[/]", "[bold]x[/bold]", ":smile:", "T.B]"]
    frame = pd.DataFrame({"g": r.choice(levels, 60), "x": r.normal(size=60), "y": r.normal(size=60)})
    frame.to_csv(tmp_path / "d.csv", index=False)
    expected = [f"g[T.{level}]" for level in sorted(levels)[1:]]
    for question in (["-t", "y"], ["--formula", "y ~ ."]):
        outcome = run("select", tmp_path / "d.csv", *question, "--categorical", "g", "--keep", "g")
        assert outcome.exit_code == 0
        assert all(f" {term} " in outcome.stdout for term in expected)
        assert {"df", "GVIF"} <= set(outcome.stdout.split("Collinearity")[1].split())


def test_nested_values_are_named(tmp_path):
    frame = pd.DataFrame({"y": [1.0, 2, 4, 3], "x": [1.0, 3, 2, 5], "l": [[1, 2], [3], [], [4]]})
    frame.to_parquet(tmp_path / "d.parquet")
    assert "column 'l' is not numeric: row 1 holds '[1 2]'" in refusal("select", tmp_path / "d.parquet", "-t", "y")
    assert selection(tmp_path / "d.parquet", "-t", "y", "--drop", "l")["n_obs"] == 4


def test_text_beside_nearly_numbers_is_told_of_auto():
    births = TESTS.parent / "data" / "birthwt.csv"
    sentence = refusal("select", births, "--target", "low", "--family", "binomial")
    assert sentence.endswith("--categorical race (--categorical auto takes every column of text).")
    assert selection(births, "--target", "low", "--family", "binomial", "--categorical", "auto")["selected"]


def test_events_that_are_used_are_counted():
    lung = TESTS.parent / "data" / "lung.csv"
    cox = ["--family", "cox", "--time", "time", "--status", "status", "--drop", "inst,meal.cal", "--missing", "drop"]
    assert "210 observations, 148 events (cox" in run("select", lung, *cox).stdout
