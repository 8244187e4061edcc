"""Tables are plain DataFrames; a notebook shows them with sensible digits."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest

from stepsel import StepwiseSelector
from stepsel.tables import readable
from tests.helpers import select
from tests.hostile import frame


@pytest.fixture(scope="module")
def result():
    X, y = frame(6, n_rows=400)
    return select(X, y * 1e3, criterion="pvalue").result_


def test_tables_are_plain_frames(result):
    for table in (result.trace, result.candidates, result.collinearity, result.tidy(), result.glance()):
        assert type(table) is pd.DataFrame
        pd.testing.assert_frame_equal(table, pd.DataFrame(table))
        pd.testing.assert_frame_equal(pd.DataFrame(table), pickle.loads(pickle.dumps(table)))


def test_a_notebook_shows_digits_by_the_kind_of_column():
    table = readable(pd.DataFrame({"p_value": [1.23456e-17, 0.5], "criterion": [123456.7891, -2.0], "n": [1234567, 2]}))
    cells = re.findall(r"<td>(.*?)</td>", table._repr_html_())
    assert cells == ["1.23e-17", "123456.789", "1234567", "0.5", "-2.000", "2"]


def test_what_is_missing_is_blank(result):
    assert "NaN" not in result.trace._repr_html_()
    assert "NA" not in result.trace._repr_html_()
    assert "None" not in result.trace._repr_html_()
    infinite = readable(pd.DataFrame({"vif": [np.inf, 2.0], "tolerance": [0.0, np.nan]}))
    assert "inf" in infinite._repr_html_()


def test_pandas_options_hold(result):
    table = readable(pd.DataFrame({"x": np.arange(500)}))
    assert table._repr_html_().count("<tr") == 12  # a head, ten rows and the dots, as pandas
    with pd.option_context("display.max_rows", 1000):
        assert table._repr_html_().count("<tr") == 501
    with pd.option_context("display.notebook_repr_html", False):
        assert table._repr_html_() is None
    readable(pd.DataFrame({"t": [pd.Timedelta(1, "s")], "d": [pd.Timestamp("2020-01-01")]}))._repr_html_()


def test_a_fitted_selector_shows_what_it_selected(result):
    X, y = frame(6)
    selector = StepwiseSelector(criterion="bic")
    before = selector._repr_mimebundle_()["text/html"]
    after = selector.fit(X, y)._repr_mimebundle_()["text/html"]
    assert "Final model" not in before
    assert "Final model" in after
    assert "not adjusted for selection" in after
    assert "Final model" in selector._repr_html_()
