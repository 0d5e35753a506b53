"""The state of the window that decides which actions can be used, and the conditions that several share."""

from dataclasses import dataclass

from netwright.designer.scene.lens import Lens


@dataclass(frozen=True)
class WindowState:
    """The state that decides which actions are enabled and checked."""

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
    is_shown_running: bool = False
    """Whether the run that is shown is under way."""
    run_name: str = ""
    """The run that is under way, in a few words."""
    lens: Lens = "structure"
    refused_lenses: frozenset[Lens] = frozenset()
    has_message: bool = False
    has_beep: bool = False
    is_paused: bool = False
    can_resume: bool = False
    has_import_report: bool = False
    freezes: bool = False


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
