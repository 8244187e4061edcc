"""
A hundred candidates, and axes of one's own
===========================================

A figure of its own grows with the number of rows. On axes that are given, what fits is shown, and how much is left out is said.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from stepsel import StepwiseSelector
from stepsel.display import CandidatesDisplay, SelectionPathDisplay

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(400, 100))).add_prefix("gene ")
y = X.to_numpy() @ (rng.normal(size=100) * (np.arange(100) % 5 == 0)) + rng.normal(size=400)
selector = StepwiseSelector(criterion="bic").fit(X, y)

figure, axes = plt.subplots(1, 2, figsize=(11, 9), layout="constrained")
SelectionPathDisplay.from_estimator(selector, ax=axes[0])
CandidatesDisplay.from_estimator(selector, ax=axes[1])
