"""A network of plain PyTorch comes in as ONNX, gets a new head, learns one's own pictures, and leaves again."""

import re
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from tests.journeys.conftest import Visit
from tests.journeys.elsewhere import FOREIGN_NETWORK, run_elsewhere
from tests.journeys.journey_files import shape_pictures


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_a_foreign_network_gets_a_new_head_and_runs_elsewhere(visit: Visit, place: Path) -> None:
    shape_pictures(place / "shapes")
    for odd in ("cut off.jpg", "empty.png"):
        (place / "shapes" / "cross" / odd).unlink()
    run_elsewhere(FOREIGN_NETWORK, place)
    person = visit()

    def see_the_report() -> None:
        person.wait_to_see("Agrees with the original")
        person.look("report")
        person.click_and_wait("Transfer learning…")

    def choose_the_head() -> None:
        person.wait_to_see("stays as it is|loaded|replaced")
        person.click("Replace, with outputs:")
        person.type_into("Outputs of the new head", "5")
        person.look("head")
        person.click_and_wait("OK")

    works = (lambda: person.click_and_wait("Import"), see_the_report, choose_the_head)
    with person.choose_file(place / "backbone.onnx", *works):
        person.menu("File", "Import…")
    person.wait_to_see("Starts from backbone.weights.safetensors")
    person.look("imported")

    person.drop(place / "shapes")
    person.wait_to_see("603 files checked")
    person.look("data")
    options = {"Solver": "Adam", "Initial learn rate": "0.002", "Mini-batch size": "32", "Max epochs": "12"}
    person.set_options(**options)
    person.train_to_the_end()
    accuracy = re.search(r"accuracy (\d+\.\d) %", person.wait_to_see("accuracy .* loss"))
    assert accuracy is not None
    assert float(accuracy[1]) > 70, "with chance at 20"
    with person.dialog(lambda: person.export(place / "learned.onnx")):
        person.click("Export…")
    answers = run_elsewhere(QApplication.clipboard().text(), place)
    assert answers.startswith("circle: ")
