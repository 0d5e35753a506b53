import json
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.core.errors import EXIT_DONE, EXIT_INPUT
from engine.project.file import save
from engine.project.project import Project
from tests.blocks import IMAGE, behind, dense, residual


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
