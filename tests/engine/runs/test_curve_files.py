"""Curves as CSV, and for TensorBoard and MLflow, whose own libraries read them back here."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.runs.create import create
from netwright.engine.runs.curve_files import read_curves, unique_names, write_curves
from netwright.engine.runs.events import Points
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import EventLog
from netwright.engine.runs.log_lines import split_points
from netwright.engine.runs.notes import write_notes
from netwright.engine.runs.watched_weights import FILE as WEIGHTS
from netwright.engine.runs.watched_weights import POINTS, WeightStep

NO_NETWORK = """
import socket, sys, threading
def refuse(*arguments):
    raise AssertionError(f"connects to {arguments}")
socket.socket.connect = socket.getaddrinfo = refuse
from netwright.engine.cli.main import main
assert main(sys.argv[1:]) == 0
assert threading.active_count() == 1
"""


class Without:
    """An import hook that hides a package, as if it were not installed."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, name: str, *_: object) -> None:
        if name.partition(".")[0] == self._package:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    run = create(tmp_path / "run", "{}", RunInfo(name="run"))
    events = EventLog(run)
    events.append(Points(split="training", first_step=1, steps_apart=1, values={"loss": [3.0, 2.0, 9.0]}))
    events.append(Points(split="validation", first_step=2, steps_apart=1, values={"loss": [2.5], "rmse": [0.125]}))
    events.append(Points(split="training", first_step=3, steps_apart=1, values={"loss": [math.nan, 1.5]}))
    events.close()
    return run


def test_a_thinned_log_keeps_its_spikes_in_every_format(tmp_path: Path) -> None:
    run = create(tmp_path / "long", "{}", RunInfo(name="run"))
    events, values = EventLog(run, limit_bytes=2**18), [1.0] * 150_000
    values[999], values[49_999] = math.nan, 1e6
    points = Points(split="training", first_step=1, steps_apart=1, values={"loss": values})
    for part in split_points(points):
        events.append(part)
    events.close()
    (curve,) = read_curves(run)
    assert len(curve.steps) < len(values), "it was thinned"
    by_step = dict(zip(curve.steps, curve.values, strict=True))
    assert math.isnan(by_step[1_000])
    assert by_step[50_000] == 1e6
    assert by_step[150_000] == 1.0
    write_curves([run], "csv", tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert {"long,loss,training,1000,nan", "long,loss,training,50000,1000000"} <= set(lines)


def scalars(path: Path) -> list[tuple[str, int, float, float]]:
    """Tag, step, value and time of the events of a file, as TensorBoard reads them."""
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    version, *events = LegacyEventFileLoader(str(path)).Load()
    assert version.file_version == "brain.Event:2"
    return [(e.summary.value[0].tag, e.step, e.summary.value[0].simple_value, e.wall_time) for e in events]


def test_points_of_a_run_that_went_back_are_replaced(run: RunFolder) -> None:
    training, validation, rmse = read_curves(run)
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
    training, validation = map(scalars, files)
    assert [(tag, step) for tag, step, _, _ in training] == [("loss", 1), ("loss", 2), ("loss", 3), ("loss", 4)]
    assert [value for _, _, value, _ in training if not math.isnan(value)] == [3.0, 2.0, 1.5]
    assert [point[:3] for point in validation] == [("loss", 2, 2.5), ("rmse", 2, 0.125)]
    (first, *_), _, rmse = read_curves(run)[0].times, *read_curves(run)[1:]
    assert (training[0][3], validation[1][3]) == (first, rmse.times[0])
    assert main(words) == 0  # again: nothing is there twice
    assert len(list(target.glob("*/*/*"))) == 2


def test_numbers_beyond_a_small_float_are_its_largest(run: RunFolder, tmp_path: Path) -> None:
    events = EventLog(run)
    events.append(Points(split="test", first_step=1, steps_apart=1, values={"x": [1e300, math.inf, -1e300]}))
    events.close()
    path = write_curves([run], "tensorboard", tmp_path / "logs")[-1]
    assert [value for _, _, value, _ in scalars(path)] == pytest.approx([3.4028235e38, math.inf, -3.4028235e38])


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
    folder, empty = (Path(name) for name in json.loads(capsys.readouterr().out)["files"])
    assert (folder.parent, folder.parent.parent) == (empty.parent, target), "both in one experiment"

    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=target.as_uri())
    assert client.get_experiment(folder.parent.name).name == 'digits: "new" Ä'
    written = client.get_run(folder.name)
    assert (written.info.status, written.info.start_time, written.info.run_name) == ("FINISHED", 1000500, "run")
    points = client.get_metric_history(folder.name, "training/loss")
    assert [point.step for point in points] == [1, 2, 3, 4]
    assert [point.value for point in points if not math.isnan(point.value)] == [3.0, 2.0, 1.5]
    assert all(point.timestamp > 1.7e12 for point in points), "milliseconds"
    (figure,) = client.get_metric_history(folder.name, "test/loss")
    assert (figure.value, figure.step) == (2.25, 4), "a final figure without a curve"
    assert sorted(written.data.metrics) == ["test/loss", "training/loss", "validation/loss", "validation/rmse"]
    assert (written.data.params["training.max_epochs"], written.data.params["training.solver"]) == ("7", "adam")
    assert client.get_run(empty.name).data.params["training.solver"] == "sgdm", "its default"
    assert {name: text for name, text in written.data.tags.items() if name != "netwright.run"} == {
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
    folders = [Path(name) for name in json.loads(capsys.readouterr().out)["files"]]
    assert sorted(path for path in folder.parent.iterdir() if path.is_dir()) == sorted(folders)
    assert "tag.paper" not in client.get_run(folders[0].name).data.tags


def test_mlflow_sends_nothing_and_leaves_nothing_in_the_home_folder(run: RunFolder, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW", "XDG", "CI"))}
    environment |= {"HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[3])}
    command = ["curves", str(run.path), "--format", "mlflow", "-o", str(tmp_path / "mlruns")]
    subprocess.run([sys.executable, "-c", NO_NETWORK, *command], env=environment, check=True, cwd=home)
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize("format", ["tensorboard", "mlflow"])
def test_a_missing_library_is_named_with_its_extra(
    format: str, run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == format]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Without(format), *sys.meta_path])
    assert main(["curves", str(run.path), "--format", format, "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert f"need {format}, which is not installed. " in said
    assert f'pip install "netwright[{format}]"' in said
    assert not (tmp_path / "out").exists()


def test_names_stay_in_their_folder() -> None:
    odd = ["../../x", "..", "", "a b-c_d.e", "a/b", "a:b", "A:B", "Ä" * 300]
    assert list(unique_names(odd)) == ["__.._x", "_", "__2", "a b-c_d.e", "a_b", "a_b_2", "A_B_3", "_" * 100]


def test_what_cannot_be_written_is_said(run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["curves", str(run.path), "--format", "tensorboard", "-o", str(tmp_path / "file")]) == 2
    assert "cannot be written: Not a directory" in capsys.readouterr().err
    assert write_curves([run], "csv", tmp_path / "all.csv") == [tmp_path / "all.csv"]


def test_damaged_lines_are_passed_over(run: RunFolder) -> None:
    before = [curve.steps.tolist() for curve in read_curves(run)]
    odd = {"kind": "points", "n": 9, "time": 1.0, "split": "training", "first_step": 9, "steps_apart": 1}
    with run.events.open("a") as file:
        for values in ({"loss": None}, {"loss": ["x"]}, {"loss": [[1.0]]}, {"loss": 3}, {"loss": [10**400]}):
            file.write(json.dumps({**odd, "values": values}) + "\n")
    assert [curve.steps.tolist() for curve in read_curves(run)] == before


def test_distributions_of_layers_go_into_a_table_and_to_tensorboard(run: RunFolder, tmp_path: Path) -> None:
    event_files = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    values = [number / 10 for number in range(POINTS)]
    (run.path / WEIGHTS).write_bytes(WeightStep(7, 2, {"conv_1": {"weights": values}}).line)
    (path,) = write_curves([run], "weights-csv", tmp_path / "weights.csv")
    head, line = path.read_text().splitlines()
    assert head.startswith("run,layer,kind,epoch,step,0 %,2.5 %")
    assert line.split(",")[:6] == ["run", "conv_1", "weights", "2", "7", "0.0"]
    logs = write_curves([run], "tensorboard", tmp_path / "logs")
    read = event_files.EventAccumulator(str(next(path for path in logs if path.parent.name == "training")))
    (histogram,) = read.Reload().Histograms("weights/conv_1")
    assert (histogram.step, histogram.histogram_value.min, histogram.histogram_value.max) == (7, 0.0, 4.0)
    assert sum(histogram.histogram_value.bucket) == POINTS - 1
