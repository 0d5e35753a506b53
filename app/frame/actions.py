"""Every action of the window: one table of menu entries, toolbar buttons and shortcuts.

Menus, toolbar, shortcuts and the command finder are made from the rows. The handler of a row takes the window, of which
it knows `Commands`; whether the row can be used is a function of `WindowState`, a value that the window makes anew when
something has changed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from netwright.engine.core.part_registry import entries

if TYPE_CHECKING:
    from netwright.app.frame.activations_overlay import ActivationsOverlay
    from netwright.app.frame.canvas_overlays import LayerHealthOverlay, StagesOverlay
    from netwright.app.frame.document_commands import DocumentCommands
    from netwright.app.frame.import_commands import ImportCommands
    from netwright.app.frame.network_commands import AlignCommands, BlockCommands
    from netwright.app.frame.tabs import DesignTab
    from netwright.app.frame.weights_commands import WeightsCommands
    from netwright.app.frame.window_commands import CanvasCommands, DialogCommands, ThemeCommands
    from netwright.app.notifier import Notifier
    from netwright.app.training import Training
    from netwright.app.user_code_tracker import UserCodeTracker
    from netwright.designer.editor import Editor


class HelpCommands(Protocol):
    """The dialogs about the program and its actions."""

    def find_command(self) -> None:
        """Find an action by its name, and run it."""

    def show_shortcuts(self) -> None:
        """List the shortcuts."""

    def show_about(self) -> None:
        """Show name, version, licence and add-ons."""


class Commands(Protocol):
    """The window as handlers see it: the parts that carry out actions."""

    editor: "Editor"
    design: "DesignTab"
    files: "DocumentCommands"
    imports: "ImportCommands"
    dialogs: "DialogCommands"
    weights: "WeightsCommands"
    canvas_commands: "CanvasCommands"
    theme: "ThemeCommands"
    stages: "StagesOverlay"
    layer_health: "LayerHealthOverlay"
    activations: "ActivationsOverlay"
    user_code: "UserCodeTracker"
    training: "Training"
    notifier: "Notifier"

    @property
    def menus(self) -> HelpCommands:
        """The menu bar."""

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

    def show_search(self) -> None:
        """Show the page on which experiments are defined and followed."""

    def focus_palette(self) -> None:
        """Put the keyboard into the search of the layer library."""

    def close(self) -> bool:
        """Close the window."""


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
    run_name: str = ""
    """The run that is under way, in a few words."""
    watches_layers: bool = False
    shows_stages: bool = False
    shows_activations: bool = False
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
    keywords: str = ""
    """Other words that people look for, with spaces between."""
    needs: str = ""
    """The page or dialog that it shows, where a part brings it: without the part there is no such action."""


SHOWN = {*entries("pages"), *entries("dialogs")}
"""The pages and dialogs of parts."""
RUNS = "Experiments" if "experiments" in SHOWN else "Runs"
"""The tab of the runs, which has the experiments where that part is here."""
MENUS = ("File", "Edit", "View", "Network", "Data", "Run", "Help")

# fmt: off
_TABLE: tuple[Action, ...] = (
    Action("file.new", "New project…", "File", lambda w: w.show_start(), "Ctrl+N", "new",
           help="Blank, or from a template", keywords="template wizard pretrained"),
    Action("file.blank", "New blank project", "File", lambda w: w.files.new(), "Ctrl+Shift+N"),
    Action("file.open", "Open…", "File", lambda w: w.files.open(), "Ctrl+O", "open", in_toolbar=True,
           keywords="load project"),
    Action("file.import", "Import…", "File", lambda w: w.imports.choose(), needs="import_network",
           help="A network of another program, with its weights, as a project",
           keywords="onnx pytorch keras tensorflow torch load model pretrained importNetworkFromONNX"),
    Action("file.import_report", "Import report…", "File", lambda w: w.imports.show_report(), needs="import_report",
           help="What became of the operators of the imported file, and how close the outputs are",
           enabled_when=lambda s: s.has_import_report, keywords="onnx parity operators"),
    Action("file.save", "Save", "File", lambda w: w.files.save(), "Ctrl+S", "save", separator_before=True,
           in_toolbar=True),
    Action("file.save_as", "Save as…", "File", lambda w: w.files.save_as(), "Ctrl+Shift+S"),
    Action("file.export", "Export network…", "File", lambda w: w.dialogs.export_network(), "Ctrl+E", "export",
           needs="export_network",
           help="As ONNX or as a PyTorch file", enabled_when=lambda s: s.has_layers, separator_before=True,
           keywords="onnx pytorch deploy code generate save model"),
    Action("file.report", "Export report…", "File", lambda w: w.dialogs.export_report(),
           help="Network, options, curves and results of the run that is shown, as one HTML file",
           enabled_when=lambda s: s.has_layers, keywords="html pdf print appendix paper document"),
    Action("file.export_table", "Export table of layers…", "File", lambda w: w.design.table.export(),
           help="Sizes, parameters, FLOPs and memory of all layers, as CSV", enabled_when=lambda s: s.has_layers),
    Action("file.picture", "Save picture…", "File", lambda w: w.dialogs.save_picture(), icon="image",
           help="The whole network as PNG, SVG or PDF", enabled_when=lambda s: s.has_layers,
           keywords="screenshot image svg png pdf print"),
    Action("file.compare", "Compare with…", "File", lambda w: w.dialogs.compare_with(),
           help="Show the differences from another project"),
    Action("file.quit", "Quit", "File", lambda w: w.close(), "Ctrl+Q", separator_before=True),
    Action("edit.undo", "Undo", "Edit", lambda w: w.editor.undo(), "Ctrl+Z", "undo",
           enabled_when=lambda s: s.can_undo, in_toolbar=True),
    Action("edit.redo", "Redo", "Edit", lambda w: w.editor.redo(), "Ctrl+Shift+Z", "redo", also=("Ctrl+Y",),
           enabled_when=lambda s: s.can_redo, in_toolbar=True),
    Action("edit.cut", "Cut", "Edit", lambda w: w.editor.cut(), "Ctrl+X", "cut", enabled_when=with_copyable,
           separator_before=True),
    Action("edit.copy", "Copy", "Edit", lambda w: w.editor.copy(), "Ctrl+C", "copy", enabled_when=with_copyable),
    Action("edit.paste", "Paste", "Edit", lambda w: w.editor.paste(), "Ctrl+V", "paste", enabled_when=in_design),
    Action("edit.duplicate", "Duplicate", "Edit", lambda w: w.editor.duplicate(), "Ctrl+D",
           enabled_when=with_copyable),
    Action("edit.delete", "Delete", "Edit", lambda w: w.editor.delete_selection(), "Del", "trash",
           enabled_when=with_anything_selected),
    Action("edit.select_all", "Select all", "Edit", lambda w: w.editor.select_all(), "Ctrl+A",
           enabled_when=with_layers),
    Action("edit.lasso", "Select with a lasso", "Edit", lambda w: w.design.canvas.keyboard.lasso_next(),
           help="Draw a line around layers: the next drag, or Alt and a drag", enabled_when=with_layers),
    Action("edit.find", "Find a layer…", "Edit", lambda w: w.canvas_commands.find_bar.open(), "Ctrl+F", "search",
           help="By name, type, size or problem, inside blocks too", enabled_when=with_layers, separator_before=True),
    Action("edit.find_next", "Find next", "Edit", lambda w: w.canvas_commands.find_bar.next(), "F3",
           enabled_when=with_layers),
    Action("edit.find_previous", "Find previous", "Edit", lambda w: w.canvas_commands.find_bar.previous(), "Shift+F3",
           enabled_when=with_layers),
    Action("view.zoom_in", "Zoom in", "View", lambda w: w.design.canvas.zoom_in(), "Ctrl++", "zoom-in",
           also=("Ctrl+=",), enabled_when=in_design),
    Action("view.zoom_out", "Zoom out", "View", lambda w: w.design.canvas.zoom_out(), "Ctrl+-", "zoom-out",
           enabled_when=in_design),
    Action("view.zoom_reset", "Actual size", "View", lambda w: w.design.canvas.zoom_reset(), "Ctrl+0",
           enabled_when=in_design),
    Action("view.fit", "Fit to window", "View", lambda w: w.design.canvas.fit(), "Ctrl+1", "fit",
           enabled_when=with_layers, in_toolbar=True),
    Action("view.fit_selection", "Zoom to selection", "View", lambda w: w.design.canvas.fit_selection(), "Ctrl+2",
           enabled_when=with_selection),
    Action("view.tint", "Highlight expensive layers", "View", lambda w: w.canvas_commands.tint_layers(), "Ctrl+Shift+H",
           help="By parameters, FLOPs, memory or measured time, and off again", enabled_when=with_layers,
           keywords="heatmap flops memory expensive"),
    Action("view.times", "Measure layer times", "View", lambda w: w.canvas_commands.measure_layers(),
           help="Run each layer by itself, forward and backward, and tint the layers by their time",
           enabled_when=with_layers, keywords="profile profiler benchmark slow bottleneck duration roofline"),
    Action("view.activations", "Show activations", "View", lambda w: w.activations.switch(), needs="test",
           help="What each layer of the newest run gives for a sample, as pictures beside the layer",
           enabled_when=with_layers, is_on=lambda s: s.shows_activations,
           keywords="feature maps activations inside look"),
    Action("view.roofline", "Roofline…", "View", lambda w: w.canvas_commands.show_roofline(),
           help="Speed of each layer beside what the device allows; a trace of steps for Perfetto",
           enabled_when=with_layers, keywords="profile trace perfetto bandwidth arithmetic intensity bottleneck"),
    Action("view.stages", "Pipeline stages", "View", lambda w: w.stages.switch(), "Ctrl+Shift+T",
           help="Which worker computes which layer, by colour and number", enabled_when=with_layers,
           is_on=lambda s: s.shows_stages),
    Action("view.design", "Design", "View", lambda w: w.show_tab("design"), "Alt+1", separator_before=True),
    Action("view.data", "Data", "View", lambda w: w.show_tab("data"), "Alt+2"),
    Action("view.train", "Train", "View", lambda w: w.show_tab("train"), "Alt+3"),
    Action("view.test", "Test", "View", lambda w: w.show_tab("test"), "Alt+4", needs="test",
           help="What a run has learned: scores, predictions for new samples, a look inside",
           keywords="evaluate evaluation score accuracy confusion calibration reliability residuals errors testnet "
           "predict predictions classify inference explain gradcam"),
    Action("view.experiments", RUNS, "View", lambda w: w.show_tab("experiments"), "Alt+5", "table",
           also=("Ctrl+Shift+E",), help="Every run of the project: find, compare, annotate, delete",
           keywords="history runs compare"),
    Action("view.search", "New sweep", "View", lambda w: w.show_search(), needs="experiments",
           help="Many values of options and layers, side by side, and which is best",
           keywords="sweep tuning hyperparameters grid random bayesian optuna experiment manager"),
    Action("view.layers", "Table of layers", "View", lambda w: w.design.show_layers(),
           help="Sizes, parameters, FLOPs and memory of each layer", enabled_when=with_layers,
           keywords="analyze analyse network analyzer summary activations learnables"),
    Action("view.start", "Start page", "View", lambda w: w.show_start(), "Alt+Home",
           help="Recent projects, examples, templates"),
    Action("theme.system", "Match system", "View", lambda w: w.theme.choose("system"),
           help="Light or dark, as the desktop is", is_on=lambda s: s.theme == "system", submenu="Theme",
           separator_before=True, keywords="appearance preferences auto"),
    Action("theme.light", "Light", "View", lambda w: w.theme.choose("light"), is_on=lambda s: s.theme == "light",
           submenu="Theme", keywords="theme appearance preferences day"),
    Action("theme.dark", "Dark", "View", lambda w: w.theme.choose("dark"), is_on=lambda s: s.theme == "dark",
           submenu="Theme", keywords="theme appearance preferences night"),
    Action("view.commands", "Find a command…", "View", lambda w: w.menus.find_command(), "Ctrl+Shift+P", "search"),
    Action("network.add", "Add a layer…", "Network", lambda w: w.focus_palette(), "Ctrl+K", "plus",
           help="Search the layer library"),
    Action("network.arrange", "Arrange", "Network", lambda w: w.design.canvas.arrange(), "Ctrl+L", "arrange",
           help="Lay the network out in layers", enabled_when=with_layers, in_toolbar=True),
    Action("network.arrange_down", "Arrange top-down", "Network", lambda w: w.design.canvas.arrange("down"),
           help="From the inputs at the top to the outputs at the bottom", enabled_when=with_layers,
           submenu="Arrange as"),
    Action("network.arrange_right", "Arrange left to right", "Network", lambda w: w.design.canvas.arrange("right"),
           help="From the inputs at the left to the outputs at the right", enabled_when=with_layers,
           submenu="Arrange as"),
    Action("network.arrange_selection", "Arrange selection", "Network", lambda w: w.align.arrange(), "Ctrl+Shift+L",
           help="Lay out only the selected layers, where they are", enabled_when=with_several, submenu="Arrange as"),
    Action("block.group", "Group into a block", "Network", lambda w: w.editor.group(), "Ctrl+G",
           help="Put the selected layers into a block, which can be repeated and opened", enabled_when=with_selection,
           separator_before=True, keywords="subnetwork networkLayer collapse", submenu="Block"),
    Action("block.ungroup", "Ungroup", "Network", lambda w: w.editor.ungroup(), "Ctrl+Shift+G",
           help="Replace the selected blocks by their contents",
           enabled_when=lambda s: s.tab == "design" and s.has_block_selected, submenu="Block"),
    Action("block.open", "Open block", "Network", lambda w: w.design.canvas.open_selected(), "Alt+Down",
           help="Show and edit the contents of the selected block; so does a double click",
           enabled_when=lambda s: s.tab == "design" and s.has_block_selected and s.num_selected == 1, submenu="Block"),
    Action("block.leave", "Leave block", "Network", lambda w: w.editor.leave_block(), "Alt+Up",
           enabled_when=lambda s: s.tab == "design" and s.is_in_block, submenu="Block"),
    Action("block.keep", "Save to my blocks…", "Network", lambda w: w.blocks.keep(),
           help="Keep a copy of the selected block in the layer library, for every project",
           enabled_when=lambda s: s.tab == "design" and s.has_block_selected and s.num_selected == 1, submenu="Block"),
    Action("frame.selection", "Frame selection", "Network", lambda w: w.design.canvas.frame_selection(),
           "Ctrl+Shift+F", help="Draw a coloured frame around the selection; it moves with its contents",
           enabled_when=with_copyable, separator_before=True),
    Action("comment.add", "Add a comment", "Network", lambda w: w.design.canvas.add_comment(), "Ctrl+Shift+M",
           help="A text on the canvas, at the pointer", enabled_when=in_design),
    Action("weights.transfer", "Transfer learning…", "Network", lambda w: w.weights.transfer(),
           help="Start from weights, with a new head for the data, frozen layers and lower rates",
           enabled_when=lambda s: s.has_layers, separator_before=True,
           keywords="pretrained finetune weights head freeze import checkpoint start"),
    Action("weights.prune", "Prune…", "Network", lambda w: w.weights.prune(), needs="prune",
           help="A smaller network from the run that is shown: channels removed, or the smallest weights zero",
           enabled_when=lambda s: s.has_layers, keywords="compress smaller sparse channels magnitude"),
    Action("weights.freeze", "Freeze up to the selected layer", "Network", lambda w: w.weights.freeze_selected(),
           help="It and all layers that lead to it keep their weights",
           enabled_when=lambda s: with_selection(s) and s.num_selected == 1, keywords="lock freezeWeights transfer"),
    Action("weights.unfreeze", "Freeze no layers", "Network", lambda w: w.weights.freeze_none(),
           help="All layers learn again, apart from those whose field Freeze is on",
           enabled_when=lambda s: s.freezes, keywords="unfreeze unlock thaw"),
    Action("stages.balance", "Balance pipeline stages", "Network", lambda w: w.stages.balance(),
           help="Divide the work equally among the workers, and store the stages", enabled_when=with_layers,
           separator_before=True, submenu="Pipeline stages"),
    Action("stages.clear", "Clear pipeline stages", "Network", lambda w: w.stages.clear(),
           help="Let the engine balance them when a run starts", enabled_when=with_layers, submenu="Pipeline stages"),
    Action("align.left", "Align left", "Network", lambda w: w.align.align("left"), enabled_when=with_several,
           separator_before=True, submenu="Align"),
    Action("align.centre", "Align centre", "Network", lambda w: w.align.align("centre"), enabled_when=with_several,
           submenu="Align"),
    Action("align.right", "Align right", "Network", lambda w: w.align.align("right"), enabled_when=with_several,
           submenu="Align"),
    Action("align.top", "Align top", "Network", lambda w: w.align.align("top"), enabled_when=with_several,
           submenu="Align"),
    Action("align.middle", "Align middle", "Network", lambda w: w.align.align("middle"), enabled_when=with_several,
           submenu="Align"),
    Action("align.bottom", "Align bottom", "Network", lambda w: w.align.align("bottom"), enabled_when=with_several,
           submenu="Align"),
    Action("distribute.horizontally", "Distribute horizontally", "Network",
           lambda w: w.align.distribute("horizontally"), help="Equal distances from left to right",
           enabled_when=with_three, separator_before=True, submenu="Align"),
    Action("distribute.vertically", "Distribute vertically", "Network", lambda w: w.align.distribute("vertically"),
           help="Equal distances from top to bottom", enabled_when=with_three, submenu="Align"),
    Action("code.trust", "Trust the project's code…", "Network", lambda w: w.user_code.review(),
           help="Let the custom layers and functions of this project run", separator_before=True),
    Action("data.choose", "Choose data…", "Data", lambda w: w.show_tab("data"), "Ctrl+Shift+D", "data",
           keywords="dataset load import csv images folder mat datastore"),
    Action("run.train", "Train", "Run", lambda w: w.training.start(), "F5", "play",
           help="Start a run in a process of its own", enabled_when=lambda s: not s.is_running,
           keywords="start learn"),
    Action("run.stop", "Stop", "Run", lambda w: w.training.stop(), "Shift+F5", "stop",
           enabled_when=lambda s: s.is_running),
    Action("run.stop_after_epoch", "Stop after this epoch", "Run", lambda w: w.training.stop(after_epoch=True),
           enabled_when=lambda s: s.is_running),
    Action("run.queue", "Queue another run", "Run", lambda w: w.training.queue(),
           help="Train the project as it is now: after the current run, or at once if there is none",
           keywords="schedule later next"),
    Action("run.pause", "Pause", "Run", lambda w: w.training.request("pause"),
           enabled_when=lambda s: s.is_running and not s.is_paused),
    Action("run.release", "Pause and free memory", "Run", lambda w: w.training.request("pause", {"release": 1}),
           help="The run is kept as a checkpoint on disk: its processes end, Resume starts them again",
           enabled_when=lambda s: s.is_running),
    Action("run.resume", "Resume", "Run", lambda w: w.training.resume(),
           help="Resume the run that is shown, from its last state", enabled_when=lambda s: s.can_resume),
    Action("run.checkpoint", "Save a checkpoint", "Run", lambda w: w.training.request("checkpoint"),
           enabled_when=lambda s: s.is_running),
    Action("run.validate", "Validate now", "Run", lambda w: w.training.request("validate"),
           enabled_when=lambda s: s.is_running),
    Action("run.change", "Change rate or epochs…", "Run", lambda w: w.training.request("set"),
           enabled_when=lambda s: s.is_running),
    Action("run.options", "Training options…", "Run", lambda w: w.dialogs.edit_training_options(), "Ctrl+T",
           "settings", separator_before=True,
           keywords="settings solver learn learn rate epochs hyperparameters gpu trainingOptions"),
    Action("run.open", "Open a run…", "Run", lambda w: w.training.choose_run(),
           help="Follow or look at a run by its folder"),
    Action("run.clusters", "Clusters…", "Run", lambda w: w.dialogs.show_clusters(),
           help="Profiles of clusters: Slurm, hosts over ssh, Ray; try one in stages", separator_before=True,
           keywords="cluster profile slurm ssh ray parallel remote validate parcluster"),
    Action("run.jobs", "Jobs on clusters…", "Run", lambda w: w.dialogs.show_cluster_jobs(),
           help="Runs on clusters: show, stop, fetch, delete", keywords="cluster slurm batch remote monitor job"),
    Action("run.watch", "Highlight layer health", "Run", lambda w: w.layer_health.switch(),
           help="Gradient, output and dead units of each layer on the canvas, from now on",
           is_on=lambda s: s.watches_layers, separator_before=True, keywords="gradients dead vanishing exploding"),
    Action("run.message", "Notify when a run ends", "Run", lambda w: w.notifier.switch_message(),
           help="On the desktop, while another window is active", is_on=lambda s: s.has_message),
    Action("run.beep", "Beep when a run ends", "Run", lambda w: w.notifier.switch_beep(), is_on=lambda s: s.has_beep),
    Action("run.webhook", "Webhook when a run ends…", "Run", lambda w: w.dialogs.edit_webhook(),
           help="An address of yours that is told when a run, an experiment or the queue has ended",
           keywords="notify notification slack url http chat"),
    Action("help.shortcuts", "Keyboard shortcuts", "Help", lambda w: w.menus.show_shortcuts(), "F1",
           keywords="keys hotkeys"),
    Action("help.devices", "Devices…", "Help", lambda w: w.dialogs.show_devices(),
           help="The devices of this machine, whether they work, and how fast they are",
           keywords="gpu cuda hardware cpu"),
    Action("help.about", "About Netwright", "Help", lambda w: w.menus.show_about(), "", "info"),
)
# fmt: on
ACTIONS = tuple(action for action in _TABLE if not action.needs or action.needs in SHOWN)


def enabled_ids(state: WindowState) -> set[str]:
    """Return the ids of the actions that can be used."""
    return {action.id for action in ACTIONS if action.enabled_when(state)}
