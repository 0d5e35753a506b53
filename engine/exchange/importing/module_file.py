"""Import an `nn.Module` of a Python file: build it in a throw-away process, export it with torch, and read the program.

The file runs, so its folder has to be trusted. The process that runs it gives back a `.pt2` file and nothing else.
"""

import ast
import contextlib
import importlib.util
import os
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import torch

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable
from netwright.engine.core.fork import run_in_child_process
from netwright.engine.exchange.importing.import_report import ImportReport
from netwright.engine.exchange.importing.importer import ImportOptions, import_file
from netwright.engine.exchange.operations.import_network import Imported, ImportRequest, read_size
from netwright.engine.user_code import trust

PATIENCE_S = 600.0
SAMPLES = 2
MOST_INDEX = 2
"""Example indices are below this number, which every embedding with two rows takes."""
TYPES = {"float32": torch.float32, "int64": torch.int64, "int32": torch.int32}
WAY_OUT = "Export it yourself with torch.export.save or torch.onnx.export, and import that file."


@dataclass(frozen=True)
class Example:
    """An input of the module: its sizes without the batch, its data type, and the axes whose size is free."""

    sizes: tuple[int, ...]
    dtype: str = "float32"
    free: tuple[int, ...] = ()

    def tensor(self) -> torch.Tensor:
        """Return random numbers for a batch of samples."""
        shape = (SAMPLES, *self.sizes)
        return (
            torch.randn(shape) if self.dtype == "float32" else torch.randint(0, MOST_INDEX, shape).to(TYPES[self.dtype])
        )


def read_example(text: str) -> Example:
    """Return the input that a text such as `3x224x224` or `128:int64` says. Raises `UserError`."""
    sizes, _, dtype = text.partition(":")
    parts = sizes.split("x")
    if not all(part.isdecimal() and 0 < int(part) <= 1_000_000 for part in parts) or (dtype or "float32") not in TYPES:
        raise UserError(
            f"The input {printable(text)[:80]}: expected the sizes of one sample, such as 3x224x224.",
            hint="Indices have a data type, such as 128:int64.",
            code="usage",
        )
    return Example(tuple(map(int, parts)), dtype or "float32")


def read_arguments(text: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the values in a text such as `18, num_classes=10`. Raises `UserError` for what is no plain value."""
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        assert isinstance(call, ast.Call)
        words = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
        return [ast.literal_eval(value) for value in call.args], words
    except (SyntaxError, ValueError, AssertionError, RecursionError, MemoryError):
        raise UserError(
            f"The arguments {printable(text)[:80]}: expected plain values as in a call, such as 18, num_classes=10.",
            code="usage",
        ) from None


def import_module(
    path: Path,
    name: str,
    to: Path,
    examples: Sequence[Example],
    arguments: str = "",
    **options: Unpack[ImportOptions],
) -> ImportReport:
    """Build the module `name` of a file with these arguments, and write the project `to` with its weights.

    `examples` are the inputs of `forward`, in order. Raises `UserError` where the folder is not trusted, where the code
    fails, with its line, or where torch cannot export it.
    """
    if not path.is_file():
        raise UserError(f"There is no file {path}.", code="not_found")
    if not trust.is_trusted(path):
        raise UserError(
            f"{path.name} has to run to build {name}, and the folder {Path(os.path.realpath(path)).parent} is not "
            f"trusted. {trust.MEANING}",
            hint=trust.WAY_OUT,
            code="not_trusted",
        )
    if not examples:
        raise UserError(
            f"The sizes of the inputs of {name} are needed.", hint="Say them: --input 3x224x224", code="usage"
        )
    call_arguments = read_arguments(arguments)
    with tempfile.TemporaryDirectory(prefix="netwright-module-") as folder:
        program = Path(folder) / f"{name}.pt2"
        answer = run_in_child_process(lambda: _exported(path, name, examples, call_arguments, program), PATIENCE_S)
        report = import_file(program, to, **options)
    return replace(report, source=path, kind="module", notes=(*report.notes, *answer["notes"]))


# ---- in the throw-away process ----


def prepare_for_code() -> None:
    """Prepare this process for the user's code: what it prints goes to standard error, and it computes in one thread,
    because those of the parent did not survive the fork."""
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    torch.set_num_threads(1)


def _exported(
    path: Path, name: str, examples: Sequence[Example], call_arguments: tuple[list[Any], dict[str, Any]], target: Path
) -> dict[str, Any]:
    prepare_for_code()
    torch.manual_seed(1)
    return {"notes": exported(built(path, name, call_arguments), path, examples, target)}


def exported(module: torch.nn.Module, path: Path, examples: Sequence[Example], target: Path) -> list[str]:
    """Export a module of the file `path` to the `.pt2` file `target`, and return sentences on the program."""
    inputs = tuple(example.tensor() for example in examples)
    with failing(path, "it fails on inputs of these sizes"), torch.no_grad():
        module(*inputs)
    program, notes = _program(module, inputs, [example.free for example in examples], path)
    torch.export.save(program, target)
    return [*notes, _agreement(module, program, examples, path)]


def built(path: Path, name: str, call_arguments: tuple[list[Any], dict[str, Any]]) -> torch.nn.Module:
    """Return the module `name` of a file, built with positional and named arguments, for inference. The file runs in
    this process. Raises `UserError` with the line that fails."""
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path.name} cannot be imported as Python.")
    code = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = code
    with failing(path, "it cannot be imported"):
        spec.loader.exec_module(code)
    if not hasattr(code, name):
        names = ", ".join(key for key in vars(code) if _is_own(code, key))
        raise UserError(f"{path.name} has no class '{name}'.", hint=f"It has {names or 'none'}.", code="not_found")
    module = getattr(code, name)
    if not isinstance(module, torch.nn.Module):
        with failing(path, f"{name} cannot be built", hint="Give what it takes: --args 'num_classes=10'"):
            module = module(*call_arguments[0], **call_arguments[1])
    if not isinstance(module, torch.nn.Module):
        raise UserError(f"{name} of {path.name} gives a {type(module).__name__}, not an nn.Module.")
    return module.eval()


def _is_own(code: types.ModuleType, name: str) -> bool:
    value = getattr(code, name)
    return isinstance(value, type) and issubclass(value, torch.nn.Module) and value.__module__ == code.__name__


def _program(
    module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], free: Sequence[tuple[int, ...]], path: Path
) -> tuple[torch.export.ExportedProgram, list[str]]:
    """Return the program with a free batch and the axes `free` of each input, or with as much of it fixed as the code
    needs."""
    batch, steps = torch.export.Dim("batch", min=1), torch.export.Dim("steps", min=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for axes in (free, [()] * len(inputs)) if any(free) else (free,):
            dims = tuple({0: batch, **{1 + axis: steps for axis in each}} for each in axes)
            with contextlib.suppress(Exception):  # whatever it is, the last try says it
                notes = [] if axes == free else ["The code fixes the number of steps to that of the export."]
                return torch.export.export(module, inputs, dynamic_shapes=dims), notes
        with failing(path, "torch.export cannot follow it", hint=WAY_OUT):
            program = torch.export.export(module, tuple(tensor[:1] for tensor in inputs))
    return program, ["The code fixes the number of samples, so it was exported for one sample at a time."]


def _agreement(
    module: torch.nn.Module, program: torch.export.ExportedProgram, examples: Sequence[Example], path: Path
) -> str:
    """Return how close the program is to the module, on other inputs than those of the export."""
    from torch.utils import _pytree

    count = 1 if program.graph_signature.user_inputs and _is_fixed(program) else SAMPLES
    inputs = tuple(example.tensor()[:count] for example in examples)
    with failing(path, "it fails on inputs of these sizes"), torch.no_grad():
        ours, theirs = (_pytree.tree_leaves(call(*inputs)) for call in (program.module(), module))
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if isinstance(a, torch.Tensor)]
    difference = max((float((a.double() - b.double()).abs().max()) for a, b in pairs if a.numel()), default=0.0)
    spread = max((float(b.double().std()) for _, b in pairs if b.numel() > 1), default=0.0)
    if difference > 1e-4 * (spread or 1.0):
        return f"torch.export's program differs from the module itself: largest difference {difference:.2g}."
    return f"The module was run: torch.export's program gives the same numbers (largest difference {difference:.2g})."


def _is_fixed(program: torch.export.ExportedProgram) -> bool:
    return not program.range_constraints


@contextlib.contextmanager
def failing(path: Path, problem: str, hint: str = "") -> Any:
    """Raise `UserError` with the `problem`, and the line, where the user's code in the file `path` fails inside."""
    try:
        yield
    except UserError:
        raise
    except BaseException as error:
        rows = [
            row.lineno
            for row in traceback.extract_tb(error.__traceback__)
            if os.path.realpath(row.filename) == os.path.realpath(path)
        ]
        line = f", line {rows[-1]}" if rows else ""
        words = next((text for text in str(error).strip().splitlines() if text.strip()), "")
        reason = printable(f"{type(error).__name__}: {words}"[:300]).rstrip(".: ")
        raise UserError(f"{path.name}{line}: {problem}: {reason}.", hint=hint) from None


def import_network(request: ImportRequest) -> Imported:
    """Import, in a process that ends with this request: it reads a stranger's file and computes with torch. A class
    runs in a process of its own if its folder is trusted. Raises `UserError`."""
    source = request.source
    if request.trusted and source.suffix.lower() == ".py":
        trust.grant(source.resolve().parent)
    options: ImportOptions = {
        "sizes": dict(map(read_size, request.sizes)),
        "replaces": request.force,
        "copies_shared": not request.no_shared_copies,
    }
    if request.class_name:
        examples = [read_example(text) for text in request.inputs]
        report = import_module(source, request.class_name, request.output, examples, request.arguments, **options)
    else:
        options["compares"] = request.compares
        report = import_file(source, request.output, **options)
    imported: Any = report.write()
    for name in ("project", "weights", "constants"):
        imported[name] = imported[name] and str(Path(imported[name]).absolute())
    result: Imported = imported
    return result
