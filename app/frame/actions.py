"""Every action of the window: one table of menu entries, toolbar buttons and shortcuts.

Menus, toolbar, shortcuts and the command finder are made from the rows. The handler of a row takes the window, of which
it knows `Commands`; whether the row can be used is a function of `WindowState`, a value that the window makes anew when
something has changed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from netwright.app.frame.window_state import (
    WindowState,
    always,
    in_design,
    with_anything_selected,
    with_copyable,
    with_layers,
    with_selection,
    with_several,
    with_three,
)
from netwright.designer.language import noop, tr, translation
from netwright.designer.layer_edits import toggle_sharing
from netwright.designer.scene.lens import HELP, LABELS, Lens
from netwright.engine.core.part_registry import entries
from netwright.engine.network.arrangement import Edge

if TYPE_CHECKING:
    from netwright.app.data.data_guesser import DataGuesser
    from netwright.app.documents import Documents
    from netwright.app.frame.canvas_overlays import StagesOverlay
    from netwright.app.frame.document_commands import DocumentCommands
    from netwright.app.frame.import_commands import ImportCommands
    from netwright.app.frame.network_commands import AlignCommands, BlockCommands
    from netwright.app.frame.pages import Pages
    from netwright.app.frame.tabs import DesignTab
    from netwright.app.frame.weights_commands import WeightsCommands
    from netwright.app.frame.window_commands import CanvasCommands, DialogCommands, ThemeCommands
    from netwright.app.notifier import Notifier
    from netwright.app.processes import EngineServer
    from netwright.app.training import Training
    from netwright.app.user_code_tracker import UserCodeTracker
    from netwright.designer.editor import Editor


class HelpCommands(Protocol):
    """The dialogs about the program and its actions."""

    def find_command(self) -> None:
        """Find an action by its name, and run it."""

    def show_shortcuts(self) -> None:
        """List the shortcuts."""

    def show_manual(self) -> None:
        """Show the page of the manual about what has the focus."""

    def start_tour(self, chapter: str = "") -> None:
        """Start the guided tour, with a chapter by its key."""

    def show_about(self) -> None:
        """Show name, version, licence and add-ons."""

    def show_preferences(self, page: str = "") -> None:
        """Show what the user has chosen for the program, perhaps with one of the pages."""


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
    user_code: "UserCodeTracker"
    training: "Training"
    notifier: "Notifier"
    guesser: "DataGuesser"
    made: "Pages"
    documents: "Documents"
    server: "EngineServer"

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

    def hint(self, text: str) -> None:
        """Show a message in the status bar for a few seconds."""

    def close(self) -> bool:
        """Close the window."""


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

    @property
    def name(self) -> str:
        """The text in the language of the window, without the dots of an action that asks for more."""
        return translation(self.text).rstrip("…")

    @property
    def place(self) -> str:
        """The name behind that of its menu: `File: Save`."""
        return tr("{menu}: {action}", menu=translation(self.menu), action=self.name)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts to translate. Keywords stay English: words of other programs find an action in any language."""
        return tuple(text for text in (self.text, self.menu, self.submenu, self.help) if text)


CANVAS_KEYS = {
    "F2": noop("rename the selected layer"),
    **{f"Ctrl+{arrow}": noop("move the selection") for arrow in ("Left", "Right", "Up", "Down")},
    **{f"Ctrl+Shift+{arrow}": noop("move the selection further") for arrow in ("Left", "Right", "Up", "Down")},
}
"""Keys with which the canvas does something itself: no action can have them."""
SHOWN = {*entries("pages"), *entries("segments"), *entries("dialogs")}
"""The pages and dialogs of parts."""
MENUS = ("File", "Edit", "View", "Network", "Data", "Run", "Help")


def _lens(lens: Lens, shortcut: str = "", *, keywords: str, needs: str = "") -> Action:
    """Return the action that shows the canvas through a lens."""
    return Action(
        f"lens.{lens}",
        LABELS[lens],
        "View",
        lambda w: w.design.lenses.choose(lens),
        shortcut,
        help=HELP[lens],
        enabled_when=lambda s: s.tab == "design" and lens not in s.refused_lenses,
        is_on=lambda s: s.lens == lens,
        submenu="Lens",
        keywords=f"lens {keywords}",
        needs=needs,
    )


# fmt: off
def _tour(key: str, text: str) -> Action:
    """Return the action that starts the tour with a chapter."""
    return Action(f"tour.{key}", text, "Help", lambda w: w.menus.start_tour(key), submenu="Tour",
                  help="A chapter of the guided tour, in a window of its own",
                  keywords="tour tutorial learn getting started introduction beginner")


def _align(edge: Edge, text: str, *, separator_before: bool = False) -> Action:
    """Return the action that aligns the selected layers at an edge, or at a middle."""
    return Action(f"align.{edge}", text, "Network", lambda w: w.align.align(edge), enabled_when=with_several,
                  separator_before=separator_before, submenu="Align")


TABLE: tuple[Action, ...] = (
    Action("file.new", "New project…", "File", lambda w: w.show_start(), "Ctrl+N", "new",
           help="Blank, or from a template", keywords="template wizard pretrained"),
    Action("file.blank", "New blank project", "File", lambda w: w.files.new(), "Ctrl+Shift+N"),
    Action("file.window", "New window", "File", lambda w: w.files.open_window(), help="For a second project"),
    Action("file.open", "Open…", "File", lambda w: w.files.open(), "Ctrl+O", "open", in_toolbar=True,
           keywords="load project"),
    Action("file.import", "Import…", "File", lambda w: w.imports.choose(), needs="import_network",
           help="A network of another program, with its weights, as a project",
           keywords="onnx pytorch keras tensorflow torch load model pretrained importNetworkFromONNX"),
    Action("file.open_model", "Open model…", "File", lambda w: w.made.open_model(), keywords="onnx keras predict",
           help="A file of a network, to evaluate, predict with and explain beside the runs"),
    Action("file.import_report", "Import report…", "File", lambda w: w.imports.show_report(), needs="import_report",
           help="What became of the operators of the imported file, and how close the outputs are",
           enabled_when=lambda s: s.has_import_report, keywords="onnx parity operators"),
    Action("file.save", "Save", "File", lambda w: w.files.save(), "Ctrl+S", "save", separator_before=True,
           in_toolbar=True),
    Action("file.save_as", "Save as…", "File", lambda w: w.files.save_as(), "Ctrl+Shift+S"),
    Action("file.export", "Export network…", "File", lambda w: w.dialogs.export_network(), "Ctrl+E", "export",
           help="As ONNX or as a PyTorch file. In a terminal, 'netwright-engine endpoint' serves it over HTTP",
           enabled_when=lambda s: s.has_layers, separator_before=True, needs="export_network",
           keywords="onnx pytorch deploy serve endpoint code generate save model"),
    Action("file.report", "Export report…", "File", lambda w: w.dialogs.export_report(),
           help="Network, options, curves and results of the run that is shown, as one HTML file",
           enabled_when=lambda s: s.has_layers, keywords="html pdf print appendix paper document"),
    Action("file.export_table", "Export table of layers…", "File", lambda w: w.design.table.export(),
           help="Sizes, parameters, FLOPs and memory of all layers, as CSV", enabled_when=lambda s: s.has_layers),
    Action("file.picture", "Save picture…", "File", lambda w: w.dialogs.save_picture(), icon="image",
           help="The whole network as PNG, SVG or PDF", enabled_when=lambda s: s.has_layers,
           keywords="screenshot image svg png pdf print"),
    Action("file.print", "Print…", "File", lambda w: w.dialogs.print_network(), "Ctrl+P",
           help="The whole network, fitted on pages", enabled_when=lambda s: s.has_layers, keywords="paper printer"),
    Action("file.preview", "Print preview…", "File", lambda w: w.dialogs.preview_print(),
           help="The pages before they are printed", enabled_when=lambda s: s.has_layers, keywords="paper pages"),
    Action("file.compare", "Compare with…", "File", lambda w: w.dialogs.compare_with(), help="See the differences"),
    Action("file.quit", "Quit", "File", lambda w: w.close(), "Ctrl+Q", separator_before=True),
    Action("edit.undo", "Undo", "Edit", lambda w: w.editor.undo(), "Ctrl+Z", "undo",
           enabled_when=lambda s: s.can_undo, in_toolbar=True),
    Action("edit.redo", "Redo", "Edit", lambda w: w.editor.redo(), "Ctrl+Shift+Z", "redo", also=("Ctrl+Y",),
           enabled_when=lambda s: s.can_redo, in_toolbar=True),
    Action("edit.cut", "Cut", "Edit", lambda w: w.editor.cut(), "Ctrl+X", "cut", enabled_when=with_copyable,
           separator_before=True),
    Action("edit.copy", "Copy", "Edit", lambda w: w.editor.copy(), "Ctrl+C", "copy", enabled_when=with_copyable),
    Action("edit.paste", "Paste", "Edit", lambda w: w.editor.paste(), "Ctrl+V", "paste", enabled_when=in_design),
    Action("edit.duplicate", "Duplicate", "Edit", lambda w: w.editor.duplicate(), "Ctrl+D", enabled_when=with_copyable),
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
    Action("edit.preferences", "Preferences…", "Edit", lambda w: w.menus.show_preferences(), "Ctrl+,", "settings",
           help="Settings of the program: theme, size of the text, notifications, shortcuts, folders",
           separator_before=True, keywords="appearance theme font notifications shortcuts customise customize"),
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
    Action("view.roofline", "Roofline…", "View", lambda w: w.canvas_commands.show_roofline(),
           help="Speed of each layer beside what the device allows; a trace of steps for Perfetto",
           enabled_when=with_layers, keywords="profile trace perfetto bandwidth arithmetic intensity bottleneck"),
    _lens("structure", keywords="parameters plain"),
    _lens("cost", "Ctrl+Shift+H", keywords="heatmap flops memory parameters expensive highlight heavy"),
    _lens("time", keywords="measure layer times profile profiler benchmark slow bottleneck duration roofline"),
    _lens("health", keywords="highlight layer health gradients dead vanishing exploding"),
    _lens("activations", needs="explain", keywords="feature maps show activations inside look"),
    _lens("attribution", needs="explain", keywords="grad-cam gradcam explain saliency"),
    _lens("stages", "Ctrl+Shift+T", keywords="pipeline workers"),
    Action("view.data", "Data", "View", lambda w: w.show_tab("data"), "Alt+1", separator_before=True),
    Action("view.design", "Design", "View", lambda w: w.show_tab("design"), "Alt+2"),
    Action("view.runs", "Runs", "View", lambda w: w.show_tab("runs"), "Alt+3", "table", also=("Ctrl+Shift+E",),
           help="Every run of the project: curves, scores, predictions, options; find, compare, delete",
           keywords="history train test experiments evaluate evaluation score accuracy confusion calibration residuals "
           "testnet predict classify inference explain gradcam compare"),
    Action("view.search", "New sweep", "View", lambda w: w.show_search(), needs="experiment",
           help="Many values of options and layers, side by side, and which is best",
           keywords="sweep tuning hyperparameters grid random bayesian optuna experiment manager"),
    Action("view.layers", "Table of layers", "View", lambda w: w.design.show_layers(),
           help="Sizes, parameters, FLOPs and memory of each layer", enabled_when=with_layers,
           keywords="analyze analyse network analyzer summary activations learnables"),
    Action("view.outline", "Outline", "View", lambda w: w.design.show_outline(), "Ctrl+Shift+O", enabled_when=in_design,
           help="The network as a tree, for screen readers: its menu has every action of the canvas", keywords="tree"),
    Action("view.history", "Undo history", "View", lambda w: w.design.show_history(), enabled_when=in_design,
           help="The steps since the project was opened: a click goes back or forward to one",
           keywords="undo redo steps back timeline revert"),
    Action("view.start", "Start page", "View", lambda w: w.show_start(), "Alt+Home",
           help="Recent projects, examples, templates"),
    Action("theme.system", "Match system", "View", lambda w: w.theme.choose("system"),
           help="Light or dark, as the desktop is", is_on=lambda s: s.theme == "system", submenu="Theme",
           separator_before=True, keywords="appearance preferences auto"),
    Action("theme.light", "Light", "View", lambda w: w.theme.choose("light"), is_on=lambda s: s.theme == "light",
           submenu="Theme", keywords="theme appearance preferences day"),
    Action("theme.dark", "Dark", "View", lambda w: w.theme.choose("dark"), is_on=lambda s: s.theme == "dark",
           submenu="Theme", keywords="theme appearance preferences night"),
    Action("network.add", "Search the library…", "Network", lambda w: w.focus_palette(), "Ctrl+K", "plus",
           help="Find a layer type by its name, and add it", keywords="add layer insert palette"),
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
    Action("weights.prune", "Make smaller…", "Network", lambda w: w.weights.prune(), needs="prune",
           help="A smaller network from the run that is shown, within a budget of size, time and accuracy, or pruned",
           enabled_when=lambda s: s.has_layers, keywords="compress prune quantise sparse channels magnitude budget"),
    Action("weights.freeze", "Freeze up to the selected layer", "Network",
           lambda w: w.design.canvas.menus.freeze_selected(), help="It and all layers before it keep their weights",
           enabled_when=lambda s: with_selection(s) and s.num_selected == 1, keywords="lock freezeWeights transfer"),
    Action("weights.unfreeze", "Freeze no layers", "Network", lambda w: w.weights.freeze_none(),
           help="All layers learn again, apart from those whose field Freeze is on",
           enabled_when=lambda s: s.freezes, keywords="unfreeze unlock thaw"),
    Action("weights.share", "Share weights", "Network", lambda w: w.editor.edit_selection(toggle_sharing),
           help="One set of weights for the selected layers; again: one for each", enabled_when=with_selection),
    Action("stages.balance", "Balance pipeline stages", "Network", lambda w: w.stages.balance(),
           help="Divide the work equally among the workers, and store the stages", enabled_when=with_layers,
           separator_before=True, submenu="Pipeline stages"),
    Action("stages.clear", "Clear pipeline stages", "Network", lambda w: w.stages.clear(),
           help="Let the engine balance them when a run starts", enabled_when=with_layers, submenu="Pipeline stages"),
    _align("left", "Align left", separator_before=True), _align("centre", "Align centre"),
    _align("right", "Align right"), _align("top", "Align top"), _align("middle", "Align middle"),
    _align("bottom", "Align bottom"),
    Action("distribute.horizontally", "Distribute horizontally", "Network",
           lambda w: w.align.distribute("horizontally"), help="Equal distances from left to right",
           enabled_when=with_three, separator_before=True, submenu="Align"),
    Action("distribute.vertically", "Distribute vertically", "Network", lambda w: w.align.distribute("vertically"),
           help="Equal distances from top to bottom", enabled_when=with_three, submenu="Align"),
    Action("code.trust", "Trust the project's code…", "Network", lambda w: w.user_code.review(),
           help="Let the custom layers and functions of this project run", separator_before=True),
    Action("data.choose", "Choose data…", "Data", lambda w: w.show_tab("data"), "Ctrl+Shift+D", "data",
           help="What the project learns from: samples, recipe, findings",
           keywords="dataset load import csv images folder mat datastore"),
    Action("data.file", "Open a file as data…", "Data", lambda w: w.guesser.choose(is_folder=False),
           help="A table, an array, text or sound: Netwright finds out what it is", keywords="csv parquet load import"),
    Action("data.folder", "Open a folder as data…", "Data", lambda w: w.guesser.choose(is_folder=True),
           help="Pictures, sounds or texts in folders by class", keywords="images datastore load import"),
    Action("run.train", "Train", "Run", lambda w: w.training.start(), "F5", "play",
           help="Start a run in a process of its own", enabled_when=lambda s: not s.is_running, keywords="start learn"),
    Action("run.stop", "Stop", "Run", lambda w: w.training.stop(), "Shift+F5", "stop",
           enabled_when=lambda s: s.is_running),
    Action("run.stop_after_epoch", "Stop after this epoch", "Run", lambda w: w.training.stop(after_epoch=True),
           enabled_when=lambda s: s.is_running),
    Action("run.queue", "Queue another run", "Run", lambda w: w.training.queue(),
           help="Train the project as it is now: after the current run, or at once if there is none",
           keywords="schedule later next"),
    Action("run.pause", "Pause", "Run", lambda w: w.training.request("pause"),
           enabled_when=lambda s: s.is_shown_running and not s.is_paused),
    Action("run.release", "Pause and free memory", "Run", lambda w: w.training.request("pause", {"release": 1}),
           help="The run is kept as a checkpoint on disk: its processes end, Resume starts them again",
           enabled_when=lambda s: s.is_shown_running),
    Action("run.resume", "Resume", "Run", lambda w: w.training.resume(),
           help="Resume the run that is shown, from its last state", enabled_when=lambda s: s.can_resume),
    Action("run.checkpoint", "Save a checkpoint", "Run", lambda w: w.training.request("checkpoint"),
           enabled_when=lambda s: s.is_shown_running),
    Action("run.validate", "Validate now", "Run", lambda w: w.training.request("validate"),
           enabled_when=lambda s: s.is_shown_running),
    Action("run.change", "Change rate or epochs…", "Run", lambda w: w.training.request("set"),
           enabled_when=lambda s: s.is_shown_running),
    Action("run.options", "Training options…", "Run", lambda w: w.dialogs.edit_training_options(), "Ctrl+T",
           "settings", separator_before=True,
           keywords="settings solver learn learn rate epochs hyperparameters gpu trainingOptions"),
    Action("run.tune", "Tune for me…", "Run", lambda w: w.dialogs.show_tune(), needs="tune",
           help="Search better values within a budget of time, and prove them against the project as it is",
           keywords="hyperparameter search optimize optimise automl best learn rate learning batch dropout optuna"),
    Action("run.doctor", "Doctor…", "Run", lambda w: w.dialogs.show_doctor(), needs="doctor",
           help="What is wrong with the project, in order of effect, each with one cure",
           keywords="diagnose overfit learning rate finder problems why not learning lr find"),
    Action("run.evaluate", "Evaluate…", "Run", lambda w: w.made.show_segment("scores"), needs="scores",
           help="Scores of the run that is shown, on test, validation or training data", separator_before=True,
           keywords="test accuracy confusion metrics score"),
    Action("run.predict", "Predict…", "Run", lambda w: w.made.show_segment("predict"), needs="predict",
           help="Answers of the run that is shown for samples of your own", keywords="classify inference try forecast"),
    Action("run.explain", "Explain…", "Run", lambda w: w.made.show_segment("explain"), needs="explain",
           help="What the run that is shown looks at", keywords="gradcam saliency attribution importance"),
    Action("run.open", "Open a run…", "Run", lambda w: w.dialogs.open_run(),
           help="Follow or look at a run by its folder"),
    Action("run.devices", "Devices…", "Run", lambda w: w.dialogs.show_devices(),
           help="The devices of this machine, whether they work, and how fast they are", separator_before=True,
           keywords="gpu cuda hardware cpu"),
    Action("run.clusters", "Clusters…", "Run", lambda w: w.dialogs.show_clusters(),
           help="Profiles of clusters: Slurm, hosts over ssh, Ray; try one in stages",
           keywords="cluster profile slurm ssh ray parallel remote validate parcluster", needs="clusters"),
    Action("run.jobs", "Jobs on clusters…", "Run", lambda w: w.dialogs.show_cluster_jobs(), needs="cluster_jobs",
           help="Runs on clusters: show, stop, fetch, delete", keywords="cluster slurm batch remote monitor job"),
    Action("run.message", "Notify when a run ends", "Run", lambda w: w.notifier.switch_message(),
           help="On the desktop, while another window is active", is_on=lambda s: s.has_message, separator_before=True),
    Action("run.beep", "Beep when a run ends", "Run", lambda w: w.notifier.switch_beep(), is_on=lambda s: s.has_beep),
    Action("run.webhook", "Webhook when a run ends…", "Run", lambda w: w.menus.show_preferences("Notifications"),
           help="An address of yours that is told when a run, an experiment or the queue has ended",
           keywords="notify notification slack url http chat"),
    Action("help.commands", "Search commands…", "Help", lambda w: w.menus.find_command(), "Ctrl+Shift+P", "search",
           help="Every entry of the menus, by its name or by what it does", keywords="find command palette"),
    _tour("network", "1. A network on the canvas"), _tour("data", "2. Data"), _tour("options", "3. Training options"),
    _tour("training", "4. Train and watch"), _tour("results", "5. Look at the results"),
    _tour("export", "6. Take it away"),
    Action("help.page", "Manual", "Help", lambda w: w.menus.show_manual(), "F1",
           help="The page about what has the focus", keywords="documentation docs help reference"),
    Action("help.shortcuts", "Keyboard shortcuts", "Help", lambda w: w.menus.show_shortcuts(), "Ctrl+F1",
           keywords="keys hotkeys"),
    Action("help.about", "About Netwright", "Help", lambda w: w.menus.show_about(), "", "info"),
)
# fmt: on
ACTIONS = tuple(action for action in TABLE if not action.needs or action.needs in SHOWN)


def enabled_ids(state: WindowState) -> set[str]:
    """Return the ids of the actions that can be used."""
    return {action.id for action in ACTIONS if action.enabled_when(state)}
