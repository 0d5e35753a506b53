"""A folder of this machine that the hosts of a cluster have to see, while a profile is tried."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import UserError, listed

SAMPLE = bytes(2**25)
SAMPLE_FILE = "sample"
PREFIX = ".validate-"
LEFT_S = 600.0
"""Seconds after which the folder of a validation counts as left behind by one that was killed."""


def blind_error(hosts: Iterable[str], folder: str) -> UserError:
    """Return the error of hosts that do not see a folder."""
    names = sorted(hosts)
    return UserError(
        f"{listed(names)} {'does' if len(names) == 1 else 'do'} not see {folder}.",
        hint="All hosts must see the folder of the run: set storage, or path_map, of the cluster profile.",
    )


class SharedFolder:
    """A folder where runs would lie, below `parent`, which is deleted at the end. Those that killed validations have
    left are deleted at the beginning. Raises `UserError` where it cannot be made."""

    def __init__(self, profile: ClusterProfile, parent: Path) -> None:
        self._profile = profile
        try:
            for folder in parent.glob(f"{PREFIX}*"):
                if time.time() - folder.stat().st_mtime > LEFT_S:
                    shutil.rmtree(folder, ignore_errors=True)
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        except OSError as error:
            raise UserError(
                f"{parent} cannot be written: {error.strerror or error}.",
                hint="Name another storage in the profile, or start in a folder that can be written.",
            ) from None

    def measured(self) -> tuple[int, float]:
        """Write `SAMPLE_FILE`; return the free bytes and the bytes written per second. Raises `UserError`."""
        begin = time.monotonic()
        try:
            with open(self.path / SAMPLE_FILE, "wb") as file:
                file.write(SAMPLE)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UserError(f"{self.path.parent} cannot be written: {error.strerror or error}.") from None
        return shutil.disk_usage(self.path).free, len(SAMPLE) / max(time.monotonic() - begin, 1e-9)

    def on_hosts(self, path: Path) -> str:
        """Return the path on the hosts of a path of this machine."""
        return self._profile.remote_path(str(path)) or str(path)

    def close(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
