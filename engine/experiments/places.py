"""Where the runs of an experiment execute: in shares of this machine, or in places that a Ray cluster gives."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import psutil

from netwright.engine.experiments.active_run import ActiveRun
from netwright.engine.experiments.definition import least_environment, share_of
from netwright.engine.hardware import devices
from netwright.engine.placement.cluster_part import cluster_function
from netwright.engine.placement.shares import Slot, in_slot, slot_of
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.project import Project
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.machine_shares import EXPERIMENT, Holding, MachineShare, longest_waiting

MEMORY_BYTES = 500 * 2**20
"""Free memory needed to start a further trial, where the experiment does not say."""


class Places(Protocol):
    """Places for runs side by side."""

    @property
    def descriptors(self) -> Sequence[int]:
        """Descriptors that tell of news."""

    @property
    def waits(self) -> str:
        """Reason why the experiment waits, in words; empty where it does not."""

    def change(self, project: Project) -> None:
        """Follow changed options of the experiment."""

    def find(self, environment: EnvironmentOptions | None, active: Mapping[str, ActiveRun]) -> Slot | None:
        """Return a place for a further run in its environment, or, for None, for any run of the next trial; None where
        it has to wait."""

    def environment_in(self, environment: EnvironmentOptions, slot: Slot) -> EnvironmentOptions:
        """Return the environment of a run in its place."""

    def slot_of(self, environment: EnvironmentOptions) -> Slot:
        """Return the place of a run that an earlier runner has begun in this environment."""

    def attend(self, active: Mapping[str, ActiveRun], num_left: int) -> None:
        """Do what is to be done for the runs under way. `num_left`: the most runs until the end, with those. Raises
        `RunError` where no run can go on."""

    def close(self) -> None:
        """Give the places back."""


class LocalPlaces:
    """Shares of this machine, beside what other experiments and the queue take of it."""

    descriptors: Sequence[int] = ()

    def __init__(self, project: Project, title: str = "") -> None:
        self._inventory = devices.probe()
        self._taken = MachineShare(EXPERIMENT, title).__enter__()  # until `close`
        self.waits = ""
        self.change(project)

    def change(self, project: Project) -> None:
        """Follow changed options of the experiment."""
        self._project, self._share = project, share_of(project, self._inventory)

    def find(self, environment: EnvironmentOptions | None, active: Mapping[str, ActiveRun]) -> Slot | None:
        """Return a place for a further run; None where there is none, or where memory is short."""
        needed = self._project.experiment.memory_per_trial * 1e9 or MEMORY_BYTES
        if active and psutil.virtual_memory().available < needed:
            return None
        environment = environment or least_environment(self._project, self._share)
        slots = [run.slot for run in active.values()]
        slot = self._share.slot(environment, slots)
        if slot is None:
            return None
        others = self._taken.others()
        free = self._beside(others, environment, slots, slot) if others else slot
        if free is not None:
            self._taken.write(needs_devices=0, needs_cores=0, since=0.0)
            self.waits = ""
            return free
        since = self._taken.holding.since or time.time()
        self._taken.write(needs_devices=len(slot.devices), needs_cores=slot.cores, since=since)
        self.waits = f"room beside the {'; the '.join(other.text for other in others)}"
        return None

    def _beside(
        self, others: Sequence[Holding], environment: EnvironmentOptions, slots: Sequence[Slot], slot: Slot
    ) -> Slot | None:
        """Return a place like `slot` that others do not take, and that nobody has waited for longer."""
        first = longest_waiting(others, self._taken.holding.since)
        if slot.devices:
            foreign = {name for other in others for name in other.devices}
            rest = tuple(device for device in self._share.devices if device.name not in foreign)
            free_slot = replace(self._share, devices=rest).slot(environment, slots)
            if free_slot is None or len(free_slot.devices) != len(slot.devices):
                return None
            devices = foreign.union(*(other_slot.devices for other_slot in (*slots, free_slot)))
            num_free = len(self._inventory.usable) - len(devices)
            return free_slot if first is None or num_free >= first.needs_devices else None
        cores = sum(other.cores for other in others) + (first.needs_cores if first is not None else 0)
        needed = sum(other_slot.cores for other_slot in slots) + max(1, slot.cores)
        return slot if not cores or needed + cores <= self._inventory.num_cores else None

    def environment_in(self, environment: EnvironmentOptions, slot: Slot) -> EnvironmentOptions:
        """Return the environment of a run in its place."""
        holding = self._taken.holding
        self._taken.write(devices=(*holding.devices, *slot.devices), cores=holding.cores + slot.cores)
        return in_slot(environment, slot)

    def slot_of(self, environment: EnvironmentOptions) -> Slot:
        """Return the place of a run that an earlier runner has begun in this environment."""
        return slot_of(environment, self._inventory)

    def attend(self, active: Mapping[str, ActiveRun], num_left: int) -> None:
        """Tell the others on this machine what the runs take; a runner that has nothing to start waits for nothing."""
        slots = [run.slot for run in active.values()]
        names = dict.fromkeys(name for slot in slots for name in slot.devices)
        changes: dict[str, object] = {"devices": tuple(names), "cores": sum(slot.cores for slot in slots)}
        if num_left <= len(active):
            changes |= {"needs_devices": 0, "needs_cores": 0, "since": 0.0}
            self.waits = ""
        self._taken.write(**changes)

    def close(self) -> None:
        """Take nothing of the machine any more."""
        self._taken.close()


def places_of(project: Project, folder: ExperimentFolder) -> Places:
    """Return the places for the runs of an experiment. Raises `UserError`."""
    is_parallel = project.environment.target == "parallel"
    if is_parallel and (profile := cluster_function("trial_cluster")(project)) is not None:
        places: Places = cluster_function("trial_places")(project, folder, profile)
        return places
    return LocalPlaces(project, folder.read_info().name)
