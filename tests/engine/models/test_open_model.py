"""A model is the same whatever it is read from: a run, an ONNX file of ours, a project that starts from its weights."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from PIL import Image
from safetensors.torch import save_file

from netwright.engine.analysis.predictions import predict
from netwright.engine.analysis.predictors import ModelPredictor, open_predictor
from netwright.engine.cli.main import main
from netwright.engine.exchange.export import export
from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.lowering.weights_folder import load as load_weights
from netwright.engine.models.open_model import open_model
from netwright.engine.network.network import Network
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.project.weights import chosen
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import train

TOLERANCE = 1e-5
WORDS = ("red green blue grey", "one two three four")


def pictures(folder: Path) -> tuple[DataOptions, Network]:
    """Two classes of pictures, told apart by their brightness."""
    random = np.random.default_rng(0)
    for number in range(40):
        place = folder / "pictures" / ("dark", "light")[number % 2]
        place.mkdir(parents=True, exist_ok=True)
        array = random.integers(0, 120, (6, 6, 3)) + 120 * (number % 2)
        Image.fromarray(array.astype(np.uint8)).save(place / f"{number}.png")
    network = chain(
        layer("image_input", channels=3, size=6),
        layer("conv2d", filters=4, kernel=3),
        layer("relu"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    return DataOptions(source="images", path=str(folder / "pictures")), network


def table(folder: Path) -> tuple[DataOptions, Network]:
    """A number, a category of three and a date, and a class."""
    rows = [f"{n / 7},{'uvw'[n % 3]},2024-{1 + n % 12:02}-05,{('no', 'yes')[n % 3 == 1]}" for n in range(90)]
    (folder / "table.csv").write_text("\n".join(["x,kind,day,y", *rows]) + "\n")
    data = DataOptions(source="table", path=str(folder / "table.csv"), response="y")
    return data, chain(layer("feature_input", channels=8), layer("fully_connected", outputs=2), layer("softmax"))


def texts(folder: Path) -> tuple[DataOptions, Network]:
    """Texts of words, and a class."""
    random = np.random.default_rng(0)
    rows = [
        f"{' '.join(random.choice(WORDS[number % 2].split(), 5))},{('colour', 'count')[number % 2]}"
        for number in range(60)
    ]
    (folder / "texts.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    (folder / "lines.txt").write_text("\n".join(row.partition(",")[0] for row in rows) + "\n")
    data = DataOptions(source="text", path=str(folder / "texts.csv"), tokens="word")
    network = chain(
        layer("sequence_input", content="indices", length=5),
        layer("embedding", vocabulary=9, dimension=4),
        layer("flatten"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    return data, network


def series(folder: Path) -> tuple[DataOptions, Network]:
    """A season of two sites, of which three steps are forecast."""
    lines = [f"{hour},{site},{np.sin(hour / 4) + site:.4f}" for site in (0, 1) for hour in range(120)]
    (folder / "series.csv").write_text("\n".join(["hour,site,load", *lines]) + "\n")
    path = str(folder / "series.csv")
    data = DataOptions(source="series", path=path, time_column="hour", group_column="site", lags=8, horizon=3)
    network = chain(
        layer("sequence_input", channels=1, length=8),
        layer("flatten"),
        layer("fully_connected", outputs=3),
        layer("inverse_norm", numbers="fitted"),
    )
    return data, network


KINDS = {"pictures": pictures, "table": table, "texts": texts, "series": series}


@pytest.fixture(scope="module", params=list(KINDS))
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, its ONNX file, and a project that was imported from it."""
    folder = tmp_path_factory.mktemp(request.param)
    data, network = KINDS[request.param](folder)
    project = Project(network, data=data)
    environment = project.environment.replace(target="cpu", threads=1)
    training = project.training.replace(max_epochs=3, solver="adam", initial_learn_rate=0.02, mini_batch_size=16)
    done = train(replace(project, environment=environment, training=training), folder / "run")
    assert done.exit_code == 0, done.said[-1]
    export(folder / "run", "onnx", folder / "net.onnx")
    import_file(folder / "net.onnx", folder / "net.netwright")
    return folder


def samples(folder: Path, names: Sequence[str] = ("pictures", "table.csv", "lines.txt", "series.csv")) -> Path:
    """The data of a run, as files to predict from."""
    return next(path for name in names if (path := folder / name).exists())


def numbers(path: Path, files: Path) -> list[Any]:
    """The answers of a model for files, computed by torch, as plain numbers."""
    answers = list(predict(ModelPredictor(open_model(path)), [files]))
    assert answers
    assert not [each["error"] for each in answers if "error" in each]
    return [
        [row["probability"] for row in sorted(output["top"], key=lambda row: str(row["class"]))]
        if "top" in output
        else list(output["value"].values())
        if isinstance(output["value"], dict)
        else output["value"]
        for each in answers
        for output in each["outputs"]
    ]


@pytest.mark.parametrize("name", ["net.onnx", "net.netwright"])
def test_a_file_of_ours_says_what_the_run_says(trained: Path, name: str) -> None:
    run, model = open_model(trained / "run"), open_model(trained / name)
    assert model.run is None
    assert model.assumed == ()
    for own, other in zip(run.preparation.targets, model.preparation.targets, strict=True):
        assert (own.classes, own.columns, own.thresholds) == (other.classes, other.columns, other.thresholds)
    for one, another in zip(run.preparation.inputs, model.preparation.inputs, strict=True):
        assert replace(one, normalization=None) == replace(another, normalization=None)
    assert run.preparation.group_column == model.preparation.group_column
    assert run.preparation.season == model.preparation.season == (25 if run.project.data.source == "series" else 0)
    own_answers, answers = numbers(trained / "run", samples(trained)), numbers(trained / name, samples(trained))
    np.testing.assert_allclose(np.array(answers), np.array(own_answers), atol=TOLERANCE, rtol=TOLERANCE)


@pytest.mark.parametrize("name", ["net.onnx", "net.netwright"])
def test_it_is_evaluated_on_data_as_the_run_is(trained: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    file = samples(trained, ("pictures", "table.csv", "texts.csv", "series.csv"))
    for path in (trained / "run", trained / name):
        given = ["--data", str(file), "--json"]
        if (own := open_model(trained / "run").project.data).source in ("text", "series"):
            given += [f"--set=data.source={own.source}"]
            changed = ("tokens", "time_column", "group_column", "lags", "horizon")
            options = own.write()
            given += [f"--set=data.{key}={options[key]}" for key in changed if key in options]
        elif own.response:
            given += [f"--set=data.response={own.response}"]
        code = main(["evaluate", str(path), *given])
        out, err = capsys.readouterr()
        assert code == 0, err
        found.append(checked_output(out))
    assert found[0]["samples"] == found[1]["samples"] > 0
    assert found[1]["metrics"] == pytest.approx(found[0]["metrics"], rel=1e-4, abs=TOLERANCE)
    assert found[1]["targets"][0]["classes"] == found[0]["targets"][0]["classes"]
    assert found[1]["weights"] == name
    assert not found[1]["cached"]


def test_a_project_that_starts_from_a_run_is_that_model_on_its_own_splits(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = load(trained / "run" / "project.netwright").project
    save(replace(project, weights=chosen(trained / "run", tmp_path)), tmp_path / "start.netwright")
    found = []
    for path in (trained / "run", tmp_path / "start.netwright"):
        assert main(["evaluate", str(path), "--json"]) == 0
        found.append(checked_output(capsys.readouterr().out))
    for key in ("split", "samples", "baselines"):
        assert found[0][key] == found[1][key]
    assert found[1]["metrics"] == pytest.approx(found[0]["metrics"], rel=1e-4)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run on a table, its ONNX file and its project with weights."""
    folder = tmp_path_factory.mktemp("tables")
    data, network = table(folder)
    project = Project(network, data=data)
    environment = project.environment.replace(target="cpu", threads=1)
    training = project.training.replace(max_epochs=1)
    train(replace(project, environment=environment, training=training), folder / "run")
    export(folder / "run", "onnx", folder / "net.onnx")
    return folder


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What a command is refused with."""
    assert main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return captured.err


def test_what_is_no_model_is_refused_with_what_a_model_can_be(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / "bad.onnx").write_bytes(b"nothing")
    (tmp_path / "bad.pt2").write_bytes(b"nothing")
    save(load(tables / "run" / "project.netwright").project, tmp_path / "plain.netwright")
    data = tables / "table.csv"
    expected = "Expected the folder of a run, a project with weights (*.netwright), a registered model (NAME@"
    assert expected in refusal(capsys, "evaluate", tmp_path / "gone")
    assert "notes.txt is no model. Expected" in refusal(capsys, "predict", tmp_path / "notes.txt", data)
    assert "has no run.json" in refusal(capsys, "explain", tmp_path, "--method", "permutation")
    assert "plain.netwright is a project without weights" in refusal(capsys, "evaluate", tmp_path / "plain.netwright")
    for name in ("bad.onnx", "bad.pt2"):
        assert name in refusal(capsys, "evaluate", tmp_path / name, "--data", data)
    weights = tables / "run" / "best" / "weights.safetensors"
    assert "weights alone" in refusal(capsys, "evaluate", weights)


def test_what_a_question_needs_and_a_model_lacks_is_said(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx = tables / "net.onnx"
    assert "net.onnx has no data. Name some with --data." in refusal(capsys, "evaluate", onnx)
    assert "is no run: thresholds and temperature are stored in the folder of a run" in refusal(
        capsys, "evaluate", onnx, "--data", tables / "table.csv", "--threshold", "yes=0.3", "--store"
    )
    assert "has no best weights" in refusal(capsys, "evaluate", onnx, "--weights", "best")
    (tmp_path / "less.csv").write_text("x,day,y\n1,2024-01-05,no\n2,2024-02-05,yes\n")
    assert 'lacks columns that the network takes: "kind"' in refusal(
        capsys, "evaluate", onnx, "--data", tmp_path / "less.csv", "--set=data.response=y"
    )
    (tmp_path / "other.csv").write_text("x,kind,day,y\n1,u,2024-01-05,maybe\n2,v,2024-02-05,yes\n")
    assert "has classes of 'y' that the training data lacks" in refusal(
        capsys, "evaluate", onnx, "--data", tmp_path / "other.csv", "--set=data.response=y"
    )


def test_a_project_whose_data_is_not_that_of_its_weights_or_has_gone_is_refused(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = load(tables / "run" / "project.netwright").project
    rows = [f"{n / 7},{'abc'[n % 3]},2024-{1 + n % 12:02}-05,{('off', 'on')[n % 2]}" for n in range(60)]
    (tmp_path / "other.csv").write_text("\n".join(["x,kind,day,y", *rows]) + "\n")
    project = replace(project, weights=chosen(tables / "run", tmp_path))
    save(project.with_section("data", project.data.replace(path="other.csv")), tmp_path / "other.netwright")
    said = refusal(capsys, "evaluate", tmp_path / "other.netwright")
    assert "is not that of its weights" in said
    assert '"no", "yes" in the weights' in said
    save(project.with_section("data", project.data.replace(path="gone.csv")), tmp_path / "gone.netwright")
    assert "gone.csv" in refusal(capsys, "evaluate", tmp_path / "gone.netwright")
    assert main(["predict", str(tmp_path / "gone.netwright"), str(tables / "table.csv"), "--json"]) == 0
    answers = checked_output(capsys.readouterr().out)["predictions"]
    assert len(answers) == 90, "predictions need no data of the project"


def test_weights_without_the_normalisation_that_a_network_measures_are_refused(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state, _ = load_weights(tables / "run" / "best")
    save_file({key: x for key, x in state.items() if key.endswith(("weight", "bias"))}, tmp_path / "bare.safetensors")
    project = load(tables / "run" / "project.netwright").project
    project = replace(project, weights=chosen(tmp_path / "bare.safetensors", tmp_path))
    save(project, tmp_path / "bare.netwright")
    assert "do not have the normalisation of the input" in refusal(capsys, "evaluate", tmp_path / "bare.netwright")


def edited(source: Path, to: Path, edit: Callable[[Any], None]) -> Path:
    """A copy of an ONNX file after an edit."""
    model = onnx.load(source)
    edit(model)
    onnx.save(model, to)
    return to


def test_a_file_of_ours_that_was_edited_is_what_its_operators_say(tables: Path, tmp_path: Path) -> None:
    def twice(model: Any) -> None:
        weights = max(model.graph.initializer, key=lambda tensor: len(tensor.dims) * len(tensor.raw_data))
        array = 2 * onnx.numpy_helper.to_array(weights)
        weights.CopyFrom(onnx.numpy_helper.from_array(array, weights.name))

    path = edited(tables / "net.onnx", tmp_path / "twice.onnx", twice)
    before = numbers(tables / "net.onnx", tables / "table.csv")
    answers = numbers(path, tables / "table.csv")
    of_runtime = [
        [row["probability"] for row in sorted(each["outputs"][0]["top"], key=lambda row: str(row["class"]))]
        for each in predict(open_predictor(path), [tables / "table.csv"])
    ]
    np.testing.assert_allclose(answers, of_runtime, atol=TOLERANCE)
    assert not np.allclose(answers, before, atol=TOLERANCE)


def test_metadata_about_another_network_is_left_out_and_said(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def other_classes(model: Any) -> None:
        for entry in model.metadata_props:
            if entry.key == "preparation":
                entry.value = entry.value.replace('["no", "yes"]', '["no", "yes", "perhaps"]')

    path = edited(tables / "net.onnx", tmp_path / "other.onnx", other_classes)
    model = open_model(path)
    assert any("Classes and columns are not taken over" in words for words in model.assumed)
    assert model.facts.classes == ("0", "1")
    data = ["--data", str(tables / "table.csv"), "--set=data.response=y"]
    assert main(["evaluate", str(path), *data]) == 0
    assert "Classes and columns are not taken over" in capsys.readouterr().out
