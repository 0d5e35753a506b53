"""The page that compares two runs on the same samples, and says whether the difference is more than chance."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from netwright.app.analysis.evaluation_page import TestPage
from netwright.app.analysis.result_cards import text_table
from netwright.app.history.run_history import READING
from netwright.app.plots.figure_card import FigureCard
from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.markup import visible
from netwright.engine.analysis.operations.evaluate import OPERATION, EvaluateRequest
from netwright.engine.core.errors import plural
from netwright.engine.core.text import format_percent
from netwright.engine.project.options.metric_options import format_score, in_a_line, is_share

NOT_YET = "Choose another run and Compare: both answer the same samples, and a test says whether one is better."
NO_OTHER = "Train the network once more, with other options: two runs can be compared here."
SPLITS = (("test", "Test split"), ("validation", "Validation split"))


class ComparePage(TestPage):
    """Asks the engine to compare the run that is chosen in the tab with another one."""

    title = "Compare"

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(shell, parent)
        self._request: int | None = None
        self._runs: Sequence[tuple[str, Path]] | None = None
        self.other, self.split, self.button = QComboBox(), QComboBox(), QPushButton("Compare")
        self.state, self.message, self.cards = QLabel(), QLabel(NOT_YET), list[FigureCard]()
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.other.setAccessibleName("Other run")
        self.other.setMinimumWidth(260)
        self.split.setAccessibleName("Data")
        for key, label in SPLITS:
            self.split.addItem(label, key)
        for widget in (QLabel("with"), self.other, QLabel("on"), self.split, self.button):
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
        for combo in (self.other, self.split):
            combo.activated.connect(self._forget)
        self._forget()

    def set_run(self, run: Path | None) -> None:
        """Set the run; the results of another one are removed."""
        super().set_run(run)
        self.set_runs(self._runs)
        self._forget()

    def set_runs(self, runs: Sequence[tuple[str, Path]] | None) -> None:
        """Offer the other runs."""
        self._runs = runs
        current = self.other.currentData()
        self.other.clear()
        for title, path in runs or ():
            if path != self.run:
                self.other.addItem(visible(title), path)
        self.other.setCurrentIndex(max(0, self.other.findData(current)))
        has_any = self.other.count() > 0
        self.button.setEnabled(has_any)
        self.other.setEnabled(has_any)
        if not self.cards:
            self._say(self._first)

    @property
    def _first(self) -> str:
        """Return the steps before a comparison."""
        if self.other.count():
            return NOT_YET
        return READING if self._runs is None else NO_OTHER

    def shutdown(self) -> None:
        """End the request."""
        self._cancel()

    def _cancel(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            self.shell.server.cancel(request)
        self.button.setText("Compare")
        self.state.setText("")

    def _forget(self) -> None:
        self._cancel()
        self.cards = []
        self._say(self._first)

    def _say(self, text: str, *, refused: bool = False) -> None:
        theme.mark(self.message, "role", "error" if refused else "muted")
        self.message.setText(text)
        self.message.show()
        self._area.hide()

    def _on_clicked(self) -> None:
        if self._request is not None:
            self._forget()
            return
        if self.run is None or self.other.currentData() is None:
            return
        request = EvaluateRequest(
            run_dir=self.run,
            against=Path(self.other.currentData()),
            split=self.split.currentData() or "",
            device="cpu",
        )
        self.button.setText("Cancel")
        self.state.setText("Evaluating…")
        self._request = self.shell.server.ask(
            OPERATION, request, self._on_result, self._on_error, on_progress=self._on_progress
        )

    def _on_progress(self, progress: Mapping[str, Any]) -> None:
        self.state.setText(f"{progress['done']:,} of {plural(progress['total'], 'sample')}…")

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
            conclusion = QLabel(visible(target["conclusion"]))
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
            self._say("Nothing is known of single samples of this output, so that it cannot be compared.")
        notes = visible(" ".join(result["notes"]))
        self.state.setText(f"{plural(result['samples'], 'sample')}. {notes}")
        self.state.setToolTip(notes)

    def _titles(self) -> tuple[str, str]:
        """Return the titles of both runs."""
        titles = {path: title for title, path in self._runs or ()}
        return titles.get(self.run, "This run") if self.run is not None else "This run", self.other.currentText()

    def _cards_of(self, target: Mapping[str, Any]) -> Iterator[FigureCard]:
        first, second = self._titles()
        head = ("Metric", first, second, "Difference", "95 %", "p")
        cells = [metric_row(metric) for metric in target["metrics"]]
        note = f"paired bootstrap; {second} minus {first}"
        yield FigureCard(text_table(head, cells), "Metrics", note, lambda: [head, *cells])
        if "mcnemar" in target:
            counts = target["mcnemar"]
            table = [
                (f"{first} right", f"{counts['both']:,}", f"{counts['only_first']:,}"),
                (f"{first} wrong", f"{counts['only_second']:,}", f"{counts['neither']:,}"),
            ]
            titles = ("", f"{second} right", f"{second} wrong")
            remark = f"McNemar's exact test: p = {counts['p']:.3g}"
            yield FigureCard(text_table(titles, table), "Right and wrong", remark, lambda: [titles, *table])
        if rows := target.get("disagreements"):
            names = ("Sample", "Label", first, "Confidence", second, "Confidence")
            lines = [
                (
                    f"{row['index']:,}",
                    str(row["label"]),
                    str(row["first"]),
                    format_percent(row["first_confidence"], 1),
                    str(row["second"]),
                    format_percent(row["second_confidence"], 1),
                )
                for row in rows
            ]
            remark = f"{target['disagreed']:,} in all"
            yield FigureCard(text_table(names, lines), "Different answers", remark, lambda: [names, *lines])


def metric_row(metric: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the cells of a metric of both runs."""
    share = is_share(metric["name"])
    sides = (format_score(metric["name"], metric[key]) for key in ("first", "second"))
    low, high = metric["interval"]
    factor, unit = (100, " points") if share else (1, "")
    interval = f"{factor * low:+.3g} to {factor * high:+.3g}"
    name = in_a_line(metric["name"])
    return (
        name[:1].upper() + name[1:],
        *sides,
        f"{factor * metric['difference']:+.3g}{unit}",
        interval,
        f"{metric['p']:.3g}",
    )
