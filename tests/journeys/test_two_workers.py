"""Two workers, changed while they train; the window dies, the run does not, and the next window goes on with it."""

from pathlib import Path

import pytest

from netwright.engine.runs.folder import RunFolder
from tests.journeys.conftest import Visit
from tests.journeys.first_life import first_life
from tests.journeys.journey_files import shape_pictures
from tests.journeys.person import Person

OF_THE_RATE_BEFORE = r"learn rate 0\.01\b|sgdm, 0\.01$"


def begin(person: Person, place: Path) -> None:
    """Train pictures on two workers for long."""
    person.drop(place / "shapes")
    person.make_network()
    person.save_as(place / "shapes.netwright")

    def choose() -> None:
        person.click("multi-cpu")
        person.type_into("Workers", "2")
        person.type_into("Max epochs", "2000")
        person.choose("Solver", "SGD with momentum")  # the proposed options end early, and lower the rate as they go
        person.type_into("Initial learn rate", "0.01")
        person.click_row("^Optimisation$")
        person.choose("Learn rate schedule", "None")
        person.click_row("^Validation and stopping$")
        person.type_into("Validation patience", "0")
        person.click("OK")

    with person.dialog(choose):
        person.click("Training options…")
    person.train()
    person.wait_to_see("Epoch [1-9]", or_else="Failed|could not|cannot")
    person.wait_to_see("2 · gloo")


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_a_run_of_two_workers_outlives_its_window(visit: Visit, place: Path) -> None:
    shape_pictures(place / "shapes", per_class=60)
    for odd in ("cut off.jpg", "empty.png"):
        (place / "shapes" / "cross" / odd).unlink()
    with first_life(begin, place):
        pass
    (folder,) = (place / "runs").iterdir()
    run = RunFolder(folder)
    assert run.is_alive()

    person = visit()
    person.wait_to_see("^IN PROGRESS$")
    person.wait_to_see("Epoch [0-9]+ · .* left")
    person.look("next window")
    person.click("Show curves")
    person.wait_to_see("Epoch [1-9]")
    person.never_saw("appears here when training starts")

    def change() -> None:
        person.type_into("Learn rate", "0.002")
        person.click("Change")

    with person.dialog(change):
        person.menu("Run", "Change rate or epochs…")
    person.wait_to_see("Learn rate 0.01 → 0.002")
    person.wait_to_see(r"^0\.002$")
    person.look("changed")
    assert not person.sees(OF_THE_RATE_BEFORE), person.screen()
    person.click("Pause")
    person.wait_to_see("Paused$")
    person.look("paused")
    person.never_saw("^released$")
    person.click("Resume")
    person.wait_to_see("● Training")
    person.click("Stop")
    person.wait_to_see("Stopped")
    person.look("stopped")
    assert run.state() == "stopped"
    person.click("Scores")
    person.never_saw("Train the network first")
    person.wait_to_see("of [0-9]+ correct")
