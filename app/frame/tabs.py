"""The pages of the main window, each made when it is first seen."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QStackedWidget, QWidget

if TYPE_CHECKING:
    from app.experiments.tab import ExperimentsTab
    from app.start_page.page import StartPage
    from app.window import MainWindow


class Tabs(QObject):
    """Design, Data, Train, Experiments and the start page, in one stack."""

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self._window = window
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
        """A tab's page, made when first asked for."""
        if key not in self._pages:
            page = self._make(key)
            if key not in self._pages:
                self.add(key, page)
        return self._pages[key]

    def _make(self, key: str) -> QWidget:
        window = self._window
        if key == "design":
            return window.design.canvas
        if key == "start":
            return self._make_start()
        if key == "data":
            from app.data.tab import DataTab

            tab = DataTab(window.editor, window.documents, window.server, window.facts)
            tab.augmentation_wanted.connect(lambda: window.training.edit_options("augmentation"))
            return tab
        if key == "experiments":
            return self._make_experiments()
        from app.runs.monitor import Monitor

        monitor = Monitor(window)
        window.training.show_in(monitor)
        return monitor

    def _make_experiments(self) -> "ExperimentsTab":
        from app.experiments.actions import RunActions
        from app.experiments.tab import ExperimentsTab

        tab = ExperimentsTab(self._window)
        RunActions(self._window, tab)
        return tab

    def _make_start(self) -> "StartPage":
        from app.start_page.page import StartPage

        window = self._window
        page = StartPage(window.documents)
        page.open_requested.connect(window.files.open_asking)
        page.blank_requested.connect(window.files.new)
        page.browse_requested.connect(window.files.open)
        page.back_requested.connect(window.show_design)
        return page

    def shutdown(self) -> None:
        """Let go of plots, threads and timers."""
        monitor, start, experiments = (self._pages.get(key) for key in ("train", "start", "experiments"))
        if monitor is not None:
            from app.runs.monitor import Monitor

            assert isinstance(monitor, Monitor)
            monitor.shutdown()
        if start is not None:
            from app.start_page.page import StartPage

            assert isinstance(start, StartPage)
            start.shutdown()
        if experiments is not None:
            from app.experiments.tab import ExperimentsTab

            assert isinstance(experiments, ExperimentsTab)
            experiments.shutdown()
