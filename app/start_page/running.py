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
from netwright.designer.engine_messages import duration_text, title_text
from netwright.designer.language import tr
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
        self.follow = QPushButton(tr("Show curves"))
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
        title = tr("Experiment {name}", name=run.title) if run.is_experiment else title_text(run.title)
        project = run.project if run.project_path else tr("{name}, not saved when it began", name=run.project)
        self.title.setText(title, note=run.run_dir)
        self.project.setText(project, note=run.project_path)
        self.bar.setValue(round(1000 * run.share))
        self.bar.setAccessibleName(tr("Progress of {title}", title=title))
        self.progress.setText(progress_in_words(run))
        if run.is_experiment:
            self.follow.setText(tr("Show trials"))
            self.follow.setAccessibleName(tr("Show trials of {title}, {project}", title=title, project=project))
        else:
            self.follow.setText(tr("Show curves"))
            self.follow.setAccessibleName(tr("Show curves of {title}, {project}", title=title, project=project))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Follow the run with a click anywhere on its row."""
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


def progress_in_words(run: RunningRun) -> str:
    """Return how far a run or an experiment is."""
    if run.is_experiment:
        if run.total:
            return tr("{count:,} of %n trial(s)", "", run.total, count=run.count)
        return tr("%n trial(s) done", "", run.count)
    if not run.count:
        return tr("Starting")
    if run.total:
        epoch = tr("Epoch {epoch:,} of {epochs:,}", epoch=run.count, epochs=run.total)
    else:
        epoch = tr("Epoch {epoch:,}", epoch=run.count)
    if run.is_paused:
        return tr("{progress} · paused", progress=epoch)
    if run.remaining_s is None:
        return epoch
    return tr("{progress} · {time} left", progress=epoch, time=duration_text(run.remaining_s))


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
        heading = QLabel(tr("IN PROGRESS"))
        heading.setAccessibleName(tr("Runs and experiments in progress"))
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
