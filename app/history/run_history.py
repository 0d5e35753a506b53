"""The runs of a project, read and changed through a process of its own."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from netwright.app.history import run_reader
from netwright.app.processes import ENDING_S, ChildProcess
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.core.process import module_command
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.history import ProjectKey
from netwright.engine.runs.notes import write_notes
from netwright.engine.runs.summary import RunSummary, summary_from
from netwright.engine.runs.trial_reader import Live

LOOK_MS = 1000
READING = noop("Reading the runs…")
GONE = noop(
    "The list is not updated: the process that reads the runs has ended. It restarts when this page is opened again."
)


class RunHistory(QObject):
    """All runs in the folders of a project. `changed` is emitted after each look that found changes, and after the
    first."""

    changed = Signal()
    refused = Signal(str)
    """A request could not be carried out, with the reason."""

    def __init__(self, parent: QObject | None = None, *, look_ms: int = LOOK_MS) -> None:
        super().__init__(parent)
        self.project: ProjectKey | None = None
        self.runs: dict[Path, RunSummary] = {}
        self.live: dict[Path, Live] = {}
        """How far the runs under way have come."""
        self.is_read = False
        """Whether the folders have been read."""
        self._child: ChildProcess | None = None
        self._unsure: list[tuple[Path, str, tuple[str, ...]]] = []
        """Notes that the process has not confirmed yet."""
        self._has_news = False
        self._timer = QTimer(self, interval=look_ms)
        self._timer.timeout.connect(self.look)

    def watch(self, project: ProjectKey) -> None:
        """Look at the runs of this project now and once a second, until `rest`."""
        if project != self.project:
            self.close()
            self.runs, self.live, self.is_read = {}, {}, False
            self.project = project
            self.changed.emit()
        self._timer.start()
        self.look()

    def rest(self) -> None:
        """Stop looking: the page is hidden."""
        self._timer.stop()

    def is_of_project(self, run: RunSummary) -> bool:
        """Return whether a run belongs to the open project, and not to another one in the same folder."""
        return self.project is not None and self.project.owns(run, run.path)

    def look(self) -> None:
        """Ask for changes."""
        self._ask({"do": "look"})

    def note(self, run: Path, note: str, tags: Sequence[str]) -> None:
        """Save a note and tags of a run."""
        self._unsure.append((run, note, tuple(tags)))
        self._ask({"do": "note", "run": str(run), "note": note, "tags": list(tags)})

    def rename(self, run: Path, name: str) -> None:
        """Save the name of a run; an empty one gives it its number back."""
        self._ask({"do": "rename", "run": str(run), "run_name": name})

    def delete(self, runs: Sequence[Path]) -> None:
        """Move runs to the trash."""
        self._ask({"do": "delete", "runs": [str(run) for run in runs]})

    def _ask(self, request: dict[str, Any]) -> None:
        self._start()
        if self._child is None or (request["do"] == "look" and self._child.is_behind):
            return  # one that does not answer has wishes enough
        self._child.say(request)

    def _start(self) -> None:
        if self._child is not None or self.project is None:
            return
        path = str(self.project.path or "")
        try:
            self._child = ChildProcess(module_command(run_reader.MODULE, path, self.project.identity), self, hears=True)
        except OSError as error:
            self._timer.stop()
            self.refused.emit(tr("The runs cannot be read: {strerror}.", strerror=error.strerror))
            return
        self._child.received.connect(self._take)
        self._child.closed.connect(self._on_closed)

    def _take(self, report: dict[str, Any]) -> None:
        try:
            for run in map(summary_from, report.get("runs", ())):
                self.runs[run.path] = run
                self._has_news = True
        except (ValueError, AttributeError):
            return
        for path in report.get("gone", ()):
            self.runs.pop(Path(path), None)
            self._has_news = True
        if "live" in report:
            live = {Path(path): Live(*map(float, values)) for path, values in report["live"].items()}
            self._has_news = self._has_news or live != self.live
            self.live = live
        if "refused" in report:
            self.refused.emit(report["refused"])
        if "noted" in report and self._unsure:
            self._unsure.pop(0)
        if "looked" in report and (self._has_news or not self.is_read):
            self._has_news, self.is_read = False, True
            self.changed.emit()

    def _on_closed(self) -> None:
        if self._child is not None:
            self.close()
            self.refused.emit(translation(GONE))

    def close(self) -> None:
        """End the process. What was read stays, and notes that the process did not get to are saved here."""
        self._timer.stop()
        child, self._child = self._child, None
        if child is not None:
            child.end(ENDING_S)
        unsure, self._unsure = self._unsure, []
        for run, note, tags in unsure:
            with contextlib.suppress(UserError):  # of a run that is gone meanwhile
                write_notes(RunFolder(run), note=note, tags=tags)
