"""Work in a child that is forked for it."""

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from netwright.engine.core import progress
from netwright.engine.core.errors import UserError
from netwright.engine.core.fork import PipedChild, fork, read_from_child, run_in_child_process, start_child
from netwright.engine.core.locks import is_locked, restore_lock, take_lock
from netwright.engine.core.platform import CAN_FORK, end_process, wait_for_process
from netwright.engine.core.process import module_environment

needs_fork = pytest.mark.skipif(not CAN_FORK, reason="the system cannot fork")


@needs_fork
def test_the_answer_comes_back_from_another_process() -> None:
    answer = run_in_child_process(lambda: {"pid": os.getpid(), "much": "x" * 200_000})
    assert answer["pid"] != os.getpid()
    assert len(answer["much"]) == 200_000


@needs_fork
def test_a_forked_child_ends_with_its_code_and_prints_once(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        print("child")
        return 7

    def fail() -> int:
        raise ValueError("oops")

    print("parent")
    codes = [os.waitstatus_to_exitcode(os.waitpid(fork(*call), 0)[1]) for call in ((work,), (fail, 70))]
    assert codes == [7, 70]
    printed = capfd.readouterr()
    assert printed.out.split() == ["parent", "child"]
    assert "ValueError: oops" in printed.err


@needs_fork
def test_refusals_and_defects_come_back_as_such(capfd: pytest.CaptureFixture[str]) -> None:
    def refuse() -> dict[str, Any]:
        raise UserError("No such file.")

    with pytest.raises(UserError, match="No such file"):
        run_in_child_process(refuse)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run_in_child_process(lambda: {"x": 1 // 0})
    assert "Traceback" in capfd.readouterr().err


@needs_fork
def test_a_child_that_dies_or_hangs_is_told() -> None:
    def die() -> dict[str, Any]:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}

    def hang() -> dict[str, Any]:
        signal.pause()
        return {}

    with pytest.raises(RuntimeError, match="ended before it answered"):
        run_in_child_process(die)
    with pytest.raises(UserError, match="longer than 0 s"):
        run_in_child_process(hang, patience_s=0.1)


@pytest.fixture
def no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.engine.core.fork.CAN_FORK", False)


@pytest.mark.usefixtures("no_fork")
def test_a_fresh_child_answers_as_a_forked_one() -> None:
    child = PipedChild(zlib.compress)
    try:
        assert [child.ask(word, 60.0) for word in (b"a", b"b")] == [zlib.compress(b"a"), zlib.compress(b"b")]
    finally:
        child.close()
    assert read_from_child(partial(bytes, 300_000), 60.0) == bytes(300_000)
    assert read_from_child(partial(os.abort), 60.0) == b""
    assert read_from_child(_hang, 0.1) is None


def _hang() -> bytes:
    threading.Event().wait()
    return b""


@pytest.mark.usefixtures("no_fork")
def test_a_fresh_child_ends_with_its_code() -> None:
    assert wait_for_process(start_child(partial(int, "7"))) == 7
    assert wait_for_process(start_child(partial(int, "seven"), failed=9)) == 9
    if sys.platform != "win32":
        leader = start_child(os.getpgrp, group="own")  # a number too large for an exit code: its last eight bits
        assert wait_for_process(leader) == leader % 256


@pytest.mark.usefixtures("no_fork")
def test_a_fresh_child_gets_the_ends_of_pipes_alone() -> None:
    reading, writing = os.pipe()
    child = start_child(partial(_tell, os.getpid()), (writing,))
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == f"{os.getpid()} {child}".encode()
    assert wait_for_process(child) == 0


def _tell(parent: int, writing: int) -> int:
    os.write(writing, f"{parent} {os.getpid()}".encode())
    return 0


def _answer(question: bytes) -> bytes:
    if question == b"die":
        end_process(os.getpid())
    if question == b"wait":
        _hang()
    return question * 2


def test_a_child_answers_until_it_dies() -> None:
    child = PipedChild(_answer)
    try:
        long = os.urandom(300_000)
        assert [child.ask(one, 60.0) for one in (b"a", long, b"b")] == [b"aa", long * 2, b"bb"]
        assert child.ask(b"die", 60.0) is None
        assert child.ask(b"c", 60.0) is None
    finally:
        child.close()
    late = PipedChild(_answer)
    assert late.ask(b"wait", 0.1) is None
    late.close()


@needs_fork
@pytest.mark.parametrize(
    "ask", [lambda work: read_from_child(work, 60.0), lambda work: PipedChild(work).ask(b"x", 60.0)]
)
def test_a_child_that_computes_ends_with_its_parent(ask: Callable[[Any], object], tmp_path: Path) -> None:
    """It would not see its pipe close."""
    told = tmp_path / "pid"

    def compute(*_: object) -> bytes:
        (tmp_path / "new").write_text(str(os.getpid()))
        (tmp_path / "new").rename(told)
        while True:
            pass

    parent = fork(lambda: int(ask(compute) is None))
    while not told.exists():
        assert os.waitpid(parent, os.WNOHANG) == (0, 0)
    child = psutil.Process(int(told.read_text()))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    child.wait(60.0)


@needs_fork
def test_progress_in_a_child_is_reported_here() -> None:
    reports: list[tuple[int, int, str]] = []

    def work() -> dict[str, Any]:
        progress.report(3, 10, "files")
        return {"pid": os.getpid()}

    with progress.listening(lambda *report: reports.append(report)):
        assert run_in_child_process(work)["pid"] != os.getpid()
    assert reports == [(3, 10, "files")]


@pytest.fixture
def busy_process() -> Iterator[None]:
    """This process with sockets, pipes, a selector, a handle of a process, a thread and a signal handler."""
    with contextlib.ExitStack() as stack:
        ours, theirs = (stack.enter_context(end) for end in socket.socketpair())
        theirs.setblocking(False)
        for descriptor in (*os.pipe(), os.pidfd_open(os.getpid())):
            stack.callback(os.close, descriptor)
        stack.enter_context(selectors.DefaultSelector()).register(ours, selectors.EVENT_READ)
        stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, lambda *_: None))
        stack.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(theirs.fileno()))
        is_over = threading.Event()
        thread = threading.Thread(target=is_over.wait)
        thread.start()
        stack.callback(thread.join)
        stack.callback(is_over.set)
        yield


@needs_fork
def test_nothing_of_the_parent_lives_on_in_a_child(busy_process: None) -> None:
    reports: list[object] = []
    reading, writing = os.pipe()

    def work() -> int:
        progress.report(1, 2, "files")
        is_default = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL and signal.set_wakeup_fd(-1) == -1
        os.write(writing, json.dumps([open_files(), is_default, threading.active_count()]).encode())
        return 0

    with progress.listening(lambda *report: reports.append(report)):
        child = fork(work, keep=(writing,))
    files, is_default, num_threads = json.loads(os.read(reading, 2**16))
    own_pipe = os.readlink(f"/proc/self/fd/{writing}")
    os.close(reading)
    os.close(writing)
    assert os.waitpid(child, 0)[1] == 0
    assert [file for file in files if ":[" in file or "anon_inode" in file] == [own_pipe]
    assert (is_default, num_threads, reports) == (True, 1, [])


@needs_fork
def test_a_child_holds_no_lock_of_its_parent(tmp_path: Path) -> None:
    lock, restored, released = (take_lock(tmp_path / name) for name in ("held", "restored", "released"))
    (tmp_path / "restored").unlink()
    assert restore_lock(tmp_path / "restored", restored)
    os.close(released)
    file = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    assert file == released, "the number of a lock that was released"
    files = json.loads(read_from_child(lambda: json.dumps(open_files()).encode(), 60.0) or b"[]")
    is_held = is_locked(tmp_path / "held"), is_locked(tmp_path / "restored")
    for descriptor in (lock, restored, file):
        os.close(descriptor)
    assert {Path(file).name for file in files if file.startswith(str(tmp_path))} == {"file"}
    assert is_held == (True, True), "by the parent"


def open_files() -> list[str]:
    """The targets of this process's descriptors, but for the standard streams."""
    targets = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            targets += [os.readlink(f"/proc/self/fd/{name}")] if int(name) > 2 else []
    return targets


def test_a_process_to_which_nobody_listens_ends_without_a_word() -> None:
    code = "from netwright.engine.core.process import print_line\nwhile True: print_line({'a': 1})"
    command, environment = [sys.executable, "-c", code], module_environment()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
