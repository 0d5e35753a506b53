"""The runs of a folder, damaged ones among them, and numbers in words."""

import json
import math
import os
import random
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.text import format_bytes, format_duration
from netwright.engine.runs.create import SHIPPED, create, runs_beside
from netwright.engine.runs.events import EpochEnded, Points, Progress, Resumed
from netwright.engine.runs.folder import RunFolder, take_lock, update_info
from netwright.engine.runs.history import (
    Index,
    ProjectKey,
    index_path,
    last_run,
    list_runs,
    next_number,
    own_runs,
    register,
    roots_of,
    runs_of,
)
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import EventLog
from netwright.engine.runs.notes import write_notes
from netwright.engine.runs.summary import format_metric, result_text


def made(folder: Path, name: str, created: Any, **info: Any) -> Path:
    """A run that has ended."""
    run = create(folder / name, "", RunInfo.read({"name": name, "created": created, **info}))
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
    assert {run.name: result_text(run) for run in runs} == {"odd": "loss –", "good": ""}


def test_a_damaged_run_is_listed_as_such_and_a_damaged_result_counts_as_none(tmp_path: Path) -> None:
    (made(tmp_path, "broken", 1) / "run.json").write_bytes(b"{")
    (made(tmp_path, "list", 1) / "run.json").write_bytes(b"[]")
    (made(tmp_path, "half", 1) / "result.json").write_bytes(b'{"state"')
    runs = {run.path.name: run for run in list_runs(tmp_path)}
    assert {name: run.state for name, run in runs.items()} == {
        "broken": "damaged",
        "list": "damaged",
        "half": "finished",
    }
    assert (runs["half"].result, result_text(runs["half"])) == (None, "")


def test_somebody_elses_run_does_not_hide_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, "mine", 1)
    made(tmp_path, "theirs", 1)
    stat = os.stat

    def refuse(path: Any, *given: Any, **named: Any) -> os.stat_result:
        if "theirs" in str(path):
            raise PermissionError(13, "Permission denied")
        return stat(path, *given, **named)

    monkeypatch.setattr(os, "stat", refuse)
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
    assert format_duration(seconds) == words


def test_other_numbers() -> None:
    assert format_duration(math.nan) == format_duration(math.inf) == "?"
    assert (format_bytes(2**20 * 612), format_bytes(3 * 2**29)) == ("612 MiB", "1.5 GiB")
    assert format_metric("accuracy", 0.964) == "accuracy 96.4 %"
    assert format_metric("loss", 0.11312) == "loss 0.113"
    assert format_metric("accuracy", math.nan) == "accuracy –"


def test_the_last_run_of_a_project_is_among_those_beside_it(tmp_path: Path) -> None:
    project = tmp_path / "one.netwright"
    assert last_run(ProjectKey(project)) is None
    for name, of, created in (("a", "one", 2.0), ("b", "one", 3.0), ("c", "two", 4.0), ("d", "one", "damaged")):
        info = RunInfo(project_path=f"elsewhere/{of}.netwright")
        run = create(runs_beside(project) / name, "{}", info)
        update_info(run, created=created)
    (runs_beside(project) / "note.txt").touch()
    found = last_run(ProjectKey(project))
    assert found is not None
    assert found.path.name == "b"


def test_the_last_run_of_a_shipped_project_is_in_the_users_data(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    own, waves = own_runs(), SHIPPED / "examples" / "waves.netwright"
    assert own is not None
    assert last_run(ProjectKey(waves)) is None
    made(own, "mine", 3.0, project_path="elsewhere/waves.netwright")
    run = made(own, "shipped", 2.0, project_path=str(waves))
    found = last_run(ProjectKey(waves))
    assert found is not None
    assert found.path == run


def test_the_index_tells_what_the_folders_tell(tmp_path: Path) -> None:
    """Read anew, from the index, and after every kind of change, the list is that of an index made anew."""

    def listed() -> list[dict[str, Any]]:
        now = [run.write() for run in list_runs(tmp_path)]
        again = [run.write() for run in list_runs(tmp_path)]
        index_path(tmp_path).unlink()
        assert now == again == [run.write() for run in list_runs(tmp_path)]
        return now

    paths = [made(tmp_path, f"run_{number}", number) for number in range(3)]
    (paths[0] / "result.json").write_text('{"validation": {"loss": 0.5}}')
    assert [run["name"] for run in listed()] == ["run_2", "run_1", "run_0"]
    write_notes(RunFolder(paths[1]), note="better", tags=("paper",))
    (paths[2] / "project.netwright").write_text('{"training": {"max_epochs": 7}}')
    now = listed()
    assert (now[1]["note"], now[1]["tags"], now[0]["options"]) == ("better", ["paper"], {"training.max_epochs": 7})
    paths[0].rename(tmp_path / "moved")
    assert [Path(run["run_dir"]).name for run in listed()] == ["run_2", "run_1", "moved"]


@pytest.mark.parametrize("damage", ["noise", "empty", "cut", "foreign", "record", "folder"])
def test_a_damaged_index_is_made_anew(tmp_path: Path, damage: str) -> None:
    made(tmp_path, "one", 1)
    before = [run.write() for run in list_runs(tmp_path)]
    path = index_path(tmp_path)
    match damage:
        case "noise":
            path.write_bytes(random.Random(0).randbytes(20_000))
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(path.read_bytes()[:5000])
        case "foreign":
            path.unlink()
            with sqlite3.connect(path) as other:
                other.execute("CREATE TABLE runs (x)")
                other.execute("PRAGMA user_version=1")
            other.close()
        case "record":
            with sqlite3.connect(path) as other:
                other.execute("UPDATE runs SET record = '{}'")
            other.close()
        case _:
            path.unlink()
            path.mkdir()
    assert [run.write() for run in list_runs(tmp_path)] == before
    assert [run.write() for run in list_runs(tmp_path)] == before


def test_the_index_is_private_and_in_the_cache(tmp_path: Path) -> None:
    made(tmp_path, "one", 1)
    list_runs(tmp_path)
    path = index_path(tmp_path)
    assert path.is_relative_to(os.environ["XDG_CACHE_HOME"])
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["one"]


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, "one", 1)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [run.name for run in list_runs(tmp_path)] == ["one"]


def test_several_use_an_index_at_once(tmp_path: Path) -> None:
    for number in range(20):
        made(tmp_path, f"run_{number}", number)
    counts: list[int] = []

    def work() -> None:
        for round in range(5):
            counts.append(len(list_runs(tmp_path)))
            write_notes(RunFolder(tmp_path / f"run_{round}"), note=threading.current_thread().name)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert counts == [20] * 20
    index = Index(tmp_path)
    assert len(index.read()) == 20
    index.close()


def test_a_run_at_work_is_told_from_a_lost_one_and_tells_how_far_it_is(tmp_path: Path) -> None:
    run = create(tmp_path / "run", "{}", RunInfo(name="a", created=1.0))
    update_info(run, state="running")
    log = EventLog(run)
    log.append(Points(split="training", first_step=1, steps_apart=1, values={"loss": [3.0, 2.0], "accuracy": [0, 0.5]}))
    log.append(Points(split="validation", first_step=2, steps_apart=1, values={"loss": [2.5], "rmse": [4.0]}))
    log.append(progress(iteration=2, elapsed_s=5.0))
    log.append(EpochEnded(epoch=1, iteration=2))
    log.close()
    lock = take_lock(run)
    (found,) = list_runs(tmp_path)
    assert (found.state, found.is_alive) == ("running", True)
    assert found.scores == {
        "training.loss": 2.0,
        "training.accuracy": 0.5,
        "validation.loss": 2.5,
        "validation.rmse": 4.0,
    }
    assert [found.number(name) for name in ("epochs", "iterations", "seconds")] == [1, 2, 5.0]
    os.close(lock)
    (found,) = list_runs(tmp_path)
    assert (found.state, found.is_alive) == ("lost", False)
    assert found.scores["validation.loss"] == 2.5


def test_what_a_resumed_run_repeats_does_not_count_twice(tmp_path: Path) -> None:
    run = create(tmp_path / "run", "{}", RunInfo(name="a", created=1.0))
    log = EventLog(run)
    log.append(Points(split="training", first_step=1, steps_apart=1, values={"loss": [3.0], "accuracy": [0.5]}))
    log.append(Points(split="test", first_step=1, steps_apart=1, values={"loss": [7.0]}))
    log.append(EpochEnded(epoch=1, iteration=1))
    log.append(Points(split="training", first_step=2, steps_apart=1, values={"loss": [2.0], "accuracy": [0.75]}))
    log.append(Points(split="validation", first_step=2, steps_apart=1, values={"loss": [2.5]}))
    log.append(progress(iteration=2, elapsed_s=5.0))
    log.append(Resumed(iteration=1, after=3, reason="again"))
    log.close()
    (found,) = list_runs(tmp_path)
    assert found.scores == {"training.loss": 3.0, "training.accuracy": 0.5, "test.loss": 7.0}
    assert [found.number(name) for name in ("epochs", "iterations", "seconds")] == [1, None, None]


def progress(**known: Any) -> Progress:
    return Progress(epoch=1, remaining_s=1.0, rate=0.1, samples_per_second=1.0, memory_bytes=0, **known)


def test_a_run_says_what_it_changes_of_the_one_before(tmp_path: Path) -> None:
    def run(name: str, created: float, network: int, **training: Any) -> None:
        project = {"network": {"layers": [{"id": "a", "at": [created, 0], "fields": {"filters": network}}]}}
        path = made(tmp_path, name, created)
        (path / "project.netwright").write_text(json.dumps({**project, "training": training}))
        update_info(RunFolder(path), name="one")

    run("a", 1, 8)
    run("b", 2, 8, max_epochs=60, solver="adam")
    run("c", 3, 9, max_epochs=60, solver="adam", later="x")
    made(tmp_path, "other", 2.5)
    said = {run.path.name: [str(change) for change in run.changes] for run in list_runs(tmp_path)}
    assert said["a"] == said["other"] == []
    assert said["b"] == ["solver: sgdm → adam", "max_epochs: 30 → 60"]
    assert said["c"] == ["another network", "later: not set → x"]


def test_the_runs_of_a_project_lie_beside_it_or_in_the_users_folder(tmp_path: Path) -> None:
    project = tmp_path / "one.netwright"
    own = own_runs()
    assert own is not None
    for folder, name, of in (
        (runs_beside(project), "a", "/elsewhere/one.netwright"),
        (runs_beside(project), "b", "/elsewhere/two.netwright"),
        (own, "c", str(project)),
        (own, "d", "/elsewhere/one.netwright"),
        (own, "e", None),
    ):
        made(folder, name, 1, project_path=of)
    assert sorted(run.path.name for run in runs_of(ProjectKey(project))) == ["a", "c"]
    assert [run.path.name for run in runs_of(ProjectKey())] == ["e"]


def test_the_last_run_is_found_without_reading_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, now = tmp_path / "one.netwright", 1e9
    for name, of, made_at, written_at in (
        ("old", "one", 1000.0, 2000.0),
        ("newest", "one", 8000.0, 8001.0),
        ("long", "one", 5000.0, 9000.0),  # was begun earlier and written to later
        ("other", "two", 9500.0, 9500.0),
    ):
        path = made(runs_beside(project), name, now + made_at, project_path=f"/elsewhere/{of}.netwright")
        os.utime(path / "run.json", (now + written_at, now + written_at))
    read: list[str] = []
    read_info = RunFolder.read_info

    def note(run: RunFolder) -> RunInfo:
        read.append(run.path.name)
        return read_info(run)

    monkeypatch.setattr(RunFolder, "read_info", note)
    found = last_run(ProjectKey(project))
    assert found is not None
    assert (found.path.name, read) == ("newest", ["other", "long", "newest"])


def test_runs_are_found_by_the_identity_of_their_project_wherever_they_lie(tmp_path: Path) -> None:
    """A run of a project that had no file yet, one that was told where to be, and one beside the project."""
    own, one = own_runs(), "11111111-one"
    assert own is not None
    project = ProjectKey(tmp_path / "nets" / "mine.netwright", one)
    for folder, name, created, path, identity in (
        (own, "unsaved", 3.0, None, one),
        (own, "unsaved other", 4.0, None, "22222222-two"),
        (tmp_path / "elsewhere", "told", 2.0, "/another/name.netwright", one),
        (tmp_path / "elsewhere", "stranger", 5.0, "/another/name.netwright", "22222222-two"),
        (tmp_path / "nets" / "runs", "older", 1.0, "/moved/mine.netwright", ""),
        (tmp_path / "nets" / "runs", "namesake", 6.0, "/moved/mine.netwright", "22222222-two"),
    ):
        info: dict[str, Any] = {"project_path": path, "project_id": identity}
        register(RunFolder(made(folder, name, created, **info)), identity)
    assert [run.path.name for run in runs_of(project)] == ["unsaved", "told", "older"]
    found = last_run(project)
    assert found is not None
    assert found.path.name == "unsaved"
    assert [run.path.name for run in runs_of(ProjectKey(None, one))] == ["unsaved", "told"]
    assert runs_of(ProjectKey(None, "33333333-new")) == []
    assert tmp_path / "elsewhere" not in roots_of(ProjectKey(None, "33333333-new"))


def test_runs_are_numbered_within_their_project(tmp_path: Path) -> None:
    project = ProjectKey(tmp_path / "one.netwright", "11111111-one")
    runs = runs_beside(tmp_path / "one.netwright")
    assert next_number(project) == 1
    for name, created in (("a", 1.0), ("b", 2.0)):
        made(runs, name, created, project_path=str(project.path))
    assert next_number(project) == 3, "older runs have no number of their own and count"
    made(runs, "c", 3.0, project_path=str(project.path), project_id=project.identity, number=7)
    made(runs, "d", 4.0, project_path="/two.netwright", number=30)
    assert next_number(project) == 8
