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
    person.wait_to_see("^Mean IoU$")
    person.look("scores")
    texts = person.screen().splitlines()
    assert float(texts[texts.index("  Mean IoU") + 1]) > 0.4, "0.22 for all background"
    person.click("Predict")
    with person.choose_file(place / "shapes" / "images" / "003.png"):
        person.click("Files…")
    person.wait_to_see(r"^0 \d\d.\d %, 1 ")  # how many pixels have which class
    person.look("predicted")
    person.click("Look inside")
    person.click("Show")
    person.wait_to_see("^Grad-CAM for 0")
    person.look("explained")
