"""The rail: every run of the project, chosen here once for all pages, with a search, and ways to the next run."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import (
    QActionGroup,
    QContextMenuEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLabel,
    QListView,
    QMenu,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.app.data.data_guesser import dropped_path
from netwright.app.history.models_panel import ModelsPanel
from netwright.app.history.opened_models import can_open
from netwright.app.history.query_line import UnknownNameLine
from netwright.app.history.rail_delegate import MARGIN, RailDelegate
from netwright.app.history.rail_model import ROW, RailModel, RailRow, Sort
from netwright.app.history.run_history import READING
from netwright.app.runs.run_texts import label_of
from netwright.app.runs.segments import TrialFolder
from netwright.app.widgets import Divider
from netwright.designer import markup, shortcuts, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import in_sentence, noop, tr, translation
from netwright.designer.panels.parts import SearchField
from netwright.engine.core.part_registry import has_entry
from netwright.engine.runs.query import as_csv
from netwright.engine.runs.summary import RunSummary
from netwright.engine.runs.trial_reader import Live

WIDTH, NARROW_WIDTH = 272, 216
REPAINT_MS = 30_000
"""Relative times grow."""
CONDITIONS = "digits state:failed tag:paper accuracy > 98 %\nvalidation.loss < 0.2 epochs >= 5 training.max_epochs = 30"
SORTS: dict[Sort, str] = {
    "created": noop("Newest first"),
    "score": noop("Best first"),
    "seconds": noop("Longest first"),
    "title": noop("By name"),
}
NO_RUNS = noop("Each run is a row here, with its progress and its result.")
OTHERS = noop("There are runs of other projects in this folder.")


class RailList(QListView):
    """The rows. `chosen` is emitted when the user changes the selection; the other signals ask for what a click, a key
    or the menu stands for."""

    chosen = Signal()
    folder_requested = Signal(object)
    """An experiment, whose other trials are to be shown."""
    delete_requested = Signal()

    def __init__(self, model: RailModel, menu: QMenu) -> None:
        super().__init__()
        self._model, self._menu = model, menu
        self._kept: list[Path] = []
        self._is_busy = False
        """Whether the selection changes by the program and not by the user."""
        self.setModel(model)
        self.setItemDelegate(RailDelegate(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Runs"))
        self.selectionModel().selectionChanged.connect(self._on_selected)
        model.modelAboutToBeReset.connect(self._keep)
        model.modelReset.connect(self._bring_back)
        self._clock = QTimer(self, interval=REPAINT_MS)
        self._clock.timeout.connect(self.viewport().update)
        self._clock.start()

    # ---- selection ----

    @property
    def selected(self) -> list[RailRow]:
        """The selected rows, from top to bottom."""
        return [self._model.rows[row] for row in sorted(index.row() for index in self.selectionModel().selectedRows())]

    def select(self, paths: Sequence[Path]) -> None:
        """Select rows by the program, and scroll the first of them into view."""
        rows = sorted({row for path in paths if (row := self._model.row_of(path)) >= 0})
        selection = QItemSelection()
        for row in rows:
            selection.select(self._model.index(row, 0), self._model.index(row, 0))
        was_busy, self._is_busy = self._is_busy, True
        self.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if rows:
            index = self._model.index(rows[0], 0)
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
            self.scrollTo(index)
        self._is_busy = was_busy

    def _keep(self) -> None:
        self._kept = [row.path for row in self.selected]
        self._scroll = self.verticalScrollBar().value()
        self._is_busy = True

    def _bring_back(self) -> None:
        self.select(self._kept)
        self.verticalScrollBar().setValue(self._scroll)
        self._is_busy = False

    def _on_selected(self) -> None:
        if not self._is_busy:
            self.chosen.emit()

    # ---- pointer and keys ----

    def _row_at(self, index: QModelIndex | QPersistentModelIndex) -> RailRow | None:
        row = index.data(ROW) if index.isValid() else None
        return row if isinstance(row, RailRow) else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold with the arrow of an experiment, show its other trials with their link, else select."""
        at = event.position().toPoint()
        row = self._row_at(self.indexAt(at))
        if row is not None and event.button() == Qt.MouseButton.LeftButton:
            if row.kind == "more":
                self.folder_requested.emit(row.path)
                return
            if row.kind == "folder" and at.x() < MARGIN + 28:
                self._model.toggle(row.path)
                return
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Fold an experiment."""
        row = self._row_at(self.indexAt(event.position().toPoint()))
        if row is not None and row.kind == "folder":
            self._model.toggle(row.path)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the hand over what is a link."""
        row = self._row_at(self.indexAt(event.position().toPoint()))
        is_link = row is not None and row.kind == "more"
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if is_link else Qt.CursorShape.ArrowCursor)
        super().mouseMoveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Fold and unfold with Left, Right and Return, rename with F2, delete with Delete, copy as CSV with Ctrl+C."""
        row, key = self._row_at(self.currentIndex()), event.key()
        if event.matches(QKeySequence.StandardKey.Copy):
            paths = {selected.path for selected in self.selected}
            runs = [run for run in self._model.runs if run.path in paths]
            QGuiApplication.clipboard().setText(as_csv(runs or self._model.runs))
        elif key == Qt.Key.Key_Delete:
            self.delete_requested.emit()
        elif row is not None and row.kind == "more" and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.folder_requested.emit(row.path)
        elif row is not None and row.kind == "folder" and self._folds(row, Qt.Key(key)):
            self._model.toggle(row.path)
        elif key == Qt.Key.Key_Left and row is not None and row.folder is not None:
            self.setCurrentIndex(self._model.index(self._model.row_of(row.folder), 0))
        else:
            super().keyPressEvent(event)

    @staticmethod
    def _folds(row: RailRow, key: Qt.Key) -> bool:
        """Return whether a key folds or unfolds an experiment."""
        return key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Left if row.is_open else Qt.Key.Key_Right)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the selected runs, or with an experiment."""
        row = self._row_at(self.currentIndex())
        if any(selected.kind in ("run", "trial") for selected in self.selected):
            self._menu.exec(event.globalPos())
        elif row is not None:
            menu = self._folder_menu(row)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(event.globalPos())

    def _folder_menu(self, row: RailRow) -> QMenu:
        """Return the menu of an experiment, or of the link to its other trials: for a keyboard what the arrow and the
        link are for a pointer."""
        menu = QMenu(self)
        if row.kind == "folder":
            menu.addAction(
                tr("Fold the experiment") if row.is_open else tr("Unfold the experiment"),
                lambda: self._model.toggle(row.path),
            )
        menu.addAction(tr("Show all trials"), lambda: self.folder_requested.emit(row.path))
        return menu


class Rail(QWidget):
    """Buttons, search, order and rows. `chosen` is emitted when the user selects other rows."""

    chosen = Signal()
    run_requested = Signal()
    sweep_requested = Signal()
    others_toggled = Signal()
    """Runs of other projects are to be listed too, or no more: `shows_others`."""
    export_requested = Signal()
    model_dropped = Signal(object)
    """The path of a file that may be a model."""

    def __init__(self, menu: QMenu) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        theme.mark(self, "role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.model = RailModel()
        self.list = RailList(self.model, menu)
        self.list.chosen.connect(self.chosen)
        self.search = SearchField(tr("Find runs: accuracy > 98"), tr("Find runs"))
        self.search.setToolTip("\n".join([tr("Words and conditions, all of which must match:"), CONDITIONS]))
        self.search.textChanged.connect(self._look_for)
        self.refusal = UnknownNameLine(self.search)
        self.count, self.order = ElidedLabel(elide=Qt.TextElideMode.ElideRight), QPushButton(tr("Validation"))
        self.add, self.sweep = QPushButton(tr("Run")), QPushButton(tr("Sweep"))
        self.body, self.message, self.clear = (
            QStackedWidget(),
            QLabel(translation(READING)),
            QPushButton(tr("Show all runs")),
        )
        self._above = QVBoxLayout()
        self.models = ModelsPanel()
        self.hint = QLabel(tr("Ctrl+click a second run to compare"))
        self._is_read = self.shows_others = False
        self._num_others = 0
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._make_head())
        column.addWidget(self.body, 1)
        column.addWidget(self.models)
        column.addWidget(Divider())
        column.addWidget(self.hint)
        self.body.addWidget(self.list)
        self.body.addWidget(self._make_message())
        self.hint.setContentsMargins(16, 10, 16, 10)
        theme.mark(self.hint, "role", "help")
        self.setFixedWidth(WIDTH)
        theme.changed.connect(self._dress)
        self._dress()
        self._tell()

    def _make_head(self) -> QVBoxLayout:
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        shortcuts.set_tip(self.add, tr("Train the project as it is now; while a run trains, after it"), "run.train")
        self.sweep.setToolTip(tr("Train with many values of options and layers, and compare the trials"))
        if not has_entry("pages", "experiment"):
            self.sweep.hide()
        self.add.clicked.connect(self.run_requested)
        self.sweep.clicked.connect(self.sweep_requested)
        for button in (self.add, self.sweep):
            buttons.addWidget(button, 1)
        line = QHBoxLayout()
        line.setSpacing(4)
        theme.mark(self.count, "role", "help")
        theme.mark(self.order, "role", "link")
        self.order.setStyleSheet("padding: 0 18px 0 4px; font-size: 12px; min-height: 20px;")  # beside its arrow
        self.order.setToolTip(tr("Order of the runs, and the score that is shown"))
        self.order.setMenu(QMenu(self.order))
        self.order.menu().aboutToShow.connect(self._fill_order)
        line.addWidget(self.count, 1)
        line.addWidget(self.order)
        head = QVBoxLayout()
        head.setContentsMargins(16, 0, 16, 4)
        head.setSpacing(8)
        head.addLayout(buttons)
        head.addWidget(self.search)
        head.addWidget(self.refusal)
        head.addLayout(line)
        head.addLayout(self._above)
        return head

    def _make_message(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 8, 16, 8)
        column.setSpacing(8)
        theme.mark(self.message, "role", "muted")
        theme.mark(self.clear, "role", "link")
        self.message.setWordWrap(True)
        self.clear.clicked.connect(self._show_all)
        column.addWidget(self.message)
        column.addWidget(self.clear, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        return page

    def _dress(self) -> None:
        self.add.setIcon(theme.icon("plus"))
        self.sweep.setIcon(theme.icon("sweep"))
        self.list.viewport().update()

    def add_panel(self, panel: QWidget) -> None:
        """Add a widget above the rows, which shows and hides itself."""
        self._above.addWidget(panel)

    def set_narrow(self, is_narrow: bool) -> None:
        """Leave the pages more room."""
        self.setFixedWidth(NARROW_WIDTH if is_narrow else WIDTH)
        self.hint.setVisible(not is_narrow)

    # ---- what is shown ----

    def show_runs(
        self,
        runs: Sequence[RunSummary],
        folders: Sequence[TrialFolder],
        live: Mapping[Path, Live],
        *,
        is_read: bool,
        num_others: int,
    ) -> None:
        """Show runs and experiments. `num_others` runs in the same folders belong to other projects."""
        self._is_read, self._num_others = is_read, num_others
        self.model.show(runs, folders, live)
        self._tell()

    def refuse(self, reason: str) -> None:
        """Say why there are no rows; those that were read stay."""
        if not self._is_read:
            theme.mark(self.message, "role", "error")
            self.message.setText(markup.visible(reason))

    def _look_for(self, text: str) -> None:
        self.model.look_for(text)
        self._tell()

    def _tell(self) -> None:
        model = self.model
        self.refusal.show_unknown(model.unknown if model.num_all else None)
        total, count = model.num_all, len(model.rows)
        self.body.setCurrentIndex(0 if count else 1)
        order = in_sentence(SORTS[model.sort_key])
        self.count.setText(tr("%n run(s), {order}", "", model.num_runs, order=order) if count else "")
        self.order.setVisible(bool(total))
        self.order.setText(markup.without_mnemonic(label_of(model.metric) if model.metric else tr("Validation")))
        theme.mark(self.message, "role", "muted")
        if total:
            self.message.setText(tr("No run matches."))
        elif not self._is_read:
            self.message.setText(translation(READING))
        else:
            self.message.setText(translation(OTHERS if self._num_others else NO_RUNS))
        self.clear.setVisible(self._is_read and bool(total or self._num_others))

    def _show_all(self) -> None:
        if self.model.num_all:
            self.search.clear()
        else:
            self._toggle_others(True)

    def _fill_order(self) -> None:
        menu = self.order.menu()
        menu.clear()
        theme.mark(menu, "role", "choices")
        model = self.model
        sorts, metrics = QActionGroup(menu), QActionGroup(menu)
        for key, text in SORTS.items():
            action = menu.addAction(translation(text), lambda key=key: self._sort_by(key))
            action.setCheckable(True)
            action.setChecked(key == model.sort_key)
            sorts.addAction(action)
        menu.addSeparator()
        for name in ("", *model.metrics):
            text = markup.without_mnemonic(label_of(name) if name else tr("Validation"))
            action = menu.addAction(text, lambda name=name: self._show_metric(name))
            action.setCheckable(True)
            action.setChecked(name == model.metric)
            metrics.addAction(action)
        menu.addSeparator()
        others = menu.addAction(tr("Runs of other projects too"))
        others.setCheckable(True)
        others.setChecked(self.shows_others)
        others.toggled.connect(self._toggle_others)
        menu.addAction(tr("Export as CSV…"), self.export_requested.emit)

    def _toggle_others(self, is_on: bool) -> None:
        self.shows_others = is_on
        self.others_toggled.emit()

    def _sort_by(self, key: Sort) -> None:
        self.model.sort_by(key)
        self._tell()

    def _show_metric(self, name: str) -> None:
        self.model.show_metric(name)
        self._tell()

    # ---- drops ----

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take a file that may be a model; anything else is for the window."""
        path = dropped_path(event.mimeData())
        event.setAccepted(path is not None and can_open(path))

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the model that was dropped."""
        if (path := dropped_path(event.mimeData())) is not None and can_open(path):
            event.acceptProposedAction()
            QTimer.singleShot(0, self, lambda: self.model_dropped.emit(path))  # the other program must not wait
        else:
            event.ignore()

    def shutdown(self) -> None:
        """Disconnect from the theme."""
        theme.changed.disconnect(self._dress)
