"""What several test files share: finding the reference files, running a selection, and reading it."""

import json
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from stepsel.exceptions import StepselWarning

TESTS = Path(__file__).parent
R = TESTS / "reference" / "r"
PUBLISHED = TESTS / "reference" / "published"
CASES = TESTS / "cases"


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def select(X, y, sample_weight=None, offset=None, **parameters):
    """A fitted selector; the package's own warnings are not what these tests are about."""
    from stepsel import StepwiseSelector

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepselWarning)
        return StepwiseSelector(**parameters).fit(X, y, sample_weight=sample_weight, offset=offset)


def survival(event, time):
    """The response of a Cox regression as scikit-survival has it."""
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


def path_of(selector):
    """[(action, term)] of the steps after the start."""
    return [(row.action, row.term) for row in selector.trace_.iloc[1:].itertuples()]


def eligible(candidates):
    """The candidates that could have been taken."""
    return candidates[candidates["status"].isin(["chosen", "eligible"])]


def by_term(candidates, step, column, move):
    """{term: value} of one column of the candidates table."""
    rows = candidates[(candidates["step"] == step) & (candidates["move"] == move)]
    return dict(zip(rows["term"], rows[column], strict=True))


@dataclass(frozen=True)
class Outcome:
    """A selection as tables that the oracle and the selector can both be read into."""

    path: list
    trace: pd.DataFrame
    candidates: pd.DataFrame
    selected: list
    coefficients: pd.DataFrame

    @classmethod
    def of_selector(cls, selector):
        result = selector.result_
        tidy = result.tidy().set_index("term")[["estimate", "std_error"]]
        candidates = eligible(selector.candidates_)
        return cls(path_of(selector), selector.trace_, candidates, list(result.selected), tidy)

    @classmethod
    def of_naive(cls, result):
        trace = pd.DataFrame([vars(step) for step in result.steps]).rename(columns={"rss": "deviance"})
        coefficients = result.coefficients.set_index("term")
        return cls(result.path[1:], trace, result.candidates, result.selected, coefficients)
