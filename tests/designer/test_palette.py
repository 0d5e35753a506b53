import pytest
from PySide6.QtCore import QModelIndex, Qt

from designer.editor import Editor
from designer.palette import MIME, Palette, matlab_name, search_words
from engine.layers.catalog import catalog, layer_type


@pytest.fixture
def editor() -> Editor:
    return Editor()


@pytest.fixture
def palette(qtbot, editor: Editor) -> Palette:
    palette = Palette(editor)
    qtbot.addWidget(palette)
    palette.resize(232, 800)
    with qtbot.waitActive(palette):
        palette.show()
        palette.activateWindow()
    return palette


def keys(palette: Palette) -> list[str]:
    return [index.data(Qt.ItemDataRole.UserRole) for index in palette.view.entries()]


def current(palette: Palette) -> str:
    return str(palette.view.currentIndex().data(Qt.ItemDataRole.UserRole))


def search(qtbot, palette: Palette, text: str) -> None:
    palette.focus_search()
    qtbot.keyClicks(palette.search, text)


def test_all_layer_types_are_there_by_family(palette: Palette) -> None:
    assert sorted(keys(palette)) == sorted(catalog())
    assert palette.filter.index(0, 0).data() == "Input"
    assert all(palette.view.isExpanded(palette.filter.index(row, 0)) for row in range(palette.filter.rowCount()))


def test_search_filters_and_enter_adds(qtbot, editor: Editor, palette: Palette) -> None:
    search(qtbot, palette, "relu")
    assert "relu" in keys(palette)
    assert "conv2d" not in keys(palette)
    assert current(palette) == "relu"  # the exact name before the leaky ones
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    assert [layer.type_key for layer in editor.network.layers.values()] == ["relu"]
    assert editor.stack.count() == 1


def test_arrows_move_through_the_results_from_the_search_field(qtbot, editor: Editor, palette: Palette) -> None:
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
    ],
)
def test_words_of_matlab_of_torch_and_of_the_summary_find_layers(qtbot, palette: Palette, text: str, key: str) -> None:
    search(qtbot, palette, text)
    assert key in keys(palette)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("conv2d", "convolution2dLayer"),
        ("max_pool1d", "maxPooling1dLayer"),
        ("batch_norm", "batchNormalizationLayer"),
        ("fully_connected", "fullyConnectedLayer"),
        ("image_input", "imageInputLayer"),
    ],
)
def test_the_rule_of_matlab_names(key: str, name: str) -> None:
    assert matlab_name(layer_type(key)) == name
    assert name.lower() in search_words(layer_type(key))


def test_nothing_found_says_so_and_offers_a_way_out(qtbot, palette: Palette) -> None:
    search(qtbot, palette, "unicorn")
    assert palette.empty.text() == "No layer matches “unicorn”."
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)  # adds nothing, breaks nothing
    qtbot.mouseClick(palette.clear, Qt.MouseButton.LeftButton)
    assert palette.search.text() == ""
    assert len(keys(palette)) == len(catalog())
    assert palette.empty.isHidden()


def test_escape_clears_the_search_and_folded_families_stay_folded(qtbot, palette: Palette) -> None:
    palette.view.collapse(palette.filter.index(1, 0))
    search(qtbot, palette, "relu")
    qtbot.keyClick(palette.search, Qt.Key.Key_Escape)
    assert palette.search.text() == ""
    assert not palette.view.isExpanded(palette.filter.index(1, 0))
    assert palette.view.isExpanded(palette.filter.index(0, 0))


def index_of(palette: Palette, key: str) -> QModelIndex:
    return palette.view.entries()[keys(palette).index(key)]


def test_a_double_click_adds_and_one_on_a_family_folds(qtbot, editor: Editor, palette: Palette) -> None:
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


def test_enter_in_the_tree_adds(qtbot, editor: Editor, palette: Palette) -> None:
    palette.view.setFocus()
    palette.view.setCurrentIndex(index_of(palette, "dropout"))
    qtbot.keyClick(palette.view, Qt.Key.Key_Return)
    assert [layer.type_key for layer in editor.network.layers.values()] == ["dropout"]


def test_a_drag_carries_the_key_and_looks_like_the_layer(palette: Palette) -> None:
    palette.view.setCurrentIndex(index_of(palette, "conv2d"))
    drag = palette.view.make_drag()
    assert drag is not None
    assert bytes(drag.mimeData().data(MIME).data()) == b"conv2d"
    assert drag.pixmap().deviceIndependentSize().width() > 150
    drag.deleteLater()


def test_a_family_cannot_be_dragged(palette: Palette) -> None:
    palette.view.setCurrentIndex(palette.filter.index(0, 0))
    assert palette.view.make_drag() is None


def test_the_tooltip_says_what_a_layer_does(palette: Palette) -> None:
    assert layer_type("conv2d").summary() in index_of(palette, "conv2d").data(Qt.ItemDataRole.ToolTipRole)
