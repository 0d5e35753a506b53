"""Fields for the tags and the note of a run or a trial, which save what is typed."""

from collections.abc import Hashable
from typing import Literal

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from netwright.designer import theme
from netwright.designer.forms.typed_line import TypedLine
from netwright.designer.language import noop, tr, translation
from netwright.engine.runs.notes import Notes, tags_in

SAVE_MS = 800
NO_NOTES = Notes()
Kind = Literal["run", "trial"]
TEXTS: dict[Kind, tuple[str, str, str]] = {
    "run": (noop("Tags of the run"), noop("Notes on this run"), noop("Note on the run")),
    "trial": (noop("Tags of the trial"), noop("Notes on this trial"), noop("Note on the trial")),
}
"""Of each kind of thing: the name of the field for tags, the hint in the field for the note, and its name."""


class NotesEditor(QWidget):
    """Shows tags and note of one thing. `noted` asks to save them: its key, note, tags. `keep` must be called before
    the editor goes."""

    noted = Signal(object, str, object)

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self._key: Hashable = None
        self._notes = NO_NOTES
        self._outdated: Notes | None = None
        """The notes before the last edit: a report with these is older than what was saved."""
        self.tags, self.note = TypedLine(), QPlainTextEdit()
        self.tags.setPlaceholderText(tr("Tags, separated by commas"))
        tags_name, note_hint, note_name = map(translation, TEXTS[kind])
        self.tags.setAccessibleName(tags_name)
        self.note.setPlaceholderText(note_hint)
        self.note.setAccessibleName(note_name)
        self.note.setTabChangesFocus(True)
        self.note.setFixedHeight(84)
        self._save = QTimer(self, singleShot=True, interval=SAVE_MS)
        self._save.timeout.connect(self.keep)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for title, widget in ((tr("Tags"), self.tags), (tr("Note", "of a run"), self.note)):
            heading = QLabel(title.upper())
            theme.mark(heading, "role", "section")
            heading.setBuddy(widget)
            column.addWidget(heading)
            column.addWidget(widget)
            column.addSpacing(4)
            widget.installEventFilter(self)
        self.tags.textEdited.connect(self._save.start)
        self.note.textChanged.connect(self._on_typed)

    def show_notes(self, key: Hashable, notes: Notes = NO_NOTES) -> None:
        """Show the notes of another thing, or newer ones of the same; those that are being edited stay. A key of None
        stands for nothing."""
        is_same = key is not None and key == self._key
        if self._key is not None and not is_same:
            self.keep()
        if not is_same or notes != self._outdated:
            self._outdated = None
        self._key, self._notes = key, notes
        if key is not None and not (is_same and (self._is_edited or self._outdated is not None)):
            self._fill(notes)

    @property
    def _is_edited(self) -> bool:
        return self._save.isActive() or self.tags.hasFocus() or self.note.hasFocus()

    def _fill(self, notes: Notes) -> None:
        self.note.blockSignals(True)
        if self.tags.text() != (tags := ", ".join(notes.tags)):
            self.tags.setText(tags)
        if self.note.toPlainText() != notes.note:
            self.note.setPlainText(notes.note)
        self.note.blockSignals(False)

    def _on_typed(self) -> None:
        if self._key is not None:
            self._save.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Save what was typed when its field loses the focus."""
        if event.type() == QEvent.Type.FocusOut:
            self.keep()
        return super().eventFilter(watched, event)

    def keep(self) -> None:
        """Save the note and the tags, if they have changed."""
        self._save.stop()
        if self._key is None:
            return
        note, tags = self.note.toPlainText().strip(), tags_in(self.tags.text())
        if (note, set(tags)) != (self._notes.note, set(self._notes.tags)):
            self._outdated, self._notes = self._notes, Notes(note, tags)
            self.noted.emit(self._key, note, tags)
