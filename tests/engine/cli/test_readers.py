"""A request that a command asks of a child process of its own: its answer, its limits, and what it leaves."""

import os
import signal
import tempfile
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from netwright.engine.cli.limits import Limits
from netwright.engine.cli.readers import ask
from netwright.engine.cli.serve_job import Job
from netwright.engine.core import progress
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.fork import fork
from tests.handlers import handle

FILE = {"file": "/somewhere/net.onnx", "output": "/somewhere/net.netwright"}


def answering(monkeypatch: pytest.MonkeyPatch, handler: Any) -> None:
    """Let this function answer imports."""
    handle(monkeypatch, "import", handler)


def writing(values: dict[str, Any]) -> str:
    """Write a temporary file, and return the folder that it is in."""
    folder = tempfile.mkdtemp()
    Path(folder, "large.bin").write_bytes(b"x")
    return str(Path(folder).parent)


def test_an_answer_and_its_progress_come_from_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(values: dict[str, Any]) -> dict[str, Any]:
        progress.report(3, 10, "operators")
        return {"pid": os.getpid(), "file": values["file"], "folder": writing(values)}

    answering(monkeypatch, handler)
    reports: list[object] = []
    with progress.listening(lambda *report: reports.append(report)):
        answer = ask("import", FILE)
    assert answer["pid"] != os.getpid()
    assert answer["file"] == FILE["file"]
    assert reports == [(3, 10, "operators")]
    assert not Path(answer["folder"]).exists(), "temporary files go with the process"


def test_a_refusal_keeps_its_code_hint_and_class(monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(values: dict[str, Any]) -> None:
        raise RunError("It does not run.", hint="Try another.", code="odd")

    answering(monkeypatch, handler)
    with pytest.raises(RunError, match=r"It does not run. Try another.") as raised:
        ask("import", FILE)
    assert (raised.value.code, raised.value.hint) == ("odd", "Try another.")


def test_a_defect_is_one(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    answering(monkeypatch, lambda values: 1 // 0)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        ask("import", FILE)
    assert "Traceback" in capfd.readouterr().err


@pytest.mark.skipif("not os.path.exists('/proc/self/status')", reason="the system does not count what is asked for")
@pytest.mark.parametrize("error", [None, RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_memory_is_limited(error: Exception | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(values: dict[str, Any]) -> int:
        if error is not None:
            raise error
        return len(bytearray(2**30))

    answering(monkeypatch, handler)
    with pytest.raises(UserError, match=r"Importing net.onnx took over 64 MiB of memory and was stopped.*do harm"):
        ask("import", FILE, Limits(memory_bytes=2**26))


def spin(*_: object) -> int:
    while True:
        pass


def spin_in_a_child(values: dict[str, Any]) -> None:
    Path(values["told"]).write_text(str(fork(lambda: spin())))
    signal.pause()


@pytest.mark.parametrize("handler", [spin, spin_in_a_child])
def test_work_is_limited_and_ended(handler: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also that of processes that it started."""
    answering(monkeypatch, handler)
    told = tmp_path / "pid"
    with pytest.raises(UserError, match=r"Importing net.onnx was stopped after 1.0 s of computing.*--time-limit"):
        ask("import", {**FILE, "time_limit": 1, "told": str(told)})
    if told.exists():
        assert not psutil.pid_exists(int(told.read_text())) or psutil.Process(int(told.read_text())).wait(60.0) is None


def test_waiting_is_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with much to do may give it little of the processor."""
    answering(monkeypatch, lambda values: {"came": threading.Event().wait(1.5)})
    assert ask("import", {**FILE, "time_limit": 1}) == {"came": False}


def test_a_crash_is_said_in_words_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(values: dict[str, Any]) -> None:
        (tmp_path / "folder").write_text(writing(values))
        os.kill(os.getpid(), signal.SIGSEGV)

    answering(monkeypatch, handler)
    with pytest.raises(UserError, match=r"importing net.onnx was ended by signal 11 .* the file is damaged"):
        ask("import", FILE)
    assert not Path((tmp_path / "folder").read_text()).exists()


def test_ctrl_c_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, spin)

    def interrupt(*_: object) -> list[Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr("netwright.engine.cli.readers.readable", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ask("import", FILE)


def test_the_size_of_a_file_accounts_for_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "netwright.engine.exchange.operations.import_network"
    monkeypatch.setattr(f"{module}.allowed_work_s", lambda path: float(len(path.name)))

    def limit_s(do: str, **values: Any) -> float:
        return Job(do=do, values=values).request.work_limit_s

    assert limit_s("import", file="/a/net.onnx", output="b") == 8.0
    assert limit_s("import", file="/a/net.onnx", output="b", time_limit=90) == 90.0
    assert limit_s("import", file="/a/net.py:Net", output="b") == float("inf")
    assert limit_s("guess", path="/a/net.onnx") == float("inf")
