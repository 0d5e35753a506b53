from PySide6.QtWidgets import QToolButton

from designer.panels.parts import SearchField


def test_the_cross_appears_with_text_and_clears_it(qtbot) -> None:
    field = SearchField("Search things…", "Search things")
    qtbot.addWidget(field)
    field.show()
    (cross,) = field.findChildren(QToolButton)
    assert not cross.isVisible()
    qtbot.keyClicks(field, "abc")
    assert cross.isVisible()
    cross.click()
    assert field.text() == ""
    assert not cross.isVisible()
