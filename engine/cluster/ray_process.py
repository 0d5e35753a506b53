"""A process of its own that is connected to the Ray of a profile and answers requests: Ray itself is not imported here,
and it ends a process whose cluster it loses."""

from typing import Any

from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import RunError
from netwright.engine.core.process import MessageProcess, module_command


class RayProcess:
    """A process that runs a module such as `netwright.engine.launch.remote.ray_probe`."""

    def __init__(self, module: str, profile: ClusterProfile) -> None:
        self._profile = profile
        self._process = MessageProcess(module_command(module))

    def connect(self, limit_s: float) -> str:
        """Connect, and return the version, nodes and cores. Raises `UserError`."""
        return str(self._asked(self._profile.write(), limit_s))

    def ask(self, do: str, limit_s: float, **values: Any) -> Any:
        """Return the answer to a request. Raises `UserError`."""
        return self._asked({"do": do, **values}, limit_s)

    def _asked(self, request: Any, limit_s: float) -> Any:
        try:
            answer = self._process.ask(request, limit_s)
        except TimeoutError:
            raise RunError(
                f"Ray has not answered within {limit_s:g} seconds.", hint="See what it does: ray status."
            ) from None
        if answer is None:
            self._process.end(1.0)
            last_line = self._process.last_words()
            raise RunError(f"The connection to Ray was lost{f': {last_line}' if last_line else '.'}")
        if "refused" in answer:
            raise RunError(answer["refused"], hint=answer["hint"])
        return answer["answer"]

    def close(self) -> None:
        """End the process, and what it has started."""
        self._process.end()
