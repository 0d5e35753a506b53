"""The window marks layers while a run tells of them, if that is switched on."""

from dataclasses import replace
from typing import Any

import pytest

from netwright.app.frame.canvas_overlays import MOST_POINTS
from netwright.app.training import Training
from netwright.app.window import MainWindow
from netwright.designer.panels.property_sections import HealthPart
from netwright.designer.scene.lens import NO_TRAINING
from netwright.engine.runs.events import Health, Requested
from tests.app.runs.test_facts_panel import STARTED
from tests.builders import chain, layer


def report(window: MainWindow) -> None:
    """What a run says of two layers, one of which gets no gradient."""
    health = window.layer_health
    health.take(STARTED)
    health.take(Health(iteration=10, layers={"id1": [-1.0, 1.0, 0.0]}))
    health.take(Health(iteration=10, layers={"id2": [0.0, 1.0, 0.0]}))


def test_layers_are_tinted_through_the_lens(window: MainWindow, qtbot) -> None:
    window.editor.edit_network("Make", lambda _: chain(layer("feature_input", channels=4), layer("fully_connected")))
    health, scene, lenses = window.layer_health, window.design.canvas.network_scene, window.design.lenses
    action = window.menus.actions_by_id["lens.health"]
    assert not action.isEnabled()
    assert window.design.lens_bar.buttons["health"].toolTip() == lenses.refusal("health") == NO_TRAINING
    report(window)
    assert action.isEnabled()
    action.trigger()
    assert action.isChecked()
    qtbot.waitUntil(lambda: {id: mark.state for id, mark in scene.health.items()} == {"id1": "good", "id2": "warning"})
    legend = window.design.canvas.overlays.legend
    assert (legend.note.text(), legend.link.text()) == ("1 healthy · 1 to look at", "Next")
    legend.link.click()
    assert window.editor.selection == {"id2"}
    health.take(Health(iteration=90, layers={"id1": [-1.0, 1.0, 0.0], "id2": [1.0, 1.0, 0.0]}))
    qtbot.waitUntil(lambda: {mark.state for mark in scene.health.values()} == {"good"})
    assert window.design.lens_bar.text.text() == "at iteration 90"
    lenses.choose("structure")
    assert not scene.health, "at once"
    assert legend.isHidden()
    lenses.choose("health")
    assert scene.health
    health.forget()
    qtbot.waitUntil(lambda: not scene.health)
    assert lenses.refusal("health") == NO_TRAINING


def test_to_show_it_changes_neither_the_project_nor_its_history(window: MainWindow) -> None:
    editor = window.editor
    editor.edit_network("Make", lambda _: chain(layer("feature_input", channels=4), layer("fully_connected")))
    editor.add_layer("relu")
    editor.undo()
    before, depth = editor.project, editor.stack.count()
    report(window)
    window.menus.actions_by_id["lens.health"].trigger()
    assert editor.project is before
    assert editor.stack.count() == depth
    assert editor.stack.canRedo()


def test_a_run_that_watches_its_layers_shows_them_unless_another_lens_was_chosen(window: MainWindow, qtbot) -> None:
    editor, lenses = window.editor, window.design.lenses
    editor.edit_network("Make", lambda _: chain(layer("feature_input", channels=4), layer("fully_connected")))
    editor.apply("Watch", replace(editor.project, training=editor.project.training.replace(watch_layers=True)))
    scene = window.design.canvas.network_scene
    report(window)
    qtbot.waitUntil(lambda: bool(scene.health))
    lenses.choose("structure")
    assert not scene.health
    report(window)
    assert lenses.current == "structure"
    window.layer_health.take(Requested(what="watch_layers", iteration=3, value=1.0))
    report(window)
    assert lenses.current == "health", "asked for in the run's own menu"


def test_a_run_that_does_not_watch_its_layers_is_asked_to(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Any]] = []
    monkeypatch.setattr(Training, "is_running", property(lambda _: True))
    monkeypatch.setattr(window.training, "request", lambda name, values: asked.append((name, values)))
    window.editor.edit_network("Make", lambda _: chain(layer("feature_input", channels=4), layer("fully_connected")))
    window.training.state_changed.emit()
    window.menus.actions_by_id["lens.health"].trigger()
    assert asked == [("watch", {"layers": 1})]
    window.layer_health.take(Requested(what="watch_layers", iteration=3, value=1.0))
    window.design.lenses.choose("structure")
    window.design.lenses.choose("health")
    window.training.run_shown.emit()  # the next run
    assert len(asked) == 1, "it cannot be asked before it has started"
    window.layer_health.take(STARTED)
    assert asked == [("watch", {"layers": 1})] * 2


def test_the_selected_layer_shows_its_health_and_its_gradient_over_the_run(window: MainWindow, qtbot) -> None:
    network = chain(layer("feature_input", channels=4), layer("fully_connected"), layer("fully_connected"))
    window.editor.edit_network("Make", lambda _: network)
    health = window.layer_health
    health.take(STARTED)
    for step in range(1, 2 * MOST_POINTS):
        health.take(Health(iteration=step, layers={"id1": [-1.0, 1.0, 0.0], "id2": [1.0, 1.0, 0.0]}))
        health.take(Health(iteration=step, layers={"id3": [10.0 ** -(step % 3), 1.0, 0.0]}))
    window.editor.set_selection({"id3"})
    part = window.design.properties.findChild(HealthPart)
    assert part is not None
    assert part.isVisibleTo(window.design.properties)
    assert part.state.text() == "✓ Healthy"
    assert part.words.text().startswith("Output 1 · gradient ")
    points = part.curve.points
    assert MOST_POINTS / 2 < len(points) <= MOST_POINTS + 1
    assert (points[0], points[-1][0]) == ((1, 0.1), 2 * MOST_POINTS - 1), "the first and the newest stay"
    assert not part.curve.grab().isNull()
    window.editor.set_selection({"id1"})
    assert not part.curve.isVisibleTo(part), "a layer without weights has no gradient"
    window.editor.set_selection(())
    assert part.isHidden()
    window.editor.set_selection({"id2"})
    health.forget()
    qtbot.waitUntil(part.isHidden)
