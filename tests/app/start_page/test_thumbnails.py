"""Thumbnailes made by a process: told as they come, remembered, and what becomes of files and processes that fail."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from netwright.app.documents import EXAMPLES
from netwright.app.start_page import thumbnails
from netwright.app.start_page.thumbnail_program import Thumbnail, make_thumbnail, thumbnail_folder
from netwright.app.start_page.thumbnails import ThumbnailLoader

DIGITS, WAVES = EXAMPLES / "digits.netwright", EXAMPLES / "waves.netwright"


class Told:
    """What a loader told, in order; a file that is gone as None."""

    def __init__(self, loader: ThumbnailLoader) -> None:
        self.all: list[tuple[Path, Thumbnail | None]] = []
        loader.ready.connect(lambda path, sketch: self.all.append((path, sketch)))
        loader.gone.connect(lambda path: self.all.append((path, None)))

    def take(self) -> dict[Path, Thumbnail | None]:
        found = dict(self.all)
        self.all.clear()
        return found


@pytest.fixture
def loader(qtbot: QtBot) -> Iterator[ThumbnailLoader]:
    parent = QObject()
    loader = ThumbnailLoader(parent)
    yield loader
    loader.close()


def test_what_is_there_is_drawn_and_what_is_not_says_so(qtbot: QtBot, loader: ThumbnailLoader, tmp_path: Path) -> None:
    told = Told(loader)
    odd = tmp_path / os.fsdecode(b"n\xe9t \xc3\xa9\n.netwright")
    odd.write_bytes(DIGITS.read_bytes())
    bad, pipe, none = (tmp_path / f"{name}.netwright" for name in ("bad", "pipe", "none"))
    bad.write_text("{")
    os.mkfifo(pipe)
    loader.load([DIGITS, none, bad, odd, pipe])
    assert not loader.is_done
    qtbot.waitUntil(lambda: loader.is_done)
    found = told.take()
    assert found[DIGITS] == found[odd] == make_thumbnail(DIGITS)
    assert found[none] is found[pipe] is None
    wrong = found[bad]
    assert wrong is not None
    assert "not a project file" in wrong.problem


def test_what_is_known_is_told_at_once_and_drawn_again_when_it_has_changed(
    qtbot: QtBot, loader: ThumbnailLoader, tmp_path: Path
) -> None:
    told = Told(loader)
    path = tmp_path / "net.netwright"
    path.write_bytes(DIGITS.read_bytes())
    loader.load([path, WAVES])
    qtbot.waitUntil(lambda: loader.is_done)
    first = told.take()
    for kept in thumbnail_folder().iterdir():
        kept.write_text("damaged, and would be made anew")
    loader.load([path, WAVES])
    assert told.take() == first
    qtbot.waitUntil(lambda: loader.is_done)
    assert told.take() == first
    assert all(kept.read_text().startswith("damaged") for kept in thumbnail_folder().iterdir()), "they were drawn again"
    path.write_bytes(WAVES.read_bytes())
    loader.load([path])
    assert told.take()[path] == first[path]
    qtbot.waitUntil(lambda: loader.is_done)
    assert told.take()[path] == first[WAVES]
    path.unlink()
    loader.load([path])
    qtbot.waitUntil(lambda: loader.is_done)
    assert told.take()[path] is None


def first_process(loader: ThumbnailLoader, monkeypatch: pytest.MonkeyPatch) -> "subprocess.Popen[bytes]":
    """One that says nothing for as long as the test takes; the next one is real."""
    with monkeypatch.context() as patch:
        patch.setattr(thumbnails, "module_command", lambda *_: ["sleep", "600"])
        loader.load([DIGITS, WAVES])
    assert loader._child is not None
    return loader._child.process


def test_a_process_that_ends_costs_one_file_its_picture(
    qtbot: QtBot, loader: ThumbnailLoader, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(loader)
    first_process(loader, monkeypatch).kill()
    qtbot.waitUntil(lambda: loader.is_done)
    assert told.take() == {DIGITS: Thumbnail(excuse=thumbnails.FAILED), WAVES: make_thumbnail(WAVES)}


def test_a_disk_that_does_not_answer_costs_one_file_its_picture(
    qtbot: QtBot, loader: ThumbnailLoader, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(loader)
    process = first_process(loader, monkeypatch)
    psutil.Process(process.pid).suspend()
    loader._patience.timeout.emit()
    qtbot.waitUntil(lambda: loader.is_done)
    assert told.take() == {DIGITS: Thumbnail(excuse=thumbnails.NO_ANSWER), WAVES: make_thumbnail(WAVES)}
    assert process.returncode


def test_without_a_process_there_are_no_pictures(loader: ThumbnailLoader, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(loader)
    monkeypatch.setattr("netwright.engine.core.process.sys.executable", "/nowhere/python")
    loader.load([DIGITS])
    assert loader.is_done
    assert told.take() == {DIGITS: Thumbnail(excuse=thumbnails.FAILED)}


def test_closing_ends_the_process_at_work(loader: ThumbnailLoader) -> None:
    loader.load([DIGITS])
    assert loader._child is not None
    process = loader._child.process
    loader.close()
    assert process.returncode is not None
    loader.load([DIGITS])
    assert loader._child is None


def test_a_file_without_an_answer_is_tried_again_and_keeps_what_is_known_of_it(
    qtbot: QtBot, loader: ThumbnailLoader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thumbnails, "RETRY_MS", 20)
    told = Told(loader)
    first_process(loader, monkeypatch).kill()
    qtbot.waitUntil(lambda: (DIGITS, make_thumbnail(DIGITS)) in told.all)
    assert told.all[0] == (DIGITS, Thumbnail(excuse=thumbnails.FAILED))
    told.take()
    first_process(loader, monkeypatch).kill()
    qtbot.waitUntil(lambda: loader.is_done)
    assert told.take() == {DIGITS: make_thumbnail(DIGITS), WAVES: make_thumbnail(WAVES)}
