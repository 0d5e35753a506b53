"""CSV that is written: the one way to it, for files, standard output and the clipboard.

A spreadsheet runs a text as a formula that begins with one of `FORMULA`; an apostrophe before it keeps it text, as
OWASP recommends. Numbers, also those that are given as text, stay as they are. `csv.writer` quotes line breaks only
where they are those of its own line ends.
"""

import re
from collections.abc import Iterable
from typing import Any, Protocol

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_QUOTED = {delimiter: re.compile(f'["\r\n{delimiter}]') for delimiter in (",", "\t")}


class Output(Protocol):
    """Protocol of a text file."""

    def write(self, text: str, /) -> object: ...


class CsvWriter:
    """Writes rows to a text file: texts, numbers, and None for an empty cell."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def row(self, cells: Iterable[Any]) -> None:
        """Write a row."""
        self._out.write(f"{csv_line(cells)}\n")


def csv_text(rows: Iterable[Iterable[Any]], *, delimiter: str = ",") -> str:
    """Return rows as the text of a CSV file; `delimiter` is a comma or a tab."""
    return "".join([f"{csv_line(row, delimiter)}\n" for row in rows])


def csv_line(cells: Iterable[Any], delimiter: str = ",") -> str:
    """Return a row without its line end, also the first cells of a row that goes on with numbers."""
    is_quoted = _QUOTED[delimiter].search
    texts = [cell_text(cell) if isinstance(cell, str) else "" if cell is None else str(cell) for cell in cells]
    return delimiter.join(['"{}"'.format(text.replace('"', '""')) if is_quoted(text) else text for text in texts])


def cell_text(text: str) -> str:
    """Return a text for a cell: with an apostrophe before it where a spreadsheet would run it as a formula."""
    if not text.startswith(FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
