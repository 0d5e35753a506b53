"""The user's folders are those of the XDG base directories on Linux, the same as in every version before."""

import sys
from pathlib import Path

import pytest

from netwright.engine.core.folders import cache_folder, config_folder, data_folder, state_folder

FOLDERS = {
    config_folder: ("XDG_CONFIG_HOME", ".config"),
    data_folder: ("XDG_DATA_HOME", ".local/share"),
    state_folder: ("XDG_STATE_HOME", ".local/state"),
    cache_folder: ("XDG_CACHE_HOME", ".cache"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="the platform has folders of its own")
@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_follow_xdg(folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    variable, default = FOLDERS[folder]
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    assert folder() == tmp_path / "elsewhere" / "netwright"
    for empty in ("", None):
        if empty is None:
            monkeypatch.delenv(variable)
        else:
            monkeypatch.setenv(variable, empty)
        assert folder() == tmp_path / default / "netwright"


@pytest.mark.skipif(sys.platform == "win32", reason="each user has a profile")
def test_a_user_without_a_home_has_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(RuntimeError, match="home"):
        data_folder()


@pytest.mark.parametrize("folder", FOLDERS)
def test_all_folders_lie_in_the_one_that_is_named(folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path))
    assert folder().parent == tmp_path
    assert len({each() for each in FOLDERS}) == len(FOLDERS)
