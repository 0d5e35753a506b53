"""The classes of a PyTorch file as plain values: the modules that `__init__` makes, and the statements of `forward`.

Only the syntax tree is read; nothing of the file is executed or imported.
"""

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable
from netwright.engine.core.files import read_file
from netwright.engine.core.types import LAYOUTS, Size, Symbol, TensorType
from netwright.engine.lowering import modules

FILE_LIMIT_BYTES = 2**24
INPUT = re.compile(r"Input (\w+): N × ([\w', ×]+) \(batch × ([CDHWT ×]+)\)(, whole numbers)?")
MODULE_BASES = ("nn.Module", "torch.nn.Module", "Module")
ROWS = ("torch.nn.Sequential", "torch.nn.ModuleList")


class LineError(UserError):
    """Source that is not understood, at a line."""


def refuse(node: ast.AST, message: str, hint: str = "") -> LineError:
    """Return the error for a part of the file."""
    return LineError(f"Line {getattr(node, 'lineno', 1)}: {message}", hint=hint)


@dataclass(frozen=True)
class Made:
    """A module that `__init__` makes: its qualified class, or the name of a class of the file, and its arguments."""

    target: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    line: int
    is_own: bool = False
    """Whether the class is one of the file, whose network becomes a block."""


@dataclass(frozen=True)
class Row:
    """Modules in a row: `nn.Sequential`, called as one, or `nn.ModuleList`, called in a loop."""

    items: tuple[Made, ...]
    line: int


@dataclass
class Source:
    """A parsed file: its classes of modules, what names stand for, and the types of the inputs."""

    path: Path
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, TensorType] = field(default_factory=dict)

    def qualified(self, node: ast.expr) -> str:
        """Return the qualified name of a dotted name, or an empty text."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.names:
            return ""
        return ".".join([self.names[node.id], *reversed(parts)])

    def modules_of(
        self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], line: int
    ) -> dict[str, Made | Row]:
        """Return what `__init__` of a class makes for these arguments, by attribute."""
        definition = self.classes[name]
        init = _method(definition, "__init__")
        if init is None:
            return {}
        values = _bound(init, args, kwargs, line)
        found: dict[str, Made | Row] = {}
        for statement in init.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
            target = statement.target if isinstance(statement, ast.AnnAssign) else target
            if _is_text(statement) or _is_super(statement):
                continue
            value = getattr(statement, "value", None)
            if not isinstance(target, ast.Attribute) or not _is_self(target.value) or value is None:
                raise refuse(statement, "only lines such as self.conv = nn.Conv2d(...) are understood in __init__.")
            found[target.attr] = self._made(value, values)
        return found

    def _made(self, node: ast.expr, values: Mapping[str, Any]) -> Made | Row:
        if not isinstance(node, ast.Call):
            raise refuse(node, f"a module is expected, such as nn.ReLU(), received {_shown(node)}.")
        if isinstance(node.func, ast.Name) and node.func.id in self.classes:
            return self._call(node, node.func.id, values, True)
        target = self.qualified(node.func)
        if target in ROWS:
            return Row(tuple(self._items(node, values)), node.lineno)
        if not target:
            raise refuse(
                node, f"{_shown(node.func)} is not known here. Use a module of torch.nn or a class of the file."
            )
        return self._call(node, target, values, False)

    def _items(self, node: ast.Call, values: Mapping[str, Any]) -> list[Made]:
        """Return the modules of a row: listed, or repeated by a comprehension over a range."""
        given: list[ast.expr] = list(node.args)
        if len(given) == 1 and isinstance(given[0], ast.List):
            given = given[0].elts
        items: list[Made] = []
        for one in given:
            one = one.value if isinstance(one, ast.Starred) else one
            if isinstance(one, (ast.GeneratorExp, ast.ListComp)):
                count = self._count(one, values)
                made = self._made(one.elt, values)
                if isinstance(made, Row):
                    raise refuse(one, "rows in rows are not understood.")
                items += [made] * count
                continue
            made = self._made(one, values)
            if isinstance(made, Row):
                raise refuse(one, "rows in rows are not understood.")
            items.append(made)
        return items

    def _count(self, node: ast.GeneratorExp | ast.ListComp, values: Mapping[str, Any]) -> int:
        loop = node.generators[0].iter
        if len(node.generators) == 1 and isinstance(loop, ast.Call) and _shown(loop.func) == "range" and loop.args:
            count = literal(loop.args[0], values)
            if isinstance(count, int) and 0 < count <= 1000 and len(loop.args) == 1:
                return count
        raise refuse(node, "only 'for _ in range(n)' with up to 1,000 copies is understood.")

    def _call(self, node: ast.Call, target: str, values: Mapping[str, Any], is_own: bool) -> Made:
        if any(word.arg is None for word in node.keywords):
            raise refuse(node, "arguments of the form **values are not understood.")
        args = tuple(literal(arg, values) for arg in node.args)
        kwargs = {str(word.arg): literal(word.value, values) for word in node.keywords}
        return Made(target, args, kwargs, node.lineno, is_own)

    def forward_of(self, name: str) -> ast.FunctionDef:
        """Return `forward` of a class."""
        found = _method(self.classes[name], "forward")
        if found is None:
            raise refuse(self.classes[name], f"the class {name} has no forward.")
        return found


def parse(path: Path) -> Source:
    """Return a parsed file. Raises `UserError` for one that cannot be read, or is no PyTorch source."""
    try:
        text = read_file(path, FILE_LIMIT_BYTES).decode("utf-8-sig")
        tree = ast.parse(text)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error
    except SyntaxError as error:
        raise UserError(f"{path}, line {error.lineno}: {error.msg}.", hint="Put the line right first.") from None
    except (ValueError, RecursionError, MemoryError):
        raise UserError(f"{path} is not Python source.") from None
    source = Source(path)
    for node in tree.body:
        match node:
            case ast.Import(names=names):
                source.names |= {
                    one.asname or one.name.partition(".")[0]: one.name if one.asname else one.name.partition(".")[0]
                    for one in names
                }
            case ast.ImportFrom(module=str(module), names=names):
                source.names |= {one.asname or one.name: f"{module}.{one.name}" for one in names}
            case ast.ClassDef() | ast.FunctionDef() if node.name in bundled():
                _refuse_changed(node)
                source.names[node.name] = bundled()[node.name]
            case ast.ClassDef() if any(ast.unparse(base) in MODULE_BASES for base in node.bases):
                source.classes[node.name] = node
    if "Network" not in source.classes:
        raise UserError(
            f"{path} has no class Network(nn.Module), as exported source has.",
            hint="Give the class of the whole network that name.",
        )
    source.inputs = _inputs(ast.get_docstring(tree) or "", path)
    return source


@cache
def bundled() -> Mapping[str, str]:
    """Return the qualified names of the classes and functions that exported source takes along, by name."""
    found: dict[str, str] = {}
    for file in pkgutil.iter_modules(modules.__path__):
        module = importlib.import_module(f"{modules.__name__}.{file.name}")
        own = {name for name, value in vars(module).items() if inspect.getmodule(value) is module}
        found |= {name: f"{module.__name__}.{name}" for name in own}
    return found


def _refuse_changed(node: ast.ClassDef | ast.FunctionDef) -> None:
    """Refuse a class of Netwright's that was edited: it would not be what the layer computes."""
    module, _, name = bundled()[node.name].rpartition(".")
    own = ast.parse(textwrap.dedent(inspect.getsource(getattr(importlib.import_module(module), name)))).body[0]
    if ast.dump(own) != ast.dump(node):
        raise refuse(
            node,
            f"{node.name} was changed, or was printed by another version; it belongs to a layer type of Netwright.",
            "Rename the changed class and use it as a custom layer, or put the original back.",
        )


def _inputs(text: str, path: Path) -> dict[str, TensorType]:
    """Return the types of the inputs, which the docstring of exported source lists."""
    found = {}
    for name, sizes, axes, is_index in INPUT.findall(text):
        letters = tuple(axes.split(" × "))
        numbers = tuple(map(_size, sizes.split(" × ")))
        if letters not in (*LAYOUTS.values(), ("T",)) or len(numbers) != len(letters):
            raise UserError(f"{path}: the sizes of the input '{name}' in the docstring cannot be read.")
        found[name] = TensorType(letters, numbers, "index" if is_index or letters == ("T",) else "real")
    if not found:
        raise UserError(
            f"{path} does not say the sizes of its inputs.",
            hint="Exported source has them in its docstring: 'Input image: N × 3 × 224 × 224 (batch × C × H × W)'.",
        )
    return found


def _size(text: str) -> Size:
    digits = text.replace(",", "")
    return int(digits) if digits.isdecimal() and len(digits) < 12 else Symbol("T")


def literal(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """Return the value of an argument: a literal, an argument of the class, or arithmetic of them."""
    match node:
        case ast.Constant(value=value) if value is None or isinstance(value, (bool, int, float, str)):
            return value
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.Tuple(elts=items):
            return tuple(literal(item, values) for item in items)
        case ast.List(elts=items):
            return [literal(item, values) for item in items]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = literal(operand, values)
            if isinstance(value, (int, float)):
                return -value
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value="inf" | "-inf" | "nan" as word)]):
            return float(word)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Add() | ast.Sub() | ast.FloorDiv() as op, right=right):
            a, b = literal(left, values), literal(right, values)
            if isinstance(a, int) and isinstance(b, int) and max(abs(a), abs(b)) < 2**40:
                match op:
                    case ast.Mult():
                        return a * b
                    case ast.Add():
                        return a + b
                    case ast.Sub():
                        return a - b
                if b:
                    return a // b
    raise refuse(node, f"a number, a text or a tuple of them is expected, received {_shown(node)}.")


def _bound(init: ast.FunctionDef, args: tuple[Any, ...], kwargs: Mapping[str, Any], line: int) -> dict[str, Any]:
    """Return the arguments of a constructor by name."""
    names = [one.arg for one in init.args.args][1:]
    defaults = dict(zip(reversed(names), [literal(one, {}) for one in reversed(init.args.defaults)], strict=False))
    values = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
    if len(args) > len(names) or set(values) != set(names):
        raise LineError(f"Line {line}: expected the arguments {', '.join(names) or 'none'}.")
    return values


def _method(definition: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((one for one in definition.body if isinstance(one, ast.FunctionDef) and one.name == name), None)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_super(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("super(")


def _shown(node: ast.AST) -> str:
    return printable(ast.unparse(node)[:80])
