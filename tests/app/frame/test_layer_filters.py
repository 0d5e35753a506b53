"""The properties show the filters of a convolution as the run that is shown has learned them."""

import json
from pathlib import Path

import numpy as np
import pytest

from netwright.app.frame.layer_filters import BUSY, MOST, NO_RUN, UNDER_WAY, FiltersPart, LayerFilters, path_of
from netwright.app.training import Training
from netwright.app.window import MainWindow
from netwright.designer.panels.property_sections import HealthPart
from netwright.engine.network.analysis import analyse
from netwright.engine.network.block import Block
from netwright.engine.runs.events import Health
from netwright.engine.runs.folder import RunFolder
from tests.app.fake_server import FakeServer
from tests.builders import chain, layer


@pytest.fixture
def filters(window: MainWindow) -> LayerFilters:
    """The filters of a window with a network whose second and third layers are convolutions."""
    conv = [layer("conv2d", filters=4), layer("conv2d", filters=4), layer("relu")]
    window.editor.edit_network("Make", lambda _: chain(layer("image_input", channels=1, size=8), *conv))
    return window.layer_health.filters


@pytest.fixture
def ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run that is shown and has ended."""
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    folder.result.write_text(json.dumps({"state": "finished"}), encoding="utf-8")
    monkeypatch.setattr(Training, "run_folder", property(lambda _: folder))
    return folder


def part_of(filters: LayerFilters) -> FiltersPart:
    assert filters.part is not None
    return filters.part


def answer(server: FakeServer, folder: Path, maps: np.ndarray, channels: int) -> None:
    file = folder / f"{server.count('explain')}.npz"
    np.savez(file, maps=maps)
    server.answer("explain", {"file": str(file), "channels": len(maps), "input_channels": channels})


def test_without_a_run_it_says_what_to_do(
    filters: LayerFilters, window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert filters.part is None
    window.editor.set_selection({"id2"})
    part = part_of(filters)
    assert part.words.text() == NO_RUN
    assert not part.grid.isVisibleTo(part)
    window.editor.set_selection({"id4"})
    assert part.isHidden(), "it has no filters"
    window.editor.set_selection({"id2"})
    monkeypatch.setattr(Training, "run_folder", property(lambda _: RunFolder(tmp_path)))
    monkeypatch.setattr(Training, "is_running", property(lambda _: True))
    window.training.run_shown.emit()
    assert part.words.text() == UNDER_WAY


def test_the_filters_are_asked_for_once(
    filters: LayerFilters, window: MainWindow, server: FakeServer, ended: RunFolder, tmp_path: Path, qtbot
) -> None:
    window.editor.set_selection({"id2"})
    part = part_of(filters)
    window.layer_health.take(Health(iteration=10, layers={"id2": [1.0, 1.0, 0.0]}))
    qtbot.waitUntil(lambda: window.design.properties.findChild(HealthPart) is not None)
    health = window.design.properties.findChild(HealthPart)
    assert health is not None
    qtbot.waitUntil(lambda: health.y() < part.y())
    qtbot.waitUntil(lambda: server.count("explain") == 1)
    asked = server.asked[-1].given
    assert (asked["model"], asked["method"], asked["layer"]) == (str(ended.path), "filters", "id2")
    qtbot.waitUntil(lambda: part.words.text() == BUSY)
    rng = np.random.default_rng(0)
    answer(server, tmp_path, rng.normal(size=(4, 3, 3, 3)), 3)
    assert part.words.text() == "4 filters"
    assert [image.size().toTuple() for image in part.grid.images] == [(3, 3)] * 4
    assert not part.grid.grab().isNull()
    window.editor.set_selection({"id3"})
    qtbot.waitUntil(lambda: server.count("explain") == 2)
    answer(server, tmp_path, rng.normal(size=(40, 5, 5)), 16)
    assert part.words.text() == f"The first {MOST} of 40 filters, each the mean over 16 channels"
    assert len(part.grid.images) == MOST
    window.editor.set_selection({"id2"})
    assert part.words.text() == "4 filters", "at once"
    assert server.count("explain") == 2


def test_an_answer_about_another_layer_is_not_shown(
    filters: LayerFilters, window: MainWindow, server: FakeServer, ended: RunFolder, qtbot
) -> None:
    window.editor.set_selection({"id2"})
    qtbot.waitUntil(lambda: server.count("explain") == 1)
    window.editor.set_selection({"id3"})
    assert server.cancelled == ["explain"]
    qtbot.waitUntil(lambda: server.count("explain") == 2)
    server.refuse("explain", "There is no layer 'id3' in the network of the run.")
    assert part_of(filters).words.text() == "There is no layer 'id3' in the network of the run."


def test_a_file_that_cannot_be_read_is_said(
    filters: LayerFilters, window: MainWindow, server: FakeServer, ended: RunFolder, tmp_path: Path, qtbot
) -> None:
    window.editor.set_selection({"id2"})
    qtbot.waitUntil(lambda: server.count("explain") == 1)
    server.answer("explain", {"file": str(tmp_path / "none.npz"), "channels": 1, "input_channels": 1})
    assert "cannot be read" in part_of(filters).words.text()


def test_a_layer_of_a_repeated_block_is_its_first_copy() -> None:
    inside = chain(layer("block_input"), layer("conv2d", filters=4), layer("block_output"))
    network = chain(layer("image_input", channels=1, size=8), Block(inside, repeat=3))
    assert path_of(network, ("id2", "id2")) == "id2/0/id2"
    single = chain(layer("image_input", channels=1, size=8), Block(inside))
    assert path_of(single, ("id2", "id2")) == "id2/id2"
    shapes = dict(analyse(network).all_shapes())
    assert path_of(network, ("id2", "id2")) in shapes, "as the engine names it"
