"""The main window: one project, its tabs, panels and menus. It connects the parts and leaves the work to them."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QVBoxLayout, QWidget

from netwright.app import documents, messages
from netwright.app.data.data_guesser import DataGuesser, dropped_path, is_project
from netwright.app.data.dataset_tracker import DatasetTracker
from netwright.app.data.host_asker import HostAsker
from netwright.app.frame.activations_overlay import ActivationsOverlay
from netwright.app.frame.canvas_overlays import LayerHealthOverlay, LayerTimesOverlay, StagesOverlay
from netwright.app.frame.document_commands import DocumentCommands
from netwright.app.frame.import_commands import ImportCommands
from netwright.app.frame.menu_bar import Menus
from netwright.app.frame.pages import Pages
from netwright.app.frame.tabs import DesignTab, Tabs
from netwright.app.frame.weights_commands import WeightsCommands
from netwright.app.frame.window_bars import StatusLine, TopBar
from netwright.app.frame.window_commands import CanvasCommands, DialogCommands, SweepCommands, ThemeCommands
from netwright.app.frame.window_state import WindowState
from netwright.app.notifier import Notifier
from netwright.app.processes import EngineServer
from netwright.app.runs.execution_environment import ExecutionEnvironment
from netwright.app.runs.phases import Phase
from netwright.app.training import Training
from netwright.app.user_code_tracker import UserCodeTracker
from netwright.app.weights_tracker import WeightsTracker
from netwright.app.widgets import within_screen
from netwright.designer import markup, theme
from netwright.designer.editor import Editor
from netwright.designer.language import tr
from netwright.designer.scene.lens import LENSES
from netwright.designer.settings import settings
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.network.block import Block
from netwright.engine.project.import_kinds import can_import
from netwright.engine.project.sources.source_catalog import SOURCES

if TYPE_CHECKING:
    from netwright.app.frame.network_commands import AlignCommands, BlockCommands
    from netwright.app.runs.preload import Preload
    from netwright.app.start_page.start_page import StartPage
    from netwright.designer.canvas.view import CanvasView
    from netwright.designer.panels.library_panel import LibraryPanel
    from netwright.designer.undo_history import Step

PRELOAD_MS = 800
BLOCKS_MS = 50
LEAST_CENTRE = (300, 200)


class MainWindow(QMainWindow):
    """One project on screen; a `Shell` to its parts. `painted` is emitted once, after the first paint.

    `tab` is what is seen first: "design", or "start" for the start page.
    """

    painted = Signal()

    def __init__(
        self,
        scheme: theme.Scheme | None = None,
        *,
        tab: str = "design",
        start_engine: bool = True,
        server: EngineServer | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings()
        self.theme = ThemeCommands(self.settings, scheme, self)
        self._was_painted = False
        self._is_leaving = False
        self._start_engine = start_engine
        self._preload: Preload | None = None
        self.editor = Editor(parent=self)
        self.documents = documents.Documents(lambda: self.editor.project, lambda: self.editor.is_modified, self)
        self.server = server or EngineServer(self)
        self.notifier = Notifier(self, self.settings)
        self.dataset = DatasetTracker(self.editor, self.documents, self.server)
        self.host_asker = HostAsker(self, self.dataset)
        self.guesser = DataGuesser(self)
        self.user_code = UserCodeTracker(self.editor, self.documents, self.server, self)
        self.environment = ExecutionEnvironment(self, self.dataset)
        self.training = Training(self, self.dataset, self.user_code, self.notifier)
        self.design = DesignTab(self, self.editor, self.settings)
        self.stages = StagesOverlay(self, self.design, self.environment)
        self.layer_health = LayerHealthOverlay(self, self.design, self.training)
        self.files = DocumentCommands(self)
        self.imports = ImportCommands(self, self.files)
        self.layer_times = LayerTimesOverlay(self, self.design, self.environment)
        self.activations = ActivationsOverlay(self, self.design, self.training, self.layer_health.timeline)
        self.canvas_commands = CanvasCommands(self, self.design, self.layer_times)
        self.weights = WeightsCommands(self, self.dataset, self.training, self.files.open_asking)
        self.sweeps = SweepCommands(self, self.show_search)
        self.dialogs = DialogCommands(
            self, self.design, self.dataset, self.user_code, self.environment, self.training, self.sweeps
        )
        self.menus = Menus(self, self, self.documents)
        self.made = Pages(
            self,
            self.dataset,
            self.guesser,
            self.dialogs,
            self.training,
            self.files,
            self.weights,
            self.sweeps,
            self.notifier,
        )
        self._make_central()
        self.status = StatusLine(self.statusBar(), self.editor)
        self.status.show_engine("starting" if start_engine else "off")
        self.weights_tracker = WeightsTracker(self.editor, self.documents, self.server)
        self._connect_files()
        self._connect_project()
        self._connect_engine()
        self._connect_design()
        self._restore_size()
        self.setAcceptDrops(True)
        self._show_first(tab)

    def _show_first(self, tab: str) -> None:
        self.show_start() if tab == "start" else self.show_tab(tab)
        if tab == "design":
            self.design.canvas.setFocus()  # else the first button of the bar had the keyboard
        self.update_title()

    # ---- making ----

    def _make_central(self) -> None:
        self.tabs: Tabs = Tabs(
            self,
            {
                "design": lambda: self.design.page,
                "data": self.made.data,
                "runs": lambda: self.made.runs(self.tabs.stack),
                "start": self.made.start,
            },
        )
        self.bar = TopBar(self.menus.actions_by_id)
        self.bar.tab_chosen.connect(self.show_tab)
        central = QWidget()
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tabs.stack)
        central.setMinimumSize(*LEAST_CENTRE)  # its pages scroll, elide or wrap: none may push the docks out
        self.setCentralWidget(central)
        holder = self.addToolBar(tr("Main"))
        holder.setObjectName("bar")
        holder.setMovable(False)
        holder.toggleViewAction().setEnabled(False)
        holder.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        holder.addWidget(self.bar)

    def show_search(self) -> None:
        """Show the page on which experiments are defined and followed."""
        self.show_tab("runs")
        self.made.show_search()

    @cached_property
    def blocks(self) -> "BlockCommands":
        """The user's own blocks; made when first needed."""
        from netwright.app.frame.network_commands import BlockCommands

        return BlockCommands(self, self.design)

    @cached_property
    def align(self) -> "AlignCommands":
        """Placement of the selected layers; made when first needed."""
        from netwright.app.frame.network_commands import AlignCommands

        return AlignCommands(self.editor, lambda before: self.design.canvas.animation.begin(before.positions))

    # ---- connecting the parts ----

    def _connect_files(self) -> None:
        self.files.data_chosen.connect(self.guesser.use)
        self.files.import_chosen.connect(self.imports.start)
        self.files.file_chosen.connect(self.bring)
        self.imports.transfer_requested.connect(self.weights.transfer)
        self.status.weights.clicked.connect(self.weights.transfer)
        self.weights_tracker.changed.connect(self.status.show_weights)

    def _connect_project(self) -> None:
        editor = self.editor
        editor.project_changed.connect(self._on_project_changed)
        editor.analysis_changed.connect(self.update_actions)
        editor.selection_changed.connect(self.update_actions)
        editor.stack.indexChanged.connect(self.update_actions)  # emitted after the step, unlike project_changed
        editor.refused.connect(self.hint)
        editor.stepped.connect(self._on_stepped)
        editor.modified_changed.connect(self.update_title)
        self.documents.changed.connect(self.update_title)
        self.files.opened.connect(self._on_document_opened)
        self.imports.report_changed.connect(self.update_actions)
        self.dataset.failed.connect(self._on_data_failed)
        self.user_code.message.connect(self.hint)
        self.user_code.trusted.connect(lambda: self.dataset.refresh(again=bool(self.dataset.error)))

    def _connect_engine(self) -> None:
        self.server.ready.connect(lambda: self.status.show_engine("ready"))
        self.server.failed.connect(self._on_engine_failed)
        self.environment.described.connect(self.bar.set_environment)
        self.training.state_changed.connect(self._on_training_changed)
        self.training.problems_requested.connect(self.show_problems)
        self.training.export_requested.connect(self.dialogs.export_network)
        self.training.doctor_requested.connect(self.dialogs.show_doctor)
        self.design.lenses.changed.connect(self.update_actions)
        self.training.state_changed.connect(self.activations.offer)
        self.notifier.changed.connect(self.update_actions)
        self.theme.changed.connect(self.update_actions)
        theme.changed.connect(self._on_training_changed)

    def _connect_design(self) -> None:
        self.design.canvas_made.connect(self._on_canvas_made)
        self.design.palette_made.connect(self._on_palette_made)
        self.design.docks_made.connect(self._on_docks_made)
        self.design.section_requested.connect(self._on_section_requested)
        self.design.sweep_requested.connect(self.sweeps.begin)
        self.design.sweep_ended.connect(self.sweeps.end)
        self.status.errors.clicked.connect(self.show_problems)

    def _on_canvas_made(self, canvas: "CanvasView") -> None:
        canvas.keep_requested.connect(lambda: self.blocks.keep())
        canvas.example_requested.connect(lambda: self.files.open_path(documents.EXAMPLES / f"digits{SUFFIX}"))
        canvas.overlays.frozen_clicked.connect(self.weights.transfer)

    def _on_palette_made(self, palette: "LibraryPanel") -> None:
        palette.user_block_chosen.connect(lambda entry: self.blocks.add(entry))
        palette.user_block_renamed.connect(lambda entry: self.blocks.rename(entry))
        palette.user_block_removed.connect(lambda entry: self.blocks.remove(entry))

    def _on_docks_made(self, docks: list[QDockWidget]) -> None:
        """Add the panels to the menu, and restore their places."""
        self.menus.panels.addActions([dock.toggleViewAction() for dock in docks])
        self.menus.panels.addAction(self.design.strip_bar.toggleViewAction())
        state = self.settings.value("docks")
        if isinstance(state, QByteArray):
            self.restoreState(state)

    def _on_section_requested(self, section: str) -> None:
        if section == "trust":
            self.user_code.review()
        else:
            self.show_tab("data") if section == "data" else self.dialogs.edit_training_options()

    # ---- what is shown ----

    def show_tab(self, key: str) -> None:
        """Show Design, Data, Runs or the start page; each is made when first seen."""
        focused = self.focusWidget()
        if key == "design":
            self.design.show()
        else:
            self.design.hide()
        self.tabs.show(key)
        if key != "start" and (focused is None or not self.bar.isAncestorOf(focused)):
            self.tabs.page(key).setFocus()  # else Qt gives it to the first of the bar
        self.menus.panels.setEnabled(key == "design")
        self.status.show_figures(key != "start")
        self.bar.set_tab(key)
        self.update_actions()

    def show_start(self) -> None:
        """Show recent projects, examples and templates. The open project stays until another one is chosen."""
        self.show_tab("start")
        is_pristine = not (self.editor.project.network.layers or self.documents.origin or self.editor.is_modified)
        self.start_page.show_way_back("" if is_pristine else self.documents.title)

    @property
    def start_page(self) -> "StartPage":
        """The start page; made when first needed."""
        from netwright.app.start_page.start_page import StartPage

        page = self.tabs.page("start")
        assert isinstance(page, StartPage)
        return page

    def show_problems(self) -> None:
        """Show the list of problems in Design."""
        self.show_tab("design")
        self.design.show_problems()

    def focus_palette(self) -> None:
        """Show Design, with the keyboard in the search of the layer library."""
        self.show_tab("design")
        self.design.search_layers()

    def update_title(self, _modified: bool = False) -> None:
        """Show the document's name, and whether it has unsaved changes."""
        star = " •" if self.editor.is_modified else ""
        self.setWindowTitle(markup.window_title(f"{self.documents.title}{star} — Netwright"))

    def update_actions(self, _change: object = None) -> None:
        """Enable the actions that can be used now."""
        self.menus.update(self._state(), self.editor.stack.undoText(), self.editor.stack.redoText())

    def _state(self) -> WindowState:
        """Collect what decides which actions can be used."""
        editor, training = self.editor, self.training
        return WindowState(
            tab=self.tabs.current,
            theme=self.theme.scheme,
            has_layers=bool(editor.project.network.layers),
            has_selection=bool(editor.selection),
            has_connections=bool(editor.selected_connections),
            has_annotations=bool(editor.selected_marks),
            num_selected=len(editor.selection),
            has_block_selected=any(isinstance(editor.network.layers[id].type, Block) for id in editor.selection),
            is_in_block=bool(editor.scope),
            can_undo=editor.stack.canUndo(),
            can_redo=editor.stack.canRedo(),
            is_running=training.is_running,
            is_shown_running=training.phase.is_running,
            run_name=training.short_name if training.is_running else "",
            lens=self.design.lenses.current,
            refused_lenses=frozenset(lens for lens in LENSES if self.design.lenses.refusal(lens)),
            has_message=self.notifier.has_message,
            has_beep=self.notifier.has_beep,
            is_paused=training.phase is Phase.PAUSED,
            can_resume=training.can_resume,
            has_import_report=self.imports.has_report,
            freezes=bool(editor.project.weights.freeze_up_to),
        )

    # ---- the shell of the parts ----

    @property
    def dialog_parent(self) -> QWidget:
        """The widget that dialogs are centred on."""
        return self

    def hint(self, text: str) -> None:
        """Show a message in the status bar for a few seconds."""
        self.status.hint(text)

    def show_error(self, title: str, text: str) -> None:
        """Show a message that has to be confirmed."""
        messages.show_error(self, title, text)

    def open_path(self, path: Path) -> bool:
        """Open a project without asking about unsaved work, or report why it cannot be. Return whether it is open."""
        return self.files.open_path(path)

    # ---- what happens ----

    def _on_project_changed(self, _project: object = None) -> None:
        self.update_title()
        self.update_actions()
        self.environment.update()

    def _on_stepped(self, step: "Step") -> None:
        """Say what was undone or redone, and show the tab where it is seen. Options are in a dialog, which stays
        closed: their values are in the message."""
        if step.place != "options" and step.place != self.tabs.current:
            self.show_tab(step.place)
        self.hint(f"{step.text}.")

    def _on_document_opened(self) -> None:
        self.dataset.refresh()
        if self.tabs.current == "start" or not self.editor.network.layers:  # an empty project is for designing
            self.show_tab("design")
            QTimer.singleShot(0, self, self.design.canvas.fit_legibly)  # once it has its size
        self.design.canvas.fit_legibly()
        self.update_title()
        self.training.show_project()

    def _on_training_changed(self) -> None:
        self.bar.set_running(self.training.short_name if self.training.is_running else "")
        self.update_actions()

    def _on_data_failed(self, message: str) -> None:
        if self.tabs.current != "data":  # there it stands on a card
            self.hint(message)

    def _on_engine_failed(self, message: str) -> None:
        self.status.show_engine("failed")
        self.hint(message)

    # ---- files brought from outside ----

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take one file or folder: a project, a network of another program, or data of any kind."""
        path = dropped_path(event.mimeData())
        if path is not None:
            data = tr("Drop it to import the network.") if can_import(path) else tr("Drop it to use it as data.")
            self.hint(tr("Drop it to open the project.") if is_project(path) else data)
            event.acceptProposedAction()
        elif event.mimeData().hasUrls():
            self.hint(tr("Drop one file or one folder of this computer."))

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the project that was dropped, import the network, or use the data."""
        path = dropped_path(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            # Later: a question must not hold up the program that the file was dragged from.
            QTimer.singleShot(0, self, lambda: self.bring(path))

    def bring(self, path: Path) -> None:
        """Open a project or import a network, after asking about unsaved work; anything else is taken for data, whose
        kind the engine finds."""
        if is_project(path):
            self.files.open_asking(path)
            return
        meaning: messages.Meaning = "network" if can_import(path) else "data"
        if meaning == "network" and any(path.suffix.lower() in source.suffixes for source in SOURCES.values()):
            meaning = messages.ask_for_meaning(self, path.name)
        if meaning == "network":
            self.imports.start(path)
        elif meaning == "data":
            self.guesser.use(path)

    # ---- life ----

    def _restore_size(self) -> None:
        self.resize(within_screen(self, 1440, 900))
        geometry = self.settings.value("geometry")
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the network, and warm the engine once the window is up."""
        super().showEvent(event)
        if self.design.is_made:
            QTimer.singleShot(0, self, self.design.canvas.fit_legibly)
        if self._start_engine:
            QTimer.singleShot(100, self, self._warm_engine)

    def _warm_engine(self) -> None:
        if not self._start_engine:
            return  # shut down meanwhile
        self.server.start()
        self.dataset.start()
        self.user_code.start()
        self.environment.look_for_devices()
        self.training.queue_follower.start()
        QTimer.singleShot(PRELOAD_MS, self, self._start_preload)

    def _start_preload(self) -> None:
        if not self._start_engine:
            return
        from netwright.app.runs.preload import Preload

        self._preload = Preload(self)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Emit `painted` after the first paint, then make what is not visible yet."""
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            QTimer.singleShot(0, self, self.painted.emit)
            QTimer.singleShot(BLOCKS_MS, self, self._make_rest)

    def _make_rest(self) -> None:
        if not self._is_leaving:
            self.design.make_soon(lambda: self.blocks.start())

    def leave(self) -> None:
        """Close without asking."""
        self._is_leaving = True
        self.close()
        QApplication.quit()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask about unsaved work, and whether runs and experiments go on without the window."""
        questions = (self.files.may_leave, self.training.may_leave, self.made.may_leave)
        if not self._is_leaving and not all(may_leave() for may_leave in questions):
            event.ignore()
            return
        if not self._is_leaving:
            self.settings.setValue("geometry", self.saveGeometry())
            if self.design.is_made:
                self.show_tab("design")
                self.settings.setValue("docks", self.saveState())
        event.accept()

    def shutdown(self) -> None:
        """Release processes, plots and timers, in order."""
        self._start_engine = False
        self._is_leaving = True
        self.layer_times.stop()
        self.activations.stop()
        for part in (self.documents, self.user_code, self.menus, self.training, self._preload):
            if part is not None:
                part.close()
        self.tabs.shutdown()
        self.host_asker.close()
        self.server.close()
