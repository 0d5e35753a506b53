"""Marks on the canvas how each layer does in training: switched on with the training option Watch layers."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from app.window import MainWindow
    from designer.canvas.marks.health_legend import HealthLegend
    from engine.runs.events import Event

SHOW_MS = 200


class LayerHealth(QObject):
    """Keeps the newest figures of the run that is shown."""

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self._window = window
        self._layers: dict[str, list[float]] = {}
        self._iteration = 0
        self._legend: HealthLegend | None = None
        self._is_shown = False
        self._is_asked = False
        self._soon = QTimer(self, singleShot=True, interval=SHOW_MS)
        self._soon.timeout.connect(self.show)
        window.editor.project_changed.connect(self._on_changed)
        window.editor.scope_changed.connect(self._on_changed)

    @property
    def is_on(self) -> bool:
        """Whether layers are to be watched."""
        return self._window.editor.project.training.watch_layers

    def switch(self) -> None:
        """Watch layers from now on, in a run that is under way as well, and mark them; or no more."""
        editor = self._window.editor
        words = "Watch layers no more" if self.is_on else "Watch layers"
        training = editor.project.training.replace(watch_layers=not self.is_on)
        editor.apply(words, replace(editor.project, training=training))
        if self._window.training.is_running:
            self._window.training.watch("layers", self.is_on)
        elif self.is_on and not self._layers:
            self._window.hint("Layers are marked on the canvas from the next run on.")

    def forget(self) -> None:
        """Another run is shown."""
        self._is_asked = False
        self._clear()

    def _clear(self) -> None:
        self._layers, self._iteration = {}, 0
        self._soon.start()

    def take(self, event: "Event") -> None:
        """One event of the run."""
        from engine.runs.events import Health, Requested, Started  # a start of the window does not pay for it

        if isinstance(event, Started):
            self._clear()
        elif isinstance(event, Requested) and event.what == "watch_layers":
            self._is_asked = event.value > 0
            self._clear()
        elif isinstance(event, Health):
            if event.iteration != self._iteration:
                self._layers, self._iteration = {}, event.iteration
            self._layers.update(event.layers)
            self._soon.start()

    def _on_changed(self, _project: object = None) -> None:
        if self._layers or self._is_shown:
            self._soon.start()

    def show(self) -> None:
        """Draw the marks of the layers that are seen, or none."""
        from designer.canvas.marks.health import marks

        editor, canvas = self._window.editor, self._window.canvas
        found = marks(self._layers, editor.project.network, editor.scope) if self.is_on or self._is_asked else {}
        canvas.network_scene.show_health(found)
        self._is_shown = bool(found)
        if found and self._legend is None:
            from designer.canvas.marks.health_legend import HealthLegend

            self._legend = HealthLegend(canvas)
        if self._legend is not None:
            self._legend.show_at(self._iteration) if found else self._legend.hide()
