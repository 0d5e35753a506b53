"""The Train tab: live curves of a run, its progress and environment, and its controls."""

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
    QVBoxLayout,
    QWidget,
)

from netwright.app.plots.board import METRIC, Board
from netwright.app.plots.curve_card import CurveCard
from netwright.app.plots.curve_export import export_of
from netwright.app.plots.quantities import LOSS
from netwright.app.plots.timeline import Along
from netwright.app.runs.facts_panel import FactsPanel
from netwright.app.runs.log_panel import LogPanel
from netwright.app.runs.run_follower import Outcome
from netwright.app.widgets import Divider
from netwright.designer import theme
from netwright.engine.core.errors import UserError
from netwright.engine.runs.confusion import read_confusions
from netwright.engine.runs.events import Event, Message
from netwright.engine.runs.folder import RunFolder

START_SMOOTHING = 0.6
ALONG: dict[Along, str] = {"iterations": "Iterations", "epochs": "Epochs", "time": "Time"}
SMOOTHING, X_UNIT, LOG_X = "train/smoothing", "train/x_unit", "train/log_x"
LOG_Y, PLOTS, HIDDEN, MESSAGES = "train/log_y", "train/plots", "train/hidden_plots", "train/messages"
"""Keys of the settings."""
NARROW = 700
SIDE = 380


class Monitor(QWidget):
    """Shows the events of one run at a time. `shutdown` must be called before the program ends."""

    clicked = Signal(str)
    """A button of the run was clicked, by its name (`RunButtons`)."""

    def __init__(self, parent: QWidget | None = None, settings: QSettings | None = None) -> None:
        """`settings` keep what was chosen for the plots over restarts."""
        super().__init__(parent)
        self._folder: RunFolder | None = None
        self._settings = settings
        self.board = Board()
        self.facts = FactsPanel()
        self.facts.buttons.clicked.connect(self.clicked)
        self.facts.buttons.clicked.connect(self._on_clicked)
        self.facts.content_changed.connect(self._show_content)
        self._curves, self._divider = self._make_curves(), Divider()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._make_empty(), 1)
        row.addWidget(self._curves, 1)
        side = self._side = QScrollArea()
        side.setWidgetResizable(True)
        side.setFrameShape(QFrame.Shape.NoFrame)
        side.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        side.setWidget(self.facts)
        side.setFixedWidth(SIDE)
        row.addWidget(self._divider)
        row.addWidget(side)
        self._restore_choices()
        theme.changed.connect(self._dress)
        self._dress()
        self.show_nothing()

    def _dress(self) -> None:
        self.whole.setIcon(theme.icon("fit"))
        self.start.setIcon(theme.icon("play"))

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

    def _make_empty(self) -> QWidget:
        """The page before the first run."""
        self.empty = QWidget()
        self.start = QPushButton("Train")
        self.start.setIcon(theme.icon("play"))
        self.start.clicked.connect(lambda: self.clicked.emit("train"))
        sentence = QLabel("Curves and results of a run appear here while it trains.")
        theme.mark(sentence, "role", "muted")
        column = QVBoxLayout(self.empty)
        column.setSpacing(16)
        column.addStretch(1)
        column.addWidget(sentence, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.start, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        return self.empty

    def _show_content(self) -> None:
        """Show the curves, or in their place what to do before the first run."""
        has_run = self.facts.has_run
        self.empty.setVisible(not has_run)
        self._curves.setVisible(has_run)
        for part in (self._divider, self._side):
            part.setVisible(not self.facts.is_empty)

    def _on_clicked(self, name: str) -> None:
        if name == "confusion":
            self.board.show_confusion()

    def _make_curves(self) -> QWidget:
        area = QWidget()
        column = QVBoxLayout(area)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
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
        column.addWidget(self._halves, 1)
        column.addLayout(self._make_controls())
        return area

    def _make_controls(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self._smoothing_label = QLabel("Smoothing")
        theme.mark(self._smoothing_label, "role", "muted")
        self.smoothing = QSlider(Qt.Orientation.Horizontal)
        self.smoothing.setRange(0, 99)
        self.smoothing.setMinimumWidth(48)
        self.smoothing.setMaximumWidth(140)
        self.smoothing.setAccessibleName("Smoothing of the training curves")
        self._smoothing_value = QLabel()
        self._smoothing_value.setMinimumWidth(32)
        self._smoothing_label.setBuddy(self.smoothing)
        self.smoothing.valueChanged.connect(self._set_smoothing)
        self.smoothing.setValue(round(START_SMOOTHING * 100))
        self.whole = QPushButton()
        self.whole.setAccessibleName("Show the whole run")
        self.whole.setToolTip("Show the whole run again; a double click on a plot does the same")
        self.whole.clicked.connect(self.board.show_all)
        self.whole.hide()
        self.board.part_changed.connect(lambda: self.whole.setVisible(self.board.x_axis.part is not None))
        for widget in (self._smoothing_label, self.smoothing, self._smoothing_value, self._make_along()):
            row.addWidget(widget)
        row.addWidget(self.board.choice)
        row.addWidget(self.whole)
        row.addStretch(1)
        self.log_button = QPushButton("Messages")
        self.log_button.setCheckable(True)
        self.log_button.setToolTip("Messages of the run, and the output of the engine")
        self.log_button.toggled.connect(self.log.setVisible)
        self.export = export_of(self.board)
        row.addWidget(self.log_button)
        row.addWidget(self.export)
        return row

    def _make_along(self) -> QPushButton:
        self.along = QPushButton()
        self.along.setToolTip("Unit of the horizontal axes")
        menu, group = QMenu(self.along), QActionGroup(self.along)
        theme.mark(menu, "role", "choices")
        self._along_actions = {}
        for along, word in ALONG.items():
            action = self._along_actions[along] = menu.addAction(word, lambda along=along: self.set_along(along))
            action.setCheckable(True)
            group.addAction(action)
        menu.addSeparator()
        self.log_x = menu.addAction("Logarithmic x axis")
        self.log_x.setCheckable(True)
        self.log_x.toggled.connect(self.board.set_log_x)
        self.along.setMenu(menu)
        self.set_along("iterations")
        return self.along

    def set_along(self, along: Along) -> None:
        """Set the unit of the horizontal axes."""
        self.along.setText(f"x: {along}")
        self._along_actions[along].setChecked(True)
        self.board.set_along(along)

    def _set_smoothing(self, percent: int) -> None:
        self._smoothing_value.setText(f"{percent / 100:.2f}")
        self.smoothing.setToolTip(f"Smoothing of the training curves: {percent / 100:.2f}")
        self.board.set_smoothing(percent / 100)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide labels in a narrow window."""
        for label in (self._smoothing_label, self._smoothing_value):
            label.setVisible(event.size().width() - SIDE > NARROW)
        super().resizeEvent(event)

    # ---- what a run says ----

    def show_nothing(self) -> None:
        """Show that there is no run."""
        self.board.clear()
        self.log.show_run(None)
        self.facts.show_nothing()

    def show_starting(self, name: str) -> None:
        """Show that a run is being prepared."""
        self.board.clear()
        self.log.show_run(None)
        self.facts.show_starting(name)

    def show_refused(self, message: str) -> None:
        """Show why a run could not be prepared: the user's input or the environment does not allow it."""
        self.facts.show_refused(message)

    def show_run(self, folder: RunFolder) -> None:
        """Show another run; its events follow."""
        self._folder = folder
        self.board.clear(is_reading=True)
        self.log.show_run(folder)
        self.facts.show_run(folder)

    def show_replay(self, outcome: Outcome) -> None:
        """Show how the run has ended, before its events are shown."""
        result = {}
        with contextlib.suppress(UserError):  # the outcome says so
            result = self._folder.read_result() or {} if self._folder is not None else {}
        self.facts.show_replay(outcome, result)
        self._show_confusions()  # at once: the buttons below it would move under the pointer

    def take(self, event: Event) -> None:
        """Show one event of the run."""
        self.board.take(event)
        self.log.take(event)
        self.facts.take(event)
        if isinstance(event, Message) and event.severity == "warning":
            self.facts.add_line("Warning", event.text)

    def show_stopping(self, *, after_epoch: bool) -> None:
        """Show that the run was asked to stop."""
        self.facts.show_stopping(after_epoch=after_epoch)

    def show_outcome(self, outcome: Outcome) -> None:
        """Show how the run has ended."""
        self.board.show_end()
        self._show_confusions()
        self.facts.show_outcome(outcome)

    def _show_confusions(self) -> None:
        """Offer the confusion matrices of a run that has ended; one that cannot be read is not shown."""
        confusions = {}
        if self._folder is not None:
            with contextlib.suppress(OSError):
                confusions = read_confusions(self._folder.path)
        self.board.set_confusions(confusions)
        self.facts.buttons.show_confusion(bool(confusions))

    def shutdown(self) -> None:
        """Release the plots, in order."""
        theme.changed.disconnect(self._dress)
        self.board.shutdown()


def _names(value: object) -> list[str]:
    """Return the names in a setting; an old or damaged one counts as empty."""
    return [name for name in value.split(",") if name] if isinstance(value, str) else []


def _number(value: object, default: int) -> int:
    return int(value) if isinstance(value, str) and value.isdecimal() else default
