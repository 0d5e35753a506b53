"""Placement trial: chooses by timing real steps how many processes and threads a run on the CPU uses.

The first worker does it before anything else, with its own network and the first batch of its data. To time several
processes beside whatever else the machine does, it forks trial workers, which share its data and all-reduce with it as
the workers of the run would. They end when it has chosen; then the other workers are started, if there are any. All of
it takes two seconds at most.
"""

import contextlib
import json
import os
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch

from netwright.engine.core.fork import fork
from netwright.engine.core.platform import cores, end_process, end_with_parent, keep_to, wait_for_process
from netwright.engine.core.process import MessageReader
from netwright.engine.data.loading.batches import Batch
from netwright.engine.data.sources.source import free_memory
from netwright.engine.hardware.threads import LEAST_GAIN
from netwright.engine.launch.channel import ReportPipe
from netwright.engine.parallel.process_group import ProcessGroup, SingleProcess
from netwright.engine.parallel.shared_memory import Memory, PeerUnavailableError, SharedMemoryGroup
from netwright.engine.parallel.worker_spec import WorkerSpec
from netwright.engine.placement.candidates import LEAST_RUN_S, places_text
from netwright.engine.placement.choose import WorkerPlace
from netwright.engine.placement.inventory import can_share
from netwright.engine.training.builder import TrainerBuilder
from netwright.engine.training.job import TrainingJob

BUDGET_S = 1.5
"""Time after which no further candidate is timed."""
STEP_S = 0.15
"""Seconds per step above which a trial computes only a fraction of the batch."""
SLICE_S = 0.05
"""Time for the steps of one candidate in one round."""
MAX_STEPS = 40
"""Steps of one candidate in one round, at most."""
ROUNDS = 6
MAX_ROUNDS = 16
CLOSE = 1.15
"""Further rounds follow while the second fastest takes less than this times the fastest and time is left."""
START_S = 0.5
"""Seconds to start further workers, which their speed must save."""
PATIENCE_S = 1.0
"""A trial worker that does not answer for this long has no core to compute on."""


@dataclass
class Candidate:
    """Candidate placement: places of its workers and the shortest time per step so far, in s (0 before the first)."""

    places: Sequence[WorkerPlace]
    choice: int = -1
    seconds: float = 0.0
    is_out: bool = False

    @property
    def threads(self) -> int:
        """Return the threads of each worker."""
        return self.places[0].threads


@dataclass(frozen=True)
class Choice:
    """Number of the chosen candidate (-1: one process), threads of each worker, and the reason in words."""

    choice: int = -1
    threads: int = 0
    note: str = ""


def choose_placement(job: TrainingJob, spec: WorkerSpec, reports: ReportPipe) -> TrainingJob:
    """Return the job with the chosen placement, if `run.json` left it open, and report it to the coordinator."""
    if not job.info.is_undecided:
        return job
    choice = Choice()
    affinity = cores()
    is_resident = not job.info.loading.is_streamed  # forked workers share what lies in memory
    if can_share() and spec.checkpoint < 0 and is_resident:
        try:
            choice = _PlacementTrial(job).choose()
        except Exception as error:  # a real fault will show in training
            traceback.print_exc()
            choice = Choice(note=f"The acceleration placement-trials is not used: {type(error).__name__}: {error}.")
    reports.send({"chosen": {"choice": choice.choice, "threads": choice.threads}})
    info = job.info.decided(choice.choice, choice.threads)
    place = info.placement.places[0]
    keep_to(place.cores or affinity)
    torch.set_num_threads(place.threads)
    return replace(job, info=info, notes=(choice.note,) if choice.note else ())


class _Steps:
    """Training steps on the first batch, for any process group."""

    def __init__(self, job: TrainingJob) -> None:
        self._builder = TrainerBuilder(job)
        self.training, self.length = self._builder.training, self._builder.length

    def step_for(self, group: ProcessGroup, fraction: float) -> Callable[[], Any]:
        """Return a function that makes a step with this fraction of the batch. A collective."""
        builder = TrainerBuilder(replace(self._builder.job, group=group), like=self._builder)
        batches = builder.batches()
        step = builder.train_step(batches)
        batch = _first_samples(next(iter(batches.of_epoch(1))), fraction)
        return lambda: step(batch, 0)


def _first_samples(batch: Batch, fraction: float) -> Batch:
    if fraction >= 1:
        return batch
    count = max(1, round(batch.count * fraction))
    inputs, targets = (tuple(x[:count] for x in tensors) for tensors in (batch.inputs, batch.targets))
    return Batch(inputs, targets, count, max(1, round(batch.total * fraction)))


class _PlacementTrial:
    """Placement trial in the first worker, which times the candidates."""

    def __init__(self, job: TrainingJob) -> None:
        self._info = job.info
        self._steps = _Steps(job)
        self._start_s = time.perf_counter()
        self._workers = _TrialWorkers(self._steps)
        self._own: dict[int, tuple[ProcessGroup, Callable[[], Any]]] = {}
        self._fraction = 1.0
        self._affinity = cores()

    def choose(self) -> Choice:
        """Time all candidates, unless the run is too short for that, and choose."""
        candidates = self._candidates()
        try:
            self._workers.fork([len(candidate.places) for candidate in candidates])
            self._choose_fraction(candidates[0])
            num_steps = self._steps.length.total_steps / self._fraction
            if candidates[0].seconds * num_steps < LEAST_RUN_S:
                return Choice()
            self._race(candidates)
        finally:
            self._workers.end()
        took_s = time.perf_counter() - self._start_s
        return choose_fastest(candidates, num_steps, took_s, several=len(self._info.placement.places) > 1)

    def _candidates(self) -> list[Candidate]:
        """Return one process with one thread, the baseline; with all threads; and what else fits into memory."""
        places = self._info.placement.places
        alone, most = replace(places[0], cores=()), sum(place.threads for place in places)
        candidates = [Candidate([replace(alone, threads=threads)]) for threads in dict.fromkeys((1, most))]
        training = self._steps.training
        size_bytes = sum(x.nbytes for x in (*training.inputs, *training.targets))
        free_bytes = free_memory() / 2
        for number, option in enumerate(self._info.candidates):
            if size_bytes * (len(option.places) - 1) <= free_bytes:
                candidates.append(Candidate(option.places, number))
        return candidates

    def _choose_fraction(self, baseline: Candidate) -> None:
        """Choose which fraction of a batch each trial step computes, and time the baseline."""
        self._fraction = min(1.0, max(1 / 16, 8 / self._steps.length.batch))
        self._time(baseline, 1)
        whole_s = self._time(baseline, 1) / self._fraction
        self._own.clear()
        self._fraction = 1.0 if whole_s <= STEP_S else max(self._fraction, STEP_S / whole_s)
        self._time(baseline, 1)
        baseline.seconds = self._time(baseline, 2)

    def _race(self, candidates: Sequence[Candidate]) -> None:
        """Time all candidates in turn, round after round, so that other load on the machine affects all alike."""
        for number in range(MAX_ROUNDS):
            if number >= ROUNDS and not _are_close(candidates):
                return
            for candidate in candidates:
                if time.perf_counter() - self._start_s > BUDGET_S:
                    return
                if not candidate.is_out:
                    fastest = min(each.seconds for each in candidates if each.seconds)
                    self._try(candidate, fastest, is_baseline=candidate is candidates[0])

    def _try(self, candidate: Candidate, fastest: float, *, is_baseline: bool) -> None:
        """Time a few steps of a candidate; it is out when it is far slower than the fastest."""
        try:
            if not candidate.seconds:
                candidate.seconds = self._time(candidate, 1)  # to warm up, and so an upper bound
            step_s = max(min(candidate.seconds, 2 * fastest), 1e-6)
            seconds = self._time(candidate, max(1, min(MAX_STEPS, int(SLICE_S / step_s))))
        except (PeerUnavailableError, BrokenPipeError):
            candidate.is_out, candidate.seconds = True, 0.0
            return
        candidate.seconds = min(candidate.seconds, seconds)
        candidate.is_out = not is_baseline and seconds > 3 * fastest

    def _time(self, candidate: Candidate, count: int) -> float:
        """Return the mean time of this many steps, in seconds."""
        size, place = len(candidate.places), candidate.places[0]
        keep_to(place.cores or self._affinity)
        torch.set_num_threads(candidate.threads)
        self._workers.ask(candidate.places, count, self._fraction)
        if size not in self._own:
            group = self._workers.group(0, size)
            self._own[size] = group, self._steps.step_for(group, self._fraction)
        group, step = self._own[size]
        group.all_reduce(torch.zeros(1))  # all are ready
        start_s = time.perf_counter()
        for _ in range(count):
            step()
        return (time.perf_counter() - start_s) / count


def _are_close(candidates: Sequence[Candidate]) -> bool:
    """Return whether the times of the two fastest candidates are too close to rank them."""
    seconds = sorted(candidate.seconds for candidate in candidates if candidate.seconds)
    return len(seconds) > 1 and seconds[1] < CLOSE * seconds[0]


def choose_fastest(
    candidates: Sequence[Candidate], num_steps: float, took_s: float, *, several: bool = False
) -> Choice:
    """Return the fastest candidate, if that pays over this many steps, and what the others would give.

    The first candidate is one process with one thread. `several`: more than one process was asked for. Nothing is
    chosen where there was no time to time all threads.
    """
    if any(len(candidate.places) == 1 and not candidate.seconds for candidate in candidates):
        return Choice()
    baseline, *_ = timed = [candidate for candidate in candidates if candidate.seconds]
    alone = [candidate for candidate in timed if len(candidate.places) == 1]
    parallel = [candidate for candidate in timed if len(candidate.places) > 1]
    best = min(alone, key=lambda candidate: candidate.seconds)
    if best.seconds * LEAST_GAIN > baseline.seconds:
        best = baseline
    if parallel:
        fastest = min(parallel, key=lambda candidate: candidate.seconds)
        # Both use the same cores where all threads are used already: whatever is measured as faster is more likely so.
        is_faster = fastest.seconds * (LEAST_GAIN if best is baseline else 1.0) < best.seconds
        if several or (is_faster and (best.seconds - fastest.seconds) * num_steps > START_S):
            best = fastest
    elif several:
        return Choice()
    gains = [
        f"{places_text(candidate.places)}: {baseline.seconds / candidate.seconds:.2f}"
        for candidate in timed
        if candidate not in (best, baseline)
    ]
    others = f" ({'; '.join(gains)})" if gains else ""
    gain = f"{baseline.seconds / best.seconds:.2f} times as fast as 1 thread"
    if best is baseline:
        gain = "nothing else is faster by enough"
    return Choice(
        best.choice,
        best.threads,
        f"Computing with {places_text(best.places)}: {gain}{others}, measured in {took_s:.1f} s.",
    )


@dataclass
class _TrialWorkers:
    """Processes forked from the first worker, which compute with it while candidates are timed."""

    steps: _Steps
    memories: dict[int, Memory] = field(default_factory=dict)
    pipes: list[int] = field(default_factory=list)
    pids: list[int] = field(default_factory=list)

    def fork(self, sizes: Sequence[int]) -> None:
        """Fork the trial workers for groups of these sizes, enough for the largest."""
        self.memories = {size: Memory.make(size) for size in sizes if size > 1}
        for rank in range(1, max(sizes)):
            reading, writing = os.pipe()
            self.pids.append(fork(partial(self._run_child, rank, os.getpid(), reading), keep=(reading,)))
            os.close(reading)
            self.pipes.append(writing)

    def ask(self, places: Sequence[WorkerPlace], count: int, fraction: float) -> None:
        """Ask the workers of these places to make `count` steps."""
        for rank in range(1, len(places)):
            place = places[rank]
            order = {"size": len(places), "cores": place.cores, "threads": place.threads}
            line = json.dumps({**order, "count": count, "fraction": fraction}) + "\n"
            os.write(self.pipes[rank - 1], line.encode())

    def group(self, rank: int, size: int) -> ProcessGroup:
        """Join the process group of this size. A collective."""
        return (
            SingleProcess() if size == 1 else SharedMemoryGroup(self.memories[size], rank, size, timeout_s=PATIENCE_S)
        )

    def end(self) -> None:
        """End all trial workers and free their memory."""
        for pipe in self.pipes:
            os.close(pipe)
        for pid in self.pids:
            end_process(pid)
            wait_for_process(pid)
        for memory in self.memories.values():
            memory.close()
        self.pipes, self.pids, self.memories = [], [], {}

    def _run_child(self, rank: int, parent: int, reading: int) -> int:
        """Run a trial worker until its pipe closes, and return its exit code."""
        end_with_parent(parent)
        with contextlib.suppress(PeerUnavailableError):
            self._obey(rank, reading)
        return 0

    def _obey(self, rank: int, reading: int) -> None:
        """Make the steps that the first worker asks for."""
        own: dict[int, tuple[ProcessGroup, Callable[[], Any]]] = {}
        for order in MessageReader(reading).messages():
            size = int(order["size"])
            keep_to(order["cores"])
            torch.set_num_threads(order["threads"])
            if size not in own:
                group = self.group(rank, size)
                own[size] = group, self.steps.step_for(group, order["fraction"])
            group, step = own[size]
            group.all_reduce(torch.zeros(1))
            for _ in range(order["count"]):
                step()
