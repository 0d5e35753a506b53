import json
from pathlib import Path

import pytest

from engine.cli import main
from engine.errors import EXIT_DONE, EXIT_INPUT
from engine.project.file import save
from engine.project.project import Project
from tests.builders import classifier


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "net.netwright"
    save(Project(classifier()), path)
    return path


@pytest.mark.parametrize(("ending", "begins"), [("svg", b"<?xml"), ("PDF", b"%PDF-"), ("png", b"\x89PNG")])
def test_the_ending_decides(
    project: Path, tmp_path: Path, ending: str, begins: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / f"net.{ending}"
    assert main(["draw", str(project), "-o", str(to)]) == EXIT_DONE
    assert to.read_bytes().startswith(begins)
    assert capsys.readouterr().out.startswith(f"wrote {to}: ")


def test_json_theme_and_scale(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = tmp_path / "net.png"
    assert main(["draw", str(project), "-o", str(to), "--theme", "dark", "--scale", "1", "--json"]) == EXIT_DONE
    said = json.loads(capsys.readouterr().out)
    assert said["path"] == str(to)
    assert said["bytes"] == to.stat().st_size
    assert (said["width"], said["height"]) == (240, 363)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "net.gif"], "a picture ends in .svg, .pdf, .png, received '.gif'"),
        (["-o", "net"], "received no ending"),
        (["-o", "nowhere/net.svg"], "does not exist"),
        (["-o", "net.png", "--scale", "99"], "expected a number from 0.1 to 8"),
    ],
)
def test_bad_input_is_said_in_words(
    project: Path, options: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    assert main(["draw", str(project), *options]) == EXIT_INPUT
    assert said in capsys.readouterr().err
    assert list(project.parent.iterdir()) == [project]


def test_an_empty_network_is_no_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.netwright"
    save(Project(), path)
    assert main(["draw", str(path), "-o", str(tmp_path / "x.svg")]) == EXIT_INPUT
    assert "no layers" in capsys.readouterr().err
