"""Processes of this installation that the window starts: children that talk in lines, and the engine server.

No QProcess: its destructor kills the child, and a run that was handed over has to outlive the window. Nothing here
blocks except ending a process.
"""

import contextlib
import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtCore import QObject, QTimer, Signal

from netwright.app.pipes import PipeSender, PipeWatcher, ThreadedPipeSender, sender
from netwright.designer.engine_messages import message_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.dataclass_json import to_json
from netwright.engine.core.errors import HOST_NOT_ALLOWED
from netwright.engine.core.files import ROOT
from netwright.engine.core.folders import state_folder
from netwright.engine.core.platform import end_process_tree, start_process
from netwright.engine.core.platform_files import open_descriptor, replace_file
from netwright.engine.core.process import MessageReader, module_command, module_environment
from netwright.engine.operations.operation import Operation, Request
from netwright.engine.project.data_hosts import VARIABLE, written

if TYPE_CHECKING:
    import subprocess

ENDING_S = 0.5
KILLING_S = 10.0
LOG_BYTES = 2**20
"""Size from which the log begins anew; the one before is kept beside it."""


def engine_log() -> Path:
    """Return the file that the window's engine processes write tracebacks and warnings of libraries to. Raises
    `RuntimeError` for a user without a home folder."""
    return state_folder() / "engine.log"


def _open_log() -> int:
    """Open the log to append to it; where the user has no place for it, nothing is written."""
    with contextlib.suppress(OSError, RuntimeError):
        log = engine_log()
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > LOG_BYTES:
            replace_file(log, log.with_suffix(".1.log"))
        return open_descriptor(log, "a")
    return os.open(os.devnull, os.O_WRONLY)


NO_HOSTS: Mapping[str, int] = {}


def environment_for(hosts: Mapping[str, int]) -> dict[str, str]:
    """Return the environment of a child process that may fetch data from these hosts."""
    environment = module_environment()
    if hosts:
        environment[VARIABLE] = f"{environment.get(VARIABLE, '')} {written(hosts)}"
    return environment


class ChildProcess(QObject):
    """A process, and the messages in JSON that both send, one per line; what it prints otherwise is ignored. `end` must
    be called.

    `hears` opens its standard input; `is_leader` makes it the leader of a process group that is killed together with
    it; `hosts` are those that it may fetch data from. Raises `OSError` if the process cannot be started.
    """

    received = Signal(object)
    """A message: a value of JSON."""
    closed = Signal()
    """The output was closed: the process has ended by itself."""

    def __init__(
        self,
        command: Sequence[str],
        parent: QObject,
        *,
        hears: bool = False,
        is_leader: bool = False,
        hosts: Mapping[str, int] = NO_HOSTS,
    ) -> None:
        with os.fdopen(_open_log(), "wb") as log:
            process = start_process(
                command,
                (subprocess.PIPE if hears else subprocess.DEVNULL, subprocess.PIPE, log),
                folder=ROOT,
                environment=environment_for(hosts),
                has_own_group=is_leader,
            )
        super().__init__(parent)
        self.process = process
        self._is_leader = is_leader
        self._input: PipeSender | ThreadedPipeSender | None = None
        if process.stdin is not None:
            self._input = sender(os.dup(process.stdin.fileno()), self)
            process.stdin.close()
        assert process.stdout is not None
        self._output = MessageReader(process.stdout.fileno())
        self._readable = PipeWatcher(process.stdout.fileno(), self)
        self._readable.activated.connect(self._take)

    @property
    def is_behind(self) -> bool:
        """Whether it has not read all yet that it was sent."""
        return self._input is not None and self._input.is_behind

    def say(self, message: Mapping[str, Any]) -> None:
        """Send a message, as soon as the pipe takes it."""
        if self._input is not None:
            self._input.send(json.dumps(message).encode() + b"\n")

    def _take(self) -> None:
        """Pass on messages, and ignore other output, such as that of a library."""
        for line in self._output.read_lines():
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue
            self.received.emit(message)
        if not self._output.is_open:
            self._readable.stop()
            self.closed.emit()

    def end(self, patience_s: float = 0.0) -> None:
        """End the process: by force, if it has not ended by itself within the patience after its input was closed. A
        group leader is killed at once, with its group."""
        self._say_no_more()
        if self._is_leader:
            end_process_tree(self.process.pid)
        try:
            self.process.wait(KILLING_S if self._is_leader else patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(KILLING_S)  # one that hangs in a disk ends when that answers
        self._close_output()  # not before: what it still says must not break it off at its last work

    def _say_no_more(self) -> None:
        self._readable.stop()
        if self._input is not None:
            self._input.close()
            self._input = None

    def _close_output(self) -> None:
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.deleteLater()


class DisposableProcess(QObject):
    """A process that can be killed at any time, with all that it has started. `said` carries each JSON object that it
    prints; `ended` is emitted when it has ended by itself."""

    said = Signal(object)
    ended = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._child: ChildProcess | None = None

    @property
    def process(self) -> "subprocess.Popen[bytes] | None":
        """The process, while it runs."""
        return self._child.process if self._child is not None else None

    @property
    def is_running(self) -> bool:
        """Whether the process runs."""
        return self._child is not None

    def start(self, command: Sequence[str], hosts: Mapping[str, int] = NO_HOSTS) -> None:
        """Start the process, in place of one that still runs. `hosts`: those that it may fetch data from. Raises
        `OSError` if it cannot be started."""
        self.stop()
        # A leader: ended together with the processes that it starts.
        self._child = ChildProcess(command, self, is_leader=True, hosts=hosts)
        self._child.received.connect(self._take)
        self._child.closed.connect(self._on_closed)

    def stop(self) -> None:
        """Kill the process, if it runs."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _take(self, message: Any) -> None:
        if isinstance(message, dict):
            self.said.emit(message)

    def _on_closed(self) -> None:
        self.stop()
        self.ended.emit()


def allow_no_hosts(error: Mapping[str, Any]) -> bool:
    """Allow none of the hosts that an error asks for."""
    return False


class HostQuestion:
    """Asks the user whether hosts may be contacted, for all that the engine is asked about runs. The window sets `ask`;
    its argument is the error of the engine, whose `data` has the `hosts` and the `path` of the run."""

    ask: ClassVar[Callable[[Mapping[str, Any]], bool]] = allow_no_hosts

    @classmethod
    def is_about(cls, error: Mapping[str, Any]) -> bool:
        """Return whether an error asks for hosts of a run; those of the open project are asked about where it is
        shown."""
        return error.get("code") == HOST_NOT_ALLOWED and bool(error.get("data", {}).get("path"))


OnResult = Callable[[dict[str, Any]], None]
OnError = Callable[[str], None]

MOST_RESTARTS = 3
GONE = noop("The engine process ended before it answered. It is started anew; try again.")


def _ignore_progress(progress: dict[str, Any]) -> None:
    """Ignore the progress of a request."""


@dataclass(frozen=True)
class PendingRequest:
    """A request, and the callbacks that wait for its answer."""

    do: str
    given: dict[str, Any]
    on_result: OnResult
    on_error: OnError
    on_progress: OnResult = _ignore_progress


def _defect(text: str) -> str:
    """Return the message for an error that is ours."""
    with contextlib.suppress(RuntimeError):
        return tr("A defect of Netwright: {text}. The details are in {file}.", text=text.rstrip("."), file=engine_log())
    return tr("A defect of Netwright: {text}", text=text)


class EngineServer(QObject):
    """A `serve` process with torch imported, and the requests that wait for its answers.

    It answers several requests at once, and runs go on without it. When the process dies its requests fail with a
    message, and it is started again, a few times.
    """

    ready = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None, command: Sequence[str] | None = None) -> None:
        super().__init__(parent)
        self._command = list(command or module_command("netwright.engine.cli.serve"))
        self._child: ChildProcess | None = None
        self._waiting: dict[int, PendingRequest] = {}
        self._last_id = 0
        self._restarts = 0
        self.is_ready = False
        self.error: dict[str, Any] = {}
        """The last error as JSON, with its code and data, for those whose `on_error` is called."""

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self._child is not None:
            return
        try:
            self._child = ChildProcess(self._command, self, hears=True)
        except OSError as error:
            self.failed.emit(tr("The engine cannot be started: {reason}.", reason=error.strerror))
            return
        self._child.received.connect(self._take)
        self._child.closed.connect(self._on_closed)

    def request(
        self,
        do: str,
        values: dict[str, Any],
        on_result: OnResult,
        on_error: OnError,
        on_progress: OnResult = _ignore_progress,
    ) -> int:
        """Send a request. One of the callbacks `on_result` and `on_error` is called later, from the event loop, unless
        it is cancelled; `on_progress` before that, any number of times, with `done`, `total` and `unit`. Return the id
        of the request."""
        self.start()
        self._last_id += 1
        if self._child is None:
            QTimer.singleShot(0, self, lambda: on_error(tr("The engine cannot be started.")))
            return self._last_id
        self._waiting[self._last_id] = PendingRequest(do, values, on_result, on_error, on_progress)
        self._send(self._last_id, do, values)
        return self._last_id

    def ask(
        self,
        operation: Operation[Any, Any],
        request: Request,
        on_result: OnResult,
        on_error: OnError,
        *,
        on_progress: OnResult = _ignore_progress,
        hosts: Mapping[str, int] = NO_HOSTS,
    ) -> int:
        """Send the request of an operation, whose result comes as the JSON that its command prints. `hosts`: those that
        it may fetch data from. For the rest see `request`."""
        values = to_json(request) | ({"hosts": dict(hosts)} if hosts else {})
        return self.request(operation.name, values, on_result, on_error, on_progress)

    def _send(self, id: int, do: str, values: dict[str, Any]) -> None:
        assert self._child is not None
        self._child.say({"id": id, "do": do, "with": values})

    def cancel(self, id: int, *, only_waiting: bool = False) -> None:
        """Cancel a request, if it was not answered yet: none of its callbacks is called, and its work ends.

        With `only_waiting` work that has begun goes on: its process keeps what it has read for the next request.
        """
        if self._waiting.pop(id, None) is not None and self._child is not None:
            self._last_id += 1
            self._send(self._last_id, "cancel", {"id": id, "only_waiting": only_waiting})

    def _take(self, message: dict[str, Any]) -> None:
        if message.get("ready"):
            self.is_ready = True
            self._restarts = 0
            self.ready.emit()
            return
        if "progress" in message:
            if (waiting := self._waiting.get(message["id"])) is not None:
                waiting.on_progress(message["progress"])
            return
        request = self._waiting.pop(message.get("id", 0), None)
        if request is None:
            return
        if "error" not in message:
            request.on_result(message["result"])
        elif HostQuestion.is_about(message["error"]):
            id = message["id"]
            self._waiting[id] = request  # it can be cancelled meanwhile
            QTimer.singleShot(0, self, lambda: self._ask_for_hosts(id, message["error"]))
        else:
            self._refuse(request, message["error"])

    def _refuse(self, request: PendingRequest, error: dict[str, Any]) -> None:
        self.error = error
        text = str(error["message"])
        request.on_error(_defect(text) if error.get("defect") else message_text(text))

    def _ask_for_hosts(self, id: int, error: dict[str, Any]) -> None:
        """Send a request again, if the user allows the hosts that it needs."""
        is_allowed = id in self._waiting and HostQuestion.ask(error)
        request = self._waiting.get(id)
        if request is not None and is_allowed and self._child is not None:
            self._send(id, request.do, request.given)
        elif request is not None:
            del self._waiting[id]
            self._refuse(request, error)

    def _on_closed(self) -> None:
        """Fail the pending requests, and start again: the process has died."""
        child, self._child = self._child, None
        if child is not None:
            child.end()
        self.is_ready, self.error = False, {}
        waiting, self._waiting = self._waiting, {}
        for request in waiting.values():
            request.on_error(translation(GONE))
        self._restarts += 1
        if self._restarts <= MOST_RESTARTS:
            self.start()
        else:
            self.failed.emit(
                tr("The engine ended {times} times in a row. Try `netwright-engine devices`.", times=self._restarts)
            )

    def close(self) -> None:
        """End the process. Runs go on."""
        child, self._child = self._child, None
        self._waiting = {}
        if child is not None:
            child.end(ENDING_S)
