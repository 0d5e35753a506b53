"""One thing a person can do with the window, and what it depends on whether it can be done."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class WindowState:
    """What decides which actions can be used."""

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
    """Whatever is shown."""
    return True


def in_design(state: WindowState) -> bool:
    """While the network is shown."""
    return state.tab == "design"


def with_selection(state: WindowState) -> bool:
    """Layers are selected."""
    return state.tab == "design" and state.has_selection


def with_copyable(state: WindowState) -> bool:
    """Layers, frames or comments are selected."""
    return state.tab == "design" and (state.has_selection or state.has_annotations)


def with_anything_selected(state: WindowState) -> bool:
    """Anything is selected, connections too."""
    return with_copyable(state) or (state.tab == "design" and state.has_connections)


def with_layers(state: WindowState) -> bool:
    """The network has layers."""
    return state.tab == "design" and state.has_layers


def with_several(state: WindowState) -> bool:
    """There is something to bring into line."""
    return state.tab == "design" and state.num_selected > 1


def with_three(state: WindowState) -> bool:
    """There is something between two others, to be set apart."""
    return state.tab == "design" and state.num_selected > 2


@dataclass(frozen=True)
class Action:
    """One thing a person can do: id, words, menu, the method that does it, and when it can be done.

    `also` are further shortcuts, for other keyboards and habits; menus show the first one.
    """

    id: str
    text: str
    menu: str
    handler: str
    shortcut: str = ""
    icon: str = ""
    help: str = ""
    also: tuple[str, ...] = ()
    enabled_when: Callable[[WindowState], bool] = always
    separator_before: bool = False
    in_toolbar: bool = False
    is_on: Callable[[WindowState], bool] | None = None
    """Of one that switches something: whether that is on."""
    submenu: str = ""
    """The menu within the menu that it stands in."""
