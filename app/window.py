"""The main window: one project, its tabs, docks and menus. It brings the pieces together and delegates everything."""

from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QLabel,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app import documents
from app.actions import ACTIONS, MENUS, WindowState, enabled_ids
from app.align_actions import AlignActions
from app.bars import TopBar
from app.block_actions import BlockActions
from app.code import CodeKeeper
from app.dialogs import messages
from app.document_actions import DocumentActions
from app.documents import Documents
from app.elided import ElidedLabel
from app.engine_process import EngineServer
from app.facts import FactsKeeper
from app.herald import Herald
from app.layer_health import LayerHealth
from app.stage_view import StageView
from app.training import Training
from designer import theme
from designer.analysis_table import AnalysisTable
from designer.canvas.view import CanvasView
from designer.editor import Editor
from designer.library.memory import LibraryMemory
from designer.palette import Palette
from designer.problems import ProblemsPanel
from designer.properties import Properties
from engine.layers.block import Block
from engine.network.counts import layers_in_words
from engine.network.memory import all_known
from engine.project.check import memory_of
from engine.project.file import SUFFIX

if TYPE_CHECKING:
    from app.runs.preload import Preload
    from app.start_page.page import StartPage
    from designer.canvas.find import FindBar
    from designer.canvas.legend import TintLegend

FRAME = QSize(16, 48)
"""What a title bar and borders take of a small screen."""
HINT_MS = 6000
PRELOAD_MS = 800
BLOCKS_MS = 50
LONGEST_TITLE = 280
LEAST_CENTRE = (360, 240)
LEAST_PALETTE, LEAST_PROPERTIES = 200, 264


class MainWindow(QMainWindow):
    """One project on screen. `painted` is emitted once, when the window has been drawn for the first time."""

    painted = Signal()

    def __init__(
        self,
        scheme: theme.Scheme | None = None,
        *,
        start_engine: bool = True,
        server: EngineServer | None = None,
    ) -> None:
        super().__init__()
        self._settings = QSettings("Netwright", "Netwright")
        self._scheme: theme.Scheme = scheme or _known_scheme(self._settings.value("theme", "system"))
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, self._scheme)
        self._was_painted = False
        self._find_bar: FindBar | None = None
        self._legend: TintLegend | None = None
        self._docks_shown = [True, True, True]
        self._is_leaving = False
        self._start_engine = start_engine
        self._preload: Preload | None = None
        self.editor = Editor(parent=self)
        self.documents = Documents(lambda: self.editor.project, lambda: self.editor.is_modified, self)
        self.server = server or EngineServer(self)
        self.files = DocumentActions(self)
        self.align = AlignActions(self.editor, lambda before: self.canvas.glide.begin(before.positions))
        self.facts = FactsKeeper(self.editor, self.documents, self.server)
        self.code = CodeKeeper(self.editor, self.documents, self)
        self.training = Training(self, Herald(self, self._settings))
        self.layer_health = LayerHealth(self)
        self._tab = "design"
        self._make_title()
        self._make_actions()
        self._make_central()
        self._make_docks()
        self.blocks = BlockActions(self)
        self.stages = StageView(self)
        self._make_status()
        self._connect()
        self._restore()
        self.show_tab("design")
        self.update_title()

    # ---- making ----

    def _make_title(self) -> None:
        """The document's name stands before the menus."""
        self.title_label = ElidedLabel()
        self.title_label.setContentsMargins(16, 0, 8, 0)
        self.title_label.setMaximumWidth(LONGEST_TITLE)
        theme.mark(self.title_label, "role", "strong")
        self.menuBar().setCornerWidget(self.title_label, Qt.Corner.TopLeftCorner)

    def _make_actions(self) -> None:
        self.actions_by_id: dict[str, QAction] = {}
        self.menus = menus = {name: self.menuBar().addMenu(name) for name in MENUS}
        for row in ACTIONS:
            action = QAction(row.text, self)
            action.setObjectName(row.id)
            action.setCheckable(row.is_on is not None)
            method = attrgetter(row.handler)  # looked up when it is used: not everything is made yet
            action.triggered.connect(lambda _=False, method=method: method(self)())
            action.setShortcuts([QKeySequence(key) for key in (row.shortcut, *row.also) if key])
            if row.icon:
                action.setIcon(theme.icon(row.icon))
            shortcut = f" ({row.shortcut})" if row.shortcut else ""
            action.setToolTip(f"{row.text.rstrip('…')}{shortcut}{chr(10) + row.help if row.help else ''}")
            if row.separator_before:
                menus[row.menu].addSeparator()
            menus[row.menu].addAction(action)
            self.actions_by_id[row.id] = action
        self._make_file_submenus(menus["File"])
        self.panels_menu = QMenu("Panels", self)
        menus["View"].insertMenu(self.actions_by_id["view.theme"], self.panels_menu)

    def _make_file_submenus(self, file_menu: QMenu) -> None:
        before = self.actions_by_id["file.save"]
        self.recent_menu = QMenu("Open recent", self)
        self.examples_menu = QMenu("Open an example", self)
        for menu, fill in ((self.recent_menu, self._fill_recent), (self.examples_menu, self._fill_examples)):
            menu.aboutToShow.connect(fill)
            file_menu.insertMenu(before, menu)

    def _fill_recent(self) -> None:
        self._fill_paths(self.recent_menu, self.documents.recent(), "Nothing was opened yet")

    def _fill_examples(self) -> None:
        self._fill_paths(self.examples_menu, documents.examples(), "The examples are not installed")

    def _fill_paths(self, menu: QMenu, paths: list[Path], empty: str) -> None:
        menu.clear()
        for path in paths:
            menu.addAction(path.stem, lambda path=path: self.files.open_asking(path)).setToolTip(str(path))
        if not paths:
            menu.addAction(empty).setEnabled(False)

    def _make_central(self) -> None:
        self.canvas = CanvasView(self.editor)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.canvas)
        self.bar = TopBar(self.actions_by_id)
        self.bar.tab_chosen.connect(self.show_tab)
        central = QWidget()
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.stack)
        central.setMinimumSize(*LEAST_CENTRE)  # its pages scroll, elide or wrap: none may push the docks out
        self.setCentralWidget(central)
        holder = self.addToolBar("Main")
        holder.setObjectName("bar")
        holder.setMovable(False)
        holder.toggleViewAction().setEnabled(False)
        holder.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        holder.addWidget(self.bar)
        self._pages: dict[str, QWidget] = {"design": self.canvas}

    def _make_docks(self) -> None:
        self.palette_panel = Palette(self.editor, memory=LibraryMemory(self._settings, self))
        self.properties = Properties(self.editor)
        self.palette_panel.setMinimumWidth(LEAST_PALETTE)
        self.properties.setMinimumWidth(LEAST_PROPERTIES)
        self.problems = ProblemsPanel(self.editor)
        self.table = AnalysisTable(self.editor)
        self.bottom = QTabWidget()
        self.bottom.setDocumentMode(True)
        self.bottom.addTab(self.problems, "Problems")
        self.bottom.addTab(self.table, "Layers")
        left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        bottom = Qt.DockWidgetArea.BottomDockWidgetArea
        self.docks = [
            self._dock("Layer library", self.palette_panel, left),
            self._dock("Properties", self.properties, right),
            self._dock("Problems and layers", self.bottom, bottom),
        ]
        for corner, area in (
            (Qt.Corner.BottomLeftCorner, left),
            (Qt.Corner.TopLeftCorner, left),
            (Qt.Corner.BottomRightCorner, right),
            (Qt.Corner.TopRightCorner, right),
        ):
            self.setCorner(corner, area)
        self.resizeDocks(self.docks[:2], [252, 316], Qt.Orientation.Horizontal)
        self.resizeDocks(self.docks[2:], [178], Qt.Orientation.Vertical)

    def _dock(self, title: str, content: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(title, self)
        dock.setObjectName(title)
        dock.setWidget(content)
        dock.setTitleBarWidget(QWidget(dock))  # the drawings have none; View > Panels shows and hides
        self.addDockWidget(area, dock)
        self.panels_menu.addAction(dock.toggleViewAction())
        return dock

    def _make_status(self) -> None:
        self.summary_label = QLabel()
        self.hint_label = ElidedLabel()
        self.engine_label = QLabel()
        for label in (self.summary_label, self.engine_label):
            theme.mark(label, "role", "help")
        self.statusBar().setSizeGripEnabled(False)
        self.statusBar().addWidget(self.summary_label)
        self.statusBar().addWidget(self.hint_label, 1)
        self.statusBar().addPermanentWidget(self.engine_label)
        self._hint_timer = QTimer(self, singleShot=True, interval=HINT_MS)
        self._hint_timer.timeout.connect(self.hint_label.clear)
        self._show_engine("starting" if self._start_engine else "off")

    def _connect(self) -> None:
        self.editor.project_changed.connect(self._on_project_changed)
        self.editor.analysis_changed.connect(self._on_analysis_changed)
        self.editor.selection_changed.connect(self._update_actions)
        self.editor.stack.indexChanged.connect(self._update_actions)  # told after the step, unlike the project
        self.editor.refused.connect(self.hint)
        self.editor.modified_changed.connect(self.update_title)
        self.canvas.staging.changed.connect(self._update_actions)
        self.documents.changed.connect(self.update_title)
        self.problems.go_to.connect(self.canvas.go_to)
        self.canvas.type_used.connect(self.palette_panel.memory.use)
        self.canvas.edit_requested.connect(self._edit_fields)
        self.canvas.example_requested.connect(lambda: self.open_path(documents.EXAMPLES / f"digits{SUFFIX}"))
        self.server.ready.connect(lambda: self._show_engine("ready"))
        self.server.failed.connect(self._on_engine_failed)
        self.facts.failed.connect(self.hint)
        self.code.told.connect(self.hint)
        self.training.state_changed.connect(self._on_training_changed)
        theme.changed.connect(self._retheme)

    # ---- what is shown ----

    def show_tab(self, key: str) -> None:
        """Show Design, Data, Train, Experiments or the start page; all but the first are made when first seen."""
        page = self.page(key)
        if self._tab == "design" and key != "design":
            self._docks_shown = [not dock.isHidden() for dock in self.docks]
            for dock in self.docks:
                dock.hide()
        elif self._tab != "design" and key == "design":
            for dock, was_shown in zip(self.docks, self._docks_shown, strict=True):
                dock.setVisible(was_shown)
        self._tab = key
        self.panels_menu.setEnabled(key == "design")
        self.summary_label.setVisible(key != "start")
        self.stack.setCurrentWidget(page)
        self.bar.set_tab(key)
        if key == "train":
            self.training.catch_up()
        self._update_actions()

    def page(self, key: str) -> QWidget:
        """A tab's page, made when first asked for."""
        if key not in self._pages:
            self._pages[key] = self._make_page(key)
            self.stack.addWidget(self._pages[key])
        return self._pages[key]

    def _make_page(self, key: str) -> QWidget:
        if key == "start":
            return self._make_start()
        if key == "data":
            from app.data.tab import DataTab

            return DataTab(self.editor, self.documents, self.server, self.facts)
        if key == "experiments":
            return self._make_experiments()
        from app.runs.monitor import Monitor

        monitor = Monitor(self)
        self.training.show_in(monitor)
        return monitor

    def _make_experiments(self) -> QWidget:
        from app.experiments.actions import RunActions
        from app.experiments.tab import ExperimentsTab

        tab = ExperimentsTab(self)
        RunActions(self, tab)
        return tab

    def _make_start(self) -> QWidget:
        from app.start_page.page import StartPage

        page = StartPage(self.documents)
        page.open_requested.connect(self.files.open_asking)
        page.blank_requested.connect(self.files.new)
        page.browse_requested.connect(self.files.open)
        page.back_requested.connect(self.show_design)
        return page

    def show_start(self) -> None:
        """Recent projects, examples and templates. The open project stays as it is until another one is chosen."""
        self.show_tab("start")
        is_pristine = not (self.editor.project.network.layers or self.documents.origin or self.editor.is_modified)
        self.start_page.show_way_back("" if is_pristine else self.documents.title)

    @property
    def start_page(self) -> "StartPage":
        """Made when first shown."""
        from app.start_page.page import StartPage

        page = self._pages["start"]
        assert isinstance(page, StartPage)
        return page

    def _on_project_changed(self, _project: object = None) -> None:
        self.update_title()
        self._update_actions()
        self.training.update_environment()

    def _on_analysis_changed(self, _report: object = None) -> None:
        report = self.editor.report
        errors, all_problems = len(report.errors), len(report.problems)
        self.bottom.setTabText(0, f"Problems {all_problems}" if all_problems else "Problems")
        self.bottom.setTabText(1, f"Layers {len(self.editor.network)}")
        analysis = report.analysis
        memory = memory_of(self.editor.project, analysis, self.editor.facts)
        least = "" if all_known(self.editor.project.network, analysis) else "at least "
        parts = [
            layers_in_words(self.editor.project.network),
            f"{least}{analysis.parameters:,} parameters",
            f"{'' if memory.is_whole else 'at least '}{_grouped(analysis.flops)}FLOPs a sample",
        ]
        if analysis.facts:
            parts.append(memory.in_words())
        if errors:
            parts.append(f"{errors} error{'s' if errors > 1 else ''}")
        self.summary_label.setText("     ".join(parts))
        self._update_actions()

    def update_title(self, _modified: bool = False) -> None:
        """The document has another name, or is as saved, or no longer is."""
        star = " •" if self.editor.is_modified else ""
        self.setWindowTitle(f"{self.documents.title}{star} — Netwright")
        known = self.documents.path or self.documents.origin
        self.title_label.setText(f"{self.documents.title}{star}", note=str(known or ""))
        self.menuBar().adjustSize()

    def _update_actions(self, _selection: object = None) -> None:
        stack = self.editor.stack
        state = WindowState(
            tab=self._tab,
            has_layers=bool(self.editor.project.network.layers),
            has_selection=bool(self.editor.selection),
            has_connections=bool(self.editor.selected_connections),
            has_annotations=bool(self.editor.selected_marks),
            num_selected=len(self.editor.selection),
            has_block_selected=any(
                isinstance(self.editor.network.layers[id].type, Block) for id in self.editor.selection
            ),
            is_in_block=bool(self.editor.scope),
            can_undo=stack.canUndo(),
            can_redo=stack.canRedo(),
            is_running=self.training.is_running,
            has_result=self.training.run_folder is not None,
            watches_layers=self.layer_health.is_on,
            shows_stages=self.stages.is_on,
            has_message=self.training.herald.has_message,
            has_beep=self.training.herald.has_beep,
            is_paused=self.training.is_paused,
            can_resume=self.training.can_resume,
        )
        usable = enabled_ids(state)
        for id, action in self.actions_by_id.items():
            action.setEnabled(id in usable)
        for row in ACTIONS:
            if row.is_on is not None:
                self.actions_by_id[row.id].setChecked(row.is_on(state))
        self.actions_by_id["edit.undo"].setText(f"Undo {stack.undoText()}".strip())
        self.actions_by_id["edit.redo"].setText(f"Redo {stack.redoText()}".strip())

    def _on_training_changed(self) -> None:
        self.bar.set_running(self.training.is_running)
        self._update_actions()

    def _show_engine(self, state: str) -> None:
        words = {"starting": "○ Engine starting…", "ready": "● Engine ready", "off": "", "failed": "✕ Engine failed"}
        self.engine_label.setText(words[state])

    def _edit_fields(self) -> None:
        """Show the properties, ready to type in."""
        self.docks[1].show()
        self.properties.focus_first()

    def _on_engine_failed(self, message: str) -> None:
        self._show_engine("failed")
        self.hint(message)

    def hint(self, text: str) -> None:
        """Say something in the status bar for a few seconds."""
        self.hint_label.setText(text.replace("\n", "  "))
        self._hint_timer.start()

    def _retheme(self) -> None:
        for row in ACTIONS:
            if row.icon:
                self.actions_by_id[row.id].setIcon(theme.icon(row.icon))
        self.bar.set_running(self.training.is_running)

    # ---- documents ----

    def open_path(self, path: Path) -> bool:
        """Open a project, or say why not. Nothing is asked about unsaved work. Says whether it is open."""
        return self.files.open_path(path)

    def show_document(self) -> None:
        """Another project has been opened."""
        if self._tab == "start":
            self.show_tab("design")
            QTimer.singleShot(0, self, self.canvas.fit)  # once it has its size
        self.canvas.fit()
        self.update_title()

    def show_error(self, title: str, text: str) -> None:
        """A message that has to be read before going on."""
        messages.show_error(self, title, text)

    # ---- actions of the table ----

    def arrange(self) -> None:
        self.canvas.arrange()

    def arrange_down(self) -> None:
        self.canvas.arrange("down")

    def arrange_right(self) -> None:
        self.canvas.arrange("right")

    @property
    def find_bar(self) -> "FindBar":
        """Made when first asked for."""
        if self._find_bar is None:
            from designer.canvas.find import FindBar

            self._find_bar = FindBar(self.canvas)
        return self._find_bar

    def tint_layers(self) -> None:
        """Parameters, FLOPs, memory, no tint, and round again."""
        from designer.canvas.legend import TintLegend, next_kind

        scene = self.canvas.network_scene
        if self._legend is None:
            self._legend = TintLegend(self.canvas)
        scene.show_tint(next_kind(scene.tint.kind))

    def show_design(self) -> None:
        self.show_tab("design")

    def show_data(self) -> None:
        self.show_tab("data")

    def show_train(self) -> None:
        self.show_tab("train")

    def show_experiments(self) -> None:
        self.show_tab("experiments")

    def next_theme(self) -> None:
        """System, light, dark, and round again."""
        order: list[theme.Scheme] = ["system", "light", "dark"]
        self._scheme = order[(order.index(self._scheme) + 1) % len(order)]
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, self._scheme)
        self._settings.setValue("theme", self._scheme)
        self.hint(f"Theme: {self._scheme}")

    def find_command(self) -> None:
        from app.dialogs.commands import CommandFinder

        CommandFinder(self.actions_by_id, self).exec()

    def focus_palette(self) -> None:
        self.show_tab("design")
        self.docks[0].show()
        self.palette_panel.focus_search()

    def stop_after_epoch(self) -> None:
        self.training.stop(after_epoch=True)

    def switch_message(self) -> None:
        """A message of the desktop at the end of a run, or none."""
        self.training.herald.switch_message()
        self._update_actions()

    def switch_beep(self) -> None:
        """A beep at the end of a run, or none."""
        self.training.herald.switch_beep()
        self._update_actions()

    def export_network(self) -> None:
        from app.dialogs.export import export_dialog

        export_dialog(self)

    def save_picture(self) -> None:
        from app.dialogs.picture import ask_and_save

        ask_and_save(self)

    def compare_with(self) -> None:
        from app.dialogs.compare import compare_with

        compare_with(self)

    def show_shortcuts(self) -> None:
        from app.dialogs.about import show_shortcuts

        show_shortcuts(self)

    def show_devices(self) -> None:
        from app.dialogs.devices import DevicesDialog

        dialog = DevicesDialog(self)
        dialog.start()
        dialog.exec()
        dialog.deleteLater()

    def show_about(self) -> None:
        from app.dialogs.about import show_about

        show_about(self)

    # ---- life ----

    def _restore(self) -> None:
        self.resize(QSize(1440, 900).boundedTo(self.screen().availableSize() - FRAME))
        geometry, state = self._settings.value("geometry"), self._settings.value("docks")
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)
        if isinstance(state, QByteArray):
            self.restoreState(state)

    def showEvent(self, event: QShowEvent) -> None:
        """The first time the canvas is fitted, and the engine is warmed once the window is up."""
        super().showEvent(event)
        QTimer.singleShot(0, self, self.canvas.fit)
        QTimer.singleShot(BLOCKS_MS, self, self.blocks.start)
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
        """Tells once that the window is on screen."""
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            QTimer.singleShot(0, self, self.painted.emit)

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
            self.show_tab("design")
            self._settings.setValue("geometry", self.saveGeometry())
            self._settings.setValue("docks", self.saveState())
        event.accept()

    def shutdown(self) -> None:
        """Let go of processes, plots and timers, in order."""
        self._start_engine = False
        self.documents.close()
        self.code.close()
        self.training.close()
        if self._preload is not None:
            self._preload.close()
        monitor = self._pages.get("train")
        if monitor is not None:
            from app.runs.monitor import Monitor

            assert isinstance(monitor, Monitor)
            monitor.shutdown()
        if "start" in self._pages:
            self.start_page.shutdown()
        if "experiments" in self._pages:
            from app.experiments.tab import ExperimentsTab

            tab = self._pages["experiments"]
            assert isinstance(tab, ExperimentsTab)
            tab.shutdown()
        self.server.close()


def _known_scheme(value: object) -> theme.Scheme:
    return value if value in ("system", "light", "dark") else "system"


def _grouped(number: int) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.3g} {unit}"
    return f"{number:,} "
