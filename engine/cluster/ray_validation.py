"""Stages of the validation of a profile of Ray, which a process of its own tries: see `ray_probe`."""

import contextlib
import secrets
from pathlib import Path
from typing import Any

from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_process import RayProcess
from netwright.engine.cluster.shared_folder import LEFT_S, PREFIX, SAMPLE_FILE, SharedFolder, blind_error
from netwright.engine.core.errors import UserError

MODULE = "netwright.engine.launch.remote.ray_probe"
FOLDER_S = 60.0


class RayCluster(RayProcess):
    """The process that is connected to the Ray of a profile, and a folder that its hosts have to see."""

    def __init__(self, profile: ClusterProfile) -> None:
        super().__init__(MODULE, profile)
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
                self._sample = self.ask("make_sample", FOLDER_S, folder=path, **stale)
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
        answers = self.ask("sees", limit_s, path=f"{folder}/{SAMPLE_FILE}")
        if blind := {answer["host"] for answer in answers if not answer["is_there"]}:
            raise blind_error(blind, str(Path(folder).parent))
        return place, free, per_s

    def close(self) -> None:
        """End the process, and what it has started."""
        if self._there:
            with contextlib.suppress(UserError):  # a later one deletes it
                self.ask("remove", FOLDER_S, folder=self._there)
        if self._shared is not None:
            self._shared.close()
        super().close()
