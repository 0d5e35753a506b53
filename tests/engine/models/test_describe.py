"""Networks of plain torch, with a preparation of their own, answer and are evaluated as what they were made for."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from netwright.engine.cli.main import main
from netwright.engine.exchange.export import export
from netwright.engine.models.open_model import open_model
from tests.json_schema import checked_output

pytestmark = pytest.mark.usefixtures("importer_in_memory")
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
COLOURS = ("blue", "green", "red")
"""In the order of the folders; the network has its own."""


class Colours(nn.Module):
    """Scores of red, green and blue, in this order, from pixels of a range that the network was trained with."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1, bias=False)
        self.fc = nn.Linear(3, 3)
        with torch.no_grad():
            self.conv.weight.copy_(torch.eye(3)[:, :, None, None])
            self.fc.weight.copy_(torch.eye(3))
            self.fc.bias.copy_(torch.tensor([0.1, 0.0, -0.1]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.conv(x).mean((2, 3)))


class Rows(nn.Module):
    """The sum of three numbers, and their difference."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 1)
        with torch.no_grad():
            self.fc.weight.copy_(torch.tensor([[1.0, 2.0, -1.0]]))
            self.fc.bias.fill_(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x)


def write_onnx(module: nn.Module, sample: torch.Tensor, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch about itself
        shapes = ({0: torch.export.Dim("n")},)
        torch.onnx.export(module.eval(), (sample,), path, dynamo=True, dynamic_shapes=shapes, verbose=False)
    return path


def write_program(module: nn.Module, sample: torch.Tensor, path: Path) -> Path:
    shapes = ({0: torch.export.Dim("n")},)
    torch.export.save(torch.export.export(module.eval(), (sample,), dynamic_shapes=shapes), path)
    return path


FORMS = {"onnx": write_onnx, "pt2": write_program}
Write = Callable[[nn.Module, torch.Tensor, Path], Path]


@pytest.fixture(scope="module", params=list(FORMS))
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with networks of plain torch, pictures by colour, and a table."""
    folder, write = tmp_path_factory.mktemp("foreign"), FORMS[request.param]
    write(Colours(), torch.rand(2, 3, 8, 8), folder / f"colours.{request.param}")
    write(Rows(), torch.rand(2, 3), folder / f"rows.{request.param}")
    random = np.random.default_rng(0)
    for number in range(30):
        name = COLOURS[number % 3]
        place = folder / "pictures" / name
        place.mkdir(parents=True, exist_ok=True)
        array = random.integers(0, 100, (12, 12, 3))
        array[..., ("red", "green", "blue").index(name)] += 100
        Image.fromarray(array.astype(np.uint8)).save(place / f"{number}.png")
    rows = random.normal(size=(40, 3)).round(3)
    lines = [f"{a},{b},{c},{a + 2 * b - c + 0.5:.6f}" for a, b, c in rows]
    (folder / "rows.csv").write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    (folder / "classes.txt").write_text("red\ngreen\nblue\n")
    return folder


def model_in(folder: Path, name: str) -> Path:
    return next(file for file in folder.glob(f"{name}.*") if file.suffix in (".onnx", ".pt2"))


def prepared(picture: Path, pixels: str) -> torch.Tensor:
    """A picture as a user of torch would prepare it."""
    image = Image.open(picture).convert("RGB").resize((8, 8), Image.Resampling.BILINEAR)
    x = torch.from_numpy(np.asarray(image).astype(np.float32) / 255).permute(2, 0, 1)[None]
    if pixels == "ImageNet":
        x = (x - torch.tensor(MEAN)[:, None, None]) / torch.tensor(DEVIATION)[:, None, None]
    return 2 * x - 1 if pixels == "-1 to 1" else x


@pytest.mark.parametrize("pixels", ["", "-1 to 1", "ImageNet"])
def test_pictures_are_prepared_as_the_user_says(files: Path, pixels: str, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--pixels", pixels] if pixels else []
    names = ["--classes", str(files / "classes.txt")]
    model = model_in(files, "colours")
    assert main(["predict", str(model), str(files / "pictures" / "red"), *names, *chosen, "--json"]) == 0
    for answer in checked_output(capsys.readouterr().out)["predictions"]:
        expected = torch.softmax(Colours()(prepared(Path(answer["sample"]), pixels)), 1)[0]
        top = {row["class"]: row["probability"] for row in answer["outputs"][0]["top"]}
        assert [top[name] for name in ("red", "green", "blue")] == pytest.approx(expected.tolist(), abs=0.01)
    assert main(["evaluate", str(model), "--data", str(files / "pictures"), *names, *chosen, "--json"]) == 0
    found = checked_output(capsys.readouterr().out)
    assert found["metrics"]["accuracy"] == 1.0
    assert found["targets"][0]["classes"] == ["red", "green", "blue"]


def test_without_names_the_classes_are_those_of_the_data_and_a_note_says_so(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(model_in(files, "colours")), "--data", str(files / "pictures"), "--json"]) == 0
    found = checked_output(capsys.readouterr().out)
    assert found["metrics"]["accuracy"] < 0.5, "the network has another order"
    assert any('in this order: "blue", "green", "red"' in note for note in found["notes"])


def test_columns_are_those_of_the_data(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = ["--data", str(files / "rows.csv"), "--set=data.response=y"]
    assert main(["evaluate", str(model_in(files, "rows")), *data, "--json"]) == 0
    found = checked_output(capsys.readouterr().out)
    assert found["metrics"]["rmse"] == pytest.approx(0, abs=1e-5)
    assert any('in this order: "a", "b", "c"' in note for note in found["notes"])


def test_data_and_names_that_do_not_fit_are_refused(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    colours, rows = model_in(files, "colours"), model_in(files, "rows")
    (tmp_path / "two.txt").write_text("red\ngreen\n")
    (tmp_path / "wrong.txt").write_text("red\ngreen\npurple\n")
    (tmp_path / "less.csv").write_text("a,b,y\n1,2,3\n2,3,4\n")
    pictures = ["--data", str(files / "pictures")]
    for arguments, said in (
        ([colours, *pictures, "--classes", tmp_path / "two.txt"], "has 3 classes; 2 names were given"),
        ([colours, *pictures, "--classes", tmp_path / "wrong.txt"], "that the training data lacks"),
        ([colours, *pictures, "--classes", tmp_path / "none.txt"], "cannot be read"),
        ([rows, "--data", tmp_path / "less.csv", "--set=data.response=y"], "3"),
        ([rows, *pictures], "gives 1 number; the data has 3 classes"),
        ([colours], "has no data. Name some with --data."),
    ):
        assert main(["evaluate", *map(str, arguments)]) == 2
        err = capsys.readouterr().err
        assert "Traceback" not in err
        assert said in err


def test_two_classes_more_than_the_data_has_are_asked_for(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("blue", "green"):
        (tmp_path / "pictures").mkdir(exist_ok=True)
        (tmp_path / "pictures" / name).symlink_to(files / "pictures" / name)
    model = str(model_in(files, "colours"))
    assert main(["evaluate", model, "--data", str(tmp_path / "pictures")]) == 2
    assert "gives 3 numbers; the data has 2 classes" in (err := capsys.readouterr().err)
    assert "--classes FILE" in err
    names = ["--classes", str(files / "classes.txt")]
    assert main(["evaluate", model, "--data", str(tmp_path / "pictures"), *names, "--json"]) == 0
    assert checked_output(capsys.readouterr().out)["metrics"]["accuracy"] == 1.0


def test_a_file_that_changed_is_imported_again(files: Path, tmp_path: Path) -> None:
    path = tmp_path / model_in(files, "rows").name
    write = FORMS[path.suffix[1:]]
    for factor in (1.0, 3.0):
        module = Rows()
        with torch.no_grad():
            module.fc.bias.fill_(factor)
        write(module, torch.rand(2, 3), path)
        weights = open_model(path).weights or {}
        assert any(torch.equal(value, torch.tensor([factor])) for value in weights.values())


def test_what_is_exported_again_says_the_same(files: Path, tmp_path: Path) -> None:
    model = model_in(files, "rows")
    export(model, "onnx", tmp_path / "again.onnx")
    x = torch.rand(5, 3)
    for path in (model, tmp_path / "again.onnx"):
        found = open_model(path)
        (outputs,) = found.outputs(found.answering, (x,))
        torch.testing.assert_close(outputs, Rows()(x).detach())
