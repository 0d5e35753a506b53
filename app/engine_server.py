"""Engine processes, seen from the window: a warm server that answers requests, and commands that run once."""

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.child_process import ENDING_S, Child, Lines, engine_command, environment

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
