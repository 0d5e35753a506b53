"""Measure the range of each input of a network: on the training split, or from the normalisation in its weights."""

from typing import Any

import numpy as np

from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.layers.inputs import InputLayer
from netwright.engine.lowering.fitted import State, normalizations
from netwright.engine.network.network import Layer, Network
from netwright.engine.project.bindings import match_inputs
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.input_format import Range

MOST_SAMPLES = 2_000
"""Number of samples, evenly spaced in the training split, that a range is measured on."""
MEASURED = "in the training data"
STORED = "(minimum and maximum of the training data)"
SPREAD = "(mean ± 2 standard deviations of the training data)"


def ranges(
    network: Network, facts: DatasetInfo | None, data: LoadedData | None, weights: State | None
) -> dict[str, Range]:
    """Return the range of each input, by its name, as far as the data or the weights tell."""
    ranges_by_name = {}
    matched = match_inputs(network, facts) if facts is not None else {}
    for layer in network.inputs:
        measured = None
        if data is not None and facts is not None and layer.id in matched:
            measured = _measured(data, facts, facts.inputs.index(matched[layer.id]))
        elif weights is not None:
            measured = _stored(network, weights, layer)
        if measured is not None:
            ranges_by_name[layer.name] = measured
    return ranges_by_name


def _measured(data: LoadedData, facts: DatasetInfo, number: int) -> Range | None:
    """Return the range in the training split, per column where the input is a vector of columns."""
    info = facts.inputs[number]
    if info.span is not None or info.type.kind == "index" or not facts.samples.get("training"):
        return None
    values: Any = data.split("training", data.wider).inputs[number]
    has_columns = bool(info.columns) and info.type.layout == "features"
    step = 1 if has_columns else 1 + len(values) // MOST_SAMPLES
    array = np.asarray(values[::step])
    if has_columns:
        return Range(tuple(array.min(0).tolist()), tuple(array.max(0).tolist()), MEASURED)
    return Range((float(array.min()),), (float(array.max()),), MEASURED)


def _stored(network: Network, weights: State, layer: Layer) -> Range | None:
    """Return the range that the fitted normalisation tells; None for one that does not."""
    numbers = normalizations(network, weights).get(layer.id)
    kind = layer.type.normalization_kind if isinstance(layer.type, InputLayer) else "none"
    if numbers is None or kind in ("none", "zerocenter"):
        return None
    shift, spread = numbers[0].double(), 1.0 / numbers[1].double()
    low, high, basis = {
        "zscore": (shift - 2 * spread, shift + 2 * spread, SPREAD),
        "rescale-zero-one": (shift, shift + spread, STORED),
        "rescale-symmetric": (shift - spread, shift + spread, STORED),
    }[kind]
    if layer.type.output().layout == "features":
        return Range(tuple(low.tolist()), tuple(high.tolist()), basis)
    return Range((float(low.min()),), (float(high.max()),), basis)
