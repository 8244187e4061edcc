"""Reports: what they say, against fits made separately; names are harmless; a browser has no complaint."""

import base64
import html
import re
import shutil
import subprocess
import time
import warnings
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from stepsel import StepselWarning, StepwiseSelector, stepwise, survival_response
from stepsel.call import imports
from stepsel.inference import selection_stability
from stepsel.report.reasons import left_out
from stepsel.report.render import latex, markdown
from stepsel.report.trust import trust
from stepsel.report.wording import meanings, what_was_done
from tests.helpers import TESTS, select
from tests.hostile import NAMES, SCRIPT, frame

DATA = TESTS.parent / "data"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SECTIONS = [
    *("In short", "What was asked", "Data", "Steps", "Final model", "Left out, and why"),
    *("Collinearity", "How far to trust it", "What the terms mean", "Run it again"),
]


class Page(HTMLParser):
    """The tables, headings, tags and visible text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.tables, self.headings, self.words, self.attrs = [], [], [], [], []
        self._within = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attrs += attrs
        self._within.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        while self._within and self._within.pop() != tag:
            pass

    def handle_data(self, data):
        inside = self._within[-1] if self._within else ""
        if inside in ("td", "th"):
            self.tables[-1][-1][-1] += data
        if inside == "h2":
            self.headings.append(data)
        if inside not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def table(self, *headers):
        """The rows below the first table with these headers."""
        found = next(table for table in self.tables if set(headers) <= set(table[0]))
        return pd.DataFrame(found[1:], columns=found[0])


@pytest.fixture(scope="module")
def prostate():
    data = pd.read_csv(DATA / "prostate.csv")
    return data.drop(columns="lpsa"), data["lpsa"]


@pytest.fixture(scope="module")
def result(prostate):
    return select(*prostate, criterion="bic").result_


@pytest.fixture(scope="module")
def hostile():
    return select(*frame(len(NAMES), names=NAMES), criterion="aic").result_


# What it says -------------------------------------------------------------------------------------------------------


def test_a_report_holds_every_part(result, prostate):
    stability = selection_stability(result, n_resamples=30, random_state=0)
    page = Page(result.to_html(stability=stability))
    assert page.headings == SECTIONS
    steps = page.table("step", "action", "term")
    assert steps["term"].tolist() == ["", *result.trace["term"][1:]]
    X, y = prostate
    fit = sm.OLS(y, sm.add_constant(X[result.selected])).fit()
    model = page.table("term", "estimate")
    np.testing.assert_allclose(model["estimate"].astype(float), fit.params, rtol=1e-5)
    np.testing.assert_allclose(model["p"].astype(float), fit.pvalues, rtol=1e-2)
    reasons = page.table("term", "reason")
    assert set(reasons["term"]) == set(X) - set(result.selected)
    inclusion = page.table("term", "selected")
    assert inclusion["selected"].iloc[1] == f"{stability.inclusion['lcavol']:.1%}"
    assert "30 bootstrap samples" in page.text
    assert "result = StepwiseSelector(criterion='bic').fit(X, y).result_" in page.text
    assert "stability = selection_stability(result, n_resamples=30, method='bootstrap')" in page.text
    assert "Linear regression of lpsa on 8 candidate terms, 97 observations." in page.text
    assert "biased, the more so when candidates are many or strongly correlated" in page.text
    for package in ("numpy", "statsmodels", "stepwise-selector"):
        assert package in page.text
    assert page.tags.count("img") == 8  # six plots of the selection, two of its stability


def test_the_reasons_are_what_separate_fits_give(prostate):
    X, y = prostate
    result = select(X, y, criterion="bic").result_
    table = left_out(result).set_index("term")
    here = sm.OLS(y, sm.add_constant(X[result.selected])).fit().bic
    for term in set(X) - set(result.selected):
        there = sm.OLS(y, sm.add_constant(X[[*result.selected, term]])).fit().bic
        assert there > here
        assert table["reason"][term] == f"It would make BIC worse by {there - here:.3g}."


def test_the_reasons_of_removals(prostate):
    X, y = prostate
    result = select(X, y, direction="backward", criterion="pvalue").result_
    table, left = left_out(result).set_index("term"), list(X)
    for step, term in enumerate(result.trace["term"][1:], start=1):
        p = sm.OLS(y, sm.add_constant(X[left])).fit().pvalues[term]
        left.remove(term)
        assert table["reason"][term] == f"It was removed at step {step}: p = {p:.3g} is above 0.1."
    result = select(X, y, direction="backward", criterion="aic").result_
    left, first = list(X), result.trace["term"][1]
    before = sm.OLS(y, sm.add_constant(X)).fit().aic
    after = sm.OLS(y, sm.add_constant(X.drop(columns=first))).fit().aic
    reason = left_out(result).set_index("term")["reason"][first]
    assert reason == f"It was removed at step 1: without it AIC improves by {before - after:.3g}."


def test_the_reasons_of_what_cannot_enter():
    X, y = frame(6)
    X["copy"], X["same"] = X["x1"], 1.0
    table = left_out(select(X, y, criterion="pvalue", max_terms=1).result_).set_index("term")
    assert table["reason"]["same"] == "It does not vary on the rows that are used."
    assert table["reason"].str.startswith("The model holds as many terms as max_terms allows. At step 1,").any()
    table = left_out(select(X, y, direction="backward", criterion="bic").result_).set_index("term")
    assert table["reason"]["copy"] == "It repeats terms of the start model exactly, and a backward selection adds none."
    data = X.assign(y=y)
    result = stepwise("y ~ x0 * x2", data, criterion="bic", collinearity="ignore")
    reasons = left_out(result).set_index("term")["reason"]
    if "x0:x2" in reasons.index and "x0" in reasons.index:
        assert reasons["x0:x2"] == "It may enter only after the terms that it contains."
    gaps = select(frame(60, 40)[0], frame(60, 40)[1], direction="forward", criterion="pvalue", alpha_enter=1).result_
    assert left_out(gaps)["reason"].str.contains("no residual degrees of freedom").any()


def test_the_reasons_of_a_full_model_are_of_the_model_they_name():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 100))
    X = pd.DataFrame({"a": a, "b": b, "b2": b + 0.05 * rng.normal(size=100), "c": rng.normal(size=100)})
    y = pd.Series(2 * a + b + 0.3 * rng.normal(size=100), name="y")
    result = select(X, y, direction="forward", criterion="bic", max_terms=2).result_
    assert result.selected == ["a", "b"]
    before = sm.OLS(y, sm.add_constant(X[["a"]])).fit().bic
    with_b2 = sm.OLS(y, sm.add_constant(X[["a", "b2"]])).fit().bic
    with_c = sm.OLS(y, sm.add_constant(X[["a", "c"]])).fit().bic
    start, reasons = (
        "The model holds as many terms as max_terms allows. At step 2, the last that weighed it, ",
        left_out(result),
    )
    reasons = reasons.set_index("term")["reason"]
    assert reasons["b2"] == f"{start}it would have improved BIC by {before - with_b2:.3g}; another move was taken."
    assert reasons["c"] == f"{start}it would have made BIC worse by {with_c - before:.3g}."
    empty = left_out(select(X, y, max_terms=0).result_)
    assert (
        empty["reason"] == "It was not weighed. The model holds max_terms terms, and none of them is to leave."
    ).all()
    stopped = left_out(select(X, y, criterion="aic", max_steps=1).result_).set_index("term")["reason"]
    first, second = (sm.OLS(y, sm.add_constant(X[names])).fit().aic for names in (["a"], ["a", "b"]))
    assert stopped["b"].startswith(
        f"It would improve AIC by {first - second:.3g}, but the search had ended: the limit of"
    )


def test_the_reasons_of_a_full_model_do_not_call_on_what_is_no_longer_so():
    X, y = frame(4)
    full = "The model holds as many terms as max_terms allows."
    result = stepwise("y ~ x1 * x3", X.assign(y=y), max_terms=2, collinearity="ignore")
    assert result.selected == ["x1", "x3"]
    assert left_out(result)["reason"].tolist() == [full]
    copied = select(X.assign(dup=X["x0"]), y, start="full", max_terms=1, criterion="bic").result_
    reasons = left_out(copied).set_index("term")["reason"]
    assert reasons["dup"] == f"It repeats terms of the start model exactly. {full}"


SAID = [
    (
        {},
        "From the empty model, terms were added or removed one at a time: always the one that made AIC smaller",
    ),
    (
        {"criterion": "adj_r2", "direction": "forward"},
        "added one at a time: always the one that made adjusted R²",
    ),
    ({"direction": "backward", "criterion": "pvalue"}, "From the model of all candidates, terms were removed one at a"),
    ({"criterion": "pvalue"}, "largest p above 0.1 left, else the one with the smallest p below 0.05 entered;"),
    ({"max_terms": 2}, "smaller by most, with 2 terms at most; every model"),
    ({"max_steps": 1}, "smaller by most, in 1 step at most; every model"),
    ({"start": "full", "max_terms": 1}, "with 1 term at most, the least useful first while there were more, whatever"),
    ({"start": ["age"]}, "From a model with age, terms were"),
]


@pytest.mark.parametrize(("parameters", "words"), SAID)
def test_what_was_done_is_said(prostate, parameters, words):
    assert words in what_was_done(select(*prostate, **parameters).result_)


def test_tests_without_fits_are_not_called_fits(prostate):
    X, y = prostate
    how = {"family": "binomial", "criterion": "pvalue", "direction": "forward"}
    refitted = what_was_done(select(X, (y > 2).astype(int), **how).result_)
    assert refitted.endswith("every model was fitted anew.")
    scored = what_was_done(select(X, (y > 2).astype(int), test_enter="score", **how).result_)
    assert scored.endswith("the model of every step was fitted anew.")


def test_meanings_go_with_the_result(prostate):
    X, y = prostate
    said = " ".join(meanings(select(X, y, criterion="adj_r2").result_))
    assert "Adjusted R² is" in said
    assert "multiplies" not in said
    said = " ".join(meanings(select(X, (y > 2).astype(int), family="binomial").result_))
    assert "multiplies the odds of the event by" in said
    assert "McFadden" in said


def test_nothing_selected_and_everything_selected(prostate):
    X, y = prostate
    noise = np.random.default_rng(0).normal(size=len(y))
    page = Page(select(X, noise, criterion="pvalue", alpha_enter=1e-6).result_.to_html())
    assert "None of the 8 candidate terms was selected; the model is the intercept only." in page.text
    page = Page(select(X, y, keep=list(X)).result_.to_html())
    assert "Every candidate is in the model." in page.text
    assert page.headings == SECTIONS
    empty = select(X, noise, criterion="pvalue", alpha_enter=1e-6, fit_intercept=False).result_
    assert "the model is empty" in Page(empty.to_html()).text


def test_rows_dropped_and_where_the_gaps_are():
    lung = pd.read_csv(DATA / "lung.csv").drop(columns=["inst", "meal.cal"])
    X, y = lung.drop(columns=["time", "status"]), survival_response(lung["status"], lung["time"])
    result = select(X, y, family="cox", criterion="bic", missing="drop").result_
    page = Page(result.to_html())
    gaps = page.table("column", "missing values").set_index("column")["missing values"].astype(int)
    expected = X.isna().sum()
    assert gaps.to_dict() == expected[expected > 0].to_dict()
    assert "18 of 228 rows have missing values" in page.text
    assert "MissingRowsWarning" not in page.text  # the class is for filters, not for readers
    described = page.table("column", "mean").set_index("column").astype(float)
    used = X[X.notna().all(axis=1)].astype(float)
    np.testing.assert_allclose(described["mean"][list(used)], used.mean(), rtol=1e-4)
    np.testing.assert_allclose(described["standard deviation"][list(used)], used.std(), rtol=1e-4)
    ratios = page.table("term", "hazard ratio").set_index("term")
    np.testing.assert_allclose(ratios["hazard ratio"].astype(float), np.exp(result.coefficients), rtol=1e-3)


@pytest.mark.parametrize("factors", [True, False])
def test_gaps_are_counted_with_and_without_factors(factors):
    X, y = frame(4)
    X.loc[[3, 5], "x1"], y[7] = np.nan, np.nan
    if factors:
        X["f"] = np.where(np.arange(len(X)) % 3 == 0, "a", "b")
        X.loc[9, "f"] = None
    result = select(X, y, missing="drop").result_
    assert result.gaps == {"$y_1$ <b>": 1, "x1": 2} | ({"f": 1} if factors else {})
    assert result.n_dropped == 3 + factors
    same = select(X, y.rename("x1"), missing="drop").result_
    assert same.gaps["x1"] == 2
    assert same.gaps["x1 (response)"] == 1


def test_the_chance_that_noise_passes():
    """Against selections of noise; small samples, where the chi-squared limit would be off."""
    rng = np.random.default_rng(0)
    for n, p, criterion in (
        (20, 8, "aicc"),
        (20, 8, "bic"),
        (16, 8, "aic"),
        (100, 20, "pvalue"),
        (25, 6, "adj_r2"),
        (30, 6, "cp"),
    ):
        X = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, p))]))[0][:, 1:]
        passed, how = 0, {"criterion": criterion, "direction": "forward", "max_terms": 1}
        for _ in range(300):
            result = select(X, rng.normal(size=n), **how).result_
            passed += len(result.selected)
        said = result.chance_of_noise
        # Terms share the residual, so that they are not quite independent in small samples.
        assert passed / 300 == pytest.approx(said, abs=4 * np.sqrt(said * (1 - said) / 300) + 0.03), criterion
    X, y = rng.normal(size=(100, 20)), rng.normal(size=100)
    assert select(X, y, criterion="pvalue").result_.chance_of_noise == pytest.approx(1 - 0.95**20)
    X[:, 19] = 1.0
    kept = select(X, y, criterion="pvalue", keep=list(range(10))).result_
    assert kept.chance_of_noise == pytest.approx(1 - 0.95**9)  # neither what is kept nor what does not vary
    assert kept.first_weighed == [f"x{at}" for at in range(10, 19)]
    one = select(X, y, criterion="pvalue", direction="backward", start=["x3"]).result_
    assert one.first_weighed == ["x3"]
    assert one.chance_of_noise == pytest.approx(0.1)
    started = select(X, y, criterion="pvalue", direction="forward", start=["x4", "x5"]).result_
    assert started.first_weighed == [f"x{at}" for at in range(19) if at not in (4, 5)]
    for nothing in ({"max_terms": 0}, {"max_steps": 0}, {"keep": ["x0"], "max_terms": 1}):
        assert "noise" not in " ".join(trust(select(X, y, **nothing).result_))
    frame_of_noise = pd.DataFrame(X[:, :6], columns=list("abcdef")).assign(y=y)
    scope = stepwise("y ~ a + b + c + d + e + f", frame_of_noise, scope="~ .^2", criterion="bic", direction="forward")
    assert len(scope.first_weighed) == 15
    all_kept = select(X, y, keep=list(range(20))).result_
    assert not all_kept.first_weighed
    assert "noise" not in " ".join(trust(all_kept))


def test_the_chance_that_noise_passes_in_logistic_selections():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 5))
    passed = 0
    for _ in range(200):
        result = select(X, rng.integers(0, 2, 400), family="binomial", criterion="aic", direction="forward").result_
        passed += len(result.selected) > 0
    assert passed / 200 == pytest.approx(result.chance_of_noise, abs=0.12)
    assert result.chance_of_noise == pytest.approx(1 - (1 - 0.1573) ** 5, rel=1e-3)


def test_the_trust_statement_has_numbers(result, prostate):
    sentences = " ".join(trust(result))
    X, _ = prostate
    correlation = X.corr().abs().to_numpy() - np.eye(8)
    assert f"{correlation.max():.2f} (gleason and pgg45)" in sentences
    assert "97 observations for 8 candidate coefficients, 12.1 for each: about what" in sentences


def test_the_call_repeats_the_selection(prostate):
    X, y = prostate
    data, sample_weight = X.assign(lpsa=y), np.arange(len(y)) % 3 + 1
    gamma, negative = sm.families.Gamma(sm.families.links.Log()), sm.families.NegativeBinomial(alpha=0.2)
    weighted = StepwiseSelector(criterion="bic", keep=["age"], groups={"g": ["lcp", "svi"]})
    by_p = StepwiseSelector(criterion="pvalue", alpha_enter=np.float64(0.2), alpha_remove=0.25, start=("age",))
    groups = {"g": X.columns[5:7]}
    of_index = StepwiseSelector(keep=X.columns[:2], start=X.columns[[3]], groups=groups, max_terms=6, criterion="hqic")
    results = [
        (y, weighted.fit(X, y, sample_weight).result_),
        (y, by_p.fit(X, y).result_),
        (y, StepwiseSelector(categorical={"svi": 1}, max_terms=3).fit(X, y).result_),
        (y, stepwise("lpsa ~ .", data, scope="~ .^2", criterion="bic", max_steps=2, collinearity="ignore")),
        (np.exp(y), StepwiseSelector(family=gamma, criterion="bic").fit(X, np.exp(y)).result_),
        (np.exp(y).round(), StepwiseSelector(family=negative).fit(X, np.exp(y).round()).result_),
        (y, of_index.fit(X, y).result_),
    ]
    loose = StepwiseSelector(criterion="bic", vif_threshold=float("inf"), keep=["a```b", r"\end{verbatim}"])
    odd = X.rename(columns={"age": "a```b", "svi": r"\end{verbatim}"})
    assert results[-1][1].call.count("\n") > 1  # an argument a line, where the line would be long
    for response, result in [*results, (y, loose.fit(odd, y).result_)]:
        names = {
            "X": odd if "verbatim" in result.call else X,
            "y": response,
            "data": data,
            "sample_weight": sample_weight,
        }
        exec(imports(result.call), names)
        again = eval(result.call, names)
        again = getattr(again, "result_", again)
        assert again.selected == result.selected
        assert again.trace["aic"].tolist() == result.trace["aic"].tolist()


def test_the_code_of_a_report_runs(prostate):
    X, y = prostate
    X = X.rename(columns={"age": "a```b", "svi": r"\end{verbatim}"})
    result = select(X, y, criterion="bic", keep=list(X.columns[[2, 4]])).result_
    stability = selection_stability(result, n_resamples=20, method="subsample", fraction=0.3, random_state=0)
    found = re.search(r"<code>(.*?)</code>", result.to_html(stability=stability), re.DOTALL)
    names = {"X": X, "y": y}
    exec(html.unescape(found[1]), names)
    assert names["result"].selected == result.selected
    assert names["stability"].fraction == 0.3
    assert names["stability"].n_resamples == 20
    fenced = re.search(r"^(`{4,})python\n(.*?)^\1$", result.to_markdown(), re.DOTALL | re.MULTILINE)
    exec(fenced[2], names)
    assert names["result"].selected == result.selected


def test_what_was_warned_of_is_kept(prostate):
    X, y = prostate
    X = X.assign(copy=X["age"], one=1.0)
    with pytest.warns(StepselWarning) as caught:
        result = StepwiseSelector(criterion="bic", direction="backward").fit(X, y).result_
    assert result.warnings == [f"{item.category.__name__}: {item.message}" for item in caught]
    assert any("copy (with age)" in text for text in result.warnings)
    page = Page(result.to_html())
    for text in result.warnings:
        sentence = text.partition(": ")[2]
        assert sentence[:1].upper() + sentence[1:] in page.text


# Names are data -------------------------------------------------------------------------------------------------------


def test_names_are_harmless_in_html(hostile):
    stability = selection_stability(hostile, n_resamples=20, random_state=0)
    text = hostile.to_html(stability=stability, title=f"About {SCRIPT}")
    page = Page(text)
    assert page.tags.count("script") == 1  # that of the page itself
    assert "default-src 'none'" in text  # nothing else runs, and nothing is loaded
    assert page.tags.count("img") == 8
    assert not [name for name, _ in page.attrs if name.startswith("on")]
    assert not [value for name, value in page.attrs if name in ("href", "src") and not value.startswith(("#", "data:"))]
    assert SCRIPT in page.text
    assert "\u202e" not in text
    assert f"<title>About {html.escape(SCRIPT)}</title>" in text
    assert "localhost/y.png" in page.text  # shown, not loaded
    for image in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', text):
        drawn = base64.b64decode(image).decode()
        assert "<script" not in drawn
        assert "\u202e" not in drawn


def test_names_are_harmless_in_notebooks(hostile):
    selector = select(*frame(len(NAMES), names=NAMES), criterion="aic")
    stability = selection_stability(hostile, n_resamples=20, random_state=0)
    shown = [selector._repr_mimebundle_()["text/html"], hostile._repr_html_(), stability._repr_html_()]
    shown += [
        table._repr_html_() for table in (hostile.trace, hostile.candidates, hostile.collinearity, hostile.tidy())
    ]
    for text in shown:
        assert "<script>alert" not in text
        assert "<img" not in text
    assert html.escape(SCRIPT) in hostile.candidates.head(20)._repr_html_()


def test_names_are_harmless_in_markdown(hostile):
    text = hostile.to_markdown()
    code = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    outside = re.sub(r"^\[\w+\]: data:image/png.*$", "", code, flags=re.MULTILINE)
    assert "<script" not in outside
    assert "<img" not in outside
    assert "](" not in outside.replace("\\]", "")
    rows = [line for line in outside.splitlines() if line.startswith("| 1 | add")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert len(re.findall(r"^`{3,}", text, re.MULTILINE)) == 2
    assert markdown("*a* | `b`") == r"\*a\* \| \`b\`"
    assert markdown("# x"), markdown("1. x") == (r"\# x", r"1\. x")


def test_names_are_harmless_in_latex(hostile, tmp_path):
    assert latex(r"a_b & 50% {x} \y") == r"a\_b \& 50\% \{x\} \textbackslash{}y"
    path = tmp_path / "report.tex"
    hostile.to_latex(path)
    text = path.read_text(encoding="utf-8")
    assert text.count(r"\end{verbatim}") == 1
    compiler = shutil.which("lualatex")
    if compiler is None:
        pytest.skip("LaTeX is not installed")
    run = subprocess.run(
        [compiler, "-interaction=nonstopmode", "-halt-on-error", path.name],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-2000:]


def test_half_a_character_can_be_written(tmp_path):
    X, y = frame(3)
    X.columns = pd.Index(["\ud800half", "b", "c"], dtype=object)
    result = select(X, y).result_
    for write, name in ((result.to_html, "r.html"), (result.to_markdown, "r.md"), (result.to_latex, "r.tex")):
        write(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8")


# Size and browser -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no browser is installed")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def seen(browser, tmp_path):
    """Open a report, and say what the browser had to say."""

    def open_page(text, width=1280):
        path = tmp_path / "report.html"
        path.write_text(text, encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 900})
        found = SimpleNamespace(page=page, messages=[], requests=[])
        page.on("console", lambda message: found.messages.append(message.text))
        page.on("pageerror", lambda error: found.messages.append(str(error)))
        page.on("dialog", lambda dialog: (found.messages.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: found.requests.append(request.url))
        began = time.perf_counter()
        page.goto(path.as_uri(), wait_until="load")
        found.seconds = time.perf_counter() - began
        found.requests = [url for url in found.requests if not url.startswith("data:") and url != path.as_uri()]
        return found

    return open_page


def examples():
    """Reports of the data that come with the package."""
    prostate = pd.read_csv(DATA / "prostate.csv")
    births = pd.read_csv(DATA / "birthwt.csv")
    pima = pd.read_csv(DATA / "pima.csv")
    linear = select(prostate.drop(columns="lpsa"), prostate["lpsa"], criterion="aic", direction="backward").result_
    yield "prostate", linear.to_html(stability=selection_stability(linear, n_resamples=50, random_state=0))
    scope = stepwise("low ~ age + lwt + race + smoke + ptd + ht + ui + ftv", births, scope="~ .^2", family="binomial")
    yield "birthwt", scope.to_html()
    yield (
        "pima",
        select(pima.drop(columns="type"), pima["type"], family="binomial", criterion="pvalue").result_.to_html(),
    )


@pytest.mark.filterwarnings("ignore::stepsel.StepselWarning")
@pytest.mark.parametrize("width", [390, 1280])
def test_the_reports_of_the_data_in_a_browser(seen, width):
    for name, text in examples():
        found = seen(text, width)
        assert found.messages == [], name
        assert found.requests == [], name
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width, name
        loaded = "[...document.images].every(image => image.complete && image.naturalWidth > 0)"
        assert found.page.evaluate(loaded), name
        sizes = "[...document.querySelectorAll('td')].map(cell => parseFloat(getComputedStyle(cell).fontSize))"
        assert min(found.page.evaluate(sizes)) >= 12, name


@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_names_in_a_browser(seen, hostile, width):
    found = seen(hostile.to_html(title=SCRIPT), width)
    assert found.messages == []
    assert found.requests == []
    assert found.page.title() == SCRIPT
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    cells = found.page.evaluate("[...document.querySelectorAll('td')].map(cell => cell.textContent)")
    assert {SCRIPT, NAMES[3], NAMES[10]} <= set(cells)


def test_notebook_html_in_a_browser(seen, hostile):
    found = seen(f"<meta charset='utf-8'>{hostile._repr_html_()}{hostile.trace._repr_html_()}")
    assert found.messages == []
    assert found.requests == []


def test_tables_sort(seen, result):
    page = seen(result.to_html()).page
    table = page.locator("#left-out table")
    head = table.locator("th", has_text="p").nth(0)

    def column(name):
        at = [text.strip() for text in table.locator("th").all_inner_texts()].index(name)
        return [row.locator("td").nth(at).inner_text() for row in table.locator("tbody tr").all()]

    given = column("p")
    button = table.get_by_role("button", name="p", exact=True)
    button.click()
    assert [float(p) for p in column("p")] == sorted(map(float, given))
    button.press("Enter")  # by keyboard as well
    assert [float(p) for p in column("p")] == sorted(map(float, given), reverse=True)
    assert table.locator("th[aria-sort]").count() == 1
    button.click()
    assert column("p") == given
    table.get_by_role("button", name="term", exact=True).click()
    assert column("term") == sorted(column("term"))
    assert head.count()


def test_prints_on_paper(seen, result, tmp_path):
    page = seen(result.to_html()).page
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    page.set_viewport_size({"width": 700, "height": 1000})  # A4 without its margins, about
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


def test_a_report_of_300_columns_is_small_and_opens_fast(seen):
    names = [f"measurement_{at}_of_the_plant_in_its_usual_units" for at in range(300)]
    X, y = frame(300, n_rows=1000, names=names)
    for direction in ("both", "backward"):
        text = select(X, y, criterion="bic", direction=direction).result_.to_html()
        assert len(text.encode()) < 5e6
        found = seen(text)
        assert found.messages == []
        assert found.seconds < 2


# Command line ---------------------------------------------------------------------------------------------------------


def test_a_report_takes_the_stability_of_its_own_selection_only(result, prostate):
    X, y = prostate
    other = selection_stability(select(X, y, criterion="aic").result_, n_resamples=5, random_state=0)
    with pytest.raises(ValueError, match="stability is that of another selection"):
        result.to_html(stability=other)
    with pytest.raises(ValueError, match="stability is 3: give what"):
        result.to_html(stability=3)


def test_reports_at_the_same_time_leave_the_style_alone(result):
    import matplotlib as mpl
    from joblib import Parallel, delayed

    with mpl.style.context("dark_background"):
        before, filters = dict(mpl.rcParams), list(warnings.filters)
        pages = Parallel(3, backend="threading")(delayed(result.to_html)() for _ in range(3))
        assert dict(mpl.rcParams) == before
        assert warnings.filters == filters
    assert pages[0] == pages[1] == pages[2] == result.to_html()


@pytest.mark.parametrize("ending", ["html", "md", "tex"])
def test_the_command_line_writes_reports(ending, tmp_path):
    from typer.testing import CliRunner

    from stepsel.cli.app import app

    path = tmp_path / f"report.{ending}"
    command = ["select", str(DATA / "prostate.csv"), "--target", "lpsa", "--criterion", "bic", "--report", str(path)]
    run = CliRunner().invoke(app, [*command, "--stability", "20"])
    assert run.exit_code == 0, run.output
    text = path.read_text(encoding="utf-8")
    for part in ("lcavol", "Left out, and why", "20 bootstrap samples"):
        assert part in text


def test_the_command_line_refuses_a_report_before_a_long_run(tmp_path):
    from typer.testing import CliRunner

    from stepsel.cli.app import app

    command = ["select", str(DATA / "prostate.csv"), "--target", "lpsa", "--report"]
    run = CliRunner().invoke(app, [*command, str(tmp_path / "report.pdf")])
    assert run.exit_code != 0
    assert "the name has to end in .html, .md or .tex" in " ".join(run.output.split())
    run = CliRunner().invoke(app, [*command, str(tmp_path / "none" / "report.html")])
    assert run.exit_code != 0
    assert "does not exist" in " ".join(run.output.split())
