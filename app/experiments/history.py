"""What the window knows of the runs of a project, through a process that reads and changes their folders."""

import contextlib
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal

from app.engine_process import ROOT, Lines, engine_command, environment
from app.experiments import attending
from engine.errors import UserError
from engine.runs.folder import RunFolder, runs_beside
from engine.runs.history import is_of, own_runs
from engine.runs.notes import write_notes
from engine.runs.summary import RunSummary, summary_from

LOOK_MS = 1000
ENDING_S = 0.5
GONE = "The process that reads the runs has ended. It is started anew when this tab is seen again."


class History(QObject):
    """All runs in the folders of a project. `changed` after each look that found something, the first one included."""

    changed = Signal()
    refused = Signal(str)
    """What was asked for could not be done, in words."""

    def __init__(self, parent: QObject | None = None, *, look_ms: int = LOOK_MS) -> None:
        super().__init__(parent)
        self.project_path: Path | None = None
        self.runs: dict[Path, RunSummary] = {}
        self.is_read = False
        """Whether the folders have been looked at."""
        self._folders: tuple[str, ...] = ()
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: Lines | None = None
        self._unsent = b""
        self._writable: QSocketNotifier | None = None
        self._unsure: list[tuple[Path, str, tuple[str, ...]]] = []
        """Notes that the process has not said to have dealt with."""
        self._has_news = False
        self._timer = QTimer(self, interval=look_ms)
        self._timer.timeout.connect(self.look)

    def watch(self, project_path: Path | None) -> None:
        """Look at the runs of this project now and once a second, until `rest`."""
        own = own_runs()
        places = [runs_beside(project_path)] if project_path is not None else []
        folders = tuple(dict.fromkeys(str(place) for place in [*places, *([own] if own is not None else [])]))
        if folders != self._folders or project_path != self.project_path:
            self.close()
            self.runs, self.is_read = {}, False
            self._folders, self.project_path = folders, project_path
            self.changed.emit()
        self._timer.start()
        self.look()

    def rest(self) -> None:
        """Nobody is looking."""
        self._timer.stop()

    def is_of_project(self, run: RunSummary) -> bool:
        """Whether a run is of the open project, and not of another one in the same folder."""
        return is_of(run, self.project_path)

    def look(self) -> None:
        """Look for what has changed."""
        self._ask({"do": "look"})

    def note(self, run: Path, note: str, tags: Sequence[str]) -> None:
        """Put a note and tags to a run."""
        self._unsure.append((run, note, tuple(tags)))
        self._ask({"do": "note", "run": str(run), "note": note, "tags": list(tags)})

    def delete(self, runs: Sequence[Path]) -> None:
        """Move runs to the bin."""
        self._ask({"do": "delete", "runs": [str(run) for run in runs]})

    def _ask(self, request: dict[str, Any]) -> None:
        self._start()
        if self._process is None or (request["do"] == "look" and self._unsent):
            return  # one that does not answer has wishes enough
        self._unsent += json.dumps(request).encode() + b"\n"
        self._send()

    def _send(self) -> None:
        """Write what the pipe takes; the rest when it can take more."""
        if self._process is None or self._process.stdin is None or self._writable is None:
            return
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._process.stdin.fileno(), self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent = b""  # it has died: the end of its output tells the same, from the event loop
        self._writable.setEnabled(bool(self._unsent))

    def _start(self) -> None:
        if self._process is not None:
            return
        try:
            self._process = subprocess.Popen(
                engine_command(attending.MODULE, self._folders),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(),
                cwd=ROOT,
            )
        except OSError as error:
            self._timer.stop()
            self.refused.emit(f"The runs cannot be read: {error.strerror}.")
            return
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        channel = self._process.stdin.fileno()
        os.set_blocking(channel, False)
        self._writable = QSocketNotifier(channel, QSocketNotifier.Type.Write, self)
        self._writable.setEnabled(False)
        self._writable.activated.connect(self._send)
        self._lines = Lines(self._process.stdout.fileno(), self)
        self._lines.received.connect(self._take)
        self._lines.closed.connect(self._on_closed)

    def _take(self, line: bytes) -> None:
        try:
            told = json.loads(line)
            for run in map(summary_from, told.get("runs", ())):
                self.runs[run.path] = run
                self._has_news = True
        except (ValueError, AttributeError):
            return
        for path in told.get("gone", ()):
            self.runs.pop(Path(path), None)
            self._has_news = True
        if "refused" in told:
            self.refused.emit(told["refused"])
        if "noted" in told and self._unsure:
            self._unsure.pop(0)
        if "looked" in told and (self._has_news or not self.is_read):
            self._has_news, self.is_read = False, True
            self.changed.emit()

    def _on_closed(self) -> None:
        if self._process is not None:
            self.close()
            self.refused.emit(GONE)

    def close(self) -> None:
        """End the process; what is known stays, and notes are kept even where the process did not get to them."""
        self._timer.stop()
        process, self._process = self._process, None
        self._unsent = b""
        self._end(process)
        unsure, self._unsure = self._unsure, []
        for run, note, tags in unsure:
            with contextlib.suppress(UserError):  # of a run that is gone meanwhile
                write_notes(RunFolder(run), note=note, tags=tags)

    def _end(self, process: subprocess.Popen[bytes] | None) -> None:
        if self._writable is not None:
            self._writable.setEnabled(False)
            self._writable.deleteLater()
            self._writable = None
        if self._lines is not None:
            self._lines.stop()
            self._lines.deleteLater()
            self._lines = None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(ENDING_S)  # one that hangs in a disk ends when that answers
        process.stdout.close()
