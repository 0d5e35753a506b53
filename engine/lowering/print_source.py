"""Print a network as one readable PyTorch file, which runs without Netwright and has the same state-dict keys."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from netwright.engine.core.types import TensorType
from netwright.engine.lowering.classes import OWN, call, class_texts, literal
from netwright.engine.lowering.module import resolve
from netwright.engine.lowering.plan import Plan, plan
from netwright.engine.network.analysis import Analysis
from netwright.engine.network.catalog import add_on_of
from netwright.engine.network.network import Network
from netwright.engine.user_code.expression import companion, is_expression, is_users, split_code

LOAD = [
    "def load(weights: Path | None = None) -> Network:",
    '    """Return the trained network; its weights are in the .safetensors file beside this one, unless named."""',
    "    from safetensors.torch import load_file",
    "",
    "    network = Network()",
    '    network.load_state_dict(load_file(weights or Path(__file__).with_suffix(".safetensors")))',
    "    return network.eval()",
]
DEMO_BATCH = 4
DEMO_STEPS = 16
"""Sequence length in the demonstration, where the network takes any length."""


def bundled_sources(targets: Iterable[str]) -> list[list[str]]:
    """Return the source lines of each target in `netwright.engine.lowering.modules` once, after those of its
    dependencies."""
    parts: dict[Any, None] = {}
    for target in targets:
        if target.startswith(OWN):
            _gather(resolve(target), parts)
    return [inspect.getsource(part).rstrip().split("\n") for part in parts]


def _gather(part: Any, parts: dict[Any, None]) -> None:
    if part not in parts:
        for dependency in _used(part):
            _gather(dependency, parts)
        parts[part] = None


def _used(part: Any) -> Iterator[Any]:
    """Yield the bundled classes and functions that the source of `part` names, including base classes."""
    names = vars(sys.modules[part.__module__])
    tree = ast.parse(textwrap.dedent(inspect.getsource(part)))
    for name in dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)):
        value = names.get(name)
        if value is not part and inspect.isroutine(value) | inspect.isclass(value) and _is_ours(value):
            yield value


def _is_ours(item: Any) -> bool:
    return getattr(item, "__module__", None) is not None and item.__module__.startswith(OWN)


def source(
    network: Network,
    analysis: Analysis,
    *,
    title: str,
    logits: bool = False,
    classes: Sequence[str] = (),
    columns: Sequence[str] = (),
    about: Sequence[str] = (),
    examples: Sequence[str] = (),
) -> str:
    """Return the text of the file: class `Network`, with the attribute names of the built module, `load` and
    a demonstration.

    `classes` are the class names of the output, `columns` the column names of an input from a table. `about` are lines
    of the docstring on the inputs, `examples` the expressions of the batch that the demonstration feeds, one per input;
    without them it feeds random numbers from 0 to 1. `logits` omits the softmax at each output. Raises `UserError` for
    a network with errors.
    """
    network_plan = plan(network, analysis, logits=logits)
    heading = _heading(network_plan, title, about)
    for name, texts in (("COLUMNS", columns), ("CLASSES", classes)):
        if texts:
            heading += ["", *call(0, f"{name} = [", [literal(word) for word in texts], "]")]
    parts = [heading, *_helpers(network_plan), *class_texts(network_plan), LOAD, _demonstration(network_plan, examples)]
    return "\n\n\n".join("\n".join(part) for part in parts) + "\n"


def _clean(text: str) -> str:
    """Return untrusted text in one line of a docstring: nothing in it may end the docstring."""
    return "".join(c if c.isprintable() else " " for c in text).replace("\\", "/").replace('"', "'").rstrip()


def _heading(planned: Plan, title: str, about: Sequence[str]) -> list[str]:
    """Return the docstring and the imports."""
    lines = [f'"""{" ".join(_clean(title).split()) or "Untitled"}: a neural network.', ""]
    variables = {step.layer.id: step.variable for step in planned.steps}
    ends_of_network = [("Input", name, type) for name, type in zip(planned.arguments, planned.types, strict=True)]
    output_types = {port: type for step in planned.steps for port, type in zip(step.ports, step.outputs, strict=True)}
    ends_of_network += [("Output", variables[port.layer], output_types[port]) for port in planned.outputs]
    for word, name, type in ends_of_network:
        kind = ", whole numbers" if type.kind == "index" else ""
        lines.append(f"{word} {name}: N × {type.short()} (batch × {' × '.join(type.axes)}){kind}")
    lines += ["", *map(_clean, about)] if about else []
    network_calls = [named_call.call for step in planned.all_steps() for named_call in step.calls]
    targets = {layer_call.target for layer_call in network_calls if layer_call.kind != "method"}
    standard = (
        ["import operator"] if any(layer_call.target.startswith("operator.") for layer_call in network_calls) else []
    )
    if any("math." in target for target in targets if is_expression(target)):
        standard.insert(0, "import math")
    if "import math" not in standard and any("math." in line for helper in _helpers(planned) for line in helper):
        standard.insert(0, "import math")
    files = {split_code(target)[0] for target in targets if is_users(target) and not is_expression(target)}
    code_imports = ["", *(f"import {name}" for name in sorted(map(companion, files)))] if files else []
    helpers = [line for helper in _helpers(planned) for line in helper]
    typing = ["from typing import Any"] if any(re.search(r"\bAny\b", line) for line in helpers) else []
    numpy = ["import numpy as np"] if any("np." in line for line in helpers) else []
    torch = [*numpy, "import torch", "from torch import nn", *_add_on_imports(planned), *code_imports]
    return [*lines, '"""', "", *standard, "from pathlib import Path", *typing, "", *torch]


def _add_on_imports(planned: Plan) -> list[str]:
    """Return the imports of the add-ons that the network uses; their packages must be installed where the file runs."""
    targets = {
        named_call.call.target
        for step in planned.all_steps()
        for named_call in step.calls
        if named_call.call.kind != "method"
    }
    add_ons = {target.rpartition(".")[0]: add_on_of(target) for target in sorted(targets)}
    return [f"import {module}  # of the package {add_on.title}" for module, add_on in add_ons.items() if add_on]


def _helpers(planned: Plan) -> list[list[str]]:
    """Return the bundled classes and functions that the network uses, each as lines of source."""
    network_calls = (named_call.call for step in planned.all_steps() for named_call in step.calls)
    return bundled_sources(
        dict.fromkeys(layer_call.target for layer_call in network_calls if layer_call.kind != "method")
    )


def _demonstration(planned: Plan, examples: Sequence[str]) -> list[str]:
    """Return the code that builds the network, loads its weights if their file exists, and runs one batch."""
    examples = examples or [_example(type) for type in planned.types]
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
    """Return the expression of a batch of random numbers, or of zeros for an input of indices."""
    sizes = ", ".join(str(size if isinstance(size, int) else DEMO_STEPS) for size in type.sizes)
    if type.kind == "index":
        return f"torch.zeros({DEMO_BATCH}, {sizes}, dtype=torch.long)"
    return f"torch.rand({DEMO_BATCH}, {sizes})"
