from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from netwright.designer.panels.parts import PropertyTable, SearchField


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


NAME = "image_of_the_front_camera_left_undistorted_v12"


def test_a_long_name_leaves_the_figures_their_column(qtbot) -> None:
    """And keeps its number, which tells it from others."""
    table = PropertyTable()
    qtbot.addWidget(table)
    table.show_rows([("Layers", "316"), (f"Input {NAME}", "3 × 224 × 224"), ("Parameters", "238,586")])
    table.resize(240, 120)
    table.show()
    assert table.width() == 240
    for name, value in table._rows:
        place = value.geometry()
        assert table.rect().contains(place)
        assert value.fontMetrics().horizontalAdvance(value.text()) <= place.width()
        assert value.height() < 2 * value.fontMetrics().height(), "it stands on one line"
        assert name.geometry().right() < place.left()
    name, _ = table._rows[1]
    assert name.is_elided
    assert name.elide == Qt.TextElideMode.ElideMiddle
    assert name.toolTip() == f"Input {NAME}"
