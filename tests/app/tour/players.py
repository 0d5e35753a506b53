"""Somebody who takes the tour. Its dialogs keep whoever waits for them, so a visit is a script in the event loop."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QPoint, QRect, QTimer
from pytestqt.qtbot import QtBot

from netwright.app.tour.tour import Tour
from tests.app.clipping import clipped, settle

PATIENCE_MS = 60_000
LOOK_MS = 20
Visit = Iterator[Callable[[], bool]]
"""A script, which yields what it waits for."""


def play(qtbot: QtBot, tour: Tour, visit: Visit, patience_ms: int = PATIENCE_MS) -> None:
    """Carry out a script to its end, then leave the tour."""
    player = _Player(tour, visit)
    try:
        qtbot.waitUntil(lambda: player.is_over, timeout=patience_ms)
    finally:
        player.stop()
    if player.error is not None:
        raise player.error


class _Player(QObject):
    def __init__(self, tour: Tour, visit: Visit) -> None:
        super().__init__(tour)
        self._tour, self._visit = tour, visit
        self._fact: Callable[[], bool] | None = None
        self.error: BaseException | None = None
        self.is_over = self._is_leaving = self._is_acting = False
        tour.finished.connect(self._end)
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._go_on)
        self._timer.start()

    def _go_on(self) -> None:
        if self._is_acting or (self._fact is not None and not self._fact()):
            return
        self._is_acting = True
        try:
            self._fact = next(self._visit)
        except StopIteration:
            self.stop()
        except BaseException as error:  # raised again where the test can see it
            self.error = error
            self.stop()
        finally:
            self._is_acting = False

    def stop(self) -> None:
        """Leave the tour, whose dialogs keep the test from going on."""
        if not self._is_leaving:
            self._is_leaving = True
            self._timer.stop()
            self._tour.close()

    def _end(self) -> None:
        self.is_over = True


def shown(tour: Tour) -> Callable[[], bool]:
    """Whether a step is shown, and nothing is being done."""
    return lambda: not tour.is_busy and tour.is_shown


def faults(tour: Tour) -> list[str]:
    """What is wrong with how the step is shown."""
    where, callout = f"{tour.chapter.key}: {tour.step.text[:40]}", tour.callout
    assert callout is not None
    settle(callout)
    found = [f"{where}: cut {words}" for words in clipped(callout)]
    if tour.target is None:
        return [*found, f"{where}: what it points at is not there"]
    host, place = tour.target.window, tour.target.place()
    panel = QRect(callout.mapTo(host, QPoint()), callout.size())
    if callout.parentWidget() is not host or not callout.isVisible():
        found.append(f"{where}: the panel is not in the window of its target")
    if not host.rect().contains(panel):
        found.append(f"{where}: the panel leaves the window: {panel} in {host.rect()}")
    if panel.intersects(place):
        found.append(f"{where}: the panel covers its target: {panel} and {place}")
    if place.width() < 8 or place.height() < 8:
        found.append(f"{where}: hardly anything is seen of its target: {place}")
    return found
