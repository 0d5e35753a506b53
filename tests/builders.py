"""Small networks for tests, in one line each."""

from netwright.engine.layers.base import LayerType
from netwright.engine.network import edits
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.network import Layer, Network, Port


def layer(key: str, **values: object) -> LayerType:
    """A layer type with values, by its key."""
    return layer_type(key)(**values)


def add(network: Network, type: LayerType, *feeds: Layer, name: str = "") -> tuple[Network, Layer]:
    """The network with one more layer, its input ports connected to these layers in order."""
    network, added = edits.add_layer(network, type, name, id=f"id{len(network) + 1}")
    for source, port in zip(feeds, type.input_ports(), strict=True):
        network = edits.connect(network, Port(source.id, source.type.output_ports()[0]), Port(added.id, port))
    return network, added


def chain(*types: LayerType) -> Network:
    """Layers one behind the other."""
    network = Network.empty()
    last: tuple[Layer, ...] = ()
    for type in types:
        network, added = add(network, type, *last)
        last = (added,)
    return network


def classifier(classes: int = 3, *, softmax: bool = True) -> Network:
    """A network for images of 1 × 6 × 6: fully connected, ReLU, fully connected, and a softmax unless told not to."""
    layers = [
        layer("image_input", channels=1, size=6),
        layer("fully_connected", outputs=8),
        layer("relu"),
        layer("fully_connected", outputs=classes),
    ]
    return chain(*layers, *([layer("softmax")] if softmax else []))
