"""
The candidates of one step
==========================

What every addition and removal would have given. Circles are additions, squares removals; the move that was taken is filled, and
bold. The line is the criterion without a move.
"""

import pandas as pd

from stepsel import StepwiseSelector

prostate = pd.read_csv("data/prostate.csv")
X, y = prostate.drop(columns="lpsa"), prostate["lpsa"]
result = StepwiseSelector(criterion="bic").fit(X, y).result_
result.plot("candidates", step=2)

# %%
# The last step says why the others are out: each of them would make the criterion worse.

result.plot("candidates")
