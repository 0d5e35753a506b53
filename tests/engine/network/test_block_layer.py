import pytest

from netwright.engine.core.errors import FieldErrors, ShapeError
from netwright.engine.core.types import features, image
from netwright.engine.network import edits
from netwright.engine.network.block import DEPTH_LIMIT, LAYER_LIMIT, Block, BlockInput, BlockOutput
from netwright.engine.network.network import Network
from tests.blocks import conv, crossed, dense, masked, residual, row
from tests.builders import add, chain, layer


def test_a_new_block_passes_its_input_on() -> None:
    block = Block()
    assert (block.input_ports(), block.output_ports()) == (("input_1",), ("output_1",))
    assert block.output(features(3)) == features(3)
    assert (block.size, block.depth, block.repeat) == (2, 1, 1)


def test_ports_are_named_after_the_layers_inside_in_their_order() -> None:
    assert crossed().input_ports() == ("a", "b")
    assert crossed().output_ports() == ("first", "second")
    assert crossed().output_types(features(4), features(7)) == (features(7), features(4))


@pytest.mark.parametrize(
    ("block", "given", "wanted"),
    [
        (residual(4, repeat=3), (image(4, 6, 6),), image(4, 6, 6)),
        (dense(2, repeat=3), (image(4, 6, 6),), image(10, 6, 6)),
        (masked(4, repeat=2), (features(9), features(4)), features(4)),
        (row(residual(), dense()), (image(4, 5, 5),), image(10, 5, 5)),
    ],
)
def test_what_leaves_a_block(block: Block, given: tuple, wanted: object) -> None:
    assert block.output(*given) == wanted


def test_what_does_not_fit_inside_is_told_with_its_name() -> None:
    with pytest.raises(ShapeError, match="Inside, add: "):
        residual(8).output(image(4, 6, 6))
    with pytest.raises(ShapeError, match="Inside, block_1/add: "):
        row(residual(8)).output(image(4, 6, 6))


def test_a_block_without_an_output_says_so() -> None:
    network, _ = add(Network.empty(), BlockInput())
    with pytest.raises(ShapeError, match="no output"):
        Block(network).output(features(1))


def test_ports_belong_inside_blocks() -> None:
    with pytest.raises(ShapeError, match="belongs inside a block"):
        BlockInput().output()


def test_values_and_networks_make_equal_blocks() -> None:
    assert row(layer("relu")) == row(layer("relu"))
    assert row(layer("relu")) != row(layer("relu"), repeat=2)
    assert row(layer("relu")) != row(layer("tanh"))
    block = residual(repeat=2)
    assert block.replace(repeat=3).network is block.network
    assert block.with_network(Block().network).repeat == 2


def test_layers_of_all_copies_are_counted() -> None:
    assert row(residual(repeat=3), repeat=2).size == 2 * (2 + 3 * 5)
    assert row(residual(repeat=3), repeat=2).depth == 2


def test_too_many_copies_are_refused_at_the_field() -> None:
    block = row(*[layer("relu")] * 30)
    with pytest.raises(FieldErrors, match=f"at most {LAYER_LIMIT:,}") as refused:
        block.replace(repeat=1000)
    assert refused.value.errors[0].path == "repeat"
    with pytest.raises(FieldErrors, match="1,000"):
        block.replace(repeat=1001)
    with pytest.raises(FieldErrors):
        row(row(row(layer("relu"), repeat=100), repeat=100), repeat=100)


def test_too_deep_is_refused() -> None:
    block = row(layer("relu"))
    for _ in range(DEPTH_LIMIT - 1):
        block = row(block)
    assert block.depth == DEPTH_LIMIT
    with pytest.raises(FieldErrors, match=f"at most {DEPTH_LIMIT} deep"):
        row(block)


def test_what_a_block_says_on_the_canvas() -> None:
    assert row(layer("relu")).short_value() == "1 layer"
    assert row(layer("relu"), repeat=4).short_value() == "× 4"


def test_a_block_output_is_no_output_of_anything() -> None:
    network = chain(layer("feature_input"), BlockOutput())
    assert BlockOutput().output_ports() == ()
    assert network.output_ports == ()
    assert edits.default_name(BlockOutput()) == "block_output"


def test_a_wide_network_inside_takes_what_it_is_given() -> None:
    assert row(conv(8)).output(image(3, 9, 7)) == image(8, 9, 7)
