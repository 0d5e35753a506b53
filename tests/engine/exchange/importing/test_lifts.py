"""Reductions, functions, resizing and recurrent operators become layers that compute the same as ONNX Runtime."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.project.file import load

RANDOM = np.random.default_rng(11)


def numbers(*shape: int) -> np.ndarray:
    return (0.4 * RANDOM.standard_normal(shape)).astype(np.float32)


def node(op: str, *constants: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, ["x", *constants], ["y"], **attributes)


def lifted(
    folder: Path,
    nodes: list[onnx.NodeProto],
    sizes: list[int | str],
    constants: dict[str, np.ndarray] | None = None,
    opset: int = 18,
    outputs: tuple[str, ...] = ("y",),
    opsets: list[onnx.OperatorSetIdProto] | None = None,
    kind: int = TensorProto.FLOAT,
) -> list[str]:
    """The keys of the layers of a network that computes the same, without an operator that is kept as it is."""
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", kind, sizes)],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    path = folder / "a.onnx"
    versions = opsets or [helper.make_opsetid("", opset)]
    onnx.save(helper.make_model(graph, opset_imports=versions, ir_version=8), path)
    report = import_file(path, folder / "a.netwright", replaces=True)
    assert report.parity.agrees, report.parity
    keys = [layer.type.key for layer in load(report.project).project.network.layers.values()]
    assert "onnx_operator" not in keys
    return keys[1:]


@pytest.mark.parametrize("op", ["Tan", "Atan", "Sinh", "Erf"])
def test_functions(tmp_path: Path, op: str) -> None:
    assert lifted(tmp_path, [node(op)], ["N", 5]) == ["math_function"]


@pytest.mark.parametrize("op", ["Mean", "Sum", "Max", "Min", "L2", "LogSumExp", "L1", "SumSquare"])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_reductions_over_any_dimension(tmp_path: Path, op: str, keepdims: int) -> None:
    for axes in ([1], [2, 3], [1, 2, 3], [-1]):
        constants = {"axes": np.array(axes)}
        nodes = [node(f"Reduce{op}", "axes", keepdims=keepdims)]
        assert lifted(tmp_path, nodes, ["N", 3, 4, 5], constants), axes
    keys = lifted(tmp_path, [node(f"Reduce{op}", "axes", keepdims=0)], ["N", 3, 4, 5], {"axes": np.array([2, 3])})
    assert keys[-1:] == (["global_average_pool"] if op == "Mean" else ["reduction"])


def test_axes_are_an_attribute_in_older_files(tmp_path: Path) -> None:
    assert lifted(tmp_path, [node("ReduceMax", axes=[1], keepdims=0)], ["N", 6, 4], None, 11)


def test_a_reduction_without_the_axis_is_the_input_of_what_follows(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("ReduceMean", ["x", "axes"], ["m"], keepdims=1),
        helper.make_node("Sub", ["x", "m"], ["d"]),
        helper.make_node("ReduceMax", ["d", "last"], ["r"], keepdims=0),
        helper.make_node("MatMul", ["r", "w"], ["y"]),
    ]
    constants = {"axes": np.array([-1]), "last": np.array([1]), "w": numbers(4, 3)}
    assert lifted(tmp_path, nodes, ["N", 6, 4], constants)[-1] == "fully_connected"


def test_places_of_the_largest_norms_and_sums_so_far(tmp_path: Path) -> None:
    assert lifted(tmp_path, [node("ArgMax", axis=2, keepdims=0)], ["N", 6, 4]) == ["arg_max"]
    assert lifted(tmp_path, [node("ArgMin", axis=1)], ["N", 3, 8, 8]) == ["scaling", "arg_max"]
    assert lifted(tmp_path, [node("CumSum", "axis")], ["N", 6, 4], {"axis": np.array(1)}) == ["cumulative_sum"]
    assert lifted(tmp_path, [node("LpNormalization", axis=1)], ["N", 6]) == ["reduction", "division"]
    assert lifted(tmp_path, [node("GlobalLpPool", p=2)], ["N", 3, 8, 8])[0] == "reduction"


@pytest.mark.parametrize(
    ("attributes", "scales"),
    [
        ({"mode": "nearest"}, [1, 1, 2, 3]),
        ({"mode": "linear"}, [1, 1, 2, 0.5]),
        ({"mode": "linear", "coordinate_transformation_mode": "align_corners"}, [1, 1, 2, 2]),
        ({"mode": "cubic", "coordinate_transformation_mode": "pytorch_half_pixel"}, [1, 1, 2, 2]),
        ({"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, [1, 1, 2, 2]),
    ],
)
def test_resizing(tmp_path: Path, attributes: dict[str, str], scales: list[float]) -> None:
    by_scale = helper.make_node("Resize", ["x", "", "scales"], ["y"], **attributes)
    constants = {"scales": np.array(scales, np.float32)}
    assert lifted(tmp_path, [by_scale], ["N", 3, 4, 6], constants) == ["resize2d"]
    by_size = helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], **attributes)
    sizes = np.array([1, 3, *(round(size * scale) for size, scale in zip((4, 6), scales[2:], strict=True))])
    assert lifted(tmp_path, [by_size], [1, 3, 4, 6], {"sizes": sizes}) == ["resize2d"]


def test_upsampling_of_older_files(tmp_path: Path) -> None:
    constants = {"s": np.array([1, 1, 2, 2], np.float32)}
    assert lifted(tmp_path, [node("Upsample", "s", mode="nearest")], ["N", 3, 4, 6], constants, 9) == ["resize2d"]


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("variant", [0, 1])
def test_recurrent_layers(tmp_path: Path, op: str, direction: str, variant: int) -> None:
    both, rows = 1 + (direction == "bidirectional"), GATES[op] * 5
    constants = {"w": numbers(both, rows, 3), "r": numbers(both, rows, 5), "b": numbers(both, 2 * rows)}
    constants |= {"shape": np.array([0, 0, -1])}
    more: dict[str, dict[str, Any]] = {
        "GRU": {"linear_before_reset": variant},
        "RNN": {"activations": [("Tanh", "Relu")[variant]] * both},
    }
    given = ["t", "w", "r", *(["b"] if op != "LSTM" or variant else [])]
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
        helper.make_node(op, given, ["o"], hidden_size=5, direction=direction, **more.get(op, {})),
        helper.make_node("Transpose", ["o"], ["p"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["p", "shape"], ["q"]),
        helper.make_node("Transpose", ["q"], ["y"], perm=[1, 0, 2]),
    ]
    keys = lifted(tmp_path, nodes, ["N", "T", 3], constants)
    expected = op.lower() if both == 1 else f"bi{op.lower()}"
    assert keys == (["flip", expected, "flip"] if direction == "reverse" else [expected])


def test_the_state_at_the_end_of_a_recurrent_layer(tmp_path: Path) -> None:
    constants = {"w": numbers(1, 20, 3), "r": numbers(1, 20, 5), "zero": np.array([0])}
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
        helper.make_node("LSTM", ["t", "w", "r"], ["", "h", ""], hidden_size=5),
        helper.make_node("Squeeze", ["h", "zero"], ["y"]),
    ]
    assert lifted(tmp_path, nodes, ["N", 7, 3], constants) == ["lstm"]
    nodes[1:] = [helper.make_node("LSTM", ["t", "w", "r"], ["o", "h", "c"], hidden_size=5)]
    assert "lstm" in lifted(tmp_path, nodes, ["N", 7, 3], constants, outputs=("o", "h", "c"))


@pytest.mark.parametrize(
    ("op", "constants", "attributes", "sizes", "expected"),
    [
        ("MeanVarianceNormalization", {}, {"axes": [2, 3]}, ["N", 3, 4, 5], ["instance_norm"]),
        ("Tile", {"r": np.array([1, 1, 2])}, {}, ["N", 3, 4], ["repeat"]),
        ("Cast", {}, {"to": TensorProto.DOUBLE}, ["N", 4], ["identity"]),
        ("Trilu", {}, {"upper": 0}, ["N", 4, 4], ["learned_parameter", "multiplication"]),
        ("LpPool", {}, {"kernel_shape": [2, 2], "p": 3}, ["N", 3, 6, 6], ["lp_pool2d"]),
        ("Compress", {"c": np.array([False, True, True])}, {"axis": 1}, ["N", 3, 4], ["slice"]),
        ("CenterCropPad", {"s": np.array([3, 7])}, {"axes": [2, 3]}, ["N", 2, 6, 4], ["slice", "pad2d"]),
        ("Mod", {"d": np.array([0.3], np.float32)}, {"fmod": 1}, ["N", 5], None),
        ("Einsum", {"w": numbers(6, 4)}, {"equation": "bti,io->bto"}, ["N", 3, 6], ["fully_connected"]),
        ("Einsum", {}, {"equation": "bti->bit"}, ["N", 3, 6], ["einsum"]),
    ],
)
def test_further_operators(
    tmp_path: Path,
    op: str,
    constants: dict[str, np.ndarray],
    attributes: dict[str, Any],
    sizes: list[int | str],
    expected: list[str] | None,
) -> None:
    keys = lifted(tmp_path, [node(op, *constants, **attributes)], sizes, constants)
    assert expected is None or keys == expected


def test_quantised_numbers(tmp_path: Path) -> None:
    """A pair is one layer; alone, the whole numbers are kept as real ones. Weights are computed at the import."""
    constants: dict[str, np.ndarray] = {
        "s": np.array(0.05, np.float32),
        "z": np.array(3, np.int8),
        "q": np.arange(-8, 8, dtype=np.int8),
    }
    constants |= {"q": constants["q"].reshape(4, 4)}
    constants |= {"t": np.array([0.1, 0.2, 0.3, 0.4], np.float32), "u": np.array([0, 1, 2, 3], np.int8)}
    pair = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["a"]),
        helper.make_node("DequantizeLinear", ["a", "s", "z"], ["b"]),
        helper.make_node("DequantizeLinear", ["q", "t", "u"], ["w"], axis=1),
        helper.make_node("MatMul", ["b", "w"], ["y"]),
    ]
    assert lifted(tmp_path, pair, ["N", 4], constants) == ["fake_quantization", "fully_connected"]
    alone = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["a"]),
        helper.make_node("Identity", ["a"], ["c"]),
        helper.make_node("DequantizeLinear", ["c", "s", "z"], ["y"]),
    ]
    keys = lifted(tmp_path, alone, ["N", 4], constants)
    assert keys == ["fake_quantization", "scaling", "math_function", "scaling"]


MICROSOFT = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]


@pytest.mark.parametrize(
    ("op", "constants", "attributes", "expected"),
    [
        ("BiasGelu", {"b": numbers(6)}, {}, ["learned_scale", "gelu"]),
        ("FastGelu", {}, {}, ["gelu"]),
        ("Gelu", {}, {}, ["gelu"]),
        ("QuickGelu", {}, {"alpha": 1.5}, ["scaling", "sigmoid", "multiplication"]),
        ("FusedMatMul", None, {"transB": 1, "alpha": 0.5}, ["matrix_product", "scaling"]),
        ("SkipLayerNormalization", {"g": numbers(6), "b": numbers(6)}, {"epsilon": 1e-5}, ["addition", "layer_norm"]),
        ("SkipSimplifiedLayerNormalization", {"g": numbers(6)}, {"epsilon": 1e-5}, ["addition", "rms_norm"]),
    ],
)
def test_operators_of_the_runtime(
    tmp_path: Path, op: str, constants: dict[str, np.ndarray] | None, attributes: dict[str, Any], expected: list[str]
) -> None:
    several = ["x"] if "Skip" in op or constants is None else []
    made = node(op, *several, *(constants or {}), **attributes)
    made.domain = "com.microsoft"
    assert lifted(tmp_path, [made], ["N", 5, 6], constants or {}, opsets=MICROSOFT) == expected


def test_one_hot_vectors_of_indices(tmp_path: Path) -> None:
    constants = {"d": np.array(7), "v": np.array([-1.0, 2.0], np.float32)}
    for axis in (-1, 1):
        found = lifted(tmp_path, [node("OneHot", "d", "v", axis=axis)], ["N", 5], constants, kind=TensorProto.INT64)
        assert found == ["one_hot", "scaling"]


@pytest.mark.parametrize("batch", ["N", 2])
def test_two_directions_joined_by_their_shape(tmp_path: Path, batch: int | str) -> None:
    """As torch.export writes it: sizes are read from the output, or are known with a fixed batch."""
    constants = {"w": numbers(2, 20, 3), "r": numbers(2, 20, 5), "known": np.array([7, 2, 10])}
    constants |= {"zero": np.array([0]), "two": np.array([2]), "four": np.array([4]), "left": np.array([-1])}
    shape = [
        helper.make_node("Shape", ["p"], ["s"]),
        helper.make_node("Slice", ["s", "zero", "two"], ["outer"]),
        helper.make_node("Slice", ["s", "two", "four"], ["inner"]),
        helper.make_node("ReduceProd", ["inner"], ["joined"], keepdims=1),
        helper.make_node("Concat", ["outer", "joined"], ["known_later"], axis=0),
    ]
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
        helper.make_node("LSTM", ["t", "w", "r"], ["o"], hidden_size=5, direction="bidirectional"),
        helper.make_node("Transpose", ["o"], ["p"], perm=[0, 2, 1, 3]),
        *(shape if batch == "N" else []),
        helper.make_node("Reshape", ["p", "known_later" if batch == "N" else "known"], ["q"]),
        helper.make_node("Transpose", ["q"], ["y"], perm=[1, 0, 2]),
    ]
    assert lifted(tmp_path, nodes, [batch, 7, 3], constants) == ["bilstm"]


NEWEST = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
FULL = np.triu(np.full((5, 5), -1e9, np.float32), 1)


@pytest.mark.parametrize(
    ("op", "attributes", "constants", "mask"),
    [
        ("Attention", {"q_num_heads": 2, "kv_num_heads": 2}, {}, "none"),
        ("Attention", {"q_num_heads": 2, "kv_num_heads": 2}, {"m": FULL == 0}, "causal"),
        ("Attention", {"q_num_heads": 2, "kv_num_heads": 2, "is_causal": 1}, {}, "causal"),
        ("MultiHeadAttention", {"num_heads": 2, "domain": "com.microsoft"}, {"b": numbers(24)}, "none"),
    ],
)
def test_attention_as_one_operator(
    tmp_path: Path, op: str, attributes: dict[str, Any], constants: dict[str, np.ndarray], mask: str
) -> None:
    """With the products around it it is one layer."""
    weights = {name: numbers(8, 8) for name in ("wq", "wk", "wv", "wo")}
    nodes = [
        *(helper.make_node("MatMul", ["x", f"w{at}"], [at]) for at in "qkv"),
        helper.make_node(op, ["q", "k", "v", *constants], ["a"], **attributes),
        helper.make_node("MatMul", ["a", "wo"], ["y"]),
    ]
    assert lifted(tmp_path, nodes, ["N", 5, 8], {**weights, **constants}, opsets=NEWEST) == ["self_attention"]
    (layer,) = list(load(tmp_path / "a.netwright").project.network.layers.values())[1:]
    assert (layer.type.heads, layer.type.mask) == (2, mask)  # type: ignore[attr-defined]


def test_attention_with_an_axis_of_heads(tmp_path: Path) -> None:
    constants = {name: numbers(8, 8) for name in ("wq", "wk", "wv", "wo")}
    constants |= {"apart": np.array([0, 0, 2, 4]), "together": np.array([0, 0, 8])}
    nodes = []
    for at in "qkv":
        nodes += [
            helper.make_node("MatMul", ["x", f"w{at}"], [at]),
            helper.make_node("Reshape", [at, "apart"], [f"{at}r"]),
            helper.make_node("Transpose", [f"{at}r"], [f"{at}t"], perm=[0, 2, 1, 3]),
        ]
    nodes += [
        helper.make_node("Attention", ["qt", "kt", "vt"], ["a"], is_causal=1),
        helper.make_node("Transpose", ["a"], ["at"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["at", "together"], ["ar"]),
        helper.make_node("MatMul", ["ar", "wo"], ["y"]),
    ]
    assert lifted(tmp_path, nodes, ["N", "T", 8], constants, opsets=NEWEST[:1]) == ["self_attention"]


@pytest.mark.parametrize(
    ("op", "attributes", "sizes", "constants", "expected"),
    [
        ("Attention", {"num_heads": 2}, ["N", 5, 8], (numbers(8, 24), numbers(24)), ["attention"]),
        ("FusedConv", {"activation": "Clip", "activation_params": [0.0, 6.0]}, ["N", 2, 6, 6], (numbers(3, 2, 3, 3),),
         ["conv2d", "clipped_relu"]),
        ("FusedGemm", {"activation": "LeakyRelu", "activation_alpha": 0.2}, ["N", 6], (numbers(6, 3), numbers(3)),
         ["fully_connected", "leaky_relu"]),
    ],
)  # fmt: skip
def test_layers_of_the_runtime_are_several(
    tmp_path: Path,
    op: str,
    attributes: dict[str, Any],
    sizes: list[int | str],
    constants: tuple[np.ndarray, ...],
    expected: list[str],
) -> None:
    held = dict(zip("wb", constants, strict=False))
    made = node(op, *held, domain="com.microsoft", **attributes)
    keys = lifted(tmp_path, [made], sizes, held, opsets=MICROSOFT)
    assert [key for key in keys if key != "fully_connected" or op == "FusedGemm"] == expected


def test_peepholes_and_lengths_of_all_steps(tmp_path: Path) -> None:
    constants = {"w": numbers(1, 20, 3), "r": numbers(1, 20, 5), "b": numbers(1, 40), "one": np.array([1])}
    constants |= {"lengths": np.array([7, 7], np.int32), "p": numbers(1, 15)}
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
        helper.make_node("LSTM", ["t", "w", "r", "b", "lengths", "", "", "p"], ["o"], hidden_size=5),
        helper.make_node("Squeeze", ["o", "one"], ["q"]),
        helper.make_node("Transpose", ["q"], ["y"], perm=[1, 0, 2]),
    ]
    assert lifted(tmp_path, nodes, [2, 7, 3], constants) == ["peephole_lstm"]
    nodes[1] = helper.make_node("LSTM", ["t", "w", "r", "b", "lengths"], ["o"], hidden_size=5)
    assert lifted(tmp_path, nodes, [2, 7, 3], constants) == ["lstm"]
