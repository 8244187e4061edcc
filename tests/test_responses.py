"""Responses as people have them: expected arrays are written out, refusals name the row, the value and the way out."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from numpy.testing import assert_array_equal

from stepsel.responses import (
    binomial_response,
    count_response,
    offset_vector,
    positive_response,
)
from stepsel.survival import cox_response, status_events, survival_response
from tests.helpers import select

NAN = float("nan")


def sentence(function, *arguments, **options):
    """The message of a refusal: one sentence."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        function(*arguments, **options)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert ". " not in message
    return message


# Two classes --------------------------------------------------------------------------------------------------------

CODINGS = {
    "0/1": ([0, 1, 1], (0, 1)),
    "1/2": ([1, 2, 2], (1, 2)),
    "-1/1": ([-1, 1, 1], (-1, 1)),
    "floats": ([0.0, 1.0, 1.0], (0, 1)),
    "large": ([3.5, 1e9, 1e9], (3.5, 1e9)),
    "booleans": ([False, True, True], (False, True)),
    "text": (["no", "yes", "yes"], ("no", "yes")),
    "bytes": ([b"a", b"b", b"b"], (b"a", b"b")),
    "mixed numbers": ([0, 1.5, 1.5], (0, 1.5)),
    "decimals": ([Decimal(0), Decimal(1), Decimal(1)], (0, 1)),
    "dates": ([datetime.date(2020, 1, 1), *[datetime.date(2020, 1, 2)] * 2], None),
}


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("container", [list, tuple, np.array, pd.Series, pd.Index, lambda y: pd.DataFrame({"d": y})])
def test_second_of_two_labels_is_the_event(coding, container):
    labels, classes = CODINGS[coding]
    found = binomial_response(container(labels), 3)
    assert_array_equal(found.y, [0.0, 1.0, 1.0])
    assert classes is None or found.classes == classes
    assert found.trials is None


@pytest.mark.parametrize("coding", [name for name in CODINGS if name != "mixed numbers"])
def test_polars(coding):
    labels, classes = CODINGS[coding]
    for y in (pl.Series("d", labels), pl.DataFrame({"d": labels})):
        found = binomial_response(y, 3)
        assert_array_equal(found.y, [0.0, 1.0, 1.0])
        assert found.name == "d"
        assert classes is None or found.classes == classes
    assert_array_equal(binomial_response(pl.Series(["a", "b", None], dtype=pl.Categorical), 3).y, [0, 1, NAN])


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([0, 1, None]),
        pd.Series([0, 1, pd.NA], dtype="Int64"),
        pd.Series([False, True, pd.NA], dtype="boolean"),
        pd.Series([False, True, None], dtype=object),
        pd.Series(["no", "yes", None]),
        pd.Series(["no", "yes", NAN], dtype=object),
        pd.Series(["no", "yes", pd.NA], dtype="string"),
        pd.Series(["no", "yes", None], dtype="category"),
        pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01", None])),
        ["no", "yes", None],
        ["no", "yes", NAN],
        (0, 1, None),
        np.array([1.0, 2.0, NAN]),
        np.array(["a", "b", None], dtype=object),
        pl.Series([True, None, False])[[2, 0, 1]],
        pl.Series([0, 1, None]),
    ],
    ids=repr,
)
def test_missing_values_are_no_class(y):
    assert_array_equal(binomial_response(y, 3).y, [0.0, 1.0, NAN])


def test_rows_pair_by_position_and_names_are_kept():
    found = binomial_response(pd.Series(["b", "a"], index=[7, 3], name="default"), 2)
    assert_array_equal(found.y, [1.0, 0.0])
    assert found.name == "default"
    assert binomial_response([0, 1], 2).name == "y"


def test_order_of_categories():
    assert_array_equal(binomial_response(pd.Categorical(["low", "high"], categories=["low", "high"]), 2).y, [1, 0])
    ordered = pd.Categorical(["low", "high"], categories=["low", "mid", "high"], ordered=True)
    assert_array_equal(binomial_response(ordered, 2).y, [0, 1])
    assert_array_equal(binomial_response(pd.Series(ordered), 2).y, [0, 1])


def test_column_vector_is_taken_with_a_warning():
    with pytest.warns(match="column-vector"):
        assert_array_equal(binomial_response(np.array([[0], [1]]), 2).y, [0, 1])
    with pytest.warns(match="column-vector"):
        assert_array_equal(binomial_response([["no"], ["yes"]], 2).y, [0, 1])


@pytest.mark.parametrize(
    ("labels", "event"),
    [
        ([1, 2, 1], 1),
        ([1, 2, 1], "1"),
        ([1, 2, 1], "1.0"),
        ([1.0, 2.0, 1.0], "1"),
        (["1", "2", "1"], 1),
        (["1", "2", "1"], 1.0),
        (["no", "yes", "no"], "no"),
        ([False, True, False], False),
        ([False, True, False], "false"),
        ([False, True, False], "0"),
        ([1, "a", 1], 1),
        ([0.2, 0.7, 0.2], 0.2),
        ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)], "2020-01-01"),
    ],
    ids=repr,
)
def test_event_is_named(labels, event):
    assert_array_equal(binomial_response(labels, 3, event=event).y, [1.0, 0.0, 1.0])
    assert_array_equal(status_events(labels, event=event), [1.0, 0.0, 1.0])


@pytest.mark.parametrize("event", ["Yes", "maybe", 1, NAN, pd.NA, True, ["yes"], np.array(["yes", "no"])], ids=repr)
def test_event_that_is_no_label(event):
    message = sentence(binomial_response, pd.Series(["no", "yes"], name="default"), 2, event=event)
    assert "response 'default'" in message
    assert "'no', 'yes'" in message


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1, 1, 1], "one class only (1)"),
        (["yes", "yes", None], "one class only ('yes')"),
        ([0.0, 0.0, 0.0], "one class only (0.0)"),
        ([None, None, NAN], "every one is missing"),
        (["c", "a", "b"], "3 classes ('a', 'b', 'c')"),
        ([0, 1, 2], "3 classes (0, 1, 2)"),
        ([0.5, 1.5, 2.5], "3 classes (0.5, 1.5, 2.5)"),
        ([1, "a", "b"], "3 classes (1, 'a', 'b')"),
        ([1, "a", "a"], "no order: name the event"),
        ([0, 1, np.inf], "holds inf at row 2"),
        ([0, 1, {}], "neither numbers nor labels"),
        ([0, 1], "y has 2 rows and X has 3"),
        (np.zeros((3, 2)), "shape (3, 2)"),
        (1, "shape ()"),
        (pd.DataFrame({"a": [0, 1, 1], "b": 0}), "2 columns (['a', 'b'])"),
    ],
    ids=repr,
)
def test_no_two_classes(y, words):
    assert words in sentence(binomial_response, y, 3)


def test_the_first_five_classes_are_named():
    assert "8 classes (0, 1, 2, 3, 4, ...)" in sentence(binomial_response, np.arange(8)[::-1], 8)


# Proportions --------------------------------------------------------------------------------------------------------


def test_proportions_with_trials():
    found = binomial_response([0.25, 0.5, 0, 1, NAN, 2 / 3], 6, sample_weight=[4, 2, 3, 1, 2, 3])
    assert_array_equal(found.y, [0.25, 0.5, 0, 1, NAN, 2 / 3])
    assert_array_equal(found.trials, [4, 2, 3, 1, 2, 3])
    assert found.classes is None
    assert_array_equal(binomial_response([0.3333333, 0.5], 2, sample_weight=[3, 4]).y, [1 / 3, 0.5])
    assert_array_equal(binomial_response([0.5, 0.5], 2, sample_weight=4).trials, [4, 4])
    assert_array_equal(binomial_response([0.5, 0.3], 2, sample_weight=[2, 0]).y, [0.5, 0.3])


def test_zero_and_one_with_weights_stay_weighted_classes():
    found = binomial_response([0, 1, 1], 3, sample_weight=[0.5, 1.5, 2])
    assert found.trials is None
    assert found.classes == (0, 1)


def test_rows_of_weight_zero_are_no_class():
    assert_array_equal(binomial_response([0, 1, 2], 3, sample_weight=[1, 1, 0]).y, [0, 1, NAN])
    assert "one class only (0)" in sentence(binomial_response, [0, 0, 1], 3, sample_weight=[1, 1, 0])
    assert_array_equal(binomial_response([0, 1, 0.5], 3, sample_weight=[1.5, 1, 0]).y, [0, 1, NAN])


@pytest.mark.parametrize(
    ("y", "weights", "words"),
    [
        ([0, 0.25, 1], None, "proportion 0.25 at row 1 (rows count from 0): give the numbers of trials"),
        ([0.5, 0.25, 1], [2, 3, 1], "0.25 at row 1 (rows count from 0), which of 3 trials (sample_weight) is 0.75"),
        ([0.5, 0.4, 1], [2, 2.5, 1], "sample_weight holds 2.5 at row 1"),
        ([0.5, 0.4, 1], [2, -1, 1], "sample_weight is -1.0 at row 1"),
    ],
)
def test_proportions_without_whole_events(y, weights, words):
    assert words in sentence(binomial_response, y, 3, sample_weight=weights)


# Counts, amounts, offset --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        [0, 3, NAN],
        np.array([0.0, 3.0, NAN]),
        pd.Series([0, 3, None], dtype="Int64"),
        pl.Series([0, 3, None]),
        pd.DataFrame({"y": [0, 3, NAN]}),
    ],
    ids=repr,
)
def test_counts(y):
    assert_array_equal(count_response(y, 3).y, [0.0, 3.0, NAN])


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1, -1, 2], "holds -1 at row 1"),
        ([1, 2, 2.5], "holds 2.5 at row 2 (rows count from 0): counts are whole numbers of at least 0"),
        ([np.inf, 2, 2], "holds inf at row 0"),
        ([0, 0, NAN], "is 0 in every row"),
        (["1", "2", "3"], "'1' at row 0"),
    ],
    ids=repr,
)
def test_no_counts(y, words):
    message = sentence(count_response, pd.Series(y, name="visits"), 3)
    assert "response 'visits'" in message
    assert words in message


def test_amounts():
    assert_array_equal(positive_response([0.5, 3, NAN], 3).y, [0.5, 3, NAN])
    for value in (0, -2.5, np.inf):
        message = sentence(positive_response, pd.Series([1, value], name="cost"), 2)
        assert f"response 'cost' holds {value:g} at row 1" in message


@pytest.mark.parametrize(
    "offset", [[0, 1.5], np.array([0, 1.5]), pd.Series([0, 1.5], index=[3, 3]), pl.Series([0.0, 1.5])], ids=repr
)
def test_offset(offset):
    assert_array_equal(offset_vector(offset, 2), [0.0, 1.5])


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        ([1, 2, 3], "3 values and X has 2 rows"),
        (1.0, "shape ()"),
        ([1, NAN], "holds nan at row 1"),
        ([1, None], "holds nan at row 1"),
        ([0, -np.inf], "holds -inf at row 1"),
        (["a", "b"], "not numbers"),
        ([1, {}], "not numbers"),
    ],
    ids=repr,
)
def test_no_offset(offset, words):
    message = sentence(offset_vector, offset, 2)
    assert message.startswith("offset ")
    assert words in message


# Survival -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [
        [False, True, True],
        [0, 1, 1],
        [1, 2, 2],
        [1.0, 2.0, 2.0],
        ["alive", "dead", "dead"],
        pd.Series([False, True, True], dtype="boolean"),
        pd.Series(["censored", "relapse", "relapse"], dtype="category"),
        pl.Series([1, 2, 2]),
    ],
    ids=repr,
)
def test_survival_response(event):
    y = survival_response(event, pd.Series([5, 8, 12.5], index=[2, 1, 0]))
    assert y.dtype.names == ("event", "time")
    assert (y.dtype["event"], y.dtype["time"]) == (np.dtype(bool), np.dtype(float))
    assert_array_equal(y["event"], [False, True, True])
    assert_array_equal(y["time"], [5.0, 8.0, 12.5])


def test_one_value_alone():
    assert survival_response([1, 1], [1, 2])["event"].all()
    assert survival_response([2, 2], [1, 2])["event"].all()
    assert not survival_response([0, 0], [0, 2])["event"].any()


@pytest.mark.parametrize(
    ("event", "time", "words"),
    [
        ([True, False], [1, 2, 3], "event has 2 rows and time has 3"),
        ([0, 1, 2], [1, 2, 3], "event 'event' holds 0, 1, 2: give booleans, 0/1, 1/2 or two labels"),
        (["dead", "dead"], [1, 2], "event 'event' holds 'dead'"),
        ([1, 0], [1, -2], "time 'time' holds -2 at row 1 (rows count from 0)"),
        ([1, 0], [1, np.inf], "holds inf at row 1"),
        ([1, 0], [1, None], "time 'time' is missing at row 1"),
        ([1, None], [1, 2], "event 'event' is missing at row 1"),
        ([1, 0], ["1", "x"], "'time' holds '1' at row 0"),
        (pd.Series([1, 0], name="died"), pd.Series([1, -2], name="days"), "time 'days'"),
    ],
)
def test_no_survival_response(event, time, words):
    assert words in sentence(survival_response, event, time)


def test_several_ends_with_one_named():
    assert_array_equal(status_events([0, 1, 2, None, 2], event="2"), [0, 0, 1, NAN, 1])
    assert "choose one of 0, 1, 2" in sentence(status_events, [0, 1, 2], event=3)


STATUS, TIME = [False, True, True], [5.0, 8.0, 12.5]


@pytest.mark.parametrize(
    "y",
    [
        survival_response(STATUS, TIME),
        np.array(list(zip(TIME, STATUS, strict=True)), dtype=[("stop", "f4"), ("cens", "?")]),
        np.rec.fromarrays([np.array(STATUS), np.array(TIME)], names="a,b"),
        np.array(list(zip(STATUS, TIME, strict=True)), dtype=[("e", "i4"), ("t", ">f8")]),
        pd.DataFrame({"days": TIME, "died": STATUS}, index=[4, 4, 2]),
        pd.DataFrame({"died": [0, 1, 1], "days": TIME}),
        pd.DataFrame({"died": pd.array([0, 1, 1], dtype="Int64"), "days": TIME}),
        pd.DataFrame([[5.0, 0], [8, 1], [12.5, 1]], columns=["x", "x"]),
        pl.DataFrame({"days": TIME, "died": STATUS}),
        pl.DataFrame({"died": [0, 1, 1], "days": TIME}),
    ],
    ids=lambda y: type(y).__name__,
)
def test_cox_response(y):
    found = cox_response(y, 3)
    assert_array_equal(found.status, [0.0, 1.0, 1.0])
    assert_array_equal(found.time, TIME)
    assert_array_equal(found.y, TIME)


def test_cox_name_is_that_of_the_time():
    assert cox_response(pd.DataFrame({"died": STATUS, "days": TIME}), 3).name == "days"


def test_booleans_are_the_event_beside_times_of_zero_and_one():
    assert_array_equal(cox_response(pd.DataFrame({"t": [0, 1], "e": [True, False]}), 2).status, [1, 0])
    assert_array_equal(cox_response(pl.DataFrame({"t": [0, 1], "e": [True, False]}), 2).status, [1, 0])


@pytest.mark.parametrize(
    "y",
    [
        pd.DataFrame({"days": [1, NAN, 3], "died": [1, 0, NAN]}),
        pd.DataFrame({"days": [1, NAN, 3], "died": pd.array([True, False, None], dtype="boolean")}),
        pl.DataFrame({"days": [1, None, 3], "died": [True, False, None]}),
    ],
)
def test_cox_response_with_gaps(y):
    found = cox_response(y, 3)
    assert_array_equal(found.y, [1, NAN, NAN])
    assert_array_equal(found.status, [1, 0, NAN])
    assert_array_equal(found.time, [1, NAN, 3])


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1, 2, 3], "survival_response(event, time)"),
        (np.ones((3, 2)), "survival_response(event, time)"),
        (pd.DataFrame({"a": [0, 1, 1], "b": [1, 1, 0]}), "'a' and 'b', and which is the event is not clear"),
        (pd.DataFrame({"a": STATUS, "b": STATUS}), "not clear"),
        (pd.DataFrame({"a": [1, 2, 2], "b": [5, 6, 7]}), "not clear: build y with stepsel.survival_response"),
        (pd.DataFrame({"died": ["y", "n", "n"], "t": TIME}), "column 'died' of y holds values that are not numbers"),
        (pd.DataFrame({"died": STATUS, "t": [1, 2, -3]}), "time 't' holds -3 at row 2"),
        (pd.DataFrame({"died": STATUS, "t": [1, 2, np.inf]}), "time 't' holds inf at row 2"),
        (survival_response([0, 0, 0], TIME), "no event"),
        (survival_response([0, 1], [1, 2]), "y has 2 rows and X has 3"),
    ],
    ids=repr,
)
def test_no_cox_response(y, words):
    assert words in sentence(cox_response, y, 3)


def test_nothing_is_changed_in_place():
    y = pd.DataFrame({"days": TIME, "died": STATUS}, index=[5, 6, 7])
    before = y.copy()
    cox_response(y, 3)
    column = y["died"].rename(None)
    binomial_response(column, 3)
    assert column.name is None
    assert column.index.tolist() == [5, 6, 7]
    pd.testing.assert_frame_equal(y, before)


def test_ratios_are_exponentials():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    eta = 0.8 * X["a"] - 0.5 * X["b"]
    binary = (rng.random(300) < 1 / (1 + np.exp(-eta))).astype(int)
    for family, y, name, model in (
        ("binomial", binary, "odds ratio", sm.families.Binomial()),
        ("poisson", rng.poisson(np.exp(eta)), "rate ratio", sm.families.Poisson()),
        ("gamma", rng.gamma(2.0, np.exp(eta)), "ratio of means", sm.families.Gamma(sm.families.links.Log())),
        (sm.families.Binomial(), binary, "odds ratio", sm.families.Binomial()),
    ):
        result = select(X, y, family=family, keep=["a", "b"]).result_
        assert result.ratio_name == name
        fit = sm.GLM(y, sm.add_constant(X), family=model).fit()
        table = result.tidy(exponentiate=True)
        np.testing.assert_allclose(table["estimate"], np.exp(fit.params), rtol=1e-5)
        np.testing.assert_allclose(table[["conf_low", "conf_high"]], np.exp(fit.conf_int()), rtol=1e-4)
        np.testing.assert_allclose(table["std_error"], fit.bse, rtol=1e-4)
    with pytest.raises(ValueError, match="coefficients of family 'gaussian' are no logarithms"):
        select(X, eta).result_.tidy(exponentiate=True)
