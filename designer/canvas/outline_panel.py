"""The outline: the network as a tree that a screen reader can read. It is in step with the canvas, and every action of
the canvas can be done from it: its keys and its menus are those of the canvas."""

from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtCore import QEvent, QItemSelectionModel, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLabel,
    QMenu,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from netwright.designer import markup, theme
from netwright.designer.canvas import spoken
from netwright.designer.canvas.view import CanvasView
from netwright.designer.editor import Editor
from netwright.designer.engine_messages import message_text
from netwright.designer.language import tr
from netwright.engine.network import annotations
from netwright.engine.network.annotations import Mark
from netwright.engine.network.network import Connection

Thing = str | Connection | Mark
PLACE = Qt.ItemDataRole.UserRole
"""The number of a row, from the top."""
SIGNS = {"error": "error", "warning": "warning", "note": "info"}
_KEYS = Qt.Key
_WAYS = frozenset(
    {
        *(_KEYS.Key_Up, _KEYS.Key_Down, _KEYS.Key_Left, _KEYS.Key_Right, _KEYS.Key_Home, _KEYS.Key_End),
        *(_KEYS.Key_PageUp, _KEYS.Key_PageDown, _KEYS.Key_Space, _KEYS.Key_Tab, _KEYS.Key_Backtab),
    }
)
"""Keys with which one goes through the tree."""
_FURTHER = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


class Row(NamedTuple):
    """A row: what it stands for, its text, its words for a screen reader, and what these leave out."""

    thing: Thing
    text: str
    words: str
    description: str = ""
    severity: str = ""


class OutlineTree(QTreeWidget):
    """The rows: layers in the order of the network with the connections that leave them, then frames and comments."""

    def __init__(self, canvas: CanvasView) -> None:
        super().__init__()
        self._canvas = canvas
        self.setHeaderLabel(tr("Layers"))
        self.setHeaderHidden(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setExpandsOnDoubleClick(False)
        self.setUniformRowHeights(True)
        self.setAccessibleName(tr("Outline of the network"))
        self.setAccessibleDescription(canvas.accessibleDescription())
        self.itemDoubleClicked.connect(self._open)

    def _open(self) -> None:
        if not self._canvas.open_selected():
            self._canvas.edit_selected()

    def rows(self) -> Iterator[QTreeWidgetItem]:
        """Yield every row."""
        for number in range(self.topLevelItemCount()):
            if (item := self.topLevelItem(number)) is not None:
                yield item
                yield from (item.child(place) for place in range(item.childCount()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go through the tree; every other key is one of the canvas."""
        keyboard, is_further = self._canvas.keyboard, bool(event.modifiers() & _FURTHER)
        is_way = Qt.Key(event.key()) in _WAYS and not (is_further and event.key() != Qt.Key.Key_Space)
        self._canvas.home = self
        if (is_way and keyboard.connecting is None) or not keyboard.press(event):
            super().keyPressEvent(event)

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """Leave the tree; while keys make a connection, choose its input."""
        return self._canvas.keyboard.tab(is_next) or super().focusNextPrevChild(is_next)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Take back the keyboard from what opens on the canvas."""
        self._canvas.home = self
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """End what the keys began."""
        self._canvas.keyboard.leave()
        super().focusOutEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the menu that the canvas has for the selection."""
        self._canvas.home = self
        menu = self._canvas.menus.of_selection()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.viewport().mapToGlobal(self._menu_place(event)))

    def _menu_place(self, event: QContextMenuEvent) -> QPoint:
        is_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        return self.visualItemRect(self.currentItem()).bottomLeft() if is_key and self.currentItem() else event.pos()


class Outline(QWidget):
    """The tree, and a button with the actions for what is selected."""

    def __init__(self, editor: Editor, canvas: CanvasView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "role", "panel")
        self._editor, self._canvas = editor, canvas
        self._is_following = False
        self._shown: list[Row] = []
        self.tree = OutlineTree(canvas)
        self.actions_button = QToolButton()
        self.actions_button.setText(tr("Actions"))
        self.actions_button.setToolTip(tr("What can be done with what is selected: the menu of the canvas"))
        self.actions_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        theme.mark(self.actions_button, "role", "chip")
        self.menu = QMenu(self.actions_button)
        self.menu.aboutToShow.connect(self._fill_menu)
        self.actions_button.setMenu(self.menu)
        self._source: QMenu | None = None
        self.place = QLabel()
        theme.mark(self.place, "role", "help")
        self.setFocusProxy(self.tree)
        self._lay_out()
        editor.analysis_changed.connect(self._refresh)
        editor.project_changed.connect(self._refresh)
        editor.selection_changed.connect(self._follow)
        self.tree.itemSelectionChanged.connect(self._select)
        theme.changed.connect(self._show_again)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(8, 0, 0, 0)
        top.addWidget(self.place, 1)
        top.addWidget(self.actions_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 8, 0)
        column.setSpacing(4)
        column.addLayout(top)
        column.addWidget(self.tree, 1)

    def _fill_menu(self) -> None:
        """Offer the entries of the menu that the canvas has for the selection."""
        self.menu.clear()
        if self._source is not None:
            self._source.deleteLater()
        self._canvas.home = self.tree
        self._source = self._canvas.menus.of_selection()
        self.menu.addActions(self._source.actions())

    # ---- rows ----

    def showEvent(self, event: QEvent) -> None:
        """Update the rows after changes while they were hidden."""
        self._refresh()

    def _show_again(self) -> None:
        self._shown = []
        self._refresh()

    def _refresh(self, _change: object = None) -> None:
        """Show the layers of the open block; the same rows stay, so that one is not led away from them."""
        if not self.isVisible():
            return
        rows = [self._row_of(thing) for thing in self._things()]
        if rows == self._shown:
            return
        has_same = [row.thing for row in rows] == [row.thing for row in self._shown]
        self._shown = rows
        self._is_following = True
        if not has_same:
            self._fill()
        for item, row in zip(self.tree.rows(), rows, strict=True):
            self._write(item, row)
        self._is_following = False
        self._follow()

    def _things(self) -> Iterator[Thing]:
        network = self._editor.network
        rest = set(network.layers) - set(network.order)
        for id in (*network.order, *(id for id in network.layers if id in rest)):
            yield id
            yield from network.outgoing[id]
        yield from annotations.marks(self._editor.layout)

    def _row_of(self, thing: Thing) -> Row:
        editor = self._editor
        if isinstance(thing, Connection):
            return Row(thing, f"→ {spoken.port_name(editor, thing.target)}", spoken.of_connection(editor, thing))
        if isinstance(thing, Mark):
            words = spoken.of_mark(editor, thing)
            return Row(thing, words, words)
        problems = [problem for problem in editor.problems if problem.layer == thing]
        severity = next((name for name in SIGNS if any(p.severity == name for p in problems)), "")
        feeds = [spoken.port_name(editor, source) for source in editor.network.incoming[thing].values()]
        description = tr("Fed by {names}", names=", ".join(feeds)) if feeds else tr("Fed by no layer")
        description = "\n".join((*(message_text(problem.message) for problem in problems), description))
        return Row(
            thing, " · ".join(spoken.facts_of(editor, thing)), spoken.of_layer(editor, thing), description, severity
        )

    def _fill(self) -> None:
        """Make the rows anew."""
        self.tree.clear()
        parent: QTreeWidgetItem | None = None
        for number, (thing, *_) in enumerate(self._shown):
            if isinstance(thing, Connection) and parent is not None:
                item = QTreeWidgetItem(parent)
            else:
                item = parent = QTreeWidgetItem(self.tree)
            item.setData(0, PLACE, number)
        self.place.setText(tr("Inside a block: Alt+Up leaves it") if self._editor.scope else "")

    def _write(self, item: QTreeWidgetItem, row: Row) -> None:
        item.setText(0, markup.visible(row.text))
        item.setToolTip(0, markup.visible(row.description))
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, markup.visible(row.words))
        item.setData(0, Qt.ItemDataRole.AccessibleDescriptionRole, markup.visible(row.description))
        if row.severity:
            item.setIcon(0, theme.icon(SIGNS[row.severity], "muted" if row.severity == "note" else row.severity))
        else:
            item.setData(0, Qt.ItemDataRole.DecorationRole, None)

    # ---- selection ----

    def _select(self) -> None:
        """Select on the canvas what is selected here, and show it."""
        if self._is_following:
            return
        things = [self._thing(item) for item in self.tree.selectedItems()]
        ids = [thing for thing in things if isinstance(thing, str)]
        self._editor.set_selection(
            ids,
            [thing for thing in things if isinstance(thing, Connection)],
            [thing for thing in things if isinstance(thing, Mark)],
        )
        if ids:
            self._canvas.reveal(ids[-1])

    def _thing(self, item: QTreeWidgetItem) -> Thing:
        thing: Thing = self._shown[item.data(0, PLACE)].thing
        return thing

    def _follow(self, _ids: object = None) -> None:
        """Select here what is selected on the canvas."""
        if self._is_following or not self.isVisible():
            return
        editor = self._editor
        chosen: set[object] = {*editor.selection, *editor.selected_connections, *editor.selected_marks}
        self._is_following = True
        current = self.tree.currentItem()
        for item in self.tree.rows():
            item.setSelected(self._thing(item) in chosen)
        if chosen and (current is None or not current.isSelected()):
            self.tree.setCurrentItem(self.tree.selectedItems()[0], 0, QItemSelectionModel.SelectionFlag.NoUpdate)
        self._is_following = False
