"""What is tracked: the rooms where they belong, and nothing of the machine it was written on."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = {"app", "designer", "engine", "resources", "tests"}
BESIDE_THEM = {".ci", ".github", "benchmarks", "docs", "netwright", "scripts"}
TOP_FILES = {
    ".gitattributes",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "constraints.txt",
    "lock.txt",
    "pyproject.toml",
}
LARGEST_BYTES = 4_000_000
# Put together from pieces, so that this file does not find itself.
TRACES = {
    "a home folder": re.compile(r"/(?:home|Users)/(?!user\b|someone\b|you\b|me\b)[a-z]\w+/|/" + r"root/\w"),
    "a checkout's path": re.compile("/" + r"work/(?:main|shared)\b"),
    "a package registry": re.compile(
        "py" + r"pi\.org|pythonhosted" + r"\.org|download\.py" + r"torch\.org/whl|/opt/" + "pypi"
    ),
    "a private key": re.compile("-----BEGIN [A-Z ]*PRIVATE " + "KEY-----"),
    "an access token": re.compile(
        r"\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_\w{36}|hf_[A-Za-z]{30,}|xox[abp]-\w{10,}|sk-\w{32,})\b"
    ),
    "a password": re.compile(r"""(?i)\b(?:password|api_?key|secret|token)\s*[=:]\s*["'][\w+/=-]{16,}["']"""),
}


def tracked_files() -> list[Path]:
    """The files of the repository, or where there is no git the files of its rooms and its top level."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        found = [ROOT / name for name in TOP_FILES]
        for room in ROOMS | BESIDE_THEM:
            found += (path for path in (ROOT / room).rglob("*") if "__pycache__" not in path.parts)
        return [path for path in found if path.is_file()]
    # git is told to trust a checkout that belongs to another user, as CI's may.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


FILES = tracked_files()
SOURCES = [path for path in FILES if path.suffix == ".py"]


def texts() -> dict[str, str]:
    """Every tracked text file by its name."""
    found = {}
    for path in FILES:
        data = path.read_bytes()
        if b"\0" not in data:
            found[str(path.relative_to(ROOT))] = data.decode("utf-8")
    return found


def test_the_top_level_holds_the_rooms() -> None:
    parts = [path.relative_to(ROOT).parts for path in FILES]
    folders = {names[0] for names in parts if len(names) > 1}
    assert folders >= ROOMS
    assert folders <= ROOMS | BESIDE_THEM
    assert {names[0] for names in parts if len(names) == 1} <= TOP_FILES


@pytest.mark.parametrize("trace", TRACES)
def test_no_trace_of_a_machine_or_a_secret(trace: str) -> None:
    pattern = TRACES[trace]
    lines = ((name, line) for name, text in texts().items() for line in text.splitlines())
    assert [f"{name}: {line.strip()[:100]}" for name, line in lines if pattern.search(line)] == []


@pytest.mark.parametrize(
    ("trace", "line"),
    [
        ("a home folder", "/" + "home/maria/data/"),
        ("a package registry", "--index-url https://py" + "pi.org/x"),
        ("a private key", "-----BEGIN RSA PRIVATE " + "KEY-----"),
        ("an access token", "gh" + "p_" + "a" * 36),
        ("a password", "password = " + "'correcthorsebattery'"),
    ],
)
def test_the_patterns_find_what_they_are_for(trace: str, line: str) -> None:
    assert TRACES[trace].search(line)


def test_no_file_has_the_marks_of_a_merge() -> None:
    marks = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
    assert [name for name, text in texts().items() if marks.search(text)] == []


def test_constraints_are_version_pins_only() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"#.*|[\w.-]+==[\w.]+", line)] == []


def test_files_are_small() -> None:
    assert [str(path.relative_to(ROOT)) for path in FILES if path.stat().st_size > LARGEST_BYTES] == []


def test_package_files_hold_a_docstring_only() -> None:
    """Those of the rooms refuse to be imported under a second name, too."""
    packages = [path.relative_to(ROOT) for path in SOURCES if path.name == "__init__.py"]
    for path in packages:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), path
        if path.parts[0] != "netwright":
            assert len(tree.body) == 1 + (len(path.parts) == 2), path


def test_every_folder_with_modules_is_a_package() -> None:
    """An ordinary folder would work in a checkout and be missing from the built wheel."""
    rooms = ROOMS - {"tests", "resources"}
    folders = {path.parent for path in SOURCES if path.relative_to(ROOT).parts[0] in rooms}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_tests_are_no_packages() -> None:
    """With packages, tests/app would shadow app."""
    assert [str(path) for path in (ROOT / "tests").rglob("__init__.py")] == []


def test_processes_are_forked_in_one_place() -> None:
    """`netwright.engine.core.fork.fork` leaves nothing of the parent in a child."""
    is_fork = re.compile(r"\bos\.fork(pty)?\(|from os import .*\bfork|\bforkpty\(|get_context\(.fork|fork_process\(")
    rooms = ("app/", "designer/", "engine/")
    places = {name for name, text in texts().items() if name.startswith(rooms) and is_fork.search(text)}
    places.discard("engine/cluster/nodes/ray_placer.py")  # a line for a fresh interpreter on a node, without Netwright
    assert places == {f"engine/core/{name}.py" for name in ("fork", "posix_processes", "windows_processes")}


def test_csv_is_written_by_one_module() -> None:
    """`engine/core/csv_text.py` keeps texts from being formulas of a spreadsheet. Tables in the cache are read by us
    alone, with their texts as they are."""
    writers = re.compile(r"\bcsv\.(writer|DictWriter)\(|from csv import")
    product = [path for path in SOURCES if path.relative_to(ROOT).parts[0] in ("app", "designer", "engine")]
    found = [path.name for path in product if writers.search(path.read_text(encoding="utf-8"))]
    assert found == ["converted_tables.py"]


def test_commands_print_through_one_module() -> None:
    """`engine/cli/printing.py` escapes what a terminal obeys in names that a stranger chose."""
    prints = re.compile(r"(?<![\w.])print\(|sys\.std(?:out|err)\.write\(")
    commands = [path for path in SOURCES if path.parent == ROOT / "engine" / "cli"]
    found = {path.name for path in commands if prints.search(path.read_text(encoding="utf-8"))}
    # The list of commands imports nothing; progress and colours are those of the terminal module.
    assert found == {"printing.py", "main.py", "terminal.py"}
