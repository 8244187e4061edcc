"""The one error of this package, and the small phrases its sentences share."""

from collections.abc import Iterable


class ReadingError(ValueError):
    """A file that cannot be read as asked: one sentence with the place, the value and what to do."""


def listed(names: Iterable[object], most: int = 6) -> str:
    """Join names for a sentence; of a long list only the beginning.

    Parameters
    ----------
    names : iterable
        What to list.
    most : int, default 6
        How many to write out.

    Returns
    -------
    str
        Such as ``"a, b and 12 more"``.
    """
    shown = [str(name) for name in names]
    if len(shown) > most + 1:
        return f"{', '.join(shown[:most])} and {len(shown) - most} more"
    return ", ".join(shown)
