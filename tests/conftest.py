"""What holds for every test: no screen, a private home, quiet threads, and nothing left running behind."""

import contextlib
import faulthandler
import functools
import gc
import importlib.util
import itertools
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import psutil
import pytest
from hypothesis import HealthCheck, settings

from tests import parts

HAS_QT = importlib.util.find_spec("PySide6") is not None
QT_ROOMS = ("app", "designer", "journeys", "system/test_first_light.py", "system/test_window_lives.py")
# Only a test that fails waits so long; a busy machine may take a while over anything.
ENDING_PATIENCE_S = 30.0
QT_PATIENCE_MS = 60_000
HANG_MARGIN_S = 60.0
ROOM_BYTES = 4 * 2**30
SESSION_VARIABLE = "NETWRIGHT_TEST_SESSION"
# Each test process has a mark of its own (pytest-xdist has several), which every process it starts inherits.
SESSION_MARK = f"{os.getpid()}-{uuid.uuid4().hex}"
# That of who started this process, which the system goes on to show for it, and for what it forks.
STARTER_MARK = os.environ.get(SESSION_VARIABLE, "")


def _private_home(home: Path) -> dict[str, str]:
    """The variables that keep a program from finding the real user's files."""
    runtime = home / "runtime"
    runtime.mkdir(parents=True, mode=0o700)
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_RUNTIME_DIR": str(runtime),
        "WIN_PD_OVERRIDE_LOCAL_APPDATA": str(home),  # all folders on Windows, as platformdirs finds them
    }


def _temporary_root() -> str:
    """Where the files of tests lie: in memory, where that has room and lets programs run. A disk takes 10 ms to flush a
    file and 5 ms to remove a folder, and tests do both ten thousands of times."""
    memory = "/dev/shm"
    with contextlib.suppress(OSError, AttributeError):
        system = os.statvfs(memory)
        has_room = system.f_bavail * system.f_frsize >= ROOM_BYTES
        if has_room and not system.f_flag & os.ST_NOEXEC and os.access(memory, os.W_OK):
            return memory
    return tempfile.gettempdir()


# Set here and not in a fixture: fixtures of wider scope and imports of test modules come before any of them.
# pytest has the folders of tests there, too.
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _temporary_root())
_SESSION_HOME = Path(tempfile.mkdtemp(prefix="netwright-tests-", dir=os.environ["PYTEST_DEBUG_TEMPROOT"]))
_TEMPORARY = _SESSION_HOME / "tmp"
_TEMPORARY.mkdir()
os.environ["TMPDIR"] = tempfile.tempdir = str(_TEMPORARY)
os.environ.update(_private_home(_SESSION_HOME / "home"))
os.environ[SESSION_VARIABLE] = SESSION_MARK
# Processes of pytest-xdist write what they were doing when they crashed into the folder of who started them.
_CRASHES = Path(os.environ.setdefault("NETWRIGHT_TEST_CRASHES", str(_SESSION_HOME / "crashes")))
_CRASHES.mkdir(exist_ok=True)
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
for _variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Tests end programs by signals, which those would not notice where the tests are started in the background or by nohup:
# what is ignored is inherited.
for _number in (getattr(signal, name, signal.SIGINT) for name in ("SIGINT", "SIGHUP", "SIGTERM", "SIGCHLD")):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)

_stderr = pytest.StashKey[int]()
_crash = pytest.StashKey[IO[str]]()

# The same examples on every machine and in every run; nothing is timed, because CI shares its cores.
settings.register_profile(
    "netwright", deadline=None, derandomize=True, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("netwright"), max_examples=1000)  # `make parity`
settings.load_profile("netwright")


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Without PySide6, takes pytest-qt out, which would refuse to start, and keeps its settings known."""
    if HAS_QT:
        return
    if pluginmanager.has_plugin("pytest-qt"):
        pluginmanager.unregister(name="pytest-qt")
        return
    for name in ("qt_api", "qt_log_level_fail", "qt_log_ignore"):
        parser.addini(name, "of pytest-qt, which is not installed")


def pytest_report_header() -> list[str]:
    """Says in the open what is left out."""
    lines = [f"the part {name} is not there: its tests are not collected" for name in sorted(parts.missing())]
    return (
        lines if HAS_QT else [*lines, f"PySide6 is not installed: tests of {' and '.join(QT_ROOMS)} are not collected"]
    )


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leaves the window's tests out where there is no Qt, so that the engine's can run, and those of a part that is
    not there."""
    rooms = {Path(__file__).parent / room for room in QT_ROOMS}
    return True if (not HAS_QT and collection_path in rooms) or parts.is_left_out(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out single tests that are marked with a part that is not there."""
    names = parts.missing()
    without = [item for item in items if names.intersection(*[mark.args for mark in item.iter_markers("part")] or [()])]
    if without:
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if item not in without]


def _seed() -> None:
    """torch begins with other random numbers in each process, and which tests came before in one is chance."""
    if (torch := sys.modules.get("torch")) is None or not hasattr(torch, "manual_seed"):
        return
    # Where no CUDA is in use, `torch.manual_seed` notes the stack for the day it is, which takes 500 times as long.
    (torch if torch.cuda.is_initialized() else torch.default_generator).manual_seed(0)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays: to look for garbage among it, then and in each test, takes longer than to make it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collectstart() -> None:
    """What a test module draws as it is imported is the same each time."""
    _seed()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """And what a test and its fixtures draw, where they name no seed. The theme is the light one, and crashes before it
    were those of children."""
    _seed()
    theme = sys.modules.get("netwright.designer.theme")
    if theme is not None and theme._theme.cache_info().currsize and theme.current().is_dark:
        theme.apply(sys.modules["PySide6.QtWidgets"].QApplication.instance(), "light")
    item.config.stash[_crash].truncate(0)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Keeps the stream that messages go to, which is another one while a test runs. The stack of a crash goes to a
    file: between the lines of other processes nobody finds it."""
    config.stash[_stderr] = os.dup(2)
    config.stash[_crash] = (_CRASHES / f"{os.getpid()}.txt").open("a")
    faulthandler.enable(config.stash[_crash])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says where test processes crashed, if any did: children that tests let crash may write there, too."""
    if not terminalreporter.stats.get("failed"):
        return
    for path in sorted(_CRASHES.glob("*.txt")):
        if stack := path.read_text(errors="replace"):
            terminalreporter.section("crash of a test process")
            terminalreporter.write(stack)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Ends the process where a test hangs, or its cleaning up, and says at which line. The timeout of pytest-timeout
    does not reach C code that keeps the main thread, nor the cleaning up of a test that failed; pytest-xdist goes on
    with the other tests in a new process. Once per test: the watching thread takes 3 ms to end on a busy machine."""
    mark = item.get_closest_marker("timeout")
    limit_s = float(mark.args[0] if mark else item.config.getini("timeout") or QT_PATIENCE_MS / 1000) + HANG_MARGIN_S
    faulthandler.dump_traceback_later(limit_s, exit=True, file=item.config.stash[_stderr])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_unconfigure() -> None:
    """Ends the shared process and removes the session's private home."""
    if (warm := sys.modules.get("tests.warm")) is not None:
        warm.close()
    shutil.rmtree(_SESSION_HOME, ignore_errors=True)


class Leftovers:
    """Processes, threads and temporary files that came up since this object was made and have not ended."""

    def __init__(self) -> None:
        self._pids = set(psutil.pids())
        self._threads = set(threading.enumerate())
        self._files = set(os.listdir(_TEMPORARY))

    def wait(self) -> list[str]:
        """Gives what is just ending a moment, ends the processes that remain and describes all that remained."""
        deadline = time.monotonic() + ENDING_PATIENCE_S
        processes = self._wait_for_processes(deadline)
        described = [f"process {process.pid}: {_command(process)}" for process in processes]
        for process in processes:
            _kill(process)
        psutil.wait_procs(processes, timeout=ENDING_PATIENCE_S)
        described += [f"thread {thread.name!r}" for thread in self._wait_for_threads(deadline)]
        return described + [f"temporary file {name!r}" for name in self._wait_for_files(deadline)]

    def _wait_for_processes(self, deadline: float) -> list[psutil.Process]:
        # Again after each wait: a process that ended may have started another one.
        while processes := [p for pid in set(psutil.pids()) - self._pids if (p := _ours(pid)) is not None]:
            if time.monotonic() > deadline:
                break
            psutil.wait_procs(processes, timeout=max(0.0, deadline - time.monotonic()))
        return processes

    def _wait_for_threads(self, deadline: float) -> list[threading.Thread]:
        others = [thread for thread in threading.enumerate() if thread not in self._threads and not thread.daemon]
        # Where there is no alarm, such as on Windows, pytest-timeout waits in a thread for the end of the test.
        threads = [thread for thread in others if not thread.name.startswith("pytest_timeout")]
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return [thread for thread in threads if thread.is_alive()]

    def _wait_for_files(self, deadline: float) -> list[str]:
        """Waits for the processes that remove them, and removes what remains."""
        pause = threading.Event()
        while names := sorted(set(os.listdir(_TEMPORARY)) - self._files - _kept_files()):
            if time.monotonic() > deadline:
                break
            pause.wait(0.01)
        for name in names:
            path = _TEMPORARY / name
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                path.unlink()
        return names


def _kept_files() -> set[str]:
    """What lives as long as this process: the outlines of the style sheet, and what torch has compiled."""
    theme = sys.modules.get("netwright.designer.theme")
    arrows = theme._theme().arrows if theme is not None and theme._theme.cache_info().currsize else None
    compiled = {name for name in os.listdir(_TEMPORARY) if name.startswith("torchinductor_")}
    return compiled | ({Path(arrows.path()).name} if arrows is not None else set())


def _ours(pid: int) -> psutil.Process | None:
    """The process, if it lives and was started by this session: our descendant, or carrying our mark."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE or pid == _warm_pid():
            return None  # tests share the warm one until the session ends
        # The mark first: most that are new belong to the other test processes, and to look for parents takes 3 ms.
        mark = _mark(process)
        if mark not in ("", SESSION_MARK, STARTER_MARK):
            return None
        if mark != SESSION_MARK and all(parent.pid != os.getpid() for parent in process.parents()):
            return None
        # Python keeps its resource tracker until it ends itself.
        return None if "multiprocessing.resource_tracker" in _command(process) else process
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def _mark(process: psutil.Process) -> str:
    """The mark of the test process that it comes from; empty where that cannot be read, too."""
    try:
        return process.environ().get(SESSION_VARIABLE, "")
    except psutil.AccessDenied:
        return ""


def _warm_pid() -> int | None:
    """The process that tests share (tests/warm.py), if one of them started it."""
    warm = sys.modules.get("tests.warm")
    return None if warm is None else warm.server_pid()


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())[:300]
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return "(ended)"


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return


def _fail_on(leftovers: list[str]) -> None:
    if leftovers:
        pytest.fail("left behind: " + "; ".join(leftovers), pytrace=False)


# The guards are the first fixtures to be set up, so they look last, after every other fixture has cleaned up.
@pytest.fixture(scope="session", autouse=True)
def _session_leaves_nothing_running() -> Iterator[None]:
    leftovers = Leftovers()
    yield
    _fail_on(leftovers.wait())


@pytest.fixture(autouse=True)
def _a_test_leaves_nothing_running(_session_leaves_nothing_running: None) -> Iterator[None]:
    """A process or thread of a wider fixture was there before and does not count here."""
    leftovers = Leftovers()
    yield
    _fail_on(leftovers.wait())


_home_numbers = itertools.count()


@pytest.fixture(autouse=True)
def _private_home_for_a_test(_a_test_leaves_nothing_running: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of its own for each test: no settings, recent files or caches of the one before, and no hosts that were
    allowed in it."""
    for name, value in _private_home(_SESSION_HOME / f"home-{next(_home_numbers)}").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("NETWRIGHT_ALLOWED_HOSTS", "")


@pytest.fixture
def qtbot(qtbot: Any) -> Iterator[Any]:
    """pytest-qt's, with patience where a test does not say how much. Its widgets are deleted when the test has ended:
    pytest-qt itself leaves them to the next event loop, or the garbage collector, which can crash on them."""
    from PySide6.QtCore import QCoreApplication, QEvent

    for name in ("waitUntil", "waitSignal", "waitSignals", "waitExposed", "waitActive", "waitCallback"):
        setattr(qtbot, name, functools.partial(getattr(qtbot, name), timeout=QT_PATIENCE_MS))
    yield qtbot
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
