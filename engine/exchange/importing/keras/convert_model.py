"""Turn the model of a `.keras` file into a network of ours, with its weights by id path."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import FieldErrors, ShapeError, UserError
from netwright.engine.core.fields import printable
from netwright.engine.exchange.importing.import_report import OperatorRow, ReadNetwork
from netwright.engine.exchange.importing.keras import compare_keras, layers_recurrent, layers_shapes, layers_windows
from netwright.engine.exchange.importing.keras.archive import Archive, Weights, opened
from netwright.engine.exchange.importing.keras.config import KerasLayer, KerasModel, Ref, read_model
from netwright.engine.exchange.importing.keras.network_builder import (
    RULES,
    TAKES_ANY_ORDER,
    Builder,
    NeedsOrder,
    Refused,
    Site,
    Value,
    refuse_unread,
)
from netwright.engine.exchange.importing.values import BATCH, Tensor
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.inputs import FeatureInput, ImageInput, SequenceInput, VolumeInput
from netwright.engine.layers.utility import Identity
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.network import Port

FAMILIES = (layers_recurrent, layers_shapes, layers_windows)
"""Modules whose rules are registered when they are imported."""
MOST_TRIES = 100
SIZE_NAMES = {"height": "H", "width": "W", "depth": "D", "length": "T"}


def read(path: Path, sizes: Mapping[str, int]) -> ReadNetwork:
    """Return the network of a `.keras` file.

    `sizes` are for axes that the file leaves open: `height`, `width`, `depth`, `length`. Raises `UserError` with the
    names of all layers that have no counterpart.
    """
    unknown = sorted(sizes.keys() - SIZE_NAMES.keys())
    if unknown:
        raise UserError(
            f"A Keras model has no size '{printable(unknown[0])[:40]}'.", hint=f"Its sizes are {', '.join(SIZE_NAMES)}."
        )
    lengths = {SIZE_NAMES[name]: size for name, size in sizes.items()}
    with opened(path) as archive:
        model = read_model(archive.config)
        ordered: frozenset[str] = frozenset()
        for _ in range(MOST_TRIES):
            builder = Builder(_has_channels_first(model), ordered=ordered, version=archive.version)
            try:
                return _whole(builder, model, archive, lengths, path)
            except NeedsOrder as needed:
                ordered |= {str(needed)}
    raise UserError(f"{path} has too many flatten layers whose order of numbers counts.")


def _has_channels_first(model: KerasModel) -> bool:
    """Return whether the images of a model have their channels first."""
    return any(
        (layer.config.get("data_format") == "channels_first" and layer.class_name.endswith(("2D", "3D")))
        or (layer.model is not None and _has_channels_first(layer.model))
        for layer in model.layers
    )


def _whole(builder: Builder, model: KerasModel, archive: Archive, sizes: Mapping[str, int], path: Path) -> ReadNetwork:
    values: dict[Ref, Value] = {}
    for ref in model.inputs:
        values[ref] = _input(builder, model, model.layer(ref.layer), sizes)
    inputs = [_tensor(ref, values[ref], values[ref].port) for ref in model.inputs]
    outputs = _convert(builder, model, values, archive.weights)
    if builder.refused:
        raise refuse_unread(builder.refused)
    ports = _ends(builder, model, outputs)
    network = builder.network
    ends = [_tensor(*end) for end in zip(model.outputs, outputs, ports, strict=True)]
    return ReadNetwork(
        network,
        f"keras {printable(builder.version)[:40]}".strip(),
        compare_keras.MISSING,
        builder.weights,
        rows=tuple(_row(name, labels) for name, labels in sorted(builder.rows.items())),
        outputs=ports,
        notes=(*builder.notes, *_unused(model)),
        shared=tuple(builder.shared),
        compare=lambda module: compare_keras.compared(path, archive.config, module, network, inputs, ends),
    )


def _tensor(ref: Ref, value: Value, port: Port) -> tuple[str, Tensor]:
    """Return a name for an input or output, and the tensor with its dimensions in the order of Keras."""
    number = f"_{ref.output + 1}" if ref.output else ""
    return f"{printable(ref.layer)[:80]}{number}", Tensor(port, value.type, (BATCH, *value.order))


def _row(name: str, labels: Counter[str]) -> OperatorRow:
    """Return what became of the layers of one class."""
    layers = tuple((label, count) for label, count in labels.most_common() if label)
    count = labels[""] or 1  # an activation that is a setting of another layer is no layer there
    return OperatorRow(printable(name)[:80], count, count if layers else 0, 0, 0 if layers else count, 0, layers)


def _unused(model: KerasModel) -> list[str]:
    """Return notes on what belongs to training and is not taken over."""
    names = ("kernel_regularizer", "bias_regularizer", "kernel_constraint", "embeddings_regularizer")
    layers = [layer.name for layer in model.layers if any(layer.config.get(name) for name in names)]
    if not layers:
        return []
    first = ", ".join(printable(name)[:40] for name in layers[:3])
    return [f"{first}{' and others' if layers[3:] else ''}: regularisers are not taken over; see the training options."]


def _input(builder: Builder, model: KerasModel, layer: KerasLayer, lengths: Mapping[str, int]) -> Value:
    """Add the input layer for an input of the model."""
    shape = layer.config.get("batch_shape") or layer.config.get("batch_input_shape")
    name = printable(layer.name)[:80]
    if not isinstance(shape, list) or not all(size is None or isinstance(size, int) for size in shape):
        raise UserError(
            f"The input '{name}' of the Keras model has no shape.", hint="Build the model before saving it."
        )
    sizes: list[int | None] = list(shape[1:])
    if len(sizes) in (2, 3, 4):
        axes = builder.orders(len(sizes))
        sizes = [lengths.get(axis) if size is None else size for axis, size in zip(axes, sizes, strict=True)]
    type = _input_type(builder, sizes, feeds_embedding(model, Ref(layer.name)), name)
    id = builder.place(type, layer.name, (), {})
    out = type.output()
    builder.made[layer.name] = [builder.layers[id].name]
    builder.rows.setdefault(layer.class_name, Counter()).update({type.label: 1, "": 1})
    return Value(Port(id, "out"), out, ("T",) if out.axes == ("T",) else builder.orders(out.rank))


def _input_type(builder: Builder, sizes: list[int | None], is_index: bool, name: str) -> LayerType:
    off: dict[str, Any] = {"normalization": "none"}
    if is_index and len(sizes) == 1:
        return SequenceInput(content="indices", length=sizes[0] or 0, **off)
    if len(sizes) not in (1, 2, 3, 4):
        raise UserError(f"The input '{name}' has {len(sizes)} axes beside the batch; expected 1 to 4.")
    by_axis = dict(zip(builder.orders(len(sizes)), sizes, strict=True))
    if any(size is None for axis, size in by_axis.items() if axis != "T"):
        text = " × ".join("any" if size is None else str(size) for size in sizes)
        raise UserError(
            f"The input '{name}' takes any size ({text}), and a network here has a fixed one.",
            hint="Say it: --size height=224 --size width=224.",
        )
    try:
        match len(sizes):
            case 1:
                return FeatureInput(channels=by_axis["C"], **off)
            case 2:
                return SequenceInput(channels=by_axis["C"], length=by_axis["T"] or 0, **off)
            case 3:
                return ImageInput(channels=by_axis["C"], size=(by_axis["H"], by_axis["W"]), **off)
        return VolumeInput(channels=by_axis["C"], size=tuple(by_axis[axis] for axis in "DHW"), **off)
    except FieldErrors as error:
        raise UserError(f"The input '{name}' of the Keras model: {error}") from None


def feeds_embedding(model: KerasModel, ref: Ref) -> bool:
    """Return whether all that a tensor enters are embeddings, so that it holds indices."""
    answers = []
    for layer in model.layers:
        for call in layer.calls:
            for number, source in enumerate(call.used()):
                if source != ref:
                    continue
                if layer.model is not None and number < len(layer.model.inputs):
                    answers.append(feeds_embedding(layer.model, layer.model.inputs[number]))
                else:
                    answers.append(layer.class_name in ("Embedding", "Masking") or layer.class_name == "Identity")
    return bool(answers) and all(answers)


def _convert(builder: Builder, model: KerasModel, values: dict[Ref, Value], weights: Weights | None) -> list[Value]:
    """Add all layers of a model whose input values are given, and return those of its outputs."""
    stores = _stores(model, weights)
    waiting = [(layer, number) for layer in model.layers for number in range(len(layer.calls))]
    numbers = _call_numbers(model)
    while waiting:
        later = []
        for layer, number in waiting:
            call = layer.calls[number]
            if any(ref not in values for ref in call.used()):
                later.append((layer, number))
                continue
            results = _called(builder, layer, number, values, stores.get(layer.name))
            for output, value in enumerate(results):
                values[Ref(layer.name, numbers[layer.name][number], output)] = value
        if len(later) == len(waiting):
            for layer, _ in later:  # behind a refused layer: to list all of them at once
                _refuse_class(builder, layer)
            break
        waiting = later
    missing = [ref.layer for ref in model.outputs if ref not in values]
    if missing and not builder.refused:
        label = printable(missing[0])[:80]
        raise UserError(f"The Keras model is damaged: what its output '{label}' depends on is not in it.")
    return [values[ref] for ref in model.outputs if ref in values]


def _call_numbers(model: KerasModel) -> dict[str, list[int]]:
    """Return, for each layer, the numbers by which others refer to its calls: from 0, or as Keras had counted them."""
    numbers_by_layer: dict[str, set[int]] = {}
    refs = [ref for layer in model.layers for call in layer.calls for ref in call.used()]
    for ref in [*refs, *model.outputs]:
        numbers_by_layer.setdefault(ref.layer, set()).add(ref.call)
    numbers = {}
    for layer in model.layers:
        count, references = len(layer.calls), sorted(numbers_by_layer.get(layer.name, set()))
        is_usual = not references or references[-1] < count
        numbers[layer.name] = list(range(count)) if is_usual or len(references) != count else references
    return numbers


def _stores(model: KerasModel, weights: Weights | None) -> dict[str, Weights | None]:
    """Return the weights of each layer: Keras names them by class, counted in the order of the layers."""
    group = weights.layers() if weights is not None else None
    counts: dict[str, int] = {}
    stores = {}
    for layer in model.layers:
        if layer.is_operation:
            base = _snake(layer.class_name)
        else:
            base = _snake("Functional" if layer.class_name == "Model" else layer.class_name)
        number = counts.get(base, 0)
        counts[base] = number + 1
        stores[layer.name] = group.group(f"{base}_{number}" if number else base) if group is not None else None
    return stores


def _snake(name: str) -> str:
    """Return a class name as Keras writes it in the weights: `Conv2D` is `conv2d`, `ReLU` is `re_lu`."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def _called(
    builder: Builder, layer: KerasLayer, number: int, values: Mapping[Ref, Value], store: Weights | None
) -> list[Value]:
    """Add one call of one layer. A layer without a counterpart is noted, and gives nothing."""
    where = _where(builder, layer)
    if _refuse_class(builder, layer):
        return []
    name = layer.name if number == 0 else f"{layer.name}_{number + 1}"
    site = Site(builder, layer, layer.calls[number], values, store, name, layer.class_name in TAKES_ANY_ORDER)
    builder.rows.setdefault(layer.class_name, Counter())[""] += 1
    before = len(builder.layers)
    try:
        results = _block(site, layer.model) if layer.model is not None else RULES[layer.class_name](site)
    except Refused as why:
        builder.refused[f"{where}: {why}"] = None
        return []
    except ShapeError as why:
        builder.refused[f"{where}: {str(why).rstrip('.')}"] = None
        return []
    except (LookupError, ValueError, TypeError, AttributeError):  # lists and objects where others are expected
        builder.refused[f"{where}: its settings cannot be read"] = None
        return []
    ids = list(builder.layers)[before:]
    if number and not builder.share(ids, builder.calls.get(layer.name, [])):
        builder.shared[
            f"'{printable(layer.name)[:80]}' is called more than once in the file, with the same weights. Here a call "
            "has its own, and they can drift apart in training: it is another layer with the input that it has."
        ] = None
    builder.calls.setdefault(layer.name, ids)
    return results if isinstance(results, list) else [results]


def _where(builder: Builder, layer: KerasLayer) -> str:
    return f"{printable(builder.path)[:120]}'{printable(layer.name)[:60]}' ({printable(layer.class_name)[:60]})"


def _refuse_class(builder: Builder, layer: KerasLayer) -> bool:
    """Note a layer of a class without a rule. Return whether it is one."""
    if not layer.is_custom and (layer.model is not None or layer.class_name in RULES):
        return False
    why = "a class of the file's author, whose code is not run" if layer.is_custom else "no counterpart here"
    builder.refused[f"{_where(builder, layer)}: {why}"] = None
    return True


def _block(site: Site, model: KerasModel) -> list[Value]:
    """Add a block for a model within a model."""
    sources, inner = site.inputs, site.builder.inner(f"{site.builder.path}{site.layer.name}/")
    if len(sources) != len(model.inputs):
        raise Refused(f"it takes {len(model.inputs)} inputs, received {len(sources)}")
    values: dict[Ref, Value] = {}
    for number, (ref, value) in enumerate(zip(model.inputs, sources, strict=True), 1):
        id = inner.place(BlockInput(), f"input_{number}", (), {})
        values[ref] = replace(value, port=Port(id, "out"))
    outputs = _convert(inner, model, values, site.store)
    if inner.refused or len(outputs) < len(model.outputs):
        return []
    for number, value in enumerate(outputs, 1):
        if value.shuffled is not None:
            raise NeedsOrder(value.flatten)
        inner.place(BlockOutput(), f"output_{number}", (value,), {})
    block = Block(inner.network)
    site.builder.rows.setdefault(site.layer.class_name, Counter())[block.label] += 1
    id = site.builder.place(block, site.name, sources, {})
    site.builder.made.setdefault(f"{site.builder.path}{site.layer.name}", []).append(site.builder.layers[id].name)
    for path, weights in inner.weights.items():
        site.builder.weights[f"{id}/{path}"] = weights
    return [replace(value, port=Port(id, port)) for port, value in zip(block.output_ports(), outputs, strict=True)]


def _ends(builder: Builder, model: KerasModel, outputs: list[Value]) -> tuple[Port, ...]:
    """Return the ports of the network's outputs: an identity where something else uses the tensor too."""
    ports: list[Port] = []
    for ref, value in zip(model.outputs, outputs, strict=True):
        if value.shuffled is not None:
            raise NeedsOrder(value.flatten)
        is_used = any(connection.source == value.port for connection in builder.connections)
        is_side = value.port.name in builder.layers[value.port.layer].type.side_ports()
        if is_used or is_side or value.port in ports or builder.layers[value.port.layer].type.is_input:
            id = builder.place(Identity(), f"{ref.layer}_output", (value,), {})
            ports.append(Port(id, "out"))
        else:
            ports.append(value.port)
    return tuple(ports)
