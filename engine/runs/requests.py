"""What a run can be asked for while it trains. Needs no torch.

All workers are to obey at the same step, so a request travels as numbers within the sum at a report point.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class Asked:
    """What has been asked for since the last report point. By default nothing."""

    stop: bool = False
    stop_after_epoch: bool = False
    pause: int = 0
    """1 to pause, -1 to go on, whichever was asked last."""
    release: bool = False
    """Whether the pause is to give back all memory: the workers end, with a checkpoint."""
    checkpoint: bool = False
    validate: bool = False
    rate: float = 0.0
    """The learn rate from now on, which the schedule goes on from; 0: as it is."""
    rate_factor: float = 1.0
    """What every rate from now on is multiplied by."""
    epochs: int = 0
    """How many epochs the run is to have; 0: as planned."""
    watch_gradient_norm: int = 0
    """1 to watch it from now on, -1 no more."""
    watch_layers: int = 0
    """The same."""
    leave: bool = False
    """Asked by the coordinator alone, of workers that wait and have offered it: they do nothing any more."""
    save_now: bool = False
    """Not asked for by anybody: it is time for a checkpoint."""
    time_is_up: bool = False
    """Nor this: the time limit has come."""

    def numbers(self) -> list[float]:
        """As numbers to add: those of all workers but the first one are zero."""
        return [float(getattr(self, f.name)) for f in fields(self)]

    @classmethod
    def of(cls, numbers: Sequence[float]) -> "Asked":
        """From `numbers`."""
        given = zip(fields(cls), numbers, strict=True)
        return cls(**{f.name: type(getattr(NOTHING, f.name))(number) for f, number in given})

    def also(self, request: Mapping[str, Any]) -> "Asked":
        """With one more request, as it comes from the run's folder. What means nothing is passed over."""
        match request.get("do"):
            case "stop" | "stop_after_epoch" | "checkpoint" | "validate" | "leave" as what:
                return replace(self, **{what: True})
            case "pause":
                return replace(self, pause=1, release=self.release or request.get("release") in (1, True))
            case "resume":
                return replace(self, pause=-1, release=False)
            case "set":
                return self._changed(request)
            case "watch":
                return replace(
                    self,
                    watch_gradient_norm=_switch(request.get("gradient_norm")) or self.watch_gradient_norm,
                    watch_layers=_switch(request.get("layers")) or self.watch_layers,
                )
        return self

    def _changed(self, request: Mapping[str, Any]) -> "Asked":
        changed = self
        if (rate := _number(request.get("rate"))) > 0:
            changed = replace(changed, rate=rate, rate_factor=1.0)
        if (factor := _number(request.get("rate_factor"))) > 0:
            changed = replace(changed, rate_factor=min(changed.rate_factor * factor, LARGEST))
        if (epochs := _number(request.get("epochs"))) >= 1:
            changed = replace(changed, epochs=int(epochs))
        return changed


WATCHED = ("gradient_norm", "layers")
"""What can be watched in a run that is under way."""
LARGEST = 1e12
"""Nobody asks for more: neither epochs nor factors; their sums and products stay finite."""
NOTHING = Asked()
SIZE = len(fields(Asked))


def asked(requests: Iterable[Mapping[str, Any]]) -> Asked:
    """What these come to, in their order."""
    found = NOTHING
    for request in requests:
        found = found.also(request)
    return found


def _number(value: Any) -> float:
    """A finite number, or 0."""
    return float(value) if type(value) in (int, float) and abs(value) < LARGEST else 0.0


def _switch(value: Any) -> int:
    """1 for on, -1 for off, 0 for anything else."""
    return {1: 1, 0: -1}.get(value, 0) if type(value) in (int, float, bool) else 0
