"""The check of image files on the Data tab: what it lists, and what its buttons do. First with made-up findings."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QPushButton

from netwright.app.data.file_check import FileCheck
from netwright.app.processes import DisposableProcess
from netwright.app.window import MainWindow
from netwright.engine.project.data import DataOptions
from tests.app.data.test_data_tab import PATIENCE_MS, choose, real, tab_of, write_images

OPTIONS = DataOptions(source="images", path="pets")
__all__ = ["real"]


def findings(**changed: Any) -> dict[str, Any]:
    named: dict[str, Any] = {"damaged": [["cat/2.png", "it is damaged"]], "resized": [], "converted": [], **changed}
    counts = {kind: len(named[kind]) for kind in ("damaged", "resized", "converted")}
    told = {"checked": 8, "total": 8, "done": True, "first": "cat/0.png", "size": "4 × 6", "channels": "grey"}
    return {**told, "counts": counts, **named}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    commands: list[Any] = []
    monkeypatch.setattr(DisposableProcess, "start", lambda self, command, hosts: commands.append(command))
    return commands


@pytest.fixture
def card(qtbot: Any, started: list[Any]) -> FileCheck:
    made = FileCheck()
    qtbot.addWidget(made)
    made.show_data(OPTIONS, Path("/data"))
    made.show()
    return made


def words(card: FileCheck) -> str:
    return " ".join(label.text() for label in card.findChildren(QLabel))


def press(qtbot: Any, card: FileCheck, text: str) -> None:
    button = next(button for button in card.findChildren(QPushButton) if button.text() == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_it_counts_while_it_checks_and_says_that_all_is_well(card: FileCheck) -> None:
    assert card.state.text() == "Checking the files…"
    card.process.said.emit({**findings(damaged=[]), "checked": 3, "done": False})
    assert card.state.text() == "Checking 3 of 8 files…"
    card.process.said.emit(findings(damaged=[]))
    assert card.state.text() == "8 files checked: all can be read, and none is resized or converted."
    card.process.ended.emit()
    assert "interrupted" not in words(card)


def test_a_damaged_file_can_be_left_out_and_included_again(qtbot: Any, card: FileCheck, started: list[Any]) -> None:
    card.process.said.emit(findings())
    assert "1 file cannot be used: training ends with an error unless you leave it out" in words(card)
    asked: list[Any] = []
    card.excluded.connect(asked.append)
    press(qtbot, card, "Leave it out")
    assert asked == [("cat/2.png",)]
    card.show_data(OPTIONS.replace(excluded_files=("cat/2.png",)), Path("/data"))
    assert "cannot be used" not in words(card)
    assert "1 file left out of the data" in words(card)
    assert len(started) == 1, "nothing was checked again"
    assert card.state.text().startswith("7 files checked"), "those that are used"
    press(qtbot, card, "Include again")
    assert asked[-1] == ()


def test_all_damaged_files_can_be_left_out_at_once(qtbot: Any, card: FileCheck) -> None:
    card.process.said.emit(findings(damaged=[[f"cat/{n}.png", "it is damaged"] for n in range(9)]))
    assert "cat/4.png" in words(card)
    assert "cat/5.png" not in words(card)
    press(qtbot, card, "Show 4 more")
    assert "cat/8.png" in words(card)
    with qtbot.waitSignal(card.excluded) as sent:
        press(qtbot, card, "Leave all 9 out")
    assert sent.args == [tuple(f"cat/{n}.png" for n in range(9))]


def test_another_first_image_is_another_check(card: FileCheck, started: list[Any]) -> None:
    card.process.said.emit(findings(resized=[["dog/0.png", "50 × 30"]], converted=[["dog/3.png", "rgb"]]))
    assert "1 file of another size: resized to 4 × 6, the most frequent size" in words(card)
    assert "1 file with colours: converted to grey" in words(card)
    card.show_data(OPTIONS.replace(excluded_files=("cat/0.png",)), Path("/data"))
    assert len(started) == 2
    card.show_data(OPTIONS, Path("/data"))
    assert len(started) == 3, "the file that was left out has to be checked"


def test_an_interrupted_check_says_so(card: FileCheck) -> None:
    card.process.ended.emit()
    assert "was interrupted" in card.state.text()
    assert card.state.property("role") == "error"


def test_show_opens_the_folder_of_the_file(qtbot: Any, card: FileCheck, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def opened_by(url: QUrl) -> bool:
        opened.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", opened_by)
    card.process.said.emit(findings())
    press(qtbot, card, "Show")
    assert opened == ["/data/pets/cat"]


def test_a_damaged_file_of_many_is_found_left_out_and_stored(qtbot: Any, real: MainWindow, tmp_path: Path) -> None:
    values = write_images(tmp_path)
    (tmp_path / "img" / "cat" / "3.png").write_bytes(b"no image")
    tab = tab_of(real)
    choose(real, **values, bad_samples="fatal")
    card = tab.files
    qtbot.waitUntil(lambda: "cannot be used: training" in words(card), timeout=PATIENCE_MS)
    press(qtbot, card, "Leave it out")
    assert real.editor.project.data.excluded_files == ("cat/3.png",)
    assert real.editor.stack.undoText() == "Leave out files"
    qtbot.waitUntil(lambda: "1 file left out of the data" in words(card), timeout=PATIENCE_MS)
    assert "cannot be used" not in words(card)


def test_one_grey_picture_among_many_is_told_with_both_choices(card: FileCheck) -> None:
    grey = findings(damaged=[], converted=[["cat/1.png", "grey"]])
    card.process.said.emit({**grey, "channels": "rgb"})
    (item,) = card.items()
    assert (item.severity, item.title, item.detail) == ("note", "1 grey", "among 7 in colour, colours kept")
    chosen: list[Any] = []
    card.fix_wanted.connect(lambda label, values: chosen.append((label, values)))
    for _, act in item.actions:
        act()
    assert chosen == [("Keep colours", {"channels": "rgb"}), ("Make grey", {"channels": "grey"})]
    card.show_data(OPTIONS.replace(channels="rgb"), Path("/data"))
    assert card.items() == []
