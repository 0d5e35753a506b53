"""A process that has torch already and forks a coordinator for every run that the harness asks for.

A run starts in a tenth of a second so. Orders come as JSON lines on standard input, one for each run; the answer is the
process id of its coordinator. What becomes of it is written beside the run's folder, as NAME.said.
"""

import ctypes
import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.hardware.threads import calm_threads
from netwright.engine.launch.coordinator import coordinate, exit_code
from netwright.engine.launch.detached_coordinator import replace_by_small_process
from netwright.engine.launch.local_launcher import preload
from netwright.engine.project.file import load
from netwright.engine.runs.folder import RunFolder
from tests.faults.seam import Durability, Seam
from tests.holding import hold

_PR_SET_PDEATHSIG = 1
SECONDS_BACK = 3600.0


def main() -> None:
    """Fork a run for each order, until there are no more."""
    calm_threads()
    preload()
    importlib.import_module("netwright.engine.launch.prepare")
    importlib.import_module("netwright.engine.launch.resume")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system takes note of ends by itself
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _be_run(order)
        print(json.dumps({"pid": pid}), flush=True)


def _be_run(order: dict[str, Any]) -> None:
    """The life of a coordinator, which never returns."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    folder, said_in = Path(order["folder"]), Path(order["beside"])
    null = os.open(os.devnull, os.O_RDWR)
    printed = os.open(said_in / "printed", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for target, source in ((0, null), (1, printed), (2, printed)):
        os.dup2(source, target)
    said: dict[str, Any] = {}
    try:
        said = _run(order, folder, said_in)
    except UserError as error:
        said = {"refused": str(error), "exit_code": error.exit_code}
    except BaseException:
        said = {"traceback": traceback.format_exc()}
    finally:
        (said_in / "saying").write_text(json.dumps(said))
        (said_in / "saying").rename(said_in / "said")
        os._exit(0)


def _run(order: dict[str, Any], path: Path, beside: Path) -> dict[str, Any]:
    from netwright.engine.launch.prepare import prepare
    from netwright.engine.launch.resume import prepare_resume

    os.umask(0)  # what is private is private by itself
    os.environ.update(order.get("environ", {}))
    if order["do"] == "train":
        file = Path(order["project"])
        folder = prepare(load(file).project, file, path)
    else:
        folder = RunFolder(path)
        prepare_resume(folder, order.get("settings", ()))
    if order.get("memory_bytes"):
        limit = _data_bytes() + order["memory_bytes"]
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    if order.get("hold_at"):
        hold(int(order["hold_at"]), beside / "go")
    if order.get("clock_back_at"):
        _turn_clock_back(int(order["clock_back_at"]))
    if order.get("durability"):
        Durability(path, Path(order["durability"])).install()
    seam = Seam(path, **order.get("seam", {}))
    seam.install()
    shrink = replace_by_small_process if order.get("shrink") else None
    result = coordinate(folder, patience_s=float(order.get("patience_s", 30)), shrink=shrink)
    return {"result": result, "exit_code": exit_code(folder), "operations": seam.count}


def _data_bytes() -> int:
    """How much this process has of what RLIMIT_DATA counts."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))


def _turn_clock_back(calls: int) -> None:
    """After so many looks at the clock of the wall, in each process, it is an hour earlier."""
    now, looks = time.time, iter(range(sys.maxsize))
    time.time = lambda: now() - (SECONDS_BACK if next(looks) >= calls else 0.0)


if __name__ == "__main__":
    main()
