"""Stages of the validation of a profile of Ray, which a process of its own tries: see `ray_probe`."""

import contextlib
import os
import secrets
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from engine.cluster.profiles import ClusterProfile
from engine.cluster.ray_process import RayProcess
from engine.core.errors import UserError, listed

MODULE = "engine.launch.remote.ray_probe"
SAMPLE = bytes(2**25)
PREFIX = ".validate-"
FOLDER_S = 60.0
LEFT_S = 600.0
"""Seconds after which the folder of a validation counts as left behind by one that was killed."""


class RayCluster(RayProcess):
    """The process that is connected to the Ray of a profile, and a folder that its hosts have to see."""

    def __init__(self, profile: ClusterProfile) -> None:
        super().__init__(MODULE, profile)
        self._folder: Path | None = None
        self._is_there = profile.coordinator == "cluster"
        """Whether runs lie on the cluster, in a storage that this machine need not see."""
        self._sample: dict[str, Any] = {}

    @property
    def folder(self) -> Path:
        """A folder where runs would lie: in the storage of the profile, or in the current folder. Made at first use,
        when those that killed validations have left are deleted. Raises `UserError`."""
        if self._folder is None and self._is_there:
            wanted = f"{self._profile.storage}/{PREFIX}{secrets.token_hex(4)}"
            stale = {"stale": f"{PREFIX}*", "stale_s": LEFT_S}
            self._sample = self.ask("make_sample", FOLDER_S, folder=wanted, **stale)
            self._folder = Path(wanted)
        elif self._folder is None:
            parent = Path(self._profile.storage).expanduser() if self._profile.storage else Path.cwd()
            try:
                for left in parent.glob(f"{PREFIX}*"):
                    if time.time() - left.stat().st_mtime > LEFT_S:
                        shutil.rmtree(left, ignore_errors=True)
                self._folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
            except OSError as error:
                raise UserError(
                    f"{parent} cannot be written: {error.strerror or error}.",
                    hint="Name another storage in the profile, or start in a folder that can be written.",
                ) from None
        return self._folder

    def storage(self, limit_s: float) -> tuple[str, int, float]:
        """Return the folder of runs, its free bytes and the bytes written per second. Raises `UserError`."""
        folder = self.folder
        free, per_s = self._measured(folder)
        answers = self.ask("sees", limit_s, path=self.on_hosts(folder / "sample"))
        if blind := sorted({answer["host"] for answer in answers if not answer["is_there"]}):
            raise UserError(
                f"{listed(blind)} {'does' if len(blind) == 1 else 'do'} not see {self.on_hosts(folder.parent)}.",
                hint="All hosts must see the folder of the run: set storage, or path_map, of the cluster profile.",
            )
        return str(folder.parent), free, per_s

    def _measured(self, folder: Path) -> tuple[int, float]:
        """Return the free bytes of a folder and the bytes written per second. Raises `UserError`."""
        if self._is_there:
            return self._sample["free_bytes"], self._sample["bytes_per_s"]
        begin = time.monotonic()
        try:
            with open(folder / "sample", "wb") as file:
                file.write(SAMPLE)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UserError(f"{folder.parent} cannot be written: {error.strerror or error}.") from None
        return shutil.disk_usage(folder).free, len(SAMPLE) / max(time.monotonic() - begin, 1e-9)

    def on_hosts(self, path: Path) -> str:
        """Return what the hosts call a path."""
        return str(path) if self._is_there else self._profile.remote_path(str(path)) or str(path)

    def close(self) -> None:
        """End the process, and what it has started."""
        if self._folder is not None and self._is_there:
            with contextlib.suppress(UserError):  # a later one deletes it
                self.ask("remove", FOLDER_S, folder=str(self._folder))
        elif self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        super().close()
