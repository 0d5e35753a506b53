"""Samples of an evaluation as pictures with the answers of the network: the worst, the most uncertain, those of a cell
of the confusion matrix or of a group."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QLabel, QTableWidget, QVBoxLayout, QWidget

from netwright.app.data.answer_list import AnswerList, rows_of
from netwright.app.data.tiles import Tiles
from netwright.app.plots.card import FigureCard
from netwright.app.temporary_folder import temporary_folder
from netwright.designer import theme
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import visible

LISTS = (("worst", noop("Worst samples")), ("uncertain", noop("Most uncertain samples")))


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
        super().__init__(content, tr("Samples"), "", lambda: rows_of(self.answer))
        self._folder = Path(temporary_folder(self, "samples"))
        self.message.setWordWrap(True)
        theme.mark(self.message, "role", "muted")
        self.choice.setAccessibleName(tr("Which samples"))
        for key, label in LISTS[: 2 if has_confidence else 1]:
            self.choice.addItem(translation(label), {"list": key})
        self.head.insertWidget(1, self.choice)
        self.choice.activated.connect(self.ask)

    def ask(self) -> None:
        """Ask for the samples that are chosen."""
        self._asked += 1
        folder = self._folder / str(self._asked)
        self.message.setText(tr("Loading samples…"))
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
        self.note.setText(tr("; ").join(self._facts(answer)))
        theme.mark(self.message, "role", "muted")
        self.message.setText("" if rows else tr("There are no such samples."))
        self.message.setVisible(not rows)
        body = AnswerList(answer)
        if self._leads_on and body.table is not None:
            self._lead_on([row["place"] for row in rows], body.tiles, body.table)
        self._column.replaceWidget(self.body, body)
        self.body.deleteLater()
        self.body = body

    @staticmethod
    def _facts(answer: Mapping[str, Any]) -> Iterator[str]:
        """Yield how many samples there are, and what their pictures show."""
        count, total = len(answer["rows"]), answer["total"]
        if total > count:
            yield tr("the first {count:,} of {total:,}", count=count, total=total)
        else:
            yield tr("%n sample(s)", "", total)
        if any("said" in sample for sample in answer.get("series", ())):
            yield tr("dashed: the forecast")
        elif any("wrong" in sample for sample in answer.get("pictures", ())):
            yield tr("each: image, true classes, predicted classes, wrong pixels")

    def _lead_on(self, places: Sequence[int], tiles: Tiles | None, table: QTableWidget) -> None:
        """Have a click on a tile, or a double click, Enter or the menu of a row, choose the sample."""
        look = table.addAction(tr("Look inside the network with this sample"))
        look.triggered.connect(lambda: self.sample_chosen.emit(places[table.currentRow()]))
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        table.setToolTip(tr("Double-click a row to look inside the network with this sample"))
        table.cellActivated.connect(lambda row, _: self.sample_chosen.emit(places[row]))
        if tiles is not None:
            tiles.offer(tr("Click to look inside the network with this sample"))
            tiles.chosen.connect(lambda number: self.sample_chosen.emit(places[number]))
