"""Export of the scene: PNG, SVG or PDF of the whole network as on the canvas, without marks of editing."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRectF, QSizeF, Qt
from PySide6.QtGui import QImage, QPageSize, QPaintDevice, QPainter, QPdfWriter, QPen

from netwright.designer import theme
from netwright.designer.language import tr
from netwright.designer.scene import pictures
from netwright.designer.scene.annotation_items import paint_comment, paint_frame
from netwright.designer.scene.scene import Scene
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import write_atomically

FORMATS = (".png", ".svg", ".pdf")
MARGIN = 32.0
PNG_SCALE = 2.0
MOST_PIXELS = 100_000_000
_PDF_DPI = 1200
_POINTS = 0.75
_LARGEST_PAGE = 14_400.0


def area(scene: Scene) -> QRectF:
    """Return the box of the whole network with its connections and labels, and a margin, in integers."""
    box = scene.content_box()
    for edge in scene.edges.edges.values():
        box = box.united(edge.bounds)
    return QRectF(box.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN).toAlignedRect())


def save_picture(scene: Scene, to: Path, title: str = "") -> None:
    """Write the picture; the file extension decides the format. Raises `UserError`."""
    writers: dict[str, Callable[[Scene, str], bytes]] = {".png": _png, ".svg": _svg, ".pdf": _pdf}
    writer = writers.get(to.suffix.lower())
    if writer is None:
        raise UserError(tr("{name}: a picture ends in {formats}.", name=to.name, formats=", ".join(FORMATS)))
    if not scene.nodes.nodes:
        raise UserError(tr("The network has no layers, so there is nothing to draw."))
    content = writer(scene, title)
    try:
        write_atomically(to, content)
    except OSError as error:
        raise UserError(
            tr("{to} cannot be written: {reason}. Choose another place.", to=to, reason=error.strerror)
        ) from None


def paint(painter: QPainter, scene: Scene) -> None:
    """Paint the network as shapes and text on any device; the canvas itself uses cached pictures for speed."""
    palette = theme.current()
    scene.finish()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillRect(area(scene), palette.canvas)
    for frame in scene.annotations.layout.frames:
        paint_frame(painter, frame)
    for comment in scene.annotations.layout.comments:
        paint_comment(painter, comment)
    painter.setPen(QPen(palette.outline, 1.3))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for edge in scene.edges.edges.values():
        painter.drawPath(edge.path)
    painter.setFont(pictures.font(11))
    painter.setPen(palette.muted)
    for edge in scene.edges.edges.values():
        if edge.text:
            painter.fillRect(edge.label_box(), palette.canvas)
            painter.drawText(edge.label_box(), Qt.AlignmentFlag.AlignCenter, edge.text)
    for id, node in scene.nodes.nodes.items():
        painter.save()
        painter.translate(*scene.nodes.index.positions[id])
        pictures.paint(painter, replace(node.content, is_selected=False, severity=""))
        painter.restore()


def _painted(device: QPaintDevice, scene: Scene, scale: float) -> None:
    painter = QPainter(device)
    painter.scale(scale, scale)
    painter.translate(-area(scene).topLeft())
    paint(painter, scene)
    painter.end()


def _png(scene: Scene, title: str) -> bytes:
    size = (area(scene).size() * PNG_SCALE).toSize()
    if size.width() * size.height() > MOST_PIXELS:
        raise UserError(
            tr(
                "The picture would have {width:,} × {height:,} pixels, more than fit into memory "
                "well. Save it as SVG or PDF, which have no pixels.",
                width=size.width(),
                height=size.height(),
            )
        )
    image = QImage(size, QImage.Format.Format_RGB32)
    image.setText("Title", title)
    _painted(image, scene, PNG_SCALE)
    buffer = _buffer()
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs want bytes, which Qt does not take
    return bytes(buffer.data().data())


def _svg(scene: Scene, title: str) -> bytes:
    from PySide6.QtSvg import QSvgGenerator

    size = area(scene).size()
    buffer = _buffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(96)
    generator.setSize(size.toSize())
    generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
    generator.setTitle(title)
    generator.setDescription("A network drawn with Netwright")
    _painted(generator, scene, 1.0)
    return bytes(buffer.data().data())


def _pdf(scene: Scene, title: str) -> bytes:
    size = area(scene).size()
    points = min(_POINTS, _LARGEST_PAGE / max(size.width(), size.height()))
    buffer = _buffer()
    writer = QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setCreator("Netwright")
    writer.setResolution(_PDF_DPI)
    page = QSizeF(size.width() * points, size.height() * points)
    writer.setPageSize(QPageSize(page, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    _painted(writer, scene, points / 72 * _PDF_DPI)
    return bytes(buffer.data().data())


def _buffer() -> QBuffer:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    return buffer
