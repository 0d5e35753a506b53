"""Distributions of a layer are shown while a run trains, in words too, and leave as a table."""

import csv
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from netwright.app.runs.monitor import Monitor
from netwright.app.runs.weights_page import WeightsPage
from netwright.engine.runs.events import Progress
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.watched_weights import FILE, POINTS, WeightStep

NARROW, WIDE = np.linspace(-1, 1, POINTS).tolist(), np.linspace(-3, 5, POINTS).tolist()
STEPS = [
    WeightStep(1, 1, {"fc": {"weights": NARROW, "gradients": WIDE}, "relu": {"activations": [0.0] * POINTS}}),
    WeightStep(21, 2, {"fc": {"weights": WIDE, "gradients": NARROW}, "relu": {"activations": NARROW}}),
]


@pytest.fixture
def page(qtbot: QtBot) -> WeightsPage:
    page = WeightsPage()
    qtbot.addWidget(page)
    page.resize(800, 600)
    page.show()
    page.show_steps(STEPS)
    return page


def colours(page: WeightsPage, kind: str) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    plot = page.plots[kind]
    plot.grab()
    return plot._image.image


def test_only_what_was_kept_of_a_layer_has_a_card(page: WeightsPage) -> None:
    assert [kind for kind, card in page.cards.items() if card.isVisible()] == ["weights", "gradients"]
    page.layer.setCurrentIndex(1)
    assert [kind for kind, card in page.cards.items() if card.isVisible()] == ["activations"]
    page.show_steps(STEPS[:1])
    assert page.layer.currentText() == "relu", "the choice stays"
    page.show_steps([])
    assert "Watch weights" in page.note.text()
    assert not page.layer.isVisible()


def test_the_first_layer_that_learns_is_shown_first(page: WeightsPage) -> None:
    page.show_steps([WeightStep(1, 1, {"image": {"activations": NARROW}, "conv": {"weights": NARROW}})])
    assert page.layer.currentText() == "conv"
    page.show_steps([WeightStep(1, 1, {"image": {"activations": NARROW}})])
    assert page.layer.currentText() == "image"


def test_a_distribution_is_told_in_words(page: WeightsPage) -> None:
    plot = page.plots["weights"]
    assert plot.accessibleName() == "Weights of fc over the iterations"
    assert plot.accessibleDescription() == (
        "After iteration 1: median 0, 90 % between -0.9 and 0.9. "
        "After iteration 21: median 1, 90 % between -2.6 and 4.6."
    )
    assert "iteration 21" in str(plot.readout(25)[1])
    assert plot.readout(20)[0] == 1, "the newest record that there was"


def test_colours_are_where_the_values_are(page: WeightsPage) -> None:
    picture = colours(page, "weights")
    there = picture[..., 3] > 0
    rows = there.sum(0) / len(there)
    assert rows[0] < 0.4 < 0.7 < rows[-1]
    low, high = page.plots["weights"].y.low, page.plots["weights"].y.high
    middle = (np.nonzero(there[:, 0])[0].mean() + 0.5) / len(there) * (high - low) + low
    assert middle == pytest.approx(0, abs=0.15)


def test_values_that_are_all_equal_are_seen(page: WeightsPage) -> None:
    page.layer.setCurrentIndex(1)
    assert (colours(page, "activations")[:, 0, 3] > 0).sum() == 1


def test_all_layers_leave_as_a_table(page: WeightsPage, tmp_path: Path) -> None:
    page.cards["weights"].write(tmp_path / "weights.csv")
    with (tmp_path / "weights.csv").open() as file:
        head, *rows = csv.reader(file)
    assert head[:5] == ["layer", "epoch", "iteration", "0 %", "2.5 %"]
    assert [row[:4] for row in rows] == [["fc", "1", "1", "-1.0"], ["fc", "2", "21", "-3.0"]]


def test_new_records_are_read_while_the_page_is_seen(qtbot: QtBot, tmp_path: Path) -> None:
    monitor = Monitor()
    qtbot.addWidget(monitor)
    monitor.show()
    monitor.show_run(RunFolder(tmp_path))
    (tmp_path / FILE).write_bytes(STEPS[0].line)
    progress = Progress(epoch=1, iteration=1, elapsed_s=1, remaining_s=1, rate=1, samples_per_second=1, memory_bytes=1)
    monitor.take(progress)
    assert not monitor.weights.steps
    monitor.segments.choose("weights")
    assert len(monitor.weights.steps) == 1
    (tmp_path / FILE).write_bytes(STEPS[0].line + STEPS[1].line)
    monitor.take(progress)
    qtbot.waitUntil(lambda: len(monitor.weights.steps) == 2)
    monitor.show_nothing()
    assert not monitor.weights.steps
    monitor.shutdown()
