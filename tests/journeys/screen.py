"""The words on the screen, now and at any moment of a journey."""

import re
import traceback
from collections.abc import Iterator

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTabBar,
    QTableView,
    QTextEdit,
    QTreeView,
    QWidget,
)

from netwright.app.plots.plot import Plot

WATCH_MS = 40
MOST_ROWS = 60
SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u200b": ""})


def _application() -> QCoreApplication:
    app = QApplication.instance()
    assert app is not None
    return app


def _is_tip(widget: QWidget) -> bool:
    return widget.windowType() == Qt.WindowType.ToolTip


def seen(root: QWidget) -> Iterator[QWidget]:
    """The widgets in a window that a person sees some part of, without scrolling."""
    for widget in (root, *root.findChildren(QWidget)):
        if widget.isVisible() and widget.window() is root.window() and not widget.visibleRegion().isEmpty():
            yield widget


def words_of(widget: QWidget) -> Iterator[str]:
    """What stands on a widget itself."""
    if isinstance(widget, QLabel):
        text = plain(widget.text())
        yield text.replace("&", "") if widget.buddy() is not None else text
    elif isinstance(widget, QAbstractButton):
        yield widget.text().replace("&", "") or widget.accessibleName()
    elif isinstance(widget, QLineEdit):
        yield widget.text() or widget.placeholderText()
    elif isinstance(widget, QComboBox):
        yield widget.currentText()
    elif isinstance(widget, (QTextEdit, QPlainTextEdit)):
        yield widget.toPlainText()
    elif isinstance(widget, QTabBar):
        yield from (widget.tabText(number) for number in range(widget.count()))
    elif isinstance(widget, QMenu):
        yield from (action.text().replace("&", "") for action in widget.actions() if action.isVisible())
    elif isinstance(widget, QAbstractItemView):
        yield from _cells(widget)
    else:
        # Painted by us: what it shows is said to screen readers.
        yield from (text for text in (widget.accessibleName(), widget.accessibleDescription()) if text)


def _cells(view: QAbstractItemView) -> Iterator[str]:
    """The texts of the rows that are in sight, a row each, and those of the header."""
    model, room = view.model(), view.viewport().rect()
    if model is None:
        return
    columns = range(columns_of(view))
    index = view.indexAt(QPoint(4, 4))
    header = (str(model.headerData(c, Qt.Orientation.Horizontal) or "") for c in columns)
    yield " · ".join(text for text in header if text)
    for row in range(max(index.row(), 0), min(model.rowCount(view.rootIndex()), max(index.row(), 0) + MOST_ROWS)):
        cells = [model.index(row, column, view.rootIndex()) for column in columns]
        shown = [str(cell.data()) for cell in cells if cell.data() is not None]
        if any(view.visualRect(cell).intersects(QRect(room)) for cell in cells):
            yield " · ".join(shown)


ITEM_ROLES = (
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)


def hints(root: QWidget) -> Iterator[str]:
    """What a window says beside the words on it, to a pointer at rest and to a screen reader: tooltips, names and
    descriptions of what is shown and of its rows, entries to choose from, the names of axes."""
    for widget in (root, *root.findChildren(QWidget)):
        if not widget.isVisible() or widget.window() is not root.window():
            continue
        yield from (plain(widget.toolTip()), widget.accessibleName(), widget.accessibleDescription())
        yield widget.windowTitle()
        if isinstance(widget, QTabBar):
            yield from (widget.tabToolTip(number) for number in range(widget.count()))
        elif isinstance(widget, QComboBox):
            yield from (widget.itemText(number) for number in range(widget.count()))
        elif isinstance(widget, QAbstractItemView) and (model := widget.model()) is not None:
            rows, columns = range(min(model.rowCount(), MOST_ROWS)), range(columns_of(widget))
            cells = (model.index(row, column) for row in rows for column in columns)
            yield from (plain(str(text)) for cell in cells for role in ITEM_ROLES if (text := cell.data(role)))
        elif isinstance(widget, Plot):
            yield from (axis.name for axis in widget.axes())


def columns_of(view: QAbstractItemView) -> int:
    """The number of columns of a table or tree; 1 for a list, whose model may not say it."""
    return view.model().columnCount(view.rootIndex()) if isinstance(view, (QTableView, QTreeView)) else 1


def plain(text: str) -> str:
    """The words of a text that may be rich."""
    return QTextDocumentFragment.fromHtml(text).toPlainText() if re.search(r"<\/?[a-z]", text) else text


def read(root: QWidget) -> Iterator[tuple[str, QWidget]]:
    """Yield the texts of a window, and the widgets that they stand on; spaces are spaces."""
    for widget in seen(root):
        for text in words_of(widget):
            if text := text.translate(SPACES).strip():
                yield text, widget


class ScreenWatch(QObject):
    """Every text that was on the screen since the journey began, however briefly, and where it stood first. In
    `flashes` are parts that were shown before they had a place: the desktop opens a window for each, which takes the
    keyboard from the dialog in use. `hints` is what windows said beside
    their words when they were looked at closely."""

    def __init__(self) -> None:
        super().__init__()
        self.mains: list[QWidget] = []
        """The main windows of the journey."""
        self.texts: dict[str, str] = {}
        self.hints: set[str] = set()
        self.flashes: list[str] = []
        _application().installEventFilter(self)
        self._timer = QTimer(self, interval=WATCH_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def windows(self) -> list[QWidget]:
        """The windows, dialogs and menus that are shown, the front one first. Looked for among the parts of the main
        windows: `QApplication.topLevelWidgets` also gives those that are just being deleted, which crashes at times."""
        front = QApplication.activePopupWidget() or QApplication.activeModalWidget() or QApplication.activeWindow()
        tops = [front, *self.mains] if front is not None else [*self.mains]
        tops += [part for main in self.mains for part in main.findChildren(QWidget) if part.isWindow()]
        return [top for top in dict.fromkeys(tops) if top.isVisible() and not _is_tip(top)]

    def words(self) -> list[str]:
        """All words on the screen."""
        return [text for top in self.windows() for text, _ in read(top)]

    def look(self) -> None:
        """Read the screen."""
        for top in self.windows():
            for text, widget in read(top):
                if text not in self.texts:
                    self.texts[text] = f"{type(widget).__name__} in {top.windowTitle() or type(top).__name__}"

    def look_closely(self) -> None:
        """Read what the windows say beside their words."""
        for top in self.windows():
            self.hints |= {words for text in hints(top) if (words := text.translate(SPACES).strip())}

    def matching(self, pattern: str) -> list[str]:
        """The texts that match, with the place of each."""
        return [f"{text!r} ({place})" for text, place in self.texts.items() if re.search(pattern, text)]

    def forget(self) -> None:
        """Begin anew: what was seen so far may have been true then."""
        self.texts.clear()

    def stop(self) -> None:
        """Look no more."""
        self._timer.stop()
        _application().removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Note a part that opens as a window: one without a title."""
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            is_plain = watched.windowType() == Qt.WindowType.Window
            if is_plain and not watched.windowTitle():
                caller = traceback.extract_stack()[-2]
                self.flashes.append(f"{type(watched).__name__} by {caller.filename}:{caller.lineno}")
        return False
