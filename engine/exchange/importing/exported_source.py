"""Read PyTorch source that Netwright exported: the network noted at its end, without running anything.

A file that was edited, or has no note, has to run: its class `Network` is built and exported with `torch.export`, where
its folder is trusted, and comes as such a program does.
"""

import ast
import os
import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import fx

from netwright.engine.core.errors import RunError, UserError, plural
from netwright.engine.core.fields import path_part
from netwright.engine.core.fork import run_in_child_process
from netwright.engine.core.types import LAYOUTS
from netwright.engine.exchange.importing import pt2_file
from netwright.engine.exchange.importing.graph import Graph, Value
from netwright.engine.exchange.importing.import_report import OperatorRow, ReadNetwork
from netwright.engine.exchange.importing.module_file import Example, built, exported, failing, prepare_for_code
from netwright.engine.exchange.importing.parity import Parity, compare
from netwright.engine.exchange.importing.values import BATCH, Tensor
from netwright.engine.lowering.module import build
from netwright.engine.lowering.weights_file import read_weights_file
from netwright.engine.lowering.weights_folder import State
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network, Port
from netwright.engine.project.project import Project
from netwright.engine.project.source_note import noted_project
from netwright.engine.user_code import trust

CLASS = "Network"
PATIENCE_S = 300.0
STEPS = 16
"""Length of an input whose number of steps is free, where the class is exported."""
INPUT = re.compile(r"Input (\w+): N × ([\w', ×]+) \(batch × ([CDHWT ×]+)\)(, whole numbers)?")
"""A line of the docstring of exported source."""


def read(path: Path, sizes: Mapping[str, int]) -> ReadNetwork | Graph:
    """Return the network noted in exported source, with the weights of the `.safetensors` file of the same name beside
    it; the graph of its class where the file was edited. Raises `UserError`."""
    if sizes:
        raise UserError("The sizes of exported source stand in its docstring; change them there.")
    project = noted_project(path)
    return _noted(path, project) if project is not None else _traced(path)


def _noted(path: Path, project: Project) -> ReadNetwork:
    network = project.network
    file = path.with_suffix(".safetensors")
    weights = read_weights_file(file)[0] if file.exists() else None
    state, notes = _weights(file.name, network, weights)
    counts = Counter(layer.type.label for layer in network.layers.values())
    return ReadNetwork(
        network,
        "Netwright as PyTorch source",
        "the source is not run.",
        state=state,
        rows=tuple(
            OperatorRow(label, count, count, 0, 0, 0, ((label, count),)) for label, count in sorted(counts.items())
        ),
        outputs=network.output_ports,
        notes=tuple(notes),
        layout=project.layout,
        compare=lambda module: _compared(path, module, network),
    )


def _weights(file: str, network: Network, weights: State | None) -> tuple[State, list[str]]:
    """Return the weights that fit the network, and sentences on those that do not."""
    if weights is None:
        return {}, [f"There is no {file} beside the source, so the network has no weights yet."]
    with torch.device("meta"):
        return _fitting(file, weights, build(network, analyse(network)).state_dict())


def _fitting(file: str, weights: State, own: State) -> tuple[State, list[str]]:
    """Return the tensors of a file that fit those of a module, and sentences on the others."""
    state = {key: value for key, value in weights.items() if key in own and own[key].shape == value.shape}
    strangers = [key for key in weights if key not in own]
    changed = [key for key in weights if key in own and key not in state]
    notes = []
    if strangers:
        verb = "belongs" if len(strangers) == 1 else "belong"
        notes.append(f"{plural(len(strangers), 'tensor')} of {file} {verb} to no layer: {_listed(strangers)}.")
    if changed:
        verb = "has" if len(changed) == 1 else "have"
        notes.append(
            f"{plural(len(changed), 'tensor')} of {file} {verb} other sizes than the layer and {verb} been left out: "
            f"{_listed(changed)}."
        )
    return state, notes


def _listed(keys: Sequence[str]) -> str:
    return ", ".join(path_part(key) for key in keys[:3]) + (", ..." if keys[3:] else "")


# ---- an edited file ----


def _traced(path: Path) -> Graph:
    """Return the graph of the class in the file, which runs in a process of its own. Raises `UserError` where its
    folder is not trusted."""
    examples = _examples(path)
    if not trust.is_trusted(path):
        raise UserError(
            f"{path.name} was edited after its export, or has no network noted at its end: its class {CLASS} has to "
            f"run, and the folder {Path(os.path.realpath(path)).parent} is not trusted. {trust.MEANING}",
            hint=trust.WAY_OUT,
            code="not_trusted",
        )
    file = path.with_suffix(".safetensors")
    with tempfile.TemporaryDirectory(prefix="netwright-source-") as folder:
        program = Path(folder) / f"{path.stem}.pt2"
        answer = run_in_child_process(lambda: _exported(path, file, examples, program), PATIENCE_S)
        graph = pt2_file.read(program)
    graph.notes = [*graph.notes, *answer["notes"]]
    return graph


def _examples(path: Path) -> list[Example]:
    """Return the inputs that the docstring of exported source names. Raises `UserError`."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8-sig"))
    except SyntaxError as error:
        raise UserError(f"{path}, line {error.lineno}: {error.msg}.", hint="Put the line right first.") from None
    except (ValueError, RecursionError, MemoryError):
        raise UserError(f"{path} is not Python source.") from None
    if not any(isinstance(node, ast.ClassDef) and node.name == CLASS for node in tree.body):
        raise UserError(
            f"{path} has no class {CLASS}(nn.Module), as exported source has.",
            hint=f"Give the class of the whole network that name, or name another: {path.name}:CLASS --input 3x224x224",
        )
    examples = []
    for _, sizes, axes, is_index in INPUT.findall(ast.get_docstring(tree) or ""):
        letters, numbers = tuple(axes.split(" × ")), [text.replace(",", "") for text in sizes.split(" × ")]
        if letters not in (*LAYOUTS.values(), ("T",)) or len(numbers) != len(letters):
            raise UserError(f"{path}: the sizes of an input in the docstring cannot be read: {sizes} ({axes}).")
        is_free = [not text.isdecimal() for text in numbers]
        fixed = [STEPS if free else int(text) for text, free in zip(numbers, is_free, strict=True)]
        dtype = "int64" if is_index or letters == ("T",) else "float32"
        examples.append(Example(tuple(fixed), dtype, tuple(at for at, free in enumerate(is_free) if free)))
    if not examples:
        raise UserError(
            f"{path} does not say the sizes of its inputs.",
            hint="Exported source has them in its docstring: 'Input image: N × 3 × 224 × 224 (batch × C × H × W)'.",
        )
    return examples


# ---- comparison with the class in the file ----


def _compared(path: Path, module: fx.GraphModule, network: Network) -> Parity:
    """Compare the built module with the class of the file, which gets the weights of the module."""
    if not trust.is_trusted(path):
        folder = Path(os.path.realpath(path)).parent
        return Parity(
            refusal=f"the class {CLASS} has to run for that, and the folder {folder} is not trusted. {trust.MEANING} "
            "Read the code, then import it again with --trust, or in the window with 'Run the class'."
        )
    inputs = [_input(layer.id, layer.name, network) for layer in network.inputs]
    analysis = analyse(network)
    types = [(port, analysis.type_at(port)) for port in network.output_ports]
    ends = [
        (network.layers[port.layer].name, Tensor(port, type, (BATCH, *type.axes)), place)
        for place, (port, type) in enumerate(types)
        if type is not None
    ]

    def compute(feeds: Mapping[str, np.ndarray], _: Sequence[str]) -> list[np.ndarray]:
        return _run(path, [feeds[value.name] for value, _ in inputs], module.state_dict())

    return compare(Graph([], {}, (), (), 0, compute=compute), module, network, inputs, ends)


def _input(id: str, name: str, network: Network) -> tuple[Value, Tensor]:
    type = network.layers[id].type.output()
    dtype = "int64" if type.kind == "index" else "float32"
    return Value(name, None, dtype), Tensor(Port(id, "out"), type, (BATCH, *type.axes))


def _run(path: Path, inputs: Sequence[np.ndarray], weights: State) -> list[np.ndarray]:
    """Return the outputs of the class, in a process of its own. Raises `RunError` with the reason where it fails."""
    with tempfile.TemporaryDirectory(prefix="netwright-source-") as folder:
        results = Path(folder) / "results.npz"
        try:
            run_in_child_process(lambda: _computed(path, inputs, weights, results), PATIENCE_S)
        except UserError as error:
            raise RunError(str(error)) from None
        except RuntimeError:
            raise RunError(f"the process that ran {path.name} ended before it was done.") from None
        with np.load(results, allow_pickle=False) as arrays:
            return [arrays[f"arr_{number}"] for number in range(len(arrays))]


# ---- in the throw-away process ----


def _exported(path: Path, file: Path, examples: Sequence[Example], program: Path) -> dict[str, list[str]]:
    """Export the class with the weights of a file to the `.pt2` file `program`."""
    prepare_for_code()
    module = built(path, CLASS, ([], {}))
    if file.exists():
        notes = _fill(module, file.name, read_weights_file(file)[0])
    else:
        notes = [
            f"There is no {file.name} beside the source, so the network has the weights that its class starts with."
        ]
    return {"notes": [*notes, *exported(module, path, examples, program)]}


def _computed(path: Path, inputs: Sequence[np.ndarray], weights: State, results: Path) -> dict[str, object]:
    """Write the outputs of the class with these weights to a file."""
    prepare_for_code()
    network = built(path, CLASS, ([], {}))
    _fill(network, "", weights)
    with failing(path, "it fails on inputs of the sizes in its docstring"), torch.no_grad():
        outputs = network(*map(torch.from_numpy, inputs))
        np.savez(
            results, *(output.numpy() for output in (outputs if isinstance(outputs, tuple | list) else (outputs,)))
        )
    return {}


def _fill(module: torch.nn.Module, file: str, weights: State) -> list[str]:
    """Set the weights of a file that fit a module, and return sentences on the others."""
    state, notes = _fitting(file, weights, module.state_dict())
    module.load_state_dict(state, strict=False)
    return notes
