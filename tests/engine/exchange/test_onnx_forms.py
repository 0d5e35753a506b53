from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from netwright.engine.core.errors import RunError
from netwright.engine.exchange import onnx_graph
from netwright.engine.exchange.importing.importer import network_of
from netwright.engine.exchange.importing.onnx_file import read
from netwright.engine.exchange.onnx_export import export_onnx
from netwright.engine.exchange.onnx_forms import ADAPTIVE_POOLS, AdaptivePool, exportable
from netwright.engine.lowering.module import build
from netwright.engine.lowering.modules.onnx_runtime import open_session
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network, Port
from tests.builders import add, chain, layer


@pytest.mark.parametrize("kind", ADAPTIVE_POOLS)
@pytest.mark.parametrize("cells", [1, 2, 3, 5, 8])
def test_adaptive_pooling_has_the_same_numbers_in_every_form(kind: type[nn.Module], cells: int) -> None:
    dims = int(kind.__name__[-2])
    x = torch.randn(2, 3, *(5, 7, 6)[:dims], generator=torch.Generator().manual_seed(0))
    other = AdaptivePool((cells, 2, 3)[:dims], takes_max=ADAPTIVE_POOLS[kind])
    assert torch.allclose(kind((cells, 2, 3)[:dims])(x), other(x), atol=1e-6)


def test_the_network_itself_stays_as_it_is_and_weights_are_shared() -> None:
    network = chain(layer("image_input", size=8), layer("conv2d", filters=2), layer("adaptive_max_pool2d", size=(3, 5)))
    module = build(network, analyse(network))
    copied = exportable(module)
    kinds = [{type(part) for part in one.modules()} for one in (module, copied)]
    assert nn.AdaptiveMaxPool2d in kinds[0] - kinds[1]
    assert AdaptivePool in kinds[1] - kinds[0]
    assert all(a is b for a, b in zip(module.parameters(), copied.parameters(), strict=True))
    images = torch.rand(2, 1, 8, 8)
    assert torch.equal(module(images), copied(images))


@pytest.mark.parametrize(("cropping", "bias"), [(0, True), (1, False), (3, True)])
def test_a_transposed_convolution_with_an_output_padding_of_its_stride(
    tmp_path: Path, cropping: int, bias: bool
) -> None:
    """torch allows it below the dilation; ONNX Runtime 1.31 refuses such an operator."""
    fields = {"cropping": (cropping, 1), "output_padding": (2, 1), "dilation": (3, 1), "stride": 2, "bias": bias}
    start = layer("image_input", channels=2, size=6, normalization="none")
    network = chain(start, layer("transposed_conv2d", filters=3, kernel=3, **fields))
    module = build(network, analyse(network))
    done = export_onnx(network, module.state_dict(), tmp_path / "net.onnx", facts=None, samples=None)
    assert done.samples_compared == 5
    made = network_of(read(done.path), {})
    assert made.compared().agrees
    assert not any(fate.opaque for fate in made.lifted.fates.values())


TORCHS = {"rnn": {}, "birnn": {"layers": 2}, "lstm": {}, "bilstm": {}, "gru": {"layers": 2}, "bigru": {}}


@pytest.mark.parametrize(("first", "second"), [*pairwise(TORCHS), ("bigru", "self_attention")])
def test_recurrent_layers_in_series_run_at_every_length(tmp_path: Path, first: str, second: str) -> None:
    units = {} if second == "self_attention" else {"hidden_units": 4, **TORCHS[second]}
    network = chain(
        layer("sequence_input", channels=3),
        layer(first, hidden_units=4, **TORCHS[first]),
        layer(second, **units),
    )
    module = build(network, analyse(network)).eval()
    done = export_onnx(network, module.state_dict(), tmp_path / "net.onnx", facts=None, samples=None)
    session = open_session(done.path)
    numbers = np.random.default_rng(0)
    for batch, steps in ((1, 1), (3, 5), (2, 40)):
        x = numbers.standard_normal((batch, steps, 3)).astype(np.float32)
        with torch.no_grad():
            wanted = module(torch.from_numpy(x)).numpy()
        (found,) = session.run(None, {"sequence_input_1": x})
        np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_states_that_come_in_and_go_out_run_at_every_length(tmp_path: Path) -> None:
    """An encoder whose states start a decoder, each reading a sequence of a length of its own."""
    network, source = add(Network.empty(), layer("sequence_input", channels=3), name="source")
    network, target = add(network, layer("sequence_input", channels=2), name="target")
    network, encoder = add(network, layer("lstm", hidden_units=4, state_outputs=True), source)
    network, decoder = edits.add_layer(network, layer("lstm", hidden_units=4, state_inputs=True))
    for port, feed in (
        ("in", Port(target.id, "out")),
        ("hidden", Port(encoder.id, "hidden")),
        ("cell", Port(encoder.id, "cell")),
    ):
        network = edits.connect(network, feed, Port(decoder.id, port))
    module = build(network, analyse(network)).eval()
    done = export_onnx(network, module.state_dict(), tmp_path / "net.onnx", facts=None, samples=None)
    session = open_session(done.path)
    assert [given.shape for given in session.get_inputs()] == [["batch", "source_time", 3], ["batch", "target_time", 2]]
    numbers = np.random.default_rng(0)
    x, y = (numbers.standard_normal(shape).astype(np.float32) for shape in ((2, 11, 3), (2, 6, 2)))
    with torch.no_grad():
        wanted = module(torch.from_numpy(x), torch.from_numpy(y))
    for one, other in zip(wanted, session.run(None, {"source": x, "target": y}), strict=True):
        np.testing.assert_allclose(other, one.numpy(), atol=1e-5)


def test_a_file_that_runs_at_one_length_only_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exporter's own form of an LSTM, before another layer that reads its length."""
    monkeypatch.setattr(onnx_graph, "exportable", lambda module: module)
    network = chain(layer("sequence_input", channels=3), layer("lstm", hidden_units=4), layer("lstm", hidden_units=4))
    state = build(network, analyse(network)).state_dict()
    with pytest.raises(RunError, match=r"ONNX Runtime cannot run the exported network on inputs of 2 × 16 × 3"):
        export_onnx(network, state, tmp_path / "net.onnx", facts=None, samples=None)
    assert not list(tmp_path.iterdir())


def test_axes_of_different_inputs_have_names_of_their_own_unless_they_must_be_equal(tmp_path: Path) -> None:
    network, a = add(Network.empty(), layer("sequence_input", channels=3), name="a")
    network, b = add(network, layer("sequence_input", channels=3), name="b")
    for joined, names in ((False, ["a_time", "b_time"]), (True, ["a_time", "a_time"])):
        apart, _ = add(add(network, layer("relu"), a)[0], layer("tanh"), b)
        one = add(network, layer("addition"), a, b)[0] if joined else apart
        state = build(one, analyse(one)).state_dict()
        done = export_onnx(one, state, tmp_path / "n.onnx", facts=None, samples=None)
        assert [given.shape[1] for given in open_session(done.path).get_inputs()] == names
