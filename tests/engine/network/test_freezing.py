from functools import partial

from netwright.engine.lowering.initialization import frozen_modules
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse, frozen_parameters, type_at
from netwright.engine.network.block import Block
from tests.builders import add, chain, layer


def stage(repeat: int) -> Block:
    """A block with one frozen layer of 20 weights and one of 18."""
    inner = chain(layer("block_input"), layer("fully_connected", outputs=5, frozen=True))
    for type in (layer("fully_connected", outputs=3), layer("block_output")):
        inner, _ = add(inner, type, inner.layers[f"id{len(inner)}"])
    return Block(inner, repeat=repeat)


def test_every_copy_of_a_block_counts() -> None:
    for repeat in (1, 3):
        network = chain(layer("feature_input", channels=3), stage(repeat))
        analysis = analyse(network)
        assert not analysis.has_errors
        found = {path: type_at(network, path) for path, facts in analysis.all_shapes() if facts.parameters}
        assert len(found) == 2 * repeat
        assert {type.key for type in found.values()} == {"fully_connected"}
        assert frozen_parameters(network, analysis) == 20 * repeat


def test_a_frozen_block_freezes_all_that_is_inside_however_deep() -> None:
    outer = chain(layer("block_input"), stage(3), layer("fully_connected", outputs=3), layer("block_output"))
    network = chain(layer("feature_input", channels=3), Block(outer), layer("fully_connected", outputs=2))
    for frozen, count in ((False, 3 * 20), (True, 3 * (20 + 18) + 12)):
        made = edits.set_fields(network, "id2", {"frozen": frozen})
        analysis = analyse(made)
        assert frozen_parameters(made, analysis) == count
        module, layers = build(made, analysis), prefixes(made, analysis)
        modules = frozen_modules(module, layers, partial(type_at, made))
        assert sum(p.numel() for part in modules for p in part.parameters()) == count


def test_a_block_without_weights_has_no_switch() -> None:
    assert not Block(chain(layer("block_input"), layer("relu"), layer("block_output"))).is_visible("frozen")
    assert stage(1).is_visible("frozen")
    assert not Block().is_visible("frozen")
