"""
Stability over resamples
========================

The whole selection, run again on resampled rows: how often each term is selected, and its coefficient in the resamples that select
it.
"""

import pandas as pd

from stepsel import StepwiseSelector
from stepsel.inference import selection_stability

prostate = pd.read_csv("data/prostate.csv")
X, y = prostate.drop(columns="lpsa"), prostate["lpsa"]
result = StepwiseSelector(criterion="bic").fit(X, y).result_
stability = selection_stability(result, random_state=0)
stability.plot()

# %%
# Terms that are rarely selected are selected where they look strong: their coefficients are biased away from zero.

stability.plot("coefficients")
