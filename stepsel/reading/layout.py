"""Text -> where its table begins, what separates its fields, its header and its first data line."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from stepsel.reading.errors import ReadingError
from stepsel.reading.numerals import is_missing_code, looks_numeric
from stepsel.reading.source import TextFile

WHITESPACE = r"\s+"
SEPARATORS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'", WHITESPACE: "white space"}
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
SAMPLE_RECORDS = 200
HEAD = 1 << 18


@dataclass(frozen=True)
class Record:
    """One record: its fields, the number of its first line, and where its last line ends in the text."""

    fields: list[str]
    line: int
    end: int


@dataclass
class Layout:
    """What the beginning of a text file says about the table in it."""

    sep: str
    header: list[str]
    start: int  # position in the text of the first data record
    line: int  # number of that record's first line
    sample: list[list[str]]
    notes: list[str] = field(default_factory=list)


def records(text: str, sep: str, start: int = 0, line: int = 1) -> Iterator[Record]:
    """Split text into records, blank lines left out, as the fast parser does.

    Parameters
    ----------
    text : str
        The text of the file.
    sep : str
        One character, or ``WHITESPACE``.
    start, line : int
        Position in the text, and its line number, at which to begin.

    Yields
    ------
    Record
        In the order of the file.
    """
    spot = start

    def lines() -> Iterator[str]:
        nonlocal spot
        for match in LINE.finditer(text, start):
            spot = match.end()
            yield " ".join(match[0].split()) + "\n" if sep == WHITESPACE else match[0]

    delimiter = " " if sep == WHITESPACE else sep
    reader = csv.reader(lines(), delimiter=delimiter, skipinitialspace=True)
    first = 0
    try:
        for fields in reader:
            if fields and (len(fields) > 1 or fields[0].strip()):
                yield Record(fields, line + first, spot)
            first = reader.line_num
    except csv.Error as error:
        raise ReadingError(f"line {line + first} cannot be read as a record: {error}.") from error


def find_layout(file: TextFile, sep: str | None = None, skip_rows: int = 0, header: bool = True) -> Layout:
    """Find the table in a text file.

    Parameters
    ----------
    file : TextFile
        The file.
    sep : str or None
        The separator as declared; None to find it.
    skip_rows : int
        Lines to leave out at the beginning.
    header : bool
        Whether the first record holds the column names.

    Returns
    -------
    Layout
        With notes on everything that was left out or assumed.

    Raises
    ------
    ReadingError
        Nothing but a header, one column only, numbers where the names should be.
    """
    text, path = file.text, file.path
    start, line, declared, notes = _preamble(text, skip_rows)
    chosen = sep or declared or _find_separator(text, start)
    if chosen != "," and not (sep or declared):
        notes.append(f"Fields are separated by {SEPARATORS.get(chosen, repr(chosen))}.")
    found = list(islice(records(_head(text, start), chosen, 0, line), SAMPLE_RECORDS))
    if not found:
        raise ReadingError(f"{path} holds no table.")
    names, body = _split_header(found, header)
    if header and names[0].startswith("#"):  # a header that is written as a comment
        names[0] = names[0].lstrip("# ")
        notes.append("The # before the header was left out.")
    _check_header(found, names, path, chosen, declared_sep=sep, has_header=header)
    if header and not body:
        raise ReadingError(f"{path} has a header and no data.")
    layout = Layout(chosen, names, start, line, [record.fields for record in body], notes)
    if header:
        layout.start, layout.line = start + found[0].end, body[0].line
    layout.header = _match_header(layout)
    if _is_units_row(layout.sample):
        units = ", ".join(filter(str.strip, layout.sample[0]))
        notes.append(f"Line {layout.line} holds units, not data, and was left out ({units}).")
        layout.sample = layout.sample[1:]
        layout.start, layout.line = start + body[0].end, body[1].line
    return layout


def _head(text: str, start: int) -> str:
    """Cut the beginning of the table, ending with a whole line."""
    head = text[start : start + HEAD]
    if len(head) < HEAD:
        return head
    return head[: max(head.rfind("\n"), head.rfind("\r")) + 1] or head


def _preamble(text: str, skip_rows: int) -> tuple[int, int, str | None, list[str]]:
    """Step over declared lines, comment lines and Excel's ``sep=`` line."""
    start, line, sep, comments = 0, 1, None, 0
    notes = []
    if skip_rows:
        for match in islice(LINE.finditer(text), skip_rows):
            start, line = match.end(), line + 1
        notes.append(f"The first {skip_rows} line{'s' * (skip_rows > 1)} left out as asked.")
    for match in LINE.finditer(text, start):
        raw = match[0]
        declared = re.match(r'"?sep=(.)"?[\s,;|]*$', raw, flags=re.IGNORECASE | re.DOTALL)
        if declared and sep is None:
            sep = declared[1]
            notes.append(f"Line {line} declares the separator ({SEPARATORS.get(sep, repr(sep))}) and was left out.")
        elif raw.startswith("#") and not _is_commented_header(raw, LINE.match(text, match.end())):
            comments += 1
        elif raw.strip():
            break
        start, line = match.end(), line + 1
    if comments:
        notes.append(f"{comments} comment line{'s' * (comments > 1)} at the beginning left out.")
    return start, line, sep, notes


def _is_commented_header(raw: str, following: re.Match[str] | None) -> bool:
    """``#id,age`` over ``1,54`` is a header; ``# exported, 2024`` over ``id,age`` is a comment."""
    for sep in (",", ";", "\t", "|"):
        names = raw.rstrip("\r\n").split(sep)
        values = following[0].rstrip("\r\n").split(sep) if following else []
        if len(names) == len(values) > 1:
            return any(map(looks_numeric, values)) and not any(map(looks_numeric, names))
    return False


def _find_separator(text: str, start: int) -> str:
    """Take the separator that cuts all records of the beginning alike; of several, the one that cuts most."""
    head = _head(text, start)
    scores = []
    for sep in SEPARATORS:
        try:
            counts = [len(record.fields) for record in islice(records(head, sep), 50)]
        except ReadingError:
            continue
        if counts and counts[0] > 1:
            alike = sum(abs(count - counts[0]) <= 1 for count in counts) / len(counts)
            exact = len(set(counts)) == 1
            scores.append((exact and sep != WHITESPACE, sep != WHITESPACE, alike, counts[0], sep))
    return max(scores)[-1] if scores else ","


def _split_header(found: list[Record], header: bool) -> tuple[list[str], list[Record]]:
    if header:
        return [re.sub(r"\s*[\r\n]+\s*", " ", name) for name in found[0].fields], found[1:]
    return [f"column_{position}" for position in range(1, len(found[0].fields) + 1)], found


def _check_header(
    found: list[Record],
    names: list[str],
    path: str,
    sep: str,
    declared_sep: str | None,
    has_header: bool,
) -> None:
    if len(names) == 1:
        other = next((known for known in SEPARATORS if known != WHITESPACE and known in names[0]), None)
        if declared_sep and other:
            raise ReadingError(
                f"{path} has a single column when split at {SEPARATORS.get(sep, repr(sep))}: "
                f"its header holds {SEPARATORS[other]}, so give that with --sep."
            )
        raise ReadingError(f"{path} has a single column ({names[0].strip()[:40]!r}): {_where_it_begins(found)}.")
    if has_header and all(looks_numeric(name) for name in names) and any("." in name for name in names):
        raise ReadingError(
            f"{path} has numbers where the column names should be ({', '.join(names[:3])}, ...): "
            "add a header line, or use --no-header to name them column_1, column_2, ..."
        )


def _where_it_begins(found: list[Record]) -> str:
    """Advise on a first line without separators: often it is a title over the table."""
    for record in found:
        line = ",".join(record.fields)
        if any(line.count(sep) for sep in (",", ";", "\t", "|")):
            return f"if the table begins on line {record.line}, use --skip-rows {record.line - 1}"
    return "name its separator with --sep"


def _match_header(layout: Layout) -> list[str]:
    """Give a header the width of its rows: trailing separators, or row names without a name of their own."""
    names, widths = layout.header, {len(fields) for fields in layout.sample}
    if len(widths) != 1:
        return names
    (width,) = widths
    if width == len(names) + 1:
        if all(not fields[-1].strip() for fields in layout.sample):
            return [*names, ""]
        if _are_row_names([fields[0].strip() for fields in layout.sample]):
            return ["", *names]
    while len(names) > width and not names[-1].strip():
        names = names[:-1]
    return names


def _are_row_names(labels: list[str]) -> bool:
    """Whether cells are labels or counted rows; other numbers rather come from decimal commas between commas."""
    if len(set(labels)) < len(labels):
        return False
    counted = [str(number) for number in range(1, len(labels) + 1)]
    return (labels == counted and len(labels) > 2) or not any(map(looks_numeric, labels))


def _is_units_row(sample: list[list[str]]) -> bool:
    """Whether the first row is text over columns that hold numbers and nothing else."""
    if len(sample) < 2 or len({len(fields) for fields in sample}) != 1:
        return False
    first, rest = sample[0], sample[1:]
    units = [position for position, cell in enumerate(first) if cell.strip() and not is_missing_code(cell)]
    if not units or any(looks_numeric(cell) for cell in first):
        return False
    for position in units:
        cells = [fields[position] for fields in rest]
        values = [cell for cell in cells if cell.strip() and not is_missing_code(cell)]
        if not values or not all(map(looks_numeric, values)):
            return False
    return True


def check_widths(file: TextFile, layout: Layout) -> None:
    """Raise the sentence that names the first record with too few or too many fields.

    Parameters
    ----------
    file : TextFile
        The file.
    layout : Layout
        The layout found at its beginning.

    Raises
    ------
    ReadingError
        When there is such a record.
    """
    width = len(layout.header)
    for record in records(file.text, layout.sep, layout.start, layout.line):
        if len(record.fields) != width:
            count = f"{len(record.fields)} field{'s' * (len(record.fields) != 1)}"
            way = "correct the line, or see --skip-rows and --sep"
            if any("\n" in value for value in record.fields):
                way = "a quote that opens there does not close"
            raise ReadingError(f"{file.path}, line {record.line}, has {count} where the header has {width}: {way}.")
