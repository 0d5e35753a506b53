"""What is still to be installed, and for which hardware."""

import json
import sys
from pathlib import Path

import pytest

from netwright.app.installation.engine_environment import Bundle, Environment, read_bundle
from netwright.app.installation.setup_dialog import fitting_build
from netwright.engine.core.nvidia_driver import NvidiaDriver


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    folder = tmp_path / "bundle"
    (folder / "packages").mkdir(parents=True)
    sizes = {"engine": 100, "cpu": 200, "cuda": 3000}
    content = {"torch": "2.13.0", "download_mb": sizes, "disk_mb": sizes}
    (folder / "bundle.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / "engine.txt").write_text("sympy==1.14.0 \\\n    --hash=sha256:00\n", encoding="utf-8")
    (folder / "torch-cpu.txt").write_text("torch==2.13.0+cpu\n", encoding="utf-8")
    return read_bundle(folder)


def with_python(environment: Environment) -> None:
    environment.python.parent.mkdir(parents=True, exist_ok=True)
    environment.python.write_text("", encoding="utf-8")


def test_the_first_time_everything_is_installed(bundle: Bundle, tmp_path: Path) -> None:
    environment = Environment(bundle, tmp_path / "engine")
    make, torch, rest = environment.steps("cpu")
    assert make.command[:4] == [sys.executable, "-I", "-m", "venv"]
    assert (torch.download_mb, rest.download_mb) == (200, 100)
    assert "--require-hashes" in rest.command
    assert "--require-hashes" not in torch.command  # nobody had a hash of this build
    assert torch.command[-1] == str(bundle.folder / "torch-cpu.txt")
    assert not environment.is_complete
    assert bundle.builds == ["cpu"]


def test_what_was_stopped_goes_on_where_it_was(bundle: Bundle, tmp_path: Path) -> None:
    environment = Environment(bundle, tmp_path / "engine")
    with_python(environment)
    assert [step.download_mb for step in environment.steps("cpu")] == [200, 100]


def test_an_update_never_changes_torch(bundle: Bundle, tmp_path: Path) -> None:
    environment = Environment(bundle, tmp_path / "engine")
    with_python(environment)
    environment.finish("cpu")
    assert environment.is_complete
    (bundle.folder / "engine.txt").write_text("sympy==1.15.0\n", encoding="utf-8")
    (bundle.folder / "torch-cpu.txt").write_text("torch==2.14.0+cpu\n", encoding="utf-8")
    assert not environment.is_complete
    (rest,) = environment.steps("cuda")
    assert rest.command[-1] == str(bundle.folder / "engine.txt")
    environment.finish("cuda")
    assert environment.build == "cpu"


def test_a_state_that_cannot_be_read_is_none(bundle: Bundle, tmp_path: Path) -> None:
    environment = Environment(bundle, tmp_path / "engine")
    with_python(environment)
    for text in ("{", "[1]"):
        (environment.folder / "netwright.json").write_text(text, encoding="utf-8")
        assert environment.build is None


def test_room_on_the_disk(bundle: Bundle, tmp_path: Path) -> None:
    environment = Environment(bundle, tmp_path / "engine")
    assert environment.needed_mb("cpu") == 300


@pytest.mark.parametrize(
    ("version", "build", "reason"),
    [
        ("", "cpu", "No NVIDIA GPU can be used: no NVIDIA driver that answers."),
        ("580.65.06", "cuda", "The NVIDIA driver 580.65.06 was found"),
        ("575.51.03", "cpu", "The NVIDIA driver is 575.51.03; PyTorch needs 580 or newer"),
    ],
)
def test_the_build_fits_the_driver(version: str, build: str, reason: str) -> None:
    class Answering(NvidiaDriver):
        def __init__(self) -> None:
            if not version:
                raise RuntimeError("no NVIDIA driver that answers")
            self.version = version

    fitting, why = fitting_build(Answering)
    assert fitting == build
    assert why.startswith(reason)
