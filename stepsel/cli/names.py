"""The small languages of some options: lists of columns, groups, separators that are hard to type."""

from collections.abc import Iterable, Mapping, Sequence

from stepsel.reading import ReadingError, known_name


def separator(text: str | None) -> str | None:
    """Read ``--sep``: signs that are hard to type have names."""
    names = {"tab": "\t", r"\t": "\t", "space": r"\s+", "whitespace": r"\s+", " ": r"\s+", "comma": ","}
    return names.get(text, text) if text is not None else None


def column_names(values: Iterable[str], known: Sequence[str], path: str, role: str = "column") -> list[str]:
    """Read names of columns: a value is one name if there is such a column, and else names between commas.

    Parameters
    ----------
    values : iterable of str
        As given on the command line.
    known : sequence of str
        The columns there are.
    path : str
        The file, for messages.
    role : str
        What the names are, for messages.

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
        names += [known_name(part, known, path, role) for part in parts if part]
    return list(dict.fromkeys(names))


def term_names(
    option: str,
    values: Iterable[str],
    known: Sequence[str],
    groups: Mapping[str, Sequence[str]] | None,
    taken: Mapping[str, str],
    path: str,
) -> list[str]:
    """Read names of terms: groups, or columns that are candidates.

    Parameters
    ----------
    option : str
        The option they were given with.
    values : iterable of str
        As given on the command line.
    known : sequence of str
        The columns there are.
    groups : mapping or None
        The groups by name.
    taken : mapping
        Column that is no candidate -> why.
    path : str
        The file, for messages.

    Returns
    -------
    list of str
        Each once, in the order given.

    Raises
    ------
    ReadingError
        There is no such term, or the column is no candidate.
    """
    if not groups:
        return usable(option, column_names(values, known, path), taken)
    names = column_names(values, [*groups, *known], path, "column or group")
    usable(option, [name for name in names if name not in groups], taken)
    for group, members in groups.items():
        for name in names:
            if option == "--start" and name in members and name not in groups:  # of --keep the library says it
                raise ReadingError(f"--start: {name!r} belongs to the group {group!r}: start from {group!r}.")
    return names


def usable(option: str, names: list[str], taken: Mapping[str, str]) -> list[str]:
    """Pass names on; refuse a column that is no candidate."""
    for name in names:
        if name in taken:
            raise ReadingError(f"{option}: {name!r} {taken[name]}.")
    return names


def groups(
    values: Iterable[str], known: Sequence[str], taken: Mapping[str, str], path: str
) -> dict[str, list[str]] | None:
    """Read ``--group name=col,col``; a name given again takes further columns.

    Parameters
    ----------
    values : iterable of str
        As given on the command line.
    known : sequence of str
        The columns there are.
    taken : mapping
        Column that is no candidate -> why.
    path : str
        The file, for messages.

    Returns
    -------
    dict or None
        Group name to columns; None when there are no groups.

    Raises
    ------
    ReadingError
        There is no name, no such column, or the column is no candidate.
    """
    found: dict[str, list[str]] = {}
    for value in values:
        name, equals, columns = value.partition("=")
        if not equals or not name.strip() or not columns.strip():
            raise ReadingError(f"--group {value!r} is not of the form name=COLUMN,COLUMN.")
        found.setdefault(name.strip(), []).extend(usable("--group", column_names([columns], known, path), taken))
    return found or None
