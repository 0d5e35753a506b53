"""Import a network from a foreign file: a project with its weights beside it, compared with the original."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import fx

from engine.core import progress
from engine.core.errors import UserError
from engine.exchange.export import refuse_destination
from engine.exchange.importing.assemble import Assembled, assemble, layout_of
from engine.exchange.importing.graph import Graph
from engine.exchange.importing.lifter import Fate, Lifted, lift_graph
from engine.exchange.importing.parity import Parity, compare
from engine.exchange.importing.report import ImportReport, OperatorRow, ReadNetwork
from engine.lowering.constants import set_constants
from engine.lowering.module import build, prefixes
from engine.lowering.weights import State, fill
from engine.lowering.weights_file import write_weights_file
from engine.network.analysis import Analysis, analyse
from engine.network.network import Network, Port
from engine.network.table import num_layers
from engine.project.constants import ConstantsFile
from engine.project.file import save
from engine.project.import_kinds import ImportKind, kind_of, reader
from engine.project.project import Project, new_identity
from engine.project.weights import WeightsOptions

WEIGHTS_SUFFIX = ".weights.safetensors"
CONSTANTS_SUFFIX = ".constants.safetensors"


def import_file(
    path: Path, to: Path, *, sizes: Mapping[str, int] | None = None, compares: bool = True, replaces: bool = False
) -> ImportReport:
    """Read a foreign file and write the project `to`, with its weights beside it.

    `sizes` are for sizes that the file leaves free, by name; without `compares` the outputs are not compared. Files are
    replaced only with `replaces`. Raises `UserError`, with the reason, where the file cannot be imported; nothing is
    written then.
    """
    kind = kind_of(path)
    weights, constants = weights_beside(to), constants_beside(to)
    _refuse(to, weights, constants, replaces=replaces)
    if kind.has_layers:
        return _import_network(path, to, kind, reader(kind)(path, dict(sizes or {})))
    graph: Graph = reader(kind)(path)
    total = len(graph.nodes)
    lifted = lift_graph(graph, dict(sizes or {}))
    ctx = lifted.context
    assembled = assemble(ctx.layers, ctx.connections, _needed(lifted))
    analysis = analyse(assembled.network)
    if analysis.has_errors:
        problem = next(one for one in analysis.problems if one.severity == "error")
        raise UserError(f"The network of {path.name} does not fit together: {problem.message}")
    progress.report(total, total, "operators")
    owners = prefixes(assembled.network, analysis)
    state = state_of(assembled, owners)
    parity = _parity(lifted, assembled, analysis, state) if compares else Parity(refusal="No comparison was asked for.")
    has_weights = bool(state)
    project = Project(assembled.network, assembled.layout, identity=new_identity())
    if has_weights:
        checksum = write_weights_file(weights, state, owners)
        project = project.with_section("weights", WeightsOptions(file=weights.name, sha256=checksum))
    if ctx.constants:
        checksum = write_weights_file(constants, _constants(lifted), {})
        project = project.with_section("constants", ConstantsFile(file=constants.name, sha256=checksum))
    save(project, to)
    files = (weights if has_weights else None, constants if ctx.constants else None)
    return _report(path, to, *files, kind, graph, lifted, assembled, analysis, parity)


def _import_network(path: Path, to: Path, kind: ImportKind, read: ReadNetwork) -> ImportReport:
    """Write the project of a network that its reader gave as layers."""
    network = read.network
    analysis = analyse(network)
    if analysis.has_errors:
        problem = next(one for one in analysis.problems if one.severity == "error")
        raise UserError(f"The network of {path.name} does not fit together: {problem.name}: {problem.message}")
    assembled = Assembled(network, layout_of(network), {}, dict(read.weights))
    owners = prefixes(network, analysis)
    state = dict(read.state) if read.state is not None else state_of(assembled, owners)
    project = Project(network, assembled.layout, identity=new_identity())
    weights = weights_beside(to) if state else None
    if weights is not None:
        checksum = write_weights_file(weights, state, owners)
        project = project.with_section("weights", WeightsOptions(file=weights.name, sha256=checksum))
    save(project, to)
    return ImportReport(
        source=path,
        project=to,
        kind=kind.key,
        layers=num_layers(network),
        parameters=analysis.parameters,
        weights=weights,
        constants=None,
        producer=read.producer,
        opset=0,
        operators=read.rows,
        inputs=tuple((layer.name, layer.type.output().short()) for layer in network.inputs),
        parity=Parity(refusal=read.reference),
        warnings=(f"The outputs are not compared with the original: {read.reference}",),
        notes=read.notes,
    )


def weights_beside(project: Path) -> Path:
    """Return the path of the weights of an imported project."""
    return project.with_name(project.name.removesuffix(project.suffix) + WEIGHTS_SUFFIX)


def constants_beside(project: Path) -> Path:
    """Return the path of the constants of operators that are kept as they are."""
    return project.with_name(project.name.removesuffix(project.suffix) + CONSTANTS_SUFFIX)


def _refuse(*files: Path, replaces: bool) -> None:
    """Raise `UserError` where a file cannot be written, or would be replaced."""
    for file in files:
        refuse_destination(file)
        if file.exists() and not replaces:
            raise UserError(f"{file} exists.", hint="Choose another name, or replace it with --force.", code="exists")


def _needed(lifted: Lifted) -> list[str]:
    return [tensor.port.layer for _, tensor in lifted.outputs] + [
        tensor.port.layer for _, tensor in lifted.context.inputs
    ]


# ---- weights ----


def state_of(assembled: Assembled, owners: Mapping[str, Sequence[str]]) -> State:
    """Return the weights of the file by state-dict key. `owners` are the prefixes of the keys per id path."""
    return {
        f"{owners[path][-1]}.{name}": _tensor(array)
        for path, weights in assembled.weights.items()
        for name, array in weights.items()
    }


def filled(network: Network, analysis: Analysis, state: State) -> fx.GraphModule:
    """Return the built module with weights; tensors that it computes itself, such as positions, stay. Raises
    `UserError` for weights that do not fit."""
    with torch.device("meta"):
        module = build(network, analysis).eval()
    if module.state_dict().keys() <= state.keys():
        module.load_state_dict(state, assign=True)
        if not _holds_meta(module):
            return module
    module = build(network, analysis).eval()
    fill(module, {**module.state_dict(), **state})
    return module


def _holds_meta(module: fx.GraphModule) -> bool:
    """Return whether a part holds a tensor without numbers, also one that is neither parameter nor buffer."""
    parts = [vars(part) for part in module.modules()]
    held = [one for part in parts for group in (part, part["_parameters"], part["_buffers"]) for one in group.values()]
    return any(isinstance(one, torch.Tensor) and one.is_meta for one in held)


def _tensor(array: np.ndarray) -> torch.Tensor:
    numbers = np.ascontiguousarray(array)
    if numbers.dtype.kind not in "iu" and numbers.dtype != np.float32:
        numbers = numbers.astype(np.float32)
    if not numbers.flags.writeable:
        numbers = numbers.copy()
    return torch.from_numpy(numbers)


# ---- comparison and report ----


def _parity(lifted: Lifted, assembled: Assembled, analysis: Analysis, state: State) -> Parity:
    ctx = lifted.context
    module = filled(assembled.network, analysis, state)
    set_constants(module, _constants(lifted))
    places = output_places(assembled.network, assembled.paths)
    outputs = [(name, tensor, places[tensor.port]) for name, tensor in lifted.outputs]
    order = [layer.id for layer in assembled.network.inputs]
    inputs = sorted(ctx.inputs, key=lambda one: order.index(one[1].port.layer))
    return compare(ctx.graph, module, assembled.network, inputs, outputs, ctx.fixed_batch)


def _constants(lifted: Lifted) -> State:
    return {name: torch.from_numpy(array.copy()) for name, array in lifted.context.constants.items()}


def output_places(network: Network, paths: Mapping[str, str]) -> dict[Port, int]:
    """Return for each port of a lifted layer that leaves the network its place among the outputs."""
    from engine.network.block import Block

    places = {}
    for place, port in enumerate(network.output_ports):
        inner, end = network, port
        while isinstance(block := inner.layers[end.layer].type, Block):
            inner = block.network
            last = next(id for id, layer in inner.layers.items() if layer.name == end.name)
            end = inner.incoming[last]["in"]
        places[end] = place
    return places


def _report(
    path: Path,
    to: Path,
    weights: Path | None,
    constants: Path | None,
    kind: ImportKind,
    graph: Graph,
    lifted: Lifted,
    assembled: Assembled,
    analysis: Analysis,
    parity: Parity,
) -> ImportReport:
    warnings = []
    if parity.refusal:
        warnings.append(f"The outputs are not compared with the original: {parity.refusal}")
    for one in parity.outputs:
        if not one.is_close:
            share = f", {one.difference / one.spread:.2g} times its spread" if one.spread else ""
            warnings.append(f"The output '{one.name}' differs from the original by {one.difference:.3g}{share}.")
        elif not one.varies:
            warnings.append(f"The output '{one.name}' does not vary over the random inputs: equal numbers say little.")
    return ImportReport(
        source=path,
        project=to,
        kind=kind.key,
        layers=num_layers(assembled.network),
        parameters=analysis.parameters,
        weights=weights,
        constants=constants,
        producer=graph.producer,
        opset=graph.opset,
        operators=tuple(_row(name, fate) for name, fate in sorted(lifted.fates.items(), key=_order)),
        inputs=tuple((layer.name, layer.type.output().short()) for layer in assembled.network.inputs),
        parity=parity,
        warnings=tuple(warnings),
        notes=(*graph.notes, *lifted.context.notes),
    )


def _order(item: tuple[str, Fate]) -> tuple[int, str]:
    name, fate = item
    return -(fate.lifted + fate.opaque), name


def _row(name: str, fate: Fate) -> OperatorRow:
    count = fate.lifted + fate.folded + fate.vanished + fate.opaque
    layers = tuple(fate.layers.most_common())
    return OperatorRow(name, count, fate.lifted, fate.folded, fate.vanished, fate.opaque, layers)


def default_name(path: Path) -> str:
    """Return a name for the project of a file."""
    return re.sub(r"[^\w.-]+", "_", path.stem) or "network"
