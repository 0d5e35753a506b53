"""The part of a machine that an experiment may use, and places in it for runs side by side.

A run waits until its place is free, and those behind it wait as well: so a run over several devices gets them, however
many small ones follow it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from netwright.engine.placement.inventory import Device, DeviceInventory
from netwright.engine.project.environment import EnvironmentOptions

ACCELERATED = ("auto", "gpu", "multi-gpu")
ON_CORES = ("auto", "cpu", "multi-cpu")


@dataclass(frozen=True)
class Slot:
    """A place where one run executes: accelerators by their torch names, or so many threads for each of its workers.

    `cores` are those that it takes; 0 where other limits count. `place` is the number of a place on a cluster, 0 for
    none, and `host` the name of its host.
    """

    devices: tuple[str, ...] = ()
    threads: int = 0
    cores: int = 0
    place: int = 0
    host: str = ""


@dataclass(frozen=True)
class Share:
    """Devices and cores for the runs of an experiment.

    at_once: the most runs at the same time; 0: as many as have a place. gpus_per_run: accelerators of a run that does
    not say how many. runs_per_gpu: runs of one accelerator that share it.
    """

    devices: tuple[Device, ...]
    cores: int
    at_once: int = 0
    gpus_per_run: int = 1
    runs_per_gpu: int = 1

    @classmethod
    def of(
        cls,
        inventory: DeviceInventory,
        environment: EnvironmentOptions,
        *,
        gpus: int = 0,
        cores: int = 0,
        at_once: int = 0,
        gpus_per_run: int = 1,
        runs_per_gpu: int = 1,
    ) -> "Share":
        """Return the share of a machine for runs in this environment, of at most `gpus` accelerators and `cores` cores;
        0: all. Accelerators that the environment names are the only ones."""
        usable = inventory.usable if environment.target in ACCELERATED else ()
        selection = [device for device in usable if device.number in environment.devices]
        devices = tuple(selection if environment.target != "auto" and selection else usable)
        cores = min(cores or inventory.num_cores, inventory.num_cores)
        return cls(devices[: gpus or None], cores, at_once, gpus_per_run, runs_per_gpu)

    def slot(self, environment: EnvironmentOptions, slots: Sequence[Slot]) -> Slot | None:
        """Return a place for a run in its environment beside those in use; None where it has to wait."""
        if self.at_once and len(slots) >= self.at_once:
            return None
        if environment.target in ACCELERATED and self.devices:
            return self._on_devices(self._wanted(environment), slots)
        if environment.target in ON_CORES:
            return self._on_cores(environment, slots)
        return Slot() if self.at_once or not slots else None

    def _wanted(self, environment: EnvironmentOptions) -> int:
        """Return the number of accelerators of a run, at most all of the share."""
        if environment.target == "gpu":
            return 1
        count = self.gpus_per_run
        if environment.target == "multi-gpu" and count == 1:
            count = environment.num_workers or len(self.devices)
        return min(count, len(self.devices))

    def _on_devices(self, count: int, slots: Sequence[Slot]) -> Slot | None:
        """Return the least used accelerators: one that may be shared, or several that nothing else uses."""
        loads = Counter(name for slot in slots for name in slot.devices)
        exclusive_names = {name for slot in slots if len(slot.devices) > 1 for name in slot.devices}
        most = self.runs_per_gpu if count == 1 else 1
        names = [d.name for d in self.devices if loads[d.name] < most and d.name not in exclusive_names]
        selection = sorted(names, key=lambda name: loads[name])[:count]
        return Slot(tuple(selection)) if len(selection) == count else None

    def _on_cores(self, environment: EnvironmentOptions, slots: Sequence[Slot]) -> Slot | None:
        """Return a place on cores, which are counted where the number of runs is not given."""
        workers = max(1, environment.num_workers) if environment.target == "multi-cpu" else 1
        count = self.at_once or max(1, self.cores // workers)
        threads = environment.threads or max(1, self.cores // (count * workers))
        needed = min(workers * threads, self.cores)
        if not self.at_once and sum(slot.cores for slot in slots) + needed > self.cores:
            return None
        return Slot(threads=threads, cores=needed)


def in_slot(environment: EnvironmentOptions, slot: Slot) -> EnvironmentOptions:
    """Return the environment of a run in its place."""
    if slot.devices:
        numbers = [int(name.partition(":")[2] or 0) for name in slot.devices]
        if len(numbers) == 1:
            return environment.replace(target="gpu", devices=numbers)
        return environment.replace(target="multi-gpu", devices=numbers, num_workers=0)
    if not slot.threads:
        return environment
    target = "cpu" if environment.target == "auto" else environment.target
    return environment.replace(target=target, threads=slot.threads)


def slot_of(environment: EnvironmentOptions, inventory: DeviceInventory) -> Slot:
    """Return the place of a run that has begun in this environment, as `in_slot` has made it."""
    if environment.target in ("gpu", "multi-gpu"):
        return Slot(tuple(d.name for d in inventory.usable if d.number in environment.devices))
    workers = max(1, environment.num_workers) if environment.target == "multi-cpu" else 1
    return Slot(threads=environment.threads, cores=min(workers * max(1, environment.threads), inventory.num_cores))
