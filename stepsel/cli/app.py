"""The commands and their options; the work is in ``jobs``."""

from inspect import Parameter, Signature, signature
from types import SimpleNamespace
from typing import Annotated

import typer

from stepsel.cli import options as opt
from stepsel.cli.failures import Command, Sentences

app = typer.Typer(
    cls=Sentences,
    name="stepsel",
    help="Stepwise regression: select the columns of a file that explain a target.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


_OWN = ("trace", "candidates", "report", "stability")  # what select writes and stability does not


def _version(wanted: bool) -> None:
    if wanted:
        from stepsel import __version__

        print(f"stepsel {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, metavar="", help="Print the version.")
    ] = False,
) -> None:
    """Stepwise regression: select the columns of a file that explain a target."""


@app.command(cls=Command)
def select(
    file: opt.File,
    target: opt.Target = None,
    time: opt.Time = None,
    status: opt.Status = None,
    event: opt.Event = None,
    direction: opt.DirectionOption = opt.Direction.both,
    criterion: opt.CriterionOption = opt.Criterion.aic,
    family: opt.FamilyOption = opt.Family.gaussian,
    alpha_enter: opt.AlphaEnter = 0.05,
    alpha_remove: opt.AlphaRemove = 0.10,
    test_enter: opt.TestEnter = opt.Test.auto,
    test_remove: opt.TestRemove = opt.Test.auto,
    start: opt.Start = ["auto"],  # noqa: B006
    max_terms: opt.MaxTerms = None,
    max_steps: opt.MaxSteps = None,
    no_intercept: opt.NoIntercept = False,
    refits: opt.RefitsOption = opt.Refits.exact,
    collinearity: opt.CollinearityOption = opt.Collinearity.warn,
    vif_threshold: opt.VifThreshold = 10.0,
    tolerance: opt.Tolerance = 1e-15,
    hierarchy: opt.HierarchyOption = opt.Hierarchy.strong,
    ties: opt.TiesOption = opt.Ties.efron,
    verbose: opt.Verbose = 0,
    keep: opt.Keep = [],  # noqa: B006
    drop: opt.Drop = [],  # noqa: B006
    formula: opt.Formula = None,
    categorical: opt.Categorical = [],  # noqa: B006
    reference: opt.Reference = [],  # noqa: B006
    group: opt.Group = [],  # noqa: B006
    weights: opt.Weights = None,
    weight_type: opt.WeightKind = opt.WeightType.frequency,
    offset: opt.Offset = None,
    exposure: opt.Exposure = None,
    missing: opt.MissingRows = opt.Missing.raise_,
    encoding: opt.Encoding = None,
    sep: opt.Sep = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
    na: opt.Na = [],  # noqa: B006
    sheet: opt.Sheet = None,
    skip_rows: opt.SkipRows = 0,
    no_header: opt.NoHeader = False,
    trace: opt.Trace = None,
    candidates: opt.Candidates = None,
    report: opt.Report = None,
    stability: opt.Stability = 0,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 1,
    as_json: opt.Json = False,
) -> None:
    """Select the columns of FILE that explain --target (cox: --time and --status), step by step."""
    asked = SimpleNamespace(**locals())
    from stepsel.cli.jobs import run_select  # here, so that --help and --version load nothing heavy

    run_select(asked)


def stability(**options: object) -> None:
    """Run the whole selection on resampled rows of FILE, and count how often each term and model is selected."""
    from stepsel.cli.jobs import run_stability

    run_stability(SimpleNamespace(**options))


_OF_SELECT = {name: how for name, how in signature(select).parameters.items() if name not in _OWN}
_OF_STABILITY = {
    "resamples": (opt.Resamples, 1000),
    "method": (opt.MethodOption, opt.Method.bootstrap),
    "fraction": (opt.Fraction, 0.5),
    "table": (opt.TableFile, None),
}
# It takes what select takes, and a few options of its own.
stability.__signature__ = Signature(  # type: ignore[attr-defined]
    [
        *_OF_SELECT.values(),
        *(
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in _OF_STABILITY.items()
        ),
    ]
)
stability.__annotations__ = {name: select.__annotations__[name] for name in _OF_SELECT}
stability.__annotations__ |= {name: kind for name, (kind, _) in _OF_STABILITY.items()}
app.command(cls=Command)(stability)


@app.command(cls=Command)
def vif(
    file: opt.File,
    target: opt.OptionalTarget = None,
    drop: opt.Drop = [],  # noqa: B006
    categorical: opt.Categorical = [],  # noqa: B006
    missing: opt.MissingRows = opt.Missing.raise_,
    encoding: opt.Encoding = None,
    sep: opt.Sep = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
    na: opt.Na = [],  # noqa: B006
    sheet: opt.Sheet = None,
    skip_rows: opt.SkipRows = 0,
    no_header: opt.NoHeader = False,
    as_json: opt.Json = False,
) -> None:
    """Print the variance inflation factor of every column of FILE (--target left out)."""
    asked = SimpleNamespace(**locals())
    from stepsel.cli.jobs import run_vif

    run_vif(asked)
