"""A table that names pictures and gives two numbers for each: the network measures them."""

from pathlib import Path

import pytest

from tests.journeys.conftest import Visit
from tests.journeys.journey_files import sized_pictures


@pytest.mark.journey
@pytest.mark.timeout(600)
@pytest.mark.parametrize("machine", ["usual"], indirect=True)
def test_two_numbers_are_measured_in_each_picture(visit: Visit, place: Path) -> None:
    sized_pictures(place)
    person = visit()
    person.drop(place / "disks.csv")
    person.wait_to_see("^Training 420$")
    person.look("data")
    person.make_network()
    options = {"Solver": "Adam", "Initial learn rate": "0.003", "Mini-batch size": "32", "Max epochs": "12"}
    person.set_options(**options)
    person.train_to_the_end()
    person.evaluate("60 samples of the test split, best weights")
    texts = person.screen().splitlines()
    assert float(texts[texts.index("  R²") + 1]) > 0.6
    person.predict_file(place / "disks" / "007.png", "^width$", "^left$")
