"""Trials of the project in a process of its own, started beside the options that they are about: the largest mini-batch
that fits, and which environment and strategy to use."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from netwright.app.plots.bar_rows import BarRow, BarRows, BarStyle, Column
from netwright.app.processes import DisposableProcess
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.process import module_command
from netwright.engine.core.text import format_bytes
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project

STOP = noop("Stop")

BAR_WIDTH = 128


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
        self.button, self.state = QPushButton(translation(self.label)), QLabel()
        self.button.setToolTip(translation(self.hint))
        theme.mark(self.button, "role", "link")
        theme.mark(self.button, "flush", True)
        self.button.setAutoDefault(False)  # Enter in a field starts no trials
        self.button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.button.clicked.connect(self._on_clicked)
        self.state.setWordWrap(True)
        theme.mark(self.state, "role", "muted")
        self.use_button = QPushButton(tr("Use the result"))  # says which once there is one
        self.use_button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.use_button.setAutoDefault(False)
        theme.mark(self.use_button, "role", "link")
        theme.mark(self.use_button, "flush", True)
        self.use_button.clicked.connect(self._on_use)
        self.use_button.hide()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(12)
        for link in (self.button, self.use_button):
            row.addWidget(link, 0, Qt.AlignmentFlag.AlignTop)
        row.insertWidget(1, self.state, 1)
        self.column.addLayout(row)

    def command(self, path: Path) -> list[str]:
        """Return the command that tries the project in this file."""
        raise NotImplementedError

    def take(self, line: dict[str, Any]) -> None:
        """Handle one line of the process that is not an error."""
        raise NotImplementedError

    def use(self) -> None:
        """Apply the result of the trials."""
        raise NotImplementedError

    def offer(self, words: str) -> None:
        """Offer the result for a click; nothing is changed unasked."""
        self.use_button.setText(words)
        self.use_button.show()

    def _on_use(self) -> None:
        self.use_button.hide()
        self.use()

    @property
    def samples(self) -> int | None:
        """The number of training samples, if it is known."""
        return self._samples()

    def _on_clicked(self) -> None:
        if self.trial.is_running:
            self.stop()
            self.say(tr("Stopped."))
            return
        self._folder = tempfile.TemporaryDirectory(prefix="netwright-")
        path = Path(self._folder.name) / "project.netwright"
        path.write_text(dumps(self._project()), encoding="utf-8")
        self._has_said_end = False
        self.use_button.hide()
        try:
            self.trial.start(self.command(path))
        except OSError as error:
            self.end(tr("The engine cannot be started: {strerror}.", strerror=error.strerror), "error")
            return
        self.button.setText(translation(STOP))
        self.say(tr("Starting…"))

    def stop(self) -> None:
        """End the process, if it runs."""
        self.trial.stop()
        self.button.setText(translation(self.label))
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _take(self, line: dict[str, Any]) -> None:
        if "error" in line:
            self.end(message_text(line["error"]), "error")
        else:
            self.take(line)

    def _on_ended(self) -> None:
        if not self._has_said_end:
            self.end(tr("The trials were interrupted: the process has ended. Try again."), "error")

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
    """Finds the largest mini-batch, and offers it; `chosen` carries it."""

    chosen = Signal(int)
    _largest = 0
    label = noop("Find the largest mini-batch…")
    hint = noop(
        "Tries larger and larger mini-batches in a separate process, up to half of the CPU's memory or all of a GPU's"
    )

    def command(self, path: Path) -> list[str]:
        """Return the command that tries mini-batches."""
        samples = ["--samples", str(self.samples)] if self.samples else []
        return module_command("netwright.engine.launch.largest_batch", str(path), *samples)

    def take(self, line: dict[str, Any]) -> None:
        """Show each trial, and its result."""
        if "tried" in line:
            trial = line["tried"]
            if trial["refusal"]:
                self.say(tr("{count:,} does not fit…", count=trial["batch"]))
            else:
                self.say(tr("{count:,} fits…", count=trial["batch"]))
        elif "largest" in line:
            self.end(message_text(line["words"]))
            self._largest = int(line["largest"])
            if self._largest != self._project().training.mini_batch_size:
                self.offer(tr("Use {count:,}", count=self._largest))

    def use(self) -> None:
        """Take the largest mini-batch."""
        self.chosen.emit(self._largest)


class EnvironmentAdvisor(TrialLink):
    """Recommends an environment and a strategy, with the predicted time and memory of each. `chosen` carries both."""

    chosen = Signal(str, str)

    label = noop("Compare environments…")
    hint = noop(
        "Predicts the memory per worker (beside about 200 MiB for its process) and the "
        "time per step for each environment and strategy, by running 20 steps"
    )

    def __init__(self, project: Callable[[], Project], samples: Callable[[], int | None], parent: QWidget) -> None:
        super().__init__(project, samples, parent)
        self._best: tuple[str, str] | None = None
        self._busy = ""
        """Why the times are not alike; empty where nothing disturbs them."""
        style = BarStyle(row=22, text=12, has_track=True, fixed_bar=BAR_WIDTH)
        columns = (
            Column(most=200),
            Column(tr("Time per step")),
            Column(tr("Memory per worker")),
            Column(is_muted=True),
        )
        self.table = BarRows(columns, style)
        self.table.setAccessibleName(tr("Comparison of environments"))
        self.table.hide()
        self.column.addWidget(self.table)

    def command(self, path: Path) -> list[str]:
        """Return the command that tries environments."""
        self._show_ways([])
        self._busy = ""
        return module_command("netwright.engine.launch.advisor", str(path))

    def take(self, line: dict[str, Any]) -> None:
        """Show a row for each candidate, and the advice above them."""
        self._busy = message_text(line["busy"]) if "busy" in line else self._busy
        if "way" in line:
            self._show_ways([*self.table.rows, _row(line["way"])])
        if "advice" in line:
            words = f"{self._busy} {message_text(line['advice'])}".strip()
            self.end(words, "warning" if self._busy else "muted")
            best = line.get("best")
            self._best = (best["target"], best["strategy"]) if best else None
            if self._best is not None:
                name = ", ".join(filter(None, self._best))
                self._show_ways([_marked(row) if row.cells[0] == name else row for row in self.table.rows])
                self.offer(tr("Use {name}", name=name))
        else:
            self.say(" ".join([self._busy, tr("Comparing…")]).strip(), "warning" if self._busy else "muted")

    def _show_ways(self, rows: Sequence[BarRow]) -> None:
        self.table.show_rows(rows)
        self.table.setVisible(bool(rows))

    def use(self) -> None:
        """Take the environment and the strategy that are best."""
        if self._best is not None:
            self.chosen.emit(*self._best)


def _row(way: dict[str, Any]) -> BarRow:
    notes = ["" if way["fits"] else tr("does not fit"), message_text(way["note"])]
    step = tr("not known") if way["seconds"] is None else way["step"]
    cells = (way["name"], step, format_bytes(way["memory_bytes"]), tr("; ").join(filter(None, notes)))
    parts = () if way["seconds"] is None else ((way["seconds"], "muted"),)
    return BarRow(cells, parts, is_faint=not way["fits"])


def _marked(row: BarRow) -> BarRow:
    """Return a row that stands out."""
    return replace(row, is_strong=True, parts=tuple((length, "accent") for length, _ in row.parts))
