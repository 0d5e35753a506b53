"""The reader of ONNX files: models with wrong sizes, names, types, attributes and places of data."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from netwright.engine.exchange.importing.importer import network_of
from netwright.engine.exchange.importing.onnx_file import read
from netwright.engine.exchange.onnx_export import export_onnx
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.project.file import load
from tests.engine.exchange.importing.hostile_files import call_twice, endless_loop
from tests.fuzz import mutate
from tests.fuzz.fuzzed_readers import TEMPLATES, reader

OPS = (
    *("Reshape", "Slice", "Gather", "Expand", "Tile", "Pad", "Split", "Concat", "Squeeze", "Transpose", "Range"),
    *("Conv", "ConstantOfShape", "Loop", "If", "MaxPool", "Gemm", "Clip", "Cast", "Where", "Identity", "Einsum"),
    *("Magic", ""),
)
SIZES = (0, 1, -1, 2, 3, 7, 2**16, 2**31, 2**40, 2**62, -(2**62))
PLACES = (
    *("/etc/passwd", "../a.onnx", "a.onnx", "missing.bin", "", "\0", ".", "..", "x/../../a", "a.onnx/b", "link"),
    *("w" * 300, "w" * 70_000, "w/" * 2000),
)


def model(
    nodes: list[onnx.NodeProto], constants: dict[str, np.ndarray], sizes: list[int | str], opset: int = 17
) -> bytes:
    """Return a model with the input `x` and the output `y`."""
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    content: bytes = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()
    return content


def models(folder: Path) -> list[bytes]:
    """Return those of operators in a row, and two that torch's exporter writes."""
    (folder / "big.bin").write_bytes(bytes(4096))
    (folder / "link").symlink_to(folder / "link")
    exported = [_exported(folder / f"{name}.onnx", name) for name in ("lstm_classifier", "tcn_forecaster")]
    return [*plain_models(), *exported]


def plain_models() -> list[bytes]:
    """Return a network for images, and one with the arithmetic of sizes that exporters leave."""
    rows = np.random.default_rng(0).standard_normal
    picture = [
        helper.make_node("Pad", ["x", "p"], ["a"]),
        helper.make_node("Conv", ["a", "w", "b"], ["c"], pads=[1, 1, 1, 1], name="/stem/stem.0/Conv"),
        helper.make_node("BatchNormalization", ["c", "s", "s", "s", "s"], ["d"], name="/stem/stem.0/BN"),
        helper.make_node("Relu", ["d"], ["e"], name="/stem/Relu"),
        helper.make_node("MaxPool", ["e"], ["f"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Split", ["f", "half"], ["g", "h"], axis=1),
        helper.make_node("Concat", ["h", "g"], ["i"], axis=1),
        helper.make_node("GlobalAveragePool", ["i"], ["j"]),
        helper.make_node("Flatten", ["j"], ["k"]),
        helper.make_node("Gemm", ["k", "m", "v"], ["y"], transB=1),
    ]
    constants = {"p": np.array([0, 0, 1, 1, 0, 0, 1, 1]), "w": rows((4, 2, 3, 3)).astype(np.float32)}
    constants |= {"b": rows(4).astype(np.float32), "s": np.ones(4, np.float32), "half": np.array([2, 2])}
    constants |= {"m": rows((3, 4)).astype(np.float32), "v": rows(3).astype(np.float32)}
    sizes = [
        helper.make_node("Shape", ["x"], ["a"]),
        helper.make_node("Gather", ["a", "zero"], ["b"]),
        helper.make_node("Unsqueeze", ["b", "one"], ["c"]),
        helper.make_node("Concat", ["c", "rest"], ["d"], axis=0),
        helper.make_node("Reshape", ["x", "d"], ["e"]),
        helper.make_node("ConstantOfShape", ["rest"], ["f"]),
        helper.make_node("Slice", ["e", "zero1", "two", "one"], ["g"]),
        helper.make_node("Add", ["g", "n"], ["h"]),
        helper.make_node("Mul", ["h", "t"], ["i"]),
        helper.make_node("Softmax", ["i"], ["y"]),
    ]
    numbers = {"zero": np.array(0), "zero1": np.array([0]), "one": np.array([1]), "two": np.array([2])}
    numbers["rest"] = np.array([12])
    small = {"n": np.ones(2, np.float32), "t": np.full(2, 3.0, np.float32)}
    return [model(picture, constants, ["n", 2, 8, 8]), model(sizes, {**numbers, **small}, ["n", 3, 4])]


def _exported(path: Path, template: str) -> bytes:
    """Return a file of our own, with the operators that torch's exporter writes, without the notes on its layers."""
    network = load(TEMPLATES / f"{template}.netwright").project.network
    export_onnx(network, build(network, analyse(network)).state_dict(), path, facts=None, samples=None)
    proto = onnx.load(path)
    del proto.metadata_props[:]
    path.unlink()
    content: bytes = proto.SerializeToString()
    return content


def mutated(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return a model with some parts changed; sometimes one with bytes changed at random."""
    if generator.random() < 0.25:
        return mutate.any_bytes(generator, seeds)
    proto = onnx.ModelProto()
    proto.ParseFromString(generator.choice(seeds))
    for _ in range(generator.choice([1, 1, 2, 4])):
        _change(generator, proto)
    content: bytes = proto.SerializeToString()
    return content


def _change(generator: random.Random, proto: onnx.ModelProto) -> None:
    graph = proto.graph
    names = [name for node in graph.node for name in node.output] + ["x", *(one.name for one in graph.initializer), "?"]
    node = generator.choice(graph.node) if graph.node else graph.node.add()
    tensor = generator.choice(graph.initializer) if graph.initializer else graph.initializer.add()
    match generator.randrange(20):
        case 0:
            node.op_type = generator.choice(OPS)
        case 1 if node.input:
            node.input[generator.randrange(len(node.input))] = generator.choice([*names, ""])
        case 2 if node.output:
            node.output[generator.randrange(len(node.output))] = generator.choice([*names, ""])
        case 3:
            graph.node.remove(node)
        case 4:
            graph.node.add().CopyFrom(node)
        case 5:
            del tensor.dims[:]
            tensor.dims.extend(generator.choice(SIZES) for _ in range(generator.randrange(5)))
        case 6:
            tensor.raw_data = bytes(generator.randrange(256) for _ in range(generator.choice([0, 7, 8, 64])))
        case 7:
            tensor.data_type = generator.randrange(30)
        case 8:
            _move_outside(generator, tensor)
        case 9:
            _add_attribute(generator, node)
        case 10:
            dims = graph.input[0].type.tensor_type.shape.dim
            generator.choice(dims).dim_value = generator.choice(SIZES) if dims else 0
        case 11:
            proto.opset_import[0].version = generator.choice([0, 1, 7, 11, 13, 30, 2**40, -1])
        case 12:
            _put_in_branches(generator, node)
        case 13:
            tensor.CopyFrom(numpy_helper.from_array(np.array([generator.choice(SIZES) for _ in range(3)]), tensor.name))
        case 14:
            graph.input[0].type.tensor_type.elem_type = generator.randrange(25)
        case 15:
            generator.choice(graph.output).name = generator.choice(names)
        case 16:
            _call(generator, proto, node)
        case 17:
            loop = endless_loop(generator.random() < 0.5).graph
            graph.node.extend(loop.node)
            graph.initializer.extend(loop.initializer)
        case 18:
            node = _with_attribute(generator, proto)
            del node.attribute[: generator.choice([1, 9])]
        case 19:
            for one in _with_attribute(generator, proto).attribute:
                one.type = generator.randrange(15)


def _move_outside(generator: random.Random, tensor: onnx.TensorProto) -> None:
    """Say that the numbers of a tensor are in another file."""
    tensor.data_location = TensorProto.EXTERNAL
    place = generator.choice([*PLACES, "big.bin"])
    for key, value in (("location", place), ("offset", str(generator.choice(SIZES))), ("length", "x")):
        tensor.external_data.add(key=key, value=value)


def _add_attribute(generator: random.Random, node: onnx.NodeProto) -> None:
    """Add an attribute that operators know, with a value of any kind."""
    attribute = generator.choice(
        ["axis", "pads", "kernel_shape", "strides", "group", "perm", "dilations", "to", "split"]
    )
    value: Any = generator.choice([generator.choice(SIZES), [generator.choice(SIZES) for _ in range(4)], "text", 0.5])
    node.attribute.append(helper.make_attribute(attribute, value))


def _put_in_branches(generator: random.Random, node: onnx.NodeProto) -> None:
    """Put a node into both branches of a condition, and that into those of others, at most 6 deep."""
    inner = node
    for depth in range(generator.choice([1, 5, 40])):
        body = helper.make_graph([inner], "body", [], [])
        inner = helper.make_node("If", ["x"], ["y"], then_branch=body, else_branch=body) if depth < 6 else inner
    node.CopyFrom(inner)


def _with_attribute(generator: random.Random, proto: onnx.ModelProto) -> onnx.NodeProto:
    return generator.choice([node for node in proto.graph.node if node.attribute] or [proto.graph.node.add()])


def _call(generator: random.Random, proto: onnx.ModelProto, node: onnx.NodeProto) -> None:
    """Put a call of a function in the place of a node; the functions call each other, or something else."""
    made = call_twice(generator.choice([2, 3, 60]), in_branches=generator.random() < 0.5)
    called = generator.choice(made.functions)
    called.node[generator.randrange(len(called.node))].op_type = generator.choice([*OPS, "f0", "f1"])
    proto.functions.extend(made.functions)
    proto.opset_import.add(domain="own", version=1)
    node.op_type, node.domain = generator.choice(made.functions).name, "own"
    del node.attribute[:]


@reader("onnx", "a.onnx", mutated, models)
def read_onnx(folder: Path, generator: random.Random) -> None:
    network_of(read(folder / "a.onnx"), {}).compared()
