"""A folder that the hosts of a cluster have to see while a profile is tried: of this machine, or on a Ray."""

import contextlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_host import RayHost
from netwright.engine.core.errors import UserError, listed

SAMPLE = bytes(2**25)
SAMPLE_FILE = "sample"
PREFIX = ".validate-"
FOLDER_S = 60.0
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


class RayCluster(RayHost):
    """The Ray of a profile that is tried, and a folder that its hosts have to see."""

    def __init__(self, profile: ClusterProfile) -> None:
        super().__init__(profile)
        self._is_there = profile.coordinator == "cluster"
        """Whether runs lie on the cluster, in a storage that this machine need not see."""
        self._there = ""
        self._sample: dict[str, Any] = {}
        self._shared: SharedFolder | None = None

    @property
    def folder(self) -> str:
        """A folder where runs would lie, as the hosts call it: in the storage of the profile, or in the current folder.
        Made at first use. Raises `UserError`."""
        if self._is_there:
            if not self._there:
                path = f"{self._profile.storage}/{PREFIX}{secrets.token_hex(4)}"
                stale = {"stale": f"{PREFIX}*", "stale_s": LEFT_S}
                self._sample = self.call("make_sample", FOLDER_S, folder=path, **stale)
                self._there = path
            return self._there
        if self._shared is None:
            parent = Path(self._profile.storage).expanduser() if self._profile.storage else Path.cwd()
            self._shared = SharedFolder(self._profile, parent)
        return self._shared.on_hosts(self._shared.path)

    def storage(self, limit_s: float) -> tuple[str, int, float]:
        """Return the folder of runs, its free bytes and the bytes written per second. Raises `UserError`."""
        folder = self.folder
        if self._shared is not None:
            free, per_s = self._shared.measured()
            place = str(self._shared.path.parent)
        else:
            free, per_s = self._sample["free_bytes"], self._sample["bytes_per_s"]
            place = self._profile.storage
        answers = self.call("sees", limit_s, path=f"{folder}/{SAMPLE_FILE}")
        if blind := {answer["host"] for answer in answers if not answer["is_there"]}:
            raise blind_error(blind, str(Path(folder).parent))
        return place, free, per_s

    def close(self) -> None:
        """End the process, and what it has started."""
        if self._there:
            with contextlib.suppress(UserError):  # a later one deletes it
                self.call("remove", FOLDER_S, folder=self._there)
        if self._shared is not None:
            self._shared.close()
        super().close()
