"""Run folders: made, locked, asked, read while they grow and when they are damaged."""

import errno
import fcntl
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.errors import EXIT_INPUT, EXIT_RUN_FAILED, RunError, UserError
from engine.runs import folder as folders
from engine.runs.events import LINE_LIMIT_BYTES, EpochEnded, Event, Failed, Message, read_event
from engine.runs.folder import (
    SHIPPED,
    TAIL_BYTES,
    EventLog,
    EventReader,
    RunFolder,
    create,
    new_folder,
    new_path,
    open_run,
    take_lock,
    update_info,
)

ROOT = Path(__file__).parents[3]
TEXT = '{"netwright": [1, 0]}\n'


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A new run."""
    return create(tmp_path / "run", TEXT, {"name": "digits"})


def mode(path: Path) -> int:
    """Permissions."""
    return stat.S_IMODE(path.stat().st_mode)


# Made


@pytest.mark.parametrize("place", ["absent", "absent/deeper", "empty"])
def test_a_run_is_made_where_there_is_nothing(tmp_path: Path, place: str) -> None:
    (tmp_path / "empty").mkdir(mode=0o755)
    before = os.umask(0)
    try:
        run = create(tmp_path / place, TEXT, {"name": "digits"})
    finally:
        os.umask(before)
    assert run.project.read_text() == TEXT
    assert run.read_info() == {"name": "digits", "state": "starting"}
    assert {path.name for path in run.path.iterdir()} == {
        "project.netwright",
        "run.json",
        "events.jsonl",
        "control",
        "run.lock",
    }
    assert mode(run.path) == mode(run.control) == 0o700
    assert {mode(path) for path in run.path.iterdir() if path.is_file()} == {0o600}
    assert open_run(run.path) == run


def test_a_run_needs_a_folder_of_its_own(tmp_path: Path, run: RunFolder) -> None:
    (tmp_path / "file").touch()
    for path, said in {run.path: "is not empty. A run needs", tmp_path / "file": "is a file. A run needs"}.items():
        with pytest.raises(UserError, match=said) as caught:
            create(path, TEXT, {})
        assert caught.value.exit_code == EXIT_INPUT


def test_where_nothing_can_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "run", tmp_path / ("x" * 300)):
        with pytest.raises(RunError, match=r"cannot be written: .+\. Make room there, or name another") as caught:
            create(path, TEXT, {})
        assert caught.value.exit_code == EXIT_RUN_FAILED


@pytest.mark.parametrize("was_there", [True, False])
@pytest.mark.parametrize("failing", ["project.netwright", "run.json"])
def test_a_run_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, was_there: bool
) -> None:
    path = tmp_path / "run"
    if was_there:
        path.mkdir()
    replace = os.replace

    def full(source: Path, target: Path) -> None:
        if Path(target).name == failing:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(RunError, match="No space left on device"):
        create(path, TEXT, {})
    assert path.is_dir() == was_there
    assert not was_there or list(path.iterdir()) == []
    monkeypatch.undo()
    create(path, TEXT, {})


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


def test_new_runs_lie_beside_the_project_or_in_the_users_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "p" / "my digits!.netwright"
    project.parent.mkdir()
    path = new_path(project, "my digits!")
    assert path.parent == project.parent / "runs"
    assert path.name.endswith("_my-digits")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert new_path(None, "/../..").parent == tmp_path / "data" / "netwright" / "runs"
    assert new_path(None, "/../..").name.endswith("_untitled")
    assert new_path(SHIPPED / "templates" / "mlp.netwright", "mlp").parent == tmp_path / "data" / "netwright" / "runs"
    (tmp_path / "file").touch()
    assert new_path(tmp_path / "file" / "p.netwright", "p").parent == tmp_path / "data" / "netwright" / "runs"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(RunError, match=r"No folder for runs can be written; tried .*file/netwright/runs\. Name one"):
        new_path(None, "p")


def test_two_runs_of_one_second_get_two_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.strftime", lambda _: "2026-11-21_10-22-03")
    names = [new_folder(tmp_path / "p.netwright", "p").name for _ in range(3)]
    assert names == ["2026-11-21_10-22-03_p", "2026-11-21_10-22-03_p_2", "2026-11-21_10-22-03_p_3"]


def test_of_two_that_make_a_run_in_one_folder_one_is_refused_and_spoils_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one looks just before the first one begins to write."""
    path = tmp_path / "run"
    refused: list[str] = []
    fill = folders._fill

    def late(folder: RunFolder, *given: Any) -> None:
        monkeypatch.setattr(folders, "_fill", fill)
        monkeypatch.setattr(Path, "iterdir", lambda _: iter(()))
        with pytest.raises(UserError, match="another run is just being made there") as caught:
            create(path, TEXT, {})
        refused.append(str(caught.value))
        monkeypatch.undo()
        fill(folder, *given)

    monkeypatch.setattr(folders, "_fill", late)
    run = create(path, TEXT, {"name": "first"})
    assert len(refused) == 1
    assert run.read_info()["name"] == "first"
    assert run.control.is_dir()


# Lock and state

HOLD = """
import sys, pathlib
from engine.runs.folder import RunFolder, take_lock
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
    assert run.read_info()["name"] == "digits"


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


# The log


def lines(run: RunFolder) -> list[dict[str, Any]]:
    """What stands in the log."""
    return [json.loads(line) for line in run.events.read_bytes().splitlines()]


def written(run: RunFolder, *events: Event) -> list[Event]:
    """Events put into the log."""
    log = EventLog(run)
    found = [log.append(event) for event in events]
    log.close()
    return found


def test_events_are_numbered_without_a_gap(run: RunFolder) -> None:
    written(run, EpochEnded(epoch=1, iteration=1), EpochEnded(epoch=2, iteration=2))
    written(run, EpochEnded(epoch=3, iteration=3))
    assert [line["n"] for line in lines(run)] == [1, 2, 3]
    assert EventReader(run).read() == written_back(run)


def written_back(run: RunFolder) -> list[Event]:
    """The same events from the lines."""
    return [read_event(line) for line in lines(run)]


def test_a_log_goes_on_after_a_line_that_was_torn(run: RunFolder) -> None:
    written(run, EpochEnded(epoch=1, iteration=1))
    with open(run.events, "ab") as file:
        file.write(b'{"n":2,"kind":"epo')
    written(run, EpochEnded(epoch=2, iteration=2))
    assert [line["n"] for line in lines(run)] == [1, 2]


@pytest.mark.parametrize("text", ["x" * 10_000, "é🙂" * 3000, '"\n\x00' * 3000, "\udcff" * 3000])
def test_a_long_text_loses_its_middle(run: RunFolder, text: str) -> None:
    written(run, Failed(cause=text, detail=f"begin{text}end"), Message(severity="note", text=text))
    assert max(map(len, run.events.read_bytes().splitlines(keepends=True))) <= LINE_LIMIT_BYTES
    failed, message = EventReader(run).read()
    assert isinstance(failed, Failed)
    assert failed.detail.startswith("begin")
    assert failed.detail.endswith("end")
    assert isinstance(message, Message)
    assert " ... " in message.text


def test_a_full_disk_leaves_whole_lines(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    log = EventLog(run)
    log.append(EpochEnded(epoch=1, iteration=1))
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:9]))
    with pytest.raises(OSError, match="No space left on device"):
        log.append(EpochEnded(epoch=2, iteration=2))
    monkeypatch.undo()
    log.append(EpochEnded(epoch=3, iteration=3))
    log.close()
    assert [(line["n"], line["epoch"]) for line in lines(run)] == [(1, 1), (2, 3)]


def test_a_reader_gets_each_event_once_while_the_log_grows(run: RunFolder) -> None:
    run.events.unlink()
    reader = EventReader(run)
    assert reader.read() == []
    first = written(run, EpochEnded(epoch=1, iteration=1))
    assert reader.read() == first
    assert reader.read() == []
    (line,) = lines(run)
    second = json.dumps({**line, "n": 2, "epoch": 2}).encode() + b"\n"
    for byte in range(len(second)):
        with open(run.events, "ab") as file:
            file.write(second[byte : byte + 1])
        found = reader.read()
        assert [event.n for event in found] == ([2] if byte == len(second) - 1 else [])


def test_a_reader_takes_a_part_at_a_time(run: RunFolder) -> None:
    all_events = written(run, *(EpochEnded(epoch=i, iteration=i) for i in range(3000)))
    assert run.events.stat().st_size > 3 * TAIL_BYTES
    reader = EventReader(run, limit_bytes=100)
    found: list[Event] = []
    calls = 0
    while len(found) < len(all_events) and calls < 10_000:
        found += reader.read()
        calls += 1
    assert found == all_events
    assert calls > 3


def test_half_a_line_that_is_cut_off_costs_no_reader_an_event(run: RunFolder) -> None:
    """A run broke off within a line and goes on, or a disk was full for a moment, while somebody reads along."""
    reader = EventReader(run)
    first = written(run, EpochEnded(epoch=1, iteration=1))
    with open(run.events, "ab") as file:
        file.write(b'{"n":2,"kind":"epo')
    assert reader.read() == first
    second = written(run, EpochEnded(epoch=2, iteration=2))  # the half line is longer than what of this it would hide
    assert reader.read() == second
    third = written(run, EpochEnded(epoch=3, iteration=3))
    assert reader.read() == third


def test_damaged_lines_are_left_out(run: RunFolder) -> None:
    good = json.dumps({"n": 1, "time": 0.0, "kind": "epoch", "epoch": 1, "iteration": 1}).encode()
    garbage = [b"", b"{", b"[]", b"5", b"null", b"\xff\x00", b"[" * 50_000, b"x" * 300_000, b'{"n": 1}']
    run.events.write_bytes(b"\n".join([*garbage, good, *garbage, good, b'{"torn']))
    reader = EventReader(run, limit_bytes=4096)
    found: list[Event] = []
    for _ in range(300):
        found += reader.read()
    assert [event for event in found if isinstance(event, EpochEnded)] == [EpochEnded(n=1, epoch=1, iteration=1)] * 2
    assert len(found) == 4


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
    assert (goal.read_text(), run.read_info()) == ("{}", {"state": "failed"})


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


def test_a_log_goes_on_behind_lines_without_a_number(run: RunFolder) -> None:
    lines = [b'{"n": 4, "kind": "epoch", "epoch": 1, "iteration": 1}', b"{}", b'{"n": "x"}', b"[]"]
    run.events.write_bytes(b"\n".join(lines) + b"\n")
    log = EventLog(run)
    assert log.append(EpochEnded(epoch=1, iteration=2)).n == 5
    log.close()
