"""Few programs are started as processes; one of them runs all modules that have `main(arguments)`, which
`docs/architecture.md` lists."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "app/__main__.py",
    "engine/__main__.py",
    "engine/core/child.py",
    "engine/cluster/nodes/cluster_probe.py",  # copied to hosts of a cluster, where there is nothing of Netwright
}
"""May only get shorter: write `main(arguments)`, and start the module with `module_command`."""


def test_there_are_few_programs() -> None:
    files = [file for room in ("engine", "app", "designer") for file in (ROOT / room).rglob("*.py")]
    assert {str(file.relative_to(ROOT)) for file in files if _is_program(file)} == PROGRAMS


def _is_program(file: Path) -> bool:
    text = file.read_text(encoding="utf-8")
    if "__main__" not in text:  # to parse all takes seconds
        return False
    return any("__main__" in ast.unparse(node.test) for node in ast.parse(text).body if isinstance(node, ast.If))
