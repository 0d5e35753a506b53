from dataclasses import replace

from netwright.designer.editor import Editor
from netwright.designer.scene.scene import Scene
from netwright.designer.scene.size_labels import size_text
from netwright.engine.core.types import Symbol, image, sequence
from netwright.engine.network.analysis import LayerShapes
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.network import Network
from netwright.engine.project.project import Project
from tests.builders import chain, layer


def test_sizes_are_those_of_the_port_as_far_as_they_are_known():
    facts = LayerShapes((), (sequence(Symbol("T"), 4), image(8, 28, 28)), {}, 0, 0, ("out", "scores"))
    assert size_text(facts, "out") == "T × 4"
    assert size_text(facts, "scores") == "8 × 28 × 28"
    assert size_text(replace(facts, ports=()), "out") == "T × 4"
    assert size_text(None, "out") == ""


def _large() -> Network:
    return chain(layer("image_input"), *(layer("relu") for _ in range(299)))


def test_labels_of_a_large_network_wait_until_the_window_is_idle(qtbot):
    network = _large()
    scene = Scene(Editor(Project(network, arrange(network))))
    edges = scene.edges.edges
    assert not any(edge.text for edge in edges.values())
    qtbot.waitUntil(lambda: len(edges) == 299 and all(edge.text for edge in edges.values()))
    bounds = scene.edges.boundingRect()
    assert all(edge.bounds.contains(edge.label_box()) and bounds.contains(edge.bounds) for edge in edges.values())


def test_an_edit_may_come_before_the_labels(qapp):
    network = _large()
    editor = Editor(Project(network, arrange(network)))
    scene = Scene(editor)
    first, *_, last = network.layers
    editor.set_selection({last})
    editor.delete_selection()
    editor.rename(first, "renamed")
    scene.finish()
    assert len(scene.edges.edges) == 298
    assert all(edge.text for edge in scene.edges.edges.values())
