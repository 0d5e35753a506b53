"""Folders of files with a sequence each: every file gets an answer of its own, as the sequences of the training."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from netwright.engine.analysis.predictions import predict
from netwright.engine.analysis.predictors import open_predictor
from netwright.engine.data.loading.apply_preparation import prepare
from netwright.engine.project.project import Project
from tests.builders import chain, layer
from tests.runs import train

LENGTHS = (3, 5, 4, 6, 3, 5, 4, 6)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sequences in tables by class, and a run that was trained on them, cut or padded to five steps."""
    folder = tmp_path_factory.mktemp("sequences")
    draws = np.random.default_rng(1)
    for number, count in enumerate(LENGTHS):
        where = folder / "data" / ("walk" if number % 2 else "run")
        where.mkdir(parents=True, exist_ok=True)
        rows = draws.standard_normal((count, 2))
        np.savez(folder / f"{number}.npz", sequence=rows)
        lines = [f"{a:.9f},{b:.9f}" for a, b in rows]
        (where / f"{number}.csv").write_text("\n".join(["left,right", *lines]) + "\n")
    project = Project(
        chain(
            layer("sequence_input", channels=2, length=5, normalization="none"),
            layer("lstm", hidden_units=3, output_mode="last"),
            layer("fully_connected", outputs=2),
            layer("softmax"),
        )
    )
    data = project.data.replace(source="sequences", path=str(folder / "data"), fixed_length=5)
    environment = project.environment.replace(target="cpu", threads=1)
    training = project.training.replace(max_epochs=1)
    train(replace(project, data=data, training=training, environment=environment), folder / "run")
    return folder


def test_each_file_of_a_folder_is_cut_or_padded_as_in_training(place: Path) -> None:
    predictor = open_predictor(place / "run")
    answers = list(predict(predictor, [place / "data"]))
    names = [Path(one["sample"]).name for one in answers]
    assert names == ["0.csv", "2.csv", "4.csv", "6.csv", "1.csv", "3.csv", "5.csv", "7.csv"]
    for name, one in zip(names, answers, strict=True):
        with np.load(place / f"{Path(name).stem}.npz") as stored:
            rows = stored["sequence"][:5]
        whole = np.pad(rows, ((0, 5 - len(rows)), (0, 0)))[np.newaxis]
        chances = predictor.outputs(prepare(predictor.record, [whole]))[0][0]
        told = {row["class"]: row["probability"] for row in one["outputs"][0]["top"]}
        assert sorted(told.values()) == pytest.approx(sorted(chances.tolist()), abs=1e-5)


def test_a_folder_of_arrays_has_a_sequence_in_each_and_a_bad_one_is_told(place: Path, tmp_path: Path) -> None:
    predictor = open_predictor(place / "run")
    (tmp_path / "b.npz").write_bytes((place / "1.npz").read_bytes())
    np.savez(tmp_path / "a.npz", sequence=np.zeros((5, 3)))
    (tmp_path / "c.npz").write_bytes(b"nothing")
    np.savez(tmp_path / "d.npz", some=np.zeros((5, 2)))
    np.savez(tmp_path / "e.npz", sequence=np.zeros((2, 5, 2)))
    (tmp_path / "notes.md").write_text("no sequence")
    answers = list(predict(predictor, [tmp_path]))
    told = [(Path(one["sample"]).name, "error" in one) for one in answers]
    assert told == [
        *(
            ("a.npz", True),
            ("b.npz", False),
            ("c.npz", True),
            ("d.npz", False),
            ("e.npz[0]", False),
            ("e.npz[1]", False),
        )
    ]


def test_a_matrix_is_answered_as_the_table_of_the_same_numbers(place: Path, tmp_path: Path) -> None:
    predictor = open_predictor(place / "run")
    for number in (0, 1):
        with np.load(place / f"{number}.npz") as stored:
            rows = stored["sequence"]
        np.save(tmp_path / f"{number}.npy", rows.T if number else rows)
    np.save(tmp_path / "2.npy", np.zeros((5, 3)))
    *answers, refusal = predict(predictor, [tmp_path])
    tables = {Path(one["sample"]).stem: one["outputs"] for one in predict(predictor, [place / "data"])}
    for answer in answers:
        for top, of_table in zip(
            answer["outputs"][0]["top"], tables[Path(answer["sample"]).stem][0]["top"], strict=True
        ):
            assert top["class"] == of_table["class"]
            assert top["probability"] == pytest.approx(of_table["probability"], abs=1e-5)
    assert "2.npy holds an array of 5 x 3. Expected steps x 2 channels." in refusal["error"]
