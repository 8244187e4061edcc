"""The oracle itself, judged by R, StepReg and SAS: it must stand before it judges anything."""

import mtcars_stepreg
import pytest
import r_cases
from helpers import Outcome
from naive import naive_select


@pytest.mark.parametrize("path", r_cases.CASES, ids=r_cases.NAMES)
def test_oracle_takes_the_steps_of_r(path):
    case, X, y, weights, parameters = r_cases.load(path)
    result = naive_select(X, y, weights=weights, **parameters)
    r_cases.assert_outcome(case, weights, Outcome.of_naive(result))


@pytest.mark.parametrize("criterion", mtcars_stepreg.OFFERED)
@pytest.mark.parametrize("direction", mtcars_stepreg.DIRECTIONS)
def test_oracle_takes_the_steps_of_stepreg(direction, criterion):
    run = mtcars_stepreg.run(direction, criterion)
    outcome = Outcome.of_naive(naive_select(run.X, run.y, **run.parameters))
    run.assert_outcome(outcome.path, outcome.trace)
