"""The process of the tour: it opens, goes to chapters, and leaves nothing behind."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from netwright.app.frame.tour_launcher import PROGRAM
from netwright.app.start_page.tour_offer import ANSWERED, TourOffer
from netwright.app.tour.chapters import CHAPTERS
from netwright.app.window import MainWindow
from netwright.designer.settings import settings
from netwright.engine.core.process import MessageProcess, module_command
from tests.app.main_windows import entries, run

PATIENCE_S = 60.0


def own_files() -> dict[str, int]:
    """The files in the home folder of the user, with their times."""
    home = Path(os.environ["HOME"])
    return {str(path): path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()}


def test_it_leaves_nothing_behind(qtbot: QtBot) -> None:
    before, folders = own_files(), set(os.listdir(tempfile.gettempdir()))
    process = MessageProcess(module_command(PROGRAM, "network", "dark", "15", "en"))
    try:
        assert process.ask({"chapter": "data"}, PATIENCE_S) == {"is_shown": True}
        (folder,) = [
            name for name in set(os.listdir(tempfile.gettempdir())) - folders if name.startswith("netwright-tour-")
        ]
        assert (Path(tempfile.gettempdir()) / folder / "config" / "settings.ini").is_file()
    finally:
        has_ended = process.end(PATIENCE_S)
    assert has_ended, process.last_words()
    assert set(os.listdir(tempfile.gettempdir())) <= folders
    assert own_files() == before


def test_the_menu_has_every_chapter_and_opens_it(qtbot: QtBot, window: MainWindow) -> None:
    menu = window.menus._submenus["Tour"]
    assert menu.menuAction() in window.menus.by_name["Help"].actions()
    assert [name.split(". ")[1] for name in entries(menu)] == [chapter.title for chapter in CHAPTERS]
    run(window, "tour.data")
    tour = window.menus._tour
    assert tour is not None
    assert tour.is_running
    child = tour._child
    assert child is not None
    with qtbot.waitSignal(child.received, timeout=60_000) as said:
        pass
    assert json.dumps(said.args[0]) == '{"is_shown": true}'
    window.menus.close()
    assert child.process.returncode == 0
    assert not tour.is_running


def test_the_start_page_offers_it_once(qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr("netwright.app.frame.menu_bar.Menus.start_tour", lambda self, key: started.append(key))
    window.show_start()
    offer = window.start_page.tour
    assert offer.isVisible()
    offer.start.click()
    assert started == ["network"]
    assert not offer.isVisible()
    again = TourOffer()
    qtbot.addWidget(again)
    assert again.isHidden()


def test_it_is_not_offered_again_to_who_declines(qtbot: QtBot) -> None:
    settings().remove(ANSWERED)
    holder = QWidget()
    qtbot.addWidget(holder)
    offer = TourOffer(holder)
    holder.show()
    assert offer.isVisible()
    with qtbot.assertNotEmitted(offer.accepted):
        offer.decline.click()
    assert offer.isHidden()
    assert TourOffer(holder).isHidden()
    settings().remove(ANSWERED)
