"""Dialogs about the program: find a command, keyboard shortcuts, and About Netwright."""

from collections.abc import Mapping, Sequence
from operator import itemgetter

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QScrollArea,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from netwright.app.dialog import Dialog
from netwright.app.frame.actions import ACTIONS, MENUS, Action
from netwright.app.widgets import within_screen
from netwright.designer import shortcuts, theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import layer_label, noop, tr, translation
from netwright.designer.panels.parts import SearchField
from netwright.engine.core.version import VERSION
from netwright.engine.layers.addons import AddOn
from netwright.engine.network.catalog import add_ons, layer_type

CANVAS_KEYS = (
    (noop("Zoom"), noop("Wheel, or two fingers")),
    (noop("Pan"), noop("Middle button, or Space and drag")),
    (noop("Add a layer at the pointer, or after the selected one"), "A"),
    (noop("Add a layer on the canvas, or into a connection"), noop("Double click")),
    (noop("Add a layer where you clicked"), noop("Click on the canvas, then Tab")),
    (noop("Add a layer to an open port"), noop("Drag from the port to the canvas")),
    (noop("Move an end of a connection"), noop("Drag it beside its port")),
    (noop("Move all connections of an output"), noop("Shift and drag from the port")),
    (noop("Add to the selection"), noop("Ctrl or Shift and click")),
    (noop("Select with a lasso"), noop("Alt and drag, or L and drag")),
    (noop("Select the first layer"), noop("An arrow key, while none is selected")),
    (noop("Next, previous layer"), noop("N, Shift+N")),
    (noop("Leave the canvas"), noop("Tab, Shift+Tab")),
    (noop("Go along the connections, or to a layer beside"), noop("Arrow keys; with Shift to select more")),
    (noop("Move the selection"), noop("Ctrl and arrow keys; with Shift further")),
    (noop("Connect the selected layer by keys"), noop("C, then arrows or typing, Tab for the input, Enter")),
    (noop("Edit the fields of the selected layers"), "Enter"),
    (noop("Rename the selected layer"), noop("F2, or double click")),
    (noop("Bypass the selected layers, or use them again"), "B"),
    (noop("Delete and reconnect"), "Del"),
    (noop("Delete and leave the gap"), "Shift+Del"),
    (noop("Fit to window, zoom to the selection"), noop("F, Shift+F")),
    (noop("Zoom in, out"), "+, -"),
    (noop("Cancel a gesture, select nothing"), "Esc"),
)


FINDER_WIDTH, FINDER_HEIGHT, FINDER_TOP = 520, 360, 80


def matching(text: str) -> list[Action]:
    """Return the actions that have all words in name, keywords or help, best match first. English words find them in
    every language."""
    text = text.lower().strip()

    def rank(row: Action) -> int | None:
        names, keywords = {row.text.rstrip("…").lower(), row.name.lower()}, row.keywords.lower()
        titles = f"{row.menu} {row.place} {' '.join(names)} {keywords}".lower()
        if not all(word in f"{titles} {row.help} {translation(row.help)}".lower() for word in text.split()):
            return None
        if text in names or text in keywords.split():
            return 0 if text in names else 1
        if any(name.startswith(text) for name in names):
            return 2
        if any(word.startswith(text) for name in names for word in name.split()):
            return 3
        return 4 if all(word in titles for word in text.split()) else 5

    ranked = [(near, row) for row in ACTIONS if row.id != "help.commands" and (near := rank(row)) is not None]
    return [row for _, row in sorted(ranked, key=itemgetter(0))]


class CommandFinder(Dialog):
    """A search field above a list of actions, over the top of the window. Enter runs the chosen one, Escape or a click
    beside it closes; actions that cannot be used now are muted."""

    def __init__(self, actions: Mapping[str, QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Popup)
        self.setWindowTitle(tr("Search commands"))
        theme.mark(self, "role", "popup")
        self.resize(FINDER_WIDTH, FINDER_HEIGHT)
        self._actions = actions
        self.search = SearchField(tr("Search commands…"), tr("Command"))
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
        self.list.setAccessibleName(tr("Commands"))
        self.list.itemClicked.connect(self._run)
        self.list.itemActivated.connect(self._run)
        self.nothing = QLabel(tr("No matching commands"))
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.nothing.setWordWrap(True)
        theme.mark(self.nothing, "role", "muted")
        self.pages = QStackedWidget()
        self.pages.addWidget(self.list)
        self.pages.addWidget(self.nothing)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(8)
        column.addWidget(self.search)
        column.addWidget(self.pages)
        self._fill("")

    def open_over(self, window: QWidget) -> None:
        """Show the finder at the top of a window, in the middle, until a command is run or it is left."""
        top = window.mapToGlobal(QPoint((window.width() - self.width()) // 2, FINDER_TOP))
        self.move(top)
        self.search.setFocus()
        self.exec()
        self.deleteLater()

    def _fill(self, text: str) -> None:
        self.list.clear()
        for row in matching(text):
            item = QTreeWidgetItem([row.place, shortcuts.text(row.id)])
            item.setData(0, Qt.ItemDataRole.UserRole, row.id)
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setForeground(1, theme.current().muted)
            item.setToolTip(0, translation(row.help))
            if not self._actions[row.id].isEnabled():
                item.setForeground(0, theme.current().muted)
                item.setToolTip(0, tr("Cannot be used now"))
            self.list.addTopLevelItem(item)
        self.pages.setCurrentWidget(self.list if self.list.topLevelItemCount() else self.nothing)
        self._choose(0)

    def _choose(self, row: int) -> None:
        item = self.list.topLevelItem(row % max(1, self.list.topLevelItemCount()))
        if item is not None:
            self.list.setCurrentItem(item)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move through the list with Up and Down, and run with Enter, while the search field has the focus."""
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


def show_shortcuts(parent: QWidget) -> None:
    """Show every shortcut, by menu, and the mouse actions of the canvas."""
    dialog = shortcuts_dialog(parent)
    dialog.exec()
    dialog.deleteLater()


def shortcuts_dialog(parent: QWidget | None) -> QDialog:
    """Make the dialog: actions at the left, their keys at the right, both wrapped where there is little room."""
    dialog = Dialog(parent)
    dialog.setWindowTitle(tr("Keyboard shortcuts"))
    dialog.resize(within_screen(dialog, 760, 640))
    content = QWidget()
    grid = QGridLayout(content)
    grid.setContentsMargins(24, 16, 24, 16)
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(8)
    grid.setColumnStretch(0, 1)
    grid.setColumnStretch(1, 1)
    groups = [(translation(menu), _keys(menu)) for menu in MENUS]
    row = 0
    on_canvas = [(translation(text), translation(keys)) for text, keys in CANVAS_KEYS]
    for title, keys in [(tr("Canvas"), on_canvas), *groups]:
        if not keys:
            continue
        heading = QLabel(title.upper())
        theme.mark(heading, "role", "section")
        grid.addWidget(heading, row, 0)
        for text, shortcut in keys:
            row += 1
            action, key = QLabel(text), QLabel(shortcut)
            theme.mark(key, "role", "muted")
            key.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            for place, label in enumerate((action, key)):
                label.setWordWrap(True)
                grid.addWidget(label, row, place, Qt.AlignmentFlag.AlignTop)
        row += 1
        grid.setRowMinimumHeight(row, 8)
        row += 1
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(content)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(0, 0, 0, 16)
    column.addWidget(area)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    buttons.setContentsMargins(0, 0, 24, 0)
    column.addWidget(buttons)
    return dialog


def _keys(menu: str) -> list[tuple[str, str]]:
    rows = [(action.name, shortcuts.all_keys(action.id)) for action in ACTIONS if action.menu == menu]
    return [row for row in rows if row[1]]


ABOUT = noop(
    "Design, train and understand neural networks.\n\nApache License 2.0. Built on Qt "
    "for Python (LGPL), PyTorch, ONNX and ONNX Runtime.\n\nThe digits example holds "
    "the Optical Recognition of Handwritten Digits data set by E. Alpaydin and C. "
    "Kaynak, UCI Machine Learning Repository, CC BY 4.0."
)


def show_about(parent: QWidget) -> None:
    """Show name, version, licence, credits and add-ons."""
    dialog = about_dialog(parent, add_ons())
    dialog.exec()
    dialog.deleteLater()


def about_dialog(parent: QWidget | None, installed: Sequence[AddOn]) -> QDialog:
    """Make the dialog, with these add-ons."""
    dialog = Dialog(parent)
    dialog.setWindowTitle(tr("About Netwright"))
    column = QVBoxLayout(dialog)
    column.setContentsMargins(24, 24, 24, 16)
    column.setSpacing(12)
    head = QHBoxLayout()
    picture = QLabel()
    picture.setPixmap(theme.icon("network").pixmap(40, 40))
    name = QLabel(tr("Netwright {version}", version=VERSION))
    theme.mark(name, "role", "title")
    head.addWidget(picture)
    head.addWidget(name, 1)
    column.addLayout(head)
    column.addWidget(_words(translation(ABOUT)))
    heading = QLabel(tr("ADD-ONS"))
    theme.mark(heading, "role", "section")
    heading.setContentsMargins(0, 8, 0, 0)
    column.addWidget(heading)
    for add_on in installed:
        column.addWidget(
            _words(message_text(add_on.refusal) or add_on_in_words(add_on), "error" if add_on.error else None)
        )
    if not installed:
        column.addWidget(_words(tr("None. Installed packages can bring layer types of their own."), "muted"))
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    column.addWidget(buttons)
    return dialog


def add_on_in_words(add_on: AddOn) -> str:
    """Return an add-on with its layer types, as text."""
    labels = [layer_label(layer_type(key).label) for key in add_on.types]
    listing = ", ".join(labels[:8])
    if len(labels) > 8:
        listing = tr("{layers} and %n more", "", len(labels) - 8, layers=listing)
    return f"{add_on.title}: {listing}"


def _words(text: str, role: str | None = None) -> QLabel:
    """Return a label that wraps and can be selected. An add-on's own text is not interpreted as markup."""
    label = QLabel(text)
    label.setWordWrap(True)
    label.setMinimumWidth(440)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role is not None:
        theme.mark(label, "role", role)
    return label
