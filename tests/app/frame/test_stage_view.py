"""The window knows how many workers there are, and offers stages as an action, a card and a field."""

from netwright.app.window import MainWindow
from netwright.designer.panels.property_sections import StageRow
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.project import Project
from tests.builders import chain, layer


def test_there_are_as_many_stages_as_the_machine_has_workers(window: MainWindow, qtbot) -> None:
    full = layer("fully_connected", outputs=8)
    network = chain(layer("feature_input", channels=8), full, full, full)
    window.editor.edit_network("Make", lambda _: network)
    action = window.menus.actions_by_id["lens.stages"]
    qtbot.waitUntil(action.isEnabled, timeout=60_000)
    action.trigger()
    assert action.isChecked()
    assert max(window.design.canvas.network_scene.stages.values()) == 1
    window.environment.inventory = DeviceInventory(3, backends=("gloo",))
    window.environment.inventory_changed.emit(window.environment.inventory)
    qtbot.waitUntil(lambda: sorted(window.design.canvas.network_scene.stages.values()) == [0, 0, 1, 2], timeout=60_000)
    card = window.design.canvas.overlays.legend.rows
    assert len(card.lines) == 3
    assert window.design.properties.findChild(StageRow) is None
    card.use_button.click()
    row = window.design.properties.findChild(StageRow)
    assert row is not None
    window.editor.set_selection({"id3"})
    assert not row.isHidden()
    assert row.words.text() == "3 stages, balanced by the engine."
    window.menus.actions_by_id["stages.balance"].trigger()
    assert window.editor.project.environment.stages == "fc_2: 2, fc_3: 3"
    window.menus.actions_by_id["stages.clear"].trigger()
    assert window.editor.project.environment.stages == ""
    window.menus.actions_by_id["lens.structure"].trigger()
    assert not action.isChecked()
    assert window.design.canvas.network_scene.stages == {}


def test_a_project_with_stages_has_their_field_at_once(window: MainWindow, qtbot) -> None:
    full = layer("fully_connected", outputs=8)
    environment = EnvironmentOptions(target="multi-cpu", num_workers=2, strategy="pipeline", stages="fc_2: 2")
    window.editor.open(Project(chain(layer("feature_input", channels=8), full, full), environment=environment))
    qtbot.waitUntil(lambda: window.design.properties.findChild(StageRow) is not None, timeout=60_000)
    row = window.design.properties.findChild(StageRow)
    assert row is not None
    window.editor.set_selection({"id3"})
    assert row.words.text() == "2 stages, set by hand."
    assert window.design.canvas.network_scene.stages == {}
