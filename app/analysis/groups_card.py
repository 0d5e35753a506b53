"""Metrics of groups of samples as bars with their intervals."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QLabel, QVBoxLayout, QWidget

from netwright.app.plots.bar_rows import BarRow, BarRows, BarStyle, Column
from netwright.app.plots.card import FigureCard
from netwright.app.plots.words import metric_in_a_line
from netwright.designer import markup, theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.project.options.metric_options import format_score

COLUMNS = (Column(most=180), Column(is_right=True, is_muted=True), Column())
BUILT_IN = {"class": noop("class"), "folder": noop("folder"), "file type": noop("file type")}
"""Groups that are no column."""
SHARES = ("accuracy", "mean_iou", "f-score")


class GroupsCard(FigureCard):
    """Groups by what is chosen. `by_wanted` carries what to group by, `group_chosen` what they go by and the group."""

    by_wanted, group_chosen = Signal(str), Signal(str, str)

    def __init__(self, groupings: Sequence[str]) -> None:
        self.bars = BarRows(COLUMNS, BarStyle(row=26, bar=14), bar_at=2)
        self.bars.setCursor(Qt.CursorShape.PointingHandCursor)
        self.message, self.by, self.metrics = QLabel(), QComboBox(), QComboBox()
        self._target: Mapping[str, Any] = {}
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.message)
        column.addWidget(self.bars)
        super().__init__(content, tr("Groups of samples"), "", self._rows)
        theme.mark(self.message, "role", "muted")
        self.message.setText(tr("Choose a column, class or folder: is the network as good on each group?"))
        self.by.addItem(tr("by…"), "")
        for name in groupings:
            self.by.addItem(markup.visible(tr("by {name}", name=translation(BUILT_IN.get(name, "")) or name)), name)
        self.by.setAccessibleName(tr("Group samples by"))
        self.metrics.setAccessibleName(tr("Metric of the groups"))
        self.metrics.hide()
        self.head.insertWidget(1, self.by)
        self.head.insertWidget(2, self.metrics)
        self.by.activated.connect(self._ask)
        self.metrics.activated.connect(self._show_metric)
        self.bars.chosen.connect(self._choose)
        self.bars.hide()

    def _choose(self, number: int) -> None:
        self.group_chosen.emit(str(self.by.currentData()), self.bars.rows[number].cells[0])

    def _ask(self) -> None:
        if name := self.by.currentData():
            self.message.setText(tr("Computing…"))
            self.message.show()
            self.by_wanted.emit(name)

    def show_error(self, reason: str) -> None:
        """Say why there are no groups."""
        self.message.setText(markup.visible(reason))
        self.message.show()

    def show_groups(self, result: Mapping[str, Any], output: str) -> None:
        """Show the groups of an output, of the result of `netwright-engine evaluate --by`."""
        target = next((entry for entry in result["targets"] if entry["name"] == output), None)
        if target is None:
            self.show_error(tr("Nothing is known of single samples of this output."))
            return
        self._target = target
        self.metrics.clear()
        for name in target["whole"]:
            self.metrics.addItem(markup.visible(metric_in_a_line(name)), name)
        self.message.setVisible(bool(result["note"]))
        self.message.setText(markup.visible(message_text(result["note"])))
        self.metrics.show()
        self.bars.show()
        self._show_metric()

    def _show_metric(self) -> None:
        metric = str(self.metrics.currentData())
        whole = self._target["whole"][metric]
        rows = [_bar_row(row, metric, whole) for row in self._target["groups"]]
        self.bars.show_rows(rows, (0.0, 1.0) if metric in SHARES else None, mark=whole)
        text = tr(
            "{metric} with 95 % intervals; all samples {score}",
            metric=metric_in_a_line(metric),
            score=format_score(metric, whole),
        )
        self.note.setText(markup.visible(text))

    def _rows(self) -> Iterator[Sequence[object]]:
        names = list(self._target.get("whole", ()))
        yield "group", "samples", *(part for name in names for part in (name, f"{name} low", f"{name} high"))
        for row in self._target.get("groups", ()):
            values = (part for name in names for part in (row["metrics"][name], *row["intervals"][name]))
            yield row["group"], row["samples"], *values


def _bar_row(row: Mapping[str, Any], metric: str, whole: float) -> BarRow:
    """Return the bar of a group, in the accent colour where the value of all samples is outside of its interval."""
    value, (low, high) = row["metrics"][metric], row["intervals"][metric]
    text, *ends = (format_score(metric, number) for number in (value, low, high))
    colour = "muted/light" if low <= whole <= high else "accent/light"
    cells = (
        str(row["group"]),
        f"{row['samples']:,}",
        tr("{value}  ({low} to {high})", value=text, low=ends[0], high=ends[1]),
    )
    return BarRow(cells, ((value, colour),), (low, high))
