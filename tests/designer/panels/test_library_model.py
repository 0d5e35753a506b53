"""Sections, marks and words of the library's rows."""

import pytest
from PySide6.QtCore import Qt

from netwright.designer.panels.library_model import (
    FAVOURITE_ROLE,
    FAVOURITES,
    KEY_ROLE,
    ONNX_ROLE,
    OWN,
    RECENT,
    LibraryFilter,
    LibraryModel,
    UserBlock,
)
from netwright.engine.network.catalog import catalog, layer_type

MINE = UserBlock(name="Residual block", tooltip="Two convolutions, a shortcut", mime="application/x-mine", payload=b"1")


def headings(model: LibraryModel) -> list[str]:
    return [model.item(row).text() for row in range(model.rowCount())]


def keys(model: LibraryModel, title: str) -> list[str]:
    heading = model.item(headings(model).index(title))
    return [heading.child(row).data(KEY_ROLE) for row in range(heading.rowCount())]


def test_sections_stand_in_their_order_above_the_families(qapp) -> None:
    model = LibraryModel()
    plain = headings(model)
    model.show_user_blocks([MINE])
    model.show_recent(["relu"])
    model.show_favourites(["conv2d", "gone"])
    assert headings(model) == [FAVOURITES, RECENT, OWN, *plain]
    assert keys(model, FAVOURITES) == ["conv2d"]  # a type that is not here is not shown
    model.show_recent(["gelu", "relu"])
    assert keys(model, RECENT) == ["gelu", "relu"]
    model.show_favourites([])
    model.show_recent([])
    model.show_user_blocks([])
    assert headings(model) == plain


def test_a_favourite_is_marked_wherever_it_stands(qapp) -> None:
    model = LibraryModel()
    model.show_favourites(["relu"])
    items = [item for item in model._items() if item.data(KEY_ROLE) == "relu"]
    assert [item.data(FAVOURITE_ROLE) for item in items] == [True, True]
    assert items[0].data(Qt.ItemDataRole.AccessibleTextRole) == "ReLU, favourite"
    model.show_favourites([])
    (item,) = [item for item in model._items() if item.data(KEY_ROLE) == "relu"]
    assert not item.data(FAVOURITE_ROLE)
    assert item.data(Qt.ItemDataRole.AccessibleTextRole) == "ReLU"


def test_a_type_without_onnx_form_says_why(qapp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_type("celu"), "onnx_refusal", "ONNX knows no such thing.")
    model = LibraryModel()
    (item,) = [item for item in model._items() if item.data(KEY_ROLE) == "celu"]
    assert item.data(ONNX_ROLE) == "ONNX knows no such thing."
    assert item.toolTip().endswith("No ONNX form: ONNX knows no such thing.")
    assert item.data(Qt.ItemDataRole.AccessibleTextRole) == "CELU, no ONNX form"


def test_a_search_finds_each_type_once_and_own_entries_by_what_is_said_of_them(qapp) -> None:
    model = LibraryModel()
    model.show_favourites(["relu"])
    model.show_user_blocks([MINE])
    filter = LibraryFilter(model)
    filter.search("  RELU ")
    found = [filter.index(row, 0).data() for row in range(filter.rowCount())]
    assert FAVOURITES not in found
    filter.search("shortcut")
    assert filter.index(0, 0).data() == OWN
    filter.search("")
    assert filter.rowCount() == model.rowCount()


def test_the_words_are_gathered_between_events(qtbot) -> None:
    model = LibraryModel()
    assert not model._words
    model.warm_up()
    qtbot.waitUntil(lambda: len(model._words) == len(catalog()))
