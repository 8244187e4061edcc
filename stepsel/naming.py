"""Names in parameters -> terms."""

import difflib
import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any

import numpy as np

from stepsel.core.terms import BoolArray, IntArray, Terms


def build_terms(
    labels: Sequence[Hashable], groups: Mapping[Hashable, Any] | None, keep: Any, *, positions: bool
) -> Terms:
    """Return the terms: one per listed group, one per other column, ordered by their first column.

    Parameters
    ----------
    labels : sequence
        The column labels.
    groups : mapping of name -> columns, optional
    keep : name or iterable of names
        Terms that are in every model.
    positions : bool
        Whether columns may also be given by position (input without labels).

    Raises
    ------
    ValueError
        If a name is unknown, a column is in two groups, or a group is named like another column.
    """
    if not groups and not isinstance(keep, str) and isinstance(keep, Sized) and not len(keep):
        every = np.arange(len(labels) + 1)
        return Terms(labels, every[:-1], every, np.zeros(len(labels), dtype=bool))
    place = {label: at for at, label in enumerate(labels)}
    owner: dict[int, Hashable] = {}
    for name, columns in (groups or {}).items():
        members = [find(column, place, positions, "groups") for column in names_in(columns)]
        if not members:
            raise ValueError(f"groups: group {name!r} has no columns.")
        for column in members:
            if owner.get(column) == name:
                raise ValueError(f"groups: column {labels[column]!r} is listed twice in {name!r}.")
            if column in owner:
                raise ValueError(f"groups: column {labels[column]!r} is in both {owner[column]!r} and {name!r}.")
            owner[column] = name
    names = list(dict.fromkeys(owner.get(at, label) for at, label in enumerate(labels)))
    clash = next((label for at, label in enumerate(labels) if label in set(owner.values()) and at not in owner), None)
    if clash is not None:
        raise ValueError(f"groups: {clash!r} is also a column outside the group: give the group another name.")
    if owner:
        members_of: dict[Hashable, list[int]] = {name: [] for name in names}
        for at, label in enumerate(labels):
            members_of[owner.get(at, label)].append(at)
        index = np.array([at for name in names for at in members_of[name]], dtype=np.intp)
        offset = np.concatenate([[0], np.cumsum([len(members_of[name]) for name in names])]).astype(np.intp)
    else:
        index, offset = np.arange(len(labels)), np.arange(len(labels) + 1)
    terms = Terms(names, index, offset, np.zeros(len(names), dtype=bool))
    return replace(terms, kept=find_terms(keep, terms, labels, positions, "keep"))


def starting_terms(terms: Terms, named: BoolArray | None, *, full: bool) -> BoolArray:
    """Return the terms to start from: those named, or all or none of them, the kept ones besides.

    Raises
    ------
    ValueError
        If the hierarchy asks for terms that are not among them.
    """
    _check_parents(terms, terms.kept, "keep")
    if named is None:
        return np.full(len(terms), full) | terms.kept
    _check_parents(terms, named | terms.kept, "start")
    return named | terms.kept


def _check_parents(terms: Terms, chosen: BoolArray, where: str) -> None:
    if terms.hierarchy is None or not (chosen & terms.hierarchy.orphans(chosen)).any():
        return
    at = int(np.argmax(chosen & terms.hierarchy.orphans(chosen)))
    parents = terms.hierarchy.parent[terms.hierarchy.child == at].tolist()
    absent = (", " if terms.hierarchy.rule == "strong" else " or ").join(
        str(terms.names[to]) for to in parents if not chosen[to]
    )
    raise ValueError(
        f'{where}: {terms.names[at]!r} needs {absent} in the model with it: list it too, or give hierarchy="none".'
    )


def start_word(start: Any, direction: str) -> bool | None:
    """Return whether ``start`` asks for the full model or the empty one; None where it names terms."""
    if isinstance(start, str) and start == "auto":
        return direction == "backward"
    return start == "full" if isinstance(start, str) and start in ("full", "empty") else None


def find_terms(wanted: Any, terms: Terms, labels: Sequence[Hashable], positions: bool, where: str) -> BoolArray:
    """Return which terms are among the names ``wanted``.

    Positions name columns, so they are taken only where every column is a term of its own.

    Raises
    ------
    ValueError
        If a name is unknown, or that of a column inside a group.
    """
    place = {name: at for at, name in enumerate(terms.names)}
    found = np.zeros(len(terms), dtype=bool)
    groups = np.flatnonzero(terms.sizes > 1).tolist()
    grouped = {labels[column]: terms.names[at] for at in groups for column in terms.columns(at).tolist()}
    for name in names_in(wanted):
        group = grouped.get(name) if isinstance(name, Hashable) and name not in place else None
        if group is not None:
            raise ValueError(f"{where}: {name!r} belongs to the group {group!r}: name {group!r} instead.")
        found[find(name, place, positions and not grouped, where)] = True
    return found


def of_design(terms: Terms, owner: IntArray) -> Terms:
    """Return terms of input columns as terms of the design columns that these were coded into.

    Parameters
    ----------
    terms : Terms
    owner : int array of shape (n_design_columns,)
        The input column of every design column, ascending.
    """
    parts = [np.flatnonzero(np.isin(owner, terms.columns(at))) for at in range(len(terms))]
    offset = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.intp)
    index = np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)
    return replace(terms, index=index, offset=offset)


def names_in(names: Any) -> list[Hashable]:
    """Return one name or an iterable of names as a list."""
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        return [names]
    return list(names)


def find(name: Hashable, place: Mapping[Hashable, int], positions: bool, where: str) -> int:
    """Return the position of a term or column by its label.

    Raises
    ------
    ValueError
        If there is none, naming the closest labels.
    """
    if not isinstance(name, Hashable):
        raise ValueError(f"{where}: {name!r} is no name: give names one by one, or a flat list of them.")
    if name in place and not isinstance(name, bool | np.bool_):
        return place[name]
    if (
        positions
        and isinstance(name, numbers.Integral)
        and not isinstance(name, bool | np.bool_)
        and 0 <= int(name) < len(place)
    ):
        return int(name)
    close = difflib.get_close_matches(str(name), [str(label) for label in place], n=3, cutoff=0.4)
    known = close or [str(label) for label in list(place)[:5]]
    raise ValueError(f"{where}: there is no column or group {name!r}; did you mean one of {known}?")
