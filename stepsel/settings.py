"""The parameters of a selection, checked once."""

import numbers
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

DIRECTIONS = ("forward", "backward", "both")
CRITERIA = ("aic", "aicc", "bic", "hqic", "adj_r2", "cp", "pvalue")
FAMILIES = ("gaussian", "binomial", "poisson", "gamma", "negative_binomial", "cox")
_TESTS = ("auto", "f", "lr", "score", "wald")

_CHOICES: dict[str, tuple[str, ...]] = {
    "direction": DIRECTIONS,
    "criterion": CRITERIA,
    "family": FAMILIES,
    "test_enter": _TESTS,
    "test_remove": _TESTS,
    "missing": ("raise", "drop"),
    "candidates": ("exact", "leading"),
    "collinearity": ("warn", "raise", "ignore"),
    "weight_type": ("frequency", "analytic"),
    "hierarchy": ("strong", "weak", "none"),
}


@dataclass(frozen=True)
class Settings:
    """The constructor parameters of :class:`stepsel.StepwiseSelector`, which documents them."""

    direction: str
    criterion: str
    family: str
    alpha_enter: float
    alpha_remove: float
    test_enter: str
    test_remove: str
    start: Any
    keep: Any
    groups: Mapping[Hashable, Any] | None
    max_terms: int | None
    max_steps: int | None
    fit_intercept: bool
    missing: str
    candidates: str
    collinearity: str
    vif_threshold: float
    tolerance: float
    weight_type: str
    categorical: Any
    hierarchy: str
    event: Any
    verbose: int

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if not (isinstance(value, str) and value in choices):
                if name == "family" and not isinstance(value, str):
                    raise ValueError(_not_yet("family", value, 'only family="gaussian" can be fitted'))
                raise ValueError(f"{name} is {value!r}: choose one of {', '.join(map(repr, choices))}.")
        _check_numbers(self)
        _check_not_yet(self)
        if self.direction == "both" and self.criterion == "pvalue" and self.alpha_enter > self.alpha_remove:
            raise ValueError(
                f"alpha_enter={self.alpha_enter} is larger than alpha_remove={self.alpha_remove}: a term could enter "
                "and leave for ever; give alpha_enter <= alpha_remove (their defaults are 0.05 and 0.1)."
            )
        if self.groups is not None and not isinstance(self.groups, Mapping):
            raise ValueError(f"groups is {self.groups!r}: give a dict of group name -> list of columns.")

    @property
    def adds(self) -> bool:
        """Whether terms may enter."""
        return self.direction != "backward"

    @property
    def removes(self) -> bool:
        """Whether terms may leave."""
        return self.direction != "forward"

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> "Settings":
        """Return the settings of a mapping of parameter names to values."""
        return cls(**{field.name: parameters[field.name] for field in fields(cls)})


def _check_numbers(settings: Settings) -> None:
    ranges: dict[str, tuple[Any, float, float, str]] = {
        "alpha_enter": (numbers.Real, 0, 1, "a probability between 0 and 1"),
        "alpha_remove": (numbers.Real, 0, 1, "a probability between 0 and 1"),
        "vif_threshold": (numbers.Real, 1, float("inf"), "a number of at least 1"),
        "tolerance": (numbers.Real, 0, 0.99, "a number between 0 and 0.99"),
        "verbose": (numbers.Integral, 0, float("inf"), "a whole number of at least 0"),
        "max_terms": (numbers.Integral, 0, float("inf"), "a whole number of at least 0, or None"),
        "max_steps": (numbers.Integral, 0, float("inf"), "a whole number of at least 0, or None"),
    }
    for name, (kind, low, high, wanted) in ranges.items():
        value: Any = getattr(settings, name)
        if value is None and name.startswith("max_"):
            continue
        if isinstance(value, bool) and name == "verbose":
            continue
        if isinstance(value, bool) or not isinstance(value, kind) or not low <= value <= high:
            raise ValueError(f"{name} is {value!r}: give {wanted}.")
    if not isinstance(settings.fit_intercept, bool | np.bool_):
        raise ValueError(f"fit_intercept is {settings.fit_intercept!r}: give True or False.")


def _check_not_yet(settings: Settings) -> None:
    """Refuse what is named in the interface but cannot be honoured, rather than ignore it."""
    if settings.family != "gaussian":
        raise ValueError(_not_yet("family", settings.family, 'only family="gaussian" can be fitted'))
    for name in ("test_enter", "test_remove"):
        value = getattr(settings, name)
        if value not in ("auto", "f"):
            raise ValueError(f"{name} is {value!r}: the Gaussian family uses the partial F test; give 'f' or 'auto'.")
    if settings.candidates == "leading":
        raise ValueError(
            "candidates is 'leading': for the Gaussian family every candidate is evaluated at no extra cost; "
            "give 'exact'."
        )
    if settings.categorical is not None:
        raise ValueError(
            _not_yet("categorical", settings.categorical, "encode factors as 0/1 columns and list them in groups")
        )
    if settings.hierarchy != "strong":
        raise ValueError(_not_yet("hierarchy", settings.hierarchy, "no term has parents without formulas"))
    if settings.event is not None:
        raise ValueError(_not_yet("event", settings.event, "it belongs to the binomial family"))


def _not_yet(name: str, value: Any, instead: str) -> str:
    return f"{name}={value!r} is not available in this version: {instead}."
