import json
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.runs.create import SHIPPED
from tests.blocks import IMAGE, behind, dense, residual
from tests.builders import chain, layer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "net.netwright"
    save(Project(behind(IMAGE, residual(), dense(), names=("stage", "grow"))), path)
    return path


def test_what_is_inside_blocks_stands_below_them(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(project)]) == EXIT_DONE
    lines = capsys.readouterr().out.splitlines()
    shown = [line.split("  ")[0] for line in lines[1:9]]
    assert shown == ["image_1", "stage", "stage/conv", "stage/bn", "stage/add", "grow", "grow/conv", "grow/join"]
    assert "Block × 3" in lines[6]


def test_json_says_how_often_a_block_is_repeated(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(project), "--json"]) == EXIT_DONE
    found = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in found["layers"]}
    assert (rows["grow"]["repeat"], rows["stage"]["repeat"]) == (3, 1)
    assert "repeat" not in rows["grow/conv"]
    assert rows["grow/conv"]["output"] == [2, 6, 6]
    outer = [row for name, row in rows.items() if "/" not in name]
    assert sum(row["parameters"] for row in outer) == found["parameters"]


def test_problems_inside_have_paths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.netwright"
    save(Project(behind(IMAGE, residual(8), names=("stage",))), path)
    assert main(["check", str(path)]) == EXIT_INPUT
    assert "error: stage/add, in" in capsys.readouterr().out


def test_stages_of_a_pipeline_are_listed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipeline = ["environment.target=multi-cpu", "environment.strategy=pipeline", "environment.num_workers=2"]
    settings = [word for assignment in pipeline for word in ("--set", assignment)]
    assert main(["check", str(project), *settings]) == EXIT_DONE
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("stage 1:", "stage 2:"))]
    assert lines[0].startswith("stage 1: 2 layers, ")
    assert lines[0].endswith(" per worker: image_1, stage")
    assert lines[1].startswith("stage 2: 1 layer, ")
    assert main(["check", str(project), *settings, "--set", "environment.stages=stage: 2", "--json"]) == EXIT_INPUT
    found = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row.get("stage") for row in found["layers"]}
    assert (rows["image_1"], rows["stage"], rows["grow"], rows["grow/conv"]) == (1, 2, 2, None)
    assert found["problems"][0]["message"].startswith("stage 1 has no layer whose weights learn")


def test_settings_without_effect_are_noted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["check", str(project), "--set", "environment.target=cpu", "--set", "environment.strategy=pipeline"]) == 0
    )
    assert "note: environment.strategy=pipeline has no effect" in capsys.readouterr().out


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    path = tmp_path / "faulty net.netwright"
    save(Project(behind(IMAGE, residual(8), names=("stage",))), path)
    return path


def test_many_files_are_checked_and_each_is_named(
    project: Path, faulty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = project.with_name("none.netwright")
    assert main(["check", str(project), str(faulty), str(missing)]) == EXIT_INPUT
    lines = capsys.readouterr().out.splitlines()
    heads = [line for line in lines if line.endswith(".netwright:")]
    assert heads == [f"{path}:" for path in (project, faulty, missing)]
    assert lines[-2] == f"error: There is no file {missing}."
    assert main(["check", str(project), str(faulty), "--json"]) == EXIT_INPUT
    told = json.loads(capsys.readouterr().out)
    assert [Path(each["path"]) for each in told["projects"]] == [project, faulty]
    assert told["error"] == {"code": "invalid_project", "message": "1 error, 0 warnings"}
    assert main(["check", str(project), str(project)]) == EXIT_DONE


def test_strict_counts_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    late = ("training.schedule=cosine", "training.warmup_iterations=9999")
    words = ["check", str(SHIPPED / "examples" / "digits.netwright"), *(f"--set={setting}" for setting in late)]
    assert main(words) == EXIT_DONE
    assert "warning: " in capsys.readouterr().out
    assert main([*words, "--strict"]) == EXIT_INPUT


def test_problems_as_annotations_of_github(faulty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(faulty), "--format", "github"]) == EXIT_INPUT
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("::error "))
    number = next(n for n, text in enumerate(faulty.read_text().splitlines(), start=1) if '"name": "add"' in text)
    assert line.startswith(f"::error file={faulty},line={number},title=stage/add%2C in")


def test_problems_as_sarif(faulty: Path, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(faulty), str(project), "--format", "sarif"]) == EXIT_INPUT
    log = json.loads(capsys.readouterr().out)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in run["results"]} == rules
    first = next(result for result in run["results"] if result["level"] == "error")
    place = first["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"].endswith("faulty%20net.netwright")
    assert place["logicalLocations"] == [{"fullyQualifiedName": "stage/add"}]


def test_the_source_is_guessed_where_only_a_path_is_given(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project.parent / "own.csv").write_text("a,b,price\n" + "1,2,3.5\n" * 20)
    assert main(["check", str(project), "--set", "data.path=own.csv"]) == EXIT_INPUT
    out = capsys.readouterr().out
    assert "data.source is table, guessed from data.path: The first line names 3 columns, separated by" in out
    assert "The training split has 14 samples" in out
    assert main(["check", str(project), "--set", "data.path=missing.csv"]) == EXIT_INPUT
    assert "missing.csv cannot be read" in capsys.readouterr().err


def test_data_behind_a_url_is_left_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--set", "data.source=shards", "--set", "data.path=http://127.0.0.1:1/a.tar?token=geheim"]
    assert main(["check", str(project), *given]) == EXIT_DONE
    said = capsys.readouterr()
    assert "read over the network, and was not looked at" in said.err
    assert "geheim" not in said.err


def test_a_network_is_fitted_to_its_data_and_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "\n".join(f"{n},{n * n % 7},{n / 2}" for n in range(40))
    (tmp_path / "flats.csv").write_text(f"rooms,floor,price\n{rows}\n", encoding="utf-8")
    layers = (layer("fully_connected", outputs=10), layer("softmax"))
    path = tmp_path / "flats.netwright"
    save(Project(chain(layer("feature_input", channels=20), *layers)), path)
    given = ["--set", "data.path=flats.csv", "--set", "data.response=price"]
    assert main(["check", str(path), *given]) == EXIT_INPUT
    assert "--fit` sets them" in capsys.readouterr().out
    assert main(["check", str(path), "--fit"]) == EXIT_INPUT
    assert "no data to fit it to" in capsys.readouterr().err
    assert main(["check", str(path), *given, "--fit"]) == EXIT_DONE
    assert "was fitted to the data" in capsys.readouterr().err
    made = load(path).project
    assert [one.type.key for one in made.network.layers.values()] == ["feature_input", "fully_connected"]
    assert (made.data.path, made.data.response) == ("flats.csv", "price")
    assert main(["check", str(path), "--fit"]) == EXIT_DONE
    assert "fits the data" in capsys.readouterr().err
