"""Thresholds and temperature: what is told of them, how they are stored, and that `predict` and ONNX apply them."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from netwright.engine.analysis import decisions
from netwright.engine.analysis.evaluate import Deciding, evaluate
from netwright.engine.analysis.predictions import predict
from netwright.engine.analysis.predictors import open_predictor
from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.apply_preparation import present
from netwright.engine.project.preparation import InputPreparation, Preparation, TargetPreparation
from netwright.engine.project.project import Project
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import train

GIVEN = InputPreparation(name="x", axes=("C",), sizes=(2,))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that tells two classes apart, not well, and a file with rows to predict."""
    folder = tmp_path_factory.mktemp("decided")
    generator = np.random.default_rng(0)
    numbers = generator.standard_normal(400)
    said = ["no" if x + generator.standard_normal() < 0 else "yes" for x in numbers]
    rows = [f"{x:.4f},{y}" for x, y in zip(numbers, said, strict=True)]
    (folder / "a.csv").write_text("\n".join(["x,y", *rows]))
    network = chain(layer("feature_input", channels=1), layer("fully_connected", outputs=2), layer("softmax"))
    project = Project(network)
    train(
        replace(
            project,
            data=project.data.replace(source="table", path=str(folder / "a.csv")),
            training=project.training.replace(max_epochs=3, solver="adam", initial_learn_rate=0.1),
            environment=project.environment.replace(target="cpu", threads=1),
        ),
        folder / "run",
    )
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """A copy of the run, which a test may change."""
    return Path(shutil.copytree(trained / "run", tmp_path / "run"))


def chances(run: Path, rows: Path) -> list[tuple[str, float]]:
    """The class of each row, and its probability of `yes`."""
    outputs = [one["outputs"][0] for one in predict(open_predictor(run), [rows])]
    return [(one["class"], next(row["probability"] for row in one["top"] if row["class"] == "yes")) for one in outputs]


def test_a_stored_threshold_decides_in_predict_and_in_onnx(
    run: Path, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = chances(run, trained / "a.csv")
    middle = float(np.quantile([chance for _, chance in before], 0.2))
    assert main(["evaluate", str(run), "--threshold", f"yes={middle}", "--store", "--json"]) == 0
    found = checked_output(capsys.readouterr().out)
    (point,) = found["operating_points"]
    assert point["true_positives"] + point["false_negatives"] == found["targets"][0]["per_class"][1]["support"]
    assert found["targets"][0]["stored"] == {"thresholds": {"yes": middle}, "temperature": 1.0}
    after = chances(run, trained / "a.csv")
    assert [said for said, _ in after] == ["yes" if chance >= middle else "no" for _, chance in after]
    assert [chance for _, chance in after] == [chance for _, chance in before]
    given = np.array([[1 - chance, chance] for _, chance in after])
    (of_onnx,) = present(Preparation.load(run / "best").for_onnx(["y"]), [given])
    assert [of_onnx.sample(number)["class"] for number in range(len(of_onnx))] == [said for said, _ in after]
    assert main(["evaluate", str(run), "--threshold", "no=0.25", "--store"]) == 0
    assert "stored with the network, applied by predict: yes from 0.75 on" in capsys.readouterr().out
    evaluate(run, deciding=Deciding(resets=True))
    assert chances(run, trained / "a.csv") == before


def test_a_temperature_is_fitted_on_validation_and_applied_where_it_is_stored(run: Path, trained: Path) -> None:
    before = chances(run, trained / "a.csv")
    found = evaluate(run, deciding=Deciding(calibrates=True))
    (shown,) = found["calibrated"]
    assert found["targets"][0]["stored"]["temperature"] == 1.0
    assert chances(run, trained / "a.csv") == before, "nothing is applied that was not stored"
    on_validation = evaluate(run, "validation", deciding=Deciding(calibrates=True))["calibrated"][0]
    assert on_validation["after"]["cross_entropy"] <= on_validation["before"]["cross_entropy"]
    evaluate(run, deciding=Deciding(["yes=0.3"], stores=True))
    decided = [said for said, _ in chances(run, trained / "a.csv")]
    found = evaluate(run, deciding=Deciding(calibrates=True, stores=True))
    temperature = found["targets"][0]["stored"]["temperature"]
    assert temperature == shown["temperature"] != 1.0
    after = chances(run, trained / "a.csv")
    logits = np.log([chance / (1 - chance) for _, chance in before]) / temperature
    assert [chance for _, chance in after] == pytest.approx((1 / (1 + np.exp(-logits))).tolist(), abs=1e-4)
    assert [said for said, _ in after] == decided, "the threshold decides as before"
    curve = found["targets"][0]["curves"][1]
    assert curve["auc"] == pytest.approx(
        evaluate(run, deciding=Deciding(resets=True))["targets"][0]["curves"][1]["auc"]
    )


def test_exports_divide_scores_by_the_stored_temperature(
    run: Path, trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decisions.store_temperatures(run / "best", Preparation.load(run / "best"), {0: 2.5})
    wanted = chances(run, trained / "a.csv")
    file, code = tmp_path / "net.onnx", tmp_path / "net.py"
    assert main(["export", str(run), "-o", str(file)]) == 0
    assert "divided by the stored temperature 2.5" in capsys.readouterr().out
    assert open_predictor(file).record.targets[0].temperature == 1.0, "it is applied once"
    assert [chance for _, chance in chances(file, trained / "a.csv")] == pytest.approx(
        [chance for _, chance in wanted], abs=1e-5
    )
    assert main(["export", str(run), "-o", str(code)]) == 0
    assert "torch.mul(" in code.read_text()
    assert "0.4" in code.read_text()
    as_trained = ["export", str(run), "--format", "pytorch", "-o", str(code), "--force", "--temperature", "outside"]
    assert main(as_trained) == 0
    assert "torch.mul(" not in code.read_text()


def test_a_crash_while_storing_leaves_a_network_that_can_be_used(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for name in ("write_atomically", "write_checked_json"):
        with monkeypatch.context() as patch:
            patch.setattr(decisions, name, crash)
            with pytest.raises(KeyboardInterrupt):
                evaluate(run, deciding=Deciding(["yes=0.3"], stores=True))
        assert evaluate(run)["targets"][0]["stored"]["thresholds"] == {}
    evaluate(run, deciding=Deciding(["yes=0.3"], stores=True))
    manifest = json.loads((run / "best" / "manifest.json").read_text())
    assert len(manifest["files"]["preparation.json"]["sha256"]) == 64


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--threshold", "maybe=0.3"], 'has no class "maybe"'),
        (["--threshold", "yes=1.5"], "between 0 and 1"),
        (["--threshold", "yes"], "between 0 and 1"),
        (["--store"], "--store needs what to store"),
    ],
)
def test_what_cannot_be_decided_is_refused(
    trained: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(trained / "run"), *arguments]) == 2
    assert said in capsys.readouterr().err


def test_labels_have_thresholds_of_their_own_and_three_classes_have_none(tmp_path: Path) -> None:
    labels = TargetPreparation(name="y", task="labels", axes=("C",), sizes=(2,), classes=("a", "b"))
    record = Preparation(kind="arrays", inputs=(GIVEN,), targets=(labels,))
    (tmp_path / "preparation.json").write_bytes(record.content())
    (tmp_path / "manifest.json").write_text('{"files": {"preparation.json": {}}}')
    stored = decisions.store_thresholds(tmp_path, record, decisions.read_thresholds(["b=0.9"], record))
    assert Preparation.load(tmp_path) == stored
    (found,) = present(stored, [np.array([[0.6, 0.8], [0.4, 0.95]])])
    assert [found.sample(number)["labels"] for number in (0, 1)] == [["a"], ["b"]]
    three = replace(labels, task="classes", sizes=(3,), classes=("a", "b", "c"))
    record = replace(record, targets=(three, replace(three, name="z")))
    with pytest.raises(UserError, match=r"Several outputs have the class \"a\". Name one, such as y:a"):
        decisions.read_thresholds(["a=0.4"], record)
    with pytest.raises(UserError, match="the likeliest is chosen"):
        decisions.store_thresholds(tmp_path, record, decisions.read_thresholds(["z:a=0.4"], record))
