"""A list of pages beside a scrolling area that shows the chosen one."""

from collections.abc import Collection

from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListWidget, QListWidgetItem, QScrollArea, QWidget

from netwright.app.widgets import Divider
from netwright.designer import theme
from netwright.designer.language import tr, translation

_LIST_WIDTH = 176


class GroupedArea(QWidget):
    """`holder` is the parent of what the pages show; whoever fills it shows and hides its parts when a page is
    `chosen`."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget, width: int) -> None:
        super().__init__(parent)
        self._names: list[str] = []
        self.groups = QListWidget()
        self.groups.setAccessibleName(tr("Groups of options"))
        theme.mark(self.groups, "role", "groups")
        self.groups.setFixedWidth(_LIST_WIDTH)
        self.groups.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._make_area(width)
        beside = QHBoxLayout()
        beside.setContentsMargins(12, 12, 12, 12)
        beside.addWidget(self.groups)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addLayout(beside)
        row.addWidget(Divider())
        row.addWidget(self.area, 1)

    def _make_area(self, width: int) -> None:
        """Make the area from the outside in: Qt restyles everything below a widget that gets a parent."""
        self.area = QScrollArea(self)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._content = QWidget()
        theme.mark(self._content, "role", "panel")
        self.area.setWidget(self._content)
        self.holder = QWidget(self._content)
        self.holder.setMaximumWidth(width)
        row = QHBoxLayout(self._content)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.holder, 1)
        row.addStretch(0)

    def set_pages(self, names: Collection[str]) -> None:
        """Set the names of the pages, which are shown translated; the first one is the current one."""
        self._names = list(names)
        for name in names:
            item = QListWidgetItem(translation(name))
            item.setSizeHint(QSize(0, 32))
            self.groups.addItem(item)
        self.groups.setCurrentRow(0)
        self.groups.currentRowChanged.connect(self._on_chosen)
        self.groups.itemClicked.connect(lambda item: self._on_chosen(self.groups.row(item)))

    def _on_chosen(self, row: int) -> None:
        if row >= 0:
            self.chosen.emit(self._names[row])

    def mark(self, name: str) -> None:
        """Show this page as the current one in the list; none where the name is empty."""
        self.groups.blockSignals(True)
        self.groups.setCurrentRow(self._names.index(name) if name in self._names else -1)
        self.groups.blockSignals(False)

    def show_only(self, names: Collection[str]) -> None:
        """List only these pages."""
        for row, name in enumerate(self._names):
            self.groups.item(row).setHidden(name not in names)

    def scroll_to_top(self) -> None:
        """Lay out the contents of a page, before it is painted, and scroll to its beginning."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        self.area.verticalScrollBar().setValue(0)
