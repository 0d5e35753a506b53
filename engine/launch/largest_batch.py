"""The largest mini-batch that fits: doubled and then halved in on, each tried out by a process that is thrown away.

    python -m engine.launch.largest_batch PROJECT [--samples N] [--share S]

prints `{"tried": {...}}` for each trial and `{"largest": N, "words": ...}` in the end. For several workers a trial is
the largest share of a batch on each kind of device; on the CPU they divide the memory.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from engine.core.errors import UserError, plural
from engine.core.text import format_bytes, format_percent
from engine.hardware.devices import probe
from engine.hardware.threads import calm_threads
from engine.launch.trial import TrialResult, refusals, run_trial
from engine.network.analysis import analyse
from engine.placement.choose import Placement, WorkerPlace, resolve
from engine.placement.inventory import DeviceInventory
from engine.project.check import memory_of
from engine.project.environment import SEVERAL
from engine.project.file import load
from engine.project.project import Project

SHARE = 0.5
MOST = 2**20
HOPELESS = 4
"""An estimate so many times above the limit is believed without a trial."""


def largest(fits: Callable[[int], bool], least: int, most: int) -> int:
    """The largest number between these that fits, to a sixteenth of it; 0 where not even the least does."""
    good, number = 0, min(least, most)
    while fits(number):
        good = number
        if number == most:
            return good
        number = min(2 * number, most)
    bad = number
    while good and bad - good > max(1, good // 16):
        middle = (good + bad) // 2
        if fits(middle):
            good = middle
        else:
            bad = middle
    return good


def heaviest(placement: Placement) -> list[WorkerPlace]:
    """The worker with the largest share of each device; the CPU is one device."""
    found: dict[str, WorkerPlace] = {}
    for worker in placement.workers:
        if worker.device not in found or worker.samples > found[worker.device].samples:
            found[worker.device] = worker
    return list(found.values())


def limit_bytes(placement: Placement, inventory: DeviceInventory, share: float) -> int:
    """What one worker on the CPU may take: its part of that share of the memory."""
    return int(share * inventory.memory_bytes / len(placement.workers))


def with_batch(project: Project, batch: int) -> Project:
    """The project with another mini-batch size."""
    return replace(project, training=project.training.replace(mini_batch_size=batch))


class Search:
    """Tries batches of a project on a machine, and remembers what became of them."""

    def __init__(self, project: Project, inventory: DeviceInventory, share: float, tell: Callable[[Any], None]) -> None:
        self._project, self._inventory, self._share, self._tell = project, inventory, share, tell
        self._analysis = analyse(project.network)
        self.why_not = ""

    def placement(self, batch: int) -> Placement:
        """Where a batch is computed."""
        return resolve(self._project.environment, self._inventory, batch, self._project.training.gradient_accumulation)

    def fits(self, batch: int) -> bool:
        """Whether each worker has room for its share."""
        placement = self.placement(batch)
        for worker in heaviest(placement):
            tried = self._try(placement, worker)
            self._tell({"tried": {"batch": batch, "device": worker.device, **asdict(tried)}})
            if tried.refusal:
                self.why_not = tried.refusal
                return False
        return True

    def _try(self, placement: Placement, worker: WorkerPlace) -> TrialResult:
        limit = 0
        if worker.device == "cpu":
            limit = limit_bytes(placement, self._inventory, self._share)
            expected = memory_of(with_batch(self._project, worker.samples), self._analysis).total
            if limit and expected > HOPELESS * limit:
                return TrialResult(worker.samples, refusal=f"about {format_bytes(expected)} are expected")
        tried = run_trial(self._project, worker.samples, worker.device, worker.threads, steps=1, limit_bytes=limit)
        if limit and tried.bytes > limit and not tried.refusal:
            return replace(tried, refusal=f"{format_bytes(tried.bytes)} are more than the {format_bytes(limit)}")
        return tried


def search(
    project: Project, inventory: DeviceInventory, samples: int | None, share: float, tell: Callable[[Any], None]
) -> int:
    """The largest mini-batch. `tell` hears of each trial. Raises `UserError` where there is nothing to try."""
    for refusal in refusals(project):
        raise UserError(refusal)
    if project.environment.strategy == "pipeline" and project.environment.target in SEVERAL:
        raise UserError(
            "A trial runs the whole network, and the workers of a pipeline each have a stage of it. What each stage "
            "takes is seen on the canvas (View > Stages of a pipeline); a trial can be made with another strategy."
        )
    started = Search(project, inventory, share, tell)
    most = samples or MOST
    least = min(most, max(1, len(started.placement(min(most, 64)).workers), min(most, 16)))
    found = largest(started.fits, least, most)
    if not found:
        raise UserError(f"Not even {plural(least, 'sample')} fit: {started.why_not}.")
    tell({"largest": found, "words": _words(started, found, samples, share)})
    return found


def _words(started: Search, found: int, samples: int | None, share: float) -> str:
    placement = started.placement(found)
    each = max(worker.samples for worker in placement.workers)
    count = len(placement.workers)
    said = f"The largest mini-batch is {plural(found, 'sample')}"
    said += f", {each:,} a worker" if count > 1 else ""
    if samples and found == samples:
        return f"{said}: all of the training split."
    if placement.workers[0].device == "cpu":
        part = f"{format_percent(share)} of the memory"
        said += f", with {part}{' for all workers together' if count > 1 else ''}"
    return f"{said}; more: {started.why_not}."


def main(arguments: list[str]) -> int:
    """The throw-away process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path)
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--share", type=float, default=SHARE)
    given = parser.parse_args(arguments)
    calm_threads()
    import torch  # noqa: F401  # here before the forks, and not used

    def tell(line: Any) -> None:
        print(json.dumps(line), flush=True)

    try:
        search(load(given.project).project, probe(), given.samples or None, given.share, tell)
    except UserError as error:
        tell({"error": str(error), "exit_code": error.exit_code})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
