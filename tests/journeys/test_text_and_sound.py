"""Texts in a table, and sounds in folders: two kinds of data whose reading takes its time."""

from pathlib import Path

import pytest

from tests.journeys.conftest import Visit
from tests.journeys.journey_files import labelled_texts, sounds


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_texts_are_sorted_by_topic(visit: Visit, place: Path) -> None:
    labelled_texts(place / "texts.csv")
    person = visit()
    person.drop(place / "texts.csv")
    person.wait_to_see("^training 1,470$")
    person.look("data")
    person.make_network()
    person.train_to_the_end(epochs=4)
    person.evaluate("of 210 correct")
    person.click("Predict")
    person.wait_to_see("^Draw, type, paste or drop a sample")
    person.fill("Rain and cold wind, the forecast said: a storm with snow and fog, and very few degrees.")
    assert person.wait_to_see(r"^(cooking|sport|weather): \d").count("%") == 3
    person.look("predicted")
    person.explain("supports the class|lowers|Influence|Sample 1 of the test split")


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_sounds_are_told_apart_although_one_is_broken(visit: Visit, place: Path) -> None:
    sounds(place / "sounds")
    person = visit()
    person.drop(place / "sounds")
    person.wait_to_see("3 subfolders with 241 sounds: one class each")
    person.wait_to_see("broken.wav")
    person.look("data")
    person.make_network()
    person.train_to_the_end(epochs=4)
    person.evaluate("of 24 correct")
    person.predict_file(place / "sounds" / "noise" / "noise 03.wav", r"^(noise|rising|steady): \d")
    person.explain("^Grad-CAM for noise")
