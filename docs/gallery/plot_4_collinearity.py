"""
Collinearity
============

The variance inflation of the selected terms, with the threshold of the warning, and the candidates as a tree of their correlations.
Terms of one colour stand in for one another: which of them is selected is partly chance.
"""

import pandas as pd

from stepsel import StepwiseSelector

lung = pd.read_csv("data/lung.csv").drop(columns=["inst", "meal.cal", "status"])
X, y = lung.drop(columns="time"), lung["time"]
result = StepwiseSelector(direction="backward", missing="drop", keep=["ph.ecog", "ph.karno"]).fit(X, y).result_
result.plot("vif")

# %%

result.plot("clusters")
