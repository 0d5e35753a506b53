"""Words of a text on the colours of what they add to an answer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from netwright.designer import markup, theme
from netwright.designer.language import tr
from netwright.designer.scene.stage_colours import luminance
from netwright.engine.core.text import format_number
from netwright.engine.drawing.colour_maps import colours

ROW, PAD, GAP, ROUND = 28, 5, 3, 3
STRONG = 32
"""Place of the colour of the strongest word from the end of the map, whose last colours are nearly black."""
MOST_WIDTH = 760
LIGHT = 0.179
"""Luminance of a ground from which black has more contrast on it than white."""


class WordsView(QWidget):
    """Words in rows; the ground of each goes from that of the card to red where it supports the answer, and to blue
    where it speaks against it. A tooltip has the number."""

    def __init__(self, words: Sequence[Mapping[str, Any]]) -> None:
        """`words` have `word` and `value`."""
        super().__init__()
        self.words = [(markup.visible(str(row["word"])), float(row["value"])) for row in words]
        self._largest = max((abs(value) for _, value in self.words), default=0.0) or 1.0
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMaximumWidth(MOST_WIDTH)
        said = (tr("{name}: {value}", name=word, value=format_number(value)) for word, value in self.words)
        self.setAccessibleDescription(tr(", ", "between facts").join(said))

    def heightForWidth(self, width: int) -> int:
        """Return the height of the rows."""
        return round(max((place.bottom() for _, place in self._places(width)), default=0.0)) + 1

    def sizeHint(self) -> QSize:
        """Return the size at the largest width."""
        return QSize(MOST_WIDTH, self.heightForWidth(MOST_WIDTH))

    def ground(self, value: float) -> QColor:
        """Return the colour behind a word."""
        table, palette = colours("diverging"), theme.current()
        end = QColor(*table[-STRONG if value > 0 else STRONG])
        return palette.mixed(end, palette.panel, abs(value) / self._largest)

    def _places(self, width: int) -> Iterator[tuple[int, QRectF]]:
        """Yield the index and place of each word; one that is wider than a row is elided."""
        metrics, x, y = QFontMetricsF(self.font()), 0.0, 0.0
        for number, (word, _) in enumerate(self.words):
            wide = min(float(width), metrics.horizontalAdvance(word) + 2 * PAD)
            if x and x + wide > width:
                x, y = 0.0, y + ROW
            yield number, QRectF(x, y, wide, ROW - 2 * GAP)
            x += wide + GAP

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the words."""
        painter, metrics = QPainter(self), QFontMetricsF(self.font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number, place in self._places(self.width()):
            word, value = self.words[number]
            ground = self.ground(value)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ground)
            painter.drawRoundedRect(place, ROUND, ROUND)
            painter.setPen(QColor("black" if luminance(ground) > LIGHT else "white"))
            text = markup.elided(metrics, word, Qt.TextElideMode.ElideRight, place.width() - 2 * PAD + 1)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Show the number of the word under the pointer."""
        if isinstance(event, QHelpEvent):
            at = QPointF(event.pos())
            number = next((number for number, place in self._places(self.width()) if place.contains(at)), -1)
            word, value = self.words[number] if number >= 0 else ("", 0.0)
            text = tr("{name}: {value}", name=word, value=format_number(value)) if number >= 0 else ""
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)
