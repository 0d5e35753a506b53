"""The dialog of the roofline: how fast each layer is beside what the device allows, and a trace of whole steps."""

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLabel, QMenu, QPushButton, QVBoxLayout

from netwright.app.dialog import Dialog
from netwright.app.frame.canvas_overlays import LayerTimesOverlay
from netwright.app.plots.card import PlotCard
from netwright.app.plots.roofline_plot import RooflinePlot
from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.language import noop, tr, translation
from netwright.designer.scene.health_badges import without_copies
from netwright.engine.core.files import write_atomically
from netwright.engine.operations.profile import OPERATION, ProfileRequest
from netwright.engine.project.file import dumps

EXPORTS = (("png", noop("Picture (*.png)")), ("svg", noop("Drawing (*.svg)")), ("csv", noop("Table (*.csv)")))
ABOUT = noop(
    "Each point is a layer, forward: what it computes per second over what it "
    "computes per byte that it moves. Layers on the slope wait for memory, those "
    "below the level part for arithmetic. Click a point to select its layer."
)


class RooflineDialog(Dialog):
    """Shows the layers as they are measured. It does not block the window."""

    def __init__(self, shell: Shell, times: LayerTimesOverlay) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._times = shell, times
        self._request: int | None = None
        self.setWindowTitle(tr("Roofline"))
        self.resize(760, 520)
        self.plot = RooflinePlot()
        self.card = PlotCard(self.plot)
        self.card.title = tr("Speed of layers, FLOP/s")
        self.state, about = QLabel(), QLabel(translation(ABOUT))
        about.setWordWrap(True)
        for label in (self.state, about):
            theme.mark(label, "role", "muted")
        self.measure, self.trace, export = (
            QPushButton(tr("Measure again")),
            QPushButton(tr("Save trace…")),
            QPushButton(tr("Export")),
        )
        self.trace.setToolTip(
            tr("Profile some steps with torch.profiler and save them for Perfetto or chrome://tracing")
        )
        menu = QMenu(self)
        for kind, pattern in EXPORTS:
            menu.addAction(f"{kind.upper()}…", lambda kind=kind, pattern=pattern: self.export(kind, pattern))
        export.setMenu(menu)
        column, row = QVBoxLayout(self), QHBoxLayout()
        column.setSpacing(12)
        column.addWidget(about)
        column.addWidget(self.card, 1)
        row.addWidget(self.state, 1)
        for button in (self.measure, self.trace, export):
            button.setAutoDefault(False)
            row.addWidget(button)
        column.addLayout(row)
        self.measure.clicked.connect(times.toggle)
        self.trace.clicked.connect(self.save_trace)
        self.plot.layer_clicked.connect(self.select)
        times.changed.connect(self.refresh)
        self.finished.connect(self._on_finished)
        if not times.costs and not times.process.is_running:
            times.start()
        self.refresh()

    def refresh(self) -> None:
        """Show the measurements so far."""
        times = self._times
        self.plot.show_costs(times.device, times.costs)
        self.measure.setText(tr("Stop") if times.process.is_running else tr("Measure again"))
        count = len(times.costs)
        words = tr("Measuring: %n layer(s)…", "", count)
        if not times.process.is_running:
            words = tr("%n layer(s), {measurement}", "", count, measurement=times.where) if times.where else ""
        self.state.setText(words)

    def select(self, path: str) -> None:
        """Select a layer on the canvas by the path of ids that it was measured under."""
        editor = self._shell.editor
        ids, _ = without_copies(path.split("/"), editor.project.network)
        if ids:
            editor.open_scope(ids[:-1])
            editor.set_selection(ids[-1:])
            self._shell.show_tab("design")

    def export(self, kind: str, pattern: str) -> None:
        """Ask for a file, and write the plot as a picture, a drawing or a table."""
        name = self._asked(tr("Export roofline"), f"roofline.{kind}", translation(pattern), f".{kind}")
        if name is None:
            return
        try:
            if kind == "csv":
                write_atomically(name, self.plot.csv().encode())
            else:
                (self.card.export_png if kind == "png" else self.card.export_svg)(name)
        except OSError as error:
            self._shell.show_error(tr("The roofline cannot be exported"), f"{name}: {error.strerror}.")
            return
        self._shell.hint(tr("Wrote {file}.", file=name.name))

    def save_trace(self) -> None:
        """Ask for a file, and profile some steps in a process of their own."""
        to = self._asked(tr("Save trace"), "trace.json", tr("Trace (*.json)"), ".json")
        if to is None:
            return
        self._end()
        self.trace.setEnabled(False)
        self.state.setText(tr("Tracing…"))
        project = self._shell.documents.base.absolute()
        request = ProfileRequest(project=project, text=dumps(self._shell.editor.project), trace=to.absolute())
        self._request = self._shell.server.ask(OPERATION, request, lambda _: self._on_traced(to), self._on_failed)

    def _on_traced(self, to: Path) -> None:
        self._end()
        self.refresh()
        self._shell.hint(tr("Wrote {file}. Open it in Perfetto or chrome://tracing.", file=to.name))

    def _on_failed(self, reason: str) -> None:
        self._end()
        self.refresh()
        self._shell.show_error(tr("The trace cannot be saved"), reason)

    def _asked(self, title: str, start: str, pattern: str, suffix: str) -> Path | None:
        folder = self._shell.documents.folder
        name, _ = QFileDialog.getSaveFileName(self, title, str(folder / start), pattern)
        if not name:
            return None
        return Path(name) if Path(name).suffix else Path(f"{name}{suffix}")

    def _end(self) -> None:
        if self._request is not None:
            self._shell.server.cancel(self._request)
            self._request = None
        self.trace.setEnabled(True)

    def _on_finished(self, _: Any) -> None:
        self._times.changed.disconnect(self.refresh)
        self._end()
        self.deleteLater()
