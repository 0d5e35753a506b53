"""Netwright where Python has what it has on Windows, and nothing more: the modules and functions of POSIX are gone. The
functions of Windows are stood in for by those of this system, so this tests what is imported and called, and no more;
`make wine` tries the real ones."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from netwright.engine.core.process import module_environment
from tests.architecture.test_platform import MODULES, NAMES

ROOT = Path(__file__).parents[2]
WINDOWS = """
import ctypes, errno, importlib, io, json, os, pkgutil, select, signal, subprocess, sys, types
# Before the system changes: what these import is their own.
import ctypes.wintypes, multiprocessing.resource_tracker, multiprocessing.shared_memory
import numpy, platformdirs.unix, platformdirs.windows, psutil, rich.console

gone, windows_names, task = json.loads(sys.argv[1]), ("msvcrt", "winreg", "WinDLL"), sys.argv[2]
if task == "imports":
    import fastapi, uvicorn, mcp.server.lowlevel, mcp.server.stdio, onnx, onnxruntime, pyarrow, torch

class Function:
    def __init__(self, name):
        self.name = name

    def __call__(self, *words):
        if self.name == "CreateFileW":
            path, access, disposition = words[0], words[1], words[4]
            flags = os.O_RDONLY if not access & 0x40000004 else os.O_RDWR
            flags |= {1: os.O_CREAT | os.O_EXCL, 2: os.O_CREAT | os.O_TRUNC, 4: os.O_CREAT}.get(disposition, 0)
            try:
                return os.open(path, flags, 0o600)
            except FileNotFoundError as error:
                raise Missing(*error.args, path) from None
        return 0

class Missing(FileNotFoundError):
    winerror = 2

class Library:
    def __init__(self, *words, **more):
        pass

    def __getattr__(self, name):
        function = Function(name)
        setattr(self, name, function)
        return function

for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios"):
    sys.modules[name] = None
sys.modules["msvcrt"] = types.SimpleNamespace(
    open_osfhandle=lambda handle, flags: handle, get_osfhandle=lambda descriptor: descriptor
)
sys.modules["winreg"] = types.SimpleNamespace(HKEY_LOCAL_MACHINE=0, OpenKey=open)
ctypes.WinDLL, ctypes.get_last_error = Library, lambda: 0
os.O_BINARY = os.O_NOINHERIT = 0

def as_there(write):
    def call(*words):
        try:
            return write(*words)
        except BrokenPipeError:
            raise OSError(errno.EINVAL, "Invalid argument") from None
    return call

os.write = as_there(os.write)
io.FileIO = type("FileIO", (io.FileIO,), {"write": as_there(io.FileIO.write)})
signal.SIGBREAK = signal.SIGTERM
sys.platform = "win32"
for module, names in gone.items():
    for name in set(names) - set(windows_names):
        if hasattr(sys.modules[module], name):
            delattr(sys.modules[module], name)

import netwright.engine
if task == "imports":
    left_out = {"posix_files", "posix_processes", "__main__"}
    count = 0
    for module in pkgutil.walk_packages(netwright.engine.__path__, "netwright.engine."):
        if module.name.rpartition(".")[2] not in left_out:
            importlib.import_module(module.name)
            count += 1
    print(count)
else:
    from netwright.engine.cli.main import main
    sys.exit(main(sys.argv[3:]))
"""


def on_windows(folder: Path, *words: str, output: int = subprocess.PIPE) -> "subprocess.CompletedProcess[str]":
    names = json.dumps({module: sorted(names) for module, names in NAMES.items()})
    return subprocess.run(
        [sys.executable, "-c", WINDOWS, names, *words],
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**module_environment(), "TMPDIR": str(folder)},
        cwd=ROOT,
        check=False,
    )


def test_the_seam_names_what_is_taken_away() -> None:
    assert {"fcntl", "pwd", "resource"} < MODULES
    assert {"fork", "killpg", "pread", "sched_getaffinity"} < NAMES["os"]


def test_all_of_the_engine_is_imported(tmp_path: Path) -> None:
    done = on_windows(tmp_path, "imports")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 500


@pytest.mark.parametrize("words", [("--help",), ("schema",), ("templates",), ("train", "--help")])
def test_light_commands_answer(words: tuple[str, ...], tmp_path: Path) -> None:
    done = on_windows(tmp_path, "run", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = on_windows(tmp_path, "run", "schema", output=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_example_is_copied_and_checked(tmp_path: Path) -> None:
    folder = tmp_path / "Eigene Daten & 数据"
    done = on_windows(tmp_path, "run", "new", "digits", str(folder))
    assert done.returncode == 0, done.stderr
    file = folder / "digits.netwright"
    assert f'train "{file}"' in done.stdout  # as cmd and PowerShell take it
    checked = on_windows(tmp_path, "run", "check", str(file))
    assert checked.returncode == 0, checked.stderr
    assert "No problems." in checked.stdout
    assert "16 × 8 × 8" in checked.stdout
