"""Adding and replacing layers through the popup on the canvas, by mouse and keyboard."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtWidgets import QApplication

from netwright.designer.panels.library_model import KEY_ROLE, REFUSAL_ROLE
from netwright.engine.core.types import image
from netwright.engine.network import edits
from netwright.engine.network.catalog import catalog
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH
from netwright.engine.network.network import Network
from tests.builders import chain, layer
from tests.designer.mouse import Hand

GROUND = QPoint(120, 90)


def middle(hand: Hand, name: str) -> QPointF:
    x, y = hand.place(name)
    return QPointF(x + NODE_WIDTH / 2, y + NODE_HEIGHT / 2)


def assert_near(a: QPointF, b: QPointF, reach: float = 6.0) -> None:
    assert abs(a.x() - b.x()) <= reach
    assert abs(a.y() - b.y()) <= reach


def assert_one_step(hand: Hand, before: Network) -> None:
    """What was done is one step, which undo takes back and redo does again."""
    assert hand.editor.stack.count() == 1
    after = hand.editor.project
    hand.editor.undo()
    assert hand.editor.network == before
    hand.editor.redo()
    assert hand.editor.project == after


def test_a_double_click_on_the_ground_adds_a_layer_there(hand: Hand):
    before = hand.editor.network
    wanted = hand.view.mapToScene(GROUND)
    hand.double_click(GROUND)
    assert hand.offered() == [key for key in catalog() if key not in ("block_input", "block_output")]
    hand.choose("dropout")
    assert_near(middle(hand, "dropout_1"), wanted)
    assert hand.editor.selection == {hand.id("dropout_1")}
    assert hand.view.suggestions.popup is None
    assert not any("dropout_1" in pair for pair in hand.links())
    assert_one_step(hand, before)


def test_tab_after_a_click_on_the_ground_adds_a_layer_there(hand: Hand):
    hand.click(GROUND)
    hand.key(Qt.Key.Key_Tab)
    hand.choose("identity")
    assert_near(middle(hand, "identity_1"), hand.view.mapToScene(GROUND))


def test_tab_offers_layers_once_after_a_click(hand: Hand, qtbot):
    hand.click(GROUND)
    hand.key(Qt.Key.Key_Tab)
    qtbot.keyClick(hand.popup.search, Qt.Key.Key_Escape)
    hand.key(Qt.Key.Key_Tab)
    assert hand.view.suggestions.popup is None


def test_tab_on_an_empty_canvas_offers_layers_after_a_click(make_hand):
    hand = make_hand(Network.empty())
    hand.click(GROUND)
    hand.key(Qt.Key.Key_Tab)
    hand.choose("image input")
    assert hand.names() == ["image_1"]


def test_a_adds_at_the_pointer(hand: Hand, qtbot):
    hand.move(QPoint(5, 5))  # the real pointer may be there already, from another test
    hand.move(GROUND)
    qtbot.waitUntil(lambda: hand.view._pointer_at == GROUND)
    hand.key(Qt.Key.Key_A)
    hand.choose("dropout")
    assert_near(middle(hand, "dropout_1"), hand.view.mapToScene(GROUND))


def test_a_with_a_selected_layer_adds_behind_it_what_fits(hand: Hand):
    before = hand.editor.network
    hand.click(hand.body("fc_1"))
    hand.key(Qt.Key.Key_A)
    assert "fc_1" in hand.popup.search.placeholderText()
    hand.choose("dropout")
    assert {("fc_1", "dropout_1"), ("dropout_1", "relu_1")} <= hand.links()
    assert_one_step(hand, before)


def test_a_network_is_built_by_keyboard_alone(make_hand):
    hand = make_hand(Network.empty())
    for text in ("image input", "2-d convolution", "relu", "fully"):
        hand.key(Qt.Key.Key_A)
        hand.choose(text)
    assert hand.names() == ["image_1", "conv_1", "relu_1", "fc_1"]
    assert hand.links() == {("image_1", "conv_1"), ("conv_1", "relu_1"), ("relu_1", "fc_1")}


def test_a_double_click_on_a_connection_inserts_a_layer(hand: Hand):
    hand.view.zoom_in()
    (line,) = [c for c in hand.editor.network.connections if c.source.layer == hand.id("fc_1")]
    path = hand.view.network_scene.edges.edges[line].path
    before = hand.editor.network
    hand.view._set_zoom(3.0)
    hand.view.look_at(path.pointAtPercent(0.5))
    hand.double_click(hand.point(path.pointAtPercent(0.5)))
    hand.choose("dropout")
    assert {("fc_1", "dropout_1"), ("dropout_1", "relu_1")} <= hand.links()
    assert_one_step(hand, before)


def test_a_double_click_on_a_layer_still_renames_it(hand: Hand):
    hand.double_click(hand.body("fc_1"))
    assert hand.view.suggestions.popup is None


@pytest.mark.parametrize("leave", ["escape", "beside", "edit"])
def test_the_popup_closes_and_changes_nothing(loose_hand: Hand, qtbot, leave: str):
    hand = loose_hand
    before = hand.editor.network
    hand.drag(hand.port("image_1", "out"), GROUND)
    assert hand.view.network_scene.feedback.feedback.loose is not None
    popup = hand.popup
    with qtbot.waitSignal(popup.closed):
        if leave == "escape":
            qtbot.keyClick(popup.search, Qt.Key.Key_Escape)
        elif leave == "beside":
            qtbot.mouseClick(popup, Qt.MouseButton.LeftButton, pos=QPoint(-40, -40))
        else:
            hand.editor.rename(hand.id("image_1"), "picture")
    assert hand.view.suggestions.popup is None
    assert hand.view.network_scene.feedback.feedback.loose is None
    assert hand.editor.network.connections == before.connections
    assert len(hand.editor.network) == 3


def test_enter_without_a_choice_does_nothing(hand: Hand, qtbot):
    hand.double_click(GROUND)
    qtbot.keyClick(hand.popup.search, Qt.Key.Key_Return)
    qtbot.keyClicks(hand.popup.search, "nothing of that name")
    assert hand.popup.empty.isVisible()
    qtbot.keyClick(hand.popup.search, Qt.Key.Key_Return)
    assert len(hand.editor.network) == 5


def test_a_click_on_an_entry_chooses_it(hand: Hand, qtbot):
    hand.double_click(GROUND)
    view = hand.popup.view
    (entry,) = [index for index in view.entries() if index.data(KEY_ROLE) == "feature_input"]
    view.scrollTo(entry)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(entry).center())
    assert hand.names()[-1] == "feature_input_1"


@pytest.mark.parametrize("corner", ["topLeft", "topRight", "bottomLeft", "bottomRight"])
def test_the_popup_stays_on_the_screen(hand: Hand, corner: str):
    screen = QApplication.primaryScreen().availableGeometry()
    hand.view.suggestions.at_ground(hand.view.viewport().mapFromGlobal(getattr(screen, corner)()))
    assert screen.contains(hand.popup.geometry())


def test_a_connection_let_go_on_the_ground_is_offered_what_fits_first(loose_hand: Hand):
    hand = loose_hand
    before = hand.editor.network
    end = hand.port("image_1", "out") + QPoint(-60, 130)
    wanted = hand.view.mapToScene(end)
    hand.drag(hand.port("image_1", "out"), end)
    entries = hand.popup.view.entries()
    refused = [bool(index.data(REFUSAL_ROLE)) for index in entries]
    assert refused == sorted(refused)
    assert True in refused
    takers = {key for key, cls in catalog().items() if cls().input_ports()}
    assert {index.data(KEY_ROLE) for index in entries} == takers - {"block_output"}
    assert hand.popup.view.currentIndex() == entries[0]
    hand.choose("2-d conv")
    assert hand.links() == {("image_1", "conv_1")}
    arrival = hand.view.network_scene.nodes.ports_of(hand.id("conv_1"))[0].at
    assert_near(arrival, wanted)
    assert_one_step(hand, before)


def test_an_open_input_is_offered_what_can_feed_it(make_hand):
    network, _ = edits.add_layer(Network.empty(), layer("lstm"))
    hand = make_hand(network)
    before = hand.editor.network
    end = hand.port("lstm_1", "in") + QPoint(40, -90)
    hand.drag(hand.port("lstm_1", "in"), end)
    fitting = {index.data(KEY_ROLE) for index in hand.popup.view.entries() if not index.data(REFUSAL_ROLE)}
    assert "sequence_input" in fitting
    assert "conv2d" not in fitting
    hand.choose("sequence input")
    assert hand.links() == {("sequence_input_1", "lstm_1")}
    assert_one_step(hand, before)


def test_what_does_not_fit_can_be_chosen_all_the_same_and_says_why(loose_hand: Hand):
    hand = loose_hand
    hand.drag(hand.port("image_1", "out"), GROUND)
    (lstm,) = [index for index in hand.popup.view.entries() if index.data(KEY_ROLE) == "lstm"]
    why = lstm.data(REFUSAL_ROLE)
    assert "sequence" in why
    assert why in lstm.data(Qt.ItemDataRole.ToolTipRole)
    assert not hand.popup.why.isVisible()
    hand.popup.search.setText("lstm")
    assert hand.popup.why.isVisible()
    assert hand.popup.why.text() == why
    hand.choose("")
    assert hand.links() == {("image_1", "lstm_1")}
    assert any("sequence" in problem.message for problem in hand.editor.problems)


def test_a_layer_is_replaced_from_its_menu(hand: Hand):
    before = hand.editor.network
    menu = hand.view.menus.at(hand.view.mapToScene(hand.body("relu_1")))
    (replace,) = [action for action in menu.actions() if action.text() == "Replace with…"]
    replace.trigger()
    assert "relu" not in hand.offered()
    place, id = hand.place("relu_1"), hand.id("relu_1")
    hand.choose("tanh")
    assert hand.id("tanh_1") == id
    assert hand.place("tanh_1") == place
    assert {("fc_1", "tanh_1"), ("tanh_1", "fc_2")} <= hand.links()
    assert hand.view.network_scene.nodes.nodes[id].content.detail.startswith("Tanh")
    assert_one_step(hand, before)


def test_a_replaced_input_shows_its_new_ports(make_hand):
    hand = make_hand(chain(layer("image_input", channels=3, size=8), layer("relu")))
    hand.view.suggestions.replacement(hand.id("relu_1"), GROUND)
    hand.choose("addition")
    assert len(hand.view.network_scene.nodes.ports_of(hand.id("addition_1"))) == 3
    assert hand.editor.analysis.shapes[hand.id("image_1")].output == image(3, 8, 8)


def test_inside_a_block_its_ports_are_offered_too(hand: Hand):
    hand.editor.set_selection({hand.id("fc_1"), hand.id("relu_1")})
    id = hand.editor.group()
    assert id is not None
    hand.editor.open_block(id)
    hand.view._set_zoom(1.0)
    hand.view.look_at(hand.view.network_scene.content_box().center())
    line = hand.port("fc_1", "in")
    hand.editor.disconnect_all([c for c in hand.editor.network.connections if c.target.layer == hand.id("fc_1")])
    hand.drag(line, line + QPoint(-120, -30))
    offered = {index.data(KEY_ROLE): index.data(REFUSAL_ROLE) for index in hand.popup.view.entries()}
    assert not offered["block_input"]
    assert "block_output" not in offered
    hand.choose("block input")
    assert ("block_input_1", "fc_1") in hand.links()
    assert len(hand.editor.project.network.layers[id].type.input_ports()) == 2


def test_what_is_added_is_told_for_the_recent_ones(hand: Hand, qtbot):
    with qtbot.waitSignal(hand.view.suggestions.type_used) as told:
        hand.double_click(GROUND)
        hand.choose("dropout")
    assert told.args == ["dropout"]


@pytest.mark.parametrize(
    ("typed", "name"),
    [("bn", "bn_1"), ("fc", "fc_1"), ("softmax layer", "softmax_1"), ("add", "addition_1"), ("max", "pool_1")],
)
def test_the_entry_that_enter_takes_is_in_view(make_hand, qtbot, typed: str, name: str):
    hand = make_hand(Network.empty())
    hand.key(Qt.Key.Key_A)
    qtbot.keyClicks(hand.popup.search, typed)
    view = hand.popup.view
    row = view.visualRect(view.currentIndex())
    assert view.viewport().rect().contains(row)
    qtbot.keyClick(hand.popup.search, Qt.Key.Key_Return)
    assert hand.names() == [name]


def test_the_popup_does_not_cover_the_selected_layer(make_hand):
    hand = make_hand(chain(layer("image_input"), *(layer("relu") for _ in range(11))))
    last = hand.names()[-1]
    hand.click(hand.body(last))
    hand.key(Qt.Key.Key_A)
    x, y = hand.place(last)
    node = hand.view.mapFromScene(QRectF(x, y, NODE_WIDTH, NODE_HEIGHT)).boundingRect()
    node.translate(hand.view.viewport().mapToGlobal(QPoint(0, 0)))
    assert not hand.popup.geometry().intersects(node)
