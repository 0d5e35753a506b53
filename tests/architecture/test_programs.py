"""What is started as a process of its own: few programs, of which one runs all modules that have `main(arguments)`."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "app/__main__.py",
    "engine/__main__.py",
    "engine/core/process/__main__.py",
    "engine/launch/cluster_probe.py",  # copied to hosts of a cluster, where there is nothing of Netwright
}
"""May only get shorter: write `main(arguments)`, and start the module with `module_command`."""
MODULES = """
    netwright.app.experiments.curve_reader netwright.app.experiments.run_reader
    netwright.app.start_page.running_program netwright.app.start_page.thumbnail_program
    netwright.engine.cli.serve netwright.engine.cluster.follower
    netwright.engine.data.image_check netwright.engine.data.reader_processes netwright.engine.data.sources.python_code
    netwright.engine.exchange.importing.keras.original
    netwright.engine.experiments.place_agent netwright.engine.experiments.program
    netwright.engine.experiments.ray_places
    netwright.engine.hardware.devices netwright.engine.hardware.speed
    netwright.engine.launch.advisor netwright.engine.launch.detached_coordinator netwright.engine.launch.largest_batch
    netwright.engine.launch.machine_test netwright.engine.launch.notify netwright.engine.launch.profile
    netwright.engine.launch.queue_runner netwright.engine.launch.queued_run netwright.engine.launch.remote.node_agent
    netwright.engine.launch.remote.ray_jobs netwright.engine.launch.remote.ray_placer
    netwright.engine.launch.remote.ray_probe netwright.engine.launch.worker
    netwright.engine.lowering.measure_user_code netwright.engine.network.arrange_program
"""
"""All modules that are started so, to be seen in one place; those of a part that is taken out go with it."""


def test_there_are_few_programs() -> None:
    files = [file for room in ("engine", "app", "designer") for file in (ROOT / room).rglob("*.py")]
    assert {str(file.relative_to(ROOT)) for file in files if _is_program(file)} == PROGRAMS


def test_modules_that_are_started_have_a_main() -> None:
    for name in MODULES.split():
        path = ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py")
        functions = [
            node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)
        ]
        mains = [node for node in functions if node.name == "main"]
        assert [len(node.args.args) for node in mains] == [1], f"{name} has no main(arguments)"


def test_all_modules_that_are_started_are_listed() -> None:
    known = set(MODULES.split())
    for room in ("engine", "app", "designer"):
        for file in (ROOT / room).rglob("*.py"):
            for name in _started_by(ast.parse(file.read_text(encoding="utf-8"))):
                assert name in known, f"{file.relative_to(ROOT)} starts {name}"


def _is_program(file: Path) -> bool:
    statements = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.If)]
    return any("__main__" in ast.unparse(node.test) for node in statements)


def _started_by(tree: ast.AST) -> list[str]:
    """The modules that are named where one is started, or in a constant for that."""
    found = []
    for node in ast.walk(tree):
        texts: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            starts = ("module_command", "module_words", "lines_of", "run_here", "start_detached_module", "start")
            texts = list(node.args[:3]) if node.func.id in starts else []
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("MODULE", "AGENT"):
            texts = [node.value]
        found += [text.value for text in texts if isinstance(text, ast.Constant) and isinstance(text.value, str)]
    return [text for text in found if text.startswith("netwright.")]
