"""Address and token of a Ray cluster. Needs no ray."""

import os
import socket
from pathlib import Path

from netwright.engine.cluster.local_ray import local_ray
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import RunError, UnavailableError

_PORT = "6379"
CONNECT_S = 2.0


def address_of_head(address: str) -> str:
    """Return host:port of the head; `auto` means the cluster of this machine. Raises `UnavailableError`."""
    if address != "auto":
        plain = address.removeprefix("ray://")
        return plain if ":" in plain else f"{plain}:{_PORT}"
    return local_ray()


def head_of(address: str) -> str:
    """Return the host of the head. Raises `UnavailableError`."""
    return address_of_head(address).rpartition(":")[0].strip("[]")


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


def refuse_silent(head: str) -> None:
    """Raise `RunError` where nothing answers at the address of the head: Ray itself waits for a minute then."""
    host, _, port = head.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S).close()
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        raise RunError(f"The head of the Ray cluster at {head} does not answer: {words}.") from error
