"""How long a training goes on, when it validates, and what is told of that: what the trainer goes by."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from engine.project.extent import Extent
from engine.training.batching.batches import Resident
from engine.training.limits import NO_LIMITS, Limits


class Pace(Protocol):
    """What the learn rate follows beside the step."""

    def validated(self, step: int, value: float, higher_is_better: bool) -> None:
        """After so many steps the objective is this."""

    def multiply(self, factor: float) -> None:
        """From now on every rate is so many times what it would be."""

    def change_length(self, total_steps: int) -> None:
        """The run will have so many steps."""


class Steady:
    """A rate that nothing changes."""

    def validated(self, step: int, value: float, higher_is_better: bool) -> None:
        """Takes note of nothing."""

    def multiply(self, factor: float) -> None:
        """Takes note of nothing."""

    def change_length(self, total_steps: int) -> None:
        """Takes note of nothing."""


def _release_nothing() -> None:
    """Memory stays where it is."""


@dataclass(frozen=True)
class Plan:
    """How long it goes on, and when it validates. Parts of the data may be missing.

    `pace` is told of each validation and of what is asked for; `release` gives back memory while the run is paused.
    """

    extent: Extent
    validation_frequency: int
    patience: int
    validation: Resident | None
    test: Resident | None
    pace: Pace = field(default_factory=Steady)
    release: Callable[[], None] = _release_nothing
    limits: Limits = NO_LIMITS
