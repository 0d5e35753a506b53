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
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier, Signal

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
