"""Every menu entry, toolbar button and shortcut, as one table.

A row names a method as the window reaches it (`editor.undo`); menus, toolbar, shortcuts and the command finder are made
from the rows. What a row needs to be usable is a function of `WindowState`, a value that the window makes anew when
something changed.
"""

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
    has_result: bool = False
    is_paused: bool = False
    can_resume: bool = False


def _always(state: WindowState) -> bool:
    return True


def _in_design(state: WindowState) -> bool:
    return state.tab == "design"


def _with_selection(state: WindowState) -> bool:
    return state.tab == "design" and state.has_selection


def _with_copyable(state: WindowState) -> bool:
    return state.tab == "design" and (state.has_selection or state.has_annotations)


def _with_anything_selected(state: WindowState) -> bool:
    return _with_copyable(state) or (state.tab == "design" and state.has_connections)


def _with_layers(state: WindowState) -> bool:
    return state.tab == "design" and state.has_layers


def _with_several(state: WindowState) -> bool:
    return state.tab == "design" and state.num_selected > 1


def _with_three(state: WindowState) -> bool:
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
    enabled_when: Callable[[WindowState], bool] = _always
    separator_before: bool = False
    in_toolbar: bool = False
    is_on: Callable[[WindowState], bool] | None = None
    """Of one that switches something: whether that is on."""
    submenu: str = ""
    """The menu within the menu that it stands in."""


MENUS = ("File", "Edit", "View", "Network", "Data", "Run", "Help")

ACTIONS: tuple[Action, ...] = (
    Action("file.new", "New project…", "File", "show_start", "Ctrl+N", "new", help="Blank, or from a template"),
    Action("file.blank", "New blank project", "File", "files.new", "Ctrl+Shift+N"),
    Action("file.open", "Open…", "File", "files.open", "Ctrl+O", "open", in_toolbar=True),
    Action("file.save", "Save", "File", "files.save", "Ctrl+S", "save", separator_before=True, in_toolbar=True),
    Action("file.save_as", "Save as…", "File", "files.save_as", "Ctrl+Shift+S"),
    Action(
        "file.export",
        "Export network…",
        "File",
        "dialogs.export_network",
        "Ctrl+E",
        "export",
        help="As ONNX or as a PyTorch file",
        enabled_when=lambda s: s.has_layers,
        separator_before=True,
    ),
    Action(
        "file.export_table",
        "Export table of layers…",
        "File",
        "table.export",
        help="Sizes, parameters, FLOPs and memory of all layers, as CSV",
        enabled_when=lambda s: s.has_layers,
    ),
    Action(
        "file.picture",
        "Save picture…",
        "File",
        "dialogs.save_picture",
        icon="image",
        help="The whole network as PNG, SVG or PDF",
        enabled_when=lambda s: s.has_layers,
    ),
    Action(
        "file.compare", "Compare with…", "File", "dialogs.compare_with", help="See what differs from another project"
    ),
    Action("file.quit", "Quit", "File", "close", "Ctrl+Q", separator_before=True),
    Action(
        "edit.undo", "Undo", "Edit", "editor.undo", "Ctrl+Z", "undo", enabled_when=lambda s: s.can_undo, in_toolbar=True
    ),
    Action(
        "edit.redo",
        "Redo",
        "Edit",
        "editor.redo",
        "Ctrl+Shift+Z",
        "redo",
        also=("Ctrl+Y",),
        enabled_when=lambda s: s.can_redo,
        in_toolbar=True,
    ),
    Action(
        "edit.cut", "Cut", "Edit", "editor.cut", "Ctrl+X", "cut", enabled_when=_with_copyable, separator_before=True
    ),
    Action("edit.copy", "Copy", "Edit", "editor.copy", "Ctrl+C", "copy", enabled_when=_with_copyable),
    Action("edit.paste", "Paste", "Edit", "editor.paste", "Ctrl+V", "paste", enabled_when=_in_design),
    Action("edit.duplicate", "Duplicate", "Edit", "editor.duplicate", "Ctrl+D", enabled_when=_with_copyable),
    Action(
        "edit.delete", "Delete", "Edit", "editor.delete_selection", "Del", "trash", enabled_when=_with_anything_selected
    ),
    Action("edit.select_all", "Select all", "Edit", "editor.select_all", "Ctrl+A", enabled_when=_with_layers),
    Action(
        "edit.lasso",
        "Select with a lasso",
        "Edit",
        "canvas.keys.lasso_next",
        help="Draw a line around layers: the next drag, or Alt and a drag",
        enabled_when=_with_layers,
    ),
    Action(
        "edit.find",
        "Find a layer…",
        "Edit",
        "find_bar.open",
        "Ctrl+F",
        "search",
        help="By name, type or problem",
        enabled_when=_with_layers,
        separator_before=True,
    ),
    Action("edit.find_next", "Find next", "Edit", "find_bar.next", "F3", enabled_when=_with_layers),
    Action("edit.find_previous", "Find previous", "Edit", "find_bar.previous", "Shift+F3", enabled_when=_with_layers),
    Action(
        "view.zoom_in",
        "Zoom in",
        "View",
        "canvas.zoom_in",
        "Ctrl++",
        "zoom-in",
        also=("Ctrl+=",),
        enabled_when=_in_design,
    ),
    Action("view.zoom_out", "Zoom out", "View", "canvas.zoom_out", "Ctrl+-", "zoom-out", enabled_when=_in_design),
    Action("view.zoom_reset", "Actual size", "View", "canvas.zoom_reset", "Ctrl+0", enabled_when=_in_design),
    Action(
        "view.fit", "Fit to window", "View", "canvas.fit", "Ctrl+1", "fit", enabled_when=_with_layers, in_toolbar=True
    ),
    Action(
        "view.fit_selection",
        "Zoom to selection",
        "View",
        "canvas.fit_selection",
        "Ctrl+2",
        enabled_when=_with_selection,
    ),
    Action(
        "view.tint",
        "Tint heavy layers",
        "View",
        "canvas_actions.tint_layers",
        "Ctrl+Shift+H",
        help="By parameters, FLOPs or memory, and off again",
        enabled_when=_with_layers,
    ),
    Action(
        "view.stages",
        "Stages of a pipeline",
        "View",
        "stages.switch",
        "Ctrl+Shift+T",
        help="Which worker computes which layer, by colour and number",
        enabled_when=_with_layers,
        is_on=lambda s: s.shows_stages,
    ),
    Action("view.design", "Design", "View", "show_design", "Alt+1", separator_before=True),
    Action("view.data", "Data", "View", "show_data", "Alt+2"),
    Action("view.train", "Train", "View", "show_train", "Alt+3"),
    Action("view.start", "Start page", "View", "show_start", "Alt+Home", help="Recent projects, examples, templates"),
    Action(
        "theme.system",
        "As the system",
        "View",
        "theme.system",
        help="Light or dark, as the desktop is, and with it",
        is_on=lambda s: s.theme == "system",
        submenu="Theme",
        separator_before=True,
    ),
    Action("theme.light", "Light", "View", "theme.light", is_on=lambda s: s.theme == "light", submenu="Theme"),
    Action("theme.dark", "Dark", "View", "theme.dark", is_on=lambda s: s.theme == "dark", submenu="Theme"),
    Action("view.commands", "Find a command…", "View", "dialogs.find_command", "Ctrl+Shift+P", "search"),
    Action(
        "network.add", "Add a layer…", "Network", "focus_palette", "Ctrl+K", "plus", help="Search the layer library"
    ),
    Action(
        "network.arrange",
        "Arrange",
        "Network",
        "canvas.arrange",
        "Ctrl+L",
        "arrange",
        help="Lay the network out in layers",
        enabled_when=_with_layers,
        in_toolbar=True,
    ),
    Action(
        "network.arrange_down",
        "Arrange top-down",
        "Network",
        "canvas_actions.arrange_down",
        help="From the inputs at the top to the outputs at the bottom",
        enabled_when=_with_layers,
    ),
    Action(
        "network.arrange_right",
        "Arrange left to right",
        "Network",
        "canvas_actions.arrange_right",
        help="From the inputs at the left to the outputs at the right",
        enabled_when=_with_layers,
    ),
    Action(
        "network.arrange_selection",
        "Arrange selection",
        "Network",
        "align.arrange",
        "Ctrl+Shift+L",
        help="Lay out only the selected layers, where they are",
        enabled_when=_with_several,
    ),
    Action(
        "block.group",
        "Group into a block",
        "Network",
        "editor.group",
        "Ctrl+G",
        help="Put the selected layers into a block, which can be repeated and opened",
        enabled_when=_with_selection,
        separator_before=True,
    ),
    Action(
        "block.ungroup",
        "Ungroup",
        "Network",
        "editor.ungroup",
        "Ctrl+Shift+G",
        help="Put what is inside the selected blocks in their place",
        enabled_when=lambda s: s.tab == "design" and s.has_block_selected,
    ),
    Action(
        "block.open",
        "Open block",
        "Network",
        "canvas.open_selected",
        "Alt+Down",
        help="Show and edit what is inside the selected block; a double click does the same",
        enabled_when=lambda s: s.tab == "design" and s.has_block_selected and s.num_selected == 1,
    ),
    Action(
        "block.leave",
        "Leave block",
        "Network",
        "editor.leave_block",
        "Alt+Up",
        enabled_when=lambda s: s.tab == "design" and s.is_in_block,
    ),
    Action(
        "block.keep",
        "Save to my blocks…",
        "Network",
        "blocks.keep",
        help="Keep a copy of the selected block in the layer library, for every project",
        enabled_when=lambda s: s.tab == "design" and s.has_block_selected and s.num_selected == 1,
    ),
    Action(
        "frame.selection",
        "Frame selection",
        "Network",
        "canvas.annotating.frame_selection",
        "Ctrl+Shift+F",
        help="Put a coloured frame around what is selected; it moves with what stands in it",
        enabled_when=_with_copyable,
        separator_before=True,
    ),
    Action(
        "comment.add",
        "Add a comment",
        "Network",
        "canvas.annotating.add_comment",
        "Ctrl+Shift+M",
        help="A text on the canvas, at the pointer",
        enabled_when=_in_design,
    ),
    Action(
        "stages.balance",
        "Balance stages of a pipeline",
        "Network",
        "stages.balance",
        help="Give each worker equally much to do, and write it down",
        enabled_when=_with_layers,
        separator_before=True,
    ),
    Action(
        "stages.clear",
        "Clear stages of a pipeline",
        "Network",
        "stages.clear",
        help="Leave them to the engine, which balances them when a run begins",
        enabled_when=_with_layers,
    ),
    Action("align.left", "Align left", "Network", "align.left", enabled_when=_with_several, separator_before=True),
    Action("align.centre", "Align centre", "Network", "align.centre", enabled_when=_with_several),
    Action("align.right", "Align right", "Network", "align.right", enabled_when=_with_several),
    Action("align.top", "Align top", "Network", "align.top", enabled_when=_with_several),
    Action("align.middle", "Align middle", "Network", "align.middle", enabled_when=_with_several),
    Action("align.bottom", "Align bottom", "Network", "align.bottom", enabled_when=_with_several),
    Action(
        "distribute.horizontally",
        "Distribute horizontally",
        "Network",
        "align.distribute_horizontally",
        help="Equal steps from left to right",
        enabled_when=_with_three,
        separator_before=True,
    ),
    Action(
        "distribute.vertically",
        "Distribute vertically",
        "Network",
        "align.distribute_vertically",
        help="Equal steps from top to bottom",
        enabled_when=_with_three,
    ),
    Action(
        "code.trust",
        "Trust the project's code…",
        "Network",
        "code.review",
        help="Let the custom layers and functions of this project run",
        separator_before=True,
    ),
    Action("data.choose", "Choose data…", "Data", "show_data", "Ctrl+Shift+D", "data"),
    Action(
        "run.train",
        "Train",
        "Run",
        "training.start",
        "F5",
        "play",
        help="Start a run in a process of its own",
        enabled_when=lambda s: not s.is_running,
    ),
    Action("run.stop", "Stop", "Run", "training.stop", "Shift+F5", "stop", enabled_when=lambda s: s.is_running),
    Action(
        "run.stop_after_epoch", "Stop after this epoch", "Run", "stop_after_epoch", enabled_when=lambda s: s.is_running
    ),
    Action(
        "run.queue",
        "Train after this run",
        "Run",
        "training.queue",
        help="Train the project as it is now once the run that is under way has ended",
        enabled_when=lambda s: s.is_running,
    ),
    Action("run.pause", "Pause", "Run", "training.pause", enabled_when=lambda s: s.is_running and not s.is_paused),
    Action(
        "run.release",
        "Pause and free memory",
        "Run",
        "training.pause_and_release",
        help="The run waits as a checkpoint on disk: its processes end, Resume starts them again",
        enabled_when=lambda s: s.is_running,
    ),
    Action(
        "run.resume",
        "Resume",
        "Run",
        "training.resume",
        help="Go on with the run that is shown, from where it is",
        enabled_when=lambda s: s.can_resume,
    ),
    Action(
        "run.checkpoint", "Save a checkpoint", "Run", "training.save_checkpoint", enabled_when=lambda s: s.is_running
    ),
    Action("run.validate", "Validate now", "Run", "training.validate_now", enabled_when=lambda s: s.is_running),
    Action("run.change", "Change rate or epochs…", "Run", "training.change", enabled_when=lambda s: s.is_running),
    Action(
        "run.options", "Training options…", "Run", "training.edit_options", "Ctrl+T", "settings", separator_before=True
    ),
    Action("run.open", "Open a run…", "Run", "training.choose_run", help="Follow or look at a run by its folder"),
    Action(
        "run.history",
        "Experiments",
        "Run",
        "show_experiments",
        "Ctrl+Shift+E",
        "table",
        also=("Alt+4",),
        help="Every run of the project: find, compare, note, delete",
    ),
    Action(
        "run.watch",
        "Mark how layers do",
        "Run",
        "layer_health.switch",
        help="Gradient, output and dead units of each layer on the canvas, from now on",
        is_on=lambda s: s.watches_layers,
        separator_before=True,
    ),
    Action(
        "run.message",
        "Message when a run ends",
        "Run",
        "switch_message",
        help="By the desktop, while another window is in front",
        is_on=lambda s: s.has_message,
    ),
    Action("run.beep", "Beep when a run ends", "Run", "switch_beep", is_on=lambda s: s.has_beep),
    Action("help.shortcuts", "Keyboard shortcuts", "Help", "dialogs.show_shortcuts", "F1"),
    Action(
        "help.devices",
        "Devices…",
        "Help",
        "dialogs.show_devices",
        help="What can train on this machine, whether it works, and how fast it is",
    ),
    Action("help.about", "About Netwright", "Help", "dialogs.show_about", "", "info"),
)


def enabled_ids(state: WindowState) -> set[str]:
    """The ids of the actions that can be used now."""
    return {action.id for action in ACTIONS if action.enabled_when(state)}
