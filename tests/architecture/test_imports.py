"""What a fresh interpreter has loaded after an import: the window stays free of torch, the engine of Qt.

The import contracts in pyproject.toml look at the source; this looks at what really happens.
"""

import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QT = {"PySide6", "shiboken6", "pyqtgraph", "pytestqt"}
HEAVY = {"torch", "onnx", "onnxruntime", "onnxscript", "safetensors", "scipy", "sklearn"}
NUMPY = {"numpy"}
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
ROOMS = next(contract["layers"] for contract in CONTRACTS if contract.get("containers") == ["engine"])[::-1]
LIGHT = ROOMS[: ROOMS.index("lowering")]
"""The rooms below `lowering`: the ones that the window may import."""


def loaded_by(*modules: str) -> set[str]:
    """The top-level names of everything that is loaded once these modules are imported."""
    code = f"import sys, importlib\nfor m in {modules!r}: importlib.import_module(m)\nprint(*(m for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stdout.split()}


def with_submodules(name: str) -> list[str]:
    """The module and, if it is a package, everything in it, found without importing any of it."""
    folder = ROOT.joinpath(*name.split("."))
    if not folder.is_dir():
        return [name]
    inside = pkgutil.walk_packages([str(folder)], prefix=f"{name}.")
    return [name, *(module.name for module in inside)]


@pytest.mark.parametrize(
    ("module", "banned"),
    [
        ("app.main", HEAVY | NUMPY | {"pyqtgraph"}),  # plots come when the first one is seen
        ("engine.cli.main", QT | HEAVY | NUMPY),
        ("engine.__main__", QT | HEAVY | NUMPY),
        ("engine.cli.serve", QT),
        ("engine.api", QT | HEAVY | NUMPY),
    ],
)
def test_a_start_loads_nothing_heavy(module: str, banned: set[str]) -> None:
    assert loaded_by(module) & banned == set()


def test_listing_the_commands_loads_nothing_heavy() -> None:
    commands = [name for name in with_submodules("engine.cli") if not name.endswith("__main__")]
    assert loaded_by(*commands) & (QT | HEAVY | NUMPY | {"PIL"}) == set()


def test_a_coordinator_needs_no_torch() -> None:
    assert loaded_by("engine.launch.coordinator") & (HEAVY | NUMPY) == set()


def test_the_light_modules_load_the_standard_library_only() -> None:
    modules = [module for room in LIGHT for module in with_submodules(f"engine.{room}")]
    # What the interpreter itself brings along, such as the hooks of installed packages, is none of ours.
    foreign = loaded_by(*modules) - set(sys.stdlib_module_names) - loaded_by("sys")
    assert foreign == {"engine"}


def test_every_room_stands_in_the_contract() -> None:
    folders = {path.parent.name for path in (ROOT / "engine").glob("*/__init__.py")}
    modules = {path.stem for path in (ROOT / "engine").glob("[!_]*.py")}
    assert folders | modules == set(ROOMS)
    assert LIGHT[0] == "core"


def test_the_whole_engine_loads_no_qt() -> None:
    assert loaded_by(*with_submodules("engine")) & QT == set()
