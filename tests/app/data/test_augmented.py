"""The samples of the Data tab as training changes them: against a stand-in, and once for real."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from netwright.app.data.data_tab import DataTab
from netwright.app.data.samples_bar import SamplesBar
from netwright.app.data.tiles import Picture
from netwright.app.dialogs.training_options import TrainingOptionsDialog
from netwright.app.window import MainWindow
from tests.app.fake_server import FakeServer
from tests.app.main_windows import Modal, shown_windows

PATIENCE_MS = 60_000
TURNED = {"rand_rotation": (-20, 20)}


def facts(channels: int = 1) -> dict[str, Any]:
    return {
        "inputs": [{"name": "x", "axes": ["C", "H", "W"], "sizes": [channels, 8, 8], "kind": "real"}],
        "samples": {"training": 70, "validation": 15, "test": 15},
        "targets": [
            {"name": "y", "axes": ["C"], "sizes": [2], "kind": "real", "task": "classes", "classes": ["a", "b"]}
        ],
        "notes": [],
    }


def pictures(folder: Path, label: str) -> dict[str, Any]:
    file = folder / f"{label}.png"
    Image.new("L", (8, 8)).save(file)
    return {"pictures": [{"file": str(file), "label": label, "split": "training"}], "classes": []}


def train(window: MainWindow, **values: Any) -> None:
    project = window.editor.project
    window.editor.apply("Change training options", replace(project, training=project.training.replace(**values)))


def open_tab(window: MainWindow) -> DataTab:
    window.show_tab("data")
    tab = window.tabs.page("data")
    assert isinstance(tab, DataTab)
    project = window.editor.project
    window.editor.apply("Choose data", replace(project, data=project.data.replace(source="digits")))
    window.dataset.refresh()
    return tab


def bar_of(tab: DataTab) -> SamplesBar:
    assert tab.preview.bar is not None
    return tab.preview.bar


def labels(tab: DataTab) -> list[str]:
    assert tab.preview.tiles is not None
    return [tile.caption for tile in tab.preview.tiles.tiles]


@pytest.fixture
def tab(window: MainWindow, server: FakeServer, tmp_path: Path) -> DataTab:
    tab = open_tab(window)
    server.answer("facts", facts())
    server.answer("preview", pictures(tmp_path, "plain"))
    return tab


def test_without_changes_it_leads_to_the_options(qtbot, window: MainWindow, tab: DataTab) -> None:
    bar = bar_of(tab)
    nothing = tab.recipe.buttons["augmented"]
    assert nothing.text() == "nothing"
    assert not bar.shown.isVisible()

    def work(dialog: Any) -> None:
        assert isinstance(dialog, TrainingOptionsDialog)
        shown = {name for name, row in dialog.training_form.rows.items() if row.is_shown}
        assert "rand_rotation" in shown
        assert "validation_frequency" not in shown
        line = dialog.training_form.rows["rand_rotation"].widget
        assert isinstance(line, QLineEdit)
        line.setText("15")
        line.textEdited.emit("15")
        dialog.accept()

    with Modal(work):
        qtbot.mouseClick(nothing, Qt.MouseButton.LeftButton)
    assert window.editor.project.training.rand_rotation == (-15.0, 15.0)
    assert bar.shown.isVisible()
    assert bar.shown.isChecked(), "they were just chosen"
    assert tab.recipe.buttons["augmented"].text() == "rotation"


def test_the_switch_shows_an_epoch_and_again_the_next(
    qtbot, window: MainWindow, server: FakeServer, tab: DataTab, tmp_path: Path
) -> None:
    train(window, **TURNED)
    assert server.count("preview") == 1, "nothing is asked before it is switched on"
    bar = bar_of(tab)
    qtbot.mouseClick(bar.shown, Qt.MouseButton.LeftButton)
    assert tab.pages.currentWidget() is tab.preview, "what was there stays until there is something else"
    assert labels(tab) == ["plain"]
    asked = server.waiting[-1].given
    assert (asked["epoch"], asked["training"]) == (1, {"rand_rotation": [-20.0, 20.0]})
    server.answer("preview", pictures(tmp_path, "first"))
    assert labels(tab) == ["first"]
    assert bar.note.text() == "Epoch 1"
    qtbot.mouseClick(bar.again, Qt.MouseButton.LeftButton)
    assert server.waiting[-1].given["epoch"] == 2
    server.answer("preview", pictures(tmp_path, "second"))
    assert labels(tab) == ["second"]
    qtbot.mouseClick(bar.shown, Qt.MouseButton.LeftButton)
    assert "epoch" not in server.waiting[-1].given
    server.answer("preview", pictures(tmp_path, "plain"))
    assert labels(tab) == ["plain"]
    assert bar.note.text() == ""


def test_other_options_are_shown_at_once_and_cancel_the_older_request(
    qtbot, window: MainWindow, server: FakeServer, tab: DataTab, tmp_path: Path
) -> None:
    train(window, **TURNED)
    qtbot.mouseClick(bar_of(tab).shown, Qt.MouseButton.LeftButton)
    train(window, noise_deviation=2.0)
    assert server.count("preview") == 3
    train(window, max_epochs=3)
    assert server.count("preview") == 3, "that changes no sample"
    assert server.cancelled == ["preview, if it waits"]
    assert labels(tab) == ["plain"]
    server.answer("preview", pictures(tmp_path, "noisy"))
    assert labels(tab) == ["noisy"]
    train(window, rand_rotation=(0, 0), noise_deviation=0.0)
    assert not bar_of(tab).shown.isVisible()
    server.answer("preview", pictures(tmp_path, "plain"))
    assert labels(tab) == ["plain"]


def test_what_does_not_go_with_the_data_and_what_goes_wrong_stand_there_in_words(
    qtbot, window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    bar = bar_of(tab)
    train(window, jitter_hue=0.2)
    assert bar.note.text().startswith("Grey has no hue")
    assert bar.note.property("role") == "error"
    assert not bar.shown.isVisible()
    train(window, jitter_hue=0.0, **TURNED)
    qtbot.mouseClick(bar.shown, Qt.MouseButton.LeftButton)
    server.refuse("preview", "It took longer than 60 s.")
    assert bar.note.text() == "It took longer than 60 s."
    assert labels(tab) == ["plain"]


def test_what_has_no_images_has_no_switch(window: MainWindow, server: FakeServer) -> None:
    tab = open_tab(window)
    table = {**facts(), "inputs": [{"name": "x", "axes": ["C"], "sizes": [4], "kind": "real"}]}
    server.answer("facts", table)
    server.answer("preview", {})
    assert tab.preview.bar is None
    train(window, **TURNED)
    assert server.count("preview") == 1


@pytest.fixture
def real(qtbot) -> Iterator[MainWindow]:
    with shown_windows(qtbot) as make:
        yield make()


def test_the_real_engine_changes_digits(qtbot, real: MainWindow) -> None:
    tab = open_tab(real)
    train(real, **TURNED)
    qtbot.waitUntil(lambda: tab.pages.currentWidget() is tab.preview, timeout=PATIENCE_MS)
    plain = [tile.pixmap.toImage() for tile in tab.preview.content.findChildren(Picture)]
    before = tab.preview.tiles
    bar_of(tab).shown.setChecked(True)
    qtbot.waitUntil(lambda: tab.preview.tiles is not before, timeout=PATIENCE_MS)
    assert tab.preview.tiles is not None
    changed = tab.preview.tiles.findChildren(Picture)
    assert len(changed) == len(plain) == 60
    assert all("(training)" in tile.toolTip() for tile in changed)
    assert len({bytes(tile.pixmap.toImage().constBits()) for tile in changed}) == 60
    assert sum(tile.pixmap.toImage() in plain for tile in changed) == 0
