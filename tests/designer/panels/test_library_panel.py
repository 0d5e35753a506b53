import pytest
from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtWidgets import QApplication

from netwright.designer.clipboard import LAYER_MIME
from netwright.designer.editor import Editor
from netwright.designer.panels.library_model import UserBlock
from netwright.designer.panels.library_panel import LibraryPanel
from netwright.designer.panels.library_view import star_rect
from netwright.engine.layers.addons import AddOn
from netwright.engine.network.catalog import catalog, layer_type


@pytest.fixture
def editor() -> Editor:
    return Editor()


@pytest.fixture
def palette(qtbot, editor: Editor) -> LibraryPanel:
    palette = LibraryPanel(editor)
    qtbot.addWidget(palette)
    palette.resize(232, 800)
    with qtbot.waitActive(palette):
        palette.show()
        palette.activateWindow()
    # Where an earlier test left the pointer does not count.
    palette.view.viewport().setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    return palette


def keys(palette: LibraryPanel) -> list[str]:
    return [index.data(Qt.ItemDataRole.UserRole) for index in palette.view.entries()]


def current(palette: LibraryPanel) -> str:
    return str(palette.view.currentIndex().data(Qt.ItemDataRole.UserRole))


def search(qtbot, palette: LibraryPanel, text: str) -> None:
    palette.focus_search()
    qtbot.keyClicks(palette.search, text)


def test_all_layer_types_are_there_by_family(palette: LibraryPanel) -> None:
    assert sorted(keys(palette)) == sorted(catalog())
    assert palette.filter.index(0, 0).data() == "Input"
    assert all(palette.view.isExpanded(palette.filter.index(row, 0)) for row in range(palette.filter.rowCount()))


def test_search_filters_and_enter_adds(qtbot, editor: Editor, palette: LibraryPanel) -> None:
    search(qtbot, palette, "relu")
    assert "relu" in keys(palette)
    assert "conv2d" not in keys(palette)
    assert current(palette) == "relu"  # the exact name before the leaky ones
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    assert [layer.type_key for layer in editor.network.layers.values()] == ["relu"]
    assert editor.stack.count() == 1


def test_arrows_move_through_the_results_from_the_search_field(qtbot, editor: Editor, palette: LibraryPanel) -> None:
    search(qtbot, palette, "convolution 2-d")
    first = current(palette)
    qtbot.keyClick(palette.search, Qt.Key.Key_Down)
    assert current(palette) != first
    qtbot.keyClick(palette.search, Qt.Key.Key_Up)
    assert current(palette) == first
    qtbot.keyClick(palette.search, Qt.Key.Key_Up)
    assert current(palette) == keys(palette)[-1]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("convolution2dLayer", "conv2d"),
        ("batchnorm", "batch_norm"),
        ("normalization", "layer_norm"),
        ("fullyConnectedLayer", "fully_connected"),
        ("max_pool2d", "max_pool2d"),
        ("probabilities", "softmax"),
        ("BatchNorm2d", "batch_norm"),
        ("nn.SiLU", "swish"),
    ],
)
def test_words_of_matlab_of_torch_and_of_the_summary_find_layers(
    qtbot, palette: LibraryPanel, text: str, key: str
) -> None:
    search(qtbot, palette, text)
    assert key in keys(palette)


def test_of_equally_near_types_the_one_that_fits_is_taken(qtbot, editor: Editor, palette: LibraryPanel) -> None:
    search(qtbot, palette, "max pooling")
    assert current(palette) == "max_pool2d", "nothing is selected, and images are most common"
    for kind, pooling in (("image_input", "max_pool2d"), ("sequence_input", "max_pool1d")):
        editor.add_layer(kind)
        search(qtbot, palette, "max pooling")
        assert current(palette) == pooling
    search(qtbot, palette, "conv2d")
    assert current(palette) == "conv2d", "what is meant exactly is taken, whether it fits or not"


def test_after_enter_the_next_word_replaces_the_last(qtbot, editor: Editor, palette: LibraryPanel) -> None:
    search(qtbot, palette, "relu")
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    qtbot.keyClicks(palette.search, "softmax")
    assert palette.search.text() == "softmax"
    assert len(editor.network.layers) == 1


def test_nothing_found_says_so_and_offers_a_way_out(qtbot, palette: LibraryPanel) -> None:
    search(qtbot, palette, "unicorn")
    assert palette.empty.text() == "No layer matches “unicorn”."
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)  # adds nothing, breaks nothing
    qtbot.mouseClick(palette.clear, Qt.MouseButton.LeftButton)
    assert palette.search.text() == ""
    assert len(keys(palette)) == len(catalog())
    assert palette.empty.isHidden()


def test_escape_clears_the_search_and_folded_families_stay_folded(qtbot, palette: LibraryPanel) -> None:
    palette.view.collapse(palette.filter.index(1, 0))
    search(qtbot, palette, "relu")
    qtbot.keyClick(palette.search, Qt.Key.Key_Escape)
    assert palette.search.text() == ""
    assert not palette.view.isExpanded(palette.filter.index(1, 0))
    assert palette.view.isExpanded(palette.filter.index(0, 0))


def index_of(palette: LibraryPanel, key: str) -> QModelIndex:
    return palette.view.entries()[keys(palette).index(key)]


def test_a_double_click_adds_and_one_on_a_family_folds(qtbot, editor: Editor, palette: LibraryPanel) -> None:
    at = palette.view.visualRect(index_of(palette, "conv2d")).center()
    qtbot.mouseClick(palette.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert not editor.network.layers
    qtbot.mouseDClick(palette.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert [layer.type_key for layer in editor.network.layers.values()] == ["conv2d"]
    family = palette.filter.index(0, 0)
    at = palette.view.visualRect(family).center()
    qtbot.mouseClick(palette.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseDClick(palette.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert not palette.view.isExpanded(family)
    assert len(editor.network) == 1


def test_enter_in_the_tree_adds(qtbot, editor: Editor, palette: LibraryPanel) -> None:
    palette.view.setFocus()
    palette.view.setCurrentIndex(index_of(palette, "dropout"))
    qtbot.keyClick(palette.view, Qt.Key.Key_Return)
    assert [layer.type_key for layer in editor.network.layers.values()] == ["dropout"]


def test_a_drag_carries_the_key_and_looks_like_the_layer(palette: LibraryPanel) -> None:
    palette.view.setCurrentIndex(index_of(palette, "conv2d"))
    drag = palette.view.make_drag()
    assert drag is not None
    assert bytes(drag.mimeData().data(LAYER_MIME).data()) == b"conv2d"
    assert drag.pixmap().deviceIndependentSize().width() > 150
    drag.deleteLater()


def test_a_family_cannot_be_dragged(palette: LibraryPanel) -> None:
    palette.view.setCurrentIndex(palette.filter.index(0, 0))
    assert palette.view.make_drag() is None


def test_the_tooltip_says_what_a_layer_does(palette: LibraryPanel) -> None:
    assert layer_type("conv2d").summary() in index_of(palette, "conv2d").data(Qt.ItemDataRole.ToolTipRole)


def headings(palette: LibraryPanel) -> list[str]:
    return [palette.filter.index(row, 0).data() for row in range(palette.filter.rowCount())]


def test_what_was_added_is_recent(qtbot, editor: Editor, palette: LibraryPanel) -> None:
    search(qtbot, palette, "dropout")
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    palette.search.clear()
    assert headings(palette)[0] == "Recent"
    assert keys(palette)[0] == "dropout"


def test_rows_do_not_move_under_the_pointer(qtbot, palette: LibraryPanel) -> None:
    qtbot.mouseMove(palette.view.viewport(), palette.view.visualRect(index_of(palette, "relu")).center())
    if not palette.view.viewport().underMouse():
        palette.view.viewport().setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    palette.add("relu")
    assert headings(palette)[0] == "Input"
    palette.view.viewport().setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    QApplication.sendEvent(palette.view.viewport(), QEvent(QEvent.Type.Leave))
    assert headings(palette)[0] == "Recent"


def test_a_click_on_the_star_makes_a_favourite_and_adds_nothing(qtbot, editor: Editor, palette: LibraryPanel) -> None:
    row = palette.view.visualRect(index_of(palette, "conv2d"))
    qtbot.mouseClick(palette.view.viewport(), Qt.MouseButton.LeftButton, pos=star_rect(row).center())
    assert palette.memory.favourites == ("conv2d",)
    assert headings(palette)[0] == "Favourites"
    row = palette.view.visualRect(index_of(palette, "conv2d"))
    qtbot.mouseClick(palette.view.viewport(), Qt.MouseButton.LeftButton, pos=star_rect(row).center())
    assert headings(palette)[0] == "Input"
    assert not editor.network.layers


def test_ctrl_b_makes_a_favourite_from_the_tree_and_from_the_search(qtbot, palette: LibraryPanel) -> None:
    palette.view.setFocus()
    palette.view.setCurrentIndex(index_of(palette, "dropout"))
    qtbot.keyClick(palette.view, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    search(qtbot, palette, "gelu")
    qtbot.keyClick(palette.search, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert palette.memory.favourites == ("dropout", "gelu")
    assert current(palette) == "gelu"
    palette.search.clear()
    assert keys(palette)[:2] == ["dropout", "gelu"]


def test_the_menu_of_a_row_names_what_can_be_done(editor: Editor, palette: LibraryPanel) -> None:
    menu = palette.view.menu_of(index_of(palette, "relu"))
    assert menu is not None
    add, star = menu.actions()
    assert add.text().startswith("Add to the network")
    star.trigger()
    assert palette.memory.favourites == ("relu",)
    fold = palette.view.menu_of(palette.filter.index(0, 0))
    assert fold is not None
    fold.actions()[1].trigger()
    assert set(palette.memory.folded) == set(headings(palette))


def test_folded_families_are_remembered(qtbot, editor: Editor, palette: LibraryPanel) -> None:
    palette.view.collapse(palette.filter.index(1, 0))
    again = LibraryPanel(editor, memory=palette.memory)
    qtbot.addWidget(again)
    assert not again.view.isExpanded(again.filter.index(1, 0))
    assert again.view.isExpanded(again.filter.index(0, 0))


def test_blocks_of_the_users_own_are_shown_chosen_and_dragged(qtbot, palette: LibraryPanel) -> None:
    assert "My blocks" not in headings(palette)
    mine = UserBlock(name="Residual", tooltip="A shortcut", mime="application/x-mine", payload=b"mine")
    palette.show_user_blocks([mine])
    assert headings(palette)[0] == "My blocks"
    palette.view.setCurrentIndex(palette.view.entries()[0])
    with qtbot.waitSignal(palette.user_block_chosen) as told:
        qtbot.keyClick(palette.view, Qt.Key.Key_Return)
    assert told.args == [mine]
    drag = palette.view.make_drag()
    assert drag is not None
    assert bytes(drag.mimeData().data("application/x-mine").data()) == b"mine"
    drag.deleteLater()
    palette.show_user_blocks([])
    assert "My blocks" not in headings(palette)


def test_a_row_that_is_scrolled_to_stays_when_a_favourite_is_made(palette: LibraryPanel) -> None:
    palette.resize(232, 300)
    wanted = index_of(palette, "dropout")
    palette.view.scrollTo(wanted, palette.view.ScrollHint.PositionAtTop)
    top = palette.view.indexAt(palette.view.rect().topLeft()).data()
    palette.memory.star("relu", True)
    assert palette.view.indexAt(palette.view.rect().topLeft()).data() == top


def test_an_add_on_that_is_not_used_is_told_below_the_library(palette: LibraryPanel) -> None:
    assert palette.notice.isHidden()
    palette.tell_of_add_ons([AddOn("acme-layers", "1.2", ("acme.types",), error="it has no layer types.")])
    assert palette.notice.text() == "1 add-on is not used: acme-layers 1.2. Help, About says why."
    assert palette.notice.toolTip() == "The add-on 'acme-layers 1.2' is not used: it has no layer types."


def test_the_arrows_reach_a_family_and_fold_it(qtbot, palette: LibraryPanel) -> None:
    palette.view.setFocus()
    palette.view.setCurrentIndex(index_of(palette, "conv1d"))
    qtbot.keyClick(palette.view, Qt.Key.Key_Left)
    family = palette.view.currentIndex()
    assert family.data() == "Convolution"
    qtbot.keyClick(palette.view, Qt.Key.Key_Left)
    assert not palette.view.isExpanded(family)
    qtbot.keyClick(palette.view, Qt.Key.Key_Return)
    assert palette.view.isExpanded(family)
    palette.grab()  # the frame around a heading that has the keyboard


def test_the_hover_ends_with_a_drag(qtbot, palette: LibraryPanel) -> None:
    viewport = palette.view.viewport()
    left: list[QEvent] = []

    class Watch(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Leave:
                left.append(event)
            return False

    watch = Watch()
    viewport.installEventFilter(watch)
    palette.view.end_hover()
    assert len(left) == 1
