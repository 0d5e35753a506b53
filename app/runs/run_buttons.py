"""The buttons of a run: those that control it while it is active, and what to do next once it has ended."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from netwright.app.runs.request_menu import RequestMenuButton
from netwright.designer import theme
from netwright.engine.core.part_registry import has_entry
from netwright.engine.runs.requests import BY_NAME

ACTIVE = ("starting", "running", "stopping", "paused")
RESUMABLE = ("stopped", "failed", "lost")
"""States from which a run is resumed unchanged; a finished one needs more epochs."""
OVER = ("finished", *RESUMABLE, "refused")
EXPORTABLE = ("finished", "stopped")


class RunButtons(QWidget):
    """A row of controls for an active run, a list of next steps for one that has ended. `clicked` tells the name of a
    button: `pause`, `resume`, `stop`, `stop_after_epoch`, `train`, `test`, `export`, `compare`,
    `confusion`."""

    clicked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._state = ""
        self._has_confusion, self.has_checkpoint = False, True
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._make_row())
        column.addWidget(self._make_next())

    def _make_row(self) -> QHBoxLayout:
        self.pause, self.resume, self.stop, self.after_epoch = (
            self._button(BY_NAME[name].label, name) for name in ("pause", "resume", "stop", "stop_after_epoch")
        )
        self.pause.setToolTip(BY_NAME["pause"].tooltip)
        self.resume.setToolTip(BY_NAME["resume"].tooltip)
        self.stop.setToolTip(f"{BY_NAME['stop'].tooltip} (Shift+F5)")
        self.after_epoch.setToolTip(BY_NAME["stop_after_epoch"].tooltip)
        self.more = RequestMenuButton()
        row = QHBoxLayout()
        row.setSpacing(8)
        for button in (self.pause, self.resume, self.stop, self.after_epoch, self.more):
            row.addWidget(button)
        row.addStretch()
        return row

    def _make_next(self) -> QWidget:
        self.export = self._button("Export network…", "export")
        self.test = self._button("Test network", "test")
        self.confusion = self._button("Confusion matrix", "confusion")
        self.compare = self._button("Compare runs", "compare")
        self.extend = self._button("Resume", "resume")
        self.train = self._button("Train again", "train")
        self.next = QWidget()
        grid = QGridLayout(self.next)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        heading = QLabel("NEXT STEPS")
        theme.mark(heading, "role", "section")
        grid.addWidget(heading, 0, 0, 1, 2)
        self._helps: dict[QPushButton, QLabel] = {}
        for row, (button, text) in enumerate(
            (
                (self.test, "Scores, predictions, a look inside"),
                (self.export, "ONNX, PyTorch or source code"),
                (self.confusion, "Which classes are confused"),
                (self.extend, ""),
                (self.train, "New run, current options"),
                (self.compare, "Curves and options side by side"),
            ),
            start=1,
        ):
            label = self._helps[button] = QLabel(text)
            label.setWordWrap(True)
            theme.mark(label, "role", "help")
            grid.addWidget(button, row, 0)
            grid.addWidget(label, row, 1)
        return self.next

    def _button(self, text: str, name: str) -> QPushButton:
        button = QPushButton(text)
        button.clicked.connect(lambda: self.clicked.emit(name))
        return button

    def show_state(self, state: str, *, has_released: bool) -> None:
        """Show what can be done with a run in a state."""
        with self._keyboard_kept():
            self._state = state
            is_active = state in ACTIVE
            self.pause.setVisible(is_active and state != "paused")
            self.resume.setVisible(state == "paused")
            for button in (self.stop, self.after_epoch, self.more):
                button.setVisible(is_active)
            for button, name in ((self.pause, "pause"), (self.stop, "stop"), (self.after_epoch, "stop_after_epoch")):
                button.setEnabled(state in BY_NAME[name].states)
            self.resume.setEnabled(True)
            self.more.show_state(state, has_released=has_released)
            self._show_next(state)

    def _show_next(self, state: str) -> None:
        is_run = state in OVER and state != "refused"
        self.extend.setText("Resume…" if state == "finished" else "Resume")
        self.extend.setEnabled(True)
        self._helps[self.extend].setText("For more epochs" if state == "finished" else "From the last checkpoint")
        for button, is_shown in (
            (self.test, state in EXPORTABLE and has_entry("pages", "test")),
            (self.export, state in EXPORTABLE and has_entry("dialogs", "export_network")),
            (self.confusion, is_run and self._has_confusion),
            (self.compare, is_run),
            (self.extend, is_run and self.has_checkpoint),
            (self.train, state in OVER),
        ):
            button.setVisible(is_shown)
            self._helps[button].setVisible(is_shown)
        self.next.setVisible(state in OVER)

    def show_confusion(self, has_confusion: bool) -> None:
        """Offer the confusion matrix, or not: the run has none."""
        self._has_confusion = has_confusion
        self._show_next(self._state)

    def show_checkpoint(self, has_checkpoint: bool) -> None:
        """Offer to resume the run, or not: it has nothing to go on from."""
        self.has_checkpoint = has_checkpoint
        self._show_next(self._state)

    def disable(self, name: str) -> None:
        """Disable the buttons of a request until the run answers."""
        with self._keyboard_kept():
            for button in {"pause": [self.pause], "resume": [self.resume, self.extend]}.get(name, []):
                button.setEnabled(False)

    @contextmanager
    def _keyboard_kept(self) -> Iterator[None]:
        """Keep the keyboard focus on Pause or Resume, whichever is visible. Qt would move it to the next button, Stop:
        the space bar, pressed once more, would end the run."""
        if any(button.hasFocus() for button in self.findChildren(QPushButton)):
            self.setFocus()  # where no key does anything, until one of the two can be used
        yield
        holder = {"running": self.pause, "paused": self.resume}.get(self._state)
        if self.hasFocus() and holder is not None and holder.isEnabled():
            holder.setFocus()
