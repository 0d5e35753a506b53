"""The definition of the sweep that is shown, folded to a line: what varied, with its values, and a way to a copy."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from netwright.app.experiments.trial_texts import path_label, values_in_words
from netwright.designer import markup, theme
from netwright.designer.language import named, tr, translation
from netwright.designer.markup import Markup
from netwright.engine.project.experiment import ExperimentOptions

MOST_TOLD = 48
"""Letters of the values of a parameter; longer ones are cut."""


class SweepLine(QFrame):
    """Says what varies in a sweep that runs or has run."""

    copy_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "role", "card")
        self.label, self.copy = QLabel(), QPushButton(tr("Edit a copy"))
        self.label.setWordWrap(True)
        theme.mark(self.label, "role", "muted")
        theme.mark(self.copy, "role", "link")
        self.copy.setToolTip(tr("Define another sweep, beginning with this one"))
        self.copy.clicked.connect(self.copy_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 12, 8)
        row.setSpacing(12)
        row.addWidget(self.label, 1)
        row.addWidget(self.copy)

    def show_definition(self, options: ExperimentOptions, total: int) -> None:
        """Show a definition and its number of trials; 0 where that is not known before."""
        markup.show(self.label, _line(options, total))
        field = type(options).strategy
        strategy = translation(field.word(options.strategy))
        self.label.setToolTip(markup.wrapped(named(translation(field.label), strategy)))


def _line(options: ExperimentOptions, total: int) -> Markup:
    text = theme.current().text.name()
    names = []
    for parameter in options.parameters:
        values = values_in_words(parameter)
        values = values if len(values) <= MOST_TOLD else f"{values[: MOST_TOLD - 1]}…"
        names.append(markup.filled('<b style="color: {}">{}</b> {}', text, path_label(parameter.path), values))
    parts = [markup.filled("{} ", tr("Varies")) if names else markup.filled("{}", tr("Only seeds or folds vary"))]
    for place, name in enumerate(names):
        parts += [markup.filled(" × "), name] if place else [name]
    facts = [tr("%n trial(s)", "", total)] if total else []
    if options.runs_per_trial > 1:
        facts.append(tr("{runs:,} runs each", runs=options.runs_per_trial))
    return markup.joined([*parts, *(markup.filled(" · {}", fact) for fact in facts)])
