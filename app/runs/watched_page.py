"""The answers of a network for some validation samples, validation after validation, as it learned."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QSlider, QVBoxLayout, QWidget

from netwright.app.data.answer_list import AnswerList, rows_of
from netwright.app.data.tiles import PICTURE, Picture, Tile, Tiles
from netwright.app.plots.card import FigureCard
from netwright.designer import theme
from netwright.designer.engine_messages import title_text
from netwright.designer.language import tr
from netwright.designer.markup import visible
from netwright.engine.runs.events import Ended, Event, Points, ThinnedPoints
from netwright.engine.runs.reported_pictures import ATTENTION, ReportedPicture, read_pictures
from netwright.engine.runs.watched_answers import WatchedStep, read_watched

ATTENTION_SIDE = 216
"""Pixels: heads of some hundred steps are to be told apart."""
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


@dataclass(frozen=True)
class WatchedRun:
    """The answers that a run has kept, pictures of its hooks by name, and those of attention by layer."""

    title: str = ""
    steps: Sequence[WatchedStep] = ()
    pictures: Mapping[str, Sequence[ReportedPicture]] = field(default_factory=dict)
    attention: Mapping[str, Sequence[ReportedPicture]] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Path, title: str = "") -> "WatchedRun":
        """Read what a run has kept. Raises `OSError`."""
        return cls(title, read_watched(run), read_pictures(run), read_pictures(run, ATTENTION))

    def moments(self) -> Iterator[tuple[int, int]]:
        """Yield iteration and epoch of all that was kept."""
        yield from ((step.iteration, step.epoch) for step in self.steps)
        for those in (*self.pictures.values(), *self.attention.values()):
            yield from ((picture.iteration, picture.epoch) for picture in those)


Record = TypeVar("Record", WatchedStep, ReportedPicture)


def nearest(records: Sequence[Record], iteration: int) -> Record | None:
    """Return the record that was kept nearest to an iteration."""
    return min(records, key=lambda record: abs(record.iteration - iteration), default=None)


def of_equal_samples(answers: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return answers without the samples that one of them lacks, in the order of the first. Samples are equal by their
    names, or by their numbers where they have none."""
    places = [{row.get("sample", row["index"]): at for at, row in enumerate(answer["rows"])} for answer in answers]
    keys = [key for key in places[0] if all(key in others for others in places)]
    return [
        {name: [value[at[key]] for key in keys] if isinstance(value, list) else value for name, value in answer.items()}
        for answer, at in zip(answers, places, strict=True)
    ]


class WatchedPage(RecordPage):
    """Shows one moment of a run, or of two runs side by side; a slider goes through them. The newest one is followed
    until another is chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: Sequence[WatchedRun] = ()
        self._moments: list[tuple[int, int]] = []
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

    def read(self, run: Path | None) -> None:
        """Show the answers of a run."""
        self.show_runs([] if run is None else [WatchedRun.of(run)])

    def is_news(self, event: Event) -> bool:
        """Whether a validation has come, or a value of a hook, which may have reported a picture, too."""
        return isinstance(event, ThinnedPoints) or (
            isinstance(event, Points) and (event.split == "validation" or "loss" not in event.values)
        )

    def show_steps(self, steps: Sequence[WatchedStep]) -> None:
        """Show the answers of one run."""
        self.show_runs([WatchedRun(steps=steps)])

    def show_runs(self, runs: Sequence[WatchedRun]) -> None:
        """Show the answers of runs: at the newest moment, or at the one that was chosen."""
        if runs and list(runs) == list(self.runs):
            return
        follows, at = self.slider.value() == self.slider.maximum(), self.slider.value()
        moment = self._moments[at] if self._moments else None
        self.runs = runs
        self._moments = sorted({iteration: epoch for run in runs for iteration, epoch in run.moments()}.items())
        at = max(0, len(self._moments) - 1)
        if moment in self._moments and not follows:
            at = self._moments.index(moment)
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, len(self._moments) - 1))
        self.slider.setValue(at)
        self.slider.blockSignals(False)
        self.slider.setEnabled(len(self._moments) > 1)
        self._show()

    def _show(self) -> None:
        body, moment = QWidget(), ""
        if self._moments:
            iteration, epoch = self._moments[self.slider.value()]
            moment = _moment_text(epoch, iteration)
            row = QHBoxLayout(body)
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(24)
            steps = [nearest(run.steps, iteration) for run in self.runs]
            answers: list[Mapping[str, Any]] = [{} if step is None else step.answer for step in steps]
            if len(answers) > 1 and all(answers):
                answers = of_equal_samples(answers)
            for run, step, answer in zip(self.runs, steps, answers, strict=True):
                row.addLayout(self._column_of(run, step, answer, iteration), 1)
        self.moment.setText(moment)
        self.nothing.setVisible(not self._moments)
        for widget in (self.slider, self.card.button):
            widget.setVisible(bool(self._moments))
        self._column.replaceWidget(self.body, body)
        self.body.hide()
        self.body.deleteLater()
        self.body = body

    def _column_of(
        self, run: WatchedRun, step: WatchedStep | None, answer: Mapping[str, Any], iteration: int
    ) -> QVBoxLayout:
        """Return answers and pictures of a run nearest to an iteration, under its title where there are several."""
        column = QVBoxLayout()
        column.setSpacing(8)
        if len(self.runs) > 1:
            title, words = QLabel(visible(title_text(run.title))), tr("This run has kept no answers.")
            theme.mark(title, "role", "strong")
            title.setWordWrap(True)
            if step is not None:
                words = _moment_text(step.epoch, step.iteration)
                if not answer["rows"]:
                    words = tr("The runs have kept no answers for equal samples here.")
            note = QLabel(words)
            theme.mark(note, "role", "muted")
            note.setWordWrap(True)
            column.addWidget(title)
            column.addWidget(note)
        if answer:
            column.addWidget(AnswerList(answer))
        attention = tr("Attention to one sample: each step (row) takes more from brighter steps (columns)")
        for words, named, side in (
            (attention, run.attention, ATTENTION_SIDE),
            (tr("Pictures that hooks report"), run.pictures, PICTURE),
        ):
            pictures = {name: picture for name, those in named.items() if (picture := nearest(those, iteration))}
            if not pictures:
                continue
            heading = QLabel(words)
            theme.mark(heading, "role", "muted")
            heading.setWordWrap(True)
            column.addWidget(heading)
            column.addWidget(Tiles([_tile(name, picture, side) for name, picture in pictures.items()]))
        column.addStretch(1)
        return column

    def _rows(self) -> Iterator[list[str]]:
        """Yield the table of all validations."""
        names = [[title_text(run.title)] if len(self.runs) > 1 else [] for run in self.runs]
        is_first = True
        for run, name in zip(self.runs, names, strict=True):
            for step in run.steps:
                head, *rows = rows_of(step.answer)
                if is_first:
                    yield [*(tr("Run") for _ in name), tr("Epoch"), tr("Iteration"), *head]
                is_first = False
                for row in rows:
                    yield [*name, str(step.epoch), str(step.iteration), *row]


def _tile(name: str, picture: ReportedPicture, side: int) -> Tile:
    """Return a picture with its name; moment and name are its tip."""
    tip = f"{visible(name)}\n{_moment_text(picture.epoch, picture.iteration)}"
    tile = Picture(picture.file, visible(name), tip, side)
    tile.setAccessibleName(tip)
    return tile


def _moment_text(epoch: int, iteration: int) -> str:
    return tr("epoch {epoch:,}, iteration {iteration:,}", epoch=epoch, iteration=iteration)


class WatchedPair(WatchedPage):
    """The answers of two runs to equal samples, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self._pair: Sequence[tuple[str, Path]] = ()
        self.nothing.setText(tr("Neither run has kept answers while it trained."))

    def set_pair(self, pair: Sequence[tuple[str, Path]]) -> None:
        """Take title and folder of each run; other than two are not compared."""
        self._pair = pair if len(pair) == 2 else ()
        self.show_run(self._pair[0][1] if self._pair else None)

    def look_again(self) -> None:
        """Read soon: a run may have kept more."""
        if self._pair and self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def read(self, run: Path | None) -> None:
        """Show the answers of both runs."""
        self.show_runs([] if run is None else [WatchedRun.of(path, title) for title, path in self._pair])
