"""Takes note of every address that Python code asks for, is bound to or is connected with, in this process and in all
that are forked from it. What a library does by itself is not seen: `system/test_training_ends` looks at that.
"""

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

NOTES = "NETWRIGHT_TEST_NETWORK_NOTES"
_WITH_SOCKET = {"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"}
_OF_NAMES = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"}
_FAMILIES = {socket.AF_INET, socket.AF_INET6}


class Notes:
    """Lines of JSON: each process that is watched, at the first that it does, and each address."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._pid = 0

    def install(self) -> None:
        """From now on. It stays for as long as the process lives."""
        sys.addaudithook(self._hook)

    def _hook(self, name: str, given: tuple[Any, ...]) -> None:
        if os.getpid() != self._pid:
            self._pid = os.getpid()
            self._note("watched", "")
        if name in _OF_NAMES:
            self._note(name, _host(given[0]))
        elif name in _WITH_SOCKET and given[0].family in _FAMILIES and given[1] is not None:
            self._note(name, _host(given[1]))

    def _note(self, what: str, host: str) -> None:
        line = json.dumps({"pid": self._pid, "what": what, "host": host}) + "\n"
        os.write(self._descriptor, line.encode())


def _host(address: Any) -> str:
    """The host of an address, empty where it is every network of this machine; or the name that is asked for."""
    host = address[0] if isinstance(address, tuple) else address
    return host.decode("ascii", "replace") if isinstance(host, bytes) else "localhost" if host is None else str(host)


def install_where_asked() -> None:
    """As a process starts, where the environment names a file for the notes."""
    if path := os.environ.get(NOTES):
        Notes(Path(path)).install()
