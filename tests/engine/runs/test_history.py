"""The runs of a folder, damaged ones among them, and numbers in words."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from engine.commands.runs import _row
from engine.errors import UserError
from engine.runs.folder import create, runs_beside, update_info
from engine.runs.history import last_run, list_runs
from engine.runs.words import bytes_in_words, duration, metric_value


def made(folder: Path, name: str, created: Any, **info: Any) -> Path:
    """A run that has ended."""
    run = create(folder / name, "", {"name": name, "created": created, **info})
    update_info(run, state="finished")
    return run.path


def test_runs_are_listed_newest_first(tmp_path: Path) -> None:
    made(tmp_path, "old", 100.0, environment={"resolved": "cpu"})
    path = made(tmp_path, "new", 200)
    (path / "result.json").write_text('{"state": "finished", "test": {"accuracy": 0.5}}')
    (tmp_path / "no run").mkdir()
    (tmp_path / "file").touch()
    runs = list_runs(tmp_path)
    assert [run.name for run in runs] == ["new", "old"]
    assert (runs[1].state, runs[1].environment, runs[1].result) == ("finished", "cpu", None)
    assert json.loads(json.dumps(runs[0].write()))["result"]["test"] == {"accuracy": 0.5}


@pytest.mark.parametrize("created", ["soon", [], None, True, {}, math.nan, math.inf])
def test_a_run_with_odd_facts_is_still_listed(tmp_path: Path, created: object) -> None:
    path = made(tmp_path, "odd", created, environment=["cpu"])
    (path / "result.json").write_text('{"seconds": "long", "test": {"accuracy": "high", "loss": "NaN", "rmse": null}}')
    made(tmp_path, "good", 100)
    runs = list_runs(tmp_path)
    assert {run.name for run in runs} == {"odd", "good"}
    rows = {row[0]: row for row in map(_row, runs)}
    assert rows["odd"][-1] == "loss nan"


def test_damaged_runs_are_left_out_and_damaged_results_count_as_none(tmp_path: Path) -> None:
    (made(tmp_path, "broken", 1) / "run.json").write_bytes(b"{")
    (made(tmp_path, "list", 1) / "run.json").write_bytes(b"[]")
    (made(tmp_path, "half", 1) / "result.json").write_bytes(b'{"state"')
    (run,) = list_runs(tmp_path)
    assert (run.name, run.result) == ("half", None)
    assert _row(run)[-1] == ""


def test_somebody_elses_run_does_not_hide_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, "mine", 1)
    made(tmp_path, "theirs", 1)
    is_file = Path.is_file

    def refuse(path: Path) -> bool:
        if path.parent.name == "theirs":
            raise PermissionError(13, "Permission denied")
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", refuse)
    assert [run.name for run in list_runs(tmp_path)] == ["mine"]


@pytest.mark.parametrize("name", ["absent", "file"])
def test_a_folder_that_cannot_be_listed(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot be listed: .+\. Name the folder that holds the runs\."):
        list_runs(tmp_path / name)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0.0 s"), (0.84, "0.8 s"), (9.94, "9.9 s"), (59.6, "1 m 0 s"), (276, "4 m 36 s"), (3725, "1 h 2 m")],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_other_numbers() -> None:
    assert duration(math.nan) == duration(math.inf) == "?"
    assert (bytes_in_words(0), bytes_in_words(2**20 * 612), bytes_in_words(3 * 2**29)) == ("", "612 MiB", "1.5 GiB")
    assert metric_value("accuracy", 0.964) == "accuracy 96.4 %"
    assert metric_value("loss", 0.11312) == "loss 0.1131"
    assert metric_value("accuracy", math.nan) == "accuracy nan"


def test_the_last_run_of_a_project_is_among_those_beside_it(tmp_path: Path) -> None:
    project = tmp_path / "one.netwright"
    assert last_run(project) is None
    for name, of, created in (("a", "one", 2.0), ("b", "one", 3.0), ("c", "two", 4.0), ("d", "one", "damaged")):
        info = {"project_path": f"elsewhere/{of}.netwright"}
        run = create(runs_beside(project) / name, "{}", info)
        update_info(run, created=created)
    (runs_beside(project) / "note.txt").touch()
    found = last_run(project)
    assert found is not None
    assert found.path.name == "b"
