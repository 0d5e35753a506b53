"""Tiles of samples that lead somewhere, by keys."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from netwright.app.data.tiles import Sparkline, Tiles


def test_a_sample_is_chosen_by_keys(qtbot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    tiles = Tiles([Sparkline([[0.0, 1.0]], f"sample {number}", "") for number in range(5)])
    tiles.offer("Click to see why")
    QVBoxLayout(page).addWidget(tiles)
    page.resize(400, 600)
    page.show()
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    numbers: list[int] = []
    tiles.chosen.connect(numbers.append)
    tiles.tiles[0].setFocus(Qt.FocusReason.TabFocusReason)
    columns = tiles.columns(tiles.width())
    assert columns == 2
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Down, Qt.Key.Key_Space, Qt.Key.Key_Right, Qt.Key.Key_Enter):
        qtbot.keyClick(QApplication.focusWidget(), key)
    assert numbers == [0, 2, 3]
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    assert tiles.tiles[3].hasFocus(), "there is no row below"
    assert [tile.focusPolicy() for tile in tiles.tiles].count(Qt.FocusPolicy.TabFocus) == 1, "Tab leaves the samples"
