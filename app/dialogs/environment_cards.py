"""The six execution environments as cards, and the devices that the selected one would use, in words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from netwright.designer import markup, theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import Markup
from netwright.engine.core.errors import UserError
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.network.network import Network
from netwright.engine.placement.batch_arithmetic import placement_text, rate_factor
from netwright.engine.placement.choose import Placement, refusal, resolve
from netwright.engine.placement.cluster_part import with_cluster
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project.check_strategies import pieces_of_batch
from netwright.engine.project.environment import TARGETS, EnvironmentOptions
from netwright.engine.project.project import Project
from netwright.engine.project.training import batch_size

COLUMNS = 3
_PADDING = 14


@dataclass(frozen=True)
class CardText:
    """The text of a card; `is_refused` if the environment cannot be chosen."""

    text: str
    is_refused: bool = False


def card_texts(
    options: EnvironmentOptions, inventory: DeviceInventory | None, mini_batch_size: int
) -> dict[str, CardText]:
    """Return a text for each environment. Without an inventory nothing but the cluster is refused."""
    if inventory is None:
        looking = CardText(tr("detecting devices…"))
        notes = EnvironmentOptions.fields["target"].notes  # type: ignore[attr-defined]  # it is a Choice
        texts = {target: CardText(translation(str(notes[target]))) for target in TARGETS}
        why = _refusal("parallel", DeviceInventory(1), options)
        cluster = CardText(why, True) if why else looking
        return {**texts, "auto": looking, "gpu": looking, "multi-gpu": looking, "parallel": cluster}
    texts = {}
    for target in TARGETS:
        why = _refusal(target, inventory, options)
        if why:
            texts[target] = CardText(why, True)
            continue
        try:
            environment = options if options.target == target else EnvironmentOptions(target=target)
            texts[target] = CardText(_in_short(resolve(environment, inventory, mini_batch_size), inventory))
        except UserError as refused:
            texts[target] = CardText(message_text(refused))
    return texts


def _refusal(target: str, inventory: DeviceInventory, options: EnvironmentOptions) -> str:
    """Return why an environment cannot be chosen; empty if it can be."""
    if target != "parallel":
        return message_text(refusal(target, inventory) or "")
    try:
        return message_text(refusal(target, with_cluster(inventory, options)) or "")
    except UserError as refused:
        return message_text(refused)


def _in_short(placement: Placement, inventory: DeviceInventory) -> str:
    """Return a few words about the devices that would be used."""
    if placement.target == "auto":
        return tr("picks {resolved} here", resolved=placement.resolved)
    count = len(placement.workers)
    match placement.resolved:
        case "cpu":
            threads = placement.workers[0].threads
            return tr("one process, %n thread(s)", "", threads)
        case "gpu":
            models = {device.name: device.model for device in inventory.devices}
            return models[placement.workers[0].device]
        case _:
            return tr("{count:,} workers, {backend}", count=count, backend=placement.backend)


class EnvironmentCard(QAbstractButton):
    """One environment. One that cannot be used can be focused and read, but not chosen."""

    def __init__(self, target: str) -> None:
        super().__init__()
        self.target = target
        self.text_shown = CardText("")
        self.setText(target)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setMinimumWidth(150)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._has_keyboard = False

    def show_text(self, text: CardText) -> None:
        """Show another text."""
        self.text_shown = text
        self.setToolTip(text.text)
        words = tr("not available: {reason}", reason=text.text) if text.is_refused else text.text
        self.setAccessibleName(f"{self.target}, {words}")
        self.updateGeometry()
        self.update()

    def nextCheckState(self) -> None:
        """Do nothing: the group of cards decides which one is chosen."""

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus only where it came by keyboard."""
        pointed = (Qt.FocusReason.MouseFocusReason, Qt.FocusReason.OtherFocusReason)
        if event.reason() != Qt.FocusReason.ActiveWindowFocusReason:
            # A dialog that opens hands out the focus as if by Tab, before it is active.
            self._has_keyboard = event.reason() not in pointed and self.isActiveWindow()
        super().focusInEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave arrows and Enter to the group of cards."""
        if event.key() == Qt.Key.Key_Space:
            super().keyPressEvent(event)
        else:
            event.ignore()

    def _title_font(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        return font

    def _text_font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(theme.pixels(12))
        return font

    def hasHeightForWidth(self) -> bool:
        """Return true: the text may take several lines."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the title, and of the text in as many lines as it takes."""
        room = QRect(0, 0, width - 2 * _PADDING, 1000)
        text = QFontMetrics(self._text_font()).boundingRect(room, Qt.TextFlag.TextWordWrap, self.text_shown.text)
        return max(60, 11 + QFontMetrics(self._title_font()).height() + 3 + text.height() + 11)

    def sizeHint(self) -> QSize:
        """Return the size of the design."""
        return QSize(228, self.heightForWidth(228))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the card: with an accent border if it is chosen, with muted text if it cannot be."""
        palette = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_refused = self.text_shown.is_refused
        ground = palette.panel
        if self.underMouse() and not is_refused and not self.isChecked():
            ground = palette.mixed(palette.raised, palette.panel, 0.6)
        width = 2.0 if self.isChecked() else 1.0
        border = (
            palette.error if self.isChecked() and is_refused else palette.accent if self.isChecked() else palette.line
        )
        pen = QPen(
            border, width, Qt.PenStyle.DashLine if is_refused and not self.isChecked() else Qt.PenStyle.SolidLine
        )
        painter.setPen(pen)
        painter.setBrush(ground)
        box = QRectF(self.rect()).adjusted(width / 2, width / 2, -width / 2, -width / 2)
        painter.drawRoundedRect(box, 10 - width / 2, 10 - width / 2)
        if self.hasFocus() and self._has_keyboard:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(palette.accent, 1.0))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(3.5, 3.5, -3.5, -3.5), 7, 7)
        inner = self.rect().adjusted(_PADDING, 11, -_PADDING, -9)
        painter.setFont(self._title_font())
        painter.setPen(palette.muted if is_refused else palette.text)
        painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, self.target)
        below = inner.adjusted(0, painter.fontMetrics().height() + 3, 0, 0)
        painter.setFont(self._text_font())
        painter.setPen(palette.muted)
        painter.drawText(below, Qt.TextFlag.TextWordWrap, self.text_shown.text)


class EnvironmentCards(QWidget):
    """Three by two cards, one of which is chosen; the arrow keys move between them."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cards: dict[str, EnvironmentCard] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(10)
        for index, target in enumerate(TARGETS):
            card = EnvironmentCard(target)
            card.clicked.connect(lambda _=False, target=target: self.choose(target))
            self.cards[target] = card
            grid.addWidget(card, index // COLUMNS, index % COLUMNS)
            grid.setColumnStretch(index % COLUMNS, 1)

    def show_state(self, target: str, texts: Mapping[str, CardText]) -> None:
        """Show which one is chosen, and the text of each."""
        for name, card in self.cards.items():
            card.show_text(texts[name])
            card.setChecked(name == target)

    def choose(self, target: str) -> None:
        """Choose an environment, unless it cannot be used."""
        if not self.cards[target].text_shown.is_refused:
            self.chosen.emit(target)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move to the neighbour with the arrows, also to a refused card; choose with Space and Enter."""
        names = list(self.cards)
        at = next((i for i, name in enumerate(names) if self.cards[name].hasFocus()), -1)
        keys = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -COLUMNS, Qt.Key.Key_Down: COLUMNS}
        step = keys.get(Qt.Key(event.key()))
        if at >= 0 and step is not None and 0 <= at + step < len(names):
            self.cards[names[at + step]].setFocus(Qt.FocusReason.TabFocusReason)
        elif at >= 0 and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.choose(names[at])
        else:
            super().keyPressEvent(event)


_LOOKING = noop("Detecting the devices of this machine…")


class PlacementText(QWidget):
    """Two paragraphs under the cards. `refusal` says why the environment cannot be used, if so; `rate_scale` is the
    factor of the learn rates; `resolved` is what automatic options come to."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.refusal = ""
        self.rate_scale = 1.0
        self.resolved: dict[str, str] = {}
        self._analysed: tuple[Network, Analysis] | None = None
        self.sentence, self.numbers = QLabel(self), QLabel(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for label in (self.sentence, self.numbers):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(label)
        theme.mark(self.numbers, "role", "muted")

    def show_project(
        self, project: Project, inventory: DeviceInventory | None, samples: int | None, refusal: str = ""
    ) -> None:
        """Describe what a project with so many training samples would use, on a machine that may not be known yet; or
        report `refusal`, what is wrong with options of the environment that are hidden."""
        self.refusal, self.rate_scale, self.resolved = refusal, 1.0, {}
        numbers = ""
        if refusal:
            self._say(markup.filled("{}", message_text(refusal)), "error")
        elif inventory is None:
            self._say(markup.filled("{}", translation(_LOOKING)))
        else:
            training = project.training
            batch = batch_size(training, samples)
            try:
                if project.environment.target == "parallel":
                    inventory = with_cluster(inventory, project.environment)
                placement = resolve(project.environment, inventory, batch, training.gradient_accumulation)
                self._say(markup.filled(tr("Will use {}"), self._strong(placement.sentence)))
                numbers = placement_text(placement, project, samples, analysis=self._analysis(project.network))
                count, pieces = len(placement.workers), training.gradient_accumulation
                self.resolved = {
                    "num_workers": f"{count:,}",
                    "threads": f"{placement.workers[0].threads:,}",
                    "pipeline_pieces": f"{pieces_of_batch(project.environment, pieces, count):,}",
                }
                self.rate_scale = rate_factor(project.environment, len(placement.workers))
            except UserError as refused:
                self.refusal = str(refused)
                self._say(markup.filled("{}", message_text(self.refusal)), "error")
        self.numbers.setText(message_text(numbers))
        self.numbers.setVisible(bool(numbers))

    def _say(self, text: Markup, role: str = "muted") -> None:
        theme.mark(self.sentence, "role", role)
        markup.show(self.sentence, text)

    def _strong(self, sentence: str) -> Markup:
        """Return the sentence as markup, with its first part in the colour of text."""
        text = re.sub(r"^One process", "one process", message_text(sentence))
        main = re.split(r"[;；。]|\.(?:\s|$)", text, maxsplit=1)[0]
        colour = theme.current().text.name()
        return markup.filled('<b style="color: {}">{}</b>{}', colour, main, text[len(main) :])

    def _analysis(self, network: Network) -> Analysis:
        if self._analysed is None or self._analysed[0] is not network:
            self._analysed = (network, analyse(network))
        return self._analysed[1]
