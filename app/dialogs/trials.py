"""Trials of the project in a process of its own, started beside the options that they are about: the largest mini-batch
that fits, and which environment and strategy to use."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from app.processes import DisposableProcess
from designer import theme
from engine.core.child_process import module_command
from engine.core.text import format_bytes
from engine.project.file import dumps
from engine.project.project import Project

STOP = "Stop"


class TrialLink(QWidget):
    """A link that starts a process which tries the project, and a text with its progress. Subclasses say which
    process."""

    label = ""
    hint = ""

    def __init__(self, project: Callable[[], Project], samples: Callable[[], int | None], parent: QWidget) -> None:
        super().__init__(parent)
        self._project, self._samples = project, samples
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._has_said_end = False
        self.trial = DisposableProcess(self)
        self.trial.said.connect(self._take)
        self.trial.ended.connect(self._on_ended)
        self.button, self.state = QPushButton(self.label), QLabel()
        self.button.setToolTip(self.hint)
        theme.mark(self.button, "role", "link")
        theme.mark(self.button, "flush", True)
        self.button.setAutoDefault(False)  # Enter in a field starts no trials
        self.button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.button.clicked.connect(self._on_clicked)
        self.state.setWordWrap(True)
        theme.mark(self.state, "role", "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.state, 1)

    def command(self, path: Path) -> list[str]:
        """Return the command that tries the project in this file."""
        raise NotImplementedError

    def take(self, line: dict[str, Any]) -> None:
        """Handle one line of the process that is not an error."""
        raise NotImplementedError

    @property
    def samples(self) -> int | None:
        """The number of training samples, if it is known."""
        return self._samples()

    def _on_clicked(self) -> None:
        if self.trial.is_running:
            self.stop()
            self.say("Stopped.")
            return
        self._folder = tempfile.TemporaryDirectory(prefix="netwright-")
        path = Path(self._folder.name) / "project.netwright"
        path.write_text(dumps(self._project()), encoding="utf-8")
        self._has_said_end = False
        try:
            self.trial.start(self.command(path))
        except OSError as error:
            self.end(f"The engine cannot be started: {error.strerror}.", "error")
            return
        self.button.setText(STOP)
        self.say("Starting…")

    def stop(self) -> None:
        """End the process, if it runs."""
        self.trial.stop()
        self.button.setText(self.label)
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _take(self, line: dict[str, Any]) -> None:
        if "error" in line:
            self.end(line["error"], "error")
        else:
            self.take(line)

    def _on_ended(self) -> None:
        if not self._has_said_end:
            self.end("The trials were interrupted: the process has ended. Try again.", "error")

    def end(self, words: str, role: str = "muted") -> None:
        """Finish with a last text."""
        self._has_said_end = True
        self.stop()
        self.say(words, role)

    def say(self, words: str, role: str = "muted") -> None:
        """Show the progress."""
        theme.mark(self.state, "role", role)
        self.state.setText(words)


class BatchFinder(TrialLink):
    """Finds the largest mini-batch, and emits it with `found`."""

    found = Signal(int)
    label = "Find the largest mini-batch…"
    hint = "Tries mini-batches in a process of its own until memory is full: half of it on the CPU, all of a GPU"

    def command(self, path: Path) -> list[str]:
        """Return the command that tries mini-batches."""
        samples = ["--samples", str(self.samples)] if self.samples else []
        return module_command("engine.launch.largest_batch", str(path), *samples)

    def take(self, line: dict[str, Any]) -> None:
        """Show each trial, and its result."""
        if "tried" in line:
            tried = line["tried"]
            self.say(f"{tried['batch']:,} {'does not fit' if tried['refusal'] else 'fits'}…")
        elif "largest" in line:
            self.end(line["words"])
            self.found.emit(int(line["largest"]))


class EnvironmentAdvisor(TrialLink):
    """Recommends an environment and a strategy, with the predicted time and memory of each. `chosen` carries both."""

    chosen = Signal(str, str)

    label = "Which is best here?"
    hint = (
        "Predicts the memory per worker (beside about 200 MiB for its process) and the time per step for each "
        "environment and strategy, by running 20 steps"
    )

    def __init__(self, project: Callable[[], Project], samples: Callable[[], int | None], parent: QWidget) -> None:
        super().__init__(project, samples, parent)
        self._ways: list[str] = []
        self._best: tuple[str, str] | None = None
        self.use_button = QPushButton("Use it")
        self.use_button.setToolTip("Choose this environment and strategy")
        self.use_button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.use_button.setAutoDefault(False)
        theme.mark(self.use_button, "role", "link")
        theme.mark(self.use_button, "flush", True)
        self.use_button.clicked.connect(self._use)
        self.use_button.hide()
        row = self.layout()
        assert isinstance(row, QHBoxLayout)
        row.addWidget(self.use_button, 0, Qt.AlignmentFlag.AlignTop)

    def command(self, path: Path) -> list[str]:
        """Return the command that tries environments."""
        self._ways = []
        self.use_button.hide()
        return module_command("engine.launch.advisor", str(path))

    def take(self, line: dict[str, Any]) -> None:
        """Show a line for each candidate, and the advice above them."""
        if "way" in line:
            way = line["way"]
            step = "time not known" if way["seconds"] is None else f"{way['step']} per step"
            words = f"{way['name']}: {step}, {format_bytes(way['memory_bytes'])}"
            words += " per worker" if way["workers"] > 1 else ""
            notes = [note for note in (way["note"], "" if way["fits"] else "does not fit") if note]
            self._ways.append(words + (f" ({'; '.join(notes)})" if notes else ""))
            self.say("\n".join(self._ways))
        elif "advice" in line:
            self.end("\n".join((line["advice"], *self._ways)))
            best = line.get("best")
            self._best = (best["target"], best["strategy"]) if best else None
            self.use_button.setVisible(self._best is not None)

    def _use(self) -> None:
        if self._best is not None:
            self.chosen.emit(*self._best)
            self.use_button.hide()
