import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QNativeGestureEvent, QPointingDevice, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from netwright.designer import theme
from netwright.designer.canvas.text_fields import RenameField
from netwright.designer.canvas.view import CanvasView
from netwright.designer.canvas.viewport import LEGIBLE
from netwright.engine.core.types import features
from netwright.engine.layers.base import LayerType
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH
from netwright.engine.network.network import Network
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.project import Project
from netwright.engine.project.starter import MAKE
from tests.builders import chain, layer
from tests.designer.mouse import NONE, Hand


def wheel(hand: Hand, at: QPoint, turn: int, keys: Qt.KeyboardModifier = NONE) -> None:
    phase = Qt.ScrollPhase.NoScrollPhase
    button = Qt.MouseButton.NoButton
    event = QWheelEvent(QPointF(at), QPointF(at), QPoint(), QPoint(0, turn), button, keys, phase, False)
    hand.view.wheelEvent(event)


def tower(count: int) -> Network:
    types: list[LayerType] = [layer("image_input"), *(layer("relu") for _ in range(count))]
    return chain(*types)


@pytest.fixture
def make_tall(qtbot):
    """A canvas with a tower in one column."""

    def make(count: int) -> Hand:
        network = tower(count)
        return Hand(qtbot, Project(network, arrange(network, may_fold=False)))

    return make


def test_the_wheel_zooms_around_the_pointer(hand: Hand):
    at = hand.body("fc_2")
    before = hand.view.mapToScene(at)
    wheel(hand, at, 240)
    assert hand.view.zoom > 1.5
    after = hand.view.mapToScene(at)
    assert abs(after.x() - before.x()) < 2
    assert abs(after.y() - before.y()) < 2


def test_the_zoom_has_ends(hand: Hand):
    for _ in range(40):
        hand.view.zoom_in()
    assert hand.view.zoom == 4.0
    for _ in range(60):
        hand.view.zoom_out()
    assert hand.view.zoom == 0.1
    hand.view.zoom_reset()
    assert hand.view.zoom == 1.0


def test_shift_and_the_wheel_go_sideways(hand: Hand):
    before = hand.body("fc_1")
    wheel(hand, QPoint(100, 100), -40, Qt.KeyboardModifier.ShiftModifier)
    assert hand.body("fc_1") == before - QPoint(40, 0)
    assert hand.view.zoom == 1.0


def test_keys_zoom_and_fit(hand: Hand):
    hand.key(Qt.Key.Key_Plus)
    assert hand.view.zoom == 1.25
    hand.key(Qt.Key.Key_Minus)
    assert hand.view.zoom == 1.0
    hand.view.scroll_by(QPoint(5000, 0))
    hand.key(Qt.Key.Key_F)
    assert hand.view.visible_area().contains(hand.view.network_scene.content_box())


def test_fit_shows_a_deep_network_whole(make_tall):
    hand = make_tall(200)
    hand.view.fit()
    assert hand.view.visible_area().contains(hand.view.network_scene.content_box())
    assert hand.view.zoom < 0.1


def test_fit_never_enlarges(make_hand):
    hand = make_hand(chain(layer("image_input")))
    hand.view.zoom_in()
    hand.view.fit()
    assert hand.view.zoom == 1.0


def test_the_zoom_is_shown_in_percent_and_its_buttons_work(hand: Hand, qtbot):
    minus, percent, plus, fit = hand.view.overlays.zoom_chip.findChildren(type(hand.view.overlays.zoom_chip._percent))
    qtbot.mouseClick(plus, Qt.MouseButton.LeftButton)
    assert percent.text() == "125 %"
    qtbot.mouseClick(percent, Qt.MouseButton.LeftButton)
    assert percent.text() == "100 %"
    qtbot.mouseClick(minus, Qt.MouseButton.LeftButton)
    assert percent.text() == "80 %"
    qtbot.mouseClick(fit, Qt.MouseButton.LeftButton)
    assert percent.text() == "100 %"


def test_the_overview_is_there_only_when_something_is_out_of_sight(make_tall):
    hand = make_tall(40)
    assert hand.view.overlays.minimap.isVisible()
    hand.view.fit()
    assert not hand.view.overlays.minimap.isVisible()


def test_a_click_on_the_overview_goes_there(make_tall, qtbot):
    hand = make_tall(60)
    top = hand.view.visible_area().top()
    minimap = hand.view.overlays.minimap
    qtbot.mouseClick(minimap, Qt.MouseButton.LeftButton, pos=QPoint(minimap.width() // 2, minimap.height() - 14))
    assert hand.view.visible_area().top() > top


def test_the_overview_has_the_shape_of_the_network_and_is_small_in_a_small_view(make_tall):
    view = make_tall(100).view
    minimap = view.overlays.minimap
    view.resize(900, 600)
    assert minimap.width() == 96, "a tall network is stretched to bands"
    colours = {minimap.grab().toImage().pixelColor(x, minimap.height() // 2).name() for x in range(12, 84)}
    family = theme.current().family("Activation")
    assert all(abs(QColor(colour).red() - family.red()) <= 2 for colour in colours)
    corner = minimap.geometry().bottomRight()
    assert corner.x() > view.width() - 20
    assert corner.y() < view.overlays.zoom_chip.y() < view.height() - 20
    before = minimap.height()
    view.resize(360, 280)
    assert minimap.height() < before


def test_the_overview_fades_where_it_lies_over_layers(make_tall):
    view = make_tall(100).view
    minimap = view.overlays.minimap
    view.look(1.0, view.layers_box(view.editor.network.layers).center())
    assert not minimap.is_faded
    view.scroll_by(QPoint(-(view.width() // 2 - 40), 0))
    assert minimap.is_faded


def test_an_empty_canvas_says_what_to_do_first(make_hand, qtbot):
    hand = make_hand(Network.empty())
    starter, example, add = hand.view.overlays.empty.findChildren(QPushButton)
    assert starter.isHidden()
    with qtbot.waitSignal(hand.view.example_requested):
        qtbot.mouseClick(example, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(hand.view.add_input_requested):
        qtbot.mouseClick(add, Qt.MouseButton.LeftButton)
    assert hand.names() == ["image_1"]
    assert not hand.view.overlays.empty.isVisible()
    hand.editor.undo()
    assert hand.view.overlays.empty.isVisible()


def test_an_empty_canvas_offers_a_network_for_the_data(make_hand, qtbot):
    hand = make_hand(Network.empty())
    info = DatasetInfo((InputInfo("x", features(4)),), {"training": 600}, classes_of("a", "b"))
    hand.editor.set_dataset_info(info)
    starter = hand.view.overlays.empty.findChildren(QPushButton)[0]
    assert starter.text() == MAKE
    assert starter.width() >= starter.sizeHint().width()
    qtbot.mouseClick(starter, Qt.MouseButton.LeftButton)
    assert hand.names()[-1] == "softmax_1"
    assert not hand.view.overlays.empty.isVisible()
    hand.editor.undo()
    assert hand.view.overlays.empty.isVisible()


def test_a_network_that_is_made_at_once_is_shown_whole(make_hand):
    hand = make_hand(Network.empty())
    hand.view.scroll_by(QPoint(700, 500))
    made = tower(4)
    hand.editor.apply_here("Make a network", made, arrange(made))
    area = hand.view.visible_area()
    assert area.contains(hand.view.network_scene.content_box())
    hand.editor.undo()
    hand.view.scroll_by(QPoint(700, 500))
    hand.editor.redo()
    assert hand.editor.selection, "what comes back is selected"
    assert hand.view.visible_area().contains(hand.view.network_scene.content_box())
    hand.view.hide()
    hand.editor.undo()
    hand.view.resize(300, 200)
    hand.editor.redo()
    hand.view.resize(800, 600)
    hand.view.show()
    assert hand.view.visible_area().contains(hand.view.network_scene.content_box()), "though it grew when shown"


def test_a_layer_is_found_and_brought_into_sight(make_tall):
    hand = make_tall(60)
    last = list(hand.editor.network.layers)[-1]
    hand.view.go_to(last)
    assert hand.editor.selection == {last}
    x, y = hand.editor.layout.at(last)
    assert hand.view.visible_area().contains(QRectF(x, y, 176, 42))
    hand.view.go_to("gone")
    assert hand.editor.selection == {last}


def test_a_layer_added_without_a_place_appears_in_sight(hand: Hand):
    hand.view.scroll_by(QPoint(3000, 0))
    id = hand.editor.add_layer("relu")
    assert id is not None
    assert hand.view.visible_area().contains(QPointF(*hand.editor.layout.at(id)))


def name_field(view: CanvasView) -> RenameField:
    (field,) = view.findChildren(RenameField)
    return field


def test_a_double_click_renames_in_place(hand: Hand, qtbot):
    qtbot.mouseDClick(hand.view.viewport(), Qt.MouseButton.LeftButton, NONE, hand.body("fc_1"))
    field = name_field(hand.view)
    assert field.text() == "fc_1"
    qtbot.keyClicks(field, "head")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert "head" in hand.names()
    hand.editor.undo()
    assert "fc_1" in hand.names()


def test_a_name_that_is_taken_is_refused_while_typing(hand: Hand, qtbot):
    hand.click(hand.body("fc_1"))
    hand.key(Qt.Key.Key_F2)
    field = name_field(hand.view)
    field.selectAll()
    qtbot.keyClicks(field, "fc_2")
    assert field.property("invalid") == "true"
    assert "already a layer 'fc_2'" in hand.view.overlays.hint.text()
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert field.isVisible()
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert hand.names().count("fc_1") == 1
    assert not hand.view.overlays.hint.isVisible()


def test_the_menu_of_a_layer_selects_it_and_can_cut_its_connections(hand: Hand):
    at = hand.view.mapToScene(hand.body("relu_1"))
    menu = hand.view.menus.at(at)
    assert hand.editor.selection == {hand.id("relu_1")}
    texts = [action.text().partition("\t")[0] for action in menu.actions()]
    assert texts == [
        "Rename",
        "Replace with…",
        "",
        "Add a layer before…",
        "Add a layer after…",
        "Connect…",
        "Freeze up to the selected layer",
        "",
        "Edit properties",
        "Zoom to selection",
        "Move",
        "",
        "Bypass",
        "",
        "Group into a block",
        "",
        "Cut",
        "Copy",
        "Duplicate",
        "Frame selection",
        "",
        "Disconnect",
        "Delete",
        "Delete without reconnecting",
    ]
    menu.actions()[texts.index("Disconnect")].trigger()
    assert not any("relu_1" in pair for pair in hand.links())


def test_the_menu_of_a_connection_cuts_it(loose_hand: Hand):
    hand = loose_hand
    hand.drag(hand.port("image_1", "out"), hand.port("addition_1", "in2"))
    (edge,) = hand.view.network_scene.edges.edges.values()
    menu = hand.view.menus.at(edge.path.pointAtPercent(0.7))
    menu.actions()[-1].trigger()
    assert hand.links() == set()


def test_the_menu_of_the_ground_pastes_there(hand: Hand):
    hand.editor.set_selection({hand.id("fc_1")})
    hand.editor.copy()
    menu = hand.view.menus.at(QPointF(400, 80))
    (paste,) = [action for action in menu.actions() if action.text().startswith("Paste")]
    paste.trigger()
    (pasted,) = hand.editor.selection
    assert hand.editor.layout.at(pasted) == (400.0, 80.0)


def test_the_canvas_has_a_name_for_screen_readers(hand: Hand):
    assert hand.view.accessibleName() == "Network canvas"


def test_layers_added_one_below_the_other_stay_in_sight(make_hand):
    hand = make_hand(chain(layer("image_input")))
    hand.click(hand.body("image_1"))
    for _ in range(30):
        id = hand.editor.add_layer("relu")
        assert id is not None
        assert hand.view.visible_area().contains(QPointF(*hand.editor.layout.at(id)))


def test_what_undo_brings_back_comes_into_sight(hand: Hand):
    hand.click(hand.body("fc_1"))
    hand.key(Qt.Key.Key_Delete)
    hand.view.scroll_by(QPoint(4000, 0))
    hand.editor.undo()
    assert hand.view.visible_area().contains(QPointF(*hand.place("fc_1")))


def test_b_bypasses_the_selected_layer_and_uses_it_again(hand: Hand):
    before = hand.editor.network
    hand.click(hand.body("fc_1"))
    hand.key(Qt.Key.Key_B)
    assert hand.editor.network.layer("fc_1").bypassed
    assert (
        hand.editor.analysis.shapes[hand.id("relu_1")].output == hand.editor.analysis.shapes[hand.id("image_1")].output
    )
    content = hand.view.network_scene.nodes.nodes[hand.id("fc_1")].content
    assert content.is_bypassed
    assert content.detail.startswith("Bypassed · Fully connected")
    after = hand.editor.network
    hand.editor.undo()
    assert hand.editor.network == before
    hand.editor.redo()
    assert hand.editor.network == after
    hand.key(Qt.Key.Key_B)
    assert hand.editor.network == before


def test_b_leaves_layers_alone_that_cannot_be_bypassed(hand: Hand):
    hand.key(Qt.Key.Key_B)
    assert hand.editor.stack.count() == 0
    hand.editor.select_all()
    hand.key(Qt.Key.Key_B)
    bypassed = {layer.name for layer in hand.editor.network.layers.values() if layer.bypassed}
    assert bypassed == {"fc_1", "relu_1", "fc_2", "softmax_1"}
    assert hand.editor.stack.count() == 1


def test_b_says_why_an_input_cannot_be_bypassed(hand: Hand, qtbot):
    hand.click(hand.body("image_1"))
    with qtbot.waitSignal(hand.editor.refused) as refused:
        hand.key(Qt.Key.Key_B)
    assert "image_1" in refused.args[0]
    assert "no input" in refused.args[0]


def test_the_menu_of_a_layer_bypasses_it(hand: Hand):
    for text in ("Bypass", "Stop bypassing"):
        menu = hand.view.menus.at(hand.view.mapToScene(hand.body("relu_1")))
        (action,) = [one for one in menu.actions() if one.text().partition("\t")[0] == text]
        action.trigger()
        assert hand.editor.network.layer("relu_1").bypassed == (text == "Bypass")


def test_a_pinch_on_a_touchpad_zooms_around_the_pointer(hand: Hand):
    at = QPointF(hand.body("fc_2"))
    before = hand.view.mapToScene(at.toPoint())
    kind, pad = Qt.NativeGestureType.ZoomNativeGesture, QPointingDevice.primaryPointingDevice()
    event = QNativeGestureEvent(kind, pad, 2, at, at, at, 0.5, QPointF())
    QApplication.sendEvent(hand.view.viewport(), event)
    assert hand.view.zoom == 1.5
    assert (hand.view.mapToScene(at.toPoint()) - before).manhattanLength() < 2


def test_two_fingers_on_a_screen_zoom(hand: Hand):
    screen = QTest.createTouchDevice()
    viewport = hand.view.viewport()
    for way in range(40, 200, 20):
        fingers = QTest.touchEvent(viewport, screen)
        for number, side in enumerate((-1, 1)):
            at = QPoint(300 + side * way, 300)
            if way == 40:
                fingers.press(number, at, viewport)
            else:
                fingers.move(number, at, viewport)
        fingers.commit()
    assert hand.view.zoom > 2.0


def test_what_was_fitted_stays_so_in_another_size_until_it_is_zoomed(make_hand, qtbot):
    view = make_hand(tower(20)).view
    view.fit()
    before = view.zoom
    view.resize(view.width(), view.height() // 2)
    qtbot.waitUntil(lambda: view.zoom < before)
    assert view.visible_area().contains(view.network_scene.content_box())
    view.zoom_in()
    nearer = view.zoom
    view.resize(view.width(), view.height() * 2)
    assert view.zoom == nearer


def test_a_tall_network_is_shown_legibly_unless_all_of_it_is_asked_for(make_tall):
    view = make_tall(100).view
    view.fit_legibly()
    first = view.layers_box([min(view.editor.layout.positions, key=lambda id: view.editor.layout.at(id)[1])])
    assert view.zoom == LEGIBLE
    assert view.visible_area().contains(first)
    assert view.overlays.minimap.isVisibleTo(view)
    view.resize(view.width(), view.height() // 2)
    assert view.zoom == LEGIBLE
    view.fit()
    assert view.zoom < LEGIBLE
    assert view.visible_area().contains(view.network_scene.content_box())


def test_a_small_network_is_shown_whole(make_hand):
    view = make_hand(tower(4)).view
    view.fit_legibly()
    assert view.visible_area().contains(view.network_scene.content_box())


def test_a_fitted_network_keeps_clear_of_the_zoom_chip_and_the_legends(qtbot):
    network = tower(13)
    hand = Hand(qtbot, Project(network, arrange(network)))
    view = hand.view
    view.resize(560, 720)
    view.fit()

    def covers(widget: QWidget) -> bool:
        return bool(view.network_scene.nodes_in(view.mapToScene(widget.geometry()).boundingRect()))

    assert not covers(view.overlays.zoom_chip)
    zoom = view.zoom
    view.lenses.choose("stages")
    assert not covers(view.overlays.legend)
    assert view.visible_area().contains(view.network_scene.content_box()), "and is still whole"
    assert view.zoom == zoom


@pytest.mark.parametrize("zoom", [0.4, 0.78, 1.0, 2.0])
def test_a_port_is_hit_ten_pixels_around_at_every_zoom_and_the_middle_of_a_layer_is_not_one(make_hand, zoom):
    hand = make_hand(tower(4))
    view = hand.view
    view.look(zoom, view.network_scene.content_box().center())
    port = hand.port("relu_1", "out")
    for dx, dy in ((0, 0), (9, 0), (-9, 0), (6, -4)):
        found = view.network_scene.port_at(view.mapToScene(port + QPoint(dx, dy)), view.reach)
        assert found is not None, (dx, dy)
    assert view.network_scene.port_at(view.mapToScene(port + QPoint(13, 4)), view.reach) is None
    x, y = hand.place("relu_1")
    assert view.network_scene.port_at(QPointF(x + NODE_WIDTH / 2, y + NODE_HEIGHT / 2), view.reach) is None
