"""Placers: what starts the agents of a run on the hosts of a cluster. What is told to an agent is in `Offer`."""

import contextlib
import os
import shlex
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import IO

from netwright.engine.cluster.bundle import missing_program_hint, python_words
from netwright.engine.cluster.hosts import python_of, ssh_words
from netwright.engine.cluster.nodes.interfaces import address_towards
from netwright.engine.cluster.nodes.offer import Offer
from netwright.engine.cluster.profile_file import profile_of
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_address import address_of_head, ray_environment, refuse_silent
from netwright.engine.core.errors import RunError, UnavailableError, UserError, listed
from netwright.engine.core.extras import import_extra
from netwright.engine.core.process import MessageProcess, module_command, module_words
from netwright.engine.project.environment import EnvironmentOptions

AGENT = "netwright.engine.cluster.nodes.node_agent"
CLOSE_S = 5.0
SLURM_S = 30.0
MOST_CHARACTERS = 600
NO_PROGRAM = 127
"""Exit code of a shell, and of ssh and srun, where there is no such program."""


class AgentLostError(RunError):
    """Agents were lost before they connected, and to ask for them again may help."""


class Placer(ABC):
    """Starts agents, and says why it cannot."""

    is_of_profile = True
    """Whether any process could make another one, from the cluster profile."""

    @abstractmethod
    def place(self, workers: int, offer: Offer, lost: Collection[str] = ()) -> None:
        """Begin to start agents for so many more workers; they connect to the coordinator by themselves. `lost`: labels
        of agents that cannot be reached any more."""

    @abstractmethod
    def poll(self, connected: Collection[str]) -> str:
        """Return the reason for waiting; empty for none. `connected`: labels of the agents that have connected.

        Raises `RunError` where another one has ended, or none can be started; `AgentLostError` where to ask again may
        help.
        """

    def grown(self) -> Mapping[str, int]:
        """Return by label the workers for which there is room with an agent beyond those that it was started for."""
        return {}

    def give_up(self) -> None:  # noqa: B027  # most start agents at once
        """Give up what was asked for and is not there yet."""

    def is_there(self) -> bool:
        """Return whether what starts agents can be reached, and so decides when they end."""
        return True

    @abstractmethod
    def close(self) -> None:
        """End what it has started."""


def placer_of(profile: ClusterProfile) -> Placer:
    """Return the placer of agents on the cluster of a profile. Raises `UserError` where its library is missing."""
    if profile.kind == "ray":
        if find_spec("ray") is None:  # a process of its own imports it
            import_extra("ray", "cluster", "Ray clusters")
        return RayPlacer(profile)
    return CommandPlacer(profile)


@contextlib.contextmanager
def begun_placer(environment: EnvironmentOptions) -> Iterator[Placer | None]:
    """Connect to the Ray cluster of a run while the run is still being prepared; end that with this context.

    To import ray and to connect takes as long as to check the project and its data. Gives None for other clusters,
    which have nothing to begin, and where the cluster cannot be used: the coordinator says why, after what is wrong in
    the project.
    """
    placer: Placer | None = None
    with contextlib.suppress(UserError):
        profile = profile_of(environment)
        placer = placer_of(profile) if profile.kind == "ray" else None
    try:
        yield placer
    finally:
        if placer is not None:
            placer.close()


class CommandPlacer(Placer):
    """Starts agents by commands, one per host: ssh, or srun for the nodes of the job of Slurm that this process is in.
    Each ends with the command that started it."""

    def __init__(self, profile: ClusterProfile) -> None:
        self._profile = profile
        self._started: list[tuple[str, str, subprocess.Popen[bytes], IO[bytes]]] = []
        self._count = 0

    def place(self, workers: int, offer: Offer, lost: Collection[str] = ()) -> None:
        """Start agents on the hosts that have none. They share the workers evenly.

        Raises `RunError` where Slurm does not name the nodes of its job.
        """
        hosts = nodes_of_job() if self._profile.kind == "slurm" else self._profile.hosts
        for started in [each for each in self._started if each[1] in lost]:
            self._end(*started[2:])  # ssh may not have noticed yet that its host is gone
            self._started.remove(started)
        busy_hosts = {host for host, _, process, _ in self._started if process.poll() is None}
        free = [host for host in hosts if host not in busy_hosts]
        for number, host in enumerate(free):
            if not (slots := workers // len(free) + (number < workers % len(free))):
                continue
            command = self._command(host, slots)
            self._count += 1
            label = f"{self._count}"
            words = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the command
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=words, stderr=words)
            assert process.stdin is not None
            with contextlib.suppress(OSError):  # it has ended, and `poll` says why
                process.stdin.write(replace(offer, slots=slots, label=label).write().encode())
                process.stdin.flush()
            self._started.append((host, label, process, words))

    def _command(self, host: str, slots: int) -> list[str]:
        """Return the command line that starts the agent of a host."""
        profile, agent = self._profile, module_words(AGENT)
        if profile.kind == "slurm":
            python = map(os.path.expanduser, python_of(profile))
            # It may overlap, so that an agent can take the place of one whose step has not ended yet.
            step = ["--overlap", f"--nodelist={host}", "--nodes=1", "--ntasks=1"]
            return ["srun", *step, f"--cpus-per-task={slots * profile.cores_per_worker}", *python, *agent]
        return [*ssh_words(host), f"{python_words(profile)} {shlex.join(agent)}"]

    def poll(self, connected: Collection[str]) -> str:
        """Return the hosts whose agents have not connected yet. Raises `RunError` where one has ended before that."""
        for started in [each for each in self._started if each[2].poll() is not None]:
            self._started.remove(started)
            host, label, process, words = started
            words.seek(0)
            message = words.read().decode(errors="replace").strip()[-MOST_CHARACTERS:]
            words.close()
            _close_input(process)
            if label not in connected:
                is_missing = process.returncode == NO_PROGRAM
                raise RunError(
                    f"{host}: the agent ended with code {process.returncode}{f': {message}' if message else '.'}",
                    hint=missing_program_hint(self._profile) if is_missing else "",
                )
        coming = [host for host, label, _, _ in self._started if label not in connected]
        return f"no agent has connected from {listed(coming)} yet" if coming else ""

    def close(self) -> None:
        """Close the agents' input, which ends them, and wait for that."""
        for _, _, process, _ in self._started:
            _close_input(process)
        for _, _, process, words in self._started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(CLOSE_S)
            self._end(process, words)
        self._started = []

    @staticmethod
    def _end(process: "subprocess.Popen[bytes]", words: IO[bytes]) -> None:
        """End a command that has nothing to say any more."""
        process.kill()
        process.wait()
        _close_input(process)
        words.close()


def _close_input(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin is not None:
        with contextlib.suppress(OSError):  # what it has not read is lost
            process.stdin.close()


def nodes_of_job() -> tuple[str, ...]:
    """Return the names of the nodes of the job of Slurm that this process is in. Raises `RunError`."""
    return tuple(_scontrol("hostnames", os.environ.get("SLURM_JOB_NODELIST", "")).split())


def address_in_job() -> str:
    """Return this machine's address on the way to the other nodes of the job of Slurm. Raises `UserError`."""
    description = _scontrol("-o", "node", nodes_of_job()[-1])
    address = next(
        (word.partition("=")[2] for word in description.split() if word.startswith("NodeAddr=")), "localhost"
    )
    return address_towards(address)


def _scontrol(*words: str) -> str:
    """Return the output of `scontrol show`. Raises `RunError`."""
    try:
        process = subprocess.run(["scontrol", "show", *words], capture_output=True, text=True, timeout=SLURM_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"Slurm does not say which nodes the job has: {error}.") from error
    if process.returncode:
        raise RunError(f"Slurm does not say which nodes the job has: {process.stderr.strip()[-MOST_CHARACTERS:]}")
    return process.stdout


def address_by_ssh(host: str) -> str:
    """Return this machine's address on the way to a host of ssh, which its settings may call otherwise. Raises
    `UserError`."""
    program, *words = ssh_words(host)
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        process = subprocess.run([program, "-G", *words], capture_output=True, text=True, timeout=CLOSE_S)
        for line in process.stdout.splitlines():
            if line.startswith("hostname "):
                return address_towards(line.partition(" ")[2])
    return address_towards(host.rpartition("@")[2].partition(":")[0])


class RayPlacer(Placer):
    """Starts agents as tasks of a Ray cluster, by a process of its own: Ray ends a process whose cluster it loses.

    The agents outlive the processes of Ray that have started them. Where Ray is there, it decides, and the coordinator
    ends such an agent; where its head is gone, the agents that are left go on.
    """

    def __init__(self, profile: ClusterProfile) -> None:
        self._profile = profile
        self._grown: dict[str, int] = {}
        self._offer: Offer | None = None
        self._start()

    def _start(self) -> None:
        profile = self._profile
        self._waits_for = "connects to Ray"
        command = module_command("netwright.engine.cluster.nodes.ray_placer")
        self._process = MessageProcess(command, environment=ray_environment(profile))
        per_worker: dict[str, float] = {"CPU": profile.cores_per_worker, "GPU": profile.gpus_per_worker}
        per_worker["memory"] = round(profile.memory * 1e9)
        self._process.say(
            address=profile.address,
            python=list(python_of(profile)),
            per_worker={name: amount for name, amount in per_worker.items() if amount},
        )

    def place(self, workers: int, offer: Offer, lost: Collection[str] = ()) -> None:
        """Begin to start agents: one per node of Ray that has room. Connects again where Ray was lost."""
        if self._process.process.poll() is not None:
            self.close()
            self._start()
        self._offer = replace(offer, stays=True)
        self._process.say(workers=workers, offer=self._offer.write())

    def grown(self) -> Mapping[str, int]:
        """Return the workers that Ray had room for beside an agent that runs there already."""
        return self._grown

    def give_up(self) -> None:
        """Give up room that Ray has not granted."""
        if self._offer is not None:
            self._process.say(workers=0, offer=self._offer.write())

    def is_there(self) -> bool:
        """Return whether the head of Ray answers."""
        try:
            refuse_silent(address_of_head(self._profile.address))
        except (RunError, UnavailableError):
            return False
        return True

    def poll(self, connected: Collection[str]) -> str:
        """Return the reason for waiting for Ray. Raises `RunError` where it refuses or is lost, or an agent has ended
        before it connected."""
        for message in self._process.read():
            self._waits_for = message.get("waits", self._waits_for)
            label = message.get("label", "")
            if "more" in message:
                self._grown[label] = self._grown.get(label, 0) + int(message["more"])
            if "failed" in message and label not in connected:
                kind = AgentLostError if "lost" in message else RunError
                raise kind(message["failed"], hint=message.get("hint", ""))
        if (code := self._process.process.poll()) is not None:
            last_words = self._process.last_words(MOST_CHARACTERS)
            raise AgentLostError(
                f"The connection to Ray was lost (code {code}){f': {last_words}' if last_words else '.'}"
            )
        return self._waits_for

    def close(self) -> None:
        """End the tasks."""
        # One without an offer has no tasks, and may be busy with a head that does not answer.
        self._process.end(CLOSE_S if self._offer is not None else 0.0)
