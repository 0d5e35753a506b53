"""Models and items of tables and lists: what they show, names of strangers included, has no bidirectional controls."""

from PySide6.QtCore import QAbstractListModel, QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QTableWidgetItem

from netwright.designer.markup import visible

Index = QModelIndex | QPersistentModelIndex
SHOWN_ROLES = frozenset(
    (
        Qt.ItemDataRole.DisplayRole,
        Qt.ItemDataRole.ToolTipRole,
        Qt.ItemDataRole.AccessibleTextRole,
        Qt.ItemDataRole.AccessibleDescriptionRole,
    )
)


class _Cells:
    """The data of a model from its `cell` and `heading`."""

    def cell(self, index: Index, role: int) -> object:
        """Return the data of a cell for a role, or None."""
        raise NotImplementedError

    def heading(self, section: int, role: int) -> object:
        """Return the data of a column's heading for a role, or None."""
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of a cell for a role, with text made printable."""
        return _shown(self.cell(index, role), role)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of a column's heading for a role, with text made printable; rows have no headings."""
        return None if orientation == Qt.Orientation.Vertical else _shown(self.heading(section, role), role)


class TableModel(_Cells, QAbstractTableModel):
    """The model of a table."""


class ListModel(_Cells, QAbstractListModel):
    """The model of a list."""


def table_item(text: str = "", tip: str = "") -> QTableWidgetItem:
    """Return an item of a table widget, with a tooltip."""
    item = QTableWidgetItem(visible(text))
    item.setToolTip(visible(tip))
    return item


def _shown(value: object, role: int) -> object:
    return visible(value) if role in SHOWN_ROLES and isinstance(value, str) else value
