"""The main window: one project, its tabs, panels and menus. It brings the pieces together and delegates everything."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QSettings, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QCloseEvent, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app import messages
from app.data.dataset_info import FactsKeeper
from app.documents import Documents
from app.engine_server import EngineServer
from app.frame.canvas_overlays import LayerHealth, StageView
from app.frame.commands import CanvasActions, DialogActions, ThemeActions
from app.frame.design_tab import DesignTab
from app.frame.document_commands import DocumentActions
from app.frame.menus import Menus
from app.frame.state import state_of
from app.frame.status import StatusLine
from app.frame.tabs import Tabs
from app.frame.top_bar import TopBar
from app.notifier import Herald
from app.training import Training
from app.user_code import CodeKeeper
from app.widgets import ElidedLabel, within_screen
from designer import theme
from designer.editor import Editor

if TYPE_CHECKING:
    from app.frame.align_commands import AlignActions
    from app.frame.block_commands import BlockActions
    from app.runs.preload import Preload
    from app.start_page.page import StartPage
    from designer.canvas.find_bar import FindBar
    from designer.canvas.view import CanvasView
    from designer.panels.analysis_table import AnalysisTable
    from designer.panels.library_panel import Palette
    from designer.panels.problems import ProblemsPanel
    from designer.panels.properties import Properties

PRELOAD_MS = 800
BLOCKS_MS = 50
LONGEST_TITLE = 420
LEAST_CENTRE = (360, 240)


class MainWindow(QMainWindow):
    """One project on screen. `painted` is emitted once, when the window has been drawn for the first time.

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
        self.settings = QSettings("Netwright", "Netwright")
        self.theme = ThemeActions(self, scheme)
        self._was_painted = False
        self._is_leaving = False
        self._start_engine = start_engine
        self._preload: Preload | None = None
        self.editor = Editor(parent=self)
        self.documents = Documents(lambda: self.editor.project, lambda: self.editor.is_modified, self)
        self.server = server or EngineServer(self)
        self.files = DocumentActions(self)
        self.dialogs = DialogActions(self)
        self.canvas_actions = CanvasActions(self)
        self.facts = FactsKeeper(self.editor, self.documents, self.server)
        self.code = CodeKeeper(self.editor, self.documents, self)
        self.training = Training(self, Herald(self, self.settings))
        self.layer_health = LayerHealth(self)
        self.stages = StageView(self)
        self.menus = Menus(self)
        self._make_title()
        self.design = DesignTab(self)
        self._make_central()
        self.status = StatusLine(self.statusBar(), self.editor)
        self.status.show_engine("starting" if start_engine else "off")
        self.status.errors.clicked.connect(self.design.show_problems)
        self._connect()
        self._restore_size()
        self.show_start() if tab == "start" else self.show_tab(tab)
        if tab == "design":
            self.canvas.setFocus()  # else the first button of the bar had the keyboard
        self.update_title()

    # ---- making ----

    def _make_title(self) -> None:
        """The document's name stands at the right of the menus: however long it is, they keep their places."""
        self.title_label = ElidedLabel()
        self.title_label.setContentsMargins(8, 0, 7, 0)  # with the bar's own: it ends where Train does
        self.title_label.setMaximumWidth(LONGEST_TITLE)
        theme.mark(self.title_label, "role", "strong")
        self.title_label.setFixedHeight(self.menuBar().sizeHint().height() - 4)  # else it would stand above their line
        self.menuBar().setCornerWidget(self.title_label, Qt.Corner.TopRightCorner)

    def _make_central(self) -> None:
        self.tabs = Tabs(self)
        self.bar = TopBar(self.actions_by_id)
        self.bar.tab_chosen.connect(self.show_tab)
        central = QWidget()
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tabs.stack)
        central.setMinimumSize(*LEAST_CENTRE)  # its pages scroll, elide or wrap: none may push the docks out
        self.setCentralWidget(central)
        holder = self.addToolBar("Main")
        holder.setObjectName("bar")
        holder.setMovable(False)
        holder.toggleViewAction().setEnabled(False)
        holder.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        holder.addWidget(self.bar)

    def _connect(self) -> None:
        self.editor.project_changed.connect(self._on_project_changed)
        self.editor.analysis_changed.connect(self.update_actions)
        self.editor.selection_changed.connect(self.update_actions)
        self.editor.stack.indexChanged.connect(self.update_actions)  # told after the step, unlike the project
        self.editor.refused.connect(self.hint)
        self.editor.modified_changed.connect(self.update_title)
        self.documents.changed.connect(self.update_title)
        self.server.ready.connect(lambda: self.status.show_engine("ready"))
        self.server.failed.connect(self._on_engine_failed)
        self.facts.failed.connect(self._on_facts_failed)
        self.code.told.connect(self.hint)
        self.training.state_changed.connect(self._on_training_changed)
        theme.changed.connect(self._on_training_changed)

    # ---- the parts, by the names that the table of actions and others use ----

    @property
    def actions_by_id(self) -> dict[str, QAction]:
        """Every action of the table."""
        return self.menus.actions_by_id

    @property
    def panels_menu(self) -> QMenu:
        """View > Panels."""
        return self.menus.panels

    @property
    def stack(self) -> QStackedWidget:
        """The pages of the tabs."""
        return self.tabs.stack

    @property
    def canvas(self) -> "CanvasView":
        """The canvas of Design."""
        return self.design.canvas

    @property
    def palette_panel(self) -> "Palette":
        """The layer library."""
        return self.design.palette

    @property
    def properties(self) -> "Properties":
        """The form of the selected layers."""
        return self.design.properties

    @property
    def problems(self) -> "ProblemsPanel":
        """Errors and warnings."""
        return self.design.problems

    @property
    def table(self) -> "AnalysisTable":
        """The table of layers."""
        return self.design.table

    @property
    def bottom(self) -> QTabWidget:
        """Problems and layers."""
        return self.design.bottom

    @property
    def docks(self) -> list[QDockWidget]:
        """The panels of Design: left, right, below."""
        return self.design.docks

    @property
    def find_bar(self) -> "FindBar":
        """The search on the canvas."""
        return self.canvas_actions.find_bar

    @cached_property
    def blocks(self) -> "BlockActions":
        """The user's own blocks."""
        from app.frame.block_commands import BlockActions

        return BlockActions(self)

    @cached_property
    def align(self) -> "AlignActions":
        """Places of the selected layers."""
        from app.frame.align_commands import AlignActions

        return AlignActions(self.editor, lambda before: self.canvas.animation.begin(before.positions))

    # ---- what is shown ----

    def show_tab(self, key: str) -> None:
        """Show Design, Data, Train, Experiments or the start page; each is made when first seen."""
        focused = self.focusWidget()
        if key == "design":
            self.design.show()
        else:
            self.design.hide()
        self.tabs.show(key)
        if key != "start" and (focused is None or not self.bar.isAncestorOf(focused)):
            (self.canvas if key == "design" else self.page(key)).setFocus()  # else Qt gives it to the first of the bar
        self.panels_menu.setEnabled(key == "design")
        self.status.show_figures(key != "start")
        self.bar.set_tab(key)
        if key == "train":
            self.training.catch_up()
        self.update_actions()

    def page(self, key: str) -> QWidget:
        """A tab's page, made when first asked for."""
        return self.tabs.page(key)

    def show_start(self) -> None:
        """Recent projects, examples and templates. The open project stays as it is until another one is chosen."""
        self.show_tab("start")
        is_pristine = not (self.editor.project.network.layers or self.documents.origin or self.editor.is_modified)
        self.start_page.show_way_back("" if is_pristine else self.documents.title)

    @property
    def start_page(self) -> "StartPage":
        """Made when first shown."""
        from app.start_page.page import StartPage

        page = self.tabs.page("start")
        assert isinstance(page, StartPage)
        return page

    def show_design(self) -> None:
        self.show_tab("design")

    def show_data(self) -> None:
        self.show_tab("data")

    def show_train(self) -> None:
        self.show_tab("train")

    def show_experiments(self) -> None:
        self.show_tab("experiments")

    def focus_palette(self) -> None:
        """Design, with the keyboard in the search of the layer library."""
        self.show_tab("design")
        self.design.search_layers()

    def _on_project_changed(self, _project: object = None) -> None:
        self.update_title()
        self.update_actions()
        self.training.update_environment()

    def update_title(self, _modified: bool = False) -> None:
        """The document has another name, or is as saved, or no longer is."""
        star = " •" if self.editor.is_modified else ""
        self.setWindowTitle(f"{self.documents.title}{star} — Netwright")
        known = self.documents.path or self.documents.origin
        self.title_label.setText(f"{self.documents.title}{star}", note=str(known or ""))
        self.menuBar().adjustSize()

    def update_actions(self, _what: object = None) -> None:
        """Offer what can be done as things are now."""
        self.menus.update(state_of(self), self.editor.stack.undoText(), self.editor.stack.redoText())

    def _on_training_changed(self) -> None:
        self.bar.set_running(self.training.is_running)
        self.update_actions()

    def _on_facts_failed(self, message: str) -> None:
        if self.tabs.current != "data":  # there it stands on a card
            self.hint(message)

    def _on_engine_failed(self, message: str) -> None:
        self.status.show_engine("failed")
        self.hint(message)

    def hint(self, text: str) -> None:
        """Say something in the status bar for a few seconds."""
        self.status.hint(text)

    # ---- documents ----

    def open_path(self, path: Path) -> bool:
        """Open a project, or say why not. Nothing is asked about unsaved work. Says whether it is open."""
        return self.files.open_path(path)

    def show_document(self) -> None:
        """Another project has been opened."""
        if self.tabs.current == "start":
            self.show_tab("design")
            QTimer.singleShot(0, self, self.canvas.fit)  # once it has its size
        self.canvas.fit()
        self.update_title()

    def show_error(self, title: str, text: str) -> None:
        """A message that has to be read before going on."""
        messages.show_error(self, title, text)

    # ---- what runs ----

    def stop_after_epoch(self) -> None:
        self.training.stop(after_epoch=True)

    def switch_message(self) -> None:
        """A message of the desktop at the end of a run, or none."""
        self.training.herald.switch_message()
        self.update_actions()

    def switch_beep(self) -> None:
        """A beep at the end of a run, or none."""
        self.training.herald.switch_beep()
        self.update_actions()

    # ---- life ----

    def _restore_size(self) -> None:
        self.resize(within_screen(self, 1440, 900))
        geometry = self.settings.value("geometry")
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)

    def restore_panels(self) -> None:
        """Where the panels were when a window was last closed, once they are there."""
        state = self.settings.value("docks")
        if isinstance(state, QByteArray):
            self.restoreState(state)

    def showEvent(self, event: QShowEvent) -> None:
        """The first time the rest of Design is made, and the engine is warmed once the window is up."""
        super().showEvent(event)
        if self.design.is_made:
            QTimer.singleShot(0, self, self.canvas.fit)
        if self._start_engine:
            QTimer.singleShot(100, self, self._warm_engine)

    def _warm_engine(self) -> None:
        if not self._start_engine:
            return  # shut down meanwhile
        self.server.start()
        self.facts.start()
        self.code.start()
        self.training.look_for_devices()
        self.training.turns.start_looking()
        QTimer.singleShot(PRELOAD_MS, self, self._start_preload)

    def _start_preload(self) -> None:
        if not self._start_engine:
            return
        from app.runs.preload import Preload

        self._preload = Preload(self)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tells once that the window is on screen, and goes on with what did not have to be there."""
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
        """Ask about unsaved work, and whether a run goes on without the window."""
        if not self._is_leaving and not (self.files.may_leave() and self.training.may_leave()):
            event.ignore()
            return
        if not self._is_leaving:
            self.settings.setValue("geometry", self.saveGeometry())
            if self.design.is_made:
                self.show_tab("design")
                self.settings.setValue("docks", self.saveState())
        event.accept()

    def shutdown(self) -> None:
        """Let go of processes, plots and timers, in order."""
        self._start_engine = False
        self._is_leaving = True
        self.documents.close()
        self.code.close()
        self.training.close()
        if self._preload is not None:
            self._preload.close()
        self.tabs.shutdown()
        self.server.close()
