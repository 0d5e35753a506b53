"""What comes behind the window: all of it, with garbage collected as before."""

import gc
import sys

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from netwright.app.runs.preload import MODULES, Preload


def test_everything_is_here_and_garbage_is_collected_afterwards(qtbot: QtBot) -> None:
    parent = QObject()
    preload = Preload(parent)
    assert not gc.isenabled()
    qtbot.waitUntil(lambda: preload.is_done)
    assert gc.isenabled()
    assert {"numpy", *MODULES} <= set(sys.modules)
    qtbot.waitUntil(lambda: not preload._timer.isActive())  # Qt's names were all asked for
    preload.close()


def test_closing_before_it_is_done_collects_again(qtbot: QtBot) -> None:
    parent = QObject()
    preload = Preload(parent)
    preload.close()
    assert gc.isenabled()
    assert not preload.is_done
