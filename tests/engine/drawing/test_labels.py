"""Size labels of drawings: once per split, and never on a curve or a layer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from netwright.engine.core.files import ROOT
from netwright.engine.drawing import labels
from netwright.engine.drawing.labels import common_beginning, short_name
from netwright.engine.drawing.picture import Box, Line, Picture, Text, draw
from netwright.engine.drawing.routes import Curve
from netwright.engine.network.analysis import analyse
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.block import Block
from netwright.engine.network.layout import FLOWS, NODE_HEIGHT, Flow, Layout
from netwright.engine.network.network import Layer, Network
from netwright.engine.project.file import load
from tests.builders import add, layer

TEMPLATES = sorted((ROOT / "resources" / "templates").glob("*.netwright"))


def networks(network: Network, layout: Layout) -> Iterator[tuple[Network, Layout]]:
    """Yield a network and those inside its blocks, with their layouts."""
    yield network, layout
    for id, one in network.layers.items():
        if isinstance(one.type, Block):
            yield from networks(one.type.network, layout.within([id]))


def label_boxes(picture: Picture) -> list[tuple[Box, str]]:
    """Return the boxes and texts of the size labels."""
    groups = [group.shapes for group in picture.groups if not group.title]
    return [(box, text.text) for box, text in groups if isinstance(box, Box) and isinstance(text, Text)]


def covered(picture: Picture) -> list[str]:
    """Return the labels that lie on a curve or a layer."""
    lines = [shape.curve.points(60) for shape in picture.shapes() if isinstance(shape, Line)]
    nodes = [shape for shape in picture.shapes() if isinstance(shape, Box) and shape.edge]
    found = []
    for box, text in label_boxes(picture):
        right, bottom = box.x + box.width, box.y + box.height
        on_line = any(box.x <= x <= right and box.y <= y <= bottom for points in lines for x, y in points)
        on_node = any(
            box.x < node.x + node.width and node.x < right and box.y + 1 < node.y + NODE_HEIGHT and node.y < bottom - 1
            for node in nodes
        )
        if on_line or on_node:
            found.append(text)
    return found


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_size_in_a_template_lies_on_a_curve_or_a_layer(path: Path) -> None:
    project = load(path).project
    for network, layout in networks(project.network, project.layout):
        assert covered(draw(network, layout, analyse(network))) == []


@pytest.mark.parametrize("flow", FLOWS)
def test_a_split_has_one_label(flow: Flow) -> None:
    network, image = add(Network.empty(), layer("image_input", channels=3, size=8))
    network, left = add(network, layer("conv2d", filters=5), image)
    network, right = add(network, layer("conv2d", filters=5), image)
    network, _ = add(network, layer("addition"), left, right)
    drawn = draw(network, arrange(network, flow=flow), analyse(network))
    shown = [text for _, text in label_boxes(drawn)]
    assert shown.count("3 × 8 × 8") == 1
    assert shown.count("5 × 8 × 8") == 3, "two inputs of the addition, and its output"
    assert covered(drawn) == []


def test_a_line_across_a_huge_canvas_is_near_everything_and_takes_no_memory() -> None:
    room = labels.Room()
    room.put_curve("far", Curve((0.0, 0.0), (((1e9, 1e9),),)))
    room.put_label("here", (495.0, 490.0, 520.0, 510.0))
    assert room.labels_on("far") == {"here"}
    assert not room.is_free((7000.0, 6990.0, 7010.0, 7010.0))
    assert room.is_free((7000.0, 90.0, 7010.0, 110.0))
    room.drop_curve("far")
    assert room.is_free((7000.0, 6990.0, 7010.0, 7010.0))


def named(*names: str) -> Network:
    return Network({name: Layer(name, name, layer("relu")) for name in names})


@pytest.mark.parametrize(
    ("names", "beginning"),
    [
        (("features/a/conv_1", "features/a/conv_2", "features/b/conv_3", "classifier"), "features/"),
        (("conv_1", "conv_2", "conv_3", "relu_1"), ""),
        (("net.layer1.conv", "net.layer1.bn", "net.layer1.relu", "out"), "net.layer1."),
        (("a", "b"), ""),
        ((), ""),
    ],
)
def test_the_beginning_that_most_names_share_ends_before_a_word(names: tuple[str, ...], beginning: str) -> None:
    assert common_beginning(named(*names)) == beginning


@pytest.mark.parametrize(
    ("name", "room", "shown"),
    [
        ("features/conv_12", 16, "features/conv_12"),
        ("features/conv_12", 10, "…conv_12"),
        ("features/denselayer_conv_128", 12, "densel…v_128"),
        ("features/denselayer_conv_128", 5, "d…128"),
        ("features/denselayer_conv_128", 2, "…128"),
        ("classifier_of_7", 9, "clas…of_7"),
        ("stage_4_down", 9, "st…4_down"),
    ],
)
def test_a_long_name_loses_the_common_beginning_first_and_its_number_never(name: str, room: int, shown: str) -> None:
    assert short_name(name, "features/", room, len) == shown


@pytest.mark.parametrize(("room", "shown"), [(9, "…13_conv1"), (14, "dense…13_conv1"), (21, "…1_denselayer13_conv1")])
def test_layers_of_blocks_keep_the_number_that_tells_them_apart(room: int, shown: str) -> None:
    names = [f"features/denseblock1_denselayer{number}_conv1" for number in range(10, 27)]
    short = [short_name(name, "features/", room, len) for name in names]
    assert len(set(short)) == len(names)
    assert all(len(name) <= room for name in short)
    assert short[3] == shown
