"""What the pages of the Test tab have in common."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from PySide6.QtWidgets import QWidget

from app.shell import Shell


class TestPage(QWidget):
    """A page of the Test tab about the run that is chosen in the tab."""

    __test__ = False
    """Not a class of tests, whatever pytest thinks of its name."""
    title: ClassVar[str]
    """What the switch between the pages says."""
    needs_run: ClassVar[bool] = True
    """Whether the page has nothing to show as long as the project has no run."""

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shell = shell
        self.run: Path | None = None

    def set_run(self, run: Path | None) -> None:
        """Take the run that is chosen, None without one. It is called when another run is chosen, for all pages."""
        self.run = run

    def set_runs(self, runs: Sequence[tuple[str, Path]]) -> None:
        """Take titles and folders of all runs that can be chosen, where a page needs others than the chosen one."""

    def shutdown(self) -> None:
        """End processes and requests: the window closes."""
