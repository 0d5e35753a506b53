"""Samples of an evaluation as pictures with the answers of the network: the worst, the most uncertain, those of a cell
of the confusion matrix or of a group."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLabel, QTableWidget, QVBoxLayout, QWidget

from netwright.app.analysis.result_cards import text_table
from netwright.app.analysis.sample_tiles import tiles_of
from netwright.app.data.preview_panel import lanes_of
from netwright.app.data.tiles import Tiles
from netwright.app.plots.figure_card import FigureCard
from netwright.app.temporary_folder import temporary_folder
from netwright.designer import theme
from netwright.designer.markup import visible
from netwright.engine.core.errors import plural
from netwright.engine.core.text import format_figure, format_number, format_percent

LISTS = (("worst", "Worst samples"), ("uncertain", "Most uncertain samples"))
HINT = "Click a cell of the confusion matrix, or a group, to see its samples."


class SamplesCard(FigureCard):
    """`wanted` carries which samples are to be looked at, as `netwright.engine.analysis.sample_views.look` takes it,
    with the `folder` for their pictures."""

    wanted = Signal(object)
    sample_chosen = Signal(int)
    """The place of a sample in what was evaluated, which is to be looked at more closely."""

    def __init__(self, output: int, *, has_confidence: bool, leads_on: bool = False) -> None:
        """With `leads_on`, a sample can be chosen by a click on its picture, or Enter on its row."""
        self._output = output
        self._leads_on = leads_on
        self._asked = 0
        self.choice, self.message = QComboBox(), QLabel()
        self.body = QWidget()
        self.answer: dict[str, Any] = {}
        content = QWidget()
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(12)
        self._column.addWidget(self.message)
        self._column.addWidget(self.body)
        super().__init__(content, "Samples", "", self._rows)
        self._folder = Path(temporary_folder(self, "samples"))
        self.message.setWordWrap(True)
        theme.mark(self.message, "role", "muted")
        self.choice.setAccessibleName("Which samples")
        for key, label in LISTS[: 2 if has_confidence else 1]:
            self.choice.addItem(label, {"list": key})
        self.head.insertWidget(1, self.choice)
        self.choice.activated.connect(self.ask)

    def ask(self) -> None:
        """Ask for the samples that are chosen."""
        self._asked += 1
        folder = self._folder / str(self._asked)
        self.message.setText("Loading samples…")
        self.message.show()
        self.wanted.emit({"output": self._output, "folder": str(folder), **self.choice.currentData()})

    def choose(self, label: str, selection: Mapping[str, Any]) -> None:
        """Choose other samples, and ask for them."""
        at = self.choice.findText(label)
        if at < 0:
            self.choice.addItem(visible(label), dict(selection))
            at = self.choice.count() - 1
        self.choice.setCurrentIndex(at)
        self.ask()

    def show_error(self, reason: str) -> None:
        """Say why there are no samples to see."""
        theme.mark(self.message, "role", "error")
        self.message.setText(visible(reason))
        self.message.show()

    def show_answer(self, answer: dict[str, Any]) -> None:
        """Show the answer to the request."""
        self.answer = answer
        rows = answer["rows"]
        more = f"the first {len(rows):,} of {answer['total']:,}" if answer["total"] > len(rows) else ""
        has_classes = any("wrong" in sample for sample in answer.get("pictures", ()))
        parts = "; each: image, true classes, predicted classes, wrong pixels" if has_classes else ""
        forecasts = any("said" in sample for sample in answer.get("series", ()))
        parts = "; dashed: the forecast" if forecasts else parts
        self.note.setText((more or plural(answer["total"], "sample")) + parts)
        theme.mark(self.message, "role", "muted")
        self.message.setText("" if rows else "There are no such samples.")
        self.message.setVisible(not rows)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        if rows:
            if (tiles := tiles_of(answer)) is not None:
                if (legend := lanes_of(answer)) is not None:
                    column.addWidget(legend)
                column.addWidget(tiles)
            head, *cells = self._rows()
            table = text_table(head, cells)
            column.addWidget(table)
            if self._leads_on:
                self._lead_on([row["place"] for row in rows], tiles, table)
        self._column.replaceWidget(self.body, body)
        self.body.deleteLater()
        self.body = body

    def _lead_on(self, places: Sequence[int], tiles: Tiles | None, table: QTableWidget) -> None:
        """Have a click on a tile, or a double click or Enter on a row, choose the sample."""
        table.setToolTip("Double-click a row to look inside the network with this sample")
        table.cellActivated.connect(lambda row, _: self.sample_chosen.emit(places[row]))
        if tiles is not None:
            tiles.offer("Click to look inside the network with this sample")
            tiles.chosen.connect(lambda number: self.sample_chosen.emit(places[number]))

    def _rows(self) -> Iterator[list[str]]:
        rows: Sequence[Mapping[str, Any]] = self.answer.get("rows", ())
        columns = self.answer.get("columns", [])
        has = [name for name in ("label", "prediction", "confidence", "loss") if any(name in row for row in rows)]
        measure = {"loss": "loss" if "confidence" in has else "error"}
        yield ["Sample", *(measure.get(name, name).capitalize() for name in has), *map(str, columns)]
        cells = self.answer.get("cells", [[] for _ in rows])
        for row, more in zip(rows, cells, strict=True):
            name = str(row.get("sample", f"{row['index']:,}"))
            yield [name, *(_cell(key, row.get(key)) for key in has), *map(str, more)]


def _cell(name: str, value: Any) -> str:
    if name == "confidence":
        return format_percent(value, 1)
    if isinstance(value, list):
        return ", ".join(_cell("", item) for item in value[:4]) + (", …" if len(value) > 4 else "")
    if isinstance(value, float):
        return format_figure(value) if name == "loss" else format_number(value)
    return "" if value is None else str(value)
