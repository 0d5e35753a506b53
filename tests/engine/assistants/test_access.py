"""What an assistant may reach: named folders, whatever form a path outside of them takes."""

from pathlib import Path

import pytest

from netwright.engine.assistants.access import OUTSIDE, Access
from netwright.engine.core.errors import UserError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "my networks"
    (folder / "own data").mkdir(parents=True)
    (folder / "digits.netwright").write_text("{}")
    (folder / "own data" / "a=b.csv").write_text("x\n1\n")
    (tmp_path / "secret.csv").write_text("x\n1\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    return folder


@pytest.mark.parametrize(
    "text",
    [
        "/etc/passwd",
        "../secret.csv",
        "own data/../../secret.csv",
        "link.csv",
        "~/secret.csv",
        "data.path=/etc/passwd",
        "data.path=../secret.csv",
        "data.path=a.csv,/etc/passwd",
        'data.path=["/etc/passwd"]',
        "/etc/model.py:Net",
        "a.py:/etc/passwd",
        "https://example.org/data.csv",
        "data.path=s3://bucket/{000..999}.tar",
        "file:///etc/passwd",
        "own data\0/etc",
    ],
)
def test_what_lies_outside_is_refused_in_every_form(folder: Path, text: str) -> None:
    access = Access.to([folder / "digits.netwright"])
    for value in (text, [text], {"settings": [text]}, {"nested": {text: 1}}):
        with pytest.raises(UserError) as refusal:
            access.refuse_outside(value)
        assert refusal.value.code == OUTSIDE


def test_paths_inside_and_names_of_all_kinds_pass(folder: Path) -> None:
    access = Access.to([folder])
    inside = [
        *("digits.netwright", str(folder / "digits.netwright"), "own data/a=b.csv", "own data", "runs/new"),
        *(f"data.path={folder / 'own data' / 'a=b.csv'}", "data.path=own data/a=b.csv", f"{folder}"),
        *("stage/conv_1", "training.max_epochs=5", "accuracy>0.9 solver", "naïve ö 名前", "", "64:int64", "3x224x224"),
    ]
    access.refuse_outside({"values": inside, "number": 3, "yes": True, "none": None})


def test_a_folder_with_all_files_of_a_user_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (tmp_path, Path("/")):
        with pytest.raises(UserError, match=r"has all of your files.*Name the folder of your projects"):
            Access.to([path])
    with pytest.raises(UserError, match=r"nothing\.netwright does not exist"):
        Access.to([tmp_path / "nothing.netwright"])


def test_without_a_path_it_is_the_current_folder(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.chdir(folder)
    assert Access.to([]).folders == (folder.resolve(),)
