import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPixmap

from netwright.designer.editor import Editor
from netwright.designer.scene import pictures
from netwright.designer.scene.scene import Scene
from netwright.engine.network import edits
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network, Port
from netwright.engine.project.project import Project
from netwright.engine.project.transferred_layers import freeze_up_to
from tests.builders import add, chain, layer
from tests.designer.mouse import Hand


def content(hand: Hand, name: str):
    return hand.view.network_scene.nodes.nodes[hand.id(name)].content


def label(hand: Hand, source: str, target: str) -> str:
    ends = hand.id(source), hand.id(target)
    edges = hand.view.network_scene.edges.edges
    (text,) = [edge.text for c, edge in edges.items() if (c.source.layer, c.target.layer) == ends]
    return text


def test_a_layer_says_its_name_type_telling_value_and_parameters(hand: Hand):
    fc = content(hand, "fc_1")
    assert (fc.name, fc.detail, fc.count) == ("fc_1", "Fully connected · 8 outputs", "296")
    assert content(hand, "relu_1").count == ""


def test_connections_say_their_sizes_and_follow_an_edit(hand: Hand):
    assert label(hand, "image_1", "fc_1") == "1 × 6 × 6"
    hand.editor.set_fields([hand.id("fc_1")], {"outputs": 1000})
    assert label(hand, "fc_1", "relu_1") == "1,000"
    assert content(hand, "fc_1").count == "37.0 k"
    assert content(hand, "fc_2").count == "3,003"


def test_an_edit_draws_only_what_it_changed(hand: Hand):
    scene = hand.view.network_scene
    hand.view.grab()
    pictures = {id: node.pixmap for id, node in scene.nodes.nodes.items()}
    assert all(pictures.values())
    hand.editor.set_fields([hand.id("fc_2")], {"outputs": 4})
    kept = {id for id, node in scene.nodes.nodes.items() if node.pixmap is pictures[id]}
    assert kept == {hand.id(name) for name in ("image_1", "fc_1", "relu_1", "softmax_1")}


def test_undo_draws_what_was_there_before(hand: Hand):
    scene = hand.view.network_scene
    edges, nodes = set(scene.edges.edges), dict.fromkeys(scene.nodes.nodes)
    hand.editor.select_all()
    hand.editor.delete_selection()
    assert not scene.nodes.nodes
    assert not scene.edges.edges
    assert scene.content_box() == QRectF()
    hand.editor.undo()
    assert dict.fromkeys(scene.nodes.nodes) == nodes
    assert set(scene.edges.edges) == edges


def test_a_faulty_layer_has_a_sign_and_says_why(make_hand):
    network = chain(layer("image_input"), layer("lstm"))
    hand = make_hand(network)
    assert content(hand, "lstm_1").severity == "error"
    at = hand.view.mapToScene(hand.body("lstm_1"))
    assert "sequence" in hand.view.tooltip_at(at)
    hand.editor.disconnect_all(hand.editor.network.connections)
    assert "not connected" in hand.view.tooltip_at(at)
    assert label_count(hand) == 0


def label_count(hand: Hand) -> int:
    return len(hand.view.network_scene.edges.edges)


def test_a_long_name_is_whole_in_the_tooltip(make_hand):
    name = "a_very_long_name_that_does_not_fit_into_a_layer_on_the_canvas"
    network, _ = edits.add_layer(Network.empty(), layer("image_input"), name)
    hand = make_hand(network)
    at = hand.view.mapToScene(hand.body(name))
    assert name in hand.view.tooltip_at(at)


def test_ports_and_connections_have_tooltips(hand: Hand):
    scene = hand.view.network_scene
    port = scene.port_at_layer(Port(hand.id("fc_1"), "in"), True)
    assert hand.view.tooltip_at(port.at) == "Input 'in' of fc_1"
    line = next(iter(scene.edges.edges.values()))
    assert "image_1 → fc_1" in hand.view.tooltip_at(line.path.pointAtPercent(0.5))
    assert hand.view.tooltip_at(QPointF(-500, 0)) == ""


def test_several_inputs_are_spread_over_the_top_edge(make_hand):
    network = chain(layer("image_input"))
    (image,) = network.layers.values()
    network, join = add(network, layer("addition", inputs=4), image, image, image, image)
    hand = make_hand(network)
    hits = [hit for hit in hand.view.network_scene.nodes.ports_of(join.id) if hit.is_input]
    xs = [hit.at.x() for hit in hits]
    left = hand.place(join.name)[0]
    assert xs == sorted(xs)
    assert all(left < x < left + 176 for x in xs)
    assert (xs[0] + xs[-1]) / 2 == left + 88
    for hit in hits:
        found = hand.view.network_scene.port_at(hit.at + QPointF(2, -2), 8)
        assert found == hit


def test_another_number_of_inputs_is_drawn_and_its_connections_with_it(make_hand):
    network = chain(layer("image_input"))
    (image,) = network.layers.values()
    network, join = add(network, layer("addition", inputs=3), image, image, image)
    hand = make_hand(network)
    hand.editor.set_fields([join.id], {"inputs": 2})
    scene = hand.view.network_scene
    assert len(scene.edges.edges) == 2
    ends = {scene.port_at_layer(c.target, True).at.x() for c in scene.edges.edges}
    assert {edge.path.currentPosition().x() for edge in scene.edges.edges.values()} == ends


def test_a_long_connection_goes_around_the_layers_between(make_hand):
    network = chain(layer("image_input"), layer("relu"), layer("relu"))
    image, _, last = network.layers.values()
    network, join = add(network, layer("addition"), last, image)
    hand = make_hand(network)
    scene = hand.view.network_scene
    (skip,) = [
        edge for c, edge in scene.edges.edges.items() if c.source.layer == image.id and c.target.layer == join.id
    ]
    crossed = {scene.node_at(skip.path.pointAtPercent(step / 50)) for step in range(2, 49)}
    assert crossed == {None}


def test_sizes_cover_no_layer_and_not_each_other(make_hand):
    network = chain(layer("image_input"), layer("relu"))
    image, relu = network.layers.values()
    network, other = add(network, layer("sigmoid"), image)
    network, _ = add(network, layer("addition"), relu, other)
    hand = make_hand(network)
    scene = hand.view.network_scene
    boxes = [edge.label_box() for edge in scene.edges.edges.values() if edge.text]
    assert len(boxes) == 3, "both connections of the image carry the same tensor"
    assert not any(edge.path.intersects(box) for edge in scene.edges.edges.values() for box in boxes)
    assert not any(scene.nodes_in(box.adjusted(1, 1, -1, -1)) for box in boxes)
    for index, box in enumerate(boxes):
        assert not any(box.intersects(other_box) for other_box in boxes[index + 1 :])


def test_a_split_names_its_size_again_after_it_lost_the_connection_with_the_label(make_hand):
    network = chain(layer("image_input"), layer("relu"))
    image = next(iter(network.layers.values()))
    network, _ = add(network, layer("sigmoid"), image)
    hand = make_hand(network)
    edges = hand.view.network_scene.edges.edges
    (named,) = [connection for connection, edge in edges.items() if edge.text]
    hand.editor.disconnect_all([named])
    assert [edge.text for edge in edges.values()] == [hand.editor.analysis.shapes[image.id].output.short()]


def test_a_layer_put_on_a_size_moves_the_size_away(make_hand):
    hand = make_hand(chain(layer("image_input"), layer("relu")))
    scene = hand.view.network_scene
    (edge,) = scene.edges.edges.values()
    box = edge.label_box()
    hand.editor.add_layer("sigmoid", (box.left() + 2, box.top() - 10))
    (edge,) = scene.edges.edges.values()
    assert edge.text
    assert not scene.nodes_in(edge.label_box().adjusted(1, 1, -1, -1))


def test_a_layer_never_cuts_its_number(make_hand):
    hand = make_hand(
        chain(layer("image_input"), layer("fully_connected", outputs=48_000), layer("conv2d", filters=4096))
    )
    shown = [pictures.lines(node.content)[1] for node in hand.view.network_scene.nodes.nodes.values()]
    assert shown[1].endswith(" · 48,000 outputs")
    assert shown[1].startswith("Fully ")
    assert shown[2].endswith(" · 4,096 filters")


def test_every_zoom_can_be_painted(hand: Hand):
    hand.editor.set_selection({hand.id("fc_1")})
    colours = set()
    for zoom in (0.1, 0.3, 0.6, 1.0, 3.0):
        hand.view._set_zoom(zoom)
        image = hand.view.grab().toImage()
        x, y = hand.place("fc_1")
        at = hand.point(QPointF(x + 120, y + 21))
        colours.add(image.pixelColor(at).name())
    assert hand.view.grab().toImage().pixelColor(2, 2).name() not in colours


def test_a_project_without_places_is_drawn(qapp):
    editor = Editor(Project(chain(layer("image_input"), layer("relu")), Layout()))
    scene = Scene(editor)
    assert len(scene.nodes.nodes) == 2
    assert scene.content_box().width() == 176


@pytest.mark.parametrize("ratio", [1.5, 2.0])
def test_layers_are_painted_in_the_pixels_of_the_screen(hand: Hand, ratio: float):
    picture = QPixmap(hand.view.viewport().size() * ratio)
    picture.setDevicePixelRatio(ratio)
    painter = QPainter(picture)
    hand.view.render(painter, QRectF(hand.view.viewport().rect()), hand.view.viewport().rect())
    painter.end()
    nodes = hand.view.network_scene.nodes
    node = nodes.nodes[hand.id("fc_1")]
    assert node.pixmap is not None
    assert node.scale == ratio
    assert node.pixmap.width() == round((176 + 20) * ratio)


def test_a_node_says_whose_weights_it_has_and_follows_the_name(make_hand):
    network = chain(layer("feature_input", channels=4), *[layer("fully_connected", outputs=4)] * 2)
    hand = make_hand(edits.share_weights(network, [network.layer("fc_1").id, network.layer("fc_2").id]))
    assert content(hand, "fc_1").detail == "Fully connected · 4 outputs"
    assert (content(hand, "fc_2").detail, content(hand, "fc_2").count) == ("Same weights as fc_1", "")
    drawn: list[str] = []
    dress = hand.view.network_scene._dress_node

    def noted(id: str) -> None:
        drawn.append(id)
        dress(id)

    hand.view.network_scene._dress_node = noted
    hand.editor.rename(hand.id("fc_1"), "trunk")
    assert hand.id("fc_2") in drawn
    assert content(hand, "fc_2").detail == "Same weights as trunk"


def test_layers_that_keep_their_weights_have_a_lock(hand: Hand):
    scene, fc = hand.view.network_scene, hand.id("fc_1")
    before = pictures.picture(content(hand, "fc_1"), 1.0).toImage()
    hand.editor.apply("Freeze", freeze_up_to(hand.editor.project, "fc_1"))
    assert scene.frozen == {fc: "Keeps its weights: frozen up to 'fc_1'."}
    assert [content(hand, name).is_frozen for name in ("fc_1", "relu_1", "fc_2")] == [True, False, False]
    assert pictures.picture(content(hand, "fc_1"), 1.0).toImage() != before
    assert "frozen up to 'fc_1'" in hand.view.tooltip_at(scene.nodes.rect(fc).center())
    hand.editor.undo()
    assert not scene.frozen
    assert pictures.picture(content(hand, "fc_1"), 1.0).toImage() == before
