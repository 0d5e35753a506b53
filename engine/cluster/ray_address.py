"""Address and token of a Ray cluster, also of the one of this machine, which the address `auto` means: it is looked for
where Ray itself looks. Needs no ray."""

import contextlib
import os
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path

from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import RunError, UnavailableError, listed
from netwright.engine.core.files import read_file
from netwright.engine.core.platform import command_lines

VARIABLE = "RAY_ADDRESS"
NOTE_BYTES = 256
LOCAL_S = 0.5
"""Seconds for an answer on this machine."""
CONNECT_S = 2.0
_PORT = "6379"
_FLAG = b"--gcs-address="
"""Option of the process of a node, with the address of the head."""


def address_of_head(address: str) -> str:
    """Return host:port of the head; `auto` means the cluster of this machine. Raises `UnavailableError`."""
    if address != "auto":
        plain = address.removeprefix("ray://")
        return plain if ":" in plain else f"{plain}:{_PORT}"
    return _local_ray()


def head_of(address: str) -> str:
    """Return the host of the head. Raises `UnavailableError`."""
    return address_of_head(address).rpartition(":")[0].strip("[]")


def refuse_silent(head: str, patience_s: float = CONNECT_S) -> None:
    """Raise `RunError` where nothing answers at the address of the head: Ray itself waits for a minute then."""
    host, _, port = head.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=patience_s).close()
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        raise RunError(f"The head of the Ray cluster at {head} does not answer: {words}.") from error


def _local_ray() -> str:
    """Return host:port of the head of the Ray of this machine: that of `RAY_ADDRESS`, else the one that was started
    last, by the file in which Ray notes it, else the one that runs, also with a temporary folder of its own.

    Raises `UnavailableError` where there is none, or several of which none is the one meant.
    """
    address = os.environ.get(VARIABLE, "").strip()
    if address not in ("", "auto") and "://" not in address:  # a URL is that of the job server of Ray, or of a client
        return address
    if (address := _noted()) and _is_answering(address):
        return address
    addresses = sorted({address for address in addresses_of_nodes() if _is_answering(address)})
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
        address = _local_ray()
    except UnavailableError:
        return None
    is_known = any(profile.kind == "ray" and profile.address in ("auto", address) for profile in profiles)
    return None if is_known or not _is_answering(address) else address


def _is_answering(address: str) -> bool:
    """Return whether something listens at the address of a head: one that is gone may have left its file."""
    try:
        refuse_silent(address, LOCAL_S)
    except RunError:
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


def token_file(profile: ClusterProfile) -> Path:
    """Return the file with the token of the cluster, readable by its owner alone. Raises `UnavailableError`.

    Ray itself writes it so that every user of the machine can read it.
    """
    location = profile.token_file or os.environ.get("RAY_AUTH_TOKEN_PATH", "")
    file = Path(location).expanduser() if location else Path.home() / ".ray" / "auth_token"
    way_out = "Make one with `ray get-auth-token --generate`, start Ray with RAY_AUTH_MODE=token, and name the file as "
    way_out += f"token_file of the cluster profile {profile.name}."
    try:
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)
        is_empty = not file.read_bytes().strip()
    except OSError as error:
        words = error.strerror or error
        raise UnavailableError(
            f"The Ray cluster {profile.name} is not used without a token, and {file} cannot be read: {words}.",
            hint=way_out,
        ) from None
    if is_empty:
        raise UnavailableError(
            f"The Ray cluster {profile.name} is not used without a token, and {file} is empty.", hint=way_out
        )
    return file


def ray_environment(profile: ClusterProfile) -> dict[str, str]:
    """Return the environment variables of a process that uses the cluster. Raises `UnavailableError` without a
    token: in a file, or in the variable RAY_AUTH_TOKEN, as processes of a Ray may have it that was started so."""
    is_given = not profile.token_file and bool(os.environ.get("RAY_AUTH_TOKEN"))
    return {
        "RAY_AUTH_MODE": "token",
        **({} if is_given else {"RAY_AUTH_TOKEN_PATH": str(token_file(profile))}),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    }
