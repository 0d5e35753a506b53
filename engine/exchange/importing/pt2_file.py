"""Read programs of `torch.export` (`.pt2`): through torch's own ONNX exporter, so that one set of lifts serves all.

`pt2_archive.py` refuses what torch would run before. The numbers are those of the program itself, run by torch.
"""

import contextlib
import io
import logging
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.fields import printable
from netwright.engine.exchange.importing import onnx_file
from netwright.engine.exchange.importing.graph import Graph
from netwright.engine.exchange.importing.pt2_archive import WAY_OUT, copy_program, refused
from netwright.engine.exchange.importing.pt2_attention import mark_attention
from netwright.engine.exchange.importing.pt2_layers import ATEN, RECURRENT, SPLITS, Marker, dropout, recurrent, split
from netwright.engine.exchange.importing.pt2_operators import OPSET

NO_FORM = "Operators without a form in ONNX cannot be imported; rewrite that part of the model."


def read(path: Path) -> Graph:
    """Return the graph of a `.pt2` file. Close it. Raises `UserError` for a file that is none, is damaged, or holds
    code."""
    folder = Path(tempfile.mkdtemp(prefix="netwright-"))
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
    copy_program(path, copy)
    try:
        with _quiet():
            return torch.export.load(copy)
    except MemoryError:
        raise
    except Exception as error:  # torch raises what it likes for a damaged file
        raise refused(path, f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}") from None
    finally:
        copy.unlink()


def graph_of(program: torch.export.ExportedProgram, folder: Path) -> Graph:
    """Return the graph of a program, whose files are in the folder. Raises `UserError` where the program is damaged, or
    has an operator without a form in ONNX."""
    file = folder / "program.onnx"
    with _quiet():
        with _refusing("its inputs, outputs and modules do not fit together", WAY_OUT):
            module = program.module(check_guards=False)
            mark(program)
        with _refusing("torch's exporter refuses it", NO_FORM):
            exported = torch.onnx.export(program, dynamo=True, optimize=False, verbose=False, opset_version=OPSET)
        if exported is None:
            raise UserError("The program cannot be read: torch's exporter gave nothing.")
        exported.save(str(file))
    graph = onnx_file.read(file)
    graph.producer = f"torch {printable(torch.__version__)}"
    others = graph.compute
    names = [value.name for value in graph.outputs]
    graph.labels = dict(zip(names, _keys(program), strict=False))

    def compute(inputs: Mapping[str, np.ndarray], targets: Sequence[str]) -> list[np.ndarray]:
        """Return outputs by running the program; values inside it by ONNX Runtime."""
        if not set(targets) <= set(names) and others is not None:
            return others(inputs, targets)
        return _run(module, [inputs[value.name] for value in graph.inputs], [names.index(name) for name in targets])

    graph.compute = compute
    graph.folder = folder
    return graph


def mark(program: torch.export.ExportedProgram) -> None:
    """Mark recurrent layers, attention and dropout in the graph of a program, which is changed."""
    marker = Marker(program)
    for node in list(marker.graph.nodes):
        if node.target in RECURRENT:
            marker.attempt(recurrent, node)
        elif node.target in SPLITS:
            marker.attempt(split, node)
    marker.clean()
    mark_attention(marker)
    for node in list(marker.graph.nodes):
        if node.target is ATEN.dropout.default:
            marker.attempt(dropout, node)
    marker.clean()
    program.graph_module.recompile()


def _keys(program: torch.export.ExportedProgram) -> list[str]:
    """Return the names of the outputs of a model that gives a dictionary; none for another."""
    from torch.utils import _pytree

    spec = program.call_spec.out_spec
    if spec is None or not issubclass(spec.type or tuple, dict):
        return []
    outputs = _pytree.tree_unflatten(range(spec.num_leaves), spec)
    return ["_".join(map(str, path)) for path in _flat(outputs)]


def _flat(outputs: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys and places that lead to each output."""
    if isinstance(outputs, int):
        yield path
        return
    for key, inner in outputs.items() if isinstance(outputs, dict) else enumerate(outputs):
        yield from _flat(inner, (*path, key))


def _run(module: torch.nn.Module, inputs: Sequence[np.ndarray], places: Sequence[int]) -> list[np.ndarray]:
    """Run a program and return the outputs at these places."""
    from torch.utils import _pytree

    try:
        with _quiet(), torch.no_grad():
            tensors = [torch.from_numpy(np.ascontiguousarray(array)) for array in inputs]
            outputs = [leaf for leaf in _pytree.tree_leaves(module(*tensors)) if isinstance(leaf, torch.Tensor)]
            return [outputs[place].numpy() for place in places]
    except Exception as error:  # such as a size that the program has fixed
        raise RunError(f"torch cannot run the program: {_words(error)}.") from None


@contextlib.contextmanager
def _refusing(reason: str, hint: str) -> Iterator[None]:
    """Context in which torch refuses a program, with whatever it raises."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise UserError(f"The program cannot be read: {reason}: {_words(error)}.", hint=hint) from None


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
