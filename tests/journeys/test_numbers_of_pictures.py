"""A table that names pictures and gives two numbers for each: the network measures them."""

from pathlib import Path

import pytest

from tests.journeys.conftest import Visit
from tests.journeys.files import sized_pictures


@pytest.mark.journey
@pytest.mark.timeout(900)
def test_two_numbers_are_measured_in_each_picture(visit: Visit, place: Path) -> None:
    sized_pictures(place)
    person = visit()
    person.drop(place / "disks.csv")
    person.wait_to_see("^420$")
    person.look("data")
    person.click("Make a network for the data")
    person.wait_to_see("^[1-9][0-9]* layers")

    def choose_options() -> None:
        person.choose("Solver", "adam")
        person.type_into("Initial learn rate", "0.003")
        person.type_into("Mini-batch size", "32")
        person.type_into("Max epochs", "12")
        person.click("OK")

    with person.dialog(choose_options):
        person.click("Training options…")
    person.train()
    person.wait_to_see("✓ Finished$", or_else="Failed|could not|cannot")
    person.look("trained")
    person.click("Test network")
    person.click("Evaluate")
    person.wait_to_see("90 samples of the test split, best weights")
    person.look("scores")
    texts = person.screen().splitlines()
    assert float(texts[texts.index("  R²") + 1]) > 0.6
    person.click("Predict")
    with person.choose_file(place / "disks" / "007.png"):
        person.click("Files…")
    person.wait_to_see("^width$")
    person.wait_to_see("^left$")
    person.look("predicted")
