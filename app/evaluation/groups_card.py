"""Metrics of groups of samples as bars with their intervals."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QComboBox, QLabel, QSizePolicy, QVBoxLayout, QWidget

from netwright.app.plots.figure_card import FigureCard
from netwright.designer import markup, theme
from netwright.engine.project.options.metrics import format_score, in_a_line

ROW, NAME_WIDTH, COUNT_WIDTH, VALUE_WIDTH = 26, 180, 80, 170
SHARES = ("accuracy", "mean_iou", "f-score")


class GroupBars(QWidget):
    """A row per group: name, number of samples, a bar with its 95 % interval, and the value; a line stands at the value
    of all samples. `chosen` carries the name of a group that is clicked."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[Mapping[str, Any]] = ()
        self._metric, self._whole, self._most = "", 0.0, 1.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self.update)

    def show_groups(self, target: Mapping[str, Any], metric: str) -> None:
        """Show one metric of the groups of an output."""
        self.rows, self._metric, self._whole = target["groups"], metric, target["whole"][metric]
        ends = [row["intervals"][metric][1] for row in self.rows]
        self._most = 1.0 if metric in SHARES else max([*ends, self._whole, 1e-12])
        self.setFixedHeight(ROW * len(self.rows))
        texts = (f"{row['group']}: {format_score(metric, row['metrics'][metric])}" for row in self.rows)
        self.setAccessibleDescription(markup.visible("; ".join(texts)))
        self.update()

    def sizeHint(self) -> QSize:
        """Return a size with room for bars."""
        return QSize(640, ROW * max(1, len(self.rows)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the group under the pointer."""
        place = int(event.position().y() // ROW)
        if event.button() == Qt.MouseButton.LeftButton and 0 <= place < len(self.rows):
            self.chosen.emit(str(self.rows[place]["group"]))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint all rows, and the line."""
        painter, palette = QPainter(self), theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left, right = NAME_WIDTH + COUNT_WIDTH, self.width() - VALUE_WIDTH
        scale = max(1.0, right - left) / self._most
        painter.setFont(theme.figures(self.font()))
        aside, middle = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignVCenter
        for place, row in enumerate(self.rows):
            top, value = place * ROW, row["metrics"][self._metric]
            low, high = row["intervals"][self._metric]
            name = markup.elided(self.fontMetrics(), str(row["group"]), Qt.TextElideMode.ElideMiddle, NAME_WIDTH - 8)
            painter.setPen(palette.text)
            painter.drawText(QRectF(0, top, NAME_WIDTH, ROW), middle, name)
            text, *ends = (format_score(self._metric, number) for number in (value, low, high))
            painter.drawText(QRectF(right + 12, top, VALUE_WIDTH, ROW), middle, f"{text}  ({ends[0]} to {ends[1]})")
            painter.setPen(palette.muted)
            painter.drawText(QRectF(NAME_WIDTH, top, COUNT_WIDTH - 16, ROW), middle | aside, f"{row['samples']:,}")
            differs = not low <= self._whole <= high
            colour = palette.accent if differs else palette.muted
            bar = QRectF(left, top + 6, max(1.0, value * scale), ROW - 12)
            painter.fillRect(bar, palette.mixed(colour, palette.panel, 0.6))
            painter.setPen(QPen(palette.text, 1.2))
            y = top + ROW / 2
            painter.drawLine(QPointF(left + low * scale, y), QPointF(left + high * scale, y))
        painter.setPen(QPen(palette.muted, 1.0, Qt.PenStyle.DashLine))
        x = left + self._whole * scale
        painter.drawLine(QPointF(x, 0), QPointF(x, self.height()))
        painter.end()


class GroupsCard(FigureCard):
    """Groups by what is chosen. `by_wanted` carries what to group by, `group_chosen` what they go by and the group."""

    by_wanted, group_chosen = Signal(str), Signal(str, str)

    def __init__(self, groupings: Sequence[str]) -> None:
        self.bars, self.message, self.by, self.metrics = GroupBars(), QLabel(), QComboBox(), QComboBox()
        self._target: Mapping[str, Any] = {}
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.message)
        column.addWidget(self.bars)
        super().__init__(content, "Groups of samples", "", self._rows)
        theme.mark(self.message, "role", "muted")
        self.message.setText("Choose a column, class or folder: is the network as good on each group?")
        self.by.addItem("by…", "")
        for name in groupings:
            self.by.addItem(markup.visible(f"by {name}"), name)
        self.by.setAccessibleName("Group samples by")
        self.metrics.setAccessibleName("Metric of the groups")
        self.metrics.hide()
        self.head.insertWidget(1, self.by)
        self.head.insertWidget(2, self.metrics)
        self.by.activated.connect(self._ask)
        self.metrics.activated.connect(self._show_metric)
        self.bars.chosen.connect(lambda name: self.group_chosen.emit(str(self.by.currentData()), name))
        self.bars.hide()

    def _ask(self) -> None:
        if name := self.by.currentData():
            self.message.setText("Computing…")
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
            self.show_error("Nothing is known of single samples of this output.")
            return
        self._target = target
        self.metrics.clear()
        for name in target["whole"]:
            self.metrics.addItem(markup.visible(in_a_line(name)), name)
        self.message.setVisible(bool(result["note"]))
        self.message.setText(markup.visible(result["note"]))
        self.metrics.show()
        self.bars.show()
        self._show_metric()

    def _show_metric(self) -> None:
        metric = str(self.metrics.currentData())
        self.bars.show_groups(self._target, metric)
        whole = format_score(metric, self._target["whole"][metric])
        self.note.setText(markup.visible(f"{in_a_line(metric)} with 95 % intervals; all samples {whole}"))

    def _rows(self) -> Iterator[Sequence[object]]:
        names = list(self._target.get("whole", ()))
        yield "group", "samples", *(part for name in names for part in (name, f"{name} low", f"{name} high"))
        for row in self._target.get("groups", ()):
            values = (part for name in names for part in (row["metrics"][name], *row["intervals"][name]))
            yield row["group"], row["samples"], *values
