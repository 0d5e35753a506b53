"""The dialog of transfer learning: what of the weights fits, names set by hand, the head, published weights."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QComboBox, QStyledItemDelegate, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from netwright.app.dialogs import published_weights_dialog
from netwright.app.dialogs.published_weights_dialog import PublishedDialog
from netwright.app.dialogs.transfer_learning import TransferDialog
from netwright.app.dialogs.weights_table import CHOOSE, LEFT, MISSING, following, rows_of
from netwright.engine.core.types import image
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.file import loads
from netwright.engine.project.project import Project
from netwright.engine.project.published_weights import Published
from tests.app.fake_server import FakeServer
from tests.builders import classifier

REPORT: dict[str, Any] = {
    "file": "/w/old.safetensors",
    "sha256": "a" * 64,
    "layout": "",
    "sentence": "1 layer loaded. 1 layer starts fresh.",
    "layers": [],
    "counts": {"matched": 1, "other_shape": 1, "missing": 1, "left_over": 1},
    "matched": [["fc_1.bias", "fc.bias", "name"]],
    "other_shape": [{"key": "fc_2.weight", "file_key": "head.weight", "shape": [3, 8], "file_shape": [10, 8]}],
    "missing": ["fc_1.weight"],
    "left_over": ["old.weight"],
}
INFO = DatasetInfo((InputInfo("image", image(1, 6, 6)),), {"training": 10}, classes_of("a", "b", "c", "d"))


def made(qtbot: QtBot, server: FakeServer, base: Path, info: DatasetInfo | None = None, **more: Any) -> TransferDialog:
    dialog = TransferDialog(Project(classifier()), base, server, info, **more)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def asked(server: FakeServer) -> Project:
    return loads(server.asked[-1].given["text"]).project


def test_a_file_is_compared_and_its_rows_are_shown(qtbot: QtBot, server: FakeServer, tmp_path: Path) -> None:
    dialog = made(qtbot, server, tmp_path)
    dialog.use(tmp_path / "old.safetensors")
    qtbot.waitUntil(lambda: server.count("weights match") == 1)
    assert asked(server).weights.file == "old.safetensors", "relative to the folder of the project"
    server.answer("weights match", REPORT)
    assert dialog.state.text() == REPORT["sentence"]
    assert list(rows_of(REPORT)) == [
        ("fc_2.weight", "head.weight", "3 x 8 here, 10 x 8 in the file"),
        ("fc_1.weight", "", MISSING),
        ("", "old.weight", LEFT),
        ("fc_1.bias", "fc.bias", "Loaded, by name"),
    ]
    assert dialog.table.rowCount() == 4
    dialog.only_misfits.setChecked(True)
    assert dialog.table.rowCount() == 3
    assert dialog.project().weights.sha256 == "a" * 64


def test_a_name_set_by_hand_is_compared_again(qtbot: QtBot, server: FakeServer, tmp_path: Path) -> None:
    dialog = made(qtbot, server, tmp_path)
    dialog.use(tmp_path / "old.safetensors")
    qtbot.waitUntil(lambda: server.count("weights match") == 1)
    server.answer("weights match", REPORT)
    table = dialog.table
    item = table.item(1, 1)
    assert item is not None
    table.editItem(item)
    (box,) = table.findChildren(QComboBox)
    assert [box.itemText(number) for number in range(box.count())] == ["", "old.weight"]
    box.setCurrentText("old.weight")
    table.itemDelegateForColumn(1).setModelData(box, table.model(), table.model().index(1, 1))
    qtbot.waitUntil(lambda: server.count("weights match") == 2)
    assert asked(server).weights.map == (("fc_1.weight", "old.weight"),)
    dialog.clear_map.click()
    qtbot.waitUntil(lambda: server.count("weights match") == 3)
    assert asked(server).weights.map == ()


def test_names_of_the_same_part_follow_one_that_is_chosen() -> None:
    missing = ["stage.0.conv.weight", "stage.0.conv.bias", "stage.0.bn.weight", "stage.1.conv.bias", "head.weight"]
    left = ["layer1.conv.weight", "layer1.conv.bias", "layer1.other", "classifier.weight", "classifier.bias"]
    assert following("stage.0.conv.weight", "layer1.conv.weight", missing, left) == {
        "stage.0.conv.weight": "layer1.conv.weight",
        "stage.0.conv.bias": "layer1.conv.bias",
    }
    assert following("head.weight", "classifier.weight", ["head.weight", "head.bias"], left) == {
        "head.weight": "classifier.weight",
        "head.bias": "classifier.bias",
    }
    assert following("head.weight", "classifier.bias", missing, left) == {}, "another weight: nothing to follow"
    assert following("weight", "a.weight", ["weight", "bias"], ["a.weight", "a.bias"]) == {}
    assert following("head.weight", "", missing, left) == {}


def test_a_weight_without_a_name_says_that_one_can_be_chosen(qtbot: QtBot, server: FakeServer, tmp_path: Path) -> None:
    dialog = made(qtbot, server, tmp_path)
    dialog.use(tmp_path / "old.safetensors")
    qtbot.waitUntil(lambda: server.count("weights match") == 1)
    server.answer("weights match", REPORT)
    delegate, model = dialog.table.itemDelegateForColumn(1), dialog.table.model()
    assert isinstance(delegate, QStyledItemDelegate)
    said = []
    for row in range(dialog.table.rowCount()):
        option = QStyleOptionViewItem()
        delegate.initStyleOption(option, model.index(row, 1))
        said.append(option.text)
    assert said == ["head.weight", CHOOSE, "old.weight", "fc.bias"]


def test_weights_that_cannot_be_read_keep_ok_disabled(qtbot: QtBot, server: FakeServer, tmp_path: Path) -> None:
    dialog = made(qtbot, server, tmp_path)
    dialog.use(tmp_path / "gone.pt")
    qtbot.waitUntil(lambda: server.count("weights match") == 1)
    server.refuse("weights match", "The weights gone.pt cannot be read.")
    assert dialog.state.text() == "The weights gone.pt cannot be read."
    assert not dialog.ok.isEnabled()
    dialog.source.setCurrentIndex(0)
    dialog.source.activated.emit(0)
    assert dialog.ok.isEnabled()
    assert dialog.project() == Project(classifier())


def test_the_head_is_replaced_for_the_data(qtbot: QtBot, server: FakeServer, tmp_path: Path) -> None:
    dialog = made(qtbot, server, tmp_path, INFO)
    assert dialog.head.isChecked(), "3 outputs, and the data has 4 classes"
    assert dialog.head_note.text() == "fc_2 (3 outputs) → fc_3 (4 outputs), which starts from random numbers."
    before, after = Project(classifier()).network, dialog.project().network
    assert before.layers.keys() - after.layers.keys() == {before.by_name["fc_2"].id}
    dialog.head.setChecked(False)
    assert dialog.project().network == before


def test_lower_rates_and_frozen_layers(qtbot: QtBot, server: FakeServer, tmp_path: Path) -> None:
    first = Project(classifier()).network.by_name["fc_1"].id
    dialog = made(qtbot, server, tmp_path, selected=first)
    dialog.use_selected.click()
    assert dialog.freeze_note.text().startswith("1 layer keeps its weights, ")
    dialog.freeze.setCurrentIndex(0)
    dialog.factor.setValue(0.1)
    dialog.rates.setCurrentIndex(dialog.rates.findData(first))
    layer = dialog.project().network.layers[first]
    assert getattr(layer.type, "weight_learn_rate_factor") == 0.1  # noqa: B009


def test_published_weights_are_downloaded_only_on_request(
    qtbot: QtBot, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Published("here", "mlp", "https://x.example/here.pth", "a" * 8, "Here")
    away = Published("away", "unet", "https://x.example/away.pth", "b" * 64, "Away", "MIT", 5 * 2**20)
    monkeypatch.setattr(published_weights_dialog, "published", lambda: {"here": here, "away": away})
    dialog = PublishedDialog(server, "unet")
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.entry == away, "those of the template come first"
    facts = {name: label.text().replace("\u200b", "") for name, label in dialog._facts.items()}
    assert (facts["Address"], facts["Licence"], facts["Size"]) == ("https://x.example/away.pth", "MIT", "5.0 MiB")
    assert server.asked == []
    dialog.go.click()
    server.tell("weights fetch", 2**20, 5 * 2**20, "bytes")
    assert dialog.state.text() == "Downloading: 20 % (1.0 MiB of 5.0 MiB)"
    dialog.cancel.click()
    assert server.cancelled == ["weights fetch"]
    dialog.go.click()
    server.refuse("weights fetch", "The checksum is another one.")
    assert dialog.state.text() == "The checksum is another one."
    dialog.go.click()
    server.answer("weights fetch", {"path": str(away.path)})
    assert dialog.chosen == away
