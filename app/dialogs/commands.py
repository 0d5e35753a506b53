"""Find a command by typing part of its name, and run it."""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLabel,
    QLineEdit,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.frame.action_table import ACTIONS
from designer import theme


class CommandFinder(QDialog):
    """A search field above a list of actions. Enter runs the chosen one; one that cannot be used now is muted."""

    def __init__(self, actions: Mapping[str, QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Find a command")
        self.resize(480, 360)
        self._actions = actions
        self.search = QLineEdit()
        self.search.setPlaceholderText("Type the name of a command…")
        self.search.setAccessibleName("Command")
        self.search.textChanged.connect(self._fill)
        self.search.installEventFilter(self)
        self.list = QTreeWidget()
        self.list.setColumnCount(2)
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.ensurePolished()  # else Qt measures the rows before they are dressed
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.list.setAccessibleName("Commands")
        self.list.itemActivated.connect(self._run)
        self.nothing = QLabel("No command has this in its name or help.")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        theme.mark(self.nothing, "role", "muted")
        self.pages = QStackedWidget()
        self.pages.addWidget(self.list)
        self.pages.addWidget(self.nothing)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        column.addWidget(self.search)
        column.addWidget(self.pages)
        self._fill("")

    def _fill(self, text: str) -> None:
        self.list.clear()
        words = text.lower().split()
        for row in ACTIONS:
            name = f"{row.menu}: {row.text.rstrip('…')}"
            if row.id == "view.commands" or not all(word in f"{name} {row.help}".lower() for word in words):
                continue
            item = QTreeWidgetItem([name, row.shortcut])
            item.setData(0, Qt.ItemDataRole.UserRole, row.id)
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setForeground(1, theme.current().muted)
            if not self._actions[row.id].isEnabled():
                item.setForeground(0, theme.current().muted)
                item.setToolTip(0, "Cannot be used now")
            self.list.addTopLevelItem(item)
        self.pages.setCurrentWidget(self.list if self.list.topLevelItemCount() else self.nothing)
        self._choose(0)

    def _choose(self, row: int) -> None:
        item = self.list.topLevelItem(row % max(1, self.list.topLevelItemCount()))
        if item is not None:
            self.list.setCurrentItem(item)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up and Down move through the list while the search field has the keyboard; Enter runs."""
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step is not None:
                self._choose(self.list.indexOfTopLevelItem(self.list.currentItem()) + step)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run(self.list.currentItem())
                return True
        return super().eventFilter(watched, event)

    def _run(self, item: QTreeWidgetItem | None) -> None:
        if item is None:
            return
        action = self._actions[item.data(0, Qt.ItemDataRole.UserRole)]
        if action.isEnabled():
            self.accept()
            QTimer.singleShot(0, action, action.trigger)
