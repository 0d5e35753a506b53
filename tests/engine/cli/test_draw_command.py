import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT
from netwright.engine.drawing import colours
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.layout import Comment, Frame
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from tests.blocks import IMAGE, behind, dense, residual, row
from tests.builders import classifier, layer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "net.netwright"
    save(Project(classifier()), path)
    return path


@pytest.mark.parametrize(("ending", "begins"), [("svg", b"<?xml"), ("PNG", b"\x89PNG")])
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
        (["-o", "net.gif"], "a picture ends in .svg or .png, received '.gif'"),
        (["-o", "net.pdf"], "Use SVG, or save a PDF from the window: File > Save picture."),
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


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    path = tmp_path / "blocks.netwright"
    network = behind(IMAGE, row(residual(), layer("relu"), repeat=2), dense(), names=("stage", "grow"))
    layout = arrange(network)
    frame = Frame("f", (-24.0, 30.0), (230.0, 150.0), "The stem & more", "blue")
    comment = Comment(
        "c", (230.0, 40.0), (150.0, 70.0), "Twice the\x07 width\nand no pooling, as in the paper <1>", "green"
    )
    save(Project(network, replace(layout, frames=(frame,), comments=(comment,))), path)
    return path


def test_blocks_are_stacks_and_frames_and_comments_stand_behind(blocks: Path, tmp_path: Path) -> None:
    for kind in ("svg", "png"):
        assert main(["draw", str(blocks), "-o", str(tmp_path / f"net.{kind}")]) == EXIT_DONE
    text = (tmp_path / "net.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    titles = [one.text for one in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles[:3] == ["blocks", "The stem & more", "Twice the  width and no pooling, as in the paper <1>"]
    assert colours.frame("blue", "light").fill in text
    assert text.count('x="20.5"') == 4  # two sheets behind each of two blocks


def test_the_inside_of_a_block(blocks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = tmp_path / "inside.svg"
    assert main(["draw", str(blocks), "-o", str(to), "--block", "stage/block_1"]) == EXIT_DONE
    text = to.read_text(encoding="utf-8")
    assert "<title>conv: " in text
    assert "4 × 6 × 6" in text
    assert "output_1" not in text
    assert "The stem" not in text
    for path, said in (
        ("stag", "Did you mean 'stage'"),
        ("stage/x", "no block \"x\" in 'stage'"),
        ("image_1", "no block"),
    ):
        assert main(["draw", str(blocks), "-o", str(to), "--block", path]) == EXIT_INPUT
        assert said in capsys.readouterr().err


def test_frames_follow_where_the_network_is_laid_out_anew(blocks: Path, tmp_path: Path) -> None:
    to = tmp_path / "net.svg"
    assert main(["draw", str(blocks), "-o", str(to), "--arrange", "--theme", "dark"]) == EXIT_DONE
    assert "The stem" in to.read_text(encoding="utf-8")
