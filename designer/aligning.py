"""What the menu does with the places of the selected layers, each as one step to undo."""

from collections.abc import Mapping

from PySide6.QtWidgets import QMenu, QWidget

from designer.editor import Editor
from engine.network.align import Direction, Edge, align, arrange_part, distribute
from engine.network.layout import Position

EDGES: tuple[Edge, ...] = ("left", "centre", "right", "top", "middle", "bottom")
DIRECTIONS: tuple[Direction, ...] = ("horizontally", "vertically")


def align_selection(editor: Editor, edge: Edge) -> None:
    """Put the selected layers in line."""
    if len(editor.selection) > 1:
        _move(editor, f"Align {edge}", align(editor.layout, editor.selection, edge))


def distribute_selection(editor: Editor, direction: Direction) -> None:
    """Put the selected layers at equal steps."""
    if len(editor.selection) > 2:
        _move(editor, f"Distribute {direction}", distribute(editor.layout, editor.selection, direction))


def arrange_selection(editor: Editor) -> None:
    """Lay only the selected layers out in rows, where they are."""
    if len(editor.selection) > 1:
        _move(editor, "Arrange selection", arrange_part(editor.network, editor.layout, editor.selection))


def _move(editor: Editor, text: str, places: Mapping[str, Position]) -> None:
    changed = {id: at for id, at in places.items() if at != editor.layout.at(id)}
    if changed:
        editor.apply_here(text, layout=editor.layout.moved(changed))


def align_menu(editor: Editor, parent: QWidget) -> QMenu:
    """All of it as a menu, for the selected layers."""
    menu = QMenu("Align", parent)
    for edge in EDGES:
        menu.addAction(f"Align {edge}", lambda edge=edge: align_selection(editor, edge))
        if edge == "right":
            menu.addSeparator()
    menu.addSeparator()
    for direction in DIRECTIONS:
        action = menu.addAction(
            f"Distribute {direction}", lambda direction=direction: distribute_selection(editor, direction)
        )
        action.setEnabled(len(editor.selection) > 2)
    menu.addSeparator()
    menu.addAction("Arrange selection", lambda: arrange_selection(editor))
    return menu
