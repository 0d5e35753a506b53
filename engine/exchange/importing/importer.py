"""Import a network from a foreign file: a project with its weights beside it, compared with the original."""

import contextlib
import gc
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np
import torch
from torch import fx

from netwright.engine.core import progress
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import refuse_destination
from netwright.engine.core.text import first_line
from netwright.engine.exchange.importing.assemble import Assembled, assemble, layout_of
from netwright.engine.exchange.importing.ends import notes_on_ends, output_places, with_ends
from netwright.engine.exchange.importing.graph import Graph, Value
from netwright.engine.exchange.importing.import_report import (
    ImportReport,
    OperatorRow,
    ReadNetwork,
    inputs_of,
    warnings_on,
)
from netwright.engine.exchange.importing.lifter import Fate, Lifted, lift_graph
from netwright.engine.exchange.importing.lifts.noted import with_noted_layers
from netwright.engine.exchange.importing.own_file import DataNotes, read_data_notes
from netwright.engine.exchange.importing.parity import Parity, compare, first_difference
from netwright.engine.exchange.importing.sharing import copied_weights
from netwright.engine.exchange.importing.values import Tensor
from netwright.engine.layers.onnx_operator import KINDS, read_constant
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.read_constants import set_constants
from netwright.engine.lowering.weights_file import write_weights_file
from netwright.engine.lowering.weights_folder import State, fill, load_state
from netwright.engine.network.analysis import Analysis, analyse, owner_path
from netwright.engine.network.block import Block
from netwright.engine.network.layer_table import num_layers
from netwright.engine.network.network import Network
from netwright.engine.project.bindings import output_name
from netwright.engine.project.blocked_gradients import blocked_gradients
from netwright.engine.project.check import describe
from netwright.engine.project.constants import ConstantsFile, operators
from netwright.engine.project.file import save
from netwright.engine.project.import_kinds import ImportKind, kind_of, reader
from netwright.engine.project.project import Project, new_identity
from netwright.engine.project.weights import WeightsOptions
from netwright.engine.training.out_of_memory import is_out_of_memory

WEIGHTS_SUFFIX = ".weights.safetensors"
CONSTANTS_SUFFIX = ".constants.safetensors"
REDUCED = 0.05
"""Difference, relative to the spread of an output, up to which a file is taken for one in half precision or 8-bit
integers and not for one that was changed."""
FEW_PARAMETERS = 2**22
ALLOCATIONS = 50_000
"""Objects made until Python looks for garbage during an import; with 700, as usual, that takes a quarter of the
time."""


class ImportOptions(TypedDict, total=False):
    """How a file is imported."""

    sizes: Mapping[str, int]
    """Sizes that the file leaves free, by name."""
    compares: bool
    """Whether the outputs are compared with the original; true unless told otherwise."""
    replaces: bool
    """Whether files are replaced; false unless told otherwise."""
    copies_shared: bool
    """Whether layers that share weights in the file may have copies here; true unless told otherwise."""


def import_file(path: Path, to: Path, **options: Unpack[ImportOptions]) -> ImportReport:
    """Read a foreign file and write the project `to`, with its weights beside it. Raises `UserError`, with the reason,
    where the file cannot be imported; nothing is written then."""
    with _seldom_collected():
        return _import_file(path, to, options)


@contextlib.contextmanager
def _seldom_collected() -> Iterator[None]:
    """Let Python look for garbage less often."""
    before = gc.get_threshold()
    gc.set_threshold(ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _import_file(path: Path, to: Path, options: ImportOptions) -> ImportReport:
    kind, sizes, compares = kind_of(path), dict(options.get("sizes", {})), options.get("compares", True)
    weights, constants = weights_beside(to), constants_beside(to)
    _refuse(to, weights, constants, replaces=options.get("replaces", False))
    content: ReadNetwork | Graph = reader(kind)(path, sizes) if kind.has_layers else reader(kind)(path)
    if isinstance(content, ReadNetwork):
        _refuse_copies(content.shared, options)
        return _import_network(path, to, kind, content, compares=compares)
    with contextlib.closing(content) as graph:
        model = network_of(graph, sizes)
        parity = model.compared() if compares else Parity(refusal="No comparison was asked for.")
        if model.noted and parity.outputs and not parity.agrees:  # the file was changed after its layers were noted
            model, parity = _without_notes(graph, sizes, model, parity)
        _refuse_copies(model.shared, options)
        return _written(path, to, kind, model, parity)


def _written(path: Path, to: Path, kind: ImportKind, model: "Made", parity: Parity) -> ImportReport:
    """Write the project of a network, with its weights and constants beside it, and return what became of the file."""
    weights, constants = weights_beside(to), constants_beside(to)
    data = model.data_notes()
    project = Project(data.network, model.assembled.layout, identity=new_identity())
    if model.state:
        checksum = write_weights_file(weights, model.state, model.owners, data.record)
        project = project.with_section("weights", WeightsOptions(file=weights.name, sha256=checksum))
    if model.constants:
        checksum = write_weights_file(constants, model.constants, {})
        project = project.with_section("constants", ConstantsFile(file=constants.name, sha256=checksum))
    save(project, to)
    files = (weights if model.state else None, constants if model.constants else None)
    report = _report(path, to, *files, kind, model, parity)
    notes, warnings = (*report.notes, *data.notes), (*report.warnings, *data.warnings)
    return replace(report, inputs=inputs_of(data.network), notes=notes, warnings=warnings)


def _refuse_copies(shared: Sequence[str], options: ImportOptions) -> None:
    """Raise `UserError` where layers share weights and shall not have copies of them."""
    if shared and not options.get("copies_shared", True):
        raise UserError(" ".join(shared), hint="Leave out --no-shared-copies to import it so.", code="not_supported")


def _without_notes(graph: Graph, sizes: Mapping[str, int], model: "Made", parity: Parity) -> tuple["Made", Parity]:
    """Return the network of the operators, and its comparison; the noted one where that is about as close, as in a file
    of half precision or 8-bit integers, with which no network in float32 agrees."""
    try:
        plain = network_of(graph, sizes, trusts_notes=False)
    except UserError:
        if parity.share > REDUCED:
            raise
        return model, parity
    compared = plain.compared()
    if not compared.agrees and parity.share <= min(REDUCED, 2 * compared.share):
        return model, parity
    return plain, compared


@dataclass(frozen=True)
class Made:
    """The network of a graph: what became of the operators, layout and id paths, the prefixes of the state-dict keys
    per id path (`owners`), and the weights."""

    lifted: Lifted
    assembled: Assembled
    analysis: Analysis
    owners: Mapping[str, tuple[str, ...]]
    state: State
    noted: bool = False
    """Whether layers are what the metadata of the file says."""

    @property
    def network(self) -> Network:
        """Return the network."""
        return self.assembled.network

    @property
    def shared(self) -> tuple[str, ...]:
        """Return sentences on weights that layers share in the file, and not here."""
        ctx = self.lifted.context
        paths = {id: owner_path(self.network, path) for id, path in self.assembled.paths.items()}
        names = {id: name_path(self.network, path) for id, path in paths.items()}
        return tuple(copied_weights(ctx.layers, names, ctx.graph.constants))

    def module(self) -> fx.GraphModule:
        """Return the built module with the weights, for inference."""
        module = filled(self.network, self.analysis, self.state)
        set_constants(module, self.constants)
        return module

    @property
    def constants(self) -> State:
        """Return the numbers of the operators that are kept as they are."""
        arrays = self.lifted.context.constants
        return {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}

    def ends(self) -> tuple[list[tuple[Value, Tensor]], list[tuple[str, Tensor, int]]]:
        """Return the inputs in the order of the module's arguments, and the outputs with their places among its
        results."""
        order = {layer.id: number for number, layer in enumerate(self.network.inputs)}
        places = output_places(self.network)
        inputs = sorted(self.lifted.context.inputs, key=lambda pair: order[pair[1].port.layer])
        return inputs, [(name, tensor, places[tensor.port]) for name, tensor in self.lifted.outputs]

    def data_notes(self) -> DataNotes:
        """Return the notes on the data in the metadata of the file, if it is one of Netwright's own."""
        inputs, outputs = self.ends()
        layers = [self.network.layers[tensor.port.layer].name for _, tensor in inputs]
        names = {value.name: name for (value, _), name in zip(inputs, layers, strict=True)}
        names |= {name: output_name(self.network, self.network.output_ports[place]) for name, _, place in outputs}
        return read_data_notes(self.lifted.context.graph.metadata, self.network, self.analysis, names)

    def compared(self) -> Parity:
        """Compare with the program that the file is for."""
        try:
            return self._compared()
        except Exception as error:  # torch and numpy have classes of their own for it
            if not is_out_of_memory(error):
                raise
            return Parity(refusal="There is not enough memory to compute it.")

    def _compared(self) -> Parity:
        ctx = self.lifted.context
        module, (inputs, outputs) = self.module(), self.ends()
        parity = compare(ctx.graph, module, self.network, inputs, outputs, ctx.fixed_batch)
        if parity.agrees or not parity.outputs:
            return parity
        values = list(self._values())
        first = first_difference(ctx.graph, module, self.network, inputs, values, ctx.fixed_batch)
        return replace(parity, first=first)

    def _values(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the path of names of each layer, and the tensor of the file that leaves it, in the order of the
        file."""
        ctx = self.lifted.context
        ports = {tensor.port for _, tensor in ctx.inputs}
        for value in ctx.values.values():
            if isinstance(value, Tensor) and value.name and value.port not in ports:
                path = self.assembled.paths.get(value.port.layer)
                if path is not None:
                    yield name_path(self.network, path), value


def network_of(graph: Graph, sizes: Mapping[str, int], *, trusts_notes: bool = True) -> Made:
    """Return the network of a graph with its weights. Raises `UserError` where there is none.

    Layers that a file of our own notes in its metadata take the place of their operators, with `trusts_notes` and where
    they fit together. Operators are read otherwise.
    """
    noted = with_noted_layers(graph) if trusts_notes else None
    if noted is not None:
        try:
            return replace(_network_of(noted, sizes), noted=True)
        except UserError:
            pass
    return _network_of(graph, sizes)


def _network_of(graph: Graph, sizes: Mapping[str, int]) -> Made:
    graph = replace(graph, nodes=list(graph.nodes), constants=dict(graph.constants))
    total = len(graph.nodes)
    lifted = lift_graph(graph, dict(sizes))
    ctx = lifted.context
    ends = [tensor for _, tensor in (*lifted.outputs, *ctx.inputs)]
    assembled = assemble(ctx.layers, ctx.connections, [tensor.port.layer for tensor in ends], ctx.graph.constants)
    assembled = with_ends(assembled, lifted.outputs, graph.labels)
    analysis = analyse(assembled.network)
    if analysis.has_errors:
        problem = next(entry for entry in analysis.problems if entry.severity == "error")
        raise UserError(f"The network of the file does not fit together: {problem.message}")
    progress.report(total, total, "operators")
    owners = prefixes(assembled.network, analysis)
    return Made(lifted, assembled, analysis, owners, state_of(assembled, owners))


def _import_network(path: Path, to: Path, kind: ImportKind, content: ReadNetwork, *, compares: bool) -> ImportReport:
    """Write the project of a network that its reader gave as layers."""
    network = content.network
    analysis = analyse(network)
    if analysis.has_errors:
        problem = next(entry for entry in analysis.problems if entry.severity == "error")
        raise UserError(f"The network of {path.name} does not fit together: {problem.name}: {problem.message}")
    assembled = Assembled(network, content.layout or layout_of(network), {}, dict(content.weights))
    owners = prefixes(network, analysis)
    state = dict(content.state) if content.state is not None else state_of(assembled, owners)
    project = Project(network, assembled.layout, identity=new_identity())
    weights = weights_beside(to) if state else None
    if weights is not None:
        checksum = write_weights_file(weights, state, owners)
        project = project.with_section("weights", WeightsOptions(file=weights.name, sha256=checksum))
    save(project, to)
    parity = Parity(refusal=content.reference if compares else "No comparison was asked for.")
    if compares and content.compare is not None:
        parity = content.compare(filled(network, analysis, state))
    return ImportReport(
        source=path,
        project=to,
        kind=kind.key,
        layers=num_layers(network),
        parameters=analysis.parameters,
        weights=weights,
        constants=None,
        producer=content.producer,
        opset=0,
        operators=content.rows,
        inputs=inputs_of(network),
        parity=parity,
        warnings=(*warnings_on(parity), *content.shared),
        notes=content.notes,
        ends={
            output.name: network.layers[port.layer].name
            for output, port in zip(parity.outputs, content.outputs, strict=False)
        },
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


def name_path(network: Network, path: str) -> str:
    """Return the path of names of a layer for its id path, with the numbers of copies of repeated blocks."""
    names = []
    ids = iter(path.split("/"))
    for id in ids:
        layer = network.layers[id]
        names.append(layer.name)
        if isinstance(layer.type, Block):
            if layer.type.repeat > 1:
                names.append(next(ids))
            network = layer.type.network
    return "/".join(names)


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
    # Many small tensors take longer without numbers than with initial ones, which torch makes in C++.
    with contextlib.nullcontext() if analysis.parameters <= FEW_PARAMETERS else torch.device("meta"):
        module = build(network, analysis).eval()
    try:
        if module.state_dict().keys() <= state.keys():
            load_state(module, state, assign=True)
            if not _holds_meta(module):
                return module
        module = build(network, analysis).eval()
        fill(module, {**module.state_dict(), **state})
    except RuntimeError as error:  # such as whole numbers for weights that are real ones
        if is_out_of_memory(error):
            raise
        raise UserError(f"The weights of the file do not fit its layers: {first_line(error)}") from None
    return module


def _holds_meta(module: fx.GraphModule) -> bool:
    """Return whether a part holds a tensor without numbers, also one that is neither parameter nor buffer."""
    parts = [vars(part) for part in module.modules()]
    groups = [group for part in parts for group in (part, part["_parameters"], part["_buffers"])]
    values = [value for group in groups for value in group.values()]
    return any(isinstance(value, torch.Tensor) and value.is_meta for value in values)


def _tensor(array: np.ndarray) -> torch.Tensor:
    numbers = np.asarray(array, order="C")
    if numbers.dtype.kind not in "iu" and numbers.dtype != np.float32:
        numbers = numbers.astype(np.float32)
    if not numbers.flags.writeable:
        numbers = numbers.copy()
    return torch.from_numpy(numbers)


# ---- comparison and report ----


def _report(
    path: Path,
    to: Path,
    weights: Path | None,
    constants: Path | None,
    kind: ImportKind,
    model: Made,
    parity: Parity,
) -> ImportReport:
    ctx = model.lifted.context
    blocked = map(describe, blocked_gradients(model.network, model.analysis, has_data=False))
    inputs = [(value.name, tensor) for value, tensor in ctx.inputs]
    warnings = (*model.lifted.left_out, *warnings_on(parity), *model.shared, *blocked, *_on_constants(model.network))
    return ImportReport(
        source=path,
        project=to,
        kind=kind.key,
        layers=num_layers(model.network),
        parameters=model.analysis.parameters,
        weights=weights,
        constants=constants,
        producer=ctx.graph.producer,
        opset=ctx.graph.opset,
        operators=tuple(_row(name, fate) for name, fate in sorted(model.lifted.fates.items(), key=_order)),
        inputs=inputs_of(model.network),
        parity=parity,
        warnings=warnings,
        notes=(
            *ctx.graph.notes,
            *ctx.notes,
            *notes_on_ends(model.network, inputs, model.lifted.outputs, ctx.graph.labels),
        ),
        ends={
            name: model.network.layers[model.network.output_ports[place].layer].name
            for name, _, place in model.ends()[1]
        },
    )


def _on_constants(network: Network) -> Iterator[str]:
    """Yield a sentence on each ONNX operator with tensors of real numbers, which are no weights here."""
    for place, type in operators(network):
        tensors = [(format, sizes) for _, format, sizes in map(read_constant, type.constants)]
        count = sum(math.prod(sizes) for format, sizes in tensors if KINDS[format] == "real" and len(sizes) > 1)
        if count:
            yield f"{place.name}: its {count:,} numbers in the file of constants do not learn."


def _order(item: tuple[str, Fate]) -> tuple[int, str]:
    name, fate = item
    return -(fate.lifted + fate.opaque), name


def _row(name: str, fate: Fate) -> OperatorRow:
    count = fate.lifted + fate.folded + fate.vanished + fate.opaque
    layers = tuple(fate.layers.most_common())
    return OperatorRow(name, count, fate.lifted, fate.folded, fate.vanished, fate.opaque, layers)
