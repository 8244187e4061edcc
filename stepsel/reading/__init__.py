"""Files as people have them -> a DataFrame, with every decision said in a plain sentence.

``source`` turns a file into text, ``layout`` finds the table in the text, ``numerals`` reads numbers as
people write them, ``columns`` settles each column, ``delimited`` joins these for text files, ``typed`` reads
files that carry types, ``tidy`` names the columns, ``table`` is the entrance, ``refusals`` says why a column is
not numbers.
"""

from stepsel.reading.columns import is_text as is_words
from stepsel.reading.columns import looks_plain
from stepsel.reading.errors import ReadingError, listed
from stepsel.reading.numerals import is_missing_code
from stepsel.reading.refusals import BY_OPTIONS, WayOut, holds_nothing, numeric_frame
from stepsel.reading.table import Table, known_name, read_table

__all__ = [
    "BY_OPTIONS",
    "ReadingError",
    "Table",
    "WayOut",
    "holds_nothing",
    "is_missing_code",
    "is_words",
    "known_name",
    "listed",
    "looks_plain",
    "numeric_frame",
    "read_table",
]
