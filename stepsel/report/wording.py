"""The words of a report: what was done, and what its terms mean."""

from typing import Any

from stepsel.plots.path import LARGER_IS_BETTER, NAMES
from stepsel.summary import shown

_MODELS = {
    "gaussian": "Linear regression",
    "binomial": "Logistic regression",
    "poisson": "Poisson regression",
    "gamma": "Gamma regression with a logarithmic link",
    "negative_binomial": "Negative binomial regression",
    "cox": "Cox regression (proportional hazards)",
}
_STARTS = {"forward": "terms were added one at a time", "backward": "terms were removed one at a time"}
FIGURES = {
    "n_obs": "observations",
    "n_dropped": "rows dropped",
    "n_events": "events",
    "n_candidates": "candidate terms",
    "n_terms": "selected terms",
    "n_params": "parameters",
    "df_resid": "residual degrees of freedom",
    "r2": "R²",
    "adj_r2": "adjusted R²",
    "sigma": "residual standard deviation",
    "f_statistic": "F of the whole model",
    "f_p_value": "p of the whole model",
    "lr_statistic": "likelihood ratio of the whole model",
    "lr_p_value": "p of the whole model",
    "auc": "area under the ROC curve",
    "concordance": "concordance",
    "dispersion": "dispersion",
    "alpha": "alpha (overdispersion)",
    "log_likelihood": "log-likelihood",
    "aic": "AIC",
    "bic": "BIC",
    "deviance": "deviance",
    "max_vif": "largest variance inflation",
    "condition_number": "condition number",
}
_MEANINGS = {
    "aic": "AIC, BIC and their kin weigh the fit of a model against its number of parameters; smaller is better. Only "
    "differences between models of the same rows mean anything.",
    "p": "p is the probability of a statistic at least as large, were the coefficients of the term zero and had the "
    "model not been searched for. F, LR, score and Wald are the statistics that are tested.",
    "df": "df is the number of coefficients of a term: of a factor as a rule one less than its levels.",
    "vif": "VIF, the variance inflation factor, is how many times larger the variance of a coefficient is because its "
    "term is correlated with others; 1 is none. Its reciprocal is the tolerance. The condition number says the same of "
    "a whole model; above 30 it is large.",
    "mcfadden": "R² is McFadden's here: the share of the log-likelihood of the model without terms that is explained.",
    "ratio": "A ratio is what a rise of its column by one multiplies {what} by, the others held fixed.",
    "adj_r2": "Adjusted R² is R² less what as many columns of noise would explain; larger is better.",
}
_CHANGED = {
    "odds ratio": "the odds of the event",
    "hazard ratio": "the hazard of the event",
    "rate ratio": "the expected count",
    "risk ratio": "the probability of the event",
    "ratio of means": "the mean",
}


def what_was_done(result: Any) -> str:
    """Return what the selection did, in two sentences."""
    settings, n = result.settings, len(result.candidate_terms)
    family = str(result.trace.attrs["family"])
    kind = _MODELS.get(family, f"Regression ({family})")
    start = "the model of all candidates" if len(result.start_terms) == n else "the empty model"
    if 0 < len(result.start_terms) < n:
        start = f"a model with {', '.join(map(shown, result.start_terms))}"
    how = _STARTS.get(settings.direction, "terms were added or removed one at a time")
    fitted = "every model" if settings.candidates == "exact" else "every model that could be the best"
    moves = [test for test, used in zip(settings.tests, (settings.adds, settings.removes), strict=True) if used]
    if settings.criterion == "pvalue" and not {"score", "wald"}.isdisjoint(moves):
        fitted = "the model of every step"  # these tests need no fit of the other ones
    return (
        f"{kind} of {shown(result.y_name)} on {_counted(n, 'candidate term')}, {result.n_obs:,.12g} observations. "
        f"From {start}, {how}: {_rule(settings)}{_limits(result)}; {fitted} was fitted anew."
    )


def _rule(settings: Any) -> str:
    if settings.criterion != "pvalue":
        better = "larger" if settings.criterion in LARGER_IS_BETTER else "smaller"
        return f"always the one that made {NAMES[settings.criterion]} {better} by most"
    enter = f"the one with the smallest p below {settings.alpha_enter:g} entered"
    leave = f"the one with the largest p above {settings.alpha_remove:g} left"
    return {"forward": enter, "backward": leave, "both": f"{leave}, else {enter}"}[settings.direction]


def _limits(result: Any) -> str:
    settings = result.settings
    found = "" if settings.max_steps is None else f", in {_counted(settings.max_steps, 'step')} at most"
    if settings.max_terms is None:
        return found
    forced = len(result.start_terms) > settings.max_terms
    crowded = ", the least useful first while there were more, whatever it cost" if forced else ""
    return f"{found}, with {_counted(settings.max_terms, 'term')} at most{crowded}"


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def meanings(result: Any) -> list[str]:
    """Return what the terms of the report mean."""
    found = [_MEANINGS[name] for name in ("p", "df", "aic", "vif")]
    if result.settings.criterion == "adj_r2":
        found.append(_MEANINGS["adj_r2"])
    if result.trace.attrs["r2"] == "McFadden":
        found.append(_MEANINGS["mcfadden"])
    if result.ratio_name is not None:
        found.append(_MEANINGS["ratio"].format(what=_CHANGED[result.ratio_name]))
    return found
