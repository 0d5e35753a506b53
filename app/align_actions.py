"""What the Network menu does with the places of the selected layers, a method for each row of the table of actions."""

from designer import aligning
from designer.editor import Editor


class AlignActions:
    """Aligns, distributes and arranges the selection of one editor."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    def arrange(self) -> None:
        aligning.arrange_selection(self._editor)

    def left(self) -> None:
        aligning.align_selection(self._editor, "left")

    def centre(self) -> None:
        aligning.align_selection(self._editor, "centre")

    def right(self) -> None:
        aligning.align_selection(self._editor, "right")

    def top(self) -> None:
        aligning.align_selection(self._editor, "top")

    def middle(self) -> None:
        aligning.align_selection(self._editor, "middle")

    def bottom(self) -> None:
        aligning.align_selection(self._editor, "bottom")

    def distribute_horizontally(self) -> None:
        aligning.distribute_selection(self._editor, "horizontally")

    def distribute_vertically(self) -> None:
        aligning.distribute_selection(self._editor, "vertically")
