"""The properties panel: fields and analysis of the selected layers, or a summary of the whole network."""

from collections.abc import Iterator

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from netwright.designer import theme
from netwright.designer.editor import Editor
from netwright.designer.engine_messages import message_text
from netwright.designer.forms.form import LABEL_WIDTH, Form
from netwright.designer.forms.line_editors import LineEditor
from netwright.designer.forms.row import Row
from netwright.designer.language import LAYER, layer_label, noop, tr, translation, with_english
from netwright.designer.panels.parts import UNKNOWN, Header, PropertyTable, section, separator
from netwright.designer.panels.problems_panel import unbroken
from netwright.designer.panels.property_sections import BlockPorts, LayerHelp
from netwright.engine.core.fields import Text
from netwright.engine.core.records import Record
from netwright.engine.core.text import format_bytes
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.weighted import GROUP as WEIGHTS
from netwright.engine.network import edits
from netwright.engine.network.analysis import LayerShapes, frozen_parameters, is_in_frozen
from netwright.engine.network.block import BlockInput, BlockOutput
from netwright.engine.network.blocks import names_of, network_in
from netwright.engine.network.layer_table import has_blocks, num_layers, short_count
from netwright.engine.network.memory import activation_bytes, all_known
from netwright.engine.network.network import Layer, Network, name_refusal
from netwright.engine.project.check import memory_of
from netwright.engine.project.sweeps import layer_path, varied_paths
from netwright.engine.project.transferred_layers import frozen_layers, with_freezing

FRESH = noop("A change of its sizes makes it start from random numbers.")
"""What is said at the fields of a layer that keeps its weights."""


class _Named(Record):
    """The name of a layer, as a form has it."""

    name = Text("", label=noop("Name"), help=noop("Letters, digits and _; unique in the network"))


class Properties(QScrollArea):
    """Shows and edits the selection. One form a layer type is made when first needed, and kept."""

    sweep_requested = Signal(str)
    """The path of a field that is to vary in an experiment, or that varies and whose values are to be seen."""
    sweep_ended = Signal(str)
    """The path of a field that is to vary no more."""

    def __init__(self, editor: Editor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._forms: dict[type[LayerType], Form] = {}
        self._form: Form | None = None
        self._has_weights_folded = True
        self._layers: tuple[Layer, ...] = ()
        self._ids: tuple[str, ...] = ()
        self._visit = 0
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Properties"))
        self.header = Header()
        self.facts = PropertyTable()
        self.hint = QLabel()
        self.hint.setWordWrap(True)
        theme.mark(self.hint, "role", "help")
        self._make_name()
        self._lay_out()
        editor.selection_changed.connect(self._on_selection_changed)
        editor.analysis_changed.connect(self._on_changed)
        editor.project_changed.connect(self._show_sweeps)
        self._on_selection_changed()

    def _make_name(self) -> None:
        self._name_form = Form(_Named(), has_headings=False)
        self._name_form.changed.connect(self._on_renamed)
        self.name_row: Row = self._name_form.rows["name"]
        self.name_row.has_default = False
        assert isinstance(self.name_row.widget, LineEditor)
        self.name_edit: LineEditor = self.name_row.widget

    def _lay_out(self) -> None:
        content = QWidget()
        theme.mark(content, "role", "panel")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        self.locked = QLabel()
        self.locked.setWordWrap(True)
        self.locked.setContentsMargins(16, 0, 16, 12)
        theme.mark(self.locked, "role", "help")
        column.addWidget(self.locked)
        self._layer_part, layer_column = section(tr("Layer"), 6)
        layer_column.addWidget(self._name_form)
        self._form_place = QHBoxLayout()
        layer_column.addLayout(self._form_place)
        self.ports = BlockPorts(self._editor)
        layer_column.addWidget(self.ports)
        self.help = LayerHelp()
        layer_column.addWidget(self.help)
        column.addWidget(self._layer_part)
        self._more = QVBoxLayout()
        column.addLayout(self._more)
        facts_part, facts_column = section(tr("Analysis"), 8)
        facts_column.addWidget(self.facts)
        facts_column.addWidget(self.hint)
        column.addWidget(facts_part)
        column.addWidget(separator())
        column.addStretch(1)
        self.setWidget(content)

    @property
    def form(self) -> Form | None:
        """The form of the selected layers' fields, where they are of one type."""
        return self._form

    def add_part(self, part: QWidget, *, is_first: bool = False) -> None:
        """Put a further part between the fields and the analysis, before the others or below them."""
        self._more.insertWidget(0 if is_first else self._more.count(), part)

    def focus_first(self) -> None:
        """Put the keyboard into the first field; where the layers have none, into the name."""
        rows = [*(self._form.rows.values() if self._form else ()), self.name_row]
        for row in rows:
            if row.widget.isVisible() and row.widget.isEnabled():
                row.widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
                self.ensureWidgetVisible(row.widget)
                return

    # What is shown

    def _on_selection_changed(self, _ids: object = None) -> None:
        ids = tuple(id for id in self._editor.network.layers if id in self._editor.selection)
        self._visit += 1
        self._show(ids, keep_typing=False)

    def _on_changed(self, _result: object = None) -> None:
        # The selection is told after the analysis: layers that were just removed may still be shown.
        ids = tuple(id for id in self._ids if id in self._editor.network.layers)
        self._show(ids, keep_typing=ids == self._ids)

    def _show(self, ids: tuple[str, ...], *, keep_typing: bool) -> None:
        self._ids = ids
        self._layers = tuple(self._editor.network.layers[id] for id in ids)
        self.setUpdatesEnabled(False)
        try:
            self._show_form(keep_typing)
            match self._layers:
                case ():
                    self._show_network()
                case (layer,):
                    self._show_layer(layer, keep_typing)
                case _:
                    self._show_several()
        finally:
            self.setUpdatesEnabled(True)

    def _show_form(self, keep_typing: bool) -> None:
        types = {type(layer.type) for layer in self._layers}
        form = self._form_of(self._layers[0].type) if len(types) == 1 else None
        if form is not self._form:
            if self._form is not None:
                self._form.hide()
            self._form = form
        self._layer_part.setVisible(bool(form) or len(self._layers) == 1)
        self.help.setVisible(form is not None and bool(self._layers[0].type.key))
        if form is None:
            return
        self.help.show_type(type(self._layers[0].type))
        values = [layer.type for layer in self._layers]
        form.set_record(values[0], keep_typing=keep_typing)
        form.set_several({name for name in form.rows if len({getattr(value, name) for value in values}) > 1})
        ids = set(self._ids)
        problems = [
            p for p in self._editor.check_result_here.problems if p.layer in ids and p.severity == "error" and p.field
        ]
        form.set_problems({problem.field: message_text(problem.message) for problem in reversed(problems)})
        form.setVisible(bool(form.rows))
        self._show_sweeps()

    def _show_sweeps(self, _project: object = None) -> None:
        """Mark the fields that vary in the experiment; of several layers none is offered."""
        if self._form is None:
            return
        if len(self._layers) != 1 or not self._layers[0].type.key:
            self._form.show_sweeps(None)
            return
        varied = varied_paths(self._editor.project)
        self._form.show_sweeps({name for name in self._form.rows if self._path(name) in varied})

    def _path(self, field: str) -> str:
        return layer_path(self._editor.project, self._editor.scope, self._layers[0].name, field)

    def _form_of(self, type_: LayerType) -> Form:
        form = self._forms.get(type(type_))
        if form is None:
            form = self._forms[type(type_)] = Form(type_, folded=(WEIGHTS,), parent=self._layer_part)
            form.set_folded(WEIGHTS, self._has_weights_folded)
            form.changed.connect(self._on_edited)
            form.folding_changed.connect(self._on_folded)
            form.sweep_requested.connect(lambda field: self.sweep_requested.emit(self._path(field)))
            form.sweep_ended.connect(lambda field: self.sweep_ended.emit(self._path(field)))
            self._form_place.addWidget(form)
        return form

    def _on_folded(self, group: str, is_folded: bool) -> None:
        """Layers of all types show their weights' fields, or none does."""
        self._has_weights_folded = is_folded
        for form in self._forms.values():
            form.set_folded(group, is_folded)

    def _show_layer(self, layer: Layer, keep_typing: bool) -> None:
        kind = layer.type
        summary = translation(kind.summary()) if kind.key else tr("The type is not known here; it is kept as it is.")
        state = tr("Bypassed: its input goes past it.") + " " if layer.bypassed else ""
        description = f"{state}{with_english(kind.label, LAYER)} · {summary[:1].lower()}{summary[1:]}"
        note = tr("No ONNX form: {reason}", reason=kind.onnx_refusal) if kind.onnx_refusal else ""
        self.header.say(layer.name, description, kind.family, note)
        self._name_form.show()
        self._name_form.set_record(_Named(name=layer.name), keep_typing=keep_typing)
        self._name_form.set_problems({})
        self.ports.show_block(layer)
        facts = self._editor.analysis.shapes.get(layer.id)
        sources = self._editor.network.incoming[layer.id]
        lines = []
        ports = kind.input_ports()
        for port in ports:
            input_type = self._editor.analysis.type_at(sources[port]) if port in sources else None
            lines.append(
                (
                    tr("Input") if len(ports) == 1 else tr("Input {port}", port=port),
                    input_type.short() if input_type else UNKNOWN,
                )
            )
        lines += [*_outputs(kind, facts), *_sharing(self._editor.network, layer)]
        reason = frozen_layers(self._editor.project, self._editor.scope).get(layer.id, "")
        self.locked.setText(f"{reason} {translation(FRESH)}" if reason else "")
        self.locked.setVisible(bool(reason))
        frozen = tr("{count}, frozen") if reason and facts and facts.parameters else "{count}"
        lines.append((tr("Parameters"), frozen.format(count=f"{facts.parameters:,}") if facts else UNKNOWN))
        lines.append((tr("FLOPs per sample"), short_count(facts.flops) if facts else UNKNOWN))
        batch = self._editor.project.training.mini_batch_size
        num_bytes = activation_bytes(facts, batch) if facts else None
        lines.append(
            (tr("Activations, batch {batch:,}", batch=batch), UNKNOWN if num_bytes is None else format_bytes(num_bytes))
        )
        self.facts.show_rows(lines)
        problems = [p for p in self._editor.check_result_here.problems if p.layer == layer.id]
        unsolved = tr("Solve the problems of the layers before it.")
        self._hint("" if facts else message_text(problems[0].message) if problems else unsolved)

    def _is_in_frozen(self) -> bool:
        """Whether the open block, or one around it, is frozen."""
        return is_in_frozen(self._editor.project.network, self._editor.scope)

    def _show_several(self) -> None:
        self.ports.hide()
        reasons = frozen_layers(self._editor.project, self._editor.scope)
        num_frozen = sum(id in reasons for id in self._ids)
        self.locked.setText(
            tr("{count:,} of them keep their weights. {note}", count=num_frozen, note=translation(FRESH))
            if num_frozen
            else ""
        )
        self.locked.setVisible(bool(num_frozen))
        self._name_form.hide()
        types = {layer_label(layer.type.label) for layer in self._layers}
        families = {layer.type.family for layer in self._layers}
        description = next(iter(types)) if len(types) == 1 else tr("%n types", "", len(types))
        family = families.pop() if len(families) == 1 else ""
        self.header.say(tr("%n layer(s)", "", len(self._layers)), description, family)
        facts = self._editor.analysis.shapes
        shapes = [facts[id] for id in self._ids if id in facts]
        batch = self._editor.project.training.mini_batch_size
        num_bytes = sum(activation_bytes(f, batch) or 0 for f in shapes)
        self.facts.show_rows(
            [
                (tr("Parameters"), f"{sum(f.parameters for f in shapes):,}"),
                (tr("FLOPs per sample"), short_count(sum(f.flops for f in shapes))),
                (tr("Activations, batch {batch:,}", batch=batch), format_bytes(num_bytes)),
            ]
        )
        self._hint("" if self._form else tr("Layers of one type can be changed together."))

    def _show_network(self) -> None:
        network, analysis = self._editor.network, self._editor.analysis
        self._layer_part.hide()
        self.locked.hide()
        names = names_of(self._editor.project.network, self._editor.scope)
        self.header.say(names[-1] if names else tr("Network"), tr("Nothing is selected"))
        outputs = [(port, analysis.type_at(port)) for port in network.output_ports]
        lines = [
            (tr("Layers"), _layer_count(network)),
            (tr("Connections"), f"{len(network.connections):,}"),
        ]
        for layer in (*network.inputs, *(x for x in network.layers.values() if isinstance(x.type, BlockInput)))[:6]:
            facts = analysis.shapes.get(layer.id)
            lines.append((tr("Input {port}", port=layer.name), facts.output.short() if facts else UNKNOWN))
        for port, output_type in outputs[:6]:
            lines.append(
                (
                    tr("Output {port}", port=network.layers[port.layer].name),
                    output_type.short() if output_type else UNKNOWN,
                )
            )
        for layer in [x for x in network.layers.values() if isinstance(x.type, BlockOutput)][:6]:
            facts = analysis.shapes.get(layer.id)
            lines.append((tr("Output {port}", port=layer.name), facts.output.short() if facts else UNKNOWN))
        least = "{count}" if all_known(network, analysis) else tr("at least {count}")
        lines.append((tr("Parameters"), least.format(count=f"{analysis.parameters:,}")))
        if frozen := analysis.parameters if self._is_in_frozen() else self._frozen_parameters():
            lines.append((tr("Frozen parameters"), f"{frozen:,}"))
        memory = memory_of(self._editor.here, analysis, self._editor.dataset_info)
        lines.append(
            (
                tr("FLOPs per sample"),
                (least if not memory.is_whole else "{count}").format(count=short_count(analysis.flops)),
            )
        )
        self.facts.show_rows([*lines, *_memory_lines(self._editor)])
        self._hint(
            tr("Select a layer to see and change its fields.")
            if network.layers
            else tr("Drag a layer from the library onto the canvas, or double-click it there.")
        )

    def _frozen_parameters(self) -> int:
        """Return the number of parameters that do not learn in the network that is shown."""
        editor = self._editor
        network = network_in(with_freezing(editor.project).network, editor.scope)
        return frozen_parameters(network, editor.analysis)

    def _hint(self, text: str) -> None:
        self.hint.setText(unbroken(text))
        self.hint.setVisible(bool(text))

    # What is edited

    def _on_edited(self, field: str) -> None:
        assert self._form is not None
        value = getattr(self._form.record, field)
        self._editor.set_fields(self._ids, {field: value}, merge=f"field.{self._visit}.{field}")

    def _on_renamed(self, field: str) -> None:
        (layer,) = self._layers
        name = getattr(self._name_form.record, field)
        why = name_refusal(name, self._editor.network.by_name) if name != layer.name else None
        self._name_form.set_problems({"name": why} if why else {})
        if why is None:
            self._editor.edit_network(
                tr("Rename to {name}", name=name),
                lambda network: edits.rename(network, layer.id, name),
                merge=f"name.{self._visit}",
            )

    def sizeHint(self) -> QSize:
        """As wide as the drawings have it."""
        return QSize(LABEL_WIDTH + 188, 600)


def _sharing(network: Network, layer: Layer) -> list[tuple[str, str]]:
    """Return the row on the layers with the same weights, where there are others."""
    if layer.weights_of:
        return [(tr("Weights"), tr("Same as {name}", name=network.layers[layer.weights_of].name))]
    names = ", ".join(network.layers[id].name for id in network.borrowers.get(layer.id, ()))
    return [(tr("Weights"), tr("Also those of {names}", names=names))] if names else []


def _outputs(kind: LayerType, facts: LayerShapes | None) -> Iterator[tuple[str, str]]:
    """The output size of each port."""
    ports = kind.output_ports() or ("",)
    for port in ports:
        output = facts and (facts.at(port) if port in facts.ports else facts.output)
        yield (
            tr("Output") if len(ports) == 1 else tr("Output {port}", port=port),
            output.short() if output else UNKNOWN,
        )


def _layer_count(network: Network) -> str:
    """The number of layers; with blocks also that with their contents."""
    count = len(network)
    if has_blocks(network):
        return tr("{count:,} ({total:,} with blocks)", count=count, total=num_layers(network))
    return f"{count:,}"


def _memory_lines(editor: Editor) -> list[tuple[str, str]]:
    """The memory of a training step, part by part."""
    if not editor.analysis.shapes:
        return []
    memory = memory_of(editor.here, editor.analysis, editor.dataset_info)
    whole = tr("about {count}") if memory.is_rough else "{count}"
    least = whole if memory.is_whole else tr("at least {count}")
    rest = "{count}" if all_known(editor.network, editor.analysis) else tr("at least {count}")
    return [
        (
            tr("Activations, batch {batch:,}", batch=memory.batch),
            least.format(count=format_bytes(memory.activations)),
        ),
        (tr("Weights"), rest.format(count=format_bytes(memory.weights))),
        (tr("Gradients"), rest.format(count=format_bytes(memory.gradients))),
        (
            tr("State of {solver}", solver=editor.project.training.solver),
            rest.format(count=format_bytes(memory.optimizer)),
        ),
        (tr("Memory to train"), least.format(count=format_bytes(memory.total))),
    ]
