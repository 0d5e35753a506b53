"""What a screen reader says of layers, connections, frames and comments: on the canvas and in the outline."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

from netwright.designer.editor import Editor
from netwright.designer.engine_messages import message_text
from netwright.designer.language import layer_label, tr, translation
from netwright.designer.scene.annotation_items import NOTHING
from netwright.engine.network import annotations
from netwright.engine.network.annotations import Mark
from netwright.engine.network.network import Connection, Port


def announce(source: QObject, text: str) -> None:
    """Let a screen reader say at once, in the name of a window or widget, what happens elsewhere than at the keyboard's
    place."""
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(source, text))


def of_selection(editor: Editor) -> str:
    """Return the words for what is selected: all about a single thing, else the number of things."""
    layers, connections, marks = editor.selection, editor.selected_connections, editor.selected_marks
    count = len(layers) + len(connections) + len(marks)
    if count > 1:
        return tr("%n item(s) selected", "", count)
    words = [
        *(of_layer(editor, id) for id in layers),
        *(of_connection(editor, edge) for edge in connections),
    ]
    return "".join((*words, *(of_mark(editor, mark) for mark in marks))) or tr("Nothing is selected")


def of_layer(editor: Editor, id: str) -> str:
    """Return the words for a layer: name, type, output size, what is special, and its problems."""
    bypassed = tr("Bypassed") if editor.network.layers[id].bypassed else ""
    return ", ".join(filter(None, (*facts_of(editor, id), bypassed, problems_of(editor, id))))


def facts_of(editor: Editor, id: str) -> tuple[str, ...]:
    """Return name, type and output size of a layer; the size is left out while it is unknown."""
    layer, facts = editor.network.layers[id], editor.analysis.shapes.get(id)
    return (layer.name, layer_label(layer.label), *((facts.output.short(),) if facts else ()))


def problems_of(editor: Editor, id: str) -> str:
    """Return the messages of the problems of a layer."""
    return ", ".join(message_text(problem.message) for problem in editor.problems if problem.layer == id)


def of_connection(editor: Editor, connection: Connection) -> str:
    """Return the words for a connection: its ends."""
    source, target = port_name(editor, connection.source), port_name(editor, connection.target)
    return tr("Connection from {source} to {target}", source=source, target=target)


def port_name(editor: Editor, port: Port) -> str:
    """Return the name of a layer, with the port where it has several on that side."""
    layer = editor.network.layers[port.layer]
    sides = (layer.type.input_ports(), layer.type.output_ports())
    ports = next((side for side in sides if port.name in side), ())
    return layer.name if len(ports) < 2 else f"{layer.name} ({port.name})"


def of_mark(editor: Editor, mark: Mark) -> str:
    """Return the words for a frame or a comment, and how many layers stand in a frame."""
    annotation = annotations.find(editor.layout, mark)
    written = annotations.words(annotation) if annotation is not None else ""
    if mark.kind == "comment":
        return ", ".join((tr("Comment"), written or translation(NOTHING)))
    count = len(annotations.standing_in(editor.layout, {mark})[0])
    return ", ".join((tr("Frame"), written or tr("without a title"), tr("%n layer(s)", "", count)))
