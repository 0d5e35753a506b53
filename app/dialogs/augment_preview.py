"""Some training samples as the options of augmentation change them, in view beside all of these options."""

import shutil
import tempfile
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from netwright.app.data.preview_tiles import samples_of
from netwright.app.data.samples_bar import changes_of
from netwright.app.processes import OnError, OnResult
from netwright.app.temporary_folder import temporary_folder
from netwright.designer import theme
from netwright.designer.language import tr
from netwright.engine.project.project import Project

Sampler = Callable[[Project, str, int, int, OnResult, OnError], None]
"""Asks for samples of a project, with pictures in a folder: how many, augmented as in an epoch; epoch 0: unchanged."""
SAMPLES, SEQUENCES = 12, 6
"""Pictures, and sequences, that have room side by side."""
HEIGHT = 132
_CALM_MS = 250


class AugmentPreview(QWidget):
    """Keeps its height whatever it shows, so that no field moves."""

    def __init__(self, ask: Sampler, parent: QWidget) -> None:
        super().__init__(parent)
        self._ask, self._project = ask, Project()
        self._asked: tuple[object, ...] | None = None
        self._folder = temporary_folder(self, "augment")
        self.state = QLabel()
        theme.mark(self.state, "role", "help")
        self.tiles: QWidget = QWidget()
        self.setFixedHeight(HEIGHT)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(24, 10, 24, 8)
        self._column.setSpacing(4)
        self._column.addWidget(self.state)
        self._column.addWidget(self.tiles, 1)
        self._soon = QTimer(self, singleShot=True, interval=_CALM_MS)
        self._soon.timeout.connect(self._look)

    def show_project(self, project: Project) -> None:
        """Show the effect of these options, a moment after the last change."""
        self._project = project
        if self.isVisible():
            self._soon.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Look at samples: not before they are seen."""
        super().showEvent(event)
        self._soon.start()

    def _look(self) -> None:
        project, changes = self._project, changes_of(self._project)
        if changes == self._asked:
            return
        self._asked = changes
        self.state.setText(self.state.text() or tr("Reading training samples…"))
        folder = tempfile.mkdtemp(dir=self._folder)

        def show(answer: dict[str, Any]) -> None:
            if self._asked == changes:
                words = (
                    tr("Training samples as augmented")
                    if project.training.augments
                    else tr("Training samples, unchanged")
                )
                self._show(words, samples_of(answer, SAMPLES if answer.get("pictures") else SEQUENCES) or QWidget())
            shutil.rmtree(folder, ignore_errors=True)

        def fail(message: str) -> None:
            if self._asked == changes:
                self._show(message, QWidget(), role="error")

        self._ask(project, folder, SAMPLES, int(bool(project.training.augments)), show, fail)

    def _show(self, words: str, tiles: QWidget, role: str = "help") -> None:
        theme.mark(self.state, "role", role)
        self.state.setText(words)
        self._column.replaceWidget(self.tiles, tiles)
        self.tiles.deleteLater()
        self.tiles = tiles
