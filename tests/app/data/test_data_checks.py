"""The checks on the Data tab: when they run, what they list, and what their buttons do."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from netwright.app.data.data_checks import AGAIN, CANCEL, START, DataChecks
from netwright.app.documents import Documents
from netwright.app.window import MainWindow
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.project import Project
from tests.app.data.test_data_tab import PATIENCE_MS, choose, real, tab_of
from tests.app.data.test_dataset_tracker import facts
from tests.app.fake_server import FakeServer

TABLE = DataOptions(source="table", path="t.csv")
LEAK = {
    "kind": "leak",
    "severity": "warning",
    "title": "5 columns that give the target away",
    "outcome": "They are kept.",
    "count": 5,
    "items": [[f"col{index}", "it tells y"] for index in range(5)],
    "fixes": [{"label": "Leave all 5 out", "options": {"left_out": "col0, col1"}}],
}
__all__ = ["real"]


def answer(*findings: dict[str, Any]) -> dict[str, Any]:
    return {"samples": 7, "checked": 7, "findings": list(findings), "passed": ["Every sample can be read."]}


@pytest.fixture
def fake() -> FakeServer:
    return FakeServer()


@pytest.fixture
def card(qtbot: Any, fake: FakeServer) -> Iterator[DataChecks]:
    owner = QWidget()
    qtbot.addWidget(owner)
    made = DataChecks(fake, Documents(Project, lambda: False, owner), owner)
    owner.show()
    made.show_data(TABLE, Path("/data"), DatasetInfo.read(facts(7)))
    made.show()
    yield made
    owner.close()


def words(card: DataChecks) -> str:
    return " ".join(label.text() for label in card.findChildren(QLabel))


def press(qtbot: Any, card: DataChecks, text: str) -> None:
    button = next(b for b in card.findChildren(QPushButton) if b.text() == text and not b.isHidden())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_small_data_is_checked_at_once_and_findings_have_their_edit(
    qtbot: Any, card: DataChecks, fake: FakeServer
) -> None:
    fake.tell("check_data", 2, 8, "samples")
    assert card.state.text() == "Checking the samples: 25 % (2 of 8 samples)"
    fake.answer("check_data", answer(LEAK))
    assert card.state.text() == "7 samples checked. 1 check passed. 1 finding."
    assert "col2" in words(card)
    assert "col4" not in words(card)
    press(qtbot, card, "Show 2 more")
    assert "col4" in words(card)
    with qtbot.waitSignal(card.fix_wanted) as sent:
        press(qtbot, card, "Leave all 5 out")
    assert sent.args == ["Leave all 5 out", {"left_out": "col0, col1"}]


def test_a_check_can_be_cancelled_and_begun_again(qtbot: Any, card: DataChecks, fake: FakeServer) -> None:
    press(qtbot, card, CANCEL)
    assert fake.cancelled == ["check_data"]
    assert card.state.text() == "The check was cancelled."
    press(qtbot, card, START)
    fake.refuse("check_data", "The process was ended.")
    assert card.state.property("role") == "error"
    press(qtbot, card, START)
    fake.answer("check_data", answer())
    assert card.state.text() == "7 samples checked. 1 check passed. Nothing found."
    assert card.start.text() == AGAIN


def test_the_same_data_is_checked_once_other_data_again(card: DataChecks, fake: FakeServer) -> None:
    fake.answer("check_data", answer())
    card.show_data(TABLE, Path("/data"), DatasetInfo.read(facts(7)))
    assert fake.count("check_data") == 1
    card.show_data(TABLE.replace(response="a"), Path("/data"), DatasetInfo.read(facts(7)))
    assert fake.count("check_data") == 2
    card.show_data(TABLE, Path("/other"), DatasetInfo.read(facts(7)))
    assert fake.cancelled == ["check_data"]


def test_large_data_waits_to_be_asked(qtbot: Any, card: DataChecks, fake: FakeServer) -> None:
    fake.answer("check_data", answer())
    card.show_data(TABLE.replace(path="big.csv"), Path("/data"), DatasetInfo.read(facts(10**9)))
    assert fake.count("check_data") == 1
    assert "unless you ask" in card.state.text()
    press(qtbot, card, START)
    assert fake.count("check_data") == 2


def test_labels_are_checked_on_request_where_there_are_classes(qtbot: Any, card: DataChecks, fake: FakeServer) -> None:
    fake.answer("check_data", answer())
    assert not card.labels.isVisible(), "numbers have no labels"
    classes = facts(7)
    classes["targets"][0] |= {"task": "classes", "classes": ["a", "b"], "sizes": [2]}
    card.show_data(TABLE.replace(response="a"), Path("/data"), DatasetInfo.read(classes))
    fake.answer("check_data", answer())
    press(qtbot, card, "Find suspicious labels")
    assert fake.asked[-1].given["labels"]


def test_a_fix_changes_the_project_and_what_was_found_goes(qtbot: Any, real: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,flat,y\n" + "".join(f"{n * 37 % 101},3,{n * n % 13}\n" for n in range(40)))
    tab = tab_of(real)
    choose(real, source="table", path=str(tmp_path / "t.csv"), task="numbers")
    qtbot.waitUntil(lambda: "1 column with one value only" in words(tab.checks), timeout=PATIENCE_MS)
    press(qtbot, tab.checks, "Leave it out")
    assert real.editor.project.data.left_out == "flat"
    assert real.editor.stack.undoText() == "Leave it out"
    qtbot.waitUntil(lambda: "Nothing found" in tab.checks.state.text(), timeout=PATIENCE_MS)
