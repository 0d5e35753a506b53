"""`data.json`: exact split indices, the comparison of two runs, and damaged files."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.core.errors import UserError
from netwright.engine.runs.data_files import DataPlace
from netwright.engine.runs.data_record import FILE, DataRecord, changes_since, read_record, write_record


def record(file: Path, parts: bytes = bytes([0, 1, 2, 0, 3])) -> DataRecord:
    return DataRecord("table", (DataPlace.look("path", file),), "random", parts, {"netwright": "1"}, 12.5)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    return tmp_path / "a.csv"


@given(st.binary(max_size=50).map(lambda data: bytes(value % 4 for value in data)))
def test_indices_are_exact(parts):
    written = DataRecord("digits", parts=parts).write()
    found = DataRecord.read(json.loads(json.dumps(written)))
    assert found.parts == parts
    assert found.numbers("test") == [number for number, value in enumerate(parts) if value == 2]


def test_the_file_is_read_as_it_was_written(tmp_path, file):
    write_record(tmp_path, replace(record(file), replaced=("a.csv is newer.",)))
    assert read_record(tmp_path) == replace(record(file), replaced=("a.csv is newer.",))
    assert changes_since(tmp_path) == ()
    file.write_text("a,b\n")
    assert changes_since(tmp_path) == (f"{file} has 4 bytes instead of 8.",)


def test_a_run_without_a_record_has_no_changes(tmp_path):
    assert read_record(tmp_path) is None
    assert changes_since(tmp_path) == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(version=2),
        lambda data: data.pop("split"),
        lambda data: data["split"].update(total=9),
        lambda data: data["split"].update(parts="@"),
        lambda data: data["places"][0].update(files="3"),
        lambda data: data["places"][0].update(listing=data["split"]["parts"]),
        lambda data: data["places"].append(3),
    ],
)
def test_a_damaged_record_is_refused_with_a_way_out(tmp_path, file, change):
    data = record(file).write()
    change(data)
    (tmp_path / FILE).write_text(json.dumps(data))
    with pytest.raises(UserError, match=r"data\.json is damaged, so that .* or remove it"):
        read_record(tmp_path)


def test_two_runs_are_compared(tmp_path, file):
    first = record(file)
    assert first.against(record(file)) == ()
    assert first.against(record(file, bytes([1, 0, 2, 0, 3]))) == ("The splits hold other samples, as many in each.",)
    assert first.against(record(file, bytes([0, 0, 0, 0, 2]))) == (
        "The splits differ: training 2, validation 1, test 1; and training 4, validation 0, test 1.",
    )
    copy = tmp_path / "copy.csv"
    copy.write_bytes(file.read_bytes())
    assert first.against(record(copy)) == ()
    copy.write_text("a,b\n1,3\n5,6")
    assert first.against(record(copy)) == (
        f"data.path differs: {file} (1 file, 8 bytes) and {copy} (1 file, 11 bytes).",
    )
    file.write_text("a,b\n1,3\n")
    assert first.against(record(file)) == (f"data.path has changed between the runs: {file} is newer.",)
    masks = replace(first, places=(*first.places, DataPlace.look("masks", copy)))
    assert first.against(masks) == ("Only the second run has data.masks.",)
    assert first.against(replace(first, source="arrays")) == ("The data sources differ: table and arrays.",)
