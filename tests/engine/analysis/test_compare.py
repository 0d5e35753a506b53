"""Two runs on the same samples, and groups of samples: tests against scipy and scikit-learn, and refusals in words."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics as reference
from scipy.stats import binomtest

from netwright.engine.analysis.evaluate import evaluate
from netwright.engine.analysis.groups import group_labels
from netwright.engine.analysis.paired_comparison import mcnemar, metric_difference
from netwright.engine.analysis.scores import measures_of
from netwright.engine.cli.main import main
from netwright.engine.core.files import CHECKSUM
from netwright.engine.project.project import Project
from netwright.engine.runs.data_record import read_record, write_record
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import train


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs `good` and `poor` on a table with two classes, and `late`, whose test split is another one."""
    folder = tmp_path_factory.mktemp("compared")
    numbers = np.random.default_rng(0).standard_normal(600)
    rows = [f"{x:.4f},{'uvw'[i % 3]},{i},{'no' if x < 0 else 'yes'}" for i, x in enumerate(numbers)]
    (folder / "a.csv").write_text("\n".join(["x,kind,number,y", *rows]))
    network = chain(layer("feature_input", channels=4), layer("fully_connected", outputs=2), layer("softmax"))
    project = Project(network)
    data = project.data.replace(source="table", path=str(folder / "a.csv"), left_out="number")
    for name, epochs, rate in (("good", 4, 0.1), ("poor", 1, 0.001)):
        train(
            replace(
                project,
                data=data,
                training=project.training.replace(max_epochs=epochs, solver="adam", initial_learn_rate=rate),
                environment=project.environment.replace(target="cpu", threads=1),
            ),
            folder / name,
        )
    shutil.copytree(folder / "good", folder / "late")
    record = read_record(folder / "late")
    assert record is not None
    write_record(folder / "late", replace(record, parts=record.parts[7:] + record.parts[:7]))
    return folder


def test_a_real_difference_is_told_from_chance(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(folder / "good"), "--against", str(folder / "poor"), "--json"]) == 0
    found = checked_output(capsys.readouterr().out)
    (target,) = found["targets"]
    sides = [evaluate(folder / name)["targets"][0] for name in ("good", "poor")]
    accuracy = target["metrics"][0]
    assert (accuracy["first"], accuracy["second"]) == pytest.approx([side["accuracy"] for side in sides])
    assert target["metrics"][2]["first"] == pytest.approx(sides[0]["cross_entropy"])
    counts = target["mcnemar"]
    assert counts["both"] + counts["only_first"] == round(accuracy["first"] * 90)
    assert counts["p"] == pytest.approx(
        binomtest(counts["only_first"], counts["only_first"] + counts["only_second"]).pvalue
    )
    assert target["disagreed"] == counts["only_first"] + counts["only_second"]
    assert accuracy["interval"][1] < 0
    assert target["conclusion"].startswith("The first run is better")
    assert main(["evaluate", str(folder / "good"), "--against", str(folder / "good")]) == 0
    assert "Both runs have the same accuracy." in capsys.readouterr().out


def test_runs_with_other_splits_are_compared_on_what_is_in_both(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(folder / "good"), "--against", str(folder / "late")]) == 0
    said = capsys.readouterr().out
    assert "The test splits of the runs differ (90 and 90 samples)" in said
    assert "Both runs have the same accuracy." in said


def test_runs_on_other_data_or_with_other_classes_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = Path(shutil.copytree(folder / "good", tmp_path / "other"))
    record = read_record(other)
    assert record is not None
    write_record(other, replace(record, source="images"))
    assert main(["evaluate", str(folder / "good"), "--against", str(other)]) == 2
    assert "The runs were trained on different data." in capsys.readouterr().err
    manifest = json.loads((other / "best" / "manifest.json").read_text().replace('"yes"', '"maybe"'))
    manifest = {name: value for name, value in manifest.items() if name != CHECKSUM}
    (other / "best" / "manifest.json").write_text(json.dumps(manifest))
    data = ["--data", str(folder / "a.csv")]
    assert main(["evaluate", str(folder / "good"), "--against", str(other), *data]) == 2
    assert 'The runs differ in the classes of "y": "maybe", "yes".' in capsys.readouterr().err
    assert main(["evaluate", str(folder / "good"), "--against", str(folder / "none")]) == 2


@pytest.mark.parametrize(("one", "other"), [(0, 0), (3, 3), (17, 2), (0, 9), (400, 520)])
def test_mcnemar_is_the_binomial_test(one: int, other: int) -> None:
    expected = binomtest(one, one + other).pvalue if one + other else 1.0
    assert mcnemar(one, other) == pytest.approx(expected)


def test_the_share_of_draws_without_the_sign_of_the_difference() -> None:
    found = metric_difference("rmse", 2.0, 1.5, np.array([-0.5, -0.4, -0.6, 0.1]))
    assert (found["p"], found["better"], found["difference"]) == (0.5, "second", -0.5)


def test_metrics_of_sums_are_those_of_scikit_learn() -> None:
    generator = np.random.default_rng(1)
    target, predicted = generator.integers(0, 3, 100), generator.integers(0, 3, 100)
    arrays: dict[str, np.ndarray] = {
        "target": target,
        "predicted": predicted,
        "loss": np.ones(100),
        "answers": np.ones(100),
    }
    measures = measures_of("classes", "abc", arrays)
    assert measures is not None
    found = measures.of(measures.rows.sum(0))
    assert found["accuracy"] == pytest.approx(reference.accuracy_score(target, predicted))
    assert found["f-score"] == pytest.approx(reference.f1_score(target, predicted, average="macro"))
    many = measures_of("classes", [str(number) for number in range(50)], arrays)
    assert many is not None
    assert many.of(many.rows.sum(0))["accuracy"] == pytest.approx(found["accuracy"])
    for one in (measures, many):
        assert one.answers is not None
        assert one.answers(one.rows.sum(0)) == 100
    truth = generator.random((100, 3)) > 0.5
    said = generator.random((100, 3)) > 0.5
    counts = np.stack([truth & said, said, truth], axis=1).astype(np.int32)
    of_labels: dict[str, np.ndarray] = {
        "counts": counts,
        "loss": np.ones(100),
        "answers": np.full(100, 3),
        "target": truth.astype(float),
    }
    measures = measures_of("labels", "abc", of_labels)
    assert measures is not None
    found = measures.of(measures.rows.sum(0))
    assert found["accuracy"] == pytest.approx((truth == said).mean())
    assert found["f-score"] == pytest.approx(reference.f1_score(truth, said, average="macro"))


def test_groups_by_a_column_and_by_class(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = folder / "good"
    assert main(["evaluate", str(run), "--by", "kind", "--json"]) == 0
    found = checked_output(capsys.readouterr().out)["groups"]["targets"][0]
    assert sorted(row["group"] for row in found["groups"]) == ["u", "v", "w"]
    total = sum(row["samples"] * row["metrics"]["accuracy"] for row in found["groups"])
    assert total / 90 == pytest.approx(found["whole"]["accuracy"])
    by_class = evaluate(run, by="class")
    recalls = [row["recall"] for row in by_class["targets"][0]["per_class"]]
    rows = by_class["groups"]["targets"][0]["groups"]
    assert [row["group"] for row in rows] == ["no", "yes"]
    assert [row["metrics"]["accuracy"] for row in rows] == pytest.approx(recalls)
    ends = [row["recall_interval"] for row in by_class["targets"][0]["per_class"]]
    assert [row["intervals"]["accuracy"] for row in rows] == [pytest.approx(pair) for pair in ends]
    assert all(low < recall and low < 1.0 for (low, _), recall in zip(ends, recalls, strict=True))
    assert len(evaluate(run, by="number")["groups"]["targets"][0]["groups"]) == 4, "a column that is no input"
    assert main(["evaluate", str(run), "--by", "knd"]) == 2
    assert 'cannot be grouped by "knd". Did you mean' in capsys.readouterr().err


def test_numbers_become_quarters_and_gaps_a_group() -> None:
    labels, order = group_labels(np.array([*range(100), np.nan]))
    assert order == ["0 to 24.75", "24.75 to 49.5", "49.5 to 74.25", "74.25 to 99"]
    assert [labels[0], labels[25], labels[99], labels[100]] == [order[0], order[1], order[3], "(empty)"]
    assert group_labels(np.array([2.0, 1.0, 2.0]))[1] == ["1", "2"]
