"""Whatever is edited, in whatever order: what is drawn as a difference is what would be drawn from nothing."""

import random

import pytest
from shiboken6 import delete

from netwright.designer import layer_edits
from netwright.designer.editor import Editor
from netwright.designer.scene.scene import Scene
from netwright.engine.network import edits
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.layout import FLOWS
from netwright.engine.network.network import Port
from netwright.engine.project.project import Project
from tests.builders import classifier

KEYS = ("relu", "fully_connected", "addition", "conv2d", "image_input", "dropout")


def shown(scene: Scene) -> tuple[object, object]:
    nodes = {id: (node.content, node.messages, node.inputs) for id, node in scene.nodes.nodes.items()}
    lines = {}
    for connection, edge in scene.edges.edges.items():
        start = edge.path.elementAt(0)
        end = edge.path.currentPosition()
        lines[connection] = (edge.text, start.x, start.y, end.x(), end.y())
    return (nodes, dict(scene.nodes.index.positions)), lines


def random_edit(editor: Editor, dice: random.Random) -> None:
    ids = list(editor.network.layers)
    some = dice.sample(ids, min(len(ids), dice.randint(1, 3)))
    one = some[0] if some else ""
    match dice.randrange(15):
        case 0 | 1:
            editor.add_layer(dice.choice(KEYS), (dice.randint(-300, 300), dice.randint(-300, 300)))
        case 2:
            editor.set_selection(some)
            editor.add_layer(dice.choice(KEYS))
        case 3 if len(ids) > 1:
            source, target = dice.sample(ids, 2)
            ports = editor.network.layers[target].type.input_ports()
            if ports:
                ends = Port(source, "out"), Port(target, dice.choice(ports))
                editor.edit_network("Connect", lambda network: edits.connect(network, *ends))
        case 4 if editor.network.connections:
            editor.disconnect_all([dice.choice(editor.network.connections)])
        case 5:
            editor.apply_here(
                "Move",
                layout=editor.layout.moved({id: (dice.randint(-400, 400), dice.randint(-400, 400)) for id in some}),
            )
        case 6 if one:
            field = {"addition": "inputs", "fully_connected": "outputs", "conv2d": "filters"}
            name = field.get(editor.network.layers[one].type_key)
            if name:
                editor.set_fields([one], {name: dice.randint(2, 5)}, merge=dice.choice(["", "typing"]))
        case 7:
            editor.set_selection(some, editor.network.connections[:1])
            editor.delete_selection(heal=dice.random() < 0.7)
        case 8:
            editor.set_selection(some)
            editor.duplicate()
        case 9:
            editor.apply_here("Arrange", layout=arrange(editor.network, editor.layout, dice.choice(FLOWS)))
        case 14:
            editor.set_selection(some)
            editor.edit_selection(layer_edits.toggle_bypass)
        case 10 if one:
            editor.replace_layer(one, dice.choice(KEYS))
        case 11 if one:
            type = editor.network.layers[one].type
            is_input = bool(type.input_ports()) and dice.random() < 0.5
            port = Port(one, dice.choice(type.input_ports() if is_input else type.output_ports()))
            editor.add_at_port(dice.choice(KEYS), (dice.randint(-300, 300), 0), port, is_input=is_input)
        case _:
            editor.undo() if dice.random() < 0.7 else editor.redo()


@pytest.mark.parametrize("seed", range(12))
def test_a_difference_draws_what_a_new_scene_would(qapp, seed: int):
    dice = random.Random(seed)
    editor = Editor(Project(classifier()))
    scene = Scene(editor, editor)
    for _ in range(60):
        random_edit(editor, dice)
        new = Scene(editor, editor)
        assert shown(scene) == shown(new)
        delete(new)  # left to the garbage collector, a scene without a view may go before its items
        assert not editor.network.layers or scene.nodes.boundingRect().contains(scene.content_box())


@pytest.mark.parametrize("seed", range(12))
def test_undo_goes_back_to_the_start_and_redo_to_the_end(qapp, seed: int):
    dice = random.Random(seed)
    editor = Editor(Project(classifier()))
    for _ in range(30):
        random_edit(editor, dice)
    while editor.stack.canRedo():
        editor.redo()
    values = [editor.project]
    while editor.stack.canUndo():
        editor.undo()
        values.append(editor.project)
    assert values[-1] == Project(classifier())
    for value in reversed(values[:-1]):
        editor.redo()
        assert editor.project == value
    assert not editor.stack.canRedo()
