"""
The path of a selection
=======================

What entered and left, and what it did to the criterion. Steps run from top to bottom, so that long names and many steps can be
read.
"""

import pandas as pd

from stepsel import StepwiseSelector

prostate = pd.read_csv("data/prostate.csv")
X, y = prostate.drop(columns="lpsa"), prostate["lpsa"]
result = StepwiseSelector(direction="backward", criterion="aic").fit(X, y).result_
result.plot()

# %%
# Other criteria along the same steps: where the stars stand far apart, the number of terms depends on the criterion.

result.plot("criteria")

# %%
# Where p-values decide, they are drawn on a logarithmic scale, with the levels of entry and removal.

StepwiseSelector(criterion="pvalue", alpha_enter=0.15, alpha_remove=0.2).fit(X, y).result_.plot()
