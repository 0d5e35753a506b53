"""The whole main job without a mouse."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from netwright.engine.project.file import load
from tests.journeys.conftest import Visit

ALT, CONTROL, NONE = (
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.NoModifier,
)
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.mark.journey
@pytest.mark.timeout(600)
@pytest.mark.parametrize("machine", ["usual"], indirect=True)
def test_an_example_is_changed_trained_tested_and_exported_by_keys_alone(visit: Visit, place: Path) -> None:
    person = visit()
    person.write("heating")
    person.press(Qt.Key.Key_Return)
    person.wait_to_see("^6 layers")

    person.press(Qt.Key.Key_K, CONTROL)
    person.write("dropout")
    person.press(Qt.Key.Key_Return)
    person.wait_to_see("^7 layers")
    for _ in range(2):  # clears the search, then leaves it
        person.press(Qt.Key.Key_Escape)
    person.press(Qt.Key.Key_Z, CONTROL)
    person.wait_to_see("^6 layers")

    def choose() -> None:
        person.tab_to("Max epochs")
        person.press(Qt.Key.Key_A, CONTROL)
        person.write("5")
        person.press(Qt.Key.Key_Tab)
        person.tab_to("OK")
        person.press(Qt.Key.Key_Space)

    with person.dialog(choose):
        person.press(Qt.Key.Key_T, CONTROL)
    person.press(Qt.Key.Key_F5)
    person.press(Qt.Key.Key_3, ALT)
    person.wait_to_see("✓ Finished$", or_else="Failed|could not|cannot")
    person.look("trained")
    person.wait_to_see(r"RMSE in validation: [\d.]+ .* Test [\d.]+")

    person.tab_to("Curves")
    person.press(Qt.Key.Key_Right)
    person.wait_to_see(r"^epoch 5, iteration \d+")
    person.press(Qt.Key.Key_Right)
    person.wait_to_see("Watch weights, under Monitoring")
    person.press(Qt.Key.Key_Right)
    person.never_saw("Train the network first")
    person.wait_to_see("R²|Coefficient of determination")
    person.look("tested")

    with person.choose_file(place / "heating.netwright"):
        person.press(Qt.Key.Key_S, CONTROL | SHIFT)
    person.wait((place / "heating.netwright").exists, "the project")
    assert load(place / "heating.netwright").project.training.max_epochs == 5

    def export() -> None:
        person.tab_to("File to write")
        person.press(Qt.Key.Key_A, CONTROL)
        person.write(str(place / "heating.onnx"))
        person.press(Qt.Key.Key_Return)
        person.wait_to_see("ONNX Runtime agrees", or_else="refused|could not|do not agree")
        person.press(Qt.Key.Key_Escape)

    def find() -> None:
        person.write("export network")
        with person.dialog(export):
            person.press(Qt.Key.Key_Return)

    with person.dialog(find):
        person.press(Qt.Key.Key_P, CONTROL | SHIFT)
    assert (place / "heating.onnx").stat().st_size > 500
