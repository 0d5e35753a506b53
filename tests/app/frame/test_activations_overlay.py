"""Activations and attribution on the canvas: of which run and sample, where they are drawn, and without a run."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from netwright.app.frame.activations_overlay import ActivationsOverlay, read_pictures, visible
from netwright.app.window import MainWindow
from netwright.designer.scene.lens import NO_RUN
from netwright.engine.network.network import Network
from netwright.engine.project.project import Project
from netwright.engine.runs.summary import RunSummary
from tests.app.fake_server import FakeServer
from tests.app.history.sample_runs import log_curves, made
from tests.builders import chain, layer

RUN = Path("/runs/1")


@pytest.fixture
def overlay(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> ActivationsOverlay:
    """The overlay of a window with a network of two layers, whose history reads nothing by itself."""
    network = chain(layer("image_input", channels=1, size=4), layer("relu"))
    window.editor.open(Project(network))
    monkeypatch.setattr("netwright.app.history.run_history.RunHistory.look", lambda self: None)
    return window.activations


def ended(number: int, result: dict[str, Any] | None) -> RunSummary:
    return RunSummary(
        path=Path(f"/runs/{number}"),
        name="pets",
        state="x",
        created=float(number),
        run_number=number,
        result=result,
        so_far={},
        options={},
    )


def answered(overlay: ActivationsOverlay, server: FakeServer, folder: Path, path: str) -> None:
    file = folder / "a.npz"
    np.savez(file, layer_0=np.zeros((2, 4, 4), np.uint8))
    sample = {"place": overlay.place, "count": 5, "label": "cat", "outputs": [{"name": "y", "class": "dog"}]}
    server.answer("explain", {"file": str(file), "layers": [{"path": path}], "sample": sample})


def test_the_newest_run_is_shown_sample_by_sample(
    overlay: ActivationsOverlay, window: MainWindow, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = next(iter(window.editor.project.network.layers))
    window.design.lenses.choose("activations")
    history = overlay._history
    assert history is not None
    monkeypatch.setattr(history, "is_of_project", lambda run: True)
    history.runs |= {run.path: run for run in (ended(1, {"state": "finished"}), ended(2, None))}
    history.is_read = True
    history.changed.emit()
    asked = server.asked[-1]
    assert (asked.do, asked.given["model"]) == ("explain", str(RUN))
    assert (asked.given["method"], "sample" in asked.given) == ("thumbnails", False)
    answered(overlay, server, tmp_path, id)
    scene = window.design.canvas.network_scene
    assert [len(images) for images in scene.strips.images.values()] == [2]
    bar = window.design.lens_bar
    assert (bar.sample.text(), bar.text.text()) == ("Sample 1 of 5", "labelled cat, answer dog")
    bar.before.click()
    assert server.asked[-1].given["sample"] == "4"
    window.design.lenses.choose("attribution")
    assert server.cancelled == ["explain"]
    assert not scene.strips.images
    assert (server.asked[-1].given["method"], server.asked[-1].given["sample"]) == ("attributions", "4")
    window.design.lenses.choose("structure")
    assert server.cancelled == ["explain"] * 2
    assert not bar.sample.text()


def test_the_scrubber_shows_the_checkpoint_of_an_epoch(
    overlay: ActivationsOverlay, window: MainWindow, server: FakeServer, tmp_path: Path, qtbot: QtBot
) -> None:
    """And says of which epochs there are weights where none were kept."""
    run = made(tmp_path, "a", 1.0, of="untitled")
    for iteration in (30, 40):  # epochs 3 and 4, of 10 iterations each
        (run.checkpoints / f"{iteration:09d}").mkdir()
    (run.checkpoints / "000000001").rmdir()
    log_curves(run, epochs=4, steps_per_epoch=10, seconds=1.0)
    window.training.follow(run)
    window.design.show_strip(is_shown=True)
    strip, bar = window.layer_health.timeline.strip, window.design.lens_bar
    qtbot.waitUntil(lambda: strip.plot.last_step == 40)
    strip.plot.go_to(30)
    window.design.lenses.choose("activations")
    asked = server.asked[-1]
    assert (asked.given["model"], asked.given["iteration"]) == (str(run.path), 30)
    answered(overlay, server, tmp_path, next(iter(window.editor.project.network.layers)))
    assert bar.text.text() == "at epoch 3, labelled cat, answer dog"
    num_asked = server.count("explain")
    strip.plot.go_to(20)
    qtbot.waitUntil(lambda: bar.text.text() == "No weights of epoch 2 were kept.")
    assert not window.design.canvas.network_scene.strips.images
    assert window.design.lenses.remarks["activations"].note == "The nearest epochs with weights: 3."
    assert server.count("explain") == num_asked
    strip.plot.go_to(30)
    qtbot.waitUntil(lambda: server.count("explain") > num_asked)
    server.refuse("explain", "The run has no trained weights yet.")
    assert bar.text.text() == "The run has no trained weights yet."
    assert window.design.lenses.current == "activations"


def test_without_a_run_it_says_what_to_do_first(overlay: ActivationsOverlay, window: MainWindow, monkeypatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(window, "hint", said.append)
    window.design.lenses.choose("activations")
    assert overlay._history is not None
    overlay._history.is_read = True
    overlay._history.changed.emit()
    assert said == [NO_RUN]
    assert window.design.lenses.current == "structure"
    assert window.design.lens_bar.buttons["attribution"].toolTip() == NO_RUN
    assert not window.menus.actions_by_id["lens.activations"].isEnabled()
    window.training.state_changed.emit()
    assert window.menus.actions_by_id["lens.activations"].isEnabled(), "there may be a run now"


def test_pictures_are_read_and_those_of_layers_that_are_gone_left_out(tmp_path: Path) -> None:
    network = chain(layer("image_input", channels=1, size=4), layer("relu"), layer("tanh"))
    np.savez(tmp_path / "a.npz", layer_0=np.zeros((1, 4, 4), np.uint8), layer_1=np.full((3, 2, 2), 255, np.uint8))
    pictures = read_pictures(tmp_path / "a.npz", [{"path": "id1"}, {"path": "id2"}])
    assert (pictures["id2"][0].width(), pictures["id2"][0].pixelColor(0, 0).name()) == (2, "#fde725")
    assert visible({**pictures, "gone": pictures["id1"]}, network, ()) == pictures
    assert visible(pictures, Network.empty(), ()) == {}
