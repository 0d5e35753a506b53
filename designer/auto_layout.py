"""Automatic layout: at once for small networks, else in a process that can be cancelled; and alignment of layers."""

import os
import sys
from collections.abc import Mapping

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal
from PySide6.QtWidgets import QMenu, QWidget

from netwright.designer.editor import Editor
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.files import ROOT
from netwright.engine.core.process import module_words
from netwright.engine.network import arrange_program
from netwright.engine.network.arrangement import (
    ASPECT,
    Direction,
    Edge,
    Outline,
    align,
    arrange_part,
    arranged,
    distribute,
    outline,
    positions,
)
from netwright.engine.network.layout import Flow, Position
from netwright.engine.network.network import Network

MANY = 800
"""Networks of this many layers are laid out in a process: the window would freeze."""
_PATIENCE_MS = 1000
_WORDS: dict[Flow | None, str] = {
    None: noop("Arrange"),
    "down": noop("Arrange top-down"),
    "right": noop("Arrange left to right"),
}


class AutoLayout(QObject):
    """Lays out the network of an editor; one layout runs at a time."""

    took_long = Signal(str)
    """A message, when the layout takes more than a second."""
    arranged = Signal(object)
    """The layout was applied; the `Layout` from before."""
    ended = Signal()
    """The process ended, with or without a layout."""

    def __init__(self, editor: Editor, parent: QObject | None = None, *, many: int = MANY) -> None:
        super().__init__(parent)
        self._editor = editor
        self._many = many
        self.aspect = ASPECT
        """Width of the canvas by its height, for which long networks are folded."""
        self._process: QProcess | None = None
        self._network: Network | None = None
        self._shape: Outline | None = None
        self._flow: Flow | None = None
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        self._patience.timeout.connect(self._tell)

    @property
    def is_busy(self) -> bool:
        """Whether a process is running."""
        return self._process is not None

    def arrange(self, flow: Flow | None = None) -> None:
        """Arrange all layers that are shown, down or to the right, or as the network flows already. One step to undo.

        What takes long goes on in the background, and is given up if the network changes meanwhile.
        """
        self.cancel()
        self._network, self._flow = self._editor.network, flow
        self._shape = outline(self._network, self._editor.layout, flow, self.aspect)
        if len(self._shape.names) < self._many:
            self._take(positions(self._shape))
            return
        process = self._process = QProcess(self)
        environment = QProcessEnvironment.systemEnvironment()
        paths = [str(ROOT), *filter(None, (environment.value("PYTHONPATH"),))]
        environment.insert("PYTHONPATH", os.pathsep.join(paths))
        process.setProcessEnvironment(environment)
        process.finished.connect(self._on_finished)
        process.errorOccurred.connect(self._on_error)
        self._patience.start()
        process.start(sys.executable, module_words(arrange_program.__name__))
        process.write(arrange_program.request(self._shape))
        process.closeWriteChannel()

    def cancel(self) -> bool:
        """Cancel the running process; return whether there was one."""
        process, self._process = self._process, None
        if process is None:
            return False
        self._patience.stop()
        process.blockSignals(True)
        process.kill()
        process.waitForFinished()
        process.deleteLater()
        self.ended.emit()
        return True

    def _tell(self) -> None:
        if self._shape is not None:
            self.took_long.emit(tr("Arranging {count:,} layers…", count=len(self._shape.names)))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._fail()

    def _on_finished(self, code: int) -> None:
        process, shape = self._process, self._shape
        if process is None or shape is None:
            return
        output = bytes(process.readAllStandardOutput().data())
        try:
            if code:
                raise ValueError(f"exit {code}")
            places = arrange_program.answer(shape, output)
        except ValueError:
            self._fail()
            return
        self._end(process)
        self._take(places)

    def _fail(self) -> None:
        if self._process is not None:
            self._end(self._process)
            self._editor.refused.emit(
                tr("The network could not be arranged: the process that does it ended too early.")
            )

    def _end(self, process: QProcess) -> None:
        self._process = None
        self._patience.stop()
        process.deleteLater()
        self.ended.emit()

    def _take(self, places: dict[str, Position]) -> None:
        if self._editor.network is not self._network:
            self._editor.refused.emit(tr("The network has changed meanwhile: it was not arranged."))
            return
        before = self._editor.layout
        self._editor.apply_here(translation(_WORDS[self._flow]), layout=arranged(before, places, self._flow))
        self.arranged.emit(before)


ALIGN: Mapping[Edge, str] = {
    "left": noop("Align left"),
    "centre": noop("Align centre"),
    "right": noop("Align right"),
    "top": noop("Align top"),
    "middle": noop("Align middle"),
    "bottom": noop("Align bottom"),
}
DISTRIBUTE: Mapping[Direction, str] = {
    "horizontally": noop("Distribute horizontally"),
    "vertically": noop("Distribute vertically"),
}


def align_selection(editor: Editor, edge: Edge) -> None:
    """Align the selected layers."""
    if len(editor.selection) > 1:
        _move(editor, translation(ALIGN[edge]), align(editor.layout, editor.selection, edge))


def distribute_selection(editor: Editor, direction: Direction) -> None:
    """Distribute the selected layers evenly."""
    if len(editor.selection) > 2:
        _move(editor, translation(DISTRIBUTE[direction]), distribute(editor.layout, editor.selection, direction))


def arrange_selection(editor: Editor) -> None:
    """Lay out only the selected layers, where they are."""
    if len(editor.selection) > 1:
        _move(editor, tr("Arrange selection"), arrange_part(editor.network, editor.layout, editor.selection))


def _move(editor: Editor, text: str, places: Mapping[str, Position]) -> None:
    changed = {id: at for id, at in places.items() if at != editor.layout.at(id)}
    if changed:
        editor.apply_here(text, layout=editor.layout.moved(changed))


def align_menu(editor: Editor, parent: QWidget) -> QMenu:
    """All of it as a menu, for the selected layers."""
    menu = QMenu(tr("Align"), parent)
    for edge in ALIGN:
        menu.addAction(translation(ALIGN[edge]), lambda edge=edge: align_selection(editor, edge))
        if edge == "right":
            menu.addSeparator()
    menu.addSeparator()
    for direction in DISTRIBUTE:
        action = menu.addAction(
            translation(DISTRIBUTE[direction]), lambda direction=direction: distribute_selection(editor, direction)
        )
        action.setEnabled(len(editor.selection) > 2)
    menu.addSeparator()
    menu.addAction(tr("Arrange selection"), lambda: arrange_selection(editor))
    return menu
