"""The errors of a run, beside its curves: the confusion matrix or the errors of numbers, and the worst samples."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from netwright.app.analysis.result_cards import card
from netwright.app.answer_device import answer_device
from netwright.app.data.answer_tiles import tiles_of
from netwright.app.plots.card import Card
from netwright.app.plots.confusion_chart import ConfusionChart
from netwright.app.plots.histogram_plot import HistogramPlot
from netwright.app.runs.segments import RunPage
from netwright.app.shell import Shell
from netwright.app.temporary_folder import temporary_folder
from netwright.app.widgets import ValueTable
from netwright.designer import theme
from netwright.designer.language import noop, tr
from netwright.designer.markup import visible
from netwright.engine.analysis.operations.evaluate import OPERATION, EvaluateRequest
from netwright.engine.analysis.operations.trained_network import SAMPLES, SamplesRequest
from netwright.engine.core.text import format_figure
from netwright.engine.runs.confusion import Confusion

SPLIT = "test"
SOON_MS, BUSY_MS = 200, 300
NUM_SAMPLES = 6
MOST_CLASSES = 24
"""A matrix of more classes cannot be read at this width: Scores has it."""


class ErrorsPanel(RunPage):
    """Asks for the same evaluation as Scores, which is kept in the folder of the run. `scores_requested` asks for that
    page."""

    title = noop("Errors")
    scores_requested = Signal()

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shell = shell
        self._folder, self._number = Path(temporary_folder(self, "worst")), 0
        self._requests: set[int] = set()
        self._is_asked = False
        self.message, self.bar, self.cancel = QLabel(), QProgressBar(), QPushButton(tr("Cancel"))
        self.message.setWordWrap(True)
        theme.mark(self.message, "role", "muted")
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress of the evaluation"))
        self.cancel.clicked.connect(self._on_cancelled)
        self.busy = self._make_busy()
        self.cards: list[QWidget] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(12)
        self._column.addWidget(self.busy)
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self._ask)
        self._late = QTimer(self, singleShot=True, interval=BUSY_MS)
        self._late.timeout.connect(lambda: self._say(tr("Evaluating the test split…"), is_busy=True))
        self.hide()

    def _make_busy(self) -> QWidget:
        content = QWidget()
        column, row = QVBoxLayout(content), QHBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        row.addWidget(self.bar, 1)
        row.addWidget(self.cancel)
        column.addWidget(self.message)
        column.addLayout(row)
        frame = card(content)
        frame.hide()
        return frame

    def set_run(self, run: Path | None) -> None:
        """Take the run; what is known of another one is removed."""
        super().set_run(run)
        self._end()
        self._is_asked = False
        self._clear()
        self.setVisible(run is not None)

    def arrive(self) -> None:
        """Ask for the evaluation, once: runs that are only passed are not evaluated."""
        if self.run is not None and not self._is_asked:
            self._is_asked = True
            self._soon.start()

    def shutdown(self) -> None:
        """End the requests."""
        self._end()

    # ---- asking ----

    def _ask(self) -> None:
        if self.run is None:
            return
        self._late.start()
        self.bar.setRange(0, 0)
        request = EvaluateRequest(model=self.run, device=answer_device(), with_groupings=True, split=SPLIT)
        ask = self._shell.server.ask
        self._requests.add(ask(OPERATION, request, self._on_result, self._on_refused, on_progress=self._on_progress))

    def _end(self) -> None:
        self._soon.stop()
        self._late.stop()
        requests, self._requests = self._requests, set()
        for request in requests:
            self._shell.server.cancel(request)

    def _on_cancelled(self) -> None:
        self._end()
        self._say(tr("Not evaluated. Scores evaluates the run."))

    def _on_progress(self, progress: Mapping[str, Any]) -> None:
        self.bar.setRange(0, int(progress["total"]))
        self.bar.setValue(int(progress["done"]))

    def _on_refused(self, reason: str) -> None:
        self._end()
        self._say(reason)

    def _say(self, text: str, *, is_busy: bool = False) -> None:
        self.message.setText(visible(text))
        for widget in (self.bar, self.cancel):
            widget.setVisible(is_busy)
        self.busy.setVisible(bool(text))

    # ---- the result ----

    def _clear(self) -> None:
        self._say("")
        for widget in self.cards:
            self._column.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self.cards = []

    def _add(self, widget: Card) -> None:
        self.cards.append(widget)
        self._column.addWidget(widget)

    def _on_result(self, result: Mapping[str, Any]) -> None:
        self._end()
        self._clear()
        target = result["targets"][0]
        classes = tuple(target.get("classes", ()))
        if target.get("confusion") and len(classes) <= MOST_CLASSES:
            self._add(self._confusion(Confusion(classes, tuple(map(tuple, target["confusion"])))))
        elif residuals := target.get("residuals"):
            errors = HistogramPlot(
                residuals[0]["histogram"], tr("error", "of a prediction"), tr("samples"), is_whole=False
            )
            rmse = f"RMSE {format_figure(target['rmse'])}" if target.get("rmse") is not None else ""
            self._add(self._card(errors, tr("Errors: {name}", name=residuals[0]["name"]), rmse, self._scores_link()))
        if target.get("worst"):
            self._ask_for_samples()

    def _confusion(self, table: Confusion) -> Card:
        chart = ConfusionChart(table, is_compact=True)
        chart.cell_chosen.connect(lambda *_: self.scores_requested.emit())
        every = sum(table.of_class)
        wrong = every - sum(row[number] for number, row in enumerate(table.counts))
        return self._card(
            chart, tr("Confusion"), tr("{wrong:,} of {every:,} wrong", wrong=wrong, every=every), self._scores_link()
        )

    def _ask_for_samples(self) -> None:
        assert self.run is not None
        self._number += 1
        folder = self._folder / str(self._number)
        request = SamplesRequest(path=self.run, folder=folder, split=SPLIT, count=NUM_SAMPLES, list="worst")
        self._requests.add(self._shell.server.ask(SAMPLES, request, self._on_samples, self._on_refused))

    def _on_samples(self, answer: Mapping[str, Any]) -> None:
        rows = answer["rows"][:NUM_SAMPLES]
        if not rows:
            return
        tiles = tiles_of(answer)
        content: QWidget
        if tiles is not None:
            tiles.offer(tr("Click to see why"))
            tiles.chosen.connect(lambda number: self._explain(rows[number]["place"]))
            content = tiles
        else:
            content = table = ValueTable("", tuple(map(str, range(NUM_SAMPLES))))
            table.show_rows([(_name(row), _words(row)) for row in rows])
        explain = _link(tr("Explain"), tr("Why the network answers so for the worst sample"))
        explain.clicked.connect(lambda: self._explain(rows[0]["place"]))
        measure = tr("by loss") if "loss" in rows[0] else tr("by error")
        self._add(self._card(content, tr("Worst samples"), measure, explain))

    def _explain(self, place: int) -> None:
        self.sample_requested.emit(SPLIT, place)

    def _scores_link(self) -> QPushButton:
        link = _link(tr("All scores"), tr("Scores, confusions and calibration of the run"))
        link.clicked.connect(self.scores_requested)
        return link

    @staticmethod
    def _card(content: QWidget, title: str, note: str, link: QPushButton) -> Card:
        frame, words = Card(content, spacing=8), QLabel(visible(note))
        frame.title = title
        theme.mark(words, "role", "muted")
        frame.head.addWidget(words)
        frame.head.addStretch(1)
        frame.head.addWidget(link)
        return frame


def _link(text: str, tip: str) -> QPushButton:
    link = QPushButton(text)
    link.setToolTip(tip)
    theme.mark(link, "role", "link")
    link.setCursor(Qt.CursorShape.PointingHandCursor)
    return link


def _name(row: Mapping[str, Any]) -> str:
    return str(row.get("sample", f"#{row['index'] + 1:,}"))


def _words(row: Mapping[str, Any]) -> str:
    """The true value of a sample, and the answer of the network."""
    texts = [_value(row.get(name)) for name in ("label", "prediction")]
    return (
        tr("is {label}, said {answer}", label=texts[0], answer=texts[1])
        if all(texts)
        else " ".join(filter(None, texts))
    )


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value[:2])) + (", …" if len(value) > 2 else "")
    return format_figure(value) if isinstance(value, float) else "" if value is None else str(value)
