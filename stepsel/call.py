"""A selection as the line of Python that runs it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from stepsel.numeric import is_frame


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
    return f"StepwiseSelector({_arguments(parameters, defaults)}).fit(X, y{vectors})"


def formula_call(
    formula: str, parameters: Mapping[str, Any], defaults: Mapping[str, Any], given: Mapping[str, Any]
) -> str:
    """Write the call of `stepwise`; names of columns and scopes are written out, other vectors by their name."""
    more = [
        f"{name}={_value(value) if isinstance(value, str | Mapping) else name}"
        for name, value in given.items()
        if value is not None
    ]
    rest = _arguments(parameters, defaults)
    return f"stepwise({', '.join([repr(formula), 'data', *more, *([rest] if rest else [])])})"


def _arguments(parameters: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    changed = {name: value for name, value in parameters.items() if not _same(value, defaults.get(name))}
    return ", ".join(f"{name}={_value(value)}" for name, value in changed.items())


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, np.ndarray) or is_frame(value):
        return False
    return type(value) is type(default) and bool(value == default)


def _value(value: Any) -> str:
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, np.ndarray):
        return _value(value.tolist())
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_value(key)}: {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        items = ", ".join(map(_value, value))
        return f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
    if hasattr(value, "link"):  # a statsmodels family object, whose repr is an address
        return f"sm.families.{type(value).__name__}(sm.families.links.{type(value.link).__name__}())"
    return repr(value)
