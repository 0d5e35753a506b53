import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from torch._export.utils import _collect_all_valid_cia_ops
from torch.onnx._internal.exporter._registration import ONNXRegistry

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.types import TensorType, features, image
from netwright.engine.exchange import onnx_check, onnx_export, onnx_graph
from netwright.engine.exchange.onnx_check import Comparison
from netwright.engine.exchange.onnx_export import export_onnx
from netwright.engine.layers.activation import Relu
from netwright.engine.lowering.initialization import initialize
from netwright.engine.lowering.module import build
from netwright.engine.lowering.modules.onnx_runtime import open_session
from netwright.engine.lowering.weights_folder import State
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo, Task, classes_of, numbers_of
from netwright.engine.project.export_options import OnnxOptions
from netwright.engine.project.file import load
from tests.builders import add, chain, classifier, layer
from tests.engine.exchange.test_onnx_check import permuted

ROOT = Path(__file__).parents[3]
CLASSES = ("cat", "dög", "eel")


def weights(network: Network) -> State:
    """Random weights, biases and normalisation."""
    module = build(network, analyse(network))
    initialize(module, 1)
    generator = torch.Generator().manual_seed(1)
    return {key: value + torch.rand(value.shape, generator=generator) for key, value in module.state_dict().items()}


def facts(*inputs: tuple[str, TensorType], task: Task = "classes") -> DatasetInfo:
    given = tuple(InputInfo(name, type) for name, type in inputs)
    return DatasetInfo(given, {"training": 9}, classes_of(*CLASSES) if task == "classes" else numbers_of())


IMAGES = facts(("images", image(1, 6, 6)))


def run(path: Path, *arrays: np.ndarray) -> list[Any]:
    session = open_session(path)
    return list(session.run(None, dict(zip((given.name for given in session.get_inputs()), arrays, strict=True))))


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).random(shape, dtype=np.float32)


def test_a_classifier_says_what_it_is(tmp_path: Path) -> None:
    network = classifier()
    images = random(7, 1, 6, 6) * 255
    done = export_onnx(network, weights(network), tmp_path / "net.onnx", facts=IMAGES, samples=(images,))
    assert (done.path, done.samples_compared, done.opset) == (tmp_path / "net.onnx", 7, 20)
    assert done.largest_difference <= 1e-4
    model = onnx.load(tmp_path / "net.onnx")
    (given,), (result,) = model.graph.input, model.graph.output
    assert (given.name, result.name) == ("image_1", "softmax_1")
    assert [d.dim_param or d.dim_value for d in given.type.tensor_type.shape.dim] == ["batch", 1, 6, 6]
    assert [d.dim_param or d.dim_value for d in result.type.tensor_type.shape.dim] == ["batch", 3]
    assert given.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    props = {p.key: p.value for p in model.metadata_props}
    assert json.loads(props["classes"]) == list(CLASSES)
    assert props["task"] == "classes"
    assert {"netwright", "input_units"} <= props.keys()
    assert [entry.version for entry in model.opset_import if entry.domain == ""] == [20]
    assert [path.name for path in tmp_path.iterdir()] == ["net.onnx"]


def test_the_normalisation_is_inside(tmp_path: Path) -> None:
    network = classifier()
    state = weights(network)
    images = random(3, 1, 6, 6) * 255
    export_onnx(network, state, tmp_path / "net.onnx", facts=IMAGES, samples=None)
    module = build(network, analyse(network)).eval()
    module.load_state_dict(state)
    wanted = module(torch.from_numpy(images)).detach().numpy()
    assert np.allclose(run(tmp_path / "net.onnx", images)[0], wanted, atol=1e-5)


def test_a_classifier_without_a_softmax_gets_one(tmp_path: Path) -> None:
    network = classifier(softmax=False)
    export_onnx(network, weights(network), tmp_path / "net.onnx", facts=IMAGES, samples=None)
    assert np.allclose(run(tmp_path / "net.onnx", random(5, 1, 6, 6))[0].sum(1), 1, atol=1e-5)


def test_a_regression_stays_as_it_is(tmp_path: Path) -> None:
    network = classifier(softmax=False)
    numbers = facts(("images", image(1, 6, 6)), task="numbers")
    export_onnx(network, weights(network), tmp_path / "net.onnx", facts=numbers, samples=None)
    model = onnx.load(tmp_path / "net.onnx")
    assert [result.name for result in model.graph.output] == ["fc_2"]
    assert "classes" not in {p.key for p in model.metadata_props}


def test_a_file_tells_nothing_of_the_machine_it_was_made_on(tmp_path: Path) -> None:
    network = classifier()
    export_onnx(network, weights(network), tmp_path / "net.onnx", facts=None, samples=None)
    content = (tmp_path / "net.onnx").read_bytes()
    assert str(Path(onnx_export.__file__).parent).encode() not in content
    assert b"site-packages" not in content
    assert b"modules.py" not in content


def test_a_sequence_may_have_any_length(tmp_path: Path) -> None:
    network = chain(layer("sequence_input", channels=3), layer("fully_connected", outputs=2))
    state = weights(network)
    export_onnx(network, state, tmp_path / "net.onnx", facts=None, samples=None)
    (given,) = onnx.load(tmp_path / "net.onnx").graph.input
    assert [d.dim_param or d.dim_value for d in given.type.tensor_type.shape.dim] == ["batch", "time", 3]
    assert run(tmp_path / "net.onnx", random(4, 29, 3))[0].shape == (4, 29, 2)


@pytest.mark.parametrize("keys", [("lstm", "bilstm"), ("gru", "gru")])
def test_a_second_recurrent_export_of_a_process_has_free_lengths_too(tmp_path: Path, keys: tuple[str, str]) -> None:
    """The second of an operator of torch: both directions of an LSTM are the operator of one."""
    for key in keys:
        network = chain(layer("sequence_input", channels=3), layer(key, hidden_units=4, output_mode="last"))
        export_onnx(network, weights(network), tmp_path / "net.onnx", facts=None, samples=None)
        (given,) = onnx.load(tmp_path / "net.onnx").graph.input
        assert [d.dim_param or d.dim_value for d in given.type.tensor_type.shape.dim] == ["batch", "time", 3]


def two_inputs() -> Network:
    network, one = add(Network.empty(), layer("feature_input", channels=2), name="one")
    network, two = add(network, layer("feature_input", channels=3), name="two")
    network, _ = add(network, layer("fully_connected", outputs=4), one, name="from_one")
    return add(network, layer("fully_connected", outputs=5), two, name="from_two")[0]


def test_several_inputs_and_outputs_have_their_layers_names(tmp_path: Path) -> None:
    network = two_inputs()
    swapped = facts(("two", features(3)), ("one", features(2)), task="numbers")
    samples = (random(4, 3), random(4, 2))
    export_onnx(network, weights(network), tmp_path / "net.onnx", facts=swapped, samples=samples)
    graph = onnx.load(tmp_path / "net.onnx").graph
    assert [given.name for given in graph.input] == ["one", "two"]
    assert [result.name for result in graph.output] == ["from_one", "from_two"]


def test_several_outputs_of_one_layer_have_its_name_and_their_ports(tmp_path: Path) -> None:
    network = chain(layer("feature_input", channels=4, normalization="none"), layer("split"))
    exported = export_onnx(network, {}, tmp_path / "n.onnx", facts=None, samples=None)
    session = open_session(exported.path)
    assert [output.name for output in session.get_outputs()] == ["split_1_out1", "split_1_out2"]
    found = run(tmp_path / "n.onnx", np.arange(8, dtype=np.float32).reshape(2, 4))
    assert [part.tolist() for part in found] == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]


def test_a_network_of_inputs_alone_can_be_exported(tmp_path: Path) -> None:
    for kind in ("none", "zscore"):
        network = chain(layer("feature_input", channels=2, normalization=kind))
        export_onnx(network, weights(network), tmp_path / "net.onnx", facts=None, samples=None)
        assert run(tmp_path / "net.onnx", random(3, 2))[0].shape == (3, 2)


def test_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    network = classifier()
    export_onnx(network, weights(network), tmp_path / "net.onnx", facts=IMAGES, samples=None)
    assert capfd.readouterr() == ("", "")


def test_a_layer_without_an_onnx_form_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Relu, "onnx_refusal", "ONNX knows no such thing.")
    network = classifier()
    with pytest.raises(UserError, match=r"'relu_1' cannot be exported to ONNX: ONNX knows no such thing\."):
        export_onnx(network, weights(network), tmp_path / "net.onnx", facts=None, samples=None)


def test_a_network_with_errors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no layers"):
        export_onnx(Network.empty(), {}, tmp_path / "net.onnx", facts=None, samples=None)


def test_other_numbers_are_refused_and_the_old_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "net.onnx").write_text("older")
    network = classifier()
    real = onnx_graph.content
    monkeypatch.setattr(onnx_export, "content", lambda *rest: permuted(real(*rest)))
    with pytest.raises(RunError, match=r"output softmax_1 .*differs by .* The file was not kept"):
        export_onnx(network, weights(network), tmp_path / "net.onnx", facts=IMAGES, samples=None)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("net.onnx", "older")]


def test_the_file_is_written_once_and_whole_after_it_was_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = classifier()
    compared: list[bytes] = []

    def comparison(module: Any, data: bytes, dims: Any, batch: int) -> Any:
        assert not (tmp_path / "net.onnx").exists()
        compared.append(data)
        return Comparison(module, data, dims, batch)

    monkeypatch.setattr(onnx_export, "Comparison", comparison)
    export_onnx(network, weights(network), tmp_path / "net.onnx", facts=IMAGES, samples=None)
    (before,) = (onnx.load_from_string(data) for data in compared)
    after = onnx.load(tmp_path / "net.onnx")
    assert (list(after.graph.node), list(after.graph.initializer)) == (
        list(before.graph.node),
        list(before.graph.initializer),
    )
    assert {"netwright", "task", "classes", "parity"} <= {prop.key for prop in after.metadata_props}
    assert [path.name for path in tmp_path.iterdir()] == ["net.onnx"]


def test_places_that_cannot_be_written_are_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    network = classifier()
    state = weights(network)
    for to, words in (
        (tmp_path, "is a folder"),
        (tmp_path / "missing" / "net.onnx", "does not exist"),
        (tmp_path / "file" / "net.onnx", "is a file"),
        (tmp_path / f"{'long' * 99}.onnx", "name too long"),
    ):
        with pytest.raises(UserError, match=f"(?i){words}"):
            export_onnx(network, state, to, facts=None, samples=None)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_samples_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    network = classifier()
    state = weights(network)
    for samples, words in (
        ((random(4, 1, 8, 8),), r"'image_1' takes an image of 1 × 6 × 6 .*; the data gives 1 × 8 × 8"),
        ((random(4, 36),), "the data gives 36"),
        ((random(4, 1, 6, 6), random(4, 2)), "2"),
    ):
        with pytest.raises(UserError, match=words):
            export_onnx(network, state, tmp_path / "net.onnx", facts=IMAGES, samples=samples)


def test_more_than_an_onnx_file_holds_lies_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_export, "LIMIT_BYTES", 100)
    network = classifier()
    state, x = weights(network), random(3, 1, 6, 6)
    for options in (OnnxOptions(external_data="no"), OnnxOptions(precision="float16"), OnnxOptions(opset=17)):
        with pytest.raises(UserError, match="or export to PyTorch"):
            export_onnx(network, state, tmp_path / "net.onnx", facts=None, samples=None, options=options)
    assert not list(tmp_path.iterdir())
    export_onnx(network, state, tmp_path / "net.onnx", facts=None, samples=None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.onnx", "net.onnx.data"]
    module = build(network, analyse(network)).eval()
    module.load_state_dict(state)
    wanted = module(torch.from_numpy(x)).detach().numpy()
    assert np.allclose(run(tmp_path / "net.onnx", x)[0], wanted, atol=1e-5)


def test_what_the_exporter_cannot_do_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        try:
            raise NotImplementedError("No ONNX function found for aten.odd\nadvice")
        except NotImplementedError as error:
            raise torch.onnx.OnnxExporterError("This is step 3/3\nadvice") from error

    monkeypatch.setattr(torch.onnx, "export", fail)
    network = classifier()
    with pytest.raises(RunError, match=r"cannot be exported to ONNX: No ONNX function found for aten\.odd$"):
        export_onnx(network, weights(network), tmp_path / "net.onnx", facts=None, samples=None)
    assert not list(tmp_path.iterdir())


def test_code_of_the_project_is_where_to_look_first() -> None:
    with_code = chain(layer("feature_input"), layer("function", expression="torch.special.bessel_j0(x1)"))
    assert onnx_graph._own_code(with_code) == (
        ". Look first at the project's own code (function_1). Export to PyTorch takes any operation."
    )
    assert onnx_graph._own_code(classifier()) == ""


def test_a_vocabulary_of_one_is_tried_out_with_its_one_index(tmp_path: Path) -> None:
    tokens = layer("sequence_input", content="indices", length=4)
    network = chain(tokens, layer("embedding", vocabulary=1, dimension=3), layer("global_average_pool"))
    done = export_onnx(network, weights(network), tmp_path / "one.onnx", facts=None, samples=None)
    assert done.largest_difference < 1e-6


def test_each_of_several_outputs_leaves_as_what_its_target_is(tmp_path: Path) -> None:
    """Logits of labels get a sigmoid, those of classes a softmax over the channels, and numbers stay."""
    network = chain(layer("image_input", channels=1, size=(4, 4)), layer("conv2d", filters=2, kernel=1))
    last = network.layers[network.order[-1]]
    network, pooled = add(network, layer("global_average_pool"), last)
    for name, count in (("kind", 3), ("size", 1)):
        network, _ = add(network, layer("fully_connected", outputs=count), pooled, name=name)
    network, _ = add(network, layer("relu"), last, name="mask")
    targets = (
        *numbers_of(name="size"),
        TargetInfo("mask", image(2, 4, 4), "classes", ("a", "b")),
        TargetInfo("kind", features(3), "labels", CLASSES),
    )
    known = DatasetInfo((InputInfo("x", image(1, 4, 4)),), {"training": 9}, targets)
    state, x = weights(network), random(5, 1, 4, 4)
    export_onnx(network, state, tmp_path / "net.onnx", facts=known, samples=(x,))
    model = onnx.load(tmp_path / "net.onnx")
    names = [result.name for result in model.graph.output]
    assert sorted(names) == ["kind_probabilities", "mask_probabilities", "size"]
    found = dict(zip(names, run(tmp_path / "net.onnx", x), strict=True))
    np.testing.assert_allclose(found["mask_probabilities"].sum(1), np.ones((5, 4, 4)), rtol=1e-5)
    plain = build(network, analyse(network))
    plain.load_state_dict(state)
    with torch.no_grad():
        given = plain(torch.from_numpy(x))
    layers = [network.layers[port.layer].name for port in network.output_ports]
    by_name = dict(zip(layers, given, strict=True))
    np.testing.assert_allclose(found["kind_probabilities"], torch.sigmoid(by_name["kind"]), rtol=1e-4)
    np.testing.assert_allclose(found["size"], by_name["size"], rtol=1e-4)
    told = json.loads({p.key: p.value for p in model.metadata_props}["targets"])
    assert [one["task"] for one in told] == ["numbers", "classes", "labels"]


def test_nodes_and_values_keep_the_names_of_their_layers(tmp_path: Path) -> None:
    network = chain(
        layer("image_input", channels=1, size=6), layer("conv2d", filters=2), layer("relu"), layer("conv2d", filters=2)
    )
    export_onnx(network, weights(network), tmp_path / "net.onnx", facts=None, samples=None)
    nodes = {node.name: node for node in onnx.load(tmp_path / "net.onnx").graph.node}
    assert {"conv_1/Conv", "relu_1/Relu", "conv_2/Conv"} <= nodes.keys()
    assert list(nodes["relu_1/Relu"].input) == ["conv_1/Conv_output"]
    assert list(nodes["conv_2/Conv"].output) == ["conv_2"]


def test_nodes_of_layers_that_are_functions_have_their_names_too(tmp_path: Path) -> None:
    network = load(ROOT / "resources" / "examples" / "digits.netwright").project.network
    export_onnx(network, weights(network), tmp_path / "net.onnx", facts=None, samples=None)
    nodes = [node.name for node in onnx.load(tmp_path / "net.onnx").graph.node]
    assert {"conv_1/Conv", "add/Add", "fc/Reshape", "softmax/Softmax"} <= set(nodes)
    assert {name.partition("/")[0] for name in nodes} <= network.by_name.keys()


def test_the_operators_of_the_exporter_are_read_once_per_process(tmp_path: Path) -> None:
    """Reading them takes longer than the export of a small network. Each export has a table of its own."""
    network = chain(layer("feature_input", channels=2, normalization="none"), layer("relu"))
    export_onnx(network, {}, tmp_path / "net.onnx", facts=None, samples=None)
    one, other = (ONNXRegistry.from_torchlib(opset_version=20) for _ in range(2))
    name = "aten::relu"
    assert one.functions[name][0] is other.functions[name][0]
    one.register_op(torch.ops.aten.relu.default, lambda x: x)
    assert len(other.functions[name]) == len(one.functions[name]) - 1


def test_an_operator_that_a_library_adds_between_two_exports_is_looked_up() -> None:
    onnx_graph.look_up_operators_once()
    before = {operator.name() for operator in _collect_all_valid_cia_ops()}
    with torch.library._scoped_library("late", "DEF") as late:
        late.define("twice(Tensor x) -> Tensor")
        late.impl("twice", lambda x: 2 * x, "CompositeImplicitAutograd")
        assert {operator.name() for operator in _collect_all_valid_cia_ops()} - before == {"late::twice"}


def test_numbers_as_small_as_those_before_a_logarithm_stay(tmp_path: Path) -> None:
    """The exporter's optimiser takes numbers below 1e-8 for 0 by itself."""
    network = chain(layer("feature_input", channels=2, normalization="none"), layer("scaling", scale=1.0, shift=1e-9))
    done = export_onnx(
        network, build(network, analyse(network)).state_dict(), tmp_path / "n.onnx", facts=None, samples=None
    )
    (found,) = open_session(done.path).run(None, {"feature_input_1": np.zeros((1, 2), np.float32)})
    assert found.tolist() == [[np.float32(1e-9)] * 2]


@pytest.mark.parametrize(
    ("work", "words"),
    [(os.abort, "ONNX Runtime crashed while it ran"), (signal.pause, "took longer than 1 s")],
)
def test_a_crash_or_a_hang_of_onnx_runtime_is_said_in_words(
    work: Callable[[], None], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = chain(layer("feature_input", channels=2, normalization="none"), layer("scaling", scale=2.0))
    monkeypatch.setattr(onnx_check, "run_session", lambda *_: work())
    monkeypatch.setattr(onnx_check, "PATIENCE_S", 1.0)
    with pytest.raises(RunError, match=f"{words}.*The file was not kept"):
        export_onnx(network, {}, tmp_path / "n.onnx", facts=None, samples=None)
    assert not list(tmp_path.iterdir())
