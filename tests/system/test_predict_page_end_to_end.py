"""The Predict page with the engine's own server: a run on the digits answers to what is drawn, and to files."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from netwright.app.analysis.predict_page import PredictPage
from netwright.app.analysis.prediction_inputs import DrawingInput
from netwright.app.processes import EngineServer
from netwright.engine.data.sources.arrays_reader import DIGITS as PATH
from tests.app.conftest import QT_PATIENCE_MS
from tests.runs import train
from tests.system.test_training import digits, mlp


@pytest.mark.parity
def test_a_run_answers_to_drawings_and_files(tmp_path: Path, qtbot) -> None:
    train(digits(mlp(), max_epochs=4, solver="adam", initial_learn_rate=0.02), tmp_path / "run")
    known = np.load(PATH)["images"]
    for number in (3, 4):
        picture = Image.fromarray((known[number] * (255 / 16)).astype(np.uint8))
        picture.save(tmp_path / f"{number}.png")
    (tmp_path / "5.png").write_bytes(b"nothing")
    server = EngineServer()
    shell: Any = SimpleNamespace(server=server, documents=SimpleNamespace(base=tmp_path), hint=lambda text: None)
    page = PredictPage(shell)
    qtbot.addWidget(page)
    page.show()
    try:
        page.set_run(tmp_path / "run")
        qtbot.waitUntil(lambda: page.record is not None, timeout=QT_PATIENCE_MS)
        assert isinstance(page.sample, DrawingInput)
        QTest.mousePress(page.sample.pad, Qt.MouseButton.LeftButton, pos=QPoint(140, 140))
        QTest.mouseRelease(page.sample.pad, Qt.MouseButton.LeftButton, pos=QPoint(140, 140))
        qtbot.waitUntil(lambda: bool(page.panel.view.bars), timeout=QT_PATIENCE_MS)
        shares = [row.parts[0][0] for row in page.panel.view.bars[0].rows]
        assert len(shares) == 5
        assert shares == sorted(shares, reverse=True)
        assert page.panel.view.picture is not None
        page.predict_files([str(tmp_path / f"{number}.png") for number in (3, 4, 5)])
        qtbot.waitUntil(lambda: len(page.panel.table.answers) == 3, timeout=QT_PATIENCE_MS)
        *good, bad = page.panel.table.answers
        assert [answer["outputs"][0]["class"] for answer in good] == ["3", "4"]
        assert "it is not a picture" in bad["error"]
        assert page.panel.note.text() == "3 samples, 1 not used"
    finally:
        page.shutdown()
        server.close()
