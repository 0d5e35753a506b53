"""Content of the picture of a layer, made from the layer and its analysis."""

from dataclasses import dataclass

from netwright.designer.language import layer_label, tr
from netwright.designer.scene.health_badges import HealthBadge
from netwright.designer.scene.short_values import short_value
from netwright.designer.scene.tint import Tint
from netwright.engine.drawing.labels import common_beginning
from netwright.engine.layers.base import LayerType
from netwright.engine.network.analysis import LayerShapes
from netwright.engine.network.block import Block
from netwright.engine.network.layer_table import short_count
from netwright.engine.network.layout import Flow, Heading
from netwright.engine.network.network import Layer, Network
from netwright.engine.project.check import CheckResult

_RANK = {"error": 2, "warning": 1}


@dataclass(frozen=True)
class Content:
    """Content of the picture of a layer."""

    name: str
    detail: str
    """Second line: the type, and the value that tells it from others of its type."""
    count: str
    family: str
    inputs: int
    outputs: int
    severity: str = ""
    is_selected: bool = False
    is_bypassed: bool = False
    is_block: bool = False
    heat: int | None = None
    """Level of the layer relative to the heaviest (see `netwright.designer.scene.tint`), if tints are shown."""
    stage: int | None = None
    """Pipeline stage of the layer, from 0, if stages are shown: instead of `count`."""
    health: HealthBadge | None = None
    """Health of the layer in training, if it is shown."""
    flow: Heading = "down"
    is_frozen: bool = False
    """Whether the layer keeps its weights while the network trains."""
    value: str = ""
    """The value at the end of `detail`, which is never cut."""
    beginning: str = ""
    """The beginning that most names share, which is left out of a long one."""


def content_of(
    network: Network,
    layer: Layer,
    facts: LayerShapes | None,
    tint: Tint,
    *,
    severity: str,
    stage: int | None,
    health: HealthBadge | None,
    flow: Heading,
    is_frozen: bool = False,
) -> Content:
    """Return the content of a layer on the canvas, where it is not selected."""
    type = layer.type
    figure = tint.figure(layer.id, facts)
    parameters = short_count(facts.parameters) if facts and facts.parameters else ""
    value = health.silent if health is not None and health.silent else short_value(type.short_value())
    label = layer_label(type.label)
    if layer.bypassed:
        detail, value = tr("Bypassed") + f" · {label}", ""
    elif layer.weights_of:
        detail, value = tr("Same weights as {name}", name=network.layers[layer.weights_of].name), ""
    else:
        detail = f"{label} · {value}" if value else label
    count = tint.label(figure) if tint.kind else parameters
    return Content(
        name=layer.name,
        detail=detail,
        value=value,
        count=health.figure if health is not None else count,
        family=type.family,
        inputs=len(type.input_ports()),
        outputs=len(type.output_ports()),
        severity=severity,
        is_bypassed=layer.bypassed,
        is_block=isinstance(type, Block),
        heat=tint.level(figure) if tint.kind else None,
        stage=stage,
        health=health,
        flow=flow,
        is_frozen=is_frozen,
        beginning=common_beginning(network),
    )


def new_layer_content(
    type: LayerType, name: str, detail: str, *, is_selected: bool = False, flow: Flow = "down"
) -> Content:
    """Return the content of a layer that is not in the network yet."""
    inputs, outputs = len(type.input_ports()), len(type.output_ports())
    value = short_value(type.short_value())
    return Content(name, detail, "", type.family, inputs, outputs, is_selected=is_selected, flow=flow, value=value)


def complaints_of(result: CheckResult) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the worst severity and all messages of each layer that has problems."""
    complaints: dict[str, tuple[str, tuple[str, ...]]] = {}
    for problem in result.problems:
        if problem.layer:
            severity, messages = complaints.get(problem.layer, ("", ()))
            worst = max(severity, problem.severity, key=lambda s: _RANK.get(s, 0))
            complaints[problem.layer] = (worst, (*messages, problem.message))
    return complaints
