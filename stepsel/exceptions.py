"""The warnings and errors of stepsel, each a class of its own so that users can filter them."""


class StepselWarning(UserWarning):
    """Base class of every warning that stepsel issues."""


class CollinearityWarning(StepselWarning):
    """Candidates or selected terms are strongly correlated or exactly aliased."""


class ConstantColumnWarning(StepselWarning):
    """A column holds one value only and can never enter a model with an intercept."""


class EmptyCellWarning(StepselWarning):
    """Levels of factors never occur together, so that their interaction has fewer degrees of freedom."""


class PerfectFitWarning(StepselWarning):
    """The residuals are rounding noise: statistics of further terms would be meaningless."""


class MissingRowsWarning(StepselWarning):
    """Rows with missing values were dropped before the selection."""


class CollinearityError(ValueError):
    """Raised instead of :class:`CollinearityWarning` when ``collinearity="raise"``."""


class UnusedParameterWarning(StepselWarning):
    """A parameter was set that has no effect together with the others."""


class WeightWarning(StepselWarning):
    """Weights that are no counts are read as frequencies."""


class RowOrderWarning(StepselWarning):
    """X and y hold the same row labels in different orders; rows pair by position."""


class EventCodingWarning(StepselWarning):
    """A status could be read in two ways."""


class DispersionWarning(StepselWarning):
    """Counts are no more dispersed than Poisson: the negative binomial dispersion is at its bound."""


class SaturationWarning(StepselWarning):
    """The search ended because one more term would leave no residual degrees of freedom."""


class SeparationWarning(StepselWarning):
    """A term separates the response: its coefficient has no finite maximum-likelihood estimate."""


class IncompleteSearchWarning(StepselWarning):
    """A numerical failure cut the search short; the path up to there is kept."""
