"""Which trials are stopped because they fall behind: the median rule, successive halving and Hyperband.

Each trial is judged after every epoch, and compared with the trials of lower number at the same epoch. A decision waits
until each of those has trained that far or has ended. So it depends on the curves alone: not on which process is
faster, on how many trials train at the same time, or on when an experiment was interrupted. A trial that has trained on
while its decision waited is recorded as it was at the epoch of the decision.
"""

import math
import zlib
from bisect import insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from netwright.engine.project.experiment import ExperimentOptions, Objective
from netwright.engine.runs.events import EpochEnded, Points
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventReader
from netwright.engine.runs.trial_log import PRUNED, Trial, TrialRun

FEWEST = 5
"""Trials that must have reached an epoch before the median rule stops another one there."""
ETA = 3
"""Successive halving: one of so many trials goes on from each rung to the next."""
Scores = Mapping[str, float]


class CurveReader:
    """Reads what a run has reached after each epoch from its log, while the log grows."""

    def __init__(self, folder: RunFolder, objective: Objective) -> None:
        self._reader = EventReader(folder)
        self._split, _, self._metric = objective.name.partition(".")
        self._points: list[tuple[int, Scores]] = []
        self._ends: list[EpochEnded] = []
        self._epoch = 0
        self._scores: Scores = {}

    def read(self, *, is_over: bool = False) -> Iterator[tuple[int, Scores]]:
        """Yield each epoch that has ended since the last call, and the last scores of the objective's split before its
        end. Epochs that a resumed run repeats are left out. `is_over`: the run has ended, and its log is complete."""
        while events := self._reader.read():
            for event in events:
                if isinstance(event, EpochEnded):
                    self._ends.append(event)
                elif isinstance(event, Points) and event.split == self._split and self._metric in event.values:
                    self._points += _scores_by_step(event)
        while self._ends and (is_over or self._is_known(self._ends[0].iteration)):
            end = self._ends.pop(0)
            while self._points and self._points[0][0] <= end.iteration:
                self._scores = self._points.pop(0)[1]
            if end.epoch > self._epoch and self._scores:
                self._epoch = end.epoch
                yield end.epoch, self._scores

    def _is_known(self, iteration: int) -> bool:
        """Return whether the log has the points up to an iteration; those of the training may follow after the end of
        the epoch."""
        return self._split != "training" or (bool(self._points) and self._points[-1][0] >= iteration)


def _scores_by_step(points: Points) -> Iterator[tuple[int, Scores]]:
    """Yield the scores of each step but those before the first one, which tell nothing of the training."""
    length = min(map(len, points.values.values()))
    for at in range(length):
        scores = {f"{points.split}.{name}": float(values[at]) for name, values in points.values.items()}
        if step := points.first_step + at * points.steps_apart:
            yield step, scores


@dataclass(frozen=True)
class Decision:
    """A trial falls behind: the epoch after which it is stopped, and its scores there."""

    trial: int
    epoch: int
    scores: Scores

    def applied(self, run: TrialRun, *, is_first: bool) -> TrialRun:
        """Return the record of a run of the trial: of the first one as it was after the epoch, of the others, which
        have trained for longer or shorter, without scores."""
        if is_first:
            return replace(run, state=PRUNED, scores=self.scores, epoch=self.epoch)
        return replace(run, state="stopped", scores={})


@dataclass
class _Curve:
    epochs: int
    points: list[tuple[int, Scores]] = field(default_factory=list)
    """Points that are not judged yet."""
    reached: float = 0
    """The last epoch of which there is a point; infinite where the trial has ended."""
    best: float = math.inf
    rung: int = 0


class Pruner:
    """Judges the trials of one experiment. `objective` is what is compared; costs below are its values, or their
    negatives where more is better."""

    def __init__(self, options: ExperimentOptions, objective: Objective, max_epochs: int) -> None:
        self._rule, self._first = options.pruning, options.prune_from_epoch
        self._name, self._sign = objective.name, 1.0 if objective.is_low_better else -1.0
        self._num_brackets = 1
        if self._rule == "hyperband":
            self._num_brackets += int(math.log(max(1.0, max_epochs / self._first), ETA) + 1e-9)
        self._curves: dict[int, _Curve] = {}
        self._costs: dict[tuple[int, int], list[float]] = {}
        """Costs of the trials that were judged at an epoch, or in a bracket at a rung, in ascending order."""

    def begin(self, trial: int, epochs: int) -> None:
        """Take note of a trial of so many epochs. Trials begin in the order of their numbers."""
        self._curves[trial] = _Curve(epochs)

    def add(self, trial: int, epoch: int, scores: Scores) -> None:
        """Take note of what a trial has reached after an epoch."""
        curve = self._curves.get(trial)
        if curve is not None and curve.reached < epoch:
            curve.points.append((epoch, scores))
            curve.reached = epoch

    def end(self, trial: int) -> None:
        """Take note that a trial trains no further."""
        if (curve := self._curves.get(trial)) is not None:
            curve.reached = math.inf
            self._drop_judged(trial)

    def is_judged(self, trial: int) -> bool:
        """Return whether all that is known of a trial is judged."""
        return trial not in self._curves or not self._curves[trial].points

    def judge(self) -> list[Decision]:
        """Judge all points that can be judged, and return the trials that fall behind."""
        decisions, horizon = [], math.inf
        for trial, curve in sorted(self._curves.items()):
            while curve.points and curve.points[0][0] <= horizon:
                epoch, scores = curve.points.pop(0)
                if self._falls_behind(trial, curve, epoch, scores):
                    decisions.append(Decision(trial, epoch, scores))
                    curve.points, curve.reached = [], math.inf
            horizon = min(horizon, curve.reached)
            self._drop_judged(trial)
        return decisions

    def _drop_judged(self, trial: int) -> None:
        if self._curves[trial].reached == math.inf and not self._curves[trial].points:
            del self._curves[trial]

    def _falls_behind(self, trial: int, curve: _Curve, epoch: int, scores: Scores) -> bool:
        """Return whether a trial falls behind after an epoch; never at its last one."""
        value = scores[self._name] * self._sign
        cost = value if not math.isnan(value) else math.inf
        curve.best = min(curve.best, cost)
        if epoch < self._first:
            return False
        is_behind = self._is_over_median(curve, epoch, cost) if self._rule == "median" else False
        if self._rule in ("successive-halving", "hyperband"):
            is_behind = self._misses_rung(trial, curve, epoch, cost)
        return is_behind and epoch < curve.epochs

    def _is_over_median(self, curve: _Curve, epoch: int, cost: float) -> bool:
        """Return whether the best cost so far is above the median of the others at this epoch (Golovin et al., 2017:
        Google Vizier)."""
        others = self._costs.setdefault((0, epoch), [])
        middle = len(others) // 2
        is_over = len(others) >= FEWEST and curve.best > (others[middle] + others[~middle]) / 2
        insort(others, cost)
        return is_over

    def _misses_rung(self, trial: int, curve: _Curve, epoch: int, cost: float) -> bool:
        """Return whether a trial has come to a rung and is not in the better part there (Li et al., 2020: ASHA). Rungs
        of the bracket b are at epochs first * ETA^(b + i)."""
        bracket = self._bracket(trial)
        is_behind = False
        while not is_behind and epoch >= self._first * ETA ** (bracket + curve.rung):
            costs = self._costs.setdefault((bracket, curve.rung), [])
            insort(costs, cost)
            is_behind = cost > costs[max(1, len(costs) // ETA) - 1]
            curve.rung += 1
        return is_behind

    def _bracket(self, trial: int) -> int:
        """Return the bracket of Hyperband that a trial is in, by its number; the share of each bracket is that of its
        budget (Li et al., 2018)."""
        last = self._num_brackets - 1
        weights = [math.ceil(self._num_brackets * ETA ** (last - b) / (last - b + 1)) for b in range(last + 1)]
        at = zlib.crc32(str(trial).encode()) % sum(weights)
        for bracket, weight in enumerate(weights):
            if at < weight:
                return bracket
            at -= weight
        return last


class Watch:
    """Follows the curves of the trials that train, for a `Pruner`. Without pruning it does nothing."""

    def __init__(self, options: ExperimentOptions, objective: Objective, max_epochs: int) -> None:
        self._objective, self._max_epochs = objective, max_epochs
        self._pruner = Pruner(options, objective, max_epochs) if options.pruning != "none" else None
        self._curves: dict[int, CurveReader] = {}

    @property
    def is_on(self) -> bool:
        """Whether trials are pruned."""
        return self._pruner is not None

    def begin(self, trial: Trial, run: RunFolder) -> None:
        """Follow a trial by the curve of this run, its first one."""
        if self._pruner is not None:
            self._pruner.begin(trial.number, trial.values.get("training.max_epochs", self._max_epochs))
            self._curves[trial.number] = CurveReader(run, self._objective)

    def read(self, trial: int, *, is_over: bool = False) -> None:
        """Read what a trial has reached since the last call. `is_over`: its first run has ended."""
        if self._pruner is not None and trial in self._curves:
            for epoch, scores in self._curves[trial].read(is_over=is_over):
                self._pruner.add(trial, epoch, scores)
            if is_over:
                self._pruner.end(trial)

    def end(self, trial: int) -> None:
        """Take note that a trial has ended."""
        if self._pruner is not None:
            self._pruner.end(trial)
            self._curves.pop(trial, None)

    def judge(self) -> list[Decision]:
        """Read what has been reached since the last call; return the trials that fall behind."""
        for trial in self._curves:
            self.read(trial)
        return self._pruner.judge() if self._pruner is not None else []

    def is_judged(self, trial: int) -> bool:
        """Return whether all that is known of a trial is judged."""
        return self._pruner is None or self._pruner.is_judged(trial)
