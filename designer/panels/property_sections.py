"""Sections of the properties panel beside the form: ports of a block, help of a layer type, pipeline stage, health."""

from collections.abc import Mapping, Sequence
from math import log10

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from netwright.designer import markup, theme
from netwright.designer.editor import Editor
from netwright.designer.forms.fold_heading import FoldHeading
from netwright.designer.forms.form import LABEL_WIDTH, Form
from netwright.designer.forms.typed_line import TypedLine
from netwright.designer.language import layer_label, noop, tr, translation
from netwright.designer.panels.parts import section
from netwright.designer.scene import health_badges
from netwright.designer.scene.health_badges import VANISHING, HealthBadge
from netwright.designer.scene.pipeline_view import PipelineStages
from netwright.engine.core.fields import Int
from netwright.engine.core.records import Record
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.names import torch_names
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.network import NAME_LIMIT, Layer, name_refusal
from netwright.engine.project.layer_reference import paragraphs

_HINT = noop("To open the block, double-click it or press Alt+Down.")
_NO_PORTS = noop("It has no ports. Open it and add block inputs and outputs.")


class PortName(TypedLine):
    """The name of one port: the layer inside that stands for it."""

    taken = Signal(str, str)
    """The id of the layer inside, and the name it shall have."""
    refusal = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setMaxLength(NAME_LIMIT)
        self.port = ""
        self._name = ""
        self._others: frozenset[str] = frozenset()
        self.textEdited.connect(self._judge)
        self.editingFinished.connect(self._take)

    def show_port(self, layer: Layer, names: frozenset[str], title: str) -> None:
        """Show a port; text that is being typed stays."""
        if (self.port, self._name) != (layer.id, layer.name):
            self.port, self._name = layer.id, layer.name
            self.setText(layer.name)
            theme.mark(self, "invalid", "false")
        self._others = names - {layer.name}
        self.setAccessibleName(title)

    def _refusal(self) -> str | None:
        return name_refusal(self.text(), self._others)

    def _judge(self) -> None:
        why = self._refusal()
        theme.mark(self, "invalid", "true" if why else "false")
        self.refusal.emit(why or "")

    def _take(self) -> None:
        if self._refusal() is not None:
            self._back()
        elif self.text() != self._name:
            self.taken.emit(self.port, self.text())

    def _back(self) -> None:
        self.setText(self._name)
        self._judge()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape brings the old name back."""
        if event.key() == Qt.Key.Key_Escape and self.text() != self._name:
            self._back()
        else:
            super().keyPressEvent(event)


class BlockPorts(QWidget):
    """Shown where one block is selected."""

    def __init__(self, editor: Editor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._id = ""
        self.open = QPushButton(tr("Open block"))
        self.open.clicked.connect(self._open)
        self.hint = QLabel(translation(_HINT))
        self.why = QLabel()
        for label in (self.hint, self.why):
            label.setWordWrap(True)
            theme.mark(label, "role", "help")
        self.why.hide()
        self._grid = QGridLayout()
        self._grid.setVerticalSpacing(6)
        self._grid.setHorizontalSpacing(8)
        self._grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        self._grid.setColumnStretch(1, 1)
        self.rows: list[tuple[QLabel, PortName]] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.open)
        column.addWidget(self.hint)
        column.addLayout(self._grid)
        column.addWidget(self.why)

    def show_block(self, layer: Layer) -> None:
        """Show the ports of a block, or nothing of another layer."""
        self.setVisible(isinstance(layer.type, Block))
        if not isinstance(layer.type, Block):
            return
        self._id = layer.id
        inner = layer.type.network
        kinds = ((BlockInput, tr("Input")), (BlockOutput, tr("Output")))
        ports = [(inner.layers[id], title) for kind, title in kinds for id in layer.type.ids(kind)]
        while len(self.rows) < len(ports):
            self._add_row()
        names = frozenset(inner.by_name)
        for index, (label, line) in enumerate(self.rows):
            is_used = index < len(ports)
            label.setVisible(is_used)
            line.setVisible(is_used)
            if is_used:
                port, title = ports[index]
                is_input = isinstance(port.type, BlockInput)
                text = tr("Input {port} of the block") if is_input else tr("Output {port} of the block")
                label.setText(title)
                line.show_port(port, names, text.format(port=port.name))
        self._say("" if ports else translation(_NO_PORTS))

    def _add_row(self) -> None:
        label, line = QLabel(), PortName()
        theme.mark(label, "role", "muted")
        line.refusal.connect(self._say)
        line.taken.connect(self._rename)
        self._grid.addWidget(label, len(self.rows), 0)
        self._grid.addWidget(line, len(self.rows), 1)
        self.rows.append((label, line))

    def _say(self, text: str) -> None:
        self.why.setText(text)
        self.why.setVisible(bool(text))

    def _rename(self, port: str, name: str) -> None:
        self._editor.rename_port(self._id, port, name)

    def _open(self) -> None:
        self._editor.open_block(self._id)


class HelpHeading(FoldHeading):
    """The heading that unfolds the help of a layer type."""

    def __init__(self) -> None:
        self._of = ""
        super().__init__(tr("Help"))

    def set_type(self, type: type[LayerType]) -> None:
        """Say of which type the help is."""
        self._of = layer_label(type.label)
        self.setAccessibleName(
            (tr("Help for {type}, unfolded") if self.isChecked() else tr("Help for {type}, folded")).format(
                type=self._of
            )
        )
        self.setToolTip(
            (
                tr("Hide what {type} does: formula, source, other names")
                if self.isChecked()
                else tr("Show what {type} does: formula, source, other names")
            ).format(type=self._of)
        )
        self.update()


class LayerHelp(QWidget):
    """A heading that unfolds the help. It stays open from layer to layer, and is written only while it is open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._type: type[LayerType] | None = None
        self.heading = HelpHeading()
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setAccessibleName(tr("Help"))
        self.text.hide()
        theme.mark(self.text, "role", "help")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.heading)
        column.addWidget(self.text)
        self.heading.toggled.connect(self._on_toggled)
        theme.changed.connect(self._write)

    def show_type(self, type: type[LayerType]) -> None:
        """Tell of another layer type."""
        if type is not self._type:
            self._type = type
            self.heading.set_type(type)
            self._write()

    def _on_toggled(self, is_open: bool) -> None:
        self._write()
        self.text.setVisible(is_open)

    def _write(self) -> None:
        if self.heading.isChecked() and self._type is not None:
            markup.show(self.text, help_text(self._type))


def help_text(type: type[LayerType]) -> markup.Markup:
    """Return the help of a layer type as rich text. Formulas keep their lines."""
    parts = paragraphs(type.help()) or [(type.summary(), False)]
    lines = [_formula(words) if is_formula else _prose(markup.italic_code(words)) for words, is_formula in parts]
    names = [f"MATLAB: {type.matlab}"] if type.matlab else []
    torch = [name.removeprefix("torch.") for name in torch_names(type)]
    names += [f"torch: {', '.join(torch)}"] if torch else []
    onnx = [tr("No ONNX form: {reason}", reason=type.onnx_refusal)] if type.onnx_refusal else []
    return markup.joined([*lines, *map(_prose, (*names, *onnx))])


def _prose(words: str) -> markup.Markup:
    return markup.filled('<p style="margin: 0 0 6px 0">{}</p>', words)


def _formula(words: str) -> markup.Markup:
    style = "margin: 0 0 6px 8px; font-family: monospace; font-size: 11px; white-space: pre-wrap"
    return markup.filled('<p style="{}; color: {}">{}</p>', style, theme.current().text.name(), words)


class _Staged(Record):
    """The stage of layers, as a form has it."""

    stage = Int(
        1,
        low=1,
        high=9999,
        label=noop("Stage"),
        help=noop(
            "The worker of the pipeline that computes the selected layers. Layers that a "
            "connection would lead backwards from or to go along; View > Stages shows all of "
            "them"
        ),
    )


class StageRow(QWidget):
    """A part of the properties of its own: hidden unless a run of the project has stages."""

    def __init__(self, editor: Editor, staging: PipelineStages) -> None:
        super().__init__()
        self._editor, self._staging = editor, staging
        self.form = Form(_Staged(), has_headings=False)
        self.form.rows["stage"].has_default = False
        self.form.changed.connect(self._on_edited)
        self.words = QLabel()
        self.words.setWordWrap(True)
        theme.mark(self.words, "role", "help")
        part, column = section(tr("Pipeline"), 6)
        column.addWidget(self.form)
        column.addWidget(self.words)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(part)
        editor.selection_changed.connect(lambda _: self.refresh())
        staging.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the stage that the selected layers are in."""
        staging = self._staging
        state = staging.current if staging.is_used and self._editor.selection else None
        self.setVisible(state is not None)
        if state is None:
            return
        stage = staging.selected
        can_edit = state.stages is not None and not self._editor.scope
        self.form.setVisible(can_edit)
        if can_edit:
            self.form.set_record(_Staged(stage=1 if stage is None else stage + 1), keep_typing=False)
            self.form.set_several({"stage"} if stage is None else set())
        self.words.setText(self._said(stage))

    def _said(self, stage: int | None) -> str:
        state = self._staging.current
        if state.stages is None:
            return state.refusal
        if self._editor.scope:
            block = self._editor.project.network.layers[self._editor.scope[0]].name
            return tr("{block} is in stage {stage} as a whole.", block=block, stage=(stage or 0) + 1)
        how = tr("balanced by the engine") if state.is_automatic else tr("set by hand")
        return tr("{count:,} stages, {how}.", count=state.stages.count, how=how)

    def _on_edited(self, field: str) -> None:
        self._staging.put(getattr(self.form.record, field) - 1)


class GradientCurve(QWidget):
    """The gradient of a layer over the iterations, as a share of the largest of all layers, on a logarithmic scale.
    Healthy shares are shaded."""

    LEFT, BOTTOM, TOP = 64, 18, 6
    DECADES = -6

    def __init__(self) -> None:
        super().__init__()
        self.points: Sequence[tuple[int, float]] = ()
        self.marked = 0
        """The iteration that is looked at."""
        self.setFixedHeight(104)

    def show_points(self, points: Sequence[tuple[int, float]], marked: int) -> None:
        """Show shares from 0 to 1 by iteration, and mark the one of an iteration, else the last."""
        self.points, self.marked = points, marked
        self.update()

    def _height_of(self, share: float) -> float:
        power = max(float(self.DECADES), min(0.0, log10(share))) if share > 0 else float(self.DECADES)
        return self.TOP + (self.height() - self.BOTTOM - self.TOP) * power / self.DECADES

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the scale, the healthy band, the curve and the point of the iteration that is looked at."""
        palette, painter = theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = theme.figures(self.font())
        font.setPixelSize(theme.pixels(11))
        painter.setFont(font)
        width, metrics = self.width() - self.LEFT - 6, painter.fontMetrics()
        low = self._height_of(VANISHING)
        painter.fillRect(QRectF(self.LEFT, self.TOP, width, low - self.TOP), health_badges.ground("good"))
        for share in (1.0, 1e-2, 1e-4, 1e-6):
            y, text = self._height_of(share), f"{100 * share:g} %"
            painter.setPen(palette.line)
            painter.drawLine(QPointF(self.LEFT, y), QPointF(self.LEFT + width, y))
            painter.setPen(palette.muted)
            painter.drawText(QPointF(self.LEFT - 8 - metrics.horizontalAdvance(text), y + 4), text)
        first, last = self.points[0][0], self.points[-1][0]
        step = width / max(1, last - first)
        curve = [QPointF(self.LEFT + (at - first) * step, self._height_of(share)) for at, share in self.points]
        ends = (
            (f"{first:,}", Qt.AlignmentFlag.AlignLeft),
            (tr("iteration {last:,}", last=last), Qt.AlignmentFlag.AlignRight),
        )
        for text, side in ends:
            painter.drawText(QRectF(self.LEFT, self.height() - 15, width, 15), side, text)
        at = next((number for number, (iteration, _) in enumerate(self.points) if iteration == self.marked), -1)
        if at not in (-1, len(curve) - 1):
            painter.setPen(palette.text)
            painter.drawLine(QPointF(curve[at].x(), self.TOP), QPointF(curve[at].x(), self.height() - self.BOTTOM))
        painter.setPen(QPen(health_badges.colour("low"), 1.6))
        painter.drawPolyline(curve)
        painter.setBrush(palette.panel)
        painter.drawEllipse(curve[at], 3.5, 3.5)
        painter.end()


class HealthPart(QWidget):
    """A part of the properties of its own: the health of the selected layer in the run that is shown."""

    WORDS: Mapping[str, str] = {"good": noop("✓ Healthy"), "warning": noop("▲ To look at"), "error": noop("◆ Broken")}

    def __init__(self) -> None:
        super().__init__()
        part, column = section(tr("Health"), 6)
        self.state, self.words, self.curve = QLabel(), QLabel(), GradientCurve()
        self.words.setWordWrap(True)
        theme.mark(self.words, "role", "help")
        for widget in (self.state, self.words, self.curve):
            column.addWidget(widget)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(part)
        self.hide()

    def show_badge(self, badge: HealthBadge | None, points: Sequence[tuple[int, float]], iteration: int) -> None:
        """Show the health of a layer at an iteration, and its gradient by iteration; without a badge nothing."""
        self.setVisible(badge is not None)
        if badge is not None:
            theme.mark(self.state, "role", badge.state)
            self.state.setText(translation(self.WORDS[badge.state]))
            self.words.setText(badge.words)
            self.curve.setVisible(len(points) > 1)
            if len(points) > 1:
                self.curve.show_points(points, iteration)
