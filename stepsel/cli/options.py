"""The options of the commands, each with its help; nothing here needs the library."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

READING, SEARCH, COLUMNS, OUTPUT = "Reading the file", "Search", "Columns", "Output"


class Direction(StrEnum):
    """Direction of the search."""

    forward = "forward"
    backward = "backward"
    both = "both"


class Criterion(StrEnum):
    """What decides a step."""

    aic = "aic"
    aicc = "aicc"
    bic = "bic"
    hqic = "hqic"
    adj_r2 = "adj_r2"
    cp = "cp"
    pvalue = "pvalue"


class Test(StrEnum):
    """The test behind a p-value."""

    auto = "auto"
    f = "f"
    lr = "lr"
    score = "score"
    wald = "wald"


class Missing(StrEnum):
    """What to do with rows that have missing values."""

    raise_ = "raise"
    drop = "drop"


class Refits(StrEnum):
    """Which candidates are refitted."""

    exact = "exact"
    leading = "leading"


class Collinearity(StrEnum):
    """What to do about collinear terms."""

    warn = "warn"
    raise_ = "raise"
    ignore = "ignore"


class WeightType(StrEnum):
    """What a weight means."""

    frequency = "frequency"
    analytic = "analytic"


class Ties(StrEnum):
    """How Cox regression treats equal survival times."""

    efron = "efron"
    breslow = "breslow"


class Family(StrEnum):
    """Distribution of the target."""

    gaussian = "gaussian"
    binomial = "binomial"
    poisson = "poisson"
    negative_binomial = "negative_binomial"
    gamma = "gamma"
    cox = "cox"


class Method(StrEnum):
    """How rows are resampled."""

    bootstrap = "bootstrap"
    subsample = "subsample"


class Hierarchy(StrEnum):
    """When an interaction may enter."""

    strong = "strong"
    weak = "weak"
    none = "none"


def _option(panel: str, text: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, case_sensitive=False, **settings)


def _flag(panel: str, text: str, *names: str, **settings: Any) -> Any:
    return _option(panel, text, *names, metavar="", **settings)


File = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="CSV, TSV, Excel, Parquet, Feather or Stata file; - is standard input."),
]
Encoding = Annotated[str | None, _option(READING, "Encoding, such as cp1252, gb18030, utf-16; found by default.")]
Sep = Annotated[str | None, _option(READING, "Separator: , ; | tab space; found by default.")]
Decimal = Annotated[str | None, _option(READING, "Decimal mark: . or ,; found by default.")]
Thousands = Annotated[str | None, _option(READING, "Thousands mark, such as , or '; found by default.")]
Na = Annotated[
    list[str], _option(READING, "A text that means missing, in every column; repeat it for several.", "--na")
]
Sheet = Annotated[str | None, _option(READING, "Sheet of a workbook, by name or number; the first by default.")]
SkipRows = Annotated[int, _option(READING, "Lines to leave out before the header.", min=0)]
NoHeader = Annotated[
    bool,
    _flag(READING, "The first line is data: columns are called column_1, column_2, ...", "--no-header"),
]

Target = Annotated[str | None, _option(COLUMNS, "The column to explain; not for cox.", "--target", "-t")]
Time = Annotated[str | None, _option(COLUMNS, "With cox: column of times to the event or to the end of observation.")]
Status = Annotated[
    str | None, _option(COLUMNS, "With cox: column that tells events (1, TRUE, 2 of 1/2, or see --event).")
]
OptionalTarget = Annotated[str | None, _option(COLUMNS, "The target, which is left out.", "--target", "-t")]
Drop = Annotated[list[str], _option(COLUMNS, "Columns not to use: NAME or NAME,NAME; repeatable.", "--drop")]
Keep = Annotated[
    list[str],
    _option(COLUMNS, "Columns, groups or terms of --formula always in the model: NAME or NAME,NAME.", "--keep"),
]
Formula = Annotated[
    str | None,
    _option(
        COLUMNS,
        "Terms instead of columns: 'y ~ a*b + C(g) + I(x**2)', '.' for all columns, names with blanks in backticks; "
        "without --target.",
        "--formula",
    ),
]
Categorical = Annotated[
    list[str],
    _option(
        COLUMNS,
        "Columns that are factors: NAME or NAME,NAME; auto: every column of text; repeatable.",
        "--categorical",
    ),
]
Reference = Annotated[
    list[str],
    _option(COLUMNS, "Factor and the level that the others are compared with: NAME=LEVEL; repeatable.", "--reference"),
]
Group = Annotated[
    list[str], _option(COLUMNS, "Columns that enter and leave together: name=COL,COL; repeatable.", "--group")
]
Weights = Annotated[str | None, _option(COLUMNS, "Column of observation weights, or of the trials of proportions.")]
Offset = Annotated[str | None, _option(COLUMNS, "Column that is added to the linear predictor.")]
Exposure = Annotated[
    str | None,
    _option(COLUMNS, "With counts: column of exposures above 0, such as time at risk; its log is an offset."),
]
WeightKind = Annotated[
    WeightType, _option(COLUMNS, "frequency: copies of a row; analytic: precision.", "--weight-type")
]
MissingRows = Annotated[Missing, _option(COLUMNS, "Rows with missing values: refuse them, or drop them.", "--missing")]

DirectionOption = Annotated[Direction, _option(SEARCH, "Direction of the search.", "--direction", "-d")]
CriterionOption = Annotated[Criterion, _option(SEARCH, "What decides a step.", "--criterion", "-c")]
FamilyOption = Annotated[
    Family,
    _option(
        SEARCH,
        "Distribution of the target: gaussian, binomial (two classes, or proportions of --weights trials), poisson or "
        "negative_binomial (counts), gamma (amounts above 0), cox (--time and --status).",
        "--family",
    ),
]
AlphaEnter = Annotated[float, _option(SEARCH, "With pvalue: a term enters below this p.")]
AlphaRemove = Annotated[float, _option(SEARCH, "With pvalue: a term leaves above this p.")]
TestEnter = Annotated[
    Test, _option(SEARCH, "With pvalue: test for entering; auto is f for gaussian, lr otherwise; SAS: score.")
]
TestRemove = Annotated[Test, _option(SEARCH, "With pvalue: test for leaving; auto as for entering; SAS: wald.")]
TiesOption = Annotated[Ties, _option(SEARCH, "With cox: how equal times are treated.", "--ties")]
Start = Annotated[
    list[str], _option(SEARCH, "Start model: auto, empty, full, or names of columns, groups or terms.", "--start")
]
MaxTerms = Annotated[int | None, _option(SEARCH, "Most terms in the model.")]
MaxSteps = Annotated[int | None, _option(SEARCH, "Most steps.")]
NoIntercept = Annotated[bool, _flag(SEARCH, "Fit without an intercept.", "--no-intercept")]
RefitsOption = Annotated[
    Refits,
    _option(
        SEARCH,
        "How candidates are computed: all are refitted at every step, or only the leading ones (same path, faster; "
        "not for gaussian). It writes no file: that is --candidates.",
        "--refits",
    ),
]
CollinearityOption = Annotated[Collinearity, _option(SEARCH, "What to do about collinear terms.")]
VifThreshold = Annotated[float, _option(SEARCH, "Variance inflation factor to warn from.")]
Tolerance = Annotated[float, _option(SEARCH, "Tolerance under which a column counts as aliased.")]
HierarchyOption = Annotated[
    Hierarchy,
    _option(
        SEARCH,
        "With --formula. strong: an interaction only while all terms in it are in; weak: one of them; none.",
        "--hierarchy",
    ),
]
Event = Annotated[str | None, _option(COLUMNS, "The value of --target (binomial) or --status (cox) that is the event.")]
Verbose = Annotated[
    int,
    _flag(
        SEARCH,
        "Print every step on standard error while the search runs.",
        "--verbose",
        "-v",
        count=True,
        show_default=False,
    ),
]

Stability = Annotated[
    int, _option(OUTPUT, "Run the whole selection on this many bootstrap samples as well.", "--stability", min=0)
]
Resamples = Annotated[int, _option(SEARCH, "How many resamples.", "--resamples", "-n", min=1)]
MethodOption = Annotated[
    Method, _option(SEARCH, "bootstrap: as many rows as there are, with replacement; subsample: a share, without.")
]
Fraction = Annotated[float, _option(SEARCH, "With subsample: the share of the rows.")]
Seed = Annotated[int, _option(SEARCH, "Of the resampling: the same seed gives the same result.", min=0)]
Jobs = Annotated[int, _option(SEARCH, "Processes for the resampling; -1 for one a core.", "--jobs", "-j")]
TableFile = Annotated[Path | None, _option(OUTPUT, "Write the table of the terms to this CSV file.", "--table")]

Trace = Annotated[Path | None, _option(OUTPUT, "Write the trace, one row a step, to this CSV file.")]
Candidates = Annotated[
    Path | None,
    _option(
        OUTPUT,
        "Write a table of every candidate of every step to this CSV file; how they are computed is --refits.",
        "--candidates",
    ),
]
Report = Annotated[
    Path | None,
    _option(OUTPUT, "Write a report to this file: .html (one page, plots in it), .md or .tex.", "--report"),
]
Json = Annotated[bool, _flag(OUTPUT, "Print one JSON object and nothing else.", "--json")]
