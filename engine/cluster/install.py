"""Install Netwright on the hosts of a profile, in a folder of its own: what a host needs is one wheel and Python."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from netwright.engine.cluster.hosts import OWN_FOLDER, Host, hosts_of
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import ROOT

BUILD_S = 300.0
INSTALL_S = 3000.0
WHEELS = "~/.local/share/netwright/wheels"


def install(profile: ClusterProfile, wheel: Path | None = None) -> Iterator[str]:
    """Install a wheel on each host of a profile, and yield what is said about each one.

    Without a wheel one is built of this checkout. torch and the other libraries come from where pip of the host takes
    packages. Raises `UserError`.
    """
    if profile.kind == "ray":
        raise UserError(
            f"The profile '{profile.name}' is of Ray, whose nodes have the Python that Ray was started with.",
            hint="Install Netwright there, in the same version.",
        )
    with tempfile.TemporaryDirectory(prefix="netwright-wheel-") as folder:
        wheel = wheel or _built(Path(folder))
        if wheel.suffix != ".whl" or not wheel.is_file():
            raise UserError(f"{wheel} is not a wheel.", hint="Name a file such as netwright-0.1.0-py3-none-any.whl.")
        for host in hosts_of(profile):
            yield f"{host}: {_installed(host, profile, wheel)}"


def _built(folder: Path) -> Path:
    """Build a wheel of this checkout."""
    if not (ROOT / "pyproject.toml").is_file():
        raise UserError("This Netwright is not a checkout, and no wheel can be made of it.", hint="Name one: --wheel.")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"The wheel cannot be built: {error}.", hint="Name one: --wheel FILE.") from error
    wheel = next(iter(folder.glob("*.whl")), None)
    if process.returncode or wheel is None:
        line = process.stderr.strip().rpartition("\n")[2]
        raise UserError(f"The wheel cannot be built: {line or 'pip says nothing'}.", hint="Name one: --wheel FILE.")
    return wheel


def _installed(host: Host, profile: ClusterProfile, wheel: Path) -> str:
    """Install a wheel on a host; return the versions that are there then."""
    folder = str(host.ask("prepare", folder=f"{WHEELS}/{time.time_ns()}")["folder"])
    host.put({wheel.name: wheel}, folder)
    python = profile.python if profile.environment in ("python", "wheel") and host.name else sys.executable
    versions = host.ask(
        "install", INSTALL_S, wheel=f"{folder}/{wheel.name}", python=python, target=OWN_FOLDER, limit_s=INSTALL_S
    )
    return f"Netwright {versions['netwright']}, torch {versions['torch'] or 'none'}, in {OWN_FOLDER}"
