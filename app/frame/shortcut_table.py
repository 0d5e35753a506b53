"""The page of the shortcuts in the Preferences: a table of all actions to search in, and a field for the chosen one."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QKeySequenceEdit,
    QLabel,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from netwright.app.frame.actions import Action
from netwright.designer import theme
from netwright.designer.language import tr, translation
from netwright.designer.panels.parts import SearchField
from netwright.designer.shortcuts import Shortcuts, all_keys, written

LEAST_HEIGHT = 160
_ID = Qt.ItemDataRole.UserRole


class ShortcutTable(QWidget):
    """Shows every action with its keys, and changes them. A key that another action has is refused in words."""

    def __init__(self, actions: Sequence[Action], shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._actions, self._shortcuts = {action.id: action for action in actions}, shortcuts
        self.search = SearchField(tr("Search actions or keys…"), tr("Search actions or keys"))
        self.search.textChanged.connect(self._filter)
        self._make_list()
        self._make_editor()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.search)
        column.addWidget(self.list, 1)
        column.addLayout(self._make_row())
        column.addWidget(self.message)
        self._fill()
        shortcuts.changed.connect(self._refresh)

    def _make_list(self) -> None:
        self.list = QTreeWidget()
        self.list.setColumnCount(2)
        self.list.setHeaderLabels([tr("Action"), tr("Shortcut")])
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setMinimumHeight(LEAST_HEIGHT)
        self.list.ensurePolished()  # else Qt measures the rows before they are dressed
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setAccessibleName(tr("Actions and their shortcuts"))
        header = self.list.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.list.currentItemChanged.connect(self._show_chosen)
        self.list.itemActivated.connect(lambda _: self.editor.setFocus())

    def _make_editor(self) -> None:
        self.name, self.message = QLabel(), QLabel()
        self.name.setWordWrap(True)
        self.message.setWordWrap(True)
        self.message.setMinimumHeight(2 * self.message.fontMetrics().lineSpacing())
        self.message.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.editor = QKeySequenceEdit()
        self.editor.setMaximumSequenceLength(1)
        self.editor.setAccessibleName(tr("New shortcut"))
        self.editor.setFixedWidth(160)
        self.editor.editingFinished.connect(self._set)
        self.clear, self.reset, self.reset_all = (
            QPushButton(tr("Remove")),
            QPushButton(tr("Reset")),
            QPushButton(tr("Reset all")),
        )
        self.clear.setToolTip(tr("No shortcut for this action"))
        self.clear.clicked.connect(lambda: self._shortcuts.set(self.chosen, ""))
        self.reset.clicked.connect(self._reset)
        self.reset_all.clicked.connect(self._shortcuts.reset_all)
        for button in (self.clear, self.reset, self.reset_all):
            button.setAutoDefault(False)
            theme.mark(button, "role", "link")

    def _make_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.name, 1)
        for part in (self.editor, self.clear, self.reset, self.reset_all):
            row.addWidget(part)
        return row

    @property
    def chosen(self) -> str:
        """The id of the chosen action; empty for none."""
        item = self.list.currentItem()
        return "" if item is None or item.isHidden() else str(item.data(0, _ID))

    def choose(self, id: str) -> None:
        """Choose an action."""
        self.list.setCurrentIndex(self.list.model().index(list(self._actions).index(id), 0))

    def _fill(self) -> None:
        for action in self._actions.values():
            item = QTreeWidgetItem([action.place, ""])
            item.setData(0, _ID, action.id)
            item.setToolTip(0, translation(action.help))
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.list.addTopLevelItem(item)
        self._refresh()
        self.choose(next(iter(self._actions)))

    def _refresh(self) -> None:
        """Show the keys of every action."""
        for row in range(self.list.topLevelItemCount()):
            item = self.list.topLevelItem(row)
            assert item is not None
            id, font = item.data(0, _ID), self.font()
            is_changed = self._shortcuts.is_changed(id)
            font.setBold(is_changed)
            item.setText(1, all_keys(id))
            item.setFont(1, font)
            item.setToolTip(1, tr("Changed from the default") if is_changed else "")
        self._show_chosen()

    def _filter(self, text: str) -> None:
        """List the actions that have all words in name, keywords or keys."""
        first = None
        for row in range(self.list.topLevelItemCount()):
            item = self.list.topLevelItem(row)
            assert item is not None
            action = self._actions[item.data(0, _ID)]
            words = f"{item.text(0)} {item.text(1)} {action.menu}: {action.text} {action.keywords}".lower()
            item.setHidden(not all(word in words for word in text.lower().split()))
            first = first or (None if item.isHidden() else item)
        if first is not None:
            self.list.setCurrentItem(first)
        else:
            self.list.setCurrentIndex(QModelIndex())
        self._show_chosen()

    def _show_chosen(self, *_: object) -> None:
        id = self.chosen
        keys = self._shortcuts.keys(id) if id else ()
        self.name.setText(self._actions[id].name if id else tr("No action matches"))
        self.editor.setKeySequence(QKeySequence(keys[0]) if keys else QKeySequence())
        self.editor.setEnabled(bool(id))
        self.clear.setVisible(bool(keys))
        self.reset.setVisible(bool(id) and self._shortcuts.is_changed(id))
        self.reset_all.setVisible(any(self._shortcuts.is_changed(action) for action in self._actions))
        self._say(tr("Click the field, or press Enter, then press the keys.") if id else "")

    def _set(self) -> None:
        """Give the chosen action the keys that were pressed, or say why it cannot have them."""
        id, key = self.chosen, self.editor.keySequence().toString()
        if not id or not key or key in [written(own) for own in self._shortcuts.keys(id)]:
            return
        if reason := self._shortcuts.refusal(id, key):
            self._show_chosen()
            self._say(reason, is_bad=True)
        else:
            self._shortcuts.set(id, key)

    def _reset(self) -> None:
        if reason := self._shortcuts.reset(self.chosen):
            self._say(reason, is_bad=True)

    def _say(self, text: str, *, is_bad: bool = False) -> None:
        self.message.setText(text)
        theme.mark(self.message, "role", "error" if is_bad else "help")
