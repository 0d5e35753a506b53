"""Sequences in files and long tables: lengths, responses per sequence and per step, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.data.sources.windows import Windows
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import IGNORED

WHOLE: dict[str, Any] = {"validation_share": 0.0, "test_share": 0.0}
LENGTHS = (3, 5, 2, 4)


def options(path: str, **values: Any) -> DataOptions:
    return DataOptions(source="sequences", path=path, **{**WHOLE, **values})


def steps(number: int, count: int) -> list[tuple[float, float]]:
    """The values of two channels."""
    return [(10.0 * number + step, -step) for step in range(count)]


def file_of(number: int, count: int, extra: str = "") -> str:
    lines = [f"{a:g},{b:g}{extra and ',' + extra}" for a, b in steps(number, count)]
    return "\n".join([f"left,right{extra and ',kind'}", *lines]) + "\n"


def class_folders(folder: Path) -> Path:
    for number, count in enumerate(LENGTHS):
        place = folder / "data" / ("walk" if number % 2 else "run")
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}.csv").write_text(file_of(number, count))
    return folder


def long_table(folder: Path, response: Any) -> Path:
    """One table in which the rows of all sequences are mixed; `response` gives the cell of a sequence and a step."""
    lines = [
        f"{number},{step},{a:g},{b:g},{response(number, step)}"
        for step in range(max(LENGTHS))
        for number, count in enumerate(LENGTHS)
        if step < count
        for a, b in [steps(number, count)[step]]
    ]
    (folder / "long.csv").write_text("\n".join(["id,time,left,right,y", *lines]) + "\n")
    return folder


LONG: dict[str, Any] = {"id_column": "id", "time_column": "time", "response": "y"}


def sequences_of(data: LoadedData) -> list[list[Any]]:
    """The real steps of each sequence, in the order of the source."""
    (array,), (lengths,) = data.split("training").inputs, data.lengths
    assert lengths is not None
    return [np.asarray(array[i : i + 1])[0, :length].tolist() for i, length in enumerate(lengths.tolist())]


def refused(folder: Path, given: DataOptions) -> str:
    with pytest.raises(UserError) as error:
        facts(given, folder)
    return str(error.value).replace(str(folder), "F")


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_folder_per_class_and_a_file_per_sequence(tmp_path, is_streamed):
    given = options("data")
    found = facts(given, class_folders(tmp_path))
    data = load(given, tmp_path, is_streamed=is_streamed)
    assert (found.inputs[0].columns, found.inputs[0].lengths) == (("left", "right"), (2, 5))
    assert (found.task, found.classes) == ("classes", ("run", "walk"))
    order = (0, 2, 1, 3)
    assert data.targets[0].tolist() == [0, 0, 1, 1]
    assert sequences_of(data) == [[list(pair) for pair in steps(n, LENGTHS[n])] for n in order]
    (array,) = data.split("training").inputs
    assert np.asarray(array[1:2])[0, 2:].tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("is_streamed", [False, True])
def test_one_long_table_with_a_response_per_sequence(tmp_path, is_streamed):
    given = options("long.csv", **LONG)
    found = facts(given, long_table(tmp_path, lambda number, step: ("up", "down")[number % 2]))
    data = load(given, tmp_path, is_streamed=is_streamed)
    assert found.inputs[0].columns == ("left", "right")
    assert (found.targets[0].per, found.classes) == ("sample", ("down", "up"))
    assert data.targets[0].tolist() == [1, 0, 1, 0]
    assert sequences_of(data) == [[list(pair) for pair in steps(n, count)] for n, count in enumerate(LENGTHS)]


def test_a_response_that_changes_is_one_per_step(tmp_path):
    given = options("long.csv", **LONG)
    found = facts(given, long_table(tmp_path, lambda number, step: "ab"[step % 2]))
    data = load(given, tmp_path)
    assert (found.targets[0].per, found.targets[0].lengths) == ("step", (2, 5))
    assert data.targets[0].tolist()[0] == [0, 1, 0, IGNORED, IGNORED]
    assert refused(tmp_path, options("long.csv", **LONG, response_per="sequence")).startswith(
        "The response 'y' changes within sequence 0"
    )


def test_numbers_per_step_end_where_the_sequence_does(tmp_path):
    given = options("long.csv", **LONG)
    facts(given, long_table(tmp_path, lambda number, step: number + step / 8))
    target = load(given, tmp_path).targets[0]
    assert target.shape == (4, 5, 1)
    assert target[2, :, 0].tolist()[:2] == [2, 2.125]
    assert np.isnan(target[2, 2:]).all()


def test_numbers_per_sequence(tmp_path):
    given = options("long.csv", **LONG, task="numbers")
    found = facts(given, long_table(tmp_path, lambda number, step: number))
    assert (found.task, found.outputs) == ("numbers", 1)
    assert load(given, tmp_path).targets[0].tolist() == [[0], [1], [2], [3]]


def test_a_table_lists_files_and_responses(tmp_path):
    for number, count in enumerate(LENGTHS):
        (tmp_path / f"{number}.csv").write_text(file_of(number, count))
    lines = [f"{number}.csv,{number / 4},{number % 2}" for number in range(4)]
    (tmp_path / "list.csv").write_text("\n".join(["file,size,kind", *lines]) + "\n")
    found = facts(options("list.csv"), tmp_path)
    assert (found.targets[0].name, found.classes) == ("kind", ("0", "1"))
    given = options("list.csv", response="size")
    data = load(given, tmp_path)
    assert data.targets[0].tolist() == [[0], [0.25], [0.5], [0.75]]
    assert sequences_of(data)[3] == [list(pair) for pair in steps(3, 4)]


def test_files_may_have_a_response_per_step(tmp_path):
    (tmp_path / "data").mkdir()
    for number, kind in enumerate(("calm", "storm")):
        (tmp_path / "data" / f"{number}.csv").write_text(file_of(number, 3, kind))
    found = facts(options("data", response="kind"), tmp_path)
    assert (found.classes, found.targets[0].per) == (("calm", "storm"), "sample")
    found = facts(options("data", response="kind", response_per="step"), tmp_path)
    assert found.targets[0].per == "step"


def test_a_fixed_length_cuts_and_pads(tmp_path):
    given = options("data", fixed_length=3)
    found = facts(given, class_folders(tmp_path))
    assert (found.inputs[0].type.sizes, found.inputs[0].lengths) == ((3, 2), None)
    assert found.notes == ("To 3 steps: 2 longer sequences cut at the end, 1 shorter one padded with zeros.",)
    (array,) = load(given, tmp_path).split("training").inputs
    assert array.shape == (4, 3, 2)
    assert array[1].tolist() == [[20, 0], [21, -1], [0, 0]]
    assert array[2].tolist() == [list(pair) for pair in steps(1, 5)[:3]]


def test_rows_are_held_once_without_padding(tmp_path):
    (tmp_path / "data" / "a").mkdir(parents=True)
    (tmp_path / "data" / "b").mkdir()
    for number in range(20):
        count = 2000 if number == 0 else 2
        (tmp_path / "data" / "ab"[number % 2] / f"{number}.csv").write_text(file_of(number, count))
    data = load(options("data"), tmp_path, is_streamed=True)
    (windows,) = data.inputs
    assert isinstance(windows, Windows)
    assert windows.shape == (20, 2000, 2)
    assert windows.rows.shape == (2038, 2)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_validation_data_may_lie_in_a_folder_of_its_own(tmp_path, is_streamed):
    class_folders(tmp_path)
    for number, kind in enumerate(("run", "walk")):
        (tmp_path / "other" / kind).mkdir(parents=True)
        (tmp_path / "other" / kind / "1.csv").write_text(file_of(7 + number, 9))
    given = options("data", validation_path="other")
    data = load(given, tmp_path, is_streamed=is_streamed)
    assert data.facts.samples == {"training": 4, "validation": 2, "test": 0}
    part = data.split("validation")
    assert part.targets[0].tolist() == [0, 1]
    assert np.asarray(part.inputs[0][:])[:, 8].tolist() == [list(steps(n, 9)[8]) for n in (7, 8)]


def test_the_preview_shows_sequences_with_their_labels(tmp_path):
    look = preview(options("data"), class_folders(tmp_path), tmp_path / "look", 4)
    assert (look["kind"], look["series"][0]["label"]) == ("series", "run")
    assert look["series"][0]["values"] == [[0, 1, 2], [0, -1, -2]]


@pytest.mark.parametrize(
    ("files", "values", "said"),
    [
        ({"data/a/1.csv": "x,y\n1,2\n", "data/b/1.csv": "x,z\n1,2\n"}, {}, "F/data/b/1.csv has the columns x, z; the"),
        ({"data/1.csv": "x,y\n1,2\n"}, {}, "F/data has tables and no class folders."),
        (
            {"data/a/readme.md": "hello"},
            {},
            "F/data has no tables (.csv, .tsv, .txt, .dat, .data, .xlsx, .xlsm, .jsonl, .ndjson, .json, "
            ".parquet, .pq, .npy, .mat) of sequences.",
        ),
        (
            {"data/a/1.csv": "x,y\n1,\n"},
            {"missing_cells": "refuse"},
            "Column 'y' of F/data/a/1.csv, line 2: the value is missing.",
        ),
        ({"data/a/1.csv": "x,y\n1,\n"}, {}, "F/data/a/1.csv, line 2: a value is missing, and its column has none in"),
        ({"data/a/1.csv": "x,y\n1,hot\n"}, {}, "Column 'y' of F/data/a/1.csv, line 2: expected a number, received"),
        ({"data/a/1.csv": "x,y\n1,2\n"}, {"response": "z"}, 'F/data/a/1.csv has no column "z".'),
        (
            {"data/a/1.csv": "x\n1\n", "data/b/1.csv": "x\n1\n"},
            {"task": "labels"},
            "Sequences in tables have no labels",
        ),
    ],
)
def test_folders_that_cannot_be_used(tmp_path: Path, files: dict[str, str], values: dict[str, Any], said: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert refused(tmp_path, options("data", **values)).startswith(said)


@pytest.mark.parametrize(
    ("text", "values", "said"),
    [
        ("a,y\n1,2\n", {}, "F/t.csv has no column of files, and no column that tells sequences apart is named."),
        ("file,y\nno.csv,2\n", {}, "F/t.csv, line 2: there is no file F/no.csv."),
        ("id,x,y\n1,2,3\n", {"id_column": "sequence"}, 'F/t.csv has no column "sequence".'),
        ("id,y\n1,2\n", {"id_column": "id"}, "F/t.csv has no column of numbers for the input besides the response."),
        ("id,x,y\n1,2,\n", {"id_column": "id"}, "Column 'y' of F/t.csv, line 2: the response is missing."),
        (
            "id,x,y\n1,2,a\n2,2,b\n",
            {"id_column": "id", "task": "numbers", "response": "y"},
            "The response 'y' holds texts",
        ),
        ("file,y\nt.csv,2\nt.csv,3\n", {}, 'F/t.csv lists "t.csv" twice.'),
    ],
)
def test_tables_that_cannot_be_used(tmp_path: Path, text: str, values: dict[str, Any], said: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert refused(tmp_path, options("t.csv", **values)).startswith(said)


def test_sequences_in_parquet_files(tmp_path: Path) -> None:
    from pyarrow import csv, parquet

    for number in range(4):
        place = tmp_path / "data" / "ab"[number % 2]
        place.mkdir(parents=True, exist_ok=True)
        (tmp_path / "one.csv").write_text("x,y\n" + "".join(f"{i},{i * number}\n" for i in range(5 + number)))
        parquet.write_table(csv.read_csv(tmp_path / "one.csv"), place / f"{number}.parquet")
    found = facts(DataOptions(source="sequences", path="data"), tmp_path)
    assert found.targets[0].classes == ("a", "b")
    assert found.inputs[0].columns == ("x", "y")
    assert found.inputs[0].lengths == (5, 8)


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_matrix_per_sequence_in_class_folders(tmp_path: Path, *, is_turned: bool) -> None:
    for number, count in enumerate(LENGTHS):
        place = tmp_path / "data" / ("walk" if number % 2 else "run")
        place.mkdir(parents=True, exist_ok=True)
        matrix = np.array(steps(number, count))
        if number:
            np.save(place / f"{number}.npy", matrix.T if is_turned else matrix)
        else:
            scipy.io.savemat(place / f"{number}.mat", {"x": matrix.T if is_turned else matrix, "rate": 50})
    data = load(options("data"), tmp_path)
    assert sequences_of(data) == [[list(step) for step in steps(number, LENGTHS[number])] for number in (0, 2, 1, 3)]
    assert facts(options("data"), tmp_path).targets[0].classes == ("run", "walk")
    notes = preview(options("data"), tmp_path, tmp_path, 2)["notes"]
    assert notes[:1] == (["The arrays are channels x steps, 2 channels each, and are turned."] if is_turned else [])


def test_matrices_that_cannot_be_used(tmp_path: Path) -> None:
    place = tmp_path / "data" / "a"
    place.mkdir(parents=True)
    np.save(place / "1.npy", np.zeros((5, 2)))
    np.save(place / "2.npy", np.zeros((4, 3)))
    assert refused(tmp_path, options("data")).startswith("F/data/a/2.npy holds an array of 4 x 3, and F/data/a/1.npy")
    scipy.io.savemat(place / "2.mat", {"x": np.zeros((4, 2)), "y": np.zeros((4, 2))})
    (place / "2.npy").unlink()
    assert "F/data/a/2.mat holds 'x' (4 x 2, float64), 'y' (4 x 2, float64). Expected one" in refused(
        tmp_path, options("data")
    )
    (place / "2.mat").unlink()
    (place / "2.csv").write_text("a,b\n1,2\n")
    assert refused(tmp_path, options("data")).startswith("F/data/a/2.csv is a table, and other sequences are arrays.")
