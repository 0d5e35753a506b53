"""A run knows its data: it is recorded, a change is named and refused on resuming, and two runs are compared."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.cli.main import main
from engine.core.errors import UserError
from engine.data.load import load
from engine.launch.prepare import lock_of, prepare
from engine.launch.resume import prepare_resume
from engine.project.data import DataOptions
from engine.project.project import Project
from engine.runs.data_record import read_record, write_record
from engine.runs.folder import RunFolder
from tests.builders import chain, layer


def write_table(path: Path, rows: int = 40) -> None:
    lines = [f"{i * 0.5},{i % 3},{'ab'[i % 2]}" for i in range(rows)]
    path.write_text("\n".join(["x,z,y", *lines]))


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    write_table(tmp_path / "a.csv")
    return made(tmp_path, "run")


def made(folder: Path, name: str, **options: object) -> RunFolder:
    data = DataOptions(source="table", path=str(folder / "a.csv"), **options)
    network = chain(layer("feature_input", channels=2), layer("fully_connected", outputs=2), layer("softmax"))
    made = prepare(Project(network=network, data=data), None, folder / name)
    os.close(lock_of(made))
    return made


def test_files_and_exact_splits_are_recorded(run: RunFolder, tmp_path: Path) -> None:
    record = read_record(run.path)
    assert record is not None
    (place,) = record.places
    assert (place.option, place.path, place.files) == ("path", str(tmp_path / "a.csv"), 1)
    assert record.changes() == ()
    numbers = load(DataOptions(source="table", path="a.csv"), tmp_path).numbers
    assert {name: record.numbers(name) for name in numbers} == {name: part.tolist() for name, part in numbers.items()}
    assert record.versions["numpy"] == np.__version__


def test_resuming_with_changed_data_is_refused_and_may_be_allowed(run: RunFolder, tmp_path: Path) -> None:
    write_table(tmp_path / "a.csv", 44)
    said = r"a\.csv has \d+ bytes instead of \d+\. Put it back .* --allow-changed-data"
    with pytest.raises(UserError, match=said) as refused:
        prepare_resume(run)
    assert refused.value.code == "changed_data"
    assert not run.is_alive()
    prepare_resume(run, allow_changed_data=True)
    os.close(lock_of(run))
    record = read_record(run.path)
    assert record is not None
    assert len(record.parts) == 44
    assert len(record.replaced) == 1
    assert run.read_info().resumed == "resumed on request, with changed data"
    prepare_resume(run)  # the record is that of the data as it is now
    os.close(lock_of(run))


def test_other_splits_of_the_same_data_are_noticed(run: RunFolder) -> None:
    record = read_record(run.path)
    assert record is not None
    write_record(run.path, replace(record, parts=bytes(40)))
    with pytest.raises(UserError, match=r"divided into splits in another way than before"):
        prepare_resume(run)


def test_missing_data_is_named_as_a_change(run: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "a.csv").unlink()
    with pytest.raises(UserError, match=r"a\.csv is gone\."):
        prepare_resume(run)


def test_a_run_without_a_record_resumes(run: RunFolder, tmp_path: Path) -> None:
    run.data.unlink()
    write_table(tmp_path / "a.csv", 44)
    prepare_resume(run)
    os.close(lock_of(run))
    assert not run.data.exists()


def test_show_says_what_the_data_was_and_what_changed(
    run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(run.path)]) == 0
    assert f"data         {tmp_path / 'a.csv'} (1 file, " in (said := capsys.readouterr().out)
    assert "; training 28, validation 6, test 6" in said
    write_table(tmp_path / "a.csv", 44)
    assert main(["show", str(run.path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["data"]
    assert told["samples"] == {"training": 28, "validation": 6, "test": 6}
    assert "instead of" in told["changes"][0]


def test_runs_are_compared_with_their_data(run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = made(tmp_path, "again")
    assert main(["compare", str(run.path), str(again.path)]) == 0
    assert "The data is the same" in capsys.readouterr().out
    other = made(tmp_path, "other", split_seed=3)
    assert main(["compare", str(run.path), str(other.path)]) == 4
    assert "data: The splits hold other samples, as many in each." in capsys.readouterr().out
    again.data.unlink()
    assert main(["compare", str(run.path), str(again.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"] == {"equal": None, "differences": []}
