"""Pages of the Data tab that stand where its samples will be: a message, and the question whether to fetch data."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from netwright.app.messages import breakable, words_for_many
from netwright.designer import theme
from netwright.designer.language import listed, noop, tr, translation

MESSAGE_WIDTH = 480
REMEMBERED = noop(
    "The address is in the project, and nothing was sent there yet. Netwright remembers your answer for this project."
)


def _card_of(page: QWidget) -> QVBoxLayout:
    """Make a card in the middle of a page, because the colours of text are made for its background. Return its
    layout."""
    card = QFrame()
    theme.mark(card, "role", "card")
    inside = QVBoxLayout(card)
    inside.setContentsMargins(24, 20, 24, 20)
    outer = QVBoxLayout(page)
    outer.setContentsMargins(24, 24, 24, 24)
    outer.addStretch(2)
    outer.addWidget(card, 0, Qt.AlignmentFlag.AlignHCenter)
    outer.addStretch(3)
    return inside


def _fit(label: QLabel, text: str) -> None:
    """Show a text in a label as wide as it needs, up to a width that is read well. Short texts are centred."""
    label.setText(text)
    label.ensurePolished()
    needed = label.fontMetrics().horizontalAdvance(text) + 8
    width = min(MESSAGE_WIDTH, needed)
    side = Qt.AlignmentFlag.AlignHCenter if needed <= 2 * MESSAGE_WIDTH else Qt.AlignmentFlag.AlignLeft
    label.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
    label.setFixedSize(width, label.heightForWidth(width))


class MessagePage(QWidget):
    """A message, with a link below it."""

    def __init__(self, way_out: str) -> None:
        super().__init__()
        self.message = QLabel()
        self.message.setWordWrap(True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.way = way_out
        """The words of the link in English."""
        self.way_out = QPushButton(translation(way_out))
        theme.mark(self.way_out, "role", "link")
        inside = _card_of(self)
        inside.addWidget(self.message)
        inside.addWidget(self.way_out, 0, Qt.AlignmentFlag.AlignHCenter)

    def say(self, text: str, *, is_error: bool, way_out: str) -> None:
        """Show a message, and a link unless it has no words."""
        self.way = way_out
        self.way_out.setText(translation(way_out))
        self.way_out.setVisible(bool(way_out))
        theme.mark(self.message, "role", "error" if is_error else "muted")
        _fit(self.message, text)


class FetchPage(QWidget):
    """Says where the data is, and offers to fetch it."""

    fetch_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.title, self.text = QLabel(), QLabel()
        for label, role in ((self.title, "title"), (self.text, "muted")):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            theme.mark(label, "role", role)
        self.button = QPushButton(tr("Fetch"))
        theme.mark(self.button, "primary", True)
        self.button.clicked.connect(self.fetch_wanted)
        inside = _card_of(self)
        inside.setSpacing(12)
        for widget in (self.title, self.text, self.button):
            inside.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)

    def show_hosts(self, hosts: Mapping[str, int]) -> None:
        """Show the hosts that are not allowed yet, with the number of files where it is large."""
        _fit(self.title, breakable(tr("The data is at {hosts}", hosts=listed(list(hosts)))))
        _fit(self.text, breakable(f"{words_for_many(hosts)} {translation(REMEMBERED)}".strip()))
        for label in (self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
