"""Every option of an export to ONNX: the file is what was asked for, says so, and comes with code that feeds it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.exchange.export import Exported, export
from netwright.engine.exchange.onnx_check import run_session
from netwright.engine.exchange.onnx_export import export_onnx
from netwright.engine.exchange.onnx_measure import Measured, refuse_loss
from netwright.engine.exchange.onnx_opset import with_opset
from netwright.engine.lowering.module import prefixes
from netwright.engine.lowering.modules.onnx_runtime import open_session
from netwright.engine.lowering.weights_file import write_weights_file
from netwright.engine.network.analysis import analyse
from netwright.engine.project.data import DataOptions
from netwright.engine.project.export_options import OnnxOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.project.weights import WeightsOptions
from tests.builders import chain, layer
from tests.engine.exchange.test_export import pictures, ran, said, sequences, table
from tests.engine.exchange.test_onnx_check import initial


def exported(project: Path, folder: Path, **options: object) -> Exported:
    return export(project, "onnx", folder / "net.onnx", options=OnnxOptions(**options))


def shapes(path: Path) -> list[list[int | str]]:
    model = onnx.load(path, load_external_data=False)
    return [[d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim] for value in model.graph.input]


def test_a_file_of_opset_13_with_everything_outside_and_weights_beside_it(tmp_path: Path) -> None:
    """Probabilities and normalisation are done by the code that comes with it."""
    done = exported(
        pictures(tmp_path),
        tmp_path,
        opset=13,
        batch=3,
        normalization="outside",
        probabilities="outside",
        external_data="yes",
        layers=True,
    )
    assert shapes(done.path) == [[3, 3, 6, 6]]
    model = onnx.load(done.path)
    assert [entry.version for entry in model.opset_import if entry.domain == ""] == [13]
    assert not {"Sub", "Softmax"} & {node.op_type for node in model.graph.node}
    assert (tmp_path / "net.onnx.data").stat().st_size > 100
    assert all(row.agrees for row in done.layers)
    told = said(done.path)
    assert set(json.loads(told["normalization"])) == {done.inputs[0].name}
    record = json.loads(told["preparation"])
    assert "normalization" not in record["inputs"][0]
    assert record["targets"][0]["activation"] == "softmax"
    parity = json.loads(told["parity"])
    assert (parity["opset"], parity["samples_kind"]) == (13, "real")
    assert parity["relative_difference"] < 1e-4
    assert "normalised pixels" in done.inputs[0].short()
    lines = ran(done, tmp_path).splitlines()
    inside = exported_inside(tmp_path)
    assert sorted(lines) == sorted(inside)


def exported_inside(folder: Path) -> list[str]:
    """What the code of a file with everything inside prints for the same network."""
    return ran(exported(folder / "net.netwright", folder), folder).splitlines()


def test_a_sequence_of_fixed_length_keeps_it(tmp_path: Path) -> None:
    done = exported(sequences(tmp_path), tmp_path, steps=5, batch=2, opset=15)
    assert shapes(done.path) == [[2, 5, 2]]
    assert "2 × 5 × 2" in done.inputs[0].short()
    assert {line.partition(":")[0] for line in ran(done, tmp_path).splitlines()} == {"up", "down"}


def test_half_precision_is_measured_and_keeps_inputs_as_asked(tmp_path: Path) -> None:
    project = table(tmp_path)
    done = exported(project, tmp_path, precision="float16")
    assert [(row.runs_in, row.precision) for row in done.measured] == [
        ("torch", "float32"),
        ("ONNX Runtime", "float32"),
        ("ONNX Runtime", "float16"),
    ]
    for row in done.measured:
        assert set(row.metrics) == {"rmse", "r2"}
        assert row.metrics["rmse"] == pytest.approx(done.measured[0].metrics["rmse"], rel=0.01)
        assert set(row.milliseconds) == {"1", "32"}
        assert min(row.milliseconds.values()) > 0.0
        assert row.size_bytes > 0
    done = exported(project, tmp_path, precision="float16", float32_inputs=False, measure=False)
    assert done.measured == ()
    assert done.inputs[0].dtype == "float16"
    assert [value.type for value in open_session(done.path).get_inputs()] == ["tensor(float16)"]
    assert ran(done, tmp_path).startswith("price: ")


@pytest.mark.parametrize("precision", ["int8-dynamic", "int8-static"])
def test_integers_of_8_bits_are_in_the_file(precision: str, tmp_path: Path) -> None:
    done = exported(pictures(tmp_path), tmp_path, precision=precision, measure=False)
    model = onnx.load(done.path)
    assert onnx.TensorProto.INT8 in {one.data_type for one in model.graph.initializer}
    assert json.loads(said(done.path)["parity"])["precision"] == precision
    assert done.largest_difference is not None
    assert done.largest_difference < 0.2
    assert {line.partition(":")[0] for line in ran(done, tmp_path).splitlines()} == {"cat", "dog"}


def columns(folder: Path) -> Path:
    """A project that starts from weights which know all of a table, whose columns are of very different size."""
    generator = np.random.default_rng(7)
    year, share = 2000 + 20 * generator.random(300), 1e-6 * generator.random(300)
    price = 4e5 + 8e3 * (year - 2010) + 5e10 * share
    rows = "".join(f"{a:.9g},{b:.9g},{c:.9g}\n" for a, b, c in zip(year, share, price, strict=True))
    (folder / "table.csv").write_text(f"year,share,price\n{rows}")
    network = chain(
        layer("feature_input", channels=2),
        layer("fully_connected", outputs=1),
        layer("inverse_norm", mean=4e5, deviation=1e4),
    )
    shift, scale = np.array([2010.0, 5e-7]), np.array([1 / 6.0, 1 / 3e-7])
    weights = np.array([[8e3, 5e10]]) / scale / 1e4
    state = {
        key: torch.tensor(value, dtype=torch.float32).reshape(now.shape)
        for (key, now), value in zip(
            initial(network).state_dict().items(), (shift, scale, weights, 5e10 * 5e-7 / 1e4), strict=True
        )
    }
    checksum = write_weights_file(folder / "w.safetensors", state, prefixes(network, analyse(network)))
    data = DataOptions(source="table", path="table.csv", response="price", task="numbers")
    project = Project(network, data=data, weights=WeightsOptions(file="w.safetensors", sha256=checksum))
    save(project, folder / "p.netwright")
    return folder / "p.netwright"


@pytest.mark.parametrize("precision", ["float16", "int8-dynamic", "int8-static"])
def test_columns_of_small_numbers_and_large_responses_survive_a_conversion(precision: str, tmp_path: Path) -> None:
    done = exported(columns(tmp_path), tmp_path, precision=precision)
    before, after = done.measured[-2:]
    assert before.metrics["r2"] > 0.9999
    assert after.metrics["r2"] > 0.99


def test_a_conversion_that_costs_more_than_is_accepted_leaves_no_file(tmp_path: Path) -> None:
    project = columns(tmp_path)
    options = {"precision": "int8-static", "measure": False}
    with pytest.raises(
        UserError, match=r"int8-static costs more R² than the accepted loss of 0: 1 before, 0\.99"
    ) as no:
        exported(project, tmp_path, accepted_loss=0.0, **options)
    assert not (tmp_path / "net.onnx").exists()
    accepted = float(str(no.value).rpartition("--accepted-loss ")[2].rstrip("."))
    done = exported(project, tmp_path, accepted_loss=accepted, **options)
    assert done.measured == ()
    assert done.path.exists()


def test_what_a_conversion_costs_is_a_note_and_one_sample_may_change() -> None:
    def row(precision: str, value: float, name: str = "accuracy") -> Measured:
        return Measured("ONNX Runtime", precision, 1, {"loss": 1.0, name: value}, {}, "test", 20)

    (note,) = refuse_loss([row("float32", 0.95), row("float16", 0.90)], 0.0)
    assert note == "float16 costs 0.05 of accuracy: 0.95 before, 0.9 after, on test data."
    with pytest.raises(UserError, match="more accuracy than the accepted loss of 0"):
        refuse_loss([row("float32", 0.95), row("float16", 0.85)], 0.0)
    with pytest.raises(UserError, match=r"more R² .* 0\.95 before, nan after"):
        refuse_loss([row("float32", 0.95, "r2"), row("float16", float("nan"), "r2")], 0.02)
    assert refuse_loss([row("float32", -200.0, "r2"), row("float16", -200.1, "r2")], 0.02) == ()
    (note,) = refuse_loss([row("float32", 0.1, "cer"), row("float16", 0.9, "cer")], 0.02)
    assert note == "What float16 costs is not known: the network has neither accuracy nor R²."
    assert refuse_loss([row("float32", 0.95), row("float16", 0.95)], 0.0) == ()


def test_a_conversion_without_data_says_that_its_cost_is_not_known(tmp_path: Path) -> None:
    project = columns(tmp_path)
    (tmp_path / "table.csv").unlink()
    done = exported(project, tmp_path, precision="float16", measure=False)
    assert "What float16 costs is not known: there is no data to measure it on." in done.notes


def net() -> Any:
    return chain(layer("sequence_input", channels=4), layer("self_attention", heads=2, mask="causal"), layer("relu"))


def test_an_opset_without_a_layers_operator_is_refused_with_the_layer_and_the_lowest_one(tmp_path: Path) -> None:
    network = net()
    state = dict(initial(network).state_dict())
    with pytest.raises(UserError, match=r"Opset 13 has no form for '.*' \(Trilu\)\. The lowest opset .* is 14"):
        export_onnx(network, state, tmp_path / "n.onnx", facts=None, samples=None, options=OnnxOptions(opset=13))
    assert list(tmp_path.iterdir()) == []


def test_what_needs_data_or_does_not_go_together_is_refused(tmp_path: Path) -> None:
    network = chain(layer("feature_input", channels=2), layer("fully_connected", outputs=2))
    state = dict(initial(network).state_dict())

    def refused(match: str, **options: object) -> None:
        with pytest.raises(UserError, match=match):
            export_onnx(network, state, tmp_path / "n.onnx", facts=None, samples=None, options=OnnxOptions(**options))

    refused("int8-dynamic, which needs none", precision="int8-static")
    refused("external_data: weights beside the file are written in float32", precision="float16", external_data="yes")
    with pytest.raises(FieldErrors, match="opset: expected a whole number from 13 to 25"):
        OnnxOptions(opset=12)
    assert list(tmp_path.iterdir()) == []


def test_older_operators_give_the_same_numbers() -> None:
    """Layer normalisation written out, axes of reductions as attributes, parts of shapes."""
    text = """
    <ir_version: 10, opset_import: ["" : 18]>
    agraph (float[N, 4] x, float[4] s, float[4] b) => (float[N, 4] y, float[N, 1] m, int64[1] n)
    <int64[1] axes = {1}>
    {
        y = LayerNormalization <axis = -1, epsilon = 0.001> (x, s, b)
        m = ReduceMean <keepdims = 1, noop_with_empty_axes = 0> (x, axes)
        n = Shape <start = 0, end = 1> (x)
    }"""
    model = onnx.parser.parse_model(text)
    batch = tuple(np.random.default_rng(0).random(shape, dtype=np.float32) for shape in ((3, 4), (4,), (4,)))
    newer = open_session(model.SerializeToString())
    feeds = dict(zip(("x", "s", "b"), batch, strict=True))
    expected = newer.run(None, feeds)
    older = with_opset(model, 13)
    onnx.checker.check_model(older, full_check=True)
    assert "LayerNormalization" not in {node.op_type for node in older.graph.node}
    for one, other in zip(expected, open_session(older.SerializeToString()).run(None, feeds), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_fixed_batch_gets_all_samples_in_turns() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 13]> g (float[2, 1] x) => (float[2, 1] y) { y = Neg (x) }'
    )
    (found,) = run_session(open_session(model.SerializeToString()), (np.arange(5, dtype=np.float32)[:, None],), 2)
    assert found.ravel().tolist() == [0, -1, -2, -3, -4]
