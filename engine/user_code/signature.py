"""What the text of a Python file says about the classes and functions in it, read with `ast`: nothing of it runs.

The constructor of an `nn.Module` gives the fields of a custom layer: annotations `int`, `float`, `bool`, `str`,
`Literal[...]` and tuples of whole numbers, or the kind of the default where there is no annotation. A parameter of any
other kind keeps its default and has no field. `forward` gives the number of inputs and, by its annotation, of outputs.
A function of tensors is read the same way: parameters that are tensors, or have neither annotation nor default, are
inputs, the others fields. Either may have a parameter `lengths` with the default None: it is told how many steps of
each padded sequence are real.
"""

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine.core.errors import UserError, did_you_mean
from engine.core.fields import JSON, Bool, Choice, Field, Float, Int, Text, quoted
from engine.core.list_fields import Ints

MANY = sys.maxsize


@dataclass(frozen=True)
class Named:
    """A name that can be called: how many arguments by position it takes, and the line where it is defined.

    Of what is assigned or imported nothing but the name is known, so any number is taken to do.
    """

    line: int
    least: int = 0
    most: int = MANY
    must_be_named: str = ""
    """A parameter without a default that can only be given by its name."""


def split_reference(text: str, usual: str) -> tuple[str, str]:
    """File and function: `steps.py:mixup`, or `steps.py` for the usual name. A drive such as `C:` is no file."""
    file, colon, name = text.rpartition(":")
    if colon and name.isidentifier() and len(file) > 1:
        return file, name
    return text, usual


def read_functions(tree: ast.Module) -> Mapping[str, Named]:
    """What a file defines at its top, by name; of several of one name the last."""
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
    given = node.args
    count = len(given.posonlyargs) + len(given.args)
    missing = (arg.arg for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is None)
    most = MANY if given.vararg else count
    return Named(node.lineno, count - len(given.defaults), most, next(missing, ""))


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
    """One parameter that becomes a field. A required one has no default in the file; it is always handed over."""

    name: str
    kind: Kind
    default: Any
    options: tuple[str, ...] = ()
    is_required: bool = False

    def field(self) -> Field[Any]:
        """The field of a form and of the project file."""
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
        """As it stands in the project file, so that a project opens without the file of the code."""
        default = list(self.default) if self.kind == "ints" else self.default
        written: list[JSON] = [self.name, self.kind, default]
        if self.options or self.is_required:
            written.append(list(self.options))
        return [*written, True] if self.is_required else written

    @classmethod
    def read(cls, data: object) -> "Parameter":
        """From the project file. Raises `ValueError` for what `write` never gives."""
        match data:
            case [str() as name, str() as kind, default, *rest] if name.isidentifier() and kind in KINDS:
                options, is_required = [*rest, *((), False)[len(rest) :]][:2]
                if not isinstance(options, (list, tuple)) or not all(isinstance(word, str) for word in options):
                    raise ValueError(name)
                value = tuple(default) if kind == "ints" and isinstance(default, list) else default
                made = cls(name, kind, value, tuple(options), bool(is_required))
                try:
                    if made.field().check(default) != value:
                        raise ValueError(name)
                except (UserError, TypeError) as error:
                    raise ValueError(name) from error
                return made
        raise ValueError(str(data))


@dataclass(frozen=True)
class Signature:
    """One class or function of a file: its fields, how many tensors go in and come out, and the line it starts at."""

    name: str
    kind: Literal["class", "function"]
    parameters: tuple[Parameter, ...] = ()
    num_inputs: int = 1
    num_outputs: int = 1
    line: int = 0
    takes_lengths: bool = False
    """Whether it has a parameter `lengths` that is None unless it is given."""
    refusal: str = ""
    """Why it cannot be a layer, in words, or nothing."""


def parse(text: str, where: str) -> ast.Module:
    """The text of a file as a tree. Raises `UserError` that names the line of an error."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        words = error.msg if isinstance(error, SyntaxError) else str(error)
        raise UserError(f"{where}{line}: this is not valid Python: {words}.") from None
    except (RecursionError, MemoryError):
        raise UserError(f"{where}: it is nested too deep to be read.") from None


def read_signatures(text: str, where: str) -> tuple[Signature, ...]:
    """The modules and functions at the top of a file, in order. Raises `UserError` that names the line of an error."""
    return signatures_in(parse(text, where), where)


def signatures_in(tree: ast.Module, where: str) -> tuple[Signature, ...]:
    """The same for a file that was parsed already."""
    try:
        return tuple(_signatures(tree))
    except RecursionError:  # an annotation or a base that is spelled deeper than Python can follow
        raise UserError(f"{where}: it is nested too deep to be read.") from None


def _signatures(tree: ast.Module) -> Iterator[Signature]:
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and _is_module(node, classes):
            yield _class_signature(node, classes)
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield _function_signature(node)


def pick(signatures: Sequence[Signature], name: str, kind: str, where: str) -> Signature:
    """The class or function of this name. Raises `UserError`, which offers the others."""
    of_kind = [one for one in signatures if one.kind == kind]
    found = next((one for one in of_kind if one.name == name), None)
    what = "class that is an nn.Module" if kind == "class" else "function"
    if found is None:
        names = [one.name for one in of_kind]
        if not names:
            raise UserError(f"{where} has no {what}.")
        hint = did_you_mean(name, names)
        raise UserError(f"{where} has no {what} named {quoted(name)}.{hint} It has {', '.join(names[:12])}.")
    if found.refusal:
        raise UserError(f"{where}, line {found.line}: {found.refusal}")
    return found


def _is_module(node: ast.ClassDef, classes: dict[str, ast.ClassDef], depth: int = 0) -> bool:
    """Whether the class is an `nn.Module`: by a base of that name, through classes of the same file."""
    for base in node.bases:
        name = ast.unparse(base)
        if name in MODULES or name.startswith(("nn.", "torch.nn.")):
            return True
        if name in classes and depth < 20 and _is_module(classes[name], classes, depth + 1):
            return True
    return False


def _methods(node: ast.ClassDef, classes: dict[str, ast.ClassDef], name: str) -> Iterator[ast.FunctionDef]:
    """The method, in the class or the nearest class of the file that it is made from."""
    seen: set[str] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop(0)
        if one.name in seen:
            continue
        seen.add(one.name)
        yield from (item for item in one.body if isinstance(item, ast.FunctionDef) and item.name == name)
        waiting += [classes[base] for base in map(ast.unparse, one.bases) if base in classes]


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
    outputs, told = _output_count(forward.returns), _takes_lengths(forward)
    return Signature(node.name, "class", parameters, inputs, outputs, node.lineno, told, refusal)


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
    outputs, told = _output_count(node.returns), _takes_lengths(node)
    return Signature(node.name, "function", parameters, inputs, outputs, node.lineno, told, refusal)


class _NotAField(Exception):
    """A parameter that has to be given and cannot be typed in a form."""


def _arguments(function: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr | None]]:
    """Parameters with their defaults, those by position first."""
    given = function.args
    by_position = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(by_position) - len(given.defaults)) + list(given.defaults)
    return [*zip(by_position, defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]


def _tensor_count(function: ast.FunctionDef, *, skip: int) -> int:
    """How many tensors a call takes: the leading parameters that are tensors, or say nothing and have no default."""
    count = 0
    for argument, default in _arguments(function)[skip:]:
        named = _annotated(argument)
        if default is not None or not (named is None or named in TENSORS):
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
    """By the annotation: `tuple[Tensor, Tensor]` are two; whatever else is one."""
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
    """The parameters that become fields. Raises `_NotAField` for a required one that cannot."""
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
    """The field of one parameter, or None where its kind has none."""
    value: Any = None
    if default is not None:
        try:
            value = ast.literal_eval(default)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None  # computed when the file runs: the default stays what it is there
    annotation = argument.annotation
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return None
    made = _made(argument.arg, annotation, value, is_required=default is None)
    if made is None:
        return None
    try:
        return Parameter.read(made.write())
    except ValueError:
        return None  # a default that its own annotation does not allow, or that is out of all limits


def _made(name: str, annotation: ast.expr | None, value: Any, *, is_required: bool) -> Parameter | None:
    words = ast.unparse(annotation) if annotation is not None else ""
    if not words and not is_required:
        words = type(value).__name__ if not isinstance(value, tuple) else "tuple[int, ...]"
    if words in _EMPTY:
        given = _EMPTY[words] if is_required else value
        if words == "float" and isinstance(given, int) and not isinstance(given, bool):
            given = float(given)
        if type(given).__name__ != words:
            return None
        return Parameter(name, words, given, is_required=is_required)  # type: ignore[arg-type]  # a kind, by `_EMPTY`
    if not isinstance(annotation, ast.Subscript) and not words.startswith("tuple"):
        return None
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) in ("Literal", "typing.Literal"):
        items = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        options = tuple(i.value for i in items if isinstance(i, ast.Constant) and isinstance(i.value, str))
        if not options or len(options) != len(items):
            return None
        return Parameter(name, "choice", options[0] if is_required else value, options, is_required)
    return _ints(name, annotation, value, is_required)


def _ints(name: str, annotation: ast.expr | None, value: Any, is_required: bool) -> Parameter | None:
    """`tuple[int, int]`, or `tuple[int, ...]` with a default that says how many."""
    if is_required:
        if not isinstance(annotation, ast.Subscript) or not isinstance(annotation.slice, ast.Tuple):
            return None
        items = annotation.slice.elts
        if not all(isinstance(item, ast.Name) and item.id == "int" for item in items):
            return None
        value = (1,) * len(items)
    whole = isinstance(value, tuple) and all(isinstance(v, int) and not isinstance(v, bool) for v in value)
    return Parameter(name, "ints", value, is_required=is_required) if whole and 1 <= len(value) <= 16 else None
