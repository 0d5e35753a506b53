"""A chain of learn-rate schedules, one after another, as a person types it: `warmup 100 iterations, cosine`."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import FieldError, did_you_mean
from engine.fields import JSON, Field, Float, Int, quoted

UNITS = ("iterations", "epochs")
MOST = 20
_LONGEST = Int(1, low=1, high=1_000_000_000)
_FACTOR = Float(1.0, above=0.0, high=1e6)
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Phase:
    """One schedule of a chain: which, for how long (0: for the rest of the run), and what its rates are multiplied by.

    `changes` are options of schedules that this phase has for itself, as they are called and typed.
    """

    schedule: str
    length: int = 0
    unit: str = "epochs"
    factor: float = 1.0
    changes: tuple[tuple[str, str], ...] = ()

    def steps(self, steps_per_epoch: int) -> int | None:
        """How many iterations it lasts, or None for the rest of the run."""
        if not self.length:
            return None
        return self.length * (steps_per_epoch if self.unit == "epochs" else 1)

    def __str__(self) -> str:
        words = [self.schedule]
        if self.length:
            words += [str(self.length), self.unit.removesuffix("s") if self.length == 1 else self.unit]
        if self.factor != 1.0:
            words.append(f"times {_FACTOR.show(self.factor)}")
        return " ".join(words + [f"{name}={value}" for name, value in self.changes])


class Phases(Field[tuple[Phase, ...]]):
    """Schedules one after another. `options` gives the fields of schedules that a phase may have for itself."""

    expects = "schedules separated by commas, such as: warmup 100 iterations, none 5 epochs, cosine times 0.5"

    def __init__(
        self, schedules: Sequence[str], options: Callable[[], Mapping[str, Field[Any]]], **described: Any
    ) -> None:
        super().__init__((), **described)
        self.schedules = tuple(schedules)
        self._options = options

    def check(self, value: object) -> tuple[Phase, ...]:
        if isinstance(value, tuple) and all(isinstance(item, Phase) for item in value):
            value = [str(item) for item in value]
        if isinstance(value, str):
            value = value.split(",") if value.strip() else []
        if not isinstance(value, (list, tuple)) or len(value) > MOST or not all(isinstance(v, str) for v in value):
            raise self.refuse(value)
        return tuple(self._phase(text) for text in value)

    def _phase(self, text: str) -> Phase:
        """`schedule [length iterations|epochs] [times factor] [option=value ...]`."""
        words = text.split()
        if not words or words[0] not in self.schedules:
            hint = did_you_mean(words[0], self.schedules) if words else ""
            known = ", ".join(self.schedules)
            raise FieldError(self.name, f"expected one of {known} at the start of {quoted(text.strip())}.{hint}")
        found: dict[str, Any] = {}
        rest, changes = words[1:], []
        while rest:
            word = rest.pop(0)
            if "=" in word:
                changes.append(self._change(word))
            elif word == "times" and rest and "factor" not in found:
                found["factor"] = self._factor(rest.pop(0))
            elif _NUMBER.fullmatch(word) and len(word) < 12 and rest and "length" not in found:
                unit = rest.pop(0)
                unit = unit if unit.endswith("s") else f"{unit}s"
                if unit not in UNITS:
                    raise FieldError(self.name, f"expected {word} iterations or epochs in {quoted(text.strip())}.")
                found |= {"length": self._length(word), "unit": unit}
            else:
                raise self.refuse(text.strip())
        return Phase(words[0], **found, changes=tuple(changes))

    def _length(self, word: str) -> int:
        try:
            return _LONGEST.check(int(word))
        except FieldError as error:
            raise FieldError(self.name, f"length of a phase: {error.message}") from None

    def _factor(self, word: str) -> float:
        try:
            return _FACTOR.parse(word)
        except FieldError as error:
            raise FieldError(self.name, f"times: {error.message}") from None

    def _change(self, word: str) -> tuple[str, str]:
        name, _, value = word.partition("=")
        field = self._options().get(name)
        if field is None:
            hint = did_you_mean(name, self._options())
            raise FieldError(self.name, f"no schedule has an option {quoted(name)}.{hint}")
        try:
            return name, field.show(field.parse(value))
        except FieldError as error:
            raise FieldError(self.name, f"{name}: {error.message}") from None

    def write(self, value: tuple[Phase, ...]) -> JSON:
        return [str(phase) for phase in value]

    def show(self, value: tuple[Phase, ...]) -> str:
        return ", ".join(map(str, value))

    def limits_schema(self) -> dict[str, JSON]:
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "maxItems": MOST}]}


def begins(phases: Sequence[Phase], steps_per_epoch: int) -> list[float]:
    """At which iteration each begins; infinity for those that the one before leaves no room."""
    found, at = [], 0.0
    for phase in phases:
        found.append(at)
        steps = phase.steps(steps_per_epoch)
        at += math.inf if steps is None else steps
    return found
