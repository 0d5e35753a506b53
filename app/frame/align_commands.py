"""The commands of the Network menu that place the selected layers."""

from collections.abc import Callable

from designer import auto_layout
from designer.editor import Editor
from engine.network.arrangement import Direction, Edge
from engine.network.layout import Layout


class AlignActions:
    """Aligns, distributes and arranges the selection of one editor. `show` is told the layout from before."""

    def __init__(self, editor: Editor, show: Callable[[Layout], None]) -> None:
        self._editor = editor
        self._show = show

    def _align(self, edge: Edge) -> None:
        before = self._editor.layout
        auto_layout.align_selection(self._editor, edge)
        self._show(before)

    def _distribute(self, direction: Direction) -> None:
        before = self._editor.layout
        auto_layout.distribute_selection(self._editor, direction)
        self._show(before)

    def arrange(self) -> None:
        before = self._editor.layout
        auto_layout.arrange_selection(self._editor)
        self._show(before)

    def left(self) -> None:
        self._align("left")

    def centre(self) -> None:
        self._align("centre")

    def right(self) -> None:
        self._align("right")

    def top(self) -> None:
        self._align("top")

    def middle(self) -> None:
        self._align("middle")

    def bottom(self) -> None:
        self._align("bottom")

    def distribute_horizontally(self) -> None:
        self._distribute("horizontally")

    def distribute_vertically(self) -> None:
        self._distribute("vertically")
