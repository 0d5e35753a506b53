"""What commands about runs print with `--json`, and what a run writes into `result.json`."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from netwright.engine.runs.events import State


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
    """Answers that need no network, beside that of the network."""

    season: NotRequired[int]
    """Of forecasts: period of the series in steps; 0 where there is none."""
    is_guessed: NotRequired[bool]
    """Of forecasts: whether the period was found in the data."""
    scale: NotRequired[float]
    """Of forecasts: mean absolute difference of training values one season, or one step, apart, which divides errors
    for MASE."""
    validation: NotRequired[Mapping[str, Mapping[str, float]]]
    """Accuracy, or RMSE and MAE, of forecasts MASE too, by the name of the baseline: last value, season of 24, most
    frequent class, mean, linear model."""
    test: NotRequired[Mapping[str, Mapping[str, float]]]
    network: Mapping[str, Mapping[str, float]]
    """Skill, 1 - error / error of the best baseline, and of forecasts MASE, of the network by split."""


class CurveFinding(TypedDict):
    """What the curves of a run show."""

    kind: Literal["diverges", "learns-nothing", "plateau", "overfits"]
    text: str
    """The finding in a sentence."""


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
    """Of runs that predict one class, one vector of numbers or a forecast per sample."""
    loss_fall: NotRequired[float]
    """Fraction by which the validation loss fell in the last fifth of the run."""
    finding: NotRequired[CurveFinding]
    """What is wrong with the curves of the run, if anything is."""
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


class QueueEntry(TypedDict):
    """A queued run."""

    id: int
    title: str
    about: str
    project_path: str
    project_id: str
    """The identity of the project; empty where its file has none."""
    created: str | None
    """In ISO 8601."""
    order: float
    after: str
    """Folder of a run that has to end first."""
    trust: bool
    hosts: str
    """Hosts that its data may be fetched from, separated by spaces."""
    state: State | Literal["waiting", "refused"]
    reason: str
    run_dir: str
    """Empty before the start."""
    devices: list[str]
    operation: str
    """The operation about a model that `--detach` left in the background; empty for a run."""
    progress: str
    """How far the operation has come."""


class QueuedAnswer(TypedDict):
    """An entry of the queue."""

    entry: QueueEntry
    result: Mapping[str, Any] | None
    """Result of its operation, as `--json` prints it; null for a run, and before its end."""


class QueueEntries(TypedDict):
    """Entries of the queue; of `queue run` those that have ended."""

    entries: list[QueueEntry]


class QueueList(QueueEntries):
    """The queue."""

    is_worked: bool
    """Whether a process trains what waits."""
