"""Pictures and masks in two folders: every pixel gets a class."""

from pathlib import Path

import pytest

from tests.journeys.conftest import Visit
from tests.journeys.journey_files import masked_pictures


@pytest.mark.journey
@pytest.mark.timeout(600)
@pytest.mark.parametrize("machine", ["usual"], indirect=True)
def test_every_pixel_gets_a_class(visit: Visit, place: Path) -> None:
    masked_pictures(place / "shapes")
    person = visit()
    person.drop(place / "shapes")
    person.wait_to_see("masks")
    person.look("data")
    person.make_network()
    person.train_to_the_end(epochs=4)
    person.evaluate("^Mean IoU$")
    texts = person.screen().splitlines()
    assert float(texts[texts.index("  Mean IoU") + 1]) > 0.4, "0.22 for all background"
    person.predict_file(place / "shapes" / "images" / "003.png", r"^0 \d\d.\d %, 1 ")
    person.explain("^Grad-CAM for 0")
