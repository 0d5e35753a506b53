"""A process that has torch and the engine imported, and forks itself for each command of a test.

Importing torch is most of what a short run takes, so tests of what runs compute share it. Each command is still a
process of its own, with its own arguments, environment, folder, output and exit code. What a fresh interpreter does is
tested by `tests/system/test_command_line.py` and `tests/engine/cli/test_main.py`, which start one each time.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

ROOT = Path(__file__).parents[1]
START_S = 120.0
_REQUEST_BYTES = 2**20
# What others start in place of an interpreter: it hands its descriptors, folder and environment to a fork of the warm
# process, and ends as that does; the fork is killed with it. Without `site` and our modules it takes 20 ms.
_CLIENT = """
import json, os, signal, socket, sys
address, code, *arguments = sys.argv[1:]
numbers = [number for number in range(64) if os.path.exists(f"/dev/fd/{number}")]
data = {"arguments": arguments, "code": code, "cwd": os.getcwd(), "env": dict(os.environ), "numbers": numbers}
data = json.dumps(data).encode()
connection = socket.socket(socket.AF_UNIX)
connection.connect(address)
socket.send_fds(connection, [len(data).to_bytes(4, "little")], numbers)
connection.sendall(data)
for number in numbers:
    os.close(number)
answers = connection.makefile()
answers.readline()
code = int(answers.readline() or 1)
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""
_ADDRESS = "NETWRIGHT_TEST_WARM"
"""The variable of forks that says where the warm process listens."""
_MODULE = "import sys; from netwright.engine.core.child import run; sys.exit(run(sys.argv[1], sys.argv[2:]))"


class Warm:
    """The warm process, as tests see it. It starts with the first command and ends with the test session."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        self._ours.settimeout(START_S)
        self.address = str(Path(os.environ["XDG_RUNTIME_DIR"]) / "warm")
        words = ["-m", "tests.warm", str(theirs.fileno()), self.address]
        with theirs:
            self._process = subprocess.Popen([sys.executable, *words], cwd=ROOT, pass_fds=[theirs.fileno()])
        self._ours.recv(1)  # it is ready

    @property
    def pid(self) -> int:
        """The process id of the server."""
        return self._process.pid

    def start(self, request: Mapping[str, Any], descriptors: Sequence[int]) -> socket.socket:
        """Fork a command; returns the socket that its process id and its exit code come through."""
        mine, theirs = socket.socketpair()
        with theirs:
            data = json.dumps(request).encode()
            socket.send_fds(self._ours, [len(data).to_bytes(4, "little")], [theirs.fileno(), *descriptors])
            self._ours.sendall(data)
        return mine

    def load(self, *modules: str) -> None:
        """Import modules in the server, for commands of several tests that need them."""
        with self.start({"imports": modules}, []):
            pass

    def close(self) -> None:
        """End the server; commands that still run go on."""
        self._ours.close()
        self._process.wait(START_S)


_warm: Warm | None = None


def server() -> Warm:
    """The warm process of this test process."""
    global _warm
    if _warm is None:
        _warm = Warm()
        atexit.register(close)
    return _warm


def server_pid() -> int | None:
    """The process id of the warm process, if it was started: the guard against leftovers passes over it."""
    return _warm.pid if _warm is not None else None


def close() -> None:
    """End the warm process, if it was started."""
    global _warm
    if _warm is not None:
        _warm.close()
        _warm = None


def command(*arguments: str, code: str = "") -> list[str]:
    """The command line of a process that is a fork of the warm one, for what starts processes itself: it runs `code`,
    else `netwright.engine`."""
    address = os.environ.get(_ADDRESS) or server().address
    return [sys.executable, "-I", "-S", "-c", _CLIENT, address, code, *arguments]


def module_command(module: str, *arguments: str) -> list[str]:
    """The same for a module with a function `main`, as `netwright.engine.core.process.module_command` starts it."""
    return command(module, *arguments, code=_MODULE)


def fork_detached() -> None:
    """Let what this process starts so that it outlives it, such as coordinators and runners, be forks, too."""
    from netwright.engine.core import process

    process.module_command = module_command


class Process:
    """A command in a fork of the warm process, with the part of `subprocess.Popen` that tests use.

    `code` is run as `python -c` would run it; without it the command is `python -m netwright.engine`.
    """

    def __init__(
        self,
        arguments: Sequence[str | Path],
        *,
        code: str = "",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> None:
        request = {
            "arguments": [str(argument) for argument in arguments],
            "code": code,
            "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
        }
        self.stdout, out = _stream(stdout, 1)
        self.stderr, err = _stream(stderr, 2)
        self._socket = server().start(request, [out, err])
        for given, used in ((stdout, out), (stderr, err)):
            if given == subprocess.PIPE:
                os.close(used)
        self._socket.settimeout(START_S)
        self._answers = self._socket.makefile("rb", buffering=0)  # what has come is all in the socket, for `select`
        self.pid = int(self._answers.readline())
        self.returncode: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.returncode is None:
            self.wait()
        self.close()

    def close(self) -> None:
        """Close the pipes."""
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self._answers.close()
        self._socket.close()

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, negative for a signal. Raises `subprocess.TimeoutExpired`."""
        if self.returncode is None:
            if not select.select([self._socket], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            self.returncode = int(self._answers.readline())
        return self.returncode

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0.0)
        return None

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def _stream(wanted: int | None, standard: int) -> tuple[IO[str] | None, int]:
    if wanted != subprocess.PIPE:
        return None, standard if wanted is None else wanted
    read, write = os.pipe()
    return os.fdopen(read, "r", errors="replace"), write


def run(
    arguments: Sequence[str | Path],
    *,
    code: str = "",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end with its output captured. Raises `subprocess.TimeoutExpired`."""
    process = Process(arguments, code=code, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    texts = {"stdout": "", "stderr": ""}

    def read(name: str) -> None:
        texts[name] = getattr(process, name).read()

    readers = [threading.Thread(target=read, args=(name,)) for name in texts]
    for reader in readers:
        reader.start()
    try:
        code_ = process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    finally:
        for reader in readers:
            reader.join(START_S)
        process.close()
    return subprocess.CompletedProcess([*map(str, arguments)], code_, texts["stdout"], texts["stderr"])


def run_file(path: Path) -> "subprocess.CompletedProcess[str]":
    """Run a Python file as a program, in its folder."""
    code = f"import runpy, sys; sys.path[0] = {str(path.parent)!r}; runpy.run_path({str(path)!r}, run_name='__main__')"
    return run([], code=code, cwd=path.parent)


# ---- the server ----


def serve(connection: socket.socket, address: str) -> None:
    """Import what runs need, then fork for each request until the test process closes its end. Others than that
    process send theirs to the address."""
    from netwright.engine.launch.local_launcher import preload

    preload()
    parts = (
        "netwright.engine.cli.main",
        "netwright.engine.cli.train_command",
        "netwright.engine.launch.prepare",
        "netwright.engine.launch.detached_coordinator",
        "netwright.engine.exchange.onnx_export",
        "netwright.app.history.run_reader",
        "netwright.app.start_page.running_program",
        "tests.holding",
    )
    for name in (*parts, "torch.onnx._internal.exporter._core", "onnxscript"):
        importlib.import_module(name)
    if "TOY_LIBRARY" in os.environ:  # to look for devices takes a process that imports torch, in each command
        importlib.import_module("netwright.engine.hardware.devices").probe()
    _export_once()
    gc.freeze()
    assert threading.active_count() == 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps the children
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    connection.sendall(b"r")
    while True:
        if listener in select.select([connection, listener], [], [])[0]:
            client, _ = listener.accept()
            request, descriptors = _received(client)
            descriptors.insert(0, client.detach())
        else:
            request, descriptors = _received(connection)
            if not request:
                return
        for name in request.get("imports", ()):
            importlib.import_module(name)
        if "code" in request and os.fork() == 0:
            connection.close()
            listener.close()
            request["env"][_ADDRESS] = address
            _supervise(request, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _received(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """A request and its descriptors; nothing where the other end was closed."""
    length, descriptors, _, _ = socket.recv_fds(connection, 4, 64)
    data = b""
    while len(data) < int.from_bytes(length, "little"):
        data += connection.recv(min(_REQUEST_BYTES, int.from_bytes(length, "little") - len(data)))
    return json.loads(data or b"{}"), descriptors


def _export_once() -> None:
    """Export a small network: the first export of a process takes seconds more, because torch and onnxscript import and
    read what they need when they are first asked."""
    import torch

    from netwright.engine.exchange.onnx_graph import program
    from netwright.engine.lowering.module import build
    from netwright.engine.network.analysis import analyse
    from tests.builders import chain, layer

    importlib.import_module("tqdm").tqdm.monitor_interval = 0  # else a thread, which a process that forks must not have
    network = chain(layer("feature_input", channels=1), layer("fully_connected", outputs=1))
    module = build(network, analyse(network)).eval()
    program(module, network, (torch.zeros(2, 1).numpy(),))


def _supervise(request: dict[str, Any], descriptors: list[int]) -> None:
    """Fork the command, say its process id, wait for it, and say its exit code. That of a client, which numbers its
    descriptors, ends with the client. Never returns."""
    answers, *streams = descriptors
    numbers = request.get("numbers")
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.close(answers)
        _become(request, dict(zip(numbers or (1, 2), streams, strict=True)))
    if numbers:
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
    for stream in streams:
        os.close(stream)
    with contextlib.suppress(OSError):  # the test may not wait for it
        os.write(answers, f"{pid}\n".encode())
        if numbers:
            select.select([answers, os.pidfd_open(pid)], [], [])
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)  # it has ended, or is to end, with its group
        _, status = os.waitpid(pid, 0)
        os.write(answers, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _become(request: dict[str, Any], descriptors: dict[int, int]) -> None:
    """Be the command: its descriptors by their numbers, its folder, environment and arguments. Never returns."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if 0 in descriptors:
        os.setpgid(0, 0)
    else:
        descriptors[0] = os.open(os.devnull, os.O_RDONLY)
    # Out of the way of each other first.
    moved = {number: fcntl.fcntl(descriptor, fcntl.F_DUPFD, 64) for number, descriptor in descriptors.items()}
    for descriptor in descriptors.values():
        os.close(descriptor)
    for number, descriptor in moved.items():
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    fork_detached()
    code = 0
    try:
        if request["code"]:
            sys.argv = ["-c", *request["arguments"]]
            exec(compile(request["code"], "<string>", "exec"), {"__name__": "__main__"})
        else:
            from netwright.engine.cli.main import program

            sys.argv = ["netwright-engine", *request["arguments"]]
            program()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
