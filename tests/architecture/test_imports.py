"""What a fresh interpreter has loaded after an import: the window stays free of torch, the engine of Qt.

The import contracts in pyproject.toml look at the source; this looks at what really happens.
"""

import ast
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from netwright.engine.cli.main import main

ROOT = Path(__file__).parents[2]
QT = {"PySide6", "shiboken6", "pyqtgraph", "pytestqt"}
HEAVY = {"torch", "onnx", "onnxruntime", "onnxscript", "safetensors", "scipy", "sklearn"}
NUMPY = {"numpy", "pyarrow"}
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
ROOMS = next(contract["layers"] for contract in CONTRACTS if contract.get("containers") == ["netwright.engine"])[::-1]
LIGHT = ROOMS[: ROOMS.index("lowering")]
"""The rooms below `lowering`: the ones that the window may import."""


def loaded_by(*modules: str) -> set[str]:
    """The top-level names of everything that is loaded once these modules are imported."""
    code = f"import sys, importlib\nfor m in {modules!r}: importlib.import_module(m)\nprint(*(m for m in sys.modules))"
    return {name.partition(".")[0] for name in printed(code).split()}


def printed(code: str) -> str:
    """The output of a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by_command(words: list[str]) -> set[str]:
    """Everything that is loaded once a command has ended: rooms such as `netwright.engine.runs`, and top-level
    names."""
    code = f"""
import contextlib, io, sys
from netwright.engine.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    assert main({words!r}) == 0
print(*sys.modules)
"""
    names = [name.split(".") for name in printed(code).split()]
    return {parts[0] for parts in names} | {".".join(parts[:3]) for parts in names if parts[0] == "netwright"}


def with_submodules(name: str) -> list[str]:
    """The module and, if it is a package, everything in it that this system has, found without importing any of it."""
    folder = ROOT.joinpath(*name.split(".")[1:])
    if not folder.is_dir():
        return [name]
    inside = pkgutil.walk_packages([str(folder)], prefix=f"{name}.")
    return [name, *(module.name for module in inside if ".core.windows_" not in module.name)]


@pytest.mark.parametrize(
    ("module", "banned"),
    [
        ("netwright.app.main", HEAVY | NUMPY | {"pyqtgraph"}),  # plots come when the first one is seen
        ("netwright.engine.cli.main", QT | HEAVY | NUMPY),
        ("netwright.engine.__main__", QT | HEAVY | NUMPY),
        ("netwright.engine.cli.serve", QT),
        ("netwright.engine.api", QT | HEAVY | NUMPY),
    ],
)
def test_a_start_loads_nothing_heavy(module: str, banned: set[str]) -> None:
    assert loaded_by(module) & banned == set()


def test_listing_the_commands_loads_nothing_heavy() -> None:
    commands = [name for name in with_submodules("netwright.engine.cli") if not name.endswith("__main__")]
    assert loaded_by(*commands) & (QT | HEAVY | NUMPY | {"PIL"}) == set()


@pytest.mark.parametrize(
    ("words", "rooms"),
    [
        (["--version"], set()),
        (["help"], set()),
        (["notify"], {"hardware", "operations", "project"}),
        (["options", "lr"], {"hardware", "layers", "network", "operations", "project", "user_code"}),
        (["devices"], {"cluster", "hardware", "layers", "network", "placement", "project", "user_code"}),
        (["templates"], {"hardware", "layers", "network", "operations", "placement", "project", "runs", "user_code"}),
        (
            ["runs", "DIGITS"],
            {"hardware", "layers", "network", "operations", "placement", "project", "runs", "user_code"},
        ),
        (["check", "DIGITS", "--set", "data.source=none"], {*LIGHT} - {"core"} | {"hardware"}),
        (["train", "--help"], {*LIGHT} - {"core"}),
    ],
)
def test_a_light_command_loads_few_rooms_and_nothing_of_networks_and_numbers(words: list[str], rooms: set[str]) -> None:
    """TLS, HTTP and e-mail come along with modules of the standard library that seem harmless."""
    digits = str(ROOT / "resources" / "examples" / "digits.netwright")
    loaded = loaded_by_command([digits if word == "DIGITS" else word for word in words])
    foreign = {"ssl", "http"} | ({"email"} if words != ["devices"] else set())  # of importlib.metadata
    assert loaded & (QT | HEAVY | NUMPY | foreign | {"PIL", "rich"}) == set()
    assert {name for name in loaded if name.startswith("netwright.engine.")} <= {
        *(f"netwright.engine.{room}" for room in rooms),
        "netwright.engine.cli",
        "netwright.engine.core",
    }


def test_a_check_of_a_table_loads_pyarrow_and_numpy_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyarrow reads the rows, NumPy splits them; no picture is made of them, and no network is asked."""
    table = tmp_path / "prices.csv"
    table.write_text("size,age,price\n" + "".join(f"{index},{index % 7},{index}.5\n" for index in range(60)))
    monkeypatch.chdir(tmp_path)
    assert main(["new", "--data", str(table)]) == 0
    loaded = loaded_by_command(["check", str(tmp_path / "prices.netwright")])
    assert "numpy" in loaded
    assert loaded & (QT | HEAVY | {"ssl", "http", "email", "PIL", "rich", "fsspec"}) == set()
    code = f"""
import contextlib, io, os
from threadpoolctl import threadpool_info
os.environ.pop("OPENBLAS_NUM_THREADS", None)
from netwright.engine.cli.main import main
with contextlib.redirect_stdout(io.StringIO()):
    main(["check", {str(tmp_path / "prices.netwright")!r}])
print(*(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"))
print(os.environ.get("OPENBLAS_NUM_THREADS"))
"""
    assert printed(code).split() == ["1", "None"], "no threads for products of matrices, and none less for others"


def test_a_drawing_as_svg_loads_no_network_library() -> None:
    assert (
        loaded_by("netwright.engine.drawing.svg", "netwright.engine.drawing.charts") & {"ssl", "http", "email", "PIL"}
        == set()
    )


def test_no_process_of_a_run_loads_matplotlib() -> None:
    """A library of metrics brought it along: a second of the processor for the chart that nobody draws."""
    code = """
import sys, torch
import netwright.engine.launch.coordinator, netwright.engine.launch.worker, netwright.engine.analysis.evaluate
from netwright.engine.training.classwise_metrics import Auc
print(Auc(2, is_labels=True).value_of(torch.rand(9, 2), torch.eye(2).repeat(5, 1)[:9]), file=sys.stderr)
print(*sys.modules)
"""
    names = {name.partition(".")[0] for name in printed(code).split()}
    assert "torch" in names
    assert names & {"matplotlib", "torchmetrics", "pandas", "sklearn"} == set()


def test_a_coordinator_needs_no_torch() -> None:
    assert loaded_by("netwright.engine.launch.coordinator") & (HEAVY | NUMPY) == set()


def test_the_light_modules_load_the_standard_library_only() -> None:
    modules = [module for room in LIGHT for module in with_submodules(f"netwright.engine.{room}")]
    # What the interpreter itself brings along, such as the hooks of installed packages, is none of ours.
    foreign = loaded_by(*modules) - set(sys.stdlib_module_names) - loaded_by("sys")
    assert foreign == {"netwright"}


def test_the_whole_engine_loads_no_qt() -> None:
    assert loaded_by(*with_submodules("netwright.engine")) & QT == set()


LOADS = re.compile(r"(import|from) +onnxruntime|onnxruntime(\.[\w.]+)?")
"""Texts that load ONNX Runtime where they are run, or given to `import_module`."""
LOADER = "engine/lowering/modules/onnx_runtime.py"
NAMED = {
    "engine/exchange/onnx_export.py": "a key of the report",
    "engine/exchange/snippet.py": "code for users, which switches the telemetry off: tests/faults/test_telemetry.py",
    "engine/exchange/writing_script.py": "code for users as well: tests/engine/exchange/test_writing_script.py",
    "engine/layers/addons.py": "a list of libraries that add-ons must not load",
    "tests/architecture/test_imports.py": "lists of libraries, and the patterns here",
    "tests/engine/endpoint/test_endpoint.py": "a library that a process has mapped",
    "tests/faults/test_telemetry.py": "a program that does send events",
}
"""Files with such texts, and what they are."""


def loads_onnx_runtime(path: Path) -> Iterator[int]:
    """Yield the lines that load ONNX Runtime by themselves: imports, also inside functions, and texts of code."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)) if "onnxruntime" in source else ():
        match node:
            case ast.Import(names=names) if any(one.name.split(".")[0] == "onnxruntime" for one in names):
                yield node.lineno
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] == "onnxruntime":
                yield node.lineno
            case ast.Constant(value=str(text)) if any(LOADS.fullmatch(line.strip()) for line in text.split("\n")):
                yield node.lineno


def sends_events(page: str) -> bool:
    """Whether a program on a page loads ONNX Runtime without the variable before that keeps it silent."""
    before, load, _ = page.partition("import onnxruntime")
    return bool(load) and 'os.environ["ORT_DISABLE_TELEMETRY"] = "1"' not in before


def test_a_page_whose_program_sends_events_is_found() -> None:
    assert sends_events("import onnxruntime\n")
    assert not sends_events('os.environ["ORT_DISABLE_TELEMETRY"] = "1"\nimport onnxruntime\n')


def test_one_module_loads_onnx_runtime() -> None:
    """It sends events to its maker unless a variable is set before."""
    folders = ("app", "benchmarks", "designer", "engine", "resources", "scripts", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix() for path in files if any(loads_onnx_runtime(path))}
    assert found == set(NAMED)
    assert (ROOT / LOADER).exists()
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "resources").rglob("*.md"), ROOT / "README.md"]
    assert [page for page in pages if sends_events(page.read_text(encoding="utf-8"))] == []


def test_each_way_to_load_onnx_runtime_is_seen(tmp_path: Path) -> None:
    lines = (
        "import onnxruntime as rt",
        "def f():\n    from onnxruntime.quantization import QuantType",
        'importlib.import_module("onnxruntime.tools")',
        'CODE = """\nimport os\nimport onnxruntime\n"""',
    )
    for line in lines:
        (tmp_path / "a.py").write_text(line, encoding="utf-8")
        assert list(loads_onnx_runtime(tmp_path / "a.py")), line
    (tmp_path / "a.py").write_text('"""It needs onnxruntime."""\nonnx_runtime("tools")', encoding="utf-8")
    assert not list(loads_onnx_runtime(tmp_path / "a.py"))


WALKED = {"engine/layers", "engine/lowering/modules", "engine/operations", "engine/exchange/importing/lifts"}
"""Packages all of whose modules are imported, by `pkgutil.iter_modules`."""


def test_each_module_is_named_in_another_file() -> None:
    files = [
        path
        for room in ("app", "designer", "engine", "scripts")
        for path in (ROOT / room).rglob("*")
        if path.suffix in {".py", ".json"}
    ]
    words = {path: set(re.findall(r"\w+", path.read_text(encoding="utf-8"))) for path in files}
    count = Counter(word for found in words.values() for word in found)
    alone = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if path.suffix == ".py"
        and path.parent != ROOT / "scripts"
        and not path.stem.startswith("__")
        and count[path.stem] == (path.stem in words[path])
    }
    assert {path for path in alone if path.rpartition("/")[0] not in WALKED} == set(), "no code imports these"
