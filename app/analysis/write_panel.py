"""The card of the Predict page in which a language model writes on, token by token."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from netwright.app.analysis.prediction_panel import lay_out_card
from netwright.app.answer_device import answer_device
from netwright.app.shell import Shell
from netwright.app.temporary_folder import temporary_folder
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import tr
from netwright.engine.analysis.operations.generate import LENGTH, OPERATION, WRITTEN, GenerateRequest, read_breaks
from netwright.engine.project.preparation import Preparation
from netwright.engine.project.stored_facts import predicted_text

PROMPT_LINES = 2
MOST_LENGTH, MOST_K, MOST_TEMPERATURE = 100_000, 100_000, 10.0


class WritePanel(QFrame):
    """A prompt, how the next token is chosen, and the text as it comes. It is shown for language models alone."""

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self._shell, self._pending, self._model = shell, 0, Path()
        self._values: Mapping[str, Any] = {}
        self._folder = Path(temporary_folder(self, "write"))
        self.state, self.button = ElidedLabel(), QPushButton(tr("Write"))
        theme.mark(self.state, "role", "muted")
        self.button.clicked.connect(self._on_button)
        self.prompt, self.text = QPlainTextEdit(), QPlainTextEdit()
        self.prompt.setPlaceholderText(tr("Beginning of a text that the network writes on"))
        self.prompt.setAccessibleName(tr("Prompt"))
        self.prompt.setTabChangesFocus(True)
        line = self.prompt.fontMetrics().lineSpacing()
        self.prompt.setFixedHeight(PROMPT_LINES * line + 2 * int(self.prompt.document().documentMargin()) + 12)
        self.prompt.textChanged.connect(self._show_button)
        self.text.setReadOnly(True)
        self.text.setAccessibleName(tr("Written text"))
        self.text.setPlaceholderText(tr("The text appears here as it is written."))
        self.length, self.top_k = QSpinBox(), QSpinBox()
        self.temperature, self.top_p, self.stop_at = QDoubleSpinBox(), QDoubleSpinBox(), QLineEdit()
        column = lay_out_card(self, tr("Write on"), self.state, self.button)
        column.addWidget(self.prompt)
        column.addLayout(self._options())
        column.addWidget(self.text, 1)
        self._show_button()
        self.hide()

    def _options(self) -> QGridLayout:
        self.length.setRange(1, MOST_LENGTH)
        self.length.setValue(LENGTH)
        self.temperature.setRange(0, MOST_TEMPERATURE)
        self.temperature.setValue(1)
        self.top_k.setRange(0, MOST_K)
        self.top_k.setSpecialValueText(tr("All"))
        self.top_p.setRange(0.01, 1)
        self.top_p.setValue(1)
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        for place, (label, widget, help) in enumerate(
            (
                (tr("Tokens"), self.length, tr("Number of tokens that are written at most.")),
                (
                    tr("Temperature"),
                    self.temperature,
                    tr("Below 1 likely tokens get likelier; at 0 the likeliest is always taken."),
                ),
                (tr("Top-k"), self.top_k, tr("Draws among so many of the likeliest tokens.")),
                (tr("Top-p"), self.top_p, tr("Draws among as few tokens as have this probability together.")),
                (tr("Stop at"), self.stop_at, tr("Text at which writing ends. \\n is a line break.")),
            )
        ):
            widget.setToolTip(help)
            widget.setAccessibleName(label)
            if isinstance(widget, QDoubleSpinBox):
                widget.setSingleStep(0.05)
            name = QLabel(label)
            theme.mark(name, "role", "muted")
            grid.addWidget(name, 0, place)
            grid.addWidget(widget, 1, place)
            grid.setColumnStretch(place, 1)
        return grid

    def show_network(self, model: Path | None, record: Preparation, values: Mapping[str, Any]) -> None:
        """Write with this network; `values` are further fields of the request. Hide where it is no language model."""
        self.stop()
        self.text.clear()
        self.state.setText("")
        self._model, self._values = model or Path(), values
        self.setVisible(model is not None and predicted_text(record) is not None)

    @property
    def is_writing(self) -> bool:
        """Whether a text is under way."""
        return bool(self._pending)

    def _show_button(self) -> None:
        self.button.setText(tr("Stop") if self.is_writing else tr("Write"))
        self.button.setEnabled(self.is_writing or bool(self.prompt.toPlainText()))

    def _on_button(self) -> None:
        if self.is_writing:
            self.stop()
            self.state.setText(tr("Stopped."))
        else:
            self.write()

    def write(self) -> None:
        """Write on from the prompt."""
        prompt = self.prompt.toPlainText()
        shutil.rmtree(self._folder, ignore_errors=True)
        request = GenerateRequest(
            model=self._model,
            prompt=prompt,
            length=self.length.value(),
            temperature=round(self.temperature.value(), 2),
            top_k=self.top_k.value(),
            top_p=round(self.top_p.value(), 2),
            folder=self._folder,
            stop=(read_breaks(self.stop_at.text()),) if self.stop_at.text() else (),
            device=answer_device(),
            **self._values,
        )
        self._show(prompt)
        self.state.setText(tr("Writing…"))

        def on_progress(progress: Mapping[str, Any]) -> None:
            self._show(prompt + self._written())
            self.state.setText(tr("{done:,} of {total:,} tokens", done=progress["done"], total=progress["total"]))

        def on_result(result: Mapping[str, Any]) -> None:
            self._end()
            self._show(prompt + str(result["text"]))
            self.state.setText(tr("{speed:,.0f} tokens per second", speed=result["tokens_per_s"]))

        self._pending = self._shell.server.ask(OPERATION, request, on_result, self._on_failed, on_progress=on_progress)
        self._show_button()

    def _written(self) -> str:
        """Return the text so far; the file is cut where a character is being written."""
        try:
            return (self._folder / WRITTEN).read_bytes().decode("utf-8", "ignore")
        except OSError:
            return ""

    def _show(self, text: str) -> None:
        self.text.setPlainText(text)
        self.text.moveCursor(QTextCursor.MoveOperation.End)

    def _on_failed(self, reason: str) -> None:
        self._end()
        self.state.setText("")
        self._show(reason)

    def _end(self) -> None:
        self._pending = 0
        self._show_button()

    def stop(self) -> None:
        """Write no further; what was written stays."""
        if self.is_writing:
            self._shell.server.cancel(self._pending)
        self._end()

    def shutdown(self) -> None:
        """Stop, and remove the files."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


def below_each_other(*widgets: QWidget) -> QVBoxLayout:
    """Return a column of cards."""
    column = QVBoxLayout()
    column.setSpacing(12)
    for widget in widgets:
        column.addWidget(widget, 1)
    return column
