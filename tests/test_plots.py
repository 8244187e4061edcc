"""Displays: the arrays are those of the result, and what is drawn can be read."""

import itertools
import pickle
import subprocess
import sys
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from stepsel import StepwiseSelector, display, stepwise
from stepsel.inference import selection_stability
from stepsel.plots import KINDS
from stepsel.plots.canvas import spread_out
from stepsel.plots.names import label, labels
from tests.helpers import select, survival
from tests.hostile import NAMES, SCRIPT, frame

mpl.use("Agg")
STABILITY = ("inclusion", "coefficients")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def results():
    """Selections with 5 and 100 candidates, with hostile names, with enormous and with negative criteria."""
    found = {}
    for name, n, parameters in (
        ("few", 5, {"direction": "backward", "criterion": "bic"}),
        ("many", 100, {"direction": "backward", "criterion": "aic"}),
        ("many by p", 100, {"criterion": "pvalue"}),
    ):
        found[name] = select(*frame(n), **parameters).result_
    found["hostile"] = select(*frame(len(NAMES), names=NAMES), direction="backward", criterion="bic").result_
    X, y = frame(8)
    found["huge"] = select(X, y * 1e120, criterion="aic").result_  # a criterion of some 150,000
    found["negative"] = select(X, y * 1e-9, criterion="bic").result_
    found["nothing"] = select(
        X, np.random.default_rng(3).normal(size=len(X)), criterion="pvalue", alpha_enter=1e-9
    ).result_
    return found


@pytest.fixture(scope="module")
def stabilities(results):
    return {
        name: selection_stability(results[name], n_resamples=40, random_state=0)
        for name in ("few", "many", "hostile", "nothing")
    }


def texts(figure):
    """Every text that is drawn and holds something."""
    found = []
    nested = [child for parent in figure.axes for child in parent.child_axes]
    for ax in [*figure.axes, *nested]:
        inside = [*ax.texts, ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label]
        inside += [*ax.get_xticklabels(), *ax.get_yticklabels()]
        found += [text for text in inside if text.get_visible() and text.get_text().strip()]
    return found


def assert_readable(figure):
    """No name is smaller than 6 points, outside of the figure, or over the next name of its axis."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    width, height = figure.canvas.get_width_height()
    for text in texts(figure):
        assert text.get_fontsize() >= 6, text.get_text()
        ours = "mathdefault" not in text.get_text()  # matplotlib's own powers of ten
        assert not (ours and "$" in text.get_text() and text.get_parse_math()), text.get_text()
    for ax in figure.axes:
        low, high = sorted(ax.get_ylim())
        drawn = [tick.label1 for tick in ax.yaxis.get_major_ticks() if low <= tick.get_loc() <= high]
        rows = [text.get_window_extent(renderer) for text in drawn if text.get_visible() and text.get_text()]
        rows.sort(key=lambda box: box.y0)
        for below, above in itertools.pairwise(rows):
            assert below.y0 + 0.8 * below.height <= above.y0 + 0.1 * above.height
        for box in rows:
            assert box.x0 > -2
            assert box.y0 > -2
            assert box.y1 < height + 2
            assert box.x1 < width + 2


@pytest.mark.filterwarnings("error::UserWarning:matplotlib")
@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("name", ["few", "many", "many by p", "hostile", "huge", "negative", "nothing"])
def test_what_is_drawn_can_be_read(results, name, kind):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # which fonts there are is not ours
        assert_readable(results[name].plot(kind).figure_)


@pytest.mark.parametrize("kind", STABILITY)
@pytest.mark.parametrize("name", ["few", "many", "hostile", "nothing"])
def test_stability_can_be_read(stabilities, name, kind):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        assert_readable(stabilities[name].plot(kind).figure_)


@pytest.mark.parametrize("kind", list(KINDS))
def test_small_axes_show_what_fits_and_say_what_is_left_out(results, kind):
    figure, axes = plt.subplots(2, 2, figsize=(12, 7))
    drawn = results["many"].plot(kind, ax=axes[0, 0])
    assert drawn.figure_ is figure
    figure.canvas.draw()
    sizes = [text.get_fontsize() for text in texts(figure)]
    assert min(sizes) >= 6
    if kind in ("path", "candidates", "vif", "clusters"):
        shown = len([tick for tick in axes[0, 0].get_yticklabels() if tick.get_text()])
        n = {"path": len(results["many"].trace), "clusters": 100}.get(kind, shown + 1)
        assert shown < n
        assert "not shown: " in axes[0, 0].get_xlabel()


def test_the_path_is_that_of_the_trace(results):
    trace = results["few"].trace
    shown = results["few"].plot()
    assert isinstance(shown, display.SelectionPathDisplay)
    np.testing.assert_array_equal(shown.values, trace["criterion"])
    names = [tick.get_text() for tick in shown.ax_.get_yticklabels()]
    signs = {"add": "+ ", "remove": "− "}
    assert names[1:] == [
        signs[action] + term for action, term in zip(trace["action"][1:], trace["term"][1:], strict=True)
    ]
    np.testing.assert_allclose(shown.ax_.lines[0].get_xdata(), trace["criterion"])


def test_p_values_that_underflow_are_drawn_at_the_end_of_the_scale():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    result = select(X, X @ [5.0, 3.0, 0.05] + 0.1 * rng.normal(size=4000), criterion="pvalue").result_
    assert (result.trace["p_value"][1:3] == 0).all()
    shown = result.plot()
    assert shown.ax_.get_xscale() == "log"
    assert np.nanmin(shown.ax_.lines[0].get_xdata()) == 1e-16
    assert shown.levels == {"alpha_enter": 0.05, "alpha_remove": 0.1}


def test_candidates_are_those_of_the_step(results):
    result = results["few"]
    shown = result.plot("candidates", step=1)
    rows = result.candidates[result.candidates["step"] == 1].sort_values("criterion", kind="stable")
    names = [tick.get_text()[2:] for tick in shown.ax_.get_yticklabels()]
    assert names == rows["term"].tolist()
    bold = [tick.get_text()[2:] for tick in shown.ax_.get_yticklabels() if tick.get_fontweight() == "bold"]
    assert bold == rows["term"][rows["status"] == "chosen"].tolist()
    with pytest.raises(ValueError, match="step is 77: steps are 1 to"):
        result.plot("candidates", step=77)


def test_larger_is_better_for_adjusted_r2():
    X, y = frame(6)
    shown = select(X, y, criterion="adj_r2").result_.plot("candidates", step=1)
    best = next(tick.get_text()[2:] for tick in shown.ax_.get_yticklabels())
    fits = {name: sm.OLS(y, sm.add_constant(X[[name]])).fit().rsquared_adj for name in X}
    assert best == max(fits, key=fits.get)
    panel = select(X, y, criterion="adj_r2").result_.plot("criteria")
    assert [ax.get_title(loc="left").split(":")[0] for ax in panel.axes_][:2] == ["AIC", "BIC"]


def test_criteria_mark_their_own_best_step(results):
    shown = results["many"].plot("criteria")
    trace = results["many"].trace
    for ax, column, best in zip(shown.axes_, ("aic", "bic", "adj_r2"), ("idxmin", "idxmin", "idxmax"), strict=False):
        star = next(line for line in ax.lines if line.get_marker() == "*")
        assert star.get_xdata()[0] == getattr(trace[column], best)()


def test_inflation_marks_the_threshold_and_infinity():
    shown = display.InflationDisplay(terms=["a", "b", "c"], vif=[np.inf, 12.0, 1.0], threshold=10.0).plot()
    widths = [bar.get_width() for bar in shown.ax_.patches]
    assert np.isfinite(widths).all()
    assert shown.ax_.patches[0].get_hatch()
    assert {"∞", "12.00", "threshold 10"} <= {text.get_text() for text in shown.ax_.texts}


def test_clusters_are_joined_where_every_pair_is_correlated():
    correlations = np.eye(5)
    for first, second, value in ((0, 1, 0.95), (0, 2, 0.8), (1, 2, 0.72), (3, 4, 0.69)):
        correlations[first, second] = correlations[second, first] = value
    shown = display.CorrelationClustersDisplay(
        correlations=correlations, terms=list("abcde"), selected=[True] + [False] * 4
    )
    assert len(set(shown.clusters[:3])) == 1
    assert len(set(shown.clusters)) == 3
    shown.plot()
    assert "1 cluster at 0.7" in shown.ax_.get_title(loc="left")
    weaker = display.CorrelationClustersDisplay(
        correlations=correlations, terms=list("abcde"), selected=[False] * 5, threshold=0.75
    )
    assert weaker.clusters[0] == weaker.clusters[1] != weaker.clusters[2]


# What is drawn, against fits made separately ------------------------------------------------------------------------


def separate(X, y, names, fit):
    """The coefficients of a separate fit by name."""
    return fit(y, X[names]).params if names else {}


@pytest.mark.parametrize("n_rows", [300, 40])
def test_progression_is_what_separate_fits_give(n_rows):
    X, y = frame(30 if n_rows == 300 else 60, n_rows=n_rows)
    X = X * np.geomspace(1e-6, 1e6, X.shape[1]) + 1e5 * np.arange(X.shape[1])
    result = select(X, y, direction="forward", criterion="bic", max_terms=6).result_
    active = []
    for step, row in result.coefficient_progression.iterrows():
        active += [term for term in [result.trace["term"][step]] if term is not None]
        centre, scale = X[active].mean(), X[active].std()
        Z = sm.add_constant((X[active] - centre) / scale)
        expected = sm.OLS(y, Z).fit().params
        slopes = expected[active] / scale
        np.testing.assert_allclose(row[active].to_numpy(float), slopes, rtol=1e-7)
        # The intercept is a difference of large numbers, known to their rounding.
        size = np.abs(slopes * centre).sum() + 1
        assert row["(Intercept)"] == pytest.approx(expected["const"] - (slopes * centre).sum(), abs=1e-8 * size)
        assert row.notna().sum() == len(active) + 1


def test_progression_of_nearly_collinear_columns():
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    X = np.column_stack([x, x + 1e-6 * rng.normal(size=200), rng.normal(size=200)])
    y = X @ [1.0, 2.0, 1.0] + 0.1 * rng.normal(size=200)
    result = select(X, y, direction="backward", criterion="bic", keep=[0, 1]).result_
    Z = sm.add_constant(X)
    expected, *_ = np.linalg.lstsq(Z, y, rcond=None)
    np.testing.assert_allclose(result.coefficient_progression.iloc[0], expected, rtol=1e-6)


def test_progression_of_weights_and_no_intercept():
    X, y = frame(5)
    weights = np.random.default_rng(1).integers(1, 5, len(X))
    result = select(X, y, sample_weight=weights, direction="backward", criterion="bic", fit_intercept=False).result_
    expected = sm.WLS(y, X, weights=weights).fit().params
    np.testing.assert_allclose(result.coefficient_progression.iloc[0], expected, rtol=1e-8)
    assert list(result.coefficient_progression.columns) == list(X)


@pytest.mark.parametrize("family", ["binomial", "poisson", "cox"])
def test_progression_of_other_families(family):
    X, y = frame(6)
    eta = 0.3 * y / y.std()
    rng = np.random.default_rng(4)
    if family == "binomial":
        response, fit = (rng.random(len(X)) < 1 / (1 + np.exp(-eta))).astype(int), None
    elif family == "poisson":
        response = rng.poisson(np.exp(eta))
    else:
        time, event = rng.exponential(np.exp(-eta)), rng.random(len(X)) < 0.7
        response = survival(event, time)
    result = select(X, response, family=family, direction="forward", criterion="pvalue", alpha_enter=0.5).result_
    active = []
    for step, row in result.coefficient_progression.iterrows():
        active += [term for term in [result.trace["term"][step]] if term is not None]
        if not active:
            continue
        if family == "cox":
            expected = sm.PHReg(time, X[active], status=event, ties="efron").fit().params
            found = row[active].to_numpy(float)
        else:
            link = sm.families.Binomial() if family == "binomial" else sm.families.Poisson()
            fit = sm.GLM(response, sm.add_constant(X[active]), family=link).fit(tol=1e-12)
            expected, found = fit.params, row[["(Intercept)", *active]].to_numpy(float)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    assert len(active) >= 2
    np.testing.assert_allclose(
        result.coefficient_progression.iloc[-1][active].astype(float), result.coefficients[active]
    )


def test_standardized_coefficients_are_those_of_standardized_columns(results):
    X, y = frame(5)
    result = results["few"]
    shown = result.plot("coefficients")
    names = result.selected
    Z = (X - X.mean()) / X.std()
    expected = sm.OLS((y - y.mean()) / y.std(), Z[names]).fit().params
    last = shown.coefficients[-1] * shown.scale
    np.testing.assert_allclose(last[[shown.names.index(name) for name in names]], expected, rtol=1e-8)
    plain = display.CoefficientProgressionDisplay.from_result(result, standardized=False)
    ends = {line.get_ydata()[-1] for line in plain.ax_.lines}
    assert all(any(abs(value - end) < 1e-12 for end in ends) for value in result.coefficients)


def test_correlations():
    X, y = frame(6)
    table = select(X, y).result_.correlations
    np.testing.assert_allclose(table, np.abs(np.corrcoef(X.T)), rtol=1e-10, atol=1e-12)
    wide, z = frame(40, n_rows=30)
    np.testing.assert_allclose(
        select(wide, z, direction="forward", max_terms=3).result_.correlations, np.abs(np.corrcoef(wide.T)), atol=1e-12
    )


def test_correlations_of_factors_are_canonical():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"f": rng.choice(list("abc"), 200), "x": rng.normal(size=200)})
    data["x"] += (data["f"] == "b") * 2
    data["g"] = np.where(rng.random(200) < 0.7, data["f"], "a")
    data["y"] = data["x"] + rng.normal(size=200)
    table = stepwise("y ~ f + x + g", data, collinearity="ignore").correlations

    def coded(name):
        return pd.get_dummies(data[name], drop_first=True, dtype=float) if name in "fg" else data[[name]]

    for first, second in itertools.combinations("fxg", 2):
        centred = [coded(name) - coded(name).mean() for name in (first, second)]
        bases = [np.linalg.qr(part)[0] for part in centred]
        assert table.loc[first, second] == pytest.approx(np.linalg.svd(bases[0].T @ bases[1])[1][0])


# How they are called -----------------------------------------------------------------------------------------------


def test_from_estimator_and_from_pipeline():
    X, y = frame(5)
    selector = StepwiseSelector(criterion="bic").fit(X, y)
    pipeline = make_pipeline(StepwiseSelector(criterion="bic"), LinearRegression()).fit(X, y)
    for kind in KINDS.values():
        assert kind.from_estimator(selector).figure_ is not None
        assert type(kind.from_estimator(pipeline)) is kind
    with pytest.raises(NotFittedError):
        display.SelectionPathDisplay.from_estimator(StepwiseSelector())
    with pytest.raises(NotFittedError):
        display.SelectionPathDisplay.from_estimator(GridSearchCV(pipeline, {}))
    search = GridSearchCV(make_pipeline(pipeline), {}, cv=2).fit(X, y)
    assert display.SelectionPathDisplay.from_estimator(search).criterion == "bic"
    with pytest.raises(ValueError, match="estimator is a LinearRegression: give a StepwiseSelector"):
        display.SelectionPathDisplay.from_estimator(LinearRegression())


def test_stability_display_counts(stabilities):
    stability = stabilities["few"]
    shown = stability.plot()
    share = sorted((bar.get_width() for bar in shown.ax_.patches if bar.get_height() < 1), reverse=True)
    np.testing.assert_allclose(share, np.sort(100 * stability.inclusion)[::-1])
    X, y = frame(5)
    other = display.StabilityDisplay.from_estimator(
        StepwiseSelector(direction="backward", criterion="bic"), X, y, n_resamples=40, random_state=0
    )
    np.testing.assert_array_equal(other.inclusion, shown.inclusion)
    with pytest.raises(ValueError, match="kind is 'pie': choose one of 'inclusion', 'coefficients'"):
        stability.plot("pie")


def test_strong_effects_are_inside_the_axis():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    stability = selection_stability(
        select(X, X @ [1, 1, -2] + 0.3 * rng.normal(size=2000)).result_, n_resamples=30, random_state=0
    )
    shown = stability.plot("coefficients")
    low, high = shown.ax_.get_xlim()
    median = np.median(stability.coefficients[:, 1:], axis=0) / shown.unit
    assert (np.abs(median) > 50).all()
    assert (low < median).all()
    assert (median < high).all()
    assert shown.unit_name == "standard errors of the full model"
    np.testing.assert_allclose(shown.unit, sm.OLS(stability_y(X), sm.add_constant(X)).fit().bse[1:], rtol=0.2)


def stability_y(X):
    return X @ [1, 1, -2] + 0.3 * np.random.default_rng(5).normal(size=len(X))


def test_separation_does_not_set_the_unit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    separated = select(X, (X[:, 0] + X[:, 1] > 0).astype(int), family="binomial", criterion="bic", max_terms=1)
    shown = selection_stability(separated.result_, n_resamples=20, random_state=0).plot("coefficients")
    assert shown.unit_name == "standard deviations where selected"


@pytest.mark.parametrize("size", [(3, 2.5), (7, 3)])
def test_titles_and_notes_stay_in_the_figure(results, size):
    for kind in KINDS:
        figure, ax = plt.subplots(figsize=size, layout="constrained")
        results["many"].plot(kind, ax=ax)
        figure.canvas.draw()
        renderer = figure.canvas.get_renderer()
        for text in (ax._left_title, ax.xaxis.label):
            box = text.get_window_extent(renderer)
            assert box.x1 < figure.bbox.width + 12, (kind, text.get_text())
            assert box.x0 > -12, (kind, text.get_text())


def test_unknown_kinds_and_too_few_axes(results):
    with pytest.raises(ValueError, match="kind is 'pie': choose one of 'path'"):
        results["few"].plot("pie")
    _, axes = plt.subplots(1, 2)
    with pytest.raises(ValueError, match="ax holds 2 axes: give at least 4"):
        results["few"].plot("criteria", ax=axes)


def test_nothing_of_matplotlib_is_imported_or_changed_before_drawing(results):
    code = (
        "import sys, numpy as np; from stepsel import StepwiseSelector; import stepsel.display; "
        "X = np.random.default_rng(0).normal(size=(40, 3)); r = StepwiseSelector().fit(X, X[:, 0]**3).result_; "
        "d = r.display('vif'); r._repr_html_(); assert 'matplotlib' not in sys.modules; d.plot(); "
        "assert 'matplotlib' in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
    before = dict(mpl.rcParams)
    results["few"].plot()
    results["few"].to_html()
    assert dict(mpl.rcParams) == before


def test_without_matplotlib_the_sentence_says_what_to_install(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(ImportError, match="plots need matplotlib: pip install matplotlib"):
        results["few"].plot()


def test_a_pickled_result_draws_what_it_holds():
    result = pickle.loads(pickle.dumps(select(*frame(5)).result_))
    for kind in KINDS:
        result.plot(kind)
    many = pickle.loads(pickle.dumps(select(*frame(210, n_rows=400), direction="forward", max_terms=2).result_))
    with pytest.raises(RuntimeError, match="the result was pickled without the data that this takes: fit again"):
        many.plot("clusters")


@pytest.mark.filterwarnings("ignore:Tight layout", "ignore:constrained_layout")
def test_axes_of_other_kinds(results):
    result = results["few"]
    for kind in KINDS:
        part = plt.figure().subfigures(1, 2)[0]
        assert result.plot(kind, ax=part.subplots()).figure_ is not None
        polar = plt.figure().add_subplot(projection="polar")
        with pytest.raises(ValueError, match="ax is PolarAxes: give rectangular Axes"):
            result.plot(kind, ax=polar)
    with pytest.raises(ValueError, match="ax is Figure: give rectangular Axes"):
        result.plot(ax=plt.figure())


def test_names_can_be_read_on_black(results):
    with mpl.style.context("dark_background"):
        for kind in KINDS:
            for text in texts(results["few"].plot(kind).figure_):
                red, green, blue = mpl.colors.to_rgb(text.get_color())
                assert 0.3 * red + 0.6 * green + 0.1 * blue > 0.35, text.get_text()


def test_the_last_step_says_why_it_is_the_last():
    X, y = frame(6)
    shown = select(X, y, max_steps=1).result_.plot("candidates")
    title = " ".join(shown.ax_.get_title(loc="left").split())
    assert title == "Step 2: no move was taken. The limit of max_steps=1 steps was reached."


def test_options_of_kinds(results):
    plain = results["few"].plot("coefficients", standardized=False)
    assert not plain.standardized
    for step in (True, 1.5, "a"):
        with pytest.raises(ValueError, match="steps are 1 to"):
            results["few"].plot("candidates", step=step)
    with pytest.raises(ValueError, match="use from_estimator"):
        display.SelectionPathDisplay.from_result(select(*frame(3)))


def test_without_an_intercept_correlations_are_about_the_mean():
    X, y = frame(4)
    table = select(X + 100, y, fit_intercept=False, collinearity="ignore").result_.correlations
    np.testing.assert_allclose(table, np.abs(np.corrcoef(X.T)), atol=1e-10)


def test_labels_differ_where_names_do():
    names = [f"average_household_income_in_{year}_of_the_region_in_units" for year in range(2000, 2020)]
    names += [f"measurement_{at}_of_site" for at in (4, 14, 24)] + ["x" * 50 + str(at) + "y" * 50 for at in range(3)]
    for longest in (12, 20, 30):
        found = labels(names, longest)
        assert len(set(found)) == len(names)
        assert max(map(len, found)) <= longest
    assert "2007" in labels(names, 20)[7]


def test_labels():
    assert label(SCRIPT) == SCRIPT
    assert label("a\nb\tc  d") == "a b c d"
    assert "\u202e" not in label("\u202egnp")
    assert label("\ud800x") == "\N{REPLACEMENT CHARACTER}x"
    assert label("") == "(no name)"
    assert len(label("x" * 500)) == 30
    assert label(("a", 1)) == "('a', 1)"


def test_spread_out_keeps_the_order_and_the_gap():
    rng = np.random.default_rng(0)
    for _ in range(50):
        places = np.sort(rng.normal(size=12))
        moved = spread_out(places, 0.2, -5.0, 5.0)
        assert (np.diff(moved) >= 0.2 - 1e-9).all()
        assert np.abs(moved - places).max() < 2.4
