"""Answers as files: masks, pictures, sounds, steps and arrays in a folder, tables, and the numbers of all samples."""

import csv
import json
import wave
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pyarrow import parquet

from netwright.engine.analysis.answer_files import saved, taking
from netwright.engine.analysis.operations.predict import PredictRequest, PredictResult, SavedPredictions
from netwright.engine.analysis.predict_request import predict_model
from netwright.engine.analysis.predictions import told
from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.apply_preparation import present
from netwright.engine.drawing.colours import class_colour, parts
from netwright.engine.project.preparation import (
    InputPreparation,
    Preparation,
    SoundPreparation,
    TargetPreparation,
)
from netwright.engine.project.project import Project
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import train

PICTURE = InputPreparation(name="x", axes=("C", "H", "W"), sizes=(1, 2, 3))
MASK = TargetPreparation(name="y", task="classes", axes=("C", "H", "W"), sizes=(2, 2, 3), classes=("ground", "sky"))
NAMES = ("in/a.png", "other/a.png", "t.csv:12", "z.npz[3]")


def write(path: Path, target: TargetPreparation, output: Any, *, first: InputPreparation = PICTURE) -> SavedPredictions:
    """Write the answers of one output for samples that are called `NAMES`, in batches of two."""
    record = Preparation(kind="arrays", inputs=(first,), targets=(target,))
    take, array = taking(record, path), np.asarray(output, np.float32)

    def answers() -> Iterator[Any]:
        for start in range(0, len(array), 2):
            predictions = present(record, [array[start : start + 2]])
            some = [
                {"sample": NAMES[start + at], "outputs": [told(each, at, 5) for each in predictions]}
                for at in range(len(predictions[0]))
            ]
            take(some, (), predictions)
            yield from some

    result = PredictResult(path="run", predictions=(), record=record, assumed=())
    result.predictions = result.counted(answers())
    return saved(PredictRequest(model=Path("run"), files=(), output=path), result, take)


def table_of(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "answers.csv").read_text().splitlines()))


def test_masks_are_palette_pictures_with_a_legend_and_names_of_their_own(tmp_path: Path) -> None:
    scores = np.zeros((3, 2, 2, 3))
    scores[0, 1, 0, 2] = scores[1, 1] = 1
    done = write(tmp_path / "new", MASK, scores)
    assert (done.count, done.failed, done.files) == (3, 0, 5)
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == [
        *("a.png", "a_2.png", "answers.csv", "legend.json", "t_12.png")
    ]
    with Image.open(tmp_path / "new" / "a.png") as picture:
        assert (picture.mode, picture.size) == ("P", (3, 2))
        assert np.asarray(picture).tolist() == [[0, 0, 1], [0, 0, 0]]
        assert picture.getpalette()[:6] == [*parts(class_colour(0)), *parts(class_colour(1))]  # type: ignore[index]
    (legend,) = json.loads((tmp_path / "new" / "legend.json").read_text())["outputs"]
    assert legend["classes"][1] == {"number": 1, "name": "sky", "colour": class_colour(1)}
    rows = [(row["sample"], row["y"]) for row in table_of(tmp_path / "new")]
    assert rows == [("in/a.png", "a.png"), ("other/a.png", "a_2.png"), ("t.csv:12", "t_12.png")]


def test_pictures_are_scaled_by_the_numbers_of_the_data_and_else_come_with_their_numbers(tmp_path: Path) -> None:
    target = TargetPreparation(name="y", task="numbers", axes=("C", "H", "W"), sizes=(1, 2, 3), span=(0.0, 1.0))
    values = np.array([[[[0.0, 0.5, 1.0], [1.5, -1.0, 0.2]]]])
    write(tmp_path / "known", target, values)
    with Image.open(tmp_path / "known" / "a.png") as picture:
        assert np.asarray(picture).tolist() == [[0, 128, 255], [255, 0, 51]]
    assert not (tmp_path / "known" / "a.npy").exists()
    write(tmp_path / "unknown", replace(target, span=()), values)
    assert (tmp_path / "unknown" / "a.png").exists()
    assert np.array_equal(np.load(tmp_path / "unknown" / "a.npy"), values[0].astype(np.float32))


def test_sounds_steps_and_volumes(tmp_path: Path) -> None:
    how = SoundPreparation(rate=8000, channels=1, length=4, features="waveform", layout="sequence")
    first = InputPreparation(name="x", reads="sound", axes=("T", "C"), sizes=(4, 1), sound=how)
    numbers = TargetPreparation(name="y", task="numbers", axes=("T", "C"), sizes=(4, 1))
    samples = [[[0.0], [0.5], [-1.0], [3.0]]]
    write(tmp_path / "sounds", numbers, samples, first=first)
    with wave.open(str(tmp_path / "sounds" / "a.wav")) as file:
        assert (file.getframerate(), file.getnchannels()) == (8000, 1)
        assert np.frombuffer(file.readframes(9), "<i2").tolist() == [0, 16384, -32767, 32767]
    write(tmp_path / "numbers", numbers, samples)
    assert (tmp_path / "numbers" / "a.csv").read_text().splitlines()[:3] == ["step,1", "0,0.0", "1,0.5"]
    steps = TargetPreparation(name="y", task="classes", axes=("T", "C"), sizes=(2, 2), classes=("=n", "v"))
    write(tmp_path / "steps", steps, [[[0.25, 0.75], [1.0, 0.0]]])
    assert (tmp_path / "steps" / "a.csv").read_text() == "step,y,probability\n0,v,0.75\n1,'=n,1.0\n"
    volume = replace(MASK, axes=("C", "D", "H", "W"), sizes=(2, 2, 2, 2))
    write(tmp_path / "volumes", volume, np.zeros((1, 2, 2, 2, 2)))
    assert np.load(tmp_path / "volumes" / "a.npy").shape == (2, 2, 2)


def test_arrays_of_all_samples(tmp_path: Path) -> None:
    one = TargetPreparation(name="y", task="classes", axes=("C",), sizes=(2,), classes=("n", "v"))
    write(tmp_path / "a.npz", replace(one, name="file"), [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
    with np.load(tmp_path / "a.npz", allow_pickle=False) as stored:
        assert {name: stored[name].tolist() for name in stored.files} == {
            "samples": list(NAMES[:3]),
            "file": [1, 0, 0],
            "file probabilities": [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]],
            "file classes": ["n", "v"],
        }
    write(tmp_path / "a.npy", one, [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
    assert np.load(tmp_path / "a.npy").tolist() == [1, 0, 0]


def test_parquet_has_the_rows_of_csv_with_numbers_as_numbers(tmp_path: Path) -> None:
    two = TargetPreparation(name="y", task="numbers", axes=("C",), sizes=(2,), columns=("up", "down"))
    write(tmp_path / "a.parquet", two, [[1.5, 2.0], [3.0, -4.0]])
    assert parquet.read_table(tmp_path / "a.parquet").to_pylist() == [
        {"sample": "in/a.png", "up": 1.5, "down": 2.0, "error": None},
        {"sample": "other/a.png", "up": 3.0, "down": -4.0, "error": None},
    ]
    write(tmp_path / "a.csv", two, [[1.5, 2.0], [3.0, -4.0]])
    assert (tmp_path / "a.csv").read_text() == "sample,up,down,error\nin/a.png,1.5,2.0,\nother/a.png,3.0,-4.0,\n"
    write(tmp_path / "a.json", two, [[1.5, 2.0], [3.0, -4.0]])
    assert json.loads((tmp_path / "a.json").read_text())["predictions"][1]["outputs"][0]["value"]["down"] == -4.0


def test_what_cannot_be_written_is_refused_before_anything_is_computed(tmp_path: Path) -> None:
    record = Preparation(kind="arrays", inputs=(PICTURE,), targets=(MASK, MASK))
    (tmp_path / "mine.png").write_bytes(b"")
    with pytest.raises(UserError, match=r"is not empty\. Answers go into a folder of their own"):
        taking(record, tmp_path)
    with pytest.raises(UserError, match="holds one array, the network has 2 outputs"):
        taking(record, tmp_path / "a.npy")
    with pytest.raises(UserError, match="does not exist"):
        taking(record, tmp_path / "gone" / "a.csv")
    with pytest.raises(UserError, match=r"ends in '.xml'. Expected a folder, or a file that ends in .csv, .parquet"):
        PredictRequest(model=tmp_path, files=(), output=tmp_path / "a.xml").check()


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that makes pictures of pictures, which are there with their targets."""
    folder = tmp_path_factory.mktemp("pairs")
    draws = np.random.default_rng(1)
    for name in ("noisy", "clean"):
        (folder / name).mkdir()
        for number in range(8):
            picture = draws.integers(0, 256, (6, 8), np.uint8)
            Image.fromarray(picture).save(folder / name / f"{number}.png")
    network = chain(
        layer("image_input", channels=1, size=(6, 8)),
        layer("conv2d", filters=1, kernel=1, padding="same"),
    )
    project = Project(network)
    data = project.data.replace(source="images", path=str(folder / "noisy"), target_images=str(folder / "clean"))
    environment = project.environment.replace(target="cpu", threads=1)
    training = project.training.replace(max_epochs=1)
    train(replace(project, data=data, training=training, environment=environment), folder / "run")
    return folder


def test_predict_writes_pictures_and_refuses_the_folder_it_read(
    pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["predict", str(pairs / "run"), str(pairs / "noisy"), "-o"]
    assert main([*arguments, str(tmp_path / "out")]) == 0
    assert "answers for 8 samples in 10 files" in capsys.readouterr().out
    with Image.open(tmp_path / "out" / "3.png") as picture:
        assert (picture.mode, picture.size) == ("L", (8, 6))
    assert main([*arguments, str(pairs / "noisy")]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert main([*arguments, str(tmp_path / "second"), "--json"]) == 0
    told = checked_output(capsys.readouterr().out)
    assert (told["count"], told["files"]) == (8, 10)


def test_the_window_sees_sample_answer_and_target(pairs: Path, tmp_path: Path) -> None:
    files = (pairs / "noisy" / "3.png", pairs / "clean" / "3.png")
    request = PredictRequest(model=pairs / "run", files=files, folder=tmp_path / "shown")
    known, unknown = predict_model(request).predictions  # type: ignore[union-attr]
    output = known["outputs"][0]
    with Image.open(pairs / "clean" / "3.png") as clean, Image.open(output["target"]) as shown:
        assert np.array_equal(np.asarray(shown), np.asarray(clean))
    assert {"answer", "target"} <= output.keys()
    assert output["value"].keys() == {"lowest", "mean", "highest"}
    assert "target" not in unknown["outputs"][0], "it is no picture of the folder of the run"
    (target,) = Preparation.load(pairs / "run" / "best").targets
    assert target.span == (0.0, 1.0)
