"""A file of Netwright's own comes back with what it says about its data: classes, columns, and its normalisation."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from netwright.engine.exchange.export import Exported, export
from netwright.engine.exchange.importing.import_report import ImportReport
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.exchange.onnx_check import run_session
from netwright.engine.lowering.modules.onnx_runtime import open_session
from netwright.engine.network import edits
from netwright.engine.network.catalog import built_in
from netwright.engine.network.network import Port
from netwright.engine.project.export_options import OnnxOptions
from netwright.engine.project.file import load, save
from tests.engine.exchange.test_export import pictures, said, sequences, table
from tests.engine.exchange.test_onnx_options import columns


def round_trip(project: Path, folder: Path, **options: Any) -> tuple[Exported, ImportReport, Exported]:
    """Export a project, import the file into another folder, and export that again."""
    first = export(project, "onnx", folder / "net.onnx", options=OnnxOptions(**options))
    (folder / "back").mkdir()
    report = import_file(first.path, folder / "back/net.netwright")
    assert report.parity.agrees
    return first, report, export(report.project, "onnx", folder / "back/net.onnx")


@pytest.mark.parametrize("make", [pictures, table, sequences])
def test_classes_and_columns_come_back(make: Any, tmp_path: Path) -> None:
    first, report, second = round_trip(make(tmp_path), tmp_path)
    before, after = said(first.path), said(second.path)
    assert report.warnings == ()
    for key in ("task", "classes", "columns"):
        assert after.get(key) == before.get(key), key
    assert second.classes == first.classes
    assert second.inputs[0].columns == first.inputs[0].columns
    records = [json.loads(one["preparation"]) for one in (before, after)]
    for record in records:
        record["inputs"][0].pop("normalization", None)
    assert records[0]["inputs"] == records[1]["inputs"]
    assert records[0]["targets"] == records[1]["targets"]
    assert any(text.startswith(("Classes of", "Columns of")) for text in report.notes)


def test_a_normalisation_outside_comes_into_the_network(tmp_path: Path) -> None:
    project = columns(tmp_path)
    first, report, second = round_trip(project, tmp_path, normalization="outside")
    assert any("Here the network normalises" in text for text in report.notes)
    assert report.write()["inputs"][0]["normalization"] == "zscore"
    inside = export(project, "onnx", tmp_path / "inside.onnx")
    rows = (np.array([[2003.0, 2e-7], [2017.0, 8e-7]], np.float32),)
    wanted, (prices,) = (run_session(open_session(one.path), rows) for one in (inside, second))
    np.testing.assert_allclose(prices, wanted[0], rtol=1e-4)
    assert second.inputs[0].columns == first.inputs[0].columns == ("year", "share")


def test_a_normalisation_of_each_number_is_a_warning(tmp_path: Path) -> None:
    project = load(pictures(tmp_path)).project
    by_element = edits.set_fields(project.network, project.network.inputs[0].id, {"normalization_dimension": "element"})
    save(replace(project, network=by_element), tmp_path / "net.netwright")
    _, report, _ = round_trip(tmp_path / "net.netwright", tmp_path, normalization="outside")
    (text,) = report.warnings
    assert "takes numbers that whoever feeds it normalises" in text


@pytest.mark.parametrize("text", ["{", '{"version": 1, "kind": "table", "inputs": []}', "other"])
def test_metadata_that_does_not_fit_is_left_out(tmp_path: Path, text: str) -> None:
    path = export(table(tmp_path), "onnx", tmp_path / "net.onnx").path
    (tmp_path / "two").mkdir()
    other = said(export(pictures(tmp_path / "two"), "onnx", tmp_path / "two.onnx").path)
    model = onnx.load(path)
    props = {**said(path), "preparation": other["preparation"] if text == "other" else text}
    onnx.helper.set_model_props(model, {**props, "normalization": "[1]"})
    onnx.save(model, path)
    report = import_file(path, tmp_path / "back.netwright")
    assert len(report.warnings) == 1
    assert report.warnings[0].startswith("Classes and columns are not taken over: ")
    done = export(report.project, "onnx", tmp_path / "again.onnx")
    assert "columns" not in said(done.path)


def test_a_network_that_was_edited_has_no_classes_of_the_file(tmp_path: Path) -> None:
    _, report, _ = round_trip(pictures(tmp_path), tmp_path)
    project = load(report.project).project
    (end,) = project.network.output_ports
    network, layer = edits.add_layer(project.network, built_in()["fully_connected"](outputs=3))
    network = edits.connect(network, end, Port(layer.id, "in"))
    save(replace(project, network=network), report.project)
    assert export(report.project, "pytorch", tmp_path / "a.py").classes == ()
