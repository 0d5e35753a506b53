"""A process of the engine that looks or tries something, and is thrown away: with all that it started, at any time."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.engine_process import ROOT, Lines, environment


class ThrowAway(QObject):
    """`said` gives each JSON object that it prints; `ended` comes when it has ended by itself, or could not begin."""

    said = Signal(object)
    ended = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.process: subprocess.Popen[bytes] | None = None
        self._lines: Lines | None = None

    @property
    def is_running(self) -> bool:
        """Whether it is at work."""
        return self.process is not None

    def start(self, command: Sequence[str]) -> None:
        """Begin anew. Raises `OSError` where the system gives no process."""
        self.stop()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            cwd=ROOT,
            start_new_session=True,  # ended together with the processes that it starts
        )
        assert self.process.stdout is not None
        self._lines = Lines(self.process.stdout.fileno(), self)
        self._lines.received.connect(self._take)
        self._lines.closed.connect(self._on_closed)

    def stop(self) -> None:
        """End it, if it is at work."""
        process, self.process = self.process, None
        if process is None:
            return
        if self._lines is not None:
            self._lines.stop()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()

    def _take(self, line: bytes) -> None:
        """Pass on what is a JSON object; a library that prints is passed over."""
        with contextlib.suppress(ValueError, RecursionError):
            if isinstance(told := json.loads(line), dict):
                self.said.emit(told)

    def _on_closed(self) -> None:
        self.stop()
        self.ended.emit()
