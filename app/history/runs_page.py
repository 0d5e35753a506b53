"""The page Runs: the rail of runs at the left, and beside it the run, the experiment or the comparison that is chosen
in it."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from netwright.app.history.model_commands import ModelCommands
from netwright.app.history.rail import Rail
from netwright.app.history.run_commands import RunCommands
from netwright.app.history.run_comparison import ComparePage
from netwright.app.history.run_history import READING, RunHistory
from netwright.app.runs.segments import ExperimentPage, FolderSource, RunPage
from netwright.app.shell import Shell
from netwright.app.training import Training
from netwright.app.widgets import Divider
from netwright.designer.engine_messages import title_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.part_registry import entries, entry
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.history import in_order
from netwright.engine.runs.summary import RunSummary, read_summary

NARROW = 1000
"""Width of the page below which the rail takes less."""
FIRST = noop("Curves and results of a run appear here while it trains.")


class RunsPage(QWidget):
    """Every run of the project. `begun` tells an experiment that was started here."""

    begun = Signal(object)
    sweep_requested = Signal()

    def __init__(
        self, shell: Shell, training: Training, open_copy: Callable[[Path, Path], bool], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._shell, self._training = shell, training
        self.history = RunHistory(self)
        self.commands = RunCommands(shell, training, open_copy, self.history, self)
        self.rail, self.monitor = Rail(self.commands.menu), training.monitor
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.monitor)
        for key in entries("segments"):
            page: RunPage = entry("segments", key)(shell)
            self.monitor.add_page(key, translation(page.title), page)
            page.sample_requested.connect(self._explain)
        self.monitor.add_page("options", tr("Options"), self.monitor.options)
        if (make := entry("pages", "errors")) is not None:
            self.monitor.add_beside(errors := make(shell))
            errors.sample_requested.connect(self._explain)
            errors.scores_requested.connect(lambda: self.monitor.segments.choose("scores"))
        self.models = ModelCommands(shell, self.rail.models, self)
        self._run_times: list[float] = []
        self._comparison: ComparePage | None = None
        self._source: FolderSource | None = None
        if (source := entry("folders", "experiments")) is not None:
            self._source = source(self)
            self._source.changed.connect(self._show_runs)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.rail)
        row.addWidget(Divider())
        row.addWidget(self.pages, 1)
        self._connect()
        self._show_runs()

    @cached_property
    def experiment(self) -> ExperimentPage | None:
        """The page of experiments, made when it is first shown; None where that part is not here."""
        if (make := entry("pages", "experiment")) is None:
            return None
        page: ExperimentPage = make(self._shell, self.pages)
        self.pages.addWidget(page)
        page.run_requested.connect(self.show_run)
        page.compare_requested.connect(self.compare)
        page.begun.connect(self._on_begun)
        return page

    def _connect(self) -> None:
        rail, commands, documents = self.rail, self.commands, self._shell.documents
        self.history.changed.connect(self._show_runs)
        self.history.refused.connect(rail.refuse)
        rail.chosen.connect(self._on_chosen)
        rail.run_requested.connect(self._training.queue)
        rail.sweep_requested.connect(self.sweep_requested)
        rail.others_toggled.connect(self._show_runs)
        rail.export_requested.connect(lambda: commands.ask_and_export(rail.model.runs))
        rail.list.folder_requested.connect(self.show_experiment)
        rail.list.delete_requested.connect(lambda: commands.delete(commands.runs))
        rail.model.renamed.connect(self.history.rename)
        rail.model_dropped.connect(self.models.open)
        self.models.shown.connect(self._show_model)
        self.models.left.connect(self._leave_comparison)
        commands.register_requested.connect(self.models.register)
        commands.rename_requested.connect(lambda: rail.list.edit(rail.list.currentIndex()))
        self.monitor.options.notes.noted.connect(self.history.note)
        self.monitor.clicked.connect(self._on_clicked)
        documents.changed.connect(self._follow_document)
        for signal in (self._training.requested, self._training.run_shown):
            signal.connect(self._on_run_shown)
        self._training.state_changed.connect(self._show_first)
        rail.add_panel(self._training.queue_follower.make_panel())

    # ---- what is shown ----

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the runs while the page is visible."""
        super().showEvent(event)
        self._follow_document()
        self._training.catch_up()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop following the runs."""
        super().hideEvent(event)
        self.monitor.options.notes.keep()
        self.history.rest()
        if self._source is not None:
            self._source.rest()
        if self._comparison is not None:
            self._comparison.rest()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the rail less room in a narrow window."""
        super().resizeEvent(event)
        self.rail.set_narrow(event.size().width() < NARROW)

    def _follow_document(self) -> None:
        """List the runs of the project that is open."""
        documents = self._shell.documents
        if not self.isVisible():
            return
        if documents.key != self.history.project and self.pages.currentWidget() is not self.monitor:
            self._show_page(self.monitor)
        self.history.watch(documents.key)
        self.models.watch(documents.key)
        if self._source is not None:
            self._source.watch(documents.source, documents.identity)

    def _show_runs(self) -> None:
        history = self.history
        runs = list(history.runs.values())
        own = [run for run in runs if history.is_of_project(run)]
        is_all = self.rail.shows_others
        folders = self._source.folders if self._source is not None else ()
        self.rail.show_runs(
            runs if is_all else own,
            folders,
            history.live,
            is_read=history.is_read,
            num_others=0 if is_all else len(runs) - len(own),
        )
        if not self.rail.list.selected and self.pages.currentWidget() is self.monitor:
            self._select_shown()
        self.setFocusProxy(self.rail.list if self.rail.model.rows else self.rail.search)
        times = (run.number("seconds") for run in own if run.state == "finished")
        self._run_times = [seconds for seconds in times if seconds is not None]
        if isinstance(page := self.pages.currentWidget(), ExperimentPage):
            page.set_run_times(self._run_times)
        self._show_summary()
        self._select_runs()
        self._show_first()

    def _show_first(self) -> None:
        """Say what comes before the first run, or that it is not known yet whether there is one."""
        is_read = self.history.is_read and self._training.has_looked
        self.monitor.say_first(translation(FIRST if is_read else READING), offers=is_read)

    def _show_summary(self) -> None:
        """Tell the page of the run what its files say."""
        if (folder := self.monitor.folder) is not None and (run := self._summary_of(folder.path)) is not None:
            self.monitor.show_summary(run)
            other = self._other(run)
            self.monitor.buttons.show_other(title_text(other.title.partition(" · ")[0]) if other else "")

    def _summary_of(self, path: Path) -> RunSummary | None:
        """Return the summary of a run: of the project as it is listed, else from its files."""
        if (run := self.history.runs.get(path)) is not None:
            return run
        try:
            return read_summary(path)
        except OSError:
            return None

    def _other(self, run: RunSummary) -> RunSummary | None:
        """Return the run that one is compared with: the newest that ended before it, else the oldest after it."""
        runs = [one for one in in_order(self.history.runs.values()) if self.history.is_of_project(one)]
        ended = [one for one in runs if one.state in ENDS and one.path != run.path]
        before = [one for one in ended if one.created < run.created]
        return before[0] if before else ended[-1] if ended else None

    # ---- choosing ----

    def _on_chosen(self) -> None:
        """Show what the user has selected in the rail."""
        rows = self.rail.list.selected
        runs = [row.path for row in rows if row.kind in ("run", "trial")]
        self._select_runs()
        if len(runs) >= 2:
            self.compare([run for path in runs if (run := self._summary_of(path)) is not None])
        elif runs:
            self.show_run(runs[0])
        elif rows:
            self.show_experiment(rows[0].path)

    def _select_runs(self) -> None:
        paths = [row.path for row in self.rail.list.selected if row.kind in ("run", "trial")]
        self.commands.select([run for path in paths if (run := self.history.runs.get(path)) is not None])

    def _select_shown(self) -> None:
        folder = self.monitor.folder
        self.rail.list.select([folder.path] if folder is not None else [])

    def _on_run_shown(self) -> None:
        """Another run is shown: it was chosen, asked for, or begun by the queue."""
        self._show_page(self.monitor)
        self._select_shown()
        self._select_runs()
        self._show_summary()

    def show_segment(self, key: str) -> None:
        """Show one of the segments of the run or model that is shown."""
        if self.rail.models.selected is not None:
            self.models.page.segments.choose(key)
            return
        self._show_page(self.monitor)
        self.monitor.segments.choose(key)

    def _show_model(self) -> None:
        """Show the page of the models, and no run as selected."""
        if self.pages.indexOf(self.models.page) < 0:
            self.pages.addWidget(self.models.page)
        self.rail.list.select([])
        self._select_runs()
        self._show_page(self.models.page)

    def show_run(self, path: Path, segment: str = "") -> None:
        """Show a run, perhaps with one of its segments."""
        if self.monitor.folder != RunFolder(path):
            self._training.follow(RunFolder(path))
        self._show_page(self.monitor)
        if segment:
            self.monitor.segments.choose(segment)
        self._select_shown()

    def show_experiment(self, path: Path | None) -> None:
        """Show an experiment, or with None the definition of the next one."""
        if (page := self.experiment) is None:
            return
        self._show_page(page)
        page.set_run_times(self._run_times)
        page.show_experiment(path)
        self.rail.list.select([path] if path is not None else [])

    def _on_begun(self, folder: object) -> None:
        self.begun.emit(folder)
        if self._source is not None:
            self._source.look()
        path = getattr(folder, "path", None)
        self.rail.list.select([path] if isinstance(path, Path) else [])

    def compare(self, runs: Sequence[RunSummary]) -> None:
        """Show runs beside each other: their curves, results and options, and where two of them answer otherwise."""
        if self._comparison is None:
            make = entry("pages", "answers")
            self._comparison = ComparePage(make(self._shell) if make is not None else None)
            self._comparison.networks_requested.connect(self.commands.compare_networks)
            self._comparison.closed.connect(self._leave_comparison)
            self.pages.addWidget(self._comparison)
        self._comparison.show_runs(runs)
        self._show_page(self._comparison)
        self.rail.list.select([run.path for run in runs])

    def _leave_comparison(self) -> None:
        """Go back to the run that is shown."""
        self._show_page(self.monitor)
        self._select_shown()
        self.rail.list.setFocus()

    def _show_page(self, page: QWidget) -> None:
        if self._comparison is not None and page is not self._comparison:
            self._comparison.rest()
        self.pages.setCurrentWidget(page)
        if page is not self.models.page_shown:
            self.rail.models.select(None)

    def _explain(self, split: str, place: int) -> None:
        """Explain the answer for a sample."""
        page = self.monitor.segments.pages.get("explain")
        if isinstance(page, RunPage):
            page.show_sample(split, place)
            self.monitor.segments.choose("explain")

    def _on_clicked(self, name: str) -> None:
        """Carry out the links below a run that concern other pages."""
        folder = self.monitor.folder
        run = self._summary_of(folder.path) if folder is not None else None
        if run is None:
            return
        if name == "compare" and (other := self._other(run)) is not None:
            self.compare([run, other])
        elif name == "try":
            self.monitor.segments.choose("predict")
        elif name == "report":
            self.commands.actions["report"].trigger()

    def shutdown(self) -> None:
        """End processes, requests and timers."""
        self.history.close()
        self.models.shutdown()
        self.rail.shutdown()
        if self._source is not None:
            self._source.rest()
        if self._comparison is not None:
            self._comparison.shutdown()
