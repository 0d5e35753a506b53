"""The nodes of a Ray cluster as one host, whose jobs go on without this machine. A process of its own is connected to
Ray: Ray itself is not imported here, and it ends a process whose cluster it loses."""

import os
import tarfile
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.engine.cluster import host_script
from netwright.engine.cluster.hosts import ANSWER_S, COPY_S, Host, UnreachableHostError, add_to_archive, python_of
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import RunError
from netwright.engine.core.process import MessageProcess, module_command

MODULE = "netwright.engine.cluster.nodes.ray_server"
CONNECT_S = 60.0


class NodeRefusedError(RunError):
    """A node of Ray has answered, and refuses."""


class RayHost(Host):
    """A Ray cluster on whose nodes programs run. Connects at the first request, and again where Ray was lost."""

    def __init__(self, profile: ClusterProfile) -> None:
        super().__init__(profile.address, python_of(profile))
        self._profile = profile
        self._connection: MessageProcess | None = None

    def connect(self, limit_s: float = CONNECT_S) -> str:
        """Connect, and return the version, nodes and cores. Raises `RunError`."""
        self._connection = MessageProcess(module_command(MODULE))
        return str(self._answer(self._profile.write(), limit_s))

    def call(self, do: str, limit_s: float, **values: Any) -> Any:
        """Return the answer of a method of `RayServer`. Raises `RunError`."""
        return self._answer({"do": do, **values}, limit_s)

    def _answer(self, request: Mapping[str, Any], limit_s: float) -> Any:
        assert self._connection is not None
        try:
            answer = self._connection.ask(request, limit_s)
        except TimeoutError:
            raise RunError(
                f"Ray has not answered within {limit_s:g} seconds.", hint="See what it does: ray status."
            ) from None
        if answer is None:
            self._connection.end(1.0)
            last_line = self._connection.last_words()
            raise RunError(f"The connection to Ray was lost{f': {last_line}' if last_line else '.'}")
        if "refused" in answer:
            kind = NodeRefusedError if answer["by_node"] else RunError
            raise kind(answer["refused"], hint=answer["hint"])
        return answer["answer"]

    def address(self) -> str:
        """Return the address of the head as the nodes know it. Raises `RunError`."""
        return str(self._asked("address", ANSWER_S))

    def ask(self, do: str, timeout_s: float = ANSWER_S, **values: Any) -> dict[str, Any]:
        """Return the answer of an action of `host_script` on a node. Raises `UnreachableHostError` where Ray does not
        answer in time, `RunError` where the node refuses."""
        result: dict[str, Any] = self._asked("act", timeout_s, action=do, asked=values)
        return result

    def put(self, files: Mapping[str, Path | bytes], folder: str, timeout_s: float = COPY_S) -> None:
        """Copy files and folders, by their paths below `folder`, to the storage that all nodes see. Raises
        `RunError`."""
        with tempfile.NamedTemporaryFile(prefix="netwright-bundle-", suffix=".tar") as file:
            with tarfile.open(fileobj=file, mode="w", dereference=True) as archive:
                for name, content in files.items():
                    add_to_archive(archive, name, content)
            file.flush()
            self._asked("put", timeout_s, archive=file.name, folder=folder)

    def get(self, folder: str, target: Path, *, checkpoints: bool, timeout_s: float = COPY_S) -> None:
        """Copy what is fetched of the run in the folder of a job into `target`. Raises `RunError`."""
        names = [*host_script.FETCHED, *(["checkpoints"] if checkpoints else [])]
        handle, path = tempfile.mkstemp(prefix="netwright-fetch-", suffix=".tar")
        os.close(handle)
        try:
            self._asked("get", timeout_s, folder=folder, names=names, archive=path)
            with tarfile.open(path) as archive:
                archive.extractall(target, filter="data")
        except tarfile.TarError as error:
            raise RunError(f"{self}: the run has not arrived whole: {error}.") from error
        finally:
            os.unlink(path)

    def _asked(self, do: str, limit_s: float, **values: Any) -> Any:
        begin = time.monotonic()
        try:
            if self._connection is None:
                self.connect()
            return self.call(do, limit_s + CONNECT_S - (time.monotonic() - begin), **values)
        except NodeRefusedError as error:
            raise RunError(f"{self}: {error}.") from error
        except RunError as error:
            self.close()
            message = str(error).removesuffix(error.hint).strip()
            raise UnreachableHostError(f"{self}: {message}", hint=error.hint) from error

    def close(self) -> None:
        """End the connection; jobs go on."""
        if self._connection is not None:
            self._connection.end()
            self._connection = None
