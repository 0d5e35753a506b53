"""The whole tour with the real engine: every step is shown, in a usual and in a small window, and done by the tour."""

import os
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from netwright.app.tour.chapters import CHAPTERS
from netwright.app.tour.stage import Stage
from netwright.app.tour.tour import Tour
from netwright.app.window import MainWindow
from tests.app.clipping import settle
from tests.app.tour.players import Visit, faults, play, shown
from tests.journeys.conftest import Visit as SitDown
from tests.journeys.dialogs import PATIENCE_MS
from tests.journeys.person import PICTURES

USUAL, SMALL = (1280, 720), (800, 500)


@pytest.mark.journey
@pytest.mark.parametrize("machine", ["usual"], indirect=True)
def test_the_whole_tour(qtbot: QtBot, visit: SitDown, tmp_path: Path) -> None:
    window = visit().window
    assert isinstance(window, MainWindow)
    window.resize(*USUAL)
    tour = Tour(window, Stage(window, tmp_path / "tour"), CHAPTERS)
    found: list[str] = []

    def look(number: int, size: tuple[int, int]) -> None:
        found.extend(f"{size[0]} × {size[1]}: {fault}" for fault in faults(tour))
        if PICTURES and tour.callout is not None:
            name = f"tour-{size[0]}-{tour.chapter.key}-{number}.png"
            tour.callout.window().grab().save(os.path.join(PICTURES, name))

    def both(number: int) -> Visit:
        yield shown(tour)
        look(number, USUAL)
        window.resize(*SMALL)
        settle(window)
        yield shown(tour)
        look(number, SMALL)
        window.resize(*USUAL)
        settle(window)
        yield shown(tour)

    def whole() -> Visit:
        tour.start()
        for chapter in CHAPTERS:
            for number, step in enumerate(chapter.steps, 1):
                yield from both(number)
                assert tour.step is step
                assert tour.callout is not None
                if step.act is not None:
                    tour.callout.show_me.click()
                    yield shown(tour)
                    assert tour.is_done, f"{step.text} is not done"
                tour.callout.forward.click()

    play(qtbot, tour, whole(), 4 * PATIENCE_MS)
    assert found == [], "\n".join(found)
    assert QApplication.activeModalWidget() is None
