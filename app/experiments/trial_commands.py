"""Commands on trials of an experiment: marks, comparing, stopping and trying again, and their menu."""

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QPoint, QTimer, QUrl, Signal
from PySide6.QtGui import QAction, QColor, QDesktopServices, QGuiApplication, QIcon, QPixmap
from PySide6.QtWidgets import QColorDialog, QInputDialog, QMenu

from netwright.app.experiments.trial_texts import COLOUR_NAMES, COLOURS, column_label, trial_title
from netwright.app.experiments.trials_panel import TrialsPanel
from netwright.app.shell import Shell
from netwright.designer import markup
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.project.project_differences import compare
from netwright.engine.project.trials import with_values
from netwright.engine.runs.experiments import ExperimentFolder, start_runner
from netwright.engine.runs.notes import LONGEST_NOTE, Notes, tags_in
from netwright.engine.runs.summary import RunSummary, read_summary
from netwright.engine.runs.trial_log import STARTS_AGAIN
from netwright.engine.runs.trial_marks import Marks, mark_trials, pin_baseline
from netwright.engine.runs.trial_rows import TrialRow

ROWS = (
    ("show", noop("Show curves"), noop("The run of the trial, with its curves (Return)")),
    ("use", noop("Use values"), noop("Put the values of the trial into the project; can be undone")),
    ("compare", noop("Compare"), noop("Curves, results and options of the selected trials side by side")),
    (
        "networks",
        noop("Compare networks…"),
        noop("Layer by layer: with the other trial, with the baseline, or with the project"),
    ),
    ("test", noop("Confusion matrix and ROC…"), noop("The scores of the run of the trial")),
    ("", "", ""),
    ("baseline", noop("Pin as baseline"), noop("Show the differences of all trials to this one")),
    ("hide", noop("Hide"), noop("Leave these trials out of the table until they are asked for")),
    ("tags", noop("Tags…"), noop("Tags of the selected trials, separated by commas")),
    ("note", noop("Note…"), noop("A note on the selected trials")),
    ("cell", noop("Note on this cell…"), noop("A note on this value")),
    ("", "", ""),
    ("stop", noop("Stop trial"), noop("Stop these trials and go on with the others")),
    ("again", noop("Try again"), noop("Train trials that have failed or were stopped again; their files are kept")),
    ("", "", ""),
    ("copy", noop("Copy as CSV"), noop("The columns that are shown (Ctrl+C)")),
    ("folder", noop("Open folder"), noop("Show the folder with the files of the run")),
)

TURN_S = 0.02
"""Time for which runs are read in one turn of the event loop."""


class TrialCommands(QObject):
    """The actions for the trials that are selected in the table, by their keys in `ROWS`."""

    show_requested = Signal(object)
    test_requested = Signal(object)
    use_requested = Signal()
    compare_requested = Signal(object)
    marked = Signal()

    def __init__(self, shell: Shell, panel: TrialsPanel) -> None:
        super().__init__(panel)
        self._shell, self._panel = shell, panel
        self._column = ""
        self._starting: tuple[Path, subprocess.Popen[bytes]] | None = None
        self._reading: Iterator[TrialRow] = iter(())
        """The trials whose runs are read to be compared."""
        self._compared: tuple[object, list[str]] = None, []
        """The key of the last comparison, and its differences."""
        self.actions: dict[str, QAction] = {}
        self.menu = QMenu(panel)
        done_by: dict[str, Callable[[], object]] = {
            "show": self._show,
            "use": self.use_requested.emit,
            "compare": self._compare,
            "networks": self._compare_networks,
            "test": self._test,
            "baseline": self._pin,
            "hide": self._hide,
            "tags": self._edit_tags,
            "note": self._edit_note,
            "cell": self._edit_cell,
            "stop": self._stop,
            "again": self._try_again,
            "copy": lambda: QGuiApplication.clipboard().setText(panel.table.as_text()),
            "folder": self._open_folder,
        }
        for key, text, tip in ROWS:
            if not key:
                self.menu.addSeparator()
                continue
            action = self.actions[key] = QAction(translation(text), self)
            action.setToolTip(translation(tip))
            action.triggered.connect(lambda _=False, act=done_by[key]: act())
            self.menu.addAction(action)
            if key == "cell":
                self._add_colours()
        panel.table.menu_requested.connect(self.show_menu)
        panel.table.chosen.connect(self.update)
        self.offer_note("")

    def _add_colours(self) -> None:
        colours = self.menu.addMenu(tr("Colour"))
        for name, value in COLOURS.items():
            pixmap = QPixmap(14, 14)
            pixmap.fill(QColor(value))
            colours.addAction(QIcon(pixmap), translation(COLOUR_NAMES[name]), partial(self._mark, colour=name))
        colours.addAction(tr("Other…"), self._choose_colour)
        colours.addSeparator()
        colours.addAction(tr("None"), partial(self._mark, colour=""))

    # ---- what is possible ----

    @property
    def _rows(self) -> list[TrialRow]:
        return self._panel.table.selected

    @property
    def _folder(self) -> ExperimentFolder | None:
        return self._panel.watcher.folder

    def update(self) -> None:
        """Enable the actions that can be used with the selected trials."""
        rows, trial = self._rows, self._one()
        run = self._panel.run_of(trial) if trial is not None else None
        is_alive, baseline = self._panel.watcher.is_alive, self._panel.model.baseline
        possible = {
            "show": run is not None,
            "use": trial is not None,
            "compare": len(rows) >= 2 and all(row.trial.runs for row in rows[:2]),
            "networks": trial is not None or len(rows) == 2,
            "test": run is not None and (run / "result.json").is_file(),
            "baseline": trial is not None,
            "stop": is_alive and any(not row.trial.is_over for row in rows),
            "again": any(row.trial.state in STARTS_AGAIN for row in rows),
            "folder": run is not None,
            "cell": bool(self._column) and trial is not None,
        }
        for key, action in self.actions.items():
            action.setEnabled(possible.get(key, bool(rows)))
        is_pinned = trial is not None and trial is baseline
        self.actions["baseline"].setText(tr("Unpin baseline") if is_pinned else tr("Pin as baseline"))
        is_hidden = bool(rows) and all(row.marks.is_hidden for row in rows)
        self.actions["hide"].setText(tr("Show again") if is_hidden else tr("Hide"))
        self.actions["stop"].setText(tr("Stop trial") if len(rows) == 1 else tr("Stop trials"))

    def show_menu(self, place: QPoint, column: str) -> None:
        """Show the menu of the selected trials; `column` is that of the cell under the pointer."""
        self.offer_note(column if column != "curve" else "")
        self.menu.exec(place)
        self.offer_note("")

    def offer_note(self, column: str) -> None:
        """Offer a note on the cell of a column; none for an empty one."""
        self._column = column
        if column:
            label = markup.without_mnemonic(column_label(column))
            self.actions["cell"].setText(tr("Note on this cell ({label})…", label=label))
        self.actions["cell"].setVisible(bool(column))
        self.update()

    def _one(self) -> TrialRow | None:
        rows = self._rows
        return rows[0] if len(rows) == 1 else None

    # ---- looking ----

    def _show(self) -> None:
        row = self._one()
        if row is not None and (run := self._panel.run_of(row)) is not None:
            self.show_requested.emit(run)

    def _test(self) -> None:
        row = self._one()
        if row is not None and (run := self._panel.run_of(row)) is not None:
            self.test_requested.emit(run)

    def _open_folder(self) -> None:
        row = self._one()
        run = self._panel.run_of(row) if row is not None else None
        if run is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(run))):
            reason = tr("No program was found that shows {path}.", path=run)
            self._shell.show_error(tr("The folder cannot be opened"), reason)

    def _compare(self) -> None:
        """Compare the first runs of the selected trials, which are read a few at a time."""
        self._reading = iter(self._rows)
        self._read_on(self._reading, [])

    def _read_on(self, rows: Iterator[TrialRow], runs: list[RunSummary]) -> None:
        """Read runs for as long as the window can wait, then go on in its next turn; then compare them."""
        ended = time.monotonic() + TURN_S
        for row in rows if rows is self._reading else ():
            run = self._panel.run_of(row)
            if run is not None:
                try:
                    runs.append(replace(read_summary(run), notes=Notes(run_name=trial_title(row.trial)[:80])))
                except OSError as error:
                    self._shell.show_error(tr("The trials cannot be compared"), f"{run}: {error.strerror}.")
                    return
            if time.monotonic() > ended:
                self._shell.hint(tr("Reading the runs to compare: {count:,} so far…", count=len(runs)))
                QTimer.singleShot(0, self, partial(self._read_on, rows, runs))
                return
        if rows is not self._reading:  # others were asked for meanwhile
            return
        if len(runs) >= 2:
            self.compare_requested.emit(runs)
        else:
            self._shell.hint(tr("Fewer than two of these trials have a run to compare."))

    def _compare_networks(self) -> None:
        """Compare the networks of two trials, or of one with the baseline or the open project."""
        from netwright.app.dialogs.compare_projects import CompareDialog

        rows = self._rows[:2]
        if len(rows) == 1 and (other := self._other(rows[0])) is not None:
            rows = [other, *rows]
        try:
            projects = [self.project_of(row) for row in rows]
        except UserError as error:
            self._shell.show_error(tr("The networks cannot be compared"), str(error))
            return
        names = [trial_title(row.trial) for row in rows]
        if len(projects) == 1:
            projects, names = [self._shell.editor.project, *projects], [tr("The open project"), *names]
        dialog = CompareDialog(projects[0], projects[1], (names[0], names[1]), self._shell.dialog_parent)
        dialog.exec()
        dialog.deleteLater()

    def _other(self, row: TrialRow) -> TrialRow | None:
        """Return the baseline that a trial is compared with; None for the open project."""
        baseline = self._panel.model.baseline
        return baseline if baseline is not row else None

    def project_of(self, row: TrialRow) -> Project:
        """Return the project of a trial. Raises `UserError`."""
        folder = self._folder
        assert folder is not None
        base = Path(folder.read_info().base or folder.path)
        return with_values(load(folder.project).project, row.trial.values, base)

    def differences(self, row: TrialRow) -> list[str]:
        """Return in what a trial differs from the baseline, or without one from the open project, as texts."""
        other, project = self._other(row), self._shell.editor.project
        key = (self._folder, row.trial.number, other and other.trial.number, project)
        if key != self._compared[0]:
            self._compared = key, self._differences(row, other)
        return self._compared[1]

    def _differences(self, row: TrialRow, other: TrialRow | None) -> list[str]:
        try:
            before = self.project_of(other) if other is not None else self._shell.editor.project
            before = replace(before, experiment=type(before.experiment)(), identity="")
            after = replace(self.project_of(row), identity="")
            return [str(difference) for difference in compare(before, after).differences]
        except UserError as error:
            return [str(error)]

    # ---- marks ----

    def _mark(self, **changes: Any) -> None:
        folder, rows = self._folder, self._rows
        if folder is not None and rows:
            self._change(lambda: mark_trials(folder, [row.trial.number for row in rows], **changes))

    def _change(self, change: Callable[[], Marks]) -> None:
        try:
            self._panel.marks = change()
        except UserError as error:
            self._shell.show_error(tr("The mark is not kept"), str(error))
            return
        self._panel.refresh()
        self.update()
        self.marked.emit()

    def save_notes(self, number: int, note: str, tags: Sequence[str]) -> None:
        """Keep the note and the tags of a trial."""
        folder = self._folder
        if folder is not None:
            self._change(lambda: mark_trials(folder, [number], note=note, tags=tuple(tags)))

    def _pin(self) -> None:
        folder, row = self._folder, self._one()
        if folder is not None and row is not None:
            number = 0 if row is self._panel.model.baseline else row.trial.number
            self._change(lambda: pin_baseline(folder, number))

    def _hide(self) -> None:
        self._mark(is_hidden=not all(row.marks.is_hidden for row in self._rows))

    def _choose_colour(self) -> None:
        colour = QColorDialog.getColor(parent=self._shell.dialog_parent, title=tr("Colour of the rows"))
        if colour.isValid():
            self._mark(colour=colour.name())

    def _edit_tags(self) -> None:
        rows = self._rows
        common = set(rows[0].notes.tags).intersection(*(row.notes.tags for row in rows))
        title = tr("Tags of {trials}", trials=trials_in_words(rows))
        text, is_ok = QInputDialog.getText(
            self._shell.dialog_parent, title, tr("Separated by commas:"), text=", ".join(sorted(common))
        )
        if is_ok:
            self._mark(tags=tags_in(text))

    def _edit_note(self) -> None:
        rows = self._rows
        notes = {row.notes.note for row in rows}
        text = self._asked(tr("Note on {trials}", trials=trials_in_words(rows)), notes.pop() if len(notes) == 1 else "")
        if text is not None:
            self._mark(note=text)

    def _edit_cell(self) -> None:
        row = self._one()
        if row is None or not self._column:
            return
        title = tr("Note on {column} of trial {number}", column=column_label(self._column), number=row.trial.number)
        text = self._asked(title, row.marks.cells.get(self._column, ""))
        if text is not None:
            self._mark(cell=(self._column, text))

    def _asked(self, title: str, text: str) -> str | None:
        parent = self._shell.dialog_parent
        limit = tr("Up to {count:,} characters:", count=LONGEST_NOTE)
        answer, is_ok = QInputDialog.getMultiLineText(parent, title, limit, text)
        return answer if is_ok else None

    # ---- the runner ----

    def _stop(self) -> None:
        for row in self._rows:
            if not row.trial.is_over:
                self.ask("stop_trial", trial=row.trial.number)
        trials = trials_in_words(self._rows)
        self._shell.hint(tr("Stopping {trials}. The experiment goes on with the others.", trials=trials))

    def _try_again(self) -> None:
        self.ask("again", trials=[row.trial.number for row in self._rows if row.trial.state in STARTS_AGAIN])
        self.go_on()

    def ask(self, name: str, **values: Any) -> None:
        """Ask the runner of the experiment for something."""
        try:
            if self._folder is not None:
                self._folder.request(name, **values)
        except UserError as error:
            self._shell.show_error(tr("The experiment cannot be asked"), str(error))

    def go_on(self) -> None:
        """Let a runner go on with the experiment, if none is at work."""
        if self._folder is not None and not self._folder.is_alive():
            self.start(self._folder)

    def start(self, folder: ExperimentFolder) -> bool:
        """Start a runner of an experiment; return whether it was started."""
        try:
            self._starting = folder.path, start_runner(folder)
        except UserError as error:
            self._shell.show_error(tr("The experiment cannot begin"), str(error))
            return False
        return True

    @property
    def is_starting(self) -> bool:
        """Whether a runner of the experiment that is shown was started here and is not at work yet."""
        folder = self._folder
        if self._starting is None or folder is None or self._starting[0] != folder.path:
            return False
        if self._panel.watcher.is_alive or self._starting[1].poll() is not None:
            self._starting = None
        return self._starting is not None


def trials_in_words(rows: Sequence[TrialRow]) -> str:
    """Return trials among other words: `trial 3`, or how many they are."""
    count = len(rows)
    return tr("trial {number}", number=rows[0].trial.number) if count == 1 else tr("%n trial(s)", "", count)
