"""Code of the user's in real processes: nothing of it runs before it is trusted; then it trains and is exported."""

import subprocess
from pathlib import Path

import pytest

from netwright.engine.layers.custom_layers import Custom, Function
from netwright.engine.network.network import Network
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.user_code.signature import read_signatures
from tests import warm
from tests.builders import add, layer
from tests.json_schema import checked_output

ROOT = Path(__file__).parents[2]
CODE = """
from pathlib import Path

import torch
from torch import nn

Path("{mark}").write_text("this ran")


class Swish(nn.Module):
    def __init__(self, width: int, beta: float = 1.0):
        super().__init__()
        self.beta = beta
        self.mix = nn.Linear(width, width)
        nn.init.eye_(self.mix.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training and x.shape[0] > 3 and self.beta > 2:
            raise ValueError("beta is too large")
        return self.mix(x) * torch.sigmoid(self.beta * x)


def blend(x: torch.Tensor, y: torch.Tensor, amount: float = 0.5) -> torch.Tensor:
    return amount * x + (1 - amount) * y
"""


def engine(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return warm.run(arguments)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """The file that the code writes when it is imported."""
    return tmp_path / "it-ran"


def project(folder: Path, mark: Path, beta: float = 1.5) -> Path:
    """A project beside its file of code, with a class, a function and an expression."""
    (folder / "layers").mkdir(parents=True)
    text = CODE.replace("{mark}", str(mark))
    (folder / "layers" / "swish.py").write_text(text)
    found = {one.name: one for one in read_signatures(text, "swish.py")}
    network, image = add(Network.empty(), layer("image_input", channels=1, size=8))
    network, fc = add(network, layer("fully_connected", outputs=16), image)
    swish = Custom.of("layers/swish.py", found["Swish"]).replace(width=16, beta=beta)
    network, swished = add(network, swish, fc)
    network, blended = add(network, Function.of("layers/swish.py", found["blend"]), swished, fc)
    network, gated = add(network, Function(expression="x1 * torch.sigmoid(x2)", num_inputs=2), blended, fc)
    network, out = add(network, layer("fully_connected", outputs=10), gated)
    network, _ = add(network, layer("softmax"), out)
    options = TrainingOptions(max_epochs=1, solver="adam", mini_batch_size=256)
    save(Project(network, data=DataOptions(source="digits"), training=options), folder / "own.netwright")
    return folder / "own.netwright"


def test_nothing_runs_before_it_is_trusted(tmp_path: Path, mark: Path) -> None:
    path = project(tmp_path / "stranger", mark)
    done = engine("check", path, "--json")
    assert done.returncode == 0
    (problem,) = (p for p in checked_output(done.stdout)["problems"] if p["severity"] != "note")
    assert (problem["severity"], problem["layer"]) == ("warning", "custom_1")
    assert "its folder is not trusted" in problem["message"]
    refused = [
        engine("train", path, "--run-dir", tmp_path / "run"),
        engine("export", path, "--format", "pytorch", "-o", tmp_path / "net.py"),
    ]
    for done in refused:
        assert done.returncode == 2
        assert "layers/swish.py, x1 * torch.sigmoid(x2)" in done.stderr
        assert "has all your rights" in done.stderr
        assert "--trust" in done.stderr
    assert engine("draw", path, "-o", tmp_path / "net.svg").returncode == 0
    assert not mark.exists()
    assert not (tmp_path / "run").exists()
    assert not (tmp_path / "net.py").exists()


def test_it_trains_on_two_workers_and_leaves_as_source_and_as_onnx(tmp_path: Path, mark: Path) -> None:
    path, run = project(tmp_path / "mine", mark), tmp_path / "run"
    workers = ["--environment", "multi-cpu", "--workers", "2"]
    done = engine("train", path, "--trust", *workers, "--run-dir", run, "--json")
    assert done.returncode == 0, done.stderr
    result = checked_output(done.stdout)
    assert (result["state"], result["environment"]["resolved"]) == ("finished", "multi-cpu")
    assert mark.exists()

    # The run has a copy of the code: what is changed later does not matter to it. It is not trusted for good.
    (path.parent / "layers" / "swish.py").write_text("raise SystemExit('not this one')")
    mark.unlink()
    net = tmp_path / "out" / "net.py"
    net.parent.mkdir()
    assert engine("export", run, "--format", "pytorch", "-o", net).returncode == 2
    assert not mark.exists()
    done = engine("export", run, "--format", "pytorch", "-o", net, "--trust")
    assert done.returncode == 0, done.stderr
    text = net.read_text()
    assert "self.custom_1 = custom_layers__swish.Swish(width=16, beta=1.5)" in text
    assert "function_1 = custom_layers__swish.blend(custom_1, fc_1)" in text
    assert "function_2 = function_1 * torch.sigmoid(fc_1)" in text
    assert sorted(file.name for file in net.parent.iterdir()) == [
        "custom_layers__swish.py",
        "net.py",
        "net.safetensors",
    ]
    printed = warm.run_file(net)
    assert printed.stdout.split() == ["4", "×", "10"]

    done = engine("export", run, "--format", "onnx", "-o", tmp_path / "net.onnx", "--trust", "--json")
    assert done.returncode == 0, done.stderr
    assert checked_output(done.stdout)["largest_difference"] < 1e-4


def test_what_goes_wrong_in_it_is_told_with_its_file_and_line(tmp_path: Path, mark: Path) -> None:
    path = project(tmp_path / "mine", mark, beta=3.0)
    line = CODE.splitlines().index('            raise ValueError("beta is too large")') + 1
    done = engine("train", path, "--trust", "--run-dir", tmp_path / "run", "--environment", "cpu")
    assert done.returncode == 3, done.stderr
    assert f"layers/swish.py, line {line}: ValueError: beta is too large" in done.stdout
    (path.parent / "layers" / "swish.py").write_text(
        "import nothing_of_this_name\n" + CODE.replace("{mark}", str(mark))
    )
    done = engine("check", path, "--trust")
    assert done.returncode == 2
    assert (
        "custom_1: layers/swish.py, line 1: ModuleNotFoundError: No module named 'nothing_of_this_name'" in done.stdout
    )
