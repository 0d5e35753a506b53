"""A style sheet that is changed: what is seen has it at once, what is hidden when it is shown, as if it always had."""

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from netwright.designer import theme


def pages() -> QStackedWidget:
    stack = QStackedWidget()
    stack.resize(QSize(300, 120))
    for words in ("one", "two"):
        page = QWidget()
        column = QVBoxLayout(page)
        for role in ("section", "large", "error", "help"):
            label = QLabel(f"{words} {role}")
            theme.mark(label, "role", role)
            column.addWidget(label)
        stack.addWidget(page)
    return stack


def picture(widget: QWidget) -> QImage:
    return widget.grab().toImage()


def test_pages_look_as_if_they_had_been_made_with_the_sheet(qapp: QApplication, qtbot) -> None:
    theme.apply(qapp, "dark")
    fresh, switched = pages(), pages()
    for stack in (fresh, switched):
        qtbot.addWidget(stack)
    with qtbot.waitExposed(fresh):
        fresh.show()
    fresh.setCurrentIndex(1)
    wanted = picture(fresh)
    fresh.setCurrentIndex(0)
    first = picture(fresh)
    theme.apply(qapp, "light")
    with qtbot.waitExposed(switched):
        switched.show()
    switched.setCurrentIndex(1)
    switched.setCurrentIndex(0)
    theme.apply(qapp, "dark")
    assert picture(switched) == first
    switched.setCurrentIndex(1)
    qtbot.waitUntil(lambda: picture(switched) == wanted, timeout=60_000)
    theme.apply(qapp, "light")


def test_what_is_marked_while_it_is_hidden_has_its_look_when_it_is_shown(qapp: QApplication, qtbot) -> None:
    theme.apply(qapp, "light")
    stack = pages()
    qtbot.addWidget(stack)
    with qtbot.waitExposed(stack):
        stack.show()
    stack.setCurrentIndex(1)
    stack.setCurrentIndex(0)
    theme.apply(qapp, "dark")
    page = stack.widget(1)
    assert page is not None
    label = page.findChild(QLabel)
    assert isinstance(label, QLabel)
    theme.mark(label, "role", "large")
    stack.setCurrentIndex(1)
    assert label.font().pixelSize() == 24
    theme.apply(qapp, "light")


def test_a_window_that_is_not_shown_is_dressed_at_once(qapp: QApplication, qtbot) -> None:
    theme.apply(qapp, "light")
    label = QLabel("large")
    qtbot.addWidget(label)
    label.ensurePolished()
    theme.mark(label, "role", "error")
    theme.apply(qapp, "dark")
    assert label.palette().windowText().color() == theme.dark().error
    theme.apply(qapp, "light")


class Counting(QLabel):
    """A label that counts how often it was dressed."""

    times = 0

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self.times += 1


def test_each_widget_is_dressed_once_however_deep_it_lies(qapp: QApplication, qtbot) -> None:
    theme.apply(qapp, "light")
    stack = pages()
    seen, hidden = Counting("seen"), Counting("hidden")
    for index, label in enumerate((seen, hidden)):
        page = stack.widget(index)
        assert page is not None
        column = page.layout()
        assert column is not None
        column.addWidget(label)
    qtbot.addWidget(stack)
    with qtbot.waitExposed(stack):
        stack.show()
    stack.setCurrentIndex(1)
    stack.setCurrentIndex(0)
    seen.times = hidden.times = 0
    theme.apply(qapp, "dark")
    assert (seen.times, hidden.times) == (1, 0)
    stack.setCurrentIndex(1)
    assert hidden.times == 1
    theme.apply(qapp, "light")


def test_the_default_button_of_a_dialog_is_filled_and_a_link_is_not(qapp: QApplication, qtbot) -> None:
    theme.apply(qapp, "dark")
    box = QMessageBox(QMessageBox.Icon.NoIcon, "Title", "Text")
    link = QPushButton("A link")
    theme.mark(link, "role", "link")
    box.addButton(link, QMessageBox.ButtonRole.HelpRole)
    keep = box.addButton("Keep", QMessageBox.ButtonRole.AcceptRole)
    box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
    qtbot.addWidget(box)
    fills = []
    for default in (keep, link):
        box.setDefaultButton(default)
        with qtbot.waitExposed(box):
            box.show()
        fills.append([button.grab().toImage().pixelColor(button.width() // 2, 4) for button in (keep, link)])
    assert fills[0][0] == theme.current().primary
    assert [fill[1].alpha() for fill in fills] == [0, 0]
