"""Layer types that fit an open output, an open input, or the position of a layer, decided by the types' own rules.

A result holds every type that has the required ports, with the reason why it does not fit, or an empty text if it
does.
"""

from collections.abc import Iterable, Mapping, Sequence

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import TensorType, features, image, sequence, tokens, volume
from netwright.engine.layers.base import LayerType
from netwright.engine.network.analysis import Analysis
from netwright.engine.network.catalog import catalog
from netwright.engine.network.network import Network, Port

SuggestedTypes = Mapping[str, str]
"""By key, the reason why the type does not fit, or an empty text."""

# What may arrive at a layer that is not connected yet: enough to learn what it makes of it.
_SAMPLES = (features(64), image(8, 32, 32), sequence(16, 64), tokens(16), volume(8, 16, 16, 16))


def takers(source_type: TensorType | None) -> SuggestedTypes:
    """Return the types that an output can feed, for the type at the output (None: not known)."""
    types = {key: type() for key, type in catalog().items()}
    return {
        key: refusal(type, [source_type] * len(type.input_ports())) for key, type in types.items() if type.input_ports()
    }


def feeders(target: LayerType, port: str, port_types: Mapping[str, TensorType]) -> SuggestedTypes:
    """Return the types that can feed an input port of a layer; `port_types` holds the types at its other ports."""
    samples = [*port_types.values(), *_SAMPLES]
    # Beside an input whose type is known, sizes are a matter of the new layer's values: its kind of data decides.
    alike = {(other.axes, other.kind) for other in port_types.values() if _takes(target, port, port_types, other)}

    def fits(type: LayerType) -> bool:
        if type.is_measured:
            return True
        results = _results(type, samples)
        return any(
            (result.axes, result.kind) in alike or _takes(target, port, port_types, result) for result in results
        )

    why = f"What it gives is not what {target.label} takes."
    types = {key: type() for key, type in catalog().items()}
    return {key: "" if fits(type) else why for key, type in types.items() if type.output_ports()}


def substitutes(network: Network, analysis: Analysis, id: str) -> SuggestedTypes:
    """Return the other types that can replace a layer."""
    layer = network.layers[id]
    feeds = network.incoming[id]
    arriving = [analysis.type_at(feeds[name]) for name in layer.type.input_ports() if name in feeds]
    is_used = bool(network.outgoing[id])
    reasons: dict[str, str] = {}
    for key, cls in catalog().items():
        type = cls()
        if key == layer.type_key:
            continue
        if arriving and not type.input_ports():
            reasons[key] = f"{type.label} has no input: the connection to it would be cut."
        elif is_used and not type.output_ports():
            reasons[key] = f"{type.label} has no output: the connections from it would be cut."
        elif not arriving:
            reasons[key] = ""
        else:
            count = len(type.input_ports())
            reasons[key] = refusal(type, [*arriving, *[arriving[0]] * count][:count])
    return reasons


def known_inputs(network: Network, analysis: Analysis, target: Port) -> dict[str, TensorType]:
    """Return the types at the other ports of a port's layer."""
    feeds = network.incoming[target.layer]
    types = {name: analysis.type_at(source) for name, source in feeds.items() if name != target.name}
    return {name: type for name, type in types.items() if type is not None}


def refusal(type: LayerType, inputs: Sequence[TensorType | None]) -> str:
    """Return the reason why a layer does not accept these inputs, or an empty text; unknown inputs are no reason."""
    if type.is_measured:
        return ""
    types = [item for item in inputs if item is not None]
    if len(types) < len(inputs):
        return ""
    try:
        type.output(*types)
    except UserError as error:
        return str(error)
    return ""


def _results(type: LayerType, samples: Iterable[TensorType]) -> list[TensorType]:
    """Return the possible outputs of a layer, for some of its possible inputs."""
    count = len(type.input_ports())
    outputs: list[TensorType] = []
    for sample in samples if count else (None,):
        try:
            outputs.append(type.output(*([sample] * count)))
        except UserError:
            continue
    return outputs


def _takes(target: LayerType, port: str, port_types: Mapping[str, TensorType], new_type: TensorType) -> bool:
    arriving = [new_type if name == port else port_types.get(name, new_type) for name in target.input_ports()]
    return not refusal(target, arriving)
