"""The wheel in an environment without the checkout: what it adds, and that all of it works under one name."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.architecture.test_repository import FILES, ROOT

ROOMS = ("app", "designer", "engine", "resources")


DATE = "1700000000"
"""Of the files in the wheels, in seconds (https://reproducible-builds.org/docs/source-date-epoch/)."""


def pip(*words: str | Path) -> None:
    command = [sys.executable, "-m", "pip", *map(str, words), "--quiet", "--no-deps", "--no-index"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": DATE}
    subprocess.run(
        [*command, "--disable-pip-version-check"], check=True, capture_output=True, text=True, env=environment
    )


def built(checkout: Path, folder: Path) -> Path:
    pip("wheel", "--no-build-isolation", "--wheel-dir", folder, checkout)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """A folder with nothing but the wheel."""
    pip("install", "--no-compile", "--target", wheel.parent / "site", wheel)
    return wheel.parent / "site"


def python(installed: Path, *words: str) -> str:
    """Run an interpreter that finds the wheel and the libraries of this environment, but not the checkout."""
    code = f"""
import sys
sys.path = [{str(installed)!r}, *(path for path in sys.path if path not in ("", {str(ROOT)!r}))]
"""
    done = subprocess.run(
        [sys.executable, "-c", code + words[0], *words[1:]], cwd=installed.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_adds_one_package_and_two_programs(installed: Path) -> None:
    (about,) = installed.glob("netwright-*.dist-info")
    assert {path.name for path in installed.iterdir()} == {"netwright", "bin", about.name}
    assert {path.name for path in (installed / "netwright").iterdir()} == {"__init__.py", "docs", *ROOMS}
    assert {path.name for path in (installed / "bin").iterdir()} == {"netwright", "netwright-engine"}
    for name in ("netwright", "netwright-engine"):
        assert "from netwright." in (installed / "bin" / name).read_text(encoding="utf-8")


def test_it_has_every_file_of_the_rooms_and_no_other(installed: Path) -> None:
    files = {path.relative_to(ROOT).as_posix() for path in FILES}
    there = {path.relative_to(installed / "netwright").as_posix() for path in (installed / "netwright").rglob("*.*")}
    suffixes = {path for path in there if (installed / "netwright" / path).is_file()}
    pages = {path for path in files if path.startswith("docs/") and path.endswith((".md", ".txt"))}
    assert suffixes == {path for path in files if path.startswith(tuple(f"{room}/" for room in ROOMS))} | {
        "__init__.py",
        *pages,
    }


def test_it_says_what_it_needs(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if "/sboms/" in name)
        bill = json.loads(archive.read(name))
        version = wheel.name.split("-")[1]
    assert name == f"netwright-{version}.dist-info/sboms/netwright.cdx.json"
    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", version)


def test_another_checkout_gives_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    """Whatever the times and permissions of its files, and whatever else lies in it."""
    copy = tmp_path / "another checkout"
    for path in FILES:
        there = copy / path.relative_to(ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, there)
        there.chmod(0o600)
    (copy / ".venv").mkdir()
    (copy / ".venv" / "notes.py").write_text("", encoding="utf-8")
    assert built(copy, tmp_path / "wheel").read_bytes() == wheel.read_bytes()


def test_its_programs_run_and_find_their_files(installed: Path) -> None:
    where = "from netwright.engine.core import files as f; print(f.__file__, f.RESOURCES, f.ROOT)"
    main, resources, root = python(installed, where).split()
    assert Path(main).is_relative_to(installed / "netwright")
    assert (Path(resources), Path(root)) == (installed / "netwright" / "resources", installed)
    run = "from netwright.engine.cli.main import main; sys.exit(main(sys.argv[1:]))"
    assert "digits.netwright" in python(installed, run, "new", "digits", str(installed.parent))
    for page, start in (("skill", "---\nname: netwright"), ("llms.txt", "# Netwright"), ("layers", "# Layer types")):
        assert python(installed, run, "docs", page).startswith(start)
    assert '"title": "Netwright project"' in python(installed, run, "docs", "project.schema.json")
    # Children find the installation as well: the data is read in a process of its own.
    assert "1,797" in python(installed, run, "data", "inspect", str(installed.parent / "digits.netwright"))
    assert "finished" in python(
        installed, run, "train", str(installed.parent / "digits.netwright"), "--set", "training.max_epochs=1"
    )


def test_the_window_can_be_imported(installed: Path) -> None:
    assert "netwright.app.main" in python(installed, "import netwright.app.main; print(netwright.app.main.__name__)")


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_is_imported_under_a_second_name(room: str) -> None:
    """In a checkout the folder of a room is found by its bare name; it refuses that."""
    for name in (room, f"netwright.netwright.{room}"):
        done = subprocess.run([sys.executable, "-c", f"import {name}"], cwd=ROOT, capture_output=True, text=True)
        assert "is imported as netwright" in done.stderr.splitlines()[-1]
