"""Sketches made by a process: told as they come, remembered, and what becomes of files and processes that fail."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.documents import EXAMPLES
from app.start_page import thumbnails
from app.start_page.sketch import Sketch, cache_folder, sketch_of
from app.start_page.thumbnails import Sketcher

DIGITS, WAVES = EXAMPLES / "digits.netwright", EXAMPLES / "waves.netwright"


class Told:
    """What a sketcher told, in order; a file that is gone as None."""

    def __init__(self, sketcher: Sketcher) -> None:
        self.all: list[tuple[Path, Sketch | None]] = []
        sketcher.ready.connect(lambda path, sketch: self.all.append((path, sketch)))
        sketcher.gone.connect(lambda path: self.all.append((path, None)))

    def take(self) -> dict[Path, Sketch | None]:
        found = dict(self.all)
        self.all.clear()
        return found


@pytest.fixture
def sketcher(qtbot: QtBot) -> Iterator[Sketcher]:
    parent = QObject()
    sketcher = Sketcher(parent)
    yield sketcher
    sketcher.close()


def test_what_is_there_is_drawn_and_what_is_not_says_so(qtbot: QtBot, sketcher: Sketcher, tmp_path: Path) -> None:
    told = Told(sketcher)
    odd = tmp_path / os.fsdecode(b"n\xe9t \xc3\xa9\n.netwright")
    odd.write_bytes(DIGITS.read_bytes())
    bad, pipe, none = (tmp_path / f"{name}.netwright" for name in ("bad", "pipe", "none"))
    bad.write_text("{")
    os.mkfifo(pipe)
    sketcher.want([DIGITS, none, bad, odd, pipe])
    assert not sketcher.is_done
    qtbot.waitUntil(lambda: sketcher.is_done)
    found = told.take()
    assert found[DIGITS] == found[odd] == sketch_of(DIGITS)
    assert found[none] is found[pipe] is None
    wrong = found[bad]
    assert wrong is not None
    assert "not a project file" in wrong.problem


def test_what_is_known_is_told_at_once_and_drawn_again_when_it_has_changed(
    qtbot: QtBot, sketcher: Sketcher, tmp_path: Path
) -> None:
    told = Told(sketcher)
    path = tmp_path / "net.netwright"
    path.write_bytes(DIGITS.read_bytes())
    sketcher.want([path, WAVES])
    qtbot.waitUntil(lambda: sketcher.is_done)
    first = told.take()
    for kept in cache_folder().iterdir():
        kept.write_text("damaged, and would be made anew")
    sketcher.want([path, WAVES])
    assert told.take() == first
    qtbot.waitUntil(lambda: sketcher.is_done)
    assert told.take() == first
    assert all(kept.read_text().startswith("damaged") for kept in cache_folder().iterdir()), "they were drawn again"
    path.write_bytes(WAVES.read_bytes())
    sketcher.want([path])
    assert told.take()[path] == first[path]
    qtbot.waitUntil(lambda: sketcher.is_done)
    assert told.take()[path] == first[WAVES]
    path.unlink()
    sketcher.want([path])
    qtbot.waitUntil(lambda: sketcher.is_done)
    assert told.take()[path] is None


def first_process(sketcher: Sketcher, monkeypatch: pytest.MonkeyPatch) -> "subprocess.Popen[bytes]":
    """One that says nothing for as long as the test takes; the next one is real."""
    with monkeypatch.context() as patch:
        patch.setattr(thumbnails, "engine_command", lambda *_: ["sleep", "600"])
        sketcher.want([DIGITS, WAVES])
    assert sketcher._child is not None
    return sketcher._child.process


def test_a_process_that_ends_costs_one_file_its_picture(
    qtbot: QtBot, sketcher: Sketcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(sketcher)
    first_process(sketcher, monkeypatch).kill()
    qtbot.waitUntil(lambda: sketcher.is_done)
    assert told.take() == {DIGITS: Sketch(problem=thumbnails.FAILED), WAVES: sketch_of(WAVES)}


def test_a_disk_that_does_not_answer_costs_one_file_its_picture(
    qtbot: QtBot, sketcher: Sketcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(sketcher)
    process = first_process(sketcher, monkeypatch)
    psutil.Process(process.pid).suspend()
    sketcher._patience.timeout.emit()
    qtbot.waitUntil(lambda: sketcher.is_done)
    assert told.take() == {DIGITS: Sketch(problem=thumbnails.NO_ANSWER), WAVES: sketch_of(WAVES)}
    assert process.returncode


def test_without_a_process_there_are_no_pictures(sketcher: Sketcher, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(sketcher)
    monkeypatch.setattr("app.child_process.sys.executable", "/nowhere/python")
    sketcher.want([DIGITS])
    assert sketcher.is_done
    assert told.take() == {DIGITS: Sketch(problem=thumbnails.FAILED)}


def test_closing_ends_the_process_at_work(sketcher: Sketcher) -> None:
    sketcher.want([DIGITS])
    assert sketcher._child is not None
    process = sketcher._child.process
    sketcher.close()
    assert process.returncode is not None
    sketcher.want([DIGITS])
    assert sketcher._child is None
