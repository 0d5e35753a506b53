"""Measured times of layers: from the lines of the process to the canvas, blocks and edits included."""

import pytest

from netwright.app.frame.canvas_overlays import times_in
from netwright.app.window import MainWindow
from tests.blocks import behind, block_of, residual
from tests.builders import chain, layer

NETWORK = chain(layer("feature_input", channels=4), layer("fully_connected", outputs=3))
DEVICE = {"device": {"name": "cpu", "batch": 64, "threads": 2}}


def cost(path: str, forward_s: float, backward_s: float) -> dict[str, object]:
    return {"layer": {"path": path, "forward_s": forward_s, "backward_s": backward_s}}


def test_a_block_has_the_sum_of_its_copies() -> None:
    network = behind(layer("image_input", size=(4, 4), channels=4), residual(4, repeat=2))
    block = next(id for id, found in network.layers.items() if found.type_key == "block")
    inner = next(id for id, found in block_of(network, block).network.layers.items() if found.name == "conv")
    seconds = {f"{block}/0/{inner}": 1e-3, f"{block}/1/{inner}": 3e-3, "gone": 1.0}
    assert times_in(seconds, network, ()) == {block: 4_000_000}
    assert times_in(seconds, network, (block,)) == {inner: 4_000_000}


@pytest.fixture
def timed(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """A window with a network, whose process of measurements starts nothing."""
    window.editor.edit_network("Make", lambda _: NETWORK)
    monkeypatch.setattr(window.layer_times.process, "start", lambda command: None)
    return window


def test_times_are_shown_as_they_come_and_called_old_after_an_edit(timed: MainWindow) -> None:
    times, lenses, editor = timed.layer_times, timed.design.lenses, timed.editor
    scene, legend = timed.design.canvas.network_scene, timed.design.canvas.overlays.legend
    lenses.choose("time")
    assert (legend.note.text(), legend.link.text()) == ("Not measured yet", "Measure")
    assert times._measured == editor.project.network, "measuring begins with the lens"
    fc = next(id for id, found in editor.network.layers.items() if found.name == "fc_1")
    for line in (DEVICE, cost(fc, 1e-3, 2e-3)):
        times.process.said.emit(line)
    assert scene.nodes.nodes[fc].content.count == "3.00 ms · 100 %"
    assert (legend.note.text(), legend.link.text()) == ("64 samples on cpu, 2 threads", "Measure again")
    editor.set_fields([fc], {"outputs": 5})
    assert legend.note.text() == "64 samples on cpu, 2 threads, before the last edits"
    editor.undo()
    assert legend.note.text() == "64 samples on cpu, 2 threads"
    lenses.choose("structure")
    lenses.choose("time")
    assert times.costs, "what was measured stays"
    legend.link.click()
    assert not times.costs


def test_a_refusal_is_said(timed: MainWindow) -> None:
    timed.layer_times.process.said.emit({"error": "The device 'cuda:0' cannot be used: it is gone."})
    assert "it is gone" in timed.status.hints.text()
    assert timed.design.lenses.remarks["time"].note == "Not measured yet"
