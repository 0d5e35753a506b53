"""What `make` installs is locked: every package of the extras, with the hashes of its files."""

import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scripts.locked import ROOT, canonical, direct, needed, packages, read

LOCK = read()
CONSTRAINTS = dict(
    line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if "==" in line
)
VERSIONS = {canonical(name): version for name, version in CONSTRAINTS.items()}


def installed(extras: set[str]) -> set[str]:
    """Names of what Netwright with these extras needs, from the metadata of the environment."""
    names: set[str] = set()
    waiting = [("netwright", extras)]
    done: set[tuple[str, str]] = set()
    while waiting:
        name, wanted = waiting.pop()
        for line in distribution(name).requires or []:
            requirement = Requirement(line)
            is_needed = requirement.marker is None or any(
                requirement.marker.evaluate({"extra": extra}) for extra in (wanted or {""})
            )
            child = canonical(requirement.name)
            key = (child, ",".join(sorted(requirement.extras)))
            if is_needed and key not in done:
                done.add(key)
                waiting.append((child, set(requirement.extras)))
                names.add(child)
    return names - {"netwright"}


@pytest.mark.parametrize("extras", [(), ("gui",), ("dev",), ("gui", "dev")])
def test_the_lock_has_all_that_the_environment_has_for_these_extras(extras: tuple[str, ...]) -> None:
    locked = set(needed(LOCK, frozenset(extras)))
    there = installed(set(extras))
    assert there - locked == set()
    # What is locked beyond it belongs to another system, Python or build of torch.
    # `colorama` is in both extras, in one of them for Windows alone.
    beyond = {name for name in locked - there - installed({"gui", "dev"}) if not LOCK[name].is_of_torch}
    assert all(";" in LOCK[name].text.partition("\n")[0] for name in beyond), beyond


def test_the_window_is_left_out_without_its_extra() -> None:
    assert {"pyside6-essentials", "shiboken6", "pyqtgraph"} & set(needed(LOCK, frozenset({"dev"}))) == set()
    assert "pytest" not in needed(LOCK, frozenset({"gui"}))


def test_every_package_has_hashes_and_the_version_that_is_tested() -> None:
    for name, package in LOCK.items():
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", package.text), name
    both = {name: package.version for name, package in LOCK.items() if name in VERSIONS}
    assert both == {name: VERSIONS[name] for name in both}
    # Those that no constraint names are of a build of torch, or of a system that has no processes.
    assert {name for name in LOCK if name not in VERSIONS and not LOCK[name].is_of_torch} == {"httpx2-jsfetch"}


def test_the_lock_names_no_index() -> None:
    assert "://" not in (ROOT / "lock.txt").read_text(encoding="utf-8")


def test_torch_is_left_to_its_own_index_and_can_be_asked_for() -> None:
    def printed(*words: str) -> set[str]:
        command = [sys.executable, str(ROOT / "scripts" / "locked.py"), *words]
        return set(packages(subprocess.run(command, check=True, capture_output=True, text=True).stdout))

    without, complete = printed(""), printed("", "--torch")
    assert "nvidia-ml-py" in without  # reads the state of GPUs; no library of torch
    assert {"torch", "triton", "nvidia-cublas", "cuda-bindings"} <= complete - without
    assert {name for name in complete - without if not LOCK[name].is_of_torch} == set()
    assert "sympy" in without  # required by torch alone, by each of its builds


def test_extras_name_the_extras_that_they_contain() -> None:
    assert {"h5py", "scipy", "soundfile", "tokenizers"} <= direct(frozenset({"data"}))


def test_another_file_than_the_locked_one_is_refused(tmp_path: Path) -> None:
    """As `make setup` calls pip."""
    text = LOCK["iniconfig"].text
    lock = tmp_path / "lock.txt"
    lock.write_text(re.sub(r"sha256:\w{8}", "sha256:00000000", text), encoding="utf-8")
    wheel = tmp_path / f"iniconfig-{LOCK['iniconfig'].version}-py3-none-any.whl"
    wheel.write_bytes(b"another file")
    command = [sys.executable, "-m", "pip", "install", "--require-hashes", "--no-deps", "--no-index", "--find-links"]
    done = subprocess.run(
        [*command, tmp_path, "--target", tmp_path / "there", "-r", lock],
        capture_output=True,
        text=True,
        env={"PATH": "", "PIP_CONFIG_FILE": "/dev/null"},
    )
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
