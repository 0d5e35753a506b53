"""The panel beside the table of trials: what is known of the selected trial, its errors, confusion and notes."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QVBoxLayout, QWidget

from netwright.app.experiments.trial_texts import column_label, trial_title
from netwright.app.experiments.trials_model import TrialsModel
from netwright.app.messages import breakable
from netwright.app.runs.details import Details, selectable_label
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.runs.confusion import FILE, Confusion, read_confusions
from netwright.engine.runs.events import SPLIT_PRIORITY
from netwright.engine.runs.query import OPTION
from netwright.engine.runs.trial_log import FAILED
from netwright.engine.runs.trial_rows import TrialRow, is_score

NOTHING = noop("Select a trial to see its results. Select several to compare them.")
CONFUSION_LIMIT_BYTES = 2**18
"""Size of the results of a run up to which its confusion matrix is shown here; larger ones are among its scores."""
MOST_DIFFERENCES = 12
BUTTONS = ("show", "use", "compare")


class ConfusionPicture(QWidget):
    """A confusion matrix in a small square: rows are true classes, darker cells have a greater share of their row."""

    SIDE = 168

    def __init__(self) -> None:
        super().__init__()
        self.table: Confusion | None = None
        self.setFixedSize(self.SIDE, self.SIDE)

    def show_table(self, table: Confusion | None) -> None:
        """Show another matrix."""
        self.table = table
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of the square."""
        return QSize(self.SIDE, self.SIDE)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a square per cell: right ones in green, wrong ones in red."""
        if self.table is None:
            return
        palette, painter = theme.current(), QPainter(self)
        cell = self.SIDE / len(self.table.classes)
        gap = 1.0 if cell >= 6 else 0.0
        for row, (counts, total) in enumerate(zip(self.table.counts, self.table.of_class, strict=True)):
            for column, count in enumerate(counts):
                share = (count / total) ** 0.5 if total and count else 0.0
                colour = palette.mixed(palette.good if row == column else palette.error, palette.raised, share)
                painter.fillRect(QRectF(column * cell, row * cell, cell - gap, cell - gap), colour)
        painter.end()


def confusion_text(table: Confusion) -> str:
    """Return a summary of a confusion matrix: how many are right, and the most frequent error."""
    total = sum(table.of_class)
    right = sum(table.counts[number][number] for number in range(len(table.classes)))
    wrong = [
        (count, table.classes[row], table.classes[column])
        for row, counts in enumerate(table.counts)
        for column, count in enumerate(counts)
        if row != column and count
    ]
    text = tr("{right:,} of {total:,} right", right=right, total=total)
    if not wrong:
        return text
    count, actual, predicted = max(wrong, key=lambda cell: cell[0])
    return tr(
        "{text}. Most frequent error: {actual} taken for {predicted}, {count:,} times",
        text=text,
        actual=actual,
        predicted=predicted,
        count=count,
    )


class TrialDetails(Details):
    """Shows the selected trial. `test_requested` asks for the confusion matrix and ROC of its run."""

    test_requested = Signal()

    def __init__(self, model: TrialsModel, actions: Mapping[str, QAction], menu: QMenu) -> None:
        super().__init__("trial")
        self._model = model
        self.again = QPushButton(tr("Try again"))
        self.again.setToolTip(tr("Train this trial again; its files are kept"))
        self.again.clicked.connect(actions["again"].trigger)
        self.differences = selectable_label()
        self.picture, self.confusion_words = ConfusionPicture(), QLabel()
        self.confusion_words.setWordWrap(True)
        theme.mark(self.confusion_words, "role", "help")
        self.networks = QPushButton(tr("Compare networks…"))
        self.networks.clicked.connect(actions["networks"].trigger)
        self.test = QPushButton(tr("Confusion matrix and ROC…"))
        self.test.setToolTip(tr("The scores of the run of the trial"))
        self.test.clicked.connect(self.test_requested)
        for button in (self.networks, self.test):
            theme.mark(button, "role", "link")
            theme.mark(button, "flush", True)
        self._run: Path | None = None
        self._arrange(actions, menu)
        self.show_rows([])

    def _arrange(self, actions: Mapping[str, QAction], menu: QMenu) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        for label in (self.name, self.state, self.reason):
            column.addWidget(label)
        column.addWidget(self.again, 0, Qt.AlignmentFlag.AlignLeft)
        self._buttons = self.make_buttons(actions, BUTTONS, menu)
        column.addWidget(self._buttons)
        self._about = QWidget()
        below = QVBoxLayout(self._about)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(8)
        self._confusion = QWidget()
        inside = QVBoxLayout(self._confusion)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.picture)
        inside.addWidget(self.confusion_words)
        self.other = self.make_heading(tr("Differs from the project"))
        self._confusion_heading = self.make_heading(tr("Confusion"))
        parts: tuple[tuple[QWidget, ...], ...] = (
            (self.make_heading(tr("Values and results")), self.facts),
            (self.other, self.differences, self.networks),
            (self._confusion_heading, self._confusion, self.test),
            (self.notes,),
        )
        for widgets in parts:
            for widget in widgets:
                is_button = isinstance(widget, QPushButton)
                below.addWidget(widget, 0, Qt.AlignmentFlag.AlignLeft if is_button else Qt.AlignmentFlag(0))
            below.addSpacing(4)
        column.addWidget(self._about)
        column.addStretch(1)

    # ---- showing ----

    def show_rows(self, rows: Sequence[TrialRow], run: Path | None = None, differences: Sequence[str] = ()) -> None:
        """Show the selected trial, the folder of its run and in what it differs; or how many are selected."""
        row = rows[0] if len(rows) == 1 else None
        self._about.setVisible(row is not None)
        self._buttons.setVisible(bool(rows))
        self.state.setVisible(row is not None)
        self.again.setVisible(row is not None and row.trial.state in FAILED)
        if row is None:
            self.notes.show_notes(None)
            self._run = None
            self.name.setText(tr("{count:,} trials selected", count=len(rows)) if rows else tr("No trial selected"))
            self.say("" if rows else translation(NOTHING), "help")
            return
        trial = row.trial
        title = trial_title(trial)
        self.name.setText(title, note=f"{title}\n{run}" if run is not None else "")
        self.show_state(*self._model.state_of(row))
        reason = message_text(trial.reason)
        reason = reason[:1].upper() + reason[1:]
        self.say(breakable(reason), "error" if trial.state in FAILED else "help")
        columns = [c for c in self._model.columns if c.startswith(OPTION) or c == "seconds" or is_score(c)]
        self.facts.show_facts([(column_label(c), self._model.text_of(row, c)) for c in columns], {})
        lines = list(differences[:MOST_DIFFERENCES])
        if len(differences) > MOST_DIFFERENCES:
            lines.append(tr("and {count:,} more", count=len(differences) - MOST_DIFFERENCES))
        self.differences.setText(breakable("\n".join(lines)) or tr("In nothing"))
        theme.mark(self.differences, "role", "" if lines else "muted")
        baseline = self._model.baseline
        heading = tr("Differs from the project")
        if baseline is not None and baseline is not row:
            heading = tr("Differs from trial {number}", number=baseline.trial.number)
        self.other.setText(heading.upper())
        if run != self._run or trial.is_over:
            self._run = run
            self._show_confusion(run)
        self.notes.show_notes(trial.number, row.notes)

    def _show_confusion(self, run: Path | None) -> None:
        table: Confusion | None = None
        with contextlib.suppress(OSError):
            if run is not None and (run / FILE).stat().st_size <= CONFUSION_LIMIT_BYTES:
                tables = read_confusions(run)
                table = next((tables[split] for split in reversed(SPLIT_PRIORITY) if split in tables), None)
        self.picture.show_table(table)
        self.confusion_words.setText(confusion_text(table) if table is not None else "")
        self._confusion.setVisible(table is not None)
        is_tested = run is not None and (run / "result.json").is_file()
        self._confusion_heading.setVisible(is_tested)
        self.test.setVisible(is_tested)
