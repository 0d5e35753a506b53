"""The Ray of this machine, which the address `auto` means. It is looked for where Ray itself looks; needs no ray."""

import contextlib
import os
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path

from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import UnavailableError, listed
from netwright.engine.core.files import read_file
from netwright.engine.core.platform import command_lines

VARIABLE = "RAY_ADDRESS"
NOTE_BYTES = 256
ANSWER_S = 0.5
_FLAG = b"--gcs-address="
"""Option of the process of a node, with the address of the head."""


def local_ray() -> str:
    """Return host:port of the head of the Ray of this machine: that of `RAY_ADDRESS`, else the one that was started
    last, by the file in which Ray notes it, else the one that runs, also with a temporary folder of its own.

    Raises `UnavailableError` where there is none, or several of which none is the one meant.
    """
    address = os.environ.get(VARIABLE, "").strip()
    if address not in ("", "auto") and "://" not in address:  # a URL is that of the job server of Ray, or of a client
        return address
    if (address := _noted()) and is_answering(address):
        return address
    addresses = sorted({address for address in addresses_of_nodes() if is_answering(address)})
    if len(addresses) > 1:
        raise UnavailableError(
            f"{len(addresses)} Rays run on this machine: {listed(addresses)}.",
            hint=f"Name one of them as the address of the cluster profile instead of auto, or in {VARIABLE}.",
        )
    if not addresses:
        raise UnavailableError(
            "No Ray runs on this machine.",
            hint="Start one: ray start --head. Or name host:port of its head as the address of the cluster profile "
            f"instead of auto, or in {VARIABLE}.",
        )
    return addresses[0]


def running_ray(profiles: Iterable[ClusterProfile] = ()) -> str | None:
    """Return the address of the Ray of this machine; None where none answers, and where one of the profiles names
    it."""
    try:
        address = local_ray()
    except UnavailableError:
        return None
    is_known = any(profile.kind == "ray" and profile.address in ("auto", address) for profile in profiles)
    return None if is_known or not is_answering(address) else address


def is_answering(address: str) -> bool:
    """Return whether something listens at the address of a head: one that is gone may have left its file."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_S).close()
    except (OSError, ValueError):
        return False
    return True


def _noted() -> str:
    folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp"
    with contextlib.suppress(OSError, ValueError):
        return read_file(Path(folder, "ray", "ray_current_cluster"), NOTE_BYTES).decode().strip()
    return ""


def addresses_of_nodes() -> Iterator[str]:
    """Yield the addresses that the processes of nodes on this machine have in their command lines; none where the
    system does not list processes as files."""
    for words in command_lines():
        with contextlib.suppress(ValueError):
            if os.path.basename(words[0]) == b"raylet":
                yield from (word.removeprefix(_FLAG).decode() for word in words if word.startswith(_FLAG))
