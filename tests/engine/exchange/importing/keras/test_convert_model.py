"""Keras models become networks that compute the same numbers."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from netwright.engine.core.errors import UserError
from netwright.engine.exchange.importing.assemble import Assembled, layout_of
from netwright.engine.exchange.importing.import_report import ReadNetwork
from netwright.engine.exchange.importing.importer import filled, state_of
from netwright.engine.exchange.importing.keras.convert_model import read
from netwright.engine.lowering.module import prefixes
from netwright.engine.network.analysis import analyse
from netwright.engine.network.block import Block
from tests.engine.exchange.importing.keras.keras_files import functional, layer, sequential, write


def read_network(path: Path, **sizes: int) -> ReadNetwork:
    return read(path, sizes)


GOLDEN = Path(__file__).parents[4] / "golden" / "keras"
RANDOM = np.random.default_rng(5)


def run(imported: ReadNetwork, x: np.ndarray) -> list[np.ndarray]:
    """Return the outputs of the built network in the order of Keras."""
    analysis = analyse(imported.network)
    assert not analysis.problems
    assembled = Assembled(imported.network, layout_of(imported.network), {}, dict(imported.weights))
    module = filled(imported.network, analysis, state_of(assembled, prefixes(imported.network, analysis)))
    with torch.no_grad():
        found = module(torch.from_numpy(x))
    by_port = dict(zip(imported.network.output_ports, found if isinstance(found, tuple) else (found,), strict=True))
    return [by_port[port].numpy() for port in imported.outputs]


def turned(array: np.ndarray, name: str) -> np.ndarray:
    """Return images with their channels first."""
    return np.ascontiguousarray(np.moveaxis(array, -1, 1)) if array.ndim > 3 and name != "first" else array


@pytest.mark.parametrize("name", ["photos", "words", "series", "shapes", "first"])
def test_numbers_are_those_of_keras(name: str) -> None:
    numbers = np.load(GOLDEN / "numbers.npz")
    imported = read_network(GOLDEN / f"{name}.keras")
    found = run(imported, turned(numbers[f"{name}.in"], name))
    wanted = [turned(numbers[f"{name}.out{n}"], name) for n in range(len(found))]
    assert f"{name}.out{len(found)}" not in numbers
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.shape == theirs.shape
        assert np.abs(mine - theirs).max() < 2e-5 * max(1.0, float(np.abs(theirs).max()))


def test_a_model_in_a_model_is_a_block_that_keeps_its_weights_when_it_is_called_again() -> None:
    imported = read_network(GOLDEN / "photos.keras")
    blocks = [one for one in imported.network.layers.values() if isinstance(one.type, Block)]
    assert [block.name for block in blocks] == ["my_stage", "my_stage_2"]
    assert [(row.operator, row.count) for row in imported.rows][:2] == [("Add", 2), ("AveragePooling2D", 1)]
    assert (blocks[1].weights_of, imported.shared) == (blocks[0].id, ())
    assert imported.network.by_name["pictures"].type.changed()["normalization"] == "none"


def test_a_flatten_before_a_dense_layer_leaves_no_permutation() -> None:
    keys = [one.type.key for one in read_network(GOLDEN / "photos.keras").network.layers.values()]
    assert "flatten" in keys
    assert "permute" not in keys


def keras2_layer(kind: str, name: str, source: str, **config: Any) -> dict[str, Any]:
    nodes = [[[source, 0, 0, {}]]] if source else []
    return {"class_name": kind, "config": {"name": name, **config}, "inbound_nodes": nodes, "name": name}


def test_the_format_of_keras_2(tmp_path: Path) -> None:
    kernel, bias = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=3)
    second = RANDOM.normal(size=(3, 2))
    layers = [
        keras2_layer("InputLayer", "x", "", batch_input_shape=[None, 4]),
        keras2_layer("Dense", "one", "x", units=3, activation="hard_sigmoid"),
        keras2_layer("LeakyReLU", "leaky", "one", alpha=0.2),
        keras2_layer("Dense", "two", "leaky", units=2, use_bias=False, trainable=False),
    ]
    config = {"name": "old", "layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [["two", 0, 0]]}
    model = {"class_name": "Functional", "config": config}
    weights = {"dense": [kernel, bias], "dense_1": [second]}
    path = write(tmp_path / "old.keras", model, weights, "2.12.0", "_layer_checkpoint_dependencies")
    imported = read_network(path)
    x = RANDOM.normal(size=(5, 4)).astype(np.float32)
    hidden = np.clip((x @ kernel + bias) * 0.2 + 0.5, 0, 1)
    np.testing.assert_allclose(run(imported, x)[0], hidden @ second, rtol=1e-4, atol=1e-5)
    assert imported.network.by_name["two"].type.changed()["frozen"]
    assert "frozen" not in imported.network.by_name["one"].type.changed()


def test_a_sequential_model_without_an_input_layer(tmp_path: Path) -> None:
    table = RANDOM.normal(size=(7, 3))
    config = sequential(
        [layer("Embedding", "table", input_dim=7, output_dim=3)], build_config={"input_shape": [None, 5]}
    )
    imported = read_network(write(tmp_path / "a.keras", config, {"embedding": [table]}))
    x = RANDOM.integers(0, 7, (2, 5))
    np.testing.assert_allclose(run(imported, x)[0], table[x], rtol=1e-6)


@pytest.mark.parametrize("normalize", [False, True])
def test_operations_and_products_of_two_vectors(normalize: bool, tmp_path: Path) -> None:
    positive = {**layer("Relu", "r", ["x"]), "module": "keras.src.ops.nn"}
    end = layer("Dot", "y", ["x", "r"], axes=1, normalize=normalize)
    config = functional([layer("InputLayer", "x", batch_shape=[None, 4]), positive, end], ["y"])
    x = np.array([[1.0, -2.0, 3.0, 0.5], [-0.5, 2.0, 0.1, -4.0]], np.float32)
    scale = np.linalg.norm(x, axis=1) * np.linalg.norm(np.maximum(x, 0), axis=1) if normalize else 1.0
    expected = (x * np.maximum(x, 0)).sum(1) / scale
    (found,) = run(read_network(write(tmp_path / "a.keras", config)), x)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-5)


def test_all_layers_without_counterpart_are_listed_and_no_code_runs(tmp_path: Path) -> None:
    lambda_ = layer("Lambda", "code", ["x"], function={"class_name": "__lambda__", "config": {"code": "4wEAAAA="}})
    own = {**layer("Mine", "own", ["code"]), "module": "mine", "registered_name": "mine>Mine"}
    config = functional(
        [layer("InputLayer", "x", batch_shape=[None, 4]), lambda_, own, layer("Hashing", "h", ["own"]),
         layer("UnitNormalization", "u", ["h"])],
        ["u"],
    )  # fmt: skip
    with pytest.raises(UserError) as refused:
        read_network(write(tmp_path / "a.keras", config))
    text = str(refused.value)
    assert text.startswith("3 layers of the Keras model cannot be imported")
    for words in ("'code' (Lambda): it holds code", "'own' (Mine): a class of the file's author", "'u' (UnitNorm"):
        assert words in text


@pytest.mark.parametrize(
    ("kind", "config", "words"),
    [
        ("Softmax", {"axis": 1}, "not along the channels"),
        ("UpSampling2D", {"size": [2, 2], "interpolation": "bicubic"}, "interpolation 'bicubic'"),
        ("ReLU", {"threshold": 1.0}, "threshold"),
        ("BatchNormalization", {"axis": 1}, "normalises along axis 1"),
        ("Activation", {"activation": "squareplus"}, "activation 'squareplus'"),
        ("Conv2D", {"filters": 2}, "weights in the file"),
        ("Reshape", {"target_shape": [5, -1]}, "need 30 numbers"),
        ("MaxPooling2D", {"pool_size": "big"}, "pool_size cannot be read"),
        ("TimeDistributed", {"layer": {"class_name": "Conv2D"}}, "only a dense layer"),
        ("Conv2D", {"groups": float("inf")}, "expected a whole number for its setting groups, received inf"),
        ("Conv2D", {"groups": 10**400}, "expected a number for its setting groups, received one beyond any limit"),
        ("Conv2D", {"data_format": [7] * 9000}, "its axes are [7, 7, 7"),
    ],
)
def test_a_setting_without_counterpart_is_said(kind: str, config: dict[str, Any], words: str, tmp_path: Path) -> None:
    model = functional(
        [layer("InputLayer", "x", batch_shape=[None, 4, 4, 2]), layer(kind, "y", ["x"], **config)], ["y"]
    )
    with pytest.raises(UserError, match=re.escape(words)):
        read_network(write(tmp_path / "a.keras", model))


def test_open_sizes_of_an_image_are_asked_for(tmp_path: Path) -> None:
    pool = layer("GlobalAveragePooling2D", "y", ["x"])
    model = functional([layer("InputLayer", "x", batch_shape=[None, None, None, 3]), pool], ["y"])
    path = write(tmp_path / "a.keras", model)
    with pytest.raises(UserError, match="--size height=224 --size width=224"):
        read_network(path, height=6)
    with pytest.raises(UserError, match="has no size 'big'"):
        read_network(path, big=6)
    assert read_network(path, height=6, width=5).network.by_name["x"].type.changed()["size"] == (6, 5)
