"""Export to a program of `torch.export` (`.pt2`): the network with its weights, which torch runs without any source.

The file is loaded and run by a process without Netwright, and kept only where its outputs are those of the network.
"""

import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import fx, nn

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.files import not_written, refuse_destination, write_atomically
from netwright.engine.core.text import first_line
from netwright.engine.core.types import Symbol
from netwright.engine.core.version import VERSION
from netwright.engine.exchange.onnx_check import distances, in_units
from netwright.engine.exchange.onnx_graph import quiet
from netwright.engine.exchange.sample_inputs import Arrays, at_sizes, fitting_samples, in_input_types, random_samples
from netwright.engine.lowering.module import build
from netwright.engine.lowering.modules.recurrent import RecurrentLoop
from netwright.engine.lowering.plan import refuse_errors
from netwright.engine.lowering.weights_folder import fill
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Layer, Network
from netwright.engine.project.constants import operators
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.input_format import InputFormat
from netwright.engine.project.preparation import FILE as PREPARATION
from netwright.engine.project.preparation import Preparation

ABOUT = "netwright.json"
"""Extra file in the program: what wrote it, its inputs and its classes."""
TOLERANCE = 1e-5
"""Largest difference, relative to the largest output: both sides run torch's own kernels on the same machine."""
PATIENCE_S = 600.0
RUN = """
import sys

import numpy as np
import torch

network = torch.export.load(sys.argv[1]).module()
with np.load(sys.argv[2]) as file:
    batches = [[torch.from_numpy(file[f"{i}_{k}"]) for k in range(int(sys.argv[4]))] for i in range(int(sys.argv[3]))]
found = {}
with torch.no_grad():
    for i, batch in enumerate(batches):
        result = network(*batch)
        outputs = result if isinstance(result, tuple | list) else (result,)
        found |= {f"{i}_{k}": output.numpy() for k, output in enumerate(outputs)}
np.savez(sys.argv[5], **found)
sys.exit("the file imports Netwright" if "netwright" in sys.modules else 0)
"""
"""Program that runs an exported file on stored batches. It has torch and NumPy alone."""


@dataclass(frozen=True)
class ProgramFile:
    """The file written, and the largest difference of its first output from that of the network."""

    path: Path
    largest_difference: float
    samples_compared: int


def export_program(
    network: Network,
    state: Mapping[str, torch.Tensor],
    to: Path,
    *,
    facts: DatasetInfo | None,
    samples: Arrays | None,
    inputs: Sequence[InputFormat] = (),
    record: Preparation | None = None,
) -> ProgramFile:
    """Write the network with the weights `state` as `to` (a `.pt2` file), for any batch size.

    `samples` are real samples in the order of the data's inputs; without them random ones are compared. `inputs` and
    `record` go to the extra files of the program. Raises `UserError` for a network that torch cannot export, and
    `RunError` where the file computes other outputs; no file is left then.
    """
    if to.suffix != ".pt2":
        raise UserError(f"An exported program has a name that ends in .pt2; received '{to.name}'.")
    refuse_errors(analyse(network))
    for place, type in operators(network):
        raise UserError(
            f"'{place.name}' cannot be in an exported program: torch.export cannot trace the ONNX operator "
            f"{type.operator}, which ONNX Runtime computes.",
            hint="Export to ONNX or to PyTorch source instead.",
        )
    refuse_destination(to)
    module = build(network, analyse(network)).eval()
    fill(module, state)
    probes = [_in_types(module, network, in_units(module, batch)) for batch in random_samples(network)]
    real = at_sizes(fitting_samples(network, facts, samples)) if samples is not None else []
    batches = [_in_types(module, network, batch) for batch in real] + probes
    program = exported(module, network, probes[-1])
    extra = {ABOUT: json.dumps(_about(facts, inputs), ensure_ascii=False, indent=1)}
    if record is not None:
        extra[PREPARATION] = record.text()
    buffer = io.BytesIO()
    with quiet():
        torch.export.save(program, buffer, extra_files=extra)
    difference = _compare(module, buffer.getvalue(), batches)
    try:
        write_atomically(to, buffer.getvalue())
    except OSError as error:
        raise not_written(to, error) from None
    return ProgramFile(to, difference, len((real or probes)[-1][0]))


def exported(module: fx.GraphModule, network: Network, batch: Arrays) -> torch.export.ExportedProgram:
    """Return the program of a module, with a free batch size and free lengths. Raises `UserError`."""
    shapes = tuple(_free_axes(layer) for layer in network.inputs)
    try:
        with quiet(), torch.no_grad():
            program = torch.export.export(
                module, tuple(torch.from_numpy(array) for array in batch), dynamic_shapes=shapes
            )
    except Exception as error:  # torch has many classes for what it cannot trace, some of them private
        raise _refusal(network, module, error) from error
    forget_origin(program)
    return program


def forget_origin(program: torch.export.ExportedProgram) -> None:
    """Remove what names files of this machine and modules of ours from the notes that torch keeps of each operation;
    the paths of the layers stay."""
    for part in program.graph_module.modules():
        for node in part.graph.nodes if isinstance(part, fx.GraphModule) else ():
            node.meta.pop("stack_trace", None)
            for key in ("nn_module_stack", "source_fn_stack"):
                if key in node.meta:
                    node.meta[key] = _plain(node.meta[key])


def _plain(value: Any) -> Any:
    """Return notes of torch with the classes named by their last part: `Normalize`."""
    match value:
        case dict():
            return {key: _plain(part) for key, part in value.items()}
        case tuple() | list():
            return type(value)(_plain(part) for part in value)
        case str() if value.startswith("netwright.engine."):
            return value.rpartition(".")[2]
        case type() if value.__module__.startswith("netwright.engine."):
            return value.__name__
    return value


def _free_axes(layer: Layer) -> dict[int, torch.export.Dim]:
    """Return the axes of an input that may have any size: the batch, and each symbolic one."""
    type = layer.type.output()
    free = {type.dim(axis): f"{layer.name}_{axis}" for axis in type.axes if isinstance(type[axis], Symbol)}
    return {dim: torch.export.Dim(name) for dim, name in {0: "batch", **free}.items()}


def _in_types(module: fx.GraphModule, network: Network, batch: Arrays) -> Arrays:
    """Return a batch in the types of PyTorch: indices are int64."""
    typed = in_input_types(module, batch)
    kinds = [layer.type.output().kind for layer in network.inputs]
    return tuple(x.astype(np.int64) if kind == "index" else x for x, kind in zip(typed, kinds, strict=True))


def _about(facts: DatasetInfo | None, inputs: Sequence[InputFormat]) -> dict[str, Any]:
    """Return what a reader of the file wants to know beside the program."""
    about: dict[str, Any] = {"netwright": VERSION, "inputs": [entry.write() for entry in inputs]}
    if facts is not None:
        targets = [{"name": t.name, "task": t.task, "classes": list(t.classes)} for t in facts.targets]
        about |= {"task": facts.task, "classes": list(facts.classes), "targets": targets}
    return about


def _refusal(network: Network, module: fx.GraphModule, error: Exception) -> UserError:
    """Return the error in words, with the layers that make torch fix a length, if they are the cause."""
    ways = "Export the network to ONNX, or as PyTorch source, instead."
    free = [layer.name for layer in network.inputs if not layer.type.output().is_known]
    if free and "specialized it to be a constant" in str(error):
        loops = [name for name, part in module.named_modules() if isinstance(part, nn.RNNBase | RecurrentLoop)]
        cause = f", because it unrolls {' and '.join(loops[:3])}" if loops else ""
        return UserError(
            f"torch.export would fix the number of steps of '{free[0]}' at that of one example{cause}.",
            hint=f"Give that input a fixed length. {ways}",
        )
    return UserError(f"torch.export cannot export this network: {first_line(error).rstrip('.')}.", hint=ways)


def _compare(module: nn.Module, data: bytes, batches: Sequence[Arrays]) -> float:
    """Run the file in a process without Netwright. Return the largest difference of the first output from the module's.

    Raises `RunError` where an output differs, or the file does not run.
    """
    received = _run_elsewhere(data, batches)
    largest = 0.0
    for number, batch in enumerate(batches):
        with torch.no_grad():
            result = module(*(torch.from_numpy(array) for array in batch))
        for place, output in enumerate(result if isinstance(result, tuple) else (result,)):
            one, other = output.numpy(), received[f"{number}_{place}"]
            difference = float(distances(one, other).max(initial=0.0)) if one.shape == other.shape else np.inf
            if not difference <= TOLERANCE * max(1.0, float(np.abs(one[np.isfinite(one)]).max(initial=0.0))):
                raise RunError(
                    f"The exported program gives other numbers than the network: its output {place + 1} differs by "
                    f"{difference:.3g} for a batch of {len(one)}. The file was not kept."
                )
            largest = max(largest, difference) if place == 0 else largest
    return largest


def _run_elsewhere(data: bytes, batches: Sequence[Arrays]) -> dict[str, np.ndarray]:
    """Return the outputs of the file by batch and place. Raises `RunError`."""
    with tempfile.TemporaryDirectory(prefix="netwright-") as name:
        folder = Path(name)
        (folder / "network.pt2").write_bytes(data)
        stored = {f"{i}_{k}": array for i, batch in enumerate(batches) for k, array in enumerate(batch)}
        np.savez(folder / "inputs.npz", **stored)  # type: ignore[arg-type]
        counts = str(len(batches)), str(len(batches[0]))
        command = [sys.executable, "-I", "-c", RUN, "network.pt2", "inputs.npz", *counts, "outputs.npz"]
        try:
            child = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise RunError(
                f"The exported program did not end within {PATIENCE_S:.0f} seconds. The file was not kept."
            ) from None
        if child.returncode:
            reason = (child.stderr.strip().splitlines() or ["it was killed"])[-1]
            raise RunError(f"The exported program does not run: {reason} The file was not kept.")
        with np.load(folder / "outputs.npz") as file:
            return dict(file)
