"""Hosts of a cluster: this machine, or one that ssh reaches. Runs `host_script` there, copies folders, all within time
limits."""

import base64
import contextlib
import io
import json
import shlex
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from netwright.engine.cluster import host_script
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.platform import end_process_tree, start_process

CONNECT_S = 15
ANSWER_S = 60.0
COPY_S = 3600.0
SAID = 400
LINE_BYTES = 2**16
SSH_LOST = 255
"""Exit code of ssh where the connection, and not the command, failed."""
SSH_OPTIONS = (
    "-T",
    *("-o", "BatchMode=yes"),  # never asks for a password: nobody may be there
    *("-o", f"ConnectTimeout={CONNECT_S}"),
    *("-o", "ServerAliveInterval=5"),
    *("-o", "ServerAliveCountMax=3"),
)


class UnreachableHostError(RunError):
    """A host does not answer, which may be over soon."""

    default_code = "unreachable"


class Host:
    """A host on which commands run. `name` is `user@host`, with `:port`; an empty name is this machine."""

    def __init__(self, name: str, python: Sequence[str] = ("python3",)) -> None:
        self.name = name
        self.python = tuple(python)

    def __str__(self) -> str:
        return self.name or "this machine"

    def close(self) -> None:
        """Close the connection, where one is kept open: neither to this machine nor over ssh."""

    @property
    def _interpreter(self) -> tuple[str, ...]:
        """Command of the Python that runs `host_script`, without packages, which it does not need."""
        return sys.executable if not self.name else "python3", "-I", "-S", "-"

    def command(self, words: Sequence[str]) -> list[str]:
        """Return the command line that runs a command on the host."""
        if not self.name:
            return list(words)
        return [*ssh_words(self.name), shlex.join(words)]

    def ask(self, do: str, timeout_s: float = ANSWER_S, **values: Any) -> dict[str, Any]:
        """Return the answer of `host_script` to a request. Raises `UnreachableHostError` where the host does not answer
        in time, `RunError` where it refuses."""
        output = self._run(self._script({"do": do, **values}), timeout_s)
        lines = [line for line in output.decode("utf-8", "replace").splitlines() if line.startswith(host_script.MARK)]
        try:
            answer = json.loads(lines[-1].removeprefix(host_script.MARK))
        except (IndexError, ValueError):
            reply = output.decode("utf-8", "replace").strip()[-SAID:]
            raise UnreachableHostError(f"{self} has given no answer: {reply or 'nothing'}.") from None
        if "refused" in answer:
            raise RunError(f"{self}: {answer['refused']}.")
        result: dict[str, Any] = answer["result"]
        return result

    def _script(self, message: Mapping[str, Any]) -> bytes:
        source = Path(host_script.__file__).read_text(encoding="utf-8")
        request = base64.b64encode(json.dumps(message).encode()).decode()
        return f"{source}\nmain(json.loads(base64.b64decode('{request}')))\n".encode()

    def _run(self, program: bytes, timeout_s: float) -> bytes:
        with self._process(self._interpreter, stdin=subprocess.PIPE) as process:
            return self._communicate(process, program, timeout_s)

    @contextlib.contextmanager
    def _process(self, words: Sequence[str], stdin: int | IO[bytes]) -> Iterator["subprocess.Popen[bytes]"]:
        """Start a command on the host; it is gone when the context ends."""
        try:
            streams = (stdin, subprocess.PIPE, subprocess.PIPE)
            process = start_process(self.command(words), streams, has_own_group=True)  # Ctrl-C is not for it
        except OSError as error:
            raise UserError(f"ssh cannot be started: {error.strerror}.", hint="Install OpenSSH.") from error
        try:
            yield process
        finally:
            if process.poll() is None:
                end_process_tree(process.pid)  # with what it has started, such as a proxy of ssh
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()

    def _communicate(self, process: "subprocess.Popen[bytes]", data: bytes | None, timeout_s: float) -> bytes:
        try:
            output, errors = process.communicate(data, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            raise UnreachableHostError(f"{self} has not answered within {timeout_s:g} s.") from None
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        self._refuse(process.returncode, "\n".join(lines[-3:])[-SAID:])
        return output

    def _refuse(self, status: int, text: str) -> None:
        """Raise the error of a command that has failed."""
        if status == SSH_LOST and self.name:
            raise UnreachableHostError(
                f"{self} cannot be reached: {text or 'ssh has ended'}.", hint=f"Try it: ssh {self.name} true."
            )
        if status == 127:
            raise RunError(f"{self} has no python3.", hint="Install Python 3.11 or newer there.")
        if status:
            raise RunError(f"{self}: {text or f'exit code {status}'}.")

    def put(self, files: Mapping[str, Path | bytes], folder: str, timeout_s: float = COPY_S) -> None:
        """Copy files and folders, by their paths below `folder`, to the host. Raises `RunError`."""
        words = ["tar", "-x", "-f", "-", "-C", folder]
        deadline = time.monotonic() + timeout_s
        with self._process(words, stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            try:
                with tarfile.open(fileobj=process.stdin, mode="w|", dereference=True) as archive:
                    for name, content in files.items():
                        add_to_archive(archive, name, content)
                        if time.monotonic() > deadline:
                            raise UnreachableHostError(f"{self} has not taken the files within {timeout_s:g} s.")
                process.stdin.close()
            except BrokenPipeError:  # what tar or ssh say is the reason
                with contextlib.suppress(OSError):
                    process.stdin.close()
            process.stdin = None
            self._communicate(process, None, max(1.0, deadline - time.monotonic()))

    def get(self, folder: str, target: Path, *, checkpoints: bool, timeout_s: float = COPY_S) -> None:
        """Copy what is fetched of the run in the folder of a job into `target`. Raises `RunError`."""
        message = {"do": "pack", "folder": folder, "checkpoints": checkpoints}
        with self._process(self._interpreter, stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(self._script(message))
                process.stdin.close()
                process.stdin = None
                while (line := process.stdout.readline(LINE_BYTES)).rstrip() != host_script.ARCHIVE.encode():
                    if not line:
                        raise EOFError("nothing came")
                with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                    archive.extractall(target, filter="data")
            except (tarfile.TarError, EOFError, BrokenPipeError) as error:
                self._communicate(process, None, ANSWER_S)
                raise RunError(f"{self}: the run has not arrived whole: {error}.") from error
            process.stdout.read()
            self._communicate(process, None, min(timeout_s, ANSWER_S))


def ssh_words(host: str) -> list[str]:
    """Return the command line of ssh to a host such as `anna@node:22`; it asks nothing, and does not wait for one that
    does not answer."""
    name, _, port = host.partition(":") if "]" not in host else (host.strip("[]"), "", "")
    return ["ssh", *SSH_OPTIONS, *(["-p", port] if port else []), "--", name]


def add_to_archive(archive: tarfile.TarFile, name: str, content: Path | bytes) -> None:
    """Add a file, a folder, or bytes as a file."""
    if isinstance(content, Path):
        archive.add(content, arcname=name)
        return
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(content), 0o600, int(time.time())
    archive.addfile(info, io.BytesIO(content))


def hosts_of(profile: ClusterProfile) -> tuple[Host, ...]:
    """Return the hosts of a profile: those of ssh, or the one where sbatch runs."""
    return tuple(Host(name, python_of(profile)) for name in profile.hosts) or (Host("", python_of(profile)),)


def python_of(profile: ClusterProfile) -> tuple[str, ...]:
    """Return the command that runs the Python of a profile on its hosts."""
    if profile.environment == "conda":
        where = "--prefix" if "/" in profile.conda else "--name"
        return ("conda", "run", "--no-capture-output", where, profile.conda, "python")
    if profile.environment == "container":
        nv = ("--nv",) if profile.gpus_per_worker else ()
        return ("apptainer", "exec", *nv, profile.container, "python3")
    if profile.environment == "wheel":
        return (f"{OWN_FOLDER}/bin/python",)
    is_here = not profile.hosts and profile.python == ClusterProfile.fields["python"].default
    return (sys.executable if is_here else profile.python,)


OWN_FOLDER = "~/.local/share/netwright/environment"
"""Folder on a host in which Netwright is installed for profiles that ship it."""
