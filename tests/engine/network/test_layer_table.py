from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.layer_table import table_rows
from netwright.engine.network.network import Network
from tests.blocks import IMAGE, behind, conv, dense, residual, row
from tests.builders import classifier, layer


def paths(network: Network) -> list[str]:
    return [found.path for found in table_rows(network, analyse(network))]


def test_layers_come_in_the_order_of_the_data() -> None:
    assert paths(classifier()) == ["image_1", "fc_1", "relu_1", "fc_2", "softmax_1"]


def test_what_is_inside_a_block_stands_below_it_without_its_ports() -> None:
    network = behind(IMAGE, row(residual(), layer("relu")), dense(), names=("stage", "grow"))
    assert paths(network) == [
        "image_1",
        *("stage", "stage/block_1", "stage/block_1/conv", "stage/block_1/bn", "stage/block_1/add", "stage/relu_1"),
        *("grow", "grow/conv", "grow/join"),
    ]
    found = {one.path: one for one in table_rows(network, analyse(network))}
    assert found["grow"].label == "Block × 3"
    assert found["stage"].label == "Block"
    assert found["stage/block_1/conv"].id == "id2/id2/id2"
    total, first = found["grow"].shapes, found["grow/conv"].shapes
    assert total is not None
    assert first is not None
    assert first.parameters == 4 * 9 * 2 + 2
    assert total.parameters == sum(width * 9 * 2 + 2 for width in (4, 6, 8))


def test_what_is_not_known_and_what_is_bypassed() -> None:
    network = behind(IMAGE, residual(8), conv(2), names=("stage", "tail"))
    found = {one.path: one.shapes for one in table_rows(network, analyse(network))}
    assert found["stage"] is None
    assert found["stage/conv"] is not None
    assert found["stage/add"] is None
    assert paths(edits.set_bypassed(network, ["id2"], True)) == ["image_1", "stage", "tail"]
    loose = Network(network.layers, ())
    assert "stage/conv" in paths(loose)
