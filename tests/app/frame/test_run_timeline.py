"""The timeline below the canvas comes with a run, and the health of the layers follows its scrubber."""

import pytest

from netwright.app.runs.phases import Phase
from netwright.app.training import Training
from netwright.app.window import MainWindow
from netwright.designer.panels.property_sections import HealthPart
from netwright.engine.runs.events import Event, Health, Points, StateChanged
from tests.app.runs.test_facts_panel import STARTED
from tests.builders import chain, layer


@pytest.fixture
def running(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """A window in which a run is under way that watches its layers."""
    network = chain(layer("feature_input", channels=4), layer("fully_connected"), layer("fully_connected"))
    window.editor.edit_network("Make", lambda _: network)
    window.show_tab("design")
    monkeypatch.setattr(Training, "phase", property(lambda _: Phase.RUNNING))
    window.training.monitor.facts.show_starting("Run 1")
    window.training.run_shown.emit()
    return window


def take(window: MainWindow, event: Event) -> None:
    window.training.monitor.take(event)
    window.training.received.emit(event)


def train(window: MainWindow) -> None:
    """Three epochs, in the second of which the gradients of a layer vanish."""
    take(window, STARTED)
    steps = STARTED.steps_per_epoch
    values = {"loss": [1.0] * (3 * steps), "accuracy": [0.5] * (3 * steps)}
    take(window, Points(split="training", first_step=1, steps_apart=1, values=values))
    for epoch in (1, 2, 3):
        gradient = 1e-9 if epoch == 2 else 1.0
        figures = {"id2": [1.0, 1.0, 0.0], "id3": [gradient, 1.0, 0.0]}
        take(window, Health(iteration=epoch * steps, layers=figures))


def test_it_comes_with_a_run_without_moving_the_canvas(
    window: MainWindow, qtbot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the run begins while the page Runs is shown, so that the canvas is resized while it is hidden."""
    canvas, bar = window.design.canvas, window.design.strip_bar
    window.editor.edit_network("Make", lambda _: chain(layer("feature_input", channels=4), layer("fully_connected")))
    canvas.fit()
    window.show_tab("runs")
    assert bar.isHidden(), "there is nothing to show yet"
    before = canvas.zoom, canvas.middle_of(canvas.viewport().size())
    monkeypatch.setattr(Training, "phase", property(lambda _: Phase.RUNNING))
    window.training.run_shown.emit()
    high = canvas.height()
    window.show_tab("design")
    qtbot.waitUntil(lambda: canvas.height() < high)
    assert window.layer_health.timeline.strip.width() == window.width(), "it is as wide as the window"
    assert canvas.zoom == before[0]
    middle = canvas.middle_of(canvas.viewport().size())
    assert (middle - before[1]).manhattanLength() < 4, "but for rounding"


def test_it_stays_closed_until_the_next_run(running: MainWindow) -> None:
    bar, strip = running.design.strip_bar, running.layer_health.timeline.strip
    running.show_tab("runs")
    assert bar.isHidden(), "the page Runs has larger curves"
    running.show_tab("design")
    assert not bar.isHidden()
    strip.close_button.click()
    assert bar.isHidden()
    running.show_tab("runs")
    running.show_tab("design")
    assert bar.isHidden()
    bar.toggleViewAction().trigger()
    assert not bar.isHidden(), "View > Panels shows it again"
    strip.close_button.click()
    running.show_tab("runs")
    running.training.run_shown.emit()
    running.show_tab("design")
    assert not bar.isHidden()


def test_a_button_reaches_the_run(running: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(running.training, "request", asked.append)
    monkeypatch.setattr(running.training, "stop", lambda *, after_epoch: asked.append("stop"))
    take(running, StateChanged(state="running"))
    strip = running.layer_health.timeline.strip
    strip.flush()
    strip.pause.click()
    strip.stop.click()
    assert asked == ["pause", "stop"]


def test_the_health_of_layers_is_that_of_the_moment(running: MainWindow, qtbot) -> None:
    train(running)
    design, strip = running.design, running.layer_health.timeline.strip
    strip.flush()
    running.editor.set_selection({"id3"})
    design.lenses.choose("health")
    scene, steps = design.canvas.network_scene, STARTED.steps_per_epoch
    qtbot.waitUntil(lambda: bool(scene.health) and scene.health["id3"].state == "good")
    part = design.properties.findChild(HealthPart)
    assert part is not None
    assert part.curve.marked == 3 * steps
    strip.plot.go_to(2 * steps)
    assert scene.health["id3"].state == "warning", "at once"
    assert part.curve.marked == 2 * steps
    assert part.state.text() == "▲ To look at"
    assert not part.curve.grab().isNull()
    assert design.lens_bar.text.text() == f"at epoch 2, iteration {2 * steps:,}"
    take(running, Health(iteration=3 * steps + 1, layers={"id3": [1.0, 1.0, 0.0]}))
    running.layer_health.show()
    assert scene.health["id3"].state == "warning", "it stays at the moment while the run goes on"
    strip.live.click()
    assert scene.health["id3"].state == "good"
    assert design.lens_bar.text.text() == f"at iteration {3 * steps + 1:,}"
    strip.plot.go_to(2 * steps)
    running.training.run_shown.emit()
    assert strip.plot.moment is None, "another run is followed"
