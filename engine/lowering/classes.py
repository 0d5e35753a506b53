"""The classes of the printed source: one per kind of block, nested blocks first, and `Network`.

Blocks are of one kind if their steps are equal except for the arguments of their modules. Arguments that differ
become arguments of the class: a residual block in four widths is one class with two arguments.
"""

import builtins
import math
import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from netwright.engine.core.types import TensorType
from netwright.engine.lowering.plan import RESERVED, NamedCall, Plan, Step, own_names, unique
from netwright.engine.network.network import Port
from netwright.engine.user_code.expression import companion, is_expression, is_users, split_code, split_expression
from netwright.engine.user_code.expression import spelled as users_expression

LINE_LENGTH = 120
OWN = "netwright.engine.lowering.modules."
_USED_IN_FILE = {"Path", "COLUMNS", "CLASSES", "Network", *dir(builtins)}
"""Names used in the printed file or its helper classes: no class of a block may shadow them."""
Slot = tuple[str, str]
"""A value that a class could take as an argument: its attribute (of a copy `block.2`) and its keyword there."""


def call(indent: int, head: str, arguments: Sequence[str], tail: str) -> list[str]:
    """Return the lines of a call, broken as formatters do: arguments on one line, all on the next, or one per line."""
    space, inner = " " * indent, " " * (indent + 4)
    joined = ", ".join(arguments)
    if len(space + head + joined + tail) <= LINE_LENGTH:
        return [space + head + joined + tail]
    is_call = head.endswith("(") and not head.endswith("return (")
    if is_call and len(inner + joined) <= LINE_LENGTH:
        return [space + head, inner + joined, space + tail]
    return [space + head, *(f"{inner}{argument}," for argument in arguments), space + tail]


def spelled(target: str) -> str:
    """Return a qualified name as it is spelled with the imports of the file."""
    if is_users(target):
        file, name = split_code(target)
        return f"{companion(file)}.{name}"
    if target.startswith(OWN):
        return target.rpartition(".")[2]
    return f"nn.{target.removeprefix('torch.nn.')}" if target.startswith("torch.nn.") else target


def keywords(values: Mapping[str, Any]) -> list[str]:
    """Return keyword arguments as source text."""
    return [f"{name}={literal(value)}" for name, value in values.items()]


def literal(value: Any) -> str:
    """Return a value as a Python literal."""
    match value:
        case str():
            return f'"{"".join(map(_character, value))}"'
        case float() if not math.isfinite(value):
            return f'float("{value}")'
        case tuple() | list():
            inside = ", ".join(map(literal, value)) + ("," if isinstance(value, tuple) and len(value) == 1 else "")
            return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return repr(value)


def _character(character: str) -> str:
    """Return a character escaped for a string in double quotes; the text is untrusted."""
    is_plain = character.isprintable() and character not in '"\\'
    return character if is_plain else f"\\U{ord(character):08x}"


@dataclass
class Kind:
    """A class of the printed source: its name, the plans of its instances, and its argument names by slot."""

    name: str
    plans: list[Plan] = field(default_factory=list)
    arguments: dict[Slot, str] = field(default_factory=dict)


def class_texts(planned: Plan) -> Iterator[list[str]]:
    """Yield the lines of each class; a class comes before those that use it."""
    printer = _Printer(planned)
    for kind in printer.kinds:
        yield printer.text(kind)


class _Printer:
    def __init__(self, planned: Plan) -> None:
        self._keys: dict[int, Hashable] = {}
        self._kinds: dict[Hashable, Kind] = {}
        targets = {named_call.call.target for step in planned.all_steps() for named_call in step.calls}
        files = {split_code(target)[0] for target in targets if is_users(target) and not is_expression(target)}
        self._taken = {*own_names(), *RESERVED, *_USED_IN_FILE, *map(companion, files)}
        self._kinds[self._key(planned)] = Kind("Network")
        self._gather(planned, "")
        self.kinds = sorted(self._kinds.values(), key=lambda kind: _height(kind.plans[0]))
        for kind in self.kinds:
            kind.arguments = _arguments([self._slots(planned) for planned in kind.plans])

    def _gather(self, planned: Plan, name: str) -> None:
        key = self._key(planned)
        if key not in self._kinds:
            self._kinds[key] = Kind(_numbered(name, self._taken))
            self._taken.add(self._kinds[key].name)
        self._kinds[key].plans.append(planned)
        for step in planned.steps:
            for copy in step.copies:
                self._gather(copy, _class_name(step.variable))

    def _key(self, planned: Plan) -> Hashable:
        """Return a key that is equal for blocks of one kind. Ids differ between blocks: indices replace them."""
        if id(planned) not in self._keys:
            ids = [*planned.inputs, *(step.layer.id for step in planned.steps)]
            place = {id: number for number, id in enumerate(dict.fromkeys(ids))}
            steps = tuple(
                (
                    step.variable,
                    step.attribute,
                    tuple((place[port.layer], port.name) for port in step.feeds),
                    tuple(port.name for port in step.ports),
                    tuple(map(_call_key, step.calls)),
                    tuple(map(self._key, step.copies)),
                )
                for step in planned.steps
            )
            outputs = tuple((place[port.layer], port.name) for port in planned.outputs)
            self._keys[id(planned)] = (planned.arguments, steps, outputs)
        return self._keys[id(planned)]

    def _kind(self, planned: Plan) -> Kind:
        return self._kinds[self._key(planned)]

    def _slots(self, planned: Plan) -> dict[Slot, Any]:
        """Return the arguments of the modules and blocks of a plan. Those of nested kinds must be set already."""
        slots: dict[Slot, Any] = {}
        for step in (step for step in planned.steps if not step.holder):
            for named_call in step.calls:
                if named_call.attribute:
                    slots |= {(named_call.attribute, key): value for key, value in named_call.call.kwargs.items()}
            for number, copy in enumerate(step.copies):
                slots |= {(f"{step.variable}.{number}", key): value for key, value in self._given(copy).items()}
        return slots

    def _given(self, planned: Plan) -> dict[str, Any]:
        """Return the arguments of one block by name."""
        slots = self._slots(planned)
        return {name: slots[slot] for slot, name in self._kind(planned).arguments.items()}

    def text(self, kind: Kind) -> list[str]:
        """Return the lines of the class of a kind."""
        planned = kind.plans[0]
        slots = [self._slots(planned) for planned in kind.plans]
        names = dict.fromkeys(kind.arguments.values())
        typed = [f"{name}: {_annotation(slots, kind, name)}" for name in names]
        tensors = [f"{name}: torch.Tensor" for name in planned.arguments]
        returned = "torch.Tensor" if len(planned.outputs) == 1 else "tuple[torch.Tensor, ...]"
        return [
            f"class {kind.name}(nn.Module):",
            *_about(kind),
            *call(4, "def __init__(", ["self", *typed], ") -> None:"),
            "        super().__init__()",
            *(line for step in planned.steps if not step.holder for line in self._construction(step, kind)),
            "",
            *call(4, "def forward(", ["self", *tensors], f") -> {returned}:"),
            *self._forward(kind),
        ]

    def _construction(self, step: Step, kind: Kind) -> Iterator[str]:
        """Yield `self.conv_1 = nn.Conv2d(in_channels=1, ...)`, or the like for a block or its copies."""
        for named_call in step.calls:
            if named_call.attribute:
                arguments = _spelled_arguments(named_call.attribute, named_call.call.kwargs, kind)
                yield from call(8, f"self.{named_call.attribute} = {spelled(named_call.call.target)}(", arguments, ")")
        if not step.copies:
            return
        blocks = [self._made(f"{step.variable}.{number}", copy, kind) for number, copy in enumerate(step.copies)]
        if len(blocks) == 1:
            name, arguments = blocks[0]
            yield from call(8, f"self.{step.variable} = {name}(", arguments, ")")
            return
        row = "nn.Sequential" if _is_chain(step) else "nn.ModuleList"
        yield from _row(f"self.{step.variable} = {row}(", blocks, is_list=row == "nn.ModuleList")

    def _made(self, slot: str, copy: Plan, kind: Kind) -> tuple[str, list[str]]:
        return self._kind(copy).name, _spelled_arguments(slot, self._given(copy), kind)

    def _forward(self, kind: Kind) -> list[str]:
        planned = kind.plans[0]
        values = {Port(id, "out"): name for id, name in zip(planned.inputs, planned.arguments, strict=True)}
        namespace = {*planned.arguments, *(step.variable for step in planned.steps)}
        lines: list[str] = []
        for number, step in enumerate(planned.steps):
            tensors = [values[port] for port in step.feeds] or [values[Port(step.layer.id, "out")]]
            names = _variables(step, namespace)
            if not step.calls and not step.copies:
                values |= dict.fromkeys(step.ports, tensors[0])
                continue
            values |= zip(step.ports, names, strict=True)
            sizes = {", ".join(type.short() for type in same.steps[number].outputs) for same in kind.plans}
            statements = _copies(step, tensors, names, namespace) if step.copies else _calls(step, tensors, names)
            lines += _commented(statements, sizes.pop() if len(sizes) == 1 else "")
        outputs = [values[port] for port in planned.outputs]
        if len(outputs) > 1:
            return [*lines, *call(8, "return (", outputs, ")")]
        return [*lines, f"        return {outputs[0]}"]


def _about(kind: Kind) -> list[str]:
    """Return the docstring of a class: the sizes of its inputs and outputs, where all its instances have the same."""
    planned = kind.plans[0]
    ends = {port: type for step in planned.steps for port, type in zip(step.ports, step.outputs, strict=True)}
    sizes = {tuple(_sizes(type) for type in plan.types) for plan in kind.plans}
    if len(sizes) > 1 or any(port not in ends for port in planned.outputs):
        return []
    arguments = " and ".join(f"{name} {size}" for name, size in zip(planned.arguments, sizes.pop(), strict=True))
    result = " and ".join(_sizes(ends[port]) for port in planned.outputs)
    line = f'    """Map {arguments} to {result}."""'
    return [line, ""] if len(line) <= LINE_LENGTH else []


def _sizes(type: TensorType) -> str:
    """Return `(N, 1, 28, 28)`."""
    return f"({', '.join(['N', *(str(size) if isinstance(size, int) else 'T' for size in type.sizes)])})"


def _call_key(named_call: NamedCall) -> Hashable:
    """Return a key of a call without the values that a class can take as arguments: those of a constructor."""
    layer_call = named_call.call
    values = tuple(layer_call.kwargs) if layer_call.kind == "module" else repr(dict(layer_call.kwargs))
    rest = (
        repr(layer_call.args),
        values,
        repr(dict(layer_call.call_kwargs)),
        layer_call.as_list,
        layer_call.repeat,
        layer_call.pick,
    )
    return (named_call.attribute, layer_call.target, layer_call.kind, *rest)


def _row(head: str, blocks: Sequence[tuple[str, list[str]]], *, is_list: bool) -> list[str]:
    """Return the lines that make blocks in series, each of a name and arguments: a loop where all are equal."""
    texts = [f"{name}({', '.join(arguments)})" for name, arguments in blocks]
    name, arguments = blocks[0]
    if len(set(texts)) > 1:
        lines = call(8, head, [f"[{', '.join(texts)}]"] if is_list else texts, ")")
        if max(map(len, lines)) <= LINE_LENGTH:
            return lines
        indent = 16 if is_list else 12
        items = [line for name, parameters in blocks for line in call(indent, f"{name}(", parameters, "),")]
        return [f"        {head}", *(["            [", *items, "            ],"] if is_list else items), "        )"]
    loop = f"for _ in range({len(blocks)})"
    lines = call(8, head, [f"{texts[0]} {loop}" if is_list else f"*({texts[0]} {loop})"], ")")
    if max(map(len, lines)) <= LINE_LENGTH:
        return lines
    indent = 12 if is_list else 16
    items = [*call(indent, f"{name}(", arguments, ")"), f"{' ' * indent}{loop}"]
    return [f"        {head}", *(items if is_list else ["            *(", *items, "            ),"]), "        )"]


def _class_name(variable: str) -> str:
    """Return a class name for a variable: `Bottleneck` for `bottleneck_2`."""
    words = [word for word in re.sub(r"_*\d+_*$", "", variable).split("_") if word]
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name.isidentifier() else f"Block{name}"


def _numbered(name: str, namespace: Collection[str]) -> str:
    """Return the name of a class with a number where it is taken: `Stage2`."""
    names = (f"{name}{number}" for number in count(2))
    return next(free for free in chain((name,), names) if free not in namespace)


def _height(planned: Plan) -> int:
    """Return the number of levels of nested blocks below a plan."""
    return max((1 + _height(copy) for step in planned.steps for copy in step.copies), default=0)


def _arguments(instances: Sequence[Mapping[Slot, Any]]) -> dict[Slot, str]:
    """Return the argument name of each slot whose value varies. Slots that agree in all instances share one."""
    columns: dict[str, list[Slot]] = {}
    for slot in instances[0]:
        values = [literal(instance[slot]) for instance in instances]
        if len(set(values)) > 1:
            columns.setdefault("\n".join(values), []).append(slot)
    names: dict[Slot, str] = {}
    namespace: set[str] = set()
    plain = [slots[0][1] for slots in columns.values()]
    for slots in columns.values():
        attribute, key = slots[0]
        name = unique(key if plain.count(key) == 1 else f"{attribute.replace('.', '_')}_{key}", namespace)
        namespace.add(name)
        names |= dict.fromkeys(slots, name)
    return names


def _annotation(instances: Sequence[Mapping[Slot, Any]], kind: Kind, name: str) -> str:
    slot = next(slot for slot, argument in kind.arguments.items() if argument == name)
    return " | ".join(sorted({_type_name(instance[slot]) for instance in instances}))


def _type_name(value: Any) -> str:
    match value:
        case None:
            return "None"
        case tuple() if value:
            return f"tuple[{', '.join(map(_type_name, value))}]"
        case list() if value:
            return f"list[{' | '.join(sorted({_type_name(item) for item in value}))}]"
    return type(value).__name__


def _spelled_arguments(attribute: str, values: Mapping[str, Any], kind: Kind) -> list[str]:
    """Return `name=value` per argument; the value is an argument of the class itself if the slot has one."""
    own = {key: kind.arguments.get((attribute, key)) for key in values}
    return [f"{key}={own[key] or literal(value)}" for key, value in values.items()]


def _is_chain(step: Step) -> bool:
    """Return whether the only input of each copy is the only output of the previous one."""
    return len(step.feeds) == len(step.ports) == 1


def _variables(step: Step, namespace: set[str]) -> list[str]:
    """Return a variable per output of a layer: the layer's own, followed by the port if there are several."""
    if len(step.ports) < 2:
        return [step.variable] * len(step.ports)
    names = []
    for port in step.ports:
        names.append(unique(f"{step.variable}_{port.name}", namespace))
        namespace.add(names[-1])
    return names


def _calls(step: Step, tensors: list[str], names: list[str]) -> list[list[str]]:
    """Return the lines of a statement per call of a layer."""
    statements = []
    for number, named_call in enumerate(step.calls):
        is_last = number == len(step.calls) - 1
        statements.append(_statement(", ".join(names) if is_last else step.variable, named_call, tensors))
        tensors = [step.variable]
    return statements


def _statement(variable: str, named_call: NamedCall, tensors: list[str]) -> list[str]:
    """Return the lines of a statement such as `conv_1 = self.conv_1(image_1)`."""
    layer_call = named_call.call
    inputs = [f"[{', '.join(tensors)}]"] if layer_call.as_list else tensors * layer_call.repeat
    if is_expression(layer_call.target):
        return [f"        {variable} = {users_expression(split_expression(layer_call.target)[0], tensors)}"]
    match layer_call.kind:
        case "module":
            head, arguments = f"self.{named_call.attribute}(", [*inputs, *keywords(layer_call.call_kwargs)]
        case "function":
            head, arguments = (
                f"{spelled(layer_call.target)}(",
                [*inputs, *map(literal, layer_call.args), *keywords(layer_call.kwargs)],
            )
        case "method":
            arguments = [*inputs[1:], *map(literal, layer_call.args), *keywords(layer_call.kwargs)]
            head = f"{inputs[0]}.{layer_call.target}("
    pick = "" if layer_call.pick is None else f"[{layer_call.pick}]"
    return call(8, f"{variable} = {head}", arguments, f"){pick}")


def _copies(step: Step, tensors: list[str], names: list[str], namespace: set[str]) -> list[list[str]]:
    """Return the call of a block, or the loop over its copies if they have further inputs or outputs."""
    target = ", ".join(names)
    if step.calls:
        (named_call,) = step.calls
        head = f"{target} = {spelled(named_call.call.target)}("
        return [call(8, head, [f"self.{step.attribute}", *tensors, *keywords(named_call.call.kwargs)], ")")]
    if len(step.copies) == 1 or _is_chain(step):
        return [call(8, f"{target} = self.{step.attribute}(", tensors, ")")]
    chained, shared = tensors[: len(names)], tensors[len(names) :]
    copy = unique("copy", namespace)
    begin = [f"        {target} = {', '.join(chained)}", f"        for {copy} in self.{step.attribute}:"]
    return [[*begin, *call(12, f"{target} = {copy}(", [*names, *shared], ")")]]


def _commented(statements: list[list[str]], comment: str) -> list[str]:
    """Return the lines, with the comment after the last statement, or above it if the line would be too long."""
    *before, last = statements
    lines = [line for statement in before for line in statement]
    if not comment:
        return [*lines, *last]
    if len(last) == 1 and len(last[0]) + len(comment) + 4 <= LINE_LENGTH:
        return [*lines, f"{last[0]}  # {comment}"]
    return [*lines, f"        # {comment}", *last]
