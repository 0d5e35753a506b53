"""Excel workbooks and JSON records, read as the CSV table with the same rows is."""

import csv
import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from netwright.engine.analysis.predictions import TABLES
from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.excerpt import ROWS, first_samples
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.tables.csv_file import read_columns
from netwright.engine.data.tables.csv_table import CsvTable
from netwright.engine.project.data import DataOptions
from netwright.engine.project.sources import converted_tables
from netwright.engine.project.sources.converted_tables import CONVERTED, as_csv
from netwright.engine.project.sources.csv_dialect import Written
from netwright.engine.project.sources.guess import guesses, not_understood

HEADER = ("built", "area", "district", "sold", "price")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def houses(count: int = 300) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(0)
    return [
        (
            date(1950, 1, 1) + timedelta(days=int(rng.integers(20_000))),
            None if place % 50 == 7 else round(rng.uniform(40, 200), 1),
            "NSW"[place % 3],
            bool(place % 2),
            place + 100,
        )
        for place in range(count)
    ]


def workbook(path: Path, sheets: dict[str, Sequence[Sequence[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_sheet_is_read_as_the_csv_file_with_its_rows(tmp_path: Path) -> None:
    rows = houses()
    path = workbook(tmp_path / "houses.xlsx", {"Prices": [HEADER, *rows]})
    with open(tmp_path / "houses.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows([[str(cell).lower() if isinstance(cell, bool) else cell for cell in row] for row in rows])
    sheet, table = (read_columns(file, gaps="keep") for file in (path, path.with_suffix(".csv")))
    assert sheet.names == table.names == HEADER
    assert (sheet.texts, sheet.notes) == (table.texts, table.notes)
    assert all(np.array_equal(sheet.numbers[name], table.numbers[name], equal_nan=True) for name in ("area", "price"))
    both = [load(DataOptions(source="table", path=path.with_suffix(end).name), tmp_path) for end in (".xlsx", ".csv")]
    assert both[0].facts == both[1].facts
    sheet_rows, table_rows = (data.inputs[0] for data in both)
    assert isinstance(sheet_rows, np.ndarray)
    assert isinstance(table_rows, np.ndarray)
    assert np.array_equal(sheet_rows, table_rows)


def test_messages_name_the_rows_of_the_sheet(tmp_path: Path) -> None:
    rows = [("Prices of 2024",), (), ("area", "price"), *((place, 2 * place) for place in range(20)), (20, "much")]
    path = workbook(tmp_path / "houses.xlsx", {"Notes": [("no table",)], "Prices": rows, "More": [("a", "b"), (1, 2)]})
    with pytest.raises(UserError, match=r"Column 'price' of .*houses\.xlsx, line 24: expected a number, .*much"):
        read_columns(path)
    assert CsvTable(path, ()).notes() == ('The sheet "Prices" is read, one of 3; data.sheet names another.',)
    assert CsvTable(path, (), written=Written(sheet="More")).names == ("a", "b")
    with pytest.raises(UserError, match=r'no sheet "Price"\. Did you mean .Prices.\? Its sheets: .*data\.sheet'):
        CsvTable(path, (), written=Written(sheet="Price"))


def test_a_column_of_texts_and_cells_beside_the_table_are_read_as_in_a_spreadsheet(tmp_path: Path) -> None:
    path = workbook(tmp_path / "one.xlsx", {"Words": [("word",), ("a",), ("b\nc",)]})
    assert as_csv(path).path.read_text() == "word\na\nb c\n"
    path = workbook(tmp_path / "two.xlsx", {"Rows": [("a", "b"), (1, 2, None, "a remark"), (3,), ("#N/A", 4.5)]})
    assert as_csv(path).path.read_text() == "a,b\n1,2\n3,\n,4.5\n"


def test_a_series_in_hours_keeps_its_midnights(tmp_path: Path) -> None:
    rows = [(datetime(2024, 1, 1) + timedelta(hours=place), place % 7) for place in range(200)]
    path = workbook(tmp_path / "load.xlsx", {"Load": [("time", "load"), *rows]})
    best = guesses(path)[0]
    assert (best.source, best.reason) == ("series", "The column 'time' is a time in equal steps")
    assert list(CsvTable(path, ()).rows())[23][1] == ("2024-01-01 23:00:00", "2")
    assert list(CsvTable(path, ()).rows())[24][1] == ("2024-01-02 00:00:00", "3")


@pytest.mark.parametrize("end", [".jsonl", ".ndjson", ".json"])
def test_records_are_read_as_a_table(tmp_path: Path, end: str) -> None:
    records = [{"text": f"word {place} of\nmany more in a text", "by": {"age": place}} for place in range(40)]
    labelled = [{**record, "label": "ab"[place % 2]} for place, record in enumerate(records)]
    path = tmp_path / f"texts{end}"
    path.write_text(json.dumps(labelled) if end == ".json" else "".join(json.dumps(r) + "\n" for r in labelled))
    table = CsvTable(path, ())
    assert table.names == ("text", "by.age", "label")
    assert next(iter(table.rows())) == (1, ("word 0 of many more in a text", "0", "a"))
    assert guesses(path)[0].source == "text"


def test_lines_of_records_keep_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "b": 2}\n\n{"a": 3, "tags": [1, 2]}\n{"b": null, "a": true}\n')
    assert CsvTable(path, ()).names == ("a", "b", "tags")
    assert list(CsvTable(path, ()).rows()) == [(1, ("1", "2", "")), (3, ("3", "", "[1, 2]")), (4, ("true", "", ""))]


def test_a_file_is_converted_again_once_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "b": 2}\n')
    place = as_csv(path).path
    with monkeypatch.context() as changes:
        changes.setattr(converted_tables, "_records", lambda *_: pytest.fail("converted again"))
        assert as_csv(path).path == place
    place.write_text("cut")
    assert as_csv(path).path.read_text() == "a,b\n1,2\n"
    path.write_text('{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n')
    assert as_csv(path).path.read_text() == "a,b\n1,2\n3,4\n"


def test_the_beginning_of_a_workbook_is_shown(tmp_path: Path) -> None:
    workbook(tmp_path / "houses.xlsx", {"Prices": [HEADER, *houses(3 * ROWS)]})
    samples = first_samples(DataOptions(source="table", path="houses.xlsx"), tmp_path, tmp_path, 8)
    assert (samples["kind"], samples["text"]) == ("table", f"the first {ROWS} rows")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no.xlsx", b"hello", "no Excel workbook, or a damaged one.*without a password"),
        ("cut.jsonl", b'{"a": 1, "b": 2}\n{"a": 1,\n', 'Line 2 of .*is no JSON: "{..a.*Expected an object per line'),
        ("row.jsonl", b"[1, 2]\n", r'Line 1 of .*is no object: "\[1, 2\]".*Expected records'),
        ("one.json", b'{"a": 1}', "has one column only"),
        ("list.json", b'[{"a": 1}, 2]', 'Record 2 of .*is no object: "2"'),
        ("cut.json", b'[{"a": 1}, {"a"', "is no JSON: .*Expected an object per line, or a list"),
        ("deep.json", b'[{"a": ' + b"[" * 100_000, "is no JSON"),
        ("empty.jsonl", b"\n\n", "has no records"),
        ("bytes.jsonl", b'{"a": "\xff"}\n', "is no JSON: .*can't decode"),
    ],
)
def test_a_damaged_file_is_refused_in_words(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message):
        read_columns(tmp_path / name)


def test_an_empty_workbook_and_one_too_large_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path / "empty.xlsx", {"Empty": []})
    with pytest.raises(UserError, match="no sheet has two rows with cells"):
        read_columns(path)
    monkeypatch.setattr(converted_tables, "MOST_BYTES", 1000)
    with pytest.raises(UserError, match=r"unpacks to .* at most .* Save it as CSV"):
        as_csv(workbook(tmp_path / "large.xlsx", {"Rows": houses()}))


def test_other_json_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"a": 1}')
    assert guesses(tmp_path / "settings.json") == []
    assert "it is no list of records" in not_understood(tmp_path / "settings.json")


def test_new_rows_for_predictions_may_be_in_such_files() -> None:
    assert set(CONVERTED) < TABLES


def test_formulas_without_results_are_named(tmp_path: Path) -> None:
    """A program that only writes workbooks computes nothing; a column that is left out may be so."""
    rows = [(place, place * 3 % 7, f"=A{place}+B{place}", None) for place in range(2, 42)]
    path = workbook(tmp_path / "sums.xlsx", {"Sums": [("a", "b", "total", "notes"), *rows]})
    for response in ("total", "a"):
        with pytest.raises(UserError, match=r'Column "total" of .* holds formulas whose results were never saved'):
            facts(DataOptions(source="table", path=str(path), response=response, task="numbers"), tmp_path)
    options = DataOptions(source="table", path=str(path), response="a", task="numbers", left_out="total, notes")
    assert facts(options, tmp_path).inputs[0].columns == ("b",)
    alone = workbook(tmp_path / "alone.xlsx", {"Sums": [("a", "b"), *(("=1+1", "=2+2") for _ in range(9))]})
    with pytest.raises(UserError, match="no table") as refusal:
        as_csv(alone)
    assert "never computed" in str(refusal.value.hint)
