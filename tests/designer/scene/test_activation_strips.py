"""Pictures of what layers give, beside the layers: where they stand, and where they have no room."""

from PySide6.QtGui import QColor, QImage, QPainter

from netwright.designer.canvas.view import CanvasView
from netwright.designer.editor import Editor
from netwright.designer.scene.activation_strips import APART, MOST, SIDE
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Layout
from netwright.engine.project.project import Project
from tests.builders import chain, layer


def picture(wide: int, high: int) -> QImage:
    image = QImage(wide, high, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    return image


def test_pictures_stand_beside_their_layer_as_far_as_there_is_room(qtbot) -> None:
    network = chain(layer("image_input", channels=1, size=8), layer("relu"), layer("flatten"))
    a, b, c = network.order
    near = NODE_WIDTH + APART + 2 * SIDE + 10
    layout = Layout(positions={a: (0.0, 0.0), b: (near, 0.0), c: (0.0, 200.0)})
    view = CanvasView(Editor(Project(network, layout=layout)))
    qtbot.addWidget(view)
    scene = view.network_scene
    scene.show_activations(
        {a: [picture(8, 8)] * 9, b: [picture(8, 8)] * 9, c: [picture(10, 1)], "gone": [picture(1, 1)]}
    )
    first = scene.strips.places(a)
    assert len(first) == 2  # then comes the next layer
    assert first[0].left() == NODE_WIDTH + APART
    assert first[0].center().y() == NODE_HEIGHT / 2
    assert len(scene.strips.places(b)) == MOST
    (line,) = scene.strips.places(c)
    assert line.width() > 5 * SIDE > 5 * line.height()
    image = QImage(800, 400, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    scene.render(painter, source=scene.strips.boundingRect())
    painter.end()
    assert any(image.pixelColor(x, y).name() == "#ff0000" for x in range(0, 800, 8) for y in range(0, 400, 8))
    scene.show_activations({})
    assert scene.strips.boundingRect().isEmpty()
