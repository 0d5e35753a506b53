import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication

from netwright.engine.network import edits
from netwright.engine.network.network import Connection, Network, Port
from tests.builders import add, chain, layer
from tests.designer.mouse import Hand

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
UP, DOWN, RIGHT, LEFT = Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Left
RETURN, ESCAPE, TAB, C = Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_C


def chosen(hand: Hand) -> set[str]:
    return {hand.editor.network.layers[id].name for id in hand.editor.selection}


@pytest.fixture
def fork(make_hand) -> Hand:
    """image_1 feeds relu_1 and relu_2; relu_1 also feeds addition_1, whose second input is open."""
    network = chain(layer("image_input"))
    (image,) = network.layers.values()
    network, left = add(network, layer("relu"), image)
    network, _ = add(network, layer("relu"), image)
    network, both = edits.add_layer(network, layer("addition"))
    network = edits.connect(network, Port(left.id, "out"), Port(both.id, "in1"))
    return make_hand(network)


def test_arrows_walk_along_the_connections_and_change_nothing(fork: Hand):
    fork.click(fork.body("relu_2"))
    visited = []
    for key in (UP, DOWN, LEFT, DOWN, DOWN, UP):
        fork.key(key)
        visited.append(chosen(fork))
    names = ("image_1", "relu_2", "relu_1", "addition_1", "addition_1", "relu_1")
    assert visited == [{name} for name in names]
    assert fork.editor.stack.count() == 0


@pytest.mark.parametrize("key", [UP, DOWN, LEFT, RIGHT])
def test_the_first_arrow_selects_the_first_layer(hand: Hand, key: Qt.Key):
    before = hand.view.visible_area()
    hand.key(key)
    assert chosen(hand) == {"image_1"}
    assert hand.view.visible_area() == before
    hand.key(DOWN)
    assert chosen(hand) == {"fc_1"}


def test_arrows_on_an_empty_canvas_do_nothing(make_hand):
    hand = make_hand(Network.empty())
    hand.key(DOWN)
    hand.key(Qt.Key.Key_N)
    assert not hand.editor.selection


def test_shift_and_arrows_select_more(hand: Hand):
    hand.click(hand.body("image_1"))
    hand.key(DOWN, SHIFT)
    hand.key(DOWN, SHIFT)
    assert chosen(hand) == {"image_1", "fc_1", "relu_1"}


def test_where_an_arrow_leads_comes_into_sight(hand: Hand):
    hand.click(hand.body("image_1"))
    hand.view._set_zoom(4.0)
    for _ in range(4):
        hand.key(DOWN)
    assert chosen(hand) == {"softmax_1"}
    assert hand.view.visible_area().contains(QRectF(*hand.place("softmax_1"), 176, 42))


def test_a_connection_is_made_by_keys_alone(fork: Hand):
    before = fork.editor.network
    fork.click(fork.body("relu_2"))
    fork.key(C)
    assert fork.view.keyboard.connecting is not None
    assert fork.view.keyboard.connecting.target == fork.id("addition_1")
    assert "relu_2 → addition_1 (in2)" in fork.view.overlays.hint.text()
    assert fork.view.network_scene.feedback.feedback.loose is not None
    fork.key(RETURN)
    assert ("relu_2", "addition_1") in fork.links()
    assert ("relu_1", "addition_1") in fork.links()
    assert fork.view.network_scene.feedback.feedback.loose is None
    assert not fork.view.overlays.hint.isVisible()
    after = fork.editor.network
    assert fork.editor.stack.count() == 1
    fork.editor.undo()
    assert fork.editor.network == before
    fork.editor.redo()
    assert fork.editor.network == after


def test_tab_chooses_the_input_and_says_what_it_takes_the_place_of(fork: Hand):
    fork.click(fork.body("relu_2"))
    fork.key(C)
    fork.key(TAB)
    assert "(in1), instead of relu_1" in fork.view.overlays.hint.text()
    fork.key(RETURN)
    assert ("relu_2", "addition_1") in fork.links()
    assert ("relu_1", "addition_1") not in fork.links()


def test_escape_gives_a_connection_up_that_was_begun_by_keys(fork: Hand):
    fork.click(fork.body("relu_2"))
    fork.key(C)
    fork.key(ESCAPE)
    assert fork.view.keyboard.connecting is None
    assert fork.view.network_scene.feedback.feedback.loose is None
    assert chosen(fork) == {"relu_2"}
    assert fork.editor.stack.count() == 0


def test_arrows_and_typing_choose_the_target(hand: Hand, qtbot):
    hand.click(hand.body("image_1"))
    hand.key(C)
    for key, name in ((DOWN, "relu_1"), (DOWN, "fc_2"), (UP, "relu_1")):
        hand.key(key)
        assert hand.view.keyboard.connecting is not None
        assert hand.view.keyboard.connecting.target == hand.id(name)
    qtbot.keyClicks(hand.view, "soft")
    assert hand.view.keyboard.connecting is not None
    assert hand.view.keyboard.connecting.target == hand.id("softmax_1")
    qtbot.keyClicks(hand.view, "x")
    assert "'softx'" in hand.view.overlays.hint.text()
    hand.key(RETURN)
    assert hand.editor.stack.count() == 0
    hand.key(Qt.Key.Key_Backspace)
    hand.key(RETURN)
    assert ("image_1", "softmax_1") in hand.links()


def test_what_would_close_a_cycle_is_not_offered(hand: Hand, qtbot):
    hand.click(hand.body("softmax_1"))
    with qtbot.waitSignal(hand.editor.refused) as refused:
        hand.key(C)
    assert "no layer that softmax_1 could be connected to" in refused.args[0]
    assert hand.view.keyboard.connecting is None


@pytest.mark.parametrize("end", ["click", "edit", "focus"])
def test_a_connection_by_keys_ends_when_something_else_begins(fork: Hand, end: str):
    fork.click(fork.body("relu_2"))
    fork.key(C)
    if end == "click":
        fork.click(fork.body("image_1"))
    elif end == "edit":
        fork.editor.rename(fork.id("relu_1"), "first")
    else:
        fork.view.clearFocus()
    assert fork.view.keyboard.connecting is None
    assert fork.view.network_scene.feedback.feedback.loose is None
    assert ("relu_2", "addition_1") not in fork.links()


def test_enter_asks_for_the_fields_of_what_is_selected(hand: Hand, qtbot):
    hand.click(hand.body("fc_1"))
    with qtbot.waitSignal(hand.view.edit_requested):
        hand.key(RETURN)
    hand.key(ESCAPE)
    with qtbot.assertNotEmitted(hand.view.edit_requested):
        hand.key(RETURN)


def test_shift_and_f_zoom_to_the_selection(make_hand):
    hand = make_hand(chain(layer("image_input"), *(layer("relu") for _ in range(100))))
    hand.view.fit()
    assert hand.view.zoom < 0.6
    first, second = list(hand.editor.network.layers)[20:22]
    hand.editor.set_selection({first, second})
    hand.key(Qt.Key.Key_F, SHIFT)
    assert hand.view.zoom == 1.0
    distance = hand.view.visible_area().center() - hand.view.layers_box({first, second}).center()
    assert distance.manhattanLength() < 3
    hand.editor.set_selection(())
    hand.key(Qt.Key.Key_F, SHIFT)
    assert hand.view.visible_area().contains(hand.view.network_scene.content_box())


def test_the_menu_key_opens_the_menu_of_the_selected_layer(hand: Hand, qtbot):
    hand.editor.set_selection({hand.id("fc_2")})
    at = hand.point(QPointF(-300, 0))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, at, hand.view.mapToGlobal(at))
    hand.view.contextMenuEvent(event)
    menu = QGuiApplication.instance().activePopupWidget()  # type: ignore[union-attr]
    assert menu is not None
    assert menu.actions()[0].text().startswith("Rename")
    menu.close()


def test_all_of_a_small_network_is_built_by_keys(make_hand, qtbot):
    hand = make_hand(chain(layer("image_input")))
    hand.key(DOWN)
    for text in ("relu", "flatten"):
        hand.key(Qt.Key.Key_A)
        hand.choose(text)
    assert hand.links() == {("image_1", "relu_1"), ("relu_1", "flatten_1")}
    hand.key(UP)
    hand.key(Qt.Key.Key_Delete)
    assert hand.links() == {("image_1", "flatten_1")}
    image, flat = hand.id("image_1"), hand.id("flatten_1")
    assert hand.editor.network.connections == (Connection(Port(image, "out"), Port(flat, "in")),)
    assert edits.connection_refusal(hand.editor.network, Port(flat, "out"), Port(image, "in")) is not None
