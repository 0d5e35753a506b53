"""From a network to one readable file of PyTorch, which runs without Netwright and has the same state."""

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.build.module import resolve
from engine.build.plan import NamedCall, Plan, Step, plan
from engine.layers.types import TensorType
from engine.network.analysis import Analysis
from engine.network.network import Network

LINE_LENGTH = 120
OWN = "engine.build.modules."
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
            heading += ["", *_call(0, f"{name} = [", [_literal(word) for word in words], "]")]
    parts = [heading, *_helpers(planned), _network(planned), LOAD, _demonstration(planned)]
    return "\n\n\n".join("\n".join(part) for part in parts) + "\n"


def _heading(planned: Plan, title: str) -> list[str]:
    """Docstring and imports. The title is a stranger's text: nothing in it may end the docstring."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in title).split()).replace("\\", "/").replace('"', "'")
    steps = {step.layer.id: step for step in planned.steps}
    lines = [f'"""{clean or "Untitled"}: a neural network.', ""]
    for word, ids in (("Input", planned.inputs), ("Output", planned.outputs)):
        for id in ids:
            type = steps[id].output
            kind = ", whole numbers" if type.kind == "index" else ""
            lines.append(f"{word} {steps[id].variable}: N × {type.short()} (batch × {' × '.join(type.axes)}){kind}")
    targets = {named.call.target for step in planned.steps for named in step.calls if named.call.kind == "function"}
    standard = ["import operator"] if any(target.startswith("operator.") for target in targets) else []
    if any("math." in line for helper in _helpers(planned) for line in helper):
        standard.insert(0, "import math")
    return [*lines, '"""', "", *standard, "from pathlib import Path", "", "import torch", "from torch import nn"]


def _helpers(planned: Plan) -> Iterator[list[str]]:
    """The classes and functions of ours that the network uses, each as its own source text."""
    calls = (named.call for step in planned.steps for named in step.calls)
    for target in dict.fromkeys(call.target for call in calls if call.kind != "method"):
        if target.startswith(OWN):
            yield inspect.getsource(resolve(target)).rstrip().split("\n")


def _network(planned: Plan) -> list[str]:
    modules = [line for step in planned.steps for named in step.calls for line in _construction(named)]
    inputs = [f"{step.variable}: torch.Tensor" for step in _picked(planned, planned.inputs)]
    returned = "torch.Tensor" if len(planned.outputs) == 1 else "tuple[torch.Tensor, ...]"
    return [
        "class Network(nn.Module):",
        "    def __init__(self) -> None:",
        "        super().__init__()",
        *modules,
        "",
        *_call(4, "def forward(", ["self", *inputs], f") -> {returned}:"),
        *_forward(planned),
    ]


def _picked(planned: Plan, ids: Sequence[str]) -> list[Step]:
    steps = {step.layer.id: step for step in planned.steps}
    return [steps[id] for id in ids]


def _construction(named: NamedCall) -> list[str]:
    """`self.conv_1 = nn.Conv2d(in_channels=1, ...)`."""
    if not named.attribute:
        return []
    return _call(8, f"self.{named.attribute} = {_spelled(named.call.target)}(", _keywords(named.call.kwargs), ")")


def _forward(planned: Plan) -> list[str]:
    values = {step.layer.id: step.variable for step in _picked(planned, planned.inputs)}
    lines: list[str] = []
    for step in planned.steps:
        tensors = [values[id] for id in step.feeds or (step.layer.id,)]
        values[step.layer.id] = step.variable if step.calls else tensors[0]
        for index, named in enumerate(step.calls):
            statement = _statement(step.variable, named, tensors)
            is_last = index == len(step.calls) - 1
            lines += _commented(statement, step.output.short()) if is_last else statement
            tensors = [step.variable]
    outputs = [values[id] for id in planned.outputs]
    return [*lines, *(_call(8, "return (", outputs, ")") if len(outputs) > 1 else [f"        return {outputs[0]}"])]


def _statement(variable: str, named: NamedCall, tensors: list[str]) -> list[str]:
    """`conv_1 = self.conv_1(image_1)`, on more lines where it is long."""
    call = named.call
    given = [f"[{', '.join(tensors)}]"] if call.as_list else tensors * call.repeat
    match call.kind:
        case "module":
            head, arguments = f"self.{named.attribute}(", [*given, *_keywords(call.call_kwargs)]
        case "function":
            head, arguments = f"{_spelled(call.target)}(", [*given, *map(_literal, call.args), *_keywords(call.kwargs)]
        case "method":
            arguments = [*given[1:], *map(_literal, call.args), *_keywords(call.kwargs)]
            head = f"{given[0]}.{call.target}("
    pick = "" if call.pick is None else f"[{call.pick}]"
    return _call(8, f"{variable} = {head}", arguments, f"){pick}")


def _commented(statement: list[str], comment: str) -> list[str]:
    """The size behind the statement, or above it where the line would grow too long."""
    if len(statement) == 1 and len(statement[0]) + len(comment) + 4 <= LINE_LENGTH:
        return [f"{statement[0]}  # {comment}"]
    return [f"        # {comment}", *statement]


def _call(indent: int, head: str, arguments: Sequence[str], tail: str) -> list[str]:
    """A call, broken as the usual formatters do: all on one line, all on the next, or one on each."""
    space, inner = " " * indent, " " * (indent + 4)
    joined = ", ".join(arguments)
    if len(space + head + joined + tail) <= LINE_LENGTH:
        return [space + head + joined + tail]
    is_call = head.endswith("(") and not head.endswith("return (")
    if is_call and len(inner + joined) <= LINE_LENGTH:
        return [space + head, inner + joined, space + tail]
    return [space + head, *(f"{inner}{argument}," for argument in arguments), space + tail]


def _spelled(target: str) -> str:
    """A qualified name as the file's imports make it."""
    if target.startswith(OWN):
        return target.rpartition(".")[2]
    return f"nn.{target.removeprefix('torch.nn.')}" if target.startswith("torch.nn.") else target


def _keywords(values: Mapping[str, Any]) -> list[str]:
    return [f"{name}={_literal(value)}" for name, value in values.items()]


def _literal(value: Any) -> str:
    """A value as Python text."""
    match value:
        case str():
            return f'"{"".join(map(_character, value))}"'
        case float() if not math.isfinite(value):
            return f'float("{value}")'
        case tuple() | list():
            inside = ", ".join(map(_literal, value)) + ("," if isinstance(value, tuple) and len(value) == 1 else "")
            return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return repr(value)


def _character(character: str) -> str:
    """A character as it may stand between double quotes, whatever a stranger's text holds."""
    is_plain = character.isprintable() and character not in '"\\'
    return character if is_plain else f"\\U{ord(character):08x}"


def _demonstration(planned: Plan) -> list[str]:
    """Builds the network, with the weights beside the file if there are some, and runs one batch."""
    examples = [_example(step.output) for step in _picked(planned, planned.inputs)]
    return [
        'if __name__ == "__main__":',
        '    is_trained = Path(__file__).with_suffix(".safetensors").exists()',
        "    network = load() if is_trained else Network().eval()",
        "    with torch.no_grad():",
        *_call(8, "result = network(", examples, ")"),
        "    for output in result if isinstance(result, tuple) else (result,):",
        '        print(*output.shape, sep=" × ")',
    ]


def _example(type: TensorType) -> str:
    """A batch of random numbers, or of the first index."""
    sizes = ", ".join(str(size if isinstance(size, int) else DEMO_STEPS) for size in type.sizes)
    if type.kind == "index":
        return f"torch.zeros({DEMO_BATCH}, {sizes}, dtype=torch.long)"
    return f"torch.rand({DEMO_BATCH}, {sizes})"
