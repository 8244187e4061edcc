"""Stability of a selection over resampled rows."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepsel.core.fits import FloatArray
from stepsel.core.terms import BoolArray
from stepsel.inference.outcome import Outcome
from stepsel.inference.rerun import (
    full_model,
    has_intercept,
    many,
    on_rows,
    run,
    seeds,
    selected,
    spread,
    task_of,
    whole_number,
)
from stepsel.inference.together import fits_together, resampled_together
from stepsel.result import StepwiseResult
from stepsel.summary import Summary, shown
from stepsel.task import Task

if TYPE_CHECKING:
    from stepsel.inference.plots import StabilityDisplay

METHODS = ("bootstrap", "subsample")


@dataclass(frozen=True)
class SelectionStability:
    """How a selection varies over resamples.

    Attributes
    ----------
    terms : list
        The candidate terms.
    labels : list
        The coefficients, the intercept first.
    owner : int array of shape (n_coefficients,)
        The term of each coefficient, -1 for the intercept.
    included : bool array of shape (n_resamples, n_terms)
        Which terms each resample selected.
    coefficients : float array of shape (n_resamples, n_coefficients)
        Zero where a term was not selected.
    full : DataFrame or None
        ``estimate, std_error`` of the model of all terms.
    chosen : StepwiseResult
        The selection on all rows.
    n_failed : int
        Resamples without a result.
    n_separated : int
        Resamples whose selected model separates the response: their coefficients are on the way to infinity.
    method : str
    fraction : float or None
        Of the rows, of subsamples.
    """

    terms: list[Hashable]
    labels: list[Hashable]
    owner: npt.NDArray[np.intp]
    included: BoolArray
    coefficients: FloatArray
    full: pd.DataFrame | None
    chosen: StepwiseResult
    n_failed: int
    n_separated: int
    method: str
    fraction: float | None = None

    @property
    def n_resamples(self) -> int:
        """Resamples with a result."""
        return len(self.included)

    @cached_property
    def inclusion(self) -> pd.Series:
        """Share of the resamples that selected each term."""
        return pd.Series(self.included.mean(axis=0), index=_index(self.terms, "term"), name="inclusion_frequency")

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a coefficient.

        ``coef_full, se_full`` (model of all terms), ``coef_selected, se_selected`` (selected model, 0 and NaN where the
        term is not in it), ``inclusion_frequency`` (of its term), ``rmsd_ratio``, ``relative_conditional_bias`` (per
        cent), ``bootstrap_median, q025, q975``; a coefficient that was not selected counts as 0.
        """
        b, nothing = self.coefficients, np.full(len(self.labels), np.nan)
        full, error = (nothing, nothing)
        if self.full is not None:
            full, error = self.full["estimate"].to_numpy(), self.full["std_error"].to_numpy()
        frequency = np.where(self.owner < 0, 1.0, self.included.mean(axis=0)[self.owner])
        chosen = _estimates(self.chosen, len(self.labels))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.sqrt(((b - full) ** 2).mean(axis=0)) / error
            bias = (b.mean(axis=0) / full / frequency - 1) * 100
        q025, median, q975 = np.quantile(b, [0.025, 0.5, 0.975], axis=0)
        return pd.DataFrame(
            {
                "coef_full": full,
                "se_full": error,
                "coef_selected": chosen["estimate"].fillna(0.0).to_numpy(),
                "se_selected": chosen["std_error"].to_numpy(),
                "inclusion_frequency": frequency,
                "rmsd_ratio": ratio,
                "relative_conditional_bias": bias,
                "bootstrap_median": median,
                "q025": q025,
                "q975": q975,
            },
            index=_index(self.labels, "term"),
        )

    @cached_property
    def models(self) -> pd.DataFrame:
        """The selected models, the most frequent first: ``terms`` (a tuple), ``count, share, cumulative_share``."""
        counts = Counter(row.tobytes() for row in self.included)
        n, n_terms = self.n_resamples, len(self.terms)
        rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        names = [
            tuple(self.terms[at] for at in np.flatnonzero(np.frombuffer(key, dtype=bool)[:n_terms])) for key, _ in rows
        ]
        table = pd.DataFrame({"count": [count for _, count in rows]})
        table.insert(0, "terms", pd.Series(names, dtype=object))
        table["share"] = table["count"] / n
        table["cumulative_share"] = table["share"].cumsum()
        return table

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Joint inclusion of every two terms: ``term_1, term_2, observed, expected``, the latter if independent.

        Terms that stand in for each other are selected together less often than expected.
        """
        flags = self.included.astype(float)
        joint, single = flags.T @ flags / len(flags), flags.mean(axis=0)
        rows = list(combinations(range(len(self.terms)), 2))
        first, second = (np.array([row[at] for row in rows], dtype=np.intp) for at in (0, 1))
        return pd.DataFrame(
            {
                "term_1": pd.Series([self.terms[at] for at in first.tolist()], dtype=object),
                "term_2": pd.Series([self.terms[at] for at in second.tolist()], dtype=object),
                "observed": joint[first, second],
                "expected": single[first] * single[second],
            }
        )

    @property
    def verdict(self) -> str:
        """What the tables say, in sentences."""
        final = self.chosen.active
        same = float((self.included == final).all(axis=1).mean())
        unsure = self.inclusion[(self.inclusion > 0.3) & (self.inclusion < 0.7)].sort_values()
        again = f"{100 * same:.1f} %" if same else "none"
        failed = f" ({self.n_failed} more could not be run)" if self.n_failed else ""
        separated = (
            f"\nIn {self.n_separated} of them the response is separated: coefficients are on the way to infinity, "
            "and rule rmsd_ratio and relative_conditional_bias."
            if self.n_separated
            else ""
        )
        shaky = (
            f"Between 30 and 70 % of the time selected: {', '.join(map(shown, unsure.index))}: chance decides."
            if len(unsure)
            else "No term is selected between 30 and 70 % of the time."
        )
        return (
            f"{self.n_resamples} {_NAMES[self.method]} of the rows{failed}; the whole selection was run on each.\n"
            f"The selected model was found again in {again} of them, among {len(self.models)} different models.\n"
            f"{shaky}\nRMSD ratio (rmsd_ratio) above 1: selection makes the coefficient less certain than the "
            "full model does. Bias (relative_conditional_bias): how far the coefficient is off where its term is "
            "selected, in % of that of the full model. Median and quantiles count 0 where it is not." + separated
        )

    def summary(self) -> Summary:
        """Return the tables and what they say as text (and as HTML in a notebook)."""
        table = self.table.reset_index()
        table["term"] = [shown(term) for term in table["term"]]
        models = self.models.head(10).copy()
        models["terms"] = [", ".join(map(shown, names)) or "(none)" for names in models["terms"]]
        return Summary([("Stability of the selection", table), ("Most frequent models", models)], self.verdict)

    def display(self) -> "StabilityDisplay":
        """Return the plot, not yet drawn."""
        from stepsel.inference.plots import StabilityDisplay

        return StabilityDisplay.of(self)

    def plot(self, kind: str = "inclusion", *, ax: Any = None) -> "StabilityDisplay":
        """Draw how often each term was selected, or how its coefficients were distributed.

        Parameters
        ----------
        kind : {"inclusion", "coefficients"}
        ax : Axes, optional
            A new figure by default.

        Raises
        ------
        ValueError
            If there is no such kind.
        ImportError
            If matplotlib is not installed.
        """
        return self.display().plot(ax, kind=kind)

    def __repr__(self) -> str:
        return f"<SelectionStability: {self.n_resamples} {_NAMES[self.method]}, {len(self.models)} models>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


_INTERCEPT = "(Intercept)"
_NAMES = {"bootstrap": "bootstrap samples", "subsample": "subsamples"}


def selection_stability(
    selector: Any,
    X: Any = None,
    y: Any = None,
    *,
    n_resamples: int = 1000,
    method: str = "bootstrap",
    fraction: float = 0.5,
    resamples: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    sample_weight: Any = None,
    offset: Any = None,
    verbose: int = 0,
) -> SelectionStability:
    """Run the whole selection on many resamples of the rows.

    Parameters
    ----------
    selector : StepwiseSelector or StepwiseResult
        A selector, fitted or not, with ``X`` and ``y``; or a result, such as `stepwise` returns.
    X, y, sample_weight, offset
        As for :meth:`StepwiseSelector.fit`. Rows with missing values are dropped once, before.
    n_resamples : int
    method : {"bootstrap", "subsample"}
        Rows drawn with replacement, as many as there are; or a share of them without.
    fraction : float
        That share.
    resamples : int array of shape (n_resamples, n_drawn), optional
        Row numbers to use instead of random ones, of the rows that the selection uses: complete ones, and with
        frequency weights each copy of a row by itself.
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Processes, as joblib counts them; the result is the same on any number.
    verbose : int
        Whether progress is told on standard error.

    Returns
    -------
    SelectionStability
        ``.table``, ``.models``, ``.pairs``, ``.inclusion``, ``.summary()``.

    Raises
    ------
    ValueError
        If a parameter has no such value, a row number is out of range, or no resample could be run.

    References
    ----------
    Heinze, Wallisch, Dunkler (2018), Variable selection, Biometrical Journal 60. Sauerbrei and Schumacher (1992), A
    bootstrap resampling procedure for model building, Statistics in Medicine 11. Meinshausen and Buehlmann (2010),
    Stability selection, JRSS B 72 (subsamples of half the rows).

    Examples
    --------
    >>> import numpy as np
    >>> from stepsel import StepwiseSelector
    >>> from stepsel.inference import selection_stability
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 4))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> stability = selection_stability(StepwiseSelector(), X, y, n_resamples=50, random_state=1)
    >>> float(stability.inclusion["x0"])
    1.0
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}: choose one of {', '.join(map(repr, METHODS))}.")
    if not isinstance(fraction, float | int) or not 0 < fraction < 1:
        raise ValueError(f"fraction is {fraction!r}: give a number between 0 and 1.")
    task = task_of(selector, X, y, sample_weight, offset)
    inputs = _inputs(task, n_resamples, method, fraction, resamples, random_state)
    chosen, full = selected(task), full_model(task)
    drawn = inputs[0][1]
    together = _together if fits_together(task, drawn) else None
    found = many(_resampled, task, inputs, n_jobs=n_jobs, verbose=verbose, what="resamples", together=together)
    outcomes: list[Outcome] = [item for item in found if item is not None]
    intercept, n_columns = has_intercept(task), len(task.design.labels)
    owner = np.full(n_columns, -1, dtype=np.intp)
    owner[task.terms.index] = np.repeat(np.arange(len(task.terms)), task.terms.sizes)
    labels = [_INTERCEPT] * intercept + list(task.design.labels)
    return SelectionStability(
        terms=list(task.terms.names),
        labels=labels,
        owner=np.concatenate([np.full(int(intercept), -1, dtype=np.intp), owner]),
        included=np.array([outcome.active for outcome in outcomes], dtype=bool).reshape(len(outcomes), -1),
        coefficients=np.array(
            [spread(outcome.params, outcome.columns, n_columns, intercept=intercept) for outcome in outcomes]
        ),
        full=None if full is None else _estimates(full, len(labels)),
        chosen=chosen,
        n_failed=len(found) - len(outcomes),
        n_separated=sum(outcome.separated for outcome in outcomes),
        method=method,
        fraction=fraction if method == "subsample" and resamples is None else None,
    )


def _inputs(
    task: Task, n_resamples: int, method: str, fraction: float, resamples: Any, random_state: Any
) -> list[tuple[Any, int, bool]]:
    """Return (row numbers or a seed, rows to draw, with replacement) of every resample."""
    n = len(task.design.y)
    if resamples is None:
        drawn = n if method == "bootstrap" else max(2, round(fraction * n))
        count = whole_number(n_resamples, "n_resamples")
        return [(seed, drawn, method == "bootstrap") for seed in seeds(random_state, count)]
    try:
        rows = np.asarray(resamples)
    except ValueError:
        raise ValueError("resamples has rows of different lengths: give row numbers, a row a resample.") from None
    if rows.ndim == 2 and rows.shape[1] < 2:
        raise ValueError(f"resamples has shape {rows.shape}: give at least two row numbers a resample.")
    if rows.ndim != 2 or rows.dtype.kind not in "iu" or not rows.size:
        raise ValueError(f"resamples has shape {rows.shape} and type {rows.dtype}: give row numbers, a row a resample.")
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"resamples holds row {rows.max() if rows.max() >= n else rows.min()}: rows are 0 to {n - 1}.")
    return [(row.astype(np.intp), rows.shape[1], True) for row in rows]


def _rows(task: Task, how: tuple[Any, int, bool]) -> npt.NDArray[np.intp]:
    rows, drawn, replacement = how
    if isinstance(rows, np.random.SeedSequence):
        generator, n = np.random.default_rng(rows), len(task.design.y)
        rows = generator.integers(0, n, drawn) if replacement else generator.choice(n, drawn, replace=False)
    return np.asarray(rows, dtype=np.intp)


def _resampled(task: Task, how: tuple[Any, int, bool]) -> Outcome:
    return run(on_rows(task, _rows(task, how)))


def _together(task: Task, inputs: Sequence[tuple[Any, int, bool]]) -> list[Any]:
    n = len(task.design.y)
    counts = [np.bincount(_rows(task, how), minlength=n) for how in inputs]
    return resampled_together(task, np.array(counts, dtype=float))


def _estimates(result: StepwiseResult, n_coefficients: int) -> pd.DataFrame:
    """Return estimate and standard error of every coefficient, NaN where it is not in the model."""
    found = result.tidy()[["estimate", "std_error"]].to_numpy(dtype=float)
    intercept = len(found) - len(result.model_columns)
    places = np.concatenate([np.arange(intercept), intercept + result.model_columns]).astype(np.intp)
    table = np.full((n_coefficients, 2), np.nan)
    table[places] = found
    return pd.DataFrame(table, columns=["estimate", "std_error"])


def _index(labels: list[Hashable], name: str) -> pd.Index:
    return pd.Index(labels, dtype=object, tupleize_cols=False, name=name)
