"""``stepsel select --formula``: the terms of a formula instead of the columns of the file."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from stepsel.cli.factors import asked_factors, levels
from stepsel.cli.roles import refuse_missing
from stepsel.reading import ReadingError, Table, is_words, known_name

_INSTEAD = {
    "target": "write the target on the left of ~",
    "time": "write Surv(time, status) on the left of ~",
    "status": "write Surv(time, status) on the left of ~",
    "group": "write the terms as they are to enter",
    "drop": "write '- NAME' in the formula",
    "no_intercept": "write '- 1' in the formula",
}


class Asked:
    """A selection by formula: what it explains, with which data.

    Parameters
    ----------
    table : Table
        A file that was read.
    asked : SimpleNamespace
        The options of the command by name.

    Raises
    ------
    ReadingError
        An option does not go with a formula, a column is not there, text is not declared, or values are missing.
    """

    def __init__(self, table: Table, asked: SimpleNamespace) -> None:
        from stepsel.model_terms.parsing import parse, quoted, variables_of, with_quotes

        for option, instead in _INSTEAD.items():
            if getattr(asked, option):
                name = option.replace("_", "-")
                raise ReadingError(f"--{name} does not go with --formula: {instead}.")
        frame = table.frame
        self.formula = with_quotes(asked.formula, frame.columns)
        self.weights, self.offset, taken = _vectors(table, asked)
        columns = [name for name in frame.columns if name not in taken]
        head = parse(self.formula, "0")
        left = set() if head.response is None else {head.response.text} | variables_of(head.response.text)
        dotted = [name for name in columns if name not in left]
        parsed = parse(self.formula, " + ".join(quoted(name) for name in dotted))
        variables = {variable for term in parsed.terms for variable in term.variables}
        plain = [variable.text for variable in variables if variable.lookup]
        inside = set().union(*(variables_of(variable.text) for variable in variables if not variable.lookup))
        self.used = [name for name in columns if name in {*plain, *inside, *left}]
        factors = asked_factors(asked, table)
        self.categorical = factors.among(table, [name for name in columns if name in plain])
        for name in plain:
            if name in columns and name not in self.categorical and is_words(frame[name]):
                raise ReadingError(
                    f"{table.path}: column {name!r} of the formula holds text: declare it with --categorical {name!r}, "
                    f"or write C({name}) in the formula."
                )
        self.frame = frame[columns].assign(**levels(table, [name for name in self.used if is_words(frame[name])]))
        self.notes = factors.note(self.frame)
        if asked.missing == "raise":
            refuse_missing(table, self.frame[self.used])

    def select(self, parameters: dict[str, Any]) -> Any:
        """Run the selection."""
        from stepsel import stepwise

        parameters = parameters | {"categorical": self.categorical or None}
        for name in ("groups", "fit_intercept"):  # a formula says these itself
            parameters.pop(name)
        return stepwise(
            self.formula, self.frame, sample_weight=self.weights, offset=self.offset, context={}, **parameters
        )


def _vectors(table: Table, asked: SimpleNamespace) -> tuple[pd.Series | None, pd.Series | None, set[str]]:
    """Return weights and offset, and the columns that they come from."""
    from stepsel.cli.roles import taken_columns, used_offset

    used = taken_columns(table, asked, ("weights", "offset", "exposure"))
    for name, column in used.items():
        if column.isna().any():
            known_name(str(column.name), table.frame.columns, table.path, name)
            row = int(np.argmax(column.isna().to_numpy()))
            raise ReadingError(f"{table.path}: --{name} {column.name!r} is missing: {table.place(row)} is blank.")
    return used.get("weights"), used_offset(table, used, asked), {str(column.name) for column in used.values()}
