"""A card with the network that the data proposes, and the way to it; or with the network that the project has."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from netwright.designer import markup, theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import LAYER, in_sentence, layer_label, noop, tr, translation
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.network.network import Network
from netwright.engine.network.problems import Fix
from netwright.engine.project.project import Project

ROW, SQUARE = 27, 14
MOST_STAGES = 9
FOLLOWERS = frozenset({"Normalisation", "Activation", "Pooling"})
"""Families whose layers share the row of the layer before them."""
SHORT = {"Normalisation": noop("norm"), "Pooling": noop("pool")}
"""Words for layers that follow another one in its row."""
ROWS_OF_THEIR_OWN = frozenset({"global_average_pool", "global_max_pool", "inverse_norm"})
MAKE = noop("Make a network")
KINDS = frozenset(
    (
        *(noop("A small residual network"), noop("A convolutional network"), noop("Fully connected layers")),
        *(noop("Averaged words and convolutions over them"), noop("An LSTM"), noop("A bidirectional LSTM")),
        *(noop("A forecast of the change from the last value"), noop("A small U-Net"), noop("Convolutions")),
    )
)
"""Kinds of networks that the engine proposes."""


@dataclass(frozen=True)
class Stage:
    """A layer and those that follow it in the same row: their names in words, the sizes that leave them, the family."""

    text: str
    sizes: str
    family: str


def stages(network: Network, analysis: Analysis) -> list[Stage]:
    """Return the rows of a network, from its inputs to its outputs."""
    rows: list[list[str]] = []
    for id in network.order:
        type = network.layers[id].type
        follows = type.family in FOLLOWERS and type.key not in ROWS_OF_THEIR_OWN
        if follows and rows and network.incoming[id] and _feeds(network, rows[-1][-1], id):
            rows[-1].append(id)
        else:
            rows.append([id])
    return [_stage(network, analysis, ids) for ids in rows]


def _feeds(network: Network, before: str, id: str) -> bool:
    """Return whether a layer takes all it reads from the layer before it."""
    return all(port.layer == before for port in network.incoming[id].values())


def _stage(network: Network, analysis: Analysis, ids: Sequence[str]) -> Stage:
    first, last = network.layers[ids[0]].type, ids[-1]
    shapes = analysis.shapes.get(last)
    sizes = " × ".join(str(axis) for axis in shapes.outputs[0].sizes) if shapes and shapes.outputs else ""
    words = [_long(first.label), *(_short(network, id) for id in ids[1:])]
    return Stage(tr(", ").join(words), sizes, first.family)


def _long(label: str) -> str:
    """Return the label of the first layer of a row: in English without its dimensions, which the sizes show."""
    text = layer_label(label)
    if text != label:
        return text
    plain = re.sub(r"^\d-D ", "", label.split(" (")[0])
    return plain[:1].upper() + plain[1:]


def _short(network: Network, id: str) -> str:
    type = network.layers[id].type
    if type.family in SHORT:
        return translation(SHORT[type.family])
    return type.label if type.label.isupper() or "LU" in type.label else in_sentence(type.label, LAYER)


class StageRows(QWidget):
    """A row per stage: a square in the colour of its family on a line, its words, its sizes."""

    def __init__(self, rows: Sequence[Stage]) -> None:
        super().__init__()
        self.rows = list(rows)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("; ".join(f"{row.text}: {row.sizes}" for row in self._shown()))
        theme.changed.connect(self.update)

    def _shown(self) -> list[Stage]:
        """The rows, without some of the middle where there are many."""
        if len(self.rows) <= MOST_STAGES:
            return self.rows
        head, tail = self.rows[: MOST_STAGES - 4], self.rows[-3:]
        rest = len(self.rows) - len(head) - len(tail)
        return [*head, Stage(tr("%n more row(s)", "", rest), "", ""), *tail]

    def sizeHint(self) -> QSize:
        """Return the height of all rows."""
        return QSize(240, ROW * len(self._shown()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the line, the squares and the texts."""
        painter, palette = QPainter(self), theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rows = self._shown()
        painter.setPen(QPen(palette.line, 1.0))
        painter.drawLine(SQUARE // 2, ROW // 2, SQUARE // 2, ROW * len(rows) - ROW // 2)
        figures = theme.figures(self.font())
        for number, row in enumerate(rows):
            area = QRectF(0, number * ROW, self.width(), ROW)
            if row.family:
                square = QRectF(0, area.center().y() - SQUARE / 2, SQUARE, SQUARE)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(palette.family(row.family))
                painter.drawRoundedRect(square, 3, 3)
            painter.setFont(figures)
            room = painter.fontMetrics().horizontalAdvance(row.sizes)
            painter.setPen(palette.muted)
            right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(area, right, row.sizes)
            painter.setFont(self.font())
            text = area.adjusted(SQUARE + 10, 0, -room - 8, 0)
            words = markup.elided(painter.fontMetrics(), row.text, Qt.TextElideMode.ElideRight, int(text.width()))
            painter.setPen(palette.text if row.family else palette.muted)
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, words)
        painter.end()


class ProposalCard(QFrame):
    """Shows the proposed network with its exit, or that the project has one."""

    make_wanted = Signal()
    """The proposed network is to be made."""
    design_wanted = Signal()
    """The network is to be seen, or to be drawn by hand."""

    def __init__(self) -> None:
        super().__init__()
        theme.mark(self, "role", "card")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(10)
        self.title, self.state = QLabel(), QLabel()
        theme.mark(self.title, "role", "strong")
        theme.mark(self.state, "role", "help")
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(self.state)
        column.addLayout(head)
        self.figures = QLabel()
        self.figures.setWordWrap(True)
        theme.mark(self.figures, "role", "muted")
        column.addWidget(self.figures)
        self.make = QPushButton(translation(MAKE))
        self.make.setIcon(theme.icon("network", "on_primary"))
        theme.mark(self.make, "primary", True)
        self.make.clicked.connect(self.make_wanted)
        self.other = QPushButton()
        theme.mark(self.other, "role", "link")
        self.other.clicked.connect(self.design_wanted)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (self.make, self.other):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column.addLayout(buttons)  # above the stages: of a deep network these reach below the window
        self._rows = QVBoxLayout()
        column.addLayout(self._rows)
        self._shown: object = None

    def show_project(self, project: Project, starter: Fix | None, analysis: Analysis) -> None:
        """Show the network of the project; of an empty one the proposed network, where there is one."""
        has_layers = bool(project.network.layers)
        shown = project.network if has_layers else starter
        if shown is self._shown and shown is not None:
            return
        self._shown = shown
        network, label = project.network, tr("Small network")
        if not has_layers and starter is not None:
            network = starter.edit(project).network
            analysis = analyse(network)
            kind = starter.detail.split(" for ")[0] or label
            label = translation(kind) if kind in KINDS else kind
        self.title.setText(tr("Proposed network") if not has_layers else tr("Network"))
        self.state.setText("" if has_layers else tr("none yet"))
        self._show_rows(stages(network, analysis))
        layers, parameters = len(network.layers), analysis.parameters
        count = tr(", ").join((tr("%n layer(s)", "", layers), tr("%n parameter(s)", "", parameters)))
        none = tr("No network is proposed for data of this kind. Draw one, or begin with a template.")
        text = count if has_layers else f"{label} · {count}" if network.layers else none
        self.figures.setText(markup.visible(text))
        self.make.setVisible(not has_layers and starter is not None)
        self.make.setToolTip("" if starter is None else message_text(starter.detail))
        self.other.setText(tr("Show the network") if has_layers else tr("Start empty"))

    def _show_rows(self, rows: Sequence[Stage]) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        if rows:
            self._rows.addWidget(StageRows(rows))
