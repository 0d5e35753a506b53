"""Read programs of `torch.export` (`.pt2`): through torch's own ONNX exporter, so that one set of lifts serves all.

torch unpickles parts of such a file and evaluates the expressions in it. So the archive is first copied without its
example inputs, guards and further files; pickled weights, objects, operators outside of ATen and expressions that are
no arithmetic of sizes are refused. The numbers are those of the program itself, run by torch.
"""

import ast
import contextlib
import io
import json
import logging
import math
import re
import shutil
import tempfile
import warnings
import weakref
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.core.errors import RunError, UserError
from engine.core.fields import printable
from engine.core.text import format_bytes
from engine.exchange.importing import onnx_file
from engine.exchange.importing.graph import Graph
from engine.exchange.importing.pt2_layers import mark

MOST_MEMBERS = 200_000
JSON_LIMIT_BYTES = 2**29
MOST_TIMES_LARGER = 200
OPSET = 23
WAY_OUT = "Save it again: torch.export.save(torch.export.export(model.eval(), (example,)), 'NAME.pt2')."
OPERATORS = re.compile(
    r"torch\.ops\.(aten|prims)\.\w+(\.\w+)?|torch\.sym_\w+|math\.\w+"
    r"|_operator\.(getitem|add|sub|mul|floordiv|truediv|mod|neg|pow|eq|ne|lt|le|gt|ge|and_|or_|not_)"
    r"|torch\.ops\.higher_order\.wrap_with_set_grad_enabled"
)
ARITHMETIC = {
    "Symbol",
    "Integer",
    "Add",
    "Mul",
    "Pow",
    "Max",
    "Min",
    "Mod",
    "PythonMod",
    "FloorDiv",
    "CleanDiv",
    "CeilDiv",
}
SYMBOL = re.compile(r"[a-z]+\d*")
CONTAINERS = {"builtins.tuple", "builtins.list", "builtins.dict", "collections.OrderedDict", "torch.Size", None}
KEPT = ("archive_format", "archive_version", "byteorder", ".data/version", ".data/serialization_id")


def read(path: Path) -> Graph:
    """Return the graph of a `.pt2` file. Raises `UserError` for a file that is none, is damaged, or holds code."""
    folder = Path(tempfile.mkdtemp(prefix="netwright-pt2-"))
    try:
        graph = graph_of(load_program(path, folder), folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    graph.title = path.stem
    return graph


def load_program(path: Path, folder: Path) -> torch.export.ExportedProgram:
    """Return the program of a `.pt2` file, of which a checked copy is made in a folder for a while. Raises
    `UserError`."""
    copy = folder / "program.pt2"
    _copy(path, copy)
    try:
        with _quiet():
            return torch.export.load(copy)
    except MemoryError:
        raise
    except Exception as error:  # torch raises what it likes for a damaged file
        raise _refused(path, f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}") from None
    finally:
        copy.unlink()


def graph_of(program: torch.export.ExportedProgram, folder: Path) -> Graph:
    """Return the graph of a program. The folder is removed with the graph. Raises `UserError` where the program has an
    operator without a form in ONNX."""
    file = folder / "program.onnx"
    with _quiet():
        module = program.module(check_guards=False)
        mark(program)
        try:
            exported = torch.onnx.export(program, dynamo=True, optimize=False, verbose=False, opset_version=OPSET)
        except Exception as error:
            raise UserError(
                f"The program cannot be read: torch's exporter refuses it: {_words(error)}.",
                hint="Operators without a form in ONNX cannot be imported; rewrite that part of the model.",
            ) from None
        if exported is None:
            raise UserError("The program cannot be read: torch's exporter gave nothing.")
        exported.save(str(file))
    graph = onnx_file.read(file)
    graph.producer = f"torch {printable(torch.__version__)}"
    others = graph.compute
    names = [value.name for value in graph.outputs]

    def compute(inputs: Mapping[str, np.ndarray], wanted: Sequence[str]) -> list[np.ndarray]:
        """Return outputs by running the program; values inside it by ONNX Runtime."""
        if not set(wanted) <= set(names) and others is not None:
            return others(inputs, wanted)
        return _run(module, [inputs[value.name] for value in graph.inputs], [names.index(name) for name in wanted])

    graph.compute = compute
    weakref.finalize(graph, shutil.rmtree, folder, ignore_errors=True)
    return graph


def _run(module: torch.nn.Module, inputs: Sequence[np.ndarray], places: Sequence[int]) -> list[np.ndarray]:
    """Run a program and return the outputs at these places."""
    from torch.utils import _pytree

    try:
        with _quiet(), torch.no_grad():
            given = [torch.from_numpy(np.ascontiguousarray(array)) for array in inputs]
            found = _pytree.tree_leaves(module(*given))
    except Exception as error:  # such as a size that the program has fixed
        raise RunError(f"torch cannot run the program: {_words(error)}.") from None
    tensors = [one for one in found if isinstance(one, torch.Tensor)]
    return [tensors[place].numpy() for place in places]


def _words(error: BaseException) -> str:
    """Return the first line that says why."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    line = str(cause).strip().partition("\n")[0]
    return printable(f"{type(cause).__name__}: {line}"[:300]).rstrip(".")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Context without what torch's exporter prints and logs."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        before = logging.root.manager.disable
        logging.disable(logging.ERROR)
        try:
            yield
        finally:
            logging.disable(before)


# ---- the archive ----


def _refused(path: Path, reason: str) -> UserError:
    text = printable(reason[:300]).rstrip(".")
    return UserError(f"{path.name} cannot be read as a program of torch.export: {text}.", hint=WAY_OUT)


def _copy(path: Path, target: Path) -> None:
    """Copy what is data of an archive, and refuse what torch would run."""
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
        raise _refused(path, str(error)) from None
    except (RuntimeError, AttributeError, TypeError, ValueError):  # lists and objects where others are expected
        raise _refused(path, "its description is damaged") from None


def _root(members: Mapping[str, zipfile.ZipInfo], path: Path) -> str:
    """Return the folder that holds all members. Raises `UserError` for an archive of another kind."""
    root = next(iter(members), "").partition("/")[0] + "/"
    models = [name for name in members if name.startswith(f"{root}models/") and name.endswith(".json")]
    if any(name.endswith("serialized_exported_program.json") for name in members):
        raise _refused(path, "it was saved by a version of torch before 2.8, whose files hold pickles")
    if len(models) != 1 or len(members) > MOST_MEMBERS:
        what = f"it holds {len(models)} models" if models else "it holds no model"
        raise _refused(path, f"{what} (a compiled package of AOTInductor is none)" if not models else what)
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
        raise _refused(path, f"'{name[:80]}' is not JSON") from None


def _refuse_pickles(config: Any, path: Path) -> None:
    """Refuse weights and constants that torch would unpickle, or that claim more than there is."""
    entries = config.get("config") if isinstance(config, dict) else None
    for name, entry in (entries or {}).items() if isinstance(entries, dict) else ():
        file, meta = str(entry.get("path_name")), entry.get("tensor_meta")
        if entry.get("use_pickle") is not False or not re.fullmatch(r"(weight|tensor)_\d+", file):
            raise _refused(path, f"'{name[:80]}' in it is a pickle, which could run code")
        sizes = [size.get("as_int") for size in (meta or {}).get("sizes", ())]
        if not all(isinstance(size, int) and 0 <= size < 2**40 for size in sizes) or math.prod(sizes) > 2**40:
            raise _refused(path, f"the sizes of '{name[:80]}' are damaged")


def _checked_model(content: bytes, name: str, path: Path) -> str:
    """Return the description of the program without guards, which are code."""
    model = _json(content, name, path)
    if not isinstance(model, dict):
        raise _refused(path, "its description is no JSON object")
    model["guards_code"] = []
    for symbol in model.get("range_constraints") or {}:
        _refuse_expression(symbol, path)
    waiting: list[Any] = [model]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
            continue
        if not isinstance(value, dict):
            continue
        for key, inner in value.items():
            if key == "expr_str" or (key == "as_expr" and isinstance(inner, str)):
                _refuse_expression(inner, path)
            elif key in ("target", "as_operator") and isinstance(inner, str) and not OPERATORS.fullmatch(inner):
                raise _refused(path, f"it uses the operator {inner[:80]}, which is not one of ATen")
            elif key in ("in_spec", "out_spec") and isinstance(inner, str):
                _refuse_containers(_json(inner.encode(), key, path), path)
            elif key in ("as_custom_obj", "as_opaque_obj"):
                raise _refused(path, "it holds an object of a class of its own, which could run code")
            if isinstance(inner, (dict, list)):
                waiting.append(inner)
    return json.dumps(model)


def _refuse_expression(text: Any, path: Path) -> None:
    """Refuse what is not arithmetic of sizes: torch evaluates it. It is written as sympy's `srepr` does, such as
    `Add(Symbol('s7', integer=True), Integer(2))`."""
    try:
        is_plain = isinstance(text, str) and len(text) < 2000 and _is_arithmetic(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        is_plain = False
    if not is_plain:
        raise _refused(path, f"the size '{str(text)[:80]}' is no arithmetic of sizes")


def _is_arithmetic(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str(name))], keywords=words):
            return bool(SYMBOL.fullmatch(name)) and all(isinstance(word.value, ast.Constant) for word in words)
        case ast.Call(func=ast.Name(id="Pow"), args=[base, exponent], keywords=[]):
            return _is_arithmetic(base) and ast.unparse(exponent) in ("Integer(-1)", "Integer(2)", "Integer(3)")
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in ARITHMETIC:
            return all(map(_is_arithmetic, args))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_arithmetic(operand)
        case ast.Name(id=name):
            return bool(SYMBOL.fullmatch(name))
        case ast.Constant(value=int(number)):
            return abs(number) < 2**63
    return False


def _refuse_containers(spec: Any, path: Path) -> None:
    """Refuse inputs and outputs in containers other than tuples, lists and dictionaries."""
    waiting = [spec]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            if value.get("type") not in CONTAINERS:
                raise _refused(path, f"its inputs or outputs stand in a {str(value.get('type'))[:80]}")
            waiting += value.get("children_spec") or []
