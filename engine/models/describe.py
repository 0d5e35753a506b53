"""The meaning of inputs and outputs of a model that came without it: from data, or assumed from sizes and names."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.fields import quoted
from netwright.engine.data.loading.load import facts as facts_of_data
from netwright.engine.layers.inputs import ImageInput
from netwright.engine.lowering.fitted import trained_preparation
from netwright.engine.lowering.module import build
from netwright.engine.models.assumed import IMAGENET_MEAN, IMAGENET_STD, TRIED_SIZE, Port, assumed_input, assumed_target
from netwright.engine.models.trained_model import Model
from netwright.engine.network.network import Layer
from netwright.engine.project.bindings import match_inputs, output_name, wanted_of
from netwright.engine.project.check import check
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo
from netwright.engine.project.preparation import InputPreparation, Preparation
from netwright.engine.project.stored_facts import facts_of, sizes_of
from netwright.engine.runs.model_files import Assumptions

WHITE = 255.0
"""Largest value of a pixel in our data."""
SCALES = {
    "0 to 1": ((0.0,), (WHITE,)),
    "-1 to 1": ((WHITE / 2,), (WHITE / 2,)),
    "ImageNet": (tuple(WHITE * x for x in IMAGENET_MEAN), tuple(WHITE * x for x in IMAGENET_STD)),
}
"""Numbers that are taken from a pixel, and that it is divided by, for the range that a network takes."""
MOST_NAMED = 6


def with_pixels(model: Model, pixels: str) -> Model:
    """Return the model whose network takes pixels from 0 to 255, as our data has them, where it takes pixels of a range
    `pixels`."""
    if pixels not in SCALES:
        return model
    weights = dict(model.weights or {})
    network = model.network
    for layer in network.inputs:
        if not _is_picture(layer):
            continue
        shift, scale = (np.array(numbers, np.float32) for numbers in SCALES[pixels])
        if len(shift) not in (1, layer.type.output().channels):
            raise UserError(
                f"Pixels of ImageNet have 3 channels; {quoted(layer.name)} takes {layer.type.output().channels}.",
                hint="Name another range: --pixels.",
            )
        values = {"mean": tuple(map(float, shift)), "deviation": tuple(map(float, scale))}
        type = layer.type.replace(normalization="zscore", statistics="given", **values)
        network = network.with_layer(replace(layer, type=type))
        weights |= _rescaled(model, layer, shift, scale)
    project = replace(model.project, network=network)
    state = build(network, replace(model, project=project).analysis).state_dict()
    return replace(model, project=project, weights={key: weights.get(key, value) for key, value in state.items()})


def _rescaled(model: Model, layer: Layer, shift: np.ndarray, scale: np.ndarray) -> dict[str, torch.Tensor]:
    """Return shift and scale of an input layer that normalises already, so that it does both; empty for another."""
    name = model.module_names[layer.id][0] if model.module_names.get(layer.id) else ""
    keys = [f"{name}.shift", f"{name}.scale"]
    weights = model.weights or {}
    if not all(key in weights for key in keys):
        return {}
    sizes = (-1, *[1] * (len(layer.type.output().axes) - 1))
    own_shift, own_scale = (torch.from_numpy(numbers).reshape(sizes) for numbers in (shift, scale))
    return {keys[0]: own_shift + own_scale * weights[keys[0]], keys[1]: weights[keys[1]] / own_scale}


def _is_picture(layer: Layer) -> bool:
    return isinstance(layer.type, ImageInput) and layer.type.output().channels in (1, 3)


def assumed(model: Model, assumptions: Assumptions) -> Model:
    """Return a model with what names and sizes of its inputs and outputs tell, in the words of `assumed`. Raises
    `UserError`."""
    inputs: list[InputPreparation] = []
    words: list[str] = []
    for layer in model.network.inputs:
        type = layer.type.output()
        port = Port(layer.name, "tensor(int64)" if type.kind == "index" else "tensor(float)", (None, *sizes_of(type)))
        part, notes = assumed_input(port, assumptions)
        if _is_picture(layer) and type.kind != "index":
            part = replace(part, reads="image", span=(0.0, WHITE))
        inputs.append(part)
        words += notes
    model = with_pixels(model, assumptions.pixels or "0 to 1")
    blank = tuple(
        torch.zeros((1, *(size or TRIED_SIZE for size in part.sizes)), dtype=getattr(torch, part.dtype))
        for part in inputs
    )
    is_open = any(None in part.sizes for part in inputs)
    targets = []
    for end, output in zip(model.network.output_ports, model.outputs(model.answering, blank), strict=True):
        name, array = output_name(model.network, end), output.float().numpy()
        target, notes = assumed_target(Port(name, "tensor(float)", ()), array, assumptions, is_open=is_open)
        targets.append(target)
        words += notes
    record = Preparation(kind="onnx", inputs=tuple(inputs), targets=tuple(targets))
    notes = [*model.assumed, *words]
    return replace(
        model,
        record=record,
        dataset=facts_of(record),
        assumed=tuple(notes),
        is_described=False,
        classes=assumptions.classes,
    )


def described_by(model: Model, options: DataOptions, base: Path, classes: tuple[str, ...] = ()) -> Model:
    """Return a model whose columns and classes are those of data, in its order; `classes` are the names that the user
    gives. Raises `UserError` where the data does not fit the network."""
    facts = _fitting(model, facts_of_data(options, base))
    if classes and facts.targets:
        first = facts.targets[0]
        sizes = tuple(
            len(classes) if axis == "C" else size for axis, size in zip(first.type.axes, first.type.sizes, strict=True)
        )
        named = replace(first, classes=classes, type=replace(first.type, sizes=sizes))
        facts = replace(facts, targets=(named, *facts.targets[1:]))
    project = replace(model.project, data=options)
    _refuse_other_counts(model, facts)
    check(project, facts).refuse_errors()
    record = trained_preparation(project, facts, model.weights or {})
    words = _words(facts, options, is_named=bool(classes))
    notes = (*model.warnings, *words)
    return replace(model, dataset=facts, record=record, assumed=notes, is_described=True)


def _fitting(model: Model, facts: DatasetInfo) -> DatasetInfo:
    """Return the facts of data whose pictures have the size that the network takes: reading resizes them."""
    declared = {info.name: layer.type.output() for layer, info in _pairs(model, facts)}
    inputs = tuple(
        replace(info, type=own)
        if (own := declared.get(info.name)) is not None
        and info.type.layout == own.layout == "image"
        and info.type.channels == own.channels
        and own.is_known
        else info
        for info in facts.inputs
    )
    return replace(facts, inputs=inputs)


def _pairs(model: Model, facts: DatasetInfo) -> Iterator[tuple[Layer, InputInfo]]:
    matched = match_inputs(model.network, facts)
    return ((layer, matched[layer.id]) for layer in model.network.inputs if layer.id in matched)


def _refuse_other_counts(model: Model, facts: DatasetInfo) -> None:
    """Raise `UserError` where an output has another number of classes than the data."""
    for output in wanted_of(model.network, model.analysis, facts, is_padded=False):
        count, own = output.type.channels if output.type.has("C") else 0, output.facts
        if own.task in ("classes", "labels") and count not in (own.outputs, 1 if own.outputs == 2 else own.outputs):
            raise UserError(
                f"'{output.name}' of {model.path} gives {plural(count, 'number')}; the data has {own.outputs:,} "
                f"{own.task}: {_listed(own.classes)}.",
                hint="Name the classes of the network in its order: --classes FILE, a line each.",
                code="invalid_data",
            )


def _words(facts: DatasetInfo, options: DataOptions, *, is_named: bool) -> Iterator[str]:
    where = options.path or options.source
    for info in facts.inputs:
        if info.columns:
            yield f"The columns are those of {where}, in this order: {_listed(info.columns)}."
    for target in facts.targets:
        if target.classes and not is_named:
            yield f"The classes are those of {where}, in this order: {_listed(target.classes)}."


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(quoted, names[:MOST_NAMED])) + more
