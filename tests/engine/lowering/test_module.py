import copy

import pytest
import torch
from torch import nn

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import TensorType
from netwright.engine.layers.base import Call, LayerType, function, method, module
from netwright.engine.lowering.module import build, prefixes, resolve
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from tests.builders import add, chain, classifier, layer


class Lowered(LayerType):
    """A layer of any number of inputs that becomes the calls it is given, and keeps the type of its first input."""

    def __init__(self, *calls: Call, ports: int = 1, output: TensorType | None = None) -> None:
        super().__init__()
        self.calls, self.ports, self.declared = calls, ports, output
        self._key = (Lowered, (("id", id(self)),))
        self._hash = hash(self._key)

    def input_ports(self) -> tuple[str, ...]:
        return tuple(f"in{n}" for n in range(self.ports))

    def output(self, *x: TensorType) -> TensorType:
        return self.declared or x[0]

    def lower(self, *x: TensorType) -> tuple[Call, ...]:
        return self.calls


def run(type: LayerType, *tensors: torch.Tensor) -> torch.Tensor:
    """What this layer makes of the tensors (batch × C), each from an input layer of its own."""
    network, feeds = Network.empty(), []
    for x in tensors:
        network, feed = add(network, layer("feature_input", channels=x.shape[1], normalization="none"))
        feeds.append(feed)
    network, _ = add(network, type, *feeds)
    result: torch.Tensor = build(network, analyse(network))(*tensors)
    return result


X = torch.arange(6.0).reshape(2, 3)
Y = X + 10


def test_the_tensors_come_before_the_arguments() -> None:
    assert torch.equal(run(Lowered(function("torch.sub", 2, alpha=3)), X), X - 6)
    assert torch.equal(run(Lowered(method("sub", 2, alpha=3)), X), X - 6)
    assert torch.equal(run(Lowered(function("torch.sub"), ports=2), X, Y), X - Y)


def test_tensors_are_handed_over_as_a_list_or_several_times() -> None:
    joined = Lowered(Call("torch.cat", "function", kwargs={"dim": 1}, as_list=True), ports=2)
    assert torch.equal(run(joined, X, Y), torch.cat([X, Y], dim=1))
    assert torch.equal(run(Lowered(Call("torch.add", "function", repeat=2)), X), 2 * X)


def test_one_element_of_a_tuple_is_picked() -> None:
    largest = Call("torch.max", "function", args=(1,), kwargs={"keepdim": True}, pick=1)
    assert torch.equal(run(Lowered(largest), X), torch.full((2, 1), 2))


def test_a_module_gets_keywords_at_each_call() -> None:
    kwargs = {"embed_dim": 3, "num_heads": 1, "batch_first": True}
    for asked, kind in ((True, torch.Tensor), (False, type(None))):
        call = Call("torch.nn.MultiheadAttention", kwargs=kwargs, call_kwargs={"need_weights": asked}, repeat=3, pick=1)
        assert isinstance(run(Lowered(call), X), kind)


def test_several_modules_of_a_chain_have_names_of_their_own() -> None:
    calls = (
        Call("torch.nn.Linear", kwargs={"in_features": 3, "out_features": 3}, name="key"),
        module("Linear", in_features=3, out_features=3),
        module("Linear", in_features=3, out_features=3),
    )
    network = chain(layer("feature_input", channels=3, normalization="none"), Lowered(*calls))
    state = build(network, analyse(network)).state_dict()
    prefix = network.layers["id2"].name
    assert [key for key in state if key.endswith("weight")] == [
        f"{prefix}_key.weight",
        f"{prefix}.weight",
        f"{prefix}_then.weight",
    ]
    assert prefixes(network, analyse(network))["id2"] == (f"{prefix}_key", prefix, f"{prefix}_then")


def test_inputs_come_in_the_order_of_the_network_and_outputs_as_a_tuple() -> None:
    network, one = add(Network.empty(), layer("feature_input", channels=2, normalization="none"), name="one")
    network, two = add(network, layer("feature_input", channels=3, normalization="none"), name="two")
    network, _ = add(network, layer("relu"), two, name="from_two")
    network, _ = add(network, layer("relu"), one, name="from_one")
    built = build(network, analyse(network))
    results = dict(zip([network.layers[p.layer].name for p in network.output_ports], built(X[:, :2], Y), strict=True))
    assert torch.equal(results["from_one"], X[:, :2])
    assert torch.equal(results["from_two"], Y)


def test_an_input_that_leads_nowhere_is_an_output() -> None:
    network = chain(layer("feature_input", channels=3, normalization="none"))
    assert torch.equal(build(network, analyse(network))(X), X)


def test_logits_leave_out_the_softmax_at_the_output_and_keep_the_keys() -> None:
    network = classifier()
    whole, bare = build(network, analyse(network)), build(network, analyse(network), logits=True)
    assert list(whole.state_dict()) == list(bare.state_dict())
    bare.load_state_dict(whole.state_dict())
    images = torch.rand(4, 1, 6, 6)
    assert torch.allclose(torch.softmax(bare(images), 1), whole(images))
    assert not torch.allclose(bare(images).sum(1), torch.ones(4))


def test_forward_is_straight_line_python() -> None:
    network = classifier()
    built = build(network, analyse(network))
    assert all(word not in built.code for word in ("for ", "if ", "while "))
    assert [node.op for node in built.graph.nodes].count("call_module") == 5
    assert torch.equal(copy.deepcopy(built)(torch.ones(1, 1, 6, 6)), built(torch.ones(1, 1, 6, 6)))


def test_the_normalisation_is_part_of_the_state() -> None:
    network = classifier()
    built = build(network, analyse(network))
    built.state_dict()["image_1.shift"].fill_(2.0)
    built.state_dict()["image_1.scale"].fill_(4.0)
    part = built.get_submodule("image_1")
    assert isinstance(part, nn.Module)
    assert torch.equal(part(torch.full((1, 1, 6, 6), 3.0)), torch.full((1, 1, 6, 6), 4.0))


def test_a_network_with_errors_is_refused_naming_the_first() -> None:
    network, _ = add(Network.empty(), layer("feature_input"))
    network, lonely = add(network, layer("relu"), *network.layers.values(), name="fine")
    network = Network({**network.layers}, ())
    with pytest.raises(UserError, match=f"{lonely.name}: The input is not connected"):
        build(network, analyse(network))


@pytest.mark.parametrize(
    "target", ["os.system", "builtins.eval", "torchvision.ops.nms", "netwright.engine.core.files.write_json"]
)
def test_a_layer_calls_only_torch_and_our_own_modules(target: str) -> None:
    with pytest.raises(ValueError, match=target):
        resolve(target)
