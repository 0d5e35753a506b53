from pathlib import Path
from typing import Any

from PySide6.QtGui import QImage

from netwright.app.data.tiles import Tiles
from netwright.app.dialogs.augment_preview import SAMPLES
from netwright.app.dialogs.training_options import TrainingOptionsDialog
from netwright.app.processes import OnError, OnResult
from netwright.engine.core.types import image
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.project import Project

FACTS = DatasetInfo((InputInfo("image", image(1, 8, 8)),), {"training": 1257}, classes_of(*"0123456789"))


class FakeSampler:
    """Keeps what was asked, and answers when the test says so."""

    def __init__(self) -> None:
        self.asked: list[tuple[Project, str, int]] = []
        self._show: list[OnResult] = []
        self._fail: list[OnError] = []

    def __call__(self, project: Project, folder: str, count: int, epoch: int, show: OnResult, fail: OnError) -> None:
        assert count == SAMPLES
        self.asked.append((project, folder, epoch))
        self._show.append(show)
        self._fail.append(fail)

    def answer(self) -> None:
        """Reply to the latest request with pictures."""
        folder = self.asked[-1][1]
        found: list[dict[str, Any]] = []
        for number in range(SAMPLES):
            picture = QImage(8, 8, QImage.Format.Format_Grayscale8)
            picture.fill(30 * number)
            file = str(Path(folder) / f"{number}.png")
            picture.save(file)
            found.append({"file": file, "label": str(number), "split": "training"})
        self._show[-1]({"pictures": found})

    def refuse(self, message: str) -> None:
        """Refuse the latest request."""
        self._fail[-1](message)


def test_the_page_of_augmentation_shows_what_the_options_do(qtbot) -> None:
    sampler = FakeSampler()
    dialog = TrainingOptionsDialog(Project(), None, FACTS, sampler=sampler)
    qtbot.addWidget(dialog)
    dialog.show()
    preview = dialog.augmented
    assert preview is not None
    assert preview.isHidden()
    dialog.show_page("Augmentation")
    assert preview.isVisible()
    height = preview.height()
    qtbot.waitUntil(lambda: len(sampler.asked) == 1, timeout=60_000)
    assert sampler.asked[0][2] == 0, "nothing is changed yet"
    sampler.answer()
    assert isinstance(preview.tiles, Tiles)
    assert preview.state.text() == "Training samples, unchanged"
    assert not Path(sampler.asked[0][1]).exists(), "pictures are read once"
    dialog.training_form.set_value("rand_rotation", (-20.0, 20.0))
    qtbot.waitUntil(lambda: len(sampler.asked) == 2, timeout=60_000)
    assert (sampler.asked[1][0].training.rand_rotation, sampler.asked[1][2]) == ((-20.0, 20.0), 1)
    sampler.answer()
    assert preview.state.text() == "Training samples as augmented"
    assert preview.height() == height, "no field moves"
    dialog.training_form.set_value("rand_rotation", (-30.0, 30.0))
    qtbot.waitUntil(lambda: len(sampler.asked) == 3, timeout=60_000)
    sampler.refuse("The file is gone.")
    assert preview.state.text() == "The file is gone."
    dialog.show_page("Solver")
    assert preview.isHidden()


def test_data_without_images_has_no_preview_of_augmentation(qtbot) -> None:
    dialog = TrainingOptionsDialog(Project(), None, None, sampler=FakeSampler())
    qtbot.addWidget(dialog)
    assert dialog.augmented is None
