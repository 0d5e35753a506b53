"""Prints a network as one readable file of PyTorch, which runs without Netwright and has the same state-dict."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from engine.core.types import TensorType
from engine.lowering.classes import OWN, call, class_texts, literal
from engine.lowering.module import resolve
from engine.lowering.plan import Plan, plan
from engine.network.analysis import Analysis
from engine.network.catalog import add_on_of
from engine.network.network import Network
from engine.user_code.expression import companion, is_expression, is_users, split_code

LOAD = [
    "def load(weights: Path | None = None) -> Network:",
    '    """The trained network; its weights lie in a file beside this one, unless told otherwise."""',
    "    from safetensors.torch import load_file",
    "",
    "    network = Network()",
    '    network.load_state_dict(load_file(weights or Path(__file__).with_suffix(".safetensors")))',
    "    return network.eval()",
]
DEMO_BATCH = 4
DEMO_STEPS = 16
"""The length of the sequences in the demonstration, where the network takes any."""


def bundled_sources(targets: Iterable[str]) -> list[list[str]]:
    """Return the source of each target that is ours, as lines, behind that of what it uses; each once."""
    found: dict[Any, None] = {}
    for target in targets:
        if target.startswith(OWN):
            _gather(resolve(target), found)
    return [inspect.getsource(part).rstrip().split("\n") for part in found]


def _gather(part: Any, found: dict[Any, None]) -> None:
    if part not in found:
        for used in _used(part):
            _gather(used, found)
        found[part] = None


def _used(part: Any) -> Iterator[Any]:
    """Yield the classes and functions of ours that the source of one names: base classes, too."""
    names = vars(sys.modules[part.__module__])
    tree = ast.parse(textwrap.dedent(inspect.getsource(part)))
    for name in dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)):
        named = names.get(name)
        if named is not part and inspect.isroutine(named) | inspect.isclass(named) and _is_ours(named):
            yield named


def _is_ours(named: Any) -> bool:
    return getattr(named, "__module__", None) is not None and named.__module__.startswith(OWN)


def source(
    network: Network,
    analysis: Analysis,
    *,
    title: str,
    logits: bool = False,
    classes: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> str:
    """The file as text: class `Network`, with the same attribute names as the built module, `load`, a demonstration.

    `classes` name the outputs, `columns` the numbers of an input that comes from a table. `logits` leaves out a softmax
    at an output. Raises `UserError` for a network with errors.
    """
    planned = plan(network, analysis, logits=logits)
    heading = _heading(planned, title)
    for name, words in (("COLUMNS", columns), ("CLASSES", classes)):
        if words:
            heading += ["", *call(0, f"{name} = [", [literal(word) for word in words], "]")]
    parts = [heading, *_helpers(planned), *class_texts(planned), LOAD, _demonstration(planned)]
    return "\n\n\n".join("\n".join(part) for part in parts) + "\n"


def _heading(planned: Plan, title: str) -> list[str]:
    """Docstring and imports. The title is a stranger's text: nothing in it may end the docstring."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in title).split()).replace("\\", "/").replace('"', "'")
    lines = [f'"""{clean or "Untitled"}: a neural network.', ""]
    variables = {step.layer.id: step.variable for step in planned.steps}
    ends = [("Input", name, type) for name, type in zip(planned.arguments, planned.types, strict=True)]
    leaving = {port: type for step in planned.steps for port, type in zip(step.ports, step.outputs, strict=True)}
    ends += [("Output", variables[port.layer], leaving[port]) for port in planned.outputs]
    for word, name, type in ends:
        kind = ", whole numbers" if type.kind == "index" else ""
        lines.append(f"{word} {name}: N × {type.short()} (batch × {' × '.join(type.axes)}){kind}")
    used = [named.call for step in planned.all_steps() for named in step.calls]
    targets = {made.target for made in used if made.kind != "method"}
    standard = ["import operator"] if any(made.target.startswith("operator.") for made in used) else []
    if any("math." in target for target in targets if is_expression(target)):
        standard.insert(0, "import math")
    if "import math" not in standard and any("math." in line for helper in _helpers(planned) for line in helper):
        standard.insert(0, "import math")
    torch = ["import torch", "from torch import nn", *_add_on_imports(planned), *_code_imports(targets)]
    return [*lines, '"""', "", *standard, "from pathlib import Path", "", *torch]


def _code_imports(targets: Iterable[str]) -> list[str]:
    """Imports of the user's files, which lie beside this one."""
    files = {split_code(target)[0] for target in targets if is_users(target) and not is_expression(target)}
    return ["", *(f"import {name}" for name in sorted(map(companion, files)))] if files else []


def _add_on_imports(planned: Plan) -> list[str]:
    """Imports of the add-ons whose modules the network uses; their packages must be installed where the file runs."""
    used = {made.call.target for step in planned.all_steps() for made in step.calls if made.call.kind != "method"}
    found = {target.rpartition(".")[0]: add_on_of(target) for target in sorted(used)}
    return [f"import {module}  # of the package {add_on.title}" for module, add_on in found.items() if add_on]


def _helpers(planned: Plan) -> list[list[str]]:
    """Return the bundled classes and functions of ours that the network uses, each as lines of source."""
    used = (named.call for step in planned.all_steps() for named in step.calls)
    return bundled_sources(dict.fromkeys(made.target for made in used if made.kind != "method"))


def _demonstration(planned: Plan) -> list[str]:
    """Builds the network, with the weights beside the file if there are some, and runs one batch."""
    examples = [_example(type) for type in planned.types]
    return [
        'if __name__ == "__main__":',
        '    is_trained = Path(__file__).with_suffix(".safetensors").exists()',
        "    network = load() if is_trained else Network().eval()",
        "    with torch.no_grad():",
        *call(8, "result = network(", examples, ")"),
        "    for output in result if isinstance(result, tuple) else (result,):",
        '        print(*output.shape, sep=" × ")',
    ]


def _example(type: TensorType) -> str:
    """A batch of random numbers, or of the first index."""
    sizes = ", ".join(str(size if isinstance(size, int) else DEMO_STEPS) for size in type.sizes)
    if type.kind == "index":
        return f"torch.zeros({DEMO_BATCH}, {sizes}, dtype=torch.long)"
    return f"torch.rand({DEMO_BATCH}, {sizes})"
