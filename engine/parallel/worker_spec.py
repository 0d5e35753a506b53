"""Specification that a worker is started with. Needs no torch, since the coordinator creates it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class WorkerSpec:
    """Start specification of a worker: run folder, rank, rendezvous, descriptors of its pipes, its parent's id.

    The rendezvous is a file, or host:port where the workers are on a cluster, which have an `interface` then.
    """

    folder: str
    rank: int
    rendezvous: str
    reports: int = -1
    requests: int = -1
    parent: int = 0
    strategy: str = ""
    checkpoint: int = -1
    """The iteration of the checkpoint to resume from; negative: the run begins."""
    rate_factor: float = 1.0
    """Multiplies the learn rates of the checkpoint."""
    pending_requests: str = ""
    """Requests, one per line, that are handled before the first step after a checkpoint."""
    interface: str = ""
    """Network interface of the workers of a cluster; empty on one machine, where they use loopback."""
    listener: int = -1
    """Descriptor of the open port of the rendezvous, for the first worker of a cluster."""
    base: str = ""
    """Folder that relative paths of data start from, where it is not the one of `run.json`."""
    paths: Mapping[str, str] = field(default_factory=dict)
    """Paths on this host of absolute paths of the project; see `netwright.engine.project.moved_paths`."""

    def write(self) -> str:
        """Return it as text, for the command line of a fresh interpreter."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> "WorkerSpec":
        """Return the spec of a text made by `write`."""
        return cls(**json.loads(text))
