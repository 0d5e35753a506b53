"""The dialect of a CSV file: encoding, delimiter, decimal mark, and the lines before its rows."""

import codecs
import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from netwright.engine.project.sources.number_texts import is_mark_open, is_missing, is_number_like, mark_shown

DELIMITERS = ",;\t|"
SAMPLE_ROWS = 50
MOST_SAMPLED = 1000
"""Cells of a row that are looked at."""
LEAST_ROWS = 3
_SENTENCE = 5
"""Blanks in a cell that no header has beside numbers."""
"""Rows below a line of units, at least, that show which columns hold numbers."""
ENCODINGS = {"utf-8": "utf-8-sig", "windows-1252": "cp1252"}
_NO_ASCII = re.compile(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]|[\x80-\xff]")
"""A character of GBK in two bytes, or a byte that is no ASCII."""
LOOKED_AT = 2**16
"""Names of encodings as Python calls them, where it has other names."""
_MARKS = {"point": ".", "comma": ","}
_BETWEEN_BLANKS = re.compile(r'"[^"]*"|[^\s"]+')
_SEPARATOR_LINE = re.compile(r"sep=(.)", re.IGNORECASE)
"""First line by which Excel is told the sign between cells."""
Rows = Callable[[str], Iterator[tuple[int, list[str]]]]
"""Rows of a text with a sign between cells: the number of the line on which each ends, and its cells."""


@dataclass(frozen=True)
class Written:
    """The options for the format of tables. `encoding`: its name in the options; empty or `auto`: found
    out. `decimal`: `.` or `,`; empty: found out. `sheet` of a workbook; empty: the first with cells."""

    encoding: str = ""
    decimal: str = ""
    sheet: str = ""

    @classmethod
    def of(cls, encoding: str, decimal_mark: str, sheet: str) -> "Written":
        """Return the values of the options `text_encoding`, `decimal_mark` and `sheet`."""
        return cls("" if encoding == "auto" else encoding, _MARKS.get(decimal_mark, ""), sheet)


@dataclass(frozen=True)
class Dialect:
    """How the rows of a table are written. `names` are those of all columns, in order, and may be empty; `first_line`
    is the number of lines before the first row."""

    delimiter: str
    names: tuple[str, ...] = ()
    first_line: int = 0
    decimal: str = "."
    is_decimal_certain: bool = False
    """Whether the rows show the decimal mark, or an option says it."""
    units: tuple[str, ...] = ()
    """Cells of a second line of the header."""
    has_header: bool = True


def encoding_of(head: bytes) -> str:
    """Return the encoding of a text by its first bytes: `utf-8`, `utf-16`, or `gb18030` or `windows-1252` where it can
    be neither; empty for what is no text."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in head:
        halves = head[0::2], head[1::2]
        zeros = [half.count(0) / max(1, len(half)) for half in halves]
        if min(zeros) > 0.05 or max(zeros) < 0.5:
            return ""
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    return "utf-8" if is_utf_8(head) else encoding_of_system(head)


def encoding_of_system(text: bytes) -> str:
    """Return the encoding that programs of Windows give a text which is no Unicode: `gb18030` for Chinese, else
    `windows-1252`. Chinese is seen by its 3,755 usual characters, rows B0 to D7 of GB 2312, with a second byte from A1
    on, where Western texts have letters of ASCII behind most accented ones."""
    tokens = _NO_ASCII.findall(text[:LOOKED_AT])
    usual = sum(len(token) == 2 and 0xB0 <= token[0] <= 0xD7 and token[1] >= 0xA1 for token in tokens)
    return "gb18030" if usual >= max(2, 0.7 * len(tokens)) else "windows-1252"


def is_utf_8(head: bytes) -> bool:
    """Return whether bytes are UTF-8, of which the last character may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def codec_of(encoding: str) -> str:
    """Return Python's name of an encoding; a mark of the byte order is no part of the text."""
    return ENCODINGS.get(encoding, encoding)


def text_of(head: bytes) -> str:
    """Return the beginning of a text up to its last whole line; empty for other data than text."""
    encoding = encoding_of(head)
    if not encoding:
        return ""
    return head.decode(codec_of(encoding), errors="replace")


@dataclass(frozen=True)
class Beginning:
    """The beginning of a table: how it is written, and its first rows, of stripped cells, as wide as its header."""

    dialect: Dialect
    rows: tuple[tuple[str, ...], ...] = ()

    def column(self, place: int) -> list[str]:
        """Return the cells of a column that have a value."""
        return [row[place] for row in self.rows if not is_missing(row[place])]


def beginning_of(text: str) -> Beginning:
    """Return the beginning of a table."""
    lines = [line for line in text.splitlines(keepends=True) if line.strip("\r\n")]

    def rows(delimiter: str) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(lines, delimiter=delimiter)
        for row in reader:
            yield reader.line_num, row

    try:
        dialect = dialect_of(rows, lines[0] if lines else "")
        width = len(dialect.names)
        below = (row for line, row in rows(dialect.delimiter) if line > dialect.first_line)
        whole = (row[:width] for row in below if len(row) == width or (len(row) == width + 1 and not row[-1]))
        return Beginning(dialect, tuple(tuple(cell.strip() for cell in row) for row in whole))
    except csv.Error:
        return Beginning(Dialect(","))


def dialect_of(rows: Rows, first_line: str, decimal: str = "") -> Dialect:
    """Return how a table is written, by its first rows. `first_line` is its first line that is not blank; `decimal` the
    mark where it is known."""
    separator = _SEPARATOR_LINE.fullmatch(first_line.strip("\ufeff\r\n"))
    delimiter = separator[1] if separator else _delimiter(rows)
    sample = list(islice(rows(delimiter), SAMPLE_ROWS + 3))
    lines = sample.pop(0)[0] if separator and sample else 0
    if not sample:
        return Dialect(delimiter)
    cells = [row[:MOST_SAMPLED] for _, row in sample]
    has_header = not _is_row(cells)
    if has_header:
        lines = sample[0][0]
        names = tuple(cell.strip() for cell in sample[0][1])
        widths = {len(row) for _, row in sample[1:]}
        if widths == {len(names) + 1} and any(row[-1].strip() for _, row in sample[1:]):
            names = ("", *names)  # R names no column of row numbers
    else:
        names = tuple(f"column_{place + 1}" for place in range(len(sample[0][1])))
    below = cells[1:] if has_header else cells
    units = _units(below) if has_header else ()
    if units:
        lines, below = sample[1][0], below[1:]
    mark = decimal or _decimal(below, delimiter)
    return Dialect(delimiter, names, lines, mark or ".", bool(mark), units, has_header)


def _delimiter(rows: Rows) -> str:
    """Return the delimiter that gives the first rows the same number of cells, the most cells, and the most numbers."""

    def fit(delimiter: str) -> tuple[bool, int, int]:
        sample = [row for _, row in islice(rows(delimiter), SAMPLE_ROWS)]
        widths = {len(row) for row in sample}
        width = len(sample[0]) if sample else 0
        numbers = sum(is_number_like(cell) for row in sample[1:4] for cell in row) if width <= SAMPLE_ROWS else 0
        return len(widths) == 1 and width > 1, width, numbers

    return max(DELIMITERS, key=fit)


def _is_row(cells: Sequence[Sequence[str]]) -> bool:
    """Return whether the first line is a row and no header: it holds numbers in columns of numbers, a fraction among
    them, or beside them a sentence or only texts that its columns hold again. Numbers that rise by one are names."""
    first, *others = cells
    others = [row for row in others if len(row) == len(first)]
    filled = [(place, cell.strip()) for place, cell in enumerate(first) if not is_missing(cell)]
    numbers = [(place, cell) for place, cell in filled if is_number_like(cell)]
    if not others or not numbers or _rises_by_one([cell for _, cell in numbers]):
        return False
    for place, _ in numbers:
        if not all(is_number_like(row[place]) or is_missing(row[place]) for row in others):
            return False
    texts = [(place, cell) for place, cell in filled if not is_number_like(cell)]
    has_fraction = any(mark_shown(cell) for _, cell in numbers)
    has_sentence = any(cell.count(" ") >= _SENTENCE for _, cell in texts)
    repeats = (any(row[place].strip() == cell for row in others) for place, cell in texts)
    return has_fraction or has_sentence or all(repeats)


def has_blanks_between(text: str) -> bool:
    """Return whether the beginning of a table has blanks between its cells: as many cells in each line, most of them
    numbers, and none of the other delimiters."""
    lines = [line for line in text[: text.rfind("\n") + 1].splitlines() if line.strip()][:SAMPLE_ROWS]
    rows = [cells_between_blanks(line) for line in lines]
    numbers = [sum(map(is_number_like, row)) for row in rows[1:]]
    return (
        len(rows) > LEAST_ROWS
        and {len(row) for row in rows} == {len(rows[0])}
        and len(rows[0]) > 1
        and not any(sign in line for line in lines for sign in ",;|")
        and 2 * min(numbers) >= len(rows[0])
        and not all(line.count("\t") == len(row) - 1 for line, row in zip(lines, rows, strict=True))
    )


def cells_between_blanks(line: str) -> list[str]:
    """Return the cells of a line with blanks or tabs between them, without their quotes. A sign # before the names, as
    `numpy.savetxt` writes it, is left out."""
    return [cell.strip('"') for cell in _BETWEEN_BLANKS.findall(line.removeprefix("# "))]


def _rises_by_one(cells: Sequence[str]) -> bool:
    """Return whether cells hold whole numbers, each one more than that before: `0, 1, 2` or `2020, 2021`."""
    return (
        len(cells) > 1
        and all(cell.isdigit() for cell in cells)
        and all(int(after) == int(before) + 1 for before, after in pairwise(cells))
    )


def _units(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the first row where it holds units: texts in columns that hold numbers below, and no number; empty where
    it is a row as the others."""
    first, *others = rows or [[]]
    others = [row for row in others if len(row) == len(first)]
    if len(others) < LEAST_ROWS:
        return ()
    columns = [[row[place] for row in others if not is_missing(row[place])] for place in range(len(first))]
    numbers = [place for place, cells in enumerate(columns) if cells and all(map(is_number_like, cells))]
    texts = [place for place in numbers if first[place].strip() and not is_missing(first[place])]
    if not texts or any(is_number_like(first[place]) for place in texts):
        return ()
    return tuple(cell.strip() for cell in first)


def _decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    """Return the decimal mark that most cells show; empty where none does."""
    marks = [mark_shown(cell) for row in rows for cell in row]
    points, commas = marks.count("."), marks.count(",")
    if not points and not commas:
        has_open = any(is_mark_open(cell) for row in rows for cell in row)
        return "," if has_open and delimiter == ";" else ""
    return "," if commas > points else "."
