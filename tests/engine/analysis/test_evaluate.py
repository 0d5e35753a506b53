"""What `evaluate` says of a run: the numbers that training said, of the run's own splits and of other data."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from netwright.engine.analysis.evaluate import evaluate
from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.project.project import Project
from netwright.engine.runs.data_record import read_record, write_record
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import Done, train


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A run on a table with a column of texts and two classes."""
    folder = tmp_path_factory.mktemp("evaluated")
    generator = np.random.default_rng(0)
    numbers = generator.standard_normal(300)
    rows = [f"{x:.4f},{'uvw'[i % 3]},{'no' if x < 0 else 'yes'}" for i, x in enumerate(numbers)]
    (folder / "a.csv").write_text("\n".join(["x,kind,y", *rows]))
    network = chain(
        layer("feature_input", channels=4),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    project = Project(network)
    return train(
        replace(
            project,
            data=project.data.replace(source="table", path=str(folder / "a.csv")),
            training=project.training.replace(max_epochs=3, solver="adam", initial_learn_rate=0.1),
            environment=project.environment.replace(target="cpu", threads=1),
        ),
        folder / "run",
    )


@pytest.fixture
def path(done: Done) -> Path:
    return done.folder.path


def test_its_numbers_are_those_of_the_training(done: Done, path: Path) -> None:
    for split in ("test", "validation"):
        found = evaluate(path, split)
        assert found["loss"] == pytest.approx(done.result[split]["loss"], rel=1e-5)
        assert found["metrics"]["accuracy"] == done.result[split]["accuracy"]
        (target,) = found["targets"]
        assert np.sum(target["confusion"]) == found["samples"] == 45
        assert target["accuracy"] == found["metrics"]["accuracy"]
        assert set(found["metrics"]) == {"accuracy", "precision", "recall", "f-score"}
    record = read_record(path)
    assert record is not None
    assert {row["index"] for row in target["worst"]} <= set(record.numbers("validation"))


def test_a_result_is_kept_until_something_changes(path: Path) -> None:
    first = evaluate(path, "training")
    assert (first["cached"], evaluate(path, "training")["cached"]) == (False, True)
    assert evaluate(path, "training", fresh=True)["cached"] is False
    for file in (path / "evaluations").iterdir():
        file.write_text("damaged")
    assert evaluate(path, "training") == first


def test_the_splits_are_those_that_were_recorded(path: Path) -> None:
    record = read_record(path)
    assert record is not None
    parts = bytearray(record.parts)
    parts[parts.index(2)] = 3
    write_record(path, replace(record, parts=bytes(parts)))
    assert evaluate(path, "test")["samples"] == 44
    write_record(path, replace(record, parts=record.parts[:-1]))
    with pytest.raises(UserError, match=r"has 300 samples now; it had 299\."):
        evaluate(path, "test")
    write_record(path, record)


def test_other_data_is_prepared_as_the_training_data(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = (path.parent / "a.csv").read_text().splitlines()
    record = read_record(path)
    assert record is not None
    chosen = [own[1 + number] for number in record.numbers("test")]
    (tmp_path / "b.csv").write_text("\n".join([own[0], *chosen]))
    expected = evaluate(path, "test")
    assert main(["evaluate", str(path), "--data", str(tmp_path / "b.csv"), "--json"]) == 0
    found = checked_output(capsys.readouterr().out)
    assert found["loss"] == pytest.approx(expected["loss"], rel=1e-6)
    assert found["targets"][0]["confusion"] == expected["targets"][0]["confusion"]
    # One category alone, classes and columns in another order: what they mean follows from the training.
    (tmp_path / "c.csv").write_text("\n".join(["kind,x,y", "w,2.0,yes", "w,-2.0,no"]))
    assert main(["evaluate", str(path), "--data", str(tmp_path / "c.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["accuracy"] == 1.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,y\n1,no\n2,yes\n", 'lacks columns that the network takes: "kind"'),
        ("x,kind,y\n1,u,maybe\n2,u,no\n", "has classes of 'y' that the training data lacks: \"maybe\""),
        ("x,kind,y\n1,u,5.5\n2,u,2.5\n", 'training data lacks: "2.5", "5.5"'),
    ],
)
def test_other_data_that_does_not_fit_is_named(
    path: Path, tmp_path: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "b.csv").write_text(text)
    assert main(["evaluate", str(path), "--data", str(tmp_path / "b.csv")]) == 2
    assert said in capsys.readouterr().err


def test_what_cannot_be_evaluated_is_refused(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(tmp_path)]) == 2
    assert main(["evaluate", str(path.parent / "run.netwright")]) == 2
    assert "run.netwright is a project without weights" in capsys.readouterr().err
    assert main(["evaluate", str(path), "--split", "test", "--data", "x.csv"]) == 2
    assert main(["evaluate", str(path), "--data", str(tmp_path / "none.csv")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_the_table_for_people(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(path)]) == 0
    said = capsys.readouterr().out
    assert "data: test split of" in said
    assert "95 % interval of the accuracy" in said
    assert "worst sample" in said
