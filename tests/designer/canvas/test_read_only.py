import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QPainter, QWheelEvent

from netwright.designer import theme
from netwright.designer.canvas.read_only import ReadOnlyView
from netwright.designer.editor import Editor
from netwright.designer.scene.differences import SIGNS, sign_icon
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH
from netwright.engine.project.project import Project
from tests.builders import classifier

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def reader(qtbot) -> ReadOnlyView:
    network = classifier()
    view = ReadOnlyView(Editor(Project(network, arrange(network))))
    qtbot.addWidget(view)
    view.resize(600, 500)
    with qtbot.waitExposed(view):
        view.show()
    view.fit()
    return view


def body(view: ReadOnlyView, id: str) -> QPoint:
    x, y = view.editor.layout.at(id)
    return view.mapFromScene(QPointF(x + NODE_WIDTH / 2, y + NODE_HEIGHT / 2))


def test_a_click_names_the_layer_and_changes_nothing(qtbot, reader: ReadOnlyView) -> None:
    before = reader.editor.project
    with qtbot.waitSignal(reader.layer_clicked) as clicked:
        qtbot.mouseClick(reader.viewport(), LEFT, pos=body(reader, "id3"))
    assert clicked.args == ["id3"]
    with qtbot.waitSignal(reader.layer_clicked) as beside:
        qtbot.mouseClick(reader.viewport(), LEFT, pos=QPoint(5, 5))
    assert beside.args == [""]
    assert reader.editor.project is before


def test_dragging_a_layer_moves_the_view_and_not_the_layer(qtbot, reader: ReadOnlyView) -> None:
    before, start = reader.editor.project, body(reader, "id2")
    qtbot.mousePress(reader.viewport(), LEFT, pos=start)
    for step in (QPoint(20, 10), QPoint(40, 30)):
        qtbot.mouseMove(reader.viewport(), start + step)
    with qtbot.assertNotEmitted(reader.layer_clicked):
        qtbot.mouseRelease(reader.viewport(), LEFT, pos=start + QPoint(40, 30))
    assert (body(reader, "id2") - start - QPoint(40, 30)).manhattanLength() <= 2
    assert reader.editor.project is before


@pytest.mark.parametrize("key", [Qt.Key.Key_Delete, Qt.Key.Key_Backspace, Qt.Key.Key_F2, Qt.Key.Key_B])
def test_no_key_edits(qtbot, reader: ReadOnlyView, key: Qt.Key) -> None:
    before = reader.editor.project
    reader.editor.select_all()
    qtbot.keyClick(reader, key)
    assert reader.editor.project is before


def test_keys_and_wheel_zoom_and_scroll(qtbot, reader: ReadOnlyView) -> None:
    zoom = reader.zoom
    qtbot.keyClick(reader, Qt.Key.Key_Minus)
    assert reader.zoom < zoom
    middle = reader.middle
    qtbot.keyClick(reader, Qt.Key.Key_Down)
    assert reader.middle.y() > middle.y()
    zoom, at = reader.zoom, QPointF(300, 250)
    none = Qt.KeyboardModifier.NoModifier
    turn = QWheelEvent(
        at, at, QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, none, Qt.ScrollPhase.NoScrollPhase, False
    )
    reader.wheelEvent(turn)
    assert reader.zoom > zoom


def test_going_to_a_layer_selects_it_and_makes_it_readable(reader: ReadOnlyView) -> None:
    reader.look(0.2, QPointF(4000, 4000))
    reader.go_to("id4")
    assert reader.editor.selection == {"id4"}
    assert reader.zoom >= 0.9
    x, y = reader.editor.layout.at("id4")
    assert reader.visible_area().contains(QPointF(x, y))


def painted(reader: ReadOnlyView) -> QImage:
    image = QImage(600, 500, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    reader.render(painter)
    painter.end()
    return image


@pytest.mark.parametrize(("sign", "token"), [("+", "good"), ("-", "error"), ("~", "warning")])
def test_marks_are_painted_in_their_colour_and_replaced(reader: ReadOnlyView, sign: str, token: str) -> None:
    colour = getattr(theme.current(), token).rgb()

    def count() -> int:
        image = painted(reader)
        return sum(image.pixel(x, y) == colour for x in range(600) for y in range(500))

    line = reader.editor.network.connections[0]
    assert count() == 0
    reader.mark({"id2": sign}, {})
    alone = count()
    assert alone > 100
    reader.mark({"id2": sign}, {line: sign})
    assert count() > alone
    reader.mark({}, {})
    assert count() == 0


def test_each_sign_has_a_shape_of_its_own(qapp) -> None:
    """Colour never says it alone."""
    shapes = set()
    for sign in SIGNS:
        image = sign_icon(sign, 1.0).pixmap(18, 18).toImage()
        light = theme.current().canvas.lightness() - 40
        shapes.add(tuple(image.pixelColor(x, y).lightness() > light for x in range(4, 14) for y in range(4, 14)))
    assert len(shapes) == len(SIGNS)
