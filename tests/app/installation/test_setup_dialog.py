"""The first start of an installed application, with a real pip and small packages made here."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pip
import pytest
from PySide6.QtCore import QProcess
from pytestqt.qtbot import QtBot

from netwright.app.installation import setup_dialog
from netwright.app.installation.engine_environment import Environment, read_bundle
from netwright.app.installation.installed_program import main
from netwright.app.installation.setup_dialog import STOPPED, SetupDialog

LONG_MS = 60_000


def add_wheel(folder: Path, name: str) -> str:
    """Write a package with one module, and return its line for pip."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    about = f"{name}-1.0.dist-info"
    with ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", f"NAME = {name!r}\n")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """That of an application whose packages are pip alone, and whose index is a folder."""
    folder, wheels = tmp_path / "bundle", tmp_path / "wheels"
    wheels.mkdir()
    (folder / "packages").mkdir(parents=True)
    (folder / "packages" / "pip").symlink_to(Path(pip.__file__).parent)
    for build in ("cpu", "cuda"):
        (folder / f"torch-{build}.txt").write_text(add_wheel(wheels, f"torch_{build}"), encoding="utf-8")
    (folder / "engine.txt").write_text(add_wheel(wheels, "engine_library"), encoding="utf-8")
    sizes = {"engine": 1, "cpu": 2, "cuda": 30}
    content = {"torch": "2.13.0", "download_mb": sizes, "disk_mb": sizes}
    (folder / "bundle.json").write_text(json.dumps(content), encoding="utf-8")
    for name, value in {"CONFIG_FILE": "/dev/null", "NO_INDEX": "1", "FIND_LINKS": str(wheels)}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return Environment(read_bundle(folder), tmp_path / "engine")


@pytest.fixture
def dialog(environment: Environment, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[SetupDialog]:
    monkeypatch.setattr(setup_dialog, "fitting_build", lambda: ("cpu", "No NVIDIA GPU."))
    dialog = SetupDialog(environment)
    qtbot.addWidget(dialog)
    dialog.show()
    yield dialog
    dialog.reject()


def module_in(environment: Environment, name: str) -> str:
    code = f"import {name}; print({name}.NAME)"
    command = [str(environment.python), "-I", "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_nothing_is_downloaded_before_it_is_asked_for(dialog: SetupDialog, environment: Environment) -> None:
    texts = [button.text() for button in dialog.choices.buttons()]
    assert texts == [
        "For the processor alone: 0.0 GB to download, 0.0 GB on the disk",
        "For NVIDIA GPUs, and the processor: 0.0 GB to download, 0.0 GB on the disk",
    ]
    assert dialog.build == "cpu"
    assert not dialog.installer.is_running
    assert not environment.folder.exists()
    dialog.leave.click()
    assert not dialog.isVisible()
    assert not environment.folder.exists()


def test_it_installs_the_chosen_build_and_remembers_it(
    dialog: SetupDialog, environment: Environment, qtbot: QtBot
) -> None:
    dialog.choices.button(1).click()
    with qtbot.waitSignal(dialog.accepted, timeout=LONG_MS):
        dialog.install.click()
    assert environment.is_complete
    assert environment.build == "cuda"
    assert module_in(environment, "torch_cuda") == "torch_cuda"
    assert module_in(environment, "engine_library") == "engine_library"
    assert (dialog.bar.value(), dialog.bar.maximum()) == (31, 31)


def test_a_canceled_installation_goes_on(dialog: SetupDialog, environment: Environment, qtbot: QtBot) -> None:
    dialog.install.click()
    process = dialog.installer.findChild(QProcess)
    assert process is not None
    assert process.waitForStarted()
    dialog.leave.click()
    assert dialog.state.text() == STOPPED
    assert not dialog.installer.is_running
    assert process.state() == QProcess.ProcessState.NotRunning
    assert not environment.is_complete
    assert dialog.install.text() == "Go on"
    with qtbot.waitSignal(dialog.accepted, timeout=LONG_MS):
        dialog.install.click()
    assert environment.is_complete


def test_another_file_than_the_locked_one_is_refused(
    dialog: SetupDialog, environment: Environment, qtbot: QtBot
) -> None:
    lock = environment.bundle.lock("cpu")
    lock.write_text(lock.read_text(encoding="utf-8").partition("sha256:")[0] + "sha256:" + "0" * 64, encoding="utf-8")
    with qtbot.waitSignal(dialog.installer.failed, timeout=LONG_MS):
        dialog.install.click()
    assert dialog.state.text().startswith("Installing PyTorch 2.13.0 failed: THESE PACKAGES DO NOT MATCH THE HASHES")
    assert dialog.install.isEnabled()
    assert not environment.is_complete


def test_too_full_a_disk_is_said_before(
    dialog: SetupDialog, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = environment.needed_mb(dialog.build)
    monkeypatch.setattr(Environment, "free_mb", needed - 1)
    dialog.install.click()
    place = environment.folder.parent
    assert dialog.state.text() == f"There is too little room: 0.0 GB are needed and 0.0 GB are free in {place}."
    assert not dialog.installer.is_running


def test_an_application_that_moved_is_found_again(
    dialog: SetupDialog, environment: Environment, qtbot: QtBot, tmp_path: Path
) -> None:
    """As the folder of an AppImage, with its Python, is another one at each start."""
    with qtbot.waitSignal(dialog.accepted, timeout=LONG_MS):
        dialog.install.click()
    about = environment.folder / "pyvenv.cfg"
    text = about.read_text(encoding="utf-8")
    here = str(Path(sys.executable).parent)
    for link in environment.python.parent.glob("python*"):
        link.unlink()
    environment.python.symlink_to("/nowhere/python3")
    about.write_text(text.replace(text.partition("home = ")[2].partition("\n")[0], "/nowhere"), encoding="utf-8")
    (tmp_path / "bundle").rename(tmp_path / "moved")
    moved = Environment(read_bundle(tmp_path / "moved"), environment.folder)
    assert moved.is_complete
    moved.connect()
    assert f"home = {here}\n" in about.read_text(encoding="utf-8")
    assert module_in(moved, "engine_library") == "engine_library"


def test_the_command_says_that_the_window_comes_first(
    environment: Environment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(environment.folder))
    assert main(environment.bundle.folder, "engine", ["--help"]) == 2
    assert "Start the window once (netwright)" in capsys.readouterr().err
