"""Texts in a table, and sounds in folders: two kinds of data whose reading takes its time."""

from pathlib import Path

import pytest

from tests.journeys.conftest import Visit
from tests.journeys.files import labelled_texts, sounds


@pytest.mark.journey
@pytest.mark.timeout(900)
def test_texts_are_sorted_by_topic(visit: Visit, place: Path) -> None:
    labelled_texts(place / "texts.csv")
    person = visit()
    person.drop(place / "texts.csv")
    person.wait_to_see("^1,470$")
    person.look("data")
    person.click("Make a network for the data")
    person.wait_to_see("^[1-9][0-9]* layers")
    person.train(epochs=4)
    person.wait_to_see("✓ Finished$", or_else="Failed|could not|cannot")
    person.look("trained")
    person.click("Test network")
    person.click("Evaluate")
    person.wait_to_see("of 315 correct")
    person.look("scores")
    person.click("Predict")
    person.wait_to_see("^Draw, type, paste or drop a sample")
    person.fill("Rain and cold wind, the forecast said: a storm with snow and fog, and very few degrees.")
    assert person.wait_to_see(r"^(cooking|sport|weather) \d").count("%") == 3
    person.look("predicted")
    person.click("Look inside")
    person.click("Show")
    person.wait_to_see("supports the class|lowers|Influence|Sample 0 of the test split")
    person.look("explained")


@pytest.mark.journey
@pytest.mark.timeout(900)
def test_sounds_are_told_apart_although_one_is_broken(visit: Visit, place: Path) -> None:
    sounds(place / "sounds")
    person = visit()
    person.drop(place / "sounds")
    person.wait_to_see("3 subfolders with 241 sounds: one class each")
    person.wait_to_see("broken.wav")
    person.look("data")
    person.click("Make a network for the data")
    person.wait_to_see("^[1-9][0-9]* layers")
    person.train(epochs=4)
    person.wait_to_see("✓ Finished$", or_else="Failed|could not|cannot")
    person.look("trained")
    person.click("Test network")
    person.click("Evaluate")
    person.wait_to_see("of 36 correct")
    person.look("scores")
    person.click("Predict")
    with person.choose_file(place / "sounds" / "noise" / "noise 03.wav"):
        person.click("Files…")
    person.wait_to_see(r"^(noise|rising|steady) \d")
    person.look("predicted")
    person.click("Look inside")
    person.click("Show")
    person.wait_to_see("^Grad-CAM for noise")
    person.look("explained")
