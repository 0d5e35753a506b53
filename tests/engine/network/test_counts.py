"""How many layers there are."""

from netwright.engine.network import edits
from netwright.engine.network.block import Block
from netwright.engine.network.blocks import group
from netwright.engine.network.layer_table import has_blocks, num_layers
from netwright.engine.network.layout import Layout
from tests.builders import chain, layer


def test_layers_in_blocks_count_in_every_copy_and_ports_do_not() -> None:
    network = chain(layer("image_input", channels=4, size=8), layer("conv2d", filters=4), layer("relu"))
    assert num_layers(network) == 3
    assert not has_blocks(network)
    chosen = [id for id, one in network.layers.items() if one.type_key != "image_input"]
    network, _, block = group(network, Layout(), chosen)
    network = edits.set_fields(network, block, {"repeat": 3})
    held = network.layers[block].type
    assert isinstance(held, Block)
    assert len(held.network) == 4
    assert num_layers(network) == 1 + 3 * 2
    assert has_blocks(network)
