"""stepwise: a selection written as a formula."""

import ast
import re
import sys
from collections import ChainMap
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from stepsel import notices
from stepsel.assembly import Observations, rows_with_levels
from stepsel.call import formula_call
from stepsel.coding import declared_factors
from stepsel.columns import check_labels
from stepsel.core.terms import BoolArray, IntArray, Terms
from stepsel.design import Design
from stepsel.families import family_name, read_response
from stepsel.labels import as_column
from stepsel.naming import find, names_in, start_word, starting_terms
from stepsel.numeric import is_frame, sample_weights
from stepsel.responses import offset_vector
from stepsel.result import StepwiseResult
from stepsel.selection import select
from stepsel.selector import StepwiseSelector, default_parameters
from stepsel.settings import Settings
from stepsel.survival import status_events
from stepsel.task import Task

if TYPE_CHECKING:
    from stepsel.model_terms.parsing import Parsed, ParsedTerm, Variable
    from stepsel.model_terms.variables import Table


def stepwise(
    formula: str,
    data: Any,
    *,
    scope: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
    context: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> StepwiseResult:
    """Run a stepwise selection among the terms of a formula.

    Parameters
    ----------
    formula : str
        ``response ~ terms``, as formulaic reads it: ``.`` (all other columns), ``a:b``, ``a*b``, ``(a + b + c)**2``,
        ``- term``, ``- 1`` (no intercept), ``C(x)`` and ``C(x, Treatment(level))`` (a factor, and its reference
        level), ``poly(x, 2)``, ``I(x**2)``, ``np.log(x)`` and any other expression of columns and of the caller's
        variables and functions. The response may be an expression, or ``Surv(time, event)`` for ``family="cox"``.
        Text, categories and truth values are factors.
    data : pandas or polars DataFrame, or mapping of names to columns
    scope : str or mapping with "lower" and "upper", optional
        The largest model, or the smallest and the largest, as formulas ``~ terms``; ``.`` in them is the right side of
        ``formula``, which is then the model to start from (R ``step``). Without it ``formula`` is the largest model,
        and the start is as the parameter ``start`` says.
    sample_weight, offset : str or array_like of shape (n_rows,), optional
        A column of ``data``, which ``.`` then leaves out, or values; as in :meth:`StepwiseSelector.fit`.
    context : mapping of names to values, optional
        What the formula may use besides columns and formulaic's transforms; by default the caller's variables.
    **parameters
        Those of :class:`StepwiseSelector` except ``groups``. ``keep`` and ``start`` name terms as the formula does;
        ``hierarchy`` says when an interaction may enter and its parents leave: "strong" asks for all terms of the scope
        that are contained in it, powers included (R, MATLAB), "weak" for one of the largest of them, "none" for none.

    Returns
    -------
    StepwiseResult
        Its ``predict`` and ``model.predict`` take new data with the columns of ``data``, coded as they were here.

    Raises
    ------
    ValueError
        If the formula cannot be read or evaluated, a column is not there, or the data or parameters cannot be honoured.
    CollinearityError
        If ``collinearity="raise"`` and terms are aliased or strongly correlated.

    References
    ----------
    Wilkinson and Rogers (1973), Symbolic description of factorial models, Applied Statistics 22. Nelder (1977), A
    reformulation of linear models, JRSS A 140 (marginality). Venables and Ripley (2002), Modern Applied Statistics with
    S, section 6.8.

    Examples
    --------
    >>> import pandas as pd
    >>> from stepsel import stepwise
    >>> data = pd.DataFrame({"dose": [1, 1, 2, 2, 3, 3, 4, 4], "sex": list("mfmfmfmf")})
    >>> data["y"] = [2.1, 1.8, 4.2, 2.1, 5.8, 1.9, 8.1, 2.2]
    >>> result = stepwise("y ~ dose * sex", data, criterion="bic", collinearity="ignore")
    >>> result.selected
    ['dose', 'sex', 'dose:sex']
    >>> result.predict(pd.DataFrame({"dose": [5], "sex": ["m"]})).round(1).tolist()
    [10.0]
    """
    from stepsel.model_terms.variables import Table

    named_context = context
    if context is None:
        caller = sys._getframe(1)
        context = ChainMap(caller.f_locals, caller.f_globals)
    settings = Settings.of(StepwiseSelector(**parameters).get_params(deep=False))
    if settings.groups is not None:
        raise ValueError("groups is given: write the terms of a formula as they are to enter and leave.")
    table = Table(_frame(data), context)
    used = [name for name in (sample_weight, offset) if isinstance(name, str)]
    parsed, scoped, kept = _scope(formula, scope, table.labels, used)
    settings = replace(settings, fit_intercept=bool(settings.fit_intercept and parsed.intercept))
    assert parsed.response is not None
    y = _response(parsed.response, table, settings)
    if offset is not None and settings.gaussian:
        raise ValueError("offset is not for the Gaussian family: subtract it from the response.")
    inputs = _inputs(scoped, kept, settings)
    told = notices.tell(notices.of_call(settings, None, None, related=inputs.hierarchy is not None), 3)
    weights = _vector(sample_weight, table)
    observations = Observations(
        read_response(settings, y, table.n_rows, weights),
        sample_weights(weights, table.n_rows),
        None if offset is None else offset_vector(_vector(offset, table), table.n_rows),
        table.data.index if isinstance(table.data, pd.DataFrame) else None,
    )
    start = _start(scoped, parsed, inputs, settings, scoped=scope is not None)
    design, offsets = _design(scoped, table, observations, settings)
    terms = replace(inputs, index=np.arange(design.X.shape[1]), offset=offsets)
    given = {"scope": scope, "sample_weight": sample_weight, "offset": offset, "context": named_context}
    call = formula_call(formula, parameters, default_parameters(), given)
    return select(Task(design, terms, start, settings, call), told)


def _frame(data: Any) -> Any:
    if isinstance(data, Mapping):
        data = pd.DataFrame(data)
    if not is_frame(data):
        raise ValueError(f"data is a {type(data).__name__}: give a pandas or polars DataFrame.")
    labels = list(data.columns)
    check_labels(labels)
    odd = next((label for label in labels if not isinstance(label, str)), None)
    if odd is not None:
        raise ValueError(f"column label {odd!r} is no text, which a formula could not name: rename the column.")
    if 0 in data.shape:
        raise ValueError(f"data has shape {data.shape}: give at least one row and one column.")
    return data


def _scope(
    formula: Any, scope: Any, labels: Sequence[str], used: Sequence[str]
) -> tuple["Parsed", list["ParsedTerm"], set[Any]]:
    """Return the formula, the terms of the largest model, and the degrees of those that are kept."""
    from stepsel.model_terms.parsing import parse, quoted, with_quotes

    for name in used:
        find(name, {label: at for at, label in enumerate(labels)}, False, "sample_weight or offset")
    formula = with_quotes(formula, labels)
    _check_labels(formula, labels)
    head = parse(formula, "0")
    if head.response is None:
        raise ValueError(f"formula {formula!r} has no response: write it as 'y ~ a + b'.")
    taken = {head.response.text} | _names_in(head.response) | set(used)
    parsed = parse(formula, " + ".join(quoted(label) for label in labels if label not in taken))
    if any(variable == head.response for term in parsed.terms for variable in term.variables):
        raise ValueError(f"formula {formula!r} has the response among its terms: leave it out.")
    if scope is None:
        return parsed, _unique(parsed.terms), set()
    if isinstance(scope, str):
        scope = {"upper": scope}
    if not isinstance(scope, Mapping) or not scope or not set(scope) <= {"lower", "upper"}:
        raise ValueError(f"scope is {scope!r}: give one formula, or a dict with the formulas 'lower' and 'upper'.")
    sides = {}
    for side, text in scope.items():
        if isinstance(text, str):
            text = re.sub(r"^\s*\.\s*~", "~", text)  # R writes the response of a scope as a dot, too
        sides[side] = parse(with_quotes(text, labels), parsed.right, f"scope[{side!r}]")
        if sides[side].intercept != parsed.intercept:
            raise ValueError(
                f"scope[{side!r}] is {text!r}: give it an intercept if the formula has one, and else none."
            )
    upper = sides["upper"].terms if "upper" in sides else parsed.terms
    lower = sides["lower"].terms if "lower" in sides else ()
    for inner, outer, side in ((parsed.terms, upper, "upper"), (lower, parsed.terms, "lower")):
        known = {term.degrees for term in outer}
        odd = next((term.name for term in inner if term.degrees not in known), None)
        if odd is not None and side == "upper":
            raise ValueError(f"scope['upper'] lacks {odd}, which is in the formula: add it to the scope.")
        if odd is not None:
            raise ValueError(f"scope['lower'] has {odd}, which is not in the formula: the formula is the start model.")
    return parsed, _unique([*upper, *parsed.terms, *lower]), {term.degrees for term in lower}


def _check_labels(formula: str, labels: Sequence[str]) -> None:
    """Refuse labels that a formula would read as something else, where it could come to that."""
    from stepsel.model_terms.parsing import without_quotes

    if not isinstance(formula, str):
        return
    plain = re.sub(r"\s", "", without_quotes(formula))
    dotted = re.search(r"(?<![\w)])\.(?![\w(])", plain) is not None
    for label in labels:
        number = re.fullmatch(r"\d+(\.\d+)?", label) is not None
        if (dotted or f"`{label}`" in formula) and (number or "`" in label or not label.strip() or label == "."):
            raise ValueError(f"column label {label!r} cannot be written in a formula: rename the column.")
        if "(" in label and re.sub(r"\s", "", label) in plain:
            raise ValueError(f"formula: {label!r} is an expression and the label of a column: rename the column.")


def _unique(terms: Sequence["ParsedTerm"]) -> list["ParsedTerm"]:
    found: dict[Any, ParsedTerm] = {}
    for term in terms:
        found.setdefault(term.degrees, term)
    return list(found.values())


def _names_in(response: "Variable") -> set[str]:
    from stepsel.model_terms.parsing import variables_of

    return set() if response.lookup else variables_of(response.text)


def _response(response: "Variable", table: "Table", settings: Settings) -> Any:
    """Return the response as the selector takes it."""
    from stepsel.model_terms.variables import evaluated

    survival = _surv(response.text)
    cox = family_name(settings.family) == "cox"
    if cox != (survival is not None):
        wanted = "write the response as Surv(time, event)" if cox else 'Surv() is for family="cox"'
        raise ValueError(f"formula: the response is {response.text}: {wanted}.")
    if survival is not None:
        time, event = (table.series(text) if text in table.labels else evaluated(text, table) for text in survival)
        status, _ = as_column(event, survival[1], table.n_rows)
        times, _ = as_column(time, survival[0], table.n_rows)
        events = status_events(status, name=survival[1], event=settings.event)
        flags = pd.array(events == 1, dtype="boolean")
        flags[np.isnan(events)] = pd.NA
        return pd.DataFrame({survival[0]: times, survival[1]: flags})
    if response.lookup:
        return table.series(response.text)
    return evaluated(response.text, table).rename(response.text)


def _surv(text: str) -> list[str] | None:
    """Return the expressions of time and event of ``Surv(time, event)``; None for any other response."""
    if not text.startswith("Surv("):
        return None
    labels = re.findall(r"`([^`]+)`", text)
    held = [f"_column_{at}_" for at in range(len(labels))]  # names that Python can read in the place of labels
    for label, name in zip(labels, held, strict=True):
        text = text.replace(f"`{label}`", name)
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ValueError(f"formula: the response {text} cannot be read: write Surv(time, event).") from None
    assert isinstance(call, ast.Call)
    given = dict(zip(("time", "event"), call.args, strict=False))
    given.update((str(keyword.arg), keyword.value) for keyword in call.keywords)
    if set(given) != {"time", "event"} or len(call.args) + len(call.keywords) != 2:
        raise ValueError(f"formula: the response is {text}: write Surv(time, event), without further times.")
    parts = []
    for part in (ast.unparse(given[name]) for name in ("time", "event")):
        for label, name in zip(labels, held, strict=True):
            part = label if part == name else part.replace(name, f"`{label}`")
        parts.append(part)
    return parts


def _vector(values: Any, table: "Table") -> Any:
    return table.series(values) if isinstance(values, str) else values


def _inputs(terms: list["ParsedTerm"], kept: set[Any], settings: Settings) -> Terms:
    """Return the terms of the formula, before it is known which columns they have."""
    from stepsel.model_terms.parsing import hierarchy_of

    n = len(terms)
    hierarchy = hierarchy_of(terms, settings.hierarchy)
    inputs = Terms([term.name for term in terms], np.arange(n), np.arange(n + 1), np.zeros(n, dtype=bool), hierarchy)
    given = np.array([term.degrees in kept for term in terms], dtype=bool)
    return replace(inputs, kept=given | _terms_named(settings.keep, terms, inputs, "keep"))


def _design(
    terms: list["ParsedTerm"], table: "Table", observations: Observations, settings: Settings
) -> tuple[Design, IntArray]:
    """Return the design of the terms on the rows that are used, and where the columns of each term begin."""
    from stepsel.model_terms.coding import coded_terms
    from stepsel.model_terms.variables import variable_of

    names: dict[str, Variable] = {variable.text: variable for term in terms for variable in term.variables}
    declared = _declared(settings.categorical, names, table)
    variables = {text: variable_of(variable, table, declared) for text, variable in names.items()}
    columns = {text: variable.read(table) for text, variable in variables.items()}
    rows, gaps = rows_with_levels(
        list(columns.values()), list(columns), observations.target.y, observations.weights, missing=settings.missing
    )
    X, coding = coded_terms(
        terms,
        {text: variable.fitted(table, columns[text], rows) for text, variable in variables.items()},
        table,
        columns,
        rows,
        intercept=settings.fit_intercept or family_name(settings.family) == "cox",
        rule=settings.hierarchy,
    )
    check_labels(list(coding.labels))
    return observations.design(X, coding, rows, gaps), coding.offset


def _declared(categorical: Any, names: Mapping[str, Any], table: "Table") -> dict[str, Any]:
    found = declared_factors(categorical, table.labels, positions=False)
    declared = {table.labels[at]: level for at, level in found.items()}
    unused = next((name for name in declared if name not in names), None)
    if unused is not None:
        raise ValueError(
            f"categorical: {unused!r} is no variable of the formula by itself: write {unused}, or C({unused}, "
            "Treatment(level)) for a reference level, there."
        )
    return declared


def _start(
    terms: list["ParsedTerm"], parsed: "Parsed", inputs: Terms, settings: Settings, *, scoped: bool
) -> BoolArray:
    if scoped and isinstance(settings.start, str) and settings.start == "auto":
        first = {term.degrees for term in parsed.terms}
        return starting_terms(inputs, np.array([term.degrees in first for term in terms], dtype=bool), full=False)
    full = start_word(settings.start, settings.direction)
    named = _terms_named(settings.start, terms, inputs, "start") if full is None else None
    return starting_terms(inputs, named, full=bool(full))


def _terms_named(wanted: Any, terms: list["ParsedTerm"], inputs: Terms, where: str) -> BoolArray:
    """Return which terms are named; the order of the variables of an interaction does not matter."""
    from stepsel.model_terms.parsing import parse

    place: dict[Hashable, int] = {term.degrees: at for at, term in enumerate(terms)}
    by_name: dict[Hashable, int] = {str(name).replace("`", ""): at for at, name in enumerate(inputs.names)}
    by_name |= {name: at for at, name in enumerate(inputs.names)}
    found = np.zeros(len(terms), dtype=bool)
    for name in names_in(wanted):
        if name not in by_name and isinstance(name, str) and name.strip():
            named = parse(name, "0", where).terms
            if not named:
                raise ValueError(f"{where}: {name!r} names no term: list the names of terms.")
            for term in named:
                found[place[term.degrees] if term.degrees in place else find(name, by_name, False, where)] = True
        else:
            found[find(name, by_name, False, where)] = True
    return found
