"""The command line: ``stepsel select`` and ``stepsel vif``."""

import sys


def main() -> None:
    """Run the command line; the entry point of the ``stepsel`` script."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        print("The command line needs typer and rich: pip install typer rich.", file=sys.stderr)
        sys.exit(2)
    from stepsel.cli.app import app

    app()
