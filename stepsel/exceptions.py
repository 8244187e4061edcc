"""The warnings and errors of stepsel, each a class of its own so that users can filter them."""


class StepselWarning(UserWarning):
    """Base class of every warning that stepsel issues."""


class CollinearityWarning(StepselWarning):
    """Candidates or selected terms are strongly correlated or exactly aliased."""


class ConstantColumnWarning(StepselWarning):
    """A column holds one value only and can never enter a model with an intercept."""


class PerfectFitWarning(StepselWarning):
    """The residuals are rounding noise: statistics of further terms would be meaningless."""


class MissingRowsWarning(StepselWarning):
    """Rows with missing values were dropped before the selection."""


class CollinearityError(ValueError):
    """Raised instead of :class:`CollinearityWarning` when ``collinearity="raise"``."""


class SaturationWarning(StepselWarning):
    """The search ended because one more term would leave no residual degrees of freedom."""


class IncompleteSearchWarning(StepselWarning):
    """A numerical failure cut the search short; the path up to there is kept."""
