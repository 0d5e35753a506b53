"""Run folders: locked, asked, damaged, and from strangers."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.files import write_checked_json
from netwright.engine.runs import folder as folders
from netwright.engine.runs.folder import RunFolder, open_run, take_lock, update_info
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import EventReader

ROOT = Path(__file__).parents[3]


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name, said in {
        "": "is not a run: it has no run.json",
        "file": "is a file, not the folder of a run",
        "absent": "does not exist",
        "x" * 300: "cannot be read: File name too long",
    }.items():
        with pytest.raises(UserError, match=said):
            open_run(tmp_path / name)


# Lock and state

HOLD = """
import sys, pathlib
from netwright.engine.runs.folder import RunFolder, take_lock
take_lock(RunFolder(pathlib.Path(sys.argv[1])))
print("held", flush=True)
sys.stdin.read()
"""


def test_another_process_holds_the_lock(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "LOCK_PATIENCE_S", 0.05)
    assert not run.is_alive()
    assert run.state() == "lost"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(run.path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        assert run.is_alive()
        assert run.state() == "starting"
        with pytest.raises(RunError, match="Another engine is already at work on the run in"):
            take_lock(run)
        holder.kill()
    assert not run.is_alive()
    os.close(take_lock(run))


def test_looking_does_not_disturb_the_engine_that_starts(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    looker = os.open(run.lock, os.O_RDONLY)
    fcntl.flock(looker, fcntl.LOCK_SH)
    waits: list[float] = []

    def look_away(seconds: float) -> None:
        os.close(looker)
        waits.append(seconds)

    monkeypatch.setattr("time.sleep", look_away)
    held = take_lock(run)
    assert len(waits) == 1
    assert run.is_alive()
    os.close(held)


@pytest.mark.parametrize("state", ["finished", "stopped", "failed"])
def test_an_end_is_an_end_without_a_lock(run: RunFolder, state: str) -> None:
    update_info(run, state=state)
    assert run.state() == state
    assert run.read_info().name == "digits"


@pytest.mark.parametrize(("result", "state"), [(b'{"state": "finished"}', "finished"), (b"{}", "lost"), (b"{", "lost")])
def test_a_run_whose_coordinator_was_killed_after_the_result_has_ended(
    run: RunFolder, result: bytes, state: str
) -> None:
    update_info(run, state="running")
    assert run.state() == "lost"
    run.result.write_bytes(result)
    assert run.state() == state


def test_the_lock_is_not_inherited(run: RunFolder) -> None:
    held = take_lock(run)
    assert not os.get_inheritable(held)
    os.close(held)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_a_damaged_run_is_said_to_be(run: RunFolder, content: bytes) -> None:
    run.info.write_bytes(content)
    run.result.write_bytes(content)
    for read in (run.read_info, run.state, run.kept, run.read_result):
        with pytest.raises(UserError, match=r"(run|result)\.json is damaged"):
            read()


def test_a_changed_value_is_found_by_the_checksum(run: RunFolder) -> None:
    """A record without a checksum was written by hand, or by an older version: it is read as it is."""
    write_checked_json(run.result, {"state": "finished", "epochs": 5})
    update_info(run, seed=12)
    for path, words in ((run.info, "Restore it from a copy"), (run.result, "Remove the file")):
        text = path.read_text()
        path.write_text(text.replace("12", "13").replace("5,", "6,"))
        with pytest.raises(UserError, match=f"is damaged: its checksum does not fit its content. {words}"):
            run.read_info() if path == run.info else run.read_result()
        data = json.loads(path.read_text())
        del data["sha256"]
        path.write_text(json.dumps(data))
    assert run.read_info().seed == 13
    assert run.read_result() == {"state": "finished", "epochs": 6}
    update_info(run, seed=14)
    assert "sha256" in json.loads(run.info.read_text())
    assert "sha256" not in run.read_info().unknown


def test_the_kept_network_is_what_the_run_says(run: RunFolder) -> None:
    assert run.kept() is None
    run.last.mkdir()
    assert run.kept() == run.last
    run.best.mkdir()
    assert run.kept() == run.best
    update_info(run, kept="last")
    assert run.kept() == run.last
    update_info(run, kept="../../etc")
    assert run.kept() == run.best


# Requests


def test_requests_are_given_once_and_in_order(run: RunFolder) -> None:
    run.request("stop_after_epoch")
    run.request("stop")
    assert run.take_requests() == [{"do": "stop_after_epoch"}, {"do": "stop"}]
    assert run.take_requests() == []
    assert list(run.control.iterdir()) == []


def test_requests_keep_their_order_when_the_clock_goes_back(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([1_800_000_000_000_000_000, 1_799_990_000_000_000_000, 1_799_990_000_000_000_000])
    monkeypatch.setattr("time.time_ns", lambda: next(clock))
    asked = ["pause", "resume", "stop"]
    for what in asked:
        run.request(what)
    assert [request["do"] for request in run.take_requests()] == asked


def test_a_request_is_sent_although_the_run_is_ending(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = os.replace

    def replace_late(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "replace", replace)
        Path(source).unlink()  # as the coordinator does with what is unfinished at its end
        replace(source, target)

    monkeypatch.setattr(os, "replace", replace_late)
    run.request("stop")
    assert [one["do"] for one in run.take_requests()] == ["stop"]


def test_garbage_among_the_requests_is_passed_over(run: RunFolder) -> None:
    garbage = {
        "0.json": b"{",
        "1.json": b"[]",
        "2.json": b'{"do": ["stop"]}',
        "3.json": b'{"do": "format"}',
        "4.json": b"\xff",
        "5.json": b"",
    }
    for name, content in garbage.items():
        (run.control / name).write_bytes(content)
    (run.control / "folder.json").mkdir()
    os.mkfifo(run.control / "pipe.json")
    (run.control / ".half.json.tmp").touch()
    run.request("stop")
    assert run.take_requests() == [{"do": "stop"}]
    assert run.take_requests() == []


def test_wrong_requests_are_refused(run: RunFolder) -> None:
    with pytest.raises(UserError, match="no request 'fly'; known are stop, stop_after_epoch"):
        run.request("fly")
    run.control.rmdir()
    with pytest.raises(UserError, match="cannot be asked to stop: No such file"):
        run.request("stop")
    assert run.take_requests() == []


# From strangers


@pytest.mark.parametrize("name", ["events.jsonl", "control", "checkpoints", "result.json", "engine.log"])
def test_nothing_is_written_through_a_link_in_a_run_folder(run: RunFolder, tmp_path: Path, name: str) -> None:
    goal, link = tmp_path / "goal", run.path / name
    goal.mkdir()
    if link.is_dir():
        link.rmdir()
    link.unlink(missing_ok=True)
    link.symlink_to(goal)
    with pytest.raises(UserError, match=f'"{name}" in the folder of the run .* is a link'):
        take_lock(run)
    if name == "control":
        with pytest.raises(UserError, match="its folder of requests is a link"):
            run.request("stop")
    assert not list(goal.iterdir())


def test_the_state_is_not_written_through_a_link(run: RunFolder, tmp_path: Path) -> None:
    goal = tmp_path / "goal.json"
    goal.write_text("{}")
    run.info.unlink()
    run.info.symlink_to(goal)
    update_info(run, state="failed")
    assert (goal.read_text(), run.read_info()) == ("{}", RunInfo(state="failed"))


def test_pipes_and_large_files_keep_no_reader(run: RunFolder) -> None:
    for path in (run.events, run.lock, run.info):
        path.unlink()
        os.mkfifo(path)
    assert EventReader(run).read() == []
    assert not run.is_alive()
    with pytest.raises(UserError, match="not a file but a device or a pipe"):
        run.read_info()
    run.info.unlink()
    with open(run.info, "wb") as file:
        file.truncate(2**33)
    with pytest.raises(UserError, match="more than 4,194,304 bytes"):
        run.read_info()
