"""Runs that a newer version wrote: read as far as they are understood, refused in words where that would be wrong."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cli.main import main
from netwright.engine.project.file import dumps, load
from netwright.engine.runs.checkpoint_files import newest_whole
from netwright.engine.runs.events import EpochEnded, UnknownEvent
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.history import list_runs
from netwright.engine.runs.log import EventLog, read_all

GOLDEN = Path(__file__).parents[2] / "golden" / "runs" / "2_finished"


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A finished run with one checkpoint."""
    shutil.copytree(GOLDEN, tmp_path / "runs" / "run")
    return RunFolder(tmp_path / "runs" / "run")


def change(path: Path, **changes: Any) -> None:
    """Other values for some keys of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **changes}), encoding="utf-8")


def test_what_is_not_known_is_passed_over(run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = json.loads(run.project.read_bytes())
    training = {**project["training"], "wisdom": {"deep": [1, 2]}}
    change(run.project, netwright=[1, 99], training=training, later={"x": 1})
    change(run.info, later={"x": [1]}, environment={"resolved": "cpu", "quantum": True})
    change(run.result, later=[], validation={"loss": 0.5, "elegance": 0.9, "by_class": {"a": 1}})
    change(run.path / "notes.json", later={}, colour="red")
    change(run.path / "metrics.json", later={"x": 1})
    known = read_all(run)
    lines = run.events.read_bytes().splitlines()
    (at,) = (i for i, line in enumerate(lines) if b'"kind":"epoch","epoch":1' in line)
    lines[at] = json.dumps({**json.loads(lines[at]), "later": 1}).encode()
    lines.insert(3, b'{"n":3,"time":1.0,"kind":"dream","of":{"sheep":[1,2]}}')
    run.events.write_bytes(b"\n".join(lines) + b"\n")
    events = read_all(run)
    assert [event for event in events if not isinstance(event, UnknownEvent)] == known
    assert len(events) == len(known) + 1
    assert any(isinstance(event, EpochEnded) and event.epoch == 1 for event in events)
    (found,) = list_runs(run.path.parent)
    assert (found.state, found.notes.note, found.scores["validation.loss"]) == ("finished", "a note of then", 0.5)
    assert main(["curves", str(run.path), "-o", str(tmp_path / "curves.csv")]) == 0
    assert main(["export", str(run.path), "--format", "pytorch", "-o", str(tmp_path / "net.py")]) == 0
    capsys.readouterr()
    opened = load(run.project)
    assert "comes from a newer version (format 1.99)" in opened.notices[0]
    assert json.loads(dumps(opened.project))["training"]["wisdom"] == {"deep": [1, 2]}


def test_a_log_of_a_newer_version_is_numbered_on(run: RunFolder) -> None:
    last = read_all(run)[-1].n
    with open(run.events, "ab") as file:
        file.write(f'{{"n":{last + 1},"time":1.0,"kind":"dream","of":{{}}}}\n'.encode())
    log = EventLog(run)
    assert log.last == last + 1
    log.close()


@pytest.mark.parametrize("command", [["export", "--format", "pytorch", "-o", "net.py"], ["resume"]])
def test_a_project_of_a_newer_format_is_refused(
    run: RunFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(run.path.parent)
    change(run.project, netwright=[2, 0])
    before = run.project.read_bytes()
    assert main([command[0], str(run.path), *command[1:]]) == 2
    assert "reads up to 1.x. Open it with a newer version." in capsys.readouterr().err
    assert run.project.read_bytes() == before
    (found,) = list_runs(run.path.parent)
    assert found.state == "finished"


def test_a_checkpoint_of_a_newer_version_is_not_used(run: RunFolder) -> None:
    (manifest,) = run.checkpoints.glob("*/manifest.json")
    body = {key: value for key, value in json.loads(manifest.read_bytes()).items() if key != "sha256"} | {"version": 3}
    sha256 = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    manifest.write_text(json.dumps({**body, "sha256": sha256}), encoding="utf-8")
    found, refused = newest_whole(run)
    assert found is None
    assert refused == [
        "The checkpoint of iteration 20 is damaged (it was written by a newer version of Netwright) and is not used."
    ]
