"""The search: from model to model until no move is worth taking.

The loop knows neither the model nor the criterion: an engine says what each move would give, a policy says which
one to take.

References
----------
Efroymson (1960), Multiple regression analysis, in Mathematical Methods for Digital Computers (p-value policy).
Venables and Ripley (2002), Modern Applied Statistics with S, section 6.8 (stepwise by an information criterion).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from stepsel.core.criteria import Criterion, PartialF
from stepsel.core.fits import Fit, FloatArray, Move, Moves, Status
from stepsel.core.terms import BoolArray, IntArray, Terms

# Two moves whose statistics agree to this are tied, and input order decides.
_TIE = 1e-10
# An information criterion has to improve by more than rounding.
_STRICT = 1e-9


class Engine(Protocol):
    """What the search asks of a model family."""

    constant: BoolArray

    def start(self, active: BoolArray) -> BoolArray:
        """Go to a model; return it without the terms that are aliased in it."""

    def fit(self) -> Fit:
        """Return the fit of the current model."""

    def neighbours(self, additions: IntArray, removals: IntArray) -> Moves:
        """Return every model one of these moves away."""

    def apply(self, term: int, adding: bool) -> None:
        """Make one move."""


class Policy(Protocol):
    """The rule by which a move is chosen."""

    def choose(self, here: Fit, moves: Moves) -> int | None:
        """Return the position of the move to take, or None when none is worth taking."""

    def best_removal(self, here: Fit, moves: Moves) -> int | None:
        """Return the removal that costs least, whether or not it is worth taking."""

    def nothing_left(self, *, adds: bool, removes: bool) -> str:
        """Return the sentence that says why no move was worth taking."""


@dataclass(frozen=True, slots=True)
class Step:
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


@dataclass(frozen=True)
class InformationPolicy:
    """All legal additions and removals compete; the best strict improvement is taken (R ``step``)."""

    criterion: Criterion

    def choose(self, here: Fit, moves: Moves) -> int | None:
        best, best_gain = None, _STRICT
        for adding in (False, True):
            at = self._best(here, moves, adding=adding)
            if at is None:
                continue
            gain = self._gain(here, moves.one(at))
            # Removals come first: an addition has to be better by more than a tie.
            if gain > best_gain + (_TIE * max(1.0, abs(best_gain)) if best is not None else 0.0):
                best, best_gain = at, gain
        return best

    def best_removal(self, here: Fit, moves: Moves) -> int | None:
        return self._best(here, moves, adding=False)

    def nothing_left(self, *, adds: bool, removes: bool) -> str:
        kind = {(True, True): "addition or removal", (True, False): "addition"}.get((adds, removes), "removal")
        return f"No {kind} improves {self.criterion.name}."

    def _best(self, here: Fit, moves: Moves, *, adding: bool) -> int | None:
        part = moves.part(adding)
        if part is None:
            return None
        if part.uniform:  # then the deviance alone orders them
            at = _first_best(part.change if adding else -part.change)
        else:
            gains = self.criterion.gains(here, part)
            if not adding:
                gains[part.df == 0] = np.inf
            at = _first_best(_only_eligible(gains, part))
        return None if at is None else at + (moves.n_removals if adding else 0)

    def _gain(self, here: Fit, move: Move) -> float:
        # A term of the model that has become redundant costs nothing and explains nothing: it goes first.
        return np.inf if move.df == 0 and not move.adding else self.criterion.gain(here, move)


@dataclass(frozen=True)
class PValuePolicy:
    """Remove while a removable term has p > alpha_remove, largest p first; else enter the smallest p < alpha_enter."""

    alpha_enter: float
    alpha_remove: float
    test_enter: PartialF
    test_remove: PartialF

    def choose(self, here: Fit, moves: Moves) -> int | None:
        worst = self.best_removal(here, moves)
        if worst is not None and self._log_p(here, moves, worst) > _log(self.alpha_remove):
            return worst
        best = self._extreme(here, moves, adding=True)
        return best if best is not None and self._log_p(here, moves, best) < _log(self.alpha_enter) else None

    def best_removal(self, here: Fit, moves: Moves) -> int | None:
        return self._extreme(here, moves, adding=False)

    def nothing_left(self, *, adds: bool, removes: bool) -> str:
        enter = f"no candidate has p < alpha_enter = {self.alpha_enter:g}"
        leave = f"no removable term has p > alpha_remove = {self.alpha_remove:g}"
        sentence = " and ".join([enter] * adds + [leave] * removes)
        return sentence[0].upper() + sentence[1:] + "."

    def _test(self, adding: bool) -> PartialF:
        return self.test_enter if adding else self.test_remove

    def _log_p(self, here: Fit, moves: Moves, at: int) -> float:
        move = moves.one(at)
        return self._test(move.adding).log_p_of(here, move)

    def _extreme(self, here: Fit, moves: Moves, *, adding: bool) -> int | None:
        """Return the addition with the smallest p, or the removal with the largest."""
        part, sign = moves.part(adding), 1.0 if adding else -1.0
        if part is None:
            return None
        test = self._test(adding)
        statistic, df_resid = test.statistic(here, part)
        score = _only_eligible(sign * statistic, part)
        if not part.uniform and not (part.df == part.df[0]).all():  # else p is ordered as the statistic is
            log_p = test.log_p(statistic, part.df, df_resid)
            least = _only_eligible(-sign * log_p, part)
            score = np.where(_nearly_best(least), score, -np.inf)
        at = _first_best(score)
        return None if at is None else at + (moves.n_removals if adding else 0)


def _log(alpha: float) -> float:
    return float(np.log(alpha)) if alpha > 0 else -np.inf


def _only_eligible(score: FloatArray, moves: Moves) -> FloatArray:
    return score if moves.uniform else np.where(moves.status == Status.eligible, score, -np.inf)


def _nearly_best(score: FloatArray) -> BoolArray:
    best = score.max()
    return score >= best - _TIE * max(1.0, abs(best)) if np.isfinite(best) else score == best


def _first_best(score: FloatArray) -> int | None:
    """Return the first position whose score ties with the largest; None when nothing is eligible."""
    if not len(score):
        return None
    best = float(score.max())
    if best == -np.inf or np.isnan(best):
        return None
    if best == np.inf:
        return int(score.argmax())
    return int((score >= best - _TIE * abs(best)).argmax())


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
        additions = terms.additions(active | engine.constant) if adds and not full else none
        removals = terms.removals(active) if removes else none
        try:
            moves = engine.neighbours(additions, removals)
            chosen = policy.best_removal(here, moves) if crowded else policy.choose(here, moves)
            path.last = moves
            if chosen is None:
                path.stop_reason = _why_stopped(policy, moves, adds=adds, removes=removes, full=full)
                return path
            if max_steps is not None and len(path.steps) > max_steps:
                path.stop_reason = f"The limit of max_steps={max_steps} steps was reached."
                return path
            after = active.copy()
            term, adding = int(moves.term[chosen]), chosen >= moves.n_removals
            after[term] = adding
            if after.tobytes() in visited:
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
        path.last = None
        n_terms += 1 if adding else -1
        active = after
        visited.add(active.tobytes())


def _record(path: Path, step: Step, on_step: Callable[[Step], None] | None) -> None:
    path.steps.append(step)
    if on_step is not None:
        on_step(step)


def _why_stopped(policy: Policy, moves: Moves, *, adds: bool, removes: bool, full: bool) -> str:
    if full and adds:
        return "The model holds max_terms terms" + (", and none of them is to leave." if removes else ".")
    if not len(moves):
        return "Every candidate term is in the model." if adds else "No removable term is left in the model."
    if not (moves.status == Status.eligible).any():
        return "No candidate can enter: each is aliased with the model or would leave no residual degrees of freedom."
    return policy.nothing_left(adds=adds, removes=removes)
