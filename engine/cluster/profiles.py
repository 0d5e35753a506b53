"""Cluster profiles: where runs beyond this machine execute.

A project names a profile; it never has an address or a secret. A profile has no secret either, only the path of a file
that holds one. `profile_file` keeps them.
"""

import re
from pathlib import Path, PurePosixPath
from typing import Any

from netwright.engine.core.errors import FieldError, FieldErrors
from netwright.engine.core.fields import Bool, Choice, FilePath, Float, Int, Text
from netwright.engine.core.list_fields import Pairs, Texts
from netwright.engine.core.records import Record

KINDS = ("ray", "slurm", "ssh")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
_HOST = re.compile(r"(?:[A-Za-z0-9._-]+@)?(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,31}")


def _kind(*kinds: str) -> Any:
    return lambda profile: profile.kind in kinds


def _environment(*kinds: str) -> Any:
    return lambda profile: profile.environment in kinds


class ProfileName(Text):
    """Name of a profile, which a project and a command line give."""

    expects = "a name of at most 60 letters, digits, - and _"

    def check(self, value: object) -> str:
        if not isinstance(value, str) or (value and not _NAME.fullmatch(value)):
            raise self.refuse(value)
        return value


class ClusterProfile(Record):
    """Address of a cluster, its workers, and what they need."""

    name = ProfileName("", help="Name by which projects refer to it", group="Cluster")
    kind = Choice(
        "ray",
        options=KINDS,
        notes={
            "ray": "A Ray cluster that runs already",
            "slurm": "Jobs of Slurm, by sbatch",
            "ssh": "Hosts that ssh reaches without a password",
        },
        help="Program that starts the workers. Default ray",
        group="Cluster",
        matlab="the type of a cluster profile",
    )
    address = Text(
        "",
        help="Address of the cluster. Ray: host:port of its head, or auto for the Ray of this machine. Slurm: host "
        "to log in to, empty if sbatch is on this machine. ssh: hosts separated by semicolons, such as "
        "anna@node1; node2",
        group="Cluster",
        matlab="Host",
    )
    coordinator = Choice(
        "here",
        options=("here", "cluster"),
        notes={
            "here": "On this machine, which must stay on",
            "cluster": "On a node of Ray; runs go on when this machine is off",
        },
        help="Machine whose process directs a run. With cluster, the run and its data are copied to the storage, "
        "which all nodes must see. Default here",
        group="Cluster",
        visible_when=_kind("ray"),
        matlab="batch",
    )
    workers = Int(
        2,
        low=1,
        high=4096,
        unit="workers",
        help="Number of workers, which share each batch. Default 2",
        group="Workers",
        matlab="NumWorkers",
    )
    cores_per_worker = Int(
        1, low=1, high=1024, unit="cores", help="Cores per worker. Default 1", group="Workers", matlab="NumThreads"
    )
    gpus_per_worker = Int(
        0,
        low=0,
        high=16,
        label="GPUs per worker",
        unit="GPUs",
        help="GPUs per worker, with a process for each. Default 0: workers compute on the CPU. With GPUs, only workers "
        "with GPUs of their own compute",
        group="Workers",
    )
    memory = Float(
        0.0, low=0.0, high=1e6, unit="GB", help="Memory per worker. Default 0: the cluster decides", group="Workers"
    )
    storage = Text(
        "",
        help="Folder for runs and their data. Name it as the hosts do; all of them must see it. Default empty: "
        "netwright-jobs in the home folder there; with Ray the folder of the run itself",
        group="Files",
        matlab="JobStorageLocation",
    )
    path_map = Pairs(
        (),
        label="Paths",
        help="Folders with another name on the hosts. Such as /data/images=/shared/images, this machine first. "
        "Files in them are not copied",
        group="Files",
        matlab="AttachedFiles, AdditionalPaths",
    )
    environment = Choice(
        "python",
        options=("python", "conda", "container", "wheel"),
        notes={
            "python": "An interpreter that has Netwright",
            "conda": "A conda environment that has Netwright",
            "container": "An image that has Netwright, run by apptainer",
            "wheel": "Netwright is installed in a folder of its own on the hosts",
        },
        label="Python environment",
        help="Environment of the hosts with Netwright and torch. Default python",
        group="Software",
    )
    python = Text(
        "python3",
        label="Python",
        help="Interpreter on the hosts, a path or a command. Default python3",
        group="Software",
        visible_when=_environment("python", "wheel"),
    )
    conda = Text(
        "",
        label="Conda environment",
        help="Name or folder of the environment on the hosts",
        group="Software",
        visible_when=_environment("conda"),
    )
    container = Text(
        "",
        label="Container",
        help="Image on the hosts, such as /shared/netwright.sif",
        group="Software",
        visible_when=_environment("container"),
    )
    interface = Text(
        "",
        label="Network interface",
        help="Interface for gradients, such as ib0. Default empty: the one that leads to the first worker. Nothing "
        "listens on others",
        group="Network",
        torch="GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME",
    )
    encrypted = Bool(
        False,
        help="Encrypt reports and requests with TLS. Default off: they are authenticated. Gradients are never "
        "encrypted: use a network of your own",
        group="Network",
    )
    token_file = FilePath(
        "",
        help="File with the token of the Ray cluster. Only you may be able to read it. Default empty: the file of "
        "Ray itself",
        group="Network",
        visible_when=_kind("ray"),
    )
    nodes = Int(
        1,
        low=1,
        high=4096,
        unit="nodes",
        help="Nodes that share the workers evenly. Default 1",
        group="Slurm",
        torch="torchrun --nnodes",
        visible_when=_kind("slurm"),
    )
    partition = Text("", help="Partition for the job. Default: Slurm's", group="Slurm", visible_when=_kind("slurm"))
    account = Text("", help="Account that is charged. Default: your own", group="Slurm", visible_when=_kind("slurm"))
    time_limit = Int(
        0,
        low=0,
        high=525_600,
        zero="auto",
        unit="min",
        help="Time after which Slurm ends a job. Default auto: the limit of the partition",
        group="Slurm",
        visible_when=_kind("slurm"),
    )
    sbatch_options = Texts(
        (),
        label="More options",
        help="More options of sbatch. Such as --constraint=a100; --exclusive",
        group="Slurm",
        visible_when=_kind("slurm"),
    )

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts in the address."""
        return tuple(part for part in re.split(r"[;,\s]+", self.address) if part)

    @property
    def takes_jobs(self) -> bool:
        """Whether a run is a job of its own there, which goes on without this machine. Other profiles give workers to
        a run whose coordinator is here."""
        if self.kind == "ray":
            return self.coordinator == "cluster"
        return self.kind == "slurm" or len(self.hosts) == 1

    @property
    def workers_per_node(self) -> int:
        """Workers that a node of Slurm takes."""
        return -(-self.workers // self.nodes)

    def problems(self) -> list[FieldError]:
        """Return the errors of fields that are missing, malformed or contradict each other."""
        errors = [] if self.name else [FieldError("name", "the profile needs a name, such as lab.")]
        errors += self._address_problems()
        for name in ("conda", "container"):
            if self.environment == name and not getattr(self, name):
                errors.append(FieldError(name, f"is empty, and the Python environment is {name}."))
        for name in ("storage", *(() if self.environment != "container" else ("container",))):
            if (path := getattr(self, name)) and not PurePosixPath(path).is_absolute():
                errors.append(
                    FieldError(name, f"expected a path from the root, such as /shared/me, received '{path}'.")
                )
        if self.kind == "ray" and self.coordinator == "cluster" and not self.storage:
            message = "is empty, and the coordinator is on the cluster: name a folder that all of its nodes see."
            errors.append(FieldError("storage", message))
        errors += [
            FieldError("path_map", f"expected paths from the root on both sides, received '{here}={there}'.")
            for here, there in self.path_map
            if not (Path(here).is_absolute() and PurePosixPath(there).is_absolute())
        ]
        if self.interface and not _INTERFACE.fullmatch(self.interface):
            errors.append(FieldError("interface", f"'{self.interface}' is no name of an interface, such as eth0."))
        if self.kind == "slurm" and self.workers % self.nodes:
            errors.append(
                FieldError(
                    "nodes",
                    f"{self.workers} workers cannot be shared evenly by {self.nodes} nodes.",
                    hint=f"Take a multiple, such as workers={-(-self.workers // self.nodes) * self.nodes}.",
                )
            )
        if wrong := [option for option in self.sbatch_options if not option.startswith("-")]:
            errors.append(FieldError("sbatch_options", f"'{wrong[0]}' does not begin with -."))
        return errors

    def _address_problems(self) -> list[FieldError]:
        if self.kind == "ssh" and not self.hosts:
            return [FieldError("address", "ssh needs a host, such as anna@node1.")]
        if self.kind == "ray" and not self.address:
            return [FieldError("address", "Ray needs host:port of its head, such as head:6379, or auto.")]
        if self.kind != "ssh" and len(self.hosts) > 1:
            return [FieldError("address", f"{self.kind} has one address, received {len(self.hosts)}.")]
        return [
            FieldError("address", f"'{host}' is no host, such as anna@node1 or head:6379.")
            for host in self.hosts
            if not _HOST.fullmatch(host) or ".." in host
        ]

    def refuse_problems(self) -> None:
        """Raise `FieldErrors` if fields are missing, malformed or contradict each other."""
        if errors := self.problems():
            raise FieldErrors(error.at(f"{self.name or 'profile'}.{error.path}") for error in errors)

    def remote_path(self, path: str | Path) -> str | None:
        """Return the path on the hosts of a path of this machine, by the longest matching entry of `path_map`; None
        where none matches."""
        place = Path(path)
        for here, there in sorted(self.path_map, key=lambda pair: -len(Path(pair[0]).parts)):
            if place.is_relative_to(here):
                return str(PurePosixPath(there, *place.relative_to(here).parts))
        return None
