"""`weights` and `transfer`: what is loaded, and new projects from trained networks."""

import json
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cli.main import main
from netwright.engine.cli.request_handlers import answer
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.weights_file import write_weights_file
from netwright.engine.lowering.weights_folder import save as save_weights
from netwright.engine.network.analysis import analyse
from netwright.engine.project.file import dumps, load, save
from netwright.engine.project.project import Project, new_identity
from netwright.engine.project.published_weights import published
from netwright.engine.runs.project_from_run import Transfer, transferred
from tests.builders import chain, classifier, layer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with data beside it, its weights in a file, and a run of it."""
    network = classifier()
    state, layers = build(network, analyse(network)).state_dict(), prefixes(network, analyse(network))
    write_weights_file(tmp_path / "w.safetensors", state, layers)
    run = tmp_path / "runs" / "first"
    run.mkdir(parents=True)
    save_weights(state, run / "best", {"layers": {id: list(names) for id, names in layers.items()}})
    value = Project(network, identity=new_identity())
    value = value.with_section("data", value.data.replace(source="arrays", path="data/x.npz"))
    save(value, run / "project.netwright")
    (run / "run.json").write_text(json.dumps({"base": str(tmp_path), "name": "net", "state": "finished"}))
    (run / "events.jsonl").touch()
    path = tmp_path / "net.netwright"
    save(value, path)
    return path


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_a_run_starts_another_project(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = project.parent
    (folder / "other").mkdir()
    to = folder / "other" / "new"
    choices = ["--outputs", "5", "--freeze-up-to", "fc_1", "--slow-up-to", "fc_1", "--json"]
    assert main(["transfer", str(folder / "runs" / "first"), "-o", str(to), *choices]) == EXIT_DONE
    assert told(capsys)["frozen"] == ["fc_1"]
    made = load(to.with_suffix(".netwright")).project
    assert made.identity != load(project).project.identity
    assert made.data.path == str(folder / "data" / "x.npz")
    assert made.weights.file == str(folder / "runs" / "first")
    assert made.weights.freeze_up_to == "id2"
    assert made.network.layer("fc_3").type.write() == {"outputs": 5}
    assert made.network.layer("fc_1").type.write()["weight_learn_rate_factor"] == 0.1
    assert main(["weights", "match", str(to.with_suffix(".netwright")), "--json"]) == EXIT_DONE
    found = told(capsys)
    assert {row["name"]: row["state"] for row in found["layers"]} == {
        "image_1": "loaded",
        "fc_1": "loaded",
        "fc_3": "fresh",
    }
    assert found["left_over"] == ["fc_2.bias", "fc_2.weight"]


def test_a_project_takes_weights_and_nothing_is_replaced(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = project.with_name("copy.netwright")
    weights = str(project.with_name("w.safetensors"))
    assert main(["transfer", str(project), "-o", str(to), "--weights", weights]) == EXIT_DONE
    assert load(to).project.weights.file == "w.safetensors"
    assert load(to).project.data.path == "data/x.npz"
    assert main(["transfer", str(project), "-o", str(to), "--weights", weights]) == EXIT_INPUT
    assert "exists already" in capsys.readouterr().err
    assert main(["transfer", str(project), "-o", str(to.with_name("x")), "--outputs", "3"]) == EXIT_INPUT
    assert "starts from random numbers" in capsys.readouterr().err
    assert main(["weights", "match", str(project)]) == EXIT_INPUT
    assert main(["weights", "match", str(project), "--from", weights]) == EXIT_DONE
    assert "3 layers loaded." in capsys.readouterr().out


def test_check_names_weights_that_are_gone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(project), "--set", "weights.file=gone.safetensors", "--json"]) == EXIT_INPUT
    problems = [problem for problem in told(capsys)["problems"] if problem["field"] == "weights.file"]
    assert "No such file" in problems[0]["message"]


def test_the_window_asks_for_the_same(project: Path) -> None:
    value = load(project).project
    value = value.with_section("weights", value.weights.replace(file="runs/first"))
    values = {"project": str(project), "text": dumps(value), "base": str(project.parent)}
    said = answer({"id": 3, "do": "weights match", "with": values})
    assert said["result"]["sentence"] == "3 layers loaded."
    assert "is_here" in published()["resnet18"].write()
    wrong = answer({"id": 4, "do": "weights fetch", "with": {"name": "nothing"}})
    assert wrong["error"]["code"] == "not_found"


def test_images_are_normalised_as_those_of_published_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = published()["resnet18"]
    path = tmp_path / "w.pth"
    path.write_bytes(b"weights")
    monkeypatch.setattr("netwright.engine.runs.project_from_run.entry_of", lambda sha256: entry)
    network = chain(layer("image_input", channels=3, size=8), layer("fully_connected", outputs=2))
    made = transferred(Project(network), tmp_path, Transfer(path)).network.layer("image_1").type.write()
    assert made["statistics"] == "given"
    assert made["mean"] == pytest.approx([255 * n for n in (0.485, 0.456, 0.406)])
    grey = transferred(Project(classifier()), tmp_path, Transfer(path)).network.layer("image_1").type.write()
    assert "statistics" not in grey
