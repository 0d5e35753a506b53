"""`new` and `templates`: copies of what is shipped."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from netwright.engine.cli.main import main
from netwright.engine.operations.new import shipped
from netwright.engine.project.check import check
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.runs.create import SHIPPED
from tests import warm


def test_every_example_and_template_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["templates"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["name", "kind", "title", "description"]
    assert {line.split()[0] for line in lines[1:]} >= {"digits", "waves", "resnet18", "unet"}
    assert main(["templates", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["templates"][0]["name"] == "digits"


@pytest.mark.parametrize("name", [row["name"] for row in shipped()])
def test_a_copy_is_complete(name: str, tmp_path: Path) -> None:
    assert main(["new", name, str(tmp_path / "my" / "nets")]) == 0
    project = load(tmp_path / "my" / "nets" / f"{name}.netwright").project
    assert not [problem for problem in check(project).problems if problem.severity == "error"]
    if project.data.path:
        copy, original = tmp_path / "my" / "nets" / project.data.path, SHIPPED / "data" / project.data.path
        assert {path.name for path in copy.rglob("*")} == {path.name for path in original.rglob("*")}
        assert copy.is_dir() or copy.read_bytes() == original.read_bytes()


def test_nothing_is_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "digits"]) == 0
    assert capsys.readouterr().out == "wrote digits.netwright\nnext: netwright-engine train digits.netwright\n"
    before = (tmp_path / "digits.netwright").read_bytes()
    assert main(["new", "digits"]) == 2
    assert "digits.netwright exists already, and nothing was changed." in capsys.readouterr().err
    assert (tmp_path / "digits.netwright").read_bytes() == before
    (tmp_path / "heating.csv").write_text("mine")
    assert main(["new", "heating"]) == 2
    assert not (tmp_path / "heating.netwright").exists()
    assert (tmp_path / "heating.csv").read_text() == "mine"
    (tmp_path / "sounds").mkdir()
    assert main(["new", "sounds"]) == 2
    assert "sounds exists already, and nothing was changed." in capsys.readouterr().err
    assert list((tmp_path / "sounds").iterdir()) == []


def test_an_unknown_name_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "resnet81"]) == 2
    assert "There is no example or template 'resnet81'. Did you mean 'resnet18'?" in capsys.readouterr().err
    assert main(["new", "digits", "/dev/null/x"]) == 2
    assert "/dev/null/x" in capsys.readouterr().err


def test_a_copy_can_have_data_of_its_own_whose_kind_is_guessed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "own.csv").write_text("a;b;price\n1;2;3\n")
    (tmp_path / "notes.doc").write_text("nothing")
    assert main(["new", "digits", str(tmp_path / "nets"), "--data", str(tmp_path / "nets" / "own.csv")]) == 0
    reason = "The first line names 3 columns, separated by semicolons: a, b, price"
    assert f"data.source is table, guessed from data.path: {reason}." in capsys.readouterr().out
    data = load(tmp_path / "nets" / "digits.netwright").project.data
    assert (data.source, data.path) == ("table", "own.csv")
    assert main(["new", "waves", str(tmp_path / "nets"), "--data", str(tmp_path / "notes.doc")]) == 2
    assert 'notes.doc is nothing that Netwright reads as data: the file ends in ".doc".' in capsys.readouterr().err


def test_a_project_is_made_for_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{number},{number * 2},{number * 3}\n" for number in range(40))
    (tmp_path / "prices.csv").write_text(f"size,age,price\n{rows}", encoding="utf-8")
    assert main(["new", "--data", "prices.csv"]) == 0
    written, guess, following = capsys.readouterr().out.splitlines()
    assert written.startswith("wrote prices.netwright: fully connected layers for 1 number: a small network to start")
    assert "It trains with adamw for up to 200 epochs of mini-batches of 16: about 1 s on two cores." in written
    data = load(tmp_path / "prices.netwright").project.data
    assert (data.validation_share, data.test_share) == (0.1, 0.1)
    assert guess.startswith("data.source is table")
    assert following == "next: netwright-engine train prices.netwright"
    assert main(["check", "prices.netwright", "--strict"]) == 0
    assert main(["new", "--data", "prices.csv"]) == 2
    assert "prices.netwright exists already" in capsys.readouterr().err


def test_categories_of_a_small_file_fit_the_network_that_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More rows train than by the default shares, and so there are more categories."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"town{number % 60},{number},{number % 2 * 'yes' or 'no'}\n" for number in range(70))
    (tmp_path / "towns.csv").write_text(f"town,size,open\n{rows}", encoding="utf-8")
    assert main(["new", "--data", "towns.csv"]) == 0
    assert load(tmp_path / "towns.netwright").project.data.test_share == 0.1
    assert main(["check", "towns.netwright", "--strict"]) == 0, capsys.readouterr().out
    made = load(tmp_path / "towns.netwright").project
    path = tmp_path / "empty.netwright"
    save(Project().with_section("data", made.data.replace(validation_share=0.15, test_share=0.15)), path)
    assert main(["check", "empty.netwright", "--fit"]) == 0, capsys.readouterr().out
    assert load(path).project.data.test_share == 0.1
    assert load(path).project.network == made.network


def test_neither_name_nor_data_says_what_to_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new"]) == 2
    assert "--data PATH names the data" in capsys.readouterr().err


def test_a_project_without_layers_is_filled_by_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(Project().with_section("data", Project().data.replace(source="digits")), tmp_path / "empty.netwright")
    assert main(["check", "empty.netwright"]) == 2
    assert "`check PROJECT --fit` sets them" in capsys.readouterr().out
    assert main(["check", "empty.netwright", "--fit"]) == 0
    assert load(tmp_path / "empty.netwright").project.network.layers


def test_folders_of_images_and_masks_make_a_project_that_is_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.random.default_rng(0)
    for number in range(100):
        for part, top in (("images", 256), ("masks", 2)):
            (tmp_path / "seg" / part).mkdir(parents=True, exist_ok=True)
            pixels = numbers.integers(0, top, (16, 16), np.uint8)
            Image.fromarray(pixels).save(tmp_path / "seg" / part / f"{number:03}.png")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    assert main(["new", "--data", "../work/../seg"]) == 0
    assert "wrote seg.netwright: a small U-Net for 2 classes per pixel" in capsys.readouterr().out
    data = load(tmp_path / "work" / "seg.netwright").project.data
    assert data.path == (tmp_path / "seg" / "images").as_posix()
    assert data.masks == (tmp_path / "seg" / "masks").as_posix()
    assert main(["check", "seg.netwright"]) == 0
    save(replace(load(tmp_path / "work" / "seg.netwright").project, data=DataOptions()), Path("none.netwright"))
    assert main(["check", "none.netwright", "--set", "data.path=../seg"]) == 0


def test_settings_say_what_is_learned_from_new_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{number},{number * 2 + 0.5},{'ab'[number % 2]}\n" for number in range(200))
    (tmp_path / "prices.csv").write_text(f"size,price,kind\n{rows}", encoding="utf-8")
    wanted = ["--set", "data.response=price", "--set", "training.max_epochs=7", "--set", "data.folds=3"]
    assert main(["new", "--data", "prices.csv", *wanted]) == 0
    said = capsys.readouterr().out
    assert "for 1 number" in said
    assert "note: data.folds" in said
    project = load(tmp_path / "prices.netwright").project
    assert (project.data.response, project.training.max_epochs) == ("price", 7)
    assert main(["new", "digits", "nets", "--set", "training.max_epochs=7"]) == 0
    assert load(tmp_path / "nets" / "digits.netwright").project.training.max_epochs == 7
    assert main(["new", "--data", "prices.csv", "--set", "data.respons=price"]) == 2


def test_a_project_may_lie_in_the_folder_of_its_images(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its runs lie there, too, and are no class; a second project from a folder inside has the name of the folder.

    Workers are forked from a process that has not computed: torch's threads do not survive a fork.
    """
    pets = tmp_path / "pets"
    for kind, brightness in (("cat", 30), ("dog", 220)):
        (pets / kind).mkdir(parents=True)
        for index in range(8):
            Image.new("L", (8, 8), brightness + index).save(pets / kind / f"{index}.png")
    monkeypatch.chdir(pets)
    assert main(["new", "--data", "."]) == 0
    train = ["train", "pets.netwright", "--set", "training.max_epochs=1", "--set", "training.mini_batch_size=4"]
    assert warm.run(train, timeout=120).returncode == 0
    capsys.readouterr()
    (run,) = (pets / "runs").iterdir()
    Image.new("L", (8, 8), 100).save(run / "curves.png")
    done = warm.run(train, timeout=120)
    assert done.returncode == 0, done
    lines = (done.stdout + done.stderr).splitlines()
    assert not [line for line in lines if "eft out" in line]
    record = json.loads((run / "data.json").read_text())
    assert sum(place["files"] for place in record["places"]) == 16
    monkeypatch.chdir(pets / "cat")
    assert main(["new", "--data", "..", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (Path(answer["path"]), answer["notes"]) == (pets / "cat" / "pets.netwright", [])


def test_the_file_to_write_can_be_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flats.csv").write_text("a,price\n" + "".join(f"{n},{2 * n}\n" for n in range(40)))
    assert main(["new", "--data", "flats.csv", "flats"]) == 2
    assert "To make a network for the data, name the file to write: -o flats.netwright." in capsys.readouterr().err
    to = Path("nets") / "first.netwright"
    assert main(["new", "--data", "flats.csv", "-o", str(to)]) == 0
    assert f"next: netwright-engine train {to}" in capsys.readouterr().out
    project = load(tmp_path / to).project
    assert not [problem for problem in check(project).problems if problem.severity == "error"]
    assert (tmp_path / "nets" / project.data.path).resolve() == tmp_path / "flats.csv"
    assert main(["new", "--data", "flats.csv", "-o", str(to)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["new", "digits", "-o", "nets/mine.netwright"]) == 0
    assert load(tmp_path / "nets" / "mine.netwright").project.data.source == "digits"
    assert main(["new", "digits", "nets", "-o", "mine.netwright"]) == 2
    assert main(["new", "digits", "-o", "mine.txt"]) == 2
    assert "mine.txt: a project ends in .netwright." in capsys.readouterr().err
