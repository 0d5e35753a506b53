"""How the arrangement reads, measured on the templates that come with the program: crossings, length, and air."""

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import hypot

import pytest

from netwright.engine.core.files import ROOT
from netwright.engine.drawing.picture import Line, draw
from netwright.engine.drawing.routes import LANE, Curve, Point
from netwright.engine.network.analysis import analyse
from netwright.engine.network.arrangement import arrange, outline, positions
from netwright.engine.network.block import Block
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Layout
from netwright.engine.network.network import Network
from netwright.engine.project.file import load
from tests.builders import add, chain, layer

Box = tuple[float, float, float, float]
TEMPLATES = sorted(path.stem for path in (ROOT / "resources" / "templates").glob("*.netwright"))
LONGEST = {"unet": 2900, "seq2seq": 1200}
"""Total length of the connections of the outer network, where it is more than short straight lines."""
CROSSINGS = {"seq2seq": 1}
HIDDEN = {"seq2seq": 2}
"""Sizes that have no room beside their connection."""
VISIBLE_HEIGHT = 1130.0
"""Height that a window of 1440 x 900 shows at 60 %."""


def arranged(network: Network) -> list[Curve]:
    drawn = draw(network, arrange(network), analyse(network))
    return [shape.curve for shape in drawn.shapes() if isinstance(shape, Line)]


def insides(network: Network) -> list[Network]:
    """Return the network and those inside its blocks."""
    inner = [one.type.network for one in network.layers.values() if isinstance(one.type, Block)]
    return [network, *(found for one in inner for found in insides(one))]


def crossings(curves: list[Curve]) -> int:
    """Return the pairs of curves that cross; those from or to a common port may touch."""
    lines = [list(pairwise(curve.points(10))) for curve in curves]
    boxes = [box(curve.points(10)) for curve in curves]
    return sum(
        any(_cross(a, b) for a in lines[one] for b in lines[other])
        for one, other in combinations(range(len(curves)), 2)
        if curves[one].start != curves[other].start
        and curves[one].end != curves[other].end
        and overlap(boxes[one], boxes[other])
    )


def box(points: Sequence[Point]) -> Box:
    """Return left, top, right and bottom of what surrounds the points."""
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def overlap(one: Box, other: Box) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def points_over_layers(curve: Curve, layout: Layout) -> list[Point]:
    """Return the points of the curve that lie over a layer, its ends left out."""
    points = curve.points(40)[1:-1]
    around = box(points)
    nodes = [(x, y, x + NODE_WIDTH, y + NODE_HEIGHT) for x, y in layout.positions.values()]
    near = [node for node in nodes if overlap(node, around)]
    return [(x, y) for x, y in points for node in near if node[0] < x < node[2] and node[1] < y < node[3]]


def _cross(one: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    def side(a: Point, b: Point, c: Point) -> float:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    (a, b), (c, d) = one, other
    return side(a, b, c) * side(a, b, d) < -1e-9 and side(c, d, a) * side(c, d, b) < -1e-9


def length(curves: list[Curve]) -> float:
    return sum(hypot(b[0] - a[0], b[1] - a[1]) for curve in curves for a, b in pairwise(curve.points()))


def closest_lanes(curves: list[Curve]) -> float:
    """Return the least distance of two upright or level lines of different ports that run beside each other."""
    lines = []
    for curve in curves:
        at = curve.start
        for piece in curve.pieces:
            if len(piece) == 1 and hypot(piece[0][0] - at[0], piece[0][1] - at[1]) > 60:
                lines.append((curve.start, at, piece[0]))
            at = piece[-1]
    closest = float("inf")
    for (one, a, b), (other, c, d) in combinations(lines, 2):
        for across, along in ((0, 1), (1, 0)):
            is_parallel = a[across] == b[across] and c[across] == d[across]
            low = max(min(a[along], b[along]), min(c[along], d[along]))
            high = min(max(a[along], b[along]), max(c[along], d[along]))
            if one != other and is_parallel and high - low > 1:
                closest = min(closest, abs(a[across] - c[across]))
    return closest


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_reads_well_as_it_is_arranged(name: str) -> None:
    project = load(ROOT / "resources" / "templates" / f"{name}.netwright").project
    for network in insides(project.network):
        curves = arranged(network)
        assert closest_lanes(curves) >= LANE
        assert crossings(curves) <= CROSSINGS.get(name, 0)
    layout = arrange(project.network)
    drawn = draw(project.network, layout, analyse(project.network))
    sizes = sum(1 for group in drawn.groups if not group.title)
    ports = {connection.source for connection in project.network.connections} | set(project.network.output_ports)
    assert sizes >= len(ports) - HIDDEN.get(name, 0)
    ys = [y for _, y in layout.positions.values()]
    assert max(ys) - min(ys) <= VISIBLE_HEIGHT
    assert length(arranged(project.network)) <= LONGEST.get(name, 18 * len(project.network.layers) + 1400)
    assert layout.positions == project.layout.positions, "stored as it is arranged"


def test_an_encoder_and_its_decoder_are_a_u() -> None:
    project = load(ROOT / "resources" / "templates" / "unet.netwright").project
    network, layout = project.network, arrange(project.network)
    at = {one.name: layout.at(id) for id, one in network.layers.items()}
    for level in range(1, 5):
        assert at[f"down_{level}"][1] == at[f"concatenation_{5 - level}"][1], "the connection between them is level"
        assert at[f"concatenation_{level}"][0] - at[f"down_{level}"][0] > 2 * NODE_WIDTH
    assert at["down_1"][1] < at["down_4"][1] < at["bottom"][1]
    assert at["bottom"][1] > at["up_1"][1] > at["up_4"][1] > at["softmax_1"][1]
    drawn = draw(network, layout, analyse(network))
    trunk = [shape.curve for shape in drawn.shapes() if isinstance(shape, Line) and length([shape.curve]) < 30]
    assert len(trunk) >= 10, "neighbours in the right arm are joined by short lines: their inputs are below"


def test_the_branches_inside_a_residual_block_are_no_u() -> None:
    project = load(ROOT / "resources" / "templates" / "efficientnet_b0.netwright").project
    (stage,) = [one.type for one in project.network.layers.values() if one.name == "stage_2"]
    assert isinstance(stage, Block)
    assert len({x for x, _ in arrange(stage.network).positions.values()}) == 1


def test_a_long_chain_goes_on_in_a_next_column_that_the_window_shows() -> None:
    relu = layer("relu")
    for count, columns in ((18, 1), (19, 2), (40, 3), (90, 5), (91, 6), (316, 10)):
        network = chain(layer("feature_input", channels=4), *[relu] * (count - 1))
        layout = arrange(network)
        assert len({x for x, _ in layout.positions.values()}) == columns
        assert len({x for x, _ in arrange(network, may_fold=False).positions.values()}) == 1
        assert arrange(network, layout) == layout
        drawn = draw(network, layout, analyse(network))
        lines = [shape.curve for shape in drawn.shapes() if isinstance(shape, Line)]
        assert not any(points_over_layers(curve, layout) for curve in lines), "no connection runs over a layer"


def test_a_long_network_with_shortcuts_is_cut_where_one_connection_passes() -> None:
    """Residual blocks of four layers and an addition: 316 layers, as many columns as make the shape of the view."""
    relu, network = layer("relu"), chain(layer("feature_input", channels=4))
    (last,) = network.layers.values()
    for _ in range(63):
        before = last
        for _ in range(4):
            network, last = add(network, relu, last)
        network, last = add(network, layer("addition"), last, before)
    for aspect, least, most in ((1.0, 6, 9), (1.5, 8, 12), (3.0, 11, 17)):
        layout = Layout(positions(outline(network, Layout(), aspect=aspect)))
        xs, ys = zip(*layout.positions.values(), strict=True)
        width, height = max(xs) + NODE_WIDTH, max(ys) + NODE_HEIGHT
        assert 0.5 * aspect < width / height < 1.6 * aspect
        tops = [id for id, (_, y) in layout.positions.items() if y == 0]
        assert least <= len(tops) <= most
        for id in tops[1:]:
            assert len(network.incoming[id]) == 1, "no column begins inside a block"
        drawn = draw(network, layout, analyse(network))
        lines = [shape.curve for shape in drawn.shapes() if isinstance(shape, Line)]
        assert not any(points_over_layers(curve, layout) for curve in lines), "no connection runs over a layer"
