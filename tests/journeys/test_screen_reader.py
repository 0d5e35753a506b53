"""The main job with a screen reader, over the accessibility bus of a real session."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from tests.journeys.screen_reader import blind_session


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_an_example_is_trained_read_and_exported_with_a_screen_reader(qapp: QApplication, tmp_path: Path) -> None:
    with blind_session(tmp_path) as reader:
        reader.press("push button", "^Handwritten digits")
        reader.wait_for("frame", "^digits")
        reader.press("push button", "^Training options")
        reader.wait_for("dialog", "^Training options$")
        reader.type_into("^Max epochs", "3")
        reader.press("push button", "^OK$")
        reader.press("push button", "^Train$")
        reader.press("radio button", "^Runs$")
        reader.wait_to_hear("Run 1.*: Training finished: all 3 epochs completed")
        reader.wait_for("label", "^✓ Finished$")
        reader.wait_to_read("^Accuracy in validation: 9[^a-z]*% after iteration 30, rising.*Test 9")
        reader.press("push button", "^Export…$")
        reader.wait_for("dialog", "^Export")
        path = tmp_path / "digits.onnx"
        reader.type_into("^File to write", str(path))
        reader.press("push button", "^Export$")
        reader.wait_for("label", "ONNX Runtime agrees")
        assert path.stat().st_size > 10_000
