"""The Test tab: evaluations of a run, which is selected once for all pages."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from netwright.app.analysis.compare_page import ComparePage
from netwright.app.analysis.evaluation_page import TestPage
from netwright.app.analysis.inside_page import InsidePage
from netwright.app.analysis.predict_page import PredictPage
from netwright.app.analysis.robustness_page import RobustnessPage
from netwright.app.analysis.scores_page import ScoresPage
from netwright.app.history.part_pages import ResultsPage
from netwright.app.history.run_history import READING, RunHistory
from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.markup import visible
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.history import in_order

PAGES: tuple[type[TestPage], ...] = (ScoresPage, PredictPage, InsidePage, RobustnessPage, ComparePage)
NO_RUNS = "Train the network first: what it has learned is tested here, on samples that it has not seen."
NONE_ENDED = "The first run of this project is still under way: what it has learned is tested here once it has ended."


class TestTab(ResultsPage):
    """The ended runs of the project, and a page for each kind of evaluation."""

    __test__ = False
    """Not a class of tests, whatever pytest thinks of its name."""

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shell = shell
        self._trial: tuple[str, Path] | None = None
        """Title and folder of the run of a trial that was asked for."""
        self.history = RunHistory(self)
        self.history.changed.connect(self._list_runs)
        self.history.refused.connect(self._on_refused)
        self._wanted: Path | None = None
        self.runs, self.stack, self.message = QComboBox(), QStackedWidget(), QLabel(READING)
        self.train_button = QPushButton("Train")
        self.pages = [page(shell) for page in PAGES]
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        column.addLayout(self._make_bar())
        column.addWidget(self.stack, 1)
        self.stack.addWidget(self._make_message())
        for page in self.pages:
            self.stack.addWidget(page)
        scores = self.page(ScoresPage)
        assert isinstance(scores, ScoresPage)
        scores.inside_requested.connect(self._look_inside)
        shell.documents.changed.connect(self._on_document)
        self._list_runs()

    def _make_bar(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.runs.setAccessibleName("Run")
        self.runs.setMinimumWidth(260)
        self.runs.activated.connect(self._tell)
        frame = QFrame()
        theme.mark(frame, "role", "segments")
        segments = QHBoxLayout(frame)
        segments.setContentsMargins(3, 3, 3, 3)
        segments.setSpacing(2)
        self.segments = QButtonGroup(self)
        for number, page in enumerate(self.pages):
            button = QToolButton()
            button.setText(page.title)
            button.setCheckable(True)
            button.setChecked(number == 0)
            self.segments.addButton(button, number)
            segments.addWidget(button)
        self.segments.idToggled.connect(self._show_page)
        frame.setVisible(len(self.pages) > 1)
        row.addWidget(QLabel("Run"))
        row.addWidget(self.runs)
        row.addSpacing(8)
        row.addWidget(frame)
        row.addStretch(1)
        return row

    def _make_message(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setSpacing(12)
        column.addStretch(1)
        theme.mark(self.message, "role", "muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setWordWrap(True)
        self.train_button.clicked.connect(self.train_requested)
        column.addWidget(self.message)
        column.addWidget(self.train_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        return page

    def page(self, kind: type[TestPage]) -> TestPage:
        """Return the page of a class."""
        return next(page for page in self.pages if isinstance(page, kind))

    def show_page(self, kind: type[TestPage]) -> None:
        """Bring the page of a class to the front."""
        self.segments.button(self.pages.index(self.page(kind))).setChecked(True)

    def _look_inside(self, split: str, place: int) -> None:
        """Show the explanation of the answer for a sample."""
        page = self.page(InsidePage)
        assert isinstance(page, InsidePage)
        self.show_page(InsidePage)
        page.show_sample(split, place)

    # ---- runs ----

    def showEvent(self, event: QShowEvent) -> None:
        """Look for the runs of the project."""
        super().showEvent(event)
        self.history.watch(self._shell.documents.key)

    def hideEvent(self, event: QHideEvent) -> None:
        """Look no more."""
        super().hideEvent(event)
        self.history.rest()

    def shutdown(self) -> None:
        """End the processes."""
        for page in self.pages:
            page.shutdown()
        self.history.close()

    def _on_document(self) -> None:
        if self._shell.documents.key != self.history.project:
            self._trial = None
        if self.isVisible():
            self.history.watch(self._shell.documents.key)

    def choose_run(self, folder: RunFolder) -> None:
        """Choose a run, once the runs of the project are listed."""
        self._wanted = folder.path
        self._list_runs()

    def _list_runs(self) -> None:
        """List the runs that have ended, the newest first, and keep the one that is chosen."""
        current = self.run
        own = [run for run in in_order(self.history.runs.values()) if self.history.is_of_project(run)]
        listed = [(run.title, run.path) for run in own if run.result is not None]
        is_under_way = any(run.state not in ENDS for run in own)
        self._say(NONE_ENDED if is_under_way else NO_RUNS if self.history.is_read else READING)
        if self._trial is not None:
            listed.insert(0, self._trial)
        self.runs.clear()
        for title, path in listed:
            self.runs.addItem(visible(title), path)
        paths = [path for _, path in listed]
        if self._wanted in paths:
            current, self._wanted = self._wanted, None
        if current in paths:
            self.runs.setCurrentIndex(paths.index(current))
        self.runs.setEnabled(bool(listed))
        for page in self.pages:
            page.set_runs(listed if self.history.is_read else None)
        self._tell()
        self._show_page()

    def _on_refused(self, reason: str) -> None:
        """Say why there is no list of runs; a list that was read stays."""
        if not self.history.is_read:
            self._say(reason, refused=True)

    def _say(self, text: str, *, refused: bool = False) -> None:
        """Show a text in the place of the pages; where the project has no run, with the way to one."""
        theme.mark(self.message, "role", "error" if refused else "muted")
        self.message.setText(text)
        self.train_button.setVisible(text == NO_RUNS)

    def show_trial(self, path: Path, title: str) -> None:
        """Choose a run of a trial and evaluate it; it stays in the list beside the runs of the project."""
        self._trial = title, path
        self._list_runs()
        self.runs.setCurrentIndex(0)
        self._tell()
        self.show_page(ScoresPage)
        scores = self.page(ScoresPage)
        assert isinstance(scores, ScoresPage)
        scores.evaluate()

    @property
    def run(self) -> Path | None:
        """The run that is chosen."""
        path = self.runs.currentData()
        return path if isinstance(path, Path) else None

    def _tell(self) -> None:
        """Tell the pages which run is chosen, if it is another one."""
        for page in self.pages:
            if page.run != self.run:
                page.set_run(self.run)

    def _show_page(self) -> None:
        number = self.segments.checkedId()
        has_page = self.run is not None or not self.pages[number].needs_run
        self.stack.setCurrentIndex(1 + number if has_page else 0)
