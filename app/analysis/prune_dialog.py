"""The dialog that makes a trained network smaller: a search within a budget, or costs and gains of some amounts of
pruning; and a project with the smaller network."""

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

from netwright.app.analysis.budget_row import BudgetRow, cells_of, heads_of
from netwright.app.analysis.result_cards import split_in_line
from netwright.app.answer_device import answer_device
from netwright.app.data.dataset_tracker import progress_text
from netwright.app.dialog import Dialog
from netwright.app.plots.card import FigureCard
from netwright.app.plots.pruning_plot import PruningPlot
from netwright.app.plots.words import metric_title
from netwright.app.runs.background_answers import leave_in_background
from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.engine_messages import message_text, title_text
from netwright.designer.items import table_item
from netwright.designer.language import noop, sentences, tr, translation
from netwright.designer.markup import visible
from netwright.engine.analysis.operations.compress import OPERATION as COMPRESS
from netwright.engine.analysis.operations.compress import CompressRequest
from netwright.engine.analysis.operations.prune import OPERATION as PRUNE
from netwright.engine.analysis.operations.prune import PruneRequest
from netwright.engine.core.text import format_bytes, format_number, format_percent
from netwright.engine.operations.operation import Operation
from netwright.engine.project.options.metric_options import format_score
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.summary import title_of

WAYS = (
    (noop("Within a budget: channels and 8-bit numbers"), None),
    (noop("Channels: smaller layers"), True),
    (noop("Weights: the smallest become zero"), False),
)
"""What is done, and whether channels are removed, or the smallest weights; None for a search."""
SUFFIX = ".netwright"


class PruneDialog(Dialog):
    """Searches candidates, or measures a few amounts, in a process of its own. `open_project` opens the project that is
    written."""

    def __init__(self, shell: Shell, run: RunFolder, open_project: Callable[[Path], object]) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._run, self._open_project = shell, run, open_project
        self._request: int | None = None
        self._rows: Sequence[Mapping[str, Any]] = ()
        self._budget = CompressRequest(model=run.path.absolute())
        self.setWindowTitle(tr("Make smaller"))
        self.resize(860, 700)
        self.plot = PruningPlot()
        self.plot.setMinimumHeight(220)
        self.plot.row_clicked.connect(self._choose)
        self.way, self.table, self.state, self.budget = QComboBox(), QTableWidget(), QLabel(), BudgetRow()
        for label, _ in WAYS:
            self.way.addItem(translation(label))
        self.way.setAccessibleName(tr("How it is made smaller"))
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
        self.leave = QPushButton(tr("In the background"))
        self.leave.setToolTip(tr("Search on, also when the window is closed; the list of runs has the result"))
        self.leave.clicked.connect(self.leave_in_background)
        self.create_button.setToolTip(tr("A project with the network of the selected row"))
        column, top, bottom = QVBoxLayout(self), QHBoxLayout(), QHBoxLayout()
        column.setSpacing(12)
        top.addWidget(QLabel(visible(title_text(title_of(run)))))
        top.addWidget(self.way)
        top.addStretch(1)
        bottom.addWidget(self.state, 1)
        for button in (self.leave, self.create_button, close):
            button.setAutoDefault(False)
            bottom.addWidget(button)
        column.addLayout(top)
        column.addWidget(self.budget)
        column.addWidget(FigureCard(self.plot, tr("Score and size"), "", self._values, fills=True), 1)
        column.addWidget(self.table, 1)
        column.addLayout(bottom)
        self.way.currentIndexChanged.connect(self.begin)
        self.budget.searched.connect(self.search)
        self.table.itemSelectionChanged.connect(self._on_selected)
        self.create_button.clicked.connect(self.create_project)
        close.clicked.connect(self.close)
        self.finished.connect(self._end)
        self.begin()

    @property
    def _is_search(self) -> bool:
        return WAYS[self.way.currentIndex()][1] is None

    def _pruning(self, **more: Any) -> PruneRequest:
        """Return the request of pruning with the present choice."""
        structured = bool(WAYS[self.way.currentIndex()][1])
        return PruneRequest(model=self._run.path.absolute(), structured=structured, device=answer_device(), **more)

    def begin(self) -> None:
        """Measure a few amounts of pruning; a search waits for its budget."""
        self.table.setRowCount(0)
        self._rows = ()
        self.plot.show_rows((), "")
        self.budget.setVisible(self._is_search)
        self.leave.setVisible(self._is_search)
        self._on_selected()
        if self._is_search:
            self._end()
            self._say(tr("Channels are removed little by little, and each candidate trains on: this takes a while."))
        else:
            self._start(self._pruning(), self.show_result, tr("Measuring accuracy, size and time…"))

    def search(self) -> None:
        """Search candidates within the budget; while it searches, stop."""
        if self._request is not None:
            self._end()
            self._say(tr("Stopped. What was trained stays, and the next search goes on from there."))
            return
        self._budget = self.budget.request(self._run.path.absolute())
        self._start(self._budget, self.show_candidates, tr("Searching…"))

    def leave_in_background(self) -> None:
        """Search on in a process that outlives the window. The next search here begins with what was trained."""
        self._end()
        self._budget = self.budget.request(self._run.path.absolute())
        leave_in_background(self._shell, COMPRESS, self._budget)
        self._say(tr("The search goes on in the background; the list of runs has its result."))

    def _start(
        self, request: PruneRequest | CompressRequest, on_result: Callable[[dict[str, Any]], None], text: str
    ) -> None:
        self._end()
        self._say(text)
        asked: Operation[Any, Any] = COMPRESS if isinstance(request, CompressRequest) else PRUNE
        server = self._shell.server
        self._request = server.ask(asked, request, on_result, self._on_failed, on_progress=self._on_progress)
        self.budget.search_button.setText(tr("Stop"))

    def _on_progress(self, progress: dict[str, Any]) -> None:
        if self._is_search:
            self._say(tr("Searching: {progress}", progress=progress_text(progress)))

    def show_candidates(self, result: Mapping[str, Any]) -> None:
        """Show the result of `netwright-engine compress`: the network as it was and the front."""
        self._end()
        metric, best = result["metric"], result["best"]
        rows = [row for row in result["rows"] if row["is_on_front"] or not row["number"]]
        self._fill(heads_of(metric), [cells_of(row, metric, best) for row in rows], rows)
        self.plot.show_rows(rows, metric, "bytes")
        self.table.selectRow(next((place for place, row in enumerate(rows) if row["number"] == best), 0))
        found = tr("The best candidate in the budget is selected.")
        missed = tr(
            "No candidate is in the budget. The nearest one is selected; accept more, or train for more epochs."
        )
        measured = tr("Measured on the {split}.", split=split_in_line(result["split"]))
        self._say(sentences([found if result["is_met"] else missed, measured, *map(message_text, result["notes"])]))

    def _fill(self, heads: Sequence[str], cells: Sequence[Sequence[str]], rows: Sequence[Mapping[str, Any]]) -> None:
        """Show rows of texts in the table."""
        self.table.setColumnCount(len(heads))
        self.table.setHorizontalHeaderLabels(list(heads))
        self.table.setRowCount(len(cells))
        figures = theme.figures(self.table.font())
        for line, texts in enumerate(cells):
            for place, text in enumerate(texts):
                item = table_item(text)
                item.setFont(figures)
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.table.setItem(line, place, item)
        self._rows = rows

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
        cells = []
        for row in rows:
            counts = [f"{row['parameters']:,}", f"{row['nonzero']:,}", format_bytes(row["bytes"]), f"{row['flops']:,}"]
            metrics = [format_score(name, row["metrics"].get(name)) for name in names]
            time = tr("{time} ms", time=format_number(row["milliseconds"]))
            cells.append([format_percent(row["amount"]), *metrics, *counts, time])
        self._fill(head, cells, rows)
        self.plot.show_rows(rows, names[0] if names else "")
        measured = tr("Measured on the {split}, before training on.", split=split_in_line(result["split"]))
        self._say(sentences([measured, *map(message_text, result["notes"])]))

    def create_project(self) -> None:
        """Ask for a file, write the project of the selected row, and open it."""
        start = str(self._shell.documents.folder / f"smaller{SUFFIX}")
        name, _ = QFileDialog.getSaveFileName(
            self, tr("Create project"), start, tr("Projects (*{suffix})", suffix=SUFFIX)
        )
        if not name:
            return
        to = Path(name) if name.endswith(SUFFIX) else Path(f"{name}{SUFFIX}")
        row = self._rows[self.table.currentRow()]

        def opened(_: Mapping[str, Any]) -> None:
            self.close()
            self._open_project(to)

        more: dict[str, Any] = {"output": to.absolute(), "replaces": True}
        request: PruneRequest | CompressRequest = (
            replace(self._budget, pick=row["number"], **more)
            if self._is_search
            else self._pruning(amount=row["amount"], **more)
        )
        self._start(request, opened, tr("Writing the project…"))

    def _on_selected(self) -> None:
        row = self.table.currentRow()
        is_selected = bool(self.table.selectedItems())
        self.create_button.setEnabled(is_selected and 0 < row < len(self._rows))
        self.plot.choose(row if is_selected else -1)

    def _choose(self, row: int) -> None:
        """Select the row of the point that was clicked."""
        self.table.selectRow(row)
        self.table.setFocus()

    def _values(self) -> list[list[object]]:
        """Return the table for a CSV file."""
        names = list(self._rows[0]["metrics"]) if self._rows else []
        if self._is_search:
            fields = [name for name in self._rows[0] if name != "metrics"] if self._rows else []
            return [fields, *([row[name] for name in fields] for row in self._rows)]
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
        self.budget.search_button.setText(tr("Search"))
        if request is not None:
            self._shell.server.cancel(request)


def prune_run(shell: Shell, run: RunFolder, open_project: Callable[[Path], object]) -> None:
    """Let the network of a run be made smaller; the project that is made is opened."""
    dialog = PruneDialog(shell, run, open_project)
    dialog.exec()
    dialog.deleteLater()
