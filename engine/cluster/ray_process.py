"""A process of its own that is connected to the Ray of a profile and answers requests: Ray itself is not imported here,
and it ends a process whose cluster it loses."""

import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from typing import Any

from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import RunError
from netwright.engine.core.lines import LineBuffer
from netwright.engine.core.process.program import module_command, module_environment

CHUNK_BYTES = 2**16


class RayProcess:
    """A process that runs a module such as `netwright.engine.launch.remote.ray_probe`."""

    def __init__(self, module: str, profile: ClusterProfile) -> None:
        self._profile = profile
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        self._process = subprocess.Popen(
            module_command(module),
            env=module_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._buffer, self._lines = LineBuffer(), list[bytes]()

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
        while not self._lines:
            if not select.select([self._process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                raise RunError(
                    f"Ray has not answered within {limit_s:g} seconds.", hint="See what it does: ray status."
                )
            if not (data := os.read(self._process.stdout.fileno(), CHUNK_BYTES)):
                self._errors.seek(0)
                last_line = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2][-300:]
                raise RunError(f"The connection to Ray was lost{f': {last_line}' if last_line else '.'}")
            self._lines += self._buffer.take(data)
        answer = json.loads(self._lines.pop(0))
        if "refused" in answer:
            raise RunError(answer["refused"], hint=answer["hint"])
        return answer["answer"]

    def close(self) -> None:
        """End the process, and what it has started."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
