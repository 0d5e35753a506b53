"""The page of scores: evaluate a run on data, and look at scores, confusions, calibration and the worst samples."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from netwright.app.analysis.calibration_card import CalibrationCard
from netwright.app.analysis.curves_card import CurvesCard
from netwright.app.analysis.groups_card import GroupsCard
from netwright.app.analysis.plots import PredictionPlot, StepsPlot
from netwright.app.analysis.result_cards import SPLITS, CardsPage, split_in_line, stacked
from netwright.app.analysis.samples_card import SamplesCard
from netwright.app.analysis.score_tables import class_rows, class_table, point_rows, scores_of, step_rows
from netwright.app.answer_device import answer_device
from netwright.app.plots.card import FigureCard
from netwright.app.plots.confusion_chart import ConfusionCard
from netwright.app.plots.histogram_plot import HistogramPlot
from netwright.app.processes import OnError, OnResult
from netwright.app.shell import Shell
from netwright.app.widgets import ValueTable
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import message_sentences
from netwright.designer.language import noop, tr, translation
from netwright.engine.analysis.operations.evaluate import OPERATION, EvaluateRequest
from netwright.engine.analysis.operations.trained_network import SAMPLES, SamplesRequest
from netwright.engine.runs.confusion import Confusion

OTHER_FILE, OTHER_FOLDER = "file", "folder"
WEIGHTS = {"best": noop("best weights"), "last": noop("last weights")}
MOST_SCORES = 14
MOST_PLOTTED = 6
"""Predicted numbers up to which each has a plot of its own."""
CANCELLED = noop("Evaluate shows scores, confusions and the samples that the network gets wrong.")


class ScoresPage(CardsPage):
    """Asks the warm engine to evaluate a run. Results are kept in the folder of the run, so that an evaluation that is
    known is shown at once, and its samples, thresholds and groups need no second one."""

    title = noop("Scores")

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(shell, translation(CANCELLED), parent)
        self._is_asked = False
        """Whether the run was evaluated, or is to be only when the button is clicked."""
        self._request: int | None = None
        self._others: set[int] = set()
        self._result: Mapping[str, Any] = {}
        self._other = ""
        self.data, self.button = QComboBox(), QPushButton(tr("Evaluate"))
        self.state = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(self._make_bar())
        column.addWidget(self.pages, 1)

    def _make_bar(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.data.setAccessibleName(tr("Data"))
        for key, label in SPLITS.items():
            self.data.addItem(translation(label), key)
        self.data.insertSeparator(len(SPLITS))
        self.data.addItem(tr("Another file…"), OTHER_FILE)
        self.data.addItem(tr("Another folder…"), OTHER_FOLDER)
        self.data.activated.connect(self._on_data)
        self.button.clicked.connect(self._on_clicked)
        theme.mark(self.state, "role", "muted")
        self._on = QLabel(tr("on"))
        for widget in (self._on, self.data, self.button):
            row.addWidget(widget)
        row.addSpacing(8)
        row.addWidget(self.state, 1)
        return row

    def set_run(self, run: Path | None) -> None:
        """Set the run; the results of another one are removed."""
        super().set_run(run)
        self.button.setEnabled(run is not None and (self.model is None or self.model.has_data))
        for widget in (self._on, self.data):
            widget.setVisible(self.has_splits)
        self._forget()

    def arrive(self) -> None:
        """Evaluate the run, unless that is done."""
        if self.run is not None and not self._is_asked and not self.lacks_data:
            self.evaluate()

    def shutdown(self) -> None:
        """End the requests."""
        self._cancel()

    def _on_data(self) -> None:
        """Ask for other data, or remove the results of the previous data."""
        kind = self.data.currentData()
        if kind in (OTHER_FILE, OTHER_FOLDER):
            base = str(self.shell.documents.base)
            path = (
                QFileDialog.getOpenFileName(self, tr("Evaluate on another file"), base)[0]
                if kind == OTHER_FILE
                else QFileDialog.getExistingDirectory(self, tr("Evaluate on another folder"), base)
            )
            if not path:
                self.data.setCurrentIndex(0)
            else:
                self._other = path
                self.data.setItemText(self.data.currentIndex(), Path(path).name)
        self._forget()
        self.arrive()

    def _forget(self) -> None:
        """Remove the results, which belong to another run or other data."""
        self._cancel()
        self.clear()
        self._is_asked = False
        self.button.setText(tr("Evaluate"))
        self.state.setText("")
        self.say(translation(CANCELLED))

    # ---- evaluating ----

    def _on_clicked(self) -> None:
        if self._request is not None:
            self._forget()
            self._is_asked = True
        else:
            self.evaluate()

    def _where(self) -> dict[str, Any]:
        """Return the run and the data that are chosen, as requests name them."""
        kind = str(self.data.currentData())
        if self.model is not None and self.model.data:
            return {"path": str(self.run), "source": self.model.data, "settings": list(self.model.settings)}
        where = {"source": self._other} if kind in (OTHER_FILE, OTHER_FOLDER) else {"split": kind}
        return {"path": str(self.run), **where}

    def evaluate(self, **extras: Any) -> None:
        """Evaluate the run that is chosen on the data that are chosen. `extras`: other fields of the request, such as
        `threshold` and `store`."""
        if self.run is None:
            return
        self._cancel()
        self._is_asked = True
        self.button.setText(tr("Cancel"))
        self.state.setText(tr("Evaluating…"))
        if self.pages.currentIndex() == 0:
            self.say(tr("Evaluating…"))
        self._request = self.shell.server.ask(
            OPERATION,
            self._evaluation(**extras),
            self._on_finished,
            self._on_failed,
            on_progress=self._on_progress,
        )

    def _evaluation(self, **extras: Any) -> EvaluateRequest:
        where = self._where()
        data = {"split": where.get("split", ""), "data": where.get("source", "")}
        return EvaluateRequest(device=answer_device(), with_groupings=True, **{**data, **self.named, **extras})

    def _ask_for_samples(self, values: Mapping[str, Any], on_result: OnResult, on_error: OnError) -> None:
        request: SamplesRequest = SAMPLES.read({**self._where(), **values})
        self._ask(lambda *then: self.shell.server.ask(SAMPLES, request, *then), on_result, on_error)

    def _ask_by(self, by: str, on_result: OnResult, on_error: OnError) -> None:
        if self.run is not None:
            request = self._evaluation(by=by)
            self._ask(lambda *then: self.shell.server.ask(OPERATION, request, *then), on_result, on_error)

    def _ask(self, send: Callable[[OnResult, OnError], int], on_result: OnResult, on_error: OnError) -> None:
        """Ask about the evaluation that is shown; the answers of questions about another one are not waited for."""

        def ended(then: Callable[[Any], None]) -> Callable[[Any], None]:
            def call(result: Any) -> None:
                self._others.discard(id)
                then(result)

            return call

        id = send(ended(on_result), ended(on_error))
        self._others.add(id)

    def _cancel(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            self.shell.server.cancel(request)
        for id in self._others:
            self.shell.server.cancel(id, only_waiting=True)
        self._others = set()
        self.button.setText(tr("Evaluate again"))

    def _on_progress(self, progress: Mapping[str, Any]) -> None:
        done, total = progress["done"], progress["total"]
        self.state.setText(tr("Evaluating: {done:,} of %n sample(s)…", "", total, done=done))

    def _on_failed(self, reason: str) -> None:
        self._request = None
        self._cancel()
        self.clear()
        self.state.setText("")
        self.say(reason, refused=True)

    def _on_finished(self, result: Mapping[str, Any]) -> None:
        self._request = None
        self._cancel()
        self.show_result(result)

    # ---- the result ----

    def show_result(self, result: Mapping[str, Any]) -> None:
        """Show the result of `netwright-engine evaluate`."""
        self.clear()
        self._result = result
        rows = [row for number, target in enumerate(result["targets"]) for row in self._rows_of(number, target, result)]
        self.show_cards(rows, (1, 2))
        where = split_in_line(result["split"]) if result.get("split") else str(result["data"])
        notes = message_sentences(result.get("notes", ()))
        text = tr("%n sample(s) of the {data}", "", result["samples"], data=where)
        weights = str(result["weights"])
        named = translation(WEIGHTS[weights]) if weights in WEIGHTS else tr("{name} weights", name=weights)
        text = tr(", ", "between facts").join([text, named])
        if result.get("cached"):
            text = tr("{text}, as evaluated before", text=text)
        self.state.setText(text, note=f"{text}. {notes}" if notes else "")

    def _rows_of(self, number: int, target: Mapping[str, Any], result: Mapping[str, Any]) -> list[list[QWidget]]:
        """Return rows of cards about one output of the network."""
        is_only = len(result["targets"]) == 1
        title = tr("Scores") if is_only else tr("Scores of {output}", output=target["name"])
        scores = ValueTable("", tuple(map(str, range(MOST_SCORES))))
        score_rows = scores_of(target, result if is_only else {})[:MOST_SCORES]
        scores.show_rows(score_rows)
        left_column: list[QWidget] = [FigureCard(scores, title, "", lambda: [("score", "value"), *score_rows])]
        samples = self._samples_card(number, target)
        if target.get("calibration") and target["calibration"]["bins"]:
            left_column.append(self._calibration_card(number, target, result))
        first: list[QWidget] = [stacked(left_column, QVBoxLayout())]
        rows = [first]
        if target.get("confusion"):
            first.append(self._confusion_card(target, samples))
        rows += self._rows_of_numbers(target, first)
        if target.get("curves"):
            rows.append([self._curves_card(target)])
        if target.get("per_class"):
            table = class_table(target["per_class"], has_iou=target["per"] != "sample")
            per_class = partial(class_rows, target["per_class"])
            rows.append([FigureCard(table, tr("Scores per class"), tr("with 95 % intervals"), per_class)])
        if samples is not None:
            rows.append([samples])
        if groupings := result.get("groupings"):
            rows.append([self._groups_card(target, groupings, samples)])
        return rows

    @staticmethod
    def _rows_of_numbers(target: Mapping[str, Any], first: list[QWidget]) -> list[list[QWidget]]:
        """Return rows of cards about predicted numbers; the first plot stands in the first row."""
        rows: list[list[QWidget]] = []
        residuals = target.get("residuals", ())
        if len(residuals) > MOST_PLOTTED:
            card = FigureCard(
                StepsPlot(residuals),
                tr("Error by number"),
                tr("RMSE of each predicted number"),
                partial(step_rows, residuals),
            )
            first.append(card)
            residuals = residuals[:1]
        for number, entry in enumerate(residuals):
            plot = FigureCard(
                PredictionPlot(entry),
                tr("Predicted against true: {name}", name=entry["name"]),
                "",
                partial(point_rows, entry["points"]),
            )
            if number == 0 and len(first) == 1:
                first.append(plot)
            else:
                rows.append([plot])
            errors = HistogramPlot(entry["histogram"], tr("error", "of a prediction"), tr("samples"), is_whole=False)
            rows.append([FigureCard(errors, tr("Errors: {name}", name=entry["name"]), tr("predicted minus true"))])
        return rows

    def _confusion_card(self, target: Mapping[str, Any], samples: SamplesCard | None) -> QWidget:
        classes, counts = tuple(target["classes"]), tuple(map(tuple, target["confusion"]))
        card = ConfusionCard({"matrix": Confusion(classes, counts)}, can_close=False)
        if samples is not None and target["per"] == "sample":
            card.cell_chosen.connect(
                lambda row, column: samples.choose(
                    tr("{actual} taken for {predicted}", actual=classes[row], predicted=classes[column]),
                    {"cell": [row, column]},
                )
            )
        return FigureCard(card, card.title, card.note.text(), card.values, fills=True)

    def _calibration_card(self, number: int, target: Mapping[str, Any], result: Mapping[str, Any]) -> QWidget:
        calibrated = result.get("calibrated") or []
        card = CalibrationCard(target, calibrated[number] if number < len(calibrated) else None)
        card.fit.setVisible(card.fit.isVisibleTo(card) and self.model is None)  # kept in the folder of a run
        card.fit_wanted.connect(lambda: self.evaluate(calibrate=True))
        card.store_wanted.connect(lambda: self.evaluate(calibrate=True, store=True))
        card.reset_wanted.connect(lambda: self.evaluate(reset=True))
        return card

    def _curves_card(self, target: Mapping[str, Any]) -> QWidget:
        card = CurvesCard(target)
        card.store.setVisible(card.store.isVisibleTo(card) and self.model is None)  # kept in the folder of a run
        card.store_wanted.connect(lambda text: self.evaluate(threshold=(text,), store=True))
        card.reset_wanted.connect(lambda: self.evaluate(reset=True))
        return card

    def _samples_card(self, number: int, target: Mapping[str, Any]) -> SamplesCard | None:
        """Return the card of samples, which asks for the worst ones; None where none is known."""
        if not target.get("worst"):
            return None
        split = self._where().get("split", "")
        card = SamplesCard(number, has_confidence=bool(target.get("most_uncertain")), leads_on=bool(split))
        card.sample_chosen.connect(lambda place: self.sample_requested.emit(split, place))
        card.wanted.connect(lambda selection: self._ask_for_samples(selection, card.show_answer, card.show_error))
        card.ask()
        return card

    def _groups_card(self, target: Mapping[str, Any], groupings: Sequence[str], samples: SamplesCard | None) -> QWidget:
        card = GroupsCard(groupings)

        def show(result: Mapping[str, Any]) -> None:
            card.show_groups(result["groups"], target["name"])

        card.by_wanted.connect(lambda by: self._ask_by(by, show, card.show_error))
        if samples is not None:
            card.group_chosen.connect(lambda by, name: samples.choose(f"{by}: {name}", {"group": [by, name]}))
        return card
