"""The answers of a network for some validation samples, validation after validation, as it learned."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QSlider, QVBoxLayout, QWidget

from netwright.app.data.answer_list import AnswerList, rows_of
from netwright.app.plots.card import FigureCard
from netwright.designer import theme
from netwright.designer.language import tr
from netwright.engine.runs.events import Ended, Event, Points, ThinnedPoints
from netwright.engine.runs.watched_answers import WatchedStep, read_watched

READING_MS = 200
"""After a validation has come, and perhaps more of them, answers are read."""


class RecordPage(QScrollArea):
    """Shows records of a run beside its log, as long as it trains and later."""

    def __init__(self) -> None:
        super().__init__()
        self._run: Path | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(READING_MS)
        self._timer.timeout.connect(self._look)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)

    def read(self, run: Path | None) -> None:
        """Show the records of a run as they are now; None for no run. Raises `OSError`."""
        raise NotImplementedError

    def is_news(self, event: Event) -> bool:
        """Whether there may be new records after an event."""
        raise NotImplementedError

    def show_run(self, run: Path | None) -> None:
        """Show the records of another run, once they are read; None for no run."""
        self._run = run
        self._timer.stop()
        self.read(None)
        if run is not None:
            self._timer.start()

    def take(self, event: Event) -> None:
        """Read again after an event that says so, and at the end."""
        if (self.is_news(event) or isinstance(event, Ended)) and not self._timer.isActive():
            self._timer.start()

    def _look(self) -> None:
        if self._run is not None:
            with contextlib.suppress(OSError):  # the curves are there all the same
                self.read(self._run)


class WatchedPage(RecordPage):
    """Shows one validation of a run at a time; a slider goes through them. The newest one is followed until another is
    chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: Sequence[WatchedStep] = ()
        self.slider, self.moment = QSlider(Qt.Orientation.Horizontal), QLabel()
        self.slider.setAccessibleName(tr("Validation whose answers are shown"))
        self.slider.setPageStep(1)
        self.slider.valueChanged.connect(self._show)
        theme.mark(self.moment, "role", "muted")
        self.nothing = QLabel(tr("At each validation, the answers for some validation samples appear here."))
        self.nothing.setWordWrap(True)
        theme.mark(self.nothing, "role", "muted")
        self.body: QWidget = QWidget()
        self._lay_out()
        self.show_steps([])

    def _lay_out(self) -> None:
        content = QWidget()
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.slider, 1)
        row.addWidget(self.moment)
        self._column.addLayout(row)
        self._column.addWidget(self.nothing)
        self._column.addWidget(self.body)
        self.card = FigureCard(
            content, tr("Answers"), tr("of validation samples, while the network learned"), self._rows
        )
        outer = QWidget()
        column = QVBoxLayout(outer)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.card)
        column.addStretch(1)
        self.setWidget(outer)

    @property
    def step(self) -> WatchedStep | None:
        """The one that is shown."""
        return self.steps[self.slider.value()] if self.steps else None

    def read(self, run: Path | None) -> None:
        """Show the answers of a run."""
        self.show_steps([] if run is None else read_watched(run))

    def is_news(self, event: Event) -> bool:
        """Whether a validation has come."""
        return isinstance(event, Points | ThinnedPoints) and event.split == "validation"

    def show_steps(self, steps: Sequence[WatchedStep]) -> None:
        """Show the answers of a run: at the newest validation, or at the one that was chosen."""
        if steps and list(steps) == list(self.steps):
            return
        shown = self.step
        follows = self.slider.value() == self.slider.maximum()
        self.steps = steps
        places = [step.iteration for step in steps]
        at = max(0, len(steps) - 1)
        if shown is not None and not follows and shown.iteration in places:
            at = places.index(shown.iteration)
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, len(steps) - 1))
        self.slider.setValue(at)
        self.slider.blockSignals(False)
        self.slider.setEnabled(len(steps) > 1)
        self._show()

    def _show(self) -> None:
        step = self.step
        body, moment = QWidget(), ""
        if step is not None:
            body = AnswerList(step.answer)
            moment = tr("epoch {epoch:,}, iteration {iteration:,}", epoch=step.epoch, iteration=step.iteration)
        self.moment.setText(moment)
        self.nothing.setVisible(step is None)
        for widget in (self.slider, self.card.button):
            widget.setVisible(step is not None)
        self._column.replaceWidget(self.body, body)
        self.body.hide()
        self.body.deleteLater()
        self.body = body

    def _rows(self) -> Iterator[list[str]]:
        """Yield the table of all validations."""
        for number, step in enumerate(self.steps):
            head, *rows = rows_of(step.answer)
            if not number:
                yield [tr("Epoch"), tr("Iteration"), *head]
            for row in rows:
                yield [str(step.epoch), str(step.iteration), *row]
