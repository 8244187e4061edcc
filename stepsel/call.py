"""A selection as the line of Python that runs it."""

import inspect
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

_WIDTH = 88


def selector_call(parameters: Mapping[str, Any], defaults: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Write the call of a selector.

    Parameters
    ----------
    parameters, defaults : mapping of str to value
        Of the constructor; what has its default is not written.
    given : mapping of str to value
        What ``fit`` takes besides X and y; None is not written.
    """
    vectors = "".join(f", {name}={name}" for name, value in given.items() if value is not None)
    return f"{_written('StepwiseSelector', _arguments(parameters, defaults))}.fit(X, y{vectors})"


def formula_call(
    formula: str, parameters: Mapping[str, Any], defaults: Mapping[str, Any], given: Mapping[str, Any]
) -> str:
    """Write the call of `stepwise`; names of columns and scopes are written out, other vectors by their name."""
    more = [
        f"{name}={_value(value) if isinstance(value, str) or name == 'scope' else name}"
        for name, value in given.items()
        if value is not None
    ]
    return _written("stepwise", [repr(formula), "data", *more, *_arguments(parameters, defaults)])


def imports(call: str) -> str:
    """Return the lines of imports that a call needs."""
    name = "stepwise" if call.startswith("stepwise(") else "StepwiseSelector"
    lines = ["import datetime"] * ("datetime." in call)
    lines += ["import pandas as pd"] * ("pd." in call) + ["import statsmodels.api as sm"] * ("sm.families" in call)
    return "\n".join([*lines, f"from stepsel import {name}"])


def _written(name: str, arguments: list[str]) -> str:
    """Return a call on one line where it is short, else an argument a line."""
    line = f"{name}({', '.join(arguments)})"
    if len(line) <= _WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"


def _arguments(parameters: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[str]:
    changed = {name: value for name, value in parameters.items() if not _same(value, defaults.get(name))}
    return [f"{name}={_listed(value)}" for name, value in changed.items()]


def _listed(value: Any) -> str:
    """Write a value; an item a line where a list is long."""
    text = _value(value)
    if len(text) <= _WIDTH - 10 or not text.startswith("["):
        return text
    return "[\n" + "".join(f"        {_value(item)},\n" for item in value) + "    ]"


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, list | tuple | Mapping) and not value:
        return default is None or not default
    return type(value) is type(default) and bool(value == default)


def _value(value: Any) -> str:
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = pd.Timestamp(value) if isinstance(value, np.datetime64) else pd.Timedelta(value)
    if isinstance(value, pd.Timestamp | pd.Timedelta | pd.Interval | pd.Period):
        return f"pd.{value!r}"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    if isinstance(value, str) or not isinstance(value, Iterable) or isinstance(value, bytes):
        return _family(value) if hasattr(value, "link") else repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_value(key)}: {_value(item)}" for key, item in value.items()) + "}"
    items = ", ".join(map(_value, value))
    return f"({items}{',' * (len(value) == 1)})" if isinstance(value, tuple) else f"[{items}]"


def _family(family: Any) -> str:
    """Write a statsmodels family object, whose repr is an address."""
    link = f"sm.families.links.{type(family.link).__name__}({', '.join(_own(family.link))})"
    return f"sm.families.{type(family).__name__}({', '.join([f'link={link}', *_own(family)])})"


def _own(thing: Any) -> list[str]:
    """Write the arguments that an object was made with, as far as it keeps them under their names."""
    found = []
    for name, how in inspect.signature(type(thing).__init__).parameters.items():
        kept = getattr(thing, name, getattr(getattr(thing, "variance", None), name, inspect.Parameter.empty))
        if name in ("self", "link", "check_link") or kept is inspect.Parameter.empty or callable(kept):
            continue
        if how.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and kept != how.default:
            found.append(f"{name}={_value(kept)}")
    return found
