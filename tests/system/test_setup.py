"""`make setup` on machines that are not as it needs them: it says what failed, and deletes nothing of the user's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs import ROOT
from tests.system.test_bare_machines import only_root

Result = subprocess.CompletedProcess[str]
INTERPRETER = os.path.realpath(sys.executable)
OFFLINE = {
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    # pip ignores empty ones.
    "PIP_EXTRA_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_FIND_LINKS": "http://127.0.0.1:9/links",
    "PIP_CONSTRAINT": os.devnull,
    "PIP_RETRIES": "1",
}
"""An index that refuses connections, as pip sees every one on a machine without a network."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with what `make setup` reads, in a place with a space."""
    place = tmp_path / "my checkout"
    (place / "scripts").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "lock.txt"):
        shutil.copy(ROOT / name, place / name)
    for name in ("setup.sh", "system_packages.py", "locked.py"):
        shutil.copy(ROOT / "scripts" / name, place / "scripts" / name)
    return place


def setup(checkout: Path, *words: str, python: object = INTERPRETER, before: str = "") -> Result:
    """Call `make setup` without a network, in a shell that has done something before."""
    line = ["make", "setup", f"PYTHON={python}", *words]
    environment = {**os.environ, **OFFLINE}
    return subprocess.run(
        ["sh", "-c", f'{before} "$@"', "sh", *line],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_a_link_leads_to_is_kept(checkout: Path) -> None:
    other = checkout.parent / "work of months"
    other.mkdir()
    (other / "thesis.txt").write_text("all of it")
    (checkout / ".venv").symlink_to(other)
    done = setup(checkout)
    assert (other / "thesis.txt").read_text() == "all of it"
    assert done.returncode != 0
    assert f".venv is a symbolic link to {other}" in done.stderr
    assert "Remove the link (rm .venv) and call make again" in done.stderr


def test_a_folder_that_is_no_environment_is_kept(checkout: Path) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "notes.txt").write_text("mine")
    done = setup(checkout)
    assert (checkout / ".venv" / "notes.txt").read_text() == "mine"
    assert done.returncode != 0
    assert ".venv has files and is no virtual environment" in done.stderr


@pytest.mark.parametrize(
    ("python", "reason"),
    [
        ("/nowhere/python3", "there is no program /nowhere/python3"),
        ("true", "true does not start one"),
        ("./old python", "./old python is Python 3.9.2"),
        ("./shim", "./shim does not start one (it prints: shim: not installed)"),
    ],
)
def test_a_wrong_interpreter_is_described(checkout: Path, python: str, reason: str) -> None:
    for name, text in (("old python", "echo is Python 3.9.2"), ("shim", "echo shim: not installed >&2; exit 127")):
        (checkout / name).write_text(f"#!/bin/sh\n{text}\n")
        (checkout / name).chmod(0o755)
    done = setup(checkout, python=python)
    assert done.returncode != 0
    assert f"setup: Python 3.11 or newer is needed, and {reason}. Name another one: make setup PYTHON=" in done.stderr
    assert not (checkout / ".venv").exists()


def test_without_a_network_the_step_and_the_way_out_are_named(checkout: Path) -> None:
    done = setup(checkout, "TORCH_SPEC=torch==2.13.0")
    assert done.returncode != 0
    *_, step, way_out, _ = done.stderr.splitlines()
    assert step.startswith("setup: the installation from lock.txt failed (exit code 1): ")
    assert way_out.startswith("The packages cannot be fetched. Connect this machine to the network, or name a proxy")


@only_root
def test_a_full_disk_is_named(checkout: Path) -> None:
    small = checkout.parent / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=8m tmpfs '{small}' && cp -r '{checkout}'/. '{small}' && cd '{small}'"
    done = setup(checkout, before=f'exec unshare --mount sh -c "{mount} && exec \\"\\$@\\"" sh')
    assert done.returncode != 0
    assert "setup: the installation of pip failed (exit code 1): " in done.stderr
    assert f"The disk is full: 0 are left on {small}." in done.stderr
