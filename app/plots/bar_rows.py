"""Rows with a bar each, between columns of texts: figures that have names in place of a horizontal axis."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QSizePolicy, QToolTip

from netwright.designer import markup, theme
from netwright.designer.language import named

HEAD, SWATCH, GAP = 26, 10, 12
LONGEST_DESCRIPTION = 50
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


@dataclass(frozen=True)
class Column:
    """A column of texts: as wide as the longest one, up to `most` pixels, and up to a share of the chart. `swatch` is
    the colour beside its heading."""

    heading: str = ""
    most: int = 280
    share: float = 0.3
    is_right: bool = False
    is_muted: bool = False
    swatch: str = ""


@dataclass(frozen=True)
class BarRow:
    """Texts, one per column, and the lengths of a bar's parts with their colours in the palette. An `interval` is drawn
    over the bar. `words` stand in place of the bar. A tooltip shows `tip`, else all texts."""

    cells: tuple[str, ...]
    parts: tuple[tuple[float, str], ...] = ()
    interval: tuple[float, float] | None = None
    words: str = ""
    tip: str = ""
    swatch: Callable[[], QColor] | None = None
    is_strong: bool = False
    is_faint: bool = False


@dataclass(frozen=True)
class BarStyle:
    """Sizes in pixels. With `has_track` a ground shows the whole length; without `most_height` all rows are
    seen, with it more of them scroll. With `fixed_bar` bars are as long, and the last column takes the rest."""

    row: int = 24
    bar: int = 12
    text: int = 0
    has_track: bool = False
    fixed_bar: int = 0
    most_height: int = 0


class BarRows(QAbstractScrollArea):
    """A row per name, with bars from zero on one scale. Only rows in view are painted: there may be thousands. `chosen`
    tells the row that is clicked."""

    chosen = Signal(int)

    def __init__(self, columns: Sequence[Column], style: BarStyle | None = None, bar_at: int = 1) -> None:
        """The bar stands before the column with the number `bar_at`."""
        super().__init__()
        self.columns, self.look, self.bar_at = tuple(columns), style or BarStyle(), bar_at
        self.rows: tuple[BarRow, ...] = ()
        self._scale: tuple[float, float] = (0.0, 1.0)
        self._mark: float | None = None
        self._wide: list[float] = []
        self._head = HEAD if any(column.heading for column in columns) else 0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setViewportMargins(0, self._head, 0, 0)
        self.setStyleSheet("QAbstractScrollArea { background: transparent; }")
        self.viewport().setAutoFillBackground(False)
        self.verticalScrollBar().setSingleStep(self.look.row)
        theme.changed.connect(self.viewport().update)

    def show_rows(
        self, rows: Sequence[BarRow], scale: tuple[float, float] | None = None, mark: float | None = None
    ) -> None:
        """Show rows. `scale` has the values at both ends; without it zero and all values fit. A dashed line stands at
        `mark`."""
        self.rows = tuple(rows)
        ends = [0.0, *(sum(length for length, _ in row.parts) for row in rows)]
        ends += [end for row in rows for end in row.interval or ()]
        low, high = scale or (min(ends), max(ends))
        self._scale, self._mark = (low, high if high > low else low + 1.0), mark
        self._wide = []
        style = self.look
        height = self._head + style.row * len(rows)
        self.setFixedHeight(min(height, style.most_height or height))
        texts = (named(row.cells[0], ", ".join(filter(None, (*row.cells[1:], row.words)))) for row in rows)
        heads = ", ".join(column.heading for column in self.columns if column.heading)
        described = "; ".join(text for text, _ in zip(texts, range(LONGEST_DESCRIPTION), strict=False))
        self.setAccessibleDescription(markup.visible(f"{heads}. {described}" if heads else described))
        self.updateGeometry()
        self._set_range()
        self.viewport().update()

    def sizeHint(self) -> QSize:
        """Return a size with room for bars."""
        return QSize(640, self.maximumHeight())

    def minimumSizeHint(self) -> QSize:
        """Return a size where bars can still be told apart."""
        return QSize(240, 0)

    def resizeEvent(self, event: object) -> None:
        """Set the range of the scroll bar."""
        self._set_range()

    def _set_range(self) -> None:
        height = self.height() - self._head
        self.verticalScrollBar().setRange(0, max(0, self.look.row * len(self.rows) - height))
        self.verticalScrollBar().setPageStep(height)

    def changeEvent(self, event: QEvent) -> None:
        """Measure texts in another font."""
        super().changeEvent(event)
        self._wide = []

    # ---- places ----

    def _font(self, *, is_strong: bool = False) -> QFont:
        font = theme.figures(self.font())
        if self.look.text:
            font.setPixelSize(self.look.text)
        if is_strong:
            font.setWeight(QFont.Weight.DemiBold)
        return font

    def places(self) -> tuple[list[tuple[float, float]], tuple[float, float]]:
        """Return left end and width of each column, and of the bars."""
        room = float(self.viewport().width())
        if not self._wide:
            metrics = QFontMetricsF(self._font(is_strong=any(row.is_strong for row in self.rows)))
            for number, column in enumerate(self.columns):
                texts = [row.cells[number] for row in self.rows]
                wide = max(map(metrics.horizontalAdvance, (column.heading, *texts)))
                swatch = column.swatch or (number == 0 and any(row.swatch for row in self.rows))
                self._wide.append(wide + 2 + (SWATCH + 8 if swatch else 0))
        widths = [min(w, c.most, c.share * room) for w, c in zip(self._wide, self.columns, strict=True)]
        gaps = GAP * len(widths)
        bar = max(10.0, room - sum(widths) - gaps)
        if self.look.fixed_bar:
            bar = float(self.look.fixed_bar)
            widths[-1] = max(0.0, room - sum(widths[:-1]) - gaps - bar)
        x, columns, bars = 0.0, [], (0.0, bar)
        for number, width in enumerate(widths):
            if number == self.bar_at:
                bars, x = (x, bar), x + bar + GAP
            columns.append((x, width))
            x += width + GAP
        return columns, (x, bar) if self.bar_at == len(widths) else bars

    def _row_at(self, y: float) -> int:
        number = int(y + self.verticalScrollBar().value()) // self.look.row
        return number if 0 <= number < len(self.rows) else -1

    # ---- painting ----

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows in view."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        texts, (left, wide) = self.places()
        top, row = self.verticalScrollBar().value(), self.look.row
        for number in range(top // row, min(len(self.rows), (top + self.viewport().height()) // row + 1)):
            self._paint_texts(painter, self.rows[number], number * row - top, texts)
            self._paint_bar(painter, self.rows[number], QRectF(left, number * row - top, wide, row))
        if self._mark is not None:
            x = left + self._share(self._mark) * wide
            is_zero = self._mark == 0
            colour, style = (
                (theme.current().line, Qt.PenStyle.SolidLine)
                if is_zero
                else (theme.current().muted, Qt.PenStyle.DashLine)
            )
            painter.setPen(QPen(colour, 1, style))
            painter.drawLine(round(x), 0, round(x), min(self.viewport().height(), row * len(self.rows)))
        painter.end()

    def _share(self, value: float) -> float:
        low, high = self._scale
        return min(1.0, max(0.0, (value - low) / (high - low)))

    def _paint_texts(self, painter: QPainter, row: BarRow, top: float, places: Sequence[tuple[float, float]]) -> None:
        palette = theme.current()
        painter.setFont(self._font(is_strong=row.is_strong))
        for number, (column, text, (left, wide)) in enumerate(zip(self.columns, row.cells, places, strict=True)):
            room = QRectF(left, top, wide, self.look.row)
            if number == 0 and row.swatch is not None:
                _paint_swatch(painter, row.swatch(), left, room.center().y())
                room.setLeft(left + SWATCH + 8)
            is_muted = column.is_muted or row.is_faint or (column.is_right and text == "0")
            painter.setPen(palette.muted if is_muted else palette.text)
            _paint_text(painter, room, text, is_right=column.is_right)

    def _paint_bar(self, painter: QPainter, row: BarRow, room: QRectF) -> None:
        palette, style = theme.current(), self.look
        bar = QRectF(room.left(), room.center().y() - style.bar / 2, room.width(), style.bar)
        if row.words:
            painter.setPen(palette.muted)
            room.setRight(float(self.viewport().width()))
            _paint_text(painter, room, row.words)
            return
        painter.setPen(Qt.PenStyle.NoPen)
        if style.has_track:
            painter.setBrush(palette.raised)
            painter.drawRoundedRect(bar, 3, 3)
        end = 0.0
        radius = 3 if len(row.parts) == 1 else 0
        for length, colour in row.parts:
            name, _, light = colour.partition("/")
            colour_of: QColor = getattr(palette, name)
            painter.setBrush(palette.mixed(colour_of, palette.panel, 0.6) if light else colour_of)
            first, last = sorted(bar.left() + self._share(value) * bar.width() for value in (end, end + length))
            end += length
            if length:
                wide = max(last - first, 2.0 if len(row.parts) == 1 else 0.0)
                painter.drawRoundedRect(QRectF(first, bar.top(), wide, bar.height()), radius, radius)
        if row.interval is not None:
            painter.setPen(QPen(palette.text, 1.2))
            first, last = (bar.left() + self._share(value) * bar.width() for value in row.interval)
            painter.drawLine(round(first), round(bar.center().y()), round(last), round(bar.center().y()))

    def event(self, event: QEvent) -> bool:
        """Paint the headings above the viewport, which scrolls."""
        is_handled = super().event(event)
        if event.type() == QEvent.Type.Paint and self._head:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setFont(self._font())
            for column, (left, wide) in zip(self.columns, self.places()[0], strict=True):
                painter.setPen(theme.current().muted)
                room = QRectF(left, 0, wide, HEAD)
                _paint_text(painter, room, column.heading, is_right=column.is_right)
                if column.swatch and painter.fontMetrics().horizontalAdvance(column.heading) + SWATCH + 6 <= wide + 1:
                    at = room.right() - painter.fontMetrics().horizontalAdvance(column.heading) - SWATCH - 6
                    _paint_swatch(painter, getattr(theme.current(), column.swatch), at, HEAD / 2)
            painter.end()
        return is_handled

    # ---- pointer ----

    def viewportEvent(self, event: QEvent) -> bool:
        """Show all texts of the row under the pointer."""
        if isinstance(event, QHelpEvent):
            number = self._row_at(event.pos().y())
            QToolTip.showText(event.globalPos(), markup.visible(self.tip(number)) if number >= 0 else "", self)
            return True
        return super().viewportEvent(event)

    def tip(self, number: int) -> str:
        """Return the tool tip of a row."""
        row = self.rows[number]
        cells = zip(self.columns, row.cells, strict=True)
        lines = [named(column.heading, text) if column.swatch else text for column, text in cells if text]
        return row.tip or "\n".join([*lines, *filter(None, [row.words])])

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the row under the pointer."""
        number = self._row_at(event.position().y())
        if event.button() == Qt.MouseButton.LeftButton and number >= 0:
            self.chosen.emit(number)


def _paint_swatch(painter: QPainter, colour: QColor, left: float, middle: float) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(QRectF(left, middle - SWATCH / 2, SWATCH, SWATCH), 2, 2)


def _paint_text(painter: QPainter, room: QRectF, text: str, *, is_right: bool = False) -> None:
    label = markup.elided(painter.fontMetrics(), text, Qt.TextElideMode.ElideMiddle, int(room.width()) + 1)
    painter.drawText(room, _RIGHT if is_right else Qt.AlignmentFlag.AlignVCenter, label)
