"""A run that is stopped in the middle, found again after the window was closed, and resumed for more epochs."""

from pathlib import Path

import pytest

from netwright.engine.runs.folder import RunFolder
from tests.journeys.conftest import Visit


def iterations(folder: Path) -> int:
    """How many steps the run in a folder has made."""
    result = RunFolder(folder).read_result()
    assert result is not None
    return int(result["iterations"])


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_a_stopped_run_is_resumed_in_the_next_window(visit: Visit, place: Path) -> None:
    person = visit()
    person.open_example("Waves")
    person.save_as(place / "waves.netwright")
    person.train(epochs=4000)
    person.wait_to_see("Epoch [1-9]", or_else="Failed|could not|cannot")
    person.click("Stop")
    person.wait_to_see("Stopped$")
    person.look("stopped")
    (folder,) = (place / "runs").iterdir()
    stopped_at = iterations(folder)
    person.menu("File", "Save")
    person.window.close()

    person = visit()
    person.click("waves")
    person.wait_to_see("^4 layers")
    person.tab("Runs")
    person.wait_to_see("Stopped$")
    person.look("found again")

    person.click("Resume")
    person.wait_to_see("● Training")
    person.wait_to_see("Epoch [1-9]")
    person.click("After epoch")
    person.wait_to_see("Stopped$")
    person.look("stopped again")
    assert iterations(folder) > stopped_at
