"""A run knows its data: it is recorded, a change is named and refused on resuming, and two runs are compared."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import load
from netwright.engine.launch.prepare import lock_of, prepare
from netwright.engine.launch.resume import prepare_resume
from netwright.engine.project.data import DataOptions
from netwright.engine.project.project import Project
from netwright.engine.runs.data_record import read_record, write_record
from netwright.engine.runs.folder import RunFolder
from tests.builders import chain, layer
from tests.engine.data.sources.shard_files import pictures, serving, write_tar


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


def sharded(path: str, folder: Path) -> RunFolder:
    data = DataOptions(source="shards", path=path)
    network = chain(
        layer("image_input", size=8, channels=3),
        layer("flatten"),
        layer("fully_connected", outputs=3),
        layer("softmax"),
    )
    run = prepare(Project(network=network, data=data), None, folder)
    os.close(lock_of(run))
    return run


def test_a_changed_shard_is_named(tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()
    for number in range(2):
        write_tar(tmp_path / "shards" / f"train-{number}.tar", pictures(number * 20, 20))
        (tmp_path / "shards" / f"other-{number}.tar").touch()
    run = sharded(str(tmp_path / "shards" / "train-{0..1}.tar"), tmp_path / "run")
    record = read_record(run.path)
    assert record is not None
    (place,) = record.places
    assert list(place.listing or ()) == ["train-0.tar", "train-1.tar"]
    (tmp_path / "shards" / "other-0.tar").write_bytes(b"another")
    assert record.changes() == ()
    write_tar(tmp_path / "shards" / "train-1.tar", pictures(21, 20))
    with pytest.raises(UserError, match=r"1 of 2 files in .*: train-1\.tar is newer\. Put it back"):
        prepare_resume(run)
    (tmp_path / "shards" / "train-1.tar").unlink()
    with pytest.raises(UserError, match=r"1 is gone \(train-1\.tar\)"):
        prepare_resume(run)


def test_a_changed_shard_behind_a_url_is_named_without_its_token(tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    write_tar(tmp_path / "served" / "0.tar", pictures(0, 20))
    with serving(tmp_path / "served") as server:
        run = sharded(f"{server.url}/0.tar?token=secret", tmp_path / "run")
        record = read_record(run.path)
        assert record is not None
        assert record.changes() == ()
        assert "secret" not in json.dumps(record.write())
        prepare_resume(run)
        os.close(lock_of(run))
        write_tar(tmp_path / "served" / "0.tar", pictures(1, 20))
        with pytest.raises(UserError, match=r"0\.tar is another version\. Put it back") as refused:
            prepare_resume(run)
    assert "secret" not in str(refused.value)


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
