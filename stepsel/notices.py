"""What a user is told about the data: constant, aliased and correlated terms, perfect fits, dropped rows."""

import warnings
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from stepsel.core.fits import FloatArray, Status
from stepsel.core.likelihood_engine import LikelihoodEngine
from stepsel.core.linear import LinearEngine
from stepsel.core.negative_binomial import BOUNDARY
from stepsel.core.orthogonal import rounding_floor
from stepsel.core.search import Path
from stepsel.core.terms import BoolArray, IntArray, Terms
from stepsel.design import Design
from stepsel.exceptions import (
    CollinearityError,
    CollinearityWarning,
    ConstantColumnWarning,
    DispersionWarning,
    EmptyCellWarning,
    IncompleteSearchWarning,
    MissingRowsWarning,
    PerfectFitWarning,
    RowOrderWarning,
    SaturationWarning,
    SeparationWarning,
    StepselWarning,
    UnusedParameterWarning,
    WeightWarning,
)
from stepsel.settings import Settings

# Belsley, Kuh and Welsch (1980) call a condition index above 30 a sign of strong dependence.
LARGE_CONDITION_INDEX = 30.0
_LISTED = 8


class Notice(NamedTuple):
    """What a user is told of: the class of the warning and its sentence."""

    kind: type[StepselWarning]
    text: str


def tell(found: list[Notice], stacklevel: int) -> list[Notice]:
    """Issue notices as warnings, and return them."""
    for notice in found:
        warnings.warn(notice.text, notice.kind, stacklevel=stacklevel)
    return found


def listing(items: Sequence[object]) -> str:
    """Return a few items as text, with the number of those left out."""
    more = len(items) - _LISTED
    return ", ".join(map(str, items[:_LISTED])) + (f" and {more} more" if more > 0 else "")


def of_call(settings: Settings, X: Any, y: Any, *, related: bool) -> list[Notice]:
    """Tell of parameters without effect and of row labels that disagree; ``related`` if a term contains another."""
    found = []
    if settings.hierarchy != "strong" and not related:
        text = f"hierarchy={settings.hierarchy!r} has no effect: no term contains another."
        found.append(Notice(UnusedParameterWarning, text))
    if settings.criterion != "pvalue":
        for name, default in (("alpha_enter", 0.05), ("alpha_remove", 0.10)):
            if getattr(settings, name) != default:
                text = (
                    f"{name}={getattr(settings, name)} has no effect with criterion={settings.criterion!r}; p-values "
                    'decide with criterion="pvalue".'
                )
                found.append(Notice(UnusedParameterWarning, text))
    if X is not None and _same_labels_elsewhere(X, y):
        text = "X and y hold the same row labels in different orders: rows pair by position, not by label."
        found.append(Notice(RowOrderWarning, text))
    return found


def _same_labels_elsewhere(X: Any, y: Any) -> bool:
    labels = [part.index if isinstance(part, pd.DataFrame | pd.Series) else None for part in (X, y)]
    if labels[0] is None or labels[1] is None or labels[0].equals(labels[1]) or len(labels[0]) != len(labels[1]):
        return False
    try:
        return bool(labels[0].sort_values().equals(labels[1].sort_values()))
    except TypeError:
        return False  # labels that cannot be sorted


def of_weights(weights: FloatArray | None, weight_type: str) -> list[Notice]:
    """Tell of weights that are no counts but are read as such."""
    if weights is None or weight_type != "frequency" or not (weights % 1 != 0).any():
        return []
    text = (
        f"sample_weight holds fractions, which count as frequencies (n = {weights.sum():.6g}); for precisions give "
        'weight_type="analytic".'
    )
    return [Notice(WeightWarning, text)]


def of_data(design: Design, n_rows: int, terms: Terms, constant: BoolArray) -> list[Notice]:
    """Tell of dropped rows, constant columns and empty cells, each once.

    Parameters
    ----------
    design : Design
    n_rows : int
        Before rows were dropped.
    terms : Terms
    constant : bool array of shape (n_columns,)
        Columns that do not vary.
    """
    found = []
    if design.n_dropped:
        text = (
            f"{design.n_dropped} of {n_rows} rows have missing values and were dropped; every model is fitted to the "
            f"other {n_rows - design.n_dropped} rows."
        )
        found.append(Notice(MissingRowsWarning, text))
    if not constant.any() and terms.sizes.all():
        return found
    names, cells = [], []
    for at in range(len(terms)):
        columns, kept = terms.columns(at), " (kept)" * bool(terms.kept[at])
        still = columns[constant[columns]].tolist()
        if len(still) == len(columns) and (len(columns) > 1 or not len(columns)):
            names.append(f"{terms.names[at]}{kept}")
        elif design.coding.crossed is not None and design.coding.crossed[still].any():
            cells += [f"{design.labels[column]}" for column in still]
        else:
            names += [f"{design.labels[column]}{kept}" for column in still]
    if names:
        found.append(Notice(ConstantColumnWarning, f"constant columns are never entered: {listing(names)}."))
    if cells:
        text = f"interactions have empty cells, without a coefficient and a degree of freedom: {listing(cells)}."
        found.append(Notice(EmptyCellWarning, text))
    return found


def of_fit(engine: LinearEngine | LikelihoodEngine, path: Path, path_terms: Terms, y_name: Hashable) -> list[Notice]:
    """Tell of a perfect fit, of a saturated model and of a search that was cut short."""
    found = []
    if engine.perfect:
        if engine.geometry.scale.ssy > rounding_floor(engine.geometry.scale.raw_ssy):
            text = "the residuals are rounding noise: look for a copy of the response among the columns."
        else:
            text = "the response does not vary: there is nothing to explain."
        found.append(Notice(PerfectFitWarning, f"perfect fit of {y_name!r}: {text}"))
    if isinstance(engine, LikelihoodEngine) and engine.final().get("alpha", 1.0) < BOUNDARY:
        text = (
            f"{y_name!r} is no more dispersed than a Poisson response: alpha is at its bound of zero; use "
            'family="poisson".'
        )
        found.append(Notice(DispersionWarning, text))
    if isinstance(engine, LikelihoodEngine) and engine.separated:
        names = [path_terms.names[at] for at in sorted(engine.separated)]
        text = (
            f"terms separate the response: {listing(names)}; their coefficients have no finite estimate and their Wald "
            "tests mean nothing, the likelihood ratio stands."
        )
        found.append(Notice(SeparationWarning, text))
    if path.last is not None and (path.last.status == Status.saturated).any():
        final = path.steps[-1].fit
        text = (
            f"the model has {final.n_params} parameters for {engine.n_obs:g} observations: one more term would leave "
            "no residual degrees of freedom, and such a fit says little."
        )
        found.append(Notice(SaturationWarning, text))
    if path.failed:
        found.append(Notice(IncompleteSearchWarning, path.stop_reason))
    return found


def of_collinearity(
    engine: LinearEngine,
    path: Path,
    terms: Terms,
    design: Design,
    threshold: float,
    how: str,
    selected: FloatArray,
    indices: FloatArray,
) -> list[Notice]:
    """Tell of, or refuse, aliased candidates, correlated candidates, and correlated selected terms.

    Parameters
    ----------
    engine : LinearEngine
    path : Path
    terms : Terms
    design : Design
    threshold : float
        Variance inflation factors above it are named; of a term of several columns, GVIF^(1/df).
    how : {"warn", "raise"}
    selected : float array
        Variance inflation factor, in one dimension, of every selected term.
    indices : float array
        Condition indices of the final model.
    """
    repeats = _aliased(engine, path, terms, design)
    sentences = [
        *repeats,
        *_repeated_levels(engine, path, terms, design),
    ]
    # Factors coded by all levels stand for the intercept, about which inflation would have to be measured.
    if engine.data.intercept or design.coding.spare is None:
        sentences += _correlated_candidates(engine, terms, design, threshold, repeated=bool(repeats))
        sentences += _correlated_selection(path.steps[-1].active, terms, threshold, selected, indices)
    if sentences and how == "raise":
        raise CollinearityError(" ".join(sentences))
    return [Notice(CollinearityWarning, sentence) for sentence in sentences]


def _aliased(engine: LinearEngine, path: Path, terms: Terms, design: Design) -> list[str]:
    final = np.flatnonzero(path.steps[-1].active)
    barred = terms.barred(path.steps[-1].active)
    aliased: list[int] = [int(at) for at in np.flatnonzero(path.left_out & ~path.steps[-1].active & ~barred)]
    if path.last is not None:
        aliased += path.last.term[path.last.status == Status.aliased].tolist()
    repeats = []
    for term in sorted(set(aliased)):
        own, partners = engine.terms.columns(term), np.empty(0, dtype=np.intp)
        for members in (final, np.flatnonzero(path.steps[0].active)):
            if not len(partners):
                partners = engine.aliasing(own, engine.terms.columns_of(members))
        kept = "kept, " * bool(terms.kept[term])
        repeats.append(f"{terms.names[term]} ({kept}with {listing(_names_of(partners, engine.terms, design))})")
    if not repeats:
        return []
    return [f"terms that repeat others exactly and were left out: {listing(repeats)}."]


def _names_of(columns: IntArray, terms: Terms, design: Design) -> list[str]:
    """Return the terms that columns belong to, or the columns themselves where they are a part of their term."""
    names = []
    for at in range(len(terms)):
        own = terms.columns(at)
        part = own[np.isin(own, columns)].tolist()
        if len(part) == len(own):
            names += [str(terms.names[at])] * bool(part)
        else:
            names += [str(design.labels[column]) for column in part]
    return names


def _repeated_levels(engine: LinearEngine, path: Path, terms: Terms, design: Design) -> list[str]:
    """Name the columns of selected terms that others repeat, so that their term has fewer degrees of freedom."""
    final = np.flatnonzero(path.steps[-1].active)
    columns, model = engine.terms.columns_of(final), engine.model_columns()
    lost = np.setdiff1d(columns, model)
    if design.coding.spare is not None:
        lost = lost[~design.coding.spare[lost]]
    names = []
    for column in lost.tolist():
        partners = engine.aliasing(np.array([column]), model)
        names.append(f"{design.labels[column]} (with {listing(_names_of(partners, engine.terms, design))})")
    if not names:
        return []
    return [f"columns of selected terms repeat others exactly and have no coefficient: {listing(names)}."]


def _correlated_candidates(
    engine: LinearEngine, terms: Terms, design: Design, threshold: float, *, repeated: bool
) -> list[str]:
    """Name correlated candidates; products of candidates are correlated with them by construction."""
    among = np.ones(len(terms), dtype=bool)
    if design.coding.spare is not None:  # coded by all levels, of which one repeats the others by construction
        among &= ~np.array([design.coding.spare[terms.columns(at)].any() for at in range(len(terms))], dtype=bool)
    if terms.hierarchy is not None:
        among[terms.hierarchy.child] = False
    inflation = engine.candidate_inflation(among)
    if inflation is None:
        return []
    if repeated:  # the copies and what they repeat are named already
        inflation = np.where(np.isinf(inflation), 1.0, inflation)
    return _named(
        inflation,
        np.arange(len(terms)),
        terms,
        threshold,
        "candidates are strongly correlated, so that which of them is chosen is unstable",
    )


def _correlated_selection(
    active: BoolArray, terms: Terms, threshold: float, selected: FloatArray, indices: FloatArray
) -> list[str]:
    members = np.flatnonzero(active)
    related = terms.related_in(active)
    sentences = _named(
        np.where(related[members], 1.0, selected),
        members,
        terms,
        threshold,
        "selected terms are strongly correlated, so that their coefficients are uncertain",
    )
    if len(indices) and indices[-1] > LARGE_CONDITION_INDEX and not related.any():
        sentences.append(
            f"the largest condition index of the selected model is {indices[-1]:.3g} (above {LARGE_CONDITION_INDEX:g})."
        )
    return sentences


def _named(inflation: FloatArray, members: IntArray, terms: Terms, threshold: float, what: str) -> list[str]:
    above = np.flatnonzero(inflation > threshold)
    if not len(above):
        return []
    above = above[np.argsort(-inflation[above], kind="stable")]
    names = [f"{terms.names[members[at]]} ({inflation[at]:.4g})" for at in above]
    measure = "VIF (GVIF^(1/df) of several columns)" if (terms.sizes[members[above]] > 1).any() else "VIF"
    return [f"{what}; {measure} above {threshold:g}: {listing(names)}."]
