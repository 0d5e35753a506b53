"""A network that several devices compute: the answers of one device, in the order of the samples."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from netwright.engine.analysis.explanations import Explanation, Question, explain
from netwright.engine.analysis.importance import BATCH
from netwright.engine.analysis.subject import Subject
from netwright.engine.cli.main import main
from netwright.engine.hardware import devices
from netwright.engine.models.open_model import open_model
from netwright.engine.models.trained_model import DEVICE, outputs_in_order
from netwright.engine.project.project import Project
from netwright.engine.runs.model_files import ModelChoice
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import train

CORES = 3
WORDS = ("cpu", "multi-cpu")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on sequences of 900 samples, with layers that keep statistics and states."""
    folder = tmp_path_factory.mktemp("replicas")
    random = np.random.default_rng(0)
    x = random.normal(size=(900, 12, 3)).astype(np.float32)
    np.savez(folder / "a.npz", x=x, y=(x[:, :, 0].sum(1) > 0).astype(np.int64))
    network = chain(
        layer("sequence_input", channels=3),
        layer("conv1d", filters=8),
        layer("batch_norm"),
        layer("lstm", hidden_units=8, output_mode="last"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    project = Project(network)
    project = replace(
        project,
        data=project.data.replace(source="arrays", path=str(folder / "a.npz")),
        environment=project.environment.replace(target="cpu", threads=1),
        training=project.training.replace(solver="adam", max_epochs=1, mini_batch_size=64),
    )
    assert train(project, folder / "run").exit_code == 0
    return folder / "run"


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The number of cores that the machine seems to have; torch has as many threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(CORES)
    monkeypatch.setattr(devices, "num_cores", lambda: CORES)
    yield CORES
    assert torch.get_num_threads() == CORES  # what computes later has all cores again
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("cores")
def test_scores_are_those_of_one_device(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for word in WORDS:
        assert main(["evaluate", str(run), "--split", "training", "--fresh", "--device", word, "--json"]) == 0
        told.append(checked_output(capsys.readouterr().out))
    one, several = told
    assert one["samples"] == several["samples"] > 512
    assert several["loss"] == pytest.approx(one["loss"], rel=1e-6)
    assert several["metrics"] == pytest.approx(one["metrics"], rel=1e-6)
    assert [row["index"] for row in several["targets"][0]["worst"]] == [
        row["index"] for row in one["targets"][0]["worst"]
    ]


@pytest.mark.usefixtures("cores")
def test_answers_and_robustness_are_those_of_one_device(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for word in WORDS:
        file = str(run.parent / "a.npz")
        assert main(["predict", str(run), file, "--batch", "100", "--device", word, "--json"]) == 0
        answers = checked_output(capsys.readouterr().out)["predictions"]
        assert main(["robustness", str(run), "--samples", "600", "--fresh", "--device", word, "--json"]) == 0
        told.append((answers, checked_output(capsys.readouterr().out)["curves"]))
    (one, curves), (several, other_curves) = told
    assert [row["sample"] for row in one] == [row["sample"] for row in several]
    likeliest = [[row["outputs"][0]["top"][0]["probability"] for row in rows] for rows in (one, several)]
    assert likeliest[0] == pytest.approx(likeliest[1], rel=1e-5)
    for curve, other in zip(curves, other_curves, strict=True):
        assert other["values"] == pytest.approx(curve["values"], abs=0.01)


def explained(run: Path, word: str, question: Question) -> Explanation:
    """Return an explanation for the training split, computed on the devices that a word means."""
    return explain(Subject(open_model(ModelChoice(run, device=word)), "training"), question, fresh=True)


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize("method", ["activations", "embedding", "integrated_gradients"])
def test_explanations_are_those_of_one_device(run: Path, method: str) -> None:
    one, several = (explained(run, word, Question(method, place=3)) for word in WORDS)
    assert {*one.arrays} == {*several.arrays}
    for name, array in one.arrays.items():
        assert several.arrays[name] == pytest.approx(array, rel=1e-4, abs=1e-5), name


@pytest.mark.usefixtures("cores")
def test_importance_is_that_of_one_device(tmp_path: Path) -> None:
    a, b = np.random.default_rng(0).standard_normal((2, 6000))
    rows = (f"{u:.5f},{v:.5f},{2 * u + v:.5f}" for u, v in zip(a, b, strict=True))
    (tmp_path / "a.csv").write_text("\n".join(["a,b,y", *rows]))
    network = chain(layer("feature_input", channels=2, normalization="none"), layer("fully_connected", outputs=1))
    project = Project(network)
    project = replace(
        project,
        data=project.data.replace(source="table", path=str(tmp_path / "a.csv"), response="y", task="numbers"),
        environment=project.environment.replace(target="cpu", threads=1),
        training=project.training.replace(max_epochs=1),
    )
    table = train(project, tmp_path / "run").folder.path
    one, several = (explained(table, word, Question("permutation")) for word in WORDS)
    assert one.told["samples"] > BATCH  # several batches per change of the inputs
    assert [row["name"] for row in several.told["features"]] == [row["name"] for row in one.told["features"]]
    for row, other in zip(one.told["features"], several.told["features"], strict=True):
        assert other["value"] == pytest.approx(row["value"], rel=1e-5)
    one, several = (explained(table, word, Question("partial_dependence")) for word in WORDS)
    for name, array in one.arrays.items():
        assert several.arrays[name] == pytest.approx(array, rel=1e-5), name


def test_batches_come_in_their_order_and_an_error_ends_all(run: Path, cores: int) -> None:
    model = open_model(ModelChoice(run, device="multi-cpu"))
    assert model.devices == (DEVICE,) * cores
    places = {place: set[int]() for place in ("thread", "module")}

    class Slow(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            places["thread"].add(threading.get_ident())
            places["module"].add(id(self))
            threading.Event().wait(0.02 * float(x % 3))
            if x == 11:
                raise ValueError("eleven")
            return 2 * x

    read: list[int] = []

    def batches() -> Iterator[torch.Tensor]:
        for number in range(30):
            read.append(number)
            yield torch.tensor(number)

    before = threading.active_count()
    answers = outputs_in_order(model, Slow(), batches(), lambda batch: (batch,))
    assert [int(next(answers)[1][0]) for _ in range(10)] == [2 * number for number in range(10)]
    assert len(places["thread"]) == len(places["module"]) == cores
    assert len(read) <= 10 + 2 * cores  # no more is read than is worked on
    with pytest.raises(ValueError, match="eleven"):
        list(answers)
    assert threading.active_count() == before


def test_the_weights_of_replicas_are_one(run: Path) -> None:
    model = replace(open_model(run), devices=(DEVICE, DEVICE))
    seen: list[tuple[int, int]] = []
    module = model.scoring
    for part in module.modules():
        if isinstance(part, nn.BatchNorm1d):
            part.register_forward_hook(
                lambda part, inputs, output: seen.append((part.weight.data_ptr(), part.running_mean.data_ptr()))
            )
    list(outputs_in_order(model, module, [(torch.zeros(1, 12, 3),)] * 8, lambda batch: batch))
    assert len({weight for weight, _ in seen}) == 1
    assert len({mean for _, mean in seen}) <= 2
