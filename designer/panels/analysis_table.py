"""The table of layers: type, output size, parameters, work, memory and measured time, with the sums below."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFileDialog, QMenu, QTableView, QVBoxLayout, QWidget

from netwright.designer import theme
from netwright.designer.editor import Editor
from netwright.designer.items import TableModel
from netwright.designer.language import layer_label, noop, tr, translation
from netwright.designer.scene.tint import format_nanoseconds
from netwright.engine.core.csv_text import csv_text
from netwright.engine.core.files import write_atomically
from netwright.engine.core.text import format_bytes
from netwright.engine.network.analysis import Analysis, LayerShapes
from netwright.engine.network.layer_table import table_rows
from netwright.engine.network.memory import activation_bytes
from netwright.engine.network.network import Network

Index = QModelIndex | QPersistentModelIndex
COLUMNS = (
    noop("Layer"),
    noop("Type"),
    noop("Output"),
    noop("Parameters"),
    noop("FLOPs per sample"),
    noop("Activations"),
    noop("Time per step"),
)
TIME = 6
"""The column of measured times, hidden while there are none."""
MEMORY_HELP = noop("What training keeps of each layer's output, at the mini-batch size, as 32-bit numbers: an estimate")
ID_ROLE = Qt.ItemDataRole.UserRole
_NUMBERS = (3, 4, 5, TIME)
_LEAST_WIDTHS = (92, 148, 96, 86, 112, 150, 90)  # headings and usual words are read whole
_WIDTHS = (140, 220, 148, 104, 124, 156, 104)  # three large sizes of an image, too; names and types take what is left
_ROOT = QModelIndex()
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class Line:
    """One layer; numbers are None where the analysis does not know them."""

    id: str
    name: str
    type: str
    output: str
    count: int
    parameters: int | None
    flops: int | None
    activations: int | None
    nanoseconds: int | None = None

    def text(self, column: int) -> str:
        """The text of a cell."""
        number = {3: self.parameters, 4: self.flops, 5: self.activations, TIME: self.nanoseconds}.get(column)
        if column in _NUMBERS:
            forms = {5: format_bytes, TIME: format_nanoseconds}
            return "" if number is None else forms.get(column, "{:,}".format)(number)
        return (self.name, self.type, self.output)[column]

    def key(self, column: int) -> tuple[float | str, ...]:
        """The sort key of a column: texts by the alphabet, sizes and numbers by value."""
        if column < 2:
            return (self.text(column).lower(), self.name)
        numbers = {2: self.count, 3: self.parameters, 4: self.flops, 5: self.activations, TIME: self.nanoseconds}
        return (-1 if (number := numbers[column]) is None else number,)


def lines_of(network: Network, analysis: Analysis, batch: int) -> list[Line]:
    """The layers in the order in which data flows; those of a cycle at the end. Activations are of so many samples."""
    ordered = set(network.order)
    rest = [id for id in network.layers if id not in ordered]
    ids = (*network.order, *rest)
    return [
        _line(id, network.layers[id].name, layer_label(network.layers[id].label), analysis.shapes.get(id), batch)
        for id in ids
    ]


def lines_in_all(network: Network, analysis: Analysis, batch: int) -> list[Line]:
    """Return the lines with those inside blocks below their block, by paths of names."""
    return [_line(row.id, row.path, layer_label(row.label), row.shapes, batch) for row in table_rows(network, analysis)]


def _line(id: str, name: str, label: str, facts: LayerShapes | None, batch: int) -> Line:
    if facts is None:
        return Line(id, name, label, "", -1, None, None, None)
    output = facts.output
    numbers = (facts.parameters, facts.flops, activation_bytes(facts, batch))
    return Line(id, name, label, output.short(), output.count or 0, *numbers)


class LayersModel(TableModel):
    """The lines, in the order of the network or of a column."""

    def __init__(self) -> None:
        super().__init__()
        self._in_order: list[Line] = []
        self.lines: list[Line] = []
        self._column, self._direction = -1, Qt.SortOrder.AscendingOrder
        self.figures = QFont()
        self.batch = 0

    def show_lines(self, lines: list[Line], batch: int) -> None:
        """Show others. The same layers in the same order keep their rows, so that selection and scrolling stay."""
        before = [line.id for line in self.lines]
        self._in_order = lines
        if batch != self.batch:
            self.batch = batch
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 5, 5)
        after = self._sorted()
        if [line.id for line in after] == before:
            self.lines = after
            self.dataChanged.emit(self.index(0, 0), self.index(len(after) - 1, len(COLUMNS) - 1))
        else:
            self.beginResetModel()
            self.lines = after
            self.endResetModel()

    def _sorted(self) -> list[Line]:
        if self._column < 0:
            return list(self._in_order)
        is_down = self._direction == Qt.SortOrder.DescendingOrder
        return sorted(self._in_order, key=lambda line: line.key(self._column), reverse=is_down)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column, or by the network's own order for none."""
        self._column, self._direction = column, order
        self.beginResetModel()
        self.lines = self._sorted()
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        """One row a layer."""
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """The columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def heading(self, section: int, role: int) -> object:
        """The columns' names, above their numbers' ends."""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section in _NUMBERS else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return translation(MEMORY_HELP) if section == 5 else None
        if role == Qt.ItemDataRole.DisplayRole:
            return (
                tr("{column}, batch {batch:,}", column=translation(COLUMNS[section]), batch=self.batch)
                if section == 5
                else translation(COLUMNS[section])
            )
        return None

    def cell(self, index: Index, role: int) -> object:
        """Texts; numbers to the right, in digits of one width."""
        line, column = self.lines[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return line.text(column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _RIGHT if column in _NUMBERS else _LEFT
            case Qt.ItemDataRole.FontRole:
                return self.figures if column >= 2 else None
            case Qt.ItemDataRole.ForegroundRole:
                return None if column == 0 else theme.current().muted if column == 1 else None
            case Qt.ItemDataRole.ToolTipRole:
                if column == TIME:
                    return line.text(column) or tr("Not measured")
                return line.text(column) or tr("Not known until the problems before this layer are solved")
            case _:
                return line.id if role == ID_ROLE else None

    def totals(self) -> tuple[str, ...]:
        """The texts of the last line."""
        parameters = sum(line.parameters or 0 for line in self.lines)
        flops = sum(line.flops or 0 for line in self.lines)
        activations = format_bytes(sum(line.activations or 0 for line in self.lines))
        count = len(self.lines)
        time = format_nanoseconds(sum(line.nanoseconds or 0 for line in self.lines))  # hidden while there is none
        return (tr("%n layer(s)", "", count), "", "", f"{parameters:,}", f"{flops:,}", activations, time)


class Totals(QWidget):
    """The sums, each below its column."""

    def __init__(self, table: QTableView, model: LayersModel) -> None:
        super().__init__()
        self._table, self._model = table, model
        self.setFixedHeight(30)
        header = table.horizontalHeader()
        header.sectionResized.connect(self.update)
        table.horizontalScrollBar().valueChanged.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The texts under a line."""
        palette = theme.current()
        painter = QPainter(self)
        painter.fillRect(self.rect(), palette.panel)
        painter.fillRect(0, 0, self.width(), 1, palette.line)
        font = theme.figures(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(palette.text)
        header = self._table.horizontalHeader()
        for column, text in enumerate(self._model.totals()):
            if header.isSectionHidden(column):
                continue
            cell = QRect(header.sectionViewportPosition(column), 1, header.sectionSize(column), self.height() - 1)
            painter.drawText(cell.adjusted(8, 0, -8, 0), _RIGHT if column in _NUMBERS else _LEFT, text)


class LayersView(QTableView):
    """The rows. Ctrl+C copies them."""

    export_requested = Signal()

    def __init__(self, model: LayersModel) -> None:
        super().__init__()
        self._model = model
        self._is_fitting = self._has_own_widths = False
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAccessibleName(tr("Layers"))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(28)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setStretchLastSection(False)
        self.setSortingEnabled(True)
        self.setColumnHidden(TIME, True)
        header.setMinimumSectionSize(64)
        header.sectionResized.connect(self._on_resized)
        self._fit_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width among the columns, until the user resizes one."""
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        if self._has_own_widths:
            return
        self._is_fitting = True
        has_times = not self.isColumnHidden(TIME)
        for column, width in enumerate(widths_in(self.viewport().width(), has_times=has_times)):
            self.horizontalHeader().resizeSection(column, width)
        self._is_fitting = False

    def show_times(self, *, are_there: bool) -> None:
        """Show the column of measured times, or hide it."""
        if self.isColumnHidden(TIME) == are_there:
            self.setColumnHidden(TIME, not are_there)
            self._fit_columns()

    def _on_resized(self) -> None:
        self._has_own_widths = self._has_own_widths or not self._is_fitting

    def event(self, event: QEvent) -> bool:
        """Ctrl+C is the table's while it has the keyboard, not the canvas's."""
        if event.type() == QEvent.Type.ShortcutOverride and is_copy(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+C copies."""
        if is_copy(event):
            self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Copying, by name."""
        menu = QMenu(self)
        menu.addAction(theme.icon("copy"), tr("Copy as CSV"), self.copy)
        menu.addAction(tr("Export as CSV…"), self.export_requested.emit)
        menu.exec(event.globalPos())
        menu.deleteLater()

    def copy(self) -> None:
        """Put the selected rows on the clipboard as CSV, or all of them if none is selected."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        lines = [self._model.lines[row] for row in rows] or self._model.lines
        QGuiApplication.clipboard().setText(as_csv(lines, self._model.batch))


def widths_in(room: int, *, has_times: bool = False) -> list[int]:
    """The widths of the columns: the least, then the preferred ones, and the rest for names and types."""
    count = len(COLUMNS) if has_times else TIME
    leasts, bests = _LEAST_WIDTHS[:count], _WIDTHS[:count]
    share = min(1.0, max(0.0, (room - sum(leasts)) / (sum(bests) - sum(leasts))))
    widths = [least + int(share * (best - least)) for least, best in zip(leasts, bests, strict=True)]
    rest = max(0, room - sum(widths))
    widths[0] += rest // 3
    widths[1] += rest - rest // 3
    return widths


def is_copy(event: QEvent) -> bool:
    """Whether this is the key for copying."""
    return isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Copy)


def as_csv(lines: Sequence[Line], batch: int) -> str:
    """The lines with a header, numbers without groups, memory in bytes."""
    rows: list[Sequence[object]] = [(*COLUMNS[:5], f"Activation bytes at batch {batch}")]
    for line in lines:
        output = line.output.replace(",", "")
        rows.append((line.name, line.type, output, line.parameters, line.flops, line.activations))
    return csv_text(rows)


def _ranges(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Rows that follow each other, as first and last of each run: Qt is slow with many small selections."""
    starts = [row for at, row in enumerate(rows) if not at or rows[at - 1] != row - 1]
    ends = [row for at, row in enumerate(rows) if at + 1 == len(rows) or rows[at + 1] != row + 1]
    return list(zip(starts, ends, strict=True))


class AnalysisTable(QWidget):
    """All layers of the project on screen; the selection is the editor's."""

    def __init__(self, editor: Editor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "role", "panel")
        self._editor = editor
        self._times: Mapping[str, int] = {}
        self._is_following = False
        self.model = LayersModel()
        self.model.figures = theme.figures(self.font())
        self.view = LayersView(self.model)
        self.totals = Totals(self.view, self.model)
        self.setFocusProxy(self.view)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 0, 8, 0)
        column.setSpacing(0)
        column.addWidget(self.view, 1)
        column.addWidget(self.totals)
        editor.analysis_changed.connect(self._on_changed)
        editor.selection_changed.connect(self._on_editor_selected)
        self.view.selectionModel().selectionChanged.connect(self._on_selected)
        self.view.export_requested.connect(self.export)
        self.model.modelReset.connect(self._on_editor_selected)
        theme.changed.connect(self.update)
        self._on_changed()

    def _on_changed(self, _result: object = None) -> None:
        if self.isVisible():
            self._show_lines()

    def showEvent(self, event: object) -> None:
        """Update the table after changes while it was hidden."""
        self._show_lines()

    def _show_lines(self) -> None:
        self._is_following = True
        batch = self._editor.project.training.mini_batch_size
        lines = lines_of(self._editor.network, self._editor.analysis, batch)
        self.model.show_lines([replace(line, nanoseconds=self._times.get(line.id)) for line in lines], batch)
        self.view.show_times(are_there=bool(self._times))
        self._is_following = False
        self._on_editor_selected()
        self.totals.update()

    def show_times(self, times: Mapping[str, int]) -> None:
        """Take the measured nanoseconds of the layers on screen, by id."""
        self._times = times
        self._on_changed()

    def _on_selected(self) -> None:
        if not self._is_following:
            rows = self.view.selectionModel().selectedRows()
            self._editor.set_selection(self.model.lines[index.row()].id for index in rows)

    def _on_editor_selected(self, _ids: object = None) -> None:
        """Select the rows of the editor's layers, and bring the first into view."""
        if self._is_following or not self.isVisible():
            return
        indices = [row for row, line in enumerate(self.model.lines) if line.id in self._editor.selection]
        selected = {index.row() for index in self.view.selectionModel().selectedRows()}
        if set(indices) == selected:
            return
        rows = QItemSelection()
        for first, last in _ranges(indices):
            rows.select(self.model.index(first, 0), self.model.index(last, len(COLUMNS) - 1))
        self._is_following = True
        self.view.selectionModel().select(rows, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self._is_following = False
        if indices:
            self.view.scrollTo(self.model.index(indices[0], 0))

    def export(self) -> None:
        """Ask for a file, and write all layers into it as CSV, in the order of the network."""
        name, _ = QFileDialog.getSaveFileName(
            self, tr("Export the table of layers"), "layers.csv", tr("CSV tables (*.csv)")
        )
        if name:
            path = Path(name)
            self.write(path if path.suffix else path.with_suffix(".csv"))

    def write(self, path: Path) -> None:
        """Write all layers into a file as CSV, those inside blocks too; an error is shown as a message."""
        batch = self._editor.project.training.mini_batch_size
        lines = lines_in_all(self._editor.network, self._editor.analysis, batch)
        try:
            write_atomically(path, as_csv(lines, batch).encode("utf-8"))
        except OSError as error:
            self._editor.refused.emit(
                tr("{path} cannot be written: {reason}. Choose another folder.", path=path, reason=error.strerror)
            )

    def sizeHint(self) -> QSize:
        """A few rows."""
        return QSize(640, 178)
