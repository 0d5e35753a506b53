"""The cards of the start page, one per project, and the grid that they stand in."""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QAbstractButton, QMenu, QSizePolicy, QWidget

from netwright.app.start_page.gallery import GalleryEntry
from netwright.app.start_page.thumbnail_program import Thumbnail
from netwright.designer import icons, markup, theme
from netwright.designer.language import tr
from netwright.engine.drawing.outline import HEIGHT, WIDTH
from netwright.engine.network.layer_table import short_count

NARROWEST, GAP = 212, 16
PICTURE = 132
PLACEHOLDER = ((-66, 22, 64), (-33, 22, 52), (0, 22, 40), (33, 22, 28), (66, 22, 16))
"""Bars in place of a network that is not drawn yet: the place of each from the middle, its width and height."""
_PADDING = 12
_CROSS = 24
_RADIUS = 10.0


class ProjectCard(QAbstractButton):
    """A project on the start page. If its file is gone the card can be focused and removed, but not opened."""

    removed = Signal()
    """The user removes it from the list."""
    moved = Signal(int)
    """An arrow key was pressed on it."""
    focused = Signal()

    def __init__(self, entry: GalleryEntry, parent: QWidget) -> None:
        super().__init__(parent)
        self.entry = entry
        self.thumbnail: Thumbnail | None = None
        self.is_gone = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._has_keyboard = False
        self._painted: tuple[tuple[Thumbnail, bool, float], QPixmap] | None = None
        self._update_texts()

    def show_thumbnail(self, thumbnail: Thumbnail) -> None:
        """Show the network, or why it cannot be shown."""
        self._update(thumbnail, is_gone=False)

    def show_gone(self) -> None:
        """Show that the file no longer exists."""
        self._update(None, is_gone=True)

    def _update(self, thumbnail: Thumbnail | None, *, is_gone: bool) -> None:
        if (thumbnail, is_gone) == (self.thumbnail, self.is_gone):
            return
        self.thumbnail, self.is_gone = thumbnail, is_gone
        self.setCursor(Qt.CursorShape.ArrowCursor if is_gone else Qt.CursorShape.PointingHandCursor)
        self._update_texts()
        self.update()

    @property
    def size_text(self) -> str:
        """The line below the description."""
        if self.is_gone:
            return tr("No longer exists")
        if self.thumbnail is None:
            return ""
        if self.thumbnail.excuse:
            return tr("No preview")
        return tr("Cannot be opened") if self.thumbnail.problem else size_in_words(self.thumbnail)

    def _update_texts(self) -> None:
        entry = self.entry
        problem = (self.thumbnail.problem or self.thumbnail.excuse) if self.thumbnail else ""
        texts = (entry.title, entry.description, self.size_text, tr("recent project") if entry.is_recent else "")
        self.setAccessibleName(tr(". ", "between two sentences").join(part.rstrip(".。") for part in texts if part))
        self.setAccessibleDescription(problem or entry.source)
        way_out = tr("Press Del to remove it from the list.") if self.is_gone else ""
        about = (str(entry.path),) if entry.is_recent else (entry.description, entry.source)
        self.setToolTip("\n".join(part for part in (entry.title, *about, problem, way_out) if part))

    # ---- what it does ----

    def _is_on_cross(self, at: QPoint) -> bool:
        return self.entry.is_recent and self._cross().contains(at)

    def _cross(self) -> QRect:
        """The button that removes a recent project from the list."""
        return QRect(self.width() - _CROSS - 6, 6, _CROSS, _CROSS)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Remove the project with the cross; open it anywhere else."""
        at = event.position().toPoint()
        if event.button() == Qt.MouseButton.LeftButton and self.isDown() and self._is_on_cross(at):
            self.setDown(False)
            self.removed.emit()
        else:
            super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Highlight the cross under the pointer."""
        super().mouseMoveEvent(event)
        self.update()

    def event(self, event: QEvent) -> bool:
        """Repaint while the pointer hovers."""
        if event.type() == QEvent.Type.HoverMove and self.entry.is_recent:
            self.update()
        return super().event(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with a recent project."""
        if not self.entry.is_recent:
            return
        menu = QMenu(self)
        opening = menu.addAction(tr("Open"), self.click)
        opening.setEnabled(not self.is_gone)
        menu.addAction(tr("Remove from this list"), self.removed.emit)
        menu.popup(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open with Enter and Space, remove a recent project with Del, move on with the arrows."""
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif key == Qt.Key.Key_Delete and self.entry.is_recent:
            self.removed.emit()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.moved.emit(key)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus only where it came by keyboard."""
        if event.reason() not in (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason):
            self._has_keyboard = event.reason() != Qt.FocusReason.MouseFocusReason
        super().focusInEvent(event)
        self.focused.emit()

    # ---- how it looks ----

    @property
    def _lines(self) -> int:
        return 1 if self.entry.is_recent else 2

    def sizeHint(self) -> QSize:
        """Return the size for thumbnail, title, description and size."""
        small = QFontMetrics(self._small()).height()
        text = QFontMetrics(self._strong()).height() + 2 + self._lines * small + 4 + small
        return QSize(NARROWEST, PICTURE + _PADDING - 2 + text + _PADDING)

    def _strong(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        return font

    def _small(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(theme.pixels(12))
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a card with the thumbnail on top; dashed and muted where the file is gone."""
        palette = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_gone = self.is_gone
        is_lit = self.underMouse() and not is_gone
        is_chosen = self.hasFocus() and self._has_keyboard
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        outline = QPainterPath()
        outline.addRoundedRect(box, _RADIUS - 0.5, _RADIUS - 0.5)
        painter.fillPath(outline, palette.mixed(palette.raised, palette.panel, 0.6) if is_lit else palette.panel)
        painter.save()
        painter.setClipPath(outline)
        picture = QRectF(0, 0, self.width(), PICTURE)
        painter.fillRect(picture, palette.canvas)
        painter.fillRect(QRectF(0, PICTURE - 1, self.width(), 1), palette.line)
        painter.restore()
        self._paint_picture(painter, picture)
        self._paint_texts(painter, palette)
        if self.entry.is_recent and (is_gone or self.underMouse() or is_chosen):
            self._paint_cross(painter, palette)
        edge = palette.mixed(palette.accent, palette.line, 0.6) if is_lit else palette.line
        pen = QPen(palette.accent if is_chosen else edge, 2.0 if is_chosen else 1.0)
        if is_gone and not is_chosen:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if is_chosen:
            box = box.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(box, _RADIUS - 0.5, _RADIUS - 0.5)

    def _paint_picture(self, painter: QPainter, area: QRectF) -> None:
        palette = theme.current()
        sign = ""
        if self.is_gone:
            sign = "close"
        elif self.thumbnail is not None and not self.thumbnail.bars:
            sign = "warning" if self.thumbnail.problem else "network"
        if sign:
            square = QRectF(0, 0, 28, 28)
            square.moveCenter(area.center())
            icons.draw(painter, sign, square, palette.mixed(palette.muted, palette.canvas, 0.6))
        elif self.thumbnail is None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.mixed(palette.line, palette.canvas, 0.6))
            for x, width, height in PLACEHOLDER:
                middle = area.center() + QPointF(x, 0)
                painter.drawRoundedRect(QRectF(middle.x() - width / 2, middle.y() - height / 2, width, height), 4, 4)
        else:
            middle = area.center() - QPointF(WIDTH / 2, HEIGHT / 2)
            painter.drawPixmap(middle.toPoint(), self._pixmap(self.thumbnail))

    def _pixmap(self, thumbnail: Thumbnail) -> QPixmap:
        """The outline in the colours and pixels of now, kept: scrolling paints it often."""
        key = (thumbnail, theme.current().is_dark, self.devicePixelRatioF())
        if self._painted is None or self._painted[0] != key:
            pixmap = QPixmap(QSize(int(WIDTH), int(HEIGHT)) * key[2])
            pixmap.setDevicePixelRatio(key[2])
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_thumbnail(painter, thumbnail)
            painter.end()
            self._painted = (key, pixmap)
        return self._painted[1]

    def _paint_texts(self, painter: QPainter, palette: theme.Palette) -> None:
        entry, inner = self.entry, QRectF(_PADDING, PICTURE + _PADDING - 2, self.width() - 2 * _PADDING, 1)
        strong, small = self._strong(), self._small()
        metrics, line = QFontMetrics(strong), QFontMetrics(small).height()
        painter.setFont(strong)
        painter.setPen(palette.muted if self.is_gone else palette.text)
        title = markup.elided(metrics, entry.title, Qt.TextElideMode.ElideMiddle, int(inner.width()))
        painter.drawText(QPointF(inner.left(), inner.top() + metrics.ascent()), title)
        painter.setFont(small)
        painter.setPen(palette.muted)
        top = inner.top() + metrics.height() + 2 + QFontMetrics(small).ascent()
        middle = Qt.TextElideMode.ElideMiddle if entry.is_recent else Qt.TextElideMode.ElideRight
        for n, text in enumerate(wrapped(entry.description, small, inner.width(), self._lines, middle)):
            painter.drawText(QPointF(inner.left(), top + n * line), text)
        wrong = self.thumbnail is not None and bool(self.thumbnail.problem)
        painter.setFont(theme.figures(small))
        painter.setPen(palette.error if wrong else palette.muted if self.is_gone else palette.text)
        if self.thumbnail is None and not self.is_gone:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.mixed(palette.line, palette.panel, 0.6))
            bar = QRectF(inner.left(), top + self._lines * line + 4 - QFontMetrics(small).xHeight(), 96, 8)
            painter.drawRoundedRect(bar, 4, 4)
            return
        size = markup.elided(QFontMetrics(small), self.size_text, Qt.TextElideMode.ElideRight, int(inner.width()))
        painter.drawText(QPointF(inner.left(), top + self._lines * line + 4), size)

    def _paint_cross(self, painter: QPainter, palette: theme.Palette) -> None:
        box = QRectF(self._cross())
        is_on = self._is_on_cross(self.mapFromGlobal(self.cursor().pos()))
        painter.setPen(QPen(palette.line, 1.0))
        painter.setBrush(palette.hover if is_on else palette.panel)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        icons.draw(painter, "trash", box.adjusted(5, 5, -5, -5), palette.text if is_on else palette.muted)


def size_in_words(thumbnail: Thumbnail) -> str:
    """Return the number of layers and parameters; that the network is unfinished, where these cannot be known."""
    if not thumbnail.layers:
        return tr("a very large network") if thumbnail.layers is None else tr("empty")
    layers, parameters = tr("%n layer(s)", "", thumbnail.layers), thumbnail.parameters
    if parameters is None:
        return tr("{layers} · unfinished", layers=layers)
    count = short_count(parameters) if parameters >= 1_000_000 else f"{parameters:,}"
    return tr("{layers} · {count} parameters", layers=layers, count=count)


def wrapped(text: str, font: QFont, width: float, lines: int, elide: Qt.TextElideMode) -> list[str]:
    """Break a text into at most so many lines; the last one is elided."""
    metrics = QFontMetrics(font)
    if lines == 1:
        return [markup.elided(metrics, text, elide, int(width))]
    layout = QTextLayout(text, font)
    layout.setTextOption(QTextOption(Qt.AlignmentFlag.AlignLeft))
    texts: list[str] = []
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        start = line.textStart()
        if len(texts) == lines - 1:
            texts.append(markup.elided(metrics, text[start:], elide, int(width)))
            break
        texts.append(text[start : start + line.textLength()].rstrip())
    layout.endLayout()
    return texts


def paint_thumbnail(painter: QPainter, thumbnail: Thumbnail) -> None:
    """Paint an outline in the colours of the theme, from the origin of the painter."""
    palette = theme.current()
    path = QPainterPath()
    for curve in thumbnail.curves:
        points = [QPointF(curve[n], curve[n + 1]) for n in range(0, len(curve) - 1, 2)]
        path.moveTo(points[0])
        for n in range(1, len(points) - 2, 3):
            path.cubicTo(points[n], points[n + 1], points[n + 2])
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(palette.mixed(palette.muted, palette.canvas, 0.8), 1.0))
    painter.drawPath(path)
    painter.setPen(Qt.PenStyle.NoPen)
    for x, y, width, height, family in thumbnail.bars:
        painter.setBrush(_colour(palette, family))
        if width < 3:
            painter.drawRect(QRectF(x, y, width, height))
        else:
            radius = min(2.5, width / 3)
            painter.drawRoundedRect(QRectF(x, y, width, height), radius, radius)


def _colour(palette: theme.Palette, family: str) -> QColor:
    """Return a calmer colour than that of the thin edges on the canvas: bars are large."""
    return palette.mixed(palette.family(family), palette.canvas, 0.85)


class CardGrid(QWidget):
    """Lays cards of one size out in as many columns as fit."""

    chosen = Signal(object)
    """The path of a project to open."""
    removed = Signal(object)
    focused = Signal(object)
    moved = Signal(object, int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.cards: list[ProjectCard] = []
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_entries(self, entries: Iterable[GalleryEntry]) -> None:
        """Show other cards; those that stay keep their thumbnails."""
        existing = {card.entry: card for card in self.cards}
        cards = [existing.pop(entry) if entry in existing else self._made(entry) for entry in entries]
        for card in existing.values():
            card.hide()
            card.deleteLater()
        for before, card in zip([None, *cards], cards, strict=False):
            if before is not None:
                QWidget.setTabOrder(before, card)
        self.cards = cards
        self._place()

    def _made(self, entry: GalleryEntry) -> ProjectCard:
        card = ProjectCard(entry, self)
        card.clicked.connect(lambda: None if card.is_gone else self.chosen.emit(entry.path))
        card.removed.connect(lambda: self.removed.emit(entry.path))
        card.focused.connect(lambda: self.focused.emit(card))
        card.moved.connect(lambda key: self.moved.emit(card, key))
        card.show()
        return card

    def show_thumbnail(self, path: Path, thumbnail: Thumbnail) -> None:
        """Give the cards of a file their thumbnail."""
        for card in self.cards:
            if card.entry.path == path:
                card.show_thumbnail(thumbnail)

    def show_gone(self, path: Path) -> None:
        """Mark the cards of a file that no longer exists."""
        for card in self.cards:
            if card.entry.path == path:
                card.show_gone()

    def filter(self, search: str) -> list[ProjectCard]:
        """Show only the cards that match the search. Return those."""
        for card in self.cards:
            card.setVisible(card.entry.is_found_by(search))
        self._place()
        return self.shown

    @property
    def shown(self) -> list[ProjectCard]:
        """The cards that match the search."""
        return [card for card in self.cards if not card.isHidden()]

    def _columns(self, width: int) -> int:
        return max(1, (width + GAP) // (NARROWEST + GAP))

    def hasHeightForWidth(self) -> bool:
        """Return true: fewer columns need more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all rows and the gaps between them."""
        cards = self.shown
        rows = -(-len(cards) // self._columns(width))
        return rows * (cards[0].sizeHint().height() + GAP) - GAP if rows else 0

    def sizeHint(self) -> QSize:
        """Return the size of three columns."""
        width = 3 * (NARROWEST + GAP) - GAP
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Return the width of one column."""
        return QSize(NARROWEST, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width among the cards."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        columns = self._columns(self.width())
        width = (self.width() + GAP) / columns
        for n, card in enumerate(self.shown):
            left, right = round(n % columns * width), round((n % columns + 1) * width) - GAP
            height = card.sizeHint().height()
            card.setGeometry(left, n // columns * (height + GAP), right - left, height)
        self.updateGeometry()
