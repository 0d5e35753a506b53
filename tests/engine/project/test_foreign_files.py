"""What a person names by mistake in the place of a project file is described, with the command that makes one of it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from netwright.engine.core.errors import UserError
from netwright.engine.project.file import dumps, load, save
from netwright.engine.project.project import Project


def pictures(path: Path) -> None:
    for name in ("cat", "dog"):
        (path / name).mkdir(parents=True)
        for number in range(5):
            Image.new("L", (4, 4), number).save(path / name / f"{number}.png")


def written(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "make", "words"),
    [
        ("iris.csv", written(b"a,b\n1,2\n3,4\n"), "is data, not a project file: The first line names 2 columns"),
        ("my pets", pictures, "is data, not a project file: 2 subfolders with 10 images: one class each."),
        ("x.npy", lambda path: np.save(path, np.zeros((3, 2))), "is data, not a project file: The file holds a NumPy"),
        ("cat.PNG", written(b"\x89PNG"), "is an image, not a project file. `netwright-engine new --data FOLDER` makes"),
        ("net.onnx", written(b"\x08\x07"), "is a network to import (ONNX), not a project file. `netwright-engine imp"),
        ("net.keras", written(b"PK"), "is a network to import (Keras), not a project file. `netwright-engine import "),
        ("net.pt", written(b"PK"), "holds weights alone, it is not a project file. Open or build the network first"),
        ("notes.json", written(b"{}"), 'not a project file: the key "netwright" with the format version is missing.'),
        ("cut.netwright", written(b"a,b\n1,2\n"), "not a project file: it is cut off, or was changed by hand"),
        ("none.csv", lambda path: None, "There is no file "),
        ("nothing", Path.mkdir, "is a folder. Choose a project file (*.netwright)."),
    ],
)
def test_what_it_is_and_the_way_out(tmp_path: Path, name: str, make: Callable[[Path], object], words: str) -> None:
    path = tmp_path / name
    make(path)
    with pytest.raises(UserError) as caught:
        load(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_the_command_can_be_copied(tmp_path: Path) -> None:
    pictures(tmp_path / "my pets")
    with pytest.raises(UserError, match=r"`netwright-engine new --data '[^']*/my pets'` makes a project with a first"):
        load(tmp_path / "my pets")
    (tmp_path / "net.onnx").touch()
    with pytest.raises(
        UserError, match=r"`netwright-engine import \S*/net\.onnx -o net\.netwright` makes a project of"
    ):
        load(tmp_path / "net.onnx")


def test_a_folder_of_projects_names_one(tmp_path: Path) -> None:
    save(Project(), tmp_path / "b.netwright")
    (tmp_path / "texts.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match=r"is a folder\. Name a project file in it, such as .*b\.netwright\."):
        load(tmp_path)


def test_a_project_file_may_have_any_name(tmp_path: Path) -> None:
    (tmp_path / "project.txt").write_text(dumps(Project()))
    assert load(tmp_path / "project.txt").project == Project()
