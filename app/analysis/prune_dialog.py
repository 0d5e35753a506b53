"""The dialog that prunes a trained network: costs and gains of some amounts, and a project with the smaller network."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableWidget,
    QVBoxLayout,
)

from netwright.app.analysis.result_cards import split_in_line
from netwright.app.dialog import Dialog
from netwright.app.plots.card import FigureCard
from netwright.app.plots.pruning_plot import PruningPlot
from netwright.app.plots.words import metric_title
from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.items import table_item
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import visible
from netwright.engine.analysis.operations.prune import OPERATION, PruneRequest
from netwright.engine.core.text import format_bytes, format_number, format_percent
from netwright.engine.project.options.metric_options import format_score
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.summary import title_of as run_title

WAYS = ((noop("Channels: smaller layers"), True), (noop("Weights: the smallest become zero"), False))
SUFFIX = ".netwright"


class PruneDialog(Dialog):
    """Measures a few amounts in a process of its own. `open_project` opens the project that is written."""

    def __init__(self, shell: Shell, run: RunFolder, open_project: Callable[[Path], object]) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._run, self._open_project = shell, run, open_project
        self._request: int | None = None
        self._rows: Sequence[Mapping[str, Any]] = ()
        self._amounts: list[float] = []
        self.setWindowTitle(tr("Prune"))
        self.resize(820, 680)
        self.plot = PruningPlot()
        self.plot.setMinimumHeight(220)
        self.plot.row_clicked.connect(self._choose)
        self.way, self.table, self.state = QComboBox(), QTableWidget(), QLabel()
        for label, _ in WAYS:
            self.way.addItem(translation(label))
        self.way.setAccessibleName(tr("What is removed"))
        self.state.setWordWrap(True)
        theme.mark(self.state, "role", "muted")
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        self.table.setShowGrid(False)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.verticalHeader().hide()
        self.table.setAccessibleName(tr("Amounts"))
        self.create_button, close = QPushButton(tr("Create project…")), QPushButton(tr("Close"))
        self.create_button.setToolTip(tr("A project with the network of the selected row, to be trained on"))
        column, top, bottom = QVBoxLayout(self), QHBoxLayout(), QHBoxLayout()
        column.setSpacing(12)
        top.addWidget(QLabel(visible(tr("{run}, without", run=run_title(run)))))
        top.addWidget(self.way)
        top.addStretch(1)
        bottom.addWidget(self.state, 1)
        for button in (self.create_button, close):
            button.setAutoDefault(False)
            bottom.addWidget(button)
        column.addLayout(top)
        column.addWidget(
            FigureCard(self.plot, tr("Score and size"), tr("before training on"), self._values, fills=True), 1
        )
        column.addWidget(self.table, 1)
        column.addLayout(bottom)
        self.way.currentIndexChanged.connect(self.measure)
        self.table.itemSelectionChanged.connect(self._on_selected)
        self.create_button.clicked.connect(self.create_project)
        close.clicked.connect(self.close)
        self.finished.connect(self._end)
        self.measure()

    @property
    def _asked(self) -> PruneRequest:
        return PruneRequest(model=self._run.path.absolute(), structured=WAYS[self.way.currentIndex()][1])

    def measure(self) -> None:
        """Measure a few amounts of pruning with the present choices."""
        self.table.setRowCount(0)
        self._rows, self._amounts = (), []
        self.plot.show_rows((), "")
        self._on_selected()
        self._start(self._asked, self.show_result, tr("Measuring accuracy, size and time…"))

    def _start(self, request: PruneRequest, on_result: Callable[[dict[str, Any]], None], text: str) -> None:
        self._end()
        self._say(text)
        self._request = self._shell.server.ask(OPERATION, request, on_result, self._on_failed)

    def show_result(self, result: Mapping[str, Any]) -> None:
        """Show the result of `netwright-engine prune`."""
        self._end()
        rows = result["rows"]
        names = list(rows[0]["metrics"])
        head = [
            tr("Amount"),
            *map(metric_title, names),
            tr("Parameters"),
            tr("Not zero"),
            tr("Size"),
            "FLOPs",
            tr("Time per batch"),
        ]
        self.table.setColumnCount(len(head))
        self.table.setHorizontalHeaderLabels(head)
        self.table.setRowCount(len(rows))
        figures = theme.figures(self.table.font())
        for line, row in enumerate(rows):
            counts = [f"{row['parameters']:,}", f"{row['nonzero']:,}", format_bytes(row["bytes"]), f"{row['flops']:,}"]
            metrics = [format_score(name, row["metrics"].get(name)) for name in names]
            cells = [
                format_percent(row["amount"]),
                *metrics,
                *counts,
                tr("{time} ms", time=format_number(row["milliseconds"])),
            ]
            for place, text in enumerate(cells):
                item = table_item(text)
                item.setFont(figures)
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.table.setItem(line, place, item)
        self._rows, self._amounts = rows, [row["amount"] for row in rows]
        self.plot.show_rows(rows, names[0] if names else "")
        measured = tr("Measured on the {split}, before training on.", split=split_in_line(result["split"]))
        self._say(" ".join([measured, *result["notes"]]))

    def create_project(self) -> None:
        """Ask for a file, write the project of the selected row, and open it."""
        start = str(self._shell.documents.folder / f"smaller{SUFFIX}")
        name, _ = QFileDialog.getSaveFileName(
            self, tr("Create project"), start, tr("Projects (*{suffix})", suffix=SUFFIX)
        )
        if not name:
            return
        to = Path(name) if name.endswith(SUFFIX) else Path(f"{name}{SUFFIX}")
        amount = self._amounts[self.table.currentRow()]

        def opened(_: Mapping[str, Any]) -> None:
            self.close()
            self._open_project(to)

        asked = replace(self._asked, amount=amount, output=to.absolute(), replaces=True)
        self._start(asked, opened, tr("Writing the project…"))

    def _on_selected(self) -> None:
        row = self.table.currentRow()
        is_selected = bool(self.table.selectedItems())
        self.create_button.setEnabled(is_selected and row > 0 and row < len(self._amounts))
        self.plot.choose(row if is_selected else -1)

    def _choose(self, row: int) -> None:
        """Select the row of the point that was clicked."""
        self.table.selectRow(row)
        self.table.setFocus()

    def _values(self) -> list[list[object]]:
        """Return the table for a CSV file."""
        names = list(self._rows[0]["metrics"]) if self._rows else []
        keys = ("parameters", "nonzero", "bytes", "flops", "milliseconds")
        rows = [
            [row["amount"], *(row["metrics"].get(name) for name in names), *(row[key] for key in keys)]
            for row in self._rows
        ]
        return [["amount", *names, *keys], *rows]

    def _on_failed(self, reason: str) -> None:
        self._end()
        self._say(reason, refused=True)

    def _say(self, text: str, *, refused: bool = False) -> None:
        theme.mark(self.state, "role", "error" if refused else "muted")
        self.state.setText(text)

    def _end(self, _result: int = 0) -> None:
        request, self._request = self._request, None
        if request is not None:
            self._shell.server.cancel(request)


def prune_run(shell: Shell, run: RunFolder, open_project: Callable[[Path], object]) -> None:
    """Let the network of a run be made smaller; the project that is made is opened."""
    dialog = PruneDialog(shell, run, open_project)
    dialog.exec()
    dialog.deleteLater()
