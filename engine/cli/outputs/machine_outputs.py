"""JSON of commands about this machine, and what a network takes on it."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from netwright.engine.placement.inventory import Device


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
    busy: str
    """Why the times cannot be compared; empty where no other program disturbs them."""
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
