"""The commands of the Network menu that place the selected layers."""

from collections.abc import Callable

from designer import auto_layout
from designer.editor import Editor
from engine.network.arrangement import Direction, Edge
from engine.network.layout import Layout


class AlignCommands:
    """Aligns, distributes and arranges the selection of one editor. `show` is given the layout from before."""

    def __init__(self, editor: Editor, show: Callable[[Layout], None]) -> None:
        self._editor = editor
        self._show = show

    def align(self, edge: Edge) -> None:
        """Bring the selected layers into line along an edge or a middle."""
        before = self._editor.layout
        auto_layout.align_selection(self._editor, edge)
        self._show(before)

    def distribute(self, direction: Direction) -> None:
        """Give the selected layers equal distances."""
        before = self._editor.layout
        auto_layout.distribute_selection(self._editor, direction)
        self._show(before)

    def arrange(self) -> None:
        """Lay out only the selected layers, where they are."""
        before = self._editor.layout
        auto_layout.arrange_selection(self._editor)
        self._show(before)
