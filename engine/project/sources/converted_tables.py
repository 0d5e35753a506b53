"""Excel workbooks, JSON records and columns with blanks between them as CSV files, converted once into the cache.

All that reads a CSV table reads these, too: guesses, previews, training, predictions. The numbers of lines stay those
of the sheet's rows, or of the lines of records, so that messages name places that a user can look up.
"""

import csv
import json
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from netwright.engine.core.cache import Cache
from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.core.progress import report
from netwright.engine.core.text import format_bytes
from netwright.engine.project.sources.csv_dialect import (
    cells_between_blanks,
    codec_of,
    encoding_of,
    has_blanks_between,
    text_of,
)

WORKBOOKS = (".xlsx", ".xlsm")
RECORDS = (".jsonl", ".ndjson", ".json")
CONVERTED = (*WORKBOOKS, *RECORDS)
PLAIN = (".csv", ".tsv", ".txt", ".dat", ".data")
"""Suffixes of tables as text; UCI's end in .data."""
FORMAT = 2
HEAD_BYTES = 2**14
"""Bytes by which blanks between cells are seen."""
TABLES = Cache("converted", "A workbook is converted once, into", most_entries=64)
MOST_BYTES = 2**32
"""Largest size of an unpacked workbook, or of a file of records."""
MOST_HELD = 2**28
"""Largest size of a JSON file that is one list, which is read as a whole."""
MOST_COLUMNS = 100_000
FORMULA_ROWS = 1000
"""Rows in which formulas are looked for."""
NO_RESULTS = (
    "The results of formulas that were never computed are not in the file: open the workbook in Excel or LibreOffice "
    "and save it."
)
ERRORS = frozenset({"#N/A", "#NAME?", "#DIV/0!", "#REF!", "#VALUE!", "#NUM!", "#NULL!"})
"""Cells of formulas that failed, which are missing values."""
_BREAKS = re.compile(r"[\r\n\t\v\f]+")


@dataclass(frozen=True)
class Converted:
    """A CSV file in UTF-8: its path, how many lines its numbers are ahead of those of the file that it was made from,
    a note on what was read, and the columns of formulas whose results were never saved."""

    path: Path
    lines_ahead: int = 0
    note: str = ""
    unsaved: tuple[str, ...] = ()


def is_workbook(path: str) -> bool:
    """Return whether a file is an Excel workbook, by its name."""
    return path.lower().endswith(WORKBOOKS)


def as_csv(path: Path, sheet: str = "") -> Converted:
    """Return the CSV file to read for a table: the file itself, unless it is a workbook, holds records, or has blanks
    between its cells, as `numpy.savetxt` and `save -ascii` in MATLAB write.

    `sheet` names the sheet of a workbook; empty: the first one that has cells. Raises `UserError` for a damaged file,
    an unknown sheet, or records that are no objects.
    """
    suffix = path.suffix.lower()
    if suffix not in (*CONVERTED, *PLAIN) or not path.is_file() or (suffix in PLAIN and not _has_blanks_between(path)):
        return Converted(path)
    stat = path.stat()
    sheet = sheet if suffix in WORKBOOKS else ""
    entry = TABLES.entry(FORMAT, str(path.absolute()), stat.st_mtime_ns, stat.st_size, sheet)
    convert = _blanks if suffix in PLAIN else _records
    convert = partial(_workbook, path, sheet) if suffix in WORKBOOKS else partial(convert, path)
    note, unsaved = TABLES.obtain(entry, _facts, partial(_write, convert), str(path), stat.st_size)
    return Converted(entry / "table.csv", int(suffix in RECORDS), note, unsaved)


def _facts(entry: Path) -> tuple[str, tuple[str, ...]]:
    """Return the note of a conversion and the columns of formulas without results. Raises `OSError` or `ValueError`
    where the entry is not whole."""
    facts = json.loads((entry / "facts.json").read_bytes())
    if (entry / "table.csv").stat().st_size != facts["bytes"]:
        raise ValueError("The table is cut.")
    return str(facts["note"]), tuple(map(str, facts["unsaved"]))


def _write(convert: Any, entry: Path) -> None:
    entry.mkdir(mode=0o700)
    with open(entry / "table.csv", "w", encoding="utf-8", newline="") as file:
        note, unsaved = convert(file)
    facts = {"note": note, "unsaved": unsaved, "bytes": (entry / "table.csv").stat().st_size}
    (entry / "facts.json").write_text(json.dumps(facts), encoding="utf-8")


# ---- workbooks ----


def refuse_formulas(unsaved: Collection[str], names: Collection[str], path: Path) -> None:
    """Raise `UserError` for a column of formulas without results: it would be taken for one without values."""
    for name in unsaved:
        if name in names:
            raise UserError(
                f"Column {quoted(name)} of {path} holds formulas whose results were never saved. Open the workbook in "
                "Excel or LibreOffice and save it, or leave the column out."
            )


def _workbook(path: Path, sheet: str, out: TextIO) -> tuple[str, list[str]]:
    """Write a sheet of a workbook, a line per row, and return a note on the sheets and the columns of formulas without
    results: a formula is as it was last computed, which a program that only writes workbooks does not do. Raises
    `UserError`."""
    import openpyxl

    _refuse_large(path)
    try:
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)) as workbook:
            names = [tab.title for tab in workbook.worksheets]
            if sheet and sheet not in names:
                hint = did_you_mean(sheet, names)
                listed = ", ".join(map(quoted, names[:20]))
                raise UserError(f"{path} has no sheet {quoted(sheet)}.{hint} Its sheets: {listed} (data.sheet).")
            for name in [sheet] if sheet else names:
                if (empty := _sheet(workbook[name], out)) is not None:
                    break
                out.seek(0)
                out.truncate()
            else:
                raise UserError(f"{path} has no table: no sheet has two rows with cells.", hint=NO_RESULTS)
            unsaved = _formulas(path, name, empty) if empty else []
    except UserError:
        raise
    except Exception as error:  # the library raises KeyError, TypeError and others for damaged files
        raise UserError(
            f"{path} is no Excel workbook, or a damaged one: {str(error)[:200] or type(error).__name__}. Expected an "
            ".xlsx file without a password. Open it in a spreadsheet program and save it again, or as CSV."
        ) from None
    note = f"The sheet {quoted(name)} is read, one of {len(names)}; data.sheet names another." if names[1:] else ""
    return note, unsaved


def _formulas(path: Path, sheet: str, columns: Mapping[int, str]) -> list[str]:
    """Return the names of those of the columns, by their places, whose cells are formulas."""
    import openpyxl

    names: dict[str, None] = {}
    with closing(openpyxl.load_workbook(path, read_only=True, keep_links=False)) as workbook:
        workbook[sheet].reset_dimensions()
        for row in islice(workbook[sheet].iter_rows(), FORMULA_ROWS):
            for place, name in columns.items():
                if place < len(row) and row[place].data_type == "f":
                    names[name] = None
    return list(names)


def _refuse_large(path: Path) -> None:
    """Raise `UserError` for a workbook that unpacks to more than is read."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return  # openpyxl says what is wrong
    if size > MOST_BYTES:
        raise UserError(
            f"{path} unpacks to {format_bytes(size)}; at most {format_bytes(MOST_BYTES)} are read. Save it as CSV or "
            "Parquet."
        )


def _sheet(sheet: Any, out: TextIO, timed: Collection[int] = ()) -> dict[int, str] | None:
    """Write the rows of a sheet, and return the columns without cells below the header, by their places; None where no
    two rows have cells. Titles above the table, rows with one cell where the next ones have more, become blank lines.
    Midnights of the columns `timed` keep their time."""
    sheet.reset_dimensions()  # those that are stored may be wrong
    writer = csv.writer(out, lineterminator="\n")
    titles: list[str] = []
    hours: dict[int, set[bool]] = {}
    empty: dict[int, str] = {}
    width = filled = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        cells = [_cell(cell, has_time=place in timed) for place, cell in enumerate(row)]
        filled += any(cells)
        for place, cell in enumerate(row):
            if isinstance(cell, datetime):
                hours.setdefault(place, set()).add(cell.time() != time())
        if not width and sum(map(bool, cells)) < 2:
            titles.append(next(filter(None, cells), ""))
            continue
        if not width:
            width = max(place for place, cell in enumerate(cells, 1) if cell)
            out.write("\n" * len(titles))
            empty = {place: cell for place, cell in enumerate(cells) if cell}
        else:
            empty = {place: name for place, name in empty.items() if place >= len(cells) or not cells[place]}
        # What stands right of the header belongs to no column.
        writer.writerow([*cells[:width], *[""] * (width - len(cells))])
        if number % 1000 == 0:
            report(number, 0, "rows")
    if not width:
        writer.writerows([title] for title in titles)
    mixed = {place for place, kinds in hours.items() if len(kinds) == 2}
    if mixed and not timed:
        out.seek(0)
        out.truncate()
        return _sheet(sheet, out, mixed)
    return empty if filled > 1 else None


def _cell(value: Any, *, has_time: bool = False) -> str:
    """Return a cell as a CSV file has it: dates as 2024-01-31, whole numbers without a point, line breaks as blanks."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        case datetime():
            return value.isoformat(" ") if has_time or value.time() != time() else value.date().isoformat()
        case date() | time():
            return value.isoformat()
        case dict() | list():
            return json.dumps(value, ensure_ascii=False)
        case str():
            return "" if value in ERRORS else _plain(value)
    return _plain(str(value))


def _plain(text: str) -> str:
    """Return a text in one line, so that the numbers of lines stay."""
    return _BREAKS.sub(" ", text).replace("\0", "")


# ---- columns with blanks between them ----


def _has_blanks_between(path: Path) -> bool:
    with open(path, "rb") as file:
        return has_blanks_between(text_of(file.read(HEAD_BYTES)))


def _blanks(path: Path, out: TextIO) -> tuple[str, list[str]]:
    """Write the cells of each line."""
    with open(path, "rb") as file:
        encoding = codec_of(encoding_of(file.read(HEAD_BYTES)))
    writer = csv.writer(out, lineterminator="\n")
    with open(path, encoding=encoding, errors="replace") as file:
        for number, line in enumerate(file):
            writer.writerow(cells_between_blanks(line))
            if number % 100_000 == 0:
                report(number, 0, "rows")
    return "", []


# ---- records ----


def _records(path: Path, out: TextIO) -> tuple[str, list[str]]:
    """Write the objects of a file of JSON records, with a column for each name that one of them has; objects inside
    have columns such as `user.age`. Raises `UserError`."""
    columns: dict[str, None] = {}
    for _, record in _objects(path):
        columns.update(dict.fromkeys(record))
        if len(columns) > MOST_COLUMNS:
            raise UserError(f"The records of {path} have more than {MOST_COLUMNS:,} names. Expected a table.")
    if not columns:
        raise UserError(f"{path} has no records. Expected a JSON object in each line, or one list of objects.")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_plain, columns))
    line = 0
    for number, record in _objects(path):
        out.write("\n" * (number - line - 1))
        writer.writerow([_cell(record.get(name)) for name in columns])
        line = number
    return "", []


def _objects(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number of each line, or place in a list, and its object. Raises `UserError`."""
    values: Iterable[tuple[int, Any]]
    with open(path, encoding="utf-8-sig") as file:
        try:
            if is_list(file.read(4096)):
                if path.stat().st_size > MOST_HELD:
                    raise UserError(
                        f"{path} is one list of {format_bytes(path.stat().st_size)}; at most {format_bytes(MOST_HELD)} "
                        "are read as a whole. Write an object per line (.jsonl)."
                    )
                file.seek(0)
                values, place = enumerate(json.load(file), 1), "Record"
            else:
                file.seek(0)
                lines = ((number, line) for number, line in enumerate(file, 1) if line.strip())
                values, place = ((number, _parsed(path, number, line)) for number, line in lines), "Line"
            for number, value in values:
                if not isinstance(value, dict):
                    raise UserError(
                        f"{place} {number:,} of {path} is no object: {quoted(json.dumps(value)[:40])}. Expected "
                        'records such as {"text": "Good.", "label": 1}.'
                    )
                yield number, dict(_flat(value))
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path} is no JSON: {str(error)[:200]}. Expected an object per line, or a list.") from None


def _parsed(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise UserError(
            f"Line {number:,} of {path} is no JSON: {quoted(line[:40])}. Expected an object per line."
        ) from None


def _flat(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def is_list(beginning: str) -> bool:
    """Return whether a JSON text is a list of objects, by its beginning."""
    return re.match(r"\s*\[\s*\{", beginning) is not None


def holds_records(path: Path) -> bool:
    """Return whether a file with the suffix `.json` may hold records: other files have that suffix, too."""
    with suppress(OSError, UnicodeError), open(path, encoding="utf-8-sig") as file:
        return is_list(file.read(4096))
    return False
