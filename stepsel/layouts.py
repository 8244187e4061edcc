"""How the tables of a result are laid out for reading: the header and the digits of every column."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

Layout = dict[str, tuple[str, str]]  # column -> header, format

TRACE = {  # column: header, format
    "step": ("step", "d"),
    "action": ("action", "s"),
    "term": ("term", "s"),
    "df": ("df", "d"),
    "statistic": ("statistic", ".4g"),
    "p_value": ("p", ".3g"),
    "criterion": ("criterion", ".4f"),
    "n_params": ("params", "d"),
    "r2": ("R2", "z.4f"),  # z: no minus before zero
    "max_vif": ("max VIF", ".4g"),
}
MODEL = {
    "term": ("term", "s"),
    "estimate": ("estimate", ".6g"),
    "std_error": ("std. error", ".4g"),
    "statistic": ("t", ".4g"),
    "p_value": ("p", ".3g"),
    "conf_low": ("95 % low", ".6g"),
    "conf_high": ("95 % high", ".6g"),
}
STATISTICS = {"f": "F", "lr": "LR chi2", "score": "score chi2", "wald": "Wald chi2"}
VIF = {
    "term": ("term", "s"),
    "df": ("df", "d"),
    "gvif": ("GVIF", ".4g"),
    "vif": ("VIF", ".4g"),
    "weighted_vif": ("weighted VIF", ".4g"),
    "tolerance": ("tolerance", ".4g"),
}
CANDIDATES = {
    "move": ("move", "s"),
    "term": ("term", "s"),
    "df": ("df", "d"),
    "statistic": ("statistic", ".4g"),
    "p_value": ("p", ".3g"),
    "criterion": ("criterion", ".4f"),
    "tolerance": ("tolerance", ".3g"),
    "status": ("status", "s"),
}
STABILITY = {
    "term": ("term", "s"),
    "inclusion_frequency": ("selected", ".1%"),
    "coef_full": ("full model", ".5g"),
    "coef_selected": ("selected model", ".5g"),
    "rmsd_ratio": ("RMSD ratio", ".3g"),
    "relative_conditional_bias": ("bias % if selected", ".3g"),
    "bootstrap_median": ("median", ".5g"),
    "q025": ("2.5 %", ".5g"),
    "q975": ("97.5 %", ".5g"),
}
MODELS = {
    "terms": ("model", "s"),
    "count": ("count", "d"),
    "share": ("share", ".1%"),
    "cumulative_share": ("sum", ".1%"),
}


def cell(value: Any, spec: str) -> str:
    """Return a value as text; nothing where there is none."""
    if value is None or (not isinstance(value, str) and pd.isna(value)):
        return ""
    if spec == "s":
        return str(value)
    if spec == "d":
        return f"{value:g}"
    return format(float(value), spec)


def layouts(attrs: Mapping[Hashable, Any]) -> tuple[Layout, Layout]:
    """Head the columns of trace and model with what the family's numbers are."""
    criterion = str(attrs.get("criterion", "criterion"))
    steps = TRACE | {"criterion": (criterion, TRACE["criterion"][1])}
    if criterion == "pvalue":
        steps.pop("criterion")
    tests = {str(attrs.get(f"test_{move}", "")) for move in ("enter", "remove")}
    name = STATISTICS.get(tests.pop(), "statistic") if len(tests) == 1 else "F" if "f" in tests else "chi2"
    steps["statistic"] = (name, TRACE["statistic"][1])
    if attrs.get("r2") == "McFadden":
        steps["r2"] = ("pseudo-R2", TRACE["r2"][1])
    if attrs.get("family", "gaussian") == "gaussian":
        return steps, MODEL
    return steps, MODEL | {"statistic": ("z", MODEL["statistic"][1])}


def vif_layout(frame: pd.DataFrame) -> Layout:
    """Choose the columns of a collinearity table: without groups GVIF and VIF are the same.

    Parameters
    ----------
    frame : DataFrame
        The collinearity table.

    Returns
    -------
    dict
        Column to header and format.
    """
    single = "df" in frame and (frame["df"] <= 1).all()  # 0 is a constant, which has none of both
    return {name: how for name, how in VIF.items() if not (single and name in ("df", "gvif"))}
