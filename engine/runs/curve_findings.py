"""Findings about the curves of a run while it trains: it diverges, learns nothing, stands still, or learns by heart."""

import math
from dataclasses import dataclass, field

from netwright.engine.core.text import format_figure
from netwright.engine.runs.events import Event, Points, Resumed

DIVERGES, NOTHING, PLATEAU, BY_HEART = "diverges", "learns-nothing", "plateau", "overfits"
CHECKS: dict[str, tuple[str, ...]] = {
    DIVERGES: ("diverges", "learn-rate", "first-loss", "normalisation", "target-scale"),
    NOTHING: ("by-heart", "learn-rate", "updates", "vanishing-gradient", "dead-layer", "normalisation"),
    PLATEAU: ("learn-rate", "dead-layer", "vanishing-gradient", "by-heart"),
    BY_HEART: ("capacity", "validation", "balance"),
}
"""Kinds of findings of the doctor that may be the cause, the likeliest first."""
FIRST_STEPS = 5
"""Training losses whose mean is that of the untrained network, where no validation came before the first step."""
DIVERGED, LEAST_FALL, RISE, NO_FALL, HIGH = 2.0, 0.03, 0.25, 0.01, 0.5
"""Multiple of the first loss that diverges; fraction by which a network that learns falls below it; fraction by which
the validation loss of one that learns by heart rises above its least; fraction that is no fall any more, and the
fraction of the first loss above which that counts."""
FEW, SOME, MANY, LAST = 3, 6, 10, 3
"""Validations before a finding: that a run diverges, that it learns nothing or by heart, that it stands still; and
those at the end that must all show it."""


@dataclass(frozen=True)
class CurveFinding:
    """Finding about a run: its kind, a key of `CHECKS`, and a sentence."""

    kind: str
    text: str


@dataclass
class RunCurves:
    """Losses of a run as far as findings need them: of the validations, and the mean training loss before each."""

    validation: dict[int, float] = field(default_factory=dict)
    """By iteration."""
    _training: dict[int, float] = field(default_factory=dict)
    """Mean training loss since the validation before, by the iteration of a validation."""
    _first: list[float] = field(default_factory=list)
    _sum: float = 0.0
    _count: int = 0
    _broken_at: int = 0
    """The iteration whose training loss was the first that is NaN or infinite."""

    def take(self, event: Event) -> None:
        """Take an event of the run; all but losses and a return to a checkpoint are left aside."""
        match event:
            case Points(split="training"):
                for number, loss in enumerate(map(float, event.values.get("loss", ()))):
                    self._take_training(event.first_step + number * event.steps_apart, loss)
            case Points(split="validation"):
                for number, loss in enumerate(map(float, event.values.get("loss", ()))):
                    step = event.first_step + number * event.steps_apart
                    self.validation[step] = loss
                    if self._count:
                        self._training[step] = self._sum / self._count
                        self._sum, self._count = 0.0, 0
            case Resumed():
                self.validation = {step: loss for step, loss in self.validation.items() if step <= event.iteration}
                self._training = {step: loss for step, loss in self._training.items() if step <= event.iteration}
                self._sum, self._count, self._broken_at = 0.0, 0, 0
                if event.iteration == 0:
                    self._first = []

    def _take_training(self, step: int, loss: float) -> None:
        if not math.isfinite(loss):
            self._broken_at = self._broken_at or step
            return
        if len(self._first) < FIRST_STEPS:
            self._first.append(loss)
        self._sum, self._count = self._sum + loss, self._count + 1

    @property
    def finding(self) -> CurveFinding | None:
        """The worst that is wrong; None where nothing is, or too little is known. Losses that may be negative
        have no fractions that say anything."""
        if self._broken_at:
            return CurveFinding(DIVERGES, f"The training loss is not a number from iteration {self._broken_at:,} on.")
        steps = sorted(self.validation)
        start = self.validation.get(0, sum(self._first) / max(1, len(self._first)))
        losses = [self.validation[step] for step in steps if step]
        if len(losses) < FEW or not start > 0 or min(losses) < 0 or not all(map(math.isfinite, losses)):
            return None
        steps = [step for step in steps if step]
        return (
            _diverging(steps, losses, start)
            or _learning_nothing(losses, start)
            or self._by_heart(steps, losses)
            or self._standing_still(steps, losses, start)
        )

    def _by_heart(self, steps: list[int], losses: list[float]) -> CurveFinding | None:
        best = losses.index(min(losses))
        training = [self._training.get(steps[place]) for place in (best, -1)]
        if len(losses) < SOME or best >= len(losses) - LAST or training[0] is None or training[1] is None:
            return None
        if min(losses[-LAST:]) < (1 + RISE) * losses[best] or training[1] >= training[0]:
            return None
        text = (
            f"The network learns by heart: the validation loss has risen from {_told(losses[best])} at iteration "
            f"{steps[best]:,} to {_told(losses[-1])}, while the training loss fell."
        )
        return CurveFinding(BY_HEART, text)

    def _standing_still(self, steps: list[int], losses: list[float], start: float) -> CurveFinding | None:
        middle = len(losses) // 2
        training = [self._training.get(step, math.nan) for step in steps]
        halves = [(min(values[:middle]), min(values[middle:])) for values in (losses, training)]
        if len(losses) < MANY or min(losses) <= HIGH * start or any(b < (1 - NO_FALL) * a for a, b in halves):
            return None
        text = (
            f"The loss stands still: it has not fallen since iteration {steps[middle]:,}, and is still "
            f"{_told(min(losses))}, of {_told(start)} at the start."
        )
        return CurveFinding(PLATEAU, text)


def _diverging(steps: list[int], losses: list[float], start: float) -> CurveFinding | None:
    if min(losses[-LAST:]) < DIVERGED * start:
        return None
    text = f"The loss diverges: {_told(losses[-1])} at iteration {steps[-1]:,}, {_told(start)} at the start."
    return CurveFinding(DIVERGES, text)


def _learning_nothing(losses: list[float], start: float) -> CurveFinding | None:
    if len(losses) < SOME or min(losses) < (1 - LEAST_FALL) * start:
        return None
    text = (
        f"The network has learned next to nothing: the least validation loss is {_told(min(losses))}, "
        f"{_told(start)} at the start."
    )
    return CurveFinding(NOTHING, text)


def _told(loss: float) -> str:
    return format_figure(loss)
