"""Which folders are trusted, and what a hostile path gets."""

import os
from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.folders import config_folder
from netwright.engine.user_code import trust


@pytest.fixture(autouse=True)
def _no_grants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(trust.GRANTS, raising=False)


def test_nothing_is_trusted_at_first_and_a_folder_is_with_all_that_is_in_it(tmp_path: Path):
    assert not trust.is_trusted(tmp_path / "a.py")
    trust.trust(tmp_path)
    assert trust.is_trusted(tmp_path / "deep" / "a.py")
    assert not trust.is_trusted(tmp_path.parent / "a.py")
    assert not trust.is_trusted(tmp_path / ".." / "a.py")
    trust.distrust(tmp_path)
    assert not trust.is_trusted(tmp_path / "a.py")


def test_a_link_out_of_a_trusted_folder_is_not_trusted(tmp_path: Path):
    (tmp_path / "safe").mkdir()
    (tmp_path / "foreign.py").write_text("")
    (tmp_path / "safe" / "a.py").symlink_to(tmp_path / "foreign.py")
    trust.trust(tmp_path / "safe")
    assert not trust.is_trusted(tmp_path / "safe" / "a.py")


def test_a_grant_is_for_this_process_and_its_children_and_is_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "a:b"  # a separator of paths in its name grants no other folder
    monkeypatch.setenv(trust.GRANTS, "[]")
    trust.grant(folder)
    assert trust.is_trusted(folder / "x.py")
    assert not trust.is_trusted(tmp_path / "x.py")
    assert str(folder) in os.environ[trust.GRANTS]
    assert trust.trusted_folders() == ()


@pytest.mark.parametrize("text", ["", "{}", "[1, null]", '["relative"]', "[" * 100_000])
def test_a_damaged_list_trusts_nothing(text: str, tmp_path: Path):
    config_folder().mkdir(parents=True)
    (config_folder() / "trusted.json").write_text(text)
    assert trust.trusted_folders() == ()
    assert not trust.is_trusted(tmp_path)


@pytest.mark.parametrize("text", ["", "{}", "[1, ", "[" * 100_000])
def test_a_damaged_list_is_not_overwritten(text: str, tmp_path: Path):
    config_folder().mkdir(parents=True)
    file = config_folder() / "trusted.json"
    file.write_text(text)
    for change in (trust.trust, trust.distrust):
        with pytest.raises(UserError, match=r"trusted\.json of your settings cannot be read: it is damaged"):
            change(tmp_path)
    assert file.read_text() == text
    file.rename(tmp_path / "old.json")
    trust.trust(tmp_path)
    assert trust.trusted_folders() == (tmp_path.resolve(),)
