"""Installing on hosts, with an `ssh` and a Python that are scripts of the test."""

import subprocess
import sys
from pathlib import Path

import pytest

from netwright.engine.cluster.install import install
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import RunError, UserError

SSH = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
HOME={folder} exec sh -c "$3"
"""
# `python -m venv TARGET` puts the script there too; `-m pip install` notes the wheel; -c asks for versions.
PYTHON = """#!/bin/sh
case "$2" in
  venv) mkdir -p "$3/bin"; cp {folder}/python "$3/bin/python";;
  pip) ls "$6" >> {folder}/installed; exit {status};;
  *) echo '{{"python": "3.12.1", "netwright": "0.1.0", "torch": "2.13.0", "ray": ""}}';;
esac
"""


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClusterProfile:
    monkeypatch.setenv("PATH", f"{tmp_path}:{Path(sys.executable).parent}", prepend=":")
    write(tmp_path, "ssh", SSH)
    write(tmp_path, "python", PYTHON)
    (tmp_path / "netwright-0.1.0-py3-none-any.whl").write_bytes(b"wheel")
    return ClusterProfile(name="lab", kind="ssh", address="node1; node2", python=f"{tmp_path}/python")


def write(folder: Path, name: str, text: str, status: int = 0) -> None:
    (folder / name).write_text(text.format(folder=folder, status=status), encoding="utf-8")
    (folder / name).chmod(0o700)


def test_each_host_gets_the_wheel_in_an_environment_of_its_own(profile: ClusterProfile, tmp_path: Path) -> None:
    said = list(install(profile, tmp_path / "netwright-0.1.0-py3-none-any.whl"))
    assert [text.partition(":")[0] for text in said] == ["node1", "node2"]
    assert said[0].endswith("Netwright 0.1.0, torch 2.13.0, in ~/.local/share/netwright/environment")
    names = (tmp_path / "installed").read_text(encoding="utf-8").split()
    assert [Path(name).name for name in names] == ["netwright-0.1.0-py3-none-any.whl"] * 2
    assert list((tmp_path / ".local/share/netwright/wheels").iterdir()) == [], "the copies are gone"


def test_what_cannot_be_installed_is_refused_in_words(
    profile: ClusterProfile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "netwright-0.1.0-py3-none-any.whl"
    with pytest.raises(UserError, match="is not a wheel"):
        list(install(profile, tmp_path / "python"))
    with pytest.raises(UserError, match="the Python that Ray was started with"):
        list(install(profile.replace(kind="ray", address="auto"), wheel))
    write(tmp_path, "python", PYTHON, status=1)
    with pytest.raises(RunError, match=r"node1: .*-m pip install has failed"):
        list(install(profile, wheel))
    failed = subprocess.CompletedProcess((), 1, "", "first\nNo module named pip\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(UserError, match=r"The wheel cannot be built: No module named pip\. Name one: --wheel"):
        list(install(profile))
