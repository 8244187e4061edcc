"""Names that break what does not expect them, and selections among columns of such names."""

import numpy as np
import pandas as pd

SCRIPT = "<script>alert(1)</script>"
NAMES = [
    SCRIPT,
    r"$\frac{1}{0}$ & _x^2",
    "年齢（歳）の二乗",
    "возраст",
    "عمر المريض",
    "_hidden",
    "two\nlines\tand a tab",
    "\u202etxt.gnp",
    r"%d {x} #1 ~^\ \end{verbatim} ```",
    "😀 smile",
    "a | b ![x](http://localhost/y.png) [l](javascript:alert(2))",
    "\"><img src=x onerror=alert(3)> '",
    "a_name_that_goes_on_and_on_" * 8,
    "((* x *)) {{ y }} {% z %}",
    "&lt;b&gt; &amp;",
]


def frame(n_columns, n_rows=300, names=None, seed=0):
    """Correlated columns, half of them with an effect, and the response."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n_rows, max(2, n_columns // 8)))
    X = 0.7 * shared[:, rng.integers(0, shared.shape[1], n_columns)] + rng.normal(size=(n_rows, n_columns))
    effects = rng.normal(size=n_columns) * (np.arange(n_columns) % 2)
    names = [f"x{at}" for at in range(n_columns)] if names is None else names
    y = X @ effects + rng.normal(size=n_rows) * 3
    return pd.DataFrame(X, columns=names), pd.Series(y, name="$y_1$ <b>")
