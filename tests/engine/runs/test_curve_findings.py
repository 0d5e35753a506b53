"""What the curves of a run show, told from its events."""

import math
from collections.abc import Sequence

import pytest

from netwright.engine.runs.curve_findings import BY_HEART, CHECKS, DIVERGES, NOTHING, PLATEAU, RunCurves
from netwright.engine.runs.events import Points, Resumed


def taken(training: Sequence[float], validation: Sequence[float], *, apart: int = 10, start: float = 1.6) -> RunCurves:
    """Return the curves of a run that validates before the first step and after each `apart` steps."""
    curves = RunCurves()
    curves.take(Points(split="validation", first_step=0, steps_apart=1, values={"loss": [start]}))
    for number, (loss, judged) in enumerate(zip(training, validation, strict=True)):
        values = {"loss": [loss] * apart}
        curves.take(Points(split="training", first_step=1 + number * apart, steps_apart=1, values=values))
        values = {"loss": [judged]}
        curves.take(Points(split="validation", first_step=(1 + number) * apart, steps_apart=1, values=values))
    return curves


FALLING = [1.6 * 0.7**number for number in range(12)]


@pytest.mark.parametrize(
    ("training", "validation", "kind", "said"),
    [
        (FALLING, FALLING, "", ""),
        (FALLING, [1.2, 0.9, 0.7, 0.6, 0.5, *[0.55] * 7], "", ""),
        (FALLING, [1.2, 0.9, 0.4, 0.5, 0.6, *[0.9] * 7], BY_HEART, "risen from 0.400 at iteration 30 to 0.900"),
        ([1.6] * 12, [1.2, 0.9, 0.4, 0.5, 0.6, *[0.9] * 7], "", ""),  # not by heart: nothing is learned of it
        ([1.6] * 7, [1.6, 1.61, 1.59, 1.6, 1.6, 1.6, 1.6], NOTHING, "least validation loss is 1.59, 1.60 at the start"),
        ([1.6] * 3, [1.6] * 3, "", ""),  # too early to tell
        ([1.3, *[1.2] * 11], [1.3, *[1.2] * 11], PLATEAU, "has not fallen since iteration 70, and is still 1.20"),
        ([0.3, *[0.1] * 11], [0.3, *[0.1] * 11], "", ""),  # it has learned
        ([3.0, 5.0, 9.0], [3.3, 5.0, 9.0], DIVERGES, "diverges: 9.00 at iteration 30, 1.60 at the start"),
        ([1.6, math.nan], [1.5, math.nan], DIVERGES, "not a number from iteration 11 on"),
        ([-1.0] * 12, [-1.0] * 12, "", ""),
        ([0.0] * 12, [0.0] * 12, "", ""),
    ],
)
def test_curves_tell_what_is_wrong(training: list[float], validation: list[float], kind: str, said: str) -> None:
    finding = taken(training, validation).finding
    assert (finding.kind if finding else "") == kind
    assert said in (finding.text if finding else "")
    assert not kind or CHECKS[kind]


def test_a_run_that_goes_back_forgets_what_came_after() -> None:
    curves = taken(FALLING[:3], [1.2, 0.9, math.nan])
    curves.take(Points(split="training", first_step=31, steps_apart=1, values={"loss": [math.nan]}))
    assert curves.finding is not None
    curves.take(Resumed(iteration=20, after=9, reason=""))
    assert curves.finding is None
    assert list(curves.validation) == [0, 10, 20]


def test_without_a_validation_before_the_first_step_its_losses_are_the_start() -> None:
    curves = RunCurves()
    for number in range(7):
        curves.take(Points(split="training", first_step=1 + number, steps_apart=1, values={"loss": [1.6]}))
        curves.take(Points(split="validation", first_step=1 + number, steps_apart=1, values={"loss": [1.6]}))
    assert curves.finding is not None
    assert curves.finding.kind == NOTHING
