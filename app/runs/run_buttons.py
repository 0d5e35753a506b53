"""The buttons of a run: those that control it while it is active, and what to do next with one that has ended."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QWidget

from netwright.designer import markup, shortcuts, theme
from netwright.designer.language import tr, translation
from netwright.engine.core.part_registry import has_entry
from netwright.engine.runs.requests import BY_NAME, REQUESTS, Flag, RequestField, RequestType, Switch

ACTIVE = ("starting", "running", "stopping", "paused")
RESUMABLE = ("stopped", "failed", "lost")
"""States from which a run is resumed unchanged; a finished one needs more epochs."""
OVER = ("finished", *RESUMABLE, "refused")
EXPORTABLE = ("finished", "stopped")
GAP = 12
WITH_BUTTONS = ("stop", "stop_after_epoch", "pause", "resume")
"""Requests that have a button of their own; of these the menu has only what a flag adds."""


class RunButtons(QObject):
    """`controls` are those of an active run, `next` is a row of links for one that has ended. `clicked` tells the name
    of a button: `pause`, `resume`, `stop`, `stop_after_epoch`, `train`, `try`, `export`, `compare`, `report`."""

    clicked = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = ""
        self.has_checkpoint, self._has_other = True, False
        self.controls, self.next = self._make_controls(), self._make_next()

    def _make_controls(self) -> QWidget:
        self.pause, self.resume, self.stop, self.after_epoch = (
            self._button(translation(BY_NAME[name].label), name)
            for name in ("pause", "resume", "stop", "stop_after_epoch")
        )
        self.pause.setToolTip(translation(BY_NAME["pause"].tooltip))
        self.resume.setToolTip(translation(BY_NAME["resume"].tooltip))
        shortcuts.set_tip(self.stop, translation(BY_NAME["stop"].tooltip), "run.stop")
        self.after_epoch.setToolTip(translation(BY_NAME["stop_after_epoch"].tooltip))
        self.more = RequestMenuButton()
        controls = QWidget()
        row = QHBoxLayout(controls)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for button in (self.pause, self.resume, self.stop, self.after_epoch, self.more):
            row.addWidget(button)
        return controls

    def _make_next(self) -> "NextRow":
        self.export = self._button(tr("Export…"), "export")
        shortcuts.set_tip(self.export, tr("The network as ONNX, PyTorch or source code"), "file.export")
        theme.mark(self.export, "primary", True)
        self.extend = self._link(tr("Resume"), "resume", "")
        self.train = self._link(
            tr("Train again"), "train", tr("A new run with the options of the project as they are now")
        )
        self.test = self._link(tr("Try a sample"), "try", tr("Draw, type or drop samples, and see the answers"))
        self.compare = self._link(tr("Compare"), "compare", tr("Curves, results and options of two runs side by side"))
        self.report = self._link(tr("Report…"), "report", tr("Network, options, curves and results as one HTML file"))
        self.kept = QLabel()
        heading = QLabel(tr("Next", "steps"))
        for label in (heading, self.kept):
            theme.mark(label, "role", "muted")
        links = (self.export, self.extend, self.train, self.test, self.compare, self.report)
        return NextRow(heading, links, self.kept)

    def _button(self, text: str, name: str) -> QPushButton:
        button = QPushButton(text)
        button.clicked.connect(lambda: self.clicked.emit(name))
        return button

    def _link(self, text: str, name: str, tip: str) -> QPushButton:
        link = self._button(text, name)
        link.setToolTip(tip)
        theme.mark(link, "role", "link")
        link.setCursor(Qt.CursorShape.PointingHandCursor)
        return link

    def show_state(self, state: str, *, has_released: bool) -> None:
        """Show what can be done with a run in a state."""
        with self._keyboard_kept():
            self._state = state
            is_active = state in ACTIVE
            self.controls.setVisible(is_active)
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
        is_finished, is_run = state == "finished", state in OVER and state != "refused"
        self.extend.setText(tr("Resume for more epochs") if is_finished else tr("Resume"))
        self.extend.setToolTip(tr("In the same run") if is_finished else tr("From the last checkpoint"))
        self.extend.setEnabled(True)
        offered = (
            (self.test, state in EXPORTABLE and has_entry("segments", "predict")),
            (self.export, state in EXPORTABLE and has_entry("dialogs", "export_network")),
            (self.compare, is_run and self._has_other),
            (self.extend, is_run and self.has_checkpoint),
            (self.report, is_run and has_entry("dialogs", "run_report")),
            (self.train, state in OVER),
        )
        self.next.show_links({button for button, is_shown in offered if is_shown})
        self.next.setVisible(state in OVER)

    def show_kept(self, epoch: int) -> None:
        """Say of which epoch the weights are kept; 0 for none."""
        self.kept.setText(tr("Weights of epoch {epoch:,} are kept", epoch=epoch) if epoch else "")
        self._show_next(self._state)

    def show_other(self, title: str) -> None:
        """Offer to compare the run with another one, by its title; with none for an empty one."""
        self._has_other = bool(title)
        text = tr("Compare with {title}", title=title) if title else tr("Compare")
        self.compare.setText(markup.without_mnemonic(text))
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
        if any(button.hasFocus() for button in self.controls.findChildren(QPushButton)):
            self.controls.setFocus()  # where no key does anything, until one of the two can be used
        yield
        holder = {"running": self.pause, "paused": self.resume}.get(self._state)
        if self.controls.hasFocus() and holder is not None and holder.isEnabled():
            holder.setFocus()


class NextRow(QWidget):
    """A heading, links, and a remark at the right. Where there is no room, the last links are left out: the menus have
    them too."""

    def __init__(self, heading: QLabel, links: Sequence[QPushButton], remark: QLabel) -> None:
        super().__init__()
        self._heading, self._links, self._remark = heading, links, remark
        self._offered: set[QPushButton] = set()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        row.addWidget(heading)
        for link in links:
            row.addWidget(link)
        row.addStretch(1)
        row.addWidget(remark)

    def show_links(self, offered: set[QPushButton]) -> None:
        """Offer these links."""
        self._offered = offered
        self._fold()

    def minimumSizeHint(self) -> QSize:
        """As narrow as it can be folded."""
        return QSize(self._links[0].sizeHint().width(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold or unfold."""
        super().resizeEvent(event)
        self._fold()

    def _fold(self) -> None:
        room = self.width() - self._heading.sizeHint().width() - GAP
        for link in self._links:
            width = link.sizeHint().width() + GAP
            link.setVisible(link in self._offered and room >= width)
            room -= width if link in self._offered else 0
        self._remark.setVisible(room >= self._remark.sizeHint().width() + GAP)


class RequestMenuButton(QPushButton):
    """Three dots with a menu; its entries are `actions_by_slot`. `requested` tells a request's name and its values."""

    requested = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("⋯", parent)
        self.setAccessibleName(tr("More"))
        self.setFixedWidth(36)
        self.setStyleSheet("QPushButton { padding: 5px 0; } QPushButton::menu-indicator { width: 0; image: none; }")
        self.setToolTip(
            tr("Free memory, save, validate, change the learn rate or the epochs, watch gradients or layers")
        )
        self._menu = QMenu(self)
        theme.mark(self._menu, "role", "choices")
        self._menu.setToolTipsVisible(True)
        self.actions_by_slot: dict[str, QAction] = {}
        for row in REQUESTS:
            self._add_row(row)
        self.setMenu(self._menu)

    def _add_row(self, row: RequestType) -> None:
        switches = [field for field in row.fields if isinstance(field, Switch)]
        if switches:
            self._menu.addSeparator()
        elif row.label and row.name not in WITH_BUTTONS:
            action = self._add(row.name, row)
            action.triggered.connect(lambda: self.requested.emit(row.name, {}))
        for field in row.fields:
            if isinstance(field, Flag):
                action = self._add(f"{row.name}.{field.name}", field)
                action.triggered.connect(partial(self.requested.emit, row.name, {field.name: 1}))
                self._menu.addSeparator()
        for switch in switches:
            action = self._add(f"{row.name}.{switch.name}", switch)
            action.setCheckable(True)
            action.triggered.connect(
                lambda is_on, field=switch.name: self.requested.emit(row.name, {field: int(is_on)})
            )

    def _add(self, slot: str, entry: RequestType | RequestField) -> QAction:
        action = self.actions_by_slot[slot] = self._menu.addAction(translation(entry.label))
        if entry.tooltip:
            action.setToolTip(translation(entry.tooltip))
        return action

    def show_state(self, state: str, *, has_released: bool) -> None:
        """Offer what a run in this state can be asked. One that is on disk only takes notes until it goes on."""
        self.setEnabled(state in ("running", "paused"))
        release = self.actions_by_slot["pause.release"]
        release.setText(tr("Free memory") if state == "paused" else tr("Pause and free memory"))
        for slot in ("pause.release", "checkpoint", "validate"):
            self.actions_by_slot[slot].setEnabled(not has_released)

    def show_watched(self, name: str, *, is_on: bool) -> None:
        """Tick what the run says that it watches."""
        if action := self.actions_by_slot.get(f"watch.{name}"):
            action.setChecked(is_on)
