"""What `predict` answers for files: the same from a run and from its ONNX file, in order, with reasons for bad ones."""

import csv
import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from netwright.engine.analysis.evaluate import evaluate
from netwright.engine.analysis.predictions import predict
from netwright.engine.analysis.predictors import kept_predictor, open_predictor
from netwright.engine.cli.main import main
from netwright.engine.cli.request_handlers import answer
from netwright.engine.core.text import answer_in_words
from netwright.engine.exchange.export import export
from netwright.engine.project.preparation import Preparation
from netwright.engine.project.project import Project
from netwright.engine.runs.model_files import ModelChoice
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import train
from tests.system.test_training import digits, mlp


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run on the digits, its ONNX file, and pictures of ten of them."""
    from sklearn.datasets import load_digits

    folder = tmp_path_factory.mktemp("pictures")
    train(digits(mlp(), max_epochs=4, solver="adam", initial_learn_rate=0.02), folder / "run")
    export(folder / "run", "onnx", folder / "digits.onnx")
    known = load_digits()
    for number in range(10):
        place = folder / "files" / ("low" if number < 5 else "high")
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray((known.images[number] * 255 / 16).astype(np.uint8)).save(place / f"{number}.png")
    np.savez(folder / "arrays.npz", picture=known.images[:10, np.newaxis], y=known.target[:10])
    return folder


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that predicts two numbers from a number and a text."""
    folder = tmp_path_factory.mktemp("table")
    rows = [f"{i / 10},{'uv'[i % 2]},{i / 5 + i % 2},{-i}" for i in range(60)]
    (folder / "a.csv").write_text("\n".join(["x,kind,up,down", *rows]))
    project = Project(chain(layer("feature_input", channels=3), layer("fully_connected", outputs=2)))
    data = project.data.replace(source="table", path=str(folder / "a.csv"), response="up, down")
    training = project.training.replace(max_epochs=1)
    environment = project.environment.replace(target="cpu", threads=1)
    train(replace(project, data=data, training=training, environment=environment), folder / "run")
    return folder


def classes(path: Path, *files: Path) -> list[str]:
    return [one["outputs"][0]["class"] for one in predict(open_predictor(path), files)]


def test_pictures_and_arrays_get_the_same_answers_from_the_run_and_from_onnx(pictures: Path) -> None:
    of_run = list(predict(open_predictor(pictures / "run"), [pictures / "files"]))
    names = [Path(one["sample"]).name for one in of_run]
    assert names == [f"{number}.png" for number in (5, 6, 7, 8, 9, 0, 1, 2, 3, 4)], "folders and files are sorted"
    said = [one["outputs"][0]["class"] for one in of_run]
    assert sum(Path(name).stem == one for name, one in zip(names, said, strict=True)) >= 9
    of_onnx = list(predict(open_predictor(pictures / "digits.onnx"), [pictures / "files"]))
    for one, other in zip(of_run, of_onnx, strict=True):
        tops = [{row["class"]: row["probability"] for row in each["outputs"][0]["top"]} for each in (one, other)]
        assert tops[0] == pytest.approx(tops[1], abs=1e-5)
        assert len(tops[0]) == 5
    of_arrays = classes(pictures / "run", pictures / "arrays.npz")
    assert of_arrays == [said[names.index(f"{number}.png")] for number in range(10)]


def test_a_single_array_is_the_input_whatever_its_name_and_without_its_channel(pictures: Path, tmp_path: Path) -> None:
    with np.load(pictures / "arrays.npz") as file:
        picture, y = file["picture"], file["y"]
    np.save(tmp_path / "some.npy", picture[:, 0])
    np.save(tmp_path / "picture.npy", picture[::-1])  # of the same folder and called as the input, but not named
    (tmp_path / "damaged.npy").write_bytes(b"nothing")
    np.savez(tmp_path / "two.npz", y=y, grey=picture[:, 0])
    expected = classes(pictures / "run", pictures / "arrays.npz")
    assert classes(pictures / "run", tmp_path / "some.npy") == expected
    assert classes(pictures / "run", tmp_path / "two.npz") == expected


def test_probabilities_are_those_of_the_evaluation(pictures: Path) -> None:
    found = evaluate(pictures / "run", "test")["targets"][0]["most_uncertain"][0]
    from sklearn.datasets import load_digits

    np.savez(pictures / "one.npz", image=load_digits().images[found["index"]][np.newaxis, np.newaxis])
    (answered,) = predict(open_predictor(pictures / "run"), [pictures / "one.npz"])
    best = answered["outputs"][0]["top"][0]
    assert best == {"class": found["prediction"], "probability": pytest.approx(found["confidence"], abs=1e-5)}


def test_onnx_needs_no_torch(pictures: Path) -> None:
    code = (
        "import sys; from netwright.engine.cli.main import main; "
        "code = main(sys.argv[1:]); assert 'torch' not in sys.modules; sys.exit(code)"
    )
    arguments = ["predict", str(pictures / "digits.onnx"), str(pictures / "files" / "low" / "3.png")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env={**os.environ})
    assert done.returncode == 0, done.stderr
    assert ": 3 (" in done.stdout


def test_a_bad_file_is_told_and_the_others_go_on(
    pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.png").write_bytes(b"nothing")
    (tmp_path / "b.png").write_bytes((pictures / "files" / "low" / "3.png").read_bytes())
    arguments = ["predict", str(pictures / "run"), str(tmp_path)]
    assert main([*arguments, "--json"]) == 2
    said = checked_output(capsys.readouterr().out)
    bad, good = said["predictions"]
    assert "it is not a picture" in bad["error"]
    assert good["outputs"][0]["class"] == "3"
    assert said["error"]["message"].startswith("1 of 2 samples could not be used")
    assert main([*arguments, "-o", str(tmp_path / "out.csv")]) == 2
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert [Path(row["sample"]).name for row in rows] == ["a.png", "b.png"]
    assert [row["digit"] for row in rows if not row["error"]] == ["3"]
    assert main(arguments) == 2
    assert "a.png: not used: " in capsys.readouterr().out


def test_names_of_files_come_from_standard_input(
    pictures: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [str(pictures / "files" / "low" / f"{number}.png") for number in (4, 2)]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(names) + "\n"))
    assert main(["predict", str(pictures / "run"), "-", "--batch", "1"]) == 0
    assert [line.partition(": ")[0] for line in capsys.readouterr().out.splitlines()] == names


def test_rows_become_numbers_by_name(table: Path, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("kind,x,other\nu,1.5,0\nw,2.5,0\nv,much,0\nv,,0\n")
    first, second, *bad = predict(open_predictor(table / "run"), [tmp_path / "new.csv"])
    assert set(first["outputs"][0]["value"]) == {"up", "down"}
    assert first["sample"].endswith("new.csv:2")
    assert "value" in second["outputs"][0], "a category that the training did not have is none of its own"
    assert "line 4" in bad[0]["error"]
    assert "line 5" in bad[1]["error"]
    assert answer_in_words(first["outputs"][0]).startswith("up ")


def test_a_value_that_the_network_does_not_know_is_a_warning_of_its_sample(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{n / 100},{'w' if n % 100 == 7 else 'uv'[n % 2]}\n" for n in range(3000))
    (tmp_path / "new.csv").write_text(f"x,kind\n{rows}")
    arguments = ["predict", str(table / "run"), str(tmp_path / "new.csv")]
    said = "Column 'kind' holds \"w\", which the network does not know: all its inputs are 0."
    whole = f"30 of 3,000 samples hold what the network does not know. {tmp_path / 'new.csv'}:9: {said}"
    assert main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    told = checked_output(captured.out)
    warned = {place: row["warnings"] for place, row in enumerate(told["predictions"]) if "warnings" in row}
    assert warned == {place: [said] for place in range(7, 3000, 100)}
    assert told["warnings"] == [whole]
    assert captured.err == f"netwright-engine: {whole}\n"
    assert main(arguments) == 0
    assert capsys.readouterr().out.splitlines()[7].endswith(f" (warning: {said})")
    assert main([*arguments, "--csv", "-o", str(tmp_path / "out.csv")]) == 0
    lines = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert [line["warning"] for line in lines[7:9]] == [said, ""]
    known = {"model": str(table / "run"), "files": []}
    typed = answer({"id": 1, "do": "predict", "with": {**known, "samples": [{"x": 1, "kind": "w"}]}})
    assert typed["result"]["predictions"][0]["warnings"] == [said]
    shown = {"model": str(table / "run"), "files": [str(tmp_path / "new.csv")], "folder": str(tmp_path / "shown")}
    assert answer({"id": 2, "do": "predict", "with": shown})["result"]["warned"] == 30


def test_what_does_not_fit_names_what_was_expected(
    pictures: Path, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.csv").write_text("knd,x\nu,1\n")
    np.savez(tmp_path / "a.npz", x=np.zeros((2, 1, 4, 4)))
    np.savez(tmp_path / "b.npz", one=np.zeros((2, 4, 4)), two=np.zeros(3))
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.onnx").write_bytes(b"nothing")
    for network, file, said in (
        (table / "run", tmp_path / "new.csv", 'has no column "kind". Did you mean'),
        (table / "run", tmp_path / "none.csv", "No such file"),
        (pictures / "run", table / "a.csv", "does not hold what the network takes. Expected arrays: 'image' N × 1 × 8"),
        (pictures / "run", tmp_path / "a.npz", "has the shape 2 × 1 × 4 × 4; expected N × 1 × 8 × 8"),
        (
            pictures / "run",
            tmp_path / "b.npz",
            "holds 2 arrays, none of them called 'image': 'one' 2 × 4 × 4, 'two' 3.",
        ),
        (pictures / "run", tmp_path / "empty", "There is nothing to predict. Expected"),
        (tmp_path / "broken.onnx", tmp_path / "a.npz", "cannot be loaded by ONNX Runtime"),
        (tmp_path / "none", tmp_path / "a.npz", "does not exist. Expected the folder of a run"),
    ):
        assert main(["predict", str(network), str(file), "--json"]) == 2
        captured = capsys.readouterr()
        assert said in captured.err
        assert said in json.loads(captured.out)["error"]["message"]


def test_serve_answers_and_keeps_the_network(table: Path, pictures: Path, tmp_path: Path) -> None:
    def asked(do: str, **values: object) -> dict[str, object]:
        return answer({"id": 1, "do": do, "with": values})

    row = {"x": 1.0, "kind": "u"}
    found = asked("predict", model=str(table / "run"), files=[], samples=[row])
    (prediction,) = found["result"]["predictions"]  # type: ignore[index]
    assert set(prediction["outputs"][0]["value"]) == {"up", "down"}
    assert kept_predictor(ModelChoice(table / "run")) is kept_predictor(ModelChoice(table / "run"))
    assert "has no column" in str(asked("predict", model=str(table / "run"), files=[], samples=[{"x": 1.0}])["error"])
    found = asked("predict", model=str(pictures / "run"), files=[str(pictures / "files" / "low" / "3.png")], top=2)
    assert len(found["result"]["predictions"][0]["outputs"][0]["top"]) == 2  # type: ignore[index]
    files, folder = [str(pictures / "files")], str(tmp_path / "shown")
    found = asked("predict", model=str(pictures / "run"), files=files, folder=folder, shown=3)
    result = found["result"]
    assert (len(result["predictions"]), result["count"], result["failed"]) == (3, 10, 0)  # type: ignore[index]
    assert Path(result["predictions"][2]["picture"]).parent == tmp_path / "shown"  # type: ignore[index]
    written = str(tmp_path / "all.csv")
    found = asked("predict", model=str(pictures / "run"), files=files, output=written)
    assert found["result"]["count"] == 10  # type: ignore[index]
    rows = list(csv.DictReader(Path(written).read_text().splitlines()))
    assert [Path(row["sample"]).stem for row in rows] == [*"5678901234"]
    known = asked("predictor", path=str(table / "run"))["result"]
    assert Preparation.read(known["preparation"], "it").inputs[0].columns[1].categories == ("u", "v")  # type: ignore[index]
    assert known["assumed"] == []  # type: ignore[index]
    found = asked("evaluate", model=str(pictures / "run"), split="test")
    assert found["result"]["samples"] == 270  # type: ignore[index]
