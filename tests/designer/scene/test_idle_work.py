"""Work on a large network that waits until the window is idle."""

from PySide6.QtCore import QObject

from netwright.designer.editor import Editor
from netwright.designer.scene.idle import IdleWork
from netwright.designer.scene.scene import Scene
from netwright.engine.network.arrangement import arrange
from netwright.engine.project.project import Project
from tests.builders import chain, layer

COUNT = 600


def scene_of(count: int = COUNT) -> tuple[Editor, Scene]:
    network = chain(layer("image_input"), *(layer("relu") for _ in range(count)))
    editor = Editor(Project())
    scene = Scene(editor)
    editor.open(Project(network, arrange(network)))
    return editor, scene


def test_pieces_are_done_once_and_in_their_order(qtbot) -> None:
    done: list[int] = []
    ends: list[int] = []
    parent = QObject()
    work = IdleWork(done.append, lambda: ends.append(len(done)), parent)
    work.add([3, 1, 2])
    work.add([1, 4])
    work.drop(2)
    assert (done, len(work), 2 in work) == ([], 3, False)
    qtbot.waitUntil(lambda: bool(ends))
    assert (done, ends) == ([3, 1, 4], [3])


def test_layers_are_there_at_once_and_connections_follow_while_the_window_works(qtbot) -> None:
    editor, scene = scene_of()
    assert len(scene.nodes.nodes) == COUNT + 1
    assert scene.edges.edges == {}
    qtbot.waitUntil(lambda: len(scene.edges.edges) == COUNT)
    assert set(scene.edges.edges) == set(editor.network.connections)


def test_sizes_that_change_move_no_connection(qtbot) -> None:
    editor, scene = scene_of(20)
    paths = {line: edge.path for line, edge in scene.edges.edges.items()}
    texts = [edge.text for edge in scene.edges.edges.values()]
    first = next(iter(editor.network.layers))
    editor.set_fields([first], {"size": 31})
    others = [line for line in paths if line.source.layer != first]
    assert len(others) == 19
    assert all(scene.edges.edges[line].path is paths[line] for line in others)
    assert [edge.text for edge in scene.edges.edges.values()] != texts


def test_an_edit_may_come_before_the_connections(qtbot) -> None:
    editor, scene = scene_of()
    ids = list(editor.network.layers)
    editor.set_selection(ids[10:12])
    editor.delete_selection()
    scene.drag({id: (1000.0 + 10 * number, 50.0) for number, id in enumerate(ids[100:110])})
    scene.settle()
    editor.undo()
    editor.set_selection(ids[300:320])
    editor.delete_selection()
    scene.finish()
    assert set(scene.edges.edges) == set(editor.network.connections)
    for line, edge in scene.edges.edges.items():
        ends = (scene.port_at_layer(line.source, False).at, scene.port_at_layer(line.target, True).at)
        assert (edge.path.pointAtPercent(0), edge.path.currentPosition()) == ends
