"""What decides which actions can be used, gathered from the parts of the window."""

from typing import TYPE_CHECKING

from app.frame.actions import WindowState
from engine.network.block import Block

if TYPE_CHECKING:
    from app.window import MainWindow


def state_of(window: "MainWindow") -> WindowState:
    """The state of a window now."""
    editor, training = window.editor, window.training
    return WindowState(
        tab=window.tabs.current,
        theme=window.theme.scheme,
        has_layers=bool(editor.project.network.layers),
        has_selection=bool(editor.selection),
        has_connections=bool(editor.selected_connections),
        has_annotations=bool(editor.selected_marks),
        num_selected=len(editor.selection),
        has_block_selected=any(isinstance(editor.network.layers[id].type, Block) for id in editor.selection),
        is_in_block=bool(editor.scope),
        can_undo=editor.stack.canUndo(),
        can_redo=editor.stack.canRedo(),
        is_running=training.is_running,
        watches_layers=window.layer_health.is_on,
        shows_stages=window.stages.is_on,
        has_message=training.herald.has_message,
        has_beep=training.herald.has_beep,
        is_paused=training.is_paused,
        can_resume=training.can_resume,
    )
