"""What only one operating system has is called in the modules behind `engine/core/platform.py` and `platform_files.py`
alone, which have the same functions for each system."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KINDS = ("processes", "files")
SEAM = {
    *(ROOT / "engine" / "core" / f"{system}_{kind}.py" for system in ("posix", "windows") for kind in KINDS),
    ROOT / "engine" / "core" / "windows_jobs.py",
}
MODULES = {"fcntl", "grp", "msvcrt", "pty", "pwd", "resource", "termios", "winreg"}
OS = """
    MFD_CLOEXEC O_CLOEXEC O_NOFOLLOW O_NONBLOCK P_ALL WEXITED WNOHANG WNOWAIT chroot fchmod fork forkpty getegid geteuid
    getgid getpgid getsid getuid killpg memfd_create mkfifo nice pidfd_open pread preadv pwrite register_at_fork
    sched_getaffinity sched_setaffinity sched_yield set_blocking setpgid setsid sysconf uname waitid waitpid
    waitstatus_to_exitcode
"""
SIGNAL = """
    SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGSTOP SIGUSR1 SIGUSR2 SIG_BLOCK SIG_SETMASK SIG_UNBLOCK pause
    pthread_sigmask setitimer
"""
NAMES = {
    "os": set(OS.split()),
    "signal": set(SIGNAL.split()),
    "select": {"POLLERR", "POLLHUP", "poll"},
    "ctypes": {"WinDLL", "windll"},
}
KEYWORDS = {"creationflags", "pass_fds", "preexec_fn", "start_new_session", "startupinfo"}
"""Arguments of `subprocess.Popen` that another system ignores or refuses."""
WORDS = re.compile(rf"\b(?:{'|'.join(sorted({*MODULES, *KEYWORDS, *set().union(*NAMES.values()), 'prctl'}))})\b|/proc")
EXCEPTIONS = {
    # Sent to hosts of a cluster, where there is nothing of Netwright.
    "engine/cluster/host_script.py": {
        "fcntl",
        "os.killpg",
        "preexec_fn",
        "prctl",
        "signal.SIGKILL",
        "start_new_session",
        "/proc",
    },
    "engine/cluster/nodes/cluster_probe.py": {"os.sched_getaffinity"},
}
"""May only get shorter."""


def test_what_one_system_has_is_called_in_one_place() -> None:
    """Only files that have one of the words are parsed: most have none."""
    files = [file for room in ("engine", "app", "designer") for file in sorted((ROOT / room).rglob("*.py"))]
    sources = {file: file.read_text(encoding="utf-8") for file in files if file not in SEAM}
    calls = {
        str(file.relative_to(ROOT)): set(names_in(ast.parse(source)))
        for file, source in sources.items()
        if WORDS.search(source)
    }
    assert {file: names for file, names in calls.items() if names} == EXCEPTIONS


@pytest.mark.parametrize("kind", KINDS)
def test_each_system_has_the_same_names(kind: str) -> None:
    posix, windows = (public_names(ROOT / "engine" / "core" / f"{system}_{kind}.py") for system in ("posix", "windows"))
    assert posix == windows


def public_names(file: Path) -> dict[str, str]:
    """The public functions of a module with their arguments, and its constants."""
    names = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) if not name.startswith("_"):
                names[name] = f"{ast.unparse(node.args)} -> {ast.unparse(node.returns) if node.returns else ''}"
            case ast.Assign(targets=targets):
                names |= {t.id: "" for t in targets if isinstance(t, ast.Name) and not t.id.startswith("_")}
    return names


def test_names_are_seen_however_they_are_written() -> None:
    code = '''
        """Of /proc/self."""
        import fcntl
        from os import fork
        def work():
            """See /proc."""
            from resource import getrlimit
            os.kill(1, signal.SIGKILL); hasattr(os, "nice"); os.path.join("a"); library.prctl(1)
            subprocess.run([], start_new_session=True)
            open(f"/proc/{pid}/stat")
    '''
    assert WORDS.search(code)
    names = {"/proc", "fcntl", "os.fork", "os.nice", "prctl", "resource", "signal.SIGKILL", "start_new_session"}
    assert set(names_in(ast.parse(code.replace("\n        ", "\n")))) == names


def names_in(tree: ast.AST) -> Iterator[str]:
    """The names in a module that only one operating system has."""
    texts = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names if alias.name in MODULES)
            case ast.ImportFrom(module=str(module)):
                if module in MODULES:
                    yield module
                yield from (f"{module}.{alias.name}" for alias in node.names if alias.name in NAMES.get(module, ()))
            case ast.Attribute(attr="prctl"):
                yield "prctl"
            case ast.Attribute(value=ast.Name(id=module)) if node.attr in NAMES.get(module, ()):
                yield f"{module}.{node.attr}"
            case ast.Call(func=ast.Name(id="hasattr" | "getattr"), args=[ast.Name(id=module), ast.Constant(), *_]):
                if (name := node.args[1].value) in NAMES.get(module, ()):  # type: ignore[attr-defined]
                    yield f"{module}.{name}"
            case ast.keyword(arg=str(name)) if name in KEYWORDS:
                yield name
            case ast.Constant(value=str(text)) if id(node) not in texts and text.startswith("/proc"):
                yield "/proc"
