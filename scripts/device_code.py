"""Writes the table of docs/workers.md that says which lines of device code the tests run, on what.

Device code: the lines of functions in `engine/` that name a kind of device or ask torch about one, and what hangs on
such a condition. Each of three sets of tests runs with a tracer in all its processes: on fake tensors of a GPU
(`tests/fake_gpu.py`), on a device type of our own (`tests/device_backend`), and on the CPU. Takes minutes.
"""

import ast
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / "engine"
PAGE = ROOT / "docs" / "workers.md"
BEGIN, END = "<!-- device code: begin -->\n", "<!-- device code: end -->\n"
WORDS = re.compile(
    r"\b(cuda|xpu|mps|nccl|xccl|torch\.accelerator|get_device_module|pin_memory|autocast|AcceleratorError)\b"
    r"|device\.type (==|!=|in|not in) |device(_name)? (==|!=) "
)
_COMMENT = re.compile("#.*")
SETS = {
    "fake": ["tests/engine/training/test_fake_gpu.py"],
    "own": ["tests/device_backend"],
    "CPU": [
        *(f"tests/engine/{room}" for room in ("hardware", "placement")),
        *(f"tests/engine/launch/test_{name}.py" for name in ("worker", "worker_process", "layer_profile")),
        *(f"tests/engine/training/test_{name}.py" for name in ("precision", "compilation", "checkpoints")),
        "tests/engine/parallel/test_process_group.py",
        "tests/system/test_training.py::test_two_workers_are_one",
        "tests/system/test_streaming_end_to_end.py",
    ],
}
TRACER = """
import json, os, sys, threading
wanted = {name: frozenset(lines) for name, lines in json.load(open(os.environ["DEVICE_LINES"])).items()}
known, done = {}, set()
def line(frame, event, _, wanted=wanted, done=done):
    place = frame.f_code.co_filename, frame.f_lineno
    if event == "line" and place not in done and place[1] in wanted[place[0]]:
        done.add(place)
        with open(os.environ["DEVICE_DONE"], "a") as file:
            file.write(f"{place[0]}:{place[1]}\\n")
    return line
def call(frame, event, _, wanted=wanted, known=known):
    code = frame.f_code
    if code not in known:
        lines = wanted.get(code.co_filename)
        known[code] = bool(lines) and any(number in lines for _, _, number in code.co_lines())
    return line if known[code] else None
if "DEVICE_DONE" in os.environ:
    sys.settrace(call)
    threading.settrace(call)
"""


def device_lines(source: str) -> dict[int, str]:
    """Return the lines of device code in a module, each with the name of its function."""
    texts, lines = _COMMENT.sub("", source).splitlines(), {}
    for function, name in _functions(ast.parse(source), ""):
        for node in ast.walk(function):
            if not isinstance(node, ast.stmt) or isinstance(node, ast.FunctionDef | ast.ClassDef) or _is_text(node):
                continue
            last = node.lineno if not hasattr(node, "body") else max(node.lineno, node.body[0].lineno - 1)
            end = last if hasattr(node, "body") else node.end_lineno or last
            if WORDS.search("\n".join(texts[node.lineno - 1 : end])):
                lines[node.lineno] = name
                if isinstance(node, ast.If):
                    bodies = (inner for each in node.body for inner in ast.walk(each))
                    lines |= {inner.lineno: name for inner in bodies if isinstance(inner, ast.stmt)}
    return lines


def _functions(tree: ast.AST, prefix: str) -> Iterator[tuple[ast.FunctionDef, str]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield node, f"{prefix}{node.name}"


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def lines_run(tests: list[str], lines: dict[str, dict[int, str]]) -> set[tuple[str, int]]:
    """Run tests and return the lines that they ran, by file. What fails is printed, and counts as far as it came."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sitecustomize.py").write_text(TRACER)
        (folder / "lines.json").write_text(json.dumps({file: sorted(numbers) for file, numbers in lines.items()}))
        (folder / "done").touch()
        own = {"DEVICE_LINES": str(folder / "lines.json"), "DEVICE_DONE": str(folder / "done"), "PYTHONPATH": name}
        words = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
        subprocess.run(words, cwd=ROOT, env={**os.environ, **own}, check=False)
        places = (line.rpartition(":") for line in (folder / "done").read_text().splitlines())
        return {(file, int(number)) for file, _, number in places}


def table(lines: dict[str, dict[int, str]], ran: dict[str, set[tuple[str, int]]]) -> str:
    """Return the table of the modules, and what never ran."""
    rows, never, total = [], [], [0] * (len(SETS) + 2)
    for file, numbers in sorted(lines.items()):
        module = Path(file).relative_to(ROOT).as_posix()
        places = {(file, number) for number in numbers}
        missing = places - set().union(*ran.values())
        counts = [len(places), *(len(places & ran[name]) for name in SETS), len(missing)]
        total = [a + b for a, b in zip(total, counts, strict=True)]
        rows.append(f"| `{module}` | {' | '.join(map(str, counts))} |")
        functions: dict[str, int] = defaultdict(int)
        for _, number in missing:
            functions[numbers[number]] += 1
        if functions:
            words = ", ".join(f"`{name}` ({count})" for name, count in sorted(functions.items()))
            never.append(f"- `{module}`: {words}")
    head = f"| module | lines | {' | '.join(SETS)} | never |\n|---|{'---|' * (len(SETS) + 2)}"
    rows.append(f"| all | {' | '.join(map(str, total))} |")
    return "\n".join([head, *rows, "", "Lines that no test has run, by function:", "", *never, ""])


def main() -> None:
    """Measure, and write the table."""
    lines = {}
    for path in sorted(ENGINE.rglob("*.py")):
        if path.parent.name == "training_script":  # what it writes is a program of the user's
            continue
        if numbers := device_lines(path.read_text(encoding="utf-8")):
            lines[str(path)] = numbers
    with ThreadPoolExecutor() as pool:
        ran = dict(zip(SETS, pool.map(lambda tests: lines_run(tests, lines), SETS.values()), strict=True))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    today = datetime.date.today().isoformat()
    text = f"Measured on {today} by `python -m scripts.device_code`.\n\n{table(lines, ran)}"
    PAGE.write_text(f"{before}{BEGIN}{text}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
