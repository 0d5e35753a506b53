"""A CSV file as rows of cells: read once for numbers, and again where there are texts or errors."""

import csv
import os
from codecs import getincrementaldecoder
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial, reduce
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TextIO

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean, plural
from netwright.engine.core.fields import quoted
from netwright.engine.core.progress import report
from netwright.engine.core.text import format_bytes
from netwright.engine.data.sources.source import Array, free_memory, listed, refuse_too_large, unreadable
from netwright.engine.data.tables import arrow_cells
from netwright.engine.project.sources import csv_dialect
from netwright.engine.project.sources.converted_tables import as_csv, refuse_formulas
from netwright.engine.project.sources.csv_dialect import Written
from netwright.engine.project.sources.number_texts import is_missing

PIECE_ROWS = 20_000
PIECE_CELLS = 2_000_000
BLOCK_BYTES = 2**20
"""Bytes that pyarrow reads at once."""
MOST_COLUMNS = 100_000
ROW_LIMIT = 2**24
"""Limit of the characters per row: such a row has a hundred times the columns of the widest tables."""
CELL_BYTES = 16
"""Bytes per cell: a float64, twice while columns are concatenated from pieces."""
SNIFFED_LINES = 1000
"""Number of lines in which the separator is looked for."""
HEAD_BYTES = 2**20
"""Bytes by which the encoding is found, and the number of rows is estimated."""
BLANK = frozenset({"\n", "\r", "\r\n"})
EXPECTED = "a CSV table: text with a header line and the same number of cells in each line"
DIGITS = "0123456789"
Gaps = Literal["refuse", "leave-out", "keep"]

csv.field_size_limit(ROW_LIMIT)  # a header is one cell for each separator but its own


class CsvFile:
    """Text of a CSV file: its encoding, its dialect, and its lines as rows of cells."""

    def __init__(self, path: Path, written: Written) -> None:
        """Read the first rows. `written`: what the options say about the file. Raises `UserError`."""
        self.path = path
        self._source = as_csv(path, written.sheet)
        self.has_quotes = True
        """Whether cells may hold line breaks; false once all lines have been counted and hold no quote."""
        self.longest_line = 0
        """Bytes of the longest line, once all have been counted."""
        self._checks_lines = True
        self.encoding = self._encoding(written)
        self.dialect = self._dialect(written.decimal)

    def _encoding(self, written: Written) -> str:
        """Return the encoding that the options name, or that the first bytes show. Raises `UserError`."""
        with self._reading(), open(self._source.path, "rb") as file:
            head = file.read(HEAD_BYTES)
        if not head.strip():
            raise UserError(f"{self.path} is empty. Expected {EXPECTED}.")
        encoding = csv_dialect.encoding_of(head)
        if written.encoding and self._source.path == self.path and (encoding or written.encoding == "utf-16"):
            return written.encoding
        if not encoding:
            raise UserError(f"{self.path} is no text: it holds zero bytes. Expected {EXPECTED}.")
        return encoding

    def _dialect(self, decimal: str) -> csv_dialect.Dialect:
        """Return the dialect of the table. Raises `UserError`."""
        with self._reading(), self._opened() as file:
            lines = iter(partial(file.readline, ROW_LIMIT + 1), "")
            first = next((line for line in islice(lines, SNIFFED_LINES) if line not in BLANK), "")
        return csv_dialect.dialect_of(lambda delimiter: self.cells(delimiter, SNIFFED_LINES), first[:100], decimal)

    def _opened(self) -> TextIO:
        # The mark of the byte order tells the order only where the encoding leaves it open.
        return open(self._source.path, encoding=csv_dialect.codec_of(self.encoding), newline="")

    def count_lines(self, *, is_open: bool) -> int:
        """Return the number of lines of the file, at most; where the encoding `is_open`, take that of all bytes. Raises
        `UserError` for a line too long for memory."""
        lines, length, longest, has_quotes = 0, 0, 0, False
        decoder = getincrementaldecoder("utf-8")() if is_open and self.encoding == "utf-8" else None
        with self._reading(), open(self._source.path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            while block := file.read(2**20):
                report(file.tell(), size, "bytes")
                if decoder is not None and not block.isascii():
                    try:
                        decoder.decode(block)
                    except UnicodeDecodeError:
                        self.encoding, decoder = csv_dialect.encoding_of_system(block), None
                has_quotes = has_quotes or b'"' in block
                lines += max(block.count(b"\n"), block.count(b"\r"))
                block = block.replace(b"\r", b"\n")
                ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
                ends = np.concatenate(([-length - 1], ends))  # the first line began before this block
                length = len(block) - 1 - int(ends[-1])
                longest = max(longest, int(np.diff(ends).max(initial=1)) - 1, length)
                if length > ROW_LIMIT:
                    raise self._too_long()
        self.has_quotes, self.longest_line, self._checks_lines = has_quotes, longest, False
        return lines + (length > 0)

    def _too_long(self) -> UserError:
        return UserError(f"{self.path} has a row of more than {ROW_LIMIT:,} characters. Expected {EXPECTED}.")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Context that turns errors while reading into `UserError`."""
        try:
            yield
        except UnicodeError as error:
            byte = f" (byte {error.object[error.start]:#04x})" if isinstance(error, UnicodeDecodeError) else ""
            raise UserError(
                f"{self.path} is not {self.encoding} text{byte}. Expected {EXPECTED}. Choose its encoding "
                "(data.text_encoding), or save it with UTF-8."
            ) from None
        except csv.Error as error:
            raise UserError(f"{self.path} is no table: {error}. Expected {EXPECTED}.") from None
        except OSError as error:
            raise unreadable(self.path, error) from None

    def cells(self, delimiter: str, most_lines: int | None = None) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number on which each row ends, and its cells, of the first `most_lines`.

        Blank lines are skipped before they are parsed, unless they are part of a quoted cell.
        """
        with self._reading(), self._opened() as file:
            length, number, quotes = 0, 0, 0

            def lines() -> Iterator[str]:
                nonlocal length, number, quotes
                # A line of a file whose lines were not measured may be longer than memory.
                every = iter(partial(file.readline, ROW_LIMIT + 1), "") if self._checks_lines else file
                for line in islice(every, most_lines):
                    number += 1
                    if line in BLANK and quotes % 2 == 0:
                        continue
                    quotes += line.count('"')
                    length += len(line)
                    if length > ROW_LIMIT:  # quoted cells go on over lines
                        raise self._too_long()
                    yield line

            for row in csv.reader(lines(), delimiter=delimiter):
                length = 0
                if row:
                    yield number, row

    @property
    def decimal(self) -> str:
        """The decimal mark."""
        return self.dialect.decimal

    @property
    def shown_decimal(self) -> str:
        """The decimal mark that the first rows show; empty where they do not."""
        return self.dialect.decimal if self.dialect.is_decimal_certain else ""


class CsvTable(CsvFile):
    """Table in a file. `dialect` says how it is written, `names` are the columns that are read."""

    unit = "line"

    def __init__(
        self,
        path: Path,
        without: Sequence[str],
        missing: Gaps = "refuse",
        *,
        written: Written | None = None,
        least_columns: int = 2,
        counts_lines: bool = True,
        is_held: bool = True,
    ) -> None:
        """Read the header, and count the lines unless told otherwise. `least_columns`: columns that must be left.

        Raises `UserError`, at once where memory is short for a table of this size that `is_held` in it.
        """
        super().__init__(path, written := written or Written())
        self.least_columns = least_columns
        self.missing = missing
        self.header = header = self._header()
        self.width = len(header)
        self.places = self._kept(header, without)
        self.names = tuple(header[place] for place in self.places)
        self.without = tuple(name for name in header if name in without)
        self.nameless = tuple(place + 1 for place, name in enumerate(header) if not name)
        self.gaps = self.most_rows = 0
        if counts_lines:
            refuse_formulas(self._source.unsaved, self.names, self.path)
            if is_held:
                self._refuse_too_long()
            self.most_rows = max(0, self.count_lines(is_open=not written.encoding) - self.dialect.first_line)
            cells = f"The {self.most_rows * len(self.names):,} cells of {path}"
            needed = self.most_rows * len(self.names) * CELL_BYTES if is_held else 0
            refuse_too_large(needed, cells, "Use fewer rows or columns.")

    def _refuse_too_long(self) -> None:
        """Raise `UserError` where the first bytes tell that the table does not fit into memory."""
        size = self._source.path.stat().st_size
        if size <= HEAD_BYTES:
            return
        with self._reading(), open(self._source.path, "rb") as file:
            lines = file.read(HEAD_BYTES).count(b"\n")
        needed = int(lines * (size / HEAD_BYTES) * len(self.names) * CELL_BYTES)
        if needed > free_memory():
            subject = f"{self.path} has {format_bytes(size)}; its about {int(lines * (size / HEAD_BYTES)):,} rows"
            refuse_too_large(needed, subject, "Use fewer rows or columns, or a Parquet file.")

    # ---- columns ----

    def _header(self) -> tuple[str, ...]:
        names = self.dialect.names
        if not names:
            raise UserError(f"{self.path} is empty. Expected {EXPECTED}.")
        if len(names) < self.least_columns:
            raise UserError(
                f"{self.path} has one column only, {quoted(names[0])}. Expected at least two, separated by comma, "
                "semicolon or tab: inputs and a response."
            )
        if len(names) > MOST_COLUMNS:
            raise UserError(f"{self.path} has {len(names):,} columns; at most {MOST_COLUMNS:,} are taken.")
        names_before: set[str] = set()
        for index, name in enumerate(names):
            if not name:
                continue
            if not name.isprintable():
                raise UserError(
                    f"Column {index + 1} of {self.path} has the name {quoted(name)}, which is not printable. Rename it."
                )
            if name in names_before:
                raise UserError(f"Two columns of {self.path} have the name {quoted(name)}. Rename one of them.")
            names_before.add(name)
        return names

    def _kept(self, header: Sequence[str], without: Sequence[str]) -> tuple[int, ...]:
        """Return the indices of the columns that are read.

        Columns without a name are skipped: row numbers that programs write, or a separator at the end of each line.
        """
        for name in without:
            if name not in header:
                hint = did_you_mean(name, header)
                names = listed([name for name in header if name], 20)
                raise UserError(
                    f"{self.path} has no column {quoted(name)} to leave out.{hint} Its columns are: {names}."
                )
        places = tuple(place for place, name in enumerate(header) if name and name not in without)
        if len(places) < self.least_columns:
            expected = "two: inputs and a response" if self.least_columns == 2 else "one"
            raise UserError(
                f"{plural(len(places), 'column')} of {self.path} would be left. Expected at least {expected}. Leave "
                "out fewer columns, and give those without a name one in the header line."
            )
        return places

    # ---- rows ----

    def batches(self, texts: Collection[str] | None = None) -> Iterator[Any]:
        """Yield rows as batches of pyarrow, whose columns are cells as they stand in the file. Raises `UserError`.

        Columns other than `texts` may come as float64 behind the first rows, null where a value is missing.
        Where pyarrow gives up, at a row of another width, `rows` goes on, which knows what may be and names the line.
        """
        import pyarrow

        count = 0
        try:
            for batch in self._quick_batches() if texts is None else self._parsed_batches(texts):
                if batch.num_rows:
                    count += batch.num_rows
                    report(count, self.most_rows, "rows")
                    yield batch
        except (pyarrow.ArrowInvalid, UnicodeError, OSError):
            rows = islice(self.rows(), count, None)
            while piece := list(islice(rows, max(1, min(PIECE_ROWS, PIECE_CELLS // self.width)))):
                count += len(piece)
                report(count, self.most_rows, "rows")
                texts_of_columns = zip(*(row for _, row in piece), strict=True)
                columns = [pyarrow.array(cells, pyarrow.string()) for cells in texts_of_columns]
                yield pyarrow.record_batch(columns, list(self.names))

    def _parsed_batches(self, texts: Collection[str]) -> Iterator[Any]:
        """Yield the rows that `rows` yields. Behind the first ones, columns that begin with numbers, but `texts`, are
        parsed by pyarrow for as long as all their cells are finite numbers or missing. Raises `ArrowInvalid`."""
        count, numbers = 0, [name for name in self.names if name not in texts]
        for batch in self._quick_batches():
            numbers = arrow_cells.columns_of_numbers(batch, numbers, self.decimal)
            count += batch.num_rows
            yield batch
            if count >= csv_dialect.SAMPLE_ROWS:  # which are shown as they stand in the file
                break
        for parsed in (numbers, ()) if numbers else ((),):
            with suppress(*[ValueError] if parsed else ()):
                for batch in arrow_cells.behind(count, self._quick_batches(parsed)):
                    count += batch.num_rows
                    yield batch
                return

    def _quick_batches(self, numbers: Collection[str] = ()) -> Iterator[Any]:
        """Yield the rows that `rows` yields, as pyarrow reads them. Raises `ArrowInvalid`, also where `numbers` hold
        others than finite ones, or a row has no value."""
        import pyarrow
        from pyarrow import compute, csv

        self.gaps = 0
        header = [str(place) for place in range(self.width)]
        parsed = [str(place) for place, name in zip(self.places, self.names, strict=True) if name in numbers]
        batches = csv.open_csv(
            self._source.path,
            csv.ReadOptions(
                block_size=max(BLOCK_BYTES, 4 * self.longest_line),
                skip_rows=self.dialect.first_line,
                column_names=header,
                use_threads=True,
                encoding="utf8" if self.encoding == "utf-8" else csv_dialect.codec_of(self.encoding),
            ),
            csv.ParseOptions(delimiter=self.dialect.delimiter, newlines_in_values=self.has_quotes),
            csv.ConvertOptions(
                column_types=dict.fromkeys(header, pyarrow.string()) | dict.fromkeys(parsed, pyarrow.float64()),
                strings_can_be_null=False,
                null_values=[""] if self.missing == "refuse" else arrow_cells.MARKS,
                decimal_point=self.decimal,
            ),
        )
        for batch in batches:
            batch = arrow_cells.without_blank_rows(batch, parsed)
            batch = batch.select([header[place] for place in self.places]).rename_columns(list(self.names))
            if self.missing == "leave-out":
                has_gap = reduce(compute.or_, map(arrow_cells.are_missing, batch.columns))
                self.gaps += compute.sum(has_gap).as_py() or 0
                batch = batch.filter(compute.invert(has_gap))
            yield batch

    def rows(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the line number on which each row ends, and its cells that are read.

        Raises `UserError` for rows without as many cells as the header.
        """
        takes_all = len(self.places) == self.width
        ahead = self._source.lines_ahead
        self.gaps = 0
        for line, row in self.cells(self.dialect.delimiter):
            if line <= self.dialect.first_line:
                continue
            if not row[0].strip() and not any(map(str.strip, row)):
                continue  # separators alone
            if len(row) == self.width + 1 and not row[-1].strip():
                row.pop()  # a separator at the end of the line
            if len(row) != self.width:
                raise UserError(
                    f"Line {line:,} of {self.path} has {len(row):,} cells; the header has {self.width:,}. "
                    "Correct the line. Cells that hold the separator stand in double quotes."
                )
            cells = tuple(row) if takes_all else tuple(row[place] for place in self.places)
            if self.missing == "leave-out" and any(is_missing(cell) for cell in cells):
                self.gaps += 1
            elif self.missing == "keep":
                # Most cells begin with a digit, or a sign and one; an empty one is in DIGITS, too, and stays empty.
                yield (
                    line - ahead,
                    tuple([c if c[:1] in DIGITS or c[1:2].isdigit() else "" if is_missing(c) else c for c in cells]),
                )
            else:
                yield line - ahead, cells

    @property
    def is_whole(self) -> bool:
        """Whether all columns are read."""
        return len(self.places) == self.width

    def notes(self) -> tuple[str, ...]:
        """Return notes on how the table is written and the parts left out, known once all rows have been read."""
        numbers = ", ".join(str(number) for number in self.nameless[:5]) + ("…" if len(self.nameless) > 5 else "")
        style = self.dialect
        line = style.first_line
        notes = [
            (self._source.note, self._source.note),
            (
                self.encoding not in ("utf-8", "utf-16"),
                f"The table is read as {self.encoding}; data.text_encoding sets another encoding.",
            ),
            (
                not style.has_header,
                "The first line holds numbers, so the columns have the names column_1, column_2 and so on. A header "
                "line names them.",
            ),
            (style.units, f"Left out because it holds units: line {line:,}, {listed([*filter(None, style.units)])}."),
            (style.decimal == ",", "Commas are taken as decimal marks, as in 3,14; data.decimal_mark sets another."),
            (self.without, f"Left out: {listed(list(self.without))} (data.left_out)."),
            (self.nameless, f"Left out because it has no name: column {numbers}."),
            (self.gaps, f"Left out because a value is missing: {plural(self.gaps, 'row')}."),
        ]
        return tuple(note for is_told, note in notes if is_told)

    def no_rows(self) -> UserError:
        """Return the error of a table without rows, or with gaps in all, naming the column with the most gaps."""
        if not self.gaps:
            return UserError(f"{self.path} has a header and no rows. Expected {EXPECTED}.")
        missing = [0] * len(self.names)
        for line, row in self.cells(self.dialect.delimiter):
            for index, place in enumerate(self.places if line > self.dialect.first_line else ()):
                missing[index] += is_missing(row[place])
        most = max(missing)
        return UserError(
            f"Each row of {self.path} has a missing value. Column '{self.names[missing.index(most)]}' has "
            f"{most:,} of them: leave that column out."
        )

    def line(self, row: int) -> int:
        """Return the line number of a row in the file."""
        return next(islice(self.rows(), row, None))[0]

    def place(self, row: int) -> str:
        """Return the place of a row, for messages: `line 12`."""
        return f"line {self.line(row):,}"

    def texts(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the cells of some columns as texts, stripped of blanks; equal texts share memory."""
        distinct: dict[str, dict[str, int]] = {name: {} for name in names}
        codes: dict[str, list[Array]] = {name: [] for name in names}
        for batch in self.batches() if names else ():
            for name, places in distinct.items():

                def numbered(texts: Sequence[str], places: dict[str, int] = places) -> list[int]:
                    return [places.setdefault(self._without_mark(text.strip()), len(places)) for text in texts]

                codes[name].append(arrow_cells.by_distinct(batch.column(name), numbered, np.int32))
        return {
            name: tuple(np.array([*distinct[name]], object)[np.concatenate(codes[name])].tolist()) for name in names
        }

    def _without_mark(self, cell: str) -> str:
        """Return a cell, empty where it marks a missing value that is kept as one."""
        return "" if self.missing == "keep" and is_missing(cell) else cell

    def first_cells(self, batch: Any, count: int) -> list[tuple[str, ...]]:
        """Return the first rows of a batch as texts."""
        columns = [map(self._without_mark, arrow_cells.texts_of(cells)) for cells in batch.slice(0, count).columns]
        return list(zip(*columns, strict=True))
