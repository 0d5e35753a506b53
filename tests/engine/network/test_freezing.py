from engine.layers.block import Block
from engine.network.analysis import analyse
from engine.network.freezing import frozen_parameters, type_at
from tests.builders import add, chain, layer


def stage(repeat: int) -> Block:
    """A block with one frozen layer of 20 weights and one of 24."""
    inner = chain(layer("block_input"), layer("fully_connected", outputs=5, frozen=True))
    for type in (layer("fully_connected", outputs=3), layer("block_output")):
        inner, _ = add(inner, type, inner.layers[f"id{len(inner)}"])
    return Block(inner, repeat=repeat)


def test_every_copy_of_a_block_counts() -> None:
    for repeat in (1, 3):
        network = chain(layer("feature_input", channels=3), stage(repeat))
        analysis = analyse(network)
        assert not analysis.has_errors
        found = {path: type_at(network, path) for path, facts in analysis.all_facts() if facts.parameters}
        assert len(found) == 2 * repeat
        assert {type.key for type in found.values()} == {"fully_connected"}
        assert frozen_parameters(network, analysis) == 20 * repeat
