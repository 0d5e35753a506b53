"""Tables that are read from disk row by row: Parquet, and CSV as one asks for it."""

import datetime
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.data.sources import disk_table
from netwright.engine.data.sources.disk_table import DiskTable
from netwright.engine.data.tables import csv_table, stored_table
from netwright.engine.data.tables.stored_table import Reading
from netwright.engine.project.data import DataOptions

PARQUET = DataOptions(source="table", path="some.parquet")
CSV = DataOptions(source="table", path="some.csv", loading="stream")
ROWS = 60


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "netwright" / "tables"


def columns(count: int = ROWS) -> dict[str, Any]:
    drawn = np.random.default_rng(0)
    return {
        "area": drawn.normal(100.0, 20.0, count).round(3),
        "rooms": drawn.integers(1, 9, count),
        "facing": [("north", "east", "west")[i % 3] for i in range(count)],
        "price": drawn.normal(3.0, 1.0, count).round(4),
    }


def write(folder: Path, given: dict[str, Any]) -> None:
    table = pa.table(given)
    pa.parquet.write_table(table, folder / "some.parquet", row_group_size=16)
    pa.csv.write_csv(table, folder / "some.csv")


def refused(folder: Path, options: DataOptions = PARQUET) -> str:
    with pytest.raises(UserError) as error:
        facts(options, folder)
    return str(error.value)


@pytest.mark.parametrize("options", [PARQUET, CSV], ids=["parquet", "csv"])
@pytest.mark.parametrize("is_streamed", [True, False])
def test_rows_are_those_of_a_table_read_whole(tmp_path: Path, options: DataOptions, is_streamed: bool) -> None:
    write(tmp_path, columns())
    whole = load(CSV.replace(loading="auto"), tmp_path)
    long = load(options, tmp_path, is_streamed=is_streamed)
    assert long.facts.inputs == whole.facts.inputs
    assert [(t.name, t.task, t.largest) for t in long.facts.targets] == [
        ("price", "numbers", whole.facts.targets[0].largest)
    ]
    for split in ("training", "validation", "test"):
        np.testing.assert_array_equal(long.split(split).inputs[0][:], whole.split(split).inputs[0][:])
        np.testing.assert_array_equal(long.split(split).targets[0], whole.split(split).targets[0])


def test_categories_of_validation_rows_alone_are_zeros_with_a_note(tmp_path: Path) -> None:
    given = columns()
    write(tmp_path, given)
    row = int(load(PARQUET, tmp_path).numbers["validation"][0])
    given["facing"][row] = "south"
    write(tmp_path, given)
    loaded = load(PARQUET, tmp_path, is_streamed=True)
    assert "facing=south" not in loaded.facts.inputs[0].columns
    assert loaded.split("validation").inputs[0][:1][:, 2:].tolist() == [[0.0, 0.0, 0.0]]
    assert any("no training row has south" in note and "in 1 row " in note for note in loaded.facts.notes)


def test_columns_are_described_as_those_of_a_table_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, columns())
    whole = preview(CSV.replace(loading="memory"), tmp_path, tmp_path, 4)["columns"]
    for options in (PARQUET, CSV):
        found = preview(options, tmp_path, tmp_path, 4)["columns"]
        assert [one["histogram"] for one in found] == [one["histogram"] for one in whole]
        assert [one["mean"] for one in found] == pytest.approx([one["mean"] for one in whole])
    monkeypatch.setattr(disk_table, "COUNTED_CELLS", 100)
    write(tmp_path, columns(ROWS + 4))
    assert preview(PARQUET, tmp_path, tmp_path, 4)["columns"][0]["histogram"]["sampled"] == 22


def test_classes_are_texts_and_dictionaries_in_sorted_order(tmp_path: Path) -> None:
    write(tmp_path, {**columns(), "facing": pa.array(columns()["facing"]).dictionary_encode()})
    found = facts(PARQUET.replace(response="facing"), tmp_path)
    assert (found.classes, found.inputs[0].columns) == (("east", "north", "west"), ("area", "rooms", "price"))


@pytest.mark.parametrize("options", [PARQUET, CSV], ids=["parquet", "csv"])
def test_a_gap_is_named_or_its_row_left_out(tmp_path: Path, options: DataOptions) -> None:
    rooms: list[int | None] = columns()["rooms"].tolist()
    rooms[4] = None
    write(tmp_path, {**columns(), "rooms": pa.array(rooms)})
    strict = options.replace(missing_values="refuse")
    assert "Column 'rooms'" in refused(tmp_path, strict)
    assert "row 5: expected a value" in refused(tmp_path, strict)
    found = facts(options.replace(missing_values="leave-out"), tmp_path)
    assert sum(found.samples.values()) == ROWS - 1
    assert "Rows with missing values left out: 1." in found.notes


@pytest.mark.parametrize("options", [PARQUET, CSV], ids=["parquet", "csv"])
def test_gaps_are_imputed_as_in_a_table_read_whole(tmp_path: Path, options: DataOptions) -> None:
    given = columns()
    rooms, facing = given["rooms"].tolist(), list(given["facing"])
    rooms[4] = rooms[17] = facing[9] = None
    write(tmp_path, {**given, "rooms": pa.array(rooms), "facing": pa.array(facing)})
    impute = {"missing_values": "impute", "impute_texts": "category"}
    whole, long = (load(one.replace(**impute), tmp_path) for one in (CSV.replace(loading="memory"), options))
    assert long.facts.inputs == whole.facts.inputs
    np.testing.assert_array_equal(long.split("training").inputs[0], whole.split("training").inputs[0])
    price = [None, *given["price"][1:].tolist()]
    write(tmp_path, {**given, "price": pa.array(price)})
    whole, long = (load(one.replace(**impute), tmp_path) for one in (CSV.replace(loading="memory"), options))
    assert sum(long.facts.samples.values()) == ROWS - 1
    assert "Left out because a response is missing: 1 row." in long.facts.notes
    for split in ("training", "validation", "test"):
        np.testing.assert_array_equal(long.split(split).inputs[0][:], whole.split(split).inputs[0][:])
        np.testing.assert_array_equal(long.split(split).targets[0], whole.split(split).targets[0])


def test_categories_as_indices_and_dates_are_read_from_disk(tmp_path: Path) -> None:
    days = [(datetime.date(2026, 1, 1) + datetime.timedelta(days=day)).isoformat() for day in range(ROWS)]
    write(tmp_path, {**columns(), "area": days})
    encoded = {"category_encoding": "indices", "dates": "all"}
    whole, long = (load(one.replace(**encoded), tmp_path, is_streamed=one is CSV) for one in (PARQUET, CSV))
    for loaded in (whole, long):
        assert [given.name for given in loaded.facts.inputs] == ["features", "facing"]
        assert loaded.facts.inputs[0].columns[0].startswith("area: ")
        assert loaded.largest(1) == 3
    np.testing.assert_array_equal(long.split("test").inputs[0][:], whole.split("test").inputs[0])
    np.testing.assert_array_equal(long.split("test").inputs[1][:], whole.split("test").inputs[1])


def test_a_column_divides_the_rows(tmp_path: Path) -> None:
    write(tmp_path, {**columns(), "rooms": ["train"] * 40 + ["val"] * 12 + ["test"] * 8})
    found = facts(PARQUET.replace(split="column", split_column="rooms"), tmp_path)
    assert found.samples == {"training": 40, "validation": 12, "test": 8}
    assert "rooms" not in found.inputs[0].columns


@pytest.mark.parametrize("options", [PARQUET, CSV], ids=["parquet", "csv"])
def test_a_marker_of_missing_texts_is_a_gap(tmp_path: Path, options: DataOptions) -> None:
    write(tmp_path, {**columns(), "facing": ["north"] * 7 + ["n/a"] + ["east"] * (ROWS - 8)})
    assert "Column 'facing'" in refused(tmp_path, options.replace(missing_values="refuse"))
    assert "facing=(missing)" in facts(options, tmp_path).inputs[0].columns


def test_a_column_of_numbers_that_turns_into_texts_is_one_of_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_table, "BLOCK_BYTES", 256)
    write(tmp_path, {**columns(), "facing": ["1"] * 40 + ["two"] * 20})
    assert {"facing=1", "facing=two"} <= set(facts(CSV, tmp_path).inputs[0].columns)


def test_lines_of_another_length_are_an_error(tmp_path: Path) -> None:
    write(tmp_path, columns())
    with (tmp_path / "some.csv").open("a") as file:
        file.write("1,2\n")
    assert refused(tmp_path, CSV).startswith(f"Line 62 of {tmp_path / 'some.csv'} has 2 cells; the header has 4.")


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("rooms", [[1, 2]] * ROWS, "Column 'rooms' of"),
        ("rooms", [b"\0"] * ROWS, "holds binary. Expected numbers, texts or dates"),
        ("rooms", [float("inf")] * ROWS, "Column 'rooms' of"),
        ("rooms", pa.nulls(ROWS), "row 1: expected a value"),
    ],
)
def test_columns_that_hold_no_numbers_or_texts_are_named(tmp_path: Path, name: str, values: Any, expected: str) -> None:
    pa.parquet.write_table(pa.table({**columns(), name: values}), tmp_path / "some.parquet")
    assert expected in refused(tmp_path, PARQUET.replace(missing_values="refuse"))


def test_a_column_without_any_value_is_left_out(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({**columns(), "rooms": pa.nulls(ROWS)}), tmp_path / "some.parquet")
    found = facts(PARQUET, tmp_path)
    assert found.inputs[0].columns[0] == "area"
    assert "Column 'rooms' is left out: it has no value in any training row." in found.notes
    assert preview(PARQUET, tmp_path, tmp_path, 4)["columns"][1]["role"] == "left out"


def test_the_mean_of_huge_numbers_does_not_overflow(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    pa.parquet.write_table(pa.table({**columns(), "rooms": [1.6e308] * ROWS}), path)
    table = stored_table.store(path, 1, Reading())
    assert table.columns["rooms"].mean == pytest.approx(1.6e308)
    assert "Column 'rooms'" in refused(tmp_path)


def test_dates_are_dates_or_texts(tmp_path: Path) -> None:
    dates = [datetime.date(2026, 1, 1 + day % 3) for day in range(ROWS)]
    pa.parquet.write_table(pa.table({**columns(), "rooms": dates}), tmp_path / "some.parquet")
    assert "rooms: day of week" in facts(PARQUET, tmp_path).inputs[0].columns
    assert "rooms=2026-01-02" in facts(PARQUET.replace(dates="texts"), tmp_path).inputs[0].columns


@pytest.mark.parametrize("content", [b"PAR1", b"PAR1" + bytes(100) + b"PAR1", b"a,b\n1,2\n"])
def test_files_that_are_no_parquet_are_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "some.parquet").write_bytes(content)
    assert "is no Parquet file, or a damaged one" in refused(tmp_path)


def test_a_table_without_rows_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, columns(0) | {"facing": pa.array([], pa.string())})
    assert "it has no rows" in refused(tmp_path)


def test_columns_are_left_out_by_name(tmp_path: Path) -> None:
    write(tmp_path, columns())
    found = facts(PARQUET.replace(left_out="facing"), tmp_path)
    assert found.inputs[0].columns == ("area", "rooms")
    assert "Did you mean 'facing'?" in refused(tmp_path, PARQUET.replace(left_out="facings"))


def test_a_table_is_converted_once_and_again_when_the_file_changed(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, columns())
    stamps = [DiskTable().stamp(tmp_path / "some.parquet")]
    table = stored_table.store(tmp_path / "some.parquet", stamps[0], Reading())
    written = (table.folder / "rows").stat().st_mtime_ns
    again = stored_table.store(tmp_path / "some.parquet", stamps[0], Reading())
    assert (again.folder, (again.folder / "rows").stat().st_mtime_ns) == (table.folder, written)
    write(tmp_path, columns(20))
    changed = stored_table.store(tmp_path / "some.parquet", DiskTable().stamp(tmp_path / "some.parquet"), Reading())
    assert (changed.rows, len(list(cache.iterdir()))) == (20, 2)
    monkeypatch.setattr(stored_table, "TABLES", replace(stored_table.TABLES, most_entries=1))
    stored_table.store(tmp_path / "some.parquet", "another", Reading())
    assert len(list(cache.iterdir())) == 1


def test_a_damaged_conversion_is_made_anew(tmp_path: Path) -> None:
    write(tmp_path, columns())
    table = stored_table.store(tmp_path / "some.parquet", 1, Reading())
    (table.folder / "rows").write_bytes(b"cut")
    again = stored_table.store(tmp_path / "some.parquet", 1, Reading())
    assert again.take(np.array([0]))[0, 0] == columns()["area"][0]


def test_a_full_disk_is_said_before_anything_is_written(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, columns())
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    assert "needs about 1.9 KiB in the cache folder" in refused(tmp_path)
    assert not list(cache.glob("*/rows*"))


def test_memory_is_given_back_while_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_table, "MOST_TOUCHED", 1)
    write(tmp_path, columns())
    table = stored_table.store(tmp_path / "some.parquet", 1, Reading())
    rows = np.array([5, 1, 59])
    np.testing.assert_array_equal(table.take(rows)[:, 0], columns()["area"][rows])
    np.testing.assert_array_equal(table.column("price"), columns()["price"])


def test_large_csv_files_are_read_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = CSV.source_type
    assert declared is not None
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(2**30)
    options = CSV.replace(loading="auto")
    plenty = 2**36
    assert declared.reader_for(options, tmp_path / "large.csv", plenty).endswith(":DiskTable")
    assert declared.reader_for(options.replace(loading="memory"), tmp_path / "large.csv", plenty).endswith(":Table")
    assert declared.reader_for(options, tmp_path / "missing.csv", plenty).endswith(":Table")
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(2**20)
    assert declared.reader_for(options, tmp_path / "large.csv", 10 * 2**20 + 1).endswith(":Table")
    assert declared.reader_for(options, tmp_path / "large.csv", 10 * 2**20).endswith(":DiskTable")


def test_rows_that_are_longer_than_a_block_and_lines_within_quotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_table, "BLOCK_BYTES", 256)
    rows = "".join(f'{n},"{"ab"[n % 2]}\n{"x" * 400 * (n == 70)}",{n}.5\n' for n in range(90))
    (tmp_path / "some.csv").write_text(f"a,kind,y\n{rows}")
    found = facts(CSV, tmp_path)
    assert sum(found.samples.values()) == 90
    assert {"kind=a", "kind=b"} <= set(found.inputs[0].columns)


EUROPEAN = "größe;preis;anteil;datum;haus;y\nm²;€;%;;;\n" + "".join(
    f"{row},25;{row % 9 + 1}.000,50 €;{row % 7} %;{row % 28 + 1:02d}.02.2024;{'gxh'[row % 3]};{row},5\n"
    for row in range(400)
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_table_from_a_spreadsheet_is_read_as_one_that_is_held_in_memory(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "some.csv").write_bytes(EUROPEAN.encode(encoding))
    whole, long = (load(CSV.replace(loading=how), tmp_path) for how in ("memory", "stream"))
    assert long.facts.inputs == whole.facts.inputs
    assert long.facts.inputs[0].columns[:4] == ("größe", "preis", "anteil", "datum: year")
    for split in ("training", "validation", "test"):
        np.testing.assert_array_equal(long.split(split).inputs[0][:], whole.split(split).inputs[0][:])
        np.testing.assert_array_equal(long.split(split).targets[0], whole.split(split).targets[0])
    decided = [note for note in whole.facts.notes if "converted" not in note]
    assert set(decided) <= set(long.facts.notes)


@pytest.mark.parametrize("how", ["memory", "stream"])
@pytest.mark.parametrize("mark", ["k.A.", "k. A.", "n. a.", "N/a", "\u2013", ".."])
def test_gaps_as_offices_of_statistics_mark_them(tmp_path: Path, how: str, mark: str) -> None:
    rows = "".join(f"{row}.5,{'ab'[row % 2]},{row}\n" for row in range(40))
    (tmp_path / "some.csv").write_text(f"a,kind,y\n{mark},{mark},1\n{rows}")
    notes = facts(CSV.replace(loading=how, missing_values="impute"), tmp_path).notes
    assert any(note.startswith("Column 'a': 1 missing value") for note in notes)
    assert any(note.startswith("Column 'kind': 1 missing value") for note in notes)


def test_text_that_is_utf_8_at_its_beginning_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_table, "BLOCK_BYTES", 4096)
    monkeypatch.setattr(csv_table, "HEAD_BYTES", 4096)
    text = "a,kind,y\n" + "".join(f"{row},{'x' if row < 1500 else 'Süd'},{row}.5\n" for row in range(2000))
    (tmp_path / "some.csv").write_bytes(text.encode("latin-1"))
    for how in ("memory", "stream"):
        found = facts(CSV.replace(loading=how), tmp_path)
        assert found.inputs[0].columns == ("a", "kind=Süd", "kind=x")
        assert "The table is read as windows-1252; data.text_encoding sets another encoding." in found.notes
