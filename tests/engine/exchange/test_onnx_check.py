"""A file with other weights than the network's is refused, however small its outputs and whatever they look like."""

from collections.abc import Collection

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper
from torch import fx, nn

from netwright.engine.core.errors import RunError
from netwright.engine.exchange.onnx_check import Comparison, distances, in_units, spread_and_size
from netwright.engine.exchange.onnx_export import channel_dims, probe
from netwright.engine.exchange.onnx_graph import content
from netwright.engine.exchange.sample_inputs import random_samples
from netwright.engine.lowering.initialization import initialize
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.file import load
from scripts.make_templates import MAKERS, TEMPLATES
from tests.builders import chain, classifier, layer

# Exported and compared in seconds; the others, which take up to a minute each, are left to `make parity`.
LIGHT = ("mlp", "autoencoder", "conv1d_signals", "lstm_classifier", "narx")


def initial(network: Network) -> fx.GraphModule:
    """The network with its initial weights, as exported from a project."""
    module = build(network, analyse(network)).eval()
    initialize(module, 0)
    return module


def exported(module: fx.GraphModule, network: Network) -> bytes:
    return content(module, network, in_units(module, list(random_samples(network))[-1]), {})


def compare(module: fx.GraphModule, network: Network, data: bytes) -> Comparison:
    """Compare as an export without data does."""
    comparison = Comparison(module, data, channel_dims(network))
    for batch in reversed(list(random_samples(network))):
        comparison.run(in_units(module, batch))
    probe(comparison, module, network, has_data=False)
    return comparison


def weights_of(data: bytes) -> list[str]:
    """The initializers of numbers that a permutation changes."""
    model = onnx.load_from_string(data)
    return [
        one.name
        for one in model.graph.initializer
        if one.data_type == onnx.TensorProto.FLOAT and len(np.unique(numpy_helper.to_array(one))) > 1
    ]


def permuted(data: bytes, only: Collection[str] | None = None) -> bytes:
    """The file with the numbers of its weights, or of some, in another order."""
    model = onnx.load_from_string(data)
    numbers = np.random.default_rng(0)
    for one in model.graph.initializer:
        array = numpy_helper.to_array(one)
        if one.data_type == onnx.TensorProto.FLOAT and array.size > 1 and (only is None or one.name in only):
            order = numbers.permutation(array.size)
            while np.array_equal(array.ravel()[order], array.ravel()) and len(np.unique(array)) > 1:
                order = numbers.permutation(array.size)
            one.CopyFrom(numpy_helper.from_array(array.ravel()[order].reshape(array.shape), one.name))
    return model.SerializeToString()


def scaled(data: bytes, factor: float) -> bytes:
    """The file with its weights times a factor."""
    model = onnx.load_from_string(data)
    for one in model.graph.initializer:
        if one.data_type == onnx.TensorProto.FLOAT:
            one.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(one) * np.float32(factor), one.name))
    return model.SerializeToString()


@pytest.mark.parametrize("name", LIGHT)
def test_a_template_is_accepted_and_with_the_weights_of_any_layer_permuted_refused(name: str) -> None:
    network = load(TEMPLATES / f"{name}.netwright").project.network
    module = initial(network)
    data = exported(module, network)
    assert compare(module, network, data).notes() == ()
    for weight in weights_of(data):
        with pytest.raises(RunError, match="gives other numbers than torch"):
            compare(module, network, permuted(data, [weight]))


@pytest.mark.parity
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", [name for name in MAKERS if name not in LIGHT])
def test_a_large_template_is_accepted_and_with_permuted_weights_refused(name: str) -> None:
    network = load(TEMPLATES / f"{name}.netwright").project.network
    module = initial(network)
    data = exported(module, network)
    compare(module, network, data)
    names = weights_of(data)
    for some in (names, *([names[place]] for place in (0, len(names) // 3, 2 * len(names) // 3, -1))):
        with pytest.raises(RunError, match="gives other numbers than torch"):
            compare(module, network, permuted(data, some))


def test_outputs_of_a_ten_millionth_are_compared_as_large_ones_are() -> None:
    network = chain(layer("feature_input", channels=4, normalization="none"), layer("fully_connected", outputs=2))
    module = initial(network)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(1e-7)
    data = exported(module, network)
    assert compare(module, network, data).notes() == ()
    with pytest.raises(RunError, match=r"output fc_1 differs by .*, \d.* times its spread"):
        compare(module, network, scaled(data, -3.0))


def test_each_channel_is_compared_with_its_own_spread() -> None:
    """A column of small numbers beside one of large ones."""
    network = chain(layer("feature_input", channels=4, normalization="none"), layer("fully_connected", outputs=2))
    module = initial(network)
    data = exported(module, network)
    with torch.no_grad():
        for row, factor in enumerate((1e3, 1e-7)):
            module.get_parameter("fc_1.weight")[row] *= factor
    right = exported(module, network)
    assert compare(module, network, right).notes() == ()
    with torch.no_grad():
        module.get_parameter("fc_1.weight")[1] *= -3.0
    with pytest.raises(RunError, match="times its spread"):
        compare(module, network, right)
    assert data != right


def test_probabilities_are_compared_before_the_softmax_that_hides_the_difference() -> None:
    network = classifier()
    module = initial(network)
    with torch.no_grad():
        module.get_parameter("fc_2.weight").mul_(1e-6)
    data = exported(module, network)
    assert compare(module, network, data).notes() == ()
    with pytest.raises(RunError, match=r"output softmax_1 \(before its softmax\) differs by"):
        compare(module, network, permuted(data, [name for name in weights_of(data) if "fc_2" in name or "val" in name]))


def test_large_scores_that_agree_may_give_probabilities_that_do_not() -> None:
    """Scores of 2,000 that are apart by their rounding, 0.002: where two are equal, probabilities differ by 0.0005."""
    network = chain(
        layer("feature_input", channels=2, normalization="none"), layer("fully_connected", outputs=2), layer("softmax")
    )
    module = initial(network)
    with torch.no_grad():
        module.get_parameter("fc_1.weight").copy_(torch.eye(2) * 2000.0)
    comparison = Comparison(module, exported(module, network), channel_dims(network))
    batch = (np.array([[1.0, 1.0], [-1.0, 0.5], [0.5, -1.0]], np.float32),)
    with torch.no_grad():
        module.get_parameter("fc_1.weight")[0] *= 1.0 + 1e-6
    assert comparison.run(batch) > 4e-4
    with torch.no_grad():
        module.get_parameter("fc_1.weight")[0] *= 1.0 + 1e-4
    with pytest.raises(RunError, match=r"\(before its softmax\) differs by"):
        comparison.run(batch)


def test_inputs_are_in_the_units_of_the_data_so_that_the_network_varies() -> None:
    network = chain(
        layer("feature_input", channels=3, normalization="zscore"), layer("fully_connected", outputs=4), layer("tanh")
    )
    module = initial(network)
    name = network.inputs[0].name
    with torch.no_grad():
        module.get_buffer(f"{name}.shift").fill_(1e4)
        module.get_buffer(f"{name}.scale").fill_(0.1)
    data = exported(module, network)
    assert compare(module, network, data).notes() == ()


def test_an_output_that_never_varies_is_said_not_to_be_comparable() -> None:
    network = chain(layer("feature_input", channels=3), layer("fully_connected", outputs=4))
    module = initial(network)
    with torch.no_grad():
        module.get_parameter("fc_1.weight").zero_()
        module.get_parameter("fc_1.bias").fill_(2.0)
    (note,) = compare(module, network, exported(module, network)).notes()
    assert note == (
        "Output fc_1 is not comparable in full. It does not vary over the samples tried: other weights could give "
        "the same numbers."
    )
    with torch.no_grad():
        module.get_parameter("fc_1.weight")[0] = 1.0
    (note,) = compare(module, network, exported(module, network)).notes()
    assert "3 of its 4 channels do not vary" in note


def test_a_file_that_runs_at_one_size_only_is_refused_in_words() -> None:
    network = classifier()
    module = initial(network)
    data = exported(module, network)
    model = onnx.load_from_string(data)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 5
    comparison = Comparison(module, model.SerializeToString(), channel_dims(network))
    with pytest.raises(RunError, match=r"cannot run the exported network on inputs of 2 × 1 × 6 × 6: .*not kept"):
        comparison.run((np.zeros((2, 1, 6, 6), np.float32),))


def test_distances_count_what_is_not_finite() -> None:
    nan, inf = float("nan"), float("inf")
    one = np.array([1.0, nan, inf, 2.0])
    assert distances(one, one.copy()).tolist() == [0.0] * 4
    assert distances(one, np.array([1.5, nan, inf, 2.0])).max() == 0.5
    assert distances(one, np.array([1.0, 0.0, inf, 2.0])).max() == inf
    assert distances(one, np.array([1.0, nan, -inf, 2.0])).max() == inf


def test_the_spread_is_that_of_a_channel_over_samples() -> None:
    values = np.zeros((2, 3, 4))
    values[0, 1] = 2.0
    spread, size = spread_and_size(values, 1)
    assert spread.tolist() == [0.0, 1.0, 0.0]
    assert size.tolist() == [0.0, 2.0, 0.0]
    assert spread_and_size(values, None)[1].tolist() == [2.0]


def test_rounding_that_torch_has_too_is_no_difference_but_tells_nothing_either() -> None:
    """A difference of two large numbers that are almost equal: float32 keeps few of its digits."""

    class Cancelling(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x * 0.001 + 1e4) - 1e4

    network = chain(layer("feature_input", channels=3, normalization="none"), layer("fully_connected", outputs=3))
    module = initial(network)
    with torch.no_grad():
        module.get_parameter("fc_1.weight").copy_(torch.eye(3) * 0.001)
    root, graph = nn.Module(), fx.Graph()
    root.add_module("part", Cancelling())
    graph.output(graph.call_module("part", (graph.placeholder("x"),)))
    comparison = Comparison(fx.GraphModule(root, graph), exported(module, network), channel_dims(network))
    comparison.run((np.random.default_rng(0).random((5, 3), dtype=np.float32),))
    assert "does not vary" in comparison.notes()[0]


def test_a_gate_that_is_almost_closed_is_as_exact_as_the_sigmoid_of_onnx_runtime() -> None:
    """Its error is relative to 1, not to the 2e-7 that is left, which tells nothing then."""
    network = chain(
        layer("feature_input", channels=2, normalization="none"), layer("sigmoid"), layer("scaling", scale=1.5)
    )
    module = initial(network)
    comparison = Comparison(module, exported(module, network), channel_dims(network))
    comparison.run((np.array([[-15.5 - 0.01 * number, number] for number in range(5)], np.float32),))
    assert "1 of its 2 channels does not vary" in comparison.notes()[0]
