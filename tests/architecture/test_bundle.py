"""The files of the application for Linux: what the desktop and the package manager read."""

import configparser
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from netwright.app.installation.engine_environment import read_bundle
from netwright.engine.core.own_files import SUFFIX
from scripts import make_bundle
from scripts.locked import needed, packages, read


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an application; pip is called for nothing but Netwright."""
    monkeypatch.setattr(make_bundle, "OUTPUT", tmp_path)
    calls: list[tuple[str, ...]] = []

    def run(*command: str | Path) -> None:
        calls.append(tuple(map(str, command)))
        if "wheel" in calls[-1]:
            (tmp_path / "wheels").mkdir()
            (tmp_path / "wheels" / "netwright-0-py3-none-any.whl").write_bytes(b"")

    monkeypatch.setattr(make_bundle, "run", run)
    torch = tmp_path / "torch-2.13.0+cpu-cp311-cp311-linux.whl"
    torch.write_bytes(b"torch")
    place = tmp_path / "root" / make_bundle.PLACE
    make_bundle.fill(place, sys.executable, torch, "https://example.org/cpu")
    assert "--require-hashes" in calls[0]
    return place


def test_together_its_parts_are_all_that_the_engine_and_the_window_need(place: Path) -> None:
    window = packages((place.parents[3] / "window.txt").read_text(encoding="utf-8"))
    engine = packages((place / "engine.txt").read_text(encoding="utf-8"))
    cuda = packages((place / "torch-cuda.txt").read_text(encoding="utf-8"))
    assert set(window) | set(engine) | set(cuda) == {*needed(read(), frozenset({"gui"})), "pip"}
    assert not any(package.is_of_torch for package in [*window.values(), *engine.values()])
    assert "torch" in cuda
    assert set(window) & set(engine) == set()


def test_the_build_for_the_processor_is_noted_by_hash(place: Path) -> None:
    text = (place / "torch-cpu.txt").read_text(encoding="utf-8")
    assert text.startswith("--extra-index-url https://example.org/cpu\ntorch==2.13.0+cpu --hash=sha256:")
    assert read_bundle(place).builds == ["cpu", "cuda"]
    assert read_bundle(place).torch == read()["torch"].version


def test_the_desktop_opens_projects_with_it(tmp_path: Path) -> None:
    make_bundle.add_desktop(tmp_path)
    entry = configparser.RawConfigParser()
    entry.read(tmp_path / "usr/share/applications/netwright.desktop", encoding="utf-8")
    kind = ElementTree.parse(tmp_path / "usr/share/mime/packages/netwright.xml").getroot()[0]
    assert f"{kind.attrib['type']};" == entry["Desktop Entry"]["MimeType"]
    assert [child.attrib["pattern"] for child in kind if child.tag.endswith("glob")] == [f"*{SUFFIX}"]
    assert entry["Desktop Entry"]["Exec"] == "netwright %f"
    assert (tmp_path / "usr/share/icons/hicolor/scalable/apps" / f"{entry['Desktop Entry']['Icon']}.svg").is_file()


def test_the_starter_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "start.py").write_text(make_bundle.START, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "py_compile", tmp_path / "start.py"], check=True)
