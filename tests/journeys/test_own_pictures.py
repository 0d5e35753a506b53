"""A folder of one's own pictures: dropped, looked at, learned from, tested, explained, exported and used elsewhere."""

import re
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from tests.journeys.conftest import Visit
from tests.journeys.elsewhere import run_elsewhere
from tests.journeys.journey_files import shape_pictures


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_own_pictures_from_a_folder_to_a_file_that_runs_elsewhere(visit: Visit, place: Path) -> None:
    shape_pictures(place / "shapes")
    person = visit()
    person.look("start")

    person.drop(place / "shapes")
    person.wait_to_see("603 files checked")
    person.look("data")
    assert person.sees("^shapes: folder of images. 5 subfolders with 605 images: one class each.")
    assert person.sees("^2 damaged, left out$")
    assert person.sees("^cross/cut off.jpg, cross/empty.png$")
    person.make_network("layers .* parameters")

    person.train(epochs=10)
    person.wait_to_see("Epoch [1-9]")
    person.wait_to_see("✓ Finished$", or_else="Failed|could not|cannot")
    person.look("trained")
    accuracy = re.search(r"accuracy (\d+\.\d) %", person.wait_to_see("accuracy .* loss"))
    assert accuracy is not None
    assert float(accuracy[1]) > 80, "with chance at 20"

    person.click("Answers")
    person.wait_to_see(r"^epoch 10, iteration \d+")
    person.look("answers")
    person.evaluate("of 60 correct")
    person.click("Predict")
    with person.choose_file(place / "shapes" / "ring" / "large.png"):
        person.click("Files…")
    assert person.wait_to_see(r"^(circle|cross|ring|square|triangle): \d") != ""
    person.look("predicted")
    person.explain("Grad-CAM for ")

    person.tab("Runs")
    with person.dialog(lambda: person.export(place / "shapes.onnx")):
        person.click("Export…")
    answers = run_elsewhere(QApplication.clipboard().text(), place)
    assert answers.startswith("circle: ")
