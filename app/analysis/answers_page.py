"""The page that compares the answers of two runs to the same samples, and says whether the difference is more than
chance."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from netwright.app.analysis.result_cards import SPLITS
from netwright.app.analysis.score_tables import named
from netwright.app.answer_device import answer_device
from netwright.app.dialog import Dialog
from netwright.app.plots.card import FigureCard
from netwright.app.runs.segments import OpenedModel, PairPage
from netwright.app.shell import Shell
from netwright.app.widgets import text_table
from netwright.designer import theme
from netwright.designer.engine_messages import message_sentences, message_text
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import visible
from netwright.engine.analysis.operations.evaluate import OPERATION, EvaluateRequest
from netwright.engine.core.text import format_percent, format_signed, format_value
from netwright.engine.project.options.metric_options import format_score, is_share

CANCELLED = noop("Compare has both runs answer the same samples, and tests whether one is better.")


class AnswersPage(PairPage):
    """Asks the engine to compare two runs."""

    title = noop("Answers")

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shell = shell
        self._request: int | None = None
        self._is_asked = False
        self._titles = (tr("This run"), tr("The other run"))
        self._other: Path | None = None
        self.split, self.button = QComboBox(), QPushButton(tr("Compare"))
        self.state, self.message, self.cards = QLabel(), QLabel(translation(CANCELLED)), list[FigureCard]()
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.split.setAccessibleName(tr("Data"))
        for key in ("test", "validation"):
            self.split.addItem(translation(SPLITS[key]), key)
        for widget in (QLabel(tr("on")), self.split, self.button):
            row.addWidget(widget)
        row.addWidget(self.state, 1)
        theme.mark(self.state, "role", "muted")
        theme.mark(self.message, "role", "muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(row)
        column.addWidget(self.message, 1)
        column.addWidget(self._area, 1)
        self.button.clicked.connect(self._on_clicked)
        self.split.activated.connect(self._on_split)
        self._forget()

    def set_pair(self, first: tuple[str, Path], second: tuple[str, Path]) -> None:
        """Take the two runs; the results of others are removed."""
        self._titles, pair = (first[0], second[0]), (first[1], second[1])
        if pair != (self.run, self._other):
            self.run, self._other = pair
            self._forget()

    def arrive(self) -> None:
        """Compare the runs, unless that is done."""
        if self.run is not None and not self._is_asked:
            self.compare()

    def _on_split(self) -> None:
        self._forget()
        self.arrive()

    def shutdown(self) -> None:
        """End the request."""
        self._cancel()

    def _cancel(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            self.shell.server.cancel(request)
        self.button.setText(tr("Compare again") if self._is_asked else tr("Compare"))
        self.state.setText("")

    def _forget(self) -> None:
        self._is_asked = False
        self._cancel()
        self.cards = []
        self._say(translation(CANCELLED))

    def _say(self, text: str, *, refused: bool = False) -> None:
        theme.mark(self.message, "role", "error" if refused else "muted")
        self.message.setText(text)
        self.message.show()
        self._area.hide()

    def _on_clicked(self) -> None:
        if self._request is not None:
            self._forget()
            self._is_asked = True
        else:
            self.compare()

    def compare(self) -> None:
        """Ask the engine."""
        if self.run is None or self._other is None:
            return
        self._is_asked = True
        values = {"split": self.split.currentData() or "", **self.named}
        request = EvaluateRequest(against=self._other, device=answer_device(), **values)
        self.button.setText(tr("Cancel"))
        self.state.setText(tr("Evaluating…"))
        self._request = self.shell.server.ask(
            OPERATION, request, self._on_result, self._on_error, on_progress=self._on_progress
        )

    def _on_progress(self, progress: Mapping[str, Any]) -> None:
        self.state.setText(tr("{done:,} of %n sample(s)…", "", progress["total"], done=progress["done"]))

    def _on_error(self, reason: str) -> None:
        self._request = None
        self._cancel()
        self.cards = []
        self._say(reason, refused=True)

    def _on_result(self, result: Mapping[str, Any]) -> None:
        self._request = None
        self._cancel()
        self.show_result(result)

    def show_result(self, result: Mapping[str, Any]) -> None:
        """Show the result of `netwright-engine evaluate --against`."""
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(12)
        self.cards = []
        for target in result["targets"]:
            conclusion = QLabel(visible(message_text(target["conclusion"])))
            conclusion.setWordWrap(True)
            theme.mark(conclusion, "role", "title")
            column.addWidget(conclusion)
            self.cards += self._cards_of(target)
        for card in self.cards:
            column.addWidget(card)
        column.addStretch(1)
        self._area.setWidget(page)
        self._area.show()
        self.message.hide()
        if not result["targets"]:
            self._say(tr("Nothing is known of single samples of this output, so that it cannot be compared."))
        notes = visible(message_sentences(result["notes"]))
        self.state.setText(tr("%n sample(s). {notes}", "", result["samples"], notes=notes))
        self.state.setToolTip(notes)

    def _cards_of(self, target: Mapping[str, Any]) -> Iterator[FigureCard]:
        first, second = self._titles
        head = (tr("Metric"), first, second, tr("Difference"), "95 %", "p")
        cells = [metric_row(metric) for metric in target["metrics"]]
        note = tr("paired bootstrap; {second} minus {first}", second=second, first=first)
        yield FigureCard(text_table(head, cells), tr("Metrics"), note, lambda: [head, *cells])
        if "mcnemar" in target:
            counts = target["mcnemar"]
            table = [
                (tr("{first} right", first=first), f"{counts['both']:,}", f"{counts['only_first']:,}"),
                (tr("{first} wrong", first=first), f"{counts['only_second']:,}", f"{counts['neither']:,}"),
            ]
            titles = ("", tr("{second} right", second=second), tr("{second} wrong", second=second))
            remark = tr("McNemar's exact test: p = {p}", p=format_value(counts["p"]))
            yield FigureCard(text_table(titles, table), tr("Right and wrong"), remark, lambda: [titles, *table])
        if rows := target.get("disagreements"):
            names = (tr("Sample"), tr("Label"), first, tr("Confidence"), second, tr("Confidence"))
            lines = [
                (
                    f"{row['index'] + 1:,}",
                    str(row["label"]),
                    str(row["first"]),
                    format_percent(row["first_confidence"], 1),
                    str(row["second"]),
                    format_percent(row["second_confidence"], 1),
                )
                for row in rows
            ]
            remark = tr("{count:,} in all", count=target["disagreed"])
            yield FigureCard(text_table(names, lines), tr("Different answers"), remark, lambda: [names, *lines])


def compare_models(shell: Shell, model: OpenedModel, titles: tuple[str, str], other: Path) -> Dialog:
    """Compare two models on the data of the first, or that it is asked about."""
    dialog, page = Dialog(shell.dialog_parent), AnswersPage(shell)
    dialog.setWindowTitle(tr("Compare models"))
    dialog.resize(860, 640)
    QVBoxLayout(dialog).addWidget(page)
    page.set_pair((titles[0], model.path), (titles[1], other))
    page.model = model
    page.split.setEnabled(not model.data)
    dialog.finished.connect(page.shutdown)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    page.arrive()
    return dialog


def metric_row(metric: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the cells of a metric of both runs."""
    share = is_share(metric["name"])
    sides = (format_score(metric["name"], metric[key]) for key in ("first", "second"))
    low, high = metric["interval"]
    factor = 100 if share else 1
    change = format_signed(factor * metric["difference"])
    return (
        named(metric["name"]),
        *sides,
        tr("{change} points", change=change) if share else change,
        tr("{low} to {high}", low=format_signed(factor * low), high=format_signed(factor * high)),
        format_value(metric["p"]),
    )
