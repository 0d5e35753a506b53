"""The table of pages of the manual: which one is about what has the focus.

A widget that is not in the table has the page of the one that holds it. Widgets stand in it by the names of their
classes: the parts that bring them may be missing, and are not loaded for it.
"""

from collections.abc import Callable, Mapping

from PySide6.QtWidgets import QWidget

from netwright.designer.editor import Editor
from netwright.engine.project.layer_reference import anchor

START = "README.md"
LAYERS, OPTIONS, DATA = "layers.md", "training-options.md", "data.md"
SOURCES = {
    "images": "folders-of-images",
    "table": "real-world-csv-files",
    "arrays": "formats-of-arrays",
    "audio": "audio",
    "text": "texts",
    "python": "python",
    "sequences": "sequences-in-files",
}
"""The sections about sources of data, by their keys."""
OPTION_SECTIONS = {
    "Environment": "environment-environment",
    "Optimisation": "solver-training",
    "Data flow": "batches-training",
    "Validation and stopping": "validation-training",
    "Saving": "checkpoints-training",
    "Advanced": "precision-and-memory-training",
}
"""The sections about the pages of the dialog of training options."""


def _selected_layer(widget: QWidget) -> str:
    """Return the section about the type of the selected layer, where one is selected."""
    editor = getattr(widget, "editor", None) or getattr(widget, "_editor", None)
    ids = editor.selection if isinstance(editor, Editor) else frozenset[str]()
    if not isinstance(editor, Editor) or len(ids) != 1:
        return LAYERS
    return f"{LAYERS}#{anchor(editor.network.layers[next(iter(ids))].type.label)}"


def _source(widget: QWidget) -> str:
    """Return the section about the source of the project's data, where it has one."""
    editor = getattr(widget, "_editor", None)
    source = editor.project.data.source if isinstance(editor, Editor) else ""
    return f"{DATA}#{SOURCES[source]}" if source in SOURCES else DATA


def _options(widget: QWidget) -> str:
    """Return the section about the first group of the page that the dialog of training options shows."""
    section = OPTION_SECTIONS.get(getattr(widget, "_page", ""))
    return f"{OPTIONS}#{section}" if section else OPTIONS


PAGES: Mapping[str, str | Callable[[QWidget], str]] = {
    "StartPage": START,
    "CanvasView": _selected_layer,
    "Properties": _selected_layer,
    "LibraryPanel": LAYERS,
    "BottomPanel": "troubleshooting.md#the-training",
    "DataTab": _source,
    "RunsPage": "runs.md",
    "Monitor": "runs.md",
    "ScoresPage": "evaluating.md#evaluate",
    "PredictPage": "evaluating.md#predict",
    "RobustnessPage": "evaluating.md#robustness",
    "InsidePage": "explaining.md",
    "AnswersPage": "evaluating.md#two-runs",
    "ErrorsPanel": "evaluating.md#evaluate",
    "ComparePage": "evaluating.md#two-runs",
    "PairPage": "evaluating.md#two-runs",
    "SearchPage": "experiments.md",
    "BudgetDialog": "experiments.md#places-for-trials",
    "TuneDialog": "experiments.md#tune-for-me",
    "TrainingOptionsDialog": _options,
    "ChangeRun": f"{OPTIONS}#solver-training",
    "ExportDialog": "exporting.md",
    "ImportDialog": "importing.md",
    "ImportReport": "onnx.md",
    "TransferDialog": "transfer-learning.md",
    "PublishedDialog": "transfer-learning.md#published-weights",
    "ResultDialog": "evaluating.md#evaluate",
    "PruneDialog": "evaluating.md#smaller-networks",
    "DoctorDialog": "poor-accuracy.md#2-ask-the-doctor",
    "RooflineDialog": "workers.md",
    "DevicesDialog": "troubleshooting.md#the-execution-environment",
    "ClustersDialog": "clusters.md#profiles",
    "ClusterJobsDialog": "clusters.md#train-on-slurm-and-over-ssh",
    "SetupDialog": "installing.md",
    "PreferencesDialog": "runs.md#tell-me-when-it-ends",
    "CompareDialog": "runs.md#the-project-file",
    "BlockName": f"{LAYERS}#block",
    "CommandFinder": START,
    "Dialog": START,
    "MainWindow": START,
}
"""The pages by the names of classes of widgets, with sections; that of a class holds for those derived from it."""


def page_of(widget: QWidget | None) -> str:
    """Return the page about a widget, or about the nearest that holds it; the first one of the manual where none is."""
    while widget is not None:
        for kind in type(widget).__mro__:
            if (page := PAGES.get(kind.__name__)) is not None:
                return page if isinstance(page, str) else page(widget)
        widget = widget.parentWidget()
    return START
