"""The page of an experiment: its definition, its trials while they train, and what they have reached."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from netwright.app.experiments.definition_panel import WIDTH, DefinitionPanel, count_text, varies
from netwright.app.experiments.experiment_menu import ExperimentMenu
from netwright.app.experiments.plots.chart import Findings
from netwright.app.experiments.plots.panel import PlotsPanel
from netwright.app.experiments.sweep_line import SweepLine
from netwright.app.experiments.trial_commands import TrialCommands
from netwright.app.experiments.trial_details import TrialDetails
from netwright.app.experiments.trial_plot import TrialPlot
from netwright.app.experiments.trial_texts import axis_label, path_label, progress_text, sweep_title
from netwright.app.experiments.trials_panel import TrialsPanel
from netwright.app.plots.card import PlotCard
from netwright.app.runs.segments import ExperimentPage, MessagePage
from netwright.app.shell import Shell
from netwright.app.widgets import NO_LIMIT, Divider, SidePanel
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import message_text
from netwright.designer.language import in_sentence, noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.experiments.operations import experiment_begin
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import dumps, load
from netwright.engine.project.project import Project
from netwright.engine.project.trials import num_trials, with_values
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.trial_axes import TrialAxis
from netwright.engine.runs.trial_log import Trial
from netwright.engine.runs.trial_rows import best_trial, pareto_front

DETAILS_WIDTH = 330
NARROW = 760
"""Width of the page below which the definition of a new sweep has all of it."""
MANY = 1000
"""Trials from which on table and plots are filled in different turns of the event loop."""
USE = noop("Put the values of the best or the selected trial into the project; can be undone")
NO_VALUE = noop("No trial has a value of the objective yet")
FIRST = noop("Add what varies at the right. Each combination becomes a trial, a row here, and the best is marked.")


class SearchPage(ExperimentPage):
    """Defines an experiment in the open project, runs it in a process of its own, and follows the folder it writes."""

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shell = shell
        self._folder: ExperimentFolder | None = None
        self._trials: list[Trial] = []
        self._options: ExperimentOptions | None = None
        """The definition of the experiment that is shown, once it was read."""
        self._stamp, self._total = 0, 0
        self._run_times: tuple[float, ...] = ()
        self._is_stopping, self._best = False, set[int]()
        self._is_copying = False
        """Whether a copy of the sweep that is shown is being edited."""
        self.definition, self.line = DefinitionPanel(shell), SweepLine()
        self.title, self.stop_button = ElidedLabel(), QPushButton(tr("Stop"))
        self.resume_button = QPushButton(tr("Resume"))
        self.use_button = QPushButton(tr("Apply best"))
        self.state, self.empty = ElidedLabel(), MessagePage(tr("Start from"))
        self.trials, self.plot, self.pages = TrialsPanel(), TrialPlot(), QStackedWidget(self)
        self.table = self.trials.table
        self.trials.changed.connect(self._look)
        self.commands = TrialCommands(shell, self.trials)
        self.more = ExperimentMenu(shell, self.trials, self.commands)
        self.details = TrialDetails(self.trials.model, self.commands.actions, self.commands.menu)
        self._connect_trials()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.results, self._side_edge = self._make_results(), Divider()
        self.details_side, self._details_edge = SidePanel(self.details, DETAILS_WIDTH), Divider()
        row.addWidget(self.results, 1)
        for widget in (self._details_edge, self.details_side, self._side_edge, self.definition):
            row.addWidget(widget)
        self._show_side()
        shell.editor.project_changed.connect(self._on_project)

    def _connect_trials(self) -> None:
        self.definition.run_requested.connect(self._on_run)
        self.definition.closed.connect(self._close_copy)
        self.line.copy_requested.connect(self._edit_copy)
        self.commands.show_requested.connect(lambda run: self.run_requested.emit(run, "curves"))
        self.commands.test_requested.connect(lambda run: self.run_requested.emit(run, "scores"))
        self.commands.compare_requested.connect(self.compare_requested)
        self.commands.use_requested.connect(self._use_values)
        self.commands.marked.connect(self._show_details)
        self.details.noted.connect(self.commands.save_notes)
        self.details.test_requested.connect(self.commands.actions["test"].trigger)

    # ---- parts ----

    def _make_results(self) -> QWidget:
        page = QWidget(self)
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        bar = QHBoxLayout()
        bar.setSpacing(8)
        theme.mark(self.resume_button, "primary", True)
        self.stop_button.clicked.connect(self._on_stop)
        self.resume_button.setToolTip(tr("Continue with the trials that are left"))
        self.resume_button.clicked.connect(self.commands.go_on)
        self.use_button.setToolTip(translation(USE))
        self.use_button.clicked.connect(self._use_values)
        theme.mark(self.state, "role", "muted")
        theme.mark(self.title, "role", "figure")
        bar.addWidget(self.title, 1)
        for widget in (self.resume_button, self.use_button, self.stop_button, self.more):
            bar.addWidget(widget)
        column.addLayout(bar)
        column.addWidget(self.state)
        column.addWidget(self.line)
        self.empty.button.setMenu(self.definition.ready_menu)
        self.pages.addWidget(self.empty)
        self.pages.addWidget(self._make_trials())
        column.addWidget(self.pages, 1)
        return page

    def _make_trials(self) -> QWidget:
        parts = QSplitter(Qt.Orientation.Vertical, self.pages)
        parts.setChildrenCollapsible(False)
        parts.setHandleWidth(12)
        parts.setStyleSheet("QSplitter::handle { background: transparent; }")
        self.plot_card = PlotCard(self.plot)
        self.along = QComboBox()
        self.along.setAccessibleName(tr("Along"))
        self.along.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.along.activated.connect(lambda: self.plot.plot_along(self.along.currentData()))
        self.plot_card.head.addStretch(1)
        self.plot_card.head.addWidget(self.along)
        self.plots = PlotsPanel(self.plot_card, tr("Progress"), self._shell.server)
        parts.addWidget(self.plots)
        for plot in (self.plot, self.plots):
            plot.picked.connect(self.table.select)
        self.table.chosen.connect(lambda: self.plots.select(self.table.number))
        self.plots.filtered.connect(self.trials.keep_only)
        self.table.opened.connect(self.commands.actions["show"].trigger)
        self.table.chosen.connect(self._show_use)
        parts.addWidget(self.trials)
        parts.setSizes([360, 420])
        return parts

    def _show_first(self) -> None:
        """Say what comes before the first trial."""
        if self._folder is not None and (self.commands.is_starting or self.trials.watcher.is_alive):
            text = tr("The runner reads the data; each trial is a row here as soon as it begins.")
            self.empty.say(text, title=tr("The first trials begin"))
        elif self._folder is not None:
            self.empty.say(tr("It ended before its first trial. Edit a copy to begin again."), title=tr("No trials"))
        else:
            project = self._shell.editor.project
            self.empty.say(translation(FIRST), title=count_text(project), offers=not varies(project.experiment))

    def _on_project(self) -> None:
        if self.isVisible():
            self.definition.show_project()
        self._show_first()

    def set_run_times(self, seconds: Sequence[float]) -> None:
        """Take the times of finished runs of the project."""
        self._run_times = tuple(seconds)
        self._show_times()

    def _show_times(self) -> None:
        """Estimate by the trials of the sweep that is copied, else by the runs of the project."""
        own = [trial.seconds / len(trial.runs) for trial in self._trials if trial.state == "finished" and trial.runs]
        self.definition.set_run_times(own or self._run_times)

    def _edit_copy(self) -> None:
        """Edit a copy of the definition of the sweep that is shown."""
        if self._options is not None:
            self.definition.copy(self._options, self.title.text())
            self._is_copying = True
            self._show_side()

    def _close_copy(self) -> None:
        self._is_copying = False
        self._show_side()

    # ---- running ----

    def _on_stop(self) -> None:
        if self._folder is not None and self._folder.is_alive():
            self._folder.request("stop")
            self._is_stopping = True
            self._look()

    def _on_run(self) -> None:
        documents = self._shell.documents
        asked = experiment_begin.BeginRequest(
            project=dumps(documents.identified(self._shell.editor.project)),
            project_path=documents.source,
            base=documents.base,
        )
        self.definition.set_busy(is_busy=True)
        self.state.setText(tr("Reading the data…"))
        self._shell.server.ask(
            experiment_begin.OPERATION, asked, self._on_begun, self._on_refused, hosts=documents.hosts
        )

    def _on_begun(self, answer: Mapping[str, Any]) -> None:
        self.definition.set_busy(is_busy=False)
        folder = ExperimentFolder(Path(answer["experiment_dir"]))
        if not self.commands.start(folder):
            return
        self.show_experiment(folder.path)
        self.begun.emit(folder)

    def _on_refused(self, reason: str) -> None:
        self.definition.set_busy(is_busy=False)
        self.state.setText("")
        self._shell.show_error(tr("The sweep cannot begin"), reason)

    # ---- following ----

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the experiment that is shown."""
        super().showEvent(event)
        self.definition.show_project()
        self.show_experiment(self._folder.path if self._folder is not None else None)
        self.trials.resume()

    def hideEvent(self, event: QHideEvent) -> None:
        """Follow no more; the experiment goes on."""
        super().hideEvent(event)
        self.details.keep()
        self.trials.rest()

    def show_experiment(self, path: Path | None) -> None:
        """Show an experiment by its folder; None for the next one."""
        if path != (self._folder.path if self._folder is not None else None):
            self._folder = ExperimentFolder(path) if path is not None else None
            self._options, self._is_stopping, self._is_copying = None, False, False
            self.definition.show_copied("")
            self.trials.follow(self._folder)
        self.trials.watcher.look()
        self._look()

    def _look(self) -> None:
        """Show the trials that are read."""
        watcher = self.trials.watcher
        self._trials = watcher.trials
        for widget in (self.resume_button, self.line):
            widget.hide()
        for button in (self.use_button, self.more):
            button.setVisible(self._folder is not None)
        if self._folder is None:
            self.title.setText(tr("New sweep"))
            self._show(())
            return
        try:
            info = self._folder.read_info()
            if not info.objectives:
                raise UserError(tr("{path} is damaged: it names no objective.", path=self._folder.info))
            self._read_definition(self._folder)
            if self._options is not None:
                self.title.setText(sweep_title(self._options))
                self.line.show_definition(self._options, self._total)
                self.line.show()
        except UserError as error:
            self._trials = []
            self._show(())
            self.state.setText(message_text(error))
            return
        self._show(info.objectives)
        is_ended = info.state in ENDS
        is_left = info.state in ("stopped", "lost") or not is_ended
        self.resume_button.setVisible(is_left and not watcher.is_alive and not self.commands.is_starting)
        if watcher.is_behind:
            text = tr("Reading, %n trial(s)…", "", len(self._trials))
        elif self.commands.is_starting or (is_ended and watcher.is_alive):
            text = tr("Starting…")
        elif self._is_stopping and watcher.is_alive:
            text = tr("Stopping…")
        else:
            state = info.state if is_ended or watcher.is_alive else "lost"
            reason = info.waits if state == "running" else info.reason
            text = progress_text(state, reason, self._trials, self._total)
            text = f"{text}. {watcher.damage}" if watcher.damage else text
        self._is_stopping = self._is_stopping and watcher.is_alive
        self.state.setText(text)

    def _read_definition(self, folder: ExperimentFolder) -> None:
        """Read the frozen definition, again where its budget was changed."""
        stamp = folder.project.stat().st_mtime_ns if folder.project.is_file() else 0
        if self._options is None or stamp != self._stamp:
            project = load(folder.project).project
            self._stamp, self._options, self._total = stamp, project.experiment, num_trials(project)

    def _show(self, objectives: Sequence[str]) -> None:
        trials, is_alive = self._trials, self.trials.watcher.is_alive
        self.stop_button.setVisible(is_alive)
        self._show_times()
        self.pages.setCurrentIndex(1 if trials else 0)
        self._show_side()
        self.state.setText(self.state.text() if self._folder else "")
        if trials:
            self.plot_card.title = axis_label(TrialAxis(objectives[0], {}, is_score=True))
            _carry_out(self._show_trials(tuple(objectives)), self, at_once=len(trials) <= MANY)
        else:
            self._show_first()
            self._show_use()

    def _show_trials(self, objectives: Sequence[str]) -> Iterator[None]:
        yield  # of many trials a turn each: the best ones, the table, the plots
        marked = self._best = _best(self._trials, objectives)
        yield
        self.trials.show_trials(objectives, frozenset(marked))
        self._show_use()
        yield
        self._show_in_plots(objectives, marked)

    def _show_in_plots(self, objectives: Sequence[str], marked: set[int]) -> None:
        """Give the plots the trials as they are now."""
        if not self._trials:
            return
        self.plot.show_trials(self._trials, objectives[0], marked)
        self._fill_along()
        if self._folder is not None and self._options is not None:
            findings = Findings(self._folder, self._options, tuple(self._trials), tuple(objectives), frozenset(marked))
            self.plots.show_findings(findings)

    def _fill_along(self) -> None:
        """Offer the values that the plot can be drawn along."""
        offered = ["", *self.plot.paths]
        if offered == [self.along.itemData(at) for at in range(self.along.count())]:
            return
        self.along.clear()
        for path in offered:
            self.along.addItem(_along_label(path), path)
        self.plot.plot_along("")

    # ---- a trial ----

    @property
    def chosen(self) -> Trial | None:
        """The trial that is selected, else the best."""
        number = self.table.number
        selected = next((trial for trial in self._trials if trial.number == number), None)
        if selected is not None or self._folder is None or not self._trials:
            return selected
        return best_trial(self._trials, self._folder.read_info().objectives)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave a narrow page to the definition."""
        super().resizeEvent(event)
        self._show_side()

    def _show_side(self) -> None:
        """Show the definition of a new sweep or of a copy; a trial that is selected is shown in its place."""
        is_defined_here = self._folder is None or self._is_copying
        self.definition.setVisible(is_defined_here)
        self._side_edge.setVisible(is_defined_here)
        self.line.copy.setVisible(not self._is_copying)
        has_room = self.width() >= NARROW
        self.results.setVisible(not is_defined_here or has_room)
        self.definition.setMaximumWidth(WIDTH if has_room else NO_LIMIT)
        for part in (self.details_side, self._details_edge):
            part.setVisible(bool(self.table.selected) and self.definition.isHidden())

    def _show_details(self) -> None:
        """Show what is known of the selected trials; without any the table has the room."""
        rows = self.table.selected
        row = rows[0] if len(rows) == 1 else None
        run = self.trials.run_of(row) if row is not None else None
        self.details.show_rows(rows, run, self.commands.differences(row) if row is not None else ())
        self._show_side()

    def _show_use(self) -> None:
        self.commands.update()
        self._show_details()
        number = self.table.number
        self.use_button.setText(tr("Apply best") if number is None else tr("Apply trial {number}", number=number))
        self.use_button.setEnabled(number is not None or bool(self._trials and self._best))
        self.use_button.setToolTip(translation(USE if self.use_button.isEnabled() else NO_VALUE))

    def _use_values(self) -> None:
        """Put the values of the chosen trial into the open project."""
        trial, folder = self.chosen, self._folder
        if trial is None or folder is None:
            return
        base = Path(folder.read_info().base or folder.path)

        def promoted(project: Project) -> Project:
            return with_values(project, trial.values, base).with_section("experiment", project.experiment)

        try:
            self._shell.editor.edit(tr("Use the values of trial {number}", number=trial.number), promoted)
        except UserError as error:
            self._shell.show_error(tr("The values do not fit the project"), str(error))
            return
        self._shell.hint(tr("The project has the values of trial {number}; undo takes them back.", number=trial.number))


def _along_label(path: str) -> str:
    return tr("By {name}", name=in_sentence(path_label(path))) if path else tr("By trial")


def _carry_out(steps: Iterator[None], owner: QWidget, *, at_once: bool) -> None:
    """Carry out steps, unless at once each in a turn of the event loop of its own."""
    for _ in steps:
        if not at_once:
            QTimer.singleShot(0, owner, partial(_carry_out, steps, owner, at_once=False))
            return


def _best(trials: Sequence[Trial], objectives: Sequence[str]) -> set[int]:
    """Return the numbers of the best trials."""
    front = {trial.number for trial in pareto_front(trials, objectives)} if len(objectives) > 1 else set()
    best = best_trial(trials, objectives)
    return front or ({best.number} if best is not None else set())
