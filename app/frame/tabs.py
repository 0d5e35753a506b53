"""The tabs of the main window: the stack of pages, and the Design tab with its panels.

Each page is made when first needed. A window that begins with the start page makes the parts of Design right after that
page is on screen, one per turn of the event loop: the page is there sooner, and a project still opens at once.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSettings, Qt, QTimer, Signal
from PySide6.QtWidgets import QDockWidget, QMainWindow, QStackedWidget, QToolBar, QVBoxLayout, QWidget

from netwright.app.frame.mnemonics import LETTERS
from netwright.designer import theme
from netwright.designer.editor import Editor
from netwright.designer.language import noop, translation
from netwright.designer.scene.lens import Lenses
from netwright.engine.network.catalog import catalog

if TYPE_CHECKING:
    from netwright.app.frame.bottom_panel import BottomPanel
    from netwright.designer.canvas.outline_panel import Outline
    from netwright.designer.canvas.view import CanvasView
    from netwright.designer.panels.analysis_table import AnalysisTable
    from netwright.designer.panels.library_panel import LibraryPanel
    from netwright.designer.panels.problems_panel import ProblemsPanel
    from netwright.designer.panels.properties import Properties


class Tabs(QObject):
    """Design, Data, Runs and the start page, in one stack."""

    def __init__(self, parent: QObject, factories: Mapping[str, Callable[[], QWidget]]) -> None:
        super().__init__(parent)
        self._factories = factories
        self.stack = QStackedWidget()
        self.current = ""
        self._pages: dict[str, QWidget] = {}

    def add(self, key: str, page: QWidget) -> None:
        """Take a page that was made elsewhere."""
        self._pages[key] = page
        self.stack.addWidget(page)

    def show(self, key: str) -> None:
        """Bring a page to the front."""
        page = self.page(key)
        self.current = key
        self.stack.setCurrentWidget(page)

    def page(self, key: str) -> QWidget:
        """Return the page of a tab; it is made when first needed."""
        if key not in self._pages:
            page = self._factories[key]()
            if key not in self._pages:  # its factory has not added it
                self.add(key, page)
        return self._pages[key]

    def shutdown(self) -> None:
        """Release plots, processes and timers of the pages that have a `shutdown`, before the program ends."""
        for key in ("data", "runs", "start"):
            shutdown = getattr(self._pages.get(key), "shutdown", None)
            if shutdown is not None:
                shutdown()


MODULES = (
    "netwright.engine.runs.folder",
    "netwright.engine.network.arrangement",
    "netwright.engine.network.arrange_program",
    "netwright.designer.scene.node_items",
    "netwright.designer.scene.scene",
    "netwright.designer.canvas.keyboard",
    "netwright.designer.canvas.view",
    "netwright.designer.canvas.outline_panel",
    "netwright.designer.panels.library_panel",
    "netwright.designer.panels.properties",
    "netwright.designer.panels.analysis_table",
)
"""What the tab needs, imported in steps too short to be noticed."""
LEAST_PALETTE, LEAST_PROPERTIES = 200, 264
BOTTOM_HEIGHT = 178


class DesignTab(QObject):
    """Canvas and panels of one window."""

    canvas_made = Signal(object)
    palette_made = Signal(object)
    docks_made = Signal(object)
    section_requested = Signal(str)
    """A problem lies in this section of the project, which is edited elsewhere."""
    sweep_requested = Signal(str)
    """The path of a field that is to vary in an experiment, or that varies and whose values are to be seen."""
    sweep_ended = Signal(str)
    strip_shown = Signal()
    """The strip of the run is seen, or is no more."""

    def __init__(self, window: QMainWindow, editor: Editor, settings: QSettings) -> None:
        super().__init__(window)
        self._window = window
        self._editor = editor
        self._settings = settings
        self._was_shown = [True, True, True, False]
        """Which docks, and whether the strip of the run, are to be visible when the tab is shown again."""
        self._is_shown = False
        self.lenses = Lenses(self)
        self._making: Iterator[None] | None = None

    # ---- making ----

    @cached_property
    def canvas(self) -> "CanvasView":
        """The network, in the middle."""
        from netwright.designer.canvas.view import CanvasView

        canvas = CanvasView(self._editor, lenses=self.lenses)
        canvas.suggestions.type_used.connect(lambda key: self.palette.memory.use(key))
        canvas.edit_requested.connect(self.edit_fields)
        self.canvas_made.emit(canvas)
        return canvas

    @cached_property
    def page(self) -> QWidget:
        """The canvas below the bar of its lenses."""
        from netwright.designer.canvas.lens_bar import LensBar

        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.lens_bar = LensBar(self.lenses)
        column.addWidget(self.lens_bar)
        column.addWidget(self.canvas, 1)
        page.setFocusProxy(self.canvas)
        return page

    @cached_property
    def palette(self) -> "LibraryPanel":
        """The layer library, at the left."""
        from netwright.designer.panels.library_panel import LibraryMemory, LibraryPanel

        palette = LibraryPanel(self._editor, memory=LibraryMemory(self._settings, self._window))
        palette.setMinimumWidth(LEAST_PALETTE)
        palette.left.connect(lambda: self.canvas.setFocus())
        self.palette_made.emit(palette)
        return palette

    @cached_property
    def properties(self) -> "Properties":
        """The form of the selected layers, at the right."""
        from netwright.designer.panels.properties import Properties

        properties = Properties(self._editor)
        properties.setMinimumWidth(LEAST_PROPERTIES)
        properties.sweep_requested.connect(self.sweep_requested)
        properties.sweep_ended.connect(self.sweep_ended)
        return properties

    @cached_property
    def problems(self) -> "ProblemsPanel":
        """The list of errors and warnings, below."""
        from netwright.designer.panels.problems_panel import ProblemsPanel

        problems = ProblemsPanel(self._editor)
        problems.go_to.connect(lambda id: self.canvas.go_to(id))
        problems.section_wanted.connect(self.section_requested)
        return problems

    @cached_property
    def table(self) -> "AnalysisTable":
        """The table of layers, below: made when its page is seen, or once the window is up."""
        from netwright.designer.panels.analysis_table import AnalysisTable

        table = AnalysisTable(self._editor)
        column = QVBoxLayout(self._layers)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(table)
        self._layers.setFocusProxy(table)
        return table

    @cached_property
    def outline(self) -> "Outline":
        """The tree of the network, below: the canvas for screen readers."""
        from netwright.designer.canvas.outline_panel import Outline

        return Outline(self._editor, self.canvas)

    @cached_property
    def _layers(self) -> QWidget:
        """The container of the table."""
        return QWidget()

    @cached_property
    def bottom(self) -> "BottomPanel":
        """Problems and layers, below."""
        from netwright.app.frame.bottom_panel import BottomPanel

        bottom = BottomPanel(self._editor, self.problems, self._layers, self.outline, height=BOTTOM_HEIGHT)
        bottom.currentChanged.connect(lambda _: self.table)
        bottom.height_wanted.connect(self._resize_bottom)
        return bottom

    def _resize_bottom(self, height: int) -> None:
        """Give the unfolded panel its height, at most two ninths of the window."""
        if "docks" in vars(self):
            limited = min(height, self._window.height() * 2 // 9)
            self._window.resizeDocks(self.docks[2:], [limited], Qt.Orientation.Vertical)

    @cached_property
    def docks(self) -> list[QDockWidget]:
        """The panels: left, right, below. Hidden while another tab is shown."""
        left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        bottom = Qt.DockWidgetArea.BottomDockWidgetArea
        docks = [
            self._dock(noop("Layer library"), self.palette, left),
            self._dock(noop("Properties"), self.properties, right),
            self._dock(noop("Problems and layers"), self.bottom, bottom),
        ]
        window = self._window
        for corner, area in (
            (Qt.Corner.BottomLeftCorner, left),
            (Qt.Corner.TopLeftCorner, left),
            (Qt.Corner.BottomRightCorner, right),
            (Qt.Corner.TopRightCorner, right),
        ):
            window.setCorner(corner, area)
        window.resizeDocks(docks[:2], [252, 316], Qt.Orientation.Horizontal)
        window.resizeDocks(docks[2:], [min(BOTTOM_HEIGHT, window.height() * 2 // 9)], Qt.Orientation.Vertical)
        self.docks_made.emit(docks)
        self.strip_bar.hide()  # whatever it was in the last session: a run brings it
        if not self._is_shown:
            self._hide(docks)
        return docks

    @cached_property
    def strip_bar(self) -> QToolBar:
        """The bar of the strip of the run, below all panels."""
        name = noop("Timeline of the run")
        bar = QToolBar(translation(name), self._window)
        bar.toggleViewAction().setProperty(LETTERS, name)
        bar.setObjectName("timeline")
        theme.mark(bar, "role", "strip")
        bar.setMovable(False)
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        if (layout := bar.layout()) is not None:
            layout.setContentsMargins(0, 0, 0, 0)
        self._window.addToolBar(Qt.ToolBarArea.BottomToolBarArea, bar)
        bar.hide()
        bar.visibilityChanged.connect(lambda _: self.strip_shown.emit())
        return bar

    @property
    def is_strip_wanted(self) -> bool:
        """Whether the strip is seen, or will be with the tab."""
        return not self.strip_bar.isHidden() if self._is_shown else self._was_shown[3]

    def show_strip(self, *, is_shown: bool) -> None:
        """Show or remove the strip of the run: now, or when the tab is seen."""
        self._was_shown[3] = is_shown
        self.strip_bar.setVisible(is_shown and self._is_shown)

    def _dock(self, name: str, content: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        window = self._window
        dock = QDockWidget(translation(name), window)
        dock.setObjectName(name)  # in every language: the places of the panels are stored by it
        dock.toggleViewAction().setProperty(LETTERS, name)
        dock.setWidget(content)
        dock.setTitleBarWidget(QWidget(dock))  # the drawings have none; View > Panels shows and hides
        window.addDockWidget(area, dock)
        dock.show()  # Qt does so by itself only with the window
        return dock

    @property
    def is_made(self) -> bool:
        """Whether all parts exist."""
        return "docks" in vars(self) and "canvas" in vars(self)

    def make_soon(self, then: Callable[[], object]) -> None:
        """Make the missing parts, one per turn of the event loop, and call `then`."""
        if self._making is None:
            self._making = self._parts(then)
            self._go_on()

    def _parts(self, then: Callable[[], object]) -> Iterator[None]:
        for module in () if self.is_made else MODULES:
            import_module(module)
            yield
        catalog()
        yield
        for part in ("canvas", "palette", "properties", "problems", "outline", "table", "bottom", "docks"):
            if part not in vars(self):
                getattr(self, part)
                yield
        then()

    def _go_on(self) -> None:
        assert self._making is not None
        for _ in self._making:
            QTimer.singleShot(0, self, self._go_on)
            return

    # ---- showing ----

    def show(self) -> None:
        """Show the panels as they were: Design is the current tab."""
        if not self._is_shown:
            self._is_shown = True
            is_new = "docks" not in vars(self)
            docks = self.docks
            if not is_new:
                for dock, was_shown in zip(docks, self._was_shown[:3], strict=True):
                    dock.setVisible(was_shown)
            self.strip_bar.setVisible(self._was_shown[3])

    def hide(self) -> None:
        """Hide the panels: another tab is current."""
        if self._is_shown:
            self._is_shown = False
            self._was_shown[3] = not self.strip_bar.isHidden()
            self.strip_bar.hide()
            self._hide(self.docks)

    def _hide(self, docks: list[QDockWidget]) -> None:
        self._was_shown = [*(not dock.isHidden() for dock in docks), self._was_shown[3]]
        for dock in docks:
            dock.hide()

    def edit_fields(self) -> None:
        """Show the properties, ready to type in."""
        self.docks[1].show()
        self.properties.focus_first()

    def search_layers(self) -> None:
        """Show the layer library, ready to search in."""
        self.docks[0].show()
        self.palette.focus_search()

    def show_problems(self) -> None:
        """Bring the list of problems to the front."""
        self.bottom.show_page(self.problems)

    def show_history(self) -> None:
        """Bring the undo history to the front."""
        self.docks[2].show()
        self.bottom.show_page(self.bottom.history)

    def show_outline(self) -> None:
        """Bring the outline to the front, with the keyboard in it."""
        self.docks[2].show()
        self.bottom.show_page(self.outline)
        self.outline.setFocus()

    def show_layers(self) -> None:
        """Bring the table of layers to the front."""
        self.docks[2].show()
        self.bottom.show_page(self._layers)
