"""Every writer's file is looked at with somebody else's reader where there is one."""

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given
from PIL import Image

from netwright.engine.core.errors import UserError
from netwright.engine.drawing import colours
from netwright.engine.drawing.picture import Line, Picture, draw, placed
from netwright.engine.drawing.svg import svg
from netwright.engine.launch.network_png import png
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.catalog import Placeholder
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Layer, Network
from netwright.engine.project.project import Project
from tests.builders import add, chain, classifier, layer
from tests.engine.project.generated import projects

SVG = "{http://www.w3.org/2000/svg}"


def picture(network: Network, layout: Layout | None = None, theme: str = "light") -> Picture:
    return draw(network, layout or arrange(network), analyse(network), theme)


def residual() -> Network:
    """A way around two layers, which the connection has to go beside."""
    network, image = add(Network.empty(), layer("image_input", channels=3, size=8))
    network, first = add(network, layer("conv2d", filters=3), image)
    network, second = add(network, layer("relu"), first)
    network, third = add(network, layer("relu"), second)
    network, total = add(network, layer("addition"), third, image)
    return add(network, layer("fully_connected", outputs=1000), total)[0]


def read(text: str) -> ET.Element:
    return ET.fromstring(text)


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_the_svg_names_every_layer_and_every_size() -> None:
    network = residual()
    root = read(svg(picture(network), "net"))
    shown = texts(root)
    for one in network.layers.values():
        assert one.name in shown
    facts = analyse(network).shapes
    for connection in network.connections:
        assert facts[connection.source.layer].output.short() in shown
    assert shown.count("1,000") == 1, "what leaves the network stands below its last layer"
    assert "193 k" in shown, "parameters of the last layer"
    assert root.findtext(f"{SVG}title") == "net"
    titles = [element.text for element in root.iter(f"{SVG}title")]
    assert "fc_1: Fully connected · 1,000 outputs, 1,000, 193,000 parameters" in titles


def boxes(root: ET.Element) -> list[tuple[float, float, float, float]]:
    """The extent of every rectangle, circle and curve, and the points where texts begin."""
    found = []
    for e in root.iter():
        match e.tag.removeprefix(SVG):
            case "rect":
                x, y, w, h = (float(e.attrib[name]) for name in ("x", "y", "width", "height"))
                found.append((x, y, x + w, y + h))
            case "circle":
                x, y, r = (float(e.attrib[name]) for name in ("cx", "cy", "r"))
                found.append((x - r, y - r, x + r, y + r))
            case "text":
                x, y = float(e.attrib["x"]), float(e.attrib["y"])
                found.append((x, y, x, y))
            case "path" if e.attrib["fill"] == "none":
                numbers = [float(n) for n in re.findall(r"-?[\d.]+", e.attrib["d"])]
                found.append((min(numbers[::2]), min(numbers[1::2]), max(numbers[::2]), max(numbers[1::2])))
    return found


def assert_all_inside(text: str) -> None:
    root = read(text)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    for x1, y1, x2, y2 in boxes(root):
        assert left - 0.02 <= x1 <= x2 <= left + width + 0.02
        assert top - 0.02 <= y1 <= y2 <= top + height + 0.02


@given(projects())
def test_any_project_can_be_drawn_with_nothing_outside(project: Project) -> None:
    analysis = analyse(project.network)
    drawn = draw(project.network, placed(project.network, project.layout), analysis)
    text = svg(drawn, "any")
    assert_all_inside(text)
    shown = " ".join(texts(read(text)))
    assert all(one.name[:4] in shown for one in project.network.layers.values())


def test_a_connection_goes_beside_the_layers_in_its_way() -> None:
    network = residual()
    column = dict(zip(network.layers, [(0.0, 60.0 * n) for n in range(6)], strict=True))
    drawn = picture(network, Layout(column))
    (around,) = [s for s in drawn.shapes() if isinstance(s, Line) and len(s.curve.pieces) > 1]
    middle = [x for x, y in around.curve.points() if 100 < y < 200]
    assert middle
    assert all(x < 0 or x > 176 for x in middle)
    assert_all_inside(svg(drawn, "net"))


def test_what_a_file_says_cannot_break_the_svg() -> None:
    odd = Layer("a", "a", Placeholder('<script>&"', {}, (), ("",)))
    root = read(svg(picture(Network({"a": odd})), "<b> & c"))
    assert 'Unknown layer · <script>&"' in texts(root)
    assert root.findtext(f"{SVG}title") == "<b> & c"
    assert list(root.iter(f"{SVG}script")) == []


def test_long_names_keep_their_ends_and_their_whole_in_the_title() -> None:
    name = "a" * 30 + "b" * 30
    text = svg(picture(edits.rename(classifier(), "id2", name)), "net")
    shown = next(t for t in texts(read(text)) if t.startswith("aaa"))
    assert re.fullmatch("a+…b+", shown)
    assert f"<title>{name}: " in text


def test_a_bypassed_layer_says_so_and_is_paler() -> None:
    network = classifier()
    full = svg(picture(network), "net")
    pale = svg(picture(edits.set_bypassed(network, ["id3"], True)), "net")
    assert "Bypassed · ReLU" in pale
    family = colours.family("Activation", "light")
    assert pale.count(family) == full.count(family) - 1


def test_light_and_dark_differ_in_colours_only() -> None:
    light, dark = (svg(picture(classifier(), theme=theme), "net") for theme in ("light", "dark"))
    assert light != dark
    colour = re.compile("#[0-9a-f]{6}")
    assert colour.sub("", light) == colour.sub("", dark)


def test_layers_that_stand_on_each_other_are_arranged() -> None:
    network = classifier()
    assert placed(network, Layout()) == arrange(network)
    crowded = arrange(network).moved({"id1": arrange(network).at("id2")})
    assert placed(network, crowded) == arrange(network)
    spread = arrange(network).moved({"id1": (500.0, 7.0)})
    assert placed(network, spread) is spread


def test_layers_that_do_not_fit_are_drawn_without_sizes() -> None:
    shown = texts(read(svg(picture(chain(layer("feature_input"), layer("max_pool2d"), layer("relu"))), "net")))
    assert "relu_1" in shown
    assert "8" not in shown


def test_the_png_is_what_was_drawn() -> None:
    drawn = picture(classifier())
    image = Image.open(io.BytesIO(png(drawn, 2.0)))
    assert image.size == (round(drawn.area[2] * 2), round(drawn.area[3] * 2))
    used = {colour for _, colour in image.convert("RGB").getcolors(10**7) or []}
    assert colours.parts(colours.family("Fully connected", "light")) in used, "the edge of a fully connected layer"
    assert image.convert("RGB").getpixel((1, 1)) == colours.parts(colours.SCHEMES["light"]["canvas"])


def test_a_picture_too_large_for_pixels_is_refused_with_a_way_out() -> None:
    far = replace(picture(classifier()), area=(0, 0, 30_000, 30_000))
    with pytest.raises(UserError, match=r"60,000 × 60,000 pixels.*Draw it as SVG"):
        png(far)
