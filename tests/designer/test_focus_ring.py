from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QWidget

from netwright.designer import theme
from netwright.designer.focus_ring import has_ring


def test_only_the_keyboard_makes_a_ring(qapp: QApplication, qtbot) -> None:
    theme.apply(qapp, "dark")
    holder, first, second = QWidget(), QPushButton("First"), QPushButton("Second")
    row = QHBoxLayout(holder)
    row.addWidget(first)
    row.addWidget(second)
    qtbot.addWidget(holder)
    with qtbot.waitActive(holder):
        holder.show()
        holder.activateWindow()
    window = holder.windowHandle()
    QTest.mouseClick(window, Qt.MouseButton.LeftButton, pos=first.mapTo(holder, QPoint(5, 5)))
    qtbot.waitUntil(first.hasFocus)
    plain = first.grab().toImage()
    assert not has_ring(first)
    for key, modifier in (
        (Qt.Key.Key_F5, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier),
    ):
        QTest.keyClick(window, key, modifier)
        assert not has_ring(first), "a shortcut beside the pointer"
    QTest.keyClick(window, Qt.Key.Key_Tab)
    qtbot.waitUntil(second.hasFocus)
    assert has_ring(second)
    QTest.keyClick(window, Qt.Key.Key_Backtab)
    qtbot.waitUntil(first.hasFocus)
    assert has_ring(first)
    assert first.grab().toImage() != plain, "the ring is seen"
    QTest.mouseClick(window, Qt.MouseButton.LeftButton, pos=second.mapTo(holder, QPoint(5, 5)))
    qtbot.waitUntil(second.hasFocus)
    assert not has_ring(first)
    assert not has_ring(second)
