"""Write down how the data of a project is prepared for its network, for `preparation.json` and the exports."""

from collections.abc import Mapping
from dataclasses import dataclass

from netwright.engine.layers.attention import Embedding
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.inputs import InputLayer
from netwright.engine.layers.normalisation import InverseNorm
from netwright.engine.layers.reshape_layouts import OneHot
from netwright.engine.network.analysis import Analysis, analyse, folded
from netwright.engine.network.network import Layer, Network
from netwright.engine.project.bindings import Wanted, match_inputs, wanted_of
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo
from netwright.engine.project.preparation import (
    ColumnPreparation,
    InputPreparation,
    Normalization,
    Preparation,
    TargetPreparation,
)
from netwright.engine.project.stored_facts import sizes_of


@dataclass(frozen=True)
class FittedNumbers:
    """Shift and scale of a normalisation, empty where they are too many to repeat; `is_double` where the input has to
    be float64 for them."""

    shift: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    is_double: bool = False


def preparation_of(
    network: Network,
    data: DataOptions,
    facts: DatasetInfo | None,
    fitted: Mapping[str, FittedNumbers] | None = None,
    *,
    analysis: Analysis | None = None,
    blank: str = "first",
) -> Preparation:
    """Return the preparation of the data for a network.

    `fitted` holds the numbers of the normalisations by the layer's id, from the weights. Without `facts`, or where the
    network has errors, the record says what the network takes, as far as it is known, and has no targets.
    `blank` is the option `ctc_blank`.
    """
    network_analysis = analysis or analyse(network)
    matched = match_inputs(network, facts) if facts is not None else {}
    limits = [
        type.vocabulary if isinstance(type, Embedding) else type.classes
        for type in (layer.type for layer in network.layers.values())
        if isinstance(type, Embedding | OneHot)
    ]
    inputs = tuple(
        _input(layer, data, matched.get(layer.id), (fitted or {}).get(layer.id), min(limits, default=0))
        for layer in network.inputs
    )
    outputs = (
        wanted_of(network, network_analysis, facts, is_padded=False)
        if facts is not None and not network_analysis.has_errors
        else ()
    )
    span = picture_span(data)
    targets = tuple(_target(network, output, fitted or {}, blank, span) for output in outputs if output.type.has("C"))
    forecast = facts.forecast if facts is not None else None
    season = (forecast.season or forecast.period) if forecast is not None else 0
    group = group_column_of(data)
    return Preparation(kind=data.source, inputs=inputs, targets=targets, group_column=group, season=season)


def group_column_of(data: DataOptions) -> str:
    """Return the column that tells the series or sequences of a table apart; empty where there is none."""
    columns = {"series": data.group_column, "sequences": data.id_column}
    return columns.get(data.source, "")


def _input(
    layer: Layer, data: DataOptions, info: InputInfo | None, fitted: FittedNumbers | None, vocabulary: int
) -> InputPreparation:
    type, numbers = layer.type.output(), fitted or FittedNumbers()
    is_index = type.kind == "index"
    declared = data.source_type
    span = info.span if info is not None else declared.span if declared is not None else None
    lengths = info.lengths if info is not None else None
    if info is not None and type.is_open and lengths is None and info.type.has("T"):
        steps = info.type["T"]
        lengths = (steps, steps) if isinstance(steps, int) else None
    reads = declared.reads_for(info) if declared is not None else "array"
    sound, text = (info.sound, info.text) if info is not None else (None, None)
    if (reads == "sound" and sound is None) or (reads == "text" and text is None):
        reads = "array"  # the data was not looked at
    return InputPreparation(
        name=layer.name,
        source=info.name if info is not None and info.name != layer.name else "",
        reads=reads,
        axes=type.axes,
        sizes=sizes_of(type),
        content="indices" if is_index else "numbers",
        dtype="int64" if is_index else "float64" if numbers.is_double else "float32",
        columns=(info.prepared or tuple(ColumnPreparation(name=name) for name in info.columns)) if info else (),
        span=span or (),
        lengths=lengths or (),
        vocabulary=vocabulary if is_index else 0,
        normalization=_normalization(layer.type, numbers),
        sound=sound,
        text=text,
    )


def _normalization(type: LayerType, numbers: FittedNumbers) -> Normalization | None:
    if not isinstance(type, InputLayer) or type.normalization_kind == "none" or type.output().kind == "index":
        return None
    per = type.normalized_per
    return Normalization(
        method=type.normalization_kind,
        per="element" if per == "element" else "all" if per == "all" else "channel",
        shift=numbers.shift,
        scale=numbers.scale,
    )


def picture_span(data: DataOptions) -> tuple[float, ...]:
    """Return the numbers of black and white of target pictures; empty where there are none."""
    if data.source != "images" or data.target_kind != "target_images":
        return ()
    return (0.0, 1.0) if data.target_values == "zero-one" else (0.0, 255.0)


def _target(
    network: Network, output: Wanted, fitted: Mapping[str, FittedNumbers], blank: str, span: tuple[float, ...]
) -> TargetPreparation:
    end = network.layers[output.port.layer]
    inverse, numbers = end.effective_type, fitted.get(end.id)
    scaled = None
    if isinstance(inverse, InverseNorm) and inverse.is_fitted and numbers is not None:
        scaled = Normalization(method=inverse.kind, shift=numbers.shift, scale=numbers.scale)
    names = (
        tuple(output.facts.name.split(", ")) if output.facts.task == "numbers" and output.facts.per == "sample" else ()
    )
    remains = output.folds and not folded(network, {output.port: output.folds})
    activation = output.folds if remains else ""
    assert activation in ("", "softmax", "sigmoid")
    return TargetPreparation(
        name=output.name,
        source=output.facts.name if output.facts.name != output.name else "",
        task=output.facts.task,
        axes=output.type.axes,
        sizes=sizes_of(output.type),
        classes=output.facts.classes,
        activation=activation,  # type: ignore[arg-type]
        blank="last" if blank == "last" else "first",
        columns=names if len(names) == output.facts.outputs else (),
        span=span,
        normalization=scaled,
    )
