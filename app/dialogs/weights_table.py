"""The match between the weights of a file and of a network, as a table whose names can be edited."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from netwright.designer import theme
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import visible

Index = QModelIndex | QPersistentModelIndex
LOADED, MISSING, LEFT = noop("Loaded"), noop("Not in the file"), noop("Left over")
LEAVE = ""
CHOOSE = noop("Choose…")
"""What the cell of a weight shows that the file does not have: a name can be chosen there."""
HOW = {
    "map": noop("Loaded, by hand"),
    "layer": LOADED,
    "name": noop("Loaded, by name"),
    "layout": noop("Loaded, by layout"),
}


class WeightsTable(QTableWidget):
    """Rows of weights: name in the network, name in the file, state. `mapped` tells the names that the user sets: those
    of the file by those in the network, or nothing to leave a weight as it starts. Weights of the same part follow."""

    mapped = Signal(dict)

    def __init__(self) -> None:
        super().__init__(0, 3)
        self.candidates: list[str] = []
        self.missing: list[str] = []
        self.setHorizontalHeaderLabels([tr("In the network"), tr("In the file"), tr("State")])
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        self.setShowGrid(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.SelectedClicked
        )
        self.setItemDelegateForColumn(1, _NameDelegate(self))
        self.setAccessibleName(tr("Weights and where they come from"))
        self.setMinimumHeight(120)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for column in (0, 1):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)

    def show_report(self, report: Mapping[str, Any], *, only_misfits: bool) -> None:
        """Show the report of the engine; an empty report clears the table."""
        self.candidates = list(report.get("left_over", ()))
        self.missing = list(report.get("missing", ()))
        rows = [row for row in rows_of(report) if not (only_misfits and row[2].startswith(LOADED))]
        self.setUpdatesEnabled(False)
        self.setRowCount(len(rows))
        for number, (key, file_key, state) in enumerate(rows):
            for column, text in enumerate((key, file_key, state)):
                item = QTableWidgetItem(translation(text) if column == 2 else text)
                item.setToolTip(visible(text))
                can_edit = column == 1 and bool(key)
                flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
                item.setFlags(flags | Qt.ItemFlag.ItemIsEditable if can_edit else flags)
                if can_edit:
                    item.setToolTip(
                        tr("{text}\nDouble click to take another name of the file", text=visible(text)).strip()
                    )
                if can_edit and state == MISSING:
                    item.setForeground(theme.current().muted)
                if column == 2:
                    item.setForeground(_colour(state))
                self.setItem(number, column, item)
        self.setUpdatesEnabled(True)


def rows_of(report: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield name in the network, name in the file, and state; weights that do not fit come first."""
    for entry in report.get("other_shape", ()):
        here, there = (" x ".join(map(str, entry[name])) or tr("one number") for name in ("shape", "file_shape"))
        yield entry["key"], entry["file_key"], tr("{here} here, {there} in the file", here=here, there=there)
    yield from ((key, "", MISSING) for key in report.get("missing", ()))
    yield from (("", key, LEFT) for key in report.get("left_over", ()))
    yield from ((key, file_key, HOW.get(how, LOADED)) for key, file_key, how in report.get("matched", ()))


def following(key: str, file_key: str, missing: Iterable[str], left_over: Collection[str]) -> dict[str, str]:
    """Return the names of the file for the other weights of the part of the network that `key` is in, if `file_key` is
    for it: `stage.0.conv.weight` taken from `layer1.conv.weight` is `stage.0` taken from `layer1`."""
    ours, theirs = key.split("."), file_key.split(".")
    while ours and theirs and ours[-1] == theirs[-1]:
        ours, theirs = ours[:-1], theirs[:-1]
    if not ours or not theirs or len(ours) == len(key.split(".")):
        return {}
    start = ".".join(ours) + "."
    pairs = {
        own_key: ".".join(theirs) + "." + own_key.removeprefix(start)
        for own_key in missing
        if own_key.startswith(start)
    }
    return {own_key: name for own_key, name in pairs.items() if name in left_over}


def _colour(state: str) -> QColor:
    palette = theme.current()
    if state.startswith(LOADED):
        return palette.good
    return palette.muted if state == LEFT else palette.warning


class _NameDelegate(QStyledItemDelegate):
    """Edits a name of the file: typed, or chosen among those that are left over."""

    def __init__(self, table: WeightsTable) -> None:
        super().__init__(table)
        self._table = table

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Say in an empty cell that can be edited that a name can be chosen there."""
        super().initStyleOption(option, index)
        option.text = visible(option.text)  # its item has the exact name, to be edited
        if not index.data() and index.flags() & Qt.ItemFlag.ItemIsEditable:
            option.text = translation(CHOOSE)
            option.features |= QStyleOptionViewItem.ViewItemFeature.HasDisplay

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Put the list on the middle of its row, which is less high than a list wants to be."""
        cell: QRect = option.rect
        place = QRect(cell.left(), 0, cell.width(), max(cell.height(), editor.sizeHint().height()))
        place.moveTop(max(0, cell.center().y() - place.height() // 2))
        editor.setGeometry(place)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Make a list of the names that are left over; others can be typed."""
        box = QComboBox(parent)
        box.setEditable(True)
        box.addItems([LEAVE, *self._table.candidates])
        box.setAccessibleName(tr("Name in the file"))
        return box

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Show the present name."""
        assert isinstance(editor, QComboBox)
        editor.setCurrentText(str(index.data() or ""))

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        """Tell the name that was chosen, if it is another one."""
        assert isinstance(editor, QComboBox)
        name = editor.currentText().strip()
        if name != str(index.data() or ""):
            key = str(index.sibling(index.row(), 0).data())
            names = following(key, name, self._table.missing, self._table.candidates)
            self._table.mapped.emit({**names, key: name})
