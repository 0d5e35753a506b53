"""The offer to an agent at its start, and how both ends judge silence and the folder of the run."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from netwright.engine.runs.folder import RunFolder

LINK_SILENCE_S = 10.0
"""Seconds without a frame after which the other end of a connection counts as lost; both speak once per second."""


@dataclass(frozen=True)
class Offer:
    """The first line of an agent's standard input.

    host, port: of the coordinator. token: of the run, as hexadecimal digits. certificate: of the run, as PEM; empty
    without encryption. slots: number of workers that may be started. label: name of the agent in its run. interface:
    that of the workers; empty: the one that leads to the coordinator. folder: of the run, as the node names it, and the
    hash of the project in it. stays: it goes on when its input is closed, until the coordinator ends it.
    """

    host: str
    port: int
    token: str
    certificate: str
    folder: str
    project_sha256: str
    interface: str = ""
    with_compiler: bool = False
    slots: int = 1
    label: str = ""
    stays: bool = False

    def write(self) -> str:
        """Return it as a line of text."""
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def read(cls, line: str) -> Self:
        """Return the offer of a line that `write` made."""
        return cls(**json.loads(line))


def folder_problem(offer: Offer) -> str:
    """Return why this host cannot use the folder of the run, or an empty text."""
    import socket

    project = RunFolder(Path(offer.folder)).project
    name = socket.gethostname()
    way_out = "All hosts must see it: set storage, or path_map, of the cluster profile."
    try:
        digest = hashlib.sha256(project.read_bytes()).hexdigest()
    except OSError as error:
        return f"{name} does not see the folder of the run, {offer.folder}: {error.strerror}. {way_out}"
    if digest != offer.project_sha256:
        return f"{name} sees another folder of this name, {offer.folder}, than that of the run. {way_out}"
    return ""
