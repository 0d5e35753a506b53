"""CSV tables with a header."""

from engine.core.fields import Choice, Text
from engine.core.records import Record
from engine.project.sources.base import Guess, Peek, SourceType


class TableOptions(Record):
    """Options of tables alone."""

    missing_values = Choice(
        "refuse",
        options=("refuse", "leave-out"),
        notes={
            "refuse": "A table with a cell that is empty, or holds no number among numbers, is an error that names it",
            "leave-out": "Rows are left out in which a cell is empty, NA, N/A, NaN, null or ?",
        },
        group="Source",
        help="How rows with missing values are handled. Default refuse. MATLAB: rmmissing removes such rows; torch"
        " has no tables",
    )
    left_out = Text(
        "",
        label="Columns left out",
        group="Source",
        help="Columns that are neither input nor response, separated by commas, such as the number of a row. Default "
        "none. Columns without a name always are",
    )


class Table(SourceType):
    """Rows of a CSV file."""

    key, label = "table", "CSV table"
    note = "A CSV table with a header and a response column"
    wanted = "the CSV file"
    inputs = "the other columns of a CSV file, as one vector"
    targets = "one or more columns (`response`: `price, kind`)"
    options = TableOptions
    uses = ("path", "response", "task")
    suffixes, files = (".csv", ".tsv", ".txt"), "Tables"
    reader = "engine.data.sources.table:Table"
    reads = "columns"
    bytes_per_number = 16  # read and kept in double precision

    def guess(self, peek: Peek) -> Guess | None:
        """Return a guess for texts whose first lines have the same number of cells."""
        if peek.is_folder or peek.suffix not in self.suffixes or b"\0" in peek.head:
            return None
        lines = peek.head.decode("utf-8-sig", errors="replace").splitlines()[:20]
        first = lines[0] if lines else ""
        separator = max(",;\t", key=first.count)
        count = first.count(separator) + 1
        if count < 2:
            return Guess(self.key, 0.3, "By its suffix the file is a table, but its first line has one cell only")
        names = [name.strip().strip('"') for name in first.split(separator)]
        shown = ", ".join(name[:40] for name in names[:4]) + (" and more" if count > 4 else "")
        how = {",": "commas", ";": "semicolons", "\t": "tabs"}[separator]
        return Guess(self.key, 0.9, f"The first line names {count:,} columns, separated by {how}: {shown}")
