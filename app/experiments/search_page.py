"""Search: the definition of an experiment, its trials while they train, and what they have reached."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.app.experiments.definition_panel import DefinitionPanel
from netwright.app.experiments.experiment_menu import ExperimentMenu
from netwright.app.experiments.plots.chart import Findings
from netwright.app.experiments.plots.panel import PlotsPanel
from netwright.app.experiments.trial_commands import TrialCommands
from netwright.app.experiments.trial_details import TrialDetails
from netwright.app.experiments.trial_plot import TrialPlot
from netwright.app.experiments.trial_texts import progress_text
from netwright.app.experiments.trials_panel import TrialsPanel
from netwright.app.experiments.trials_table import score_name
from netwright.app.history.part_pages import ExperimentPage
from netwright.app.plots.card import PlotCard
from netwright.app.shell import Shell
from netwright.app.widgets import Divider, SidePanel
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.forms.row import sentence
from netwright.engine.core.errors import UserError, plural
from netwright.engine.experiments.operations import experiment_begin
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import dumps, load
from netwright.engine.project.options.metric_options import in_a_line
from netwright.engine.project.project import Project
from netwright.engine.project.trials import num_trials, with_values
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.experiments import ExperimentFolder, experiment_title, experiments_of
from netwright.engine.runs.trial_log import Trial
from netwright.engine.runs.trial_rows import best_trial, pareto_front

DEFINES = "experiments/definition"
"""Setting: whether the definition is shown beside the trials."""
SIDE_WIDTH, DETAILS_WIDTH = 400, 330
MANY = 1000
"""Trials from which on table and plots are filled in different turns of the event loop."""
USE = "Put the values of the best or the selected trial into the project; can be undone"
FIRST = (
    "Choose what varies, such as training.momentum=0.8,0.9 or network.conv_1.filters=8..64, then Run experiment: "
    "each combination becomes a trial, and the best is shown here."
)


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
        self._is_stopping = self._has_best = False
        self._settings = QSettings("Netwright", "Netwright")
        self.definition = DefinitionPanel(shell)
        self.experiments, self.run_button = QComboBox(), QPushButton("Run experiment")
        self.define_button = QPushButton("Definition")
        self.resume_button = QPushButton("Resume")
        self.use_button = QPushButton("Apply best")
        self.state, self.message = ElidedLabel(), QLabel()
        self.trials, self.plot, self.pages = TrialsPanel(), TrialPlot(), QStackedWidget()
        self.table = self.trials.table
        self.trials.changed.connect(self._look)
        self.commands = TrialCommands(shell, self.trials)
        self.more = ExperimentMenu(shell, self.trials, self.commands)
        self.details = TrialDetails(self.trials.model, self.commands.actions, self.commands.menu)
        self._connect_trials()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.side, self._side_edge = SidePanel(self.definition, SIDE_WIDTH), Divider()
        self.details_side, self._details_edge = SidePanel(self.details, DETAILS_WIDTH), Divider()
        for widget in (self.side, self._side_edge):
            row.addWidget(widget)
        row.addWidget(self._make_results(), 1)
        for widget in (self._details_edge, self.details_side):
            row.addWidget(widget)
        self._show_side()
        shell.editor.project_changed.connect(self._on_project)
        shell.documents.changed.connect(self._list_experiments)

    def show_definition(self) -> None:
        """Show what varies."""
        self.define_button.setChecked(True)

    def _connect_trials(self) -> None:
        self.commands.show_requested.connect(self.run_requested)
        self.commands.test_requested.connect(self.test_requested)
        self.commands.compare_requested.connect(self.compare_requested)
        self.commands.use_requested.connect(self._use_values)
        self.commands.marked.connect(self._show_details)
        self.details.noted.connect(self.commands.save_notes)
        self.details.test_requested.connect(self.commands.actions["test"].trigger)

    # ---- parts ----

    def _make_results(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        bar = QHBoxLayout()
        bar.setSpacing(8)
        self.run_button.clicked.connect(self._on_run)
        self.experiments.setMinimumWidth(160)
        self.experiments.setAccessibleName("Experiment")
        self.experiments.activated.connect(lambda: self.show_experiment(Path(self.experiments.currentData())))
        self.resume_button.setToolTip("Continue with the trials that are left")
        self.resume_button.clicked.connect(self.commands.go_on)
        self.use_button.setToolTip(USE)
        self.use_button.clicked.connect(self._use_values)
        theme.mark(self.state, "role", "muted")
        back = QPushButton("‹ Runs")
        theme.mark(back, "role", "link")
        back.setToolTip("Back to the list of runs")
        back.clicked.connect(self.back_requested)
        self.define_button.setCheckable(True)
        self.define_button.setChecked(self._settings.value(DEFINES, "true") != "false")
        self.define_button.setToolTip("Show or hide what varies and how it is chosen")
        self.define_button.toggled.connect(self._keep_side)
        buttons = (self.define_button, self.run_button, self.resume_button, self.experiments, self.use_button)
        for widget in (back, *buttons, self.more):
            bar.addWidget(widget)
        bar.addStretch(1)
        column.addLayout(bar)
        column.addWidget(self.state)
        self.pages.addWidget(self._make_empty())
        self.pages.addWidget(self._make_trials())
        column.addWidget(self.pages, 1)
        return page

    def _make_empty(self) -> QWidget:
        """The first step to take, with its button."""
        page = QWidget()
        column = QVBoxLayout(page)
        column.setSpacing(8)
        self.title, self.first = QLabel(), QPushButton("Run experiment")
        theme.mark(self.title, "role", "title")
        theme.mark(self.message, "role", "muted")
        self.message.setWordWrap(True)
        self.first.clicked.connect(self._on_run)
        self.begin_with = QPushButton("Start from")
        self.begin_with.setMenu(self.definition.ready_menu)
        column.addStretch(1)
        for widget in (self.title, self.message):
            widget.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(widget)
        for button in (self.first, self.begin_with):
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        return page

    def _make_trials(self) -> QWidget:
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setChildrenCollapsible(False)
        parts.setHandleWidth(12)
        parts.setStyleSheet("QSplitter::handle { background: transparent; }")
        self.plot_card = PlotCard(self.plot)
        self.along = QComboBox()
        self.along.setAccessibleName("Along")
        self.along.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.along.activated.connect(lambda: self.plot.plot_along(self.along.currentData()))
        self.plot_card.head.addStretch(1)
        self.plot_card.head.addWidget(self.along)
        self.plots = PlotsPanel(self.plot_card, "Progress", self._shell.server)
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
        project = self._shell.editor.project
        options = project.experiment
        is_defined = bool(options.parameters or options.table or options.runs_per_trial > 1)
        is_begun = self._folder is not None and (self.commands.is_starting or self.trials.watcher.is_alive)
        count = num_trials(project) if is_defined else 0
        if is_begun:
            self.title.setText("The first trials begin")
            self.message.setText("The runner reads the data; each trial is a row here as soon as it begins.")
        elif is_defined:
            self.title.setText(plural(count, "trial") if count else "Trials until it ends")
            paths = [parameter.path for parameter in options.parameters]
            sentence = f"What varies: {', '.join(paths)}." if paths else "Only seeds or folds vary."
            self.message.setText(f"{sentence} Each trial becomes a row here, and the best is marked.")
        else:
            self.title.setText("Nothing varies yet")
            self.message.setText(FIRST)
        self.first.setVisible(is_defined and not is_begun)
        self.begin_with.setVisible(not is_defined and not is_begun)

    def _on_project(self) -> None:
        self.definition.show_project()
        self._show_first()

    # ---- running ----

    def _on_run(self) -> None:
        if self._folder is not None and self._folder.is_alive():
            self._folder.request("stop")
            self._is_stopping = True
            self._look()
            return
        documents = self._shell.documents
        asked = experiment_begin.BeginRequest(
            project=dumps(documents.identified(self._shell.editor.project)),
            project_path=documents.source,
            base=documents.base,
        )
        self.run_button.setEnabled(False)
        self.state.setText("Reading the data…")
        self._shell.server.ask(
            experiment_begin.OPERATION, asked, self._on_begun, self._on_refused, hosts=documents.hosts
        )

    def _on_begun(self, answer: Mapping[str, Any]) -> None:
        self.run_button.setEnabled(True)
        folder = ExperimentFolder(Path(answer["experiment_dir"]))
        if not self.commands.start(folder):
            return
        self._list_experiments()
        self.show_experiment(folder.path)
        self.begun.emit(folder)

    def _on_refused(self, reason: str) -> None:
        self.run_button.setEnabled(True)
        self.state.setText("")
        self._shell.show_error("The experiment cannot begin", reason)

    # ---- following ----

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the experiment that is shown."""
        super().showEvent(event)
        self.definition.show_project()
        self._list_experiments()
        self.trials.resume()

    def hideEvent(self, event: QHideEvent) -> None:
        """Follow no more; the experiment goes on."""
        super().hideEvent(event)
        self.details.keep()
        self.trials.rest()

    def _list_experiments(self) -> None:
        """List the experiments of the project, the newest first, and show the one that is chosen, else the newest."""
        if not self.isVisible():
            return
        documents = self._shell.documents
        folders = experiments_of(documents.source, documents.identity)
        current = self._folder.path if self._folder is not None else None
        self.experiments.clear()
        for folder in folders:
            self.experiments.addItem(experiment_title(folder), str(folder.path))
        paths = [folder.path for folder in folders]
        self.experiments.setVisible(bool(paths))
        self.use_button.setVisible(bool(paths))
        self.more.setVisible(bool(paths))
        self.show_experiment(current if current in paths else paths[0] if paths else None)

    def show_experiment(self, path: Path | None) -> None:
        """Show an experiment by its folder; None for none."""
        if path is not None:
            self.experiments.setCurrentIndex(self.experiments.findData(str(path)))
        if self._folder is None or path != self._folder.path:
            self._folder = ExperimentFolder(path) if path is not None else None
            self._options, self._is_stopping = None, False
            self.trials.follow(self._folder)
        self.trials.watcher.look()
        self._look()

    def _look(self) -> None:
        """Show the trials that are read."""
        watcher = self.trials.watcher
        self._trials = watcher.trials
        self.resume_button.hide()
        if self._folder is None:
            self._show(())
            return
        try:
            info = self._folder.read_info()
            if not info.objectives:
                raise UserError(f"{self._folder.info} is damaged: it names no objective.")
            self._read_definition(self._folder)
        except UserError as error:
            self._trials = []
            self._show(())
            self.state.setText(str(error))
            return
        self._show(info.objectives)
        is_ended = info.state in ENDS
        is_left = info.state in ("stopped", "lost") or not is_ended
        self.resume_button.setVisible(is_left and not watcher.is_alive and not self.commands.is_starting)
        if watcher.is_behind:
            text = f"Reading, {plural(len(self._trials), 'trial')}…"
        elif self.commands.is_starting or (is_ended and watcher.is_alive):
            text = "Starting…"
        elif self._is_stopping and watcher.is_alive:
            text = "Stopping…"
        else:
            state = info.state if is_ended or watcher.is_alive else "lost"
            text = progress_text(state, info.reason, self._trials, self._total)
            text = f"{text}. Waits: {info.waits}" if info.waits and state == "running" else text
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
        self.run_button.setText("Stop" if is_alive else "Run experiment")
        self.pages.setCurrentIndex(1 if trials else 0)
        if not trials:
            self._show_first()
        self._show_side()
        self.state.setText(self.state.text() if self._folder else "")
        if trials:
            front = {trial.number for trial in pareto_front(trials, objectives)} if len(objectives) > 1 else set()
            best = best_trial(trials, objectives)
            marked = front or ({best.number} if best is not None else set())
            self._has_best = best is not None
            self.trials.show_trials(objectives, frozenset(marked))
            show = partial(self._show_in_plots, tuple(objectives), marked)
            if len(trials) > MANY:  # in a turn of its own
                QTimer.singleShot(0, self, show)
            else:
                show()
            self.plot_card.title = sentence(in_a_line(score_name(objectives[0])))
        self._show_use()

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
            self.along.addItem(f"By {path.rpartition('.')[2]}" if path else "By trial", path)
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

    def _keep_side(self, is_shown: bool) -> None:
        self._settings.setValue(DEFINES, "true" if is_shown else "false")
        self._show_side()

    def _show_side(self) -> None:
        """Show the definition where the user wants it, and always as long as there are no trials."""
        has_trials = self.pages.currentIndex() == 1
        self.define_button.setVisible(has_trials)
        for part in (self.side, self._side_edge):
            part.setVisible(self.define_button.isChecked() or not has_trials)

    def _show_details(self) -> None:
        """Show what is known of the selected trials; without any the table has the room."""
        rows = self.table.selected
        row = rows[0] if len(rows) == 1 else None
        run = self.trials.run_of(row) if row is not None else None
        self.details.show_rows(rows, run, self.commands.differences(row) if row is not None else ())
        for part in (self.details_side, self._details_edge):
            part.setVisible(bool(rows) and self.pages.currentIndex() == 1)

    def _show_use(self) -> None:
        self.commands.update()
        self._show_details()
        number = self.table.number
        self.use_button.setText("Apply best" if number is None else f"Apply trial {number}")
        self.use_button.setEnabled(number is not None or (bool(self._trials) and self._has_best))
        self.use_button.setToolTip(USE if self.use_button.isEnabled() else "No trial has a value of the objective yet")

    def _use_values(self) -> None:
        """Put the values of the chosen trial into the open project."""
        trial, folder = self.chosen, self._folder
        if trial is None or folder is None:
            return
        base = Path(folder.read_info().base or folder.path)

        def promoted(project: Project) -> Project:
            return with_values(project, trial.values, base).with_section("experiment", project.experiment)

        try:
            self._shell.editor.edit(f"Use the values of trial {trial.number}", promoted)
        except UserError as error:
            self._shell.show_error("The values do not fit the project", str(error))
            return
        self._shell.hint(f"The project has the values of trial {trial.number}; undo takes them back.")
