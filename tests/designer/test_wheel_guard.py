"""Turning the wheel over a page of inputs: it scrolls, and changes only what has the focus."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QScrollArea, QSlider, QSpinBox, QVBoxLayout, QWidget

from netwright.designer import theme
from tests.designer.mouse import turn_wheel


@pytest.fixture
def page(qapp: QApplication, qtbot) -> QScrollArea:
    theme.apply(qapp, "dark")
    area, content = QScrollArea(), QWidget()
    column = QVBoxLayout(content)
    slider, number, choice = QSlider(Qt.Orientation.Horizontal), QSpinBox(), QComboBox()
    choice.addItems([str(place) for place in range(50)])
    for widget in (slider, number, choice):
        column.addWidget(widget)
    for widget in (slider, number):
        widget.setRange(0, 49)
        widget.setValue(25)
    choice.setCurrentIndex(25)
    content.setMinimumHeight(2000)
    column.addStretch(1)
    area.setWidget(content)
    area.setWidgetResizable(True)
    area.resize(300, 300)
    qtbot.addWidget(area)
    with qtbot.waitActive(area):
        area.show()
        area.activateWindow()
    area.setFocus()
    return area


def value(widget: QWidget) -> int:
    return widget.currentIndex() if isinstance(widget, QComboBox) else widget.value()  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [QSlider, QSpinBox, QComboBox])
def test_the_wheel_scrolls_the_page_and_turns_what_has_the_focus(page: QScrollArea, kind: type[QWidget]) -> None:
    content = page.widget()
    assert content is not None
    (widget,) = [widget for widget in content.findChildren(kind) if widget.parentWidget() is content]
    turn_wheel(widget)
    assert (value(widget), widget.hasFocus()) == (25, False)
    assert page.verticalScrollBar().value() > 0
    page.verticalScrollBar().setValue(0)
    widget.setFocus()
    turn_wheel(widget)
    assert value(widget) != 25
    assert page.verticalScrollBar().value() == 0
