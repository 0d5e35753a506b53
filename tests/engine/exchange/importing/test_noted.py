"""Layers that a file of our own notes in its metadata come back as they were, and changed files as they are now."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from netwright.engine.core.errors import RunError
from netwright.engine.exchange.importing.graph import Graph
from netwright.engine.exchange.importing.importer import import_file, network_of
from netwright.engine.exchange.importing.lifts.noted import with_noted_layers
from netwright.engine.exchange.importing.onnx_file import read
from netwright.engine.exchange.onnx_export import export_onnx
from netwright.engine.exchange.onnx_notes import KEY
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.recurrent_variants import PeepholeLstm
from netwright.engine.network.network import Network
from netwright.engine.project.export_options import OnnxOptions
from netwright.engine.project.file import load
from tests.builders import chain, layer
from tests.engine.layers.test_parity import built


def exported(network: Network, folder: Path, precision: str = "float32", **values: object) -> Path:
    path = folder / "net.onnx"
    options = OnnxOptions(precision=precision, **values)
    export_onnx(network, built(network).state_dict(), path, facts=None, samples=None, options=options)
    return path


@pytest.fixture(scope="module")
def resized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = layer("resize2d", by="size", size=(7, 5), method="linear")
    start = layer("image_input", channels=3, size=4, normalization="none")
    return exported(chain(start, made, layer("conv2d", filters=2, kernel=1)), tmp_path_factory.mktemp("resized"))


@pytest.fixture(scope="module")
def recurrent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    start = layer("sequence_input", channels=3, length=5, normalization="none")
    made = layer("peephole_lstm", hidden_units=4)
    return exported(chain(start, made, layer("tanh")), tmp_path_factory.mktemp("recurrent"))


def changed(path: Path, folder: Path, change: Callable[[onnx.ModelProto], None]) -> Path:
    model = onnx.load(path)
    change(model)
    onnx.save(model, folder / "changed.onnx")
    return folder / "changed.onnx"


def with_note(edit: Callable[[dict[str, Any]], None]) -> Callable[[onnx.ModelProto], None]:
    """A change of the note on the first layer."""

    def change(model: onnx.ModelProto) -> None:
        (entry,) = (one for one in model.metadata_props if one.key == KEY)
        rows = json.loads(entry.value)
        edit(rows[0])
        entry.value = json.dumps(rows)

    return change


def test_a_loop_over_steps_comes_back_with_the_weights_that_the_file_has_now(recurrent: Path, tmp_path: Path) -> None:
    def scale(model: onnx.ModelProto) -> None:
        for one in model.graph.initializer:
            if one.name.endswith("weight_hh_l0"):
                one.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(one) * np.float32(3.0), one.name))

    path = changed(recurrent, tmp_path, scale)
    report = import_file(path, tmp_path / "net.netwright")
    assert report.parity.agrees, report.parity
    types = [one.type for one in load(tmp_path / "net.netwright").project.network.layers.values()]
    assert PeepholeLstm(hidden_units=4) in types
    assert next(row for row in report.operators if row.operator == "Scan").lifted == 1


@pytest.mark.parametrize("key", ["transformer_encoder_layer", "self_attention"])
def test_attention_whose_heads_are_one_number_wide_comes_back(key: str, tmp_path: Path) -> None:
    type = layer(key, heads=4)
    network = chain(layer("sequence_input", channels=4, normalization="none"), type)
    made = network_of(read(exported(network, tmp_path)), {})
    assert [one.type for one in made.network.layers.values()][-1] == type
    assert made.compared().agrees


@pytest.mark.parametrize(
    "type",
    [
        layer("birnn", hidden_units=3, layers=2, output_mode="last"),
        layer("bilstm", hidden_units=2, layers=2, state_outputs=True, output_mode="last"),
        layer("gru", hidden_units=2, reset_gate_mode="before-multiplication"),
    ],
    ids=lambda type: type.key,
)
def test_recurrent_layers_whose_weights_are_in_other_tensors_come_back(type: LayerType, tmp_path: Path) -> None:
    """An operator holds both directions in one tensor, with other gates first; a loop holds pieces."""
    network = chain(layer("sequence_input", channels=3, length=5, normalization="none"), type)
    made = network_of(read(exported(network, tmp_path)), {})
    assert made.noted
    assert [one.type for one in made.network.layers.values()][-1] == type
    assert made.compared().agrees


def test_the_output_of_a_layer_is_not_an_equal_value_inside_it(tmp_path: Path) -> None:
    """With one word, the rows that are looked up are those of the largest per sample."""
    made = layer("embedding_bag", vocabulary=1, mode="max")
    path = exported(chain(layer("sequence_input", content="indices"), made), tmp_path)
    found = network_of(read(path), {})
    assert [one.type for one in found.network.layers.values()][-1] == made
    assert found.compared().agrees


def test_a_small_power_may_differ_in_its_logarithm_by_the_rounding_of_torch(tmp_path: Path) -> None:
    """The file computes the spectrum as a product of matrices: 3e-4 of -16 is a rounding error of a power of 1e-7."""
    start = layer("sequence_input", channels=6, normalization="none")
    network = chain(start, layer("stft", window="rectangular", gives="log-power"))
    made = network_of(read(exported(network, tmp_path)), {})
    assert made.noted
    assert made.compared().agrees


def test_a_note_that_is_wrong_gives_way_to_the_operators(resized: Path, tmp_path: Path) -> None:
    path = changed(resized, tmp_path, with_note(lambda row: row["fields"].update(method="nearest")))
    assert not network_of(read(path), {}).compared().agrees
    report = import_file(path, tmp_path / "net.netwright")
    assert report.parity.agrees, report.parity
    (found,) = (
        one.type
        for one in load(tmp_path / "net.netwright").project.network.layers.values()
        if one.type.key == "resize2d"
    )
    assert found.changed()["method"] == "linear"


def test_a_note_that_does_not_fit_together_gives_way_to_the_operators(resized: Path, tmp_path: Path) -> None:
    path = changed(resized, tmp_path, with_note(lambda row: row.update(type="embedding_bag", fields={})))
    assert network_of(read(path), {}).compared().agrees


@pytest.mark.parametrize(
    "edit",
    [
        lambda row: row.clear(),
        lambda row: row.update(type="custom"),
        lambda row: row.update(type=7),
        lambda row: row.update(fields={"size": "?"}),
        lambda row: row.update(inputs=[{"value": "nothing", "dims": ["N", "C", "H", "W"], "kind": "real"}]),
        lambda row: row.update(inputs=row["outputs"], outputs=row["inputs"]),
        lambda row: row.update(inputs=[]),
        lambda row: row.update(inputs=3),
        lambda row: row.update(weights={"weight": {"tensors": ["none"], "transposed": False}}),
        lambda row: row["outputs"][0].update(dims=["N", "C"]),
        lambda row: row["inputs"][0].update(dims=None),
        lambda row: row["inputs"][0].update(value=["a"]),
        lambda row: row.update(weights={"weight": {"tensors": [], "transposed": False, "gates": [2, 1]}}),
    ],
)
def test_a_note_of_anything_else_is_left_out(
    edit: Callable[[dict[str, Any]], None], resized: Path, tmp_path: Path
) -> None:
    made = network_of(read(changed(resized, tmp_path, with_note(edit))), {})
    assert not made.noted
    assert made.compared().agrees


@pytest.mark.parametrize("text", ["", "{", "7", "[7]", "[" * 100_000, '{"a": 1}', "[null]", '[{"type": []}]'])
def test_metadata_that_is_no_note_is_left_out(text: str) -> None:
    assert with_noted_layers(Graph([], {}, (), (), 18, metadata={KEY: text})) is None


@pytest.mark.parametrize(
    ("made", "precision"),
    [
        (layer("stft", window_length=4, overlap=2, fft_length=4), "int8-dynamic"),
        (layer("resize1d", by="size", size=9, method="linear"), "float16"),
        (layer("flip"), "float16"),
    ],
    ids=lambda one: one if isinstance(one, str) else one.key,
)
def test_layers_of_a_smaller_file_come_back(made: LayerType, precision: str, tmp_path: Path) -> None:
    start = layer("sequence_input", channels=3, length=8, normalization="none")
    path = exported(chain(start, made), tmp_path, precision)
    assert network_of(read(path), {}).noted
    report = import_file(path, tmp_path / "again.netwright")
    types = [one.type.key for one in load(tmp_path / "again.netwright").project.network.layers.values()]
    assert made.key in types, (types, report.warnings)
    assert report.parity.share < 0.05


def test_a_changed_file_in_half_precision_is_read_by_its_operators(tmp_path: Path) -> None:
    start = layer("image_input", channels=3, size=4, normalization="none")
    network = chain(start, layer("resize2d", by="size", size=(7, 5), method="linear"), layer("relu"))
    path = exported(network, tmp_path, "float16")
    changed(path, tmp_path, with_note(lambda row: row["fields"].update(method="nearest")))
    report = import_file(tmp_path / "changed.onnx", tmp_path / "net.netwright")
    found = load(tmp_path / "net.netwright").project.network.layers.values()
    assert [one.type.changed()["method"] for one in found if one.type.key == "resize2d"] == ["linear"]
    assert report.parity.share < 0.05


def test_a_loop_in_half_precision_that_crashes_onnx_runtime_is_refused(tmp_path: Path) -> None:
    start = layer("sequence_input", channels=3, length=8, normalization="none")
    with pytest.raises(RunError, match=r"In float16: ONNX Runtime crashed .* Export it in float32"):
        exported(chain(start, layer("peephole_lstm", hidden_units=4)), tmp_path, "float16", float32_inputs=False)
    assert not list(tmp_path.iterdir())


def test_a_loop_in_half_precision_between_float32_leaves(tmp_path: Path) -> None:
    start = layer("sequence_input", channels=3, length=8, normalization="none")
    path = exported(chain(start, layer("peephole_lstm", hidden_units=4)), tmp_path, "float16")
    report = import_file(path, tmp_path / "net.netwright")
    assert report.parity.share < 0.05
