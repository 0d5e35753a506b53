"""The models in the rail, below the runs: files that were opened in the project, and versions of the registry."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLabel,
    QListView,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from netwright.app.history.opened_models import ModelFile
from netwright.app.history.rail_delegate import HEIGHTS, RailDelegate
from netwright.app.history.rail_model import ROW, RailRow
from netwright.app.widgets import Divider
from netwright.designer import shortcuts, theme
from netwright.designer.items import Index, ListModel
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.operations.models import main_metric
from netwright.engine.project.import_kinds import KINDS
from netwright.engine.project.options.metric_options import format_score

MOST_SHOWN = 4
"""Rows that are seen at once."""
STAGES: Mapping[str, str] = {
    "none": noop("No stage"),
    "staging": noop("Staging"),
    "production": noop("Production"),
    "archived": noop("Archived"),
}
_ROOT = QModelIndex()


def row_of_file(file: ModelFile) -> RailRow:
    """Return the row of a model that was opened."""
    kind = next((kind.label for kind in KINDS if file.path.suffix.lower() in kind.suffixes), "")
    if file.path.suffix == SUFFIX:
        kind = tr("Project with weights")
    about = tr("{kind} · on {data}", kind=kind, data=Path(file.data).name) if file.data else kind
    return RailRow("model", file.path, file.path.name, about, tip=str(file.path))


def row_of_version(model: Mapping[str, Any]) -> RailRow:
    """Return the row of a version in the registry."""
    title, stage = f"{model['name']}@{model['version']}", translation(STAGES[model["stage"]])
    metric = main_metric(model["metrics"])
    figure = format_score(metric, model["metrics"][metric]) if metric else ""
    about = tr("Registered") if model["stage"] == "none" else tr("Registered · {stage}", stage=stage)
    return RailRow("model", Path(model["path"]), title, about, figure, model["stage"], tip=f"{title}\n{model['path']}")


class ModelRows(ListModel):
    """The rows of the models."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[RailRow] = []

    def show(self, rows: Sequence[RailRow]) -> None:
        """Set the rows."""
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.rows)

    def cell(self, index: Index, role: int) -> object:
        """Return title and tooltip, the row itself for the delegate, and all of it in words for screen readers."""
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(filter(None, (tr("model {name}", name=row.title), row.about, row.figure)))
        text = {Qt.ItemDataRole.DisplayRole: row.title, Qt.ItemDataRole.ToolTipRole: row.tip, ROW: row}
        return text.get(Qt.ItemDataRole(role)) if role != ROW else row


class ModelList(QListView):
    """The list of models. `removed` asks for a row to leave the list; the menu is that of its owner."""

    removed = Signal()

    def __init__(self, model: ModelRows, menu: QMenu) -> None:
        super().__init__()
        self._menu = menu
        self.setModel(model)
        self.setItemDelegate(RailDelegate(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Models"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Remove a model from the list with Delete."""
        if event.key() == Qt.Key.Key_Delete:
            self.removed.emit()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the model."""
        if self.currentIndex().isValid() and self.selectedIndexes():
            self._menu.exec(event.globalPos())


class ModelsPanel(QWidget):
    """Heading, link and rows. `chosen` is emitted when the user selects a model."""

    chosen = Signal()
    open_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.menu, self.rows = QMenu(self), ModelRows()
        self.list = ModelList(self.rows, self.menu)
        self.add = QPushButton(tr("Open model…"))
        self._is_busy = False
        heading, head = QLabel(tr("Models")), QHBoxLayout()
        theme.mark(heading, "role", "strong")
        theme.mark(self.add, "role", "link")
        tip = tr("A file of a network to evaluate, predict with and explain: ONNX, .pt2, Keras, a project")
        shortcuts.set_tip(self.add, tip, "file.open_model")
        self.add.clicked.connect(self.open_requested)
        head.setContentsMargins(16, 8, 16, 4)
        head.addWidget(heading)
        head.addStretch(1)
        head.addWidget(self.add)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Divider())
        column.addLayout(head)
        column.addWidget(self.list)
        self.list.selectionModel().selectionChanged.connect(self._on_selected)
        self.show_rows(())

    @property
    def selected(self) -> RailRow | None:
        """The model that is selected."""
        indexes = self.list.selectedIndexes()
        return self.rows.rows[indexes[0].row()] if indexes else None

    def show_rows(self, rows: Sequence[RailRow]) -> None:
        """Show these models; the one that was selected stays so."""
        if list(rows) != self.rows.rows:
            selected = self.selected
            self._is_busy = True
            self.rows.show(rows)
            self._is_busy = False
            self.select(selected.path if selected is not None else None)
        self.list.setVisible(bool(rows))
        self.list.setFixedHeight(min(MOST_SHOWN, len(rows)) * HEIGHTS["model"] + 8)

    def select(self, path: Path | None) -> None:
        """Select a model by the program, or none."""
        was_busy, self._is_busy = self._is_busy, True
        at = next((at for at, row in enumerate(self.rows.rows) if row.path == path), -1)
        if at < 0:
            self.list.clearSelection()
        else:
            self.list.setCurrentIndex(self.rows.index(at, 0))
        self._is_busy = was_busy

    def _on_selected(self) -> None:
        if not self._is_busy and self.selected is not None:
            self.chosen.emit()
