"""Views of a run of which one is shown, and what parts bring to them: pages about a run, experiments with their
trials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from netwright.app.widgets import FlowRow
from netwright.designer import markup, theme
from netwright.designer.language import tr
from netwright.designer.segment_row import SegmentRow

GAP = 12


@dataclass(frozen=True)
class OpenedModel:
    """A model that is no run, and what is said of it. `card` is the result of `models show`; `data` is other data that
    it is asked about, read as `settings` say; `pixels` the range that a network from elsewhere takes."""

    path: Path
    card: Mapping[str, Any]
    data: str = ""
    settings: tuple[str, ...] = ()
    pixels: str = ""

    @property
    def has_data(self) -> bool:
        """Whether it can be scored: it has data of its own, or other data was chosen."""
        return bool(self.data or self.card.get("data"))


class RunPage(QWidget):
    """A page about the run or the model that is chosen. It shows its result on arrival."""

    title: ClassVar[str]
    """The text of its segment."""
    needs_run: ClassVar[bool] = True
    """Whether the page has nothing to show without a run that has ended."""

    sample_requested = Signal(str, int)
    """A split and the place of a sample in it, for which the answer is to be explained."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.run: Path | None = None
        self.model: OpenedModel | None = None
        """The model that is shown, where it is no run; `run` is then its path."""

    def set_model(self, model: OpenedModel) -> None:
        """Take a model that is no run."""
        self.model = model
        self.set_run(model.path)

    @property
    def has_splits(self) -> bool:
        """Whether it is about data that is divided: that of the run, or the own data of the model."""
        return self.model is None or bool(self.model.card.get("data") and not self.model.data)

    @property
    def named(self) -> Mapping[str, Any]:
        """The fields of a request that name the run or the model, and the other data that it is asked about."""
        if (model := self.model) is None:
            return {"model": self.run}
        other = {"data": model.data, "settings": model.settings, "split": ""} if model.data else {}
        return {"model": model.path, "pixels": model.pixels, **other}

    def set_run(self, run: Path | None) -> None:
        """Take the run that is chosen, None without one that has ended."""
        self.run = run

    def arrive(self) -> None:
        """Show the result for the run: the page is seen."""

    def show_sample(self, split: str, place: int) -> None:
        """Explain the answer for a sample of a split, if the page does that."""

    def showEvent(self, event: QShowEvent) -> None:
        """Show the result."""
        super().showEvent(event)
        self.arrive()

    def shutdown(self) -> None:
        """End processes and requests: the window closes."""


class PairPage(RunPage):
    """A page about two runs that have ended."""

    def set_pair(self, first: tuple[str, Path], second: tuple[str, Path]) -> None:
        """Take title and folder of each run."""
        raise NotImplementedError


class MessagePage(QWidget):
    """A text in the middle, perhaps with the one thing to do."""

    def __init__(self, button: str = "") -> None:
        super().__init__()
        self.title, self.message, self.button = QLabel(), QLabel(), QPushButton(button)
        theme.mark(self.title, "role", "title")
        theme.mark(self.message, "role", "muted")
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addStretch(2)
        for label in (self.title, self.message):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
            column.addWidget(label)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)

    def say(self, text: str, *, title: str = "", offers: bool = False, refused: bool = False) -> None:
        """Show a text, with a title and the button where they are wanted."""
        theme.mark(self.message, "role", "error" if refused else "muted")
        self.title.setText(markup.visible(title))
        self.title.setVisible(bool(title))
        self.message.setText(markup.visible(text))
        self.button.setVisible(offers)


class Segments(QWidget):
    """A bar of segments, and below it the page of the one that is chosen. Beside the bar stand the controls of the
    first page; below it where there is no room. `changed` tells the key of the page that is shown."""

    changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pages: dict[str, QWidget] = {}
        self.beside: list[RunPage] = []
        """Panels beside what the pages show."""
        self.stack, self.message = QStackedWidget(self), MessagePage(tr("Train"))
        self.stack.addWidget(self.message)
        self._bar = SegmentRow()
        self._buttons: dict[str, QPushButton] = {}
        self._corner: QWidget | FlowRow = QWidget()
        self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._head.setSpacing(GAP)
        self._head.addWidget(self._bar, 0, Qt.AlignmentFlag.AlignLeft)
        self._head.addWidget(self._corner, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addLayout(self._head)
        column.addWidget(self.stack, 1)
        self._has_run = False

    def add(self, key: str, title: str, page: QWidget) -> None:
        """Add a page."""
        self.pages[key] = page
        self.stack.addWidget(page)
        button = self._buttons[key] = self._bar.add(title, is_on=len(self.pages) == 1)
        button.toggled.connect(lambda is_on: self._show(key) if is_on else None)
        self._bar.setVisible(len(self.pages) > 1)
        if len(self.pages) == 1:
            self._show(key)

    def set_corner(self, controls: QHBoxLayout | FlowRow) -> None:
        """Set the controls of the first page."""
        if isinstance(controls, FlowRow):
            self._head.replaceWidget(self._corner, controls)
            self._corner.deleteLater()
            self._corner = controls
        else:
            controls.setContentsMargins(0, 0, 0, 0)
            self._corner.setLayout(controls)

    @property
    def current(self) -> str:
        """The key of the page that is chosen."""
        return next((key for key, button in self._buttons.items() if button.isChecked()), "")

    def choose(self, key: str) -> None:
        """Bring a page to the front."""
        if key in self._buttons:
            self._buttons[key].setChecked(True)

    def set_run(self, run: Path | None, why_not: str, *, offers: bool = False) -> None:
        """Tell the pages about the run that is chosen; without one they say why there is none."""
        self._has_run = run is not None
        self.message.say(why_not, offers=offers)
        for page in (*self.pages.values(), *self.beside):
            if isinstance(page, RunPage) and page.run != run:
                page.set_run(run)
        self._show(self.current)
        for page in (self.stack.currentWidget(), *self.beside):
            if isinstance(page, RunPage) and page.isVisible():
                page.arrive()

    def _show(self, key: str) -> None:
        page = self.pages[key]
        needs_run = isinstance(page, RunPage) and page.needs_run
        self.stack.setCurrentWidget(self.message if needs_run and not self._has_run else page)
        self._corner.setVisible(key == next(iter(self.pages)))
        self.changed.emit(key)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the controls."""
        super().resizeEvent(event)
        self.place_controls()

    def place_controls(self) -> None:
        """Place the controls beside the bar, or below it where there is no room."""
        width = self._corner.minimumSizeHint().width()
        if isinstance(self._corner, FlowRow):
            self._corner.arrange()
            width = self._corner.line_width
        has_room = self._bar.sizeHint().width() + GAP + width <= self.width()
        directions = QBoxLayout.Direction
        self._head.setDirection(directions.LeftToRight if has_room else directions.TopToBottom)

    def shutdown(self) -> None:
        """End what the pages of parts do."""
        for page in (*self.pages.values(), *self.beside):
            if isinstance(page, RunPage):
                page.shutdown()


# ---- experiments ----


@dataclass(frozen=True)
class TrialEntry:
    """A trial in the rail: its number, the folder of its run, and its values in words."""

    number: int
    run: Path | None
    values: str
    state: str
    scores: Mapping[str, float] = field(default_factory=dict)
    is_best: bool = False


@dataclass(frozen=True)
class TrialFolder:
    """An experiment in the rail. `num_planned` is 0 where it is not known; `best` are its first trials, the best
    first; `objective` is the score that they are compared by."""

    path: Path
    title: str
    state: str
    created: float
    num_trials: int
    num_over: int
    num_planned: int
    objective: str
    best: Sequence[TrialEntry]


class FolderSource(QObject):
    """The experiments of a project. `changed` is emitted when one of them has changed."""

    changed = Signal()
    folders: Sequence[TrialFolder] = ()

    def watch(self, project: Path | None, identity: str) -> None:
        """Look at the experiments of a project from now on."""
        raise NotImplementedError

    def look(self) -> None:
        """Look now."""
        raise NotImplementedError

    def rest(self) -> None:
        """Look no more."""
        raise NotImplementedError


class ExperimentPage(QWidget):
    """A page on which many values of the open project are tried and compared."""

    run_requested = Signal(object, str)
    """The folder of a run of a trial, and the key of the segment that is to be shown."""
    begun = Signal(object)
    """The `ExperimentFolder` of an experiment that was started here."""
    compare_requested = Signal(object)
    """Runs of trials."""

    def set_run_times(self, seconds: Sequence[float]) -> None:
        """Take the times of finished runs of the project, by which that of trials is estimated."""
        raise NotImplementedError

    def show_experiment(self, path: Path | None) -> None:
        """Show the experiment in a folder; None for the next one."""
        raise NotImplementedError
