"""The table of trials: its view, the order, width and choice of its columns, keys and menus."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QMenu

from netwright.app.experiments.trial_cells import STEP, TrialDelegate
from netwright.app.experiments.trial_texts import column_label
from netwright.app.experiments.trials_model import Row, TrialsModel
from netwright.app.history.row_table import ARROW, CELLS_MEASURED, LEAST_WIDTH, RowTable, add_choice
from netwright.designer import theme
from netwright.designer.items import Index
from netwright.designer.language import tr
from netwright.engine.runs.query import OPTION
from netwright.engine.runs.trial_rows import Group, TrialRow, rows_csv

PADDING = 22
MOST_WIDTHS = {"reason": 320, "note": 240, "tags": 160, "trial": 260}
MOST_WIDTH = 220
FIXED_WIDTHS = {"curve": 108}
LEAST_WIDTHS = {"state": 124}
UNASKED = ("started", "runs")
"""Columns that are shown only where the user asks for them."""
WHERE_FILLED = ("tags", "note", "reason")
"""Columns that are shown unasked where a trial has something in them."""


ScrollHint = QAbstractItemView.ScrollHint


@dataclass(frozen=True)
class TableLayout:
    """How the user has arranged the table: order, width and choice of columns, sorting and groups."""

    order: tuple[str, ...] = ()
    shown: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    widths: dict[str, int] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    sort: str = "trial"
    is_down: bool = False
    shows_hidden: bool = False

    @classmethod
    def read(cls, data: Any) -> Self:
        """Return the layout of a JSON object; values of an unexpected kind count as absent."""
        if not isinstance(data, dict):
            return cls()

        def texts(name: str) -> list[str]:
            value = data.get(name)
            return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []

        widths = data.get("widths")
        valid_widths = (
            {c: w for c, w in widths.items() if type(w) is int and 0 < w < 4000} if isinstance(widths, dict) else {}
        )
        sort = data.get("sort")
        return cls(
            tuple(texts("order")),
            frozenset(texts("shown")),
            frozenset(texts("hidden")),
            valid_widths,
            tuple(texts("groups")),
            sort if isinstance(sort, str) else "trial",
            data.get("is_down") is True,
            data.get("shows_hidden") is True,
        )

    def write(self) -> dict[str, Any]:
        """Return the layout as a JSON object."""
        return {
            **vars(self),
            "order": list(self.order),
            "shown": sorted(self.shown),
            "hidden": sorted(self.hidden),
            "groups": list(self.groups),
        }


class TrialsTable(RowTable):
    """The view. `chosen` is emitted when the selection changes, `opened` for a double click or Return, `arranged` when
    the user has changed the layout, `menu_requested` with a place on the screen and a column."""

    arranged = Signal()
    menu_requested = Signal(QPoint, str)
    note_requested = Signal(str)

    def __init__(self, model: TrialsModel) -> None:
        self._is_key = False  # the table scrolls while it gets its model
        """Whether a key is carried out."""
        super().__init__(model, tr("Trials"))
        self.setItemDelegate(TrialDelegate(self))
        self._model = model
        self._layout = TableLayout()
        self._widths: dict[str, int] = {}
        """Widths of the columns by their cells."""
        self._kept: list[int] = []
        self._selected: list[TrialRow] | None = None
        """The selected trials, until selection or rows change."""
        self._place = 0
        model.figures = theme.figures(self.font())
        self._make_header()
        model.modelAboutToBeReset.connect(self._keep)
        model.modelReset.connect(self._bring_back)
        model.dataChanged.connect(self._forget_selected)
        self.doubleClicked.connect(lambda index: self._open(index.row()))

    def _make_header(self) -> None:
        header = self.horizontalHeader()
        header.setSectionsMovable(True)
        header.setFirstSectionMovable(False)
        header.setSortIndicator(0, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        header.sectionResized.connect(self._on_resized)
        header.sectionMoved.connect(self._on_moved)
        header.sortIndicatorChanged.connect(self._on_sorted)

    # ---- what is selected ----

    @property
    def selected(self) -> list[TrialRow]:
        """The selected trials, from top to bottom; those of a selected group, if no trial is selected."""
        if self._selected is None:
            selection = self.selectionModel().selection()
            ranges = sorted((span.top(), span.bottom()) for span in map(selection.at, range(selection.size())))
            rows = [row for top, bottom in ranges for row in self._model.rows[top : bottom + 1]]
            trials = [row for row in rows if isinstance(row, TrialRow)]
            self._selected = trials or [row for group in rows if isinstance(group, Group) for row in group.rows]
        return self._selected

    def _forget_selected(self) -> None:
        self._selected = None

    def _on_selected(self) -> None:
        self._forget_selected()
        super()._on_selected()

    @property
    def number(self) -> int | None:
        """The number of the selected trial; None where none, or several, are selected."""
        rows = self.selected
        return rows[0].trial.number if len(rows) == 1 else None

    def select(self, number: int | None) -> None:
        """Select a trial by its number, and scroll it into view."""
        if number is not None and (row := self._model.row_of(number)) >= 0:
            self.selectRow(row)
            self.scrollTo(self._model.index(row, 0))

    def _keep(self) -> None:
        self._kept = [row.trial.number for row in self.selected]
        self._place = self.verticalScrollBar().value()
        self._is_busy = True

    def _bring_back(self) -> None:
        self._forget_selected()
        self._arrange()
        numbers = set(self._kept)
        rows = enumerate(self._model.rows if numbers else ())
        self.select_rows(at for at, row in rows if numbers.issuperset(_numbers_in(row)))
        self.verticalScrollBar().setValue(self._place)
        self._is_busy = False
        self.chosen.emit()

    # ---- columns ----

    @property
    def layout_now(self) -> TableLayout:
        """The layout as the user has it."""
        return replace(
            self._layout,
            groups=self._model.group_columns,
            sort=self._model.order[0],
            is_down=self._model.order[1],
            shows_hidden=self._model.shows_hidden,
        )

    def restore(self, layout: TableLayout) -> None:
        """Arrange the table as it was kept."""
        self._is_busy = True
        self._layout, self._widths = layout, {}
        self._model.group_columns, self._model.order = layout.groups, (layout.sort, layout.is_down)
        self._model.shows_hidden = layout.shows_hidden
        self._model.extra = tuple(sorted(c for c in layout.shown if c.startswith(OPTION)))
        self._model.show(self._model.shown)
        self._arrange()
        self._is_busy = False

    def _arrange(self) -> None:
        """Give the columns their order, widths and visibility."""
        was_busy, self._is_busy = self._is_busy, True
        header, columns, layout = self.horizontalHeader(), self._model.columns, self._layout
        order = [c for c in layout.order if c in columns]
        order += [c for c in columns if c not in layout.order]
        for place, column in enumerate(sorted(order, key=lambda column: column != "trial")):
            header.moveSection(header.visualIndex(columns.index(column)), place)
        for number, column in enumerate(columns):
            self.setColumnHidden(number, not self.is_shown(column))
            if self.is_shown(column):
                self.setColumnWidth(number, self._width(column))
        sort, is_down = self._model.order
        at = columns.index(sort) if sort in columns else -1
        header.blockSignals(True)
        header.setSortIndicator(at, Qt.SortOrder.DescendingOrder if is_down else Qt.SortOrder.AscendingOrder)
        header.blockSignals(False)
        self._is_busy = was_busy

    def is_shown(self, column: str) -> bool:
        """Return whether a column is shown: as the user has chosen, else if it says something."""
        if column in self._layout.shown or column == "trial":
            return True
        if column in self._layout.hidden or column in UNASKED or column.startswith("training."):
            return False
        return column not in WHERE_FILLED or self._model.is_filled(column)

    def _width_of(self, column: str) -> int:
        """Return the width of a column: that of its header and of its longest cell, within limits."""
        if column in FIXED_WIDTHS:
            return FIXED_WIDTHS[column]
        figures, letters = QFontMetrics(self._model.figures), self.fontMetrics()
        texts = (self._model.text_of(row, column) for row in self._model.rows[:CELLS_MEASURED])
        widest = max(map(figures.horizontalAdvance, texts), default=0) + PADDING
        if column == "trial" and self._model.group_columns:
            widest += STEP * (len(self._model.group_columns) + 1)
        header = letters.horizontalAdvance(column_label(column)) + ARROW + PADDING
        return max(
            LEAST_WIDTHS.get(column, LEAST_WIDTH),
            min(header, MOST_WIDTH),
            min(MOST_WIDTHS.get(column, MOST_WIDTH), widest),
        )

    def fit_columns(self) -> None:
        """Widen columns for what has come since, but those whose width the user has set; show those that say something
        now."""
        if len(self._model.rows) <= CELLS_MEASURED and QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton:
            for column in self._model.columns:
                self._widths[column] = max(self._widths.get(column, 0), self._width_of(column))
        is_changed = [c for n, c in enumerate(self._model.columns) if self.isColumnHidden(n) == self.is_shown(c)]
        if is_changed or any(
            self._width(c) != self.columnWidth(n) for n, c in enumerate(self._model.columns) if self.is_shown(c)
        ):
            self._arrange()

    def _width(self, column: str) -> int:
        if column not in self._widths:
            self._widths[column] = self._width_of(column)
        return self._layout.widths.get(column) or self._widths[column]

    def _on_resized(self, number: int, _before: int, width: int) -> None:
        if not self._is_busy and width and QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            self._layout.widths[self._model.columns[number]] = width
            self.arranged.emit()

    def _on_moved(self) -> None:
        if self._is_busy:
            return
        header, columns = self.horizontalHeader(), self._model.columns
        order = tuple(columns[header.logicalIndex(place)] for place in range(header.count()))
        self._layout = replace(self._layout, order=order)
        self.arranged.emit()

    def _on_sorted(self) -> None:
        if not self._is_busy:
            self.arranged.emit()

    def show_column(self, column: str, is_shown: bool) -> None:
        """Show a column, or hide it, as the user wants it."""
        visible, hidden = self._layout.shown - {column}, self._layout.hidden - {column}
        self._layout = replace(
            self._layout,
            shown=visible | {column} if is_shown else visible,
            hidden=hidden if is_shown else hidden | {column},
        )
        self._model.show_options(sorted(c for c in self._layout.shown if c.startswith(OPTION)))
        self._arrange()
        self.arranged.emit()

    def group_by(self, columns: Sequence[str]) -> None:
        """Show the trials in groups by the values of columns."""
        self._widths = {}
        self._model.group_by(columns)
        self.arranged.emit()

    def fill_columns_menu(self, menu: QMenu) -> None:
        """Fill a menu with an entry per column, to show or hide it, and with the options that do not vary."""
        menu.clear()
        theme.mark(menu, "role", "choices")
        for column in self._model.columns:
            if column != "trial":
                self._add_choice(menu, column)
        options = [f"{OPTION}{path}" for path in self._model.shown.defaults]
        rest = [column for column in options if column not in self._model.columns]
        if rest:
            more = menu.addMenu(tr("More options"))
            theme.mark(more, "role", "choices")
            for column in rest:
                self._add_choice(more, column)
        menu.addSeparator()
        menu.addAction(tr("Reset columns"), self._reset)

    def _add_choice(self, menu: QMenu, column: str) -> None:
        is_on = column in self._model.columns and self.is_shown(column)
        add_choice(menu, column_label(column), is_on, partial(self.show_column, column))

    def _reset(self) -> None:
        self.restore(replace(self.layout_now, order=(), shown=frozenset(), hidden=frozenset(), widths={}))
        self.arranged.emit()

    # ---- keys, clicks and menu ----

    @property
    def visible_trials(self) -> list[TrialRow]:
        """The trials whose rows are in view."""
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        rows = self._model.rows[max(first, 0) : (last if last >= 0 else len(self._model.rows) - 1) + 1]
        return [row for row in rows if isinstance(row, TrialRow)]

    def as_text(self) -> str:
        """Return the selected trials as CSV with the columns that are shown."""
        return self._csv(self.selected)

    def all_as_text(self) -> str:
        """Return all trials that are shown, also those in folded groups, as CSV with the columns that are shown."""
        return self._csv(self._model.trial_rows)

    def _csv(self, rows: Sequence[TrialRow]) -> str:
        header = self.horizontalHeader()
        order = [self._model.columns[header.logicalIndex(place)] for place in range(header.count())]
        return rows_csv(rows, [c for c in order if self.is_shown(c)])

    def _open(self, row: int) -> None:
        if isinstance(self._model.rows[row], Group):
            self._model.toggle(row)
        else:
            self.opened.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold or unfold a group with a click on its chevron."""
        index = self.indexAt(event.position().toPoint())
        row = self._model.rows[index.row()] if index.isValid() else None
        if isinstance(row, Group) and index.column() == 0 and event.button() == Qt.MouseButton.LeftButton:
            edge = self.visualRect(index).left() + STEP * row.level
            if edge <= event.position().x() < edge + STEP + 4:
                self._model.toggle(index.row())
                return
        super().mousePressEvent(event)

    def scrollTo(self, index: Index, hint: ScrollHint = ScrollHint.EnsureVisible) -> None:
        """Scroll to a row. Sideways only for the keyboard: a click chooses a row, and what is beside it may narrow the
        table."""
        bar = self.horizontalScrollBar()
        place = bar.value()
        super().scrollTo(index, hint)
        if not self._is_key:
            bar.setValue(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open with Return, fold with Left and unfold with Right, copy as CSV with Ctrl+C."""
        at = self.currentIndex().row()
        row = self._model.rows[at] if 0 <= at < len(self._model.rows) else None
        folds = {Qt.Key.Key_Left: False, Qt.Key.Key_Right: True}
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row is not None:
            self._open(at)
        elif isinstance(row, Group) and event.key() in folds:
            if self._model.is_folded(row) == folds[Qt.Key(event.key())]:
                self._model.toggle(at)
        elif event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.as_text())
        else:
            self._is_key = True
            super().keyPressEvent(event)
            self._is_key = False

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the selected trials."""
        index = self.indexAt(event.pos())
        if self.selected:
            column = self._model.columns[index.column()] if index.isValid() else ""
            self.menu_requested.emit(event.globalPos(), column)


def _numbers_in(row: Row) -> tuple[int, ...]:
    return (row.trial.number,) if isinstance(row, TrialRow) else tuple(each.trial.number for each in row.rows)
