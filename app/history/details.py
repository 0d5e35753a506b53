"""The panel beside the table of runs: what is known of the selected run, its note and tags, and its actions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from netwright.app.history.notes_editor import NotesEditor
from netwright.app.history.runs_model import figure_of, label_of, state_in_words, text_of, when
from netwright.app.messages import breakable
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.markup import visible
from netwright.engine.runs.notes import LONGEST_NAME
from netwright.engine.runs.query import score_names
from netwright.engine.runs.summary import RunSummary

DATA_MS = 300
"""Time a run stays selected before its data is looked at: arrow keys through the list ask nothing."""
FACTS = ("created", "seconds", "environment", "epochs")
BUTTONS = ("show", "compare", "resume")
"""Actions with a button while they can be used, of which there are two at most; the others are in the menu."""
NOTHING = "Select a run to see its details. Select two or more to compare them."


class FigureList(QWidget):
    """Names at the left, values at the right; long names are elided."""

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
            value.setText(visible(text))
            value.setToolTip(tips.get(name, ""))
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

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.name, self.state, self.reason = ElidedLabel(), QLabel(), selectable_label()
        theme.mark(self.name, "role", "title")
        theme.mark(self.reason, "role", "help")
        self.facts, self.notes = FigureList(), NotesEditor(kind)
        self.notes.noted.connect(self.noted)
        self.headings: dict[str, QLabel] = {}
        self.buttons: dict[str, QPushButton] = {}
        self.more = QPushButton("More")

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


class NameEditor(QLineEdit):
    """A field that Escape leaves without a change."""

    cancelled = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Cancel with Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)


class RunDetails(Details):
    """Shows the selected run. `renamed` asks for another name: path, name.
    `data_asked` asks what has changed in the data of a run that has ended: path."""

    renamed = Signal(object, str)
    data_asked = Signal(object)

    def __init__(self, actions: Mapping[str, QAction], menu: QMenu) -> None:
        super().__init__("run")
        theme.mark(self, "role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._run: RunSummary | None = None
        self.new_name = NameEditor()
        self.new_name.setMaxLength(LONGEST_NAME)
        self.new_name.setAccessibleName("Name of the run")
        self.new_name.setPlaceholderText("Leave empty for number, solver and learn rate")
        self.new_name.editingFinished.connect(self._rename)
        self.new_name.cancelled.connect(self._end_renaming)
        self.new_name.hide()
        self.data_changes, self.changes = selectable_label(), selectable_label()
        self.data_changes.hide()
        theme.mark(self.data_changes, "role", "warning")
        self._look_at_data = QTimer(self, singleShot=True, interval=DATA_MS)
        self._look_at_data.timeout.connect(self._ask_for_data)
        self._arrange(actions, menu)
        self.show_runs([])

    def _arrange(self, actions: Mapping[str, QAction], menu: QMenu) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(self.name)
        column.addWidget(self.new_name)
        column.addWidget(self.state)
        column.addWidget(self.reason)
        column.addWidget(self.data_changes)
        self._buttons = self.make_buttons(actions, BUTTONS, menu)
        self.more.setToolTip("More actions for the selected runs")
        column.addWidget(self._buttons)
        self._about = QWidget()
        below = QVBoxLayout(self._about)
        below.setContentsMargins(0, 4, 0, 0)
        below.setSpacing(8)
        for title, widget in (
            ("Facts", self.facts),
            ("Changed since the previous run", self.changes),
        ):
            heading = self.make_heading(title)
            heading.setBuddy(widget)
            below.addWidget(heading)
            below.addWidget(widget)
            below.addSpacing(4)
        below.addWidget(self.notes)
        column.addWidget(self._about)
        column.addStretch(1)

    # ---- showing ----

    def show_runs(self, runs: list[RunSummary]) -> None:
        """Show the selected run, or how many are selected."""
        run = runs[0] if len(runs) == 1 else None
        is_same = run is not None and self._run is not None and run.path == self._run.path
        self.notes.show_notes(run.path, run.notes) if run is not None else self.notes.show_notes(None)
        self._run = run
        self._about.setVisible(run is not None)
        self._buttons.setVisible(bool(runs))
        if not is_same:
            self._end_renaming()
            self.data_changes.hide()
            self._look_at_data.start() if run is not None and not run.is_alive else self._look_at_data.stop()
        self.state.setVisible(run is not None)
        if run is None:
            self.name.setText(f"{len(runs):,} runs selected" if runs else "No run selected")
            self.say("" if runs else NOTHING, "help")
            return
        self.name.setText(run.title, note=f"{run.title}\n{run.path}")
        self.show_state(*state_in_words(run.state))
        texts = [text[:1].upper() + text[1:] for text in (run.reason, run.damage)]
        is_error = run.state in ("failed", "lost", "damaged")
        self.say(visible("\n".join(filter(None, texts))), "error" if is_error else "help")
        facts = [(label_of(name), text_of(run, name)) for name in FACTS]
        facts += [(label_of(name), figure_of(name, run.scores[name])) for name in score_names([run])]
        self.facts.show_facts(facts, tips={label_of("created"): when(run.created)})
        self.changes.setText(visible("\n".join(map(str, run.changes))) or "Nothing")
        theme.mark(self.changes, "role", "" if run.changes else "muted")

    def _ask_for_data(self) -> None:
        if self._run is not None:
            self.data_asked.emit(self._run.path)

    def show_data_changes(self, run: Path, changes: Sequence[str]) -> None:
        """Show what has changed in the data of a run since it trained, if it is still the selected one."""
        if self._run is not None and self._run.path == run:
            self.data_changes.setText(breakable("\n".join(["The data has changed since:", *changes])))
            self.data_changes.setVisible(bool(changes))

    # ---- name ----

    def rename(self) -> None:
        """Let the user type another name in place of the title; Enter takes it, Escape keeps the old one."""
        if self._run is not None:
            self.new_name.setText(self._run.title)
            self.name.hide()
            self.new_name.show()
            self.new_name.setFocus()
            self.new_name.selectAll()

    def _rename(self) -> None:
        run, name = self._run, self.new_name.text().strip()
        if self.new_name.isHidden() or run is None:
            return
        self._end_renaming()
        if name != run.title:
            self.renamed.emit(run.path, name)

    def _end_renaming(self) -> None:
        self.new_name.hide()
        self.name.show()
