"""The trials of an experiment in the window: search, groups and columns above their table, which follows them."""

import contextlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QPushButton, QVBoxLayout, QWidget

from netwright.app.experiments.trial_texts import column_label
from netwright.app.experiments.trial_watcher import TrialWatcher
from netwright.app.experiments.trials_model import Shown, TrialsModel
from netwright.app.experiments.trials_table import TableLayout, TrialsTable
from netwright.app.history.query_line import UnknownNameLine
from netwright.designer import markup, theme
from netwright.designer.language import noop, tr, translation
from netwright.designer.panels.parts import SearchField
from netwright.designer.settings import settings
from netwright.engine.core.files import read_object
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.run_options import options_in
from netwright.engine.runs.summary import LIMIT_BYTES
from netwright.engine.runs.trial_log import OVER, Trial
from netwright.engine.runs.trial_marks import Marks, read_marks
from netwright.engine.runs.trial_reader import Live
from netwright.engine.runs.trial_rows import TrialRow

ASK_MS = 500
MOST_LAYOUTS = 50
LAYOUTS = "experiments/layouts"
"""Setting: how the tables of the experiments that were seen last are arranged, as JSON by the name of their folder."""
SEARCH_HELP = noop("Words and conditions, all of which must match:")
SEARCH_EXAMPLES = (
    "state:failed tag:paper accuracy>0.9 validation.loss<0.2\n"
    "training.solver=adam network.conv_1.filters>=16 seconds<60"
)


class TrialsPanel(QFrame):
    """Search, table and what is known beside it. `changed` is emitted when trials have changed."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "role", "card")
        self.watcher = TrialWatcher(self)
        self.model = TrialsModel()
        self.table = TrialsTable(self.model)
        self.search = SearchField(tr("Find trials"), tr("Find trials"))
        self.refusal = UnknownNameLine(self.search)
        self.count = QLabel()
        self.group_button, self.columns_button = QPushButton(tr("Group")), QPushButton(tr("Columns"))
        self.hidden_button = QPushButton()
        self.hidden_button.setAccessibleName(tr("Show or hide hidden trials"))
        self.marks = Marks()
        self.objectives: Sequence[str] = ()
        self._best: frozenset[int] = frozenset()
        self._defaults: dict[str, Any] = {}
        self._runs_per_trial = 1
        self._settings = settings()
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(6)
        column.addLayout(self._make_bar())
        column.addWidget(self.refusal)
        column.addWidget(self.table, 1)
        self._asking = QTimer(self, interval=ASK_MS)
        self._asking.timeout.connect(self._ask)
        self.watcher.changed.connect(self.changed)
        self.watcher.seen.connect(self._show_seen)
        self.table.arranged.connect(self._keep_layout)
        self.table.verticalScrollBar().valueChanged.connect(self._ask_soon)
        theme.changed.connect(self.table.viewport().update)

    def _make_bar(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(4, 0, 0, 0)
        row.setSpacing(8)
        self.search.setToolTip(f"{translation(SEARCH_HELP)}\n{SEARCH_EXAMPLES}")
        self.search.setMinimumWidth(120)
        self.search.setMaximumWidth(420)
        self.search.textChanged.connect(self._look_for)
        theme.mark(self.count, "role", "muted")
        self.group_button.setToolTip(tr("Show the trials in groups by the values of columns, with mean and best"))
        self.group_button.setMenu(QMenu(self.group_button))
        self.group_button.menu().aboutToShow.connect(self._fill_group_menu)
        self.columns_button.setToolTip(tr("Choose columns; drag their headers to move them"))
        self.columns_button.setMenu(QMenu(self.columns_button))
        self.columns_button.menu().aboutToShow.connect(lambda: self.table.fill_columns_menu(self.columns_button.menu()))
        theme.mark(self.hidden_button, "role", "link")
        self.hidden_button.clicked.connect(self._toggle_hidden)
        row.addWidget(self.search, 100)
        row.addWidget(self.count)
        row.addWidget(self.hidden_button)
        row.addStretch(1)
        row.addWidget(self.group_button)
        row.addWidget(self.columns_button)
        return row

    # ---- what is shown ----

    def follow(self, folder: ExperimentFolder | None) -> None:
        """Show another experiment; None for none."""
        self.watcher.follow(folder)
        self.model.curves, self.model.live, self.marks = {}, {}, Marks()
        self._defaults, self._runs_per_trial, self._best, self.objectives = {}, 1, frozenset(), ()
        layout = TableLayout()
        if folder is not None:
            data = read_object(folder.project, LIMIT_BYTES["project.netwright"], may_be_deep=True) or {}
            options = options_in(data)
            self._defaults = {p: v for p, v in options.items() if not p.startswith("experiment.")}
            counts = [options.get(f"experiment.{name}") for name in ("repeats", "folds")]
            repeats, folds = (count if type(count) is int and count > 0 else 1 for count in counts)
            self._runs_per_trial = repeats * folds
            with contextlib.suppress(OSError):
                self.marks = read_marks(folder)
            layout = TableLayout.read(self._layouts().get(folder.path.name))
        self.model.show(Shown())
        self.model.keep_only(None)
        self.table.restore(layout)

    def show_trials(self, objectives: Sequence[str], best: frozenset[int]) -> None:
        """Show the trials that are read; `best` are the numbers of the best ones."""
        self.objectives, self._best = objectives, best
        self.refresh()
        self._ask()

    def refresh(self) -> None:
        """Show trials and marks again."""
        trials, is_alive = self.watcher.trials, self.watcher.is_alive
        self.model.show(Shown(trials, self.objectives, self._best, self.marks, self._defaults, is_alive))
        self.table.fit_columns()
        self._tell()

    def _tell(self) -> None:
        """Say how many trials are shown, and what no trial has."""
        count, total = len(self.model.trial_rows), len(self.watcher.trials)
        text = tr("%n trial(s)", "", total)
        if count != total:
            text = tr("{count:,} of %n trial(s)", "", total, count=count)
        self.count.setText(text)
        self.refusal.show_unknown(self.model.unknown if total and self.search.text() else None)
        hidden = self.model.num_hidden
        self.hidden_button.setVisible(bool(hidden))
        text = tr("Show {count:,} hidden", count=hidden)
        if self.model.shows_hidden:
            text = tr("Hide {count:,} hidden", count=hidden)
        self.hidden_button.setText(text)

    def _look_for(self, text: str) -> None:
        self.model.look_for(text)
        self._tell()
        self._ask_soon()

    def keep_only(self, numbers: Iterable[int] | None) -> None:
        """Show the trials that brushes of a plot keep; None for all."""
        self.model.keep_only(numbers)
        self._tell()

    def _toggle_hidden(self) -> None:
        self.model.show_hidden(not self.model.shows_hidden)
        self._tell()
        self._keep_layout()

    def _fill_group_menu(self) -> None:
        """Offer the columns that trials can be grouped by; several are levels of a tree, in the order of clicks."""
        menu = self.group_button.menu()
        menu.clear()
        theme.mark(menu, "role", "choices")
        columns = self.model.group_columns
        for column in self.model.columns:
            if column in ("trial", "curve", "seconds", "started"):
                continue
            action = menu.addAction(markup.without_mnemonic(column_label(column)))
            action.setCheckable(True)
            action.setChecked(column in columns)
            action.toggled.connect(lambda is_on, column=column: self._group(column, is_on))
        menu.addSeparator()
        menu.addAction(tr("No groups"), lambda: self._group_by(())).setEnabled(bool(columns))

    def _group(self, column: str, is_on: bool) -> None:
        others = [other for other in self.model.group_columns if other != column]
        self._group_by((*others, column) if is_on else others)

    def _group_by(self, columns: Sequence[str]) -> None:
        self.table.group_by(columns)
        names = tr(", ").join(map(column_label, columns))
        self.group_button.setText(tr("Group"))
        self.group_button.setToolTip(
            tr("In groups by {names}", names=names) if names else tr("Show the trials in groups")
        )
        self._ask_soon()

    # ---- curves and progress ----

    def resume(self) -> None:
        """Follow the trials."""
        self.watcher.resume()
        self._asking.start()

    def rest(self) -> None:
        """Follow no more; the experiment goes on."""
        self.watcher.rest()
        self._asking.stop()

    def _ask_soon(self) -> None:
        QTimer.singleShot(0, self, self._ask)

    def _ask(self) -> None:
        """Ask for the curves of the trials in view, and for the progress of those under way."""
        if not self.isVisible() or not self.objectives:
            return
        running = [row for row in self.model.trial_rows if row.trial.state not in OVER] if self.watcher.is_alive else []
        runs = [name for row in running for name in self.runs_under_way(row.trial)]
        curves = [row.trial.runs[0].name for row in self.table.visible_trials if row.trial.runs]
        score = next((name for name in self.objectives if "." in name), "training.loss")
        self.watcher.want(score, curves, runs)
        if running:
            self._show_seen()  # elapsed times grow

    def runs_under_way(self, trial: Trial) -> list[str]:
        """Return the names of the runs of a trial that have not ended."""
        if self._runs_per_trial == 1:
            return [str(trial.number)] if not trial.runs else []
        ended = {run.name for run in trial.runs}
        names = [f"{trial.number}_{part}" for part in range(1, self._runs_per_trial + 1)]
        return [name for name in names if name not in ended][:1]

    def run_of(self, row: TrialRow) -> Path | None:
        """Return the folder of the first run of a trial; None where it has not begun."""
        if self.watcher.folder is None:
            return None
        names = [run.name for run in row.trial.runs] or self.runs_under_way(row.trial)
        paths = [self.watcher.folder.run_path(name) for name in names]
        return next((path for path in paths if (path / "run.json").is_file()), None)

    def _show_seen(self) -> None:
        live: dict[int, Live] = {}
        curves: dict[int, list[float]] = {}
        score_curves = self.watcher.curves
        for name, progress in self.watcher.live.items():
            number = int(name.partition("_")[0])
            row = self.model.trial_row(number)
            ended = len(row.trial.runs) if row is not None else 0
            share = (ended + progress.share) / self._runs_per_trial
            live[number] = Live(share, progress.elapsed_s, progress.remaining_s)
            curves[number] = score_curves.get(name, [])
        for row in self.table.visible_trials:
            if row.trial.runs and row.trial.runs[0].name in score_curves:
                curves[row.trial.number] = score_curves[row.trial.runs[0].name]
        self.model.show_live(live, curves)

    # ---- the layout ----

    def _layouts(self) -> dict[str, Any]:
        try:
            layouts = json.loads(str(self._settings.value(LAYOUTS) or "{}"))
        except ValueError:
            return {}
        return layouts if isinstance(layouts, dict) else {}

    def _keep_layout(self) -> None:
        """Keep how the table is arranged, for when the experiment is shown again."""
        folder = self.watcher.folder
        if folder is not None:
            layouts = {name: layout for name, layout in self._layouts().items() if name != folder.path.name}
            layouts[folder.path.name] = self.table.layout_now.write()
            self._settings.setValue(LAYOUTS, json.dumps(dict(list(layouts.items())[-MOST_LAYOUTS:])))
        self._tell()

    def shutdown(self) -> None:
        """End the process."""
        self.rest()
        theme.changed.disconnect(self.table.viewport().update)
