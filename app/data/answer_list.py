"""Samples with the answers of a network: as tiles where they can be drawn, and as a table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from netwright.app.data.answer_tiles import tiles_of
from netwright.app.data.lanes import lanes_of
from netwright.app.widgets import text_table
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.text import format_value

HEADS = {
    "text": noop("Text"),
    "label": noop("Label"),
    "prediction": noop("Prediction"),
    "confidence": noop("Confidence"),
    "loss": noop("Loss"),
}


class AnswerList(QWidget):
    """The samples of an answer of `netwright.engine.analysis.sample_views.look`, or of a step of
    `netwright.engine.runs.watched_answers`."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self.tiles = self.table = None
        if not answer.get("rows"):
            return
        if (tiles := tiles_of(answer)) is not None:
            if (legend := lanes_of(answer)) is not None:
                column.addWidget(legend)
            column.addWidget(tiles)
        self.tiles = tiles
        head, *cells = rows_of(answer)
        self.table = text_table(head, cells)
        column.addWidget(self.table)


def rows_of(answer: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield the head of the table, then a row per sample."""
    rows: Sequence[Mapping[str, Any]] = answer.get("rows", ())
    columns = answer.get("columns", [])
    has = [name for name in HEADS if any(name in row for row in rows)]
    heads = {name: translation(head) for name, head in HEADS.items()}
    if "confidence" not in has:
        heads["loss"] = tr("Error", "of a sample")
    yield [tr("Sample"), *(heads[name] for name in has), *map(str, columns)]
    cells = answer.get("cells", [[] for _ in rows])
    for row, more in zip(rows, cells, strict=True):
        name = str(row.get("sample", f"{row['index'] + 1:,}"))
        yield [name, *(_cell(key, row.get(key)) for key in has), *map(str, more)]


def _cell(name: str, value: object) -> str:
    return format_value(value, is_percent=name == "confidence", is_measured=name == "loss")
