"""The context menus of the canvas: for layers, frames and comments, a connection, and the empty canvas."""

from collections.abc import Callable, Collection, Mapping

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QKeySequence, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QMenu, QWidget

from netwright.designer import layer_edits, markup, shortcuts, theme
from netwright.designer.auto_layout import align_menu
from netwright.designer.editor import Editor
from netwright.designer.language import noop, tr, translation
from netwright.designer.scene import stage_colours
from netwright.designer.scene.pipeline_view import PipelineStages
from netwright.engine.drawing import colours
from netwright.engine.network import annotations, edits
from netwright.engine.network.annotations import Mark
from netwright.engine.network.block import Block
from netwright.engine.network.layout import TONES, Layout, Tone
from netwright.engine.network.network import Connection, bypass_refusal, has_weights

_MOST_STAGES = 32
_TONES: Mapping[Tone, str] = {
    "grey": noop("Grey"),
    "blue": noop("Blue"),
    "green": noop("Green"),
    "yellow": noop("Yellow"),
    "orange": noop("Orange"),
    "red": noop("Red"),
    "violet": noop("Violet"),
}


Commands = Mapping[str, Callable[[], object]]
"""What the entries of a menu do, by keys of their own."""
_MOVES = {"up": noop("Up"), "down": noop("Down"), "left": noop("Left"), "right": noop("Right")}


def _add(menu: QMenu, text: str, icon: str, shortcut: str, slot: object) -> None:
    action = menu.addAction(theme.icon(icon), text) if icon else menu.addAction(text)
    if shortcut:
        # Only shown: the key itself is the window's or the view's, and two owners would make it ambiguous.
        action.setText(f"{text}\t{QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)}")
    action.triggered.connect(slot)


def layer_menu(editor: Editor, parent: QWidget, commands: Commands, stage: QMenu | None = None) -> QMenu:
    """Return the menu of the selected layers; `stage` is the submenu of pipeline stages, if any."""
    menu = QMenu(parent)
    if len(editor.selection) == 1:
        _add(menu, tr("Rename"), "", "F2", commands["rename"])
        _add(menu, tr("Replace with…"), "", "", commands["replace"])
        _add_neighbours(menu, editor, commands)
    _add(menu, tr("Edit properties"), "", "Return", commands["edit"])
    _add(menu, tr("Zoom to selection"), "", shortcuts.text("view.fit_selection"), commands["zoom"])
    move = menu.addMenu(tr("Move"))
    for key, text in _MOVES.items():
        _add(move, translation(text), "", f"Ctrl+{key.capitalize()}", commands[key])
    menu.addSeparator()
    layers = [editor.network.layers[id] for id in editor.selection]
    able = [layer for layer in layers if bypass_refusal(layer.type) is None]
    if able:
        text = tr("Stop bypassing") if all(layer.bypassed for layer in able) else tr("Bypass")
        _add(menu, text, "", "B", lambda: editor.edit_selection(layer_edits.toggle_bypass))
    is_shared = layer_edits.is_shared(editor.network, editor.selection)
    if is_shared or (len({layer.type_key for layer in layers}) == 1 < len(layers) and has_weights(layers[0].type)):
        text = tr("Own weights") if is_shared else tr("Share weights")
        _add(menu, text, "", "", lambda: editor.edit_selection(layer_edits.toggle_sharing))
    if stage is not None:
        stage.setParent(menu, stage.windowFlags())
        menu.addMenu(stage)
    _block_entries(menu, editor, commands["keep"])
    menu.addSeparator()
    _add(menu, tr("Cut"), "cut", shortcuts.text("edit.cut"), lambda: editor.cut())
    _add(menu, tr("Copy"), "copy", shortcuts.text("edit.copy"), lambda: editor.copy())
    _add(menu, tr("Duplicate"), "", shortcuts.text("edit.duplicate"), lambda: editor.duplicate())
    _add(menu, tr("Frame selection"), "", shortcuts.text("frame.selection"), commands["frame"])
    if len(editor.selection) > 1:
        menu.addMenu(align_menu(editor, menu))
    menu.addSeparator()
    network, selection = editor.network, editor.selection
    lines = [c for c in network.connections if c.source.layer in selection or c.target.layer in selection]
    if lines:
        _add(menu, tr("Disconnect"), "", "", lambda: editor.disconnect_all(lines))
    _add(menu, tr("Delete"), "trash", "Del", lambda: editor.delete_selection())
    if edits.remove_and_heal(network, selection).connections != edits.remove_layers(network, selection).connections:
        _add(menu, tr("Delete without reconnecting"), "", "Shift+Del", lambda: editor.delete_selection(heal=False))
    return menu


def _add_neighbours(menu: QMenu, editor: Editor, commands: Commands) -> None:
    """Add what connects one selected layer with others."""
    (id,) = editor.selection
    type = editor.network.layers[id].type
    menu.addSeparator()
    if type.input_ports():
        _add(menu, tr("Add a layer before…"), "", "Shift+A", commands["add_before"])
    if type.output_ports():
        _add(menu, tr("Add a layer after…"), "plus", "A", commands["add"])
        _add(menu, tr("Connect…"), "", "C", commands["connect"])
    _add(menu, tr("Freeze up to the selected layer"), "", shortcuts.text("weights.freeze"), commands["freeze"])
    menu.addSeparator()


def stage_menu(staging: PipelineStages, parent: QWidget) -> QMenu | None:
    """Return the menu of pipeline stages for the selected layers, with one more stage; None while stages are neither
    shown nor used, or where there are none."""
    stages = staging.current.stages if staging.is_on or staging.is_used else None
    if stages is None:
        return None
    menu = QMenu(tr("Stage"), parent)
    current = staging.selected
    for number in range(min(stages.count + 1, _MOST_STAGES)):
        text = (
            tr("Stage {number}", number=number + 1)
            if number < stages.count
            else tr("New stage {number}", number=number + 1)
        )
        action = menu.addAction(_chip(number, is_current=number == current), text)
        action.setCheckable(True)
        action.setChecked(number == current)
        action.triggered.connect(lambda _=False, number=number: staging.put(number))
    return menu


def _chip(number: int, *, is_current: bool) -> QIcon:
    """Return an icon with the number of a stage on its colour, and a ring if it is the current one."""
    picture = QPixmap(64, 64)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    width = stage_colours.chip_width(number)
    side = width + 4  # with the ring
    painter.scale(64 / side, 64 / side)
    left, top = 2.0, (side - stage_colours.HEIGHT) / 2
    stage_colours.paint_chip(painter, number, QPointF(left + width, top))
    if is_current:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.current().text, 1.2))
        painter.drawRoundedRect(QRectF(left - 1.4, top - 1.4, width + 2.8, stage_colours.HEIGHT + 2.8), 5, 5)
    painter.end()
    return QIcon(picture)


def _block_entries(menu: QMenu, editor: Editor, keep: object) -> None:
    layers = [editor.network.layers[id] for id in editor.selection]
    blocks = [layer for layer in layers if isinstance(layer.type, Block)]
    menu.addSeparator()
    if len(layers) == len(blocks) == 1:
        _add(menu, tr("Open block"), "", shortcuts.text("block.open"), lambda: editor.open_block(blocks[0].id))
        _add(menu, tr("Save to my blocks…"), "", "", keep)
    _add(menu, tr("Group into a block"), "", shortcuts.text("block.group"), lambda: editor.group())
    if blocks:
        _add(menu, tr("Ungroup"), "", shortcuts.text("block.ungroup"), lambda: editor.ungroup())


def annotation_menu(editor: Editor, parent: QWidget, mark: Mark, edit: object) -> QMenu:
    """Return the menu of the selected frames and comments; `mark` is the one under the pointer."""
    menu = QMenu(parent)
    marks = editor.selected_marks
    words = tr("Edit title") if mark.kind == "frame" else tr("Edit text")
    _add(menu, words, "", "F2", edit)
    colour = menu.addMenu(tr("Colour"))
    annotation = annotations.find(editor.layout, mark)
    for tone in TONES:
        is_current = annotation is not None and annotation.tone == tone
        action = colour.addAction(_square(tone, is_current=is_current), translation(_TONES[tone]))
        action.setCheckable(True)
        action.setChecked(is_current)
        action.triggered.connect(lambda _=False, tone=tone: _recolour(editor, tone))
    menu.addSeparator()
    _add(menu, tr("Bring to front"), "", "", lambda: _reorder(editor, tr("Bring to front"), annotations.to_front))
    _add(menu, tr("Send to back"), "", "", lambda: _reorder(editor, tr("Send to back"), annotations.to_back))
    menu.addSeparator()
    _add(menu, tr("Cut"), "cut", shortcuts.text("edit.cut"), lambda: editor.cut())
    _add(menu, tr("Copy"), "copy", shortcuts.text("edit.copy"), lambda: editor.copy())
    _add(menu, tr("Duplicate"), "", shortcuts.text("edit.duplicate"), lambda: editor.duplicate())
    if any(other.kind == "frame" for other in marks):
        layer_ids = annotations.standing_in(editor.layout, marks)[0]
        if layer_ids:
            menu.addSeparator()
            _add(menu, tr("Select the layers in it"), "", "", lambda: editor.set_selection(layer_ids))
    menu.addSeparator()
    _add(menu, tr("Delete"), "trash", "Del", lambda: editor.delete_selection())
    return menu


def _square(tone: Tone, *, is_current: bool) -> QIcon:
    """Return an icon of a colour, with a ring if it is the current one: Qt shows no check mark beside an icon."""
    picture = QPixmap(32, 32)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(QColor(colours.TONES[tone]))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.drawRoundedRect(7, 7, 18, 18, 5, 5)
    if is_current:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.current().text, 2.5))
        painter.drawRoundedRect(2, 2, 28, 28, 9, 9)
    painter.end()
    return QIcon(picture)


def _recolour(editor: Editor, tone: Tone) -> None:
    layout = annotations.recolour(editor.layout, editor.selected_marks, tone)
    editor.apply_here(tr("Change colour"), layout=layout)


def _reorder(editor: Editor, text: str, change: Callable[[Layout, Collection[Mark]], Layout]) -> None:
    editor.apply_here(text, layout=change(editor.layout, editor.selected_marks))


def connection_menu(editor: Editor, parent: QWidget, connection: Connection) -> QMenu:
    """Return the menu of a connection."""
    menu = QMenu(parent)
    layers = editor.network.layers
    source, target = layers[connection.source.layer], layers[connection.target.layer]
    _add(
        menu,
        markup.without_mnemonic(tr("Go to {name}", name=source.name)),
        "",
        "",
        lambda: editor.set_selection({source.id}),
    )
    _add(
        menu,
        markup.without_mnemonic(tr("Go to {name}", name=target.name)),
        "",
        "",
        lambda: editor.set_selection({target.id}),
    )
    menu.addSeparator()
    _add(menu, tr("Disconnect"), "trash", "Del", lambda: editor.disconnect_all([connection]))
    return menu


def canvas_menu(
    editor: Editor, parent: QWidget, at: QPointF, fit: object, add: object, arrange: object, comment: object
) -> QMenu:
    """Return the menu of the empty canvas."""
    menu = QMenu(parent)
    _add(menu, tr("Add a layer…"), "plus", "A", add)
    _add(menu, tr("Add a comment"), "", shortcuts.text("comment.add"), comment)
    _add(menu, tr("Paste"), "paste", shortcuts.text("edit.paste"), lambda: editor.paste((at.x(), at.y())))
    if editor.network.layers:
        _add(menu, tr("Select all"), "", shortcuts.text("edit.select_all"), lambda: editor.select_all())
        menu.addSeparator()
        _add(menu, tr("Arrange"), "arrange", shortcuts.text("network.arrange"), arrange)
        _add(menu, tr("Fit to window"), "fit", "F", fit)
    if editor.scope:
        menu.addSeparator()
        _add(menu, tr("Leave block"), "", shortcuts.text("block.leave"), lambda: editor.leave_block())
    return menu
