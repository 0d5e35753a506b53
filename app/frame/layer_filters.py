"""The filters of the selected convolution, in the properties: those of the run that is shown."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QRectF, QSize, QTimer
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from netwright.app.frame.tabs import DesignTab
from netwright.app.shell import Shell
from netwright.app.training import Training
from netwright.designer import markup, theme
from netwright.designer.language import noop, tr, translation
from netwright.designer.panels.parts import section
from netwright.engine.core.part_registry import entries, required
from netwright.engine.drawing.colour_maps import colours, limits
from netwright.engine.network.analysis import copy_path
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network

CONVOLUTIONS = ("conv2d", "grouped_conv2d", "transposed_conv2d")
"""Types of layers whose filters are pictures."""
ASK_MS, BUSY_MS = 150, 300
SIDE, GAP = 32, 6
MOST = 32
"""Filters that are shown; Explain has all."""
MOST_KEPT = 64
"""Layers whose pictures are kept."""
NO_RUN = noop("Train the network, or choose a run in Runs: its filters are shown here.")
UNDER_WAY = noop("Shown once the run has ended.")
BUSY = noop("Reading the filters…")


class FilterGrid(QWidget):
    """Small pictures in rows, enlarged without smoothing."""

    def __init__(self) -> None:
        super().__init__()
        self.images: Sequence[QImage] = ()

    def show_images(self, images: Sequence[QImage]) -> None:
        """Show these pictures."""
        self.images = images
        self.setAccessibleName(tr("Pictures of %n filter(s)", "", len(images)))
        self._fit()
        self.update()

    @property
    def _columns(self) -> int:
        return max(1, (self.width() + GAP) // (SIDE + GAP))

    def _fit(self) -> None:
        rows = -(-len(self.images) // self._columns)
        self.setFixedHeight(max(0, rows * (SIDE + GAP) - GAP))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the rows anew."""
        super().resizeEvent(event)
        self._fit()

    def sizeHint(self) -> QSize:
        """Return the height of the rows."""
        return QSize(SIDE, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the pictures."""
        painter, frame = QPainter(self), QPen(theme.current().line, 1)
        for number, image in enumerate(self.images):
            row, column = divmod(number, self._columns)
            place = QRectF(column * (SIDE + GAP), row * (SIDE + GAP), SIDE, SIDE)
            painter.drawImage(place, image)
            painter.setPen(frame)
            painter.drawRect(place.adjusted(0, 0, -1, -1))
        painter.end()


class FiltersPart(QWidget):
    """A part of the properties: how many filters there are, their pictures, or why there are none."""

    def __init__(self) -> None:
        super().__init__()
        part, column = section(tr("Filters"), 8)
        self.words, self.grid = QLabel(), FilterGrid()
        self.words.setWordWrap(True)
        theme.mark(self.words, "role", "help")
        column.addWidget(self.words)
        column.addWidget(self.grid)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(part)
        self.hide()

    def say(self, text: str, images: Sequence[QImage] = ()) -> None:
        """Show a text, and pictures below it."""
        self.words.setText(markup.visible(text))
        self.grid.show_images(images)
        self.grid.setVisible(bool(images))


class LayerFilters(QObject):
    """Asks the engine for the filters of the selected convolution in the run that is shown, once that has ended. What
    was read of a run is kept until another one is shown."""

    def __init__(self, shell: Shell, design: DesignTab, training: Training) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._design, self._training = shell, design, training
        self.part: FiltersPart | None = None
        self._known: dict[str, tuple[str, Sequence[QImage]]] = {}
        """Text and pictures of layers, by their paths of ids."""
        self._path = ""
        """The layer that is selected, if it is a convolution."""
        self._request: int | None = None
        self._soon = QTimer(self, singleShot=True, interval=ASK_MS)
        self._soon.timeout.connect(self._ask)
        self._busy = QTimer(self, singleShot=True, interval=BUSY_MS)
        self._busy.timeout.connect(lambda: self._say(translation(BUSY)))
        shell.editor.selection_changed.connect(self._follow)
        training.run_shown.connect(self._forget)
        training.state_changed.connect(self._forget)

    def _forget(self) -> None:
        """Another run is shown, or it has begun or ended."""
        self._known = {}
        self._follow()

    def _follow(self, _selection: object = None) -> None:
        """Show the filters of the layer that is selected, if it has any."""
        self._cancel()
        editor = self._shell.editor
        ids = tuple(editor.selection)
        layer = editor.network.layers.get(ids[0]) if len(ids) == 1 else None
        has_filters = layer is not None and layer.type.key in CONVOLUTIONS and "explain" in entries("operations")
        self._path = path_of(editor.project.network, (*editor.scope, ids[0])) if has_filters else ""
        if self.part is None and has_filters:
            self.part = FiltersPart()
            self._design.properties.add_part(self.part)
        if self.part is not None:
            self.part.setVisible(has_filters)
        if has_filters:
            self._show()

    def _show(self) -> None:
        run = self._run
        if run is None:
            is_alive = self._training.run_folder is not None and self._training.is_running
            self._say(translation(UNDER_WAY if is_alive else NO_RUN))
        elif self._path in self._known:
            self._say(*self._known[self._path])
        else:
            self._say("")
            self._busy.start()
            self._soon.start()

    @property
    def _run(self) -> Path | None:
        """The run that is shown, if it has ended with a network."""
        folder = self._training.run_folder
        return folder.path if folder is not None and folder.result.is_file() else None

    def _ask(self) -> None:
        if (run := self._run) is None:
            return
        operation, path = required("operations", "explain"), self._path
        request = operation.request(model=run, method="filters", layer=path)
        self._request = self._shell.server.ask(
            operation, request, lambda facts: self._take(path, facts), lambda reason: self._keep(path, reason)
        )

    def _cancel(self) -> None:
        self._soon.stop()
        self._busy.stop()
        request, self._request = self._request, None
        if request is not None:
            self._shell.server.cancel(request)

    def _take(self, path: str, facts: dict[str, Any]) -> None:
        try:
            images = read_filters(Path(facts["file"]))
        except (OSError, ValueError, KeyError):
            self._keep(path, tr("The pictures of the filters cannot be read. Select the layer again."))
            return
        count, channels = int(facts["channels"]), int(facts["input_channels"])
        words = tr("%n filter(s)", "", count)
        if count > len(images):
            words = tr("The first {most} of %n filter(s)", "", count, most=MOST)
        if channels not in (1, 3):
            words = tr("{filters}, each the mean over {channels:,} channels", filters=words, channels=channels)
        self._keep(path, words, images)

    def _keep(self, path: str, text: str, images: Sequence[QImage] = ()) -> None:
        """Keep the answer about a layer, and show it if it is still selected."""
        self._request = None
        self._busy.stop()
        if images:
            if len(self._known) >= MOST_KEPT:
                self._known.clear()
            self._known[path] = text, images
        if path == self._path:
            self._say(text, images)

    def _say(self, text: str, images: Sequence[QImage] = ()) -> None:
        if self.part is not None:
            self.part.say(text, images)


def path_of(network: Network, ids: Sequence[str]) -> str:
    """Return the path of a layer as a run names it: of a repeated block the first copy."""
    parts: list[str] = []
    for id in ids:
        type = network.layers[id].type
        parts.append(copy_path(id, 0, type.repeat) if isinstance(type, Block) else id)
        network = type.network if isinstance(type, Block) else network
    return "/".join(parts)


def read_filters(file: Path) -> list[QImage]:
    """Return the pictures of the method `filters`, each on a scale of its own. Raises `OSError`, `ValueError` and
    `KeyError` for a file that is none."""
    import numpy as np  # a start of the window does not pay for it

    images = []
    with np.load(file, allow_pickle=False) as stored:
        for values in stored["maps"][:MOST].astype(np.float64):
            clean = np.nan_to_num(values)
            low, high = float(clean.min()), float(clean.max())
            if clean.ndim == 2:
                is_signed = low < 0
                table = np.array(colours("diverging" if is_signed else "sequential"), np.uint8)
                low, high = limits(low, high, is_signed=is_signed)
                pixels = table[np.rint((clean - low) / (high - low) * (len(table) - 1)).astype(int)]
            else:
                pixels = np.rint((clean - low) / ((high - low) or 1.0) * 255).astype(np.uint8)
            pixels = np.ascontiguousarray(pixels)
            high_pixels, wide = pixels.shape[:2]
            images.append(QImage(pixels.data, wide, high_pixels, 3 * wide, QImage.Format.Format_RGB888).copy())
    return images
