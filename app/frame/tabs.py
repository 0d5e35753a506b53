"""The pages of the main window, each made when first needed."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QStackedWidget, QWidget


class Tabs(QObject):
    """Design, Data, Train, Experiments and the start page, in one stack."""

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
        for key in ("train", "start", "experiments"):
            shutdown = getattr(self._pages.get(key), "shutdown", None)
            if shutdown is not None:
                shutdown()
