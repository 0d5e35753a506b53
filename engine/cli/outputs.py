"""What the commands print with `--json`, and what a run writes into `result.json`: declared once.

The JSON Schema and the tables of the documentation are generated from here (`engine.cli.schema`).
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from engine.cli.cluster_outputs import (
    ExportedProfile,
    Fetched,
    ImportedProfiles,
    Jobs,
    ProfileList,
    ValidatedStage,
    Validation,
)
from engine.cli.cluster_outputs import Profile as ClusterProfile
from engine.cli.experiment_outputs import (
    AskedExperiment,
    BestTrial,
    Experiment,
    ExperimentReport,
    Experiments,
    Importance,
    StartedExperiment,
)
from engine.cli.run_outputs import (
    Deleted,
    Detached,
    Ended,
    Evaluated,
    Event,
    Explained,
    Exported,
    Files,
    Note,
    Notified,
    Predicted,
    QueueEntries,
    QueueEntry,
    QueueList,
    Requests,
    RunDescription,
    Runs,
    RunsCompared,
    Tags,
    Trained,
)
from engine.cli.trained_outputs import PruneResult, Reported, RobustnessResult
from engine.cli.weights_outputs import FetchedWeights, PublishedFiles, Transferred, WeightsMatch
from engine.launch.layer_costs import LayerCost, ProfiledDevice, WholeCost
from engine.placement.inventory import Device


class Error(TypedDict):
    """Why the exit code is not 0."""

    code: str
    """Word that tells errors apart, as listed in docs/command-line.md."""
    message: str
    """What is shown on standard error."""
    hint: NotRequired[str]
    """The way out, with which the message ends; left out where none is known."""
    data: NotRequired[Mapping[str, Any]]
    """What belongs to the error besides: `layers` of an export that gives other numbers than torch."""


class Problem(TypedDict):
    """Problem of a project."""

    severity: Literal["error", "warning", "note"]
    layer: str
    """Name of the layer, empty for the whole network or an option; `block/layer` inside a block."""
    field: str
    """Field of the layer, or path of the option."""
    message: str


class LayerRow(TypedDict):
    """A layer, with sizes that are null where they are unknown."""

    name: str
    type: str
    output: list[int | str] | None
    """Sizes of the first output without the batch; a text is a symbol."""
    parameters: int | None
    flops: int | None
    """Floating-point operations per sample; a multiply-add counts two."""
    activation_bytes: int | None
    repeat: NotRequired[int]
    stage: NotRequired[int]
    """Stage of a pipeline, from 1."""


class UnreadableProject(TypedDict):
    """A project among several that cannot be read."""

    path: str
    problems: list[Problem]


class Check(TypedDict):
    """Problems, sizes and costs of one project."""

    path: str
    problems: list[Problem]
    layers: list[LayerRow]
    parameters: int
    flops: int
    memory_bytes: int
    """Estimated memory of a training step."""


class Checks(TypedDict):
    """Several projects."""

    projects: list[Check | UnreadableProject]


class Difference(TypedDict):
    """Difference between two projects."""

    kind: str
    name: str
    before: str
    after: str


class DataComparison(TypedDict):
    """Whether two runs had the same data."""

    equal: bool | None
    """Null where a run has no record of its data."""
    differences: list[str]


class Compare(TypedDict):
    """Differences between two projects, or the projects of two runs."""

    equal: bool
    counts: Mapping[str, int]
    """Number of differences by kind."""
    differences: list[Difference]
    data: NotRequired[DataComparison]
    """Of two runs."""


class DataDescription(TypedDict):
    """Data of a project, a file or a folder."""

    path: str
    data: Mapping[str, Any]
    """Options of the section `data` that differ from their defaults."""
    reason: str
    """Why a file or folder was taken as this kind of data; empty for a project."""
    facts: Mapping[str, Any]
    """Inputs, targets, samples per split, notes and warnings."""
    classes: list[Mapping[str, Any]]
    """Name of each class, and its number per split."""
    counted: str
    """Unit of these numbers: samples, steps, pixels or voxels."""
    columns: list[Mapping[str, Any]]
    """Name, role and kind of each column, with low, mean and high of numbers."""
    rows: list[list[str | float]]
    """The first rows of a table."""
    loading: str
    """How a run loads the data."""


class DataFix(TypedDict):
    """An edit that helps against a finding."""

    label: str
    options: Mapping[str, Any]
    """Values to set in the section `data`."""


class DataFinding(TypedDict):
    """Something that may be wrong with data."""

    kind: str
    severity: Literal["error", "warning", "note"]
    """`error`: training ends with an error."""
    title: str
    outcome: str
    """What a training does about it."""
    count: int
    items: list[list[str]]
    """Samples, columns or classes, at most 200, each with what was found about it."""
    fix: DataFix | None


class DataCheck(TypedDict):
    """Findings about data."""

    path: str
    samples: int
    checked: int
    """Number of samples that were looked at: of very many, evenly spaced ones."""
    findings: list[DataFinding]
    passed: list[str]
    """Checks that found nothing."""


class Picture(TypedDict):
    """A picture of a network."""

    path: str
    width: int
    """In pixels; in units of the canvas for SVG."""
    height: int
    bytes: int


class New(TypedDict):
    """A copy of an example or template, or a project made for data."""

    path: str
    name: str
    kind: Literal["example", "template", "made"]
    data: NotRequired[str]
    """What the data was taken as, and why."""


class Template(TypedDict):
    """An example or template."""

    name: str
    kind: Literal["example", "template"]
    title: str
    description: str


class Templates(TypedDict):
    """All examples and templates."""

    templates: list[Template]


class Option(TypedDict):
    """Declaration of an option."""

    default: str
    takes: str
    """Valid values, in words."""
    unit: str
    help: str
    choices: NotRequired[Mapping[str, str]]
    """Choices with their descriptions."""


class Options(TypedDict):
    """Options by their path, as `--set` takes it."""

    options: Mapping[str, Option]


class Examination(TypedDict):
    """Check of one layer of a device, by `--test`."""

    layer: str
    device: str
    state: Literal["ok", "failed", "none"]
    words: str


class Figure(TypedDict):
    """Measured speed of a device, by `--test`."""

    device: str
    work: str
    kind: str
    value: float
    unit: str
    refusal: str


class Devices(TypedDict):
    """The machine."""

    num_cores: int
    cpu_model: str
    memory_bytes: int
    devices: list[Device]
    """Accelerators."""
    backends: list[str]
    torch_version: str
    no_devices_because: str
    cores: list[int]
    core_speeds: list[float]
    has_loopback: bool
    environments: Mapping[str, str | None]
    """Each environment, with the reason why it cannot run here, or null."""
    tested: NotRequired[list[Mapping[str, Any]]]
    checks: NotRequired[list[Examination]]
    figures: NotRequired[list[Figure]]


class Way(TypedDict):
    """An environment and strategy, with its prediction."""

    target: str
    strategy: str
    workers: int
    memory_bytes: int
    """Memory per worker."""
    seconds: float | None
    """Time per step; null where it could not be measured."""
    room: int
    """Memory available to a worker; 0 where it is not known."""
    note: str
    is_exact: bool
    name: str
    fits: bool
    step: str


class Best(TypedDict):
    """The recommended way."""

    target: str
    strategy: str


class CheckpointInterval(TypedDict):
    """How often a run on a cluster should save a checkpoint."""

    workers: int
    worker_hours: float
    """Mean time between failures of one worker."""
    checkpoint_bytes: int
    checkpoint_s: float
    interval_s: int
    lost_share: float
    """Share of the run time that goes into checkpoints, restarts and repeated steps."""
    text: str
    settings: list[str]
    """As for --set."""


class Advice(TypedDict):
    """Ways to train a project."""

    ways: list[Way]
    advice: str
    best: Best | None
    checkpoints: CheckpointInterval | None
    """For a cluster only."""


class Trial(TypedDict):
    """A mini-batch that was tried."""

    batch: int
    device: str
    samples: int
    """Samples per worker."""
    bytes: int
    seconds: float
    refusal: str
    """Why it does not fit; empty where it does."""


class LargestBatch(TypedDict):
    """The largest mini-batch that fits."""

    largest: int
    words: str
    tried: list[Trial]


class Profile(TypedDict):
    """What each layer costs."""

    device: ProfiledDevice
    layers: list[LayerCost]
    whole: WholeCost
    trace: str | None
    """Path of the trace, if one was asked for."""


class Measured(TypedDict):
    """A layer of user code, with what was measured, or why it failed."""

    question: Mapping[str, Any]
    answer: NotRequired[Mapping[str, Any]]
    failed: NotRequired[str]


class Measure(TypedDict):
    """Layers of user code."""

    answers: list[Measured]


class ImportedOperator(TypedDict):
    """Operators of one name in an imported file, and how many of them became layers, were computed at import, were not
    needed, or are kept as they are."""

    operator: str
    count: int
    lifted: int
    folded: int
    removed: int
    opaque: int
    layers: Mapping[str, int]
    """Number of layers that they became, by label."""


class ImportedInput(TypedDict):
    """Input layer of an imported network."""

    name: str
    sizes: str


class ImportedOutput(TypedDict):
    """Output of an imported network, compared with the original on random inputs."""

    name: str
    difference: float | None
    """Largest difference; null where it is infinite."""
    spread: float | None
    """Standard deviation of the original's values."""
    agrees: bool
    """Whether the difference is at most 1e-4 of the spread."""
    layer: str
    """Layer that gives it, or the block that it is in."""


class Imported(TypedDict):
    """An imported network."""

    source: str
    project: str
    kind: str
    layers: int
    parameters: int
    weights: str | None
    constants: str | None
    """File with the numbers of operators that are kept as they are; null where there is none."""
    producer: str
    opset: int
    operators: list[ImportedOperator]
    inputs: list[ImportedInput]
    agrees: bool
    """Whether all outputs were compared and agree."""
    samples: int
    outputs: list[ImportedOutput]
    warnings: list[str]
    notes: list[str]


OUTPUTS: Mapping[str, tuple[type, ...]] = {
    "new": (New,),
    "templates": (Templates,),
    "data inspect": (DataDescription,),
    "data check": (DataCheck,),
    "check": (Check, Checks),
    "import": (Imported,),
    "options": (Options,),
    "weights match": (WeightsMatch,),
    "weights list": (PublishedFiles,),
    "weights fetch": (FetchedWeights,),
    "transfer": (Transferred,),
    "compare": (Compare,),
    "draw": (Picture,),
    "measure": (Measure,),
    "train": (Trained, Detached),
    "resume": (Trained, Detached, Requests),
    "experiment run": (Experiment, StartedExperiment),
    "experiment status": (Experiment,),
    "experiment list": (Experiments,),
    "experiment best": (BestTrial,),
    "experiment append": (AskedExperiment,),
    "experiment again": (AskedExperiment,),
    "experiment stop": (AskedExperiment,),
    "experiment export": (Files,),
    "experiment importance": (Importance,),
    "experiment report": (ExperimentReport,),
    "queue add": (QueueEntry,),
    "queue list": (QueueList,),
    "queue run": (QueueEntries,),
    "queue start": (QueueEntries,),
    "queue move": (QueueEntries,),
    "queue remove": (QueueEntries,),
    "cluster list": (ProfileList,),
    "cluster add": (ClusterProfile,),
    "cluster edit": (ClusterProfile,),
    "cluster default": (ProfileList,),
    "cluster validate": (ValidatedStage, Validation),
    "cluster install": (ClusterProfile,),
    "cluster remove": (ProfileList,),
    "cluster import": (ImportedProfiles,),
    "cluster export": (ExportedProfile,),
    "jobs": (Jobs,),
    "fetch": (Fetched,),
    "devices": (Devices,),
    "advise": (Advice,),
    "largest-batch": (LargestBatch,),
    "profile": (Profile,),
    "follow": (Event, Ended),
    "stop": (Ended,),
    "pause": (Requests,),
    "checkpoint": (Requests,),
    "validate": (Requests,),
    "set": (Requests,),
    "watch": (Requests,),
    "runs": (Runs,),
    "show": (RunDescription,),
    "note": (Note,),
    "tag": (Tags,),
    "delete": (Deleted,),
    "curves": (Files,),
    "export": (Exported,),
    "evaluate": (Evaluated, RunsCompared),
    "report": (Reported,),
    "predict": (Predicted,),
    "explain": (Explained,),
    "notify": (Notified,),
    "prune": (PruneResult,),
    "robustness": (RobustnessResult,),
}
"""What each command prints, beside `schema_version`, `command` and, where it fails, `error`."""
