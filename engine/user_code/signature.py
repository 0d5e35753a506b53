"""Read the signatures of the classes and functions of a Python file with `ast`, without running the file.

The constructor of an `nn.Module` defines the fields of a custom layer: annotations `int`, `float`, `bool`, `str`,
`Literal[...]` and tuples of whole numbers, or the kind of the default where there is no annotation. A parameter of any
other kind keeps its default and has no field. `forward` gives the number of inputs and, by its annotation, of outputs.
A function of tensors is read the same way: parameters that are tensors, or have neither annotation nor default, are
inputs, the others fields. Either may have a parameter `lengths` with the default None: the number of valid steps of
each padded sequence.
"""

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import JSON, Bool, Choice, Field, Float, Int, Text, quoted
from netwright.engine.core.list_fields import Ints

MANY = sys.maxsize


@dataclass(frozen=True)
class Named:
    """A callable name: its line, and the least and largest number of positional arguments.

    Of an assigned or imported name no signature is known, so any number of arguments is accepted.
    """

    line: int
    least: int = 0
    most: int = MANY
    must_be_named: str = ""
    """Name of the first keyword-only parameter without a default, or ''."""


def split_reference(text: str, usual: str) -> tuple[str, str]:
    """Return file and function of `steps.py:mixup`, or of `steps.py`, with the usual name. `C:` is a drive, no file."""
    file, colon, name = text.rpartition(":")
    if colon and name.isidentifier() and len(file) > 1:
        return file, name
    return text, usual


def read_functions(tree: ast.Module) -> Mapping[str, Named]:
    """Return the definitions at module level by name; of several with one name, the last."""
    return dict(_named(tree))


def _named(tree: ast.Module) -> Iterator[tuple[str, Named]]:
    for node in tree.body:
        match node:
            case ast.FunctionDef():
                yield node.name, _shape(node)
            case ast.ClassDef():
                yield node.name, Named(node.lineno)
            case ast.Assign():
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        yield target.id, Named(node.lineno)
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, Named(node.lineno)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    yield (alias.asname or alias.name).partition(".")[0], Named(node.lineno)


def _shape(node: ast.FunctionDef) -> Named:
    arguments = node.args
    count = len(arguments.posonlyargs) + len(arguments.args)
    missing = (
        arg.arg for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None
    )
    most = MANY if arguments.vararg else count
    return Named(node.lineno, count - len(arguments.defaults), most, next(missing, ""))


Kind = Literal["int", "float", "bool", "str", "choice", "ints"]
KINDS: tuple[Kind, ...] = ("int", "float", "bool", "str", "choice", "ints")
MODULES = ("Module", "nn.Module", "torch.nn.Module")
TENSORS = ("Tensor", "torch.Tensor")
LENGTHS = "lengths"
MOST_PARAMETERS = 64
MOST_PORTS = 16
LOW, HIGH = -(2**31), 2**31 - 1
_EMPTY: dict[str, Any] = {"int": 1, "float": 1.0, "bool": False, "str": ""}


@dataclass(frozen=True)
class Parameter:
    """A parameter that becomes a field. A required one has no default in the file; it is always passed."""

    name: str
    kind: Kind
    default: Any
    options: tuple[str, ...] = ()
    is_required: bool = False

    def field(self) -> Field[Any]:
        """Return the field for forms and the project file."""
        described: dict[str, Any] = {"label": self.name, "help": f"Parameter {self.name} of the code"}
        match self.kind:
            case "int":
                return Int(self.default, low=LOW, high=HIGH, **described)
            case "float":
                return Float(self.default, **described)
            case "bool":
                return Bool(self.default, **described)
            case "str":
                return Text(self.default, **described)
            case "choice":
                return Choice(self.default, options=self.options, **described)
            case "ints":
                return Ints(self.default, length=len(self.default), low=LOW, high=HIGH, **described)

    def write(self) -> JSON:
        """Return the parameter as in the project file, so that a project opens without its file of code."""
        default = list(self.default) if self.kind == "ints" else self.default
        written: list[JSON] = [self.name, self.kind, default]
        if self.options or self.is_required:
            written.append(list(self.options))
        return [*written, True] if self.is_required else written

    @classmethod
    def read(cls, data: object) -> "Parameter":
        """Return a parameter from the project file. Raises `ValueError` for data that `write` never returns."""
        match data:
            case [str() as name, str() as kind, default, *rest] if name.isidentifier() and kind in KINDS:
                options, is_required = [*rest, *((), False)[len(rest) :]][:2]
                if not isinstance(options, (list, tuple)) or not all(isinstance(word, str) for word in options):
                    raise ValueError(name)
                value = tuple(default) if kind == "ints" and isinstance(default, list) else default
                parameter = cls(name, kind, value, tuple(options), bool(is_required))
                try:
                    if parameter.field().check(default) != value:
                        raise ValueError(name)
                except (UserError, TypeError) as error:
                    raise ValueError(name) from error
                return parameter
        raise ValueError(str(data))


@dataclass(frozen=True)
class Signature:
    """A class or function of a file: its fields, numbers of input and output tensors, and first line."""

    name: str
    kind: Literal["class", "function"]
    parameters: tuple[Parameter, ...] = ()
    num_inputs: int = 1
    num_outputs: int = 1
    line: int = 0
    takes_lengths: bool = False
    """True if it has a parameter `lengths` with the default None."""
    refusal: str = ""
    """The reason why it cannot be a layer, or ''."""


def parse(text: str, where: str) -> ast.Module:
    """Return the syntax tree of a file. Raises `UserError` that names the line of an error."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise UserError(f"{where}{line}: this is not valid Python: {reason}.") from None
    except (RecursionError, MemoryError):
        raise UserError(f"{where}: it is nested too deep to be read.") from None


def read_signatures(text: str, where: str) -> tuple[Signature, ...]:
    """Return the modules and functions at module level, in order. Raises `UserError` naming the line of an error."""
    return signatures_in(parse(text, where), where)


def signatures_in(tree: ast.Module, where: str) -> tuple[Signature, ...]:
    """Return the modules and functions at module level of a parsed file, in order. Raises `UserError`."""
    try:
        return tuple(_signatures(tree))
    except RecursionError:  # an annotation or a base class that exceeds the recursion limit
        raise UserError(f"{where}: it is nested too deep to be read.") from None


def _signatures(tree: ast.Module) -> Iterator[Signature]:
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and _is_module(node, classes):
            yield _class_signature(node, classes)
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield _function_signature(node)


def pick(signatures: Sequence[Signature], name: str, kind: str, where: str) -> Signature:
    """Return the class or function of a name. Raises `UserError` that lists the others."""
    of_kind = [signature for signature in signatures if signature.kind == kind]
    match = next((signature for signature in of_kind if signature.name == name), None)
    noun = "class that is an nn.Module" if kind == "class" else "function"
    if match is None:
        names = [signature.name for signature in of_kind]
        if not names:
            raise UserError(f"{where} has no {noun}.")
        hint = did_you_mean(name, names)
        raise UserError(f"{where} has no {noun} named {quoted(name)}.{hint} It has {', '.join(names[:12])}.")
    if match.refusal:
        raise UserError(f"{where}, line {match.line}: {match.refusal}")
    return match


def _is_module(node: ast.ClassDef, classes: dict[str, ast.ClassDef], depth: int = 0) -> bool:
    """Return whether the class is an `nn.Module`, by the names of its bases, also through classes of the same file."""
    for base in node.bases:
        name = ast.unparse(base)
        if name in MODULES or name.startswith(("nn.", "torch.nn.")):
            return True
        if name in classes and depth < 20 and _is_module(classes[name], classes, depth + 1):
            return True
    return False


def _methods(node: ast.ClassDef, classes: dict[str, ast.ClassDef], name: str) -> Iterator[ast.FunctionDef]:
    """Yield the method of the class and of its base classes in the file, nearest first."""
    names: set[str] = set()
    waiting = [node]
    while waiting:
        class_node = waiting.pop(0)
        if class_node.name in names:
            continue
        names.add(class_node.name)
        yield from (item for item in class_node.body if isinstance(item, ast.FunctionDef) and item.name == name)
        waiting += [classes[base] for base in map(ast.unparse, class_node.bases) if base in classes]


def _class_signature(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Signature:
    forward = next(_methods(node, classes, "forward"), None)
    if forward is None:
        return Signature(node.name, "class", line=node.lineno, refusal=f"{node.name} has no method 'forward'.")
    constructor = next(_methods(node, classes, "__init__"), None)
    refusal = ""
    parameters: tuple[Parameter, ...] = ()
    try:
        parameters = tuple(_parameters(constructor, skip=1)) if constructor is not None else ()
    except _NotAField as reason:
        refusal = f"{node.name}: {reason}"
    inputs = _tensor_count(forward, skip=1)
    if not 1 <= inputs <= MOST_PORTS:
        refusal = refusal or f"'forward' of {node.name} takes {inputs} tensors; a layer takes 1 to {MOST_PORTS}."
    outputs, takes_lengths = _output_count(forward.returns), _takes_lengths(forward)
    return Signature(node.name, "class", parameters, inputs, outputs, node.lineno, takes_lengths, refusal)


def _function_signature(node: ast.FunctionDef) -> Signature:
    inputs = _tensor_count(node, skip=0)
    refusal = ""
    parameters: tuple[Parameter, ...] = ()
    try:
        parameters = tuple(_parameters(node, skip=inputs))
    except _NotAField as reason:
        refusal = f"{node.name}: {reason}"
    if not 1 <= inputs <= MOST_PORTS:
        refusal = refusal or f"{node.name} takes {inputs} tensors; a layer takes 1 to {MOST_PORTS}."
    outputs, takes_lengths = _output_count(node.returns), _takes_lengths(node)
    return Signature(node.name, "function", parameters, inputs, outputs, node.lineno, takes_lengths, refusal)


class _NotAField(Exception):
    """A required parameter whose type has no form field."""


def _arguments(function: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr | None]]:
    """Return parameters with their defaults, positional ones first."""
    arguments = function.args
    by_position = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(by_position) - len(arguments.defaults)) + list(arguments.defaults)
    return [*zip(by_position, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]


def _tensor_count(function: ast.FunctionDef, *, skip: int) -> int:
    """Return the number of tensor inputs: leading parameters without default that are tensors or not annotated."""
    count = 0
    for argument, default in _arguments(function)[skip:]:
        annotation = _annotated(argument)
        if default is not None or not (annotation is None or annotation in TENSORS):
            break
        count += 1
    return count


def _takes_lengths(function: ast.FunctionDef) -> bool:
    return any(
        argument.arg == LENGTHS and isinstance(default, ast.Constant) and default.value is None
        for argument, default in _arguments(function)
    )


def _annotated(argument: ast.arg) -> str | None:
    if argument.annotation is None:
        return None
    if isinstance(argument.annotation, ast.Constant) and isinstance(argument.annotation.value, str):
        return argument.annotation.value.strip()
    return ast.unparse(argument.annotation)


def _output_count(returns: ast.expr | None) -> int:
    """Return the number of outputs by the annotation: two for `tuple[Tensor, Tensor]`; one for any other."""
    if isinstance(returns, ast.Constant) and isinstance(returns.value, str):
        try:
            returns = ast.parse(returns.value, mode="eval").body
        except SyntaxError:
            return 1
    if isinstance(returns, ast.Subscript) and ast.unparse(returns.value) in ("tuple", "Tuple", "typing.Tuple"):
        items = returns.slice.elts if isinstance(returns.slice, ast.Tuple) else [returns.slice]
        if all(ast.unparse(item) in TENSORS for item in items) and 1 <= len(items) <= MOST_PORTS:
            return len(items)
    return 1


def _parameters(function: ast.FunctionDef, *, skip: int) -> Iterator[Parameter]:
    """Yield the parameters that become fields. Raises `_NotAField` for a required one that cannot."""
    count = 0
    for argument, default in _arguments(function)[skip:]:
        parameter = _parameter(argument, default)
        if parameter is None and default is None:
            kind = f" is a {_annotated(argument)}" if argument.annotation else " has no annotation"
            raise _NotAField(
                f"parameter '{argument.arg}'{kind} and no default. Give it a default, or one of the annotations "
                "int, float, bool, str, Literal, tuple[int, ...]."
            )
        if parameter is not None:
            count += 1
            if count > MOST_PARAMETERS:
                return
            yield parameter


def _parameter(argument: ast.arg, default: ast.expr | None) -> Parameter | None:
    """Return the parameter as a field, or None if its kind has none."""
    value: Any = None
    if default is not None:
        try:
            value = ast.literal_eval(default)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None  # computed when the file runs: the parameter keeps its default
    annotation = argument.annotation
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return None
    parameter = _made(argument.arg, annotation, value, is_required=default is None)
    if parameter is None:
        return None
    try:
        return Parameter.read(parameter.write())
    except ValueError:
        return None  # a default that its own annotation does not allow, or that is out of all limits


def _made(name: str, annotation: ast.expr | None, value: Any, *, is_required: bool) -> Parameter | None:
    type_name = ast.unparse(annotation) if annotation is not None else ""
    if not type_name and not is_required:
        type_name = type(value).__name__ if not isinstance(value, tuple) else "tuple[int, ...]"
    if type_name in _EMPTY:
        default = _EMPTY[type_name] if is_required else value
        if type_name == "float" and isinstance(default, int) and not isinstance(default, bool):
            default = float(default)
        if type(default).__name__ != type_name:
            return None
        return Parameter(name, type_name, default, is_required=is_required)  # type: ignore[arg-type]  # a kind, by `_EMPTY`
    if not isinstance(annotation, ast.Subscript) and not type_name.startswith("tuple"):
        return None
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) in ("Literal", "typing.Literal"):
        items = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        options = tuple(i.value for i in items if isinstance(i, ast.Constant) and isinstance(i.value, str))
        if not options or len(options) != len(items):
            return None
        return Parameter(name, "choice", options[0] if is_required else value, options, is_required)
    return _ints(name, annotation, value, is_required)


def _ints(name: str, annotation: ast.expr | None, value: Any, is_required: bool) -> Parameter | None:
    """Return a field for `tuple[int, int]`, or for `tuple[int, ...]` with a default that sets the length."""
    if is_required:
        if not isinstance(annotation, ast.Subscript) or not isinstance(annotation.slice, ast.Tuple):
            return None
        items = annotation.slice.elts
        if not all(isinstance(item, ast.Name) and item.id == "int" for item in items):
            return None
        value = (1,) * len(items)
    whole = isinstance(value, tuple) and all(isinstance(v, int) and not isinstance(v, bool) for v in value)
    return Parameter(name, "ints", value, is_required=is_required) if whole and 1 <= len(value) <= 16 else None
