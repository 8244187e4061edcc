"""The search: from model to model until no move is worth taking.

The loop knows neither the model nor the criterion: an engine says what each move would give, a policy says which
one to take.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from stepsel.core.fits import Fit, Moves, Status
from stepsel.core.policies import Policy
from stepsel.core.terms import BoolArray, IntArray, Terms


class Engine(Protocol):
    """What the search asks of a model family."""

    constant: BoolArray

    def start(self, active: BoolArray) -> BoolArray:
        """Go to a model; return it without the terms that are aliased in it and that no other term needs."""

    def fit(self) -> Fit:
        """Return the fit of the current model."""

    def neighbours(self, additions: IntArray, removals: IntArray) -> Moves:
        """Return every model one of these moves away."""

    def apply(self, term: int, adding: bool) -> None:
        """Make one move."""


class Step(NamedTuple):
    """One model of the path, and the moves that were weighed on the way to it.

    Attributes
    ----------
    fit : Fit
    active : bool array of shape (n_terms,)
        The terms of this model.
    before : bool array, optional
        The terms of the model before; None for the start.
    moves : Moves, optional
        The moves that were open from the model before.
    chosen : int, optional
        The position in ``moves`` of the one that was taken.
    """

    fit: Fit
    active: BoolArray
    before: BoolArray | None = None
    moves: Moves | None = None
    chosen: int | None = None


@dataclass
class Path:
    """All that a search saw.

    Attributes
    ----------
    steps : list of Step
        The start model first.
    last : Moves, optional
        The moves from the final model, none of which was taken.
    left_out : bool array of shape (n_terms,)
        Terms that were asked for at the start but are aliased with earlier ones.
    stop_reason : str
        One sentence.
    failed : bool
        Whether the search was cut short by a numerical failure.
    """

    steps: list[Step] = field(default_factory=list)
    last: Moves | None = None
    left_out: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    stop_reason: str = ""
    failed: bool = False


def search(
    engine: Engine,
    terms: Terms,
    policy: Policy,
    start: BoolArray,
    *,
    adds: bool,
    removes: bool,
    max_terms: int | None = None,
    max_steps: int | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Path:
    """Walk from the start model until no move is worth taking.

    Parameters
    ----------
    engine : Engine
    terms : Terms
    policy : Policy
    start : bool array of shape (n_terms,)
    adds, removes : bool
        Which kinds of moves the direction allows.
    max_terms : int, optional
        No term is added beyond this number; while a model has more, the removal that costs least is forced.
    max_steps : int, optional
    on_step : callable, optional
        Called with every step, the start included.

    Returns
    -------
    Path
        Complete up to the last model reached, also where a later step failed numerically.
    """
    path = Path()
    active = engine.start(start)
    path.left_out = start & ~active & ~engine.constant
    _record(path, Step(engine.fit(), active), on_step)
    visited = {active.tobytes()}
    none = np.empty(0, dtype=np.intp)
    n_terms = int(active.sum())
    while True:
        here = path.steps[-1].fit
        crowded = max_terms is not None and n_terms > max_terms
        full = max_terms is not None and n_terms >= max_terms
        additions = terms.additions(active, engine.constant) if adds and not full else none
        removals = terms.removals(active) if removes else none
        try:
            moves = engine.neighbours(additions, removals)
            chosen = policy.best_removal(here, moves) if crowded else policy.choose(here, moves)
            path.last = moves
            if chosen is None:
                waiting = adds and bool((terms.barred(active) & ~active & ~engine.constant).any())
                path.stop_reason = _why_stopped(policy, moves, adds=adds, removes=removes, full=full, waiting=waiting)
                return path
            if max_steps is not None and len(path.steps) > max_steps:
                path.stop_reason = f"The limit of max_steps={max_steps} steps was reached."
                return path
            after = active.copy()
            term, adding = int(moves.term[chosen]), chosen >= moves.n_removals
            after[term] = adding
            key = after.tobytes()
            undone = key in visited and policy.may_undo and _undoes(path.steps, term, adding)
            if key in visited and not undone:
                path.stop_reason = (
                    f"The next move ({'add' if adding else 'remove'} {terms.names[term]}) leads back to a model that "
                    "was visited before."
                )
                return path
            engine.apply(term, adding)
            fit = engine.fit()
        except np.linalg.LinAlgError as error:
            path.failed = True
            path.stop_reason = f"Step {len(path.steps)} failed numerically ({error}); the path up to there is kept."
            return path
        _record(path, Step(fit, after, active, moves, chosen), on_step)
        if undone:
            path.last = None
            path.stop_reason = (
                f"The term that entered last ({terms.names[term]}) was the one to leave, which leads back to a model "
                "that was visited before."
            )
            return path
        path.last = None
        n_terms += 1 if adding else -1
        active = after
        visited.add(key)


def _undoes(steps: list[Step], term: int, adding: bool) -> bool:
    """Whether a removal takes out what the last step put in."""
    last = steps[-1]
    if adding or last.moves is None or last.chosen is None:
        return False
    return last.chosen >= last.moves.n_removals and int(last.moves.term[last.chosen]) == term


def _record(path: Path, step: Step, on_step: Callable[[Step], None] | None) -> None:
    path.steps.append(step)
    if on_step is not None:
        on_step(step)


def _why_stopped(policy: Policy, moves: Moves, *, adds: bool, removes: bool, full: bool, waiting: bool) -> str:
    if full and adds:
        return "The model holds max_terms terms" + (", and none of them is to leave." if removes else ".")
    if not len(moves):
        if waiting:
            return "No candidate can enter: each contains terms that are not in the model (hierarchy)."
        return "Every candidate term is in the model." if adds else "No removable term is left in the model."
    status, open_ = moves.status, moves.open
    if (status == Status.saturated).any() and not open_[moves.n_removals :].any():
        still = f", and {policy.nothing_left(adds=False, removes=True)[0].lower()}" if moves.n_removals else "."
        rest = policy.nothing_left(adds=False, removes=True)[1:] if moves.n_removals else ""
        return "One more term would leave no residual degrees of freedom" + still + rest
    if not open_.any():
        return "No candidate can enter: each is aliased with the model."
    return policy.nothing_left(adds=adds, removes=removes)
