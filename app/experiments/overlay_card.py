"""One plot of a comparison with its title, which leaves as a picture."""

from pathlib import Path

from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout

from app.plots.overlay import Overlay, OverlayPlot
from app.plots.pictures import save_png, save_svg
from designer import theme


class OverlayCard(QFrame):
    """A quantity of several runs."""

    def __init__(self, overlay: Overlay) -> None:
        super().__init__()
        self.plot = OverlayPlot(overlay)
        self._title = QLabel()
        theme.mark(self, "role", "card")
        theme.mark(self._title, "role", "strong")
        inside = QVBoxLayout(self)
        inside.setContentsMargins(16, 12, 12, 8)
        inside.setSpacing(4)
        inside.addWidget(self._title)
        inside.addWidget(self.plot, 1)

    @property
    def title(self) -> str:
        """The name of the quantity."""
        return self._title.text()

    @title.setter
    def title(self, title: str) -> None:
        self._title.setText(title)

    def export_png(self, path: str | Path) -> None:
        """Writes the card as a picture, twice as fine as on the screen."""
        self.plot.forget_pointer()
        save_png(self, path)

    def export_svg(self, path: str | Path) -> None:
        """Writes the card as a drawing that scales."""
        self.plot.forget_pointer()
        save_svg(self, path, self.title)
