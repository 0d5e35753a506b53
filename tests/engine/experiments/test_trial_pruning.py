"""Which trials fall behind: the rules, and that decisions depend on the curves alone."""

import math
import random
from pathlib import Path

import pytest

from netwright.engine.experiments.trial_pruning import CurveReader, Pruner
from netwright.engine.project.experiment import ExperimentOptions, Objective
from netwright.engine.runs.events import EpochEnded, Points
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventLog

LOSS = Objective("validation.loss")
EPOCHS = 9
Curves = dict[int, list[float]]


def pruner(rule: str, **options: int) -> Pruner:
    return Pruner(ExperimentOptions(pruning=rule, **options), LOSS, EPOCHS)


def one_after_another(judge: Pruner, curves: Curves) -> dict[int, int]:
    """The epoch after which each trial was pruned, where each trial ends before the next one begins."""
    found: dict[int, int] = {}
    for trial, values in curves.items():
        judge.begin(trial, EPOCHS)
        for epoch, value in enumerate(values, 1):
            judge.add(trial, epoch, {"validation.loss": value})
        judge.end(trial)
        found |= {decision.trial: decision.epoch for decision in judge.judge()}
        assert judge.is_judged(trial)
    return found


def in_any_order(judge: Pruner, curves: Curves, seed: int, at_once: int) -> dict[int, int]:
    """The same for trials side by side, each of which goes on at random until it hears of its decision or its end."""
    generator, found = random.Random(seed), dict[int, int]()
    waiting, active = list(curves), dict[int, int]()
    while waiting or active:
        while waiting and len(active) < at_once:
            judge.begin(waiting[0], EPOCHS)
            active[waiting.pop(0)] = 0
        trial = generator.choice(list(active))
        if active[trial] < len(curves[trial]):
            judge.add(trial, active[trial] + 1, {"validation.loss": curves[trial][active[trial]]})
            active[trial] += 1
        else:
            judge.end(trial)
            del active[trial]
        if generator.random() < 0.3 or not (waiting or active):
            decisions = judge.judge()
            found |= {decision.trial: decision.epoch for decision in decisions}
            for decision in decisions:
                active.pop(decision.trial, None)
    return found


@pytest.mark.parametrize("rule", ["median", "successive-halving", "hyperband"])
def test_decisions_do_not_depend_on_which_trial_is_faster(rule: str) -> None:
    generator = random.Random(7)
    levels = {trial: generator.random() for trial in range(1, 31)}
    curves = {t: [level + generator.random() / 4 for _ in range(EPOCHS)] for t, level in levels.items()}
    curves[9] = curves[9][:2]  # it failed
    expected = one_after_another(pruner(rule), curves)
    assert 3 < len(expected) < 27
    for seed in range(20):
        assert in_any_order(pruner(rule), curves, seed, at_once=1 + seed % 6) == expected


def test_the_median_rule_stops_what_is_worse_than_the_median_of_the_others() -> None:
    good = {trial: [1.0] * EPOCHS for trial in range(1, 6)}
    assert one_after_another(pruner("median"), {**good, 6: [1.1] * 9, 7: [1.0] * 9}) == {6: 1}
    assert one_after_another(pruner("median", prune_from_epoch=3), {**good, 6: [1.1] * 9}) == {6: 3}
    assert one_after_another(pruner("median"), {**good, 6: [0.9, 2.0, *[1.1] * 7]}) == {}, "its best value counts"
    assert one_after_another(pruner("median"), {**good, 6: [math.nan] * 9}) == {6: 1}
    assert one_after_another(pruner("median"), {**good, 6: [*[0.9] * 8, 9.0]}) == {}, "nothing is saved at the end"
    assert one_after_another(pruner("median"), {t: [float(t)] * 9 for t in range(1, 6)}) == {}, "too few to compare"


def test_successive_halving_lets_one_of_three_go_on_from_each_rung() -> None:
    curves = {trial: [float(level)] * EPOCHS for trial, level in enumerate([5, 4, 6, 3, 7, 2, 8, 4.5, 1], 1)}
    assert one_after_another(pruner("successive-halving"), curves) == {3: 1, 5: 1, 7: 1, 8: 1}
    # At the rung of epoch 3: 5, 4, 3, 2 and 1 in this order, each better than those before it.
    curves = {trial: [1.0 - trial / 10, 1.0, float(trial)] for trial in range(1, 5)}
    assert one_after_another(pruner("successive-halving"), curves) == {2: 3, 3: 3, 4: 3}


def test_hyperband_begins_to_judge_in_each_bracket_at_another_epoch() -> None:
    curves = {trial: [float(trial)] * EPOCHS for trial in range(1, 41)}
    epochs = one_after_another(pruner("hyperband"), curves)
    assert {*epochs.values()} == {1, 3}, "and one bracket goes to epoch 9, the last one"


def test_a_trial_waits_for_those_before_it() -> None:
    judge = pruner("median")
    for trial in range(1, 8):
        judge.begin(trial, EPOCHS)
    judge.add(7, 1, {"validation.loss": 9.0})
    judge.end(7)
    for trial in range(1, 6):
        judge.add(trial, 2, {"validation.loss": 1.0})
        judge.add(trial, 1, {"validation.loss": 1.0})
        assert not judge.judge()
        assert not judge.is_judged(7)
    judge.end(6)
    assert not judge.judge(), "no other trial has a value at epoch 1"
    assert judge.is_judged(7)


def points(step: int, *values: float, split: str = "validation") -> Points:
    return Points(split=split, first_step=step, steps_apart=2, values={"loss": list(values)})


@pytest.mark.parametrize("split", ["validation", "training"])
def test_a_curve_has_a_value_per_epoch_whatever_was_reported_together(tmp_path: Path, split: str) -> None:
    """Validations and epochs between two reports come in one piece, those of a resumed run twice."""
    log = EventLog(RunFolder(tmp_path))
    ends = [EpochEnded(epoch=epoch, iteration=4 * epoch) for epoch in (1, 2, 3)]
    curve = CurveReader(RunFolder(tmp_path), Objective(f"{split}.loss"))
    log.append(points(0, 7.0, split=split))
    for event in (points(2, 1.0, 2.0, 3.0, 4.0, split=split), points(4, 9.0, split="test"), *ends[:2]):
        log.append(event)
    found = [(epoch, scores[f"{split}.loss"]) for epoch, scores in curve.read()]
    assert found == [(1, 2.0), (2, 4.0)]
    assert list(curve.read()) == []
    for event in (points(6, 3.0, 4.0, split=split), ends[1], ends[2]):
        log.append(event)
    is_known_at_once = split == "validation"
    assert bool(list(curve.read())) is is_known_at_once
    assert bool(list(curve.read(is_over=True))) is not is_known_at_once
    log.close()
