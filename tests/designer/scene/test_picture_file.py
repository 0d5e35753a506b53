import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from netwright.designer import theme
from netwright.designer.editor import Editor
from netwright.designer.scene.picture_file import PNG_SCALE, area, save_picture
from netwright.designer.scene.scene import Scene
from netwright.engine.core.errors import UserError
from netwright.engine.drawing import colours
from netwright.engine.network import annotations
from netwright.engine.network.arrangement import arrange
from netwright.engine.project.project import Project
from tests.builders import classifier

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def scene(qapp) -> Scene:
    network = classifier()
    return Scene(Editor(Project(network, arrange(network))))


def has(image: QImage, colour: QColor) -> bool:
    wanted = colour.rgb()
    return any(image.pixel(x, y) == wanted for x in range(image.width()) for y in range(0, image.height(), 2))


def test_the_png_holds_the_whole_network_twice_as_large(scene: Scene, tmp_path: Path) -> None:
    save_picture(scene, tmp_path / "net.png", "net")
    image = QImage(str(tmp_path / "net.png"))
    assert image.size() == (area(scene).size() * PNG_SCALE).toSize()
    assert image.text("Title") == "net"
    assert has(image, theme.current().family("Fully connected"))
    edge = {image.pixel(x, y) for x in (0, image.width() - 1) for y in range(image.height())}
    assert edge == {theme.current().canvas.rgb()}, "a margin all around"


def test_the_svg_is_vectors_and_text(scene: Scene, tmp_path: Path) -> None:
    save_picture(scene, tmp_path / "net.svg", "net")
    root = ET.parse(tmp_path / "net.svg").getroot()
    shown = {"".join(e.itertext()) for e in root.iter(f"{SVG}text")}
    assert {"image_1", "fc_1", "relu_1", "fc_2", "softmax_1", "1 × 6 × 6", "8", "3"} <= shown
    assert list(root.iter(f"{SVG}image")) == []
    assert root.findtext(f"{SVG}title") == "net"
    assert list(map(float, root.attrib["viewBox"].split())) == [0, 0, area(scene).width(), area(scene).height()]


def test_the_svg_shows_the_cards_as_the_canvas_does(scene: Scene, tmp_path: Path) -> None:
    """What writes SVG takes no notice of clipping: a coloured edge must not become a coloured card."""
    save_picture(scene, tmp_path / "net.svg")
    renderer = QSvgRenderer(str(tmp_path / "net.svg"))
    image = QImage(area(scene).size().toSize(), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    x, y = scene.nodes.index.positions["id2"]
    left, top = x - area(scene).left(), y - area(scene).top()
    assert image.pixelColor(round(left) + 4, round(top) + 21) == theme.current().family("Fully connected")
    assert image.pixelColor(round(left) + 12, round(top) + 38) == theme.current().node


def test_the_pdf_has_one_page_of_the_size_of_the_network(scene: Scene, tmp_path: Path) -> None:
    save_picture(scene, tmp_path / "net.pdf", "net")
    data = (tmp_path / "net.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.rstrip().endswith(b"%%EOF")
    box = re.search(rb"/MediaBox \[\s*0 0 ([\d.]+) ([\d.]+)", data)
    assert box is not None
    assert float(box[1]) == pytest.approx(area(scene).width() * 0.75, abs=1)
    assert float(box[2]) == pytest.approx(area(scene).height() * 0.75, abs=1)
    assert len(re.findall(rb"/Type /Page\b", data)) == 1


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_what_is_selected_does_not_show(scene: Scene, tmp_path: Path, ending: str) -> None:
    save_picture(scene, tmp_path / f"plain.{ending}")
    scene.editor.select_all()
    save_picture(scene, tmp_path / f"selected.{ending}")
    assert (tmp_path / f"plain.{ending}").read_bytes() == (tmp_path / f"selected.{ending}").read_bytes()


def test_what_cannot_be_saved_is_said_in_words(scene: Scene, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"ends in \.png, \.svg, \.pdf"):
        save_picture(scene, tmp_path / "net.gif")
    with pytest.raises(UserError, match="cannot be written"):
        save_picture(scene, tmp_path / "none" / "net.svg")
    with pytest.raises(UserError, match="no layers"):
        save_picture(Scene(Editor()), tmp_path / "net.svg")
    assert list(tmp_path.iterdir()) == []


def test_too_many_pixels_are_refused_with_a_way_out(scene: Scene, tmp_path: Path) -> None:
    scene.editor.apply_here("Move", layout=scene.editor.layout.moved({"id1": (40_000.0, 40_000.0)}))
    with pytest.raises(UserError, match="SVG or PDF"):
        save_picture(scene, tmp_path / "net.png")
    save_picture(scene, tmp_path / "net.pdf")
    assert (tmp_path / "net.pdf").stat().st_size > 1000


def test_frames_and_comments_are_in_the_picture(qtbot, tmp_path):
    network = classifier()
    layout = arrange(network)
    layout, _ = annotations.frame_around(layout, set(network.order[1:3]), (), "Hidden part", "blue")
    layout, _ = annotations.add_comment(layout, (600.0, 0.0), "A remark")
    scene = Scene(Editor(Project(network, layout)))
    assert area(scene).right() > 800
    save_picture(scene, tmp_path / "n.svg")
    text = (tmp_path / "n.svg").read_text()
    assert "Hidden part" in text
    assert "A remark" in text
    assert colours.frame("blue", "light").fill in text.lower()
