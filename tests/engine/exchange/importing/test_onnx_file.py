"""Files that are damaged or hostile are refused in words, before memory is taken; external data stays in its folder."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netwright.engine.core.errors import UserError
from netwright.engine.exchange.importing.importer import network_of
from netwright.engine.exchange.importing.onnx_file import read
from netwright.engine.exchange.importing.onnx_tensors import external_file
from tests.fuzz.onnx_readers import model, plain_models

Change = Callable[[onnx.ModelProto], object]


def changed(folder: Path, change: Change) -> Path:
    proto = onnx.load_from_string(plain_models()[0])
    change(proto)
    path = folder / "a.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def _negative(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[1].dims[0] = -4


def _huge(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[1].dims[0] = 2**40


def _renamed(name: str) -> Change:
    def change(proto: onnx.ModelProto) -> None:
        proto.graph.node[2].output[0] = name

    return change


def _cyclic(proto: onnx.ModelProto) -> None:
    proto.graph.node[1].input[0] = "k"


def _deep(proto: onnx.ModelProto) -> None:
    body = helper.make_graph([], "body", [], [])
    for _ in range(12):
        body = helper.make_graph([helper.make_node("If", ["x"], ["t"], then_branch=body)], "body", [], [])
    proto.graph.node[3].attribute.append(helper.make_attribute("body", body))


def _own_function(proto: onnx.ModelProto) -> None:
    call = helper.make_node("F", ["x"], ["y"], domain="own")
    proto.functions.append(helper.make_function("own", "F", ["x"], ["y"], [call], proto.opset_import))
    proto.graph.node[3].op_type, proto.graph.node[3].domain = "F", "own"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_negative, "one is negative"),
        (_huge, "has 144 bytes|numbers"),
        (_renamed("a"), "is computed twice"),
        (_renamed("lost"), "which nothing computes"),
        (_cyclic, "form a cycle"),
        (_deep, "nested more than"),
        (_own_function, "call themselves"),
        (lambda proto: proto.opset_import[0].__setattr__("version", 3), "version 3 of ONNX's operators"),
        (lambda proto: proto.graph.initializer[1].__setattr__("name", "p"), "two tensors are named"),
        (lambda proto: proto.graph.initializer[1].__setattr__("raw_data", b"123"), "has 3 bytes, and needs"),
    ],
)
def test_hostile_models_are_refused(tmp_path: Path, change: Change, said: str) -> None:
    with pytest.raises(UserError, match=said):
        network_of(read(changed(tmp_path, change)), {})


@pytest.mark.parametrize("content", [b"", b"no protobuf at all", b"\x08"])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(content)
    with pytest.raises(UserError, match="cannot be read as ONNX"):
        read(path)
    with pytest.raises(UserError, match="cannot be read"):
        read(tmp_path)


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(plain_models()[0][:-40])
    with pytest.raises(UserError):
        network_of(read(path), {})


def test_a_billion_numbers_of_one_value_are_not_made(tmp_path: Path) -> None:
    nodes = [helper.make_node("ConstantOfShape", ["s"], ["c"]), helper.make_node("Add", ["x", "c"], ["y"])]
    path = tmp_path / "a.onnx"
    path.write_bytes(model(nodes, {"s": np.array([1_000_000, 1_000_000])}, ["n", 4]))
    with pytest.raises(UserError, match="would make 1,000,000,000,000 numbers"):
        network_of(read(path), {})


def test_external_data_is_mapped_from_the_folder(tmp_path: Path) -> None:
    weights = np.arange(12, dtype=np.float32).reshape(3, 4)
    (tmp_path / "w.bin").write_bytes(bytes(16) + weights.tobytes())
    proto = onnx.load_from_string(
        model([helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)], {"w": weights}, ["n", 4])
    )
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "w.bin"), ("offset", "16"), ("length", "48")):
        tensor.external_data.add(key=key, value=value)
    path = tmp_path / "a.onnx"
    path.write_bytes(proto.SerializeToString())
    found = read(path).constants["w"].array()
    assert isinstance(found, np.memmap)
    assert (found == weights).all()
    made = network_of(read(path), {})
    assert made.compared().agrees
    (tmp_path / "w.bin").write_bytes(bytes(30))
    with pytest.raises(UserError, match="too short"):
        read(path)


@pytest.mark.parametrize("location", ["", "/etc/passwd", "../w.bin", "a/../../w.bin", "link.bin", "missing.bin", "."])
def test_external_data_outside_of_the_folder_is_refused(tmp_path: Path, location: str) -> None:
    (tmp_path / "w.bin").write_bytes(b"secret")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.bin").symlink_to(tmp_path / "w.bin")
    with pytest.raises(UserError, match=r"outside its folder|out of its folder|not beside it"):
        external_file(folder / "a.onnx", location)


def test_functions_are_inlined(tmp_path: Path) -> None:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    body = [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Relu", ["t"], ["y"])]
    graph = helper.make_graph(
        [helper.make_node("Dense", ["x", "w"], ["y"], domain="own")],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.ones((4, 2), np.float32), "w")],
    )
    function = helper.make_function("own", "Dense", ["x", "w"], ["y"], body, opsets[:1])
    path = tmp_path / "a.onnx"
    onnx.save(helper.make_model(graph, functions=[function], opset_imports=opsets, ir_version=8), path)
    keys = [layer.type.key for layer in network_of(read(path), {}).network.layers.values()]
    assert keys == ["feature_input", "fully_connected", "relu"]
