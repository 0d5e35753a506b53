"""Learn rate schedules: their options, and chains of them."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netwright.engine.core.errors import FieldError, did_you_mean
from netwright.engine.core.fields import JSON, Choice, Field, Float, Int, quoted
from netwright.engine.core.records import Record

UNITS = ("iterations", "epochs")
NAMES = ("none", "piecewise", "warmup", "cosine", "cyclical", "exponential", "polynomial", "one-cycle", "plateau")
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
        """Return the number of iterations, or None for the rest of the run."""
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
            schedules = ", ".join(self.schedules)
            raise FieldError(self.name, f"expected one of {schedules} at the start of {quoted(text.strip())}.{hint}")
        fields: dict[str, Any] = {}
        rest, changes = words[1:], []
        while rest:
            word = rest.pop(0)
            if "=" in word:
                changes.append(self._change(word))
            elif word == "times" and rest and "factor" not in fields:
                fields["factor"] = self._factor(rest.pop(0))
            elif _NUMBER.fullmatch(word) and len(word) < 12 and rest and "length" not in fields:
                unit = rest.pop(0)
                unit = unit if unit.endswith("s") else f"{unit}s"
                if unit not in UNITS:
                    raise FieldError(self.name, f"expected {word} iterations or epochs in {quoted(text.strip())}.")
                fields |= {"length": self._length(word), "unit": unit}
            else:
                raise self.refuse(text.strip())
        return Phase(words[0], **fields, changes=tuple(changes))

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
    """Return the iteration at which each phase begins; infinity for those after a phase without end."""
    starts, at = [], 0.0
    for phase in phases:
        starts.append(at)
        steps = phase.steps(steps_per_epoch)
        at += math.inf if steps is None else steps
    return starts


def _schedule(*names: str) -> Any:
    """Return a test whether one of these schedules is selected, alone or in the chain."""
    return lambda options: options.solver != "lm" and any(schedule in names for schedule in options.schedules)


def _has_rate(options: Any) -> bool:
    return bool(options.solver != "lm")


def _of_schedules() -> dict[str, Field[Any]]:
    """Return the options that a phase of a chain can set for itself."""
    others = ("schedule", "schedule_chain", "warmup_iterations")
    return {name: field for name, field in ScheduleOptions.fields.items() if name not in others}


class ScheduleOptions(Record):
    """Options of the learn rate schedule."""

    schedule = Choice(
        "none",
        options=(*NAMES, "chain"),
        notes={
            "none": "Constant",
            "piecewise": "Multiplied by the drop factor every drop period (torch: StepLR)",
            "warmup": "Rises linearly over the warm-up, then constant",
            "cosine": "Falls along half a cosine over the run; with restarts, repeatedly",
            "cyclical": "Rises to a multiple of the initial rate and falls, in cycles; linearly",
            "exponential": "Multiplied by the decay per epoch, gradually at every iteration",
            "polynomial": "Falls to zero at the end of the run; linearly with power 1",
            "one-cycle": "Rises to the initial learn rate, then falls to near 0; torch: OneCycleLR",
            "plateau": "Drops when validation stops improving; by the drop factor (torch: ReduceLROnPlateau)",
            "chain": "Several of these in sequence; torch: SequentialLR, MATLAB: a cell array",
        },
        label="Learn rate schedule",
        group="Schedule",
        help="Course of the learn rate over the run. Default none. Every schedule but none can begin with a warm-up",
        matlab="LearnRateSchedule, without one-cycle and plateau",
        torch="lr_scheduler",
        visible_when=_has_rate,
    )
    warmup_iterations = Int(
        0,
        low=0,
        unit="iterations",
        label="Warm-up",
        group="Schedule",
        help="Iterations of a linear rise before the schedule. Default 0",
        matlab="warmupLearnRate, then another",
        torch="LinearLR, then another",
        visible_when=lambda options: _has_rate(options) and options.schedule not in ("none", "chain"),
    )
    learn_rate_drop_factor = Float(
        0.1,
        above=0.0,
        high=1.0,
        group="Schedule",
        help="Factor on the rate at each drop, 0 to 1. Default 0.1",
        matlab="LearnRateDropFactor",
        torch="gamma, or factor",
        visible_when=_schedule("piecewise", "plateau"),
    )
    learn_rate_drop_period = Int(
        10,
        low=1,
        unit="epochs",
        group="Schedule",
        help="Epochs between drops, after the warm-up. Default 10",
        matlab="LearnRateDropPeriod",
        torch="step_size",
        visible_when=_schedule("piecewise"),
    )
    learn_rate_decay = Float(
        0.95,
        above=0.0,
        high=1.0,
        group="Schedule",
        help="Fraction of the rate kept per epoch, 0 to 1. Default 0.95",
        torch="gamma of ExponentialLR, which falls in stairs",
        visible_when=_schedule("exponential"),
    )
    polynomial_power = Float(
        1.0,
        above=0.0,
        high=100.0,
        group="Schedule",
        help="Exponent of the remaining fraction of the run. Default 1: linear",
        torch="power",
        visible_when=_schedule("polynomial"),
    )
    restart_period = Int(
        0,
        low=0,
        high=1_000_000,
        zero="never",
        unit="epochs",
        group="Schedule",
        help="Epochs until the rate restarts from the top. Default never",
        torch="T_0",
        visible_when=_schedule("cosine"),
    )
    restart_period_factor = Int(
        1,
        low=1,
        high=1000,
        group="Schedule",
        help="Factor on the length of each next period. Default 1",
        torch="T_mult",
        visible_when=lambda options: _schedule("cosine")(options) and options.restart_period > 0,
    )
    lowest_rate_factor = Float(
        0.0,
        low=0.0,
        high=1.0,
        group="Schedule",
        help="Lowest rate as a fraction of the initial one, 0 to 1. Default 0",
        torch="eta_min, min_lr: the rate itself",
        visible_when=_schedule("cosine", "plateau"),
    )
    cycle_top_factor = Float(
        6.0,
        low=1.0,
        high=1e9,
        group="Schedule",
        help="Highest rate as a multiple of the initial one. Default 6",
        matlab="MaxFactor",
        torch="max_lr: the rate itself",
        visible_when=_schedule("cyclical"),
    )
    cycle_period = Int(
        2,
        low=1,
        high=1_000_000,
        unit="epochs",
        group="Schedule",
        help="Epochs per cycle of rising and falling. Default 2",
        matlab="Period",
        torch="step_size_up + step_size_down, in iterations",
        visible_when=_schedule("cyclical"),
    )
    cycle_rise = Float(
        0.5,
        above=0.0,
        high=0.999,
        group="Schedule",
        help="Fraction of the cycle over which the rate rises. Default 0.5. Momentum does not change",
        matlab="StepRatio",
        torch="step_size_up as a fraction",
        visible_when=_schedule("cyclical"),
    )
    one_cycle_rise = Float(
        0.3,
        low=0.0,
        high=0.999,
        group="Schedule",
        help="Fraction of the run over which the rate rises. Default 0.3. Momentum does not change",
        matlab="none",
        torch="pct_start",
        visible_when=_schedule("one-cycle"),
    )
    one_cycle_start_divisor = Float(
        25.0,
        low=1.0,
        high=1e9,
        group="Schedule",
        help="Highest rate divided by the first. Default 25. The highest is the initial learn rate",
        matlab="none",
        torch="div_factor",
        visible_when=_schedule("one-cycle"),
    )
    one_cycle_end_divisor = Float(
        1e4,
        low=1.0,
        high=1e12,
        group="Schedule",
        help="Ratio of the first rate to the last. Default 10000",
        matlab="none",
        torch="final_div_factor",
        visible_when=_schedule("one-cycle"),
    )
    plateau_patience = Int(
        10,
        low=0,
        unit="validations",
        group="Schedule",
        help="Validations without improvement before a drop. Default 10. They are counted in a row",
        matlab="none",
        torch="patience",
        visible_when=_schedule("plateau"),
    )
    plateau_threshold = Float(
        1e-4,
        low=0.0,
        high=1.0,
        group="Schedule",
        help="Minimum relative improvement. Default 0.0001",
        matlab="none",
        torch="threshold, relative",
        visible_when=_schedule("plateau"),
    )
    schedule_chain = Phases(
        NAMES,
        _of_schedules,
        label="Chain",
        group="Schedule",
        help="Schedules in a row: warmup 100 iterations, cosine. Default none. The last one lasts for the rest of "
        "the run. Each starts from the initial learn rate times its factor: cosine times 0.5. Append further options "
        "to it: piecewise 9 epochs learn_rate_drop_period=3",
        matlab="a cell array",
        torch="SequentialLR",
        visible_when=lambda options: _has_rate(options) and options.schedule == "chain",
    )

    @property
    def schedules(self) -> tuple[str, ...]:
        """The schedules by name: the chosen one, or those of the chain."""
        return tuple(phase.schedule for phase in self.schedule_chain) if self.schedule == "chain" else (self.schedule,)

    def problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other."""
        errors = super().problems()
        if not self.is_visible("schedule"):
            return errors
        if self.schedule == "warmup" and self.warmup_iterations == 0:
            message = "the warm-up schedule needs at least 1 iteration of warm-up."
            errors.append(FieldError("warmup_iterations", message))
        if self.schedule == "chain" and (wrong := _wrong_chain(self.schedule_chain)):
            errors.append(FieldError("schedule_chain", wrong))
        return errors


def _wrong_chain(phases: tuple[Phase, ...]) -> str:
    if not phases:
        return "enter schedules, such as: warmup 100 iterations, cosine."
    for number, phase in enumerate(phases, start=1):
        is_last = number == len(phases)
        if phase.schedule == "plateau" and not is_last:
            return "plateau follows the validations until the run ends: put it last."
        if not phase.length and not is_last:
            return f"say how long '{phase.schedule}' lasts, such as: {phase.schedule} 5 epochs. Only the last may not."
        if not phase.length and phase.schedule == "warmup":
            return "say how long the warm-up lasts, such as: warmup 100 iterations."
    return ""
