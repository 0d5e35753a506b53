"""Freezing from the menu, and transfer learning from where it is offered."""

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from netwright.app.dialogs.transfer_learning import TransferDialog
from netwright.app.frame.help_dialogs import matching
from netwright.app.window import MainWindow
from netwright.engine.project.project import Project
from netwright.engine.project.weights import WeightsOptions
from tests.app.fake_server import FakeServer
from tests.app.main_windows import Modal, is_enabled, run
from tests.builders import classifier


def named(window: MainWindow, name: str) -> str:
    return window.editor.network.by_name[name].id


def test_a_layer_is_frozen_from_the_menu_and_the_legend_says_so(window: MainWindow) -> None:
    window.editor.open(Project(classifier()))
    legend = window.design.canvas.overlays.legend
    assert legend.isHidden()
    assert not is_enabled(window, "weights.freeze")
    window.editor.set_selection({named(window, "fc_1")})
    run(window, "weights.freeze")
    assert window.editor.project.weights.freeze_up_to == named(window, "fc_1")
    assert (legend.frozen.text(), legend.isHidden()) == ("1 layer frozen", False)
    properties = window.design.properties
    assert properties.locked.text().startswith("Keeps its weights: frozen up to 'fc_1'.")
    run(window, "weights.unfreeze")
    assert legend.isHidden()
    assert properties.locked.isHidden()
    run(window, "edit.undo")
    assert not legend.isHidden()


def test_transfer_learning_is_one_step(window: MainWindow) -> None:
    window.editor.open(Project(classifier()))

    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, TransferDialog)
        dialog.freeze.setCurrentIndex(dialog.freeze.findData(named(window, "fc_1")))
        dialog.head.setChecked(True)
        dialog.outputs.setValue(5)
        dialog.ok.click()

    with Modal(work):
        run(window, "weights.transfer")
    project = window.editor.project
    assert project.weights.freeze_up_to == named(window, "fc_1")
    assert window.editor.analysis.type_at(project.network.output_ports[0]) is not None
    run(window, "edit.undo")
    assert window.editor.project == Project(classifier())
    assert matching("finetune")[0].id == "weights.transfer"


def test_the_link_of_the_legend_leads_to_the_dialog(window: MainWindow) -> None:
    window.editor.open(Project(classifier()))
    window.editor.set_selection({named(window, "fc_1")})
    run(window, "weights.freeze")
    seen: list[str] = []

    def work(dialog: QWidget) -> None:
        assert isinstance(dialog, TransferDialog)
        seen.append(dialog.freeze.currentText())

    with Modal(work):
        window.design.canvas.overlays.legend._change.click()
    assert seen == ["fc_1 · Fully connected"]


def test_the_status_line_says_what_a_run_starts_from(qtbot: QtBot, window: MainWindow, server: FakeServer) -> None:
    link = window.status.weights
    assert link.isHidden()
    weights = WeightsOptions(file="old.safetensors")
    window.editor.open(Project(classifier(), weights=weights))
    assert (link.text(), link.isHidden()) == ("Starts from old.safetensors", False)
    qtbot.waitUntil(lambda: server.count("weights match") == 1)
    counts = {"matched": 3, "other_shape": 0, "missing": 1, "left_over": 2}
    server.answer("weights match", {"counts": counts, "sentence": "One layer starts fresh."})
    assert link.text() == "Starts from old.safetensors: 3 of 4 tensors"
    window.editor.set_fields([named(window, "fc_1")], {"outputs": 9})
    qtbot.waitUntil(lambda: server.count("weights match") == 2)
    server.refuse("weights match", "The file is gone.")
    assert link.text() == "old.safetensors cannot be used"
    assert "The file is gone." in link.toolTip()
    window.editor.open(Project(classifier()))
    assert link.isHidden()
