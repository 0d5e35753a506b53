"""A run stores how its data was prepared; with that record and the exported file, raw rows become answers."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from netwright.engine.core.files import without_checksum
from netwright.engine.data.loading.apply_preparation import prepare, present
from netwright.engine.data.loading.load import load
from netwright.engine.exchange.export import export
from netwright.engine.lowering.modules.onnx_runtime import open_session
from netwright.engine.lowering.weights_folder import load as load_weights
from netwright.engine.project.preparation import FILE, Preparation
from netwright.engine.project.project import Project
from tests.builders import chain, layer
from tests.runs import train


def test_raw_rows_become_answers_by_the_record_of_a_run(tmp_path: Path) -> None:
    rows = [(n / 7, "xy"[n % 2], n % 5, ("no", "yes")[n % 2]) for n in range(60)]
    text = "a,kind,b,y\n" + "".join(f"{a},{kind},{b},{y}\n" for a, kind, b, y in rows)
    (tmp_path / "t.csv").write_text(text)
    network = chain(layer("feature_input", channels=4), layer("fully_connected", outputs=2))
    project = Project(network)
    project = replace(
        project,
        data=project.data.replace(source="table", path="t.csv"),
        environment=project.environment.replace(target="cpu", threads=1),
        training=project.training.replace(solver="adam", initial_learn_rate=0.1, max_epochs=6, mini_batch_size=10),
    )
    done = train(project, tmp_path / "run")
    folder = done.folder.path
    record = Preparation.load(folder / "best")
    assert record == Preparation.load(folder / "last") == Preparation.load(folder)
    manifest = without_checksum(json.loads((folder / "best" / "manifest.json").read_bytes()))
    assert set(manifest["files"]) == {"weights.safetensors", FILE}
    assert [column.categories for column in record.inputs[0].columns] == [(), ("x", "y"), ()]
    fitted = record.inputs[0].normalization
    assert fitted is not None
    training = load(project.data, tmp_path).split("training").inputs[0]
    np.testing.assert_allclose(fitted.shift, training.mean(0), rtol=1e-5)
    state, _ = load_weights(folder / "best")
    np.testing.assert_array_equal(
        next(v for k, v in state.items() if k.endswith("scale")), np.array(fitted.scale, np.float32)
    )

    exported = export(folder, "onnx", tmp_path / "net.onnx")
    session = open_session(exported.path)
    stored = Preparation.parse(session.get_modelmeta().custom_metadata_map["preparation"], "the ONNX file")
    assert stored.inputs == record.inputs
    outputs = session.run(
        None,
        {given.name: array for given, array in zip(stored.inputs, prepare(stored, tmp_path / "t.csv"), strict=True)},
    )
    (answers,) = present(stored, outputs)
    assert [answers.sample(n)["class"] for n in range(60)] == [y for *_, y in rows]
    assert abs(sum(answers.sample(0)["probabilities"].values()) - 1) < 1e-6


def test_the_export_of_a_run_without_a_record_says_so(tmp_path: Path) -> None:
    from tests.engine.exchange.test_export import run_of, table

    run = run_of(table(tmp_path), tmp_path / "run")
    done = export(run.path, "onnx", tmp_path / "net.onnx")
    assert any("did not store how the data was prepared" in note for note in done.notes)
