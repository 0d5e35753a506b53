"""Where the runs of an experiment execute: in shares of this machine, or in places that a Ray cluster gives."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import psutil

from engine.experiments.active_run import ActiveRun
from engine.experiments.definition import cluster_of, least_environment, share_of
from engine.hardware import devices
from engine.placement.shares import Slot, in_slot, slot_of
from engine.project.environment import EnvironmentOptions
from engine.project.project import Project
from engine.runs.experiments import ExperimentFolder

MEMORY_BYTES = 500 * 2**20
"""Free memory needed to start a further trial, where the experiment does not say."""


class Places(Protocol):
    """Places for runs side by side."""

    @property
    def descriptors(self) -> Sequence[int]:
        """Descriptors that tell of news, and that no run may hold."""

    @property
    def waits(self) -> str:
        """What the experiment waits for, in words; empty for nothing."""

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
    """Shares of this machine."""

    descriptors: Sequence[int] = ()
    waits = ""

    def __init__(self, project: Project) -> None:
        self._inventory = devices.probe()
        self.change(project)

    def change(self, project: Project) -> None:
        """Follow changed options of the experiment."""
        self._project, self._share = project, share_of(project, self._inventory)

    def find(self, environment: EnvironmentOptions | None, active: Mapping[str, ActiveRun]) -> Slot | None:
        """Return a place for a further run, also for want of memory None."""
        needed = self._project.experiment.memory_per_trial * 1e9 or MEMORY_BYTES
        if active and psutil.virtual_memory().available < needed:
            return None
        environment = environment or least_environment(self._project, self._share)
        return self._share.slot(environment, [run.slot for run in active.values()])

    def environment_in(self, environment: EnvironmentOptions, slot: Slot) -> EnvironmentOptions:
        """Return the environment of a run in its place."""
        return in_slot(environment, slot)

    def slot_of(self, environment: EnvironmentOptions) -> Slot:
        """Return the place of a run that an earlier runner has begun in this environment."""
        return slot_of(environment, self._inventory)

    def attend(self, active: Mapping[str, ActiveRun], num_left: int) -> None:
        """Do nothing: runs of this machine need nobody."""

    def close(self) -> None:
        """Do nothing."""


def places_of(project: Project, folder: ExperimentFolder) -> Places:
    """Return the places for the runs of an experiment. Raises `UserError`."""
    if (profile := cluster_of(project)) is None:
        return LocalPlaces(project)
    from engine.experiments.cluster_places import ClusterPlaces  # few experiments need it

    return ClusterPlaces(project, folder, profile)
