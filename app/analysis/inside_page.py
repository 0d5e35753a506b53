"""The page Explain: explanations of a trained network by a method, for a sample, a layer, or all samples."""

import contextlib
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from netwright.app.analysis.inside_cards import SaveTable, cards_of, sample_line
from netwright.app.analysis.inside_views import Array
from netwright.app.analysis.result_cards import SPLITS
from netwright.app.analysis.run_facts import RunFacts, facts_of
from netwright.app.answer_device import answer_device
from netwright.app.data.dataset_tracker import progress_text
from netwright.app.runs.segments import RunPage
from netwright.app.shell import Shell
from netwright.app.temporary_folder import temporary_folder
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import message_sentences
from netwright.designer.language import noop, sentences, tr, translation
from netwright.designer.markup import visible
from netwright.engine.analysis.operations.explain import OPERATION, ExplainRequest

DELAY_MS = 150
SHOW = noop("Show again")
SAMPLE, LAYER, CLASS, REDUCTION = "sample", "layer", "class", "reduction"
METHODS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "gradcam": ("Grad-CAM", noop("Where a layer looks for a class"), (SAMPLE, LAYER, CLASS)),
    "integrated_gradients": (
        noop("Integrated gradients"),
        noop("What each pixel, step, column or word adds"),
        (SAMPLE, CLASS),
    ),
    "occlusion": (noop("Occlusion"), noop("How the answer changes where a part is hidden"), (SAMPLE, CLASS)),
    "activations": (noop("Activations"), noop("What a layer gives for a sample"), (SAMPLE, LAYER)),
    "filters": (noop("Filters"), noop("What a convolution has learned"), (LAYER,)),
    "max_activation": (
        noop("Maximum activation"),
        noop("Images that a class or a channel answers to most"),
        (LAYER, CLASS),
    ),
    "permutation": (noop("Column importance"), noop("How much worse it gets without a column"), ()),
    "partial_dependence": (noop("Partial dependence"), noop("The mean answer over the values of a column"), ()),
    "attention": (noop("Attention"), noop("What each step takes from the others"), (SAMPLE, LAYER)),
    "embedding": (noop("Embedding"), noop("Samples as points, by what a layer gives for them"), (LAYER, REDUCTION)),
}
"""The methods by their keys: name, what each shows, and its controls."""
REDUCTIONS = (("pca", "PCA"), ("tsne", "t-SNE"), ("umap", "UMAP"))
CANCELLED = noop("Show explains what the network looks at.")


class InsidePage(RunPage):
    """Asks the engine server for explanations and shows them as cards. Results are kept in the folder of the run."""

    title = noop("Explain")

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shell, self.facts, self.file = shell, RunFacts(), ""
        self._request: int | None = None
        self._is_wanted = False
        """Whether something was asked for, so that another choice is shown at once."""
        self._folder = temporary_folder(self, "inside")
        self._make_controls()
        self.pages, self.message, self.cards = QStackedWidget(), QLabel(translation(CANCELLED)), list[QWidget]()
        self.state = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        theme.mark(self.state, "role", "muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(self._make_bar())
        column.addWidget(self.state)
        column.addWidget(self.pages, 1)
        theme.mark(self.message, "role", "muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setWordWrap(True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self.pages.addWidget(self.message)
        self.pages.addWidget(self._area)
        self._soon = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._soon.timeout.connect(self.ask)
        self._on_method()

    # ---- controls ----

    def _make_controls(self) -> None:
        self.method, self.split, self.layer, self.target = QComboBox(), QComboBox(), QComboBox(), QComboBox()
        self.reduction, self.place = QComboBox(), QSpinBox()
        self.earlier, self.later, self.open_file = QToolButton(), QToolButton(), QToolButton()
        self.button = QPushButton(translation(SHOW))
        for key, (label, tip, _) in METHODS.items():
            self.method.addItem(translation(label), key)
            self.method.setItemData(self.method.count() - 1, translation(tip), Qt.ItemDataRole.ToolTipRole)
        for key, label in REDUCTIONS:
            self.reduction.addItem(label, key)
        boxes = (self.method, self.split, self.layer, self.target, self.reduction)
        names = (tr("Method"), tr("Split"), tr("Layer"), tr("Class"), tr("Reduction to two dimensions"))
        for box, name in zip(boxes, names, strict=True):
            box.setAccessibleName(name)
        self.layer.setMinimumWidth(130)
        self.place.setAccessibleName(tr("Sample"))
        self.place.setPrefix(tr("Sample "))
        for button, icon, name, step in (
            (self.earlier, "chevron-left", tr("Sample before"), -1),
            (self.later, "chevron-right", tr("Next sample"), 1),
        ):
            button.setIcon(theme.icon(icon))
            button.setToolTip(name)
            button.setAccessibleName(name)
            button.clicked.connect(lambda _=False, step=step: self.place.stepBy(step))
        self.open_file.setText(tr("File…"))
        self.open_file.setToolTip(tr("Explain a file of your own"))
        self.open_file.clicked.connect(self._choose_file)
        self.method.activated.connect(self._on_method)
        self.split.activated.connect(self._on_split)
        self.place.valueChanged.connect(self._on_place)
        for box in (self.layer, self.target, self.reduction):
            box.activated.connect(self._on_changed)
        self.button.clicked.connect(self._on_clicked)

    def _make_bar(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        sample = QWidget()
        inner = QHBoxLayout(sample)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(2)
        for part in (self.earlier, self.place, self.later, self.open_file):
            inner.addWidget(part)
        self.controls = {SAMPLE: sample, LAYER: self.layer, CLASS: self.target, REDUCTION: self.reduction}
        for widget in (self.method, self.split, *self.controls.values(), self.button):
            row.addWidget(widget)
        row.addStretch(1)
        return row

    def set_run(self, run: Path | None) -> None:
        """Set the run; the results of another one are removed."""
        super().set_run(run)
        self.facts = facts_of(run, self.model)
        self.button.setEnabled(run is not None)
        self.split.clear()
        counts = self.facts.samples or {}
        for key, label in SPLITS.items():
            if not counts or counts.get(key):
                self.split.addItem(translation(label), key)
        self.target.clear()
        self.target.addItem(tr("Predicted class"), "")
        for name in self.facts.classes:
            self.target.addItem(visible(name), name)
        self.method.setCurrentIndex(self.method.findData(self.facts.first_method))
        self._is_wanted, self.file = False, ""
        with QSignalBlocker(self.place):
            self.place.setValue(1)
        self._on_split()
        self._on_method()
        self._cancel()
        self._say(translation(CANCELLED))

    def arrive(self) -> None:
        """Show the explanation that fits the network best, unless something was asked for."""
        if not self._is_wanted:
            self._on_clicked()

    def show_sample(self, split: str, place: int) -> None:
        """Explain the answer for a sample of a split: by the chosen method if it takes a sample, else by the one that
        fits the network best."""
        if SAMPLE not in METHODS[str(self.method.currentData())][2]:
            best = self.facts.first_method
            method = best if SAMPLE in METHODS[best][2] else "integrated_gradients"
            self.method.setCurrentIndex(self.method.findData(method))
        self.split.setCurrentIndex(max(0, self.split.findData(split)))
        self._on_split()
        self.target.setCurrentIndex(0)
        self.place.setValue(place + 1)
        self._is_wanted = True
        self.ask()

    def shutdown(self) -> None:
        """Cancel the request."""
        self._cancel()

    def _on_method(self) -> None:
        method = str(self.method.currentData())
        control_names = METHODS[method][2]
        for name, widget in self.controls.items():
            widget.setVisible(name in control_names and (name != CLASS or len(self.facts.classes) > 1))
        self.method.setToolTip(translation(METHODS[method][1]))
        self.split.setVisible(method not in ("filters", "max_activation") and self.has_splits)
        layer = self.layer.currentData()
        self.layer.clear()
        self.layer.addItem(tr("No layer") if method == "max_activation" else tr("Automatic layer"), "")
        for name in self.facts.layers_for(method):
            self.layer.addItem(visible(name), name)
        self.layer.setCurrentIndex(max(0, self.layer.findData(layer)))
        self._on_changed()

    def _on_split(self) -> None:
        counts = self.facts.samples or {} if self.has_splits else {}
        self.place.setRange(1, max(1, counts.get(str(self.split.currentData()), 1_000_000)))
        self._on_changed()

    def _on_place(self) -> None:
        self.file = ""
        self._on_changed()

    def _choose_file(self) -> None:
        base = str(self.shell.documents.base)
        file = QFileDialog.getOpenFileName(self, tr("Explain a file"), base)[0]
        if file:
            self.file, self._is_wanted = file, True
            self._on_changed()

    def _on_changed(self) -> None:
        if self._is_wanted and self.run is not None:
            self._soon.start()

    # ---- asking ----

    def question(self) -> ExplainRequest:
        """Return the question that is chosen."""
        method = str(self.method.currentData())
        control_names = METHODS[method][2]
        values: dict[str, Any] = {"method": method, "split": self.split.currentData() or ""}
        if SAMPLE in control_names:
            values["sample"] = self.file or str(self.place.value() - 1)
        for name, key, box in ((LAYER, "layer", self.layer), (CLASS, "class_name", self.target)):
            if name in control_names and box.currentData():
                values[key] = box.currentData()
        if REDUCTION in control_names:
            values["reduction"] = self.reduction.currentData()
        return self._question(**values)

    def _question(self, **values: Any) -> ExplainRequest:
        """Return a question about the run."""
        return ExplainRequest(folder=Path(self._folder), device=answer_device(), **{**values, **self.named})

    def _on_clicked(self) -> None:
        if self._request is not None:
            self._cancel()
            self._tell(tr("Cancelled."))
        else:
            self._is_wanted = True
            self.ask()

    def ask(self) -> None:
        """Request the explanation of the present question."""
        self._soon.stop()
        if self.run is None:
            return
        self._cancel()
        self.button.setText(tr("Cancel"))
        self._tell(tr("Looking…"))
        self._request = self.shell.server.ask(
            OPERATION, self.question(), self._take, self._on_error, on_progress=self._on_progress
        )

    def _cancel(self) -> None:
        self._soon.stop()
        request, self._request = self._request, None
        if request is not None:
            self.shell.server.cancel(request)
        self.button.setText(translation(SHOW))

    def _on_progress(self, progress: dict[str, Any]) -> None:
        self._tell(tr("Looking: {progress}", progress=progress_text(progress)))

    def _on_error(self, message: str) -> None:
        self._request = None
        self.button.setText(translation(SHOW))
        self._say(_with_labels(message), refused=True)

    def _tell(self, text: str) -> None:
        """Say how far it is, or which sample is shown."""
        self.state.setText(text, note=text)
        self.state.setVisible(bool(text))

    def _say(self, text: str, *, refused: bool = False) -> None:
        theme.mark(self.message, "role", "error" if refused else "muted")
        self.message.setText(text)
        self._tell("")
        self.pages.setCurrentIndex(0)

    # ---- the result ----

    def _take(self, facts: dict[str, Any]) -> None:
        self._request = None
        self.button.setText(translation(SHOW))
        try:
            with np.load(facts["file"], allow_pickle=False) as stored:
                arrays: dict[str, Array] = {name: stored[name] for name in facts["arrays"]}
        except (OSError, ValueError, KeyError):
            self._say(tr("{path} cannot be read. Show it again.", path=facts["file"]), refused=True)
            return
        self.show_result(facts, arrays)

    def show_result(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Show an explanation as cards."""
        self.cards = cards_of(facts, arrays, self._table_of(self.question()), self._show_sample)
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 8, 0)  # beside the scroll bar
        grid.setSpacing(12)
        columns = 2 if facts["method"] == "partial_dependence" else 1
        is_histograms = facts["method"] in ("activations", "filters") and len(self.cards) > 2
        for number, card in enumerate(self.cards):
            if is_histograms and number:
                grid.addWidget(card, 1, number - 1)
            else:
                span = 2 if is_histograms else 1
                grid.addWidget(card, number // columns, number % columns, 1, span)
        grid.setRowStretch(grid.rowCount(), 1)
        self._area.setWidget(page)
        self.pages.setCurrentIndex(1)
        text = sentences((sample_line(facts), message_sentences(facts.get("notes", ()))))
        self._tell(text)
        self._grid = grid

    def _table_of(self, question: ExplainRequest) -> SaveTable:
        """Return the function that has the engine write the numbers of an answer as a table."""

        def save(path: Path) -> None:
            fail = partial(self.shell.show_error, tr("The values cannot be saved"))
            tell = partial(self.shell.hint, tr("Saved {name}.", name=path.name))
            self.shell.server.ask(OPERATION, replace(question, output=path), lambda _: tell(), fail)

        return save

    def _show_sample(self, place: int) -> None:
        """Show a sample that was clicked below the points, and make it the one that other methods explain."""
        with QSignalBlocker(self.place):
            self.place.setValue(place + 1)
        self.file = ""
        question = self._question(method="sample", split=self.split.currentData() or "", sample=str(place))
        self._cancel()
        self.button.setText(tr("Cancel"))
        take = partial(self._take_sample, question=question)
        self._request = self.shell.server.ask(OPERATION, question, take, self._on_error)

    def _take_sample(self, facts: dict[str, Any], question: ExplainRequest) -> None:
        self._request = None
        self.button.setText(translation(SHOW))
        with contextlib.suppress(OSError, ValueError, KeyError), np.load(facts["file"], allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in facts["arrays"]}
            cards = cards_of(facts, arrays, self._table_of(question), self._show_sample)
            while len(self.cards) > 1:
                self.cards.pop().deleteLater()
            for card in cards:
                self._grid.addWidget(card, 0, 1, Qt.AlignmentFlag.AlignTop)
                self.cards.append(card)
            self._grid.setColumnStretch(0, 1)
        self._tell(sample_line(facts))


def _with_labels(message: str) -> str:
    """Return a message of the engine with methods called as they are offered here."""
    pattern = "|".join(key for key in METHODS if key not in ("attention", "embedding"))
    return re.sub(rf"\b({pattern})\b", lambda match: translation(METHODS[match[1]][0]), message)
