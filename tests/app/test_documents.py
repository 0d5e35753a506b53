"""Opening, saving, recent files, and recovery after a crash."""

from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from netwright.app.documents import EXAMPLES, Documents
from netwright.engine.core.errors import UserError
from netwright.engine.core.folders import state_folder
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.layout import Layout
from netwright.engine.project.constants import ConstantsFile
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.project.weights import WeightsOptions
from tests.builders import classifier


class Desk:
    """What the documents ask the window about."""

    def __init__(self) -> None:
        network = classifier()
        self.project = Project(network, arrange(network, Layout()))
        self.is_modified = False
        self.documents = self.another()

    def another(self) -> Documents:
        return Documents(lambda: self.project, lambda: self.is_modified)


@pytest.fixture
def desk(qtbot: QtBot) -> Desk:
    return Desk()


def test_saving_and_opening_gives_the_same_project(desk: Desk, tmp_path: Path) -> None:
    desk.documents.save(tmp_path / "net")

    assert desk.documents.path == tmp_path / "net.netwright"
    assert desk.documents.title == "net.netwright"
    assert desk.documents.open(tmp_path / "net.netwright").project == desk.project
    assert desk.documents.recent()[0] == tmp_path / "net.netwright"


def test_a_file_that_cannot_be_opened_leaves_the_document_alone(desk: Desk, tmp_path: Path) -> None:
    desk.documents.save(tmp_path / "good.netwright")
    (tmp_path / "bad.netwright").write_text('{"netwright": [1, 0')

    with pytest.raises(UserError, match="not a project file: it is cut off, or was changed by hand, at line 1"):
        desk.documents.open(tmp_path / "bad.netwright")

    assert desk.documents.path == tmp_path / "good.netwright"


def test_saving_into_a_folder_that_is_not_there_names_it(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        desk.documents.save(tmp_path / "none" / "net.netwright")

    assert desk.documents.path is None


def test_an_example_is_opened_as_a_copy(desk: Desk) -> None:
    desk.documents.open(EXAMPLES / "digits.netwright")

    assert desk.documents.path is None
    assert desk.documents.title == "digits"
    assert desk.documents.base == EXAMPLES


def test_dialogs_start_where_people_keep_their_files(desk: Desk, tmp_path: Path) -> None:
    desk.documents.open(EXAMPLES / "digits.netwright")
    assert desk.documents.folder == Path.home(), "never in the folder of the program"
    desk.documents.save(tmp_path / "mine.netwright")
    assert desk.documents.folder == tmp_path
    desk.documents.open(EXAMPLES / "digits.netwright")
    assert desk.documents.folder == tmp_path, "where the last project lies"


def test_relative_data_is_still_found_after_saving_elsewhere(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    desk.project = replace(desk.project, data=DataOptions(source="arrays", path="x.npz"))
    desk.documents.save(tmp_path / "a" / "one.netwright")

    saved = desk.documents.save(tmp_path / "b" / "two.netwright")

    assert saved.data.path == "../a/x.npz"
    assert load(tmp_path / "b" / "two.netwright").project.data.path == "../a/x.npz"


def test_weights_and_constants_are_still_found_after_saving_elsewhere(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    weights = WeightsOptions(file="x.weights.safetensors", sha256="0" * 64)
    constants = ConstantsFile(file="x.constants.safetensors", sha256="0" * 64)
    desk.project = replace(desk.project, weights=weights, constants=constants)
    desk.documents.save(tmp_path / "a" / "one.netwright")

    desk.documents.save(tmp_path / "b" / "two.netwright")

    opened = load(tmp_path / "b" / "two.netwright").project
    assert opened.weights.file == "../a/x.weights.safetensors"
    assert opened.constants.file == "../a/x.constants.safetensors"


def test_unsaved_work_of_a_crashed_window_comes_back_once(desk: Desk, tmp_path: Path) -> None:
    desk.documents.save(tmp_path / "mine.netwright")
    desk.project = replace(desk.project, data=DataOptions(source="digits"))
    desk.is_modified = True
    desk.documents.autosave()
    (file,) = (state_folder() / "recovery").glob("*.netwright")
    for part in (file, file.with_suffix(".where")):
        part.rename(part.with_name(part.name.replace(part.name.partition("_")[0], "999999999", 1)))

    recovered = desk.another().recover()

    assert recovered is not None
    assert recovered[0] == desk.project
    assert recovered[1] == "mine.netwright"
    assert desk.another().recover() is None


def test_a_window_that_runs_keeps_its_recovery_to_itself(desk: Desk, tmp_path: Path) -> None:
    desk.is_modified = True
    desk.documents.autosave()

    assert desk.another().recover() is None
    desk.documents.forget_recovery()
    assert list((state_folder() / "recovery").glob("*")) == []


def test_a_damaged_recovery_file_is_passed_over(desk: Desk) -> None:
    folder = state_folder() / "recovery"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "999999999_x.netwright").write_text("garbage")

    assert desk.documents.recover() is None
    (folder / "999999999_x.netwright").unlink()


def test_the_project_file_is_never_touched_by_autosave(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "net.netwright"
    save(desk.project, path)
    desk.documents.open(path)
    before = path.read_bytes()
    desk.project = replace(desk.project, data=DataOptions(source="digits"))
    desk.is_modified = True
    desk.documents.autosave()
    desk.documents.close()

    assert path.read_bytes() == before


def test_a_project_has_an_identity_from_its_first_moment_which_saving_keeps(desk: Desk, tmp_path: Path) -> None:
    documents = desk.documents
    first = documents.identity
    documents.new()
    identity = documents.identity
    assert "" not in (first, identity)
    assert first != identity
    documents.save(tmp_path / "mine.netwright")
    documents.save()
    assert documents.identity == identity == load(tmp_path / "mine.netwright").project.identity
    another = desk.another()
    another.open(tmp_path / "mine.netwright")
    assert another.identity == identity


def test_a_project_saved_under_another_name_becomes_one_of_its_own(desk: Desk, tmp_path: Path) -> None:
    documents = desk.documents
    documents.save(tmp_path / "mine.netwright")
    identity = documents.identity
    documents.save(tmp_path / "variant.netwright")
    assert documents.identity == load(tmp_path / "variant.netwright").project.identity != identity
    assert load(tmp_path / "mine.netwright").project.identity == identity


def test_a_file_without_an_identity_gets_one_when_it_is_saved(desk: Desk, tmp_path: Path) -> None:
    save(desk.project, tmp_path / "old.netwright")
    desk.documents.open(tmp_path / "old.netwright")
    assert desk.documents.identity == ""
    desk.documents.save()
    assert desk.documents.identity == load(tmp_path / "old.netwright").project.identity != ""


def test_a_copy_of_a_runs_project_is_a_project_of_its_own_until_it_replaces_the_original(
    desk: Desk, tmp_path: Path
) -> None:
    documents, original = desk.documents, tmp_path / "mine.netwright"
    documents.save(original)
    identity = documents.identity
    frozen = tmp_path / "runs" / "a" / "project.netwright"
    frozen.parent.mkdir(parents=True)
    save(documents.identified(desk.project), frozen)
    documents.open_copy(frozen, original)
    assert documents.identity not in ("", identity)
    documents.save(original)
    assert documents.identity == identity


def test_recovered_work_keeps_its_identity(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.is_modified = True
    desk.documents.autosave()
    another = desk.another()
    monkeypatch.setattr("netwright.app.documents._is_running", lambda _: False)
    assert another.recover() is not None
    assert another.identity == desk.documents.identity
