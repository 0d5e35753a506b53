"""The window of the manual: a page of `docs/`, at the section that was asked for.

The only place that shows Markdown: the pages come with the program, and nothing from a project is in them.
"""

from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QImage, QKeyEvent, QTextBlock, QTextCursor, QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QTextBrowser, QVBoxLayout, QWidget

from netwright.app.manual_pages import START, page_of
from netwright.app.widgets import within_screen
from netwright.designer import markup
from netwright.designer.language import tr
from netwright.engine.core.files import DOCS
from netwright.engine.project.layer_reference import anchor

ABOVE_HEADING, BELOW, MARGIN = 16, 6, 20
"""Pixels above a heading, below a paragraph, and around the text."""


def show_page_about(widget: QWidget | None, parent: QWidget) -> "ManualWindow":
    """Show the page about a widget, beside a window or dialog that goes on to work."""
    return show_page(page_of(widget or parent), parent)


def show_page(page: str, parent: QWidget) -> "ManualWindow":
    """Show a page, `NAME.md` or `NAME.md#SECTION`, in the manual of a window or dialog."""
    manual = next(iter(parent.findChildren(ManualWindow)), None) or ManualWindow(parent)
    manual.show()  # before: what is not laid out cannot be scrolled
    manual.open(page)
    manual.raise_()
    manual.activateWindow()
    return manual


class PageText(QTextBrowser):
    """The text of a page; its pictures are as wide as there is room."""

    def loadResource(self, type: int, name: QUrl | str) -> object:
        """Return a picture, made smaller where it is wider than the window; an installation has none."""
        if type != QTextDocument.ResourceType.ImageResource.value:
            return super().loadResource(type, name)
        path = DOCS / (name.path() if isinstance(name, QUrl) else name)
        if not path.is_file():
            return QImage(1, 1, QImage.Format.Format_Mono)
        picture = QImage(str(path))
        room = max(200, self.viewport().width() - 2 * MARGIN)
        smooth = Qt.TransformationMode.SmoothTransformation
        return picture.scaledToWidth(room, smooth) if picture.width() > room else picture


class ManualWindow(QWidget):
    """Shows a page. Links lead to other pages, and out of the manual to the browser of the desktop."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.page = ""
        self._before: list[str] = []
        self.back, self.start = QPushButton(tr("Back")), QPushButton(tr("Contents"))
        self.text = PageText()
        self.text.setOpenLinks(False)
        self.text.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)  # pictures are scaled beside it
        self.text.setAccessibleName(tr("Manual"))
        self.text.document().setDocumentMargin(MARGIN)
        self.text.anchorClicked.connect(self._follow)
        self.back.clicked.connect(self._go_back)
        self.start.clicked.connect(lambda: self.open(START))
        bar, column = QHBoxLayout(), QVBoxLayout(self)
        bar.setContentsMargins(12, 12, 12, 12)
        bar.setSpacing(8)
        bar.addWidget(self.back)
        bar.addWidget(self.start)
        bar.addStretch(1)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.text, 1)
        self.resize(within_screen(self, 820, 720))

    def open(self, page: str) -> None:
        """Show a page, and scroll to its section."""
        if self.page and page != self.page:
            self._before.append(self.page)
        self._show(page)

    def _show(self, page: str) -> None:
        name, _, section = page.partition("#")
        if name != self.page.partition("#")[0]:
            self._read(name)
        self.page = page
        self.back.setEnabled(bool(self._before))
        self._scroll_to(section)

    def _read(self, name: str) -> None:
        path = DOCS / name
        try:
            text = path.read_text(encoding="utf-8")
        except OSError:
            text = tr("This installation has no manual.")
        self.text.setSearchPaths([str(path.parent)])
        self.text.setMarkdown(text)
        _give_air(self.text.document())
        title = self.text.document().begin().text()
        self.setWindowTitle(markup.window_title(tr("Manual: {page}", page=title or name)))

    def _scroll_to(self, section: str) -> None:
        block = self.text.document().begin()
        while section and block.isValid() and not _is_section(block, section):
            block = block.next()
        cursor = QTextCursor(block if section and block.isValid() else self.text.document().begin())
        self.text.document().size()  # lays all of it out
        self.text.setTextCursor(cursor)
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.value() + self.text.cursorRect().top() - 12 if section else 0)

    def _follow(self, link: QUrl) -> None:
        """Open a link: a section of this page, another page, or what lies outside."""
        if link.scheme() in ("http", "https"):
            QDesktopServices.openUrl(link)
            return
        name = link.path() or self.page.partition("#")[0]
        if (DOCS / name).is_file() and Path(name).suffix == ".md":
            self.open(f"{name}#{link.fragment()}" if link.fragment() else name)

    def _go_back(self) -> None:
        if self._before:
            self._show(self._before.pop())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)


def _give_air(document: QTextDocument) -> None:
    """Put room around paragraphs and headings, which Markdown is read without."""
    cursor, block = QTextCursor(document), document.begin()
    cursor.beginEditBlock()
    while block.isValid():
        if QTextCursor(block).currentTable() is None:
            shape = block.blockFormat()
            shape.setTopMargin(ABOVE_HEADING if shape.headingLevel() else 0)
            shape.setBottomMargin(BELOW)
            cursor.setPosition(block.position())
            cursor.setBlockFormat(shape)
        block = block.next()
    cursor.endEditBlock()


def _is_section(block: QTextBlock, section: str) -> bool:
    return bool(block.blockFormat().headingLevel()) and anchor(block.text()) == section
