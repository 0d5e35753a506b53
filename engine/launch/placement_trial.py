"""Where a run on the CPU executes: one process or several, with how many threads, found by making real steps.

The first worker does it before anything else, with its own network and the first batch of its data. So that several
processes can be tried for what they really give, beside whatever else the machine does, it forks twins of itself that
share its data and sum with it as the workers of the run would. They are gone when it has chosen; then the other workers
are started, if there are to be any. All of it takes two seconds at most.
"""

import contextlib
import copy
import json
import os
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import psutil
import torch

from engine.data.batches import Batch, BatchLoader, ResidentDataset, SampleOrder
from engine.hardware.threads import LEAST_GAIN, keep_to
from engine.launch.channel import ReportPipe
from engine.launch.worker_process import die_with_parent
from engine.parallel.process_group import ProcessGroup, SingleProcess, WorkerSpec
from engine.parallel.shared_memory import Memory, PeerUnavailableError, SharedMemoryGroup
from engine.placement.candidates import LEAST_RUN_S, places_text
from engine.placement.choose import WorkerPlace
from engine.placement.inventory import can_share
from engine.project.check_strategies import pieces_of_batch
from engine.project.training import training_length
from engine.training.assembling import loss_of, network_for, part_for, unit_for
from engine.training.precision import Precision
from engine.training.setting import Setting
from engine.training.solvers import Schedule

BUDGET_S = 1.5
"""After so much time nothing new is tried."""
STEP_S = 0.15
"""Of batches that take longer a part is computed."""
SLICE_S = 0.05
MOST_STEPS = 40
ROUNDS = 6
MOST_ROUNDS = 16
CLOSE = 1.15
"""Where the second is not slower than this times the first, more rounds are made, for as long as there is time."""
START_S = 0.5
"""What it takes until further workers have started: they must be worth that, too."""
PATIENCE_S = 1.0
"""A twin that gives no answer for so long has no core to compute with."""


@dataclass
class Tried:
    """One way to compute: the places of its workers, and the seconds of a step at best."""

    places: Sequence[WorkerPlace]
    choice: int = -1
    seconds: float = 0.0
    is_out: bool = False

    @property
    def threads(self) -> int:
        """Of each worker."""
        return self.places[0].threads


@dataclass(frozen=True)
class Choice:
    """What was chosen, and why in words."""

    choice: int = -1
    threads: int = 0
    note: str = ""


def choose_place(setting: Setting, spec: WorkerSpec, reports: ReportPipe) -> tuple[Setting, list[str]]:
    """The setting with what was chosen in it, which the coordinator is told, and what is to be said of it."""
    if not setting.info.is_undecided:
        return setting, []
    chosen = Choice()
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    is_held = not setting.info.loading.is_streamed  # twins share what lies in memory
    if can_share() and spec.checkpoint < 0 and is_held:
        try:
            chosen = _Probe(setting, spec).choose()
        except Exception as error:  # what is really wrong will show in training
            traceback.print_exc()
            chosen = Choice(note=f"The acceleration placement-trials is not used: {type(error).__name__}: {error}.")
    reports.send({"chosen": {"choice": chosen.choice, "threads": chosen.threads}})
    info = setting.info.decided(chosen.choice, chosen.threads)
    place = info.placement.places[0]
    keep_to(place.cores or sorted(before))
    torch.set_num_threads(place.threads)
    return replace(setting, info=info), [chosen.note] if chosen.note else []


class _Steps:
    """Steps of one of so many workers, made anew for each number of them."""

    def __init__(self, setting: Setting, spec: WorkerSpec) -> None:
        options = setting.project.training
        self._setting, self._seat = setting, spec
        self._precision = Precision(options.fitting_precision, setting.device, SingleProcess())
        self._network = self._precision.network(network_for(setting))
        self._precision.begin()
        self.part = part_for(setting, self._precision, "training")
        assert self.part is not None  # `prepare` refuses a project whose training split is empty
        self.length = training_length(options, len(self.part))

    def of(self, group: ProcessGroup, share: float) -> Callable[[], Any]:
        """A step of the first batch, or of this share of it. A collective."""
        setting, options, part = self._setting, self._setting.project.training, self.part
        assert part is not None
        network = copy.deepcopy(self._network)
        order = SampleOrder(len(part), self.length.batch, options.shuffle, options.seed)
        schedule = Schedule(options, self.length.steps_per_epoch, self.length.total_steps, 1.0)
        pieces = pieces_of_batch(setting.project.environment, options.gradient_accumulation, group.size)
        batches = BatchLoader(part, order, group, cut=options.sequence_length == "shortest", micro_batches=pieces)
        loss = loss_of(setting, network, part.targets)
        unit = unit_for(setting, self._seat, network, self._precision, schedule, loss, [], group, batches, [])
        batch = _part_of(next(iter(batches.of_epoch(1))), share)
        return lambda: unit.train(batch, 0)


def _part_of(batch: Batch, share: float) -> Batch:
    if share >= 1:
        return batch
    count = max(1, round(batch.count * share))
    inputs, targets = (tuple(x[:count] for x in tensors) for tensors in (batch.inputs, batch.targets))
    return Batch(inputs, targets, count, max(1, round(batch.total * share)))


class _Probe:
    """The first worker's part."""

    def __init__(self, setting: Setting, spec: WorkerSpec) -> None:
        self._info = setting.info
        self._steps = _Steps(setting, spec)
        self._began = time.perf_counter()
        self._twins = _Twins(self._steps, spec)
        self._own: dict[int, tuple[ProcessGroup, Callable[[], Any]]] = {}
        self._share = 1.0
        self._affinity = sorted(os.sched_getaffinity(0))

    def choose(self) -> Choice:
        """Try, unless the run is too short for that."""
        ways = self._ways()
        try:
            self._twins.fork([len(way.places) for way in ways])
            self._find_share(ways[0])
            if ways[0].seconds * self._steps.length.total_steps / self._share < LEAST_RUN_S:
                return Choice()
            self._race(ways)
        finally:
            self._twins.end()
        steps = self._steps.length.total_steps / self._share
        return verdict(ways, steps, time.perf_counter() - self._began, several=len(self._info.placement.places) > 1)

    def _ways(self) -> list[Tried]:
        """One process with one thread, the yardstick; with all threads; and the candidates that memory is enough
        for."""
        given = self._info.placement.places
        alone, most = replace(given[0], cores=()), sum(place.threads for place in given)
        ways = [Tried([replace(alone, threads=threads)]) for threads in dict.fromkeys((1, most))]
        part = self._steps.part
        assert isinstance(part, ResidentDataset)
        size = sum(x.nbytes for x in (*part.inputs, *part.targets))
        room = psutil.virtual_memory().available / 2
        for number, candidate in enumerate(self._info.candidates):
            if size * (len(candidate.places) - 1) <= room:
                ways.append(Tried(candidate.places, number))
        return ways

    def _find_share(self, way: Tried) -> None:
        """How much of a batch is computed in each step that is tried; also what the yardstick takes."""
        self._share = min(1.0, max(1 / 16, 8 / self._steps.length.batch))
        self._time(way, 1)
        most = self._time(way, 1) / self._share
        self._own.clear()
        self._share = 1.0 if most <= STEP_S else max(self._share, STEP_S / most)
        self._time(way, 1)
        way.seconds = self._time(way, 2)

    def _race(self, ways: Sequence[Tried]) -> None:
        """All of them in turn, again and again, so that what else the machine does hits all alike."""
        for number in range(MOST_ROUNDS):
            if number >= ROUNDS and not _are_close(ways):
                return
            for way in ways:
                if time.perf_counter() - self._began > BUDGET_S:
                    return
                if not way.is_out:
                    self._try(way, min(each.seconds for each in ways if each.seconds), is_yardstick=way is ways[0])

    def _try(self, way: Tried, fastest: float, *, is_yardstick: bool) -> None:
        """A few steps of one of them; it is out when it is far slower than the fastest."""
        try:
            if not way.seconds:
                way.seconds = self._time(way, 1)  # to warm up, and so an upper bound
            found = self._time(way, _count(min(way.seconds, 2 * fastest)))
        except (PeerUnavailableError, BrokenPipeError):
            way.is_out, way.seconds = True, 0.0
            return
        way.seconds = min(way.seconds, found)
        way.is_out = not is_yardstick and found > 3 * fastest

    def _time(self, way: Tried, count: int) -> float:
        """Seconds of one of so many steps."""
        size, place = len(way.places), way.places[0]
        keep_to(place.cores or self._affinity)
        torch.set_num_threads(way.threads)
        self._twins.ask(way.places, count, self._share)
        if size not in self._own:
            group = self._twins.group(0, size)
            self._own[size] = group, self._steps.of(group, self._share)
        group, step = self._own[size]
        group.all_reduce(torch.zeros(1))  # all are ready
        began = time.perf_counter()
        for _ in range(count):
            step()
        return (time.perf_counter() - began) / count


def _are_close(ways: Sequence[Tried]) -> bool:
    """Whether the fastest two may be the other way round."""
    seconds = sorted(way.seconds for way in ways if way.seconds)
    return len(seconds) > 1 and seconds[1] < CLOSE * seconds[0]


def verdict(ways: Sequence[Tried], steps: float, took_s: float, *, several: bool = False) -> Choice:
    """The fastest way, if it is worth it for so many steps, and what the others would be. The first one is that of one
    process with one thread. `several`: more than one process was asked for. Where there was no time to try all threads,
    nothing is chosen."""
    if any(len(way.places) == 1 and not way.seconds for way in ways):
        return Choice()
    one, *_ = tried = [way for way in ways if way.seconds]
    alone = [way for way in tried if len(way.places) == 1]
    concatenated = [way for way in tried if len(way.places) > 1]
    best = min(alone, key=lambda way: way.seconds)
    if best.seconds * LEAST_GAIN > one.seconds:
        best = one
    if concatenated:
        fastest = min(concatenated, key=lambda way: way.seconds)
        # Against all threads it is one use of the same cores or another: what is measured as faster is more likely so.
        is_faster = fastest.seconds * (LEAST_GAIN if best is one else 1.0) < best.seconds
        if several or (is_faster and (best.seconds - fastest.seconds) * steps > START_S):
            best = fastest
    elif several:
        return Choice()
    others = [f"{places_text(way.places)}: {one.seconds / way.seconds:.2f}" for way in tried if way not in (best, one)]
    beside = f" ({'; '.join(others)})" if others else ""
    how = f"{one.seconds / best.seconds:.2f} times as fast as 1 thread"
    if best is one:
        how = "nothing else is faster by enough"
    return Choice(
        best.choice,
        best.threads,
        f"Computing with {places_text(best.places)}: {how}{beside}, measured in {took_s:.1f} s.",
    )


def _count(seconds: float) -> int:
    return max(1, min(MOST_STEPS, int(SLICE_S / max(seconds, 1e-6))))


@dataclass
class _Twins:
    """Processes forked from the first worker, which compute with it for as long as it tries."""

    steps: _Steps
    spec: WorkerSpec
    memories: dict[int, Memory] = field(default_factory=dict)
    pipes: list[int] = field(default_factory=list)
    pids: list[int] = field(default_factory=list)

    def fork(self, sizes: Sequence[int]) -> None:
        """So many that the largest number of workers can be tried."""
        self.memories = {size: Memory.make(size) for size in sizes if size > 1}
        for rank in range(1, max(sizes)):
            reading, writing = os.pipe()
            parent, pid = os.getpid(), os.fork()
            if pid == 0:
                self._be_twin(rank, parent, reading, [*self.pipes, writing])
            os.close(reading)
            self.pipes.append(writing)
            self.pids.append(pid)

    def ask(self, places: Sequence[WorkerPlace], count: int, share: float) -> None:
        """Let those who belong to these places make so many steps."""
        for rank in range(1, len(places)):
            place = places[rank]
            line = {"size": len(places), "cores": place.cores, "threads": place.threads}
            os.write(self.pipes[rank - 1], (json.dumps({**line, "count": count, "share": share}) + "\n").encode())

    def group(self, rank: int, size: int) -> ProcessGroup:
        """The worker of this number among so many. A collective."""
        return (
            SingleProcess() if size == 1 else SharedMemoryGroup(self.memories[size], rank, size, timeout_s=PATIENCE_S)
        )

    def end(self) -> None:
        """End them."""
        for pipe in self.pipes:
            os.close(pipe)
        for pid in self.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for memory in self.memories.values():
            memory.close()
        self.pipes, self.pids, self.memories = [], [], {}

    def _be_twin(self, rank: int, parent: int, reading: int, private: Sequence[int]) -> None:
        """The life of a twin. Nothing of it may reach the stack below."""
        try:
            die_with_parent(parent)
            for descriptor in (*private, self.spec.reports, self.spec.requests):
                os.close(descriptor)
            self._obey(rank, reading)
        except PeerUnavailableError:
            pass
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)

    def _obey(self, rank: int, reading: int) -> None:
        own: dict[int, tuple[ProcessGroup, Callable[[], Any]]] = {}
        with os.fdopen(reading, encoding="utf-8") as orders:
            for line in orders:
                order = json.loads(line)
                size = int(order["size"])
                keep_to(order["cores"])
                torch.set_num_threads(order["threads"])
                if size not in own:
                    group = self.group(rank, size)
                    own[size] = group, self.steps.of(group, order["share"])
                group, step = own[size]
                group.all_reduce(torch.zeros(1))
                for _ in range(order["count"]):
                    step()
