"""The runs and experiments that are under way, at the top of the start page: each with its progress and a way to
follow it."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from netwright.app.processes import ChildProcess
from netwright.app.start_page.running_program import MODULE, RunningRun
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.engine.core.process import module_command

ENDING_S = 1.0
BAR_WIDTH, PROGRESS_WIDTH = 160, 250


class RunningRuns(QObject):
    """Follows which runs are under way. `changed` is emitted with their list; `close` ends the process."""

    changed = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._child: ChildProcess | None = None

    def watch(self) -> None:
        """Look for runs now and once a second, until `close`."""
        if self._child is not None:
            return
        try:
            self._child = ChildProcess(module_command(MODULE), self, hears=True)
        except OSError:
            return
        self._child.received.connect(self._take)
        self._child.closed.connect(self.close)

    def _take(self, rows: list[dict[str, Any]]) -> None:
        try:
            runs = [RunningRun(**row) for row in rows]
        except TypeError:
            return
        if self._child is not None:  # else a line that was read together with the end
            self.changed.emit(runs)

    def close(self) -> None:
        """Look no more."""
        child, self._child = self._child, None
        if child is not None:
            child.end(ENDING_S)


class RunningRow(QFrame):
    """One run: its title and project, the progress as a bar and in words. A click anywhere asks to follow it."""

    clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        theme.mark(self, "role", "card")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.title, self.project = ElidedLabel(), ElidedLabel()
        theme.mark(self.title, "role", "strong")
        theme.mark(self.project, "role", "muted")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setMaximum(1000)
        self.bar.setFixedWidth(BAR_WIDTH)
        self.progress = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        self.progress.setFixedWidth(PROGRESS_WIDTH)
        self.progress.setFont(theme.figures(self.progress.font()))
        self.follow = QPushButton("Show curves")
        self.follow.clicked.connect(self.clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 8, 8)
        row.setSpacing(12)
        row.addWidget(self.title, 2)
        row.addWidget(self.project, 1)
        row.addWidget(self.bar)
        row.addWidget(self.progress)
        row.addWidget(self.follow)

    def show_run(self, run: RunningRun) -> None:
        """Show a run as it is now."""
        self.title.setText(run.title, note=run.run_dir)
        self.project.setText(run.project, note=run.project_path)
        self.bar.setValue(round(1000 * run.share))
        self.bar.setAccessibleName(f"Progress of {run.title}")
        self.progress.setText(run.progress)
        self.follow.setText("Show trials" if run.is_experiment else "Show curves")
        self.follow.setAccessibleName(f"{self.follow.text()} of {run.title}, {run.project}")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Follow the run with a click anywhere on its row."""
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


class RunningList(QWidget):
    """A row per run under way; hidden while there is none. `chosen` asks to follow a run."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[RunningRow] = []
        self.runs: list[RunningRun] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 8)
        self._column.setSpacing(8)
        heading = QLabel("IN PROGRESS")
        heading.setAccessibleName("Runs and experiments in progress")
        heading.setContentsMargins(0, 8, 0, 0)
        theme.mark(heading, "role", "section")
        self._column.addWidget(heading)
        self.hide()

    def show_runs(self, runs: Sequence[RunningRun]) -> None:
        """Show these runs; a row that stays keeps the keyboard."""
        self.runs = list(runs)
        while len(self.rows) < len(runs):
            row, number = RunningRow(), len(self.rows)
            row.clicked.connect(lambda number=number: self.chosen.emit(self.runs[number]))
            self._column.addWidget(row)
            self.rows.append(row)
        for number, row in enumerate(self.rows):
            row.setVisible(number < len(runs))
            if number < len(runs):
                row.show_run(runs[number])
        self.setVisible(bool(runs))
