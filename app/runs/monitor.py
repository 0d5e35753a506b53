"""The page of a run: its head, live curves with what is known of it, the pages that parts bring, its options, and what
to do next."""

import contextlib

from PySide6.QtCore import QSettings, Qt, Signal
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QSlider,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.app.plots.board import METRIC, Board
from netwright.app.plots.curve_card import CurveCard
from netwright.app.plots.curve_export import export_of
from netwright.app.plots.quantities import LOSS
from netwright.app.plots.timeline import Along
from netwright.app.runs.details import RunOptions
from netwright.app.runs.facts_panel import FactsPanel
from netwright.app.runs.log_panel import LogPanel
from netwright.app.runs.run_follower import Outcome
from netwright.app.runs.segments import MessagePage, RunPage, Segments
from netwright.app.runs.watched_page import WatchedPage
from netwright.app.runs.weights_page import WeightsPage
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import in_sentence, noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.runs.confusion import read_confusions
from netwright.engine.runs.events import Event, Message
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.summary import RunSummary

START_SMOOTHING = 0.6
ALONG: dict[Along, str] = {"iterations": noop("Iterations"), "epochs": noop("Epochs"), "time": noop("Time")}
SMOOTHING, X_UNIT, LOG_X = "train/smoothing", "train/x_unit", "train/log_x"
LOG_Y, PLOTS, HIDDEN, MESSAGES = "train/log_y", "train/plots", "train/hidden_plots", "train/messages"
"""Keys of the settings."""
NARROW = 720
SIDE = 340
UNDER_WAY = noop("This run is still under way: what it has learned is shown here once it has ended.")
NO_RESULT = noop("This run has ended without a result: there is nothing that it has learned.")


class Monitor(QWidget):
    """Shows the events of one run at a time. `shutdown` must be called before the program ends."""

    clicked = Signal(str)
    """A button of the run was clicked, by its name (`RunButtons`)."""

    def __init__(self, parent: QWidget | None = None, settings: QSettings | None = None) -> None:
        """`settings` keep what was chosen for the plots over restarts."""
        super().__init__(parent)
        self.folder: RunFolder | None = None  # none while a run is prepared, or after it was refused
        self._settings = settings
        self.board = Board()
        self.facts, self.options = FactsPanel(), RunOptions()
        self.buttons = self.facts.head.buttons
        self.buttons.clicked.connect(self.clicked)
        self.facts.content_changed.connect(self._show_content)
        self.empty = MessagePage(tr("Train"))
        self.empty.button.clicked.connect(lambda: self.clicked.emit("train"))
        self.segments = Segments(self)
        self._pages = QStackedWidget(self.segments.stack)
        self.segments.message.button.clicked.connect(lambda: self.clicked.emit("train"))
        curves = self._make_curves()
        self.segments.set_corner(self._make_controls())
        self.segments.add("curves", tr("Curves"), curves)
        self.answers, self.weights = WatchedPage(), WeightsPage()
        self.segments.add("answers", tr("Answers"), self.answers)
        self.segments.add("weights", tr("Weights"), self.weights)
        self.records = self.answers, self.weights
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(12)
        column.addWidget(self.facts.head)
        column.addWidget(self.segments, 1)
        column.addWidget(self.buttons.next)
        self._restore_choices()
        theme.changed.connect(self._dress)
        self._dress()
        self.show_nothing()

    def _dress(self) -> None:
        self.whole.setIcon(theme.icon("fit"))

    def _restore_choices(self) -> None:
        """Show the plots as they were chosen in the last session, and keep what is chosen from now on."""
        if (settings := self._settings) is None:
            return
        self.smoothing.setValue(_number(settings.value(SMOOTHING), self.smoothing.value()))
        self.set_along(next((along for along in ALONG if along == settings.value(X_UNIT)), "iterations"))
        self.log_x.setChecked(settings.value(LOG_X) == "true")
        for name in _names(settings.value(LOG_Y)):
            self.board.set_log_y(name, True)
        for name in _names(settings.value(PLOTS)):
            self.board.choose(name, True)
        for name in _names(settings.value(HIDDEN)):
            if name in (METRIC, LOSS):
                self.board.choose(name, False)
        self.log_button.setChecked(settings.value(MESSAGES) == "true")
        for changed in (self.smoothing.valueChanged, self.log_x.toggled, self.log_button.toggled):
            changed.connect(lambda _: self._keep_choices())
        self.board.choices_changed.connect(self._keep_choices)
        self.along.menu().triggered.connect(lambda _: self._keep_choices())

    def _keep_choices(self) -> None:
        if (settings := self._settings) is None:
            return
        settings.setValue(SMOOTHING, str(self.smoothing.value()))
        settings.setValue(X_UNIT, self.board.x_axis.along)
        settings.setValue(LOG_X, "true" if self.log_x.isChecked() else "false")
        settings.setValue(LOG_Y, ",".join(sorted(self.board.log_plots)))
        settings.setValue(PLOTS, ",".join(self.board.chosen))
        settings.setValue(HIDDEN, ",".join(sorted(self.board.hidden)))
        settings.setValue(MESSAGES, "true" if self.log_button.isChecked() else "false")

    @property
    def metric_card(self) -> CurveCard:
        """The curves of the main metric."""
        return self.board.main_card

    @property
    def loss_card(self) -> CurveCard:
        """The curves of the loss."""
        return self.board.loss_card

    def add_page(self, key: str, title: str, page: QWidget) -> None:
        """Add a page about the run."""
        self.segments.add(key, title, page)

    def add_beside(self, panel: RunPage) -> None:
        """Add a panel beside the curves of a run that has ended, above its facts."""
        self.segments.beside.append(panel)
        self._beside.insertWidget(0, panel)

    def say_first(self, text: str, *, offers: bool) -> None:
        """Say what is to be done before there is a run, or that the runs are being read."""
        self.empty.say(text, offers=offers)
        if not self.facts.has_run:
            self.segments.set_run(None, text, offers=offers)

    def _show_content(self) -> None:
        """Show the curves, or in their place what to do before the first run."""
        has_run = self.facts.has_run
        self._pages.setCurrentIndex(1 if has_run else 0)
        self.facts.head.setVisible(has_run)

    def show_confusion(self) -> None:
        """Show which classes are confused, if the run has ended and it is known."""
        self.segments.choose("curves")
        self.board.show_confusion()

    def _make_curves(self) -> QWidget:
        self.log = LogPanel()
        self.log.hide()
        self._halves = QSplitter(Qt.Orientation.Vertical)
        self._halves.setChildrenCollapsible(False)
        self._halves.setHandleWidth(12)
        self._halves.setStyleSheet("QSplitter::handle { background: transparent; }")  # it is the gap between cards
        self._halves.addWidget(self.board)
        self._halves.addWidget(self.log)
        self._halves.setStretchFactor(0, 3)
        self._halves.setStretchFactor(1, 1)
        side = self._side = QScrollArea()
        side.setWidgetResizable(True)
        side.setFrameShape(QFrame.Shape.NoFrame)
        side.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside, card = QVBoxLayout(), QFrame()
        theme.mark(card, "role", "card")
        card.setLayout(inside)
        inside.setContentsMargins(4, 4, 4, 4)
        inside.addWidget(self.facts)
        content = QWidget()
        self._beside = QVBoxLayout(content)
        self._beside.setContentsMargins(0, 0, 0, 0)
        self._beside.setSpacing(12)
        self._beside.addWidget(card, 1)
        side.setFixedWidth(SIDE)
        side.setWidget(content)
        curves = QWidget(self._pages)
        row = QHBoxLayout(curves)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._halves, 1)
        row.addWidget(side)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(curves)
        return self._pages

    def _make_controls(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        self._smoothing_label = QLabel(tr("Smoothing"))
        theme.mark(self._smoothing_label, "role", "muted")
        self.smoothing = QSlider(Qt.Orientation.Horizontal)
        self.smoothing.setRange(0, 99)
        self.smoothing.setMinimumWidth(32)
        self.smoothing.setMaximumWidth(100)
        self.smoothing.setAccessibleName(tr("Smoothing of the training curves"))
        self._smoothing_value = QLabel()
        self._smoothing_value.setMinimumWidth(32)
        self._smoothing_label.setBuddy(self.smoothing)
        self.smoothing.valueChanged.connect(self._set_smoothing)
        self.smoothing.setValue(round(START_SMOOTHING * 100))
        self.whole = QPushButton()
        self.whole.setAccessibleName(tr("Show the whole run"))
        self.whole.setToolTip(tr("Show the whole run again; a double click on a plot does the same"))
        self.whole.clicked.connect(self.board.show_all)
        self.whole.hide()
        self.board.part_changed.connect(lambda: self.whole.setVisible(self.board.x_axis.part is not None))
        for widget in (self._smoothing_label, self.smoothing, self._smoothing_value, self._make_along()):
            row.addWidget(widget)
        row.addWidget(self.board.choice)
        row.addWidget(self.whole)
        self.log_button = QPushButton(tr("Messages"))
        self.log_button.setCheckable(True)
        self.log_button.setToolTip(tr("Messages of the run, and the output of the engine"))
        self.log_button.toggled.connect(self.log.setVisible)
        self.export = export_of(self.board)
        row.addWidget(self.log_button)
        row.addWidget(self.export)
        return row

    def _make_along(self) -> QPushButton:
        self.along = QPushButton()
        self.along.setToolTip(tr("Unit of the horizontal axes"))
        menu, group = QMenu(self.along), QActionGroup(self.along)
        theme.mark(menu, "role", "choices")
        self._along_actions = {}
        for along, word in ALONG.items():
            action = self._along_actions[along] = menu.addAction(translation(word))
            action.triggered.connect(lambda _=False, along=along: self.set_along(along))
            action.setCheckable(True)
            group.addAction(action)
        menu.addSeparator()
        self.log_x = menu.addAction(tr("Logarithmic x axis"))
        self.log_x.setCheckable(True)
        self.log_x.toggled.connect(self.board.set_log_x)
        self.along.setMenu(menu)
        self.set_along("iterations")
        return self.along

    def set_along(self, along: Along) -> None:
        """Set the unit of the horizontal axes."""
        self.along.setText(f"x: {in_sentence(ALONG[along])}")
        self._along_actions[along].setChecked(True)
        self.board.set_along(along)

    def _set_smoothing(self, percent: int) -> None:
        self._smoothing_value.setText(f"{percent / 100:.2f}")
        self.smoothing.setToolTip(tr("Smoothing of the training curves: {percent:.2f}", percent=percent / 100))
        self.board.set_smoothing(percent / 100)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the curves their room in a narrow window."""
        width = event.size().width()
        for label in (self._smoothing_label, self._smoothing_value):
            label.setVisible(width > NARROW + SIDE)
        self._side.setVisible(width > NARROW)
        super().resizeEvent(event)
        self.segments.place_controls()

    # ---- what a run says ----

    def show_nothing(self) -> None:
        """Show that there is no run."""
        self._clear()
        self.facts.show_nothing()
        self.segments.set_run(None, self.empty.message.text())

    def show_starting(self, name: str) -> None:
        """Show that a run is being prepared."""
        self._clear()
        self.facts.show_starting(name)
        self.segments.set_run(None, translation(UNDER_WAY))

    def _clear(self, folder: RunFolder | None = None) -> None:
        """Forget the run that is shown, for another one whose events follow."""
        self.folder = folder
        self.board.clear(is_reading=folder is not None)
        self.log.show_run(folder)
        for page in self.records:
            page.show_run(None if folder is None else folder.path)

    def show_refused(self, message: str) -> None:
        """Show why a run could not be prepared: the user's input or the environment does not allow it."""
        self.facts.show_refused(message)

    def show_run(self, folder: RunFolder) -> None:
        """Show another run; its events follow."""
        self._clear(folder)
        self.facts.show_run(folder)
        self.segments.set_run(None, translation(UNDER_WAY))

    def show_replay(self, outcome: Outcome) -> None:
        """Show how the run has ended, before its events are shown."""
        result = {}
        with contextlib.suppress(UserError):  # the outcome says so
            result = self.folder.read_result() or {} if self.folder is not None else {}
        self.facts.show_replay(outcome, result)
        self._show_results()

    def take(self, event: Event) -> None:
        """Show one event of the run."""
        for part in (self.board, *self.records, self.log, self.facts):
            part.take(event)
        if isinstance(event, Message) and event.severity == "warning":
            self.facts.add_line(tr("Warning"), message_text(event.text))

    def show_stopping(self, *, after_epoch: bool) -> None:
        """Show that the run was asked to stop."""
        self.facts.show_stopping(after_epoch=after_epoch)

    def show_outcome(self, outcome: Outcome) -> None:
        """Show how the run has ended."""
        self.board.show_end()
        self._show_results()
        self.facts.show_outcome(outcome)

    def show_summary(self, summary: RunSummary) -> None:
        """Show what the files of the run that is shown say."""
        if self.folder is not None and summary.path == self.folder.path:
            self.facts.head.show_summary(summary)
            self.options.show_run(summary)

    def _show_results(self) -> None:
        """Let the pages show what the run has learned; confusion matrices that cannot be read are left out."""
        confusions = {}
        folder = self.folder
        has_ended = folder is not None and folder.result.is_file()
        self.segments.set_run(folder.path if folder is not None and has_ended else None, translation(NO_RESULT))
        if self.folder is not None:
            with contextlib.suppress(OSError):
                confusions = read_confusions(self.folder.path)
        self.board.set_confusions(confusions)

    def shutdown(self) -> None:
        """Release the plots, in order."""
        theme.changed.disconnect(self._dress)
        self.options.notes.keep()
        self.segments.shutdown()
        self.board.shutdown()


def _names(value: object) -> list[str]:
    """Return the names in a setting; an old or damaged one counts as empty."""
    return [name for name in value.split(",") if name] if isinstance(value, str) else []


def _number(value: object, default: int) -> int:
    return int(value) if isinstance(value, str) and value.isdecimal() else default
