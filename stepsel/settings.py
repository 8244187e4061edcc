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
    "ties": ("efron", "breslow"),
}


@dataclass(frozen=True)
class Settings:
    """The constructor parameters of :class:`stepsel.StepwiseSelector`, which documents them."""

    direction: str
    criterion: str
    family: Any
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
    ties: str
    verbose: int

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if (
                name == "family"
                and not isinstance(value, type)
                and all(hasattr(value, needed) for needed in ("link", "variance", "resid_dev"))
            ):
                continue  # a statsmodels family object
            if name == "family" and isinstance(value, type):
                raise ValueError(f"family is the class {value.__name__}: give an object of it, {value.__name__}().")
            if not (isinstance(value, str) and value in choices):
                raise ValueError(f"{name} is {value!r}: choose one of {', '.join(map(repr, choices))}.")
        _check_numbers(self)
        _check_combinations(self)
        # With different tests for entry and removal the levels are not comparable, and SAS allows any pair.
        same_test = self.tests[0] == self.tests[1]
        if (
            self.direction == "both"
            and self.criterion == "pvalue"
            and same_test
            and (self.alpha_enter > self.alpha_remove)
        ):
            raise ValueError(
                f"alpha_enter={self.alpha_enter} is larger than alpha_remove={self.alpha_remove}: a term could enter "
                "and leave for ever; give alpha_enter <= alpha_remove (their defaults are 0.05 and 0.1)."
            )
        if self.groups is not None and not isinstance(self.groups, Mapping):
            raise ValueError(f"groups is {self.groups!r}: give a dict of group name -> list of columns.")

    @property
    def tests(self) -> tuple[str, str]:
        """The tests of entry and removal by name."""
        default = "f" if self.gaussian else "lr"
        enter, remove = (default if test == "auto" else test for test in (self.test_enter, self.test_remove))
        return enter, remove

    @property
    def gaussian(self) -> bool:
        """Whether this is least squares."""
        return isinstance(self.family, str) and self.family == "gaussian"

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


def _check_combinations(settings: Settings) -> None:
    """Refuse parameters that do not go with the family, rather than ignore them."""
    gaussian, cox = settings.gaussian, isinstance(settings.family, str) and settings.family == "cox"
    for name in ("test_enter", "test_remove"):
        value = getattr(settings, name)
        if gaussian and value not in ("auto", "f"):
            raise ValueError(f"{name} is {value!r}: the Gaussian family uses the partial F test; give 'f' or 'auto'.")
        if not gaussian and value == "f":
            raise ValueError(f"{name} is 'f', which is for the Gaussian family: give 'lr', 'score', 'wald' or 'auto'.")
    if gaussian and settings.candidates == "leading":
        raise ValueError(
            "candidates is 'leading': for the Gaussian family every candidate is evaluated at no extra cost; "
            "give 'exact'."
        )
    if not gaussian and settings.criterion in ("adj_r2", "cp"):
        raise ValueError(f"criterion is {settings.criterion!r}, which is for the Gaussian family: give 'aic' or 'bic'.")
    if settings.event is not None and not _is_binomial(settings.family):
        raise ValueError(f"event is {settings.event!r}: it names the event of two classes, for family='binomial'.")
    if settings.ties != "efron" and not cox:
        raise ValueError(f"ties is {settings.ties!r}: it is for family='cox'.")
    if cox and not settings.fit_intercept:
        raise ValueError("fit_intercept is False: a Cox model has no intercept to leave out; give True.")


def _is_binomial(family: Any) -> bool:
    return (family if isinstance(family, str) else type(family).__name__.lower()) == "binomial"
