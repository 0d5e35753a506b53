"""Go through the statements of exported PyTorch source and place the layers that they are."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import TensorType
from netwright.engine.exchange.importing.source.matching import Plain, input_fields, input_layer_of, is_known, layer_of
from netwright.engine.exchange.importing.source.parsing import Made, Row, Source, literal, refuse
from netwright.engine.layers.base import Call, LayerType
from netwright.engine.layers.utility import Identity
from netwright.engine.network.analysis import copy_path
from netwright.engine.network.block import SOLVERS, Block, BlockInput, BlockOutput, NeuralOde
from netwright.engine.network.network import NAME_LIMIT, Connection, Layer, Network, Port

OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
FUNCTIONS = {
    **{name: f"torch.nn.{kind}" for name, kind in (("relu", "ReLU"), ("sigmoid", "Sigmoid"), ("tanh", "Tanh"))},
    **{name: f"torch.nn.{kind}" for name, kind in (("gelu", "GELU"), ("silu", "SiLU"), ("elu", "ELU"))},
    **{name: f"torch.nn.{kind}" for name, kind in (("selu", "SELU"), ("softplus", "Softplus"), ("mish", "Mish"))},
}
"""Functions that a person may write in place of a module without weights."""
ODE = "netwright.engine.lowering.modules.ode."


@dataclass(frozen=True)
class Value:
    """A tensor: the port that gives it, and its type. `argument` names an input of the network not yet placed."""

    port: Port
    type: TensorType
    argument: str = ""


@dataclass
class Chain:
    """Calls of one layer so far: the first takes `inputs`, each further one what the one before it gave."""

    variable: str
    inputs: tuple[Value, ...]
    calls: list[Plain]
    attributes: list[str]
    line: ast.AST


@dataclass
class Built:
    """A network in the making: layers, connections, and for each id path the attributes in the file with weights."""

    layers: dict[str, Layer] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)
    attributes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    outputs: list[Value] = field(default_factory=list)

    @property
    def network(self) -> Network:
        """The network as it stands."""
        return Network(dict(self.layers), tuple(self.connections))

    def place(self, type: LayerType, name: str, sources: Sequence[Value], attributes: Sequence[str] = ()) -> str:
        """Add a layer and its connections, and return its id."""
        id, number, free = f"l{len(self.layers) + 1}", 1, name[:NAME_LIMIT]
        taken = {layer.name for layer in self.layers.values()}
        while free in taken:
            number += 1
            free = f"{name[: NAME_LIMIT - 6]}_{number}"
        self.layers[id] = Layer(id, free, type)
        for value, port in zip(sources, type.input_ports(), strict=True):
            self.connections.append(Connection(value.port, Port(id, port)))
        if attributes:
            self.attributes[id] = tuple(attributes)
        return id


class Walker:
    """Goes through `forward` of one class."""

    def __init__(
        self,
        source: Source,
        name: str,
        modules: Mapping[str, Made | Row],
        given: Sequence[Value] | None,
    ) -> None:
        self.source, self.name, self.modules = source, name, modules
        self.built = Built()
        self.values: dict[str, Value | None] = {}
        """By variable; None for the chain that is still open."""
        self.chain: Chain | None = None
        self.forward = source.forward_of(name)
        arguments = [one.arg for one in self.forward.args.args][1:]
        if given is None:
            for argument in arguments:
                if argument not in source.inputs:
                    raise refuse(self.forward, f"the docstring of the file does not say the sizes of '{argument}'.")
                self.values[argument] = Value(Port("", "out"), source.inputs[argument], argument)
        else:
            if len(arguments) != len(given):
                raise refuse(self.forward, f"forward takes {len(arguments)} tensors, received {len(given)}.")
            for argument, value in zip(arguments, given, strict=True):
                id = self.built.place(BlockInput(), argument, ())
                self.values[argument] = Value(Port(id, "out"), value.type)

    def run(self) -> Built:
        """Return the network of the class."""
        for statement in self.forward.body:
            match statement:
                case ast.Expr(value=ast.Constant()):
                    continue
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, value)
                case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
                    self._assign(target, ast.copy_location(ast.BinOp(target, op, value), statement))
                case ast.For():
                    self._loop(statement)
                case ast.Return(value=value) if value is not None:
                    self._return(value)
                    self._order_inputs()
                    return self.built
                case _:
                    raise refuse(statement, f"this is not understood in forward: {ast.unparse(statement)[:80]}")
        raise refuse(self.forward, "forward returns nothing.")

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple):
            names = [one.id for one in target.elts if isinstance(one, ast.Name)]
            if len(names) != len(target.elts):
                raise refuse(target, "only names can be assigned.")
            if isinstance(value, ast.Tuple):
                found = [self._tensor(one) for one in value.elts]
            else:
                found = self._several(value, names)
            if len(found) < len(names):
                raise refuse(target, f"{len(names)} tensors are expected, received {len(found)}.")
            self.values |= dict(zip(names, found, strict=False))
            return
        if not isinstance(target, ast.Name):
            raise refuse(target, "only names can be assigned.")
        if self.chain is not None and self.chain.variable != target.id:
            self._close()
        self.values[target.id] = self._evaluate(value, target.id)

    def _several(self, node: ast.expr, names: Sequence[str]) -> list[Value]:
        """Return the tensors of a call with several outputs."""
        block = self._block(node, names)
        if block is not None:
            return block
        variable = self._common(names)
        if self.chain is not None and self.chain.variable != variable:
            self._close()
        if self._evaluate(node, variable) is not None:
            raise refuse(node, "several tensors are expected.")
        return self._close(len(names))

    def _common(self, names: Sequence[str]) -> str:
        """Return the beginning that names of several outputs share: the variable of the layer."""
        common = names[0].rpartition("_")[0] or names[0]
        return common if all(name.startswith(common) for name in names) else names[0]

    def _return(self, node: ast.expr) -> None:
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        for value in [self._settled(self._tensor(one)) for one in nodes]:
            is_used = any(one.source == value.port for one in self.built.connections)
            is_block = type(self.built.layers[value.port.layer].type).__name__ == "BlockInput"
            if (is_used or value in self.built.outputs) and self.name == "Network" and not is_block:
                id = self.built.place(Identity(), f"{self.built.layers[value.port.layer].name}_output", (value,))
                value = Value(Port(id, "out"), value.type)
            self.built.outputs.append(value)

    def _order_inputs(self) -> None:
        """Put the input layers first, in the order of `forward`; they were placed at their first use."""
        arguments = [one.arg for one in self.forward.args.args]
        layers = self.built.layers
        inputs = [id for id, layer in layers.items() if layer.type.is_input and layer.name in arguments]
        inputs.sort(key=lambda id: arguments.index(layers[id].name))
        self.built.layers = {id: layers[id] for id in (*inputs, *(id for id in layers if id not in inputs))}

    # ---- expressions ----

    def _tensor(self, node: ast.expr, variable: str = "") -> Value:
        """Return the tensor of an expression, with its layers placed."""
        found = self._evaluate(node, variable or f"line_{node.lineno}")
        return self._close()[0] if found is None else found

    def _evaluate(self, node: ast.expr, variable: str) -> Value | None:
        """Return the tensor of an expression, or None where it is what the open chain gives."""
        match node:
            case ast.Name(id=name):
                if name not in self.values:
                    raise refuse(node, f"there is no tensor '{name}' yet.")
                found = self.values[name]
                if found is None and variable != name:
                    return self._close()[0]
                return found
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=int(pick))):
                return self._call(call, variable, pick)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return self._operator(node, left, OPERATORS[type(op)], right, variable)
            case ast.Call():
                block = self._block(node, [variable])
                return block[0] if block is not None else self._call(node, variable, None)
        raise refuse(node, f"this is not understood: {ast.unparse(node)[:80]}")

    def _operator(self, node: ast.expr, left: ast.expr, name: str, right: ast.expr, variable: str) -> Value | None:
        """Return a + b and the like as torch.add(a, b)."""
        if isinstance(left, ast.Constant) and name in ("add", "mul"):
            left, right = right, left
        function = ast.Attribute(ast.Name("torch"), f"{name}")
        return self._call(ast.copy_location(ast.Call(function, [left, right], []), node), variable, None)

    def _call(self, node: ast.Call, variable: str, pick: int | None) -> Value | None:
        """Add a call to the open chain, or begin a new one."""
        call, tensors, attribute = self._plain(node)
        entered: list[Value | None] = []
        for one in tensors:
            inner = isinstance(one, ast.Call | ast.BinOp | ast.Subscript)
            entered.append(self._evaluate(one, variable) if not inner or len(tensors) == 1 else self._tensor(one))
        plain = Plain.of(replace(call, pick=pick), len(tensors))
        if self.chain is not None and entered and all(one is None for one in entered):
            self.chain.calls.append(plain)
            self.chain.attributes.append(attribute)
            self.chain.line = node
            return None
        last = self._close()[0] if self.chain is not None else None
        inputs = tuple(last if one is None else one for one in entered)
        if any(one is None for one in inputs):
            raise refuse(node, "a tensor is used before it is there.")
        self.chain = Chain(variable, inputs, [plain], [attribute], node)  # type: ignore[arg-type]  # none is None
        return None

    def _plain(self, node: ast.Call) -> tuple[Call, list[ast.expr], str]:
        """Return a call as a layer has it, the expressions of its tensors, and the attribute of its module."""
        tensors = [one for one in node.args if self._is_tensor(one)]
        rest = node.args[len(tensors) :]
        if any(self._is_tensor(one) for one in rest) or tensors != node.args[: len(tensors)]:
            raise refuse(node, "tensors are expected before other arguments.")
        as_list = len(node.args) > 0 and isinstance(node.args[0], ast.List) and not tensors
        if as_list and isinstance(node.args[0], ast.List):
            tensors, rest = list(node.args[0].elts), node.args[1:]
        args = tuple(literal(one, {}) for one in rest)
        kwargs = {str(word.arg): literal(word.value, {}) for word in node.keywords}
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self":
            made = self.modules.get(function.attr)
            if not isinstance(made, Made) or made.is_own:
                raise refuse(node, f"__init__ makes no module '{function.attr}'.")
            call = Call(made.target, "module", made.args, made.kwargs, kwargs, as_list)
            return call, tensors, function.attr
        target = self.source.qualified(function)
        if target:
            short = target.removeprefix("torch.nn.functional.").removeprefix("torch.")
            if short in FUNCTIONS and not args and not kwargs:
                return Call(FUNCTIONS[short], "module"), tensors, ""
            if target == "torch.flatten" and args == (1,):
                return Call("flatten", "method", args), tensors, ""
            if target == "torch.cat" and args:
                args, kwargs = args[1:], {"dim": args[0], **kwargs}
            return Call(target, "function", args, kwargs, as_list=as_list), tensors, ""
        if isinstance(function, ast.Attribute):
            return Call(function.attr, "method", args, kwargs), [function.value, *tensors], ""
        raise refuse(node, f"{ast.unparse(function)[:80]} is not known here.")

    def _is_tensor(self, node: ast.expr) -> bool:
        """Return whether an argument of a call in `forward` is a tensor: every name there is one."""
        if isinstance(node, ast.Call):
            return not (isinstance(node.func, ast.Name) and node.func.id == "float")
        return isinstance(node, ast.Name | ast.BinOp | ast.Subscript)

    # ---- layers ----

    def _close(self, outputs: int = 1) -> list[Value]:
        """Place the layers of the open chain, and return what the last one gives."""
        chain, self.chain = self.chain, None
        assert chain is not None
        values = [self._placed(value, chain) for value in chain.inputs]
        found = self._layers(chain, values, outputs)
        for name, value in self.values.items():
            if value is None:
                self.values[name] = found[0]
        return found

    def _placed(self, value: Value, chain: Chain) -> Value:
        """Return the value; an argument of the network gets its input layer, with the normalisation that follows."""
        if not value.argument:
            return value
        known = self.values.get(value.argument)
        if known is not None and not known.argument:
            return known
        kind, fields = input_fields(value.type)
        attributes: list[str] = []
        made: LayerType | None = None
        if len(chain.inputs) == 1 and "modules.normalization.Normalize" in chain.calls[0].target:
            made = input_layer_of((chain.calls[0],), kind, fields)
            if made is None:
                raise refuse(chain.line, f"the normalisation of the input '{value.argument}' does not fit its sizes.")
            chain.calls.pop(0)
            attributes = [chain.attributes.pop(0)]
        made = made or kind(**fields, normalization="none")
        id = self.built.place(made, value.argument, (), attributes)
        found = Value(Port(id, "out"), value.type)
        self.values[value.argument] = found
        return found

    def _layers(self, chain: Chain, values: list[Value], outputs: int) -> list[Value]:
        """Place the layers of a chain: the longest part that is one layer, then the rest."""
        calls, attributes = list(chain.calls), list(chain.attributes)
        while calls:
            for end in range(len(calls), 0, -1):
                part = tuple(calls[:end])
                entering = self._entering(values, part)
                type = layer_of(part, tuple(value.type for value in entering))
                if type is not None and (end == len(calls) or len(type.output_ports()) == 1):
                    break
            else:
                raise self._not_understood(chain, calls, values)
            used = [one for one in attributes[:end] if one]
            name = (chain.variable if chain.variable in used or not used else used[0]) or chain.variable
            id = self.built.place(type, name, entering, used)
            types = type.output_types(*(value.type for value in entering))
            values = [Value(Port(id, port), one) for port, one in zip(type.output_ports(), types, strict=True)]
            calls, attributes = calls[end:], attributes[end:]
            if calls:
                values = values[:1]
        if len(values) < outputs:
            raise refuse(chain.line, f"{outputs} tensors are expected, the layer gives {len(values)}.")
        return values

    def _entering(self, values: list[Value], calls: tuple[Plain, ...]) -> list[Value]:
        """Return the inputs of a layer: one where the same tensor is handed over several times."""
        if len(values) > 1 and len(set(values)) == 1 and layer_of(calls, (values[0].type,)) is not None:
            return values[:1]
        return values

    def _not_understood(self, chain: Chain, calls: list[Plain], values: list[Value]) -> UserError:
        target = calls[0].target.removeprefix("netwright.engine.lowering.modules.").replace("torch.nn.", "nn.")
        entering = ", ".join(str(value.type) for value in values)
        if is_known(calls, [value.type for value in values]):
            return refuse(chain.line, f"{target} does not fit what enters it, {entering}: sizes or arguments differ.")
        return refuse(chain.line, f"{target} has no layer here for {entering}.")

    # ---- blocks ----

    def _block(self, node: ast.expr, names: Sequence[str]) -> list[Value] | None:
        """Place the block that a call of one of the file's classes is, and return what leaves it; None for others."""
        if not isinstance(node, ast.Call):
            return None
        if (target := self.source.qualified(node.func)).startswith(ODE) and node.args:
            return self._ode(node, target.removeprefix(ODE))
        function = node.func
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return None
        made = self.modules.get(function.attr) if function.value.id == "self" else None
        items = made.items if isinstance(made, Row) else (made,) if made is not None else ()
        if not items or not any(item.is_own for item in items):
            return None
        if not all(item.is_own for item in items):
            raise refuse(node, f"'{function.attr}' mixes classes of the file with modules of torch; keep them apart.")
        return self._copies(node, function.attr, items, [self._tensor(one) for one in node.args], names)

    def _copies(
        self, node: ast.AST, attribute: str, items: Sequence[Made], given: list[Value], names: Sequence[str]
    ) -> list[Value]:
        """Place a block with as many copies, whose layers must be equal."""
        if self.chain is not None:
            self._close()
        given = [self._settled(value) for value in given]
        entering, outputs = given, list[Value]()
        first: Built | None = None
        inside: dict[str, tuple[str, ...]] = {}
        for number, item in enumerate(items):
            modules = self.source.modules_of(item.target, item.args, item.kwargs, item.line)
            inner = Walker(self.source, item.target, modules, entering).run()
            for place, value in enumerate(inner.outputs, 1):
                inner.place(BlockOutput(), _port_name(attribute, names, place), (value,))
            if first is not None and _shape(inner) != _shape(first):
                raise refuse(node, f"the copies of '{attribute}' differ. Copies in a row have equal layers here.")
            first = first or inner
            copy = f"{attribute}.{number}" if len(items) > 1 else attribute
            for path, found in inner.attributes.items():
                inside[f"{number}|{path}"] = tuple(f"{copy}.{one}" for one in found)
            outputs = inner.outputs
            entering = [*outputs, *given[len(outputs) :]]
        assert first is not None
        block = Block(first.network, repeat=len(items))
        id = self.built.place(block, attribute, given)
        for key, found in inside.items():
            number_text, _, path = key.partition("|")
            self.built.attributes[f"{copy_path(id, int(number_text), len(items))}/{path}"] = found
        return [Value(Port(id, port), value.type) for port, value in zip(block.output_ports(), outputs, strict=True)]

    def _settled(self, value: Value) -> Value:
        """Return the value with its input layer placed."""
        return self._placed(value, Chain("", (), [], [], self.forward)) if value.argument else value

    def _ode(self, node: ast.Call, solver: str) -> list[Value]:
        first = node.args[0]
        made = self.modules.get(first.attr) if isinstance(first, ast.Attribute) else None
        if (
            not isinstance(made, Made)
            or not made.is_own
            or solver not in SOLVERS
            or not isinstance(first, ast.Attribute)
        ):
            raise refuse(node, "the network of a neural ODE is a class of the file.")
        given = [self._settled(self._tensor(one)) for one in node.args[1:]]
        modules = self.source.modules_of(made.target, made.args, made.kwargs, made.line)
        inner = Walker(self.source, made.target, modules, given).run()
        inner.place(BlockOutput(), "output_1", inner.outputs)
        fields = {str(word.arg): literal(word.value, {}) for word in node.keywords}
        ode = NeuralOde(inner.network, solver=solver, **fields)
        id = self.built.place(ode, first.attr, given)
        for path, found in inner.attributes.items():
            self.built.attributes[f"{id}/{path}"] = tuple(f"{first.attr}.{one}" for one in found)
        return [Value(Port(id, ode.output_ports()[0]), given[0].type)]

    def _loop(self, node: ast.For) -> None:
        """Place the block of `for copy in self.blocks: a, b = copy(a, b, c)`."""
        row = self.modules.get(node.iter.attr) if isinstance(node.iter, ast.Attribute) else None
        body = node.body[0] if len(node.body) == 1 else None
        is_plain = isinstance(row, Row) and isinstance(body, ast.Assign) and isinstance(body.value, ast.Call)
        if not is_plain or not isinstance(body, ast.Assign) or not isinstance(body.value, ast.Call):
            raise refuse(node, "only 'for copy in self.blocks: x = copy(x)' is understood.")
        assert isinstance(row, Row)
        assert isinstance(node.iter, ast.Attribute)
        target = body.targets[0]
        names = [
            one.id for one in (target.elts if isinstance(target, ast.Tuple) else [target]) if isinstance(one, ast.Name)
        ]
        given = [self._tensor(one) for one in body.value.args]
        if not all(item.is_own for item in row.items):
            raise refuse(node, "copies are expected to be of a class of the file.")
        self.values |= dict(zip(names, self._copies(node, node.iter.attr, row.items, given, names), strict=True))


def _port_name(attribute: str, names: Sequence[str], place: int) -> str:
    """Return the name of an output of a block: the end of the variable that takes it, where it has one."""
    name = names[place - 1].removeprefix(f"{attribute}_") if len(names) > 1 and place <= len(names) else ""
    return name if name and name != names[place - 1] else f"output_{place}"


def _shape(built: Built) -> tuple[Any, ...]:
    return tuple((layer.name, layer.type) for layer in built.layers.values()), tuple(built.connections)
