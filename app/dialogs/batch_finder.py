"""Finds the largest mini-batch that fits into memory, by trying, beside the option for it."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from app.engine_process import engine_command
from app.throw_away import ThrowAway
from designer import theme
from engine.project.file import dumps
from engine.project.project import Project

_FIND, _STOP = "Find the largest mini-batch…", "Stop"
_HINT = "Tries mini-batches in a process of its own until memory is full: half of it on the CPU, all of a GPU"


class BatchFinder(QWidget):
    """A link, and what it has found so far. `found` gives the number."""

    found = Signal(int)

    def __init__(self, project: Callable[[], Project], samples: Callable[[], int | None], parent: QWidget) -> None:
        super().__init__(parent)
        self._project, self._samples = project, samples
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._has_said_end = False
        self.trial = ThrowAway(self)
        self.trial.said.connect(self._take)
        self.trial.ended.connect(self._on_ended)
        self.button, self.state = QPushButton(_FIND), QLabel()
        self.button.setToolTip(_HINT)
        theme.mark(self.button, "role", "link")
        self.button.clicked.connect(self._on_clicked)
        self.state.setWordWrap(True)
        theme.mark(self.state, "role", "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self.button)
        row.addWidget(self.state, 1)

    def command(self, path: Path) -> list[str]:
        """The process that tries."""
        samples = self._samples()
        return engine_command(
            "engine.environments.largest", [str(path), *(["--samples", str(samples)] * bool(samples))]
        )

    def _on_clicked(self) -> None:
        if self.trial.is_running:
            self.stop()
            self._say("Stopped.")
            return
        self._folder = tempfile.TemporaryDirectory(prefix="netwright-")
        path = Path(self._folder.name) / "project.netwright"
        path.write_text(dumps(self._project()), encoding="utf-8")
        self._has_said_end = False
        try:
            self.trial.start(self.command(path))
        except OSError as error:
            self._end(f"The engine cannot be started: {error.strerror}.", "error")
            return
        self.button.setText(_STOP)
        self._say("Starting…")

    def stop(self) -> None:
        """End the trials, if there are any."""
        self.trial.stop()
        self.button.setText(_FIND)
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _take(self, line: dict[str, Any]) -> None:
        if "tried" in line:
            tried = line["tried"]
            verdict = "does not fit" if tried["refusal"] else "fits"
            self._say(f"{tried['batch']:,} {verdict}…")
        elif "largest" in line:
            self._end(line["words"])
            self.found.emit(int(line["largest"]))
        elif "error" in line:
            self._end(line["error"], "error")

    def _on_ended(self) -> None:
        if not self._has_said_end:
            self._end("The trials broke off: the process has ended. Try again.", "error")

    def _end(self, words: str, role: str = "muted") -> None:
        self._has_said_end = True
        self.stop()
        self._say(words, role)

    def _say(self, words: str, role: str = "muted") -> None:
        theme.mark(self.state, "role", role)
        self.state.setText(words)
