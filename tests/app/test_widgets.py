"""A short table of facts."""

from PySide6.QtWidgets import QLabel

from netwright.app.widgets import ValueTable
from tests.app.clipping import settle


def top_of_ink(label: QLabel) -> int:
    """The first line of a label in which something is drawn, counted from the table's top."""
    image = label.grab().toImage()
    ground = image.pixelColor(0, 0)
    lines = (y for y in range(image.height()) if any(image.pixelColor(x, y) != ground for x in range(image.width())))
    return label.y() + next(lines)


def test_names_and_values_stand_on_one_line(qtbot) -> None:
    table = ValueTable("Where", ("Hardware",))
    qtbot.addWidget(table)
    table.set("Hardware", "Hardware")
    table.resize(300, 60)
    table.show()
    settle(table)
    assert top_of_ink(table._names["Hardware"]) == top_of_ink(table._values["Hardware"])


def test_a_long_name_leaves_the_values_of_a_table_their_room(qtbot) -> None:
    table = ValueTable("Values", ("0", "1"))
    qtbot.addWidget(table)
    table.show_rows([("predicted_energy_demand_of_the_building_in_kwh_7", "1,234,567"), ("price", "4")])
    table.resize(220, 100)
    table.show()
    assert table.width() == 220
    value = table._values["0"]
    assert table.rect().contains(value.geometry())
    assert value.fontMetrics().horizontalAdvance("1,234,567") <= value.width()
    assert table._names["0"].is_elided
