"""The panel of the tour: what a step says, and its buttons, beside what it points at."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QMargins, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from netwright.designer import theme
from netwright.designer.language import tr

WIDTHS = (340, 300, 264)
"""Widths of the panel, the preferred one first."""
GAP, MARGIN, RING = 18, 8, 4
"""Pixels between the target and the panel, around the panel in its window, and between the target and its outline."""
ARROW = 9
"""Half the width of the arrow, in pixels."""


def beside(target: QRect, room: QRect, sizes: Iterable[QSize], *, prefers_below: bool = False) -> QRect:
    """Return the place for a panel of one of these sizes beside a target: inside the room, and clear of the target;
    where no side has so much room, in the corner that covers least of it. An empty target gives the middle."""
    room = room.marginsRemoved(_all_around(MARGIN))
    sizes = list(sizes)
    if target.isEmpty():
        place = QRect(QPoint(), sizes[0])
        place.moveCenter(room.center())
        return _inside(place, room)
    around = target.marginsAdded(_all_around(GAP))
    for size in sizes:
        sides = _sides(around, target.center(), size)
        for place in sides[2:] + sides[:2] if prefers_below else sides:
            place = _inside(place, room)
            if room.contains(place) and not place.intersects(target.marginsAdded(_all_around(RING + 2))):
                return place
    size = sizes[-1]
    corners = [
        QRect(QPoint(x, y), size)
        for y in (room.bottom() - size.height() + 1, room.top())
        for x in (room.right() - size.width() + 1, room.left())
    ]
    return min(corners, key=lambda place: _area(place & target))


def _sides(around: QRect, middle: QPoint, size: QSize) -> list[QRect]:
    """Return the places at the right, at the left, below and above."""
    y, x = middle.y() - size.height() // 2, middle.x() - size.width() // 2
    return [
        QRect(QPoint(around.right() + 1, y), size),
        QRect(QPoint(around.left() - size.width(), y), size),
        QRect(QPoint(x, around.bottom() + 1), size),
        QRect(QPoint(x, around.top() - size.height()), size),
    ]


def _inside(place: QRect, room: QRect) -> QRect:
    """Return a place, moved into the room."""
    x = max(room.left(), min(place.x(), room.right() - place.width() + 1))
    y = max(room.top(), min(place.y(), room.bottom() - place.height() + 1))
    return QRect(QPoint(x, y), place.size())


def _area(place: QRect) -> int:
    return 0 if place.isEmpty() else place.width() * place.height()


def _all_around(pixels: int) -> QMargins:
    return QMargins(pixels, pixels, pixels, pixels)


class Pointer(QWidget):
    """An outline around the target, and the arrow of the panel. The mouse goes through it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._target, self._panel = QRect(), QRect()

    def point(self, target: QRect, panel: QRect) -> None:
        """Point from the panel at a target; at nothing where that is empty."""
        self._target, self._panel = target, panel
        window = self.parentWidget()
        assert window is not None
        self.setGeometry(window.rect())
        self.setVisible(not target.isEmpty())
        self.raise_()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the outline and the arrow."""
        painter, palette = QPainter(self), theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ring = QRectF(self._target.marginsAdded(_all_around(RING))) & QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.setPen(QPen(palette.accent, 2.0))
        painter.drawRoundedRect(ring, 6, 6)
        if not self._panel.intersects(ring.toAlignedRect()):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.accent)
            painter.drawPolygon(_arrow(QRectF(self._panel), ring))
        painter.end()


def _arrow(panel: QRectF, ring: QRectF) -> QPolygonF:
    """Return a triangle on the edge of the panel that faces the ring."""
    shared_y = max(panel.top(), ring.top()), min(panel.bottom(), ring.bottom())
    shared_x = max(panel.left(), ring.left()), min(panel.right(), ring.right())
    if shared_y[0] < shared_y[1]:  # beside each other
        y = min(max(sum(shared_y) / 2, panel.top() + 2 * ARROW), panel.bottom() - 2 * ARROW)
        edge, out = (panel.left(), -ARROW) if ring.right() <= panel.left() else (panel.right(), ARROW)
        return QPolygonF([QPointF(edge, y - ARROW), QPointF(edge + out, y), QPointF(edge, y + ARROW)])
    if shared_x[0] >= shared_x[1]:  # across a corner
        shared_x = (ring.center().x(), ring.center().x())
    x = min(max(sum(shared_x) / 2, panel.left() + 2 * ARROW), panel.right() - 2 * ARROW)
    edge, out = (panel.top(), -ARROW) if ring.bottom() <= panel.top() else (panel.bottom(), ARROW)
    return QPolygonF([QPointF(x - ARROW, edge), QPointF(x, edge + out), QPointF(x + ARROW, edge)])


class Callout(QFrame):
    """Says what a step says. Left and Right go back and forward, Esc closes the tour."""

    back_requested = Signal()
    next_requested = Signal()
    shown_requested = Signal()
    """The tour is to do what the step asks for."""
    close_requested = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        theme.mark(self, "role", "callout")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.heading, self.text, self.place, self.state = QLabel(), QLabel(), QLabel(), QLabel()
        for label, role in (
            (self.heading, "section"),
            (self.place, "help"),
            (self.state, "good"),
        ):
            theme.mark(label, "role", role)
        self.text.setWordWrap(True)
        self.heading.setWordWrap(True)
        self.close_button = QToolButton()
        self.close_button.setIcon(theme.icon("close"))
        self.close_button.setAccessibleName(tr("Close the tour"))
        self.close_button.setToolTip(tr("Close the tour (Esc)"))
        self.back, self.show_me, self.forward = (
            QPushButton(tr("Back", "step")),
            QPushButton(tr("Show me")),
            QPushButton(),
        )
        self.back.setToolTip(tr("The step before (Left)"))
        self.show_me.setToolTip(tr("Let the tour do it"))
        self._lay_out()
        for button, signal in (
            (self.close_button, self.close_requested),
            (self.back, self.back_requested),
            (self.show_me, self.shown_requested),
            (self.forward, self.next_requested),
        ):
            button.clicked.connect(signal)
            button.installEventFilter(self)
        for push in (self.back, self.show_me, self.forward):
            push.setAutoDefault(False)
        theme.changed.connect(self._dress)

    def _dress(self) -> None:
        self.close_button.setIcon(theme.icon("close"))

    def _lay_out(self) -> None:
        head, row = QHBoxLayout(), QHBoxLayout()
        head.addWidget(self.heading, 1)
        head.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        row.setSpacing(8)
        row.addWidget(self.back)
        row.addStretch(1)
        row.addWidget(self.show_me)
        row.addWidget(self.forward)
        facts = QHBoxLayout()
        facts.addWidget(self.place)
        facts.addStretch(1)
        facts.addWidget(self.state)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 12, 12)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.text)
        column.addLayout(facts)
        column.addLayout(row)

    def say(self, heading: str, text: str, place: str) -> None:
        """Show the words of a step, and let a screen reader announce them."""
        self.heading.setText(heading)
        self.text.setText(text)
        self.place.setText(place)
        self.setAccessibleName(text)
        self.setAccessibleDescription(f"{heading}. {place}")
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, f"{place}. {text}"))

    def show_state(self, state: str, *, can_act: bool, can_go_back: bool, can_go_on: bool, forward: str) -> None:
        """Show what has been done, and what can be: one button is the way on."""
        self.state.setText(state)
        self.show_me.setVisible(can_act)
        self.back.setEnabled(can_go_back)
        self.forward.setText(forward)
        self.forward.setEnabled(can_go_on)
        theme.mark(self.show_me, "primary", can_act)
        theme.mark(self.forward, "primary", not can_act)

    def sizes(self) -> list[QSize]:
        """Return the sizes that the words need in each of the widths."""
        for part in (self, *self.findChildren(QWidget)):
            part.ensurePolished()
        layout = self.layout()
        assert layout is not None
        for rows in (*layout.findChildren(QLayout), layout):
            rows.invalidate()  # a button may have another text
        least = layout.totalMinimumSize().width()
        widths = [max(width, least) for width in WIDTHS]
        return [QSize(width, layout.totalHeightForWidth(width)) for width in widths]

    def take_keyboard(self) -> None:
        """Take the keyboard to the button that is the way on."""
        button = self.show_me if not self.show_me.isHidden() else self.forward
        button.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the arrow keys of the buttons, which would move between them."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self._go(event.key()):
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go back and forward with the arrow keys, and close with Esc; other keys are not for what lies behind."""
        self._go(event.key())
        event.accept()

    def _go(self, key: int) -> bool:
        """Carry out a key. Return whether it is one of the tour."""
        if key == Qt.Key.Key_Left and self.back.isEnabled():
            self.back_requested.emit()
        elif key == Qt.Key.Key_Right and self.forward.isEnabled():
            self.next_requested.emit()
        elif key == Qt.Key.Key_Escape:
            self.close_requested.emit()
        return key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Escape)

    def mousePressEvent(self, event: object) -> None:
        """Keep clicks beside the buttons from what lies behind."""
