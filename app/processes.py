"""A process of this installation that the window starts and talks with in lines: what all that it asks begins with.

No QProcess: its destructor kills the child, and a run that was handed over has to outlive the window. Pipes are read
and written when the event loop says that there is room; nothing here blocks but an end, and nothing needs a thread.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal

if TYPE_CHECKING:
    import subprocess

ROOT = Path(__file__).parents[1]
ENDING_S = 0.5


def engine_command(module: str, arguments: Sequence[str] = ()) -> list[str]:
    """The command line of a process of this installation."""
    return [sys.executable, "-m", module, *arguments]


def environment() -> dict[str, str]:
    """Ours, in which a process finds this installation."""
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


class Lines(QObject):
    """The lines that come out of a pipe, as they come."""

    received = Signal(object)
    closed = Signal()

    def __init__(self, descriptor: int, parent: QObject) -> None:
        super().__init__(parent)
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._buffer = b""
        self._notifier = QSocketNotifier(descriptor, QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, 2**16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.stop()
            self.closed.emit()
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self.received.emit(line)

    def stop(self) -> None:
        """Read no more."""
        self._notifier.setEnabled(False)


class Child(QObject):
    """One process and the lines that it prints; `say` gives it some. It is over with `end` or `let_go`.

    `hears` it if it is to be told anything, `is_leader` if it is ended together with what it starts. Raises `OSError`
    where the system gives no process.
    """

    received = Signal(object)
    """A line, in bytes."""
    closed = Signal()
    """It prints no more: it has ended by itself."""

    def __init__(
        self, command: Sequence[str], parent: QObject, *, hears: bool = False, is_leader: bool = False
    ) -> None:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if hears else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            cwd=ROOT,
            start_new_session=is_leader,
        )
        super().__init__(parent)
        self.process = process
        self._is_leader = is_leader
        self._unsaid = b""
        self._writable: QSocketNotifier | None = None
        if process.stdin is not None:
            channel = process.stdin.fileno()
            os.set_blocking(channel, False)  # a long line fills the pipe while the process is still beginning
            self._writable = QSocketNotifier(channel, QSocketNotifier.Type.Write, self)
            self._writable.setEnabled(False)
            self._writable.activated.connect(self._send)
        assert process.stdout is not None
        self._lines = Lines(process.stdout.fileno(), self)
        self._lines.received.connect(self.received)
        self._lines.closed.connect(self.closed)

    @property
    def is_behind(self) -> bool:
        """Whether it has not taken yet what it was told."""
        return bool(self._unsaid)

    def say(self, line: bytes) -> None:
        """Tell it a line, as soon as it takes it."""
        self._unsaid += line + b"\n"
        self._send()

    def _send(self) -> None:
        """Write what the pipe takes; the rest when it can take more."""
        if self._writable is None or self.process.stdin is None:
            return
        try:
            while self._unsaid:
                self._unsaid = self._unsaid[os.write(self.process.stdin.fileno(), self._unsaid) :]
        except BlockingIOError:
            pass
        except OSError:
            self._unsaid = b""  # it has died: the end of its output tells the same, from the event loop
        self._writable.setEnabled(bool(self._unsaid))

    def let_go(self) -> "subprocess.Popen[bytes]":
        """Neither listen to it nor tell it anything any more: it goes on alone."""
        self._say_no_more()
        self._close_output()
        return self.process

    def end(self, patience_s: float = 0.0) -> None:
        """End it: where it has not ended by itself after so many seconds without hearing anything, by force. One that
        leads others is ended at once, with them."""
        self._say_no_more()
        if self._is_leader:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        try:
            self.process.wait(ENDING_S if self._is_leader else patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(ENDING_S)  # one that hangs in a disk ends when that answers
        self._close_output()  # not before: what it still says must not break it off at its last work

    def _say_no_more(self) -> None:
        if self._writable is not None:
            self._writable.setEnabled(False)
            self._writable = None
        self._lines.stop()
        self._unsaid = b""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()

    def _close_output(self) -> None:
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.deleteLater()


class ThrowAway(QObject):
    """`said` gives each JSON object that it prints; `ended` comes when it has ended by itself, or could not begin."""

    said = Signal(object)
    ended = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._child: Child | None = None

    @property
    def process(self) -> "subprocess.Popen[bytes] | None":
        """The one that is at work."""
        return self._child.process if self._child is not None else None

    @property
    def is_running(self) -> bool:
        """Whether it is at work."""
        return self._child is not None

    def start(self, command: Sequence[str]) -> None:
        """Begin anew. Raises `OSError` where the system gives no process."""
        self.stop()
        self._child = Child(command, self, is_leader=True)  # ended together with the processes that it starts
        self._child.received.connect(self._take)
        self._child.closed.connect(self._on_closed)

    def stop(self) -> None:
        """End it, if it is at work."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _take(self, line: bytes) -> None:
        """Pass on what is a JSON object; a library that prints is passed over."""
        with contextlib.suppress(ValueError, RecursionError):
            if isinstance(told := json.loads(line), dict):
                self.said.emit(told)

    def _on_closed(self) -> None:
        self.stop()
        self.ended.emit()


OnResult = Callable[[dict[str, Any]], None]
OnError = Callable[[str], None]

MOST_RESTARTS = 3
GONE = "The engine process ended before it answered. It is started anew; try again."


@dataclass(frozen=True)
class Request:
    """What was asked, and who waits for the answer."""

    do: str
    given: dict[str, Any]
    on_result: OnResult
    on_error: OnError


class EngineServer(QObject):
    """A `serve` process with torch imported, and the requests that wait for its answers.

    After a `train` or `resume` request it has become the coordinator of that run; what was asked behind it and every
    later request goes to a fresh one. One that dies fails its requests in words and is started again, a few times.
    """

    ready = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None, command: Sequence[str] | None = None) -> None:
        super().__init__(parent)
        self._command = list(command or engine_command("engine.cli.serve"))
        self._child: Child | None = None
        self._handed_over: list[subprocess.Popen[bytes]] = []
        self._waiting: dict[int, Request] = {}
        self._last_id = 0
        self._restarts = 0
        self.is_ready = False
        self._reaper = QTimer(self, interval=1000)
        self._reaper.timeout.connect(self._reap)

    def start(self) -> None:
        """Start the process if it does not run yet."""
        if self._child is not None:
            return
        try:
            self._child = Child(self._command, self, hears=True)
        except OSError as error:
            self.failed.emit(f"The engine cannot be started: {error.strerror}.")
            return
        self._child.received.connect(self._take)
        self._child.closed.connect(self._on_closed)

    def request(self, do: str, given: dict[str, Any], on_result: OnResult, on_error: OnError) -> None:
        """Ask for something; exactly one of the two functions is called later, from the event loop."""
        self.start()
        if self._child is None:
            QTimer.singleShot(0, self, lambda: on_error("The engine cannot be started."))
            return
        self._last_id += 1
        self._waiting[self._last_id] = Request(do, given, on_result, on_error)
        self._child.say(json.dumps({"id": self._last_id, "do": do, "with": given}, ensure_ascii=False).encode())

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            return
        if message.get("ready"):
            self.is_ready = True
            self._restarts = 0
            self.ready.emit()
            return
        request = self._waiting.pop(message.get("id"), None)
        if request is None:
            return
        if "error" in message:
            error = message["error"]
            defect = "A defect of Netwright: " if error.get("defect") else ""
            request.on_error(defect + error["message"])
            return
        if request.do in ("train", "resume"):
            self._let_go()
        request.on_result(message["result"])

    def _let_go(self) -> None:
        """The process is a coordinator now: forget it, but reap it when it ends; start the next one."""
        if self._child is not None:
            self._handed_over.append(self._child.let_go())
            self._reaper.start()
        self._child = None
        self.is_ready = False
        waiting, self._waiting = self._waiting, {}
        self.start()
        for request in waiting.values():
            self.request(request.do, request.given, request.on_result, request.on_error)

    def _on_closed(self) -> None:
        """The process has died by itself."""
        child, self._child = self._child, None
        if child is not None:
            child.end()
        self.is_ready = False
        waiting, self._waiting = self._waiting, {}
        for request in waiting.values():
            request.on_error(GONE)
        self._restarts += 1
        if self._restarts <= MOST_RESTARTS:
            self.start()
        else:
            self.failed.emit(f"The engine ended {self._restarts} times in a row. Try `netwright-engine devices`.")

    def _reap(self) -> None:
        self._handed_over = [process for process in self._handed_over if process.poll() is None]
        if not self._handed_over:
            self._reaper.stop()

    def close(self) -> None:
        """End the idle process. Runs that were handed over go on."""
        child, self._child = self._child, None
        self._waiting = {}
        self._reaper.stop()
        if child is not None:
            child.end(ENDING_S)
        for handed_over in self._handed_over:
            handed_over.returncode = handed_over.poll() or 0  # not ours to wait for any more


class EngineCommand(QObject):
    """One `netwright-engine COMMAND --json` in a process of its own: an export, say. It can be cancelled."""

    finished = Signal(object)
    failed = Signal(str)

    def __init__(self, arguments: Sequence[str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process = subprocess.Popen(
            engine_command("engine", arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            cwd=os.getcwd(),
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._out: list[bytes] = []
        self._errors: list[bytes] = []
        self._open = 2
        for pipe, sink in ((self._process.stdout, self._out), (self._process.stderr, self._errors)):
            lines = Lines(pipe.fileno(), self)
            lines.received.connect(sink.append)
            lines.closed.connect(self._on_closed)

    def _on_closed(self) -> None:
        self._open -= 1
        if self._open:
            return
        code = self._process.wait()
        self._close_pipes()
        if code == 0:
            try:
                self.finished.emit(json.loads(self._out[-1]))
                return
            except (IndexError, ValueError):
                pass
        text = b"\n".join(self._errors).decode(errors="replace").removeprefix("netwright-engine: ").strip()
        last = text.splitlines()[-1] if code == 1 and text else text
        self.failed.emit(last or f"The engine process ended with code {code} and said nothing.")

    def cancel(self) -> None:
        """End the process now; `failed` is not emitted for it."""
        self.blockSignals(True)
        self._process.kill()
        self._process.wait()
        self._close_pipes()

    def _close_pipes(self) -> None:
        for lines in self.findChildren(Lines):
            lines.stop()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
