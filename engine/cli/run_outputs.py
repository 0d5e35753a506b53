"""What the commands about runs print with `--json`, and what a run writes into `result.json`."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from engine.runs.events import State


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


class LayerDifference(TypedDict):
    """A layer's output in an ONNX file beside torch's."""

    layer: str
    """Path of names, such as `block/2/conv`."""
    value: str
    """Value in the file that holds the output."""
    difference: float
    relative: float
    """Difference of the worst channel, divided by its spread over the samples."""
    agrees: bool
    is_first: bool
    """Whether it is the first layer that differs by more than is accepted."""
    absorbed: list[str]
    """Layers after it that the file computes within it."""


class Measured(TypedDict):
    """Accuracy, size and speed of an exported network in torch, or in a precision in ONNX Runtime."""

    runs_in: str
    """`torch` or `ONNX Runtime`."""
    precision: str
    size_bytes: int
    """Size of the weights in torch, or of the file."""
    metrics: Mapping[str, float]
    """Metrics of the run on `samples` samples of `split`; empty without data."""
    milliseconds: Mapping[str, float]
    """Median time of a call on the CPU, by batch size."""
    split: str
    samples: int
    threads: int


class Exported(TypedDict):
    """An exported network."""

    path: str
    format: Literal["onnx", "pytorch", "pt2"]
    largest_difference: float | None
    """Largest difference of the file, run by ONNX Runtime or by torch, from the network; null if not compared. For
    another precision than float32 relative to the largest output."""
    samples: int
    """Number of samples that were compared."""
    samples_kind: str
    layers: list[LayerDifference]
    """Empty without `--layers`."""
    precision: str
    opset: int | None
    """Null unless the format is ONNX."""
    size_bytes: int | None
    """Size of the ONNX file, with the weights beside it."""
    measured: list[Measured]
    """Torch, the file in float32 and in the precision asked for; empty without `--measure`."""
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


class Evaluated(TypedDict):
    """How good a trained network is."""

    path: str
    """The run's folder."""
    format: int
    weights: str
    """`best` or `last`."""
    split: str
    """The run's own split; empty for other data."""
    data: str
    samples: int
    loss: float
    metrics: Mapping[str, float]
    targets: list[Mapping[str, Any]]
    """Per output: accuracy or errors with 95 % intervals, the confusion matrix (true classes in rows), precision,
    recall, F1 and IoU per class, calibration, ROC and precision-recall curves (threshold, true and false positives),
    residuals, the worst and the most uncertain samples, and what is `stored` with the network."""
    notes: list[str]
    cached: bool
    """Whether the result was known from before."""
    operating_points: NotRequired[list[Mapping[str, Any]]]
    """Per `--threshold`: `output`, `class`, `threshold`, counts, precision, recall, F1 and accuracy there."""
    calibrated: NotRequired[list[Mapping[str, Any]]]
    """With `--calibrate`, per output: `temperature`, and the calibration `before` and `after`."""
    groups: NotRequired[Mapping[str, Any]]
    """With `--by`: per output the metrics of the `whole` and of `groups`, each with 95 % intervals and its number of
    samples."""


class RunsCompared(TypedDict):
    """With `--against`: two trained networks on the same samples."""

    path: str
    """The first run's folder."""
    against: str
    """The second run's folder."""
    split: str
    data: str
    samples: int
    targets: list[Mapping[str, Any]]
    """Per output: `metrics` (first, second, difference with a 95 % interval and p of a paired bootstrap), of classes
    also `mcnemar` (samples that both, one or neither gets right, and p of the exact test) and `disagreements`, and a
    `conclusion` in words."""
    notes: list[str]


class Explained(TypedDict):
    """What a network looks at, by one method."""

    path: str
    """The run's folder."""
    format: int
    method: str
    title: str
    weights: str
    """`best` or `last`."""
    arrays: Mapping[str, list[int]]
    """Shapes of the arrays in `file`, by name."""
    notes: list[str]
    file: str
    """File of `--output`, else the .npz file in the run's folder; empty where that cannot be written."""
    cached: bool
    """Whether the result was known from before."""
    sample: NotRequired[Mapping[str, Any]]
    """The sample: `place` in its `split`, `index` in the data or `file`, `label`, and the answers in `outputs`."""
    target: NotRequired[str]
    """Class, label or number that is explained."""
    layer: NotRequired[str]
    layer_path: NotRequired[str]
    """Path of the layer by ids."""
    receptive_field: NotRequired[Mapping[str, list[float]] | None]
    """`sizes` along the axes of the input and `strides`, the distance of neighbouring fields; null: the whole input."""
    channels: NotRequired[int]
    input_channels: NotRequired[int]
    histogram: NotRequired[Mapping[str, Any]]
    split_histogram: NotRequired[Mapping[str, Any]]
    zeros: NotRequired[float]
    """Share of the values that are 0."""
    dead_channels: NotRequired[int]
    """Channels of a ReLU that are 0 for all samples that were looked at."""
    is_signed: NotRequired[bool]
    baseline: NotRequired[str]
    convergence_delta: NotRequired[float]
    """Difference of the sum of integrated gradients from the difference of both scores."""
    steps: NotRequired[int]
    window: NotRequired[list[int]]
    names: NotRequired[list[str]]
    """What the pictures of `max_activation` are for."""
    features: NotRequired[list[Mapping[str, Any]]]
    """Columns with `name`, `value`, and `std` over repeats."""
    measured: NotRequired[str]
    base: NotRequired[float]
    """The accuracy or RMSE before any column was shuffled."""
    repeats: NotRequired[int]
    samples: NotRequired[int]
    of: NotRequired[int]
    split: NotRequired[str]
    columns: NotRequired[list[Mapping[str, Any]]]
    outputs: NotRequired[list[str]]
    is_share: NotRequired[bool]
    layers: NotRequired[list[Mapping[str, Any]]]
    """Layers of attention, with `heads` and `steps`."""
    tokens: NotRequired[list[str]]
    reduction: NotRequired[str]
    classes: NotRequired[list[str]]
    texts: NotRequired[list[str]]
    """Labels of the samples of an embedding."""
    explained: NotRequired[list[float]]
    """Shares of the variance of both principal components."""
    perplexity: NotRequired[float]
    neighbours: NotRequired[int]


class Prediction(TypedDict):
    """Answers for one sample."""

    sample: str
    """File; with the line of a table or text, or the index in an array."""
    outputs: NotRequired[list[Mapping[str, Any]]]
    """Per output its `name`, and `class` or `labels` with the likeliest ones in `top`, `value` (a number, or numbers by
    name), `classes` per step, `shares` of the classes among pixels, or `transcript`; `unlike_training` is true for a
    sample below the least confidence that is stored."""
    error: NotRequired[str]
    """Why the sample could not be used."""


class Predicted(TypedDict):
    """Answers of a trained network, in the order of the files."""

    path: str
    """The run's folder, or the ONNX file."""
    predictions: list[Prediction]


class Notified(TypedDict):
    """Who is told when something ends."""

    webhook_host: str
    """Host of the user's webhook; empty where none is set."""
    is_tested: bool
    """Whether it has taken a test message now."""
