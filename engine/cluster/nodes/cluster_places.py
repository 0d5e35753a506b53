"""Places of an experiment in a Ray cluster, as its runner sees them.

The coordinators of the runs stay on this machine, forked from the runner. Each tells the runner which agent it needs
(`Offer`), and the runner has it started in the place of the run. A place that is lost takes its coordinator with it,
and the run goes on in another one, from its last checkpoint; without a runner the coordinators end too.
"""

import json
import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from netwright.engine.cluster.hosts import python_of
from netwright.engine.cluster.nodes.offer import Offer
from netwright.engine.cluster.nodes.placers import Placer
from netwright.engine.cluster.profile_file import find_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_address import ray_environment
from netwright.engine.core.errors import FieldError, RunError, UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.platform import end_process
from netwright.engine.core.process import MessageProcess, MessageReader, module_command
from netwright.engine.placement.shares import Slot
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.moved_paths import moved_paths
from netwright.engine.project.project import Project
from netwright.engine.runs.experiments import ExperimentFolder

CONNECT_AGAIN_S = 60.0
"""Seconds for which a lost cluster is tried again, from its loss, before the experiment ends."""
PAUSE_S = 2.0
"""Seconds between two tries."""
CLOSE_S = 10.0
_SAID = 600


def start_client(profile: ClusterProfile) -> MessageProcess:
    """Start the process that is connected to Ray: Ray ends a process whose cluster it loses. Raises `UserError`."""
    import_extra("ray", "cluster", "Ray clusters")
    command = module_command("netwright.engine.cluster.nodes.ray_places")
    return MessageProcess(command, environment=ray_environment(profile))


def trial_cluster(project: Project) -> ClusterProfile | None:
    """Return the Ray cluster that gives a place to each run of an experiment on clusters; None for runs with several
    workers, each of which asks the cluster for them itself.

    Raises `UserError` where an experiment cannot be on its cluster.
    """
    options, environment = project.experiment, project.environment
    profile = find_profile(environment.cluster)
    if profile.kind != "ray":
        raise UserError(
            f"Trials of an experiment are placed by Ray, and the cluster profile {profile.name} is one of "
            f"{profile.kind}.",
            hint="Choose a profile of Ray, or train the trials on this machine.",
            code="environment",
        )
    varied = [parameter.path for parameter in options.parameters if parameter.path.startswith("environment.")]
    if varied:
        raise FieldError(
            "experiment.parameters", f"{varied[0]} cannot vary on a cluster: its trials have equal places."
        )
    if options.gpus_per_trial > 1:
        raise FieldError(
            "experiment.gpus_per_trial",
            f"on a cluster the workers of a trial are set by environment.num_workers={options.gpus_per_trial}.",
        )
    if options.trials_per_gpu > 1 and profile.gpus_per_worker > 1:
        raise FieldError(
            "experiment.trials_per_gpu",
            f"trials share a GPU, and a worker of the cluster profile {profile.name} has {profile.gpus_per_worker}.",
            hint=f"netwright-engine cluster edit {profile.name} --set gpus_per_worker=1.",
        )
    return profile if environment.num_workers < 2 else None


class PlacedRun(Protocol):
    """A run of an experiment, as its places know it."""

    @property
    def slot(self) -> Slot:
        """Return its place."""

    def asked(self) -> list[Any]:
        """Return the requests of its coordinator since the last call."""

    def tell(self, message: Mapping[str, Any]) -> None:
        """Tell its coordinator something about its place."""

    def displace(self) -> None:
        """End its coordinator, whose place is lost."""


class ClusterPlaces:
    """Places that a Ray cluster gives, by a process of its own that speaks with Ray."""

    def __init__(self, project: Project, folder: ExperimentFolder, profile: ClusterProfile) -> None:
        self._folder, self._profile = folder, profile
        self._hosts: dict[int, str] = {}
        """The hosts of the places that can be used, by number."""
        self._waits = ""
        self._asked: dict[str, Any] = {}
        self._lost_at, self._next_try = 0.0, 0.0
        self.change(project)
        self._connect()

    @property
    def descriptors(self) -> Sequence[int]:
        """The pipes of the process that speaks with Ray."""
        return self._client.descriptors

    @property
    def waits(self) -> str:
        """Reason for waiting, in words."""
        return self._waits

    def change(self, project: Project) -> None:
        """Follow changed options of the experiment."""
        self._project = project

    def find(self, environment: EnvironmentOptions | None, active: Mapping[str, PlacedRun]) -> Slot | None:
        """Return a place that no run is in."""
        places = {run.slot.place for run in active.values()}
        free = next((number for number in self._hosts if number not in places), None)
        return Slot(place=free, host=self._hosts[free]) if free is not None else None

    def environment_in(self, environment: EnvironmentOptions, slot: Slot) -> EnvironmentOptions:
        """Return the environment of a run in its place: one worker on the cluster."""
        return environment.replace(cluster=self._profile.name, num_workers=1)

    def slot_of(self, environment: EnvironmentOptions) -> Slot:
        """Return no place: a run of an earlier runner is about to end."""
        return Slot()

    def attend(self, active: Mapping[str, PlacedRun], num_left: int) -> None:
        """Pass on what the runs and the cluster say, and ask for as many places as are left to fill. Raises
        `RunError`."""
        by_place = {run.slot.place: run for run in active.values() if run.slot.place}
        for message in self._client.read() if self._is_connected else ():
            self._take(message, by_place)
        if not (self._is_connected and self._client.is_open):
            self._connect_again(by_place)
        for place, run in by_place.items():
            for offer in run.asked():
                self._client.say(place=place, offer=json.dumps(offer) + "\n")
        options = self._project.experiment
        demand = {
            "most": num_left,
            "at_once": options.at_once,
            "limits": {"CPU": options.cores, "GPU": options.gpus},
            "busy": sorted(by_place),
        }
        if demand != self._asked and self._is_connected:
            self._asked = demand
            self._client.say(**demand)

    def close(self) -> None:
        """Give all places back."""
        self._is_connected = False
        self._client.end(CLOSE_S)

    def _connect(self) -> None:
        self._client = start_client(self._profile)
        self._is_connected, self._asked = True, {}
        self._waits = f"connects to the cluster {self._profile.name}"
        on_hosts = {
            name: self._profile.remote_path(path) or str(path)
            for name, path in (
                ("experiment", self._folder.path.absolute()),
                ("base", self._folder.read_info().base or self._folder.path.absolute()),
            )
        }
        self._client.say(
            address=self._profile.address,
            python=list(python_of(self._profile)),
            needs=self._needs(),
            experiment={**on_hosts, "paths": moved_paths(self._project, self._profile.remote_path)},
        )

    def _needs(self) -> dict[str, float]:
        """Return the resources of a place, as Ray names them."""
        profile, options = self._profile, self._project.experiment
        gpus = profile.gpus_per_worker / options.trials_per_gpu if profile.gpus_per_worker else 0.0
        needs = {"CPU": profile.cores_per_worker, "GPU": gpus, "memory": round(profile.memory * 1e9)}
        return {name: amount for name, amount in needs.items() if amount}

    def _take(self, message: Mapping[str, Any], by_place: Mapping[int, PlacedRun]) -> None:
        """Take in what the process says. Raises `RunError` where no trial can be placed."""
        self._waits = message.get("waits", self._waits)
        if "failed" in message or ("refused" in message and not self._lost_at):
            raise RunError(message.get("failed") or message["refused"])
        place = int(message.get("place", 0))
        if "host" in message:
            self._hosts[place], self._lost_at = message["host"], 0.0
        elif "label" in message and place in by_place:
            by_place[place].tell(message)
        elif place and "lost" in message:
            self._lose(place, by_place)
        else:  # the head is lost, or does not answer yet
            self._waits = message.get("lost") or message.get("refused") or self._waits

    def _lose(self, place: int, by_place: Mapping[int, PlacedRun]) -> None:
        """End the coordinator of the run in a place that is lost: the run is tried again in another one."""
        self._hosts.pop(place, None)
        if place in by_place:
            by_place[place].displace()

    def _connect_again(self, by_place: Mapping[int, PlacedRun]) -> None:
        """Connect again where Ray was lost. Raises `RunError` after a time."""
        now = time.monotonic()
        if not self._is_connected:
            if now >= self._next_try:
                self._connect()
            return
        words = self._said()
        self.close()
        for place in list(self._hosts):
            self._lose(place, by_place)
        self._lost_at, self._next_try = self._lost_at or now, now + PAUSE_S
        if now - self._lost_at > CONNECT_AGAIN_S:
            raise RunError(
                f"The cluster {self._profile.name} was lost and does not come back{f': {words}' if words else '.'}",
                hint=f"Once it is there again: netwright-engine experiment run {self._folder.path}",
            )

    def _said(self) -> str:
        """Return the reason why the process has ended."""
        return self._waits or self._client.last_words(_SAID)


class PlacePlacer(Placer):
    """The placer of a coordinator whose place its runner has."""

    is_of_profile = False

    def __init__(self, reading: int, writing: int) -> None:
        """`reading`, `writing`: pipes from and to the runner."""
        self._answers, self._writing = MessageReader(reading), writing
        self._count, self._label = 0, ""

    def place(self, workers: int, offer: Offer, lost: Collection[str] = ()) -> None:
        """Ask the runner for an agent in the place of this run."""
        self._count += 1
        self._label = f"{os.getpid()}.{self._count}"  # the place may still tell of the run before this one
        try:
            os.write(self._writing, replace(offer, label=self._label, slots=1).write().encode())
        except BrokenPipeError:
            self._end()

    def poll(self, connected: Collection[str]) -> str:
        """Return nothing to wait for. Raises `RunError` where the agent has ended before it connected."""
        for answer in self._answers.read():
            if answer["label"] == self._label and self._label not in connected:
                words = f": {answer['said']}" if answer["said"] else "."
                raise RunError(f"The agent in its place on Ray ended with code {answer['code']}{words}")
        if not self._answers.is_open:
            self._end()
        return ""

    def _end(self) -> None:
        """End this coordinator, whose runner is gone: the next one goes on with the run."""
        end_process(os.getpid())

    def close(self) -> None:
        """Do nothing: the place is the runner's."""
