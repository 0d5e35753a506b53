import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, EXIT_REQUIREMENT
from netwright.engine.network import edits
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from tests.builders import classifier

ROOT = Path(__file__).parents[3]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.netwright"
    save(Project(classifier()), path)
    return path


def widen(path: Path, to: Path) -> Path:
    project = load(path).project
    save(replace(project, network=edits.set_fields(project.network, "id2", {"outputs": 12})), to)
    return to


def test_equal_projects_exit_with_zero(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(old), str(old)]) == EXIT_DONE
    assert capsys.readouterr().out == "The projects are equal.\n"


def test_different_projects_exit_with_four_and_a_line_each(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = widen(old, tmp_path / "new.netwright")
    assert main(["compare", str(old), str(new)]) == EXIT_REQUIREMENT
    assert capsys.readouterr().out == "~ fc_1.outputs: 8 -> 12\n"


def test_json_is_the_contract(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = widen(old, tmp_path / "new.netwright")
    assert main(["compare", str(old), str(new), "--json"]) == EXIT_REQUIREMENT
    assert json.loads(capsys.readouterr().out) == {
        "schema_version": 1,
        "command": "compare",
        "equal": False,
        "counts": {"changed": 1},
        "differences": [{"kind": "changed", "name": "fc_1.outputs", "before": "8", "after": "12"}],
        "error": {"code": "different", "message": "the projects differ"},
    }
    assert main(["compare", str(old), str(old), "--json"]) == EXIT_DONE
    told = json.loads(capsys.readouterr().out)
    assert (told["equal"], told["counts"], told["differences"]) == (True, {}, [])
    assert "error" not in told


def test_layout_is_asked_for(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = load(old).project
    new = tmp_path / "new.netwright"
    save(replace(project, layout=project.layout.moved({"id1": (5, 6)})), new)
    assert main(["compare", str(old), str(new)]) == EXIT_DONE
    assert main(["compare", str(old), str(new), "--layout"]) == EXIT_REQUIREMENT
    assert capsys.readouterr().out.endswith("~ image_1 moved: 0, 0 -> 5, 6\n")


def test_bad_input_is_said_in_words(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(old), str(tmp_path / "none.netwright")]) == EXIT_INPUT
    assert "There is no file" in capsys.readouterr().err
    assert main(["compare", str(old)]) == EXIT_INPUT
    assert "takes two project files, received 1" in capsys.readouterr().err
    assert main(["compare", "--git", str(old), str(old)]) == EXIT_INPUT
    assert "git config diff.netwright.command" in capsys.readouterr().err


class Repository:
    """A real repository whose projects are compared by us, set up as the README says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q")
        (folder / ".gitattributes").write_text("*.netwright diff=netwright\n")
        command = f"{shlex.quote(sys.executable)} -m netwright.engine compare --git"
        self.git("config", "diff.netwright.command", command)

    def git(self, *arguments: str) -> str:
        names = {
            f"GIT_{who}_{what}": "someone@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        here = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env={**os.environ, **names, **here, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change")


@pytest.fixture
def repository(tmp_path: Path, old: Path) -> Repository:
    repository = Repository(tmp_path / "repository")
    (repository.folder / "net.netwright").write_bytes(old.read_bytes())
    repository.commit()
    return repository


def test_git_shows_a_change_in_words(repository: Repository) -> None:
    path = repository.folder / "net.netwright"
    assert repository.git("diff") == ""
    widen(path, path)
    assert repository.git("diff") == "netwright net.netwright\n~ fc_1.outputs: 8 -> 12\n"
    repository.commit()
    assert "~ fc_1.outputs: 8 -> 12" in repository.git("log", "-1", "-p", "--ext-diff")


def test_git_shows_added_deleted_and_renamed_files(repository: Repository) -> None:
    path = repository.folder / "net.netwright"
    shown = repository.git("show", "--ext-diff")
    assert "netwright net.netwright (new file)" in shown
    assert "+ layer fc_1 (fully_connected: outputs 8)" in shown

    repository.git("mv", "net.netwright", "other name.netwright")
    other = widen(repository.folder / "other name.netwright", repository.folder / "other name.netwright")
    repository.git("add", "-A")
    said = repository.git("diff", "--cached", "-M")
    assert said.splitlines() == ["netwright net.netwright -> other name.netwright", "~ fc_1.outputs: 8 -> 12"]

    repository.commit()
    other.unlink()
    assert not path.exists()
    deleted = repository.git("diff").splitlines()
    assert deleted[0] == "netwright other name.netwright (deleted)"
    assert "- layer fc_1 (fully_connected: outputs 12)" in deleted


def test_git_shows_a_broken_file_by_its_lines_and_goes_on(repository: Repository) -> None:
    (repository.folder / "net.netwright").write_text('{"netwright": [1, 0],\n<<<<<<< ours\n')
    shown = repository.git("diff")
    assert "shown as text: " in shown
    assert "+<<<<<<< ours" in shown.splitlines()


def test_git_says_where_only_the_layout_differs(repository: Repository) -> None:
    path = repository.folder / "net.netwright"
    project = load(path).project
    save(replace(project, layout=project.layout.moved({"id1": (50, 60)})), path)
    assert "no difference but in the layout" in repository.git("diff")


def test_git_names_an_unmerged_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--git", "net.netwright"]) == EXIT_DONE
    assert capsys.readouterr().out == "netwright: net.netwright is unmerged\n"
