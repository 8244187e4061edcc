"""StepReg's mtcars runs, which agree with SAS GLMSELECT: every step's criterion in each direction.

StepReg's "bidirection" adds the best, then removes while that improves; stepsel lets additions and removals
compete in one table, as R. On these data both take the same steps. Sawa's BIC (the source's "BIC") and Rsq
are not offered; the source's HQ rows divide the penalty by n, which its authors corrected later.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from helpers import PUBLISHED, read_json

DIRECTIONS = ["forward", "backward", "bidirection"]
OFFERED = {"AIC": "aic", "AICc": "aicc", "SBC": "bic", "CP": "cp", "adjRsq": "adj_r2", "SL": "pvalue"}
LOG_2PI = np.log(2 * np.pi)
# GLMSELECT's definition less stepsel's, for n = 32
CONSTANTS = {"aic": 2 - 32 * LOG_2PI, "aicc": -32 * LOG_2PI, "bic": -32 * (1 + LOG_2PI)}


@dataclass(frozen=True)
class Run:
    X: pd.DataFrame
    y: pd.Series
    parameters: dict
    steps: list
    final: list

    def assert_outcome(self, path, trace):
        assert path == [
            ("add", step["entered"]) if step["entered"] else ("remove", step["removed"]) for step in self.steps[1:]
        ]
        criterion = self.parameters["criterion"]
        expected = [step["value"] for step in self.steps]
        if criterion == "pvalue":  # the source's value is the p-value of the move (1 for the start)
            np.testing.assert_allclose(trace["p_value"].iloc[1:], expected[1:], rtol=1e-9)
        else:
            found = trace["criterion"] + CONSTANTS.get(criterion, 0.0)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def data():
    table = pd.read_csv(PUBLISHED / "data" / "mtcars.csv", index_col="model")
    return table.drop(columns="mpg"), table["mpg"]


def run(direction, criterion):
    published = read_json(PUBLISHED / "mtcars_stepreg_sas_all_criteria.json")["published"]
    parameters = {"direction": direction.replace("bidirection", "both"), "criterion": OFFERED[criterion]}
    if criterion == "SL":
        parameters |= {"alpha_enter": 0.15, "alpha_remove": 0.15}
    found = published[direction][criterion]
    return Run(*data(), parameters, found["steps"], found["final"])
