"""The tour in the real window: every chapter from its first step to its last one."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from netwright.app.tour.callout import Callout
from netwright.app.tour.chapters import CHAPTERS
from netwright.app.tour.network_chapters import MISSING
from netwright.app.tour.stage import Stage
from netwright.app.tour.steps import Chapter, Step, open_dialogs
from netwright.app.tour.tour import Tour
from netwright.app.window import MainWindow
from netwright.engine.network.edits import connect
from tests.app.fake_server import FakeServer
from tests.app.main_windows import MakeWindow
from tests.app.tour.players import Visit, faults, play, shown

KEYS = ("network", "data", "options")
"""Those that need no run; the others are played in tests/journeys."""
SIZES = [(1280, 720), (800, 500)]

FACTS: dict[str, Any] = {
    "inputs": [{"name": "image", "axes": ["C", "H", "W"], "sizes": [1, 8, 8], "kind": "real"}],
    "samples": {"training": 1257, "validation": 270, "test": 270},
    "targets": [
        {"name": "y", "axes": ["C"], "sizes": [10], "kind": "real", "task": "classes", "classes": list("0123456789")}
    ],
    "notes": [],
}


@pytest.fixture
def window(make_window: MakeWindow, tmp_path: Path) -> MainWindow:
    file = tmp_path / "digit.png"
    image = QImage(64, 64, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.darkCyan)
    image.save(str(file))
    pictures = [{"file": str(file), "label": str(n % 10), "split": "training"} for n in range(40)]
    return make_window(FakeServer({"facts": FACTS, "preview": {"pictures": pictures, "classes": []}}))


@pytest.fixture
def tour(window: MainWindow, tmp_path: Path) -> Tour:
    return Tour(window, Stage(window, tmp_path), CHAPTERS)


def whole_chapter(tour: Tour, key: str, found: list[str]) -> Visit:
    """Look at every step, and let the tour do what it asks for."""
    tour.start(key)
    for number, step in enumerate(tour.chapter.steps):
        yield shown(tour)
        assert tour.step is step
        assert tour.callout is not None
        found += faults(tour)
        if step.act is not None:
            assert not tour.is_done, f"{step.text} is done before"
            tour.callout.show_me.click()
            yield shown(tour)
            assert tour.is_done, f"{step.text} is not done"
            found += faults(tour)
        if number < len(tour.chapter.steps) - 1:
            tour.callout.forward.click()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("key", KEYS)
def test_a_chapter_plays_from_its_first_step_to_its_last(
    qtbot: QtBot, window: MainWindow, tour: Tour, key: str, size: tuple[int, int]
) -> None:
    window.resize(*size)
    found: list[str] = []
    play(qtbot, tour, whole_chapter(tour, key, found))
    assert found == [], "\n".join(found)
    assert (window.width(), window.height()) == size


def step_of(tour: Tour, key: str, number: int) -> None:
    """Check which step the tour is at."""
    assert (tour.chapter.key, tour.chapter.steps.index(tour.step)) == (key, number)


def test_going_back_repeats_the_steps_before_in_a_fresh_project(qtbot: QtBot, window: MainWindow, tour: Tour) -> None:
    def visit() -> Visit:
        tour.start("network")
        for _ in range(5):
            yield shown(tour)
            tour.go_on()
        yield shown(tour)
        step_of(tour, "network", 5)
        kinds = [layer.type.key for layer in window.editor.network.layers.values()]
        assert kinds.count("dropout") == 1
        first = window.documents.path
        window.editor.set_fields([next(iter(window.editor.network.layers))], {"size": 16})
        tour.go_back()
        yield shown(tour)
        step_of(tour, "network", 4)
        assert MISSING in window.editor.network.connections, "the step before was repeated"
        layers = window.editor.network.layers.values()
        assert "dropout" not in [layer.type.key for layer in layers], "this one was not"
        assert window.documents.path != first
        assert not tour.is_done

    play(qtbot, tour, visit())


def test_what_is_done_by_hand_is_noticed(qtbot: QtBot, window: MainWindow, tour: Tour) -> None:
    def visit() -> Visit:
        tour.start("network")
        for _ in range(3):
            yield shown(tour)
            tour.go_on()
        yield shown(tour)
        callout = tour.callout
        assert callout is not None
        assert callout.show_me.isVisible()
        assert callout.state.text() == ""
        window.editor.edit_network("Connect", lambda network: connect(network, MISSING.source, MISSING.target))
        yield lambda: callout.state.text() == "✓ Done"
        assert not callout.show_me.isVisible()
        assert callout.forward.property("primary")

    play(qtbot, tour, visit())


def test_by_the_keyboard(qtbot: QtBot, window: MainWindow, tour: Tour) -> None:
    over: list[bool] = []
    tour.finished.connect(lambda: over.append(True))

    def visit() -> Visit:
        tour.start("network")
        yield shown(tour)
        for key, number in ((Qt.Key.Key_Right, 1), (Qt.Key.Key_Right, 2), (Qt.Key.Key_Left, 1)):
            callout = tour.callout
            assert callout is not None
            assert callout.isAncestorOf(window.focusWidget()), "the panel has the keyboard"
            qtbot.keyClick(window.focusWidget(), key)
            yield shown(tour)
            step_of(tour, "network", number)
        assert tour.callout is not None
        assert tour.callout.accessibleName() == tour.callout.text.text()
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Escape)
        yield lambda: bool(over)

    play(qtbot, tour, visit())
    assert tour.callout is None
    assert window.findChildren(Callout) == [] or not window.findChildren(Callout)[0].isVisible()


def test_a_target_that_is_not_there_is_told_in_the_middle(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    step = Step(text="Nothing is here.", target=lambda _: None)
    chapter = Chapter(key="none", title="Nothing", tab="design", steps=(step,))
    tour = Tour(window, Stage(window, tmp_path), (chapter,))
    found: list[str] = []

    def visit() -> Visit:
        tour.start()
        yield shown(tour)
        found.extend(faults(tour))
        assert tour.callout is not None
        off = tour.callout.geometry().center() - window.rect().center()
        assert off.manhattanLength() <= 2

    play(qtbot, tour, visit())
    assert found == ["none: Nothing is here.: what it points at is not there"]


def test_leaving_closes_its_dialog(qtbot: QtBot, window: MainWindow, tour: Tour) -> None:
    def visit() -> Visit:
        tour.start("options")
        yield shown(tour)
        tour.show_me()
        yield shown(tour)
        assert open_dialogs(window)

    play(qtbot, tour, visit())
    assert not open_dialogs(window)
