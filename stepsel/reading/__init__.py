"""Files as people have them -> a DataFrame, with every decision said in a plain sentence.

``source`` turns a file into text, ``layout`` finds the table in the text, ``numerals`` reads numbers as
people write them, ``columns`` settles each column, ``delimited`` joins these for text files, ``typed`` reads
files that carry types, ``tidy`` names the columns, ``table`` is the entrance.
"""

from stepsel.reading.columns import is_text as is_words
from stepsel.reading.errors import ReadingError, listed
from stepsel.reading.table import (
    Table,
    drop_option,
    holds_nothing,
    known_name,
    numeric_frame,
    read_table,
)

__all__ = [
    "ReadingError",
    "Table",
    "drop_option",
    "holds_nothing",
    "is_words",
    "known_name",
    "listed",
    "numeric_frame",
    "read_table",
]
