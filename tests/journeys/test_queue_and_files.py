"""Runs that wait their turn, and a project that is saved, closed and opened again."""

from pathlib import Path

import pytest

from netwright.engine.project.file import load
from netwright.engine.runs.folder import RunFolder
from tests.journeys.conftest import Visit


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_runs_are_queued_and_a_project_comes_back_as_it_was(visit: Visit, place: Path) -> None:
    person = visit()
    person.open_example("Handwritten digits")
    person.save_as(place / "digits.netwright")
    person.train(epochs=60)  # it trains while the second run is set up, on a fast machine too
    person.wait_to_see("Epoch [0-9]+ of 60")
    person.set_options(**{"Initial learn rate": "0.02", "Max epochs": "6"})
    person.menu("Run", "Queue another run")
    person.wait_to_see("^QUEUE$")
    person.look("queued")
    # The second run is shown as it starts; both are rows of the rail.
    person.wait(
        lambda: len([*place.glob(f"runs/*/{RunFolder(place).result.name}")]) == 2, "the result of the second run"
    )
    person.wait_to_see("Run 2 · sgdm, 0.02$")
    person.wait_to_see("^6 epochs in ")
    person.wait_to_see("✓ Finished$")
    person.look("second")
    person.never_saw("Train the network first")
    person.tab("Runs")
    person.wait_to_see("2 runs")
    person.look("runs")

    person.save_as(place / "copy.netwright")
    person.menu("File", "New blank project")
    person.wait_to_see("^0 layers|Add an image input")
    with person.choose_file(place / "copy.netwright"):
        person.menu("File", "Open…")
    person.wait_to_see("^1[0-9] layers")
    assert load(place / "copy.netwright").project.training.initial_learn_rate == 0.02
    person.tab("Runs")
    person.wait_to_see("Curves and results of a run appear here")  # a copy is a project of its own
    with person.choose_file(place / "digits.netwright"):
        person.menu("File", "Open…")
    person.wait_to_see("Run 2 · .*0.02")
    person.look("reopened")
