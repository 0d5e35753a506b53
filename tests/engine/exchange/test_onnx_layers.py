"""Differences layer by layer: the first layer whose weights differ is named, and layers after it differ too."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from netwright.engine.exchange import onnx_export, onnx_graph
from netwright.engine.exchange.onnx_check import DifferenceError, in_units
from netwright.engine.exchange.onnx_export import export_onnx
from netwright.engine.exchange.onnx_layers import LayerDifference, first_bad, layer_table
from netwright.engine.exchange.sample_inputs import random_samples
from netwright.engine.network.network import Network
from netwright.engine.project.export_options import OnnxOptions
from tests.builders import chain, classifier, layer
from tests.engine.exchange.test_onnx_check import exported, initial, permuted, weights_of


def rows_of(network: Network) -> list[LayerDifference]:
    """The table of an exported network."""
    module = initial(network)
    data = exported(module, network)
    batch = in_units(module, list(random_samples(network))[-1])
    return layer_table(module, data, batch)


def test_the_first_layer_with_other_weights_is_named() -> None:
    network = chain(
        layer("sequence_input", channels=3, length=9),
        layer("conv1d", filters=9, kernel=3),
        layer("batch_norm"),
        layer("relu"),
        layer("conv1d", filters=9, kernel=3),
        layer("batch_norm"),
        layer("global_average_pool"),
        layer("fully_connected", outputs=4),
        layer("softmax"),
    )
    module = initial(network)
    data = exported(module, network)
    batch = in_units(module, list(random_samples(network))[-1])
    plain = layer_table(module, data, batch)
    order = [name for row in plain for name in (row.layer, *row.absorbed)]
    assert order == [network.layers[id].name for id in network.order]
    assert all(row.agrees and not row.is_first for row in plain)
    assert first_bad(plain) == ""
    for weight in (name for name in weights_of(data) if name.startswith(("conv", "fc"))):
        rows = layer_table(module, permuted(data, [weight]), batch)
        (bad,) = [row for row in rows if row.is_first]
        assert bad.layer == weight.rpartition(".")[0]
        assert all(row.agrees for row in rows[: rows.index(bad)])
        assert not any(row.agrees for row in rows[rows.index(bad) :])
        assert f"'{bad.layer}'" in first_bad(rows)


def test_a_normalisation_within_a_convolution_is_compared_after_it() -> None:
    network = chain(
        layer("image_input", channels=1, size=6), layer("conv2d", filters=2), layer("batch_norm"), layer("relu")
    )
    rows = rows_of(network)
    assert [(row.layer, row.absorbed) for row in rows][1:] == [("conv_1", ("bn_1",)), ("relu_1", ())]
    assert all(row.agrees for row in rows)


def test_a_refused_export_says_where_and_has_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = classifier()
    real = onnx_graph.content
    monkeypatch.setattr(onnx_export, "content", lambda *rest: permuted(real(*rest)))
    with pytest.raises(
        DifferenceError, match=r"not kept\. The first layer that differs is '\w+'.* times its spread"
    ) as it:
        export_onnx(network, dict(initial(network).state_dict()), tmp_path / "net.onnx", facts=None, samples=None)
    rows = it.value.data["layers"]
    assert sum(row["is_first"] for row in rows) == 1
    assert not list(tmp_path.iterdir())


def test_a_table_on_request_has_every_layer(tmp_path: Path) -> None:
    network = classifier()
    state = dict(initial(network).state_dict())
    done = export_onnx(
        network, state, tmp_path / "net.onnx", facts=None, samples=None, options=OnnxOptions(layers=True)
    )
    names = [name for row in done.layers for name in (row.layer, *row.absorbed)]
    assert [layer.name for layer in network.layers.values() if layer.name not in names] == []
    assert all(row.agrees and np.isfinite(row.relative) for row in done.layers)
    values = {name for node in onnx.load(done.path).graph.node for name in node.output}
    assert {row.value for row in done.layers} <= values
