"""Where the files of a project start."""

from pathlib import Path

from netwright.engine.runs.create import create
from netwright.engine.runs.folder import RunFolder, origin
from netwright.engine.runs.info import RunInfo


def run_at(path: Path, base: Path) -> RunFolder:
    return create(path, "{}", RunInfo(base=str(base), name="digits"))


def test_a_project_starts_at_its_folder(tmp_path: Path) -> None:
    found = origin(tmp_path / "own.netwright")
    assert (found.base, found.code_base, found.name) == (tmp_path, tmp_path, "own")
    assert found.runs_beside == tmp_path / "own.netwright"


def test_the_copy_of_a_run_starts_where_the_run_did(tmp_path: Path) -> None:
    base = tmp_path / "project"
    folder = run_at(tmp_path / "project" / "runs" / "today", base)
    found = origin(folder.project)
    assert (found.base, found.code_base, found.name) == (base, folder.path, "digits")
    assert found.runs_beside.parent == base


def test_a_run_elsewhere_keeps_its_repetitions_with_it(tmp_path: Path) -> None:
    folder = run_at(tmp_path / "mine", tmp_path / "project")
    assert origin(folder.project).runs_beside.parent == folder.path


def test_another_file_beside_a_run_and_a_damaged_run_are_projects_like_any_other(tmp_path: Path) -> None:
    folder = run_at(tmp_path / "mine", tmp_path / "project")
    assert origin(folder.path / "copy.netwright").base == folder.path
    folder.info.write_text("{", encoding="utf-8")
    assert origin(folder.project).base == folder.path
