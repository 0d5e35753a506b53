"""Where the panel of the tour stands: beside its target, in the window."""

import itertools
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from netwright.app.tour.callout import Callout, beside
from netwright.app.tour.chapters import CHAPTERS
from netwright.designer import language
from tests.app.clipping import clipped, settle

SIZES = [QSize(340, 150), QSize(300, 168), QSize(264, 190)]


@pytest.fixture
def speak(qtbot: QtBot) -> Iterator[Callable[[str], None]]:
    """A function that installs a language; afterwards it is English again."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    yield lambda name: language.use(app, name)
    language.use(app, language.ENGLISH)


@pytest.mark.parametrize("room", [QSize(1280, 720), QSize(800, 500)])
def test_it_covers_no_target_and_stays_in_the_window(room: QSize) -> None:
    window = QRect(0, 0, room.width(), room.height())
    for x, y in itertools.product(range(0, room.width() - 120, 40), range(0, room.height() - 40, 40)):
        target = QRect(x, y, 120, 40)
        place = beside(target, window, SIZES)
        assert window.contains(place), target
        assert not place.intersects(target), target


@pytest.mark.parametrize("name", [language.ENGLISH, language.CHINESE, language.PSEUDO])
def test_every_text_fits_in_every_language(qtbot: QtBot, speak: Callable[[str], None], name: str) -> None:
    speak(name)
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(800, 500)
    window.show()
    callout = Callout(window)
    callout.show()
    found: list[str] = []
    for chapter in CHAPTERS:
        for number, step in enumerate(chapter.steps, 1):
            place = language.tr("Step {number} of {count}", number=number, count=len(chapter.steps))
            callout.say(language.translation(chapter.title), language.translation(step.text), place)
            state = language.tr("✓ Done")
            forward = language.tr("Next chapter")
            callout.show_state(state, can_act=True, can_go_back=True, can_go_on=True, forward=forward)
            for size in callout.sizes():
                callout.resize(size)
                settle(callout)
                found += clipped(callout)
                if callout.size() != size or size.width() > 460 or size.height() > 300:
                    found.append(f"{step.text[:40]}: {size}")
            if name == language.PSEUDO:
                labels = [label.text() for label in callout.findChildren(QLabel)]
                buttons = [button.text() for button in callout.findChildren(QPushButton)]
                found += [text for text in (*labels, *buttons) if not text.startswith("[")]
    assert found == [], "\n".join(found)


def test_a_narrow_gap_gets_a_narrow_panel() -> None:
    window, target = QRect(0, 0, 800, 500), QRect(300, 0, 500, 500)
    place = beside(target, window, SIZES)
    assert place.width() == 264
    assert not place.intersects(target)


def test_it_stands_below_where_that_is_asked_for() -> None:
    window, target = QRect(0, 0, 1280, 720), QRect(300, 100, 120, 40)
    assert beside(target, window, SIZES).left() > target.right()
    assert beside(target, window, SIZES, prefers_below=True).top() > target.bottom()


def test_beside_a_target_without_room_it_covers_the_least() -> None:
    window = QRect(0, 0, 800, 500)
    place = beside(QRect(0, 0, 800, 400), window, SIZES)
    assert window.contains(place)
    assert place.bottom() > 480


def test_without_a_target_it_stands_in_the_middle() -> None:
    place = beside(QRect(), QRect(0, 0, 800, 500), SIZES)
    assert (place.center() - QRect(0, 0, 800, 500).center()).manhattanLength() <= 1
