"""What a widget shows in the pseudo-language that is not translated, or cut off."""

import re
from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QListWidget, QTableView, QWidget

from netwright.app.plots.bar_rows import BarRows
from netwright.app.plots.plot import Plot
from tests.app.clipping import clipped, settle
from tests.designer.test_language import texts_of, untranslated


def shown(widget: QWidget, *, has_cells: bool = False) -> Iterator[str]:
    """Yield the texts of a widget, with those of choices, lists, plots, bars and the heads of tables, and with the
    cells of tables where these are no data."""
    yield from texts_of(widget)
    for box in widget.findChildren(QComboBox):
        yield from (box.itemText(number) for number in range(box.count()))
    for items in widget.findChildren(QListWidget):
        yield from (items.item(row).text() for row in range(items.count()))
    for table in widget.findChildren(QTableView):
        if (model := table.model()) is not None:
            columns, across = range(model.columnCount()), Qt.Orientation.Horizontal
            yield from (str(model.headerData(column, across) or "") for column in columns)
            rows = range(model.rowCount() if has_cells else 0)
            yield from (str(model.data(model.index(row, column)) or "") for row in rows for column in columns)
    for plot in widget.findChildren(Plot):
        yield from (axis.name for axis in plot.axes())
    for bars in widget.findChildren(BarRows):
        yield from (cell for bar in bars.rows for cell in bar.cells)


def faults(widget: QWidget, *names: str, has_cells: bool = False) -> list[str]:
    """Return the texts that are not translated, beside names of data, and those that are cut off."""
    widget.show()
    settle(widget)
    return [*untranslated(without(text, names) for text in shown(widget, has_cells=has_cells)), *clipped(widget)]


def without(text: str, names: Sequence[str]) -> str:
    """Return a text without names of data, marks of a rich text and places to break."""
    text = text.replace("\u200b", "")
    for name in names:
        text = text.replace(name, "")
    return re.sub("<[^>]*>", "", text)
