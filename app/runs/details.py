"""Facts of a run or a trial, its options, its note and tags, and its actions."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from netwright.app.runs.notes_editor import Kind, NotesEditor
from netwright.app.runs.run_texts import label_of, option_label, option_text, text_of, when
from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import tr
from netwright.designer.markup import visible
from netwright.engine.project.options.metric_options import format_score
from netwright.engine.runs.query import option_names, score_names
from netwright.engine.runs.run_options import in_order
from netwright.engine.runs.summary import RunSummary

ALWAYS = tuple(f"training.{name}" for name in ("solver", "initial_learn_rate", "mini_batch_size", "max_epochs", "seed"))
"""Options that are listed, also where they have their defaults."""
WIDEST_VALUE = 220
"""Width of a value, such as a path: the names keep room."""
FACTS = ("created", "seconds", "environment", "epochs")


class FigureList(QWidget):
    """Names at the left, values at the right; long ones are elided."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(0, 1)
        self._rows: list[tuple[ElidedLabel, QLabel]] = []

    def show_facts(self, facts: Sequence[tuple[str, str]], tips: Mapping[str, str]) -> None:
        """Show these names and values, and the tooltips of some values by their names."""
        while len(self._rows) < len(facts):
            label, value = ElidedLabel(), QLabel()
            theme.mark(label, "role", "muted")
            label.setAlignment(
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
            )  # as the value: else a pixel below
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            value.setFont(theme.figures(value.font()))
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._grid.addWidget(label, len(self._rows), 0)
            self._grid.addWidget(value, len(self._rows), 1, Qt.AlignmentFlag.AlignRight)
            self._rows.append((label, value))
        for number, (label, value) in enumerate(self._rows):
            name, text = facts[number] if number < len(facts) else ("", "")
            label.setText(name)
            cut = markup.elided(value.fontMetrics(), text, Qt.TextElideMode.ElideMiddle, WIDEST_VALUE)
            value.setText(cut)
            value.setToolTip(tips.get(name, "") or (visible(text) if cut != visible(text) else ""))
            label.setVisible(bool(text))
            value.setVisible(bool(text))


def selectable_label() -> QLabel:
    """Return a label whose text wraps and can be selected."""
    label = QLabel()
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


class Details(QWidget):
    """Details of the selected row of a table: name, state, why, notes, and buttons for its actions. `noted` asks
    to save a note and tags: row, note, tags."""

    noted = Signal(object, str, object)

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.name, self.state, self.reason = ElidedLabel(), QLabel(), selectable_label()
        theme.mark(self.name, "role", "title")
        theme.mark(self.reason, "role", "help")
        self.facts, self.notes = FigureList(), NotesEditor(kind)
        self.notes.noted.connect(self.noted)
        self.headings: dict[str, QLabel] = {}
        self.buttons: dict[str, QPushButton] = {}
        self.more = QPushButton(tr("More"))

    def make_heading(self, title: str) -> QLabel:
        """Return the heading of a section."""
        heading = self.headings[title] = QLabel(title.upper())
        theme.mark(heading, "role", "section")
        return heading

    def make_buttons(self, actions: Mapping[str, QAction], names: Sequence[str], menu: QMenu) -> QWidget:
        """Return a button for each action that can be used, and one for the menu of the others."""
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for name in names:
            action = actions[name]
            button = self.buttons[name] = QPushButton()
            button.clicked.connect(action.trigger)
            action.changed.connect(lambda button=button, action=action: _follow(button, action))
            _follow(button, action)
            row.addWidget(button)
        self.more.setMenu(menu)
        row.addWidget(self.more)
        row.addStretch(1)
        return holder

    def show_state(self, words: str, role: str) -> None:
        """Show the state in its colour."""
        self.state.setText(words)
        theme.mark(self.state, "role", role)

    def say(self, text: str, role: str) -> None:
        """Show why the row is as it is, or what to do; nothing for an empty text."""
        self.reason.setText(text)
        theme.mark(self.reason, "role", role)
        self.reason.setVisible(bool(text))

    def keep(self) -> None:
        """Save the note and the tags, if they have changed."""
        self.notes.keep()


def _follow(button: QPushButton, action: QAction) -> None:
    button.setText(action.text().rstrip("…"))
    button.setVisible(action.isEnabled())
    button.setToolTip(action.toolTip())


class RunOptions(QScrollArea):
    """The options of a run, what was changed in them since the run before, its facts, its note and tags."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.notes = NotesEditor("run")
        self.facts, self.options, self.changes = FigureList(), FigureList(), selectable_label()
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 8, 0)
        row.setSpacing(12)
        changed = _card((tr("Changed since the previous run"), self.changes), (tr("Facts"), self.facts))
        notes = _card(("", self.notes))
        right = QVBoxLayout()
        right.setSpacing(12)
        right.addWidget(changed)
        right.addWidget(notes)
        right.addStretch(1)
        left = QVBoxLayout()
        rest = QLabel(tr("Options that are not listed have their default values."))
        theme.mark(rest, "role", "help")
        rest.setWordWrap(True)
        left.addWidget(_card((tr("Options"), self.options), ("", rest)))
        left.addStretch(1)
        row.addLayout(left, 1)
        row.addLayout(right, 1)
        self.setWidget(page)

    def show_run(self, run: RunSummary) -> None:
        """Show a run."""
        self.notes.show_notes(run.path, run.notes)
        facts = [(label_of(name), text_of(run, name)) for name in FACTS]
        facts += [(label_of(name), format_score(name, run.scores[name])) for name in score_names([run])]
        self.facts.show_facts(facts, tips={label_of("created"): when(run.created)})
        self.changes.setText(visible("\n".join(map(str, run.changes))) or tr("Nothing"))
        theme.mark(self.changes, "role", "" if run.changes else "muted")
        paths = in_order({*option_names([run]), *ALWAYS})
        options = [(option_label(path), option_text(run, path)) for path in paths]
        self.options.show_facts([(label, text or tr("none")) for label, text in options], tips={})


def _card(*sections: tuple[str, QWidget]) -> QFrame:
    """Return a card with sections of a heading and what it heads."""
    card = QFrame()
    theme.mark(card, "role", "card")
    column = QVBoxLayout(card)
    column.setContentsMargins(16, 16, 16, 16)
    column.setSpacing(8)
    for title, widget in sections:
        if title:
            heading = QLabel(title.upper())
            theme.mark(heading, "role", "section")
            column.addWidget(heading)
        column.addWidget(widget)
        column.addSpacing(4)
    return card
