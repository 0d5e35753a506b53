"""Stages of the validation of a profile of Ray, which a process of its own tries: see `ray_probe`."""

import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from engine.cluster.profiles import ClusterProfile
from engine.core.child_process import module_command, module_environment
from engine.core.errors import RunError, UserError, listed

MODULE = "engine.launch.remote.ray_probe"
CHUNK_BYTES = 2**16
SAMPLE = bytes(2**25)
PREFIX = ".validate-"
LEFT_S = 600.0
"""Seconds after which the folder of a validation counts as left behind by one that was killed."""


class RayCluster:
    """The process that is connected to the Ray of a profile, and a folder that its hosts have to see."""

    def __init__(self, profile: ClusterProfile) -> None:
        self._profile = profile
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        self._process = subprocess.Popen(
            module_command(MODULE),
            env=module_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._rest = b""
        self._folder: Path | None = None

    def connect(self, limit_s: float) -> str:
        """Connect, and return the version, nodes and cores. Raises `UserError`."""
        return str(self._asked(self._profile.write(), limit_s))

    def ask(self, do: str, limit_s: float, **values: Any) -> Any:
        """Return the answer to a request. Raises `UserError`."""
        return self._asked({"do": do, **values}, limit_s)

    def _asked(self, request: Any, limit_s: float) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):  # it has ended, which is said below
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        end = time.monotonic() + limit_s
        while b"\n" not in self._rest:
            if not select.select([self._process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                raise RunError(
                    f"Ray has not answered within {limit_s:g} seconds.", hint="See what it does: ray status."
                )
            if not (data := os.read(self._process.stdout.fileno(), CHUNK_BYTES)):
                self._errors.seek(0)
                said = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2][-300:]
                raise RunError(f"The connection to Ray was lost{f': {said}' if said else '.'}")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        answer = json.loads(line)
        if "refused" in answer:
            raise RunError(answer["refused"], hint=answer["hint"])
        return answer["answer"]

    @property
    def folder(self) -> Path:
        """A folder where runs would lie: in the storage of the profile, or in the current folder. Made at first use,
        when those that killed validations have left are deleted. Raises `UserError`."""
        if self._folder is None:
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
        begin = time.monotonic()
        try:
            with open(folder / "sample", "wb") as file:
                file.write(SAMPLE)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UserError(f"{folder.parent} cannot be written: {error.strerror or error}.") from None
        per_s = len(SAMPLE) / max(time.monotonic() - begin, 1e-9)
        answers = self.ask("sees", limit_s, path=self.on_hosts(folder / "sample"))
        if blind := sorted({answer["host"] for answer in answers if not answer["is_there"]}):
            raise UserError(
                f"{listed(blind)} {'does' if len(blind) == 1 else 'do'} not see {self.on_hosts(folder.parent)}.",
                hint="All hosts must see the folder of the run: set storage, or path_map, of the cluster profile.",
            )
        return str(folder.parent), shutil.disk_usage(folder).free, per_s

    def on_hosts(self, path: Path) -> str:
        """Return what the hosts call a path."""
        return self._profile.remote_path(str(path)) or str(path)

    def close(self) -> None:
        """End the process, and what it has started."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
