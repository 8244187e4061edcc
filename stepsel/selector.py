"""StepwiseSelector: the scikit-learn face of a selection."""

from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from stepsel import notices
from stepsel.assembly import Observations, column_design
from stepsel.call import selector_call
from stepsel.checks import check_whole_numbers
from stepsel.coding import ColumnCoding, declared_factors
from stepsel.columns import PositionLabels, check_labels, read_columns
from stepsel.core.terms import BoolArray, Terms
from stepsel.families import read_response
from stepsel.naming import build_terms, find_terms, of_design, start_word, starting_terms
from stepsel.numeric import is_frame, sample_weights, unmasked
from stepsel.responses import offset_vector
from stepsel.result import StepwiseResult
from stepsel.selection import select
from stepsel.settings import Settings
from stepsel.task import Task


@cache
def default_parameters() -> dict[str, Any]:
    """Return the parameters of a selector that is given none."""
    return StepwiseSelector().get_params(deep=False)


class StepwiseSelector(SelectorMixin, BaseEstimator):
    """Stepwise selection of regression terms by p-value or information criterion.

    At every step all models one term away from the current one are fitted exactly, and the best is moved to, until
    no move is worth taking.

    Parameters
    ----------
    direction : {"both", "forward", "backward"}
        Forward adds terms to the kept ones, backward removes terms from the full model, both does either at every
        step.
    criterion : {"aic", "aicc", "bic", "hqic", "adj_r2", "cp", "pvalue"}
        What a step has to improve. For information criteria, additions and removals compete and the best strict
        improvement is taken (R ``step``). For "pvalue", first the term with the largest p above ``alpha_remove``
        leaves, else the one with the smallest p below ``alpha_enter`` enters (Efroymson; SAS, SPSS).
    family : {"gaussian", "binomial", "poisson", "gamma", "negative_binomial", "cox"} or statsmodels family
        The distribution of the response: least squares, logistic, log-linear counts, log-linear amounts, counts with a
        dispersion estimated anew in every fit, or times to an event. A family object of statsmodels brings its link.
    alpha_enter, alpha_remove : float
        Significance levels of criterion "pvalue".
    test_enter, test_remove : {"auto", "f", "lr", "score", "wald"}
        Tests of entry and removal: the partial F test for the Gaussian family; for the others the likelihood ratio
        ("auto", "lr"), Rao's score or Wald's test. SAS PROC LOGISTIC and PHREG enter by score and remove by Wald.
    start : {"auto", "empty", "full"} or list of names
        The model to start from, the kept terms besides; "auto" is full for backward, else empty.
    keep : name or sequence of names
        Terms that are in every model.
    groups : dict of name -> list of columns, optional
        Columns that enter and leave together, with their joint test.
    max_terms : int, optional
        No term is added beyond this number; while a model has more, the least useful is removed.
    max_steps : int, optional
        Largest number of steps.
    fit_intercept : bool
        Whether every model has an intercept, which is not a term.
    missing : {"raise", "drop"}
        Whether rows with a missing value in any candidate or in y are refused or left out of every model. ``transform``
        keeps all rows: in a pipeline whose next step refuses missing values, impute before the selection instead.
    candidates : {"exact", "leading"}
        Whether every candidate is refitted at every step, or, for logistic and Poisson regression with their canonical
        links, only those that a proven bound does not rule out: the same path, but fewer numbers in ``candidates_``.
    collinearity : {"warn", "raise", "ignore"}
        What happens when terms are aliased, or their variance inflation exceeds ``vif_threshold``, among the
        candidates or in the selected model.
    vif_threshold : float
        Variance inflation factors above it are named.
    tolerance : float
        A candidate whose ``1 - R2`` on the model is at most this is aliased with it and cannot enter.
    weight_type : {"frequency", "analytic"}
        Whether a weight of 2 stands for two rows (scikit-learn's contract, SAS FREQ: n is the sum of weights) or for
        twice the precision (R ``weights``, SAS WEIGHT: n is the number of rows with positive weight).
    categorical : name, sequence of names, or mapping of name -> reference level, optional
        Columns of numbers that are factors, and the level that the others of a factor are compared with: None for the
        first. Text, categories and (with their own name as the label) booleans are factors anyway.
    hierarchy : {"strong", "weak", "none"}
        When an interaction may enter and its parents leave; for formulas, see :func:`stepwise`.
    event : label, optional
        The class of a binomial response that is the event; by default the second of the two in order.
    ties : {"efron", "breslow"}
        How a Cox model treats tied event times.
    verbose : int
        Whether to print every step.

    Attributes
    ----------
    design_ : DataFrame
        The coded columns of the selected terms: numbers as they are, factors as contrasts with their reference level.
    support_ : bool array of shape (n_features_in_,)
        The selected input columns.
    result_ : StepwiseResult
        Everything else: trace, candidates, collinearity, final model.
    trace_, candidates_, collinearity_ : DataFrame
        As in ``result_``.
    coef_ : float array of shape (n_selected,)
        Coefficients of the selected columns, in input order.
    intercept_ : float
    n_features_in_ : int
    feature_names_in_ : array of str
        When X is a DataFrame with string labels.

    Notes
    -----
    p-values, R2 and intervals of a selected model are too optimistic: they do not know of the search. The more
    candidates, and the stronger their correlation, the larger the bias.

    References
    ----------
    Efroymson (1960), Multiple regression analysis. Venables and Ripley (2002), Modern Applied Statistics with S,
    section 6.8. Miller (2002), Subset Selection in Regression.

    Examples
    --------
    >>> import pandas as pd
    >>> from stepsel import StepwiseSelector
    >>> X = pd.DataFrame({"a": [1, 2, 3, 4, 5, 6, 7, 8], "b": [2, 1, 4, 3, 6, 5, 8, 9], "c": [1, 0, 0, 1, 1, 0, 1, 0]})
    >>> y = [3.1, 2.2, 8.9, 6.1, 12.2, 9.8, 16.1, 18.0]
    >>> selector = StepwiseSelector(criterion="bic", collinearity="ignore").fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['b']
    >>> selector.trace_[["step", "action", "term"]].to_dict("records")
    [{'step': 0, 'action': 'start', 'term': None}, {'step': 1, 'action': 'add', 'term': 'b'}]
    """

    def __init__(
        self,
        *,
        direction: str = "both",
        criterion: str = "aic",
        family: str = "gaussian",
        alpha_enter: float = 0.05,
        alpha_remove: float = 0.10,
        test_enter: str = "auto",
        test_remove: str = "auto",
        start: str | Sequence[Hashable] = "auto",
        keep: Hashable | Sequence[Hashable] = (),
        groups: Mapping[Hashable, Sequence[Hashable]] | None = None,
        max_terms: int | None = None,
        max_steps: int | None = None,
        fit_intercept: bool = True,
        missing: str = "raise",
        candidates: str = "exact",
        collinearity: str = "warn",
        vif_threshold: float = 10.0,
        tolerance: float = 1e-15,
        weight_type: str = "frequency",
        categorical: Any = None,
        hierarchy: str = "strong",
        event: Any = None,
        ties: str = "efron",
        verbose: int = 0,
    ) -> None:
        self.direction = direction
        self.criterion = criterion
        self.family = family
        self.alpha_enter = alpha_enter
        self.alpha_remove = alpha_remove
        self.test_enter = test_enter
        self.test_remove = test_remove
        self.start = start
        self.keep = keep
        self.groups = groups
        self.max_terms = max_terms
        self.max_steps = max_steps
        self.fit_intercept = fit_intercept
        self.missing = missing
        self.candidates = candidates
        self.collinearity = collinearity
        self.vif_threshold = vif_threshold
        self.tolerance = tolerance
        self.weight_type = weight_type
        self.categorical = categorical
        self.hierarchy = hierarchy
        self.event = event
        self.ties = ties
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Self:
        """Run the selection.

        Parameters
        ----------
        X : pandas or polars DataFrame, or array_like of shape (n_rows, n_columns)
            The candidate columns: numbers, booleans, and factors (text, categories, or as ``categorical`` says). Rows
            pair with those of y by position.
        y : Series, one-column DataFrame, or array_like of shape (n_rows,)
            The response: numbers, two classes or proportions, counts, amounts, or survival times as
            :func:`stepsel.survival_response` makes them.
        sample_weight : array_like of shape (n_rows,), optional
            Not negative; rows of weight zero do not count. See ``weight_type``.
        offset : array_like of shape (n_rows,), optional
            Added to the linear predictor; the logarithm of an exposure for counts. Not for the Gaussian family: there
            subtract it from y.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter has no such value; if a column or y holds anything but finite numbers (missing ones are
            dropped with ``missing="drop"``); if there are too few rows for the start model. The message names the
            column, the row and the value.
        CollinearityError
            If ``collinearity="raise"`` and terms are aliased or strongly correlated.
        """
        task, inputs, labels = self._task(X, y, sample_weight, offset)
        told = notices.tell(notices.of_call(task.settings, X, y, related=False), 3)
        self.result_ = select(task, told)
        support = np.zeros(len(labels), dtype=bool)
        support[inputs.columns_of(np.flatnonzero(self.result_.active))] = True
        self.support_ = support
        coding = task.design.coding
        self._frames = isinstance(coding, ColumnCoding) and bool(coding.factors)
        return self

    def _task(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> tuple[Task, Terms, Sequence[Hashable]]:
        """Return what the selection is run on, its terms of input columns, and the labels of these."""
        parameters = self.get_params(deep=False)
        settings = Settings.of(parameters)
        if offset is not None and settings.gaussian:
            raise ValueError("offset is not for the Gaussian family: subtract it from y.")
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        labelled = is_frame(X)
        if labelled:
            check_labels(list(X.columns))
            validate_data(self, X, skip_check_array=True)
            if 0 in X.shape:
                raise ValueError(f"X has shape {X.shape}: give at least one row and one column.")
        else:
            X = X if sp.issparse(X) else unmasked(X)
            X = validate_data(self, X, dtype=None, ensure_all_finite=False)
        names = list(X.columns) if labelled else PositionLabels(X.shape[1])
        declared = declared_factors(settings.categorical, names, positions=not labelled)
        columns, labels = read_columns(X, declared)
        if isinstance(columns, np.ndarray):
            check_whole_numbers(columns, labels)
        n_rows = len(X)
        observations = Observations(
            read_response(settings, y, n_rows, sample_weight),
            sample_weights(sample_weight, n_rows),
            None if offset is None else offset_vector(offset, n_rows),
            X.index if isinstance(X, pd.DataFrame) else None,
        )
        inputs = build_terms(labels, settings.groups, settings.keep, positions=not labelled)
        full = start_word(settings.start, settings.direction)
        named = find_terms(settings.start, inputs, labels, not labelled, "start") if full is None else None
        start = starting_terms(inputs, named, full=bool(full))
        design = column_design(columns, labels, declared, observations, settings)
        coding = design.coding
        assert isinstance(coding, ColumnCoding)
        terms = of_design(inputs, coding.owner) if coding.factors else inputs
        given = {"sample_weight": sample_weight, "offset": offset}
        call = selector_call(parameters, default_parameters(), given)
        return Task(design, terms, start, settings, call), inputs, labels

    def transform(self, X: Any) -> Any:
        """Return the selected columns as they came.

        Parameters
        ----------
        X : pandas or polars DataFrame, or array_like of shape (n_rows, n_features_in_)

        Returns
        -------
        ndarray or DataFrame of shape (n_rows, n_selected)
            A DataFrame of the input's kind if the selection was made on one with factors, whose types an array would
            lose, or as ``set_output`` says.
        """
        check_is_fitted(self)
        if self._frames and is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            names = [name for name, chosen in zip(X.columns, self.support_, strict=True) if chosen]
            return X[names]
        return super().transform(X)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    def _result(self) -> StepwiseResult:
        check_is_fitted(self)
        return self.result_

    @property
    def trace_(self) -> pd.DataFrame:
        """One row a step; see :class:`stepsel.StepwiseResult`."""
        return self._result().trace

    @property
    def candidates_(self) -> pd.DataFrame:
        """Every move that was looked at, at every step."""
        return self._result().candidates

    @property
    def collinearity_(self) -> pd.DataFrame:
        """Variance inflation and tolerance of every selected term."""
        return self._result().collinearity

    @property
    def design_(self) -> pd.DataFrame:
        """The coded columns of the selected terms: numbers as they are, factors as contrasts."""
        return self._result().design

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the selected columns, in input order."""
        return self._result().coefficients.to_numpy()

    @property
    def intercept_(self) -> float:
        """Intercept of the final model, 0 without one."""
        return self._result().intercept

    def _repr_html_inner(self) -> str:
        """Return the diagram of scikit-learn, and once fitted what was selected."""
        diagram = super()._repr_html_inner()
        return f"{diagram}\n{self.result_._repr_html_()}" if hasattr(self, "result_") else diagram

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**options)
        return bundle | {"text/html": self._repr_html_inner()} if "text/html" in bundle else bundle

    def __sklearn_tags__(self) -> Tags:
        """Declare that y is required and whether missing values are accepted."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.missing == "drop"
        return tags
