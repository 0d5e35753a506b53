"""A list of groups beside one scrolling page with all of them: each follows the other."""

from collections.abc import Collection, Mapping

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListWidget, QListWidgetItem, QScrollArea, QWidget

from app.widgets import Divider
from designer import theme

_LIST_WIDTH = 176
_LOOK_AHEAD = 8
_ABOVE_HEADING = 16


class GroupedArea(QWidget):
    """The group at the top of the page is the current one of the list; a click in the list scrolls a group to the top.
    `holder` is the parent of the page's widgets."""

    def __init__(self, parent: QWidget, width: int) -> None:
        super().__init__(parent)
        self._headings: dict[str, QWidget | None] = {}
        self._is_jumping = False
        self.groups = QListWidget()
        self.groups.setAccessibleName("Groups of options")
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
        """Make the page from the outside in: Qt restyles everything below a widget that gets a parent."""
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
        self.area.verticalScrollBar().valueChanged.connect(self._on_scrolled)

    def set_headings(self, headings: Mapping[str, QWidget | None]) -> None:
        """Set the groups in order, each with its heading in the page; None for the one at the top."""
        self._headings = dict(headings)
        for name in self._headings:
            item = QListWidgetItem(name)
            item.setSizeHint(QSize(0, 32))
            self.groups.addItem(item)
        self.groups.setCurrentRow(0)
        self.groups.currentRowChanged.connect(self._on_chosen)
        self.groups.itemClicked.connect(lambda item: self._on_chosen(self.groups.row(item)))

    def hide_groups(self, names: Collection[str]) -> None:
        """Hide these groups in the list, and those whose heading is hidden."""
        for row in range(self.groups.count()):
            item = self.groups.item(row)
            heading = self._headings[item.text()]
            item.setHidden(item.text() in names or (heading is not None and heading.isHidden()))

    def _top_of(self, row: int) -> int:
        heading = self._headings[self.groups.item(row).text()]
        if heading is None:
            return 0
        return heading.mapTo(self._content, heading.contentsRect().topLeft()).y() - _ABOVE_HEADING

    def _on_chosen(self, row: int) -> None:
        self._is_jumping = True
        self.area.verticalScrollBar().setValue(self._top_of(row))
        self._is_jumping = False

    def _on_scrolled(self, value: int) -> None:
        """Make the group at the top the current one, unless it was just chosen from the list."""
        if self._is_jumping:
            return
        shown = [row for row in range(self.groups.count()) if not self.groups.item(row).isHidden()]
        above = [row for row in shown if self._top_of(row) <= value + _LOOK_AHEAD]
        if above:
            self.groups.blockSignals(True)
            self.groups.setCurrentRow(above[-1])
            self.groups.blockSignals(False)
