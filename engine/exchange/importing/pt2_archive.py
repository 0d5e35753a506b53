"""The archive of a program of `torch.export`: what torch would run of it is refused before torch reads it.

torch unpickles parts of such a file, evaluates the expressions in it, and writes the names in it into Python code that
it runs. So the archive is copied without its example inputs, guards and further files; what is left of its description
may hold known operators, names that are identifiers, and arithmetic of sizes.
"""

import ast
import json
import keyword
import math
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable
from netwright.engine.core.text import format_bytes
from netwright.engine.exchange.importing.pt2_operators import known_operators

MOST_MEMBERS = 200_000
JSON_LIMIT_BYTES = 2**29
MOST_TIMES_LARGER = 200
WAY_OUT = "Save it again: torch.export.save(torch.export.export(model.eval(), (example,)), 'NAME.pt2')."
ARITHMETIC = ("Integer", "Add", "Mul", "Max", "Min", "Mod", "PythonMod", "FloorDiv", "CleanDiv", "CeilDiv")
HIGHEST_DEGREE = 64
"""Highest power of a size: an integer of 63 bits has as many times their number."""
SYMBOL = re.compile(r"[a-z]+\d*")
CONTAINERS = ("builtins.tuple", "builtins.list", "builtins.dict", "collections.OrderedDict", "torch.Size", None)
ARGUMENTS = 1
"""Depth of the dictionary of arguments by name among the containers of inputs."""
KEPT = ("archive_format", "archive_version", "byteorder", ".data/version", ".data/serialization_id")
PATHS = ("parameter_name", "buffer_name", "tensor_constant_name", "fqn")
"""Keys of paths of modules and tensors, which torch writes into code in quotes."""
TEXTS = ("as_string", "as_strings")
"""Keys of texts that operators take."""
NUMBER = re.compile(r"-?Infinity|NaN")
OTHERS = {"torch_version": re.compile(r"[\w.+<=]*"), "as_float": NUMBER, "as_floats": NUMBER, "as_float_lists": NUMBER}
"""Texts in the place of numbers, and the version."""
NOTES = "metadata"
MODULES = "nn_module_stack"
"""The modules that an operator was part of, which is all that is read of the notes on it."""
MOST_CHARACTERS = 1000


def refused(path: Path, reason: str) -> UserError:
    """Return the error for a file that is no program, with the reason as the end of a sentence."""
    text = printable(reason[:300]).rstrip(".")
    return UserError(f"{path.name} cannot be read as a program of torch.export: {text}.", hint=WAY_OUT)


def copy_program(path: Path, target: Path) -> None:
    """Copy what is data of an archive. Raises `UserError` where it is damaged, or holds what torch would run."""
    try:
        with zipfile.ZipFile(path) as archive, zipfile.ZipFile(target, "w") as copy:
            members = {info.filename: info for info in archive.infolist()}
            root = _root(members, path)
            _refuse_sizes(members, path, target)
            for name, info in members.items():
                inner = name.removeprefix(root)
                if inner in KEPT or inner.startswith(("data/weights/", "data/constants/")):
                    content = archive.read(info)
                    if inner.endswith("_config.json"):
                        _refuse_pickles(_json(content, name, path), path)
                    copy.writestr(name, content)
                elif inner.startswith("models/") and inner.endswith(".json"):
                    copy.writestr(name, _checked_model(archive.read(info), name, path))
                    model = inner.removeprefix("models/").removesuffix(".json")
                    copy.writestr(f"{root}data/sample_inputs/{model}.pt", b"")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, NotImplementedError, EOFError, KeyError) as error:
        raise refused(path, str(error)) from None
    except (RuntimeError, AttributeError, TypeError, ValueError):  # lists and objects where others are expected
        raise refused(path, "its description is damaged") from None


def _root(members: Mapping[str, zipfile.ZipInfo], path: Path) -> str:
    """Return the folder that holds all members. Raises `UserError` for an archive of another kind."""
    root = next(iter(members), "").partition("/")[0] + "/"
    models = [name for name in members if name.startswith(f"{root}models/") and name.endswith(".json")]
    if any(name.endswith("serialized_exported_program.json") for name in members):
        raise refused(path, "it was saved by a version of torch before 2.8, whose files hold pickles")
    if len(models) != 1 or len(members) > MOST_MEMBERS:
        problem = f"it holds {len(models)} models" if models else "it holds no model"
        raise refused(path, f"{problem} (a compiled package of AOTInductor is none)" if not models else problem)
    return root


def _refuse_sizes(members: Mapping[str, zipfile.ZipInfo], path: Path, target: Path) -> None:
    whole = sum(info.file_size for info in members.values())
    packed = sum(info.compress_size for info in members.values())
    room = shutil.disk_usage(target.parent).free
    if whole > min(max(packed, 2**20) * MOST_TIMES_LARGER, room):
        raise UserError(f"{path} would grow from {format_bytes(packed)} to {format_bytes(whole)}, which is refused.")
    for name, info in members.items():
        if name.endswith(".json") and info.file_size > JSON_LIMIT_BYTES:
            raise UserError(f"{path}: its description has {format_bytes(info.file_size)}, which is refused.")


def _json(content: bytes, name: str, path: Path) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise refused(path, f"'{name[:80]}' is not JSON") from None


def _refuse_pickles(config: Any, path: Path) -> None:
    """Refuse weights and constants that torch would unpickle, or that claim more than there is."""
    entries = config.get("config") if isinstance(config, dict) else None
    for name, entry in (entries or {}).items() if isinstance(entries, dict) else ():
        file, meta = str(entry.get("path_name")), entry.get("tensor_meta")
        if not _is_path(name):
            raise refused(path, f"the name {name[:80]!r} of a tensor could be code")
        if entry.get("use_pickle") is not False or not re.fullmatch(r"(weight|tensor)_\d+", file):
            raise refused(path, f"'{name[:80]}' in it is a pickle, which could run code")
        sizes = [size.get("as_int") for size in (meta or {}).get("sizes", ())]
        if not all(isinstance(size, int) and 0 <= size < 2**40 for size in sizes) or math.prod(sizes) > 2**40:
            raise refused(path, f"the sizes of '{name[:80]}' are damaged")


# ---- the description ----


def _checked_model(content: bytes, name: str, path: Path) -> str:
    """Return the description of the program without guards, which are code, and without notes."""
    model = _json(content, name, path)
    if not isinstance(model, dict):
        raise refused(path, "its description is no JSON object")
    model["guards_code"] = []
    for symbol in model.get("range_constraints") or {}:
        _refuse_expression(symbol, path)
    for key, value in _entries(model):
        if key == "expr_str" or (key == "as_expr" and isinstance(value, str)):
            _refuse_expression(value, path)
        elif key in ("in_spec", "out_spec") and isinstance(value, str):
            _refuse_containers(_json(value.encode(), key, path), path)
        elif key in ("as_custom_obj", "as_opaque_obj"):
            raise refused(path, "it holds an object of a class of its own, which could run code")
        elif isinstance(value, str):
            _refuse_text(key, value, path)
    return json.dumps(model)


def _entries(model: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each value in a description with the key that it, or the list that it is in, has; and each key as a name.
    Notes on operators are cut to the modules that they were part of, in place."""
    waiting: list[tuple[str, Any]] = [("", model)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, list):
            waiting += [(key, inner) for inner in value]
            continue
        if key:
            yield key, value
        if not isinstance(value, dict):
            continue
        if isinstance(value.get(NOTES), dict):
            modules = value[NOTES].get(MODULES)
            value[NOTES] = {MODULES: modules} if isinstance(modules, str) else {}
        for name, inner in value.items():
            yield "name", name
            if name != NOTES:
                waiting.append((name, inner))


def _refuse_text(key: str, text: str, path: Path) -> None:
    """Refuse a text of the description that could be code where torch puts it."""
    if key in ("target", "as_operator"):
        if text not in known_operators():
            raise refused(
                path,
                f"it uses the operator {text[:80]}, which is not one of ATen that has a form in ONNX",
            )
    elif key in TEXTS:
        if len(text) > MOST_CHARACTERS:
            raise refused(path, f"an operator takes a text of {len(text):,} characters")
    elif pattern := OTHERS.get(key):
        if not pattern.fullmatch(text):
            raise refused(path, f"it has {text[:80]!r} as its {key}")
    elif not (_is_path(text) if key in PATHS else _is_name(text)):
        raise refused(path, f"the name {text[:80]!r} in it could be code")


def _is_name(text: str) -> bool:
    """Return whether a text is a name in Python, or empty."""
    return not text or (text.isidentifier() and not keyword.iskeyword(text))


def _is_path(text: str) -> bool:
    """Return whether a text ends no text in quotes."""
    return text.isprintable() and not any(mark in text for mark in "\"'\\")


def _refuse_expression(text: Any, path: Path) -> None:
    """Refuse what is not arithmetic of sizes: torch evaluates it. It is written as sympy's `srepr` does, such as
    `Add(Symbol('s7', integer=True), Integer(2))`."""
    try:
        is_plain = isinstance(text, str) and len(text) < 2000
        is_plain = is_plain and _degree(ast.parse(text, mode="eval").body) <= HIGHEST_DEGREE
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        is_plain = False
    if not is_plain:
        raise refused(path, f"the size '{str(text)[:80]}' is no arithmetic of sizes")


def _degree(node: ast.expr) -> int:
    """Return the highest power of a size in an expression. Raises `ValueError` for what is no arithmetic of sizes."""
    match node:
        case ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str(name))], keywords=words):
            if SYMBOL.fullmatch(name) and all(isinstance(word.value, ast.Constant) for word in words):
                return 1
        case ast.Call(func=ast.Name(id="Pow"), args=[base, exponent], keywords=[]):
            powers = {"Integer(-1)": 1, "Integer(2)": 2, "Integer(3)": 3}
            if power := powers.get(ast.unparse(exponent)):
                return power * _degree(base)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in ARITHMETIC:
            degrees = [_degree(arg) for arg in args]
            return sum(degrees) if name == "Mul" else max(degrees, default=0)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _degree(operand)
        case ast.Name(id=name) if SYMBOL.fullmatch(name):
            return 1
        case ast.Constant(value=int(number)) if abs(number) < 2**63:
            return 1
    raise ValueError("no arithmetic of sizes")


def _refuse_containers(spec: Any, path: Path) -> None:
    """Refuse inputs and outputs in containers other than tuples, lists and dictionaries, and names of arguments that
    are none: torch imports what a container names, and writes the arguments into code."""
    waiting = [(spec, 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, list):
            waiting += [(inner, depth) for inner in value]
        elif isinstance(value, dict):
            if value.get("type") not in CONTAINERS:
                raise refused(path, f"its inputs or outputs stand in a {str(value.get('type'))[:80]}")
            context = value.get("context")
            keys = _json(context.encode(), "context", path) if isinstance(context, str) else context
            is_harmless = _is_name if depth <= ARGUMENTS else _is_path
            if keys and not (isinstance(keys, list) and all(isinstance(k, str) and is_harmless(k) for k in keys)):
                raise refused(path, f"its inputs or outputs have the keys {str(keys)[:80]}, which could be code")
            waiting += [(inner, depth + 1) for inner in value.get("children_spec") or []]
