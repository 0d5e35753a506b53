"""The menu beside a run's buttons, made from the table of requests."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from netwright.designer import theme
from netwright.engine.runs.requests import REQUESTS, Flag, RequestField, RequestType, Switch

WITH_BUTTONS = ("stop", "stop_after_epoch", "pause", "resume")
"""Requests that have a button of their own; of these the menu has only what a flag adds."""


class RequestMenuButton(QPushButton):
    """Three dots with a menu; its entries are `actions_by_slot`. `requested` tells a request's name and its values."""

    requested = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("⋯", parent)
        self.setAccessibleName("More")
        self.setFixedWidth(36)
        self.setStyleSheet("QPushButton { padding: 5px 0; } QPushButton::menu-indicator { width: 0; image: none; }")
        self.setToolTip("Free memory, save, validate, change the learn rate or the epochs, watch gradients or layers")
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
        action = self.actions_by_slot[slot] = self._menu.addAction(entry.label)
        if entry.tooltip:
            action.setToolTip(entry.tooltip)
        return action

    def show_state(self, state: str, *, has_released: bool) -> None:
        """Offer what a run in this state can be asked. One that is on disk only takes notes until it goes on."""
        self.setEnabled(state in ("running", "paused"))
        release = self.actions_by_slot["pause.release"]
        release.setText("Free memory" if state == "paused" else "Pause and free memory")
        for slot in ("pause.release", "checkpoint", "validate"):
            self.actions_by_slot[slot].setEnabled(not has_released)

    def show_watched(self, name: str, *, is_on: bool) -> None:
        """Tick what the run says that it watches."""
        if action := self.actions_by_slot.get(f"watch.{name}"):
            action.setChecked(is_on)
