"""The window marks layers while a run tells of them, if that is switched on."""

from dataclasses import replace
from typing import Any

import pytest

from netwright.app.training import Training
from netwright.app.window import MainWindow
from netwright.engine.runs.events import Health, Requested
from tests.app.runs.test_facts_panel import STARTED
from tests.builders import chain, layer


def report(window: MainWindow) -> None:
    """What a run says of two layers, one of which gets no gradient."""
    health = window.layer_health
    health.take(STARTED)
    health.take(Health(iteration=10, layers={"id1": [-1.0, 1.0, 0.0]}))
    health.take(Health(iteration=10, layers={"id2": [0.0, 1.0, 0.0]}))


def test_layers_are_marked_while_it_is_on(window: MainWindow, qtbot) -> None:
    window.editor.edit_network("Make", lambda _: chain(layer("feature_input", channels=4), layer("fully_connected")))
    health, scene = window.layer_health, window.design.canvas.network_scene
    action = window.menus.actions_by_id["run.watch"]
    assert not action.isChecked()
    action.trigger()
    assert action.isChecked()
    assert "next run" in window.status.hints.text()
    report(window)
    qtbot.waitUntil(lambda: {id: mark.state for id, mark in scene.health.items()} == {"id1": "good", "id2": "warning"})
    health.take(Health(iteration=90, layers={"id1": [-1.0, 1.0, 0.0], "id2": [1.0, 1.0, 0.0]}))
    qtbot.waitUntil(lambda: {mark.state for mark in scene.health.values()} == {"good"})
    assert health._legend is not None
    assert health._legend.at.text() == "Iteration 90"
    action.trigger()
    assert not scene.health, "at once"
    assert not action.isChecked()
    assert health._legend.isHidden()
    action.trigger()
    assert scene.health
    health.forget()
    qtbot.waitUntil(lambda: not scene.health)


def test_to_show_them_changes_neither_the_project_nor_its_history(window: MainWindow) -> None:
    editor = window.editor
    editor.edit_network("Make", lambda _: chain(layer("feature_input", channels=4), layer("fully_connected")))
    editor.add_layer("relu")
    editor.undo()
    before, depth = editor.project, editor.stack.count()
    window.menus.actions_by_id["run.watch"].trigger()
    assert editor.project is before
    assert editor.stack.count() == depth
    assert editor.stack.canRedo()


def test_the_option_shows_them_until_they_are_hidden(window: MainWindow, qtbot) -> None:
    editor = window.editor
    editor.edit_network("Make", lambda _: chain(layer("feature_input", channels=4), layer("fully_connected")))
    editor.apply("Watch", replace(editor.project, training=editor.project.training.replace(watch_layers=True)))
    scene = window.design.canvas.network_scene
    report(window)
    qtbot.waitUntil(lambda: bool(scene.health))
    window.menus.actions_by_id["run.watch"].trigger()
    assert not scene.health
    assert editor.project.training.watch_layers


def test_a_run_that_does_not_watch_its_layers_is_asked_to(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Any]] = []
    monkeypatch.setattr(Training, "is_running", property(lambda _: True))
    monkeypatch.setattr(window.training, "request", lambda name, values: asked.append((name, values)))
    window.menus.actions_by_id["run.watch"].trigger()
    window.layer_health.take(Requested(what="watch_layers", iteration=3, value=1.0))
    window.training.run_shown.emit()  # the next run
    assert len(asked) == 1, "it cannot be asked before it has started"
    window.layer_health.take(STARTED)
    window.layer_health.take(Requested(what="watch_layers", iteration=1, value=1.0))
    window.menus.actions_by_id["run.watch"].trigger()
    assert asked == [("watch", {"layers": 1}), ("watch", {"layers": 1}), ("watch", {"layers": 0})]
