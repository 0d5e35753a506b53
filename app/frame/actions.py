"""An action of the window: its texts, its handler, and the condition under which it can be used."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a table of actions needs none of them
    from app.frame.align_commands import AlignCommands
    from app.frame.block_commands import BlockCommands
    from app.frame.canvas_overlays import LayerHealthOverlay, StagesOverlay
    from app.frame.commands import CanvasCommands, DialogCommands, ThemeCommands
    from app.frame.design_tab import DesignTab
    from app.frame.document_commands import DocumentCommands
    from app.frame.menus import Menus
    from app.notifier import Notifier
    from app.training import Training
    from app.user_code import UserCodeTracker
    from designer.editor import Editor


class Commands(Protocol):
    """The window as handlers see it: the parts that carry out actions."""

    editor: "Editor"
    design: "DesignTab"
    files: "DocumentCommands"
    dialogs: "DialogCommands"
    canvas_commands: "CanvasCommands"
    theme: "ThemeCommands"
    stages: "StagesOverlay"
    layer_health: "LayerHealthOverlay"
    user_code: "UserCodeTracker"
    training: "Training"
    notifier: "Notifier"
    menus: "Menus"

    @property
    def align(self) -> "AlignCommands":
        """Placement of the selected layers."""

    @property
    def blocks(self) -> "BlockCommands":
        """The user's own blocks."""

    def show_tab(self, key: str) -> None:
        """Bring a tab to the front."""

    def show_start(self) -> None:
        """Show the start page."""

    def focus_palette(self) -> None:
        """Put the keyboard into the search of the layer library."""

    def close(self) -> bool:
        """Close the window."""


@dataclass(frozen=True)
class WindowState:
    """What decides which actions can be used and which are checked."""

    tab: str = "design"
    theme: str = "system"
    has_layers: bool = False
    has_selection: bool = False
    has_connections: bool = False
    has_annotations: bool = False
    num_selected: int = 0
    has_block_selected: bool = False
    is_in_block: bool = False
    can_undo: bool = False
    can_redo: bool = False
    is_running: bool = False
    watches_layers: bool = False
    shows_stages: bool = False
    has_message: bool = False
    has_beep: bool = False
    is_paused: bool = False
    can_resume: bool = False


def always(state: WindowState) -> bool:
    """Return true, whatever is shown."""
    return True


def in_design(state: WindowState) -> bool:
    """Return whether the network is shown."""
    return state.tab == "design"


def with_selection(state: WindowState) -> bool:
    """Return whether layers are selected."""
    return state.tab == "design" and state.has_selection


def with_copyable(state: WindowState) -> bool:
    """Return whether layers, frames or comments are selected."""
    return state.tab == "design" and (state.has_selection or state.has_annotations)


def with_anything_selected(state: WindowState) -> bool:
    """Return whether anything is selected, connections included."""
    return with_copyable(state) or (state.tab == "design" and state.has_connections)


def with_layers(state: WindowState) -> bool:
    """Return whether the network has layers."""
    return state.tab == "design" and state.has_layers


def with_several(state: WindowState) -> bool:
    """Return whether there are layers to align: two or more are selected."""
    return state.tab == "design" and state.num_selected > 1


def with_three(state: WindowState) -> bool:
    """Return whether there are layers to distribute: three or more are selected."""
    return state.tab == "design" and state.num_selected > 2


@dataclass(frozen=True)
class Action:
    """One row of the table: id, text, menu, handler, and the condition under which it can be used.

    `also` are further shortcuts, for other keyboards and habits; menus show the first one.
    """

    id: str
    text: str
    menu: str
    handler: Callable[[Commands], object]
    shortcut: str = ""
    icon: str = ""
    help: str = ""
    also: tuple[str, ...] = ()
    enabled_when: Callable[[WindowState], bool] = always
    separator_before: bool = False
    in_toolbar: bool = False
    is_on: Callable[[WindowState], bool] | None = None
    """For an action that switches something: whether it is on."""
    submenu: str = ""
    """The submenu that it stands in."""
