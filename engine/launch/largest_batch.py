"""Search for the largest mini-batch that fits in memory: doubling, then bisection, with each trial in a child process.
A batch whose trial would take long on the CPU is estimated from the two largest that were tried.

    python -m netwright.engine.core.child netwright.engine.launch.largest_batch PROJECT [--samples N] [--share S]

prints `{"tried": {...}}` for each trial and `{"largest": N, "words": ...}` at the end. With several workers a trial
runs the largest share of the batch on each device; workers on the CPU divide the memory.
"""

import argparse
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.process import print_line
from netwright.engine.core.text import format_bytes, format_percent
from netwright.engine.hardware.devices import probe
from netwright.engine.launch.trial import TrialResult, refusals, run_trial
from netwright.engine.network.analysis import analyse
from netwright.engine.placement.choose import Placement, WorkerPlace, resolve
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project.check import memory_of
from netwright.engine.project.environment import SEVERAL
from netwright.engine.project.file import load
from netwright.engine.project.project import Project

SHARE = 0.5
MOST = 2**20
HOPELESS = 4
"""Ratio of estimated memory to the limit above which a batch is refused without a trial."""
LONG_S, LONGEST_S = 2.0, 10.0
"""Expected seconds of a trial on the CPU above which none is made: the memory is estimated from smaller batches. The
first once the samples show beside the memory of the process itself (`GROWN`), the second in any case."""
GROWN = 1.5
"""Ratio of the memory of the largest trial to that of the smallest from which a line through trials can be trusted."""


def largest(fits: Callable[[int], bool], least: int, most: int) -> int:
    """Return the largest number from `least` to `most` that fits, to within a sixteenth; 0 if `least` does not fit."""
    fitting, number = 0, min(least, most)
    while fits(number):
        fitting = number
        if number == most:
            return fitting
        number = min(2 * number, most)
    too_large = number
    while fitting and too_large - fitting > max(1, fitting // 16):
        middle = (fitting + too_large) // 2
        if fits(middle):
            fitting = middle
        else:
            too_large = middle
    return fitting


def heaviest(placement: Placement) -> list[WorkerPlace]:
    """Return the worker with the largest share on each device; the CPU counts as one device."""
    by_device: dict[str, WorkerPlace] = {}
    for worker in placement.workers:
        if worker.device not in by_device or worker.samples > by_device[worker.device].samples:
            by_device[worker.device] = worker
    return list(by_device.values())


def limit_bytes(placement: Placement, inventory: DeviceInventory, share: float) -> int:
    """Return the memory limit of one worker on the CPU, in bytes: an equal part of `share` of the machine's memory."""
    return int(share * inventory.memory_bytes / len(placement.workers))


def with_batch(project: Project, batch: int) -> Project:
    """Return a copy of the project with mini-batch size `batch`."""
    return replace(project, training=project.training.replace(mini_batch_size=batch))


class Search:
    """Trials of mini-batch sizes for a project on a machine. `why_not` is the reason of the latest refusal."""

    def __init__(self, project: Project, inventory: DeviceInventory, share: float, tell: Callable[[Any], None]) -> None:
        self._project, self._inventory, self._share, self._tell = project, inventory, share, tell
        self._analysis = analyse(project.network)
        self._tried: dict[int, TrialResult] = {}
        """Trials on the CPU that fitted, by samples per worker, smallest first."""
        self.why_not = ""

    @property
    def most_tried(self) -> int:
        """Return the samples per worker of the largest trial on the CPU that fitted; 0 for none."""
        return max(self._tried, default=0)

    def placement(self, batch: int) -> Placement:
        """Return the placement of a mini-batch of `batch` samples."""
        return resolve(self._project.environment, self._inventory, batch, self._project.training.gradient_accumulation)

    def fits(self, batch: int) -> bool:
        """Return whether every worker has memory for its share of the batch."""
        placement = self.placement(batch)
        for worker in heaviest(placement):
            trial = self._try(placement, worker)
            self._tell({"tried": {"batch": batch, "device": worker.device, **asdict(trial)}})
            if trial.refusal:
                self.why_not = trial.refusal
                return False
        return True

    def _try(self, placement: Placement, worker: WorkerPlace) -> TrialResult:
        limit, estimate = 0, None
        if worker.device == "cpu":
            limit = limit_bytes(placement, self._inventory, self._share)
            expected = self._expected_bytes(worker.samples)
            if limit and expected > HOPELESS * limit:
                return TrialResult(worker.samples, refusal=f"about {format_bytes(expected)} are expected")
            estimate = self._estimate(worker.samples) if limit else None
        trial = estimate or run_trial(
            self._project, worker.samples, worker.device, worker.threads, steps=1, limit_bytes=limit
        )
        if limit and trial.bytes > limit and not trial.refusal:
            return replace(trial, refusal=f"{format_bytes(trial.bytes)} are more than the {format_bytes(limit)}")
        if limit and estimate is None and not trial.refusal:
            self._tried[worker.samples] = trial
        return trial

    def _expected_bytes(self, samples: int) -> int:
        """Return the memory that the analysis expects for the samples of one worker."""
        return memory_of(with_batch(self._project, samples), self._analysis).total

    def _estimate(self, samples: int) -> TrialResult | None:
        """Return a trial that would take long, by a line through the two largest ones, and not below what the analysis
        expects the further samples to take; None where it is to be made."""
        if len(self._tried) < 2 or samples < self.most_tried:
            return None
        smallest, *_ = trials = list(self._tried.values())
        first, last = trials[-2:]
        seconds = last.seconds * samples / last.samples
        has_grown = last.bytes > GROWN * smallest.bytes
        if 2 * seconds <= (LONG_S if has_grown else LONGEST_S):  # a trial makes two steps
            return None
        slope = (last.bytes - first.bytes) / (last.samples - first.samples)
        further = self._expected_bytes(samples) - self._expected_bytes(last.samples)
        growth = max(slope * (samples - last.samples), further)
        return TrialResult(samples, last.bytes + round(growth), seconds)


def search(
    project: Project, inventory: DeviceInventory, samples: int | None, share: float, tell: Callable[[Any], None]
) -> int:
    """Return the largest mini-batch that fits, in samples, up to `samples` if given.

    `tell` is called with the record of each trial and of the result. Raises `UserError` if the project cannot be tried
    or if not even the smallest batch fits.
    """
    for refusal in refusals(project):
        raise UserError(refusal)
    if project.environment.strategy == "pipeline" and project.environment.target in SEVERAL:
        raise UserError(
            "A trial runs the whole network, and the workers of a pipeline each have a stage of it. What each stage "
            "takes is seen on the canvas (View > Lens > Stages); a trial can be made with another strategy."
        )
    trials = Search(project, inventory, share, tell)
    most = samples or MOST
    least = min(most, max(1, len(trials.placement(min(most, 64)).workers), min(most, 16)))
    batch = largest(trials.fits, least, most)
    if not batch:
        raise UserError(f"Not even {plural(least, 'sample')} fit: {trials.why_not}.")
    tell({"largest": batch, "words": _conclusion(trials, batch, samples, share)})
    return batch


def _conclusion(started: Search, batch: int, samples: int | None, share: float) -> str:
    """Return the result as a sentence."""
    placement = started.placement(batch)
    per_worker, count = max(worker.samples for worker in placement.workers), len(placement.workers)
    each = f", {per_worker:,} per worker" if count > 1 else ""
    estimated = ""
    if 0 < started.most_tried < per_worker:
        estimated = f" Above {plural(started.most_tried, 'sample')} the memory is estimated."
    if samples and batch == samples:
        return f"The largest mini-batch is {plural(batch, 'sample')}{each}: all of the training split.{estimated}"
    limit = ""
    if placement.workers[0].device == "cpu":
        limit = f" into {format_percent(share)} of the memory{', which all workers share' if count > 1 else ''}"
    return (
        f"The largest mini-batch is {plural(batch, 'sample')}{each}. More samples do not fit{limit}: "
        f"{started.why_not}.{estimated}"
    )


def main(arguments: list[str]) -> int:
    """Run the search from the command line; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path)
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--share", type=float, default=SHARE)
    options = parser.parse_args(arguments)
    import torch  # noqa: F401  # imported before the forks; not used here

    try:
        search(load(options.project).project, probe(), options.samples or None, options.share, print_line)
    except UserError as error:
        print_line(error.write())
    return 0
