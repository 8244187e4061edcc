"""The small languages of some options: lists of columns, groups, separators that are hard to type."""

from collections.abc import Iterable, Sequence

from stepsel.reading import ReadingError, known_name


def separator(text: str | None) -> str | None:
    """Read ``--sep``: signs that are hard to type have names."""
    names = {"tab": "\t", r"\t": "\t", "space": r"\s+", "whitespace": r"\s+", " ": r"\s+", "comma": ","}
    return names.get(text, text) if text is not None else None


def column_names(values: Iterable[str], known: Sequence[str], path: str) -> list[str]:
    """Read names of columns: a value is one name if there is such a column, and else names between commas.

    Parameters
    ----------
    values : iterable of str
        As given on the command line.
    known : sequence of str
        The columns there are.
    path : str
        The file, for messages.

    Returns
    -------
    list of str
        Each once, in the order given.

    Raises
    ------
    ReadingError
        There is no such column.
    """
    names: list[str] = []
    for value in values:
        parts = [value] if value in known else [part.strip() for part in value.split(",")]
        names += [known_name(part, known, path) for part in parts if part]
    return list(dict.fromkeys(names))


def groups(values: Iterable[str], known: Sequence[str], path: str) -> dict[str, list[str]] | None:
    """Read ``--group name=col,col``; a name given again takes further columns.

    Parameters
    ----------
    values : iterable of str
        As given on the command line.
    known : sequence of str
        The columns there are.
    path : str
        The file, for messages.

    Returns
    -------
    dict or None
        Group name to columns; None when there are no groups.

    Raises
    ------
    ReadingError
        There is no name, or no such column.
    """
    found: dict[str, list[str]] = {}
    for value in values:
        name, equals, columns = value.partition("=")
        if not equals or not name.strip() or not columns.strip():
            raise ReadingError(f"--group {value!r} is not of the form name=COLUMN,COLUMN.")
        found.setdefault(name.strip(), []).extend(column_names([columns], known, path))
    return found or None
