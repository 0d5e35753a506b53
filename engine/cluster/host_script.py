"""Program that a host of a cluster runs: starts a training there, tells how far it is, passes requests on, ends it.

It is sent to the standard input of the host's Python, so it is one file that needs the standard library of Python 3.8
and nothing of Netwright. `ACTIONS` are what it does: each takes the JSON object of the request and returns one.
The answer is the last line of standard output, behind `MARK`: login scripts of a host may print before it.
"""

from __future__ import annotations

import base64
import ctypes
import glob
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import time
from typing import Any

if sys.platform != "win32":  # where this is only read, to be sent to a host
    import fcntl

MARK = "netwright-answer "
ARCHIVE = "netwright-archive"
CHUNK = 1 << 20
SAID = 4000
FETCHED = (
    *("best", "last", "result.json", "data.json", "metrics.json", "run.json", "project.netwright", "code"),
    *("answers", "attention", "weights.jsonl", "pictures"),
)


class Refused(Exception):
    """Error on the host, in words."""


def _run(command: list[str], timeout: float = 30.0) -> tuple[int, str, str]:
    """Return exit code, output and errors of a command; 127 where there is none, 124 where it takes too long."""
    try:
        process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    except FileNotFoundError:
        return 127, "", f"there is no command {command[0]}"
    except subprocess.TimeoutExpired:
        return 124, "", f"{command[0]} has not answered within {timeout:g} s"
    return process.returncode, process.stdout.decode("utf-8", "replace"), process.stderr.decode("utf-8", "replace")


def _path(text: str) -> str:
    return os.path.abspath(os.path.expanduser(text))


def reach(message: dict[str, Any]) -> dict[str, Any]:
    """Return name, cores and Python of the host."""
    return {
        "host": socket.gethostname(),
        "cores": os.cpu_count() or 1,
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def versions(message: dict[str, Any]) -> dict[str, Any]:
    """Return the versions of what the command of the profile's Python finds: python, netwright, torch, ray."""
    code = (
        "import json, platform, importlib.metadata as m\n"
        "def of(name):\n"
        "    try: return m.version(name)\n"
        "    except m.PackageNotFoundError: return ''\n"
        "try:\n"
        "    from netwright.engine.core.version import VERSION as ours\n"
        "except Exception: ours = ''\n"
        "print(json.dumps({'python': platform.python_version(), 'netwright': ours, "
        "'torch': of('torch'), 'ray': of('ray')}))"
    )
    command = [os.path.expanduser(word) for word in message["python"]]
    status, output, errors = _run([*command, "-c", code], message.get("limit_s", 60.0))
    if status:
        raise Refused(f"{' '.join(command)} does not start: {(errors or output).strip()[-SAID:]}")
    installed: dict[str, Any] = json.loads(output.strip().splitlines()[-1])
    return installed


def storage(message: dict[str, Any]) -> dict[str, Any]:
    """Write a file in the folder of runs, read it back, and return the free bytes and the bytes per second."""
    folder = _path(message["folder"])
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, f".netwright-{os.getpid()}")
    content = os.urandom(1 << 20) * 16
    try:
        begin = time.time()
        with open(path, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        seconds = max(time.time() - begin, 1e-6)
        with open(path, "rb") as file:
            if file.read() != content:
                raise Refused(f"{folder} gives back other bytes than were written")
    finally:
        if os.path.exists(path):
            os.unlink(path)
    return {"folder": folder, "free_bytes": shutil.disk_usage(folder).free, "bytes_per_s": len(content) / seconds}


def seen(message: dict[str, Any]) -> dict[str, Any]:
    """Return whether a file is there."""
    return {"is_there": os.path.isfile(_path(message["path"]))}


def rendezvous(message: dict[str, Any]) -> dict[str, Any]:
    """Return an address and a free port of the host, at which others meet it: of an interface, or of the connection
    that ssh has made."""
    address = (os.environ.get("SSH_CONNECTION", "").split() or ["", "", "127.0.0.1"])[2]
    with socket.socket() as free:
        if message["interface"] and sys.platform != "win32":
            request = struct.pack("256s", message["interface"].encode()[:15])
            address = socket.inet_ntoa(fcntl.ioctl(free, 0x8915, request)[20:24])  # SIOCGIFADDR
        free.bind((address, 0))
        return {"address": address, "port": free.getsockname()[1]}


def prepare(message: dict[str, Any]) -> dict[str, Any]:
    """Make the folder of a job, which must not exist, and delete what killed ones have left. Return its path."""
    folder = _path(message["folder"])
    os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
    if message.get("stale"):
        for path in glob.glob(os.path.join(glob.escape(os.path.dirname(folder)), message["stale"])):
            if time.time() - os.path.getmtime(path) > message["stale_s"]:
                shutil.rmtree(path, ignore_errors=True)
    os.mkdir(folder, 0o700)
    return {"folder": folder}


def start(message: dict[str, Any]) -> dict[str, Any]:
    """Start the job script of a folder: by sbatch, or as a process of its own. Return its number."""
    folder = _path(message["folder"])
    if message["kind"] == "slurm":
        status, output, errors = _run(["sbatch", "--parsable", os.path.join(folder, "job.sh")])
        if status:
            raise Refused(f"sbatch: {(errors or output).strip()[-SAID:]}")
        return {"job": output.strip().splitlines()[-1].partition(";")[0]}
    with open(os.path.join(folder, "output.txt"), "ab") as log:
        job = subprocess.Popen(
            ["sh", os.path.join(folder, "job.sh")],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            start_new_session=True,
        )
    return {"job": f"{job.pid}:{_started_at(job.pid)}"}


def run_to_end(folder: str) -> int:
    """Run the job script of a folder, which is killed with the thread that calls this. Return its exit code."""
    if sys.platform == "win32":
        return 1  # it is no host
    library, kill = ctypes.CDLL(None), int(signal.SIGKILL)
    with open(os.path.join(folder, "output.txt"), "ab") as log:
        return subprocess.run(
            ["sh", os.path.join(folder, "job.sh")],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            start_new_session=True,
            preexec_fn=lambda: library.prctl(1, kill),  # PR_SET_PDEATHSIG
            check=False,
        ).returncode


def _started_at(pid: int) -> str:
    """Return the identity of a process, also among later ones with its number: boot of the host, tick of its start."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            ticks = file.read().rpartition(")")[2].split()[19]
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()}.{ticks}"
    except (OSError, IndexError):
        return ""


def _is_running(job: str) -> bool:
    pid, _, identity = job.partition(":")
    if not identity or _started_at(int(pid)) != identity:
        return False
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def _job_state(message: dict[str, Any]) -> tuple[str, str]:
    """Return `waiting`, `running` or `gone`, and the reason that Slurm gives for waiting."""
    job = message["job"]
    if message["kind"] != "slurm":
        return ("running" if _is_running(job) else "gone"), ""
    status, output, errors = _run(["squeue", "-h", "-j", job, "-o", "%T|%r"])
    if status and "Invalid job id" not in errors:
        raise Refused(f"squeue: {(errors or output).strip()[-SAID:]}")
    word, _, reason = (output.strip().splitlines() or [""])[0].partition("|")
    if word in ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "SUSPENDED", "STOPPED"):
        return "waiting", reason
    return ("running" if word in ("RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT", "RESIZING") else "gone"), ""


def _new_bytes(path: str, offset: int, last: bytes) -> tuple[bytes, bool]:
    """Return the bytes of a file from an offset, at most `CHUNK`, and whether the file is another one: `last` is what
    stood before the offset."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, offset - len(last)))
            data = file.read(len(last) + CHUNK)
    except OSError:
        return b"", offset > 0
    if not data.startswith(last) or (offset and not last):
        with open(path, "rb") as file:
            return file.read(CHUNK), True
    return data[len(last) :], False


def poll(message: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a job, and what is new in its log and its output."""
    folder = _path(message["folder"])
    run = os.path.join(folder, "run")
    state, reason = _job_state(message)
    is_locked = _is_locked(os.path.join(run, "run.lock"))
    answer = {"job_state": state, "job_reason": reason, "is_locked": is_locked, "time": time.time()}
    logs = {"events.jsonl": os.path.join(run, "events.jsonl"), "engine.log": os.path.join(run, "engine.log")}
    for name, path in logs.items():
        position = message["logs"][name]
        data, is_new = _new_bytes(path, position["offset"], base64.b64decode(position["last"]))
        if name == "events.jsonl":
            data = data[: data.rfind(b"\n") + 1]  # a line that is being written, or that a new coordinator cuts off
        answer[name] = {"data": base64.b64encode(data).decode("ascii"), "is_new": is_new}
    # After the logs, so that a state is never older than the events that come with it.
    for name in ("run.json", "result.json"):
        try:
            with open(os.path.join(run, name), encoding="utf-8") as file:
                answer[name] = json.load(file)
        except (OSError, ValueError):
            answer[name] = None
    if answer["run.json"] is None:
        answer["output"] = _output(folder)
    return answer


def _is_locked(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        if sys.platform != "win32":
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


def answers(message: dict[str, Any]) -> dict[str, Any]:
    """Return the answers of the workers that try the cluster, the state of their job, and its output."""
    folder = _path(message["folder"])
    state, reason = _job_state(message)
    replies = []
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "answer-*.json"))):
        with open(path, encoding="utf-8") as file:
            replies.append(json.load(file))
    return {"answers": replies, "job_state": state, "job_reason": reason, "output": _output(folder)}


def _output(folder: str) -> str:
    """Return the end of what a job has printed."""
    output = b""
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "output*.txt"))):
        with open(path, "rb") as file:
            output += file.read()[-SAID:]
    return output.decode("utf-8", "replace")[-SAID:]


def install(message: dict[str, Any]) -> dict[str, Any]:
    """Install a wheel with what it needs in an environment of its own, and return the versions in it."""
    target, wheel = _path(message["target"]), message["wheel"]
    python = os.path.join(target, "bin", "python")
    try:
        if not os.path.exists(python):
            _done([os.path.expanduser(message["python"]), "-m", "venv", target], 300.0)
        _done([python, "-m", "pip", "install", "--quiet", "--upgrade", wheel], message["limit_s"])
    finally:
        shutil.rmtree(os.path.dirname(wheel), ignore_errors=True)
    return versions({"python": [python]})


def _done(command: list[str], timeout: float) -> None:
    """Run a command that must not fail."""
    status, output, errors = _run(command, timeout)
    if status:
        raise Refused(f"{' '.join(command[:4])} has failed: {(errors or output).strip()[-SAID:]}")


def scheduler(message: dict[str, Any]) -> dict[str, Any]:
    """Return the partitions of Slurm with their states and numbers of nodes."""
    status, output, errors = _run(["sinfo", "-h", "-o", "%P %a %D %t"], 20.0)
    if status:
        raise Refused(f"sinfo: {(errors or output).strip()[-SAID:]}")
    return {"partitions": [line.split() for line in output.splitlines()]}


def request(message: dict[str, Any]) -> dict[str, Any]:
    """Put requests into the folder of requests of the run, by rename. Return whether the run is there already."""
    control = os.path.join(_path(message["folder"]), "run", "control")
    if not os.path.isdir(control):
        return {"delivered": False}
    for name, content in message["requests"].items():
        name = os.path.basename(name)
        path = os.path.join(control, f".{name}.tmp")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file)
        os.rename(path, os.path.join(control, name))
    return {"delivered": True}


def cancel(message: dict[str, Any]) -> dict[str, Any]:
    """End a job without asking its training."""
    if message["kind"] == "slurm":
        status, output, errors = _run(["scancel", message["job"]])
        if status and "Invalid job id" not in errors:
            raise Refused(f"scancel: {(errors or output).strip()[-SAID:]}")
    elif sys.platform != "win32" and _is_running(message["job"]):
        os.killpg(int(message["job"].partition(":")[0]), signal.SIGKILL if message.get("now") else signal.SIGTERM)
    return {}


def delete(message: dict[str, Any]) -> dict[str, Any]:
    """Delete the folder of a job that has ended."""
    folder = _path(message["folder"])
    if not os.path.isfile(os.path.join(folder, "job.sh")) and os.listdir(folder):
        raise Refused(f"{folder} is not the folder of a job")
    shutil.rmtree(folder)
    return {}


def pack(message: dict[str, Any]) -> None:
    """Write what is fetched of a run to standard output, as a tar archive behind the line `ARCHIVE`."""
    run = os.path.join(_path(message["folder"]), "run")
    names = [*FETCHED, *(["checkpoints"] if message.get("checkpoints") else [])]
    print("\n" + ARCHIVE, flush=True)
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as archive:
        for name in names:
            if os.path.exists(os.path.join(run, name)):
                archive.add(os.path.join(run, name), arcname=name)


ACTIONS = {
    action.__name__: action
    for action in (
        *(reach, versions, install, scheduler, storage, seen, rendezvous, prepare, start),
        *(answers, poll, request, cancel, delete),
    )
}


def main(message: dict[str, Any]) -> None:
    """Carry out the action of a message, and print the answer."""
    if message["do"] == "pack":
        pack(message)
        return
    answer: dict[str, Any]
    try:
        answer = {"result": ACTIONS[message["do"]](message)}
    except Refused as error:
        answer = {"refused": str(error)}
    except OSError as error:
        answer = {"refused": f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"}
    sys.stdout.flush()
    print("\n" + MARK + json.dumps(answer))
