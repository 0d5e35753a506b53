"""The network on paper: white, light, whole, on one page or on several."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPageLayout, QPainter
from PySide6.QtPrintSupport import QPrinter

from netwright.designer import theme
from netwright.designer.editor import Editor
from netwright.designer.scene.picture_file import area
from netwright.designer.scene.printed_pages import pages, paint_page, print_network, turn
from netwright.designer.scene.scene import Scene
from netwright.engine.network.arrangement import arrange
from netwright.engine.project.project import Project
from tests.builders import chain, classifier, layer


def drawn(network) -> Scene:
    return Scene(Editor(Project(network, arrange(network))))


def colours(image: QImage) -> set[str]:
    return {QColor(image.pixel(x, y)).name() for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)}


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_a_page_is_white_and_in_the_light_theme(qapp, scheme: theme.Scheme) -> None:
    theme.apply(qapp, scheme)
    screen, scene = theme.current(), drawn(classifier())
    part = area(scene)
    image = QImage(part.size().toSize(), QImage.Format.Format_RGB32)
    image.fill(QColor("magenta"))
    painter = QPainter(image)
    paint_page(painter, scene, part, 1.0)
    painter.end()
    assert theme.current() is screen
    seen = colours(image)
    assert image.pixelColor(2, 2) == QColor("white")
    assert theme.light().family("Activation").name() in seen
    assert {
        theme.dark().node.name(),
        theme.dark().canvas.name(),
        theme.light().canvas.name(),
        "#ff00ff",
    } & seen == set()


@pytest.mark.parametrize("num_layers", [3, 600])
def test_as_many_pages_are_printed_as_the_network_needs(qapp, tmp_path: Path, num_layers: int) -> None:
    scene = drawn(chain(layer("image_input"), *[layer("relu") for _ in range(num_layers)]))
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "net.pdf"))
    turn(printer, scene)
    count = print_network(scene, printer)
    assert (count > 1) is (num_layers > 100)
    assert len(re.findall(rb"/Type /Page\b", (tmp_path / "net.pdf").read_bytes())) == count


@pytest.mark.parametrize(
    ("size", "expected"), [((200, 300), 1), ((1900, 2700), 1), ((1900, 2800), 2), ((4000, 300), 3), ((4000, 5600), 9)]
)
def test_pages_hold_the_whole_network_at_a_size_that_can_be_read(size: tuple[int, int], expected: int) -> None:
    network, paper = QRectF(-50, 20, *size), QRectF(0, 0, 5700, 8200)
    scale, parts = pages(network, paper, 10.0)
    assert len(parts) == expected
    assert 3.0 <= scale <= 7.5
    whole = parts[0].united(parts[-1])
    assert whole.adjusted(-1e-6, -1e-6, 1e-6, 1e-6).contains(network)
    assert whole.center().x() == pytest.approx(network.center().x())
    for part in parts:
        assert part.width() * scale == pytest.approx(paper.width())


def test_the_page_is_turned_to_the_network(qapp) -> None:
    scene, printer = drawn(classifier()), QPrinter()
    turn(printer, scene)
    is_wide = area(scene).width() > area(scene).height()
    kinds = QPageLayout.Orientation
    assert printer.pageLayout().orientation() == (kinds.Landscape if is_wide else kinds.Portrait)
