"""Tables: CSV with a header, Excel sheets, JSON records, and Parquet."""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from netwright.engine.core.fields import Choice, ColumnNames, quoted
from netwright.engine.core.records import Record
from netwright.engine.project.sources.converted_tables import CONVERTED, PLAIN, as_csv, is_workbook
from netwright.engine.project.sources.csv_dialect import LEAST_ROWS, Beginning
from netwright.engine.project.sources.number_texts import is_number_like
from netwright.engine.project.sources.source_type import Guess, Peek, SourceType

if TYPE_CHECKING:
    from netwright.engine.project.data import DataOptions

PARQUET = (".parquet", ".pq")
TABLES = (*PLAIN, *CONVERTED)
"""Suffixes of what is read as a CSV table."""
LONG_BYTES = 2**30
"""Size from which a CSV file is read from disk row by row; smaller ones, too, where memory is short."""
MEMORY_PER_BYTE, MOST_OF_FREE = 5, 0.5
"""Memory that a byte of a CSV file takes while it is read, at most, and the fraction of the free memory for that."""


class TableOptions(Record):
    """Options of tables alone."""

    missing_values = Choice(
        "auto",
        options=("auto", "impute", "leave-out", "refuse"),
        words={
            "auto": "Automatic",
            "impute": "Fill in",
            "leave-out": "Leave the rows out",
            "refuse": "Stop with an error",
        },
        notes={
            "auto": "As impute where a column has missing values; a column without any value is left out, too",
            "impute": "Missing values of inputs become one fitted on the training rows, also in new rows; rows without "
            "a response are left out",
            "leave-out": "Rows are left out in which a cell is empty, NA, N/A, NaN, null, -, . or ?",
            "refuse": "A table with such a cell is an error that names it",
        },
        group="Source",
        help="How rows with missing values are handled. Default auto. MATLAB: rmmissing removes such rows,"
        " fillmissing fills them; torch has no tables",
    )
    impute_numbers = Choice(
        "mean",
        options=("mean", "median"),
        group="Source",
        help="Value of missing numbers, of the training rows. Default mean. Dates get the median. scikit-learn: "
        "SimpleImputer",
        visible_when=lambda options: options.missing_values in ("auto", "impute"),
    )
    impute_texts = Choice(
        "category",
        options=("category", "most-frequent"),
        words={"category": "A category of its own", "most-frequent": "Most frequent"},
        notes={
            "category": "A category of its own, (missing)",
            "most-frequent": "The most frequent category of the training rows",
        },
        group="Source",
        help="Category of missing texts. Default category",
        visible_when=lambda options: options.missing_values in ("auto", "impute"),
    )
    category_encoding = Choice(
        "one-hot",
        options=("one-hot", "indices"),
        words={"one-hot": "One-hot", "indices": "Indices"},
        notes={
            "one-hot": "One number of 0 or 1 per category, with the numbers in one vector; of more than 50 categories "
            "the most frequent ones, and a column whose texts nearly all differ is left out",
            "indices": "Each column of texts is an input of its own, of one index for an embedding; 0 is any category "
            "that training does not have",
        },
        group="Source",
        help="How columns of texts become inputs. Default one-hot. MATLAB: CategoricalInputEncoding",
    )
    dates = Choice(
        "all",
        options=("all", "calendar", "elapsed", "texts"),
        words={
            "all": "Parts and days",
            "calendar": "Parts of the date",
            "elapsed": "Days since the first",
            "texts": "Texts",
        },
        notes={
            "all": "The parts of calendar and elapsed, as far as the dates have them",
            "calendar": "Year, month, day of the week (Monday is 1), and the hour where the column has times",
            "elapsed": "Days since the first date of the training rows, with fractions",
            "texts": "Categories, as other texts",
        },
        label="Dates",
        group="Source",
        help="Numbers that columns of dates become, such as 2024-01-31, 31.01.2024, 2024-01 or 31-Jan-2024 23:59. "
        "Default all",
    )
    left_out = ColumnNames(
        "",
        label="Columns left out",
        group="Source",
        help="Columns that are neither input nor response, separated by commas, such as the number of a row. Default "
        "none. Columns without a name always are",
    )


RESPONSES = frozenset(
    {"label", "labels", "target", "targets", "class", "y", "outcome", "response", "标签", "类别", "目标", "结果"}
    | {"species", "variety", "diagnosis", "survived", "churn", "attrition", "sentiment", "emotion", "saleprice", "medv"}
)
"""Names of columns, in lower case, that are what a table is about wherever they stand; else the last column is."""
MOST_CLASSES = 20
_ROW_NUMBER = re.compile(r"(?i:(.*[ _])?(id|index)|unnamed: 0|no\.?)|.*[a-z]I[dD]")
"""A name of a column that numbers or names the rows: `id`, `row_id`, `PassengerId`."""


def response_of(table: Beginning, usual_names: Collection[str] = RESPONSES) -> str:
    """Return the column that a table is about, by its first rows, where it is not the last one: one with a usual name,
    the last one that has values other than texts that all differ, or without a header the first where it holds few
    whole numbers from 0 or 1 on, and the last holds many numbers."""
    names = table.dialect.names
    filled = [place for place, name in enumerate(names) if name and (_can_tell(table.column(place)) or not table.rows)]
    usual = [place for place in filled if names[place].lower() in usual_names]
    if not filled or len(usual) > 1:
        return ""
    place = usual[0] if usual else filled[-1]
    if not table.dialect.has_header and not usual and filled[0] == 0 and _are_classes(table.column(0)):
        last = set(table.column(place))
        place = 0 if len(last) > MOST_CLASSES and all(map(is_number_like, last)) else place
    return names[place] if place != len(names) - 1 else ""


def _can_tell(cells: Sequence[str]) -> bool:
    """Return whether cells can be responses: there are some, and they are no names of the rows."""
    is_short = len(cells) <= MOST_CLASSES
    return bool(cells) and (is_short or len(set(cells)) < len(cells) or all(map(is_number_like, cells)))


def _are_classes(cells: Sequence[str]) -> bool:
    """Return whether cells are few whole numbers from 0 or 1 on, each of them twice on average."""
    values = set(cells)
    if not 2 <= len(values) <= len(cells) / 2 or not all(map(str.isdecimal, values)):
        return False
    numbers = set(map(int, values))
    return min(numbers) in (0, 1) and max(numbers) <= MOST_CLASSES


def row_numbers_of(table: Beginning) -> list[str]:
    """Return the columns of whole numbers, all different, whose names say that they number the rows; none where fewer
    than two others would be left."""
    places = [place for place, name in enumerate(table.dialect.names) if _ROW_NUMBER.fullmatch(name)]
    cells = {place: table.column(place) for place in places}
    numbers = [
        table.dialect.names[place]
        for place, values in cells.items()
        if len(values) > LEAST_ROWS and len(set(values)) == len(values) and all(map(str.isdecimal, values))
    ]
    return numbers if sum(map(bool, table.dialect.names)) - len(numbers) > 1 else []


def sentences(response: str, numbers: Sequence[str] = ()) -> Iterator[str]:
    """Yield sentences, without their points, on the response and the columns left out that a guess sets."""
    if response:
        yield f"Column {quoted(response)} is the response"
    if numbers:
        yield f"Left out, since it numbers the rows: {', '.join(numbers)}"


CLASS_NAMES = ("category", "class", "label", "labels", "target")
"""Names of columns, in lower case, that hold the class of a file beside its name."""


class Table(SourceType):
    """Rows of a CSV file, an Excel sheet, a Parquet file or JSON records."""

    key, label = "table", "Table"
    note = "A CSV table, Excel sheet, Parquet file or JSON records, with a response column"
    wanted = "the CSV, Excel or Parquet file"
    inputs = "the other columns of a CSV file, Excel sheet, Parquet file or JSON records, as one vector"
    targets = "one or more columns (`response`: `price, kind`)"
    options = TableOptions
    uses = (
        "path",
        "sheet",
        "response",
        "task",
        "text_encoding",
        "decimal_mark",
        "date_order",
        "split_column",
        "loading",
    )
    suffixes, files = (*TABLES, *PARQUET), "Tables"
    reader = "netwright.engine.data.sources.table_reader:Table"
    reads = "columns"
    bytes_per_number = 16  # read and kept in double precision
    can_stream = True
    streamed = (
        "rows of Parquet files, of CSV files from 1 GiB on or a tenth of the free memory, and with `loading=stream`, "
        "which are converted once, into the cache folder"
    )
    resident = "responses; smaller CSV files as a whole"

    def reader_for(self, options: "DataOptions", path: Path, free_bytes: int) -> str:
        """Return the reader of tables in memory, or of those that are read from disk."""
        if path.suffix.lower() in PARQUET or options.loading == "stream":
            return "netwright.engine.data.sources.disk_table:DiskTable"
        try:
            most = min(LONG_BYTES, free_bytes * MOST_OF_FREE / MEMORY_PER_BYTE)
            is_long = options.loading == "auto" and path.stat().st_size >= most
        except OSError:  # the reader says what is wrong
            is_long = False
        return "netwright.engine.data.sources.disk_table:DiskTable" if is_long else self.reader

    def guess(self, peek: Peek) -> Guess | None:
        """Return a guess for Parquet files, and for texts whose first line has several cells."""
        if peek.suffix in PARQUET and peek.head.startswith(b"PAR1"):
            return Guess(self.key, 0.95, "It begins as Parquet files do: a table with named columns")
        if peek.is_folder or peek.suffix not in self.suffixes or not peek.text:
            return None
        table = peek.table
        names = [name for name in table.dialect.names if name]
        if len(table.dialect.names) < 2:
            return Guess(self.key, 0.3, "By its suffix the file is a table, but its first line has one cell only")
        listed = ", ".join(name[:40] for name in names[:4]) + (" and more" if len(names) > 4 else "")
        has_blanks = peek.suffix in PLAIN and as_csv(peek.path).path != peek.path
        sign = " " if has_blanks else table.dialect.delimiter
        how = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}.get(sign, f"the sign {sign}")
        line = "The first line names" if table.dialect.has_header else "The lines have"
        response, numbers = response_of(table), row_numbers_of(table)
        options = {"response": response, "left_out": ", ".join(numbers)}
        options = {name: value for name, value in options.items() if value}
        listed += "".join(f". {sentence}" for sentence in sentences(response, numbers))
        if peek.suffix in CONVERTED:
            kind = "a sheet" if is_workbook(peek.suffix) else "records"
            return Guess(self.key, 0.9, f"The file holds {kind} with {len(names):,} columns: {listed}", options)
        return Guess(self.key, 0.9, f"{line} {len(names):,} columns, separated by {how}: {listed}", options)
