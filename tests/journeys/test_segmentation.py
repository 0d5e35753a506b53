"""Pictures and masks in two folders: every pixel gets a class."""

from pathlib import Path

import pytest

from tests.journeys.conftest import Visit
from tests.journeys.files import masked_pictures


@pytest.mark.journey
@pytest.mark.timeout(900)
def test_every_pixel_gets_a_class(visit: Visit, place: Path) -> None:
    masked_pictures(place / "shapes")
    person = visit()
    person.drop(place / "shapes")
    person.wait_to_see("masks")
    person.look("data")
    person.click("Make a network for the data")
    person.wait_to_see("^[1-9][0-9]* layers")
    person.train(epochs=4)
    person.wait_to_see("✓ Finished$", or_else="Failed|could not|cannot")
    person.look("trained")
    person.click("Test network")
    person.click("Evaluate")
    person.wait_to_see("Mean IoU|IoU")
    person.look("scores")
    person.click("Predict")
    print(person.screen())
