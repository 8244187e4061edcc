"""Policies: which of the open moves is taken, if any.

References
----------
Efroymson (1960), Multiple regression analysis, in Mathematical Methods for Digital Computers (p-value policy).
Venables and Ripley (2002), Modern Applied Statistics with S, section 6.8 (stepwise by an information criterion).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from stepsel.core.criteria import Criterion, Test
from stepsel.core.fits import Fit, FloatArray, Move, Moves
from stepsel.core.terms import BoolArray

# Two moves whose statistics agree to this are tied, and input order decides.
TIE = 1e-10
# An information criterion has to improve by more than rounding.
STRICT = 1e-9


class Policy(Protocol):
    """The rule by which a move is chosen.

    Attributes
    ----------
    may_undo : bool
        Whether a removal may take back the addition before it; the search ends there. So SAS does, where the tests of
        entry and removal differ.
    """

    @property
    def may_undo(self) -> bool:
        """Whether a removal may take back the addition before it."""

    def choose(self, here: Fit, moves: Moves) -> int | None:
        """Return the position of the move to take, or None when none is worth taking."""

    def best_removal(self, here: Fit, moves: Moves) -> int | None:
        """Return the removal that costs least, whether or not it is worth taking."""

    def nothing_left(self, *, adds: bool, removes: bool) -> str:
        """Return the sentence that says why no move was worth taking."""


@dataclass(frozen=True)
class InformationPolicy:
    """All legal additions and removals compete; the best strict improvement is taken (R ``step``)."""

    criterion: Criterion
    may_undo: bool = False

    def choose(self, here: Fit, moves: Moves) -> int | None:
        best, best_gain = None, STRICT
        for adding in (False, True):
            at = self._best(here, moves, adding=adding)
            if at is None:
                continue
            gain = self._gain(here, moves.one(at))
            # Removals come first: an addition has to be better by more than a tie.
            if gain > best_gain + (TIE * max(1.0, abs(best_gain)) if best is not None else 0.0):
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
    test_enter: Test
    test_remove: Test

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

    @property
    def may_undo(self) -> bool:
        return self.test_enter.name != self.test_remove.name

    def _test(self, adding: bool) -> Test:
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
    return score if moves.uniform else np.where(moves.open, score, -np.inf)


def _nearly_best(score: FloatArray) -> BoolArray:
    best = score.max()
    return score >= best - TIE * max(1.0, abs(best)) if np.isfinite(best) else score == best


def _first_best(score: FloatArray) -> int | None:
    """Return the first position whose score ties with the largest; None when nothing is eligible."""
    if not len(score):
        return None
    best = float(score.max())
    if best == -np.inf or np.isnan(best):
        return None
    if best == np.inf:
        return int(score.argmax())
    return int((score >= best - TIE * abs(best)).argmax())
