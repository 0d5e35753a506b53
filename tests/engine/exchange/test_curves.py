"""Curves leave as CSV, as event files, which are read back here as TensorBoard reads them, and for MLflow."""

import json
import math
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.exchange.curves import curves_of, write_curves
from engine.exchange.mlflow import unique
from engine.exchange.tensorboard import crc32c, log, scalar
from engine.runs.create import create
from engine.runs.events import Points
from engine.runs.folder import RunFolder
from engine.runs.info import RunInfo
from engine.runs.log import EventLog
from engine.runs.notes import write_notes


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    run = create(tmp_path / "run", "{}", RunInfo(name="run"))
    events = EventLog(run)
    events.append(Points(split="training", first_step=1, steps_apart=1, values={"loss": [3.0, 2.0, 9.0]}))
    events.append(Points(split="validation", first_step=2, steps_apart=1, values={"loss": [2.5], "rmse": [0.125]}))
    events.append(Points(split="training", first_step=3, steps_apart=1, values={"loss": [math.nan, 1.5]}))
    events.close()
    return run


def records(data: bytes) -> Iterator[bytes]:
    """The events of a file, with their checksums looked at."""
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        body = data[12 : 12 + length]
        for part, told in ((data[:8], data[8:12]), (body, data[12 + length : 16 + length])):
            crc = crc32c(part)
            assert struct.unpack("<I", told) == ((((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF,)
        yield body
        data = data[16 + length :]


def test_the_checksum_is_that_of_castagnoli() -> None:
    assert crc32c(b"123456789") == 0xE3069283  # the check value of RFC 3720
    assert crc32c(bytes(32)) == 0x8A9136AA


def test_an_event_has_the_bytes_of_protocol_buffers() -> None:
    version, event = records(log(1.0, [scalar("loss", 300, 0.5, 2.0)]))
    assert version == b"\x09" + struct.pack("<d", 1.0) + b"\x1a\x0dbrain.Event:2"
    value = b"\x0a\x04loss\x15" + struct.pack("<f", 0.5)
    assert event == b"\x09" + struct.pack("<d", 2.0) + b"\x10\xac\x02\x2a\x0d\x0a\x0b" + value


def test_numbers_beyond_a_small_float_are_its_largest() -> None:
    found = [list(records(log(0.0, [scalar("x", 1, value, 0.0)])))[1][-4:] for value in (1e300, math.inf, math.nan)]
    numbers = [struct.unpack("<f", one)[0] for one in found]
    assert numbers[0] == pytest.approx(3.4028e38, rel=1e-4)
    assert (numbers[1], math.isnan(numbers[2])) == (math.inf, True)


def test_points_of_a_run_that_went_back_are_replaced(run: RunFolder) -> None:
    training, validation, rmse = curves_of(run)
    assert (training.steps.tolist(), training.values[3]) == ([1, 2, 3, 4], 1.5)
    assert math.isnan(training.values[2])
    assert (validation.split, validation.values.tolist(), rmse.name) == ("validation", [2.5], "rmse")


def test_a_table(run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "curves.csv"
    assert main(["curves", str(run.path), "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"wrote {target}\n"
    assert target.read_text().splitlines() == [
        "run,curve,split,step,value",
        *("run,loss,training,1,3", "run,loss,training,2,2", "run,loss,training,3,nan", "run,loss,training,4,1.5"),
        *("run,loss,validation,2,2.5", "run,rmse,validation,2,0.125"),
    ]


def test_a_folder_for_tensorboard(run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "logs"
    words = ["curves", str(run.path), "--format", "tensorboard", "-o", str(target), "--json"]
    assert main(words) == 0
    files = [Path(name) for name in json.loads(capsys.readouterr().out)["files"]]
    assert [path.parent.relative_to(target).as_posix() for path in files] == ["run/training", "run/validation"]
    assert [len(list(records(path.read_bytes()))) for path in files] == [5, 3]
    assert main(words) == 0  # again: nothing is there twice
    assert len(list(target.glob("*/*/*"))) == 2


def test_a_folder_for_mlflow(run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = {"training": {"max_epochs": 7, "solver": "adam"}}
    ended = {"name": 'digits: "new" Ä', "state": "finished", "created": 1000.5}
    result = {"iterations": 4, "test": {"loss": 2.25}, "loss": 1.5, "reason": "all epochs"}
    for path, text in ((run.project, options), (run.info, ended), (run.result, result)):
        path.write_text(json.dumps(text))
    write_notes(run, note="too high a rate\nor not", tags=("paper", "try: ätsch"))
    other = create(tmp_path / "other", "{}", RunInfo.read({**ended, "created": 999.0}))
    target = tmp_path / "mlruns"
    words = ["curves", str(run.path), str(other.path), "--format", "mlflow", "-o", str(target), "--json"]
    assert main(words) == 0
    told, empty = (Path(name) for name in json.loads(capsys.readouterr().out)["files"])
    assert (told.parent, told.parent.parent) == (empty.parent, target), "both in one experiment"
    about = (told.parent / "meta.yaml").read_text().splitlines()
    assert f"experiment_id: {json.dumps(told.parent.name)}" in about
    assert {'name: "digits: \\"new\\" Ä"', "creation_time: 999000", 'lifecycle_stage: "active"'} <= {*about}
    about = (told / "meta.yaml").read_text().splitlines()
    assert {"status: 3", "start_time: 1000500", 'run_name: "run"', f'run_id: "{told.name}"'} <= {*about}
    files = {path.relative_to(told).as_posix(): path.read_text() for path in told.glob("[mpt]*/**/*") if path.is_file()}
    lines = [line.split(" ") for line in files.pop("metrics/training/loss").splitlines()]
    assert [line[1:] for line in lines] == [["3.0", "1"], ["2.0", "2"], ["nan", "3"], ["1.5", "4"]]
    assert all(int(line[0]) > 1.7e12 for line in lines), "milliseconds"
    assert files.pop("metrics/test/loss").endswith(" 2.25 4\n"), "a figure of the end without a curve"
    assert sorted(name for name in files if name.startswith("metrics")) == [
        "metrics/validation/loss",
        "metrics/validation/rmse",
    ]
    assert (files["params/training.max_epochs"], files["params/training.solver"]) == ("7", "adam")
    assert (empty / "params/training.solver").read_text() == "sgdm", "its default"
    assert {name[5:]: text for name, text in files.items() if name.startswith("tags/")} == {
        "mlflow.runName": "run",
        "mlflow.note.content": "too high a rate\nor not",
        "mlflow.source.name": "netwright",
        "state": "finished",
        "reason": "all epochs",
        "tag.paper": "paper",
        "tag.try_ _tsch": "try: ätsch",
    }
    write_notes(run, tags=())
    assert main(words) == 0  # again: nothing is there twice, and what is no more has gone
    assert sorted(path for path in target.glob("*/*") if path.is_dir()) == sorted((told, empty))
    assert not list(told.glob("tags/tag.*"))


def test_names_stay_in_their_folder() -> None:
    odd = ["../../x", "..", "", "a b-c_d.e", "a/b", "a:b", "A:B", "Ä" * 300]
    assert list(unique(odd)) == ["__.._x", "_", "__2", "a b-c_d.e", "a_b", "a_b_2", "A_B_3", "_" * 100]


def test_what_cannot_be_written_is_said(run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["curves", str(run.path), "--format", "tensorboard", "-o", str(tmp_path / "file")]) == 2
    assert "cannot be written: Not a directory" in capsys.readouterr().err
    assert write_curves([run], "csv", tmp_path / "all.csv") == [tmp_path / "all.csv"]


def test_damaged_lines_are_passed_over(run: RunFolder) -> None:
    before = [curve.steps.tolist() for curve in curves_of(run)]
    odd = {"kind": "points", "n": 9, "time": 1.0, "split": "training", "first_step": 9, "steps_apart": 1}
    with run.events.open("a") as file:
        for values in ({"loss": None}, {"loss": ["x"]}, {"loss": [[1.0]]}, {"loss": 3}, {"loss": [10**400]}):
            file.write(json.dumps({**odd, "values": values}) + "\n")
    assert [curve.steps.tolist() for curve in curves_of(run)] == before
