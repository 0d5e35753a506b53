"""The window marks layers while a run tells of them, if that is switched on."""

from app.window import MainWindow
from engine.runs.events import Health
from tests.app.runs.test_facts_panel import STARTED
from tests.builders import chain, layer


def test_layers_are_marked_while_it_is_on(window: MainWindow, qtbot) -> None:
    window.editor.edit_network("Make", lambda _: chain(layer("feature_input", channels=4), layer("fully_connected")))
    health, scene = window.layer_health, window.design.canvas.network_scene
    action = window.menus.actions_by_id["run.watch"]
    assert not action.isChecked()
    action.trigger()
    assert action.isChecked()
    assert window.editor.project.training.watch_layers
    assert "next run" in window.status.hints.text()
    health.take(STARTED)
    health.take(Health(iteration=10, layers={"id1": [-1.0, 1.0, 0.0]}))
    health.take(Health(iteration=10, layers={"id2": [0.0, 1.0, 0.0]}))
    qtbot.waitUntil(lambda: {id: mark.state for id, mark in scene.health.items()} == {"id1": "good", "id2": "warning"})
    health.take(Health(iteration=90, layers={"id1": [-1.0, 1.0, 0.0], "id2": [1.0, 1.0, 0.0]}))
    qtbot.waitUntil(lambda: {mark.state for mark in scene.health.values()} == {"good"})
    assert health._legend is not None
    assert health._legend.at.text() == "Iteration 90"
    window.editor.undo()
    qtbot.waitUntil(lambda: not scene.health)
    assert not action.isChecked()
    assert health._legend.isHidden()
    window.editor.redo()
    qtbot.waitUntil(lambda: bool(scene.health))
    health.forget()
    qtbot.waitUntil(lambda: not scene.health)
