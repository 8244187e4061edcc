"""
Coefficients along the path
===========================

Each line is a coefficient. One that changes much, or its sign, when another term enters shares its information with that term.
Coefficients are standardized, so that columns of different units can be compared.
"""

import pandas as pd

from stepsel import StepwiseSelector
from stepsel.display import CoefficientProgressionDisplay

prostate = pd.read_csv("data/prostate.csv")
X, y = prostate.drop(columns="lpsa"), prostate["lpsa"]
selector = StepwiseSelector(direction="forward", criterion="pvalue", alpha_enter=1).fit(X, y)
CoefficientProgressionDisplay.from_estimator(selector)

# %%
# The numbers behind it are a table, a row a step:

selector.result_.coefficient_progression
