"""What the commands print with `--json`, and what a run writes into `result.json`: declared once.

The JSON Schema and the tables of the documentation are generated from here (`engine.cli.schema`).
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from engine.placement.inventory import Device
from engine.runs.events import State


class Error(TypedDict):
    """Why the exit code is not 0."""

    code: str
    """Word that tells errors apart, as listed in docs/command-line.md."""
    message: str
    """What is shown on standard error."""
    hint: NotRequired[str]
    """The way out, with which the message ends; left out where none is known."""


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
    """A copy of an example or template."""

    path: str
    name: str
    kind: Literal["example", "template"]


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


class Environment(TypedDict):
    """Where a run executes."""

    target: str
    """Environment asked for."""
    resolved: str
    """Environment in use."""
    workers: int
    backend: str
    """Communication backend, empty for one worker."""
    devices: list[str]
    """Device of each worker."""


class Requirement(TypedDict):
    """Outcome of a `--require`."""

    text: str
    split: str | None
    """Split that it was judged on; null where no split has the metric."""
    value: float | None
    passed: bool


class SkippedSamples(TypedDict):
    """Samples that could not be read, for which others stood in."""

    count: int
    samples: list[list[str]]
    """File or number and reason of each, at most 20."""


class Baselines(TypedDict):
    """Forecasts that need no network, beside that of the network."""

    season: int
    """Period of the series in steps; 0 where there is none."""
    is_guessed: bool
    """Whether the period was found in the data."""
    scale: float
    """Mean absolute difference of training values one season, or one step, apart: it divides errors for MASE."""
    validation: NotRequired[Mapping[str, Mapping[str, float]]]
    """RMSE, MAE and MASE by the name of the forecast."""
    test: NotRequired[Mapping[str, Mapping[str, float]]]
    network: Mapping[str, Mapping[str, float]]
    """Skill, 1 - error / error of the best forecast, and MASE of the network by split."""


class Result(TypedDict):
    """Outcome of a run: the content of `result.json`."""

    state: State
    reason: str
    """Why the run ended, in words."""
    epochs: int
    iterations: int
    loss: float | None
    """Training loss of the last iteration."""
    metrics: Mapping[str, float]
    """Training metrics of the last iteration."""
    validation: Mapping[str, float]
    """Loss and metrics of the kept network on the validation split; empty without one."""
    test: Mapping[str, float]
    """Loss and metrics of the kept network on the test split; empty without one."""
    samples_per_second: float
    time_shares: Mapping[str, float]
    """Shares of the training time: data, communication, computing; NaN where not measured."""
    held_back_by: str
    """Bottleneck, in words."""
    environment: Environment | Mapping[str, Any]
    run_dir: str
    project_sha256: str
    """SHA-256 of the frozen copy of the project."""
    seconds: float
    """Duration of the training."""
    baselines: NotRequired[Baselines]
    """Of runs that forecast a time series."""
    skipped_samples: NotRequired[SkippedSamples]
    """With `data.bad_samples=skip`, where there were any."""
    code: NotRequired[str]
    """Cause of a failure, as in `error`."""
    offer: NotRequired[str]
    """Setting for `--set` with which the run may be resumed."""


class ResultFile(Result):
    """Outcome of a run, in `result.json`."""

    sha256: NotRequired[str]
    """Checksum of the other keys."""


class Trained(Result):
    """Outcome of a training in the foreground."""

    requirements: list[Requirement]


class Detached(TypedDict):
    """A run that was started in the background."""

    run_dir: str


class Ended(TypedDict):
    """A run that has ended."""

    run_dir: str
    state: State


class Event(TypedDict):
    """An event of a run; one object per event is printed."""

    event: Mapping[str, Any]
    """As in `events.jsonl` (schema `event`), with `time` in ISO 8601."""


class Answer(TypedDict):
    """What a run has done."""

    request: str
    value: float
    iteration: int


class Requests(TypedDict):
    """A request to a run, with its answers; without one where the run waits without workers."""

    run_dir: str
    state: State
    requests: list[Answer]


class Change(TypedDict):
    """Difference from the run before."""

    option: str
    before: str
    after: str


class Run(TypedDict):
    """Summary of a run."""

    run_dir: str
    name: str
    """Name of the project."""
    state: State | Literal["damaged"]
    created: str | None
    """In ISO 8601."""
    environment: str
    project_path: str
    project_id: str
    number: int
    """Number of the run within its project; 0 for runs of older versions."""
    result: Mapping[str, Any] | None
    """Content of `result.json`; null before the end."""
    so_far: Mapping[str, Any]
    """The same keys, as far as the event log has them."""
    note: str
    tags: list[str]
    run_name: str
    """Name that the user gave."""
    title: str
    """Name that is shown."""
    options: Mapping[str, Any]
    """Options that the run set, by path."""
    network: str
    """Fingerprint of the network."""
    changes: list[Change]
    silence: str
    """Why its coordinator does not respond; empty where it does."""


class DataPlace(TypedDict):
    """A file or folder that data came from."""

    option: str
    path: str
    files: int
    bytes: int


class RunData(TypedDict):
    """Data of a run."""

    source: str
    places: list[DataPlace]
    split: str
    samples: Mapping[str, int]
    """Number of samples by split."""
    changes: list[str]
    """What has changed since, in words."""
    replaced: list[str]
    """Changes with which the run was resumed."""


class RunDescription(Run):
    """Summary of a run, with its data."""

    data: RunData | None
    """Null for a run that has no record of it."""


class Runs(TypedDict):
    """Runs, newest first or as `--sort` says."""

    runs: list[Run]


class Note(TypedDict):
    """Note of a run."""

    run_dir: str
    note: str


class Tags(TypedDict):
    """Tags of a run."""

    run_dir: str
    tags: list[str]


class Deleted(TypedDict):
    """Runs that are in the trash now."""

    deleted: list[str]


class Files(TypedDict):
    """Files that were written."""

    files: list[str]


class Exported(TypedDict):
    """An exported network."""

    path: str
    format: Literal["onnx", "pytorch"]
    largest_difference: float | None
    """Largest difference from ONNX Runtime; null if not compared."""
    samples: int
    """Number of samples that were compared."""
    samples_kind: str
    inputs: list[Mapping[str, Any]]
    """What each input takes: name, shape, range and preparation."""
    classes: list[str]
    notes: list[str]
    code: str
    """Python program that loads the file and runs it."""


class QueueEntry(TypedDict):
    """A queued run."""

    id: int
    title: str
    about: str
    project_path: str
    created: str | None
    """In ISO 8601."""
    order: float
    after: str
    """Folder of a run that has to end first."""
    trust: bool
    state: State | Literal["waiting", "refused"]
    reason: str
    run_dir: str
    """Empty before the start."""
    devices: list[str]


class QueueEntries(TypedDict):
    """Entries of the queue; of `queue run` those that have ended."""

    entries: list[QueueEntry]


class QueueList(QueueEntries):
    """The queue."""

    is_worked: bool
    """Whether a process trains what waits."""


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


class Advice(TypedDict):
    """Ways to train a project."""

    ways: list[Way]
    advice: str
    best: Best | None


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


class Measured(TypedDict):
    """A layer of user code, with what was measured, or why it failed."""

    question: Mapping[str, Any]
    answer: NotRequired[Mapping[str, Any]]
    failed: NotRequired[str]


class Measure(TypedDict):
    """Layers of user code."""

    answers: list[Measured]


OUTPUTS: Mapping[str, tuple[type, ...]] = {
    "new": (New,),
    "templates": (Templates,),
    "data inspect": (DataDescription,),
    "data check": (DataCheck,),
    "check": (Check, Checks),
    "options": (Options,),
    "compare": (Compare,),
    "draw": (Picture,),
    "measure": (Measure,),
    "train": (Trained, Detached),
    "resume": (Trained, Detached, Requests),
    "queue add": (QueueEntry,),
    "queue list": (QueueList,),
    "queue run": (QueueEntries,),
    "queue start": (QueueEntries,),
    "queue move": (QueueEntries,),
    "queue remove": (QueueEntries,),
    "devices": (Devices,),
    "advise": (Advice,),
    "largest-batch": (LargestBatch,),
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
}
"""What each command prints, beside `schema_version`, `command` and, where it fails, `error`."""
