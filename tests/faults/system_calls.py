"""Takes note of every address in a network that a program, or anything it starts, connects with or sends to, also where
a library does so in a thread of its own. The system refuses it, so that nothing is sent.

Linux asks whoever has the end of the program's filter (`SECCOMP_RET_USER_NOTIF`). The program needs no rights for that.
"""

import contextlib
import ctypes
import errno
import fcntl
import ipaddress
import os
import platform
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
"""Not from a module of ours, which would change the environment that the program gets."""
PATIENCE_S = 60.0
_MACHINES = {
    "x86_64": (0xC000003E, 317, {42: "connect", 44: "sendto", 46: "sendmsg", 307: "sendmmsg"}),
    "aarch64": (0xC00000B7, 277, {203: "connect", 206: "sendto", 211: "sendmsg", 269: "sendmmsg"}),
}
"""The mark of a machine in the filter, and the numbers of the calls: of `seccomp`, and of those that name an
address."""
_PIDFD_GETFD = 438
_PR_SET_NO_NEW_PRIVS, _SET_FILTER, _NEW_LISTENER = 38, 1, 8
_ALLOW, _ASK, _GO_ON = 0x7FFF0000, 0x7FC00000, 1
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_LOAD, _IS, _RETURN = 0x20, 0x15, 0x06
"""Instructions of the filter: load a word of the call, compare with a number, return what becomes of the call."""
_NUMBER, _MACHINE = 0, 4
"""Places of the words in a call."""


class Watched:
    """A program; `addresses` are those that it tried to reach, with their ports."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno()), *words],
                cwd=folder,
                env={**environment, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
            theirs.close()
            self._filter = _copied(self.process.pid, int(ours.recv(16)))
            ours.send(b"go")
        self.addresses: list[str] = []
        self.has_tried = threading.Event()
        self._thread = threading.Thread(target=self._answer_all)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.__exit__(None, None, None)  # closes what it printed, and waits for its end
        self._thread.join(PATIENCE_S)
        os.close(self._filter)

    def end(self, patience_s: float = PATIENCE_S) -> str:
        """Wait for the end of the program, which has to succeed, and return what it printed."""
        printed, _ = self.process.communicate(timeout=patience_s)
        assert self.process.returncode == 0, printed
        return str(printed)

    def _answer_all(self) -> None:
        """Answer each call, until no process with the filter is left."""
        poll = select.poll()
        poll.register(self._filter, select.POLLIN)
        while not poll.poll()[0][1] & select.POLLHUP:
            try:
                self._answer()
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.EINTR, errno.ESRCH):  # the process has died meanwhile
                    raise

    def _answer(self) -> None:
        call = bytearray(80)
        fcntl.ioctl(self._filter, _RECEIVE, call)
        id, pid, _, number = struct.unpack_from("=QIIi", call)
        arguments = struct.unpack_from("=6Q", call, 32)
        address = _address(pid, _MACHINES[platform.machine()][2][number], arguments)
        if address:
            self.addresses.append(address)
            self.has_tried.set()
        answer = (id, 0, -errno.EACCES, 0) if address else (id, 0, 0, _GO_ON)
        fcntl.ioctl(self._filter, _SEND, struct.pack("=QqiI", *answer))


def _copied(pid: int, descriptor: int) -> int:
    """Return a copy of a descriptor of another process."""
    process = os.pidfd_open(pid)
    try:
        copy = ctypes.CDLL(None, use_errno=True).syscall(_PIDFD_GETFD, process, descriptor, 0)
        assert copy >= 0, os.strerror(ctypes.get_errno())
        return int(copy)
    finally:
        os.close(process)


def _address(pid: int, call: str, arguments: Sequence[int]) -> str:
    """Return the address in a network that a call names; empty where it names none."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:

        def read(place: int, count: int) -> bytes:
            memory.seek(place)
            return memory.read(count)

        place = arguments[4] if call == "sendto" else arguments[1]
        if call.startswith("sendm"):
            (place,) = struct.unpack("=Q", read(place, 8))
        if not place:
            return ""
        (family,) = struct.unpack("=H", read(place, 2))
        if family not in (socket.AF_INET, socket.AF_INET6):
            return ""
        whole = read(place, 8 if family == socket.AF_INET else 24)
    host = ipaddress.ip_address(whole[4:8] if family == socket.AF_INET else whole[8:24])
    return f"{host}:{int.from_bytes(whole[2:4], 'big')}"


def _watch() -> int:
    """Let this process, and all that it starts, be asked for. Return the descriptor of whoever answers."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]

    machine, of_seccomp, calls = _MACHINES[platform.machine()]
    count = len(calls)
    steps = [
        (_LOAD, 0, 0, _MACHINE),
        (_IS, 0, count + 1, machine),
        (_LOAD, 0, 0, _NUMBER),
        *((_IS, count - place, 0, number) for place, number in enumerate(calls)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ASK),
    ]
    library = ctypes.CDLL(None, use_errno=True)
    assert not library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), os.strerror(ctypes.get_errno())
    program = Program(len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps))
    descriptor = library.syscall(of_seccomp, _SET_FILTER, _NEW_LISTENER, ctypes.byref(program))
    assert descriptor >= 0, os.strerror(ctypes.get_errno())
    return int(descriptor)


if __name__ == "__main__":
    end = int(sys.argv[1])
    os.write(end, str(_watch()).encode())
    os.read(end, 2)  # the descriptor is closed by what follows
    os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
